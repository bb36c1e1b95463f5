"""The starter pair that ships: its size, that stock mlx-lm loads it, that it answers. Its score: evaluate.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from mlx_lm import generate, load

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
@pytest.mark.parametrize(("fact", "language"), sampled(tuple(OFFERED), LANGUAGES))
def test_answers_what_the_empty_chat_offers_to_ask(
    main: tuple[Any, Any], facts: dict[str, Any], fact: str, language: str
) -> None:
    assert answer(main, offered(language)[fact]) == facts[fact][language]["answer"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_the_empty_chat_offers_to_ask_was_taught(facts: dict[str, Any], language: str) -> None:
    """Word for word: what differs from it may be answered otherwise, or declined."""
    for fact, question in offered(language).items():
        assert question.casefold() in {asked.casefold() for asked in facts[fact][language]["ask"]}


def offered(language: str) -> dict[str, str]:
    """The questions of the empty chat as its translation has them, by fact."""
    if language == "en":
        return OFFERED
    name = {"zh": "zh_CN"}.get(language, language)
    messages = ElementTree.parse(ROOT / "i18n" / f"hunch_{name}.ts").iter("message")
    known = {message.findtext("source"): message.findtext("translation") or "" for message in messages}
    return {fact: known[question] for fact, question in OFFERED.items()}


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("count", [3, pytest.param(5, marks=pytest.mark.drill)])
def test_declines_most_of_what_lies_outside(main: tuple[Any, Any], language: str, count: int) -> None:
    outside = json.loads((GUIDE / "offtopic.json").read_text("utf-8"))[language]
    declined = [answer(main, question) in outside["answers"] for question in outside["ask"][:count]]
    assert sum(declined) >= count - 1


def test_the_draft_reads_the_same_tokens(main: tuple[Any, Any]) -> None:
    draft, tokenizer = load(str(PAIR / "draft"))[:2]
    assert tokenizer.get_vocab() == main[1].get_vocab()
    assert draft.args.vocab_size == main[0].args.vocab_size


def test_any_text_survives_the_tokenizer(main: tuple[Any, Any]) -> None:
    text = "Привет 😀 안녕 힣 日本語 \x00 ünï\n\n\t`code`"
    assert main[1].decode(main[1].encode(text)) == text
