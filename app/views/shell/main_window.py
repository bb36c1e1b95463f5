"""The main window: creates its parts and connects them to the controllers; its page, closing, and tab order.

It can be painted without controllers; `bind` connects them once the database and the engine exist.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QEvent, QObject, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from app.controllers.chat import ChatController
from app.controllers.files import FileControllers
from app.controllers.models import ModelController
from app.settings import STARTER_EYES, STARTER_EYES_NAME, STARTER_FOLDER, STARTER_NAME, Settings
from app.theme import Theme
from app.view_models.downloads import DownloadEntry, DownloadState
from app.view_models.model_list import PairState, PairView
from app.views.link_dialog import ask_to_open
from app.views.shell.attachment_actions import AttachmentActions
from app.views.shell.chat_settings import ChatSettingsButton
from app.views.shell.chat_tools import ChatToolsPanel
from app.views.shell.empty_chat import EmptyChat
from app.views.shell.file_actions import FileActions
from app.views.shell.inspector import InspectorButton
from app.views.shell.kept_words import KeptWords
from app.views.shell.picker import Picker
from app.views.shell.place_page import PlacePage
from app.views.shell.project_page import ProjectPage
from app.views.shell.prompts import PromptList
from app.views.shell.shell_window import ShellWindow
from app.views.shell.window_tools import WindowTools
from app.views.widgets.arrange import arrange
from app.views.widgets.banner import BannerText, problem_text
from app.views.widgets.focus import chain, in_reading_order
from app.views.widgets.panel import Panel
from app.views.widgets.plain_words import set_window_title
from app.views.widgets.scrolling import bar_room_px
from app.views.widgets.translated import Translated
from app.words.formats import fill
from app.words.model_names import human_name
from app.words.notices import NoticeAction
from app.words.notices_for_errors import Problem, notice_for, reason_text

if TYPE_CHECKING:
    from app.controllers.speculation import SpeculationParts
    from app.views.models.view import ModelsView
    from app.views.settings.window import SettingsWindow
    from app.views.transcript import TranscriptView

YOURS = "yours"  # the tab of the Models view
_CHAT_NEEDS_PX = 360  # beside the sidebar
_SIDE_PX = 24
_HOW_TO_SHORTEN = {NoticeAction.LEAVE_OUT: "oldest", NoticeAction.SUMMARISE: "summary"}


class ModelsPage(PlacePage):
    def __init__(self, window: ShellWindow, theme: Theme, settings: Settings) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._settings = settings
        self._downloads = window.sidebar.downloads
        self._models: ModelController | None = None
        self._failed: set[int] = set()  # downloads that have failed, by row
        window.sidebar.models_button.clicked.connect(self.toggle)
        self._downloads.clicked.connect(lambda: self.show(YOURS))
        menu = window.menu
        menu.models.triggered.connect(self.toggle)
        for act in (menu.find, menu.find_next, menu.find_previous, menu.use_selection):
            act.triggered.connect(self.leave)

    def bind(self, chats: ChatController, models: ModelController) -> None:
        self._models = models
        chats.chat_wanted.connect(self.leave)
        models.chat_wanted.connect(self.leave)
        models.downloads.changed.connect(self._show_downloads)

    def _show_downloads(self) -> None:
        """The ring in the sidebar; and a notice of what fails where its row is not in sight."""
        assert self._models is not None
        entries = self._models.downloads.entries
        self._downloads.show_entries(entries)
        failed = {entry.id: entry for entry in entries if entry.state is DownloadState.FAILED}
        in_sight = self.is_shown and self.view.tab == YOURS
        for number in () if in_sight else failed.keys() - self._failed:
            self._tell_failure(failed[number])
        self._failed = set(failed)

    def _tell_failure(self, entry: DownloadEntry) -> None:
        def text() -> BannerText:
            title = fill(self.tr("%1 was not downloaded"), human_name(entry.failed))
            reason = reason_text(entry.error) if entry.error is not None else ""
            return BannerText(reason, title, button=self.tr("Show"))

        self._window.banner.show_warning(text, lambda: self.show(YOURS))

    @cached_property
    def view(self) -> ModelsView:
        from app.views.models.view import ModelsView

        assert self._models is not None
        view = ModelsView(self._theme, self._settings, self._models, self._window)
        view.yours.installed.machines_requested.connect(lambda: self._window.settings_requested.emit("machines"))
        return view

    def show(self, tab: str = "") -> None:
        """Now, or as soon as the models are bound, which they are not while the database is opening."""
        if self._models is None:
            self._window.settings_requested.emit("models")
            return
        if tab:
            self.view.show_tab(tab)
        self.set_shown(True)
        self.view.take_focus()

    def find(self) -> None:
        """Shows those that can be installed."""
        self.show("find")

    def toggle(self) -> None:
        if self.is_shown:
            self.leave()
        else:
            self.show()

    @property
    def widget(self) -> QWidget:
        return self.view

    def title(self) -> str:
        return self.tr("Models")

    def tab_stops(self) -> list[QWidget]:
        return self.view.tab_stops()

    def go_back(self) -> bool:
        """From a model's page."""
        return self.view.go_back()


