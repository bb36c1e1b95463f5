"""Texts of a draft as rows of one batch: one forward reads or drafts a token of each."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Tokens
from typing import Any, Protocol
from weakref import ref

import mlx.core as mx

from engine.caches.base import CacheSet
from engine.caches.merging import MergedCaches
from engine.decoding.sequence import Sequence, within_vocabulary
from engine.models.loading import LoadedModel


class Rows:
    """Meanwhile the caches of a sequence are empty and only count its tokens; `release` fills them again.

    Tokens after their `position` are dropped before the next forward. A sequence that has no other owner any more
    is no row after the next `hold`.
    """

    def __init__(self) -> None:
        self.steps = 0  # since all that was not cached was read
        self._caches = MergedCaches()
        self._members: list[ref[Sequence]] = []
        self._lengths: list[int] = []  # cached tokens of each row

    def __contains__(self, sequence: object) -> bool:
        return any(member() is sequence for member in self._members)

    def hold(self, sequences: Tokens[Sequence]) -> None:
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
            sequence.caches = sequence.model.make_caches()
            sequence.caches.position = self._lengths[-1]
        self._keep([[*held, *fresh].index(sequence) for sequence in sequences])

    def release(self, sequence: Sequence) -> None:
        """Give a sequence its caches back."""
        self._drop_rejected()
        row = [member() for member in self._members].index(sequence)
        self._caches.extract(row, sequence.caches, sequence.caches.position, back=False)
        self._keep([other for other in range(len(self._members)) if other != row])

    def _read(self, counts: list[int], run: Callable[[], mx.array]) -> mx.array:
        """Run a forward of which row i keeps `counts[i]` tokens; its output (rows, 1, width) at the last of them."""
        made = self._caches.forward(max(counts), run)
        self._caches.commit(counts)
        self._begin_steps(counts)
        last = mx.array([max(0, count - 1) for count in counts])
        return mx.take_along_axis(made, last[:, None, None], axis=1)

    def _begin_steps(self, counts: list[int]) -> None:
        """So many tokens of each row were read; steps can follow."""
        self._caches.keep_rollback_points(len(counts))
        self.steps = 0
        self._lengths = [length + count for length, count in zip(self._lengths, counts, strict=True)]
        for member, length in zip(self._members, self._lengths, strict=True):
            if (sequence := member()) is not None:
                sequence.caches.position = length

    def _step(self, run: Callable[[], mx.array]) -> mx.array:
        """Run a forward of a token a row. A `position` has to count it, or it is dropped."""
        made = self._caches.forward(1, run)
        self._caches.commit([1] * len(self._members))
        self._lengths = [length + 1 for length in self._lengths]
        self.steps += 1
        return made

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


class DraftRows(Rows):
    """Of a draft model."""

    def __init__(self, model: LoadedModel) -> None:
        super().__init__()
        self._model = model

    def read(self, wanted: Tokens[bool]) -> mx.array:
        """Read what is not cached of each row that is `wanted`; logits (rows, vocabulary) after its last token."""
        self._drop_rejected()
        held = [member() for member in self._members]
        tails = [
            sequence.tokens[sequence.caches.position :] if sequence is not None and reads else []
            for sequence, reads in zip(held, wanted, strict=True)
        ]
        counts = [len(tail) for tail in tails]
        width = max(counts)
        tokens = mx.array([[*tail, *[0] * (width - len(tail))] for tail in tails], dtype=mx.uint32)
        return self._read(counts, lambda: self._logits(tokens))[:, 0]

    def step(self, tokens: mx.array) -> mx.array:
        """Read one more token of each row (rows,); logits (rows, vocabulary)."""
        return self._step(lambda: self._logits(tokens[:, None]))[:, 0]

    def _logits(self, tokens: mx.array) -> mx.array:
        logits: mx.array = self._model.network(within_vocabulary(tokens, self._model), cache=self._caches.layers)
        return logits


class StateNetwork(Protocol):
    """The part of a drafter's network that prefills."""

    reads_next_token: bool  # a row is computed from a token's state and the next token; else from the state alone
    _config: Any

    @property
    def reads(self) -> tuple[int, ...]:
        """The layers of the main model whose states it is fed."""

    @property
    def reads_width(self) -> int:
        """Width of a row of those states."""
        width: int = len(self.reads) * self._config.info.main_width
        return width

    def read(self, tokens: mx.array, states: mx.array, caches: CacheSet) -> mx.array:
        """Add a row for each of `states` (n, layers × width); `tokens` (n,) are the ones right after. Commits them.

        Returns its own states (n, width) or the last one (1, width): a draft begins with that.
        """


class RowHead(StateNetwork, Protocol):
    """A drafter that reads and drafts for several texts in one forward."""

    def fused(self, states: mx.array) -> mx.array:
        """The main model's states (…, layers × width) as its rows get them (…, width)."""
        return states

    def rows(self, tokens: mx.array, states: mx.array, layers: Tokens[object]) -> mx.array:
        """Its states (texts, n, width) of rows of `tokens` (texts, n) and `states` (texts, n, width): fused, or its
        own.
        """

    def ahead(self, tokens: mx.array, states: mx.array, layers: Tokens[object]) -> mx.array:
        """States (texts, n, width) of a draft's first forward, from `tokens` (texts,) and `states` (texts, width)."""
        return self.rows(tokens[:, None], states[:, None], layers)

    def read(self, tokens: mx.array, states: mx.array, caches: CacheSet) -> mx.array:
        return self.step(tokens, self.fused(states), caches)

    def step(self, token: mx.array, state: mx.array, caches: CacheSet) -> mx.array:
        """Also for several tokens of a text."""
        made = caches.forward(token.size, lambda: self.rows(token[None], state[None], caches.layers))
        caches.commit(token.size)
        return made[0]


class HeadRows(Rows):
    """Of a drafter that is fed hidden states. What it drafts is dropped before the next forward."""

    def __init__(self, head: RowHead) -> None:
        super().__init__()
        self._head = head

    @property
    def layers(self) -> Tokens[object]:
        return self._caches.layers

    def read(self, parts: Tokens[tuple[mx.array, mx.array] | None]) -> mx.array | None:
        """Add rows of tokens (n,) and states (n, layers × width) to each text, to some none; its states (texts, width)
        at the last, None where no text gets any.
        """
        self._drop_rejected()
        counts = [0 if part is None else part[0].size for part in parts]
        width = max(counts)
        if not width:
            self._begin_steps(counts)
            return None
        like = next(part for part in parts if part is not None)[1]
        nothing = mx.zeros((0,), mx.uint32), like[:0]
        filled = [part or nothing for part in parts]
        tokens = mx.stack([mx.pad(each, (0, width - each.size)) for each, _ in filled])
        states = mx.stack([mx.pad(each, [(0, width - each.shape[0]), (0, 0)]) for _, each in filled])
        return self._read(counts, lambda: self._head.rows(tokens, self._head.fused(states), self._caches.layers))[:, 0]

    def step(self, tokens: mx.array, states: mx.array) -> mx.array:
        """Its states (texts, width) after one more row of each text, of `tokens` (texts,) and its own `states`."""
        return self._step(lambda: self._head.ahead(tokens, states, self._caches.layers))[:, 0]
