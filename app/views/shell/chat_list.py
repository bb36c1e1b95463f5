"""The chats of the sidebar: painting a row, moving among them by key, the row's menu, renaming in place."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.theme import FOOTER_PX, RADIUS_ROW, Theme
from app.view_models.conversation_list import ROW, ConversationListModel, ConversationRow
from app.views.icons import icon
from app.views.widgets.fields import LineField
from app.views.widgets.scrolling import ThinScrollBars

Index = QModelIndex | QPersistentModelIndex


class ChatList(QListView):
    chat_opened = Signal(int)
    renamed = Signal(int, str)
    pin_requested = Signal(int, bool)
    duplicate_requested = Signal(int)
    delete_requested = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.open_chat_id = 0
        self._by_key = False  # a ring shows where the keyboard is, once it is used
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setItemDelegate(ChatRowDelegate(self))
        theme.changed.connect(self.scheduleDelayedItemsLayout)
        ThinScrollBars(self, theme)

    def set_chats(self, model: ConversationListModel) -> None:
        self.setModel(model)

    def set_open_chat(self, chat_id: int) -> None:
        self.open_chat_id = chat_id
        self.viewport().update()

    def take_focus(self) -> None:
        self.setFocus(Qt.FocusReason.TabFocusReason)
        self._by_key = True
        if not self._is_chat(self.currentIndex()):
            self._step(self.currentIndex().row(), 1)

    @property
    def shows_ring(self) -> bool:
        return self._by_key and self.hasFocus()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._by_key = False
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._by_key = True
        chat_id = self._chat_id(self.currentIndex())
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
        if event.key() in steps:
            self._step(self.currentIndex().row(), steps[Qt.Key(event.key())])
        elif chat_id and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chat_opened.emit(chat_id)
        elif chat_id and event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.delete_requested.emit(chat_id)
        elif chat_id and event.key() == Qt.Key.Key_F2:
            self.start_rename(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _step(self, row: int, direction: int) -> None:
        """To the next chat in that direction; headings are passed over."""
        model = self.model()
        row += direction
        while model is not None and 0 <= row < model.rowCount():
            if self._is_chat(model.index(row, 0)):
                self.setCurrentIndex(model.index(row, 0))
                return
            row += direction

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        if event.button() != Qt.MouseButton.LeftButton or not self._is_chat(index):
            return
        if more_place(self.theme, self.visualRect(index)).contains(event.position().toPoint()):
            self._open_menu(index, event.globalPosition().toPoint())
        else:
            self.chat_opened.emit(self._chat_id(index))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.start_rename(self.indexAt(event.position().toPoint()))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        if self._is_chat(index):
            at = self.viewport().mapToGlobal(self.visualRect(index).center()) if by_key else event.globalPos()
            self._open_menu(index, at)

    def _open_menu(self, index: QModelIndex, at: QPoint) -> None:
        chat_id, pinned = self._chat_id(index), row_of(index).pinned
        where = QPersistentModelIndex(index)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setFont(self.theme.ui_font())
        menu.addAction(self.tr("Rename…")).triggered.connect(lambda: self.start_rename(where))
        pin = menu.addAction(self.tr("Unpin") if pinned else self.tr("Pin"))
        pin.triggered.connect(lambda: self.pin_requested.emit(chat_id, not pinned))
        menu.addAction(self.tr("Duplicate")).triggered.connect(lambda: self.duplicate_requested.emit(chat_id))
        menu.addSeparator()
        menu.addAction(self.tr("Delete")).triggered.connect(lambda: self.delete_requested.emit(chat_id))
        menu.popup(at)

    def start_rename(self, index: Index) -> None:
        if not self._is_chat(index):
            return
        RenameField(self, self._chat_id(index), row_of(index).title, self.visualRect(index))

    def place_of(self, chat_id: int) -> QRect:
        """Where a chat's row is; none for a chat that is not listed."""
        indexes = (self.model().index(row, 0) for row in range(self.model().rowCount()))
        return next((self.visualRect(index) for index in indexes if self._chat_id(index) == chat_id), QRect())

    def _is_chat(self, index: Index) -> bool:
        return self._chat_id(index) != 0

    def _chat_id(self, index: Index) -> int:
        return row_of(index).chat_id if index.isValid() else 0


