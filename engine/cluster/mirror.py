"""Rank 0's caches of a sequence whose other layers are elsewhere: what is done to them is done there, too."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from engine.caches.base import CacheSet
from engine.cluster.crew import Crew


class Mirror:
    """The caches that the other ranks hold of one sequence; they are dropped with this object."""

    def __init__(self, crew: Crew, open_step: Callable[[int, int], None], bytes_for_one: float = 1.0) -> None:
        self.bytes_for_one = bytes_for_one
        self._crew = crew
        self._open_step = open_step
        self._number = 0  # 0: they hold nothing yet

    @property
    def needs_checkpoints(self) -> bool:
        return self._crew.needs_checkpoints

    def begin(self, position: int) -> None:
        """A step opens; the network's next forward is that of this sequence."""
        self._open_step(self._known(), position)

    def commit(self, kept: int) -> None:
        self._crew.commit(self._number, kept)

    def can_truncate(self, position: int) -> bool:
        return not self._number or self._crew.can_truncate(self._number, position)

    def truncate(self, position: int, checkpoint: object) -> None:
        if self._number:
            self._crew.truncate(self._number, position, checkpoint.number if isinstance(checkpoint, _Kept) else 0)

    def make_checkpoint(self) -> object:
        """They keep it as long as the result lives."""
        return _Kept(self._crew, self._number)

    def copy_beginning(self, source: Any, end: int) -> None:
        self._crew.copy(self._known(), source._number, end)  # noqa: SLF001  another Mirror

    def _known(self) -> int:
        if not self._number:
            self._number = self._crew.new_number()
            weakref.finalize(self, self._crew.forget, sequences=(self._number,)).atexit = False
        return self._number


class _Kept:
    """A checkpoint in the other ranks."""

    def __init__(self, crew: Crew, sequence: int) -> None:
        self.number = crew.make_checkpoint(sequence)
        weakref.finalize(self, crew.forget, checkpoints=(self.number,)).atexit = False


def mirrored(make_caches: Callable[[], CacheSet], make_mirror: Callable[[], Mirror]) -> Callable[[], CacheSet]:
    def make() -> CacheSet:
        caches = make_caches()
        caches.others = make_mirror()
        return caches

    return make
