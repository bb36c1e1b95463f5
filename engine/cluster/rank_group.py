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
from typing import TypeVar

from engine.api.errors import RankLost
from engine.api.ranks import RankEnd
from engine.cluster.operations import (
    ITEM_BYTES,
    CanTruncate,
    Drop,
    Forward,
    Gather,
    Gathered,
    Join,
    Joined,
    Loaded,
    LoadPart,
    Operation,
    RankProgress,
    Stepped,
    digest_of_states,
)
from engine.machines.messages import Hello, Ping, Pong, RankAnswer, RankBroken, Value
from engine.machines.process import Helper
from engine.machines.versions import hello_here
from engine.machines.wire import WireBroken, WireEnded, arrived

START_S = 60.0  # until a rank says its first word: Python and MLX are imported, on a busy machine perhaps
JOIN_S = 60.0  # until the group in which sharded layers are summed is there; pings may not be answered meanwhile
MOST_GATHERED = 1 << 16  # bytes of each rank, at a time
BEAT_S = 1.0
IDLE_BEAT_S = 5.0
SLICE_S = 0.01
END_S = 3.0
NOTICED_S = 0.2  # in which the end of a process has reached its socket
MISSED = 3  # unanswered pings after which a rank is lost
MOST_PONGS = 10_000  # in a row: more than come while idle between two looks, or in the longest step
FIRST_STEP_S = 60.0  # nothing is known of its speed yet
LEAST_STEP_S = 10.0
SLOW = 5.0  # times as long as its slowest step so far, a token
LOAD_STALL_S = 60.0  # without news of a load

_Kind = TypeVar("_Kind", Hello, RankAnswer, Stepped)
_Word = tuple[Value, bytearray]


