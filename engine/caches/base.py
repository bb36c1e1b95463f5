"""The cache transaction of one sequence in one model: feed a step, then keep its first tokens and drop the rest.

`forward(width, run)` opens a step. `commit(kept)` closes it and leaves every layer exactly as if only the kept tokens
had been fed. How each kind of cache does that is in the files beside this one, and nothing outside needs to know.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import mlx.core as mx

from engine.caches.kinds import leaves, require, restore, snapshot, trim, trims
from engine.caches.replay import ModuleCall, Replay
from engine.caches.window import SLACK_TOKENS

# A prompt's last tokens, up to this many, are prefilled by the first round, which also samples: that saves one forward
# before the first token.
TAIL_TOKENS = 64


class Others(Protocol):
    """The caches of the same sequence in other processes, which hold other layers."""

    @property
    def needs_checkpoints(self) -> bool: ...

    def nbytes(self, here: int, position: int) -> int:
        """In the fullest process, with so many bytes here and `position` tokens; at least `here`."""

    def begin(self, position: int) -> None:
        """A step opens at `position`; the next forward belongs to it."""

    def commit(self, kept: int) -> None: ...

    def can_truncate(self, position: int) -> bool: ...

    def truncate(self, position: int, checkpoint: object) -> None:
        """`checkpoint`: what `make_checkpoint` returned there, or None."""

    def make_checkpoint(self) -> object: ...

    def copy_beginning(self, source: Any, end: int) -> None:
        """`source`: `Others` of another sequence."""


class CacheSet:
    """The caches of one sequence. Engine thread only. Calls that the contract does not allow raise CacheMisuse."""

    def __init__(
        self,
        layers: list[Any],
        replay: Replay | None = None,
        can_roll_back: bool = True,
        tail_tokens: int = TAIL_TOKENS,
    ) -> None:
        """`replay`: of the network; needed by caches that cannot drop tokens by themselves."""
        self.layers = layers
        self.tail_tokens = tail_tokens  # most tokens of a prompt that its first round feeds
        self.can_roll_back = can_roll_back  # whether a step may be committed in part; else no speculation
        self.position = 0  # committed tokens
        self.width = 0  # of the open step; 0: none is open
        self.others: Others | None = None  # None: all layers are here
        self._trimmed = [leaf for leaf in leaves(layers) if trims(leaf)]
        self._replayed = [leaf for leaf in leaves(layers) if not trims(leaf)]
        self.replay = replay  # None, too, where the caches are only read from here on, and no step may follow
        self._before: list[Any] = []
        self._calls: list[ModuleCall] = []
        self._rollback_points: dict[int, list[Any]] | None = None  # by position, None: not recorded

    @property
    def nbytes(self) -> int:
        """Size in the process with the largest share."""
        here = sum(layer.nbytes for layer in self.layers)
        return here if self.others is None else self.others.nbytes(here, self.position)

    def forward(self, width: int, run: Callable[[], mx.array]) -> mx.array:
        """Open a step of `width` tokens and run it. Wider than SLACK_TOKENS (prefill), it must be committed whole."""
        require(self.width == 0, "the last step was never committed")
        self.width = width
        self._before = self._snapshot()
        if self.others is not None:
            self.others.begin(self.position)
        if self.replay is None or not self._replayed or not 1 < width <= SLACK_TOKENS:
            return run()
        with self.replay.recording(self._replayed) as self._calls:
            return run()

    def commit(self, kept: int) -> None:
        """Close the open step and keep its first `kept` tokens."""
        require(0 <= kept <= self.width, f"{kept} tokens of a step of {self.width} cannot stand")
        partly = self._replayed and 0 < kept < self.width
        require(bool(self._calls) or not partly, "a step as wide as this must stand as a whole")
        if kept < self.width:
            self._forget(self.width, kept)
        if self.others is not None:
            self.others.commit(kept)
        self.width = 0
        self.position += kept
        self._keep_rollback_point()
        self._before = []
        self._calls = []

    def keep_rollback_points(self) -> None:
        """Until the next `roll_back`, record what it takes to roll back to here and to the end of each step."""
        require(self.others is None, "only a draft is rolled back by several steps")
        self._rollback_points = {}
        self._keep_rollback_point()

    def roll_back(self, position: int) -> None:
        """Drop everything after `position` tokens: where `keep_rollback_points` was called, or a step ended since."""
        require(self.width == 0, "a step is open")
        require(0 <= position <= self.position, f"there is no position {position} of {self.position}")
        points = self._rollback_points or {}
        if position < self.position:
            require(not self._replayed or position in points, f"no rollback point was kept at {position}")
            self._restore(points.get(position, []))
            for leaf in self._trimmed:
                trim(leaf, self.position - position)
            self.position = position
        self._rollback_points = None

    def evaluate(self) -> None:
        """Evaluate what the last step left lazy, so that a prefill chunk's memory is freed before the next one."""
        mx.eval([layer.state for layer in self.layers])

    def _forget(self, width: int, kept: int) -> None:
        again = self._calls if kept else []
        fed_again = {id(leaf) for call in again for leaf in call.handed}
        for leaf in self._trimmed:
            trim(leaf, width if id(leaf) in fed_again else width - kept)
        self._restore(self._before)
        if self.replay is not None:
            self.replay.run(again, width, kept)

    def _keep_rollback_point(self) -> None:
        if self._rollback_points is not None:
            self._rollback_points[self.position] = self._snapshot()

    def _snapshot(self) -> list[Any]:
        return [snapshot(leaf) for leaf in self._replayed]

    def _restore(self, before: list[Any]) -> None:
        for leaf, was in zip(self._replayed, before, strict=True):
            restore(leaf, was)
