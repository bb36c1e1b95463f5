"""Painting the rows of the chat list: headings, folders, chats, and what a search found with its words lit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.markup.folding import Span, occurrences_of_any
from app.theme import FOOTER_PX, RADIUS_ROW, UI_PX, Theme
from app.view_models.conversation_list import ROW, ConversationRow
from app.views.icons import icon
from app.views.widgets.painting import paint_row_ground

Index = QModelIndex | QPersistentModelIndex

_ROW_PX, _HEADING_PX, _FOUND_PX, _SNIPPET_PX = 32, 30, 50, 26
EDGE_PX = 12  # of a row, to the name of a chat that is in no folder
_FOLDER_PX = 34  # for the arrow and the icon of a folder
_STEP_PX = 14  # how far what is in a folder stands in
_LAST_STEP = 6  # deeper ones stand no further in, or nothing of their names would be seen


class Shown(Protocol):
    """What the list says of itself."""

    @property
    def theme(self) -> Theme: ...
    @property
    def open_chat_id(self) -> int: ...
    @property
    def has_ring(self) -> bool: ...
    @property
    def words(self) -> Sequence[str]: ...
    @property
    def dropped_on(self) -> QRect: ...


class ChatRowDelegate(QStyledItemDelegate):
    def __init__(self, chats: QWidget, shown: Shown) -> None:
        super().__init__(chats)
        self._chats = shown

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        row = row_of(index)
        height = _ROW_PX
        if row.is_heading:
            height = _HEADING_PX
        elif row.match is not None:
            height = _SNIPPET_PX if row.continues else _FOUND_PX
        return QSize(0, self._chats.theme.px(height))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        row, area = row_of(index), QRect(option.rect)
        if row.is_heading:
            self._paint_heading(painter, area, row.text)
        else:
            self._paint_row(painter, area, option.state, row)
        if area == self._chats.dropped_on:
            painter.setPen(QPen(self._chats.theme.palette.ink, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(area).adjusted(1, 1, -1, -1), RADIUS_ROW, RADIUS_ROW)
        painter.restore()

    def _paint_heading(self, painter: QPainter, area: QRect, title: str) -> None:
        theme = self._chats.theme
        painter.setFont(theme.ui_font(FOOTER_PX, QFont.Weight.DemiBold))
        painter.setPen(theme.palette.secondary)
        place = area.adjusted(theme.px(12), theme.px(6), -theme.px(8), 0)
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, title)

    def _paint_row(self, painter: QPainter, area: QRect, state: QStyle.StateFlag, row: ConversationRow) -> None:
        theme = self._chats.theme
        hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        is_open = bool(row.chat_id) and row.chat_id == self._chats.open_chat_id and not row.continues
        ring = self._chats.has_ring and bool(state & QStyle.StateFlag.State_HasFocus)
        paint_row_ground(painter, area, theme.palette, hovered or is_open, ring)
        words = area.adjusted(name_left(theme, row), 0, -theme.px(10), 0)
        if row.folder_id:
            self._paint_folder(painter, words, row)
        if hovered and not row.continues:
            words.setRight(more_place(theme, area).left())
            self._icon(painter, "more-horizontal", more_place(theme, area).center())
        else:
            words.setRight(self._paint_marks(painter, words, row))
        self._paint_words(painter, words, row)

    def _paint_folder(self, painter: QPainter, name: QRect, row: ConversationRow) -> None:
        """The arrow and the icon, left of the name."""
        theme = self._chats.theme
        arrow = QPoint(name.left() - theme.px(_FOLDER_PX - 2), name.center().y() + 1)
        self._icon(painter, "chevron-down" if row.opened else "chevron-right", arrow, 14)
        self._icon(painter, "folder", QPoint(arrow.x() + theme.px(18), arrow.y()))

    def _paint_marks(self, painter: QPainter, place: QRect, row: ConversationRow) -> int:
        """Dots for a reply that is being written (a ring) or was not seen, and the pin of a chat in a folder."""
        theme, colors = self._chats.theme, self._chats.theme.palette
        right = place.right()
        middle = place.center().y() + 1 if not row.snippet else place.top() + theme.px(16)
        if row.continues:
            return right
        if row.generating or row.unseen:
            painter.setPen(QPen(colors.draft, theme.px(2)) if row.generating else Qt.PenStyle.NoPen)
            painter.setBrush(Qt.BrushStyle.NoBrush if row.generating else colors.ink)
            painter.drawEllipse(QPoint(right - theme.px(4), middle), theme.px(4), theme.px(4))
            right -= theme.px(14)
        if row.pinned and row.inside is not None:
            self._icon(painter, "pin", QPoint(right - theme.px(6), middle), 13)
            right -= theme.px(18)
        return right

    def _icon(self, painter: QPainter, name: str, middle: QPoint, side_px: int = 16) -> None:
        side = self._chats.theme.px(side_px)
        place = QRect(0, 0, side, side)
        place.moveCenter(middle)
        icon(name, self._chats.theme.palette.secondary).paint(painter, place)

    def _paint_words(self, painter: QPainter, place: QRect, row: ConversationRow) -> None:
        theme, colors = self._chats.theme, self._chats.theme.palette
        if row.continues:
            self._paint_snippet(painter, place, row.snippet)
            return
        title = QRect(place.left(), place.top() + theme.px(5), place.width(), theme.px(22)) if row.snippet else place
        # Not by the dot alone: a title with news is bold.
        font = theme.ui_font(UI_PX, QFont.Weight.DemiBold if row.unseen else QFont.Weight.Normal)
        self._paint_line(painter, title, row.text, font, colors.text)
        if row.snippet:
            below = QRect(place.left(), title.bottom(), place.width(), theme.px(18))
            self._paint_snippet(painter, below, row.snippet)

    def _paint_snippet(self, painter: QPainter, place: QRect, snippet: str) -> None:
        theme = self._chats.theme
        self._paint_line(painter, place, snippet, theme.ui_font(FOOTER_PX), theme.palette.secondary)

    def _paint_line(self, painter: QPainter, place: QRect, text: str, font: QFont, color: QColor) -> None:
        """One line; what was searched for is lit in it, and in sight however narrow it is."""
        text = " ".join(text.split())
        metrics = QFontMetrics(font)
        spans = list(occurrences_of_any(text, self._chats.words))
        if spans:
            text = centred(text, spans[0], metrics, place.width())
            spans = list(occurrences_of_any(text, self._chats.words))
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, place.width())
        painter.setPen(color)
        layout = QTextLayout(text, font)
        layout.setFormats([self._lit(*span) for span in in_qt_units(text, spans) if span[1] <= _units(text)])
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(max(place.width(), 1) * 2)
        layout.endLayout()
        layout.draw(painter, QRectF(place).topLeft() + QPoint(0, round((place.height() - line.height()) / 2)))

    def _lit(self, first: int, last: int) -> QTextLayout.FormatRange:
        """Bold on a tint: not by colour alone."""
        colors = self._chats.theme.palette
        result = QTextLayout.FormatRange()
        result.start, result.length = first, last - first
        form = QTextCharFormat()
        form.setBackground(colors.found)
        form.setForeground(colors.text)
        form.setFontUnderline(True)
        result.format = form
        return result


def row_of(index: Index) -> ConversationRow:
    row: ConversationRow = index.data(ROW)
    return row


def name_left(theme: Theme, row: ConversationRow) -> int:
    """Where its name begins, from the row's left edge."""
    return theme.px(EDGE_PX + _STEP_PX * min(row.depth, _LAST_STEP) + (_FOLDER_PX if row.folder_id else 0))


def more_place(theme: Theme, row: QRect) -> QRect:
    """Where a row's menu button is while the pointer is over the row."""
    side = theme.px(28)
    return QRect(row.right() - side, row.top(), side, row.height())


def centred(text: str, span: Span, metrics: QFontMetrics, width_px: int) -> str:
    """As much of the text as fits, with what is found in the middle of it."""
    if metrics.horizontalAdvance(text) <= width_px:
        return text
    first, last = span
    while True:
        wider = max(0, first - 1), min(len(text), last + 1)
        piece = ("…" if wider[0] else "") + text[slice(*wider)] + ("…" if wider[1] < len(text) else "")
        if wider == (first, last) or metrics.horizontalAdvance(piece) > width_px:
            break
        first, last = wider
    return ("…" if first else "") + text[first:last].strip() + ("…" if last < len(text) else "")


def in_qt_units(text: str, spans: Iterable[Span]) -> list[Span]:
    """Qt counts UTF-16 units."""
    return [(_units(text[:first]), _units(text[:last])) for first, last in spans]


def _units(text: str) -> int:
    return len(text) + sum(char > "\uffff" for char in text)
