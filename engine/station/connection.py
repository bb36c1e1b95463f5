"""The engine's side of a station: its process, what it has answered, and what it brings. No MLX.

Orders are sent by a thread of their own, so the engine's never waits for a network, but for an answer and only as long
as it chooses. A station that is lost is started again, after a wait that doubles each time.
"""

from __future__ import annotations

import itertools
import json
import logging
import queue
import struct
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.api.errors import EngineError, MachineUnavailable
from engine.api.events import OwnThread
from engine.api.ranks import Helping, MachineRefusal
from engine.api.station import StationEnd, StationPhase, StationState
from engine.machines.lent import THIS_PROCESS, LentProcess, digest_of
from engine.machines.messages import Hello, RankBroken, Start, Value
from engine.machines.process import ChildProcess, Helper
from engine.machines.versions import difference, hello_here
from engine.machines.wire import Wire, WireBroken, WireEnded
from engine.models.children import RUN_STATION
from engine.station.messages import (
    Answer,
    Begin,
    CaughtUp,
    Commit,
    DraftLoaded,
    End,
    Forget,
    LoadDraft,
    Propose,
    Proposed,
)
from engine.station.prices import StationPrices

if TYPE_CHECKING:
    from engine.decoding.sampling import DrawingLaw

Report = Callable[[StationState], None]

CONVERSATIONS = 4  # that a station holds
FIRST_WAIT_S = 1.0  # before a lost one is started again
MOST_WAIT_S = 300.0
START_S = 60.0  # until its process says its first word: Python and MLX are imported, on a busy machine perhaps
_HELD_S = 60.0  # after which one that is lost is started again soon
_END_S = 2.0
_FRAME_S = 8.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DraftOrder:
    """The draft that a station is to load, for a main model with so many tokens, of which `ends` end a reply.

    `memory_bytes`: that it needs with as many conversations as a station holds, of useful length.
    """

    folder: str
    vocabulary: int
    ends: tuple[int, ...]
    memory_bytes: int


class StationProcess(ChildProcess):
    def __init__(self, _draft: DraftOrder) -> None:
        super().__init__(RUN_STATION, Answer, _FRAME_S, most_bytes=0)


def lent_station(helping: Helping, draft: DraftOrder) -> LentProcess:
    order = Start(digest_of(Path(draft.folder)), THIS_PROCESS, draft.memory_bytes, drafts=True)
    return LentProcess(helping, order, Answer, _FRAME_S, most_bytes=0)


