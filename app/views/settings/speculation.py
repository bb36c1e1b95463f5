"""The first cards of Settings → Advanced: how far to guess ahead, and measuring what is fastest here."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.controllers.models import ModelController
from app.controllers.speculation import SpeculationParts
from app.settings import Settings
from app.system.energy import knows_battery
from app.system.machine import has_gpu
from app.theme import Theme
from app.views.settings.options import Kept
from app.views.settings.speculation_controls import SpeculationControls
from app.views.settings.tune import TuneCard
from app.views.widgets.buttons import PillButton
from app.views.widgets.cards import CARDS_APART_PX, Card, Row
from app.views.widgets.fields import Switch
from app.views.widgets.translated import Translated


class SpeculationCards(Translated, QWidget):
    def __init__(self, theme: Theme, settings: Settings, models: ModelController, parts: SpeculationParts) -> None:
        super().__init__()
        self._settings, self._models = settings, models
        self.controls = SpeculationControls(theme, offers_fixed=True)
        self.controls.explanation.hide()  # the row has it
        self.row = Row(theme, self.controls)
        self.on_button = PillButton(theme)
        self.off_row = Row(theme, self.on_button)
        self.battery = Switch(theme)
        self.battery_row = Row(theme, self.battery)
        self.light = Switch(theme)
        self.light_row = Row(theme, self.light)
        self.tune = TuneCard(theme, parts.tuning)
        card = Card(theme)
        card.add(self.row)
        card.column.addWidget(self.off_row)
        for row, is_there in ((self.battery_row, knows_battery()), (self.light_row, has_gpu())):
            if is_there:
                card.add(row)
            else:
                row.setParent(None)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(CARDS_APART_PX)
        column.addWidget(card)
        column.addWidget(self.tune)
        self.controls.chosen.connect(models.choose_speculation)
        self.controls.explained.connect(self._explain)
        settings.changed.connect(lambda _name: self._show())
        models.pair_changed.connect(self._show)
        Kept(settings, "draft_on_battery", self.battery)
        Kept(settings, "light_drafters", self.light)
        self.on_button.clicked.connect(lambda: parts.switch.set_off(False))
        self._show()
        self._retranslate()

    def _show(self) -> None:
        pair = self._models.pair
        self.controls.set_value(str(pair.speculation.mode), self._settings.speculation_tokens)
        self.off_row.setVisible(pair.off_for_pair)

    def _explain(self, words: str) -> None:
        self.row.set_words(self.tr("Guess ahead"), words)

    def _retranslate(self) -> None:
        self._explain(self.controls.explanation.text())
        self.on_button.setText(self.tr("Turn on"))
        self.battery_row.set_words(self.tr("Draft on battery"), self.tr("Off pauses drafting until power is back."))
        self.light_row.set_words(
            self.tr("Drafters at 4 bits"),
            self.tr("Faster, a third of the memory, nearly as many guesses right. Needs a restart."),
        )
        self.off_row.set_words(self.tr("Off for this pair"), self.tr("You turned it off: drafting was slower."))
