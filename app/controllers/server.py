"""The server for other programs: its settings, the models that programs ask for, and their requests.

A server has fixed options: when the settings change, it ends and another starts.
"""

from __future__ import annotations

import secrets
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from PySide6.QtCore import QLocale, QObject, QTimer, Signal

from app.bridge import EngineBridge
from app.controllers.models import ModelController
from app.controllers.replies import status_after
from app.documents.sent_pictures import Decoder
from app.settings import Settings
from app.storage import ReplyStatus
from app.system.machine import network_address
from app.system.retry_timer import RetryTimer
from app.system.worker import Deliver
from app.view_models.installed_list import is_too_large
from app.view_models.model_list import DraftState, PairState
from app.view_models.request_table import RequestRow, RequestTableModel
from app.words.clients import AGENT_TOKENS, IN_DOCKER, Reached
from app.words.model_names import ARROW
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
    ModelReady,
    ModelRole,
    ModelUnloaded,
    NoModelLoaded,
    PromptProgress,
    Queued,
    RepliesUnderWay,
    Request,
    RequestId,
    ServedModel,
    Server,
    ServerOptions,
    ServerPhase,
    ServerState,
    Sink,
    TextDelta,
    TokensScored,
    best_draft,
)

END_S = 6.0  # wait for a server with open connections
LAST_PORT = 65535
_KEY_BYTES = 24
_EVERYWHERE = "0.0.0.0"  # only if the user chose so, with a key
_OVER = (ServerPhase.OFF, ServerPhase.FAILED)
_FAMILY_WITH_TOOLS = "Qwen"  # all of them in the catalog call tools and have a long enough context
QUIET_S = 60.0  # after the user's last reply, before a program's model may replace theirs
NUMBERS_INTERVAL_MS = 100


