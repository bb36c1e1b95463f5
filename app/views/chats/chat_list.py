"""The sidebar's chats: keyboard and pointer, selecting several, menus, dragging."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from uuid import uuid4

from PySide6.QtCore import (
    QByteArray,
    QCoreApplication,
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QFont,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPixmap,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QListView,
    QMenu,
    QWidget,
)

from app.controllers.chat import ChatController
from app.theme import FOOTER_PX, Theme
from app.view_models.conversation_list import ConversationListModel, ConversationRow
from app.view_models.conversation_rows import FolderTree, Match
from app.views.chats.chat_rows import ChatRowDelegate, Index, ListOfChats, RenameField, more_place, row_of
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.drop_target import local_files
from app.views.widgets.held_keys import REMOVE_KEYS, Menu, asks_for_menu, deletes_all, is_held, modifiers_of, popup_menu
from app.views.widgets.row_list import set_up_row_list
from app.words.formats import count, fill, in_menu, sentences

Identity = tuple[int, int, Match | None]  # chat, folder
_STEPS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
_SELECTING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
_ANYWHERE = -1  # several chats: any folder may be chosen, and none
_BACKWARDS = (QListView.CursorAction.MovePageUp, QListView.CursorAction.MoveUp, QListView.CursorAction.MovePrevious)

Move = Callable[[int | None], None]  # into a folder; None: out of all

_INDENT = "    "  # for a nested folder in a menu
_ASKS_PX = 560  # the question that has three buttons
_DRAG_SCROLL_MS = 50

_KIND = "application/x-hunch-row"  # of what is dragged
_TOKEN = uuid4().hex  # of this run: drags of other programs do not have it


def carried(folder_id: int, *chats: int) -> QMimeData:
    """Drag data for this app only: a folder, or chats and 0."""
    data = QMimeData()
    data.setData(_KIND, QByteArray(" ".join(map(str, (_TOKEN, folder_id, *chats))).encode()))
    return data


def dragged(event: QDropEvent) -> tuple[int, list[int]] | None:
    """(folder, chats) of a drag that began in the list; the folder is 0, or there are no chats."""
    token, *numbers = bytes(event.mimeData().data(_KIND).data()).decode("ascii", "replace").split(" ")
    if token != _TOKEN:
        return None
    folder_id, *chats = map(int, numbers)
    return folder_id, chats


def target(row: ConversationRow | None) -> int | None:
    """The folder that a drop on the row goes to; None: the top."""
    if row is None or row.is_heading:
        return None
    return row.folder_id or row.inside


def is_welcome(what: tuple[int, list[int]], folder_id: int | None, tree: FolderTree) -> bool:
    """Whether it can be dropped there: a folder cannot go into itself or a folder below it."""
    return not what[0] or not tree.holds(what[0], folder_id)


def fill_move_menu(
    menu: QMenu, tree: FolderTree, row: ConversationRow, move: Move, move_to_new: Callable[[], None] | None
) -> None:
    """Fill the menu with all folders but its present one, itself, and those below it."""
    menu.clear()
    top = menu.addAction(QCoreApplication.translate("ChatMenu", "No Folder"))
    top.setEnabled(row.inside is not None)
    top.triggered.connect(lambda: move(None))
    if tree.depths:
        menu.addSeparator()
    for folder in tree.in_order():
        action = menu.addAction(_INDENT * tree.depths[folder.id] + in_menu(folder.name))
        action.setEnabled(folder.id != row.inside and not (row.folder_id and tree.holds(row.folder_id, folder.id)))
        action.triggered.connect(lambda _checked=False, number=folder.id: move(number))
    if move_to_new is not None:
        menu.addSeparator()
        menu.addAction(QCoreApplication.translate("ChatMenu", "New Folder…")).triggered.connect(move_to_new)


class ChatList(ListOfChats):
    """Rows can be dragged onto folders, and out of them; files of other programs onto folders.

    Shift and Command select several chats, which menus, keys and drags then act on; folders are not selected.
    """

    chat_clicked = Signal()  # a chat was clicked, and is open: the composer takes the focus
    match_opened = Signal(int, Match)  # chat
    export_requested = Signal(object, str)  # chats, title of a single one
    project_requested = Signal(int)  # folder whose page is to be shown
    chat_in_requested = Signal(int)  # folder that a new chat is to be in
    files_dropped = Signal(int, list)  # a folder, and the paths that were dropped on it
    left_upwards = Signal()  # Up in the first row
    search_left = Signal()  # Escape in search results

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.open_chat_id = 0
        self.dropped_on = QRect()
        self._drag_edge = 0  # at which edge a drag is: above -1, below 1
        self._drag_step = 0  # larger the longer it is there
        self._drag_timer = QTimer(self, interval=_DRAG_SCROLL_MS)  # Qt's own starts again at each move
        self._drag_timer.timeout.connect(self._scroll_at_edge)
        self._pressed: Identity | None = None
        self._shown_query = ""
        self._place_before_search = 0
        self._chosen: list[int] = []
        self._taken: set[int] = set()  # selected chats whose rows were removed: they may be listed elsewhere
        self._left = 0  # the current one among such
        set_up_row_list(self, theme)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDropIndicatorShown(False)
        self.setItemDelegate(ChatRowDelegate(self))

    def bind(self, chats: ChatController) -> None:
        self._chats = chats
        self._folders = chats.folders
        self.setModel(chats.conversations)
        self._take_tab()
        chats.conversations.refreshed.connect(self._take_tab)
        chats.conversations.refreshed.connect(self._on_refreshed)

    def set_open_chat(self, chat_id: int) -> None:
        """Its row is where keys, and a selection of several, begin."""
        is_new = chat_id != self.open_chat_id
        self.open_chat_id = chat_id
        if is_new and self.model() is not None:
            self._go_to_open_chat()
        self.viewport().update()

    def _go_to_open_chat(self) -> None:
        index = self._rows().index_of(self.open_chat_id)
        current = self.currentIndex()
        if not current.isValid() or row_of(current).chat_id != self.open_chat_id:
            self._make_current(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def _make_current(self, index: QModelIndex, select: QItemSelectionModel.SelectionFlag) -> None:
        """Without scrolling to it, as Qt would."""
        self.setAutoScroll(False)
        self.selectionModel().setCurrentIndex(index, select)
        self.setAutoScroll(True)

    def search(self, words: str) -> None:
        if not self._shown_query:
            self._place_before_search = self.verticalScrollBar().value()
        self._rows().set_query(words)

    def show_results_from_top(self) -> None:
        """Once for each search, and the chats where they were before it."""
        query = self._rows().query
        if query != self._shown_query:
            self._shown_query = query
            self.executeDelayedItemsLayout()
            self.verticalScrollBar().setValue(0 if query else self._place_before_search)

    def chosen(self) -> Sequence[int]:
        return self._chosen if len(self._chosen) > 1 else ()

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:  # noqa: N802
        super().selectionChanged(selected, deselected)
        rows = map(row_of, sorted(self.selectedIndexes()))
        self._chosen = list(dict.fromkeys(row.chat_id for row in rows if row.chat_id))
        self.viewport().update()

    def _take_tab(self) -> None:
        """Without rows there is nothing that could show the focus."""
        policy = Qt.FocusPolicy.StrongFocus if self._rows().rowCount() else Qt.FocusPolicy.ClickFocus
        self.setFocusPolicy(policy)

    def _on_refreshed(self) -> None:
        """Select again rows that moved, which were removed and inserted; a new chat's row becomes the current one."""
        listed = [self._rows().index_of(chat_id) for chat_id in self._taken]
        left = self._rows().index_of(self._left)
        self._taken.clear()
        self._left = 0
        if left.isValid():
            self._make_current(left, QItemSelectionModel.SelectionFlag.NoUpdate)
        elif not self.currentIndex().isValid() and not self.chosen():
            self._go_to_open_chat()
        for index in filter(QModelIndex.isValid, listed):
            self.selectionModel().select(index, QItemSelectionModel.SelectionFlag.Select)

    def take_focus(self) -> None:
        """Focus the first row."""
        self.setCurrentIndex(QModelIndex())
        self.setFocus(Qt.FocusReason.TabFocusReason)

    @property
    def words(self) -> Sequence[str]:
        return self._rows().query.split() if self.model() is not None else ()

    def _rows(self) -> ConversationListModel:
        model = self.model()
        assert isinstance(model, ConversationListModel)
        return model

    @property
    def _tree(self) -> FolderTree:
        return self._rows().tree

    def _is_item(self, index: Index) -> bool:
        return index.isValid() and not row_of(index).is_heading

    def startDrag(self, _actions: Qt.DropAction) -> None:  # noqa: N802 - Qt's name
        index = self.currentIndex()
        if not self._is_item(index):
            return
        drag = QDrag(self)
        row = row_of(index)
        drag.setMimeData(carried(row.folder_id, *self._meant(row)))
        picture = self.viewport().grab(self.visualRect(index))
        if self.chosen():
            self._paint_number(picture, len(self._meant(row)))
        drag.setPixmap(picture)
        # A row's height below the pointer: over the pointer the picture would hide the row that is dropped on.
        drag.setHotSpot(QPoint(self.theme.px(24), -round(picture.deviceIndependentSize().height())))
        drag.exec(Qt.DropAction.MoveAction)
        self._show_target(QRect())

    def _paint_number(self, picture: QPixmap, number: int) -> None:
        """How many are dragged, at the right edge of the row."""
        side = self.theme.px(22)
        size = picture.deviceIndependentSize()
        place = QRectF(size.width() - side - self.theme.px(8), (size.height() - side) / 2, side, side)
        colors = self.theme.palette
        with QPainter(picture) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.ink)
            painter.drawEllipse(place)
            painter.setFont(self.theme.ui_font(FOOTER_PX, QFont.Weight.DemiBold))
            painter.setPen(colors.on_ink)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, count(number))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        event.setAccepted(dragged(event) is not None or bool(local_files(event.mimeData())))

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self._follow_edge(event.position().y())
        what = dragged(event)
        index = self.indexAt(event.position().toPoint())
        folder_id = target(row_of(index) if index.isValid() else None)
        if what is None:
            welcome = folder_id is not None and bool(local_files(event.mimeData()))
            event.setDropAction(Qt.DropAction.CopyAction)
        else:
            welcome = is_welcome(what, folder_id, self._tree)
        place = self._rows().index_of_folder(folder_id or 0)
        self._show_target(self.visualRect(place) if welcome else QRect())
        event.setAccepted(welcome)

    def _follow_edge(self, y: float) -> None:
        margin = self.autoScrollMargin()
        self._drag_edge = int(y >= self.viewport().height() - margin) - int(y < margin)
        if not self._drag_edge:
            self._stop_scrolling()
        elif not self._drag_timer.isActive():
            self._drag_timer.start()

    def _scroll_at_edge(self) -> None:
        bar = self.verticalScrollBar()
        self._drag_step = min(self._drag_step + 1, bar.pageStep())
        bar.setValue(bar.value() + self._drag_edge * self._drag_step)

    def _stop_scrolling(self) -> None:
        self._drag_timer.stop()
        self._drag_step = 0

    def _show_target(self, place: QRect) -> None:
        self.dropped_on = place
        self.viewport().update()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._show_target(QRect())
        self._stop_scrolling()
        super().dragLeaveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        what = dragged(event)
        index = self.indexAt(event.position().toPoint())
        folder_id = target(row_of(index) if index.isValid() else None)
        self._show_target(QRect())
        self._stop_scrolling()
        if what is None and folder_id is not None and (paths := local_files(event.mimeData())):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self.files_dropped.emit(folder_id, paths)
            return
        if what is None or not is_welcome(what, folder_id, self._tree):
            event.ignore()
            return
        event.accept()
        if what[0]:
            self._folders.move_folder(what[0], folder_id)
        else:
            self._folders.move_chats(what[1], folder_id)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show a focus ring when Tab leads here."""
        super().focusInEvent(event)
        by_tab = event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        if by_tab and not self._is_item(self.currentIndex()):
            self._step(self.currentIndex().row(), 1)

    def event(self, event: QEvent) -> bool:
        """Let the shortcut of Delete Chat delete the focused row."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and deletes_all(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Letters go to the window; so does Backspace while nothing shows which row it would delete."""
        types = event.text().strip().isprintable() and bool(event.text().strip())
        if types or (event.key() == Qt.Key.Key_Backspace and not self.has_ring and not self.chosen()):
            event.ignore()
            return
        self._by_key = True
        index = self.currentIndex()
        if event.key() in _STEPS and not modifiers_of(event):
            self._step(index.row(), _STEPS[Qt.Key(event.key())])
        elif event.key() == Qt.Key.Key_Escape and self.words:
            self.search_left.emit()
        elif event.key() == Qt.Key.Key_Escape and self.chosen():
            self.selectionModel().select(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        elif event.key() in REMOVE_KEYS and self.chosen() and not index.isValid():
            self._chats.delete_chats(self.chosen())
        elif not self._is_item(index) or not self._act_by_key(event, row_of(index)):
            super().keyPressEvent(event)

    def _act_by_key(self, event: QKeyEvent, row: ConversationRow) -> bool:
        """Whether the key acts on this row."""
        key = event.key()
        if asks_for_menu(event):
            self._open_menu_by_key(self.currentIndex())
        elif key in _ENTER and not modifiers_of(event):
            if not is_held(event):
                self._open(row)
        elif key in REMOVE_KEYS:
            if not event.isAutoRepeat():  # else a held key would delete all rows
                self._delete(row)
        elif key == Qt.Key.Key_F2:
            self.start_rename(self.currentIndex())
        elif key == Qt.Key.Key_Right and row.folder_id and not row.opened:
            self._folders.set_opened(row.folder_id, True)
        elif key == Qt.Key.Key_Left and row.folder_id and row.opened:
            self._folders.set_opened(row.folder_id, False)
        elif key == Qt.Key.Key_Left and row.inside is not None:
            self._go_to_folder(row.inside)
        else:
            return False
        return True

    def _go_to_folder(self, folder_id: int) -> None:
        index = self._rows().index_of_folder(folder_id)
        if index.isValid():
            self.setCurrentIndex(index)

    def _step(self, row: int, direction: int) -> None:
        """Move to the next chat or folder, skipping headings."""
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
        """Home, End and the page keys skip headings, where Qt would stop."""
        index = super().moveCursor(action, modifiers)
        if not index.isValid():
            return index
        ahead = range(index.row(), self._rows().rowCount())
        behind = range(index.row(), -1, -1)
        rows = (*behind, *ahead) if action in _BACKWARDS else (*ahead, *behind)
        items = (self._rows().index(row, 0) for row in rows)
        return next(filter(self._is_item, items), index)

    def selectionCommand(  # noqa: N802 - Qt's name
        self, index: Index, event: QEvent | None = None
    ) -> QItemSelectionModel.SelectionFlag:
        """The menu button of one of several leaves them selected."""
        is_one = isinstance(event, QMouseEvent) and self._is_item(index) and row_of(index).chat_id in self.chosen()
        button = more_place(self.theme, self.visualRect(index)) if is_one else QRect()
        if isinstance(event, QMouseEvent) and button.contains(event.position().toPoint()):
            return QItemSelectionModel.SelectionFlag.NoUpdate
        return super().selectionCommand(index, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = self._identity(self.indexAt(event.position().toPoint()))
        super().mousePressEvent(event)

    def _identity(self, index: Index) -> Identity | None:
        """Identity of a row, wherever it moves; None for headings and no row."""
        row = row_of(index) if self._is_item(index) else None
        return None if row is None else (row.chat_id, row.folder_id, row.match)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click acts on the row where it began, even if rows moved meanwhile."""
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        clicked = self._is_item(index) and self._identity(index) == self._pressed
        if event.button() != Qt.MouseButton.LeftButton or not clicked or modifiers_of(event) & _SELECTING:
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
        if self._is_item(index) and row_of(index).match is None and not modifiers_of(event) & _SELECTING:
            self.start_rename(index)

    def open_first(self) -> None:
        """Open the first chat or folder, without taking the focus."""
        index = next(filter(self._is_item, map(self._rows().index, range(self._rows().rowCount()))), None)
        if index is not None:
            self.setCurrentIndex(index)
            self._open(row_of(index))

    def _open(self, row: ConversationRow) -> None:
        if row.folder_id:
            self._folders.set_opened(row.folder_id, not row.opened)
        elif row.match is not None:
            self.match_opened.emit(row.chat_id, row.match)
        else:
            self._chats.open_chat(row.chat_id)

    def _meant(self, row: ConversationRow) -> Sequence[int]:
        """The chats that an act on this row is for: all selected ones, where it is one of them."""
        chosen = self.chosen()
        if row.chat_id in chosen:
            return chosen
        return [row.chat_id] if row.chat_id else ()

    def _delete(self, row: ConversationRow) -> None:
        if row.folder_id:
            self.delete_folder(row.folder_id)
        else:
            self._chats.delete_chats(self._meant(row))

    def delete_folder(self, folder_id: int) -> Dialog | None:
        """Returns the open question; None for an empty folder, which is deleted at once, since that can be undone."""
        chats, folders = self._folders.contents(folder_id)
        if not chats and not folders:
            self._folders.delete(folder_id, with_chats=False)
            return None
        name = self._tree.folders[folder_id].name

        def text() -> DialogText:
            title = fill(self.tr("Delete the folder “%1”?"), name)
            acts = self.tr("Move contents up"), self.tr("Cancel"), self.tr("Delete everything")
            return DialogText(title, self._contents(chats, folders), "", *acts)

        dialog = Dialog(self.theme, self.window(), text, width_px=_ASKS_PX)
        dialog.accepted.connect(lambda: self._folders.delete(folder_id, with_chats=False))
        dialog.other_chosen.connect(lambda: self._folders.delete(folder_id, with_chats=True))
        dialog.open()
        return dialog

    def _contents(self, chats: int, folders: int) -> str:
        within = self.tr("%Ln chat(s)", "", chats)
        if folders:
            within = fill(self.tr("%1 and %2"), within, self.tr("%Ln folder(s)", "", folders))
        kept = self.tr("Deleted chats stay in Recently Deleted for 30 days.")
        return sentences(fill(self.tr("Contains %1."), within), kept)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        if self._is_item(index) and by_key:
            self._open_menu_by_key(index)
        elif self._is_item(index):
            self._open_menu(index, event.globalPos())
        elif not by_key:
            menu = popup_menu(self, self.theme)
            menu.addAction(self.tr("New Folder")).triggered.connect(lambda: self._folders.make(None))
            menu.popup(event.globalPos())

    def _open_menu_by_key(self, index: QModelIndex) -> None:
        self.scrollTo(index)
        self._open_menu(index, self.viewport().mapToGlobal(self.visualRect(index).center()))

    def _open_menu(self, index: QModelIndex, at: QPoint) -> None:
        row = row_of(index)
        where = QPersistentModelIndex(index)
        menu = popup_menu(self, self.theme)
        chats = self._meant(row)
        several = len(chats) > 1
        if not several:
            menu.addAction(self.tr("Rename…")).triggered.connect(lambda: self.start_rename(where))
        if several:
            export = menu.addAction(self.tr("Export %Ln chat(s)…", "", len(chats)))
            export.triggered.connect(lambda: self.export_requested.emit(chats, ""))
        elif row.folder_id:
            begin = menu.addAction(self.tr("New Chat Here"))
            begin.triggered.connect(lambda: self.chat_in_requested.emit(row.folder_id))
            page = menu.addAction(self.tr("Project…"))
            page.triggered.connect(lambda: self.project_requested.emit(row.folder_id))
            new = menu.addAction(self.tr("New Subfolder"))
            new.triggered.connect(lambda: self._folders.make(row.folder_id))
        else:
            self._add_chat_actions(menu, row)
        places = Menu(menu, self.theme)
        places.setTitle(self.tr("Move to"))
        menu.addMenu(places)
        self.fill_move_menu(places, row)
        menu.addSeparator()
        words = self.tr("Delete %Ln chat(s)", "", len(chats)) if several else self.tr("Delete")
        delete = menu.addAction(self.tr("Delete…") if row.folder_id else words)
        delete.triggered.connect(lambda: self._delete(row))
        menu.popup(at)

    def _add_chat_actions(self, menu: QMenu, row: ConversationRow) -> None:
        pin = menu.addAction(self.tr("Unpin") if row.pinned else self.tr("Pin"))
        pin.triggered.connect(lambda: self._chats.pin(row.chat_id, not row.pinned))
        duplicate = menu.addAction(self.tr("Duplicate"))
        duplicate.triggered.connect(lambda: self._chats.duplicate(row.chat_id))
        export = menu.addAction(self.tr("Export…"))
        export.triggered.connect(lambda: self.export_requested.emit([row.chat_id], row.title))

    def fill_move_menu(self, menu: QMenu, row: ConversationRow) -> None:
        """Fill the menu with the folders where a chat or folder can go."""
        if row.folder_id:
            fill_move_menu(menu, self._tree, row, partial(self._folders.move_folder, row.folder_id), None)
        else:
            chats = self._meant(row)
            within = row if len(chats) == 1 else replace(row, inside=_ANYWHERE)
            move = partial(self._folders.move_chats, chats)
            fill_move_menu(menu, self._tree, within, move, lambda: self._folders.make(None, chats))

    def start_rename(self, index: Index) -> None:
        if not self._is_item(index):
            return
        row = row_of(index)
        if row.folder_id:
            rename = partial(self._folders.rename, row.folder_id)
        else:
            rename = partial(self._chats.rename, row.chat_id)
        field = RenameField(self, self.theme, lambda: self.index_of(row), row.title, rename)
        field.setAccessibleName(self.tr("Folder name") if row.folder_id else self.tr("Chat title"))

    def index_of(self, row: ConversationRow) -> QModelIndex:
        """Present index of a chat or folder; invalid if it is not listed."""
        rows = self._rows()
        return rows.index_of_folder(row.folder_id) if row.folder_id else rows.index_of(row.chat_id)

    def rowsAboutToBeRemoved(self, parent: Index, first: int, last: int) -> None:  # noqa: N802 - Qt's name
        """If the current row is removed, a neighbour becomes current, neither scrolled to nor selected, as by Qt."""
        self._taken |= {row.chat_id for row in self._rows().rows[first : last + 1]} & set(self._chosen)
        if first <= self.currentIndex().row() <= last:
            self._left = row_of(self.currentIndex()).chat_id
            rows = (*range(last + 1, self._rows().rowCount()), *range(first - 1, -1, -1))
            items = (self._rows().index(row) for row in rows)
            nearest = next(filter(self._is_item, items), QModelIndex())
            self._make_current(nearest, QItemSelectionModel.SelectionFlag.NoUpdate)
        super().rowsAboutToBeRemoved(parent, first, last)
