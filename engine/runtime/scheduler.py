"""Which replies get the next step. Engine thread only.

Prefill and decoding alternate: a chunk's worth of prompt tokens, then one step of the replies past their prompts
(`Writing`). Requests of other programs run while there is none of the user's, and background requests, one at a time,
while there is no other. Near the memory limit kept caches are evicted, then replies are ended.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from engine.api.errors import EngineError, NoModelLoaded, PictureTooLarge
from engine.api.station import StationPlace
from engine.api.types import BACKGROUND_PRIORITY, FinishReason, ModelRole, RequestId, Speculation, SpeculationMode
from engine.decoding.sequence import PREFILL_CHUNK_TOKENS
from engine.drafting.calibration import Tuner
from engine.models.loading import LoadedModel
from engine.models.memory import lacks
from engine.prefix.memory import PrefixStore
from engine.runtime.background_load import BackgroundLoad
from engine.runtime.batch import Batch
from engine.runtime.pair import LoadedPair
from engine.runtime.queued import QueuedReply, RequestQueue
from engine.runtime.reply import Reply
from engine.runtime.sharing import BatchWay
from engine.station.connection import Report

MAX_REPLIES = 32  # at once; further ones stay in the queue
_START_TOKENS = 64  # cost of starting a reply, in prompt tokens


class Writing:
    """The replies past their prompts."""

    def __init__(self, pair: LoadedPair) -> None:
        self._pair = pair
        self.apart: deque[Reply] = deque()  # replies in no batch; a subset is moved into one
        self.batch = Batch()

    @property
    def replies(self) -> list[Reply]:
        return [*self.apart, *self.batch.replies]

    def release(self, wanted: Callable[[Reply], bool]) -> None:
        """Take the `wanted` replies out of the batch."""
        leaving = [reply for reply in self.batch.replies if wanted(reply)]
        if leaving:
            with self._batch_at_stake():
                self.batch.release(leaving)
                self.apart.extend(leaving)

    def clear(self) -> None:
        """Remove all replies; their caches may be wrong."""
        self.batch.clear()
        self.apart.clear()

    def step(self, *, alone: bool) -> list[Reply]:
        """Emit a token of each reply, or run a round of the next one.

        Or, without a step, remove and return those whose fixed draft has to prefill. `alone`: there is one, and no
        other reply runs or waits to start.
        """
        replies = self.replies
        if len(replies) == 1:
            self._take_turns(alone=alone)
            return []
        started = time.perf_counter()
        before = sum(len(reply.sequence.tokens) for reply in replies)
        way = self.way(replies)
        lagging = [reply for reply in replies if reply.draft_lags] if way is BatchWay.DRAFTED else []
        if lagging or any(reply.ended for reply in replies):
            return self._without(lagging)
        if way is BatchWay.TURNS:
            self._take_turns(alone=alone)
        else:
            self._step_batch(drafts=way is BatchWay.DRAFTED)
        written = sum(len(reply.sequence.tokens) for reply in replies) - before
        if way is BatchWay.TURNS or self.batch.typical:
            self._pair.sharing.observe(way, len(replies), written, time.perf_counter() - started)
        return []

    def way(self, replies: Sequence[Reply]) -> BatchWay:
        """How several replies run: fixed drafts in a batch that can verify them, else in turns; auto mode the
        fastest.
        """
        pair = self._pair
        if not pair.batching.shares or len({reply.sequence.model.identity for reply in replies}) > 1:
            return BatchWay.TURNS  # rows of 8 and of 16 bits are in no forward together
        if self.apart and not self._have_room(replies):
            return BatchWay.TURNS
        modes = {reply.request.speculation.mode for reply in replies}
        if SpeculationMode.FIXED in modes and pair.batching.drafts:
            return BatchWay.DRAFTED
        if any(reply.rounds.drafting.insists for reply in replies):  # a batch cannot verify the fixed drafts
            return BatchWay.TURNS
        ways = [BatchWay.SHARED]
        if modes == {SpeculationMode.AUTO} and pair.draft is not None:
            ways += [BatchWay.TURNS, BatchWay.DRAFTED] if pair.batching.drafts else [BatchWay.TURNS]
        tokens = sum(len(reply.sequence.tokens) for reply in replies)
        return pair.sharing.choose([reply.rounds.kind for reply in replies], ways, tokens // len(replies))

    def _have_room(self, replies: Sequence[Reply]) -> bool:
        """For the rows of a batch that they all join, while their own caches are still there.

        A row is as long as the longest. Kept caches go before replies take turns, but only where that is enough.
        """
        longest = max(len(reply.sequence.tokens) for reply in replies)
        size = len(replies) * longest * replies[0].sequence.model.need.token_bytes
        store = self._pair.store
        while lacks(size):
            if lacks(size - store.nbytes) or not store.evict_oldest():
                return False
        return True

    def _without(self, lagging: Sequence[Reply]) -> list[Reply]:
        """Remove and return these replies; ended ones are removed too."""
        self.release(lambda reply: reply in lagging or reply.ended)
        here = [reply for reply in self.apart if not reply.ended]
        self.apart = deque(reply for reply in here if reply not in lagging)
        return [reply for reply in here if reply in lagging]

    def _take_turns(self, *, alone: bool) -> None:
        """A round of the next reply."""
        self.release(lambda reply: True)
        if self.apart:
            reply = self.apart.popleft()
            reply.attempt(partial(reply.step, alone=alone))
            if not reply.ended:
                self.apart.append(reply)

    def _step_batch(self, *, drafts: bool) -> None:
        joining = [] if self.batch.in_flight else list(self.apart)
        with self._batch_at_stake(joining):
            if joining:
                self.apart.clear()
                self.batch.join(joining)
            self.batch.step(self._pair.history, look_ahead=not self.apart and not drafts, drafts=drafts)

    @contextmanager
    def _batch_at_stake(self, joining: Sequence[Reply] = ()) -> Iterator[None]:
        """An error in this block, of a batch's forward or caches, fails all its replies and those that are joining."""
        try:
            yield
        except BaseException as error:  # noqa: BLE001  a device may raise anything; the engine goes on
            for reply in [*self.batch.clear(), *joining]:
                reply.fail(error)


