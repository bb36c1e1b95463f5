"""Cutting a document into passages, and the words by which they are found. Pure functions.

A passage is a few paragraphs, or a part of a long one, and begins with the last sentence of the one before it. Its
words are those that SQLite's tokenizer finds; Chinese, Japanese and Korean, which it does not cut, go in as pairs of
letters, and Chinese ones also one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from app.markup.folding import fold
from app.storage.search_index import WIDE

_LONGEST = 800  # of a passage: one for each Latin letter, two for each Chinese, Japanese or Korean one
_OVERLAP = 160  # most that two neighbours have in common
_LEAST = 240  # before a heading, less is left with what follows
_LONGEST_HEADING = 120

_HEADING = re.compile(r"#{1,6} +(\S.*)")
_SENTENCE = re.compile(r"[.!?]+[\"'”’)\]]*\s+|[。！？]+[」』”’）]*\s*|\n\s*")
_WIDE_RUN = re.compile(f"[{WIDE}]+")
_HAN = re.compile("[\u3400-\u9fff]")
_WORD = re.compile(r"\w+")


# What questions have in common. MEASURED (`tests/bench/documents.py`): without these, and with single Chinese letters,
# the right passage is among the first five for 2 to 8 more of 100 questions.
_ENGLISH = (
    "a an and any are about am at be been by can could did do does explain for from had has have how i if in is it its"
    " may me mean means might must my no not of on or our please shall should show so some tell that the their them"
    " there these they this those to us was we were what when where which who whom whose why will with would yes you"
    " your"
)
_KOREAN = (
    "무엇|무슨|뭐가|뭐예요|뭐야|뭐|어떻게|어떤|어느|어디|언제|누구|누가|왜|얼마나|얼마|몇|인가요|있나요|하나요|되나요|나요"
    "|까요|예요|이에요|해요|돼요|주세요|알려|설명|하려면"
)
_JAPANESE = (
    "何ですか|何|なに|どうして|どうすれば|どう|どこ|いつ|だれ|誰|なぜ|どの|どれ|ですか|ますか|でしょうか|できますか|ください"
    "|教えて|とは|について|説明|すれば|するには"
)
_CHINESE = "什么|怎么样|怎么|怎样|如何|哪里|哪儿|哪个|哪些|为什么|多少|谁|吗|呢|请问|请|告诉我|说明|可以|是|的|了|我|你"
_ASKING = re.compile(rf"\b(?:{'|'.join(_ENGLISH.split())})\b|{_KOREAN}|{_JAPANESE}|{_CHINESE}")


@dataclass(frozen=True, slots=True)
class Cut:
    """Characters `start` to `end`, the last excluded, and the heading that they are under."""

    start: int
    end: int
    heading: str = ""


def cut_up(text: str) -> Iterator[Cut]:
    """The passages of a text, or of a page, in order."""
    start = 0  # of the present passage
    cost = 0
    heading = ""  # above its beginning
    latest = ""
    before = 0  # where the sentence begins that is the last one so far
    for first, last in _sentences(text):
        found = _HEADING.match(text, first, last)
        length = _cost(text[first:last])
        ends = cost + length > _LONGEST or (found is not None and cost >= _LEAST)
        if ends and cost:
            yield Cut(start, first, heading)
            overlap = 0 if found else _cost(text[before:first])
            repeats = 0 < overlap <= _OVERLAP and before > start
            start = before if repeats else first
            cost = overlap if repeats else 0
            heading = latest
        if found:
            latest = found[1].strip(" #")[:_LONGEST_HEADING]
            heading = heading if cost else latest
        cost += length
        before = first
    if text[start:].strip():
        yield Cut(start, len(text), heading)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Ranges that cover the text: sentences, lines, and parts of such that are too long."""
    start = 0
    for found in _SENTENCE.finditer(text):
        yield from _parts(text, start, found.end())
        start = found.end()
    if start < len(text):
        yield from _parts(text, start, len(text))


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > _LONGEST // 2:
        space = text.rfind(" ", start + _LONGEST // 4, start + _LONGEST // 2) + 1
        middle = space or start + _LONGEST // 2
        yield start, middle
        start = middle
    yield start, end


def _cost(text: str) -> int:
    """Counted in C: letters of one byte are one, letters of three are two."""
    return (len(text) + len(text.encode("utf-8", "replace"))) // 2


def for_index(text: str) -> str:
    """The text as SQLite's tokenizer is given it."""
    return _WIDE_RUN.sub(_pairs, fold(text))


def _pairs(found: re.Match[str]) -> str:
    run = found[0]
    if len(run) == 1:
        return f" {run} "
    return f" {' '.join((*map(''.join, pairwise(run)), *_HAN.findall(run)))} "


def terms_of(question: str) -> list[str]:
    """The words and pairs of a question, each once, without those that only ask, unless there are no others."""
    folded = fold(question)
    return _terms(_ASKING.sub(" ", folded)) or _terms(folded)


def _terms(folded: str) -> list[str]:
    return list(dict.fromkeys(_WORD.findall(for_index(folded))))
