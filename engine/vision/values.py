"""Pictures in a list of tokens: each takes a run of names there, one for each row that it has in the embedding.

A name is a hash of the picture and of how it is read. So whatever compares, stores or cuts lists of tokens needs to
know nothing of pictures, and two chats part where their pictures differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import shake_128

from engine.api.types import Picture, PictureDetail
from engine.models.sight import Sight

FIRST_NAME = 1 << 30  # beyond any vocabulary, and below 2**31
_NAME_BYTES = 4
_READING = 1  # another number, other names: for changes of what a picture's rows are


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """Where a picture is in the tokens, and how it is read."""

    start: int
    end: int
    picture: Picture = field(repr=False)
    width: int  # in pixels, after resizing
    height: int
    columns: int  # of tokens
    rows: int

    @property
    def extent(self) -> int:
        """By how much positions grow over it, in families that count rows and columns."""
        return max(self.columns, self.rows)


def names(picture: Picture, sight: Sight, detail: PictureDetail) -> list[int]:
    wide, high = sight.size(picture.width, picture.height, detail)
    read_as = (_READING, sight.tower.value, sight.patch, sight.merge, sight.mean, sight.std, wide, high)
    count = sight.tokens(picture.width, picture.height, detail)
    words = shake_128(repr((*read_as, picture.digest)).encode()).digest(_NAME_BYTES * count)
    starts = range(0, len(words), _NAME_BYTES)
    return [FIRST_NAME | int.from_bytes(words[at : at + _NAME_BYTES], "big") >> 2 for at in starts]


def without_names(tokens: Iterable[int]) -> list[int]:
    return [token for token in tokens if token < FIRST_NAME]


def readable(tokens: Iterable[int], sight: Sight | None) -> list[int]:
    """`tokens` with one of the model's own for each name: what a network may be given."""
    return [sight.readable if sight is not None and token >= FIRST_NAME else token for token in tokens]
