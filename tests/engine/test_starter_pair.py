"""The starter pair that ships: its size, that stock mlx-lm loads it, that it answers. Its score: evaluate.py."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from mlx_lm import generate, load

from app.settings import STARTER_NAME
from app.view_models.transcript import TranscriptMessage
from tests.helpers.samples import sampled

ROOT = Path(__file__).parents[2]
PAIR = ROOT / "resources" / "starter"
GUIDE = ROOT / "packaging" / "starter" / "guide"
MOST_BYTES = 16_000_000
MOST_BYTES_OF_EYES = 6_000_000
OFFERED = {
    "speculative-decoding": "What is speculative decoding?",
    "text-unchanged": "Does drafting change the text?",
    "better-answers": "How do I get better answers?",
}
LANGUAGES = ("en", "ko", "ja", "zh")
WAYS = {
    ("MenuBar", "Settings…"): (
        "SettingsWindow",
        "General",
        "Chat",
        "Appearance",
        "Tools",
        "Server",
        "Other Macs",
        "Advanced",
    ),
    ("MenuBar", "Models"): ("ModelsView", "Yours", "Find"),
    ("MenuBar", "File"): ("MenuBar", "Attach…", "Import…", "Export…"),
    ("MenuBar", "Chat"): ("MenuBar", "Recently Deleted"),
    ("MenuBar", "Window"): ("MenuBar", "Activity"),
    ("MenuBar", "Help"): ("MenuBar", "Keyboard Shortcuts"),
}  # where one can go, and from there


@pytest.fixture(scope="module")
def main() -> tuple[Any, Any]:
    return load(str(PAIR / "main"))[:2]


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    lines = [line for part in GUIDE.glob("*.jsonl") for line in part.read_text("utf-8").splitlines()]
    return {fact["id"]: fact for fact in map(json.loads, lines)}


def answer(main: tuple[Any, Any], question: str) -> str:
    model, tokenizer = main
    prompt = tokenizer.apply_chat_template([{"role": "user", "content": question}], add_generation_prompt=True)
    return generate(model, tokenizer, prompt, max_tokens=120).strip()


def test_both_models_fit_in_16_mb() -> None:
    """The drafters with them; the model that sees has its own limit."""
    sizes = {file.relative_to(PAIR): file.stat().st_size for file in PAIR.rglob("*") if file.is_file()}
    eyes = sum(size for file, size in sizes.items() if file.parts[0] == "eyes")
    assert sum(sizes.values()) - eyes <= MOST_BYTES
    assert 0 < eyes <= MOST_BYTES_OF_EYES


@pytest.mark.slow
@pytest.mark.parametrize(("fact", "language"), sampled(sorted(OFFERED), LANGUAGES))
def test_answers_what_the_empty_chat_offers_to_ask(
    main: tuple[Any, Any], facts: dict[str, Any], fact: str, language: str
) -> None:
    assert answer(main, offered(language)[fact]) == facts[fact][language]["answer"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_the_empty_chat_offers_to_ask_was_taught(facts: dict[str, Any], language: str) -> None:
    """Word for word: what differs from it may be answered otherwise, or declined."""
    for fact, question in offered(language).items():
        assert question.casefold() in {asked.casefold() for asked in facts[fact][language]["ask"]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_way_that_it_tells_is_there(facts: dict[str, Any], language: str) -> None:
    """ "Settings → Server" and the like, in the words of the screen."""
    refusals = json.loads((GUIDE / "offtopic.json").read_text("utf-8"))[language]["answers"]
    told = [*refusals, *(fact[language]["answer"] for fact in facts.values())]
    ways = {
        f"{shown(language, *start)} → {shown(language, context, end)}"
        for start, (context, *ends) in WAYS.items()
        for end in ends
    }
    assert sum(text.count(" → ") for text in told) > 15
    assert [text for text in told if text.count(" → ") != sum(text.count(way) for way in ways)] == []


def offered(language: str) -> dict[str, str]:
    """The questions of the empty chat as its translation has them, by fact."""
    return {fact: shown(language, "EmptyChat", question) for fact, question in OFFERED.items()}


def shown(language: str, context: str, source: str) -> str:
    """What the screen says, without the dots of what opens something."""
    text = source if language == "en" else translations({"zh": "zh_CN"}.get(language, language))[context, source]
    return text.rstrip("…")


@cache
def translations(name: str) -> dict[tuple[str, str], str]:
    contexts = ElementTree.parse(ROOT / "i18n" / f"hunch_{name}.ts").iter("context")
    return {
        (context.findtext("name", ""), message.findtext("source", "")): message.findtext("translation", "")
        for context in contexts
        for message in context.iter("message")
    }


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("count", [3, pytest.param(5, marks=pytest.mark.drill)])
def test_declines_most_of_what_lies_outside(main: tuple[Any, Any], language: str, count: int) -> None:
    """In the words that the app knows as a refusal."""
    outside = json.loads((GUIDE / "offtopic.json").read_text("utf-8"))[language]
    replies = (answer(main, question) for question in outside["ask"][:count])
    declined = [TranscriptMessage(1, False, text, model=STARTER_NAME).needs_larger_model for text in replies]
    assert sum(declined) >= count - 1


def test_the_draft_reads_the_same_tokens(main: tuple[Any, Any]) -> None:
    draft, tokenizer = load(str(PAIR / "draft"))[:2]
    assert tokenizer.get_vocab() == main[1].get_vocab()
    assert draft.args.vocab_size == main[0].args.vocab_size


def test_any_text_survives_the_tokenizer(main: tuple[Any, Any]) -> None:
    text = "Привет 😀 안녕 힣 日本語 \x00 ünï\n\n\t`code`"
    assert main[1].decode(main[1].encode(text)) == text
