"""A decoding step of the replies past their prompts: by itself, in a batch, or in turns. Engine thread only.

A single reply speculates. Several share a batch, or take turns: if that is faster, if the model cannot run a batch
(`batch.can_batch`), or if a fixed draft cannot be verified in one (`batch.can_draft`).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from engine.api.types import SpeculationMode
from engine.runtime.batch import Batch
from engine.runtime.pair import LoadedPair
from engine.runtime.reply import Reply
from engine.runtime.sharing import BatchWay


class Writing:
    """The replies past their prompts."""

    def __init__(self, pair: LoadedPair) -> None:
        self._pair = pair
        self.apart: deque[Reply] = deque()  # in no batch: these may be removed, and others added
        self.batch = Batch()

    @property
    def replies(self) -> list[Reply]:
        return [*self.apart, *self.batch.replies]

    def release(self, wanted: Callable[[Reply], bool]) -> None:
        """Take the replies that are `wanted` out of the batch."""
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
        """A token for each reply, or a round of the next one. Instead it may remove those whose fixed draft has to
        prefill, and return them.

        `alone`: there is one, and no other reply runs or waits to start.
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
        self._pair.sharing.observe(way, len(replies), written, time.perf_counter() - started)
        return []

    def way(self, replies: Sequence[Reply]) -> BatchWay:
        """How several replies run: with fixed drafts in a batch if it can verify them, else in turns; in auto mode the
        fastest.
        """
        pair = self._pair
        if not pair.can_batch:
            return BatchWay.TURNS
        modes = {reply.request.speculation.mode for reply in replies}
        if SpeculationMode.FIXED in modes and pair.can_draft:
            return BatchWay.DRAFTED
        if any(reply.rounds.drafting.insists for reply in replies):  # a batch cannot verify their drafts
            return BatchWay.TURNS
        ways = [BatchWay.SHARED]
        if modes == {SpeculationMode.AUTO} and pair.draft is not None:
            ways += [BatchWay.TURNS, BatchWay.DRAFTED] if pair.can_draft else [BatchWay.TURNS]
        tokens = sum(len(reply.sequence.tokens) for reply in replies)
        return pair.sharing.choose(len(replies), ways, tokens // len(replies))

    def _without(self, lagging: Sequence[Reply]) -> list[Reply]:
        """Remove these, to return them, and those that have ended; the others go on."""
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
        """An error in a batch's forward or caches fails all its replies, and those that are joining."""
        try:
            yield
        except BaseException as error:  # noqa: BLE001  a device may raise anything; the engine goes on
            for reply in [*self.batch.clear(), *joining]:
                reply.fail(error)
