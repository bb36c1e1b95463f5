"""Models on demand: requests wait for theirs, and a model loaded for one is unloaded when idle.

The engine has one main model. Requests for it go ahead; those for another wait in line until it has none left, and the
shelf brings theirs. All on the event loop, but for events of the engine and refusals, which are passed on to it.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from engine.api.errors import EngineError, LoadAborted, NoModelLoaded, RepliesUnderWay
from engine.api.events import Event, ModelFailed, ModelReady, ModelUnloaded
from engine.api.protocols import ChatEngine
from engine.api.types import ModelRole
from engine.server.options import ModelShelf, ServedModel, ServerOptions
from engine.server.parameters import identifier
from engine.server.problems import Problem, chosen_stays, model_changed, problem_of, shutting_down
from engine.server.served_models import ServedModels, same

_PASSING = (RepliesUnderWay, LoadAborted)  # another client's turn: no failures


@dataclass(eq=False, slots=True)
class Turn:
    """A client's wait for its model, and its use of it."""

    model: ServedModel
    admitted: asyncio.Future[None] = field(repr=False)  # raises Problem

    def refuse(self, problem: Problem) -> None:
        if not self.admitted.done():
            self.admitted.set_exception(problem)


class ModelQueue:
    def __init__(
        self,
        engine: ChatEngine,
        shelf: ModelShelf | None,
        models: ServedModels,
        options: ServerOptions,
        on_load: Callable[[], None],
    ) -> None:
        """Inside a running loop."""
        self._engine = engine
        self._shelf = shelf
        self._models = models
        self._options = options
        self._on_load = on_load
        self._loop = asyncio.get_running_loop()
        self._line: deque[Turn] = deque()
        self._users: set[Turn] = set()
        self._requested: ServedModel | None = None  # of the shelf, and not answered yet
        self._retry: asyncio.TimerHandle | None = None  # where that cannot be loaded for now
        self._unloading = False  # what is loaded was to be taken away, and nothing has answered that yet
        self._on_demand: ServedModel | None = None  # what the shelf loaded for clients
        self._since = self._loop.time()  # when the loaded model came
        self._keep_s = options.ttl_s  # of `_on_demand`
        self._expiry: asyncio.TimerHandle | None = None
        self._closed = False
        self._unsubscribe = engine.subscribe(self._on_any_thread)

    def join(self, model: ServedModel) -> Turn:
        """Add a client to the queue, or admit it if its model is loaded and none has waited too long for another."""
        turn = Turn(model, self._loop.create_future())
        if self._closed:
            turn.refuse(shutting_down())
        else:
            self._line.append(turn)
            self._advance()
        return turn

    def leave(self, turn: Turn, keep_s: float | None = None) -> None:
        """End a client's wait or use. `keep_s`: how long its model stays afterwards, at most as long as its
        host lets guests; None: unchanged.
        """
        if turn in self._line:
            self._line.remove(turn)
        if not turn.admitted.cancel() and not turn.admitted.cancelled():
            turn.admitted.exception()  # which asyncio would log otherwise
        if turn not in self._users:
            return
        self._users.remove(turn)
        if keep_s is not None and self._is_on_demand(turn.model):
            self._keep_s = min(keep_s, self._options.ttl_s) if self._options.guests else keep_s
        self._advance()

    async def visit(self, model: ServedModel, keep_s: float | None) -> None:
        """Load a model, or with 0 unload it, for a client without a request. Raises Problem."""
        if keep_s == 0:
            self._drop(model)
            return
        turn = self.join(model)
        try:
            await turn.admitted
        finally:
            self.leave(turn, keep_s)

    def expires_at(self, model: ServedModel) -> float:
        """Seconds of the clock; inf: time does not unload it."""
        if not self._is_on_demand(model):
            return inf
        left_s = self._keep_s if self._expiry is None else self._expiry.when() - self._loop.time()
        return time.time() + left_s

    def close(self) -> None:
        """Clients that wait are refused, and what was brought is unloaded."""
        self._closed = True
        self._unsubscribe()
        for turn in self._line:
            turn.refuse(shutting_down())
        self._line.clear()
        if self._expiry is not None:
            self._expiry.cancel()
        self._forget_retry()
        if self._requested is not None and not self._requested.chosen:
            self._on_demand = self._requested
            self._requested = None
        self._expire()

    def _advance(self) -> None:
        """Admit clients of the loaded model; without any, load the next one's, or wait until it was idle long
        enough.
        """
        for turn in self._line:
            if self._models.is_replaced(turn.model):
                turn.refuse(model_changed())
        self._admit()
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None
        if self._users:
            return
        if self._line:
            self._bring(self._line[0].model)
        elif self._on_demand is not None and self._keep_s < inf:
            self._expiry = self._loop.call_later(self._keep_s, self._expire)

    def _admit(self) -> None:
        """No turn may begin with a model that may be exchanged at any moment; every one may with a model that stays."""
        refused = self._retry is not None
        loaded = None if self._unloading or (self._requested is not None and not refused) else self._models.loaded
        stays = refused or self._loop.time() < self._since + self._options.stay_s
        waiting = self._line
        self._line = deque()
        for turn in (turn for turn in waiting if not turn.admitted.done()):
            if loaded is not None and self._models.is_here(turn.model) and (stays or not self._line):
                self._users.add(turn)
                turn.admitted.set_result(None)
                if self._on_demand is None and not turn.model.chosen:  # it came without being asked for again
                    self._on_demand = turn.model
                    self._keep_s = self._options.ttl_s
            else:
                self._line.append(turn)

    def _bring(self, model: ServedModel) -> None:
        state = self._engine.state()
        if self._requested is not None or state.loading_main is not None:
            return
        if model.exact and state.loading_draft is not None:  # perhaps that one, and to ask again would begin it again
            return
        self._requested = model
        if self._shelf is None:
            self._failed(model, NoModelLoaded())
            return

        def refuse(error: EngineError) -> None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._failed, model, error)

        self._shelf.bring(model, refuse)

    def _failed(self, model: ServedModel, error: EngineError) -> None:
        """Refused by the shelf, or not loaded."""
        if self._requested is not model:
            return
        self._unloading = False
        if isinstance(error, _PASSING):
            if self._retry is None:
                self._retry = self._loop.call_later(self._options.retry_s, self._retry_now)
            self._admit()
            return
        self._forget_retry()
        self._requested = None
        for turn in [turn for turn in self._line if _fails_with(turn.model, model)]:
            self._line.remove(turn)
            turn.refuse(problem_of(error, self._engine.state().again_at))
        self._advance()

    def _forget_retry(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None

    def _retry_now(self) -> None:
        self._retry = self._requested = None
        if not self._closed:
            self._advance()

    def _drop(self, model: ServedModel) -> None:
        """Once no client uses it. Raises Problem for one that the user chose."""
        if self._is_on_demand(model):
            self._keep_s = 0.0
            self._advance()
        elif self._models.is_loaded(model.main):
            raise chosen_stays(identifier(model.main.name))

    def _expire(self) -> None:
        brought = self._on_demand
        self._on_demand = None
        if brought is not None and self._shelf is not None:
            self._unloading = True
            self._shelf.take_away(brought)

    def _is_on_demand(self, model: ServedModel) -> bool:
        return self._on_demand is not None and same(self._on_demand.main, model.main)

    def _on_any_thread(self, event: Event) -> None:
        if isinstance(event, ModelReady | ModelFailed | ModelUnloaded):
            handle = self._on_main if event.role is ModelRole.MAIN else self._on_draft
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(handle, event)

    def _on_main(self, event: ModelReady | ModelFailed | ModelUnloaded) -> None:
        requested = self._requested
        self._unloading = False
        match event:
            case ModelReady(info=info):
                self._on_load()
                self._since = self._loop.time()
                self._on_demand = None
                if requested is not None and same(requested.main, info):
                    self._arrived(requested, is_whole=not requested.exact)
            case ModelFailed(folder=folder, error=error):
                if requested is not None and Path(folder) == Path(requested.main.folder):
                    self._failed(requested, error)
            case ModelUnloaded():
                self._on_demand = None
        self._advance()

    def _on_draft(self, event: ModelReady | ModelFailed | ModelUnloaded) -> None:
        """What concerns one that a client has named."""
        requested = self._requested
        self._unloading = self._unloading and isinstance(event, ModelUnloaded)  # of a pair its main model goes last
        if requested is not None and requested.exact and requested.draft is not None:
            match event:
                case ModelReady(info=info) if same(requested.draft, info) and self._models.is_loaded(requested.main):
                    self._since = self._loop.time()
                    self._arrived(requested, is_whole=True)
                case ModelFailed(folder=folder, error=error) if Path(folder) == Path(requested.draft.folder):
                    # Without a main model it was another one's, which failed: this one's may be on its way.
                    self._failed(requested, LoadAborted(folder) if isinstance(error, NoModelLoaded) else error)
        self._advance()

    def _arrived(self, requested: ServedModel, *, is_whole: bool) -> None:
        """`is_whole`: with the draft that it has to have."""
        if is_whole:
            self._forget_retry()
        self._requested = None if is_whole else requested
        self._on_demand = None if requested.chosen else requested
        self._keep_s = self._options.ttl_s


def _fails_with(model: ServedModel, failed: ServedModel) -> bool:
    """One whose draft was named may have failed for that alone."""
    alike = not failed.exact or (model.exact and same(model.draft, failed.draft))
    return alike and same(model.main, failed.main)
