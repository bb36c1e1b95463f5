"""Activity: a window with two tabs, requests with their figures, and totals."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QRectF, Qt
from PySide6.QtGui import QAccessible, QHideEvent, QPainter, QPaintEvent, QPalette, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.controllers.speculation import SpeculationParts
from app.controllers.statistics import Grouping, Statistics, Total
from app.theme import Theme
from app.view_models.request_table import RequestTableModel
from app.view_models.transcript import RequestStats
from app.views.activity.request_table import RequestTable, speed_color
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Hairline, Page
from app.views.widgets.dialog import DialogText, ask
from app.views.widgets.fields import Segments
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.meanings import Meanings
from app.views.widgets.side_window import SideWindow
from app.views.widgets.sparkline import paint_positions
from app.views.widgets.tooltips import set_tooltip
from app.views.widgets.translated import Translated
from app.words.formats import count, fill
from app.words.requests import group_name, show_more, total_cells, total_columns

REQUESTS = "requests"
TOTALS = "totals"
_SIDE_PX = 20
_LEAST_PX = (560, 360)
_LEAST_SCALED_PX = 360  # that five figures need in a row
_MOST_TOTALS = 12
_POSITIONS = 2  # number of the total that is bars
_SPEED_UP = 3  # index of the figure that is coloured as a gain or loss
_BARS_PX = 52, 18
_BETWEEN_PX = 28
_ROWS_APART_PX = 10
_WIDE_PX = 700  # from here on figures are beside the names


class ActivityWindow(Translated, SideWindow):
    def __init__(self, theme: Theme, requests: RequestTableModel, parts: SpeculationParts) -> None:
        super().__init__(theme)
        self._requests = requests
        self._statistics = parts.statistics
        self.tabs = Segments(theme)
        self.table = RequestTable(theme, requests)
        self.more_button = PillButton(theme, Emphasis.QUIET)
        self.totals = Totals(theme, parts.statistics)
        self._nothing = TextLabel(theme, TextStyle.SECONDARY)
        self._stack = QStackedWidget()
        self._pages = {REQUESTS: self._requests_page(), TOTALS: self._totals_page()}
        self._arrange()
        self.tabs.chosen.connect(lambda tab: self.show_tab(str(tab)))
        self.table.opened.connect(parts.opened)
        self.more_button.clicked.connect(parts.statistics.show_more)
        parts.statistics.older_changed.connect(self._show_older)
        for signal in (requests.modelReset, requests.rowsInserted, requests.rowsRemoved):
            signal.connect(self._show_table)
        self._show_table()
        self.show_tab(REQUESTS)
        self._retranslate()

    def _requests_page(self) -> QWidget:
        page = QWidget()
        foot = arrange(QHBoxLayout(), 1, self.more_button)
        parts = (self._nothing, 1, Qt.AlignmentFlag.AlignCenter), (self.table, 1), foot
        arrange(QVBoxLayout(page), *parts, spacing=8, margins=(_SIDE_PX, 4, _SIDE_PX, 12))
        return page

    def _totals_page(self) -> Page:
        page = Page(self._theme)
        page.side_px = _SIDE_PX
        page.title.hide()  # the tab says it
        page.column.setContentsMargins(_SIDE_PX, 4, _SIDE_PX, 20)
        page.column.addWidget(self.totals)
        page.end()
        return page

    def _arrange(self) -> None:
        self._theme.follow(self._restyle)
        self.begin_with(960, 600)
        for page in self._pages.values():
            self._stack.addWidget(page)
        parts = (self.tabs, 0, Qt.AlignmentFlag.AlignHCenter), (self._stack, 1)
        arrange(QVBoxLayout(self), *parts, spacing=8, margins=(0, 14, 0, 0))

    def _restyle(self) -> None:
        self.setMinimumSize(max(_LEAST_PX[0], self._theme.px(_LEAST_SCALED_PX)), _LEAST_PX[1])

    def show_tab(self, tab: str) -> None:
        self.tabs.set_value(tab)
        self._stack.setCurrentWidget(self._pages[tab])

    def _show_table(self) -> None:
        some = self._requests.rowCount() > 0
        self.table.setVisible(some)
        self._nothing.setVisible(not some)

    def _show_older(self) -> None:
        self.more_button.setVisible(self._statistics.older > 0)
        self.more_button.setText(show_more(self._statistics.older))

    def _retranslate(self) -> None:
        self.setWindowTitle(self.tr("Activity"))
        self.tabs.setAccessibleName(self.tr("Activity"))
        self.tabs.set_choices([(REQUESTS, self.tr("Requests")), (TOTALS, self.tr("Totals"))])
        self.table.setAccessibleName(self.tr("Requests"))
        self._show_older()
        self._nothing.setText(self.tr("Replies appear here as they are written."))


class Totals(Translated, QWidget):
    """A row for each pair, language or kind of text; its figures in columns, or below its name where it is narrow."""

    def __init__(self, theme: Theme, statistics: Statistics) -> None:
        super().__init__()
        self._theme = theme
        self._statistics = statistics
        self._is_wide = True
        self.groups = Segments(theme)
        self.groups.set_value(Grouping.PAIR)
        self.nothing = TextLabel(theme, TextStyle.SECONDARY)
        self.meanings = Meanings(theme)
        self.clear_button = PillButton(theme, Emphasis.PLAIN, "trash-2")
        self._list = QWidget()
        foot = arrange(QHBoxLayout(), (self.meanings, 1), (self.clear_button, 0, Qt.AlignmentFlag.AlignTop))
        self._column = arrange(
            QVBoxLayout(self),
            (self.groups, 0, Qt.AlignmentFlag.AlignLeft),
            self.nothing,
            self._list,
            foot,
            spacing=16,
            margins=(0, 0, 0, 0),
        )
        self.groups.chosen.connect(lambda _group: self._show())
        self.clear_button.clicked.connect(self._ask_to_clear)
        statistics.totals_changed.connect(self._show)
        theme.changed.connect(self._show)
        self._retranslate()

    @property
    def totals(self) -> list[Total]:
        return self._statistics.totals.get(Grouping(str(self.groups.value)), [])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._has_room() != self._is_wide:
            self._show()

    def _has_room(self) -> bool:
        return self.width() >= self._theme.px(_WIDE_PX)

    def _show(self) -> None:
        self._is_wide = self._has_room()
        rows = self._rows(self.totals)
        self._column.replaceWidget(self._list, rows)
        self._list.hide()
        self._list.deleteLater()
        self._list = rows
        self.nothing.setVisible(not self.totals)
        rows.setVisible(bool(self.totals))
        self.clear_button.setVisible(bool(self.totals))

    def _rows(self, totals: list[Total]) -> QWidget:
        rows = QWidget()
        grid = QGridLayout(rows)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(self._theme.px(_BETWEEN_PX))
        grid.setVerticalSpacing(self._theme.px(_ROWS_APART_PX))
        captions = total_columns()
        first = 1 if self._is_wide else 0
        grid.setColumnStretch(0, first)
        self._place(grid, [TextLabel(self._theme, TextStyle.FINE, text=each) for each in captions], first)
        for total in totals[:_MOST_TOTALS]:
            grid.addWidget(Hairline(self._theme), grid.rowCount(), 0, 1, first + len(captions))
            below = grid.rowCount()
            name = self._name(total)
            if self._is_wide:
                grid.addWidget(name, below, 0)
                self._place(grid, self._figures(total), first, below)
            else:
                grid.addWidget(name, below, 0, 1, len(captions))
                self._place(grid, self._figures(total), first)
        if (left := len(totals) - _MOST_TOTALS) > 0:
            more = fill(QCoreApplication.translate("Files", "And %1 more."), count(left))
            grid.addWidget(TextLabel(self._theme, TextStyle.FINE, text=more), grid.rowCount(), 0, 1, -1)
        return rows

    def _place(self, grid: QGridLayout, figures: Sequence[QWidget], first: int, row: int | None = None) -> None:
        """Side by side from that column on, in a new row unless one is given."""
        row = grid.rowCount() if row is None else row
        side = Qt.AlignmentFlag.AlignRight if self._is_wide else Qt.AlignmentFlag.AlignLeft
        for column, figure in enumerate(figures, start=first):
            if isinstance(figure, TextLabel):
                figure.setAlignment(side | Qt.AlignmentFlag.AlignVCenter)
                grid.addWidget(figure, row, column)
            else:
                grid.addWidget(figure, row, column, side | Qt.AlignmentFlag.AlignVCenter)

    def _name(self, total: Total) -> QWidget:
        requests = total.requests
        words = group_name(Grouping(str(self.groups.value)), total.key)
        block = QWidget()
        name = TextLabel(self._theme, TextStyle.HEADING, text=words)
        replies = TextLabel(self._theme, TextStyle.FINE, text=self.tr("%Ln reply(s)", "", requests))
        arrange(QVBoxLayout(block), name, replies, spacing=2, margins=(0, 0, 0, 0))
        return block

    def _figures(self, total: Total) -> list[QWidget]:
        figures: list[QWidget] = []
        for number, text in enumerate(total_cells(total)):
            if number == _POSITIONS:
                figures.append(_PositionBars(self._theme, total.drafted, text))
                continue
            label = TextLabel(self._theme, text=text)
            if number >= _SPEED_UP:
                palette = label.palette()
                palette.setColor(QPalette.ColorRole.WindowText, speed_color(total.judged, self._theme.palette))
                label.setPalette(palette)
            figures.append(label)
        return figures

    def _ask_to_clear(self) -> None:
        def text() -> DialogText:
            stays = self.tr("Chats and their figures stay.")
            return DialogText(self.tr("Clear all statistics?"), stays, "", self.tr("Clear"), self.tr("Cancel"))

        ask(self._theme, self, text, self._statistics.clear)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._statistics.watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._statistics.watch(False)

    def _retranslate(self) -> None:
        self.groups.set_choices(
            (
                (Grouping.PAIR, self.tr("By pair")),
                (Grouping.LANGUAGE, self.tr("By language")),
                (Grouping.CONTENT, self.tr("By content")),
            )
        )
        self.groups.setAccessibleName(self.tr("Totals"))
        self.nothing.setText(self.tr("Totals appear after the first reply."))
        self.clear_button.setText(self.tr("Clear statistics…"))
        self._show()


class _PositionBars(QWidget):
    accessible_role = QAccessible.Role.StaticText

    def __init__(self, theme: Theme, stats: RequestStats, words: str) -> None:
        super().__init__()
        self._theme = theme
        self._stats = stats
        self.setFixedSize(theme.px(_BARS_PX[0]), theme.px(_BARS_PX[1]))
        self.setAccessibleName(words)
        set_tooltip(self, words)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            paint_positions(painter, QRectF(self.rect()), self._stats, self._theme)
