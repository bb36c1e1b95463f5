"""Which reply gets the next step. One at a time, in the order they came; engine thread only.

Owns the loaded pair and what outlives a reply: kept caches and what rounds have cost.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING

from engine.control import RoundCosts, make_controller
from engine.drafting import Drafting
from engine.errors import EngineError, InternalError, NoModelLoaded, OutOfMemory
from engine.prefix_store import PrefixStore
from engine.proposers.base import Proposer
from engine.proposers.draft_model import DraftModelProposer
from engine.proposers.lookup import LookupProposer
from engine.reply import Reply
from engine.types import RequestId

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel

_log = logging.getLogger(__name__)


class Scheduler:
    def __init__(self) -> None:
        self.main: LoadedModel | None = None
        self.draft: LoadedModel | None = None
        self._waiting: deque[Reply] = deque()
        self._running: Reply | None = None
        self._forget_pair()

    @property
    def busy(self) -> bool:
        return self._running is not None or bool(self._waiting)

    def set_main(self, main: LoadedModel | None) -> None:
        """Another main model: the running reply ends as cancelled, waiting ones will use the new model."""
        if self._running is not None:
            self._running.cancelled = True
            self._step_running()
        self.main, self.draft = main, None
        self._forget_pair()

    def set_draft(self, draft: LoadedModel | None) -> None:
        """Another draft, or none: the running reply goes on with it from its next round."""
        self.draft = draft
        self._costs = RoundCosts()
        if self._running is not None:
            self._running.draft_with(self._drafting(self._running))
        self._draft_store.clear()

    def add(self, reply: Reply) -> None:
        self._waiting.append(reply)

    def cancel(self, request: RequestId) -> None:
        if self._running is not None and self._running.id == request:
            self._running.cancelled = True
        for reply in [reply for reply in self._waiting if reply.id == request]:
            self._waiting.remove(reply)
            reply.finish_unstarted()

    def cancel_all(self) -> None:
        while self._waiting:
            self._waiting.popleft().finish_unstarted()
        if self._running is not None:
            self._running.cancelled = True
            self._step_running()

    def step(self) -> None:
        """One prefill chunk or one round of one reply, or the start of the next reply."""
        if self._running is None:
            self._start_next()
        else:
            self._step_running()

    def _start_next(self) -> None:
        reply = self._waiting.popleft()
        try:
            if self.main is None:
                raise NoModelLoaded
            reply.start(self.main, self._main_store, self._costs)
            reply.draft_with(self._drafting(reply))
            self._running = reply
        except BaseException as error:  # noqa: BLE001  a tokenizer's Rust panic is a BaseException
            reply.fail(_typed(error))

    def _step_running(self) -> None:
        reply = self._running
        assert reply is not None
        try:
            if reply.step():
                self._running = None
        except BaseException as error:  # noqa: BLE001  a tokenizer's Rust panic is a BaseException
            self._running = None
            reply.fail(_typed(error))

    def _drafting(self, reply: Reply) -> Drafting:
        proposers: list[Proposer] = [LookupProposer()]
        if self.draft is not None:
            proposers.insert(0, DraftModelProposer(self.draft, self._draft_store))
        return Drafting(proposers, make_controller(reply.request.speculation, self._costs))

    def _forget_pair(self) -> None:
        self._costs = RoundCosts()
        self._main_store = PrefixStore()
        self._draft_store = PrefixStore()


def _typed(error: BaseException) -> EngineError:
    if isinstance(error, EngineError):
        return error
    _log.error("a reply failed", exc_info=error)
    detail = f"{type(error).__name__}: {error}"[:500]
    out_of_memory = isinstance(error, MemoryError) or "[METAL]" in detail or "[metal::malloc]" in detail
    return OutOfMemory(detail) if out_of_memory else InternalError(detail)
