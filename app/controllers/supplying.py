"""Gives a model's files to a machine that lacks it, while a plan asks that machine for help with it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.view_models.machines import AskingState, PlanView
from engine import Helping, HubSource, MachineRefusal, MachineUnavailable, ModelSupply

_CLOSE_S = 1.0


class Supplying(QObject):
    changed = Signal()  # `is_used`

    def __init__(self, post: Callable[[Callable[[], None]], None], parent: QObject | None = None) -> None:
        """`post` has a call made on the GUI thread."""
        super().__init__(parent)
        self.is_used = False  # files are read now: this machine should stay awake
        self._post = post
        self._supply: ModelSupply | None = None
        self._about = "", ""  # folder, and fingerprint of the machine

    def follow(self, plan: PlanView, helping: Helping | None, source: HubSource) -> None:
        """It begins when the machine says that it lacks the model, and ends with the plan, or once it has it."""
        about = plan.folder, plan.fingerprint
        if about != self._about or plan.state is AskingState.DONE:
            self.end()
        lacks = isinstance(plan.error, MachineUnavailable) and plan.error.why is MachineRefusal.NO_MODEL
        begins = self._supply is None or self._supply.is_over
        if lacks and begins and plan.state is AskingState.REFUSED and helping is not None and source.revision:
            self._about, self._supply = about, ModelSupply(helping, plan.folder, source, self._hear)
            self._supply.start()

    def _hear(self, used: bool) -> None:
        """On the supply's thread."""
        self._post(lambda: self._on_use(used))

    def _on_use(self, used: bool) -> None:
        self.is_used = used
        self.changed.emit()

    def end(self) -> None:
        if self._supply is not None:
            self._supply.end()
            self._supply = None

    def close(self) -> None:
        """At the end of the app."""
        if self._supply is not None:
            self._supply.end(_CLOSE_S)