class MainColumn(QObject):
    """Before `bind` the page is an empty chat; a chat with messages is shown from `set_transcript` on."""

    def __init__(self, window: ShellWindow, theme: Theme, empty_chat: EmptyChat, models: ModelsPage) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._empty_chat = empty_chat
        self._models = models
        self._places: list[PlacePage] = []
        self._chats: ChatController | None = None
        self._transcript: TranscriptView | None = None
        self._stack = QStackedLayout()
        self._foot = QHBoxLayout()
        self.layout = self._arranged()
        window.banner.appeared.connect(self._place_banner)
        window.banner.left.connect(self._write_on)
        window.resized.connect(self._place_banner)
        window.composer.installEventFilter(self)
        for act in (window.menu.write, window.menu.attach):
            act.triggered.connect(self._leave_place)
        self.add_place(models)

    def add_place(self, place: PlacePage) -> None:
        self._places.append(place)
        place.changed.connect(partial(self._on_place, place))

    def _leave_place(self) -> None:
        for place in self._places:
            place.leave()

    def escape(self) -> bool:
        """Whether there was a page to go back in, or to leave."""
        return any(place.escape() for place in self._places)

    @property
    def _place(self) -> PlacePage | None:
        """The page in place of the chat."""
        return next((place for place in self._places if place.is_shown), None)

    def _on_place(self, changed: PlacePage) -> None:
        """One at a time."""
        for place in self._places:
            if changed.is_shown and place is not changed:
                place.leave()
        self.show()

    def _arranged(self) -> QVBoxLayout:
        self._stack.addWidget(self._empty_chat)
        self._fit_foot()
        arrange(self._foot, 1, (self._window.composer, 1000), 1)
        return arrange(QVBoxLayout(), self._window.header, (self._stack, 1), self._foot, spacing=0)

    def bind(self, chats: ChatController) -> None:
        self._chats = chats
        chats.current_chat_changed.connect(self.show)

    def set_transcript(self, view: TranscriptView, chats: ChatController) -> None:
        self._transcript = view
        view.setMinimumHeight(1)  # it scrolls; the composer, with all that is in it, does not
        self._stack.addWidget(view)
        view.verticalScrollBar().valueChanged.connect(lambda value: self._window.header.set_line(value > 0))
        rows = chats.transcript
        for signal in (rows.was_reset, rows.message_inserted, rows.messages_removed):
            signal.connect(self._show_page)

    def show(self) -> None:
        """The open chat, or the page in its place."""
        window = self._window
        place = self._place
        chat_id = 0
        title = ""
        if place is not None:
            title = place.title()
        elif self._chats is not None:
            chat_id = 0 if self._chats.is_new else self._chats.chat_id
            title = self._chats.title
        window.header.set_title(title)
        window.header.set_of_chat(place is None)
        set_window_title(window, title or "Hunch")
        window.sidebar.chats.set_open_chat(chat_id)
        window.sidebar.show_models_open(self._models.is_shown)
        self._show_page()
        window.place_changed.emit()
        self._show_foot()

    def _show_page(self) -> None:
        empty = self._chats is None or not self._chats.transcript.messages
        page: QWidget = self._empty_chat if empty or self._transcript is None else self._transcript
        if (place := self._place) is not None:
            page = place.widget
            if self._stack.indexOf(page) < 0:
                self._stack.addWidget(page)
                page.installEventFilter(self)
        self._stack.setCurrentWidget(page)
        page.lower()  # Qt raises it, over notices and panels
        at_top = self._transcript is None or not self._transcript.verticalScrollBar().value()
        self._window.header.set_line(page is self._transcript and not at_top)

    def _show_foot(self) -> None:
        """Show the composer below the chat, and nothing below what is in its place."""
        window = self._window
        has_chat = self._place is None
        focused = window.focusWidget() or window
        is_left = window.composer.isHidden() and not window.sidebar.isAncestorOf(focused)
        window.composer.setVisible(has_chat)
        self._fit_foot()
        if is_left and has_chat:
            window.composer.take_focus()

    def _fit_foot(self) -> None:
        """Reserve the width of a permanent scroll bar, so that column and composer are aligned."""
        right = _SIDE_PX + bar_room_px(self._theme, self._window)
        self._foot.setContentsMargins(*((_SIDE_PX, 4, right, 18) if self._place is None else (0, 0, 0, 0)))

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Move the banner with the widget that it lies over."""
        if event.type() in (QEvent.Type.Move, QEvent.Type.Resize):
            self._place_banner()
        return False

    def _write_on(self) -> None:
        if self._window.composer.isVisible():
            self._window.composer.take_focus()

    def _place_banner(self) -> None:
        banner = self._window.banner
        composer = self._window.composer
        if not banner.isVisibleTo(self._window):
            self._cover(0)
            return
        if (place := self._place) is not None:
            side = self._theme.px(_SIDE_PX)
            view = place.widget.geometry()
            banner.place(view.left() + side, view.bottom() - side, view.width() - 2 * side)
            return
        at = composer.mapTo(self._window, composer.rect().topLeft())
        banner.place(at.x(), at.y() - 10, composer.width())
        self._cover(at.y() - banner.y())

    def _cover(self, height_px: int) -> None:
        if self._transcript is not None:
            self._transcript.set_covered(height_px)

    def tab_stops(self) -> list[QWidget]:
        """All that takes Tab: header, page, foot."""
        view = self._transcript
        header = self._window.header
        composer = self._window.composer
        top = in_reading_order(header) if header.isVisible() else []
        foot = in_reading_order(composer) if composer.isVisible() else []
        if (place := self._place) is not None:
            return [*top, *place.tab_stops()]
        if view is not None and view.isVisible():
            page = [view, *view.visible_parts.tab_stops()]
        else:
            page = in_reading_order(self._empty_chat)
        return [*top, *page, *foot]


class MainWindow(Translated, ShellWindow):
    painted_first = Signal()

    def __init__(self, theme: Theme, settings: Settings) -> None:
        self._hides = False  # as soon as it is not full screen
        super().__init__(theme)
        self._theme = theme
        self._settings = settings
        self._was_painted = False
        self._may_close = False
        self._quits = False
        self._sidebar_fits = True
        self._chats: ChatController | None = None
        self._models: ModelController | None = None
        self._wait: Callable[[], BannerText] | None = None  # the notice of a model that waits for a reply
        self.kept_words: KeptWords | None = None
        self.transcript: TranscriptView | None = None
        self.empty_chat = EmptyChat(theme, self)
        self.models_view = ModelsPage(self, theme, settings)
        self.project_page: ProjectPage  # from `bind` on
        self._column = MainColumn(self, theme, self.empty_chat, self.models_view)
        self._arrange()
        self._connect_parts()
        self.inspector = InspectorButton(self, theme, settings)
        self.chat_settings = ChatSettingsButton(self, theme)
        self.tools = WindowTools(self, theme, settings)
        if settings.main_folder:
            self._show_pair(PairView(_pair_name(settings.main_folder), state=PairState.LOADING), settings.main_folder)
        if settings.window_geometry:
            self.restoreGeometry(QByteArray.fromBase64(settings.window_geometry.encode()))
        self.setWindowTitle("Hunch")
        self.composer.take_focus()

    def _arrange(self) -> None:
        self.setMinimumSize(720, 480)
        self.resize(1120, 760)
        arrange(QHBoxLayout(self), self.sidebar, (self._column.layout, 1), spacing=0, margins=(0, 0, 0, 0))
        self.set_sidebar_visible(self._settings.sidebar_visible)

    def _connect_parts(self) -> None:
        menu = self.menu
        for go_on in (self.sidebar.chats.chat_clicked, menu.write.triggered):
            go_on.connect(self.composer.take_focus)
        for wish in (self.sidebar.settings_button.clicked, menu.settings.triggered):
            wish.connect(lambda: self.settings_requested.emit(""))
        for wish in (self.sidebar.hide_button.clicked, self.header.show_button.clicked, menu.sidebar.triggered):
            wish.connect(self.toggle_sidebar)
        for wish in (self.header.chip.clicked, menu.pair.triggered):
            wish.connect(self.open_picker)
        self.sidebar.shown_wanted.connect(lambda: self.set_sidebar_wanted(True))
        menu.search.triggered.connect(self.search_chats)
        self.empty_chat.offer_button.clicked.connect(self.models_view.find)
        menu.quit.triggered.connect(self.quit)
        self.resized.connect(self._fit_sidebar)
        self._theme.changed.connect(self._fit_sidebar)
        self._theme.changed.connect(self.update)

    def bind(
        self,
        chats: ChatController,
        models: ModelController,
        speculation: SpeculationParts,
        files: FileControllers,
        settings_window: Callable[[], SettingsWindow],
    ) -> None:
        self._chats = chats
        self._models = models
        self.sidebar.bind(chats, self.menu)
        self.closed.connect(self.sidebar.stop_search)
        for wish in (self.sidebar.new_button.clicked, self.header.new_button.clicked, self.menu.new_chat.triggered):
            wish.connect(chats.new_chat)
            wish.connect(self.composer.take_focus)
        self.composer.bind(chats)
        self.composer.effort.bind(chats.options, models)
        self._column.bind(chats)
        chats.problem_raised.connect(self.show_problem)
        models.problem_raised.connect(self._show_model_problem)
        view = self._bind_transcript(chats, models)
        self.empty_chat.question_asked.connect(self.composer.ask)
        self.menu.stop.triggered.connect(chats.stop)
        models.main_waits.connect(self._show_wait)
        models.wait_ended.connect(self._end_wait)
        self.models_view.bind(chats, models)
        self.project_page = ProjectPage(self, self._theme, chats, models, files.shared)
        self._column.add_place(self.project_page)
        self.kept_words = KeptWords(chats, self.composer, self.banner, self.menu, self)
        view.editing.typed.connect(self.kept_words.note_typing)
        self.chat_settings.bind(chats, models)
        self.composer.tools_button.bind(chats.tools, models, self._make_tools_panel)
        for changed in (models.pair_changed, models.library.changed, chats.options.changed):
            changed.connect(self._follow_pair)
        self._follow_pair()
        self._column.show()
        self.tools.bind(chats, models, view, settings_window)
        self.tools.desktop.quit_wanted.connect(self.quit)
        self._bind_speculation(speculation, chats, models, view)
        find_model = self.models_view.find
        self.attachments = AttachmentActions(self, self._theme, files.attachments, chats, models, view, find_model)
        self.prompts = PromptList(self, self._theme, chats)
        self.files = FileActions(self, self._theme, files, chats, self.attachments)

    def _make_tools_panel(self) -> ChatToolsPanel:
        assert self._chats is not None
        assert self._models is not None
        panel = ChatToolsPanel(self._theme, self, self._chats.tools, self._models, self.composer.take_focus)
        self._chats.chat_left.connect(panel.leave)
        for button in (panel.settings_button, panel.find_button):
            button.clicked.connect(panel.hide)
        panel.settings_button.clicked.connect(lambda: self.settings_requested.emit("tools"))
        panel.find_button.clicked.connect(self.models_view.find)
        return panel

    def _bind_transcript(self, chats: ChatController, models: ModelController) -> TranscriptView:
        # Markdown, highlighting and formulas load here, after the first frame.
        from app.views.shell.find_bar import FindBar
        from app.views.shell.message_actions import MessageActions
        from app.views.shell.overlay_menu import OverlayMenu
        from app.views.transcript import TranscriptView

        view = self.transcript = TranscriptView(self._theme, chats.transcript, self)
        view.context.link_requested.connect(lambda link: ask_to_open(link, self._theme, self))
        MessageActions(view, chats, self._theme, self)
        view.context.notice_action_requested.connect(self._follow_in_chat)
        self.find_bar = FindBar(self._theme, view, chats, self.sidebar.chats, self.menu)
        self.inspector.bind(chats, models, view)
        self.overlay = OverlayMenu(self, self._settings, self._theme, chats, view)
        self.models_view.changed.connect(self.overlay.end_explaining)
        self._column.set_transcript(view, chats)
        return view

    def _bind_speculation(
        self, speculation: SpeculationParts, chats: ChatController, models: ModelController, view: TranscriptView
    ) -> None:
        from app.views.shell.speculation_actions import SpeculationActions

        self.speculation = SpeculationActions(self, self.inspector, speculation, chats, models, view, self._theme)
        speculation.statistics.not_cleared.connect(self.show_problem)

    def toggle_sidebar(self) -> None:
        self.set_sidebar_wanted(self.sidebar.isHidden())

    def set_sidebar_wanted(self, wanted: bool) -> None:
        """Show or hide the sidebar; without room for the chat it stays hidden until this is called."""
        self._settings.sidebar_visible = wanted
        self.set_sidebar_visible(wanted)

    def search_chats(self) -> None:
        self.set_sidebar_wanted(True)
        self.sidebar.search.setFocus()
        self.sidebar.search.selectAll()

    def _fit_sidebar(self) -> None:
        fits = self.width() - self.sidebar.maximumWidth() >= self._theme.px(_CHAT_NEEDS_PX)
        if fits != self._sidebar_fits:
            self._sidebar_fits = fits
            self.set_sidebar_visible(fits and self._settings.sidebar_visible)

    @cached_property
    def picker(self) -> Picker:
        assert self._chats is not None
        assert self._models is not None
        picker = Picker(self._theme, self, self._models, self._chats)
        picker.more.speculation.chosen.connect(self.speculation.choose)
        picker.more.race_requested.connect(self.speculation.race.trigger)
        return picker

    def open_picker(self) -> None:
        if self._models is not None:
            self.picker.toggle(self.header.chip)

    def _follow_pair(self) -> None:
        assert self._chats is not None
        assert self._models is not None
        self.composer.ring.set_room(*self._models.context_room(self._chats.options.here.kv_bits))
        self._show_pair(self._chats.options.pair_here(self._models.pair), self._models.main_setting)
        able = self._models.keeps_forms or not self._chats.options.here.values["schema"]
        self.composer.unable_to_keep_form = "" if able else human_name(self._models.pair.main_name)

    def _show_pair(self, pair: PairView, folder: str) -> None:
        """Show the pair in the chip, the composer and an empty chat; `folder` is named as in the settings."""
        has_model = pair.state != PairState.NO_MODEL
        self.header.chip.set_pair(pair)
        self.composer.show_for(folder if has_model else "")
        self.empty_chat.show_for(folder == STARTER_FOLDER, has_model)

    def _show_wait(self, name: str) -> None:
        """Another model, or none (""), waits for a running reply."""
        models = self._models
        assert models is not None
        loads = self.tr("%1 will load after this reply.")
        unloads = self.tr("The model will unload after this reply.")

        def text() -> BannerText:
            now = self.tr("Stop Reply and Switch") if name else self.tr("Stop Reply and Unload")
            return BannerText(fill(loads, human_name(name)) if name else unloads, button=now)

        self.banner.show_info(text, models.switch_now)
        self._wait = text

    def _end_wait(self) -> None:
        if self._wait is not None:
            self.banner.withdraw(self._wait)

    def show_problem(self, problem: Problem) -> None:
        self.banner.show_warning(lambda: problem_text(problem), lambda: self.follow(notice_for(problem).action))

    def _show_model_problem(self, problem: Problem) -> None:
        """What is tried again is the pair that it is about, whatever was loaded meanwhile."""
        assert self._models is not None
        refused = self._models.refused
        self.banner.show_warning(
            lambda: problem_text(problem), lambda: self.follow(notice_for(problem).action, refused)
        )

    def follow(self, action: NoticeAction | None, refused: tuple[str, str] | None = None) -> None:
        """Carry out the action of a notice's button. `refused`: the pair that it is about."""
        if action in (NoticeAction.CHOOSE_MODEL, NoticeAction.CHOOSE_DRAFT):
            self.picker.open_from(self.header.chip)
        elif action == NoticeAction.OPEN_MODELS:
            self.models_view.show()
        elif action == NoticeAction.INSTALL_MODEL:
            self.models_view.find()
        elif action == NoticeAction.OPEN_SETTINGS:
            self.settings_requested.emit("chat")
        elif action == NoticeAction.OPEN_HUB:
            self.settings_requested.emit("advanced")
        elif action == NoticeAction.NEW_CHAT:
            self.menu.new_chat.trigger()
        elif action == NoticeAction.RETRY and self._models is not None:
            self._models.try_again(refused)

    def _follow_in_chat(self, message_id: int, action: NoticeAction) -> None:
        """Carry out the action of a notice in the chat."""
        assert self._chats is not None
        if action == NoticeAction.RETRY:
            self._chats.asking.regenerate(message_id)
        elif action == NoticeAction.CONTINUE:
            self._chats.asking.continue_reply(message_id)
        elif action in _HOW_TO_SHORTEN:
            self._chats.shorten(message_id, _HOW_TO_SHORTEN[action])
        else:
            self.follow(action)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._was_painted:  # one that comes back keeps its focus
            self.composer.take_focus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Unused Escape leaves the page in place of the chat or stops the reply; unused F2 renames the chat."""
        if event.key() == Qt.Key.Key_Escape and self._column.escape():
            return
        if event.key() == Qt.Key.Key_Escape and self.menu.stop.isEnabled():
            self.menu.stop.trigger()
        elif event.key() == Qt.Key.Key_F2 and self.menu.rename.isEnabled():
            self.menu.rename.trigger()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes through the window part by part, in whatever order widgets were created."""
        sidebar = in_reading_order(self.sidebar) if self.sidebar.isVisible() else []
        chain([*sidebar, *self._column.tab_stops()])
        inside: QWidget | None = self.focusWidget()
        while inside is not None and not isinstance(inside, Panel):
            inside = inside.parentWidget()
        if inside is not None:
            inside.put_after_button()
        return super().focusNextPrevChild(forward)

    def _retranslate(self) -> None:
        self.menu.retranslate()
        self._column.show()
        self.language_changed.emit()

    def quit(self) -> None:
        """Close the window and quit the app, even with a tray icon."""
        self._quits = True
        self.close()
        self._quits = False

    def close_at_once(self) -> None:
        """Without asking, as when the system ends the app."""
        self._may_close = True
        self._quits = True
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.composer.edit.commit()
        if self.tools.stays_without_window and not self._quits:
            event.ignore()
            self._hides = self.isFullScreen()  # once it is not: a Mac would keep an empty space
            if self._hides:
                self.windowHandle().installEventFilter(self)
                self.setWindowState(self.windowState() & ~Qt.WindowState.WindowFullScreen)
            else:
                self.hide()
            return
        self.composer.unsent.keep()
        self.closing.emit()
        if self.kept_words is not None and not self._may_close and self.kept_words.warn_before_closing():
            event.ignore()
            self.show()
            return
        self._settings.window_geometry = bytes(self.saveGeometry().toBase64().data()).decode()
        super().closeEvent(event)
        self.closed.emit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.WindowStateChange:
            self.menu.full_screen.setChecked(self.isFullScreen())

    def eventFilter(self, handle: QObject, event: QEvent) -> bool:
        """The system says that the window has left full screen, which takes a second; `changeEvent` comes before."""
        if event.type() == QEvent.Type.WindowStateChange and self._hides and not self.isFullScreen():
            self._hides = False
            handle.removeEventFilter(self)
            self.hide()
        return False

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.palette.window)
        if not self._was_painted:
            self._was_painted = True
            self.painted_first.emit()


def _pair_name(folder: str) -> str:
    """Name of the model that will be loaded, before the controllers exist."""
    return {STARTER_FOLDER: STARTER_NAME, STARTER_EYES: STARTER_EYES_NAME}.get(folder) or Path(folder).name
