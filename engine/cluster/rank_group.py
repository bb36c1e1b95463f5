"""Rank 0's side of the other ranks: what it asks them, in one order, and what it does when one no longer answers.

Only rank 0 decides anything. No MLX here, and no thread: the call that waits for an answer also asks whether the rank
is still there. The first rank that is lost ends all of them, and every later call raises a RankLost that says the same.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol, TypeVar

from engine.api.errors import RankLost
from engine.api.ranks import RankEnd
from engine.cluster.operations import (
    ITEM_BYTES,
    PROTOCOL,
    CanTruncate,
    Commit,
    Copy,
    Drop,
    Forward,
    Hello,
    Loaded,
    LoadLayers,
    MakeCheckpoint,
    Operation,
    Ping,
    Pong,
    RankAnswer,
    RankBroken,
    RankProgress,
    Stepped,
    Truncate,
    Value,
)
from engine.cluster.versions import versions_here
from engine.cluster.wire import Wire, WireBroken, WireEnded

START_S = 120.0  # until a rank says its first word: Python and MLX are imported, on a busy machine perhaps
BEAT_S = 1.0
IDLE_BEAT_S = 5.0
SLICE_S = 0.01
END_S = 3.0
MISSED = 3  # unanswered pings after which a rank is lost
MOST_PONGS = 10_000  # in a row: more than come while idle between two looks, or in the longest step
FIRST_STEP_S = 120.0  # nothing is known of its speed yet
LEAST_STEP_S = 10.0
SLOW = 5.0  # times as long as its slowest step so far, a token
LOAD_STALL_S = 120.0  # without news of a load

_Kind = TypeVar("_Kind", RankAnswer, Stepped)


class Helper(Protocol):
    """A rank's process, here or elsewhere."""

    wire: Wire
    machine: str  # where it runs, if that is another one

    def end(self, patience_s: float) -> None:
        """Returns once it has ended, which it has so many seconds to do by itself."""


