"""Search without case, width, or the encoding of accents and Hangul. No Qt.

`fold` normalizes text; `occurrences` finds folded words in the original text.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

_FORM: Final = "NFKC"
_JAMO = range(0x1160, 0x1200)  # vowels and final consonants, which join the letter before

_SLICE = 100_000
TextSpan = tuple[int, int]  # first character, and the one after the last


def fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize(_FORM, unicodedata.normalize(_FORM, text).casefold())


def occurrences(text: str, word: str) -> Iterator[TextSpan]:
    """Ranges of `word`, in order, without overlaps."""
    folded = fold(text)
    wanted = fold(word)
    if not wanted or wanted not in folded:
        return
    if _keeps_places(text):
        yield from _found(folded, wanted)
    else:
        yield from _found_as_written(*_folded_with_places(text), wanted)


def slices(text: str, overlap: int) -> Iterator[TextSpan]:
    """A text of any length as ranges to fold one by one; what is no longer than `overlap` is whole in one of them."""
    for start in range(0, max(1, len(text) - overlap), _SLICE):
        yield start, min(len(text), start + _SLICE + overlap)


def overlap_for(word: str) -> int:
    """As much text may be the word: accents and jamo that fold into one letter, and some more."""
    return 4 * len(word) + 32


def occurrences_of_any(text: str, words: Iterable[str]) -> list[TextSpan]:
    """Ranges of any of the words, in order; overlapping ones are merged."""
    folded = fold(text)
    result = list[TextSpan]()
    present = [wanted for wanted in {fold(word) for word in words} if wanted and wanted in folded]
    if not present:
        return result
    places: Sequence[int] = range(len(text) + 1)
    if not _keeps_places(text):
        folded, places = _folded_with_places(text)
    for first, last in sorted({span for wanted in present for span in _found_as_written(folded, places, wanted)}):
        if result and first <= result[-1][1]:
            result[-1] = (result[-1][0], max(last, result[-1][1]))
        else:
            result.append((first, last))
    return result


def _found(folded: str, wanted: str) -> Iterator[TextSpan]:
    at = folded.find(wanted)
    while at >= 0:
        yield at, at + len(wanted)
        at = folded.find(wanted, at + len(wanted))


def _found_as_written(folded: str, starts: Sequence[int], wanted: str) -> Iterator[TextSpan]:
    before: TextSpan | None = None
    for first, last in _found(folded, wanted):
        span = starts[first], _end(starts, last)
        if span != before:  # one letter may hold the word twice: "s" in "ß"
            yield span
        before = span


def _keeps_places(text: str) -> bool:
    """Whether folding keeps each character's index. Folding never shortens text, so equal length shows it."""
    if text.isascii():
        return True
    if not unicodedata.is_normalized(_FORM, text):
        return False
    folded = text.casefold()
    return len(folded) == len(text) and unicodedata.is_normalized(_FORM, folded)


def _folded_with_places(text: str) -> tuple[str, list[int]]:
    """The folded text, and for each of its characters (and its end) the index in the original."""
    folded: list[str] = []
    starts: list[int] = []
    for start, letter in _letters(text):
        piece = _fold_letter(letter)
        folded.append(piece)
        starts += [start] * len(piece)
    starts.append(len(text))
    return "".join(folded), starts


def _end(starts: Sequence[int], last: int) -> int:
    """After the whole letter that the match ends in."""
    return starts[bisect_right(starts, starts[last - 1])]


def _letters(text: str) -> Iterator[tuple[int, str]]:
    """Each character with the marks and jamo that join it."""
    start = 0
    for place, char in enumerate(text):
        if place > start and not _joins(char):
            yield start, text[start:place]
            start = place
    if text:
        yield start, text[start:]


@lru_cache(maxsize=4096)
def _joins(char: str) -> bool:
    if char < "\u0300":
        return False
    first = unicodedata.normalize(_FORM, char)[0]
    return unicodedata.combining(first) != 0 or ord(first) in _JAMO


@lru_cache(maxsize=4096)
def _fold_letter(letter: str) -> str:
    return fold(letter)
