"""Pictures in a list of tokens: each takes one name (a number) for each row that it has in the embedding.

A name is a hash of the picture and of how it is read. So code that compares, stores or cuts lists of tokens needs no
special case, and two chats differ where their pictures differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import shake_128
from itertools import islice

from engine.api.types import Picture, PictureDetail
from engine.models.vision_config import VisionConfig

FIRST_NAME = 1 << 30  # beyond any vocabulary, and below 2**31
_NAME_BYTES = 4
_READING = 1  # version of how pictures are encoded, hashed into every name: raise it when that changes


@dataclass(frozen=True, slots=True, eq=False)
class PictureSpan:
    """Where a picture is in the tokens, and how it is read."""

    start: int
    end: int
    picture: Picture = field(repr=False)
    width: int  # in pixels, after resizing
    height: int
    columns: int  # of tokens
    rows: int
    tiles: tuple[int, int] = (1, 1)  # (columns, rows) of squares encoded before the whole picture; (1, 1): none
    layout: tuple[str | int, ...] = ()  # its rows in the tower's order (numbers), and the words between them

    def patches(self, vision: VisionConfig) -> int:
        """Number of patches that the tower encodes at once."""
        square = 0 if vision.tiling is None or self.tiles == (1, 1) else (vision.tiling.side // vision.patch) ** 2
        return max(self.columns * self.rows * vision.merge**2, square)

    @property
    def extent(self) -> int:
        """By how much positions grow over it, in families that count rows and columns."""
        return max(self.columns, self.rows)


def _names(picture: Picture, vision: VisionConfig, usual: PictureDetail) -> list[int]:
    detail = picture.detail or usual
    wide, high = vision.size(picture.width, picture.height, detail)
    cut = (vision.tiling, vision.tiles(picture.width, picture.height, detail)) if vision.tiling is not None else ()
    read_as = (_READING, vision.tower.value, vision.patch, vision.merge, vision.mean, vision.std, wide, high, *cut)
    count = vision.tokens(picture.width, picture.height, detail)
    words = shake_128(repr((*read_as, picture.digest)).encode()).digest(_NAME_BYTES * count)
    starts = range(0, len(words), _NAME_BYTES)
    return [FIRST_NAME | int.from_bytes(words[at : at + _NAME_BYTES], "big") >> 2 for at in starts]


def without_names(tokens: Iterable[int]) -> list[int]:
    return [token for token in tokens if token < FIRST_NAME]


def readable(tokens: Iterable[int], vision: VisionConfig | None) -> list[int]:
    """`tokens` with the model's placeholder for each name, as networks need them."""
    return [vision.readable if vision is not None and token >= FIRST_NAME else token for token in tokens]


class PicturesLost(Exception):
    """The chat template wrote another number of placeholders than the chat has pictures."""


def framed(text: str, vision: VisionConfig, word: Callable[[int], str]) -> str:
    """A rendered chat with the family's marks around its pictures; `word` is the text of a token."""
    if not vision.marks:
        return text
    begin, end = map(word, vision.marks)
    written = word(vision.placeholder if vision.written < 0 else vision.written)
    return text.replace(written, f"{vision.lines}{begin}{word(vision.placeholder)}{end}{vision.lines}")


def spelled(
    tokens: Sequence[int], pictures: Sequence[Picture], vision: VisionConfig, usual: PictureDetail
) -> list[int]:
    """`tokens` of a rendered chat with the names of `pictures` in place of each placeholder.

    `usual`: detail of pictures without one.
    """
    places = tokens.count(vision.placeholder)
    if places != len(pictures):
        raise PicturesLost(f"{places} places for {len(pictures)} pictures")
    left = iter(pictures)
    return [
        each
        for token in tokens
        for each in (_names(next(left), vision, usual) if token == vision.placeholder else (token,))
    ]


def spans_in(
    tokens: Sequence[int], pictures: Iterable[Picture], vision: VisionConfig, usual: PictureDetail
) -> list[PictureSpan]:
    """The spans of `pictures` in `tokens` that `spelled` returned."""
    side = vision.patch * vision.merge
    spans = list[PictureSpan]()
    at = 0
    for picture in pictures:
        start = next(index for index, token in enumerate(islice(tokens, at, None), at) if token >= FIRST_NAME)
        size = picture.width, picture.height, picture.detail or usual
        (wide, high) = vision.size(*size)
        at = start + vision.tokens(*size)
        cut = vision.tiles(*size), tuple(vision.layout(*size))
        spans.append(PictureSpan(start, at, picture, wide, high, wide // side, high // side, *cut))
    return spans