class RenameField(LineField):
    """Edits a chat's title in its row. Return or leaving keeps the text, Escape does not."""

    def __init__(self, chats: ChatList, chat_id: int, title: str, place: QRect) -> None:
        super().__init__(chats.theme, parent=chats.viewport())
        self._chats = chats
        self._chat_id = chat_id
        self._title = title
        self._done = False
        self.setAccessibleName(self.tr("Title of the chat"))
        self.setText(title)
        self.setGeometry(place)
        self.selectAll()
        self.show()
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.returnPressed.connect(lambda: self._finish(keep=True))
        self.editingFinished.connect(lambda: self._finish(keep=True))
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._follow)
        for moved in (chats.model().rowsInserted, chats.model().rowsRemoved, chats.verticalScrollBar().valueChanged):
            moved.connect(self._follow_soon)

    def _follow_soon(self) -> None:
        """Delayed to the next event loop pass, because a row moves as a removal and an insertion."""
        self._later.start()

    def _follow(self) -> None:
        """Moves the field with its row; closes it when the row is gone."""
        place = self._chats.place_of(self._chat_id)
        if place.isValid():
            self.setGeometry(place)
        else:
            self._finish(keep=False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._finish(keep=False)
        else:
            super().keyPressEvent(event)

    def _finish(self, keep: bool) -> None:
        if self._done:
            return
        self._done = True
        self.commit()
        title = self.text().strip()
        if keep and title and title != self._title:
            self._chats.renamed.emit(self._chat_id, title)
        if self.hasFocus():
            self._chats.setFocus(Qt.FocusReason.OtherFocusReason)
        self.deleteLater()


class ChatRowDelegate(QStyledItemDelegate):
    def __init__(self, chats: ChatList) -> None:
        super().__init__(chats)
        self._chats = chats

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        theme = self._chats.theme
        if row_of(index).group is not None:
            return QSize(0, theme.px(30))
        return QSize(0, theme.px(50 if row_of(index).snippet else 32))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area: QRect = option.rect
        state: QStyle.StateFlag = option.state
        if row_of(index).group is not None:
            self._paint_heading(painter, area, row_of(index).text)
        else:
            self._paint_chat(painter, area, state, index)
        painter.restore()

    def _paint_heading(self, painter: QPainter, area: QRect, title: str) -> None:
        theme = self._chats.theme
        painter.setFont(theme.ui_font(FOOTER_PX, QFont.Weight.DemiBold))
        painter.setPen(theme.palette.faint)
        place = area.adjusted(theme.px(12), theme.px(6), -theme.px(8), 0)
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, title)

    def _paint_chat(self, painter: QPainter, area: QRect, state: QStyle.StateFlag, index: Index) -> None:
        theme, colors = self._chats.theme, self._chats.theme.palette
        hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        is_open = row_of(index).chat_id == self._chats.open_chat_id
        self._paint_ground(painter, area, state, hovered or is_open)
        words = area.adjusted(theme.px(12), 0, -theme.px(10), 0)
        if hovered:
            words.setRight(more_place(theme, area).left())
            side = theme.px(16)
            place = QRect(0, 0, side, side)
            place.moveCenter(more_place(theme, area).center())
            icon("more-horizontal", colors.secondary).paint(painter, place)
        elif row_of(index).generating:
            words.setRight(words.right() - theme.px(14))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.draft)
            painter.drawEllipse(QPoint(area.right() - theme.px(14), area.center().y()), theme.px(4), theme.px(4))
        self._paint_words(painter, words, index)

    def _paint_ground(self, painter: QPainter, area: QRect, state: QStyle.StateFlag, filled: bool) -> None:
        colors = self._chats.theme.palette
        by_key = self._chats.shows_ring and bool(state & QStyle.StateFlag.State_HasFocus)
        painter.setPen(QPen(colors.ink, 2) if by_key else Qt.PenStyle.NoPen)
        painter.setBrush(colors.hover if filled else Qt.BrushStyle.NoBrush)
        if filled or by_key:
            painter.drawRoundedRect(QRectF(area).adjusted(1, 1, -1, -1), RADIUS_ROW, RADIUS_ROW)

    def _paint_words(self, painter: QPainter, place: QRect, index: Index) -> None:
        theme = self._chats.theme
        snippet = row_of(index).snippet
        title_place = QRect(place.left(), place.top() + theme.px(5), place.width(), theme.px(22)) if snippet else place
        self._line(painter, title_place, row_of(index).text, theme.ui_font())
        if snippet:
            below = QRect(place.left(), title_place.bottom(), place.width(), theme.px(18))
            painter.setPen(theme.palette.secondary)
            self._line(painter, below, " ".join(snippet.split()), theme.ui_font(FOOTER_PX), keep_pen=True)

    def _line(self, painter: QPainter, place: QRect, text: str, font: QFont, keep_pen: bool = False) -> None:
        if not keep_pen:
            painter.setPen(self._chats.theme.palette.text)
        painter.setFont(font)
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)


def row_of(index: Index) -> ConversationRow:
    row: ConversationRow = index.data(ROW)
    return row


def more_place(theme: Theme, row: QRect) -> QRect:
    """Where a row's menu button is while the pointer is over the row."""
    side = theme.px(28)
    return QRect(row.right() - side, row.top(), side, row.height())
