"""Which parts of a reply's text were drafted, and where a draft was rejected: while it streams, and stored.

Stored compactly, as distances and short words.
"""

from __future__ import annotations

import itertools
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from engine import DraftMark

# Views import these from here: they do not know the engine.
__all__ = ["DraftMark", "DraftedText"]

_NAMES = {False: "answer", True: "thinking"}


class DraftedText:
    """Marks of the answer and of the thinking, each in the order of the text and without overlaps."""

    def __init__(self, stored: str = "") -> None:
        self.version = 0  # grows with every change
        self._stored: str | None = stored
        self._marks: dict[bool, list[DraftMark]] = {False: [], True: []}

    def marks(self, *, thinking: bool) -> Sequence[DraftMark]:
        self._read()
        return self._marks[thinking]

    def between(self, start: int, end: int, *, thinking: bool) -> Iterator[DraftMark]:
        """Marks that overlap a range of the text."""
        marks = self.marks(thinking=thinking)
        first = bisect_right(marks, start, key=lambda mark: mark.end)
        for number in range(first, len(marks)):
            if marks[number].start >= end:
                return
            yield marks[number]

    def add(self, marks: Iterable[DraftMark], base: int, *, thinking: bool) -> None:
        """Marks of a request whose text begins at `base`."""
        self._read()
        known = self._marks[thinking]
        for mark in marks:
            moved = replace(mark, start=mark.start + base, end=mark.end + base) if base else mark
            if known and known[-1].accepted and moved.accepted and known[-1].end == moved.start:
                known[-1] = replace(known[-1], end=moved.end)
            else:
                known.append(moved)
            self.version += 1

    def drop_behind(self, end: int, *, thinking: bool) -> None:
        """Drop marks after a cut of the text."""
        self._read()
        self._marks[thinking] = [mark for mark in self._marks[thinking] if mark.end <= end]
        self.version += 1

    def __bool__(self) -> bool:
        return bool(self.marks(thinking=False) or self.marks(thinking=True))

    def to_json(self) -> str | None:
        """None: nothing of the text was drafted."""
        self._read()
        parts = {_NAMES[kind]: _packed(marks) for kind, marks in self._marks.items() if marks}
        return json.dumps(parts, ensure_ascii=False, separators=(",", ":")) if parts else None

    def _read(self) -> None:
        """Parse the marks when first shown: most messages never are. Damaged ones are dropped."""
        stored = self._stored
        self._stored = None
        if not stored:
            return
        try:
            parts = json.loads(stored)
            self._marks = {kind: list(_unpacked(parts.get(name, {}))) for kind, name in _NAMES.items()}
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError):
            self._marks = {False: [], True: []}


def _packed(marks: Sequence[DraftMark]) -> dict[str, list[Any]]:
    kept: list[int] = []
    overruled: list[list[Any]] = []
    at = {True: 0, False: 0}
    for mark in marks:
        place = [mark.start - at[mark.accepted], mark.end - mark.start]
        if mark.accepted:
            kept += place
        else:
            overruled.append([*place, mark.wanted, mark.position, mark.drafted, mark.round])
        at[mark.accepted] = mark.end
    return {"kept": kept, "overruled": overruled}


def _unpacked(packed: dict[str, list[Any]]) -> list[DraftMark]:
    marks: list[DraftMark] = []
    at = 0
    numbers = packed.get("kept", [])
    for gap, length in zip(numbers[::2], numbers[1::2], strict=True):
        marks.append(DraftMark(start := at + _count(gap), at := start + _count(length)))
    at = 0
    for gap, length, wanted, *counts in packed.get("overruled", []):
        start = at + _count(gap)
        at = start + _count(length)
        position, drafted, number = (_count(each) for each in counts)
        marks.append(DraftMark(start, at, str(wanted), position, drafted, number))
    marks.sort(key=lambda mark: mark.start)
    if any(one.end > other.start for one, other in itertools.pairwise(marks)):
        raise ValueError("marks overlap")
    return marks


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**40:
        raise ValueError(value)
    return value
