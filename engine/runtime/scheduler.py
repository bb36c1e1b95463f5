"""Which replies get the next step; engine thread only.

Prompts and replies under way take turns: a chunk's worth of prompts, one step of what is being written. A reply that is
written alone speculates; several share a batch, or take turns where the model cannot run one (`batch.can_batch`).

Owns the loaded pair and what outlives a reply: kept caches and what rounds have cost. When there is nothing to write it
has the pair measured.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.api.errors import EngineError, InternalError, NoModelLoaded, OutOfMemory
from engine.api.types import RequestId
from engine.decoding.sequence import PREFILL_CHUNK_TOKENS
from engine.drafting.calibration import Tuner
from engine.drafting.controller import History, make_controller
from engine.drafting.planner import Drafting
from engine.drafting.proposers.base import Proposer
from engine.drafting.proposers.draft_model import DraftModelProposer
from engine.drafting.proposers.lookup import LookupProposer
from engine.models.memory import is_short, set_limits
from engine.prefix.memory import PrefixStore
from engine.runtime.background_load import Arrival
from engine.runtime.batch import Batch, can_batch
from engine.runtime.reply import Reply

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel

_log = logging.getLogger(__name__)


MAX_REPLIES = 32  # under way at once; more wait
_START_TOKENS = 64  # what starting a reply is taken to cost, as tokens of its prompt
SAVING_S = 4.0  # for caches that are not on disk yet when their models go


class Scheduler:
    def __init__(self, tuner: Tuner | None = None, store: PrefixStore | None = None) -> None:
        self._tuner = tuner or Tuner()
        self._tuned = False  # whether the tuner has been told of the present pair
        self._store = store or PrefixStore()
        self.main: LoadedModel | None = None
        self.draft: LoadedModel | None = None
        self._waiting: deque[Reply] = deque()
        self._reading: deque[Reply] = deque()  # started, in their prompts
        self._writing: deque[Reply] = deque()  # past their prompts, in no batch
        self._batch = Batch()
        self._read_tokens = 0  # of prompts, since the last step of what is being written
        self._batches: bool | None = None  # whether the main model can run them; None: not tried yet
        self._arriving: Arrival | None = None
        self._forget_pair()

    @property
    def busy(self) -> bool:
        return bool(self._waiting or self._running)

    @property
    def restless(self) -> bool:
        """Whether there is something to do for `rest`."""
        return (
            self._arriving is not None
            or self._store.untidy
            or self._tuner.pending
            or (self.main is not None and not self._tuned)
        )

    def set_main(self, main: LoadedModel | None) -> None:
        """Another main model: running replies end as cancelled, waiting ones will use the new model."""
        self.await_arrival()
        self._cancel_running()
        self._forget_pair()
        self.main, self.draft = main, None
        self._set_limits()

    def expect(self, arrival: Arrival) -> None:
        """A draft is on its way; replies go on meanwhile."""
        self.await_arrival()
        self._arriving = arrival

    def await_arrival(self) -> None:
        """Whatever is on its way comes first."""
        while self._arriving is not None:
            self._read_arrival()

    def give_up_arrival(self, reason: EngineError) -> None:
        arrival, self._arriving = self._arriving, None
        if arrival is not None:
            arrival.give_up(reason)

    def _read_arrival(self) -> None:
        arrival = self._arriving
        assert arrival is not None
        if arrival.over():
            self._arriving = None
            arrival.hand_over()

    def set_draft(self, draft: LoadedModel | None) -> None:
        """Another draft, or none: running replies go on with it from their next round."""
        self.draft = draft
        self._forget_costs()
        for reply in self._running:
            reply.draft_with(self._drafting(reply))
        self._store.forget_others(self.main, draft)
        self._set_limits()

    def add(self, reply: Reply) -> None:
        self._waiting.append(reply)

    def cancel(self, request: RequestId) -> None:
        for reply in self._running:
            reply.cancelled = reply.cancelled or reply.id == request
        for reply in [reply for reply in self._waiting if reply.id == request]:
            self._waiting.remove(reply)
            reply.finish_unstarted()

    def cancel_all(self) -> None:
        while self._waiting:
            self._waiting.popleft().finish_unstarted()
        self._cancel_running()

    def step(self) -> None:
        """The start of a reply, a chunk of a prompt, or a step of what is being written."""
        if self._arriving is not None:
            self._read_arrival()
        if self._store.untidy and self._store.crowded:
            self._store.tidy()
        self._mind_memory()
        self._end_interrupted()
        starts = bool(self._waiting) and len(self._running) < MAX_REPLIES
        writes = bool(self._writing or self._batch.replies)
        reads = starts or bool(self._reading)
        if writes and (not reads or self._read_tokens >= PREFILL_CHUNK_TOKENS):
            self._read_tokens = 0
            self._write()
        elif starts:
            self._start_next()
        elif self._reading:
            self._read()

    def rest(self) -> None:
        """A slice of writing kept caches to disk or of measuring, while nobody waits."""
        if self._arriving is not None:
            self._read_arrival()
        elif self._store.untidy:
            self._store.tidy()
        elif self._tuned:
            self._tuner.step()
        elif self.main is not None:
            self._tuned = True
            self._tuner.begin(self.main, self.draft, self._history.costs)

    @property
    def _running(self) -> list[Reply]:
        return [*self._reading, *self._writing, *self._batch.replies]

    def _start_next(self) -> None:
        reply = self._waiting.popleft()
        self._read_tokens += _START_TOKENS
        try:
            if self.main is None:
                raise NoModelLoaded
            reply.start(self.main, self._store, self._history)
            reply.draft_with(self._drafting(reply))
            (self._reading if reply.reading else self._writing).append(reply)
        except BaseException as error:  # noqa: BLE001  a tokenizer's Rust panic is a BaseException
            reply.fail(_typed(error))

    def _read(self) -> None:
        reply = self._reading.popleft()
        before = reply.sequence.caches.position
        goes_on = self._step(reply)
        self._read_tokens += reply.sequence.caches.position - before
        if goes_on:
            (self._reading if reply.reading else self._writing).append(reply)

    def _write(self) -> None:
        if len(self._writing) + len(self._batch.replies) > 1 and self._can_batch():
            self._step_batch()
            return
        self._leave_batch(list(self._batch.replies))
        if self._writing:
            reply = self._writing.popleft()
            if self._step(reply):
                self._writing.append(reply)

    def _step(self, reply: Reply) -> bool:
        """A step of one reply by itself; whether it goes on."""
        try:
            return not reply.step(alone=not (self._waiting or self._running))
        except BaseException as error:  # noqa: BLE001  a tokenizer's Rust panic is a BaseException
            reply.fail(_typed(error))
            return False

    def _step_batch(self) -> None:
        with self._batch_at_stake():
            if self._writing and not self._batch.in_flight:
                joining = list(self._writing)
                self._writing.clear()
                self._batch.join(joining)
            for reply, error in self._batch.step(look_ahead=not self._writing).items():
                reply.fail(_typed(error))

    def _leave_batch(self, replies: Sequence[Reply]) -> None:
        with self._batch_at_stake():
            self._batch.release(replies)
            self._writing.extend(replies)

    @contextmanager
    def _batch_at_stake(self) -> Iterator[None]:
        """An error in a forward or in the merged caches concerns every reply in them."""
        try:
            yield
        except BaseException as error:  # noqa: BLE001  whatever a device does, the engine goes on
            for reply in self._batch.clear():
                reply.fail(_typed(error))

    def _cancel_running(self) -> None:
        for reply in self._running:
            reply.cancelled = True
        self._end_interrupted()

    def _end_interrupted(self) -> None:
        self._leave_batch([reply for reply in self._batch.replies if reply.interrupted])
        for line in (self._reading, self._writing):
            for reply in [reply for reply in line if reply.interrupted]:
                line.remove(reply)
                self._step(reply)

    def _mind_memory(self) -> None:
        """Near the limit kept caches go first, then the longest chat of those under way."""
        while is_short() and self._store.relieve():
            pass
        running = [reply for reply in self._running if not reply.out_of_memory]
        if running and is_short():
            max(running, key=lambda reply: len(reply.sequence.tokens)).out_of_memory = True

    def _set_limits(self) -> None:
        set_limits(*(model.need for model in (self.main, self.draft) if model is not None))

    def _can_batch(self) -> bool:
        """Asked once for each main model, when it first matters."""
        if self._batches is None:
            self._batches = self.main is not None and can_batch(self.main)
        return self._batches

    def _drafting(self, reply: Reply) -> Drafting:
        assert self.main is not None
        proposers: list[Proposer] = [LookupProposer(self.main.ends)]
        if self.draft is not None:
            turn_end = reply.sequence.turn_end
            proposers.insert(0, DraftModelProposer(self.draft, self._store, turn_end))
        return Drafting(proposers, make_controller(reply.request.speculation, self._history))

    def _forget_costs(self) -> None:
        self._history = History()
        self._tuner.stop()
        self._tuned = False

    def _forget_pair(self) -> None:
        self._forget_costs()
        self._store.save(SAVING_S)
        self._store.clear()
        self._batches = None


def _typed(error: BaseException) -> EngineError:
    if isinstance(error, EngineError):
        return error
    _log.error("a reply failed", exc_info=error)
    detail = f"{type(error).__name__}: {error}"[:500]
    out_of_memory = isinstance(error, MemoryError) or "[METAL]" in detail or "[metal::malloc]" in detail
    return OutOfMemory(detail) if out_of_memory else InternalError(detail)
