"""The main window: creates its parts and connects them to the controllers; what closes it, and where Tab goes in it.

It can be painted without controllers; `bind` connects them once the database and the engine exist.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QObject, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout

from app.controllers.chat import ChatController
from app.controllers.files import FileControllers
from app.controllers.models import ModelController
from app.settings import Settings
from app.theme import Theme
from app.views.chats.trash_window import TrashBar
from app.views.link_dialog import ask_to_open
from app.views.shell.chat_settings import ChatSettingsWiring
from app.views.shell.composer import Composer, ComposerWiring
from app.views.shell.empty_chat import EmptyChat
from app.views.shell.file_wiring import FileWiring
from app.views.shell.header import Header
from app.views.shell.inspector import InspectorWiring
from app.views.shell.kept_words import KeptWords
from app.views.shell.main_column import MainColumn, ModelsWiring
from app.views.shell.menu import MenuBar
from app.views.shell.picker import PairWiring, PickerWiring
from app.views.shell.sidebar import Sidebar, SidebarWiring
from app.views.shell.sidebar_visibility import SidebarVisibility
from app.views.shell.window_parts import ShellWindow, WindowParts
from app.views.shell.window_tools import WindowTools
from app.views.widgets.banner import Banner, problem_text
from app.views.widgets.focus import chain, in_reading_order
from app.views.widgets.translated import Translated
from app.words.notices import NoticeAction
from app.words.notices_for_errors import Problem, notice_for

if TYPE_CHECKING:
    from app.controllers.speculation import SpeculationParts
    from app.views.settings.window import SettingsWindow
    from app.views.transcript import TranscriptView


class MainWindow(Translated, ShellWindow):
    painted_first = Signal()

    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__()
        self._theme = theme
        self._settings = settings
        self._was_painted = False
        self._may_close = self._quits = False
        self._kept_words: KeptWords | None = None
        self.transcript: TranscriptView | None = None
        self.sidebar = Sidebar(theme, self)
        self.header = Header(theme, self)
        self.empty_chat = EmptyChat(theme, self)
        self.composer = Composer(theme, self)
        self.trash_bar = TrashBar(theme, self)
        self.banner = Banner(theme, self)
        self.menu = MenuBar(self)
        self.parts = WindowParts(self, self.sidebar, self.header, self.composer, self.banner, self.menu)
        self.picker = PickerWiring(self.parts, theme)
        self.models_view = ModelsWiring(self.parts, theme, settings)
        self.sidebar_visibility = SidebarVisibility(self.parts, theme, settings)
        self._column = MainColumn(self.parts, theme, self.empty_chat, self.trash_bar, self.models_view)
        self._asking = ComposerWiring(self.composer)
        self._arrange()
        self._connect_parts()
        self.inspector = InspectorWiring(self.parts, theme, settings)
        self.chat_settings = ChatSettingsWiring(self.parts, theme)
        self.tools = WindowTools(self.parts, theme, settings)
        self._pair = PairWiring(self.parts, self.empty_chat, settings)
        if settings.window_geometry:
            self.restoreGeometry(QByteArray.fromBase64(settings.window_geometry.encode()))
        theme.changed.connect(self.update)
        self.setWindowTitle("Hunch")
        self.composer.take_focus()

    def _arrange(self) -> None:
        self.setMinimumSize(720, 480)
        self.resize(1120, 760)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.sidebar)
        row.addLayout(self._column.layout, 1)

    def _connect_parts(self) -> None:
        for go_on in (self.sidebar.chats.chat_clicked, self.menu.write.triggered):
            go_on.connect(self.composer.take_focus)
        for wish in (self.sidebar.settings_requested, self.menu.settings.triggered):
            wish.connect(lambda: self.settings_requested.emit(""))
        self.empty_chat.models_requested.connect(self.models_view.find)
        self.menu.quit.triggered.connect(self.quit)

    def bind(
        self,
        chats: ChatController,
        models: ModelController,
        speculation: SpeculationParts,
        files: FileControllers,
        settings_window: Callable[[], SettingsWindow],
    ) -> None:
        self.sidebar_wiring = SidebarWiring(chats, self.sidebar, self.menu, self._theme, self)
        self.closed.connect(self.sidebar.stop_search)
        self.sidebar_wiring.sidebar_wanted.connect(lambda: self.sidebar_visibility.set_wanted(True))
        for request in (self.sidebar.new_chat_requested, self.header.new_chat_requested, self.menu.new_chat.triggered):
            request.connect(chats.new_chat)
            request.connect(self.composer.take_focus)
        self._asking.bind(chats)
        self._column.bind(chats)
        self.notices = NoticeWiring(self.parts, self.picker, self.models_view, chats, models)
        view = self._bind_transcript(chats)
        self.empty_chat.question_asked.connect(self._asking.ask)
        self.menu.stop.triggered.connect(chats.stop)
        self.picker.bind(models, chats)
        self.models_view.bind(chats, models)
        self._kept_words = KeptWords(chats, self.composer, self.banner, self.menu, self)
        view.editing.typed.connect(self._kept_words.note_typing)
        self.chat_settings.bind(chats, models)
        self._pair.bind(models, chats)
        self._column.show()
        self.tools.bind(chats, models, view, settings_window)
        self.tools.desktop.tray.quit_wanted.connect(self.quit)
        self._bind_speculation(speculation, chats, models, view)
        self.file_wiring = FileWiring(self.parts, self._theme, files, chats, models, view, self.models_view.find)

    def _bind_transcript(self, chats: ChatController) -> TranscriptView:
        # Markdown, highlighting and formulas load here, after the first frame.
        from app.views.shell.find_bar import FindWiring
        from app.views.shell.message_wiring import MessageWiring
        from app.views.shell.overlay_wiring import OverlayWiring
        from app.views.transcript import TranscriptView

        view = self.transcript = TranscriptView(self._theme, chats.transcript, self)
        view.link_requested.connect(lambda link: ask_to_open(link, self._theme, self))
        MessageWiring(view, chats, self._theme, self)
        view.notice_action_requested.connect(self.notices.follow_in_chat)
        self.finding = FindWiring(chats, view, self.sidebar.chats, self.menu, self._theme)
        self.inspector.bind(chats, view)
        self.overlay = OverlayWiring(self.parts, self._settings, self._theme)
        self.overlay.bind(chats, view)
        self.models_view.changed.connect(self.overlay.end_explaining)
        self._column.set_transcript(view, chats)
        return view

    def _bind_speculation(
        self, speculation: SpeculationParts, chats: ChatController, models: ModelController, view: TranscriptView
    ) -> None:
        from app.views.shell.speculation_wiring import SpeculationWiring

        self.speculation = SpeculationWiring(self.parts, self.inspector, speculation, chats, models, view, self._theme)
        self.picker.speculation_chosen.connect(self.speculation.choose)
        self.picker.race_requested.connect(self.speculation.race.trigger)
        speculation.statistics.not_cleared.connect(self.notices.show_problem)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._was_painted:  # one that comes back keeps its focus
            self.composer.take_focus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Where they mean nothing else, Escape leaves the models or stops the reply, and F2 renames the chat."""
        if event.key() == Qt.Key.Key_Escape and self.models_view.escape():
            return
        if event.key() == Qt.Key.Key_Escape and self.menu.stop.isEnabled():
            self.menu.stop.trigger()
        elif event.key() == Qt.Key.Key_F2 and self.menu.rename.isEnabled():
            self.menu.rename.trigger()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes through the window part by part, whenever their widgets were made."""
        sidebar = in_reading_order(self.sidebar) if self.sidebar.isVisible() else []
        chain([*sidebar, *self._column.tab_stops()])
        return super().focusNextPrevChild(forward)

    def _retranslate(self) -> None:
        self.menu.retranslate()
        self._column.show()
        self.language_changed.emit()

    def quit(self) -> None:
        """Close, and with it the app, whether or not it could stay beside the clock."""
        self._quits = True
        self.close()
        self._quits = False

    def close_at_once(self) -> None:
        """Without asking, as when the system ends the app."""
        self._may_close = self._quits = True
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.composer.edit.commit()
        if self.tools.stays_without_window and not self._quits:
            event.ignore()
            self.hide()
            return
        self.composer.unsent.keep()
        self.closing.emit()
        if self._kept_words is not None and not self._may_close and self._kept_words.warn_before_closing():
            event.ignore()
            self.show()
            return
        self._settings.window_geometry = bytes(self.saveGeometry().toBase64().data()).decode()
        super().closeEvent(event)
        self.closed.emit()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.palette.window)
        painter.end()
        if not self._was_painted:
            self._was_painted = True
            self.painted_first.emit()


class NoticeWiring(QObject):
    """Notices of the controllers, over the chat and in it: what their buttons lead to."""

    def __init__(
        self,
        parts: WindowParts,
        picker: PickerWiring,
        models_view: ModelsWiring,
        chats: ChatController,
        models: ModelController,
    ) -> None:
        super().__init__(parts.window)
        self._parts, self._picker, self._models_view = parts, picker, models_view
        self._chats, self._models = chats, models
        chats.problem_raised.connect(self.show_problem)
        models.problem_raised.connect(self.show_problem)

    def show_problem(self, problem: Problem) -> None:
        self._parts.banner.show_warning(lambda: problem_text(problem), lambda: self.follow(notice_for(problem).action))

    def follow(self, action: NoticeAction | None) -> None:
        if action in (NoticeAction.CHOOSE_MODEL, NoticeAction.CHOOSE_DRAFT):
            self._picker.open()
        elif action == NoticeAction.OPEN_MODELS:
            self._models_view.show()
        elif action == NoticeAction.INSTALL_MODEL:
            self._models_view.find()
        elif action == NoticeAction.OPEN_SETTINGS:
            self._parts.window.settings_requested.emit("chat")
        elif action == NoticeAction.OPEN_HUB:
            self._parts.window.settings_requested.emit("advanced")
        elif action == NoticeAction.NEW_CHAT:
            self._parts.menu.new_chat.trigger()
        elif action == NoticeAction.RETRY:
            self._models.try_again()

    def follow_in_chat(self, message_id: int, action: NoticeAction) -> None:
        """Of the notice in place of a reply, or below it."""
        if action == NoticeAction.RETRY:
            self._chats.asking.regenerate(message_id)
        elif action == NoticeAction.CONTINUE:
            self._chats.asking.continue_reply(message_id)
        else:
            self.follow(action)
