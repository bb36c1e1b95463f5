"""The sidebar: new chat, search, the chat list, and the buttons for models and settings.

It emits requests; `SidebarWiring` connects them to the controllers.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent, QPen, QWindow
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.controllers.chat import ChatController
from app.theme import Theme
from app.view_models.conversation_list import ConversationListModel, ConversationRow
from app.view_models.downloads import UNDER_WAY, DownloadEntry, DownloadState, share_done
from app.views.chats.chat_list import ChatList
from app.views.chats.trash_window import TrashMenu, TrashWindow
from app.views.shell.menu import MenuBar
from app.views.widgets.buttons import Emphasis, IconButton, PaintedButton, PillButton
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.search_field import SearchField
from app.views.widgets.tooltips import set_tooltip
from app.views.widgets.translated import Translated
from app.words.formats import fill, percent, sentences

WIDTH = 248
_SEARCH_DELAY_MS = 150
_INSET_PX = 12  # as the rows of the list
_SLOW_MS = 400  # a search that takes longer says that it goes on
_ASKS_PX = 560  # the question that has three buttons
_SIDE_PX = 16


class Sidebar(Translated, QWidget):
    new_chat_requested = Signal()
    search_changed = Signal(str)
    models_requested = Signal()
    settings_requested = Signal()
    hide_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.chats = ChatList(theme, self)
        self.search = SearchField(theme, self)
        self.hide_button = IconButton(theme, "panel-left", parent=self)
        self.new_button = PillButton(theme, Emphasis.QUIET, "pencil", self)
        self.nothing = TextLabel(theme, TextStyle.SECONDARY, self)
        self.still = TextLabel(theme, TextStyle.SECONDARY, self)
        self.models_button = PillButton(theme, Emphasis.QUIET, "box", self)
        self.downloads = DownloadRing(theme, self)
        self.settings_button = IconButton(theme, "settings", parent=self)
        self._delay = QTimer(self, singleShot=True, interval=_SEARCH_DELAY_MS)
        self._slow = QTimer(self, singleShot=True, interval=_SLOW_MS)
        self._opens_first = False  # of what is being searched for
        self._arrange()
        self._connect()
        self._restyle()
        self._retranslate()

    def _arrange(self) -> None:
        for button in (self.new_button, self.models_button):
            button.left_aligned = True
        top = QHBoxLayout()
        top.addWidget(self.new_button, 1)
        top.addWidget(self.hide_button)
        foot = QHBoxLayout()
        foot.addWidget(self.models_button, 1)
        foot.addWidget(self.downloads)
        foot.addWidget(self.settings_button)
        self.nothing.setVisible(False)
        self.still.setVisible(False)
        for line in (self.nothing, self.still):
            line.setContentsMargins(_INSET_PX, 0, 0, 0)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(10, 9, 10, 10)
        self._column.setSpacing(8)
        self._column.addLayout(top)
        self._column.addWidget(self.search)
        self._column.addWidget(self.nothing)
        self._column.addWidget(self.chats, 1)
        self._column.addWidget(self.still)
        self._column.addLayout(foot)

    def _connect(self) -> None:
        self.new_button.clicked.connect(self.new_chat_requested)
        self.hide_button.clicked.connect(self.hide_requested)
        self.models_button.clicked.connect(self.models_requested)
        self.settings_button.clicked.connect(self.settings_requested)
        self.search.words_changed.connect(self._on_words)
        self.search.left.connect(self.leave_search)
        self.search.down_pressed.connect(self.chats.take_focus)
        self.chats.left_upwards.connect(self.search.setFocus)
        self.chats.search_left.connect(self.leave_search)
        self.chats.search_left.connect(self.search.setFocus)
        self._delay.timeout.connect(self._search_now)
        self._slow.timeout.connect(self._show_state)
        self.search.returnPressed.connect(self._open_first)
        self._theme.changed.connect(self._restyle)

    def show_models_open(self, shown: bool) -> None:
        """As the row of a chat that is open."""
        self.models_button.set_emphasis(Emphasis.PLAIN if shown else Emphasis.QUIET)

    def set_model(self, model: ConversationListModel) -> None:
        self.chats.setModel(model)
        for signal in (model.rowsInserted, model.rowsRemoved, model.modelReset):
            signal.connect(self._show_state)
        model.refreshed.connect(self._on_found)
        self._show_state()

    def _on_words(self) -> None:
        self._opens_first = False
        self._delay.start()

    def _search_now(self) -> None:
        self._delay.stop()
        self._slow.start()
        self.search_changed.emit(self.search.words())
        self._show_state()

    def _open_first(self) -> None:
        """Return opens the first of what is found, now or as soon as it is."""
        if self._delay.isActive():
            self._search_now()
        self._opens_first = bool(self.search.words().strip())
        model = self.chats.model()
        if isinstance(model, ConversationListModel) and model.is_answered:
            self._on_found()

    def _on_found(self) -> None:
        self._show_state()
        if self._opens_first:
            self._opens_first = False
            self.chats.open_first()

    def stop_search(self) -> None:
        """The chats are about to be closed."""
        self._delay.stop()

    def leave_search(self) -> None:
        self.search.clear()
        self._search_now()

    def _show_state(self) -> None:
        model = self.chats.model()
        if not isinstance(model, ConversationListModel):
            return
        is_slow = model.is_searching and not self._slow.isActive()
        self.still.setVisible(is_slow)
        self.nothing.setVisible(bool(self.search.words()) and not model.rows and not is_slow)

    def _retranslate(self) -> None:
        self.new_button.setText(self.tr("New chat"))
        self.hide_button.set_name(self.tr("Hide sidebar"))
        self.search.setPlaceholderText(self.tr("Search"))
        self.search.setAccessibleName(self.tr("Search chats"))
        self.nothing.setText(self.tr("No results."))
        self.still.setText(self.tr("Searching…"))
        self.models_button.setText(self.tr("Models"))
        self.settings_button.set_name(self.tr("Settings"))
        self.chats.setAccessibleName(self.tr("Chats"))
        self.chats.viewport().update()

    def _restyle(self) -> None:
        # The sidebar grows by 60 % of what the text grows, and gives way where the chat would lie over it.
        usual = round(WIDTH * (1 + (self._theme.scale - 1) * 0.6))
        self.setMinimumWidth(usual * 3 // 4)
        self.setMaximumWidth(usual)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self.maximumWidth(), super().sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.palette.sidebar)
        painter.end()


class SidebarWiring(QObject):
    """What the sidebar and the Chat menu ask for: chats, folders, search, the Trash."""

    sidebar_wanted = Signal()

    def __init__(self, chats: ChatController, sidebar: Sidebar, menu: MenuBar, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._chats = chats
        self._sidebar, self._list = sidebar, sidebar.chats
        self._to_rename = 0  # a chat, as soon as it is listed
        self._menu = menu
        self._theme = theme
        self._window = window
        self._trash: TrashWindow | None = None
        sidebar.set_model(chats.conversations)
        sidebar.search_changed.connect(chats.conversations.set_query)
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.focusWindowChanged.connect(self._on_looked)
        self._connect_chats()
        self._connect_folders()
        self._connect_menu()
        TrashMenu(menu.deleted, chats.deletions, self.show_trash)

    def _on_looked(self, window: QWindow | None) -> None:
        """The user is back, perhaps on another day; not where the app is ending."""
        if window is not None and self._window.isVisible():
            self._chats.conversations.follow_day()

    def _connect_chats(self) -> None:
        listed, chats = self._list, self._chats
        listed.chat_opened.connect(chats.open_chat)
        listed.renamed.connect(chats.rename)
        listed.pin_requested.connect(chats.pin)
        listed.duplicate_requested.connect(chats.duplicate)
        listed.delete_requested.connect(chats.delete_chat)

    def _connect_folders(self) -> None:
        listed, folders = self._list, self._chats.folders
        listed.move_requested.connect(folders.move_chat)
        listed.folder_move_requested.connect(folders.move_folder)
        listed.folder_renamed.connect(folders.rename)
        listed.folder_opened.connect(folders.set_opened)
        listed.folder_requested.connect(folders.make)
        listed.folder_delete_requested.connect(self.delete_folder)
        folders.made.connect(self._name_folder)

    def _connect_menu(self) -> None:
        menu, chats = self._menu, self._chats
        menu.rename.triggered.connect(self._rename)
        chats.conversations.refreshed.connect(self._rename_when_listed)
        menu.pin.triggered.connect(lambda: chats.pin(chats.chat_id, not chats.is_pinned(chats.chat_id)))
        menu.menus["chat"].aboutToShow.connect(self._name_pin)
        menu.duplicate.triggered.connect(lambda: chats.duplicate(chats.chat_id))
        menu.delete.triggered.connect(lambda: chats.delete_chat(chats.chat_id))
        menu.new_folder.triggered.connect(lambda: chats.folders.make())  # noqa: PLW0108  without Qt's own argument
        menu.move.aboutToShow.connect(self._fill_move_menu)

    def _fill_move_menu(self) -> None:
        """Of the open chat, wherever it is listed."""
        chat_id = self._chats.chat_id
        self._menu.move.clear()
        if chat_id:
            row = ConversationRow(chat_id=chat_id, inside=self._chats.folders.folder_of(chat_id))
            self._list.fill_move_menu(self._menu.move, row)

    def _name_pin(self) -> None:
        is_pinned = self._chats.is_pinned(self._chats.chat_id)
        self._menu.pin.setText(self.tr("Unpin Chat") if is_pinned else self.tr("Pin Chat"))

    def _rename(self) -> None:
        """The open chat, in its row. What hides that is opened first: the sidebar, a search, folders."""
        self._to_rename = self._chats.chat_id
        self.sidebar_wanted.emit()
        if self._chats.conversations.row_of(self._to_rename) is None:
            self._sidebar.leave_search()
            self._chats.folders.open_around(self._to_rename)
        self._rename_when_listed()

    def _rename_when_listed(self) -> None:
        listed = self._chats.conversations
        if not self._to_rename or self._to_rename != self._chats.chat_id:
            self._to_rename = 0
            return
        row = listed.row_of(self._to_rename)
        if row is not None:
            self._to_rename = 0
            self._list.scrollTo(listed.index(row))
            self._list.start_rename(listed.index(row))
        elif listed.canFetchMore(QModelIndex()):
            listed.fetchMore(QModelIndex())

    def _name_folder(self, folder_id: int) -> None:
        self.sidebar_wanted.emit()
        if self._chats.conversations.row_of_folder(folder_id) is None:
            self._sidebar.leave_search()
        row = self._chats.conversations.row_of_folder(folder_id)
        if row is not None:
            index = self._chats.conversations.index(row)
            self._list.setCurrentIndex(index)
            self._list.scrollTo(index)
            self._list.start_rename(index)

    # Deleting a folder

    def delete_folder(self, folder_id: int) -> Dialog | None:
        """The open question; None for an empty folder, which is deleted at once: that can be undone."""
        chats, folders = self._chats.folders.contents(folder_id)
        if not chats and not folders:
            self._chats.folders.delete(folder_id, with_chats=False)
            return None
        name = self._chats.conversations.tree.folders[folder_id].name

        def text() -> DialogText:
            title = fill(self.tr("Delete the folder “%1”?"), name)
            acts = self.tr("Move contents up"), self.tr("Cancel"), self.tr("Delete everything")
            return DialogText(title, self._contents(chats, folders), "", *acts)

        dialog = Dialog(self._theme, self._window, text, width_px=_ASKS_PX)
        dialog.accepted.connect(lambda: self._chats.folders.delete(folder_id, with_chats=False))
        dialog.other_chosen.connect(lambda: self._chats.folders.delete(folder_id, with_chats=True))
        dialog.open()
        return dialog

    def _contents(self, chats: int, folders: int) -> str:
        within = self.tr("%Ln chat(s)", "", chats)
        if folders:
            within = fill(self.tr("%1 and %2"), within, self.tr("%Ln folder(s)", "", folders))
        kept = self.tr("Deleted chats stay in Recently Deleted for 30 days.")
        return sentences(fill(self.tr("Contains %1."), within), kept)

    # The Trash

    def show_trash(self) -> TrashWindow:
        if self._trash is None:
            self._trash = TrashWindow(self._theme, self._chats.deletions, self._window)
            self._trash.read_requested.connect(self._read)
        self._trash.come_to_front()
        return self._trash

    def _read(self, chat_id: int) -> None:
        """In the main window, which the other one must not cover."""
        self._chats.reading.open(chat_id)
        if self._trash is not None:
            self._trash.close()
        self._window.activateWindow()


class DownloadRing(Translated, PaintedButton):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._entries: Sequence[DownloadEntry] = ()
        self._retranslate()

    def show_entries(self, entries: Sequence[DownloadEntry]) -> None:
        self._entries = [entry for entry in entries if entry.state in UNDER_WAY]
        self._retranslate()

    @property
    def share(self) -> float:
        return share_done(self._entries)

    def _retranslate(self) -> None:
        """The figures change several times a second; shown are whole percents."""
        paused = all(entry.state is DownloadState.PAUSED for entry in self._entries)
        words = self.tr("Downloads paused at %1") if paused else self.tr("Downloading: %1")
        label = fill(words, percent(self.share))
        self.setVisible(bool(self._entries))
        if label != self.accessibleName():
            self.setAccessibleName(label)
            set_tooltip(self, label)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(self.theme.px(32), self.theme.px(32))

    def paint_content(self, painter: QPainter) -> None:
        colors, side = self.theme.palette, self.theme.px(_SIDE_PX)
        ring = self.rect()
        ring.setSize(QSize(side, side))
        ring.moveCenter(self.rect().center())
        paused = all(entry.state is DownloadState.PAUSED for entry in self._entries)
        painter.setPen(QPen(colors.hairline, self.theme.px(2)))
        painter.drawEllipse(ring)
        color = colors.faint if paused else colors.ink
        painter.setPen(QPen(color, self.theme.px(2), Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawArc(ring, 90 * 16, -round(self.share * 360 * 16))