class StationConnection:
    """Any thread. Its own two threads last until it is closed, whatever becomes of the station."""

    def __init__(self, start: Callable[[DraftOrder], Helper], report: Report, machine: str = "") -> None:
        """`report`: called with each new state, on one of its threads or the caller's."""
        self._start = start
        self._report = report
        self._machine = machine
        self._orders: queue.SimpleQueue[tuple[Wire, Value, bytes] | None] = queue.SimpleQueue()
        self._numbers = itertools.count(1)
        self._changed = threading.Condition()
        self._draft: DraftOrder | None = None
        self._drafts = 0  # how many there were
        self._helper: Helper | None = None
        self._closed = False
        self._held: list[int] = []  # conversations, the oldest first
        self._caught_up: set[int] = set()
        self._answers: dict[int, Proposed | None] = {}  # of all orders that wait for one, by number
        self._unwanted: set[int] = set()  # orders of replies that have ended, to which an answer is to come
        self._end: StationEnd | None = None
        self._error: EngineError | None = None
        self._worked_s = 0.0
        self.loaded: DraftLoaded | None = None  # None: not ready
        self.prices = StationPrices()
        self.gain = 0.0
        self.generation = 0  # of its process: conversations of an earlier one have ended
        OwnThread(target=self._run, name="station", daemon=True).start()
        threading.Thread(target=self._send_all, name="station sends", daemon=True).start()

    def use(self, draft: DraftOrder | None) -> None:
        """Draft with this one from now on; None: with none, and the process ends."""
        with self._changed:
            self._draft = draft
            self._drafts += 1
            self._end = self._error = None
            self._forget()
        self.post_state()

    @property
    def state(self) -> StationState:
        phase = StationPhase.OFF if self._draft is None else StationPhase.STARTING
        if self.loaded is not None:
            phase = StationPhase.READY
        prices = self.prices
        return StationState(
            phase,
            self._machine,
            prices.drafts,
            prices.hits,
            prices.late,
            self.gain,
            0 if self._draft is None else self._draft.memory_bytes,
            self._worked_s,
            self._end,
            self._error,
        )

    def post_state(self) -> None:
        if not self._closed:
            self._report(self.state)

    def begin(self, tokens: Sequence[int], law: DrawingLaw) -> int:
        """Returns the conversation's number. Of more than it holds the oldest ends, whose reply may have failed."""
        held = self._held
        if len(held) >= CONVERSATIONS:
            self.end(held[0])
        sequence = next(self._numbers)
        held.append(sequence)
        known = {"sampling": asdict(law.sampling), "seed": law.seed, "spared": law.spared}
        data = struct.pack(f">{len(tokens)}I", *tokens) + json.dumps(known).encode()
        self._send(Begin(sequence, len(tokens)), data)
        return sequence

    def commit(self, sequence: int, position: int, tokens: Sequence[int]) -> None:
        self._send(Commit(sequence, position, tuple(tokens)))

    def end(self, sequence: int) -> None:
        with suppress(ValueError):  # the station was lost, or this was the oldest
            self._held.remove(sequence)
        self._caught_up.discard(sequence)
        self._send(End(sequence))

    def forget(self) -> None:
        """Keep nothing of the conversations so far once they have ended."""
        self._send(Forget())

    def propose(self, order: Propose) -> None:
        self._answers[order.number] = None
        self._send(order)

    def new_number(self) -> int:
        return next(self._numbers)

    def is_caught_up(self, sequence: int) -> bool:
        return sequence in self._caught_up

    def answer(self, number: int, within_s: float) -> Proposed | None:
        """The answer to a Propose; None if it has not come in time. It may be fetched later."""
        generation = self.generation
        until = time.monotonic() + within_s
        with self._changed:
            while self._answers.get(number) is None and generation == self.generation:
                left_s = until - time.monotonic()
                if left_s <= 0 or self.loaded is None:
                    return None
                self._changed.wait(left_s)
            return self._answers.pop(number, None)

    def drop_answer(self, number: int) -> None:
        """The reply that it is for has ended."""
        with self._changed:
            if self._answers.pop(number, 0) is None:
                self._unwanted.add(number)

    def lose(self, why: str) -> None:
        """What it sent makes no sense: it is started again."""
        _log.warning("the station misbehaved: %s", why)
        with self._changed:
            self._end = StationEnd.MISBEHAVED
            self._forget()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._forget()
        self._report(StationState())

    def _send(self, order: Value, data: bytes = b"") -> None:
        helper = self._helper
        if helper is not None and self.loaded is not None:
            self._orders.put((helper.wire, order, data))

    def _run(self) -> None:
        number = 0
        wait_s: float | None = 0.0
        while (wanted := self._next_draft(number, wait_s)) is not None:
            number, draft = wanted
            self.post_state()
            began = time.monotonic()
            try:
                helper = self._start(draft)
            except Exception as error:  # noqa: BLE001  a machine that is away, or no memory for a process
                self._end = StationEnd.ENDED
                self._error = error.with_traceback(None) if isinstance(error, EngineError) else None
                _log.info("no station could be started: %s", error)
            else:
                self._serve(helper, number, draft)
            if number != self._drafts:  # nothing went wrong: there is another draft
                self._end = self._error = None
            self.post_state()
            held = time.monotonic() - began > _HELD_S
            wait_s = FIRST_WAIT_S if held or not wait_s else min(2 * wait_s, MOST_WAIT_S)
            if number != self._drafts:
                wait_s = 0.0
            elif self._end is StationEnd.REFUSED:
                wait_s = None
        self._orders.put(None)

    def _next_draft(self, number: int, wait_s: float | None) -> tuple[int, DraftOrder] | None:
        """What to load, after a wait that another draft than that of `number` ends (None: nothing else does); None once
        it is closed.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._drafts != number, wait_s)
            self._changed.wait_for(lambda: self._closed or self._draft is not None)
            return None if self._closed or self._draft is None else (self._drafts, self._draft)

    def _serve(self, helper: Helper, number: int, draft: DraftOrder) -> None:
        self._end = self._error = None
        try:
            with self._changed:
                self._helper = helper
                if self._closed or self._drafts != number:
                    return
            self._orders.put((helper.wire, LoadDraft(draft.folder, draft.vocabulary, draft.ends), b""))
            within_s = None if helper.silent_s is None else START_S
            while True:
                if not helper.wire.arrives(within_s):
                    self._end = StationEnd.SILENT
                    raise WireEnded("it no longer answers")
                within_s = helper.silent_s
                self._take(helper.wire.receive()[0])
        except (WireEnded, WireBroken) as error:
            if self._end is None:
                self._end = StationEnd.MISBEHAVED if isinstance(error, WireBroken) else StationEnd.ENDED
            _log.info("the station has ended: %s", error)
        finally:
            with self._changed:
                self._helper = None
                self._forget()
            helper.end(_END_S)

    def _take(self, value: Value) -> None:
        match value:
            case Hello():
                self._greet(value)
            case DraftLoaded():
                if self.loaded is not None:
                    raise WireBroken("a draft that was not asked for")
                self.prices = StationPrices()
                self._worked_s = 0.0
                self.loaded = value
                self.post_state()
            case CaughtUp(sequence=sequence):
                if sequence in self._held:
                    self._caught_up.add(sequence)
            case Proposed():
                with self._changed:
                    if value.number in self._answers:
                        self._answers[value.number] = value
                    elif value.number not in self._unwanted:
                        raise WireBroken("an answer that was not asked for")
                    self._unwanted.discard(value.number)
                    self._worked_s = value.worked_us / 1e6
                    self._changed.notify_all()
            case RankBroken():
                self._note_failure(value)
                raise WireEnded(value.error)

    def _note_failure(self, last: RankBroken) -> None:
        _log.warning("the station failed: %s %s", last.error, last.detail)
        refused = self.loaded is None and not last.lacks_memory
        self._end = StationEnd.REFUSED if refused else StationEnd.ENDED
        if last.lacks_memory and self._machine:
            self._error = MachineUnavailable(self._machine, MachineRefusal.MEMORY)

    def _greet(self, hello: Hello) -> None:
        if (other := difference(hello.versions)) is not None:
            self._end = StationEnd.ENDED
            self._error = MachineUnavailable(self._machine, *other)
            raise WireEnded(f"another version: {hello}")
        if hello != hello_here():
            raise WireBroken(f"another protocol: {hello}")

    def _forget(self) -> None:
        """Under the condition. The thread that receives from a station reads its end, and starts it again."""
        self.loaded = None
        self.generation += 1
        self._held = []
        self._caught_up = set()
        self._answers = {}
        self._unwanted = set()
        self._changed.notify_all()
        if self._helper is not None:
            self._helper.wire.shut()

    def _send_all(self) -> None:
        while (order := self._orders.get()) is not None:
            with suppress(WireEnded, WireBroken):  # the thread that receives notices the end, too
                order[0].send(*order[1:])
