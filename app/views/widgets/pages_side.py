"""A search and a list of pages at the left of a window; in a narrow one above the page, where a menu has the pages."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.theme import Theme
from app.views.widgets.buttons import ChoiceButton
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.page_list import PageList
from app.views.widgets.search_field import SearchField
from app.views.widgets.tab_order import in_reading_order

SIDE_PX = 10
_ANY_PX = 16_777_215


class PagesSide(QWidget):
    def __init__(self, theme: Theme, window: QWidget, page: QWidget) -> None:
        super().__init__(window)
        self._theme = theme
        self._page = page
        self.index = ChoiceButton(theme)
        self.search = SearchField(theme)
        self.nothing = TextLabel(theme, TextStyle.SECONDARY)
        self.list = PageList(theme)
        head = QHBoxLayout()
        head.addWidget(self.index)
        head.addWidget(self.search, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(SIDE_PX, 14, SIDE_PX, 10)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.nothing)
        column.addWidget(self.list, 1)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, window)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)
        self._row.addWidget(self)
        self._row.addWidget(page, 1)
        self.search.left.connect(self._leave_search)
        self.search.down_pressed.connect(self._go_down)

    def fold(self, *, narrow: bool, list_px: int, finds: bool) -> None:
        """`finds`: the list has what was found, which has no other place."""
        direction = QBoxLayout.Direction
        self._row.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)
        self.setMinimumWidth(0 if narrow else list_px)
        self.setMaximumWidth(_ANY_PX if narrow else list_px)
        policy = QSizePolicy.Policy
        self.setSizePolicy(policy.Preferred, policy.Maximum if narrow else policy.Preferred)
        self.index.setVisible(narrow)
        self.list.setVisible(finds or not narrow)
        least = min(self.list.content_height(), self.window().height() // 3)
        self.list.setMaximumHeight(least if narrow else _ANY_PX)

    def _leave_search(self) -> None:
        """Escape empties the field; in an empty one it closes the window, as everywhere in it."""
        if self.search.text():
            self.search.clear()
        else:
            self.window().close()

    def _go_down(self) -> None:
        """A hidden list would take the focus later, when it comes for what is typed."""
        if self.list.isHidden():
            takes_it = self._page.focusPolicy() & Qt.FocusPolicy.TabFocus
            for each in [self._page] if takes_it else in_reading_order(self._page)[:1]:
                each.setFocus(Qt.FocusReason.TabFocusReason)
            return
        self.list.setFocus(Qt.FocusReason.TabFocusReason)
        if self.list.currentRow() < 0:
            self.list.setCurrentRow(0)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.palette.sidebar)
        painter.end()
