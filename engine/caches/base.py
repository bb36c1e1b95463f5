"""The cache transaction: how a sequence's key-value state moves, and how much of a step it takes back. No decisions."""

from __future__ import annotations

from typing import Any, Protocol

import mlx.core as mx


class CacheSet(Protocol):
    """All layer caches of one sequence in one model.

    `begin(width)` announces a forward over `width` tokens; `commit(kept)` keeps the first `kept` of them and forgets
    the rest, exactly as if only those had been fed.
    """

    layers: list[Any]  # what the model's forward takes
    position: int  # committed tokens

    @property
    def can_rewind(self) -> bool: ...

    @property
    def nbytes(self) -> int: ...

    def begin(self, width: int) -> None: ...

    def commit(self, kept: int) -> None: ...

    def rewind(self, position: int) -> None:
        """Forget everything after `position` tokens."""


def evaluate(caches: CacheSet) -> None:
    """Finish what the last forward left lazy, so that a chunk of prefill costs its memory only once."""
    mx.eval([layer.state for layer in caches.layers])
