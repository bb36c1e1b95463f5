"""Texts of a draft model as rows of one batch: one forward reads or drafts a token of each."""

from __future__ import annotations

from collections.abc import Sequence as Rows
from typing import TYPE_CHECKING
from weakref import ref

import mlx.core as mx

from engine.caches.merging import MergedCaches
from engine.decoding.sequence import Sequence, within_vocabulary

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel


class DraftRows:
    """Meanwhile the caches of a sequence are empty and only count its tokens; `release` fills them again.

    Tokens after their `position` are dropped before the next forward. A sequence that has no other owner any more
    is no row after the next `hold`.
    """

    def __init__(self, model: LoadedModel) -> None:
        self._model = model
        self._caches = MergedCaches()
        self._members: list[ref[Sequence]] = []
        self._lengths: list[int] = []  # cached tokens of each row
        self.steps = 0  # since `read`

    def __contains__(self, sequence: object) -> bool:
        return any(member() is sequence for member in self._members)

    def hold(self, sequences: Rows[Sequence]) -> None:
        """Make these the rows, in this order, and release all others. Each has cached tokens, but not all are."""
        self._drop_rejected()
        for member in [member() for member in self._members]:
            if member is not None and member not in sequences:
                self.release(member)
        held = [member() for member in self._members]
        fresh = [sequence for sequence in sequences if sequence not in held]
        if fresh:
            self._caches.append([sequence.caches for sequence in fresh])
        for sequence in fresh:
            self._members.append(ref(sequence))
            self._lengths.append(sequence.caches.position)
            sequence.caches = self._model.make_caches()
            sequence.caches.position = self._lengths[-1]
        self._keep([[*held, *fresh].index(sequence) for sequence in sequences])

    def release(self, sequence: Sequence) -> None:
        """Give a sequence its caches back."""
        self._drop_rejected()
        row = [member() for member in self._members].index(sequence)
        self._caches.extract(row, sequence.caches, sequence.caches.position, back=False)
        self._keep([other for other in range(len(self._members)) if other != row])

    def read(self, wanted: Rows[bool]) -> mx.array:
        """Read what is not cached of each row that is `wanted`; logits (rows, vocabulary) after its last token."""
        self._drop_rejected()
        self.steps = 0
        held = [member() for member in self._members]
        tails = [
            sequence.tokens[sequence.caches.position :] if sequence is not None and reads else []
            for sequence, reads in zip(held, wanted, strict=True)
        ]
        counts = [len(tail) for tail in tails]
        width = max(counts)
        logits = self._forward(mx.array([[*tail, *[0] * (width - len(tail))] for tail in tails], dtype=mx.uint32))
        self._caches.commit(counts)
        self._caches.keep_rollback_points(len(tails))
        self._lengths = [length + count for length, count in zip(self._lengths, counts, strict=True)]
        for sequence, length in zip(held, self._lengths, strict=True):
            if sequence is not None:
                sequence.caches.position = length
        last = mx.array([max(0, count - 1) for count in counts])
        return mx.take_along_axis(logits, last[:, None, None], axis=1)[:, 0]

    def step(self, tokens: mx.array) -> mx.array:
        """Read one more token of each row (rows,); logits (rows, vocabulary). A `position` has to count it, or it is
        dropped.
        """
        logits = self._forward(tokens[:, None])
        self._caches.commit([1] * tokens.size)
        self._lengths = [length + 1 for length in self._lengths]
        self.steps += 1
        return logits[:, -1]

    def _forward(self, tokens: mx.array) -> mx.array:
        inputs = within_vocabulary(tokens, self._model)
        network = self._model.network
        return self._caches.forward(tokens.shape[1], lambda: network(inputs, cache=self._caches.layers))

    def _drop_rejected(self) -> None:
        held = [member() for member in self._members]
        wanted = [
            length if sequence is None else sequence.caches.position
            for sequence, length in zip(held, self._lengths, strict=True)
        ]
        dropped = [length - position for length, position in zip(self._lengths, wanted, strict=True)]
        if any(dropped):
            self._caches.roll_back(dropped)
            self._lengths = wanted

    def _keep(self, rows: list[int]) -> None:
        if rows != list(range(len(self._members))):
            self._caches.keep(rows)
            self._members = [self._members[row] for row in rows]
            self._lengths = [self._lengths[row] for row in rows]
