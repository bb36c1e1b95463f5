"""Creates all parts of the app, and closes them in an order that loses no data.

The window is shown first; the database, the engine and the models are created after its first paint. The only module
that knows all the parts.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from enum import IntEnum, auto
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal

from app.bridge import EngineBridge, GuiCalls
from app.controllers.changes import left_words
from app.controllers.chat import ChatController
from app.controllers.deletions import KeptCaches
from app.controllers.energy import EnergyController
from app.controllers.files import FileControllers
from app.controllers.library import accept_rate
from app.controllers.machines import MachinesController
from app.controllers.models import ModelController
from app.controllers.pair_loading import StarterPair
from app.controllers.server import ServerController
from app.controllers.speculation import SpeculationParts
from app.settings import Settings, as_setting
from app.storage import DatabaseTooNew, Opened, Rescued, Storage, Stores
from app.storage.left_words import LeftWords, UnsentFile
from app.storage.pair_records import PairRecords
from app.system import updates
from app.system.bundle import can_write_app, home_applications, is_in_applications, is_mounted, own_bundle
from app.system.crash_marker import SessionMark
from app.system.energy import EnergySource, this_machine
from app.system.logs import ErrorWatch, open_log
from app.system.machine import machine_name
from app.system.only_instance import FRONT, QUICK_ASK, OnlyInstance
from app.system.paths import Paths
from app.system.qt_application import qt_application
from app.system.qt_imports import import_in_steps
from app.system.secrets import Secrets, system_keychain
from app.system.services import offer_service
from app.system.unix_signals import Interrupts, end_process_after
from app.system.worker import RETRY_INTERVAL_MS, JobThread, ignore
from app.theme import Appearance, Motion, Theme, use_fusion
from app.views.shell import start_notices
from app.views.shell.help_menu import HelpMenu
from app.views.shell.main_window import MainWindow
from app.views.shell.server_menu import ServerMenu
from app.views.shell.start_notices import AppOffer, MoveOffer, WaitingStart
from app.views.widgets.banner import BannerText, problem_text
from app.views.widgets.side_window import bring_to_front
from app.words.languages import Translation, compiled_sentences
from engine import ChatEngine, Engine, ModelLibrary, ModelStore, Sink, remove_unfinished

if TYPE_CHECKING:
    from app.views.settings.window import SettingsWindow

STARTER = Path(__file__).resolve().parent.parent / "resources" / "starter"

END_S = 30.0  # the limit of the end as a whole; its steps have their own
STORE_END_S = 1.5  # what it is at then, the next start goes on with: a deletion of gigabytes, say

_log = logging.getLogger(__name__)

EngineFactory = Callable[..., ChatEngine]  # of the folder for caches
StoreFactory = Callable[[Path, Sink, Path], ModelLibrary]


def open_store(folder: Path, sink: Sink, starter: Path) -> ModelLibrary:
    store = ModelStore(folder, sink=sink, starter=starter)
    with suppress(RuntimeError):  # a user without a home folder
        store.set_home(Path.home())
    return store


class _Stage(IntEnum):
    """Steps of the end, in order.

    INVARIANT: replies are stored before the engine closes, and no event is delivered after that.
    """

    UNSENT = auto()
    WINDOWS = auto()
    CONTROLLERS = auto()
    ENGINE = auto()
    STORE = auto()
    RECORDS = auto()
    STORAGE = auto()
    LEFT_WORDS = auto()
    FILES = auto()
    SETTINGS = auto()


class _End:
    """Runs every step, whether or not others failed."""

    def __init__(self) -> None:
        self._steps: list[tuple[_Stage, Callable[[], object]]] = []

    def add(self, stage: _Stage, *steps: Callable[[], object]) -> None:
        self._steps += [(stage, step) for step in steps]

    def run(self) -> None:
        for _, step in sorted(self._steps, key=lambda each: each[0]):
            try:
                step()
            except Exception:  # noqa: BLE001  the next step must not suffer from it
                _log.exception("a step of the end failed")


def _end_in_time(close: Callable[[], bool], what: str) -> None:
    if not close():
        _log.warning("%s did not end in time", what)


class _Looks:
    """Applies language, colours and sizes of the settings."""

    def __init__(self, settings: Settings, theme: Theme, translation: Translation) -> None:
        self._settings = settings
        self._theme = theme
        self._translation = translation
        translation.switch(settings.language)
        self._apply()
        settings.changed.connect(self._on_setting)

    def _on_setting(self, name: str) -> None:
        if name == "language":
            self._translation.switch(self._settings.language)
        if name in ("language", "appearance", "text_scale", "motion", "reply_figures", "use_fusion"):
            self._apply()

    def _apply(self) -> None:
        settings = self._settings
        theme = self._theme
        theme.set_language(self._translation.language)
        theme.set_appearance(cast(Appearance, settings.appearance))  # the option allows no other value
        theme.set_scale(settings.text_scale)
        theme.set_motion(cast(Motion, settings.motion))
        theme.set_reply_figures(settings.reply_figures)
        use_fusion(settings.use_fusion)


class Application(QObject):
    """One run of the app. Emits `opened` when the models load, `ending` when it begins to close, then `ended`."""

    opened = Signal()
    ending = Signal()
    ended = Signal()

    def __init__(
        self,
        paths: Paths,
        make_engine: EngineFactory = Engine,
        make_store: StoreFactory = open_store,
        starter: Path = STARTER,
        machine: EnergySource | None = None,
    ) -> None:
        super().__init__()
        self.paths = paths
        self._make_engine = make_engine
        self._make_store = make_store
        self._starter = starter
        self._machine = machine or this_machine()
        self.errors = ErrorWatch()
        self.calls = GuiCalls(self)
        self._small_files = JobThread("small files", self.calls.post)
        secrets = Secrets(paths.hub_token, system_keychain if paths.of_user else lambda: None)
        self._secrets = secrets
        self.settings = Settings(paths.settings, secrets, self, self._small_files)
        self.theme = Theme(self)
        self.translation = Translation(compiled_sentences())
        self._style = _Looks(self.settings, self.theme, self.translation)
        self.window = MainWindow(self.theme, self.settings)
        self.help = HelpMenu(self.window, self.theme, self.settings, paths.logs, self._small_files, self.translation)
        self._settings_window: SettingsWindow | None = None
        self.engine_works_on = False  # the engine has not ended in time
        self.is_open = False
        self._is_ending = False
        self._wanted: dict[str, Callable[[], object]] = {}  # what the user asked for before the parts were there
        self.instance: OnlyInstance | None = None
        self._end = _End()
        self.storage = Storage(paths.database, self.calls.post)
        self._unsent = UnsentFile(paths.unsent)
        self._left = LeftWords(paths.left)
        self._opening = start_notices.Opening(self.window.banner)
        self._connect()

    def _connect(self) -> None:
        not_saved = partial(start_notices.not_saved, self.settings)
        self.settings.not_saved.connect(lambda: self.window.banner.show_warning(not_saved, behind=True))
        self.settings.saved_after_all.connect(lambda: self.window.banner.withdraw(not_saved))
        self.errors.unexpected.connect(self._show_unexpected_error, Qt.ConnectionType.QueuedConnection)
        window = self.window
        # Queued after the first paint event, so that the first frame is on the screen before this work begins.
        window.painted_first.connect(lambda: QTimer.singleShot(0, self.open))
        window.settings_requested.connect(self.show_settings)
        window.draft_search_requested.connect(self._find_draft)
        window.closed.connect(self.close)
        self._end.add(_Stage.UNSENT, self._keep_unsent)
        self._end.add(_Stage.STORAGE, self._close_storage)
        self._end.add(_Stage.FILES, self._small_files.close)
        self._end.add(_Stage.SETTINGS, self.settings.save)

    def show(self) -> None:
        self.window.show()

    def open(self) -> None:
        """Open the database. If that fails the window stays, shows why, and offers to try again."""
        other = "" if self.instance is None else self.instance.other_machine
        if other:
            self._offer_other_ways(start_notices.open_elsewhere(other), self._open_here)
        else:
            self._open_here()

    def _open_here(self) -> None:
        if self.instance is not None:
            self.instance.other_machine = ""
            self._small_files.ask(self.instance.claim, ignore, ignore)
        self.storage.open(*self._opening.watch(self._on_storage_open, self._on_storage_refused))

    def _offer_other_ways(self, text: Callable[[], BannerText], again: Callable[[], None]) -> None:
        in_memory = partial(self.storage.open_in_memory, self._on_storage_open, self._on_storage_refused)
        self.window.banner.show_warning(
            lambda: replace(text(), other_button=self.tr("Continue without saving")), again, in_memory
        )

    def _on_storage_refused(self, error: Exception) -> None:
        if self._is_ending:
            return
        if isinstance(error, DatabaseTooNew):
            start_notices.refuse_newer_database(self.theme, self.window)
            return
        self._offer_other_ways(partial(problem_text, self.storage.refusal(error)), self.open)

    def _on_storage_open(self, opened: Opened) -> None:
        def go_on(_outcome: object = None) -> None:
            if self._left.is_there:
                self.storage.pictures.keep_all()
            import_in_steps(self, lambda: self._create_parts(opened))

        self.storage.write(self._take_over, go_on, go_on)

    def _take_over(self, stores: Stores) -> None:
        """Restore text of earlier runs; on the thread that writes."""
        if self.storage.keeps:
            self._left.put_back(stores)
            if words := self._unsent.words():
                stores.unsent.add(words)
                self._unsent.forget()
        self.storage.begin_new_chats(stores)

    def _create_parts(self, opened: Opened) -> None:
        """Creates what the first frame does not need: engine, model store, controllers."""
        if self._is_ending:
            return
        self.mark = SessionMark(self.paths.data / "running")
        self._small_files.ask(self.mark.begin, ignore, ignore)
        for folder in (self.paths.data, self.paths.cache):
            self._small_files.ask(partial(remove_unfinished, folder), ignore, ignore)
        retry = QTimer(self, singleShot=True, interval=RETRY_INTERVAL_MS)
        named = cache(partial(as_setting, starter=self._starter / "main"))  # asked for each pair of a list
        records = PairRecords(self.paths.pairs, machine_name(), self._small_files, retry.start, named)
        retry.timeout.connect(records.try_again)
        self._end.add(_Stage.RECORDS, self.mark.end, records.try_again)
        self.bridge = EngineBridge(self, note=self.mark.note)
        published = partial(accept_rate, self._starter)
        self.engine = self._make_engine(self.paths.cache, published=published, **self.settings.of_engine())
        self._end.add(_Stage.ENGINE, self._close_engine)
        self.store = self._make_store(self.paths.models, self.bridge.post, self._starter)
        self._end.add(_Stage.STORE, partial(_end_in_time, partial(self.store.close, STORE_END_S), "the downloads"))
        starter = StarterPair(self._starter / "main", self._starter / "draft")
        self.models = ModelController(self.engine, self.store, self.bridge, self.settings, starter, records, self)
        self.chats = ChatController(
            self.engine, self.bridge, self.storage, self.settings, self.models, self, self.window.sight
        )
        self._add_tool_servers()
        caches = KeptCaches(self.engine, self.bridge, self.storage, self.chats.deletions, self.chats)
        if opened.purged:
            self.storage.forget_traces()
            caches.keep()
        self.file_controllers = FileControllers(self.engine, self.storage, self.models, self.chats)
        if opened.purged and opened.rescued is None:  # else messages may be lost that had some
            self.chats.documents.found.connect(self.file_controllers.attachments.forget_documents)
        self.server = ServerController(
            self.engine, self.bridge, self.settings, self.models, self.chats.requests, self.calls.post, self
        )
        self.machines = MachinesController(
            self.paths.machines, self.engine, self.bridge, self.settings, self.models, self.calls.post, self
        )
        self._end.add(
            _Stage.CONTROLLERS, self.chats.close, self.file_controllers.close, self.machines.close, self.bridge.close
        )
        self._end.add(_Stage.CONTROLLERS, partial(_end_in_time, self.server.close, "the server"))
        self._end.add(_Stage.LEFT_WORDS, self._leave_words)
        self.speculation = SpeculationParts(self.engine, self.bridge, self.storage, self.chats, self.models)
        self.energy = EnergyController(
            self._machine, self.engine, self.settings, self.chats, self.models, self.server, self.machines
        )
        self._show_parts(opened.rescued)

    def _add_tool_servers(self) -> None:
        from app.controllers.tool_servers import ToolServersController

        data = self.paths.data
        self.tool_servers = ToolServersController(data, self._secrets, self.calls.post, self._small_files, self)
        self.chats.tools.use_servers(self.tool_servers)
        self.tool_servers.changed.connect(self.chats.tools.changed)
        self.tool_servers.removed.connect(self.chats.tools.consents.end_all)
        self.tool_servers.start()
        self._end.add(_Stage.CONTROLLERS, self.tool_servers.close)

    def _show_parts(self, rescued: Rescued | None) -> None:
        self.window.bind(self.chats, self.models, self.speculation, self.file_controllers, self.settings_window)
        self.server_menu = ServerMenu(self.window, self.server, partial(self.show_settings, "server"))
        self.window.empty_chat.bind(self.models)
        self.models.chat_wanted.connect(self.come_to_front, Qt.ConnectionType.QueuedConnection)  # after the click
        self._show_last_session_notice(rescued)
        self.models.start()
        self.server.follow()
        self.storage.settle()
        self.chats.documents.start(deletes=not self._left.is_there)
        self.is_open = True
        self.opened.emit()
        for show in self._wanted.values():
            show()

    def _show_last_session_notice(self, rescued: Rescued | None) -> None:
        problem = None if self.storage.keeps else start_notices.not_kept
        if rescued is not None and self.storage.keeps:
            figures = rescued.saved_messages, rescued.from_copies
            problem = partial(start_notices.repaired, *figures, rescued.damaged_file, str(self.paths.data))
            self.storage.write(lambda stores: stores.forget_rescue(), ignore, ignore)
        start_notices.show(self.window.banner, self.settings, self.mark, self._starter, problem, self.help.show_report)

    def has_window(self) -> bool:
        """Whether there is a window, or an icon that opens it."""
        return self.window.isVisible() or (self.is_open and self.window.tools.stays_without_window)

    def quit_without_window(self, event: QEvent) -> None:
        """For the end without a visible window. Refused if something is not saved, which is shown first."""
        if not self.window.isVisible():
            self.window.quit()
            event.setAccepted(self._is_ending)

    def come_to_front(self) -> None:
        bring_to_front(self.window)
        if not self.window.models_view.is_shown:
            self.window.composer.edit.setFocus()

    def open_quick_ask(self) -> None:
        """Now, or as soon as the chats are open."""
        if self.is_open:
            self.window.menu.quick_ask.trigger()
        else:
            self._wanted["quick ask"] = self.open_quick_ask

    def show_settings(self, page: str = "") -> SettingsWindow | None:
        """Now, or as soon as the chats are open."""
        if not self.is_open:
            self._wanted["settings"] = partial(self.show_settings, page)
            return None
        if page == "models":
            self.show_models()
            return None
        window = self.settings_window()
        if page:
            window.show_page(page)
        window.come_to_front()
        return window

    def show_models(self, tab: str = "") -> None:
        """In the main window, which comes to the front."""
        self.window.models_view.show(tab)
        bring_to_front(self.window)

    def settings_window(self) -> SettingsWindow:
        if self._settings_window is None:
            from app.views.settings.window import SettingsParts, SettingsWindow

            parts = SettingsParts(
                self.chats.options,
                self.models,
                self.server,
                self.machines,
                self.chats.tools,
                self.tool_servers,
                self.paths,
            )
            self._settings_window = SettingsWindow(self.theme, self.settings, parts)
            self._settings_window.elsewhere_requested.connect(self._show_elsewhere)
            self._end.add(_Stage.WINDOWS, self._settings_window.close)
        return self._settings_window

    def _show_elsewhere(self, place: str) -> None:
        if place == "activity":
            self.window.menu.activity.trigger()
        else:
            self.show_models(place)

    def _find_draft(self) -> None:
        self.show_models("find")
        if (main := self.models.main_info()) is not None:
            self.window.models_view.view.discover.show_drafts_for(main)

    def _show_unexpected_error(self, summary: str) -> None:
        self.window.banner.show_warning(partial(start_notices.unexpected, summary), self.help.show_report)

    def close(self) -> None:
        if self._is_ending:
            return
        self._is_ending = True
        self.ending.emit()
        self.window.hide()  # closing may wait for the engine's current step
        self._end.run()
        self.ended.emit()

    def _keep_unsent(self) -> None:
        """Save text in a file if the database could not be opened."""
        aside = self.window.tools.desktop.unsent() if self.is_open else ""
        text = "\n\n".join(filter(None, [self.window.composer.text_with_pasted(), aside]))
        if text and not (self.is_open and self.storage.keeps):
            self._unsent.add(text)
        self.is_open = False

    def _close_engine(self) -> None:
        self.engine_works_on = not self.engine.close()
        if self.engine_works_on:
            _log.warning("the engine did not end in time")

    def _close_storage(self) -> None:
        _end_in_time(self.storage.close, "the database")
        self.calls.close()

    def _leave_words(self) -> None:
        if self.storage.keeps:
            self._left.leave(left_words(self.chats.keeping, self.chats.replies, self.storage.new_chats))


def run(profile_dir: Path | None, quick_ask: bool = False) -> int:
    qt = qt_application()
    paths = Paths.for_user(profile_dir)
    application: Application | None = None
    instance = OnlyInstance(paths.lock, lambda: application is None or application.has_window())
    called = not instance.take() and instance.call_the_other(QUICK_ASK if quick_ask else FRONT)
    if called or not (instance.is_first or WaitingStart(instance).wait()):  # the other instance is ending, or hangs
        return 0
    open_log(paths.logs)
    application = Application(paths)
    application.instance = instance
    application.errors.install()
    Interrupts(END_S).install(application.window.close_at_once)
    qt.quit_asked.connect(application.quit_without_window)
    instance.called.connect(application.come_to_front)
    instance.quick_ask_called.connect(application.open_quick_ask)
    if quick_ask:
        application.open_quick_ask()
    application.ending.connect(instance.stop_listening)
    application.ending.connect(lambda: end_process_after(END_S))
    application.ended.connect(qt.quit)
    application.opened.connect(lambda: offer_to_move(application))
    application.opened.connect(lambda: offer_app(application))
    application.opened.connect(lambda: look_for_updates(application))
    application.show()
    _service = offer_service(lambda words: QTimer.singleShot(0, qt, partial(qt.take, words)))  # macOS has its address
    code = qt.exec()
    instance.release()
    if application.engine_works_on:  # Python's end would wait for the engine, and MLX may abort; everything is stored
        logging.shutdown()
        os._exit(code)
    return code


def offer_to_move(application: Application) -> None:
    app = own_bundle()
    if app is not None and is_mounted(app):
        MoveOffer(application.window, application.calls.post, application.window.quit, app)


def offer_app(application: Application) -> None:
    settings = application.settings
    if settings.app_offered or not can_write_app() or is_in_applications():
        return
    AppOffer(application.window, application.calls.post, settings, home_applications())


def look_for_updates(application: Application) -> None:
    channel = updates.CHANNEL
    if channel is not None:
        from app.controllers.updates import Updates
        from app.views.shell.start_notices import UpdateOffer

        asked = Updates(channel, application.settings, application.calls.post, parent=application)
        application.ending.connect(asked.close)
        UpdateOffer(application.window, application.theme, asked, channel, application.translation)
        asked.start()
