"""The chats of the sidebar: moving among them by key and pointer, their menus, renaming in place, dragging.

Painting a row is in `chat_rows`. Signals are requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QRect, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QApplication, QListView, QMenu, QWidget

from app.theme import Theme
from app.view_models.conversation_list import ConversationListModel, ConversationRow
from app.view_models.conversation_rows import FolderTree, Match
from app.views.shell.chat_menu import fill_move_menu, list_menu
from app.views.shell.chat_rows import ChatRowDelegate, Index, more_place, row_of
from app.views.shell.menu_editing import deletes_all
from app.views.shell.rename_field import RenameField
from app.views.shell.row_drag import carried, dragged, is_welcome, target
from app.views.widgets.held_keys import is_held
from app.views.widgets.menu_key import asks_for_menu
from app.views.widgets.row_list import RowRing, set_up_row_list

Identity = tuple[int, int, Match | None]  # chat, folder
_STEPS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
_REMOVE = (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
_BACKWARDS = (QListView.CursorAction.MovePageUp, QListView.CursorAction.MoveUp, QListView.CursorAction.MovePrevious)


class ChatList(RowRing, QListView):
    chat_opened = Signal(int)
    chat_clicked = Signal()  # after that: one writes there now
    match_opened = Signal(int, Match)  # chat
    renamed = Signal(int, str)
    pin_requested = Signal(int, bool)
    duplicate_requested = Signal(int)
    export_requested = Signal(int, str)  # chat, title
    delete_requested = Signal(int)
    move_requested = Signal(int, object)  # chat, folder or None
    folder_renamed = Signal(int, str)
    folder_opened = Signal(int, bool)
    folder_delete_requested = Signal(int)
    folder_move_requested = Signal(int, object)  # folder, the one to be in or None
    folder_requested = Signal(object, int)  # a new one: in which one or None, with which chat or 0
    left_upwards = Signal()  # Up in the first row
    search_left = Signal()  # Escape, while what a search found is listed

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.open_chat_id = 0
        self.dropped_on = QRect()  # the row that a drop would go to
        self._pressed: Identity | None = None
        self._drag_edge = 0  # at which edge a drag is: above -1, below 1
        set_up_row_list(self, theme)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDropIndicatorShown(False)
        self.setItemDelegate(ChatRowDelegate(self, self))

    def set_chats(self, model: ConversationListModel) -> None:
        self.setModel(model)

    def set_open_chat(self, chat_id: int) -> None:
        self.open_chat_id = chat_id
        self.viewport().update()

    def take_focus(self) -> None:
        """At the first row."""
        self.setCurrentIndex(QModelIndex())
        self.setFocus(Qt.FocusReason.TabFocusReason)

    @property
    def words(self) -> Sequence[str]:
        """What is searched for."""
        return self._chats().query.split() if self.model() is not None else ()

    def _chats(self) -> ConversationListModel:
        model = self.model()
        assert isinstance(model, ConversationListModel)
        return model

    @property
    def _tree(self) -> FolderTree:
        return self._chats().tree

    # Keys

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Where Tab leads here, a ring shows on which row."""
        super().focusInEvent(event)
        by_tab = event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        if by_tab and not self._is_item(self.currentIndex()):
            self._step(self.currentIndex().row(), 1)

    def event(self, event: QEvent) -> bool:
        """The key of Delete Chat deletes what has the focus here."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and deletes_all(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Letters are left to the window; a Backspace too, where no ring shows what it would delete."""
        types = event.text().strip().isprintable() and bool(event.text().strip())
        if types or (event.key() == Qt.Key.Key_Backspace and not self.has_ring):
            event.ignore()
            return
        self._by_key = True
        index = self.currentIndex()
        if event.key() in _STEPS:
            self._step(index.row(), _STEPS[Qt.Key(event.key())])
        elif event.key() == Qt.Key.Key_Escape and self.words:
            self.search_left.emit()
        elif not self._is_item(index) or not self._act_by_key(event, row_of(index)):
            super().keyPressEvent(event)

    def _act_by_key(self, event: QKeyEvent, row: ConversationRow) -> bool:
        """Whether the key means something for this row."""
        key = event.key()
        if asks_for_menu(event):
            self._open_menu_by_key(self.currentIndex())
        elif key in _ENTER:
            if not is_held(event):
                self._open(row)
        elif key in _REMOVE:
            if not event.isAutoRepeat():  # a key that is held would delete all of them
                self._delete(row)
        elif key == Qt.Key.Key_F2:
            self.start_rename(self.currentIndex())
        elif key == Qt.Key.Key_Right and row.folder_id and not row.opened:
            self.folder_opened.emit(row.folder_id, True)
        elif key == Qt.Key.Key_Left and row.folder_id and row.opened:
            self.folder_opened.emit(row.folder_id, False)
        elif key == Qt.Key.Key_Left and row.inside is not None:
            self._go_to_folder(row.inside)
        else:
            return False
        return True

    def _go_to_folder(self, folder_id: int) -> None:
        row = self._chats().row_of_folder(folder_id)
        if row is not None:
            self.setCurrentIndex(self._chats().index(row))

    def _step(self, row: int, direction: int) -> None:
        """To the next chat or folder in that direction; headings are passed over."""
        model = self.model()
        row += direction
        while model is not None and 0 <= row < model.rowCount():
            if self._is_item(model.index(row, 0)):
                self.setCurrentIndex(model.index(row, 0))
                return
            row += direction
        if direction < 0:
            self.left_upwards.emit()

    def moveCursor(self, action: QListView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Home, End and the page keys stop at a chat or folder; Qt itself does at headings, too."""
        index = super().moveCursor(action, modifiers)
        if not index.isValid():
            return index
        ahead, behind = range(index.row(), self._chats().rowCount()), range(index.row(), -1, -1)
        rows = (*behind, *ahead) if action in _BACKWARDS else (*ahead, *behind)
        items = (self._chats().index(row, 0) for row in rows)
        return next(filter(self._is_item, items), index)

    # Pointer

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = self._identity(self.indexAt(event.position().toPoint()))
        super().mousePressEvent(event)

    def _identity(self, index: Index) -> Identity | None:
        """What a row shows, wherever it moves; None for headings and where there is no row."""
        row = row_of(index) if self._is_item(index) else None
        return None if row is None else (row.chat_id, row.folder_id, row.match)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click ends on the row that it began on, wherever that is by then."""
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        clicked = self._is_item(index) and self._identity(index) == self._pressed
        if event.button() != Qt.MouseButton.LeftButton or not clicked:
            return
        at_menu = more_place(self.theme, self.visualRect(index)).contains(event.position().toPoint())
        if at_menu and not row_of(index).continues:
            self._open_menu(index, event.globalPosition().toPoint())
        else:
            self._open(row_of(index))
            if self._is_shown_chat(row_of(index)):
                self.chat_clicked.emit()

    def _is_shown_chat(self, row: ConversationRow) -> bool:
        """A chat that a click opened; not one that a second click is renaming, nor one of several results."""
        return bool(row.chat_id) and row.match is None and not isinstance(QApplication.focusWidget(), RenameField)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if self._is_item(index) and row_of(index).match is None:
            self.start_rename(index)

    def open_first(self) -> None:
        """As if the first chat or folder were clicked, but without taking the focus."""
        index = next(filter(self._is_item, map(self._chats().index, range(self._chats().rowCount()))), None)
        if index is not None:
            self.setCurrentIndex(index)
            self._open(row_of(index))

    def _open(self, row: ConversationRow) -> None:
        if row.folder_id:
            self.folder_opened.emit(row.folder_id, not row.opened)
        elif row.match is not None:
            self.match_opened.emit(row.chat_id, row.match)
        else:
            self.chat_opened.emit(row.chat_id)

    def _delete(self, row: ConversationRow) -> None:
        if row.folder_id:
            self.folder_delete_requested.emit(row.folder_id)
        else:
            self.delete_requested.emit(row.chat_id)

    # Menus

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        if self._is_item(index) and by_key:
            self._open_menu_by_key(index)
        elif self._is_item(index):
            self._open_menu(index, event.globalPos())
        elif not by_key:
            menu = list_menu(self.theme, self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction(self.tr("New Folder")).triggered.connect(lambda: self.folder_requested.emit(None, 0))
            menu.popup(event.globalPos())

    def _open_menu_by_key(self, index: QModelIndex) -> None:
        self.scrollTo(index)
        self._open_menu(index, self.viewport().mapToGlobal(self.visualRect(index).center()))

    def _open_menu(self, index: QModelIndex, at: QPoint) -> None:
        row, where = row_of(index), QPersistentModelIndex(index)
        menu = list_menu(self.theme, self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Rename…")).triggered.connect(lambda: self.start_rename(where))
        if row.folder_id:
            new = menu.addAction(self.tr("New Folder Inside"))
            new.triggered.connect(lambda: self.folder_requested.emit(row.folder_id, 0))
        else:
            self._add_chat_actions(menu, row)
        places = list_menu(self.theme, menu)
        places.setTitle(self.tr("Move to"))
        menu.addMenu(places)
        self.fill_move_menu(places, row)
        menu.addSeparator()
        delete = menu.addAction(self.tr("Delete…") if row.folder_id else self.tr("Delete"))
        delete.triggered.connect(lambda: self._delete(row))
        menu.popup(at)

    def _add_chat_actions(self, menu: QMenu, row: ConversationRow) -> None:
        pin = menu.addAction(self.tr("Unpin") if row.pinned else self.tr("Pin"))
        pin.triggered.connect(lambda: self.pin_requested.emit(row.chat_id, not row.pinned))
        duplicate = menu.addAction(self.tr("Duplicate"))
        duplicate.triggered.connect(lambda: self.duplicate_requested.emit(row.chat_id))
        export = menu.addAction(self.tr("Export…"))
        export.triggered.connect(lambda: self.export_requested.emit(row.chat_id, row.title))

    def fill_move_menu(self, menu: QMenu, row: ConversationRow) -> None:
        """Where a chat or a folder can go."""
        if row.folder_id:
            request, number, move_to_new = self.folder_move_requested, row.folder_id, None
        else:
            request, number = self.move_requested, row.chat_id
            move_to_new = lambda _checked=False: self.folder_requested.emit(None, row.chat_id)  # noqa: E731
        fill_move_menu(menu, self._tree, row, partial(request.emit, number), move_to_new)

    # Renaming

    def start_rename(self, index: Index) -> None:
        if not self._is_item(index):
            return
        row = row_of(index)
        renamed, number = (self.folder_renamed, row.folder_id) if row.folder_id else (self.renamed, row.chat_id)
        field = RenameField(
            self, self.theme, lambda: self.index_of(row), row.title, lambda text: renamed.emit(number, text)
        )
        field.setAccessibleName(self.tr("Name of the folder") if row.folder_id else self.tr("Title of the chat"))

    def index_of(self, row: ConversationRow) -> QModelIndex:
        """Where a chat or folder is now; an index that is not valid when it is not listed."""
        chats = self._chats()
        number = chats.row_of_folder(row.folder_id) if row.folder_id else chats.row_of(row.chat_id)
        return QModelIndex() if number is None else chats.index(number)

    def _is_item(self, index: Index) -> bool:
        return index.isValid() and not row_of(index).is_heading

    # Dragging

    def startDrag(self, _actions: Qt.DropAction) -> None:  # noqa: N802 - Qt's name
        index = self.currentIndex()
        if not self._is_item(index):
            return
        drag = QDrag(self)
        drag.setMimeData(carried(row_of(index)))
        picture = self.viewport().grab(self.visualRect(index))
        drag.setPixmap(picture)
        # A row's height below the pointer: over the pointer the picture would hide the row that is dropped on.
        drag.setHotSpot(QPoint(self.theme.px(24), -round(picture.deviceIndependentSize().height())))
        drag.exec(Qt.DropAction.MoveAction)
        self._show_target(QRect())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self._drag_edge = 0
        event.setAccepted(dragged(event) is not None)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self._scroll_at_edge(event)
        what, index = dragged(event), self.indexAt(event.position().toPoint())
        folder_id = target(row_of(index) if index.isValid() else None)
        welcome = what is not None and is_welcome(what, folder_id, self._tree)
        self._show_target(self._place_of(folder_id) if welcome else QRect())
        event.setAccepted(welcome)

    def _scroll_at_edge(self, event: QDragMoveEvent) -> None:
        """Qt scrolls near an edge, ever faster, until the pointer leaves it. Each call begins anew: a hand that
        trembles would hold it up."""
        y, margin = event.position().y(), self.autoScrollMargin()
        edge = -1 if y < margin else 1 if y >= self.viewport().height() - margin else 0
        if edge and edge != self._drag_edge:
            super().dragMoveEvent(event)
        self._drag_edge = edge

    def rowsAboutToBeRemoved(self, parent: Index, first: int, last: int) -> None:  # noqa: N802 - Qt's name
        """Where the current row goes, its neighbour becomes current, which Qt would bring into sight: nobody asked."""
        value = self.verticalScrollBar().value()
        super().rowsAboutToBeRemoved(parent, first, last)
        self.verticalScrollBar().setValue(value)

    def _place_of(self, folder_id: int | None) -> QRect:
        row = self._chats().row_of_folder(folder_id or 0)
        return QRect() if row is None else self.visualRect(self._chats().index(row))

    def _show_target(self, place: QRect) -> None:
        self.dropped_on = place
        self.viewport().update()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._show_target(QRect())
        super().dragLeaveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        what, index = dragged(event), self.indexAt(event.position().toPoint())
        folder_id = target(row_of(index) if index.isValid() else None)
        self._show_target(QRect())
        if what is None or not is_welcome(what, folder_id, self._tree):
            event.ignore()
            return
        event.accept()
        if what[0]:
            self.move_requested.emit(what[0], folder_id)
        else:
            self.folder_move_requested.emit(what[1], folder_id)