class RankGroup:
    """The ranks from 1 on, started in this order. Engine thread only, but for `forget`, `new_number` and `end`."""

    def __init__(self, starts: Iterable[Callable[[], Helper]]) -> None:
        self.lost: RankLost | None = None  # is never raised itself: the frames of a traceback hold the model
        self.needs_checkpoints = False
        self._numbers = itertools.count(1)  # of sequences and checkpoints
        self._forgotten: deque[Drop] = deque()
        self._token_s = 0.0  # of the slowest step so far
        self._short = False  # a rank has said so since it was asked for last
        self._helpers: list[Helper] = []
        self._missed: dict[int, int] = {}  # by rank: its unanswered pings while nothing was asked
        self._idle_beat_at = 0.0
        try:
            for start in starts:
                self._helpers.append(start())
        except BaseException:
            self.end()
            raise

    def load(self, folder: str, split: tuple[int, ...]) -> Generator[None, None, None]:
        """In slices; all ranks begin to load at once."""
        for rank in self._ranks:
            hello = yield from self._slices(rank, START_S, beats=False)
            if not isinstance(hello, Hello):
                raise self._unasked(rank, hello)
            if hello != hello_here():
                raise self._lose(rank, RankEnd.DIFFERS, str(hello))
        for rank in self._ranks:
            self._send(rank, LoadLayers(folder, rank, split))

    def loaded(self, digest: str) -> Generator[None, None, None]:
        """In slices, until all have loaded."""
        for rank in self._ranks:
            value: Value | None = None
            while not isinstance(value, Loaded):
                value = yield from self._slices(rank, LOAD_STALL_S)
                if not isinstance(value, Loaded | RankProgress):
                    raise self._unasked(rank, value)
            if value.digest != digest:
                raise self._lose(rank, RankEnd.DIFFERS, value.digest)
            self.needs_checkpoints |= value.needs_checkpoints

    def forward(self, sequence: int, position: int, tokens: Sequence[int], elements: int) -> tuple[bytearray, str]:
        """Run a step through all other ranks, first layers first.

        Returns the hidden states for rank 0's layers, `elements` numbers, and their type.
        """
        self._send_forgotten()
        states = bytearray()
        dtype = ""
        for rank in reversed(self._ranks):
            began = time.monotonic()
            self._send(rank, Forward(sequence, position, tuple(tokens), dtype), states)
            stepped, states = self._expect(rank, Stepped, self._patience_s(len(tokens)))
            dtype = stepped.dtype
            self._short = self._short or stepped.short
            if len(states) != elements * ITEM_BYTES.get(dtype, 0):
                raise self._lose(rank, RankEnd.MISBEHAVED, f"{len(states)} bytes for {elements} of {dtype[:20]}")
            self._token_s = max(self._token_s, (time.monotonic() - began) / len(tokens))
        return states, dtype

    def is_short(self) -> bool:
        """Whether any rank has reported little memory since the last call."""
        short = self._short
        self._short = False
        return short

    def commit(self, sequence: int, kept: int) -> None:
        self._send_all(Commit(sequence, kept))

    def can_truncate(self, sequence: int, position: int) -> bool:
        return all(self._ask(rank, CanTruncate(sequence, position)) for rank in self._ranks)

    def truncate(self, sequence: int, position: int, checkpoint: int) -> None:
        self._send_all(Truncate(sequence, position, checkpoint))

    def make_checkpoint(self, sequence: int) -> int:
        checkpoint = self.new_number()
        self._send_all(MakeCheckpoint(sequence, checkpoint))
        return checkpoint

    def copy(self, sequence: int, source: int, end: int) -> None:
        self._send_all(Copy(sequence, source, end))

    def look(self) -> RankLost | None:
        """Check between operations, without waiting, whether a rank was lost."""
        with suppress(RankLost):
            beats = time.monotonic() >= self._idle_beat_at
            if beats:
                self._idle_beat_at = time.monotonic() + IDLE_BEAT_S
            for rank in self._ranks:
                self._look_after(rank, beats)
        return self.lost

    def _look_after(self, rank: int, beats: bool) -> None:
        wire = self._helpers[rank - 1].wire
        pongs = 0
        try:
            while wire.arrives(0):
                if not isinstance(value := wire.receive()[0], Pong):
                    raise self._unasked(rank, value)
                self._missed[rank] = 0
                pongs += 1
                if pongs > MOST_PONGS:
                    raise self._lose(rank, RankEnd.STALLED, f"{pongs} pongs")
        except WireEnded as error:
            raise self._ended(rank, str(error)) from error
        except WireBroken as error:
            raise self._lose(rank, RankEnd.MISBEHAVED, str(error)) from error
        if beats and self._missed.get(rank, 0) >= MISSED:
            raise self._lose(rank, RankEnd.SILENT, f"{MISSED} pings")
        if beats:
            self._send(rank, Ping())
            self._missed[rank] = self._missed.get(rank, 0) + 1

    def new_number(self) -> int:
        return next(self._numbers)

    def forget(self, *, sequences: tuple[int, ...] = (), checkpoints: tuple[int, ...] = ()) -> None:
        """With the next operation. Any thread: garbage may be found on any."""
        self._forgotten.append(Drop(sequences, checkpoints))

    def end(self, patience_s: float = END_S) -> None:
        """All processes have ended when this returns."""
        helpers = self._helpers
        self._helpers = []
        for helper in helpers:
            helper.wire.close()  # all at once, so that they end together
        for helper in helpers:
            helper.end(patience_s)

    @property
    def _ranks(self) -> range:
        if self.lost is not None:
            raise replace(self.lost)
        return range(1, len(self._helpers) + 1)

    def _send_all(self, operation: Operation) -> None:
        """Without waiting: what goes wrong is the answer to the next question."""
        self._send_forgotten()
        for rank in self._ranks:
            self._send(rank, operation)

    def _ask(self, rank: int, question: Operation) -> bool:
        self._send(rank, question)
        return self._expect(rank, RankAnswer, LEAST_STEP_S)[0].yes

    def _expect(self, rank: int, kind: type[_Kind], patience_s: float) -> tuple[_Kind, bytearray]:
        value, data = self._answer(rank, patience_s)
        if not isinstance(value, kind):
            raise self._unasked(rank, value)
        return value, data

    def _unasked(self, rank: int, value: Value) -> RankLost:
        """The error for an answer to another operation."""
        if isinstance(value, RankBroken):
            return self._lose(rank, RankEnd.FAILED, f"{value.error}: {value.detail}")
        return self._lose(rank, RankEnd.MISBEHAVED, type(value).__name__)

    def _patience_s(self, tokens: int) -> float:
        return max(LEAST_STEP_S, SLOW * self._token_s * tokens) if self._token_s else FIRST_STEP_S

    def _send_forgotten(self) -> None:
        """As one operation: more of them may be left than may wait there."""
        if not self._forgotten:
            return
        drops = [self._forgotten.popleft() for _ in range(len(self._forgotten))]
        sequences = tuple(number for drop in drops for number in drop.sequences)
        checkpoints = tuple(number for drop in drops for number in drop.checkpoints)
        for rank in self._ranks:
            self._send(rank, Drop(sequences, checkpoints))

    def _send(self, rank: int, operation: Operation, data: bytes | bytearray = b"") -> None:
        try:
            self._helpers[rank - 1].wire.send(operation, data)
        except WireEnded as error:
            raise self._ended(rank, str(error)) from error
        except WireBroken as error:
            raise self._lose(rank, RankEnd.SILENT, str(error)) from error

    def _slices(self, rank: int, patience_s: float, *, beats: bool = True) -> Generator[None, None, Value]:
        for word in self._words(rank, patience_s, SLICE_S, beats):
            if word is not None:
                return word[0]
            yield
        raise AssertionError  # not reached: `_words` ends with a word or raises RankLost

    def _answer(self, rank: int, patience_s: float) -> tuple[Value, bytearray]:
        """The next word of a rank that is no Pong."""
        return next(word for word in self._words(rank, patience_s, BEAT_S) if word is not None)

    def _words(
        self, rank: int, patience_s: float, poll_s: float, beats: bool = True
    ) -> Iterator[tuple[Value, bytearray] | None]:
        """The next word of a rank that is no Pong; None each time that `poll_s` has passed without one."""
        wire = self._helpers[rank - 1].wire
        began = time.monotonic()
        missed = 0
        pongs = 0
        beat_at = began + BEAT_S
        try:
            while True:
                if wire.arrives(poll_s):
                    word = wire.receive()
                    self._missed[rank] = 0  # a Pong that answers `look` may be read here
                    if not isinstance(word[0], Pong):
                        yield word
                        return
                    missed = 0
                    pongs += 1
                now = time.monotonic()
                if now > began + patience_s or pongs > MOST_PONGS:
                    raise self._lose(rank, RankEnd.STALLED, f"{patience_s:.0f} s, {pongs} pongs")
                if now >= beat_at:
                    if missed >= MISSED:
                        raise self._lose(rank, RankEnd.SILENT, f"{missed} pings")
                    if beats:
                        self._send(rank, Ping())
                        missed += 1
                    beat_at = now + BEAT_S
                yield None
        except WireEnded as error:
            raise self._ended(rank, str(error)) from error
        except WireBroken as error:
            raise self._lose(rank, RankEnd.MISBEHAVED, str(error)) from error

    def _ended(self, rank: int, detail: str) -> RankLost:
        """The error of a rank that closed its socket: its last word, if there is one that was not read yet."""
        wire = self._helpers[rank - 1].wire
        with suppress(WireEnded, WireBroken):
            while wire.arrives(0):
                if isinstance(value := wire.receive()[0], RankBroken):
                    return self._unasked(rank, value)
        return self._lose(rank, RankEnd.ENDED, detail)

    def _lose(self, rank: int, why: RankEnd, detail: str) -> RankLost:
        """The error to raise. No rank is of use without the others."""
        self.lost = RankLost(rank, why, detail[:500], self._helpers[rank - 1].machine)
        self.end(0.0)
        return replace(self.lost)


def hello_here() -> Hello:
    return Hello(PROTOCOL, versions_here())
