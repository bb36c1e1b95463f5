"""Rows of the sidebar's list: painting them, and editing a name in its row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    QTimer,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter, QPen, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.markup.folding import TextSpan, occurrences_of_any
from app.markup.lines import units
from app.theme import FOOTER_PX, RADIUS_ROW, UI_PX, Theme
from app.view_models.conversation_list import ROW, ConversationRow
from app.views.icons import icon
from app.views.widgets.fields import LineField
from app.views.widgets.held_keys import RETURN_KEYS
from app.views.widgets.painting import paint_row_ground
from app.views.widgets.row_list import RowRing

Index = QModelIndex | QPersistentModelIndex

_ROW_PX = 32
_TINT_ALPHA = 46  # of the ground of selected rows
_HEADING_PX = 30
_FOUND_PX = 50
_SNIPPET_PX = 26
_EDGE_PX = 12  # from a row's edge to the name of a chat in no folder
_FOLDER_PX = 34  # for the arrow and the icon of a folder
_STEP_PX = 14  # indentation of a folder's contents
_LAST_STEP = 6  # deeper levels are not indented further, so that names stay readable
_FOLDER_EDGE_PX = 5  # from its edge to the words, where a folder's icon is close before them


class ListOfChats(RowRing, QListView):
    """What its rows are painted by."""

    theme: Theme
    open_chat_id: int
    dropped_on: QRect  # the row that a drop would go to

    def chosen(self) -> Sequence[int]:
        """The selected chats in the list's order, where there are several."""
        raise NotImplementedError

    @property
    def words(self) -> Sequence[str]:
        """The search query."""
        raise NotImplementedError


