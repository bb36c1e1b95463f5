"""Turning drafting off for one pair: from the next round on, until it is turned on again; remembered with the pair."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.controllers.models import ModelController
from app.controllers.replies import Replies
from app.storage.pair_records import PairRecords
from engine import Speculation, SpeculationMode


class PairSwitch(QObject):
    changed = Signal()

    def __init__(
        self, models: ModelController, replies: Replies, records: PairRecords, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._models = models
        self._records = records
        models.tell_pairs_off(lambda main, draft: records.get(main, draft).off)
        replies.adjusted = self.adjusted
        models.speculation_chosen.connect(self._on_chosen)

    @property
    def is_off(self) -> bool:
        """For the pair that is loaded."""
        return self._models.pair.off_for_pair

    def set_off(self, off: bool) -> None:
        pair = self._models.pair
        if pair.draft_folder and off != self.is_off:
            self._records.put_off(pair.main_folder, pair.draft_folder, off)
            self._models.pair_changed.emit()
            self.changed.emit()

    def adjusted(self, wanted: Speculation) -> Speculation:
        """How a reply is to be drafted that a chat wants drafted like this."""
        return replace(wanted, mode=SpeculationMode.OFF) if self.is_off else wanted

    def _on_chosen(self, mode: str) -> None:
        """Whoever chooses a way to draft wants to draft."""
        if mode != SpeculationMode.OFF:
            self.set_off(False)
