"""Serves a model's files to a machine that lacks it, while that machine is to use it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal

from app.system.worker import Deliver
from app.view_models.machines import AskingState, PlanView
from engine import Helping, HubSource, MachineRefusal, MachineUnavailable, ModelFileServer

_CLOSE_S = 1.0


class FileServing(QObject):
    changed = Signal()  # `is_used`

    def __init__(self, post: Deliver, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_used = False  # files are being read: this machine should stay awake
        self._post = post
        self._server: ModelFileServer | None = None
        self._about = "", ""  # folder, and fingerprint of the machine
        self._used = set[tuple[str, str]]()  # of these; one that ends may say so after the next has begun

    @property
    def share(self) -> float:
        """Of the files, that the machine has read."""
        return 0.0 if self._server is None else self._server.share

    def follow(self, plan: PlanView, helping: Helping | None, source: HubSource) -> None:
        """Start when the machine reports that it lacks the model; stop with the plan, or once it has it."""
        about = plan.folder, plan.fingerprint
        if about != self._about or plan.state is AskingState.DONE:
            self.end()
        lacks = isinstance(plan.error, MachineUnavailable) and plan.error.why is MachineRefusal.NO_MODEL
        begins = self._server is None or self._server.is_over
        if lacks and begins and plan.state is AskingState.REFUSED and helping is not None and source.revision:
            self._about = about
            self._server = ModelFileServer(helping, plan.folder, source, partial(self._hear, about))
            self._server.start()

    def _hear(self, about: tuple[str, str], used: bool) -> None:
        """On the server's thread."""
        self._post(lambda: self.on_use(used, about))

    def on_use(self, used: bool, about: tuple[str, str] = ("", "")) -> None:
        (self._used.add if used else self._used.discard)(about)
        self.is_used = bool(self._used)
        self.changed.emit()

    def end(self) -> None:
        if self._server is not None:
            self._server.end()
            self._server = None

    def close(self) -> None:
        """At the end of the app."""
        if self._server is not None:
            self._server.end(_CLOSE_S)
