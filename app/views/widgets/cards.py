"""Building blocks of the settings pages: a scrolling page, cards, rows in a card."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import ceil

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app.theme import Theme
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import PillButton
from app.views.widgets.focus import focus_row, row_in_focus
from app.views.widgets.labels import TextLabel, TextStyle, say
from app.views.widgets.painting import paint_surface
from app.views.widgets.scrolling import keep_room_for_bar, set_up_scroll_area

_BESIDE = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_BESIDE_GAP_PX = 20
_BELOW_GAP_PX = 6
_LINES_APART_PX = 2
_AFTER_NAME_PX = 8  # from a name to its explanation
_WORDS_NEED_PX = 150
CARDS_APART_PX = 12


def clear(layout: QLayout, kept: Collection[QWidget] = ()) -> None:
    """Deletes the widgets that are in it, but for those that will be put in again."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None and widget not in kept:
            widget.hide()
            widget.deleteLater()


class Card(QWidget):
    """A rounded surface; what is added to it is stacked, with a hairline between rows where asked."""

    shown_by_search = False  # hidden until a search of the settings leads to it

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self._listed: Sequence[QWidget] = ()  # rows that were set as a whole
        self.column = arrange(QVBoxLayout(self), spacing=12, margins=(16, 12, 16, 12))
        theme.changed.connect(self.update)

    def add(self, *rows: QWidget) -> None:
        for row in rows:
            if self.column.count():
                self.column.addWidget(Hairline(self.theme))
            self.column.addWidget(row)

    def set_rows(self, rows: Sequence[QWidget]) -> None:
        """Replaces all widgets of the card."""
        at = row_in_focus(self._listed)
        clear(self.column)
        self._listed = rows
        self.add(*rows)
        focus_row(rows, at)

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_surface(self, self.theme.palette)


class Hairline(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setFixedHeight(1)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.palette.hairline)


class Words:
    """A name, and an explanation under it, or after it on its line."""

    def __init__(self, theme: Theme, *, beside: bool = False) -> None:
        self.name = TextLabel(theme, TextStyle.BODY)
        self.explanation = TextLabel(theme, TextStyle.FINE)
        self.column = QBoxLayout(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        spacing = _AFTER_NAME_PX if beside else _LINES_APART_PX
        arrange(self.column, self.name, (self.explanation, int(beside)), spacing=spacing)

    def set_words(self, name: str, explanation: str = "") -> None:
        self.name.setText(name)
        say(self.explanation, explanation)


class SettingRow(QWidget):
    """A setting: its name and what it does at the left, the control at the right, or below where it is narrow."""

    _keeps_height = False

    def __init__(self, theme: Theme, control: QWidget) -> None:
        super().__init__()
        self._theme = theme
        self.control = control
        self._words = Words(theme)
        self.name = self._words.name
        self.explanation = self._words.explanation
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        parts = ((self._words.column, 1), (control, 0, _BESIDE))
        arrange(self._row, *parts, spacing=_BESIDE_GAP_PX, margins=(0, 0, 0, 0))

    def keep_height(self) -> None:
        """Without an explanation as high as with one of a line, so that nothing below moves when there is one."""
        self._keeps_height = True
        self._theme.follow(self._fit_height)

    def _fit_height(self) -> None:
        lines = (QFontMetricsF(label.font()).height() for label in (self.name, self.explanation))
        words_px = sum(map(ceil, lines)) + _LINES_APART_PX
        is_below = self._row.direction() is QBoxLayout.Direction.TopToBottom
        control_px = _BELOW_GAP_PX + self.control.sizeHint().height() if is_below else 0
        self.setMinimumHeight(words_px + control_px)

    def minimumSizeHint(self) -> QSize:
        """The width that the narrow layout needs, where the control is below its name."""
        words_px = max(self.name.minimumSizeHint().width(), self.explanation.minimumSizeHint().width())
        return QSize(max(words_px, self.control.minimumSizeHint().width()), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_control()

    def _place_control(self) -> None:
        control_px = max(self.control.sizeHint().width(), self.control.minimumWidth())
        beside = self.width() >= control_px + _BESIDE_GAP_PX + self._words_need_px()
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        self._row.setSpacing(_BESIDE_GAP_PX if beside else _BELOW_GAP_PX)
        self._row.setAlignment(self.control, _BESIDE if beside else self._below())
        if self._keeps_height:
            self._fit_height()

    def _words_need_px(self) -> int:
        """Beside the control; a short name needs less than a sentence."""
        lines = (QFontMetricsF(label.font()).horizontalAdvance(label.text()) for label in (self.name, self.explanation))
        return min(self._theme.px(_WORDS_NEED_PX), ceil(max(lines)))

    def _below(self) -> Qt.AlignmentFlag:
        """A field to type in has the whole width there."""
        grows = self.control.sizePolicy().horizontalPolicy() == QSizePolicy.Policy.Expanding
        return Qt.AlignmentFlag(0) if grows else Qt.AlignmentFlag.AlignLeft

    def set_words(self, name: str, explanation: str = "") -> None:
        self._words.set_words(name, explanation)
        self._place_control()
        if isinstance(self.control, PillButton):
            self.control.name_after(name)
        else:
            self.control.setAccessibleName(name)
        self.control.setAccessibleDescription(explanation)


class Page(QScrollArea):
    """A titled column of cards that scrolls as a whole; no wider than `most_px`, where that is set."""

    most_px = 0  # at 100 %; 0: as wide as it is given
    side_px = 28  # at the least

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.title = TextLabel(theme, TextStyle.TITLE)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        content = QWidget()
        margins = (self.side_px, 24, self.side_px, 28)
        self.column = arrange(QVBoxLayout(content), self.title, spacing=CARDS_APART_PX, margins=margins)
        set_up_scroll_area(self, theme, content)
        keep_room_for_bar(self)
        theme.changed.connect(self._fit_sides)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_sides()

    def _fit_sides(self) -> None:
        over = (self.viewport().width() - self.theme.px(self.most_px)) // 2 if self.most_px else 0
        margins = self.column.contentsMargins()
        side = max(self.side_px, over)
        if margins.left() != side:
            self.column.setContentsMargins(side, margins.top(), side, margins.bottom())

    def add_heading(self) -> TextLabel:
        heading = TextLabel(self.theme, TextStyle.HEADING)
        self.column.addSpacing(8)
        self.column.addWidget(heading)
        return heading

    def end(self) -> None:
        self.column.addStretch(1)
