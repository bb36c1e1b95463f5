"""Cutting a document into passages, and the words by which they are found. Pure functions.

A passage is a few paragraphs, or a part of a long one, and begins with the last sentence of the one before it. Its
words are those that SQLite's tokenizer finds; Chinese, Japanese and Korean, which it does not cut, go in as pairs of
letters.
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
_WORD = re.compile(r"\w+")


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
    return f" {' '.join(map(''.join, pairwise(run))) or run} "


def terms_of(question: str) -> list[str]:
    """The words and pairs of a question, each once."""
    return list(dict.fromkeys(_WORD.findall(for_index(question))))
