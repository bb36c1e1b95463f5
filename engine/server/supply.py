"""Models on demand: which ones clients may name, whose turn it is in memory, and when a brought one goes again.

The engine has one main model. Requests for it go ahead; those for another wait in line until it has none left, and the
shelf brings theirs. All on the event loop, but for events of the engine and refusals, which are passed on to it.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path

from engine.api.errors import DraftVocabularyDiffers, EngineError, LoadAborted, NoModelLoaded, RepliesUnderWay
from engine.api.events import Event, ModelFailed, ModelReady, ModelUnloaded
from engine.api.protocols import ChatEngine
from engine.api.types import ModelInfo, ModelRole
from engine.models.compatibility import draft_problem, may_share_tokens
from engine.server.asked import identifier, names_of
from engine.server.options import ModelShelf, ServedModel, ServerOptions
from engine.server.problems import (
    Problem,
    chosen_stays,
    draft_not_loaded,
    not_loaded,
    problem_of,
    shutting_down,
    unknown_model,
)

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
        self, engine: ChatEngine, shelf: ModelShelf | None, options: ServerOptions, on_load: Callable[[], None]
    ) -> None:
        """Inside a running loop."""
        self._engine = engine
        self._shelf = shelf
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

    # What there is

    @property
    def loaded(self) -> ModelInfo | None:
        """None while another is on its way."""
        state = self._engine.state()
        return state.main if state.loading_main is None else None

    def models(self) -> list[ServedModel]:
        """All that clients may use, the loaded one first, with what is known of it once it is loaded."""
        state = self._engine.state()
        others = self._installed()
        if state.main is None:
            return [each for each in others if each.loads]
        here = next((each for each in others if _same(each.main, state.main)), ServedModel(state.main, chosen=True))
        rest = [each for each in others if each.loads and each is not here]
        return [replace(here, main=state.main, draft=state.draft), *rest]

    def find(self, name: str) -> ServedModel:
        """As `named`; "", "default" and perhaps any other: what the user chose, else the loaded one. Raises Problem."""
        models = self.models()
        if not (name in {"", "default"} or self._options.any_name):
            return self.named(name)
        if not models:
            raise problem_of(NoModelLoaded())
        chosen = next((model for model in models if model.chosen), models[0])
        return next((model for model in models if name in names_of(model.main.name)), chosen)

    def named(self, name: str) -> ServedModel:
        """Raises Problem."""
        models = self.models()
        for model in models:
            if name in names_of(model.main.name):
                return model
        if any(name in names_of(each.main.name) for each in self._installed()):
            raise not_loaded(name)
        raise unknown_model(name, [identifier(model.main.name) for model in models])

    def with_draft(self, model: ServedModel, name: str) -> ServedModel:
        """The same with the draft of that name and no other. Raises Problem."""
        drafts = [] if self._shelf is None else list(self._shelf.drafts())
        if model.draft is not None:
            drafts.insert(0, model.draft)
        draft = next((each for each in drafts if name in names_of(each.name)), None)
        if draft is None:
            raise draft_not_loaded(name)
        problem = draft_problem(model.main, draft)
        if isinstance(problem, DraftVocabularyDiffers) and may_share_tokens(model.main, draft):
            problem = None  # loading it looks closer
        if problem is not None:
            raise problem_of(problem)
        own = next((each.draft for each in self._installed() if _same(each.main, model.main)), model.draft)
        is_own = own is not None and _same(own, draft)
        return replace(model, draft=draft, chosen=model.chosen and is_own, exact=True)

    def drafts_of(self, model: ServedModel) -> list[str]:
        """What a client may name as its draft."""
        drafts = [] if self._shelf is None else [each for each in self._shelf.drafts() if _fits(model.main, each)]
        if model.draft is not None:
            drafts.insert(0, model.draft)
        return list(dict.fromkeys(identifier(each.name) for each in drafts))

    def _installed(self) -> Sequence[ServedModel]:
        return () if self._shelf is None else self._shelf.models()

    def is_loaded(self, model: ServedModel) -> bool:
        loaded = self.loaded
        return loaded is not None and _same(loaded, model.main)

    def _is_here(self, model: ServedModel) -> bool:
        """Loaded, with the draft that it has to have."""
        state = self._engine.state()
        draft = state.draft if state.loading_draft is None else None
        return self.is_loaded(model) and (not model.exact or _same_draft(model.draft, draft))

    def expires_at(self, model: ServedModel) -> float:
        """Seconds of the clock; inf: time does not unload it."""
        if self._brought is None or not _same(self._brought.main, model.main):
            return inf
        left_s = self._keep_s if self._expiry is None else self._expiry.when() - self._loop.time()
        return time.time() + left_s

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
        loaded = None if self._goes or (self._asked is not None and not refused) else self.loaded
        stays = refused or self._loop.time() < self._since + self._options.stay_s
        waiting, self._line = self._line, deque()
        for turn in (turn for turn in waiting if not turn.come.done()):
            if loaded is not None and self._is_here(turn.model) and (stays or not self._line):
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
        elif self.is_loaded(model):
            raise chosen_stays(identifier(model.main.name))

    def _expire(self) -> None:
        brought, self._brought = self._brought, None
        if brought is not None and self._shelf is not None:
            self._goes = True
            self._shelf.take_away(brought)

    def _is_brought(self, model: ServedModel) -> bool:
        return self._brought is not None and _same(self._brought.main, model.main)

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
                if asked is not None and _same(asked.main, info):
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
                case ModelReady(info=info) if _same(asked.draft, info) and self.is_loaded(asked):
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


def _same(one: ModelInfo, other: ModelInfo) -> bool:
    return Path(one.folder) == Path(other.folder)


def _same_draft(one: ModelInfo | None, other: ModelInfo | None) -> bool:
    return one is not None and other is not None and _same(one, other)


def _fits(main: ModelInfo, draft: ModelInfo) -> bool:
    return draft_problem(main, draft) is None


def _fails_with(model: ServedModel, failed: ServedModel) -> bool:
    """One whose draft was named may have failed for that alone."""
    alike = not failed.exact or (model.exact and _same_draft(model.draft, failed.draft))
    return alike and _same(model.main, failed.main)
