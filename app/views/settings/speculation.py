"""Settings → Speculation: how far to guess ahead, and what each request gained by it."""

from __future__ import annotations

from PySide6.QtCore import Qt

from app.controllers.models import ModelController
from app.controllers.speculation import SpeculationParts
from app.settings import Settings
from app.theme import Theme
from app.view_models.request_table import RequestTableModel
from app.views.settings.request_table import RequestTable
from app.views.settings.speculation_controls import SpeculationControls
from app.views.settings.totals import TotalsCard
from app.views.settings.tune import TuneCard
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Card, Page, Row
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.meanings import Meanings
from app.views.widgets.translated import Translated
from app.words.requests import show_more


class SpeculationPage(Translated, Page):
    def __init__(
        self,
        theme: Theme,
        settings: Settings,
        models: ModelController,
        requests: RequestTableModel,
        parts: SpeculationParts,
    ) -> None:
        super().__init__(theme)
        self.tune = TuneCard(theme, parts.tuning)
        self.totals = TotalsCard(theme, parts.statistics)
        self.meanings = Meanings(theme)
        self.race_button = PillButton(theme, Emphasis.PLAIN, "zap")
        self.on_button = PillButton(theme)
        self.off_row = Row(theme, self.on_button)
        self._models = models
        self._settings = settings
        self._requests = requests
        self.controls = SpeculationControls(theme)
        self.table = RequestTable(theme, requests)
        self.more_button = PillButton(theme, Emphasis.QUIET)
        self._statistics = parts.statistics
        self._promise = TextLabel(theme, TextStyle.FINE)
        self._nothing = TextLabel(theme, TextStyle.SECONDARY)
        self._nothing.setIndent(8)  # as the table's first column
        self._arrange()
        self.controls.chosen.connect(models.choose_speculation)
        settings.changed.connect(lambda _name: self._show())
        models.pair_changed.connect(self._show)
        self.on_button.clicked.connect(lambda: parts.switch.set_off(False))
        self.race_button.clicked.connect(parts.race_wanted)
        self.table.opened.connect(parts.opened)
        self.more_button.clicked.connect(parts.statistics.show_more)
        parts.statistics.older_changed.connect(self._show_older)
        requests.modelReset.connect(self._show_table)
        requests.rowsInserted.connect(self._show_table)
        self._show()
        self._show_table()
        self._retranslate()

    def _arrange(self) -> None:
        card = Card(self.theme)
        card.add(self.controls)
        card.column.addWidget(self.off_row)
        self.column.addWidget(card)
        self.column.addWidget(self.tune)
        self.column.addWidget(self.race_button, 0, Qt.AlignmentFlag.AlignLeft)
        self._heading = self.add_heading()
        self.column.addWidget(self._promise)
        listed = Card(self.theme)
        listed.column.setContentsMargins(8, 8, 8, 8)
        listed.column.addWidget(self._nothing)
        listed.column.addWidget(self.table)
        listed.column.addWidget(self.more_button, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(listed)
        self._totals_heading = self.add_heading()
        self.column.addWidget(self.totals)
        self.column.addWidget(self.meanings)
        self.end()

    def _show(self) -> None:
        pair = self._models.pair
        self.controls.set_values(str(pair.speculation.mode), self._settings.speculation_tokens)
        self.off_row.setVisible(pair.off_for_pair)

    def _show_table(self) -> None:
        some = self._requests.rowCount() > 0
        self.table.setVisible(some)
        self._nothing.setVisible(not some)

    def _show_older(self) -> None:
        self.more_button.setVisible(self._statistics.older > 0)
        self.more_button.setText(show_more(self._statistics.older))

    def _retranslate(self) -> None:
        self._show_older()
        self._heading.setText(self.tr("Requests"))
        self._totals_heading.setText(self.tr("Totals"))
        self.race_button.setText(self.tr("Race the latest reply…"))
        self.on_button.setText(self.tr("Turn on"))
        self.off_row.set_words(self.tr("Off for this pair"), self.tr("You turned it off: drafting was slower."))
        self._promise.setText(self.tr("Every word is the main model's own; only the speed differs."))
        self._nothing.setText(self.tr("Replies appear here as they are written."))
        self.table.setAccessibleName(self.tr("Requests"))
