"""The main window: creates its parts and connects them to the controllers.

It can be painted without controllers; `bind` connects them once the database and the engine exist.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.settings import STARTER_EYES, STARTER_EYES_NAME, STARTER_FOLDER, STARTER_NAME, Settings
from app.theme import Theme
from app.view_models.attached import AttachedRow
from app.view_models.model_list import PairState, PairView
from app.view_models.transcript import ReplyStatus
from app.views.link_dialog import ask_to_open
from app.views.shell.chat_settings import ChatSettingsWiring
from app.views.shell.composer import Composer
from app.views.shell.empty_chat import EmptyChat
from app.views.shell.header import Header
from app.views.shell.inspector import InspectorWiring
from app.views.shell.kept_words import KeptWords, problem_text
from app.views.shell.menu import MenuBar
from app.views.shell.models_wiring import ModelsWiring
from app.views.shell.picker import PickerWiring
from app.views.shell.sidebar import Sidebar, SidebarWiring
from app.views.shell.trash_window import TrashBar
from app.views.shell.window_parts import ShellWindow, WindowParts
from app.views.shell.window_tools import WindowTools
from app.views.widgets.banner import Banner
from app.views.widgets.drop_target import TakesDrops
from app.views.widgets.focus import chain, in_reading_order
from app.views.widgets.plain_words import set_window_title
from app.views.widgets.scrolling import bar_room_px
from app.views.widgets.translated import Translated
from app.words.notices import NoticeAction
from app.words.notices_for_errors import Problem, notice_for

if TYPE_CHECKING:
    from app.controllers.speculation import SpeculationParts
    from app.views.settings.window import SettingsWindow
    from app.views.shell.speculation_wiring import SpeculationWiring
    from app.views.transcript import TranscriptView

_SIDE_PX = 24
_CHAT_NEEDS_PX = 360


class MainWindow(TakesDrops, Translated, ShellWindow):
    painted_first = Signal()

    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__()
        self._theme = theme
        self._settings = settings
        self._was_painted = False
        self._sidebar_fits = True
        self._may_close = self._quits = False
        self._kept_words: KeptWords | None = None
        self.chats: ChatController | None = None
        self.models: ModelController | None = None
        self.sidebar = Sidebar(theme, self)
        self.header = Header(theme, self)
        self.transcript: TranscriptView | None = None
        self.empty_chat = EmptyChat(theme, self)
        self.composer = Composer(theme, self)
        self.trash_bar = TrashBar(theme, self)
        self.banner = Banner(theme, self)
        self.menu = MenuBar(self)
        self.parts = WindowParts(self, self.sidebar, self.header, self.composer, self.banner, self.menu)
        self.picker = PickerWiring(self.parts, theme)
        self.models_view = ModelsWiring(self.parts, theme, settings)
        self._arrange()
        self._connect_parts()
        self._connect_menu()
        self.inspector = InspectorWiring(self.parts, theme, settings)
        self.chat_settings = ChatSettingsWiring(self.parts, theme)
        self.speculation: SpeculationWiring
        self.tools = WindowTools(self.parts, theme, settings)
        self._restore()
        theme.changed.connect(self.update)
        self.setWindowTitle("Hunch")
        self.composer.take_focus()

    def _arrange(self) -> None:
        self.setMinimumSize(720, 480)
        self.resize(1120, 760)
        self._stack = QStackedLayout()
        self._stack.addWidget(self.empty_chat)
        foot = self._foot = QHBoxLayout()
        self._fit_foot()
        foot.addStretch(1)
        foot.addWidget(self.composer, 1000)
        foot.addWidget(self.trash_bar, 1000)
        foot.addStretch(1)
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(self.header)
        right.addLayout(self._stack, 1)
        right.addLayout(foot)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.sidebar)
        row.addLayout(right, 1)

    def _connect_parts(self) -> None:
        self.sidebar.chats.chat_clicked.connect(self.composer.take_focus)
        self.sidebar.hide_requested.connect(self.toggle_sidebar)
        self.header.sidebar_requested.connect(self.toggle_sidebar)
        self.header.pair_requested.connect(self.picker.open)
        self.banner.appeared.connect(self._place_banner)
        for foot in (self.composer, self.trash_bar):
            foot.resized.connect(self._place_banner)
        self.composer.send_requested.connect(self._send)
        self._theme.changed.connect(self._fit_sidebar)
        self.sidebar.models_requested.connect(self.models_view.toggle)
        self.sidebar.downloads.clicked.connect(lambda: self.models_view.show("yours"))
        self.sidebar.settings_requested.connect(lambda: self.settings_requested.emit(""))
        self.empty_chat.models_requested.connect(lambda: self.models_view.show("find"))
        self.models_view.changed.connect(self._show_place)

    def _connect_menu(self) -> None:
        menu = self.menu
        menu.close_window.triggered.connect(lambda: self._front().close())
        menu.minimize.triggered.connect(lambda: self._front().showMinimized())
        menu.settings.triggered.connect(lambda: self.settings_requested.emit(""))
        menu.quit.triggered.connect(self.quit)
        menu.search.triggered.connect(self.focus_search)
        menu.sidebar.triggered.connect(self.toggle_sidebar)
        menu.write.triggered.connect(self.composer.take_focus)
        menu.pair.triggered.connect(self.picker.open)

    # Controllers

    def bind(
        self, chats: ChatController, models: ModelController, settings_window: Callable[[], SettingsWindow]
    ) -> None:
        self.chats, self.models = chats, models
        self.sidebar_wiring = SidebarWiring(chats, self.sidebar, self.menu, self._theme, self)
        self.closed.connect(self.sidebar.stop_search)
        self.sidebar_wiring.sidebar_wanted.connect(lambda: self.show_sidebar(True))
        self._bind_chats(chats)
        view = self._bind_transcript(chats)
        self._bind_messages(chats)
        self._bind_models(models, chats)
        self.models_view.bind(chats, models)
        self._kept_words = KeptWords(chats, self.composer, self.banner, self.menu, self)
        view.editing.typed.connect(self._kept_words.note_typing)
        self.chat_settings.bind(chats, models)
        chats.options.changed.connect(self._show_pair)
        self._on_chat_changed(chats.chat_id, chats.title)
        self._show_pair()
        self.tools.bind(chats, models, view, settings_window)
        self.tools.desktop.tray.quit_wanted.connect(self.quit)

    def _bind_chats(self, chats: ChatController) -> None:
        menu = self.menu
        for request in (self.sidebar.new_chat_requested, self.header.new_chat_requested, menu.new_chat.triggered):
            request.connect(self._new_chat)
        chats.current_chat_changed.connect(self._on_chat_changed)
        chats.problem_raised.connect(self.show_problem)
        self.trash_bar.bind(chats)

    def _bind_messages(self, chats: ChatController) -> None:
        self.empty_chat.question_asked.connect(self._ask)
        self.composer.stop_requested.connect(chats.stop)
        self.menu.stop.triggered.connect(chats.stop)
        chats.generating_changed.connect(self.composer.set_generating)
        chats.reply_ended.connect(self._on_reply_ended)
        self.composer.unsent.due_elsewhere.connect(self._send_queued)
        chats.context_changed.connect(self.composer.set_context)
        model = chats.transcript
        for signal in (model.was_reset, model.message_inserted, model.messages_removed):
            signal.connect(self._show_page)

    def _bind_transcript(self, chats: ChatController) -> TranscriptView:
        # Markdown, highlighting and formulas load here, after the first frame.
        from app.views.shell.find_bar import FindWiring
        from app.views.shell.message_wiring import MessageWiring
        from app.views.shell.overlay_wiring import OverlayWiring
        from app.views.transcript import TranscriptView

        view = TranscriptView(self._theme, chats.transcript, self)
        view.link_requested.connect(lambda link: ask_to_open(link, self._theme, self))
        MessageWiring(view, chats, self._theme, self)
        view.notice_action_requested.connect(self._follow_in_chat)
        view.verticalScrollBar().valueChanged.connect(lambda value: self.header.set_line(value > 0))
        self.transcript = view
        self.finding = FindWiring(chats, view, self.sidebar.chats, self.menu, self._theme)
        self.inspector.bind(chats, view)
        self.overlay = OverlayWiring(self.parts, self._settings, self._theme)
        self.overlay.bind(chats, view)
        view.setMinimumHeight(1)  # it scrolls; the composer, with all that is in it, does not
        self._stack.addWidget(view)
        return view

    def _bind_models(self, models: ModelController, chats: ChatController) -> None:
        self.picker.bind(models, chats)
        models.pair_changed.connect(self._show_pair)
        models.library.changed.connect(self._show_pair)
        models.problem_raised.connect(self.show_problem)
        models.downloads.changed.connect(lambda: self.sidebar.downloads.show_entries(models.downloads.entries))

    def bind_speculation(self, speculation: SpeculationParts) -> None:
        from app.views.shell.speculation_wiring import SpeculationWiring

        assert self.chats is not None
        assert self.models is not None
        assert self.transcript is not None
        self.speculation = SpeculationWiring(
            self.parts, self.inspector, speculation, self.chats, self.models, self.transcript, self._theme
        )
        self.picker.speculation_chosen.connect(self.speculation.choose)
        self.picker.race_requested.connect(self.speculation.race.trigger)
        speculation.statistics.not_cleared.connect(self.show_problem)

    # What the controllers say

    def _on_chat_changed(self, chat_id: int, title: str) -> None:
        assert self.chats is not None
        self.composer.unsent.open_chat(chat_id)
        self.composer.set_generating(self.chats.generating)
        self._show_place()

    def _show_place(self) -> None:
        """The open chat, or the models in its place."""
        models, chat_id, title = self.models_view.is_shown, 0, ""
        if self.chats is not None:
            chat_id, title = self.chats.chat_id, self.chats.title
        if models:
            chat_id, title = 0, self.tr("Models")
        self.header.set_title(title)
        self.header.set_of_chat(not models)
        set_window_title(self, title or "Hunch")
        self.sidebar.chats.set_open_chat(chat_id)
        self.sidebar.show_models_open(models)
        self._show_page()
        self.place_changed.emit()
        self._show_foot(reads=self.chats is not None and self.chats.reading.chat_id != 0)

    def _show_foot(self, *, reads: bool) -> None:
        """The composer, or what stands in its place while a chat in the Trash is read; nothing below the models."""
        self.trash_bar.follow()
        models = self.models_view.is_shown
        is_left = self.composer.isHidden() and not self.sidebar.isAncestorOf(self.focusWidget() or self)
        self.trash_bar.setVisible(reads and not models)
        self.composer.setVisible(not reads and not models)
        self._fit_foot()
        if models:
            return
        if reads and self.transcript is not None:
            self.transcript.setFocus()
        elif is_left:
            self.composer.take_focus()

    def _fit_foot(self) -> None:
        """A permanent scroll bar shifts the column of messages, and the composer stands below it from the start."""
        right = _SIDE_PX + bar_room_px(self._theme, self)
        self._foot.setContentsMargins(*((0, 0, 0, 0) if self.models_view.is_shown else (_SIDE_PX, 4, right, 18)))

    def _show_page(self) -> None:
        empty = self.chats is None or not (self.chats.transcript.messages or self.chats.reading.chat_id)
        page: QWidget = self.empty_chat if empty or self.transcript is None else self.transcript
        if self.models_view.is_shown:
            page = self.models_view.view
            if self._stack.indexOf(page) < 0:
                self._stack.addWidget(page)
        self._stack.setCurrentWidget(page)
        page.stackUnder(self.banner)  # Qt raises it
        at_top = self.transcript is None or not self.transcript.verticalScrollBar().value()
        self.header.set_line(page is self.transcript and not at_top)

    def _show_pair(self) -> None:
        if self.models is None:
            return
        pair = self.models.pair if self.chats is None else self.chats.options.pair_here(self.models.pair)
        self.header.chip.set_pair(pair)
        self.composer.ring.set_room(*self.models.context_room())
        starter = self._settings.main_folder == STARTER_FOLDER
        self.composer.show_for(self._settings.main_folder if pair.state != PairState.NO_MODEL else "")
        self.empty_chat.show_for(starter, has_model=pair.state != PairState.NO_MODEL)
        self.picker.show_pair()

    def show_problem(self, problem: Problem) -> None:
        self.banner.show_warning(lambda: problem_text(problem), lambda: self._follow(notice_for(problem).action))

    def _follow(self, action: NoticeAction | None) -> None:
        if action in (NoticeAction.CHOOSE_MODEL, NoticeAction.CHOOSE_DRAFT):
            self.picker.open()
        elif action == NoticeAction.OPEN_MODELS:
            self.models_view.show()
        elif action == NoticeAction.INSTALL_MODEL:
            self.models_view.show("find")
        elif action == NoticeAction.OPEN_SETTINGS:
            self.settings_requested.emit("chat")
        elif action == NoticeAction.OPEN_HUB:
            self.settings_requested.emit("advanced")
        elif action == NoticeAction.NEW_CHAT:
            self._new_chat()
        elif action == NoticeAction.RETRY and self.models is not None:
            self.models.try_again()

    def _follow_in_chat(self, message_id: int, action: NoticeAction) -> None:
        assert self.chats is not None
        if action == NoticeAction.RETRY:
            self.chats.exchanges.regenerate(message_id)
        elif action == NoticeAction.CONTINUE:
            self.chats.exchanges.continue_reply(message_id)
        else:
            self._follow(action)

    # What the person does

    def _send(self, text: str) -> None:
        if self.chats is None or not self.chats.send(text, self.composer.attached_rows()):
            self.composer.unsent.release()

    def _send_queued(self, chat_id: int, text: str, attached: list[AttachedRow]) -> None:
        if self.chats is None or not self.chats.exchanges.send(chat_id, text, attached):
            self.composer.unsent.release(chat_id)

    def _on_reply_ended(self, chat_id: int, message_id: int, status: ReplyStatus) -> None:
        at_end = self.chats is not None and self.chats.exchanges.shown_end(chat_id) == message_id
        self.composer.unsent.end_reply(chat_id, status, at_end=at_end)

    def _ask(self, question: str) -> None:
        """A question of the empty chat; it goes by the field, where it stays if it cannot be sent."""
        if self.composer.is_empty:
            self.composer.send(question)
        else:
            self._send(question)

    def _new_chat(self) -> None:
        if self.chats is not None:
            self.chats.new_chat()
        self.composer.take_focus()

    def focus_search(self) -> None:
        self.show_sidebar(True)
        self.sidebar.search.setFocus()
        self.sidebar.search.selectAll()

    def toggle_sidebar(self) -> None:
        self.show_sidebar(not self.sidebar.isVisibleTo(self))

    def show_sidebar(self, visible: bool) -> None:
        self._settings.sidebar_visible = visible
        self.parts.set_sidebar_visible(visible)

    def _fit_sidebar(self) -> None:
        """Hides the sidebar where the chat would have too little room; it can still be shown by hand."""
        fits = self.width() - self.sidebar.maximumWidth() >= self._theme.px(_CHAT_NEEDS_PX)
        if fits != self._sidebar_fits:
            self._sidebar_fits = fits
            self.parts.set_sidebar_visible(fits and self._settings.sidebar_visible)

    def _front(self) -> QWidget:
        """The active window: the entries of the app-wide menu bar act on it."""
        return QApplication.activeWindow() or self

    # The window itself

    def _restore(self) -> None:
        self.parts.set_sidebar_visible(self._settings.sidebar_visible)
        if self._settings.window_geometry:
            self.restoreGeometry(QByteArray.fromBase64(self._settings.window_geometry.encode()))
        _show_coming(self, self._settings.main_folder)

    def _place_banner(self) -> None:
        if not self.banner.isVisibleTo(self):
            return
        if self.models_view.is_shown:
            side, view = self._theme.px(_SIDE_PX), self.models_view.view.geometry()
            self.banner.place(view.left() + side, view.bottom() - side, view.width() - 2 * side)
            return
        foot = self.trash_bar if self.composer.isHidden() else self.composer
        at = foot.mapTo(self, foot.rect().topLeft())
        self.banner.place(at.x(), at.y() - 10, foot.width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_sidebar()
        self._place_banner()
        self.resized.emit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._was_painted:  # one that comes back keeps its focus
            self.composer.take_focus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Where they mean nothing else, Escape leaves the models or stops the reply, and F2 renames the chat."""
        if event.key() == Qt.Key.Key_Escape and self.models_view.escape():
            return
        if event.key() == Qt.Key.Key_Escape and self.chats is not None and self.chats.generating:
            self.chats.stop()
        elif event.key() == Qt.Key.Key_F2 and self.menu.rename.isEnabled():
            self.menu.rename.trigger()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes through the window part by part, whenever their widgets were made."""
        view, parts = self.transcript, (self.sidebar, self.header, self.composer, self.trash_bar)
        left, top, *feet = (in_reading_order(part) if part.isVisible() else [] for part in parts)
        foot = [widget for part in feet for widget in part]
        if self.models_view.is_shown:
            chain([*left, *top, *self.models_view.view.tab_stops()])
        elif view is not None and view.isVisible():
            chain([*left, *top, view, *view.visible_parts.tab_stops(), *foot])
        else:
            chain([*left, *top, *in_reading_order(self.empty_chat), *foot])
        return super().focusNextPrevChild(forward)

    def _retranslate(self) -> None:
        self.menu.retranslate()
        self._show_place()
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


def _show_coming(window: MainWindow, folder: str) -> None:
    """What will be loaded, until the engine is there to say so."""
    if folder:
        is_starter = folder == STARTER_FOLDER
        name = {STARTER_FOLDER: STARTER_NAME, STARTER_EYES: STARTER_EYES_NAME}.get(folder) or Path(folder).name
        window.header.chip.set_pair(PairView(name, state=PairState.LOADING))
        window.composer.show_for(folder)
        window.empty_chat.show_for(is_starter, has_model=True)
