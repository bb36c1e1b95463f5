"""Which replies get the next step. Engine thread only.

Prefill and decoding alternate: a chunk's worth of prompt tokens, then one step of the replies past their prompts. A
single reply speculates. Several share a batch, or take turns: if that is faster, if the model cannot run a batch
(`batch.can_batch`), or if a fixed draft cannot be verified in one (`batch.can_draft`). Requests of other programs run
while there is none of the user's, and background requests, one at a time, while there is no other.

Owns the loaded pair, and what outlives a reply: kept caches, costs of rounds. Has the pair measured while idle.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.api.errors import EngineError, NoModelLoaded, PictureTooLarge
from engine.api.events import DrafterExamined, ModelMeasured
from engine.api.types import BACKGROUND_RANK, FinishReason, ModelRole, RequestId, Speculation, SpeculationMode
from engine.decoding.sequence import PREFILL_CHUNK_TOKENS
from engine.drafting.calibration import Tuner
from engine.drafting.controller import History, make_controller
from engine.drafting.drafters import proposer_of
from engine.drafting.planner import Drafting
from engine.drafting.proposers.base import Proposer
from engine.drafting.proposers.forced import ForcedProposer
from engine.drafting.proposers.lookup import LookupProposer
from engine.models.memory import is_short, lacks, set_limits
from engine.prefix.memory import PrefixStore
from engine.runtime.background_load import BackgroundLoad
from engine.runtime.batch import Batch, can_batch, can_draft
from engine.runtime.queued import QueuedReply, RequestQueue
from engine.runtime.reply import Reply
from engine.runtime.requests import speculating
from engine.runtime.sharing import Sharing, Way

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel
_log = logging.getLogger(__name__)

MAX_REPLIES = 32  # at once; further ones stay in the queue
_START_TOKENS = 64  # cost of starting a reply, in prompt tokens
SAVING_S = 4.0  # for writing caches before their models are dropped


class Scheduler:
    def __init__(self, tuner: Tuner | None = None, store: PrefixStore | None = None) -> None:
        self._tuner = tuner or Tuner()
        self._sent_measured = self._sent_examined = False  # ModelMeasured / DrafterExamined already sent
        self._store = store or PrefixStore()
        self.main: LoadedModel | None = None
        self.draft: LoadedModel | None = None
        self._queue = RequestQueue()
        self._reading: deque[Reply] = deque()  # in prefill
        self._writing: deque[Reply] = deque()  # past prefill, in no batch
        self._batch = Batch()
        self._paused: deque[Reply] = deque()  # while there are requests of a lower rank
        self._read_tokens = 0  # prompt tokens prefilled since the last decoding step
        self._batches: bool | None = None  # whether the main model can run batches; None: not tried yet
        self._drafts: bool | None = None  # whether a batch can verify drafts; None: not tried yet
        self.spares = False  # nothing is measured: the machine is hot or saves energy
        self.on_battery = False  # no more is measured than first prices
        self.load: BackgroundLoad | None = None  # in progress
        self.why_no_main: EngineError = NoModelLoaded()  # the error of replies while there is none
        self._recall_costs()

    @property
    def busy(self) -> bool:
        return bool(self._queue or self._started)

    @property
    def under_way(self) -> bool:
        """Whether replies run that the user waits for."""
        return any(not (reply.interrupted or reply.request.rank) for reply in self._running)

    @property
    def has_idle_work(self) -> bool:
        """Whether there is something to do for `idle_step`."""
        return self.load is not None or self._store.has_unwritten or self._may_measure

    @property
    def _may_measure(self) -> bool:
        return self._tuner.pending and not (self.spares or (self.on_battery and self._tuner.refines))

    def set_main(self, main: LoadedModel | None) -> None:
        """Set another main model, without a draft: running replies end, queued ones will use the new model."""
        self._end_running(FinishReason.MODEL_CHANGED)
        self._queue.unprepare()
        self._forget_pair()
        self.main, self.draft = main, None
        self.why_no_main = NoModelLoaded()
        self._recall_costs()
        self._set_limits()

    def load_in_background(self, load: BackgroundLoad) -> None:
        """Load a model between the steps of replies. While it is the main model no reply starts."""
        if self.load is not None:
            raise RuntimeError("another model is being loaded")
        self.load = load

    def abort_load(self, reason: EngineError) -> None:
        """Stop the load, if there is one."""
        load, self.load = self.load, None
        if load is not None:
            load.abort(reason)

    @property
    def has_aborted_load(self) -> bool:
        """Whether the load has stopped because of a command that is still in the queue."""
        return self.load is not None and self.load.aborted

    def _load_slice(self, load: BackgroundLoad) -> None:
        if load.load_slice():
            self.load = None
            load.deliver()

    def set_draft(self, draft: LoadedModel | None) -> None:
        """Set another draft, or none: running replies use it from their next round on."""
        self.draft = draft
        self._recall_costs()
        for reply in self._started:
            self._draft_with_pair(reply)
        self._store.drop_other_models(self.main, draft)
        self._set_limits()

    def add(self, reply: QueuedReply) -> None:
        self._queue.add(reply)

    def cancel(self, request: RequestId) -> None:
        for reply in [reply for reply in self._started if reply.id == request]:
            reply.interrupt(FinishReason.CANCELLED)
        self._queue.cancel(request)

    def keep_only(self, conversations: Collection[str]) -> None:
        for reply in self._started:
            reply.keep_only(conversations)
        self._queue.keep_only(conversations)
        self._store.keep_only(conversations)

    def set_speculation(self, request: RequestId, speculation: Speculation) -> None:
        """Change how a reply drafts, from its next round on."""
        self._queue.set_speculation(request, speculation)
        for reply in [reply for reply in self._started if reply.id == request]:
            reply.request = speculating(reply.request, speculation)
            if not reply.steer(make_controller(reply.request.speculation, self._history)):
                self._draft_with_pair(reply)

    def answer_now(self, request: RequestId) -> None:
        """End a reply's thinking."""
        self._queue.answer_now(request)
        for reply in [reply for reply in self._started if reply.id == request]:
            reply.answer_now()

    def cancel_all(self) -> None:
        self._queue.cancel_all()
        self._end_running(FinishReason.CANCELLED)

    def fail_all(self, error: BaseException) -> None:
        """End every reply with an error; their caches may be wrong."""
        self.fail_started(error)
        self._queue.fail_all(error)

    def fail_started(self, error: BaseException) -> None:
        """End every reply that has begun; the queued ones wait for another main model, or the same one again."""
        for reply in self._started:
            reply.fail(error)
        self._batch.clear()
        for replies in (self._reading, self._writing, self._paused):
            replies.clear()

    def step(self) -> None:
        """Start a reply, prefill a chunk, or run a decoding step.

        Nothing after a load was aborted: starting a reply now would make the pending Load fail with RepliesUnderWay.
        """
        if self.load is not None:
            self._load_slice(self.load)
        if self.has_aborted_load:
            return
        if self._store.has_unwritten and self._store.over_limit:
            self._store.write_step()
        self._check_memory()
        self._end_interrupted()
        self._pause_or_resume()
        writes = bool(self._writing or self._batch.replies)
        ready = self._ready(patient=not (writes or self._reading))
        reads = ready is not None or bool(self._reading)
        if writes and (not reads or self._read_tokens >= PREFILL_CHUNK_TOKENS):
            self._read_tokens = 0
            self._write()
        elif ready is not None:
            self._start(ready)
        elif self._reading:
            self._read()

    def idle_step(self) -> None:
        """With no requests: a slice of a load, of writing kept caches to disk, or of measuring."""
        if self.load is not None:
            self._load_slice(self.load)
        elif self._store.has_unwritten:
            self._store.write_step()
        elif self._may_measure:
            self._tuner.step()

    def take_examined(self) -> DrafterExamined | None:
        """The result for the loaded drafter, once after its examination; else None."""
        if self._tuner.pending or self._sent_examined or self.draft is None:
            return None
        self._sent_examined = True
        known = self._history.costs.calibration
        if known.per_pass is None:
            return None
        return DrafterExamined(self.draft.info.folder, known.per_pass, known.misread)

    def take_measured(self) -> ModelMeasured | None:
        """The times of the main model, once after they are measured; else None."""
        if self._tuner.pending or self._sent_measured or self.main is None:
            return None
        self._sent_measured = True
        if not self._history.costs.calibrated:
            return None
        times, *others = self._tuner.measured(self.main)
        return ModelMeasured(self.main.info.folder, times, tuple(others), self._history.costs.calibration.rounding)

    @property
    def _running(self) -> list[Reply]:
        return [*self._reading, *self._writing, *self._batch.replies]

    @property
    def _started(self) -> list[Reply]:
        return [*self._running, *self._paused]

    @property
    def _rank(self) -> int:
        """The lowest rank of all requests: those of higher ones neither start nor run."""
        waiting = self._queue.first_rank
        ranks = [reply.request.rank for reply in self._started]
        return min(ranks if waiting is None else [waiting, *ranks], default=BACKGROUND_RANK)

    def _pause_or_resume(self) -> None:
        """Other programs' replies pause for the user's, and the background reply for both."""
        rank = self._rank
        for reply in [reply for reply in self._paused if reply.request.rank == rank]:
            self._paused.remove(reply)
            reply.resume()
            self._enqueue(reply)
        self._leave_batch([reply for reply in self._batch.replies if reply.request.rank > rank])
        for replies in (self._reading, self._writing):
            for reply in [reply for reply in replies if reply.request.rank > rank]:
                replies.remove(reply)
                self._pause(reply)

    def _pause(self, reply: Reply) -> None:
        try:
            reply.pause()
            self._paused.append(reply)
        except BaseException as error:  # noqa: BLE001  a device may raise anything; the engine goes on
            reply.fail(error)

    @property
    def _loads_main(self) -> bool:
        return self.load is not None and self.load.role is ModelRole.MAIN

    def _ready(self, *, patient: bool) -> QueuedReply | None:
        """The request to start next; `patient`: the engine is idle."""
        if self._loads_main or len(self._running) >= MAX_REPLIES:
            return None
        rank = self._rank if not self._started else min(self._rank, BACKGROUND_RANK - 1)  # of those, one at a time
        return self._queue.ready(self.main, rank, patient=patient)

    def _start(self, queued: QueuedReply) -> None:
        self._queue.remove(queued)
        self._read_tokens += _START_TOKENS
        if self.main is None:
            queued.fail(self.why_no_main)
            return
        if queued.request.model not in ("", self.main.info.folder):
            queued.cancel(FinishReason.MODEL_CHANGED)
            return
        try:
            for running in self._running:  # a paused one has nothing in flight
                running.settle_draft()
            may_copy = self.draft is None or self.draft.info.drafter is None  # a drafter needs its states
            reply = queued.start(self.main, self._store, self._history, may_copy=may_copy)
            self._draft_with_pair(reply)
            self._enqueue(reply)
        except BaseException as error:  # noqa: BLE001  a tokenizer's Rust panic is a BaseException
            queued.fail(error)

    def _enqueue(self, reply: Reply) -> None:
        reads = reply.reading or self._lags(reply)
        if not reply.ended:
            (self._reading if reads else self._writing).append(reply)

    def _lags(self, reply: Reply) -> bool:
        """Whether its fixed draft has uncached tokens; if that raises, the reply fails."""
        try:
            return reply.draft_lags
        except BaseException as error:  # noqa: BLE001  as in `_step`
            reply.fail(error)
            return False

    def _read(self) -> None:
        reply = self._reading.popleft()
        before = reply.sequence.caches.position
        goes_on = self._step(reply)
        self._read_tokens += (reply.sequence.caches.position - before) or PREFILL_CHUNK_TOKENS  # 0: its draft's prefill
        if goes_on:
            self._enqueue(reply)

    def _write(self) -> None:
        replies = [*self._writing, *self._batch.replies]
        if len(replies) == 1:
            self._write_by_turns()
            return
        started, before = time.perf_counter(), sum(len(reply.sequence.tokens) for reply in replies)
        way = self._way(replies)
        lagging = [reply for reply in replies if self._lags(reply)] if way is Way.DRAFTED else []
        if lagging or any(reply.ended for reply in replies):
            self._leave_to_read(lagging)
            return
        if way is Way.TURNS:
            self._write_by_turns()
        else:
            self._step_batch(drafts=way is Way.DRAFTED)
        written = sum(len(reply.sequence.tokens) for reply in replies) - before
        self._sharing.observe(way, len(replies), written, time.perf_counter() - started)

    def _leave_to_read(self, replies: Sequence[Reply]) -> None:
        """Replies whose fixed draft must catch up go back to prefill; the others go on. Ended ones are dropped."""
        self._leave_batch([reply for reply in self._batch.replies if reply in replies or reply.ended])
        written, self._writing = self._writing, deque[Reply]()
        for reply in written:
            if not reply.ended:
                (self._reading if reply in replies else self._writing).append(reply)

    def _write_by_turns(self) -> None:
        self._leave_batch(list(self._batch.replies))
        if self._writing:
            reply = self._writing.popleft()
            if self._step(reply):
                self._writing.append(reply)

    def _way(self, replies: Sequence[Reply]) -> Way:
        """How several replies run: with fixed drafts in a batch if it can verify them, else in turns; in auto mode the
        fastest.
        """
        if not self._can_batch():
            return Way.TURNS
        modes = {reply.request.speculation.mode for reply in replies}
        if SpeculationMode.FIXED in modes and self._can_draft():
            return Way.DRAFTED
        if any(reply.insists for reply in replies):  # a batch cannot verify their drafts
            return Way.TURNS
        ways = [Way.SHARED]
        if modes == {SpeculationMode.AUTO} and self.draft is not None:
            ways += [Way.TURNS, Way.DRAFTED] if self._can_draft() else [Way.TURNS]
        return self._sharing.choose(len(replies), ways)

    def _step(self, reply: Reply) -> bool:
        """A step of one reply by itself; whether it goes on."""
        alone = not (self._running or self._queue.up_to(reply.request.rank))
        try:
            return not reply.step(alone=alone)
        except BaseException as error:  # noqa: BLE001  a tokenizer's Rust panic is a BaseException
            reply.fail(error)
            return False

    def _step_batch(self, *, drafts: bool) -> None:
        joining = [] if self._batch.in_flight else list(self._writing)
        with self._batch_at_stake(joining):
            if joining:
                self._writing.clear()
                self._batch.join(joining)
            self._batch.step(self._history, look_ahead=not self._writing and not drafts, drafts=drafts)

    def _leave_batch(self, replies: Sequence[Reply]) -> None:
        if not replies:
            return
        with self._batch_at_stake():
            self._batch.release(replies)
            self._writing.extend(replies)

    @contextmanager
    def _batch_at_stake(self, joining: Sequence[Reply] = ()) -> Iterator[None]:
        """An error in a batch's forward or caches fails all its replies, and those that are joining."""
        try:
            yield
        except BaseException as error:  # noqa: BLE001  a device may raise anything; the engine goes on
            for reply in [*self._batch.clear(), *joining]:
                reply.fail(error)

    def _end_running(self, reason: FinishReason) -> None:
        for reply in self._started:
            reply.interrupt(reason)
        self._end_interrupted()

    def _end_interrupted(self) -> None:
        self._leave_batch([reply for reply in self._batch.replies if reply.interrupted])
        for replies in (self._reading, self._writing, self._paused):
            for reply in [reply for reply in replies if reply.interrupted]:
                replies.remove(reply)
                self._step(reply)

    def _check_memory(self) -> None:
        """Near the limit drop kept caches first, then end the longest reply of the highest rank.

        Or the one that is about to look at a picture, where only that would take too much.
        """
        looks = [reply for reply in self._reading if not reply.interrupted]
        largest = max(looks, key=lambda reply: reply.looking_bytes, default=None)
        most = 0 if largest is None else largest.looking_bytes
        short = is_short() or (self.main is not None and self.main.short())
        while (short or lacks(most)) and self._store.evict_oldest():
            short = is_short()  # other ranks say with their next step what that has freed
        if largest is not None and not short and lacks(most):
            self._reading.remove(largest)
            largest.fail(PictureTooLarge(most))
        started = [reply for reply in self._started if not reply.interrupted]
        if started and short:
            first = max(started, key=lambda reply: (reply.request.rank, len(reply.sequence.tokens)))
            first.interrupt(FinishReason.MEMORY)

    def _set_limits(self) -> None:
        set_limits(*(model.need for model in (self.main, self.draft) if model is not None))

    def _can_batch(self) -> bool:
        """Tried once for each main model, when first needed."""
        if self._batches is None:
            self._batches = self.main is not None and can_batch(self.main)
        return self._batches

    def _can_draft(self) -> bool:
        """Whether a batch can verify drafts; tried once, likewise."""
        if self._drafts is None:
            self._drafts = self.main is not None and can_draft(self.main)
        return self._drafts

    def _draft_with_pair(self, reply: Reply) -> None:
        """Let a reply draft with the loaded pair, from its next round on."""
        chat = reply.sequence
        proposers: list[Proposer] = [LookupProposer(chat.model.ends)]
        if self.draft is not None:
            proposers.insert(0, proposer_of(self.draft, chat.model, self._store, chat.turn_end, chat.tokens, chat))
        proposers[:0] = reply.predicted()
        if reply.sampler.guide is not None:
            proposers.insert(0, ForcedProposer(reply.sampler.guide))
        controller = make_controller(reply.request.speculation, self._history)
        reply.draft_with(Drafting(proposers, controller), self._history)

    def _recall_costs(self) -> None:
        """Load the calibration of a new pair, so that its first reply has prices too."""
        self._history = History()
        self._sharing = Sharing(self._history)
        self._tuner.stop()
        self._sent_examined = self._sent_measured = False
        if self.main is not None:
            try:
                self._tuner.begin(self.main, self.draft, self._history.costs)
            except Exception:  # noqa: BLE001  replies can run without prices
                _log.warning("%s cannot be measured", self.main.info.name, exc_info=True)
                self._tuner.stop()

    def _forget_pair(self) -> None:
        try:
            self._store.save(SAVING_S)
        except Exception:  # noqa: BLE001  the pair is dropped all the same
            _log.exception("caches could not be saved")
        self._store.clear()
        self._batches = self._drafts = None
