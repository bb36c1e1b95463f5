"""The cache transaction of one sequence in one model: feed a step, then keep the first of its tokens, forget the rest.

`forward(width, run)` opens a step, `commit(kept)` closes it and leaves every layer exactly as if only the kept tokens
had been fed. What each layer needs for that differs (see the files beside this one); nobody outside has to know.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlx.core as mx

from engine.caches.kinds import leaves, restore, snapshot, trim, trims
from engine.caches.replay import Call, hearing, replay
from engine.caches.window import SLACK_TOKENS, WindowCache


class CacheSet:
    def __init__(self, layers: list[Any], can_roll_back: bool = True) -> None:
        self.layers = layers
        self.can_roll_back = can_roll_back  # whether a step may be committed in part; without that, no speculation
        self.position = 0  # committed tokens
        self.width = 0  # of the open step; 0: none is open
        self._trimmed = [leaf for leaf in leaves(layers) if trims(leaf)]
        self._replayed = [leaf for leaf in leaves(layers) if not trims(leaf)]
        self._before: list[Any] = []
        self._calls: list[Call] = []
        self._trail: dict[int, list[Any]] | None = None  # by position

    @property
    def can_rewind(self) -> bool:
        """Whether `rewind` can go to any earlier position."""
        return not self._replayed and not any(isinstance(leaf, WindowCache) for leaf in self._trimmed)

    @property
    def nbytes(self) -> int:
        return sum(layer.nbytes for layer in self.layers)

    def forward(self, width: int, run: Callable[[], mx.array]) -> mx.array:
        """Open a step of `width` tokens and run it. Wider than SLACK_TOKENS (prefill) it must stand as a whole."""
        assert self.width == 0, "the last step was never committed"
        self.width = width
        self._before = self._snapshot()
        if not self._replayed or not 1 < width <= SLACK_TOKENS:
            return run()
        with hearing(self._replayed) as self._calls:
            return run()

    def commit(self, kept: int) -> None:
        width, self.width = self.width, 0
        assert 0 <= kept <= width
        if kept < width:
            self._forget(width, kept)
        self.position += kept
        self._mark()
        self._before, self._calls = [], []

    def leave_trail(self) -> None:
        """Until the next `rewind`, remember what it takes to go back to here and to the end of every step from here."""
        self._trail = {}
        self._mark()

    def rewind(self, position: int) -> None:
        """Forget everything after `position` tokens."""
        assert self.width == 0
        assert 0 <= position <= self.position
        if position < self.position:
            if self._replayed:
                assert self._trail is not None, "these caches only go back to where they have been kept"
                self._restore(self._trail[position])
            for leaf in self._trimmed:
                trim(leaf, self.position - position)
            self.position = position
        self._trail = None

    def evaluate(self) -> None:
        """Finish what the last step left lazy, so that a chunk of prefill costs its memory only once."""
        mx.eval([layer.state for layer in self.layers])

    def _forget(self, width: int, kept: int) -> None:
        again = self._calls if kept else []
        assert again or not (kept and self._replayed), "a step as wide as this must stand as a whole"
        fed_again = {id(leaf) for call in again for leaf in call.handed}
        for leaf in self._trimmed:
            trim(leaf, width if id(leaf) in fed_again else width - kept)
        self._restore(self._before)
        replay(again, width, kept)

    def _mark(self) -> None:
        if self._trail is not None:
            self._trail[self.position] = self._snapshot()

    def _snapshot(self) -> list[Any]:
        return [snapshot(leaf) for leaf in self._replayed]

    def _restore(self, before: list[Any]) -> None:
        for leaf, was in zip(self._replayed, before, strict=True):
            restore(leaf, was)
