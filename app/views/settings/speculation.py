"""Settings → Speculation: how far to guess ahead, and what each request gained by it."""

from __future__ import annotations

from app.controllers.models import ModelController
from app.controllers.tuning import TuningController
from app.settings import Settings
from app.theme import Theme
from app.view_models.request_table import RequestTableModel
from app.views.settings.request_table import RequestTable
from app.views.settings.speculation_controls import SpeculationControls
from app.views.settings.tune import TuneCard
from app.views.widgets.cards import Card, Page
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.translated import Translated


class SpeculationPage(Translated, Page):
    def __init__(
        self,
        theme: Theme,
        settings: Settings,
        models: ModelController,
        requests: RequestTableModel,
        tuning: TuningController,
    ) -> None:
        super().__init__(theme)
        self.tune = TuneCard(theme, tuning)
        self._settings = settings
        self._requests = requests
        self.controls = SpeculationControls(theme)
        self.table = RequestTable(theme, requests)
        self._promise = TextLabel(theme, TextStyle.FINE)
        self._nothing = TextLabel(theme, TextStyle.SECONDARY)
        self._nothing.setIndent(8)  # as the table's first column
        self._arrange()
        self.controls.chosen.connect(models.set_speculation)
        settings.changed.connect(lambda _name: self._show())
        requests.rowsInserted.connect(self._show_table)
        self._show()
        self._show_table()
        self._retranslate()

    def _arrange(self) -> None:
        card = Card(self.theme)
        card.add(self.controls)
        self.column.addWidget(card)
        self.column.addWidget(self.tune)
        self._heading = self.add_heading()
        self.column.addWidget(self._promise)
        listed = Card(self.theme)
        listed.column.setContentsMargins(8, 8, 8, 8)
        listed.column.addWidget(self._nothing)
        listed.column.addWidget(self.table)
        self.column.addWidget(listed)
        self.end()

    def _show(self) -> None:
        self.controls.set_values(self._settings.speculation_mode, self._settings.speculation_tokens)

    def _show_table(self) -> None:
        some = self._requests.rowCount() > 0
        self.table.setVisible(some)
        self._nothing.setVisible(not some)

    def _retranslate(self) -> None:
        self._heading.setText(self.tr("Requests"))
        self._promise.setText(
            self.tr("Your words are the main model's words, with or without a draft; only the speed differs.")
        )
        self._nothing.setText(self.tr("Replies appear here while they are written."))
        self.table.setAccessibleName(self.tr("Requests"))
