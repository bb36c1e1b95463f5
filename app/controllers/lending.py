"""Lends this machine's memory to other machines while the settings say so: the installed models, one user at a time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.controllers.models import ModelController
from app.settings import Settings
from app.system.machine import network_address
from app.view_models.downloads import UNDER_WAY, DownloadEntry
from app.view_models.model_list import PairState
from engine import DEFAULT_PORT, HubSource, LendingPhase, LendingProcess, LendingState, model_memory_bytes, set_aside

EVERYWHERE = "0.0.0.0"  # only while the user lends: a machine that is not paired may try a code, and nothing else
_log = logging.getLogger(__name__)
_ENDED = (LendingPhase.OFF, LendingPhase.FAILED)


class Lending(QObject):
    changed = Signal()  # any of the properties below
    paired = Signal()  # a machine was paired with this one, or removed

    def __init__(
        self,
        identity: Path,
        settings: Settings,
        models: ModelController,
        post: Callable[[Callable[[], None]], None],
        parent: QObject | None = None,
    ) -> None:
        """`post` has a call made on the GUI thread."""
        super().__init__(parent)
        self.state = LendingState()
        self.host, self.port = EVERYWHERE, DEFAULT_PORT
        self._identity = identity
        self._settings = settings
        self._models = models
        self._post = post
        self._process: LendingProcess | None = None
        self._offered: tuple[dict[str, HubSource], int] = {}, 0  # models by folder, and memory
        self._code_until = 0.0
        self._closed = False
        settings.changed.connect(self._on_setting)
        models.models_changed.connect(self._offer)
        for what in (models.models_changed, models.downloads.changed):
            what.connect(self._look_at_wanted)

    # What there is

    @property
    def is_on(self) -> bool:
        """As the user wants it; `state` says whether it is so."""
        return self._settings.lends_memory

    @property
    def is_ready(self) -> bool:
        return self.state.phase is LendingPhase.READY

    @property
    def address(self) -> str:
        """What is typed on another machine."""
        address = network_address() or "127.0.0.1"
        return address if self.port == DEFAULT_PORT else f"{address}:{self.port}"

    @property
    def code_left_s(self) -> float:
        """For which the state's code still holds."""
        return max(0.0, self._code_until - time.monotonic()) if self.state.code else 0.0

    @property
    def wanted(self) -> str:
        """The repository of a model that another machine would use here, unless it is here or on its way."""
        repository, revision = self.state.wanted_repository, self.state.wanted_revision
        here = {(model.repository, model.revision) for model in self._models.library.installed}
        comes = (repository, revision) in here or self._models.downloads.brings(repository, revision)
        return "" if comes else repository

    @property
    def coming(self) -> DownloadEntry | None:
        """The download of that model, while it lasts."""
        entries = (entry for entry in self._models.downloads.entries if entry.state in UNDER_WAY)
        return next((entry for entry in entries if self.state.wanted_repository in entry.repositories), None)

    # What the user does

    def set_on(self, on: bool) -> None:
        self._settings.lends_memory = on

    def invite(self) -> None:
        """A new code comes with a state."""
        if self._process is not None:
            self._process.invite()

    def take_back(self) -> None:
        """End what another machine uses now."""
        if self._process is not None:
            self._process.take_back()

    def fetch_wanted(self) -> None:
        """Download it, as if it had been chosen on this machine."""
        if repository := self.wanted:
            self._models.install(repository, self.state.wanted_revision)

    # Its life

    def follow(self) -> None:
        """One step towards what the settings say; a process that has ended takes the next one, unless it failed."""
        wanted = self.is_on and not self._closed
        if wanted and self._process is None and self.state.phase is not LendingPhase.FAILED:
            address = f"{self.host}:{self.port}"
            self._process, self._offered = LendingProcess(self._identity, address, self._hear), ({}, 0)
            self._process.start()
            self._offer()
        elif not wanted and self._process is not None:
            self._process.end()

    def close(self) -> None:
        """At the end of the app."""
        self._closed = True
        if self._process is not None and not self._process.stop():
            _log.warning("lending did not end in time")

    def _on_setting(self, name: str) -> None:
        if name == "lends_memory":
            if self.state.phase is LendingPhase.FAILED:
                self.state = LendingState()  # what failed is tried again when it is switched on again
            self.follow()
            self.changed.emit()

    def _offer(self) -> None:
        """Every model that others may run partly here, and the memory that the loaded pair leaves."""
        if self._process is None:
            return
        models, own = self._models.models, 0
        if self._models.pair.state in (PairState.LOADING, PairState.READY):
            own = sum(model.fit.needed_bytes for model in models if model.fit and (model.is_main or model.is_draft))
        offers = (model.folder for model in models if model.drafter is None)
        offered = {folder: self._models.library.source(folder) for folder in offers}, max(0, model_memory_bytes() - own)
        if offered != self._offered:
            self._offered = offered
            self._process.offer(*offered)

    def _look_at_wanted(self) -> None:
        if self.state.wanted_repository:
            self.changed.emit()

    def _hear(self, state: LendingState) -> None:
        """On a thread of the process's."""
        self._post(partial(self._on_state, state))

    def _on_state(self, state: LendingState) -> None:
        before, self.state = self.state, state
        set_aside(state.promised_bytes)
        if state.supplied != before.supplied:
            self._models.sources.set_supplied(state.supplied)
        if state.code != before.code:
            self._code_until = time.monotonic() + state.code_s
        if state.phase in _ENDED:
            self._process = None
            self.follow()
        self.changed.emit()
        if state.paired != before.paired and state.phase not in _ENDED:
            self.paired.emit()
