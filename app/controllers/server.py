"""The server for other programs: on or off as the settings say, and how programs reach it.

A server is made for what the settings say when it begins; where they say something else, it ends and another begins.
"""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import cast

from PySide6.QtCore import QLocale, QObject, Signal

from app.bridge import EngineBridge
from app.controllers.models import ModelController
from app.controllers.program_models import ProgramModels
from app.controllers.program_requests import ProgramRequests, WatchedEngine
from app.documents.sent_pictures import Decoder
from app.settings import Settings
from app.system.machine import network_address
from app.view_models.installed_list import is_too_large
from app.view_models.request_table import RequestTableModel
from app.words.clients import AGENT_TOKENS, Reached
from engine import ChatEngine, Server, ServerOptions, ServerPhase, ServerState

END_S = 6.0  # for a server whose clients are still there
LAST_PORT = 65535
_KEY_BYTES = 24
_EVERYWHERE = "0.0.0.0"  # only when the user has said so, and with a key
_OVER = (ServerPhase.OFF, ServerPhase.FAILED)
_FAMILY_WITH_TOOLS = "Qwen"  # every one in the catalog calls tools and has a context that is long enough


class ServerController(QObject):
    changed = Signal()  # any of the properties below
    failed = Signal()  # it could not begin: `state` says why
    asked = Signal()  # `is_asked`

    def __init__(
        self,
        engine: ChatEngine,
        bridge: EngineBridge,
        settings: Settings,
        models: ModelController,
        table: RequestTableModel,
        post: Callable[[Callable[[], None]], None],
        parent: QObject | None = None,
    ) -> None:
        """`post` has a call made on the GUI thread."""
        super().__init__(parent)
        self.state = ServerState()
        watched = WatchedEngine(engine, bridge.post)
        self._engine = cast(ChatEngine, watched)
        self.shelf = ProgramModels(engine, bridge, settings, models, post, self)
        self._settings = settings
        self._models = models
        self._post = post
        self._server: Server | None = None
        self._served: ServerOptions | None = None  # options of `_server`, or of one that failed to start
        self._closed = False
        self._requests = ProgramRequests(engine, watched.programs, bridge, table, self)
        self._requests.asked.connect(self.asked)
        settings.changed.connect(self._on_setting)
        models.pair_changed.connect(self.changed)
        models.models_changed.connect(self.changed)

    # What there is

    @property
    def is_on(self) -> bool:
        """As the user wants it; `state` says whether it is so."""
        return self._settings.server_on

    @property
    def is_asked(self) -> bool:
        """Whether a reply for a program is being written."""
        return self._requests.is_asked

    @property
    def reached(self) -> Reached:
        """How a program on this machine reaches it; without a model while none is chosen."""
        main = self._models.main_info()
        address = f"http://127.0.0.1:{self._settings.server_port}"
        key = self._settings.server_key
        if main is None:
            return Reached(address, key=key)
        return Reached(address, "-".join(main.name.split()), main.context_tokens, key, main.about.tools)

    @property
    def model_for_agents(self) -> tuple[str, bool]:
        """The name of one that coding agents can use, "" if none is known, and whether it is installed.

        Of those installed the one used last, else the best of the catalog for this machine.
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
        """How other machines reach it; "" where they do not."""
        address = network_address() if self._settings.server_in_network else ""
        return f"http://{address}:{self._settings.server_port}" if address else ""

    @property
    def port(self) -> int:
        return self._settings.server_port

    @property
    def other_port(self) -> int:
        """In place of one that is taken."""
        return self.port + 1 if self.port < LAST_PORT else self.port - 1

    # What the user does

    def set_on(self, on: bool) -> None:
        self._settings.server_on = on

    def try_another_port(self) -> None:
        self._settings.server_port = self.other_port

    def set_in_network(self, on: bool) -> None:
        """Other machines need a key: there is one from then on."""
        if on and not self._settings.server_key:
            self.make_key()
        self._settings.server_in_network = on

    def make_key(self) -> None:
        """Programs that have the former one are refused from now on."""
        self._settings.server_key = f"hunch-{secrets.token_urlsafe(_KEY_BYTES)}"

    def remove_key(self) -> None:
        """Any program of this machine may ask, and no other machine."""
        self._settings.server_in_network = False
        self._settings.server_key = ""

    # Its life

    def start(self) -> None:
        """At the start of the app; nothing where it is off."""
        self._follow()

    def close(self) -> bool:
        """At the end of the app, before the engine's; False when it takes longer."""
        self._closed = True
        return self._server is None or self._server.stop(END_S)

    def _on_setting(self, name: str) -> None:
        if name.startswith("server_"):
            self._follow()
            self.changed.emit()

    def _follow(self) -> None:
        """One step towards what the settings say; a server that has ended takes the next one."""
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
        if wanted is not None:
            self._server = Server(self._engine, wanted, self._hear, Decoder(), self.shelf)
            self._server.start()

    def _options(self) -> ServerOptions:
        settings = self._settings
        name = socket.gethostname().partition(".")[0]
        in_network = settings.server_in_network
        return ServerOptions(
            host=_EVERYWHERE if in_network else "",
            port=settings.server_port,
            key=settings.server_key or None,
            hosts=(name, f"{name}.local") if in_network and name else (),
            any_name=settings.server_any_name,
            ttl_s=60.0 * settings.server_keep_min,
            guests=True,
        )

    def _hear(self, state: ServerState) -> None:
        """On the server's thread."""
        self._post(partial(self._on_state, state))

    def _on_state(self, state: ServerState) -> None:
        if self.state.phase is not ServerPhase.STOPPING or state.phase in _OVER:
            self.state = state
        if state.phase in _OVER:
            self._server = None
            if state.phase is ServerPhase.OFF:
                self._served = None
            self._follow()
        self.changed.emit()
        if self.state.phase is ServerPhase.FAILED:
            self.failed.emit()