class Scheduler:
    def __init__(self, tuner: Tuner | None = None, store: PrefixStore | None = None) -> None:
        self.pair = LoadedPair(tuner or Tuner(), store or PrefixStore())
        self._queue = RequestQueue()
        self._reading: deque[Reply] = deque()  # in prefill
        self.writing = Writing(self.pair)
        self._paused: deque[Reply] = deque()  # while there are requests that go first
        self._read_tokens = 0  # prompt tokens prefilled since the last decoding step
        self.load: BackgroundLoad | None = None  # in progress
        self.why_no_main: EngineError = NoModelLoaded()  # the error of replies while no main model is loaded

    @property
    def main(self) -> LoadedModel | None:
        return self.pair.main

    @property
    def draft(self) -> LoadedModel | None:
        return self.pair.draft

    @property
    def busy(self) -> bool:
        return bool(self._queue or self._started)

    @property
    def under_way(self) -> bool:
        """Whether replies run that the user waits for."""
        return any(not (reply.interrupted or reply.request.priority) for reply in self._running)

    @property
    def has_idle_work(self) -> bool:
        """Whether there is something to do for `idle_step`."""
        return self.load is not None or self.pair.has_idle_work

    def set_main(self, main: LoadedModel | None) -> None:
        """Set another main model, without a draft: running replies end, queued ones will use the new model."""
        self._end_running(FinishReason.MODEL_CHANGED)
        self._queue.unprepare()
        self.why_no_main = NoModelLoaded()
        self.pair.set_main(main)

    def set_draft(self, draft: LoadedModel | None) -> None:
        """Set another draft, or none: running replies use it from their next round on."""
        self.pair.set_draft(draft, self._started)

    def set_station(self, place: StationPlace | None, report: Report) -> None:
        """Have the draft computed there as well: running replies use it from their next round on."""
        self.pair.set_station(place, report, self._started)

    def load_in_background(self, load: BackgroundLoad) -> None:
        """Load a model between the steps of replies. While it is the main model no reply starts."""
        if self.load is not None:
            raise RuntimeError("another model is being loaded")
        self.load = load

    def abort_load(self, reason: EngineError) -> None:
        """Stop the load, if there is one."""
        load = self.load
        self.load = None
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

    def add(self, reply: QueuedReply) -> None:
        self._queue.add(reply)

    def cancel(self, request: RequestId) -> None:
        for reply in self._started_as(request):
            reply.interrupt(FinishReason.CANCELLED)
        self._queue.cancel(request)

    def keep_only(self, conversations: Collection[str]) -> None:
        for reply in self._started:
            reply.keep_only(conversations)
        self._queue.keep_only(conversations)
        self.pair.keep_only(conversations)

    def set_speculation(self, request: RequestId, speculation: Speculation) -> None:
        """Change how a reply drafts, from its next round on."""
        self._queue.set_speculation(request, speculation)
        for reply in self._started_as(request):
            if not reply.steer(speculation, self.pair.history):
                self.pair.draft_for(reply)

    def answer_now(self, request: RequestId) -> None:
        """End a reply's thinking."""
        self._queue.answer_now(request)
        for reply in self._started_as(request):
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
        for replies in (self._reading, self.writing, self._paused):
            replies.clear()

    def step(self) -> None:
        """Start a reply, prefill a chunk, or run a decoding step.

        Nothing after a load was aborted: starting a reply now would make the pending Load fail with RepliesUnderWay.
        """
        if self.load is not None:
            self._load_slice(self.load)
        if self.has_aborted_load:
            return
        if self.pair.store.has_unwritten and self.pair.store.over_limit:
            self.pair.store.write_step()
        self._check_memory()
        self._end_interrupted()
        self._pause_or_resume()
        writes = bool(self.writing.replies)
        ready = self._ready(patient=not (writes or self._reading))
        reads = ready is not None or bool(self._reading)
        alone = len(self._running) == 1 and not (self._queue and self._queue.first_priority == self._priority)
        if writes and (not reads or self._read_tokens >= PREFILL_CHUNK_TOKENS):
            self._read_tokens = 0
            self._reading.extend(self.writing.step(alone=alone))
        elif ready is not None:
            self._start(ready)
        elif self._reading:
            self._read(alone=alone)

    def idle_step(self) -> None:
        """With no requests: a slice of a load, of writing kept caches to disk, or of measuring."""
        if self.load is not None:
            self._load_slice(self.load)
        else:
            self.pair.idle_step()

    @property
    def _running(self) -> list[Reply]:
        return [*self._reading, *self.writing.replies]

    @property
    def _started(self) -> list[Reply]:
        return [*self._running, *self._paused]

    def _started_as(self, request: RequestId) -> list[Reply]:
        return [reply for reply in self._started if reply.id == request]

    @property
    def _priority(self) -> int:
        """The priority of the requests that go first: others neither start nor run."""
        waiting = self._queue.first_priority
        priorities = [reply.request.priority for reply in self._started]
        return min(priorities if waiting is None else [waiting, *priorities], default=BACKGROUND_PRIORITY)

    def _pause_or_resume(self) -> None:
        """Other programs' replies pause for the user's, and the background reply for both."""
        priority = self._priority
        for reply in _taken(lambda reply: reply.request.priority == priority, self._paused):
            reply.resume()
            self._enqueue(reply)
        self.writing.release(lambda reply: reply.request.priority > priority)
        for reply in _taken(lambda reply: reply.request.priority > priority, self._reading, self.writing.apart):
            reply.attempt(reply.pause)
            if not reply.ended:
                self._paused.append(reply)

    @property
    def loads_main(self) -> bool:
        return self.load is not None and self.load.role is ModelRole.MAIN

    def _ready(self, *, patient: bool) -> QueuedReply | None:
        """The request to start next; `patient`: the engine is idle."""
        if self.loads_main or len(self._running) >= MAX_REPLIES:
            return None
        priority = self._priority
        if self._started:  # only one background reply at a time
            priority = min(priority, BACKGROUND_PRIORITY - 1)
        return self._queue.ready(self.main, priority, patient=patient)

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
                running.rounds.drafting.settle()
            self._enqueue(self.pair.start(queued))
        except BaseException as error:  # noqa: BLE001  a tokenizer's Rust panic is a BaseException
            queued.fail(error)

    def _enqueue(self, reply: Reply) -> None:
        reads = reply.reading or reply.draft_lags
        if not reply.ended:
            (self._reading if reads else self.writing.apart).append(reply)

    def _read(self, *, alone: bool) -> None:
        reply = self._reading.popleft()
        before = reply.sequence.caches.position
        reply.attempt(partial(reply.step, alone=alone))
        self._read_tokens += (
            reply.sequence.caches.position - before
        ) or PREFILL_CHUNK_TOKENS  # 0 if the draft prefilled
        if not reply.ended:
            self._enqueue(reply)

    def _end_running(self, reason: FinishReason) -> None:
        for reply in self._started:
            reply.interrupt(reason)
        self._end_interrupted()

    def _end_interrupted(self) -> None:
        self.writing.release(lambda reply: reply.interrupted)
        for reply in _taken(lambda reply: reply.interrupted, self._reading, self.writing.apart, self._paused):
            reply.attempt(reply.step)

    def _check_memory(self) -> None:
        """Near the limit drop kept caches first, then end the longest reply of those that go last, or the reply that
        is about to encode a picture if only that would exceed the limit.
        """
        looks = [reply for reply in self._reading if not reply.interrupted]
        largest = max(looks, key=lambda reply: reply.encoding_bytes, default=None)
        most = 0 if largest is None else largest.encoding_bytes
        short, lacks = self.pair.make_room(most)
        if largest is not None and lacks:
            self._reading.remove(largest)
            largest.fail(PictureTooLarge(most))
        started = [reply for reply in self._started if not reply.interrupted]
        if started and short:
            first = max(started, key=lambda reply: (reply.request.priority, len(reply.sequence.tokens)))
            first.interrupt(FinishReason.MEMORY)


def _taken(wanted: Callable[[Reply], bool], *lines: deque[Reply]) -> Iterator[Reply]:
    """Remove and yield the `wanted` replies of `lines`, one at a time."""
    for line in lines:
        for reply in [reply for reply in line if wanted(reply)]:
            line.remove(reply)
            yield reply
