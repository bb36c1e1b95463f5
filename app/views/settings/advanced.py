"""Settings → Advanced: drafting, the hub, where everything is kept, resetting, and Qt's own style, which is hidden."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.controllers.models import ModelController
from app.controllers.speculation import SpeculationParts
from app.settings import Settings
from app.system.energy import knows_battery
from app.system.machine import can_use_openblas, has_gpu
from app.system.paths import Paths
from app.theme import Theme
from app.views.settings.hub_card import HubCard
from app.views.settings.options import Kept
from app.views.settings.speculation_controls import SpeculationControls
from app.views.settings.tune import TuneCard
from app.views.widgets.buttons import PillButton
from app.views.widgets.cards import CARDS_APART_PX, Card, Page, Row
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.fields import Switch
from app.views.widgets.translated import Translated


class SpeculationCards(Translated, QWidget):
    """How far to guess ahead, and measuring what is fastest here."""

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


class AdvancedPage(Translated, Page):
    def __init__(
        self, theme: Theme, settings: Settings, models: ModelController, speculation: SpeculationParts, paths: Paths
    ) -> None:
        super().__init__(theme)
        self._settings = settings
        self._paths = paths
        self.speculation = SpeculationCards(theme, settings, models, speculation)
        self.hub = HubCard(theme, settings, models)
        self.data_button = PillButton(theme)
        self.log_button = PillButton(theme)
        self.reset_button = PillButton(theme)
        self.openblas = Switch(theme)
        self.fusion = Switch(theme)
        self._data_row = Row(theme, self.data_button)
        self._log_row = Row(theme, self.log_button)
        self._reset_row = Row(theme, self.reset_button)
        self.openblas_row = Row(theme, self.openblas)
        self.fusion_row = Row(theme, self.fusion)
        self._arrange()
        self.data_button.clicked.connect(lambda: _show_folder(paths.data))
        self.log_button.clicked.connect(lambda: _show_folder(paths.logs))
        self.reset_button.clicked.connect(self.ask_to_reset)
        Kept(settings, "use_openblas", self.openblas)
        Kept(settings, "use_fusion", self.fusion)
        settings.changed.connect(self._show)
        self._show()
        self._retranslate()

    def _arrange(self) -> None:
        kept, speed, reset, style = (Card(self.theme) for _ in range(4))
        kept.add(self._data_row)
        kept.add(self._log_row)
        speed.add(self.openblas_row)
        if not can_use_openblas():
            speed.hide()
        reset.add(self._reset_row)
        style.add(self.fusion_row)
        # Only the search shows it: it helps where the system's style draws something wrong, and there alone.
        style.hide()
        self._speculation_heading = self.add_heading()
        self.column.addWidget(self.speculation)
        self._hub_heading = self.add_heading()
        self.column.addWidget(self.hub)
        self._rest_heading = self.add_heading()
        for card in (kept, speed, reset, style):
            self.column.addWidget(card)
        self.end()

    def _show(self) -> None:
        if self._settings.use_fusion and (card := self.fusion_row.parentWidget()) is not None:
            card.show()

    def ask_to_reset(self) -> Dialog:
        dialog = Dialog(self.theme, self, self._question, danger=True)
        dialog.accepted.connect(self._settings.reset_all)
        dialog.open()
        return dialog

    def _question(self) -> DialogText:
        return DialogText(
            self.tr("Reset all settings?"),
            self.tr("Chats, models, presets, system prompt and hub access stay."),
            "",
            self.tr("Reset"),
            self.tr("Cancel"),
        )

    def _retranslate(self) -> None:
        self._speculation_heading.setText(self.tr("Speculation"))
        self._hub_heading.setText(self.tr("Hub"))
        self._rest_heading.setText(self.tr("Hunch"))
        show = self.tr("Show in Finder") if sys.platform == "darwin" else self.tr("Show folder")
        self.data_button.setText(show)
        self.log_button.setText(show)
        self.reset_button.setText(self.tr("Reset…"))
        self._data_row.set_words(self.tr("Data folder"), str(self._paths.data))
        self._data_row.explanation.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._log_row.set_words(self.tr("Log"), self.tr("Errors, never chat text."))
        self._reset_row.set_words(self.tr("Reset all settings"))
        self.openblas_row.set_words(
            self.tr("Use OpenBLAS"),
            self.tr("Much faster, but rounding may let a draft change replies. Needs a restart."),
        )
        self.fusion_row.set_words(
            self.tr("Use Fusion style"),
            self.tr("If controls look wrong."),
        )


def _show_folder(folder: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
