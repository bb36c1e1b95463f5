"""Caches of finished replies, so that a chat's next turn reads only what is new. In memory, bounded, newest kept.

Moves caches in and out, never copies them: a sequence is either here or in use.
"""

from __future__ import annotations

from collections.abc import Sequence as Tokens
from itertools import takewhile
from typing import TYPE_CHECKING

from engine.sequence import Sequence

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel

DEFAULT_LIMIT_BYTES = 2 << 30


class PrefixStore:
    def __init__(self, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._kept: list[Sequence] = []  # least recently used first

    @property
    def nbytes(self) -> int:
        return sum(sequence.caches.nbytes for sequence in self._kept)

    def take(self, model: LoadedModel, tokens: list[int]) -> Sequence:
        """A sequence over `tokens` whose cache already holds as much of them as any kept one can give."""
        best, shared = self._best(model, tokens)
        if best is None:
            return Sequence(model, tokens)
        self._kept.remove(best)
        best.caches.rewind(shared)
        return Sequence(model, tokens, best.caches)

    def put(self, sequence: Sequence) -> None:
        if sequence.caches.position == 0:
            return
        self._kept.append(sequence)
        while self._kept and self.nbytes > self._limit_bytes:
            self._kept.pop(0)

    def clear(self) -> None:
        self._kept.clear()

    def _best(self, model: LoadedModel, tokens: list[int]) -> tuple[Sequence | None, int]:
        best, most = None, 0
        for sequence in reversed(self._kept):
            shared = self._usable(sequence, model, tokens)
            if shared > most:
                best, most = sequence, shared
        return best, most

    def _usable(self, sequence: Sequence, model: LoadedModel, tokens: list[int]) -> int:
        """Tokens of `sequence`'s cache that a chat going on with `tokens` could start from; 0: better left alone."""
        if sequence.model is not model:
            return 0
        held = sequence.caches.position
        shared = min(common_prefix(sequence.tokens[:held], tokens), len(tokens) - 1)
        if not sequence.caches.can_rewind:
            return shared if shared == held else 0
        # Another chat that only shares the system prompt keeps its cache; the same turn written anew does not need it.
        return shared if shared == len(tokens) - 1 or 2 * shared >= held else 0


def common_prefix(a: Tokens[int], b: Tokens[int]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))
