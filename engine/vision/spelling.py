"""From a rendered chat to tokens with names of its pictures, and back to where each of them is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from engine.api.types import Picture, PictureDetail
from engine.models.sight import Sight
from engine.vision.values import FIRST_NAME, Span, names

_APART = "\u200b"  # no width


class PicturesLost(Exception):
    """A chat template has another number of places than the chat has pictures."""


def broken_up(text: str, words: Iterable[str]) -> str:
    """`text` without `words` that stand for pictures: written by a user, they are no place for one."""
    for word in words:
        text = text.replace(word, word[:1] + _APART + word[1:])
    return text


def framed(text: str, sight: Sight, word: Callable[[int], str]) -> str:
    """A rendered chat with marks around its pictures, where a family has them; `word` is the text of a token."""
    if not sight.marks:
        return text
    begin, end = map(word, sight.marks)
    written = word(sight.placeholder if sight.written < 0 else sight.written)
    return text.replace(written, f"{sight.lines}{begin}{word(sight.placeholder)}{end}{sight.lines}")


def spelled(tokens: Sequence[int], pictures: Sequence[Picture], sight: Sight, detail: PictureDetail) -> list[int]:
    """`tokens` of a rendered chat, with the names of `pictures` in place of one placeholder each."""
    places = tokens.count(sight.placeholder)
    if places != len(pictures):
        raise PicturesLost(f"{places} places for {len(pictures)} pictures")
    left = iter(pictures)
    return [
        each
        for token in tokens
        for each in (names(next(left), sight, detail) if token == sight.placeholder else (token,))
    ]


def spans_in(tokens: Sequence[int], pictures: Iterable[Picture], sight: Sight, detail: PictureDetail) -> list[Span]:
    """Where `pictures` are in `tokens` that `spelled` has made."""
    side, spans, at = sight.patch * sight.merge, list[Span](), 0
    for picture in pictures:
        start = next(index for index, token in enumerate(islice(tokens, at, None), at) if token >= FIRST_NAME)
        wide, high = sight.size(picture.width, picture.height, detail)
        at = start + sight.tokens(picture.width, picture.height, detail)
        spans.append(Span(start, at, picture, wide, high, wide // side, high // side))
    return spans
