"""Models on demand: whose turn it is in memory, and when a brought one goes again.

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
from engine.server.asked import identifier
from engine.server.offer import Offer, same
from engine.server.options import ModelShelf, ServedModel, ServerOptions
from engine.server.problems import Problem, chosen_stays, problem_of, shutting_down

_AGAIN_S = 0.5  # until a model is asked for again that could not be brought for now
_PASSING = (RepliesUnderWay, LoadAborted)  # the turn of another: these are no failures


@dataclass(eq=False, slots=True)
class Turn:
    """A client's wait for its model, and its use of it."""

    model: ServedModel
    come: asyncio.Future[None] = field(repr=False)  # raises Problem

    def refuse(self, problem: Problem) -> None:
        if not self.come.done():
            self.come.set_exception(problem)


class Supply:
    def __init__(
        self,
        engine: ChatEngine,
        shelf: ModelShelf | None,
        offer: Offer,
        options: ServerOptions,
        on_load: Callable[[], None],
    ) -> None:
        """Inside a running loop."""
        self._engine = engine
        self._shelf = shelf
        self._offer = offer
        self._options = options
        self._on_load = on_load
        self._loop = asyncio.get_running_loop()
        self._line: deque[Turn] = deque()
        self._users: set[Turn] = set()
        self._asked: ServedModel | None = None  # of the shelf, and not answered yet
        self._retry: asyncio.TimerHandle | None = None  # of that: it cannot be brought for now
        self._goes = False  # what is loaded was to be taken away, and nothing has answered that yet
        self._brought: ServedModel | None = None  # by the shelf for clients; it is loaded
        self._since = self._loop.time()  # when the loaded model came
        self._keep_s = options.ttl_s  # of what is brought
        self._expiry: asyncio.TimerHandle | None = None
        self._closed = False
        self._unsubscribe = engine.subscribe(self._hear_anywhere)

    # A client's request

    def join(self, model: ServedModel) -> Turn:
        """In the line, or ahead of it where its model is loaded and no client waits for another for too long."""
        turn = Turn(model, self._loop.create_future())
        if self._closed:
            turn.refuse(shutting_down())
        else:
            self._line.append(turn)
            self._look()
        return turn

    def leave(self, turn: Turn, keep_s: float | None = None) -> None:
        """However it ended. `keep_s`: how long its model is to stay after it; None: as was said last."""
        if turn in self._line:
            self._line.remove(turn)
        if not turn.come.cancel() and not turn.come.cancelled():
            turn.come.exception()  # which asyncio would log otherwise
        if turn not in self._users:
            return
        self._users.remove(turn)
        if keep_s is not None and self._is_brought(turn.model):
            self._keep_s = keep_s
        self._look()

    async def visit(self, model: ServedModel, keep_s: float | None) -> None:
        """Have it loaded, or with 0 unloaded, for a client that wants nothing else. Raises Problem."""
        if keep_s == 0:
            self._drop(model)
            return
        turn = self.join(model)
        try:
            await turn.come
        finally:
            self.leave(turn, keep_s)

    def expires_at(self, model: ServedModel) -> float:
        """Seconds of the clock; inf: time does not unload it."""
        if self._brought is None or not same(self._brought.main, model.main):
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
        if self._asked is not None and not self._asked.chosen:
            self._brought, self._asked = self._asked, None
        self._expire()

    # Whose turn it is

    def _look(self) -> None:
        """Let in whom the loaded model is for, have the next one brought, and the time begin that one is not used."""
        self._let_in()
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None
        if self._users:
            return
        if self._line:
            self._bring(self._line[0].model)
        elif self._brought is not None and self._keep_s < inf:
            self._expiry = self._loop.call_later(self._keep_s, self._expire)

    def _let_in(self) -> None:
        """None into a model that may be exchanged at any moment, all into one that has to stay for now."""
        refused = self._retry is not None
        loaded = None if self._goes or (self._asked is not None and not refused) else self._offer.loaded
        stays = refused or self._loop.time() < self._since + self._options.stay_s
        waiting, self._line = self._line, deque()
        for turn in (turn for turn in waiting if not turn.come.done()):
            if loaded is not None and self._offer.is_here(turn.model) and (stays or not self._line):
                self._users.add(turn)
                turn.come.set_result(None)
                if self._brought is None and not turn.model.chosen:  # it came without being asked for again
                    self._brought, self._keep_s = turn.model, self._options.ttl_s
            else:
                self._line.append(turn)

    def _bring(self, model: ServedModel) -> None:
        state = self._engine.state()
        if self._asked is not None or state.loading_main is not None:
            return
        if model.exact and state.loading_draft is not None:  # perhaps that one, and to ask again would begin it again
            return
        self._asked = model
        if self._shelf is None:
            self._failed(model, NoModelLoaded())
            return

        def refuse(error: EngineError) -> None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._failed, model, error)

        self._shelf.bring(model, refuse)

    def _failed(self, model: ServedModel, error: EngineError) -> None:
        """Refused by the shelf, or not loaded."""
        if self._asked is not model:
            return
        self._goes = False
        if isinstance(error, _PASSING):
            if self._retry is None:
                self._retry = self._loop.call_later(_AGAIN_S, self._ask_again)
            self._let_in()
            return
        self._forget_retry()
        self._asked = None
        for turn in [turn for turn in self._line if _fails_with(turn.model, model)]:
            self._line.remove(turn)
            turn.refuse(problem_of(error))
        self._look()

    def _forget_retry(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None

    def _ask_again(self) -> None:
        self._retry = self._asked = None
        if not self._closed:
            self._look()

    def _drop(self, model: ServedModel) -> None:
        """Once no client uses it. Raises Problem for one that the user chose."""
        if self._is_brought(model):
            self._keep_s = 0.0
            self._look()
        elif self._offer.is_loaded(model):
            raise chosen_stays(identifier(model.main.name))

    def _expire(self) -> None:
        brought, self._brought = self._brought, None
        if brought is not None and self._shelf is not None:
            self._goes = True
            self._shelf.take_away(brought)

    def _is_brought(self, model: ServedModel) -> bool:
        return self._brought is not None and same(self._brought.main, model.main)

    # What the engine says

    def _hear_anywhere(self, event: Event) -> None:
        if isinstance(event, ModelReady | ModelFailed | ModelUnloaded):
            hear = self._hear if event.role is ModelRole.MAIN else self._hear_of_draft
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(hear, event)

    def _hear(self, event: ModelReady | ModelFailed | ModelUnloaded) -> None:
        asked, self._goes = self._asked, False
        match event:
            case ModelReady(info=info):
                self._on_load()
                self._since = self._loop.time()
                self._brought = None
                if asked is not None and same(asked.main, info):
                    self._came(asked, is_whole=not asked.exact)
            case ModelFailed(folder=folder, error=error) if asked is not None and Path(folder) == Path(
                asked.main.folder
            ):
                self._failed(asked, error)
            case ModelUnloaded():
                self._brought = None
        self._look()

    def _hear_of_draft(self, event: ModelReady | ModelFailed | ModelUnloaded) -> None:
        """What concerns one that a client has named."""
        asked = self._asked
        self._goes = self._goes and isinstance(event, ModelUnloaded)  # of a pair its main model goes last
        if asked is not None and asked.exact and asked.draft is not None:
            match event:
                case ModelReady(info=info) if same(asked.draft, info) and self._offer.is_loaded(asked):
                    self._since = self._loop.time()
                    self._came(asked, is_whole=True)
                case ModelFailed(folder=folder, error=error) if Path(folder) == Path(asked.draft.folder):
                    # Without a main model it was another one's, which failed: this one's may be on its way.
                    self._failed(asked, LoadAborted(folder) if isinstance(error, NoModelLoaded) else error)
        self._look()

    def _came(self, asked: ServedModel, *, is_whole: bool) -> None:
        """`is_whole`: with the draft that it has to have."""
        if is_whole:
            self._forget_retry()
        self._asked = None if is_whole else asked
        self._brought = None if asked.chosen else asked
        self._keep_s = self._options.ttl_s


def _fails_with(model: ServedModel, failed: ServedModel) -> bool:
    """One whose draft was named may have failed for that alone."""
    alike = not failed.exact or (model.exact and same(model.draft, failed.draft))
    return alike and same(model.main, failed.main)