class RankGroup:
    """The ranks from 1 on, started in this order. Engine thread only, but for `forget`, `new_number` and `end`."""

    def __init__(self, starts: Iterable[Callable[[], Helper]]) -> None:
        self.lost: RankLost | None = None  # is never raised itself: the frames of a traceback hold the model
        self.needs_checkpoints = False
        self._numbers = itertools.count(1)  # of sequences and checkpoints
        self._forgotten: deque[int] = deque()
        self._token_s = 0.0  # of the slowest step so far
        self._sharded = False  # each has a part of every layer
        self._short = False  # a rank has said so since it was asked for last
        self._helpers: list[Helper] = []
        self._missed: dict[int, int] = {}  # by rank: its unanswered pings
        self._pongs: dict[int, int] = {}  # by rank: its answers in a row
        self._beat_at = 0.0
        try:
            for start in starts:
                self._helpers.append(start())
        except BaseException:
            self.end()
            raise

    def greet(self) -> Generator[None, None, None]:
        """In slices, until all have started."""
        words = yield from self._slices(self._ranks, START_S, beats=False)
        for rank, word in words.items():
            if (hello := self._kind_of(rank, word, Hello)) != hello_here():
                raise self._lose(rank, RankEnd.DIFFERS, str(hello))

    def join(self, backend: str, links: Callable[[int], tuple[str, ...]]) -> Generator[None, None, tuple[float, int]]:
        """Have them join a group, in slices; `links` by place. From here on each step is sent to all at once.

        Returns the seconds that a sum takes, and the speed, in bytes a second, at which the first one reads a matrix.
        """
        for rank in self._ranks:
            self._send(rank, Join(rank - 1, backend, links(rank - 1)))
        while True:
            words = yield from self._slices(self._ranks, JOIN_S, beats=False)
            joined = [value for value, _ in words.values() if isinstance(value, Joined)]
            if len(joined) == len(words):
                self._sharded = True
                return max(each.sum_ns for each in joined) / 1e9, joined[0].bytes_s
            for rank, (value, data) in words.items():
                if not isinstance(value, Gather) or len(data) > MOST_GATHERED:
                    raise self._unasked(rank, value)
            together = b"".join(data for _, data in words.values())
            for rank in self._ranks:
                self._send(rank, Gathered(), together)

    def load(self, folder: str, split: tuple[int, ...]) -> None:
        """All ranks begin to load at once: layers by the split, or if they have joined their parts of all layers."""
        for rank in self._ranks:
            self._send(rank, LoadPart(folder, rank, () if self._sharded else split))

    def loaded(self, digest: str) -> Generator[None, None, None]:
        """In slices, until all have loaded."""
        waiting = list(self._ranks)
        while waiting:
            words = yield from self._slices(waiting, LOAD_STALL_S)
            for rank, (value, _) in words.items():
                if isinstance(value, Loaded) and value.digest == digest:
                    self.needs_checkpoints |= value.needs_checkpoints
                    waiting.remove(rank)
                elif isinstance(value, Loaded):
                    raise self._lose(rank, RankEnd.DIFFERS, value.digest)
                elif not isinstance(value, RankProgress):
                    raise self._unasked(rank, value)

    def forward(
        self, sequence: int, position: int, tokens: Sequence[int], elements: int, layers: tuple[int, ...] = ()
    ) -> tuple[bytearray, str]:
        """Run a step through all other ranks.

        Returns the hidden states for rank 0's layers or head, and of `layers`, `elements` numbers, and their type.
        """
        self._send_forgotten()
        step = Forward(sequence, position, tuple(tokens), layers=layers)
        if self._sharded:
            (stepped, states), *others = self._step(self._ranks, step, b"", elements)
            digest = digest_of_states(states)
            for rank, each in zip(self._ranks, (stepped, *(other for other, _ in others)), strict=True):
                if each.digest != digest or each.dtype != stepped.dtype:
                    raise self._lose(rank, RankEnd.MISBEHAVED, "other hidden states")
            return states, stepped.dtype
        states = bytearray()
        for rank in reversed(self._ranks):  # the first layers first
            ((stepped, states),) = self._step([rank], step, states, elements)
            step = replace(step, dtype=stepped.dtype)
        return states, step.dtype

    def _step(
        self, ranks: Sequence[int], step: Forward, states: bytes | bytearray, elements: int
    ) -> list[tuple[Stepped, bytearray]]:
        """What these ranks answer, which all get it at once; the first of them with `elements` numbers."""
        began = time.monotonic()
        tokens = len(step.tokens)
        for rank in ranks:
            self._send(rank, step, states)
        answers = self._expect(ranks, Stepped, self._patience_s(tokens))
        for rank, (stepped, data) in zip(ranks, answers, strict=True):
            self._short = self._short or stepped.short
            wanted = elements * ITEM_BYTES.get(stepped.dtype, 0) if rank == ranks[0] else 0
            if len(data) != wanted or stepped.dtype not in ITEM_BYTES:
                raise self._lose(rank, RankEnd.MISBEHAVED, f"{len(data)} bytes for {elements} of {stepped.dtype[:20]}")
        self._token_s = max(self._token_s, (time.monotonic() - began) / tokens)
        return answers

    def is_short(self) -> bool:
        """Whether any rank has reported little memory since the last call."""
        short = self._short
        self._short = False
        return short

    def can_truncate(self, sequence: int, position: int) -> bool:
        self.send(CanTruncate(sequence, position))
        return all(answer.yes for answer, _ in self._expect(self._ranks, RankAnswer, LEAST_STEP_S))

    def send(self, operation: Operation) -> None:
        """To all, without waiting: what goes wrong is the answer to the next question."""
        self._send_forgotten()
        for rank in self._ranks:
            self._send(rank, operation)

    def look(self) -> RankLost | None:
        """Check between operations, without waiting, whether a rank was lost."""
        with suppress(RankLost):
            while words := list(self._taken(self._ranks, 0)):
                for rank, (value, _) in words:
                    if not isinstance(value, Pong):
                        raise self._unasked(rank, value)
            self._send_forgotten()
            self._beat(self._ranks, IDLE_BEAT_S)
            self._pongs.clear()
        return self.lost

    def new_number(self) -> int:
        return next(self._numbers)

    def forget(self, number: int) -> None:
        """A sequence or checkpoint, with the next operation or look. Any thread: garbage may be found on any."""
        self._forgotten.append(number)

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

    def _expect(self, ranks: Sequence[int], kind: type[_Kind], patience_s: float) -> list[tuple[_Kind, bytearray]]:
        """What each of these ranks answers, in their order."""
        words = dict(word for word in self._words(ranks, patience_s, BEAT_S) if word is not None)
        return [(self._kind_of(rank, words[rank], kind), words[rank][1]) for rank in ranks]

    def _kind_of(self, rank: int, word: _Word, kind: type[_Kind]) -> _Kind:
        if not isinstance(word[0], kind):
            raise self._unasked(rank, word[0])
        return word[0]

    def _unasked(self, rank: int, value: Value) -> RankLost:
        """The error for an answer to another operation."""
        if isinstance(value, RankBroken):
            for other in range(1, len(self._helpers) + 1) if self._sharded else ():
                if other != rank and self._last_word(other, NOTICED_S) == (True, None):  # so this one's sum failed
                    return self._lose(other, RankEnd.ENDED, value.detail)
            why = RankEnd.MEMORY if value.lacks_memory else RankEnd.FAILED
            return self._lose(rank, why, f"{value.error}: {value.detail}")
        return self._lose(rank, RankEnd.MISBEHAVED, type(value).__name__)

    def _patience_s(self, tokens: int) -> float:
        return max(LEAST_STEP_S, SLOW * self._token_s * tokens) if self._token_s else FIRST_STEP_S

    def _send_forgotten(self) -> None:
        """As one operation: more of them may be left than may wait there."""
        forgotten = tuple(self._forgotten.popleft() for _ in range(len(self._forgotten)))
        for rank in self._ranks if forgotten else ():
            self._send(rank, Drop(forgotten))

    def _send(self, rank: int, operation: Operation, data: bytes | bytearray = b"") -> None:
        try:
            self._helpers[rank - 1].wire.send(operation, data)
        except WireEnded as error:
            raise self._ended(rank, str(error)) from error
        except WireBroken as error:
            raise self._lose(rank, RankEnd.SILENT, str(error)) from error

    def _slices(
        self, ranks: Sequence[int], patience_s: float, *, beats: bool = True
    ) -> Generator[None, None, dict[int, _Word]]:
        words: dict[int, _Word] = {}
        for word in self._words(ranks, patience_s, SLICE_S, beats):
            if word is None:
                yield
            else:
                words[word[0]] = word[1]
        return {rank: words[rank] for rank in ranks}

    def _words(
        self, ranks: Sequence[int], patience_s: float, poll_s: float, beats: bool = True
    ) -> Iterator[tuple[int, _Word] | None]:
        """The next word of each rank that is no Pong; None each time that `poll_s` has passed without one.

        The first that is lost ends this, whichever the others wait for.
        """
        waiting = list(ranks)
        until = time.monotonic() + patience_s
        self._beat_at = time.monotonic() + BEAT_S
        self._missed.clear()
        self._pongs.clear()
        while waiting:
            for rank, word in self._taken(waiting, poll_s):
                if not isinstance(word[0], Pong):
                    waiting.remove(rank)
                    yield rank, word
            for rank in waiting:
                if time.monotonic() > until:
                    raise self._lose(rank, RankEnd.STALLED, f"{patience_s:.0f} s")
            if beats:
                self._beat(waiting, BEAT_S)
            yield None
        self._beat_at = time.monotonic() + IDLE_BEAT_S

    def _beat(self, ranks: Sequence[int], every_s: float) -> None:
        """Once in so many seconds."""
        if time.monotonic() < self._beat_at:
            return
        self._beat_at = time.monotonic() + every_s
        for rank in ranks:
            if (missed := self._missed.get(rank, 0)) >= MISSED:
                raise self._lose(rank, RankEnd.SILENT, f"{missed} pings")
            self._send(rank, Ping())
            self._missed[rank] = missed + 1

    def _taken(self, ranks: Sequence[int], within_s: float) -> Iterator[tuple[int, _Word]]:
        """A word of each rank that has said one, or has ended; not one that others may wait for for ever."""
        try:
            said = [ranks[at] for at in arrived([self._helpers[rank - 1].wire for rank in ranks], within_s)]
        except WireEnded as error:
            raise self._ended(ranks[0], str(error)) from error
        for rank in said:
            try:
                word = self._helpers[rank - 1].wire.receive()
            except WireEnded as error:
                raise self._ended(rank, str(error)) from error
            except WireBroken as error:
                raise self._lose(rank, RankEnd.MISBEHAVED, str(error)) from error
            if isinstance(word[0], RankBroken):
                raise self._unasked(rank, word[0])
            self._missed[rank] = 0
            self._pongs[rank] = self._pongs.get(rank, 0) + 1
            if self._pongs[rank] > MOST_PONGS:
                raise self._lose(rank, RankEnd.STALLED, f"{MOST_PONGS} pongs")
            yield rank, word

    def _ended(self, rank: int, detail: str) -> RankLost:
        """The error of a rank that closed its socket: its last word, if there is one that was not read yet."""
        broken = self._last_word(rank, 0)[1]
        return self._lose(rank, RankEnd.ENDED, detail) if broken is None else self._unasked(rank, broken)

    def _last_word(self, rank: int, within_s: float) -> tuple[bool, RankBroken | None]:
        """Whether it has ended, and what it has said of that."""
        wire = self._helpers[rank - 1].wire
        until = time.monotonic() + within_s
        try:
            for _ in range(MOST_PONGS):
                if not wire.arrives(max(0.0, until - time.monotonic())):
                    break
                if isinstance(value := wire.receive()[0], RankBroken):
                    return True, value
        except (WireEnded, WireBroken):
            return True, None
        return False, None

    def _lose(self, rank: int, why: RankEnd, detail: str) -> RankLost:
        """The error to raise. No rank is of use without the others."""
        self.lost = RankLost(rank, why, detail[:500], self._helpers[rank - 1].machine)
        self.end(0.0)
        return replace(self.lost)
