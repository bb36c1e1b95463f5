"""Which models other programs get, and how one of these takes the place of the user's pair for a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject

from app.bridge import EngineBridge
from app.controllers.models import ModelController
from app.settings import Settings
from app.view_models.model_list import DraftState, PairState
from engine import (
    ChatEngine,
    EngineClosed,
    EngineError,
    Event,
    Failed,
    Finished,
    LoadAborted,
    ModelFailed,
    ModelInfo,
    ModelRole,
    NoModelLoaded,
    Queued,
    RepliesUnderWay,
    RequestId,
    ServedModel,
    best_draft,
)

QUIET_S = 60.0  # after the user's last reply, until another model may take its model's place


class ProgramModels(QObject):
    """Models that other programs ask for by name, loaded while the user's pair rests: the next message brings it back.

    A ModelShelf: `models`, `bring` and `take_away` are called on the server's thread.
    """

    def __init__(
        self,
        engine: ChatEngine,
        bridge: EngineBridge,
        settings: Settings,
        models: ModelController,
        post: Callable[[Callable[[], None]], None],
        parent: QObject | None = None,
    ) -> None:
        """`post` has a call made on the GUI thread."""
        super().__init__(parent)
        self.quiet_s = QUIET_S
        self._engine = engine
        self._settings = settings
        self._pair = models
        self._post = post
        self._served: tuple[ServedModel, ...] = ()
        self._drafts: tuple[ModelInfo, ...] = ()
        self._replies: set[RequestId] = set()  # the user's that have not ended, and the laps of a race
        self._replied_at = float("-inf")
        self._comes_back = False  # the user's pair was loaded when it made way
        self._brought = ""  # the folder of the latest that was to be loaded in its place
        models.models_changed.connect(self._collect)
        settings.changed.connect(self._on_setting)
        bridge.event_arrived.connect(self._on_event)

    # On the server's thread

    def models(self) -> Sequence[ServedModel]:
        return self._served

    def drafts(self) -> Sequence[ModelInfo]:
        return self._drafts

    def bring(self, model: ServedModel, refuse: Callable[[EngineError], None]) -> None:
        self._post(partial(self._bring, model, refuse))

    def take_away(self, model: ServedModel) -> None:
        self._post(partial(self._take_away, model))

    # On the GUI thread

    def _bring(self, model: ServedModel, refuse: Callable[[EngineError], None]) -> None:
        folder = model.main.folder
        pair = self._pair.pair
        if self._is_own(model):
            self._bring_own(model, refuse)
        elif not self._settings.server_keep_min:
            refuse(NoModelLoaded())
        elif self._is_needed or pair.state is PairState.LOADING or pair.draft_state is DraftState.LOADING:
            refuse(RepliesUnderWay(folder))
        else:
            is_own_main = model.exact and folder == pair.main_folder
            self._comes_back = self._pair.make_way(main_stays=is_own_main) or self._comes_back
            self._brought = folder
            draft = None if model.draft is None else model.draft.folder
            main = self._engine.state().main
            if model.exact and main is not None and main.folder == folder:
                self._engine.set_draft(draft, partial(self._hear, True))
            else:
                self._engine.load(folder, partial(self._hear, False), draft=draft)

    def _is_own(self, model: ServedModel) -> bool:
        """Whether it is the user's pair."""
        pair = self._pair.pair
        draft = "" if model.draft is None else model.draft.folder
        return model.main.folder == pair.main_folder and (not model.exact or draft == pair.draft_folder)

    def _bring_own(self, model: ServedModel, refuse: Callable[[EngineError], None]) -> None:
        pair = self._pair.pair
        match pair.state:
            case PairState.UNLOADED:
                self._pair.wake()
            case PairState.READY if model.exact and pair.draft_state is DraftState.REFUSED:
                refuse(pair.error or NoModelLoaded())
            case PairState.READY:  # since it was asked for
                refuse(RepliesUnderWay(pair.main_folder))
            case PairState.FAILED | PairState.NO_MODEL:
                refuse(pair.error or NoModelLoaded())

    @property
    def _is_needed(self) -> bool:
        """Whether the user's model is in use, or was just now."""
        state = self._engine.state()
        recently = time.monotonic() < self._replied_at + self.quiet_s
        return bool(state.foreground or state.background or self._replies) or recently

    def _take_away(self, model: ServedModel) -> None:
        folder = model.main.folder
        pair = self._pair.pair
        if folder != self._brought or self._is_own(model) or pair.state in (PairState.LOADING, PairState.READY):
            return
        self._brought = ""
        if self._comes_back:
            self._comes_back = False
            self._pair.wake()
        else:
            self._pair.make_way()
            self._engine.unload(lambda _event: None)

    def _hear(self, of_draft: bool, event: Event) -> None:
        """On the engine's thread. `of_draft`: the user's main model got another one."""
        if isinstance(event, ModelFailed) and (of_draft or event.role is ModelRole.MAIN):
            self._post(partial(self._on_failed, isinstance(event.error, LoadAborted | EngineClosed)))

    def _on_failed(self, wanted: bool) -> None:
        """Where nothing was loaded the user's pair may still be there; where it had to make room it is loaded."""
        self._pair.regain()
        nothing = self._engine.state().main is None and not wanted
        if self._comes_back and (nothing or self._pair.pair.state is PairState.READY):
            self._comes_back = False
            self._pair.wake()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, Queued) and not event.guest:
            self._replies.add(event.request)
            self._comes_back &= event.background  # it does with a message
        elif isinstance(event, Finished | Failed) and event.request in self._replies:
            self._replies.discard(event.request)
            self._replied_at = time.monotonic()

    def _on_setting(self, name: str) -> None:
        if name in ("server_keep_min", "last_drafts"):
            self._collect()

    def _collect(self) -> None:
        """What is installed, for the server's thread: a new value, never a changed one."""
        infos = [model.info for model in self._pair.library.installed if model.info is not None]
        known = {info.folder: info for info in infos}
        chosen = self._pair.pair.main_folder
        others = bool(self._settings.server_keep_min)
        served = []
        for info in infos:
            if info.drafter is None:
                is_chosen = info.folder == chosen
                loads = is_chosen or others
                last = self._pair.last_drafts.of(info.folder) if loads else ""
                draft = best_draft(info, infos) if last is None else known.get(last)  # which looks at all of them
                served.append(ServedModel(info, draft, chosen=is_chosen, loads=loads))
        self._served = tuple(served)
        self._drafts = tuple(infos) if others else ()
