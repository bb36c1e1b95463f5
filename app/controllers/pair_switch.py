"""Turning drafting off for one pair: from the next round on, until it is turned on again; remembered with the pair."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.controllers.models import ModelController
from engine import SpeculationMode


class PairSwitch(QObject):
    changed = Signal()

    def __init__(self, models: ModelController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._models = models
        models.speculation_chosen.connect(self._on_chosen)

    @property
    def is_off(self) -> bool:
        """For the pair that is loaded."""
        return self._models.pair.off_for_pair

    def set_off(self, off: bool) -> None:
        pair = self._models.pair
        if pair.draft_folder and off != self.is_off:
            self._models.records.put_off(pair.main_folder, pair.draft_folder, off)
            self._models.pair_changed.emit()
            self.changed.emit()

    def _on_chosen(self, mode: str) -> None:
        """A user who chooses a way to draft wants to draft."""
        if mode != SpeculationMode.OFF:
            self.set_off(False)
