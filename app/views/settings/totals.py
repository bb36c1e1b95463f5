"""Settings → Speculation: totals over all requests, by pair, by language of the text, or by its content."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QPalette, QShowEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from app.controllers.statistics import Grouping, Statistics, Total
from app.theme import FOOTER_PX, UI_PX, Theme
from app.view_models.transcript import RequestStats
from app.views.settings.speed_color import speed_color
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Card
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.fields import Segments
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.sparkline import paint_positions
from app.views.widgets.translated import Translated
from app.words.requests import grouping_name, total_cells, total_columns

_MOST_ROWS = 12
_POSITIONS = 4  # number of the column with bars
_SPEED_UP = 5  # of the first one that is in the colour of a gain or loss
_BARS_PX = 52, 22


class TotalsCard(Translated, Card):
    def __init__(self, theme: Theme, statistics: Statistics) -> None:
        super().__init__(theme)
        self._statistics = statistics
        self.groups = Segments(theme)
        self.groups.set_value(Grouping.PAIR)
        self.nothing = TextLabel(theme, TextStyle.SECONDARY)
        self.clear_button = PillButton(theme, Emphasis.QUIET, "trash-2")
        self._grid_widget = QWidget()
        self._grid = QGridLayout(self._grid_widget)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(0, 1)
        for widget in (self.groups, self.nothing, self._grid_widget, self.clear_button):
            aside = widget in (self.groups, self.clear_button)
            self.column.addWidget(widget, 0, Qt.AlignmentFlag.AlignLeft if aside else _NO_SIDE)
        self.groups.chosen.connect(lambda _group: self._show())
        self.clear_button.clicked.connect(self._ask_to_clear)
        statistics.totals_changed.connect(self._show)
        theme.changed.connect(self._show)
        self._retranslate()

    @property
    def totals(self) -> list[Total]:
        return self._statistics.totals.get(Grouping(str(self.groups.value)), [])

    def _show(self) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.nothing.setVisible(not self.totals)
        self._grid_widget.setVisible(bool(self.totals))
        self.clear_button.setVisible(bool(self.totals))
        if self.totals:
            self._add_row(0, total_columns(), TextStyle.FINE)
        for number, total in enumerate(self.totals[:_MOST_ROWS], start=1):
            self._add_row(number, total_cells(Grouping(str(self.groups.value)), total), TextStyle.BODY, total)

    def _add_row(self, number: int, words: list[str], style: TextStyle, total: Total | None = None) -> None:
        for column, text in enumerate(words):
            if column == _POSITIONS and total is not None:
                self._grid.addWidget(_PositionBars(self.theme, total.drafted, text), number, column)
                continue
            label = TextLabel(self.theme, style)
            label.setText(text)
            label.setWordWrap(column == 0 or total is None)
            label.setFont(self.theme.ui_font(_px(style), tabular=True))
            side = Qt.AlignmentFlag.AlignLeft if column == 0 else Qt.AlignmentFlag.AlignRight
            label.setAlignment(side | Qt.AlignmentFlag.AlignVCenter)
            if total is not None and column >= _SPEED_UP:
                palette = label.palette()
                palette.setColor(QPalette.ColorRole.WindowText, speed_color(total.judged, self.theme.palette))
                label.setPalette(palette)
            self._grid.addWidget(label, number, column)

    def _ask_to_clear(self) -> None:
        def text() -> DialogText:
            stays = self.tr("Chats stay as they are, with the figures under their replies.")
            return DialogText(self.tr("Clear all statistics?"), stays, "", self.tr("Clear"), self.tr("Cancel"))

        dialog = Dialog(self.theme, self, text, danger=True)
        dialog.accepted.connect(self._statistics.clear)
        dialog.open()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._statistics.watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._statistics.watch(False)

    def _retranslate(self) -> None:
        self.groups.set_choices(tuple((grouping, grouping_name(grouping)) for grouping in Grouping))
        self.groups.setAccessibleName(self.tr("Totals"))
        self.nothing.setText(self.tr("Totals appear here once replies have been written."))
        self.clear_button.setText(self.tr("Clear Statistics…"))
        self._show()


class _PositionBars(QWidget):
    def __init__(self, theme: Theme, stats: RequestStats, words: str) -> None:
        super().__init__()
        self._theme = theme
        self._stats = stats
        self.setFixedSize(theme.px(_BARS_PX[0]), theme.px(_BARS_PX[1]))
        self.setAccessibleName(words)
        self.setToolTip(words)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_positions(painter, QRectF(self.rect()), self._stats, self._theme)
        painter.end()


_NO_SIDE = Qt.AlignmentFlag(0)


def _px(style: TextStyle) -> float:
    return FOOTER_PX if style is TextStyle.FINE else UI_PX
