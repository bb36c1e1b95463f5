"""Activity: every request with its figures, and totals over all of them; two tabs of a window of its own."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.controllers.speculation import SpeculationParts
from app.theme import Theme
from app.view_models.request_table import RequestTableModel
from app.views.activity.request_table import RequestTable
from app.views.activity.totals import TotalsCard
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Page
from app.views.widgets.fields import Segments
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.meanings import Meanings
from app.views.widgets.side_window import SideWindow
from app.views.widgets.translated import Translated
from app.words.requests import show_more

REQUESTS, TOTALS = "requests", "totals"
_SIDE_PX = 20
_LEAST_PX = (560, 360)


class ActivityWindow(Translated, SideWindow):
    def __init__(self, theme: Theme, requests: RequestTableModel, parts: SpeculationParts) -> None:
        super().__init__(theme)
        self._requests, self._statistics = requests, parts.statistics
        self.tabs = Segments(theme)
        self.table = RequestTable(theme, requests)
        self.more_button = PillButton(theme, Emphasis.QUIET)
        self.totals = TotalsCard(theme, parts.statistics)
        self.meanings = Meanings(theme)
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
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.more_button)
        column = QVBoxLayout(page)
        column.setContentsMargins(_SIDE_PX, 4, _SIDE_PX, 12)
        column.setSpacing(8)
        column.addWidget(self._nothing, 1, Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self.table, 1)
        column.addLayout(foot)
        return page

    def _totals_page(self) -> Page:
        page = Page(self._theme)
        page.side_px = _SIDE_PX
        page.title.hide()  # the tab says it
        page.column.setContentsMargins(_SIDE_PX, 4, _SIDE_PX, 20)
        page.column.addWidget(self.totals)
        page.column.addWidget(self.meanings)
        page.end()
        return page

    def _arrange(self) -> None:
        self.setMinimumSize(*_LEAST_PX)
        self.resize(960, 600)
        for page in self._pages.values():
            self._stack.addWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 14, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.tabs, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self._stack, 1)

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
