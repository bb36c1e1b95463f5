"""The guide as Python values: facts, refusals, and what must never be trained on.

Reads the files in guide/. How questions are varied for training lives in augment.py, how they become chats in chats.py.
"""

import json
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

GUIDE = Path(__file__).parent / "guide"
PARTS = ("speculation", "using", "models", "hunch")
LANGUAGES = ("en", "ko", "ja", "zh")


@dataclass(frozen=True)
class Fact:
    """One thing the pair knows, in one language."""

    id: str
    language: str
    answer: str
    ask: tuple[str, ...]
    unseen: tuple[str, ...]


@dataclass(frozen=True)
class OffTopic:
    """What the pair declines in one language: questions written by hand, and templates with word lists."""

    language: str
    refusals: tuple[str, ...]
    ask: tuple[str, ...]
    unseen: tuple[str, ...]
    slots: dict[str, list[str]]
    templates: tuple[str, ...]


@dataclass(frozen=True)
class Guide:
    facts: dict[str, tuple[Fact, ...]]
    off_topic: dict[str, OffTopic]
    held_out: frozenset[str]  # plain forms that measure generalisation: training must never see them, however spelled
    favoured: frozenset[str] = frozenset()  # facts by id that are asked about more often: what a correction changed


def plain_form(text: str) -> str:
    """A question without case, width, spaces and punctuation."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).lower())


def load_guide() -> Guide:
    records = [json.loads(line) for part in PARTS for line in (GUIDE / f"{part}.jsonl").read_text("utf-8").splitlines()]
    vague = _read("offtopic_templates.json")
    facts = {
        language: tuple(_fact(record, language, vague[language]["vague"]) for record in records)
        for language in LANGUAGES
    }
    off_topic = {language: _off_topic(language) for language in LANGUAGES}
    unseen = [q for group in facts.values() for fact in group for q in fact.unseen]
    unseen += [q for group in off_topic.values() for q in group.unseen]
    return Guide(facts, off_topic, frozenset(map(plain_form, unseen)))


def _read(name: str) -> dict:
    return json.loads((GUIDE / name).read_text("utf-8"))


def _fact(record: dict, language: str, vague: list[str]) -> Fact:
    entry = record[language]
    # "Tell me more" names no fact: the helpful reply is what one can ask.
    extra = vague if record["id"] == "what-can-i-ask" else []
    return Fact(record["id"], language, entry["answer"], (*entry["ask"], *extra), tuple(entry["unseen"]))


def _off_topic(language: str) -> OffTopic:
    by_hand, made = _read("offtopic.json")[language], _read("offtopic_templates.json")[language]
    return OffTopic(
        language,
        tuple(by_hand["answers"]),
        tuple(by_hand["ask"]),
        tuple(by_hand["unseen"]),
        made["slots"],
        tuple(made["templates"]),
    )