class ProgramModels(QObject):
    """Models loaded for other programs while the user's pair rests; the user's next message restores it.

    A ModelShelf: `models`, `bring` and `take_away` are called on the server's thread.
    """

    def __init__(
        self,
        engine: ChatEngine,
        bridge: EngineBridge,
        settings: Settings,
        models: ModelController,
        post: Deliver,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.quiet_s = QUIET_S
        self._engine = engine
        self._settings = settings
        self._pair = models
        self._post = post
        self._served: tuple[ServedModel, ...] = ()
        self._drafts: tuple[ModelInfo, ...] = ()
        self._replies: set[RequestId] = set()  # the user's running replies, and laps of a race
        self._replied_at = float("-inf")
        self._comes_back = False  # the user's pair was unloaded for a program
        self._brought = ""  # folder of the model that replaced it
        models.models_changed.connect(self._collect)
        models.pair_changed.connect(self._on_pair)
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
        elif model.default and pair.main_folder not in ("", folder):  # another is chosen; the server will know it
            refuse(RepliesUnderWay(folder))
        elif not self._settings.server_keep_min:
            refuse(NoModelLoaded())
        elif self._is_needed or pair.state is PairState.LOADING or pair.draft_state is DraftState.LOADING:
            refuse(RepliesUnderWay(folder))
        else:
            is_own_main = model.exact and folder == pair.main_folder
            self._comes_back = self._pair.rest_pair(main_stays=is_own_main) or self._comes_back
            self._brought = folder
            draft = None if model.draft is None else model.draft.folder
            main = self._engine.state().main
            if model.exact and main is not None and main.folder == folder:
                self._engine.set_draft(draft, partial(self._hear, True))
            else:
                hear = partial(self._hear, False)
                helping = self._pair.helpers.of(folder)
                mode = self._pair.helpers.mode_of(folder)
                self._engine.load(folder, hear, draft=draft, helping=helping, mode=mode)

    def _is_own(self, model: ServedModel) -> bool:
        """Whether the model is the user's pair."""
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
        """Whether the user's model is, or was recently, in use."""
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
            self._pair.rest_pair()
            self._engine.unload(partial(self._hear, False))

    def _hear(self, of_draft: bool, event: Event) -> None:
        """Called on the engine's thread. `of_draft`: the draft of the user's main model was replaced."""
        if isinstance(event, ModelFailed) and (of_draft or event.role is ModelRole.MAIN):
            self._post(partial(self._on_failed, isinstance(event.error, LoadAborted | EngineClosed)))
        elif isinstance(event, ModelReady | ModelUnloaded):
            self._post(self._pair.models_changed.emit)

    def _on_failed(self, wanted: bool) -> None:
        """If nothing was loaded the user's pair may still be there; if it was unloaded, load it."""
        comes_back = self._comes_back
        self._pair.regain()
        nothing = self._engine.state().main is None and not wanted
        if comes_back and (nothing or self._pair.pair.state is PairState.READY):
            self._comes_back = False
            self._pair.wake()

    def _on_pair(self) -> None:
        if self._pair.pair.state in (PairState.LOADING, PairState.READY):
            self._comes_back = False  # the user has it, or another, and may unload it

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
        """Snapshot of the installed models for the server's thread."""
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
                draft = best_draft(info, infos) if last is None else known.get(last)  # compares all models
                served.append(ServedModel(info, draft, chosen=is_chosen, loads=loads))
        self._served = tuple(served)
        self._drafts = tuple(infos) if others else ()


class WatchedEngine:
    """The engine for the server: the app also gets its requests' events, except TokensScored."""

    def __init__(self, engine: ChatEngine, post: Sink) -> None:
        self._engine = engine
        self._post = post
        self.programs: set[RequestId] = set()  # unfinished requests of programs

    def submit(self, request: Request, sink: Sink) -> RequestId:
        def hear(event: Event) -> None:
            self.programs.add(_request_of(event))
            sink(event)
            if not isinstance(event, TokensScored):
                self._post(event)

        return self._engine.submit(request, hear)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


class ProgramRequests(QObject):
    """Requests of other programs as rows of the table, until the app ends."""

    asked = Signal()  # the first running request began, or the last ended

    def __init__(
        self,
        engine: ChatEngine,
        programs: set[RequestId],
        bridge: EngineBridge,
        table: RequestTableModel,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._programs = programs
        self._table = table
        self._rows: dict[RequestId, RequestRow] = {}
        self._timer = QTimer(self, singleShot=True, interval=NUMBERS_INTERVAL_MS)
        self._timer.timeout.connect(self._show)
        bridge.text_arrived.connect(self._on_event)
        bridge.event_arrived.connect(self._on_event)

    @property
    def is_asked(self) -> bool:
        """Whether a program's reply is running."""
        return bool(self._rows)

    def _on_event(self, event: Event) -> None:
        request = _request_of(event)
        if request not in self._programs:
            if isinstance(event, Queued | Finished | Failed):  # programs' requests pause or resume
                self._show_soon()
            return
        row = self._rows.get(request) or self._new_row(request)
        match event:
            case PromptProgress():
                row = replace(row, status=ReplyStatus.READING)
            case TextDelta(stats=stats):
                row = replace(row, status=ReplyStatus.STREAMING, stats=stats)
            case Finished(reason=reason, stats=stats):
                row = replace(row, status=status_after(reason), stats=stats)
            case Failed(stats=stats):
                row = replace(row, status=ReplyStatus.FAILED, stats=stats)
        begins = not self._rows
        self._rows[request] = row
        if begins:
            self.asked.emit()
        if isinstance(event, Finished | Failed):
            self._programs.discard(request)
            self._table.put(self._rows.pop(request))
            if not self._rows:
                self.asked.emit()
        else:
            self._show_soon()

    def _show_soon(self) -> None:
        if self._rows and not self._timer.isActive():
            self._timer.start()

    def _new_row(self, request: RequestId) -> RequestRow:
        state = self._engine.state()
        names = [model.name for model in (state.main, state.draft) if model is not None]
        return RequestRow(request, "", ARROW.join(names), of_program=True, at_s=time.time())

    def _show(self) -> None:
        pauses = bool(self._engine.state().foreground)
        for row in self._rows.values():
            self._table.put(replace(row, pauses=pauses and row.status is not ReplyStatus.QUEUED))


def _request_of(event: Event) -> RequestId:
    """The id of the event's request; 0 if it has none."""
    return RequestId(getattr(event, "request", 0))


class ServerController(QObject):
    changed = Signal()  # any of the properties below
    failed = Signal()  # it could not begin: `state` says why

    def __init__(
        self,
        engine: ChatEngine,
        bridge: EngineBridge,
        settings: Settings,
        models: ModelController,
        table: RequestTableModel,
        post: Deliver,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.state = ServerState()
        watched = WatchedEngine(engine, bridge.post)
        self._engine = cast(ChatEngine, watched)
        self.shelf = ProgramModels(engine, bridge, settings, models, post, self)
        self._settings = settings
        self._models = models
        self._post = post
        self._server: Server | None = None
        self._served: ServerOptions | None = None  # options of `_server`, or of the last failed start
        self._closed = False
        self.retry = RetryTimer(self._begin, self)
        self.requests = ProgramRequests(engine, watched.programs, bridge, table, self)
        settings.changed.connect(self._on_setting)
        models.pair_changed.connect(self.changed)
        models.models_changed.connect(self.changed)

    @property
    def is_on(self) -> bool:
        """Whether the user wants it; `state` has whether it runs."""
        return self._settings.server_on

    @property
    def has_failed(self) -> bool:
        return self.state.phase is ServerPhase.FAILED

    @property
    def reached(self) -> Reached:
        """Address, key and model for programs on this machine; no model if none is chosen."""
        main = self._models.main_info()
        address = f"http://127.0.0.1:{self._settings.server_port}"
        key = self._settings.server_key
        if main is None:
            return Reached(address, key=key)
        name = "-".join(main.name.split())
        return Reached(address, name, main.context_tokens, key, main.about.tools, main.sees)

    @property
    def model_for_agents(self) -> tuple[str, bool]:
        """A model that coding agents can use, "" if none is known, and whether it is installed.

        The most recently used installed one, else the catalog's best for this machine.
        """
        mains = [model for model in self._models.models if model.error is None and model.drafter is None]
        agents = [model for model in mains if model.about.tools and model.context_tokens >= AGENT_TOKENS]
        able = [model for model in agents if not is_too_large(model)]
        if able:
            return max(able, key=lambda model: (model.last_used, model.parameters)).name, True
        offers = self._models.library.offers(QLocale().name())
        names = [offer.main_name for offer in offers if offer.main_name.startswith(_FAMILY_WITH_TOOLS)]
        return (names[0], False) if names else ("", False)

    @property
    def network_address(self) -> str:
        """The address for other machines; "" if they cannot connect."""
        address = network_address() if self._settings.server_in_network else ""
        return f"http://{address}:{self._settings.server_port}" if address else ""

    @property
    def port(self) -> int:
        return self._settings.server_port

    @property
    def other_port(self) -> int:
        """A free port, if this one is taken."""
        return self.port + 1 if self.port < LAST_PORT else self.port - 1

    def set_on(self, on: bool) -> None:
        self._settings.server_on = on

    def try_another_port(self) -> None:
        self._settings.server_port = self.other_port

    def set_in_network(self, on: bool) -> None:
        """Let other machines connect; makes a key, which they need."""
        if on and not self._settings.server_key:
            self.make_key()
        self._settings.server_in_network = on

    def make_key(self) -> None:
        """Make a new key; programs with the former one are refused."""
        self._settings.server_key = f"hunch-{secrets.token_urlsafe(_KEY_BYTES)}"

    def remove_key(self) -> None:
        """Remove the key: any program on this machine may connect, and no other machine."""
        self._settings.server_in_network = False
        self._settings.server_key = ""

    def close(self) -> bool:
        """At the end of the app, before the engine; False if it takes too long."""
        self._closed = True
        self.retry.stop()
        return self._server is None or self._server.stop(END_S)

    def _on_setting(self, name: str) -> None:
        if name.startswith("server_"):
            self.follow()
            self.changed.emit()

    def follow(self) -> None:
        """One step towards the settings; repeated when a server has ended."""
        wanted = self._options() if self._settings.server_on else None
        if self._closed or wanted == self._served:
            return
        if self._server is not None:
            if self.state.phase is not ServerPhase.STOPPING:
                self.state = replace(self.state, phase=ServerPhase.STOPPING)
                threading.Thread(target=self._server.stop, name="server ends", daemon=True).start()
            return
        self._served = wanted
        self.state = ServerState()
        self.retry.note_success()
        self._begin()

    def _begin(self) -> None:
        """Also again: a port that was taken may be free. `state` says that it failed until it runs."""
        if self._served is not None and self._server is None:
            self._served = self._options()
            if self._served.key:  # it may be that of an earlier build
                self._settings.server_has_key = True
            self._server = Server(self._engine, self._served, self._hear, Decoder(), self.shelf)
            self._server.start()

    def _options(self) -> ServerOptions:
        settings = self._settings
        name = socket.gethostname().partition(".")[0]
        in_network = settings.server_in_network
        return ServerOptions(
            host=_EVERYWHERE if in_network else "",
            port=settings.server_port,
            key=settings.required_key,
            hosts=(IN_DOCKER, *((name, f"{name}.local") if in_network and name else ())),
            any_name=settings.server_any_name,
            ttl_s=60.0 * settings.server_keep_min,
            guests=True,
        )

    def _hear(self, state: ServerState) -> None:
        """On the server's thread."""
        self._post(partial(self._on_state, state))

    def _on_state(self, state: ServerState) -> None:
        has_failed = self.state.phase is ServerPhase.FAILED
        if has_failed and state.phase is ServerPhase.STARTING:
            return
        if self.state.phase is not ServerPhase.STOPPING or state.phase in _OVER:
            self.state = state
        if state.phase in _OVER:
            self._server = None
            if state.phase is ServerPhase.OFF:
                self._served = None
            self.follow()
        if self.state.phase is ServerPhase.RUNNING:
            self.retry.note_success()
        elif self.state.phase is ServerPhase.FAILED:
            self.retry.note_failure()
        self.changed.emit()
        if self.state.phase is ServerPhase.FAILED and not has_failed:
            self.failed.emit()
