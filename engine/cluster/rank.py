"""A rank other than 0: it holds layers and caches, and carries out operations one after the other. It decides nothing.

Everything is computed before the answer, or before the next operation: nothing lazy is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import mlx.core as mx

from engine.caches.base import CacheSet
from engine.caches.checkpoints import (
    Checkpoint,
    can_truncate,
    copy_beginning,
    make_checkpoint,
    needs_checkpoints,
    truncate,
)
from engine.caches.kinds import require
from engine.cluster.fabric import join, passed_on, require_same
from engine.cluster.operations import (
    CanTruncate,
    Commit,
    Copy,
    Drop,
    Forward,
    Join,
    Loaded,
    LoadPart,
    MakeCheckpoint,
    Operation,
    RankProgress,
    Stepped,
    Truncate,
    digest_of_states,
)
from engine.cluster.shard import Shard, recorded
from engine.cluster.stage import Stage, bytes_of, states_from
from engine.machines.launched import LAUNCHED
from engine.machines.messages import RankAnswer
from engine.models.fit import set_aside
from engine.models.inspect import content_digest
from engine.models.memory import is_nearly, is_short, most_bytes, set_limits
from engine.models.networks import Held, LoadedPart, LoadProgress, checked, reading

MOST_HELD = 4096  # sequences and checkpoints
# Of the memory that it may use: rank 0, which each step says that this is short, has not stopped before.
_OVER = 1.05
_WIDE_TOKENS = 64  # after wider steps MLX's spare buffers are given back, as in prefill on one machine

# Between two words of a load's progress: rank 0, which loads as well, reads none of them before it is done.
_NEWS_S = 10.0

Post = Callable[..., None]  # sends a value, and perhaps bytes
Gathering = Callable[[bytes], bytes]  # this rank's bytes, to those of all


class Rank:
    def __init__(self, post: Post, folder: str = "", memory_bytes: int = 0, gather: Gathering = bytes) -> None:
        """`folder`: of the only model that it may load; "": any. `memory_bytes`: that it may use; 0: this machine's."""
        self._post = post
        self._gather = gather
        self._is_launched = False
        self.group: Any = None  # in which parts of layers are summed; None: it has whole layers
        self._folder = folder
        self._most_bytes = memory_bytes or most_bytes()
        set_aside(max(0, most_bytes() - self._most_bytes))
        self._rows = 0  # of the embedding
        self._part: LoadedPart | None = None
        self._sequences: dict[int, CacheSet] = {}
        self._checkpoints: dict[int, Checkpoint] = {}
        # The states for the present forward, and their type; None while the network is loaded.
        self._given: tuple[bytearray, str] | None = None
        self._states: mx.array | None = None  # after its layers

    def carry_out(self, operation: Operation, data: bytearray) -> None:
        """Raises whatever went wrong: then this rank is of no further use."""
        if self._is_launched and self.group.rank() == 0:
            passed_on(self.group, (operation, data))
        match operation:
            case Join():
                require(self.group is None, "it has joined already")
                self.group, joined = join(operation, self._gather)
                self._is_launched = operation.backend == LAUNCHED
                self._post(joined)
            case LoadPart():
                self._load(operation)
            case Forward():
                self._forward(operation, data)
            case Commit(sequence=number, kept=kept):
                caches = self._sequences[number]
                partly = kept < caches.width
                caches.commit(kept)
                if partly:
                    caches.evaluate()
            case CanTruncate(sequence=number, position=position):
                self._post(RankAnswer(can_truncate(self._sequences[number], position)))
            case _:
                self._change(operation)

    def _change(self, operation: Operation) -> None:
        match operation:
            case Truncate(sequence=number, position=position, checkpoint=checkpoint):
                truncate(self._sequences[number], position, self._checkpoints[checkpoint] if checkpoint else None)
                self._sequences[number].evaluate()
            case MakeCheckpoint(sequence=number, checkpoint=checkpoint):
                self._check_room()
                self._checkpoints[checkpoint] = make_checkpoint(self._sequences[number])
            case Copy(sequence=number, source=source, end=end):
                copy_beginning(self._sequences[source], self._begin(number), end)
                self._sequences[number].evaluate()
            case Drop(numbers=numbers):
                for number in numbers:
                    self._sequences.pop(number, None)
                    self._checkpoints.pop(number, None)

    def _load(self, operation: LoadPart) -> None:
        require(self._part is None, "something is loaded already")
        require(bool(operation.split) is (self.group is None), "layers in a group, or a part of all without one")
        posted_at = -inf
        for progress in self._reading(operation):
            if isinstance(progress, LoadProgress) and time.monotonic() >= posted_at + _NEWS_S:
                posted_at = time.monotonic()
                self._post(RankProgress(progress.done_bytes, progress.total_bytes))
            if self.group is not None:
                mx.clear_cache()  # whole matrices, of which a part was kept
        set_limits(self._loaded.need)
        digest = content_digest(Path(self._folder or operation.folder))
        self._post(Loaded(digest, needs_checkpoints(self._loaded.make_caches())))

    def _reading(self, operation: LoadPart) -> Iterator[Any]:
        info = checked(Path(self._folder or operation.folder))
        self._part = yield from reading(info, cut=partial(self._cut, operation))
        self._rows = info.vocabulary_rows

    def _cut(self, operation: LoadPart, network: Any) -> Held:
        folder = self._folder or operation.folder
        if self.group is None:
            return Stage(network, folder, operation.rank, operation.split, self._receive, self._send)
        return Shard(network, folder, self.group, self._send)

    @property
    def _loaded(self) -> LoadedPart:
        require(self._part is not None, "nothing is loaded")
        assert self._part is not None
        return self._part

    def _begin(self, number: int) -> CacheSet:
        require(number not in self._sequences, f"sequence {number} is known")
        self._check_room()
        self._sequences[number] = caches = self._loaded.make_caches()
        return caches

    def _check_room(self) -> None:
        held = len(self._sequences) + len(self._checkpoints)
        require(held < MOST_HELD, f"{held} sequences are held")
        require(mx.get_active_memory() <= _OVER * self._most_bytes, "more memory is used than is lent")

    def _forward(self, operation: Forward, data: bytearray) -> None:
        self._check_room()
        # MLX reads whatever lies beyond the embedding.
        require(0 <= max(operation.tokens, default=-1) < (self._rows or inf), "no tokens, or none of this model's")
        network = self._loaded.network
        if self.group is not None and len(operation.tokens) > _WIDE_TOKENS:
            # macOS ends work on the GPU that waits five seconds for another machine: the CPU waits first.
            mx.eval(mx.distributed.all_sum(mx.array(1), group=self.group, stream=mx.cpu))
        tokens = mx.array([operation.tokens], dtype=mx.uint32)
        self._given = data, operation.dtype
        caches: CacheSet | None = None
        with recorded(network, operation.layers) as of_layers:
            if operation.sequence:
                caches = self._sequences.get(operation.sequence) or self._begin(operation.sequence)
                require(caches.position == operation.position, f"{caches.position} tokens are held")
                caches.forward(len(operation.tokens), partial(network, tokens, cache=caches.layers))
            else:
                network(tokens)
        require(self._states is not None, "the forward has sent no states")
        assert self._states is not None
        states, dtype = bytes_of(mx.concatenate([self._states, *of_layers], axis=-1))
        self._states = None
        short = is_short() or is_nearly(self._most_bytes)
        if self.group is None:
            self._post(Stepped(dtype, short), states)
        else:
            digest = digest_of_states(states)
            if self._is_launched:
                require_same(self.group, digest)
            self._post(Stepped(dtype, short, digest), b"" if self.group.rank() else states)
        if caches is not None:
            caches.evaluate()  # while the next rank computes
        if len(operation.tokens) > _WIDE_TOKENS:
            mx.clear_cache()

    def _receive(self, like: mx.array) -> mx.array:
        return like if self._given is None else states_from(*self._given, like)

    def _send(self, states: mx.array) -> None:
        self._states = None if self._given is None else states