class RenameField(LineField):
    """Edits a title or a folder's name. Return or losing the focus accepts, Escape cancels. Closes with its row."""

    def __init__(
        self, chats: RowRing, theme: Theme, row: Callable[[], QModelIndex], text: str, done: Callable[[str], None]
    ) -> None:
        """`row` returns the row's present index; `done` gets a changed name."""
        super().__init__(theme, parent=chats.viewport())
        self._chats = chats
        self._reason = chats.reason
        self._theme = theme
        self._row = row
        self._before = text
        self._tell = done
        self._done = False
        self.setText(text)
        self.setGeometry(self._place())
        self.selectAll()
        self.show()
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.returnPressed.connect(lambda: self._finish(keep=True))
        self.editingFinished.connect(lambda: self._finish(keep=True))
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._follow)
        listed = chats.model()
        bar = chats.verticalScrollBar()
        for moved in (listed.rowsInserted, listed.rowsRemoved, listed.modelReset, bar.valueChanged, theme.changed):
            moved.connect(self._follow_soon)
        chats.viewport().installEventFilter(self)

    def _place(self) -> QRect:
        """Cover the row from its name on, so that the text does not move and the icon stays visible."""
        index = self._row()
        if not index.isValid():
            return QRect()
        row = row_of(index)
        room = self._theme.px(_FOLDER_EDGE_PX if row.folder_id else _EDGE_PX)
        self.setTextMargins(room - self._theme.px(8) - 3, 0, 0, 0)  # less what the field's style keeps free
        before = name_left(self._theme, row) - room
        return self._chats.visualRect(index).adjusted(before, 0, 0, 0)

    def _follow_soon(self) -> None:
        """Delayed to the next event loop pass, because a row moves as a removal and an insertion."""
        self._later.start()

    def _follow(self) -> None:
        place = self._place()
        if place.isValid():
            self.setGeometry(place)
        else:
            self._finish(keep=True)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize:
            self._follow_soon()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Consume the key that ends editing: Qt would pass Return on to the list, which would open the chat."""
        if event.key() == Qt.Key.Key_Escape and not self.is_composing:
            self._finish(keep=False)
        else:
            super().keyPressEvent(event)
        if event.key() in RETURN_KEYS:
            event.accept()

    def _finish(self, keep: bool) -> None:
        if self._done:
            return
        self._done = True
        self.commit()
        text = self.text().strip()
        if keep and text and text != self._before:
            self._tell(text)
        if self.hasFocus():
            self._chats.setFocus(self._reason)
        self.deleteLater()


class ChatRowDelegate(QStyledItemDelegate):
    def __init__(self, chats: ListOfChats) -> None:
        super().__init__(chats)
        self._chats = chats

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
        row = row_of(index)
        area = QRect(option.rect)
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
        if row.chat_id in self._chats.chosen():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(_tint(theme.palette.ink))
            painter.drawRoundedRect(QRectF(area).adjusted(1, 1, -1, -1), RADIUS_ROW, RADIUS_ROW)
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
        """Dots for a reply that is being written (a ring) or was not seen, the pin of a chat in a folder, and a pencil
        for unsent text.
        """
        theme = self._chats.theme
        colors = self._chats.theme.palette
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
        if row.unsent:
            self._icon(painter, "pencil", QPoint(right - theme.px(6), middle), 13)
            right -= theme.px(18)
        return right

    def _icon(self, painter: QPainter, name: str, middle: QPoint, side_px: int = 16) -> None:
        side = self._chats.theme.px(side_px)
        place = QRect(0, 0, side, side)
        place.moveCenter(middle)
        icon(name, self._chats.theme.palette.secondary).paint(painter, place)

    def _paint_words(self, painter: QPainter, place: QRect, row: ConversationRow) -> None:
        theme = self._chats.theme
        colors = self._chats.theme.palette
        if row.continues:
            self._paint_snippet(painter, place, row)
            return
        title = QRect(place.left(), place.top() + theme.px(5), place.width(), theme.px(22)) if row.snippet else place
        # Bold as well, so that the mark is not by colour alone.
        font = theme.ui_font(UI_PX, QFont.Weight.DemiBold if row.unseen else QFont.Weight.Normal)
        self._paint_line(painter, title, row.text, font, colors.text, self._chats.words)
        if row.snippet:
            below = QRect(place.left(), title.bottom(), place.width(), theme.px(18))
            self._paint_snippet(painter, below, row)

    def _paint_snippet(self, painter: QPainter, place: QRect, row: ConversationRow) -> None:
        theme = self._chats.theme
        words = () if row.is_more else self._chats.words
        self._paint_line(painter, place, row.snippet, theme.ui_font(FOOTER_PX), theme.palette.secondary, words)

    def _paint_line(
        self, painter: QPainter, place: QRect, text: str, font: QFont, color: QColor, words: Sequence[str]
    ) -> None:
        """Paint one line with these words highlighted, scrolled so that they are visible."""
        text = " ".join(text.split())
        metrics = QFontMetrics(font)
        spans = list(occurrences_of_any(text, words))
        if spans:
            text = centred(text, spans[0], metrics, place.width())
            spans = list(occurrences_of_any(text, words))
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, place.width())
        painter.setPen(color)
        layout = QTextLayout(text, font)
        in_units = ((units(text[:first]), units(text[:last])) for first, last in spans)
        layout.setFormats([self._lit(*span) for span in in_units if span[1] <= units(text)])
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(max(place.width(), 1) * 2)
        layout.endLayout()
        layout.draw(painter, QRectF(place).topLeft() + QPoint(0, round((place.height() - line.height()) / 2)))

    def _lit(self, first: int, last: int) -> QTextLayout.FormatRange:
        """Bold and tinted: not by colour alone."""
        colors = self._chats.theme.palette
        result = QTextLayout.FormatRange()
        result.start = first
        result.length = last - first
        form = QTextCharFormat()
        form.setBackground(colors.found)
        form.setForeground(colors.text)
        form.setFontUnderline(True)
        result.format = form
        return result


def _tint(color: QColor) -> QColor:
    result = QColor(color)
    result.setAlpha(_TINT_ALPHA)
    return result


def row_of(index: Index) -> ConversationRow:
    row: ConversationRow = index.data(ROW)
    return row


def name_left(theme: Theme, row: ConversationRow) -> int:
    """x of the name, from the row's left edge."""
    return theme.px(_EDGE_PX + _STEP_PX * min(row.depth, _LAST_STEP) + (_FOLDER_PX if row.folder_id else 0))


def more_place(theme: Theme, row: QRect) -> QRect:
    """Rectangle of a row's menu button, shown while the pointer is over the row."""
    side = theme.px(28)
    return QRect(row.right() - side, row.top(), side, row.height())


def centred(text: str, span: TextSpan, metrics: QFontMetrics, width_px: int) -> str:
    """As many whole words as fit, with the found ones in the middle."""
    if metrics.horizontalAdvance(text) <= width_px:
        return text
    first, last = span
    while True:
        wider = max(0, first - 1), min(len(text), last + 1)
        piece = ("…" if wider[0] else "") + text[slice(*wider)] + ("…" if wider[1] < len(text) else "")
        if wider == (first, last) or metrics.horizontalAdvance(piece) > width_px:
            break
        first, last = wider
    if first and text[first - 1] != " ":
        first = max(first, text.find(" ", first, span[0]))
    if last < len(text) and text[last] != " " and (end := text.rfind(" ", span[1], last)) >= 0:
        last = end
    return ("…" if first else "") + text[first:last].strip() + ("…" if last < len(text) else "")
