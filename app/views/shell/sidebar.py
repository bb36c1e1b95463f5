"""The sidebar: new chat, search, chats, buttons for models and settings; and the Chat menu's actions."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent, QPen, QWindow
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.controllers.chat import ChatController
from app.theme import Theme
from app.view_models.conversation_list import ConversationListModel, ConversationRow
from app.view_models.downloads import UNDER_WAY, DownloadEntry, DownloadState, share_done
from app.views.chats.chat_list import ChatList
from app.views.chats.trash_window import TrashMenu, TrashWindow
from app.views.shell.menu import MenuBar
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import Emphasis, IconButton, PaintedButton, PillButton
from app.views.widgets.labels import TextLabel, TextStyle, describe
from app.views.widgets.roles import announce
from app.views.widgets.search_field import SearchField
from app.views.widgets.translated import Translated
from app.words.formats import fill, percent

WIDTH = 248
_SEARCH_DELAY_MS = 150
_INSET_PX = 12  # as the rows of the list
_SLOW_MS = 400  # a longer search shows that it is running
_SIDE_PX = 16


class Sidebar(Translated, QWidget):
    shown_wanted = Signal()  # it has to be shown for an action

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.chats = ChatList(theme, self)
        self.new_button = PillButton(theme, Emphasis.QUIET, "pencil", self)
        self.hide_button = IconButton(theme, "panel-left", parent=self)
        self.search = SearchField(theme, self)
        self.nothing = TextLabel(theme, TextStyle.SECONDARY, self)
        self.still = TextLabel(theme, TextStyle.SECONDARY, self)
        self.models_button = PillButton(theme, Emphasis.QUIET, "box", self)
        self.downloads = DownloadRing(theme, self)
        self.settings_button = IconButton(theme, "settings", parent=self)
        self._delay = QTimer(self, singleShot=True, interval=_SEARCH_DELAY_MS)
        self._slow = QTimer(self, singleShot=True, interval=_SLOW_MS)
        self._opens_first = False  # open the first result when there is one
        self._to_rename = 0  # chat to rename once it is listed
        self._trash: TrashWindow | None = None
        self._arrange()
        self._connect()
        self._restyle()
        self._retranslate()

    def _arrange(self) -> None:
        for button in (self.new_button, self.models_button):
            button.left_aligned = True
        top = arrange(QHBoxLayout(), (self.new_button, 1), self.hide_button)
        foot = arrange(QHBoxLayout(), (self.models_button, 1), self.downloads, self.settings_button)
        self.nothing.setVisible(False)
        self.still.setVisible(False)
        for line in (self.nothing, self.still):
            line.setContentsMargins(_INSET_PX, 0, 0, 0)
        parts = top, self.search, self.nothing, (self.chats, 1), self.still, foot
        arrange(QVBoxLayout(self), *parts, spacing=8, margins=(10, 9, 10, 10))
        for each in (self.chats, self.still, self.models_button, self.downloads, self.settings_button):
            each.raise_()  # screen readers read them in this order, after what is above the chats

    def _connect(self) -> None:
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
        """Mark the button of the models like the row of an open chat."""
        self.models_button.set_emphasis(Emphasis.PLAIN if shown else Emphasis.QUIET)

    def bind(self, chats: ChatController, menu: MenuBar) -> None:
        """Lists the chats, and does what the Chat menu asks for."""
        self._chats = chats
        self._menu = menu
        model = chats.conversations
        self.chats.bind(chats)
        for signal in (model.rowsInserted, model.rowsRemoved, model.modelReset):
            signal.connect(self._show_state)
        model.refreshed.connect(self._on_found)
        model.refreshed.connect(self._rename_when_listed)
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.focusWindowChanged.connect(self._on_looked)
        chats.folders.made.connect(self._name_folder)
        menu.rename.triggered.connect(self._rename)
        menu.pin.triggered.connect(lambda: chats.pin(chats.chat_id, not chats.is_pinned(chats.chat_id)))
        menu.menus["chat"].aboutToShow.connect(self._name_acts)
        menu.duplicate.triggered.connect(lambda: chats.duplicate(chats.chat_id))
        menu.delete.triggered.connect(lambda: chats.delete_chats(self.meant()))
        menu.new_folder.triggered.connect(lambda: chats.folders.make())  # noqa: PLW0108  without Qt's own argument
        menu.move.aboutToShow.connect(self._fill_move_menu)
        TrashMenu(menu.deleted, chats.deletions, self.show_trash)
        self._show_state()

    @property
    def _model(self) -> ConversationListModel | None:
        """None before `bind`."""
        model = self.chats.model()
        return model if isinstance(model, ConversationListModel) else None

    def _on_looked(self, window: QWindow | None) -> None:
        """The user is back, perhaps on another day: regroup, unless the app is ending."""
        if window is not None and self.window().isVisible():
            self._chats.conversations.follow_day()

    def _on_words(self) -> None:
        self._opens_first = False
        self._delay.start()

    def _search_now(self) -> None:
        self._delay.stop()
        self._slow.start()
        if self._model is not None:
            self.chats.search(self.search.words())
        self._show_state()

    def _open_first(self) -> None:
        """Return: open the first result, at once or when it arrives."""
        if self._delay.isActive():
            self._search_now()
        self._opens_first = bool(self.search.words().strip())
        if self._model is not None and self._model.is_answered:
            self._on_found()

    def _on_found(self) -> None:
        self._show_state()
        self.chats.show_results_from_top()
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
        model = self._model
        if model is None:
            return
        is_slow = model.is_searching and not self._slow.isActive()
        self.still.setVisible(is_slow)
        found_none = bool(self.search.words()) and not model.rows and not is_slow
        if found_none and self.nothing.isHidden():
            announce(self.search, self.nothing.text())
        self.nothing.setVisible(found_none)

    def meant(self) -> Sequence[int]:
        """The chats that the Chat menu acts on: those selected in the list that has the focus, or the open one."""
        chosen = self.chats.chosen() if self.chats.hasFocus() else ()
        return chosen or ([] if self._chats.is_new else [self._chats.chat_id])

    def _fill_move_menu(self) -> None:
        """Of the open chat, wherever it is listed, or of those selected."""
        self._menu.move.clear()
        for chat_id in self.meant()[:1]:
            row = ConversationRow(chat_id=chat_id, inside=self._chats.folders.folder_of(chat_id))
            self.chats.fill_move_menu(self._menu.move, row)

    def _name_acts(self) -> None:
        is_pinned = self._chats.is_pinned(self._chats.chat_id)
        number = len(self.meant())
        self._menu.pin.setText(self.tr("Unpin Chat") if is_pinned else self.tr("Pin Chat"))
        delete = self.tr("Delete Chat") if number < 2 else self.tr("Delete %Ln chat(s)", "", number)
        self._menu.delete.setText(delete)

    def _rename(self) -> None:
        """Rename the open chat in its row, after showing the sidebar, ending a search and opening folders."""
        self._to_rename = self._chats.chat_id
        self.shown_wanted.emit()
        if not self._chats.conversations.index_of(self._to_rename).isValid():
            self.leave_search()
            self._chats.folders.open_around(self._to_rename)
        self._rename_when_listed()

    def _rename_when_listed(self) -> None:
        listed = self._chats.conversations
        if not self._to_rename or self._to_rename != self._chats.chat_id:
            self._to_rename = 0
            return
        index = listed.index_of(self._to_rename)
        if index.isValid():
            self._to_rename = 0
            self.chats.scrollTo(index)
            self.chats.start_rename(index)
        elif listed.canFetchMore(QModelIndex()):
            listed.fetchMore(QModelIndex())

    def _name_folder(self, folder_id: int) -> None:
        self.shown_wanted.emit()
        if not self._chats.conversations.index_of_folder(folder_id).isValid():
            self.leave_search()
        index = self._chats.conversations.index_of_folder(folder_id)
        if index.isValid():
            self.chats.setCurrentIndex(index)
            self.chats.scrollTo(index)
            self.chats.start_rename(index)

    def show_trash(self) -> TrashWindow:
        if self._trash is None:
            self._trash = TrashWindow(self._theme, self._chats.deletions, self.window())
        self._trash.come_to_front()
        return self._trash

    def _retranslate(self) -> None:
        self.new_button.setText(self.tr("New chat"))
        self.hide_button.set_name(self.tr("Hide sidebar"))
        describe(self.search, self.tr("Search"), self.tr("Search chats"))
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
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.palette.sidebar)


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
            self.set_name(label)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(self.theme.px(32), self.theme.px(32))

    def paint_content(self, painter: QPainter) -> None:
        colors = self.theme.palette
        side = self.theme.px(_SIDE_PX)
        ring = self.rect()
        ring.setSize(QSize(side, side))
        ring.moveCenter(self.rect().center())
        paused = all(entry.state is DownloadState.PAUSED for entry in self._entries)
        painter.setPen(QPen(colors.hairline, self.theme.px(2)))
        painter.drawEllipse(ring)
        color = colors.faint if paused else colors.ink
        painter.setPen(QPen(color, self.theme.px(2), Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawArc(ring, 90 * 16, -round(self.share * 360 * 16))
