"""Creates all parts of the app in start order, and closes them in the order that loses nothing.

The window is shown first; the database, the engine and the models are created after its first paint. The only module
that knows all the parts.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QMessageBox

from app.bridge import EngineBridge
from app.controllers.chat import ChatController
from app.controllers.models import ModelController, StarterPair
from app.settings import STARTER_FOLDER, Settings
from app.storage import Database, DatabaseTooNew
from app.system.crash_marker import SessionMark
from app.system.gui_gc import GuiThreadGarbage
from app.system.logs import ErrorWatch, open_log
from app.system.only_instance import OnlyInstance
from app.system.paths import APP_NAME, Paths
from app.system.unix_signals import Interrupts
from app.theme import Appearance, Theme
from app.view_models.model_list import PairState
from app.views.shell.main_window import MainWindow
from app.views.widgets.banner import BannerText
from app.words.formats import count, fill
from app.words.languages import Translation, compile_stale
from engine import ChatEngine, Engine, ModelLibrary, ModelStore, Sink

if TYPE_CHECKING:
    from app.views.settings.window import SettingsWindow

STARTER = Path(__file__).resolve().parent.parent / "resources" / "starter"

_log = logging.getLogger(__name__)

EngineFactory = Callable[[Path], ChatEngine]
StoreFactory = Callable[[Path, Sink, Path], ModelLibrary]


def open_engine(cache: Path) -> ChatEngine:
    return Engine(cache)


def open_store(folder: Path, sink: Sink, starter: Path) -> ModelLibrary:
    return ModelStore(folder, sink=sink, starter=starter)


class Application(QObject):
    """One run of the app. Emits `opened` when the models begin to load, and `ended` when everything is closed."""

    opened = Signal()
    ended = Signal()

    def __init__(
        self,
        paths: Paths,
        make_engine: EngineFactory = open_engine,
        make_store: StoreFactory = open_store,
        starter: Path = STARTER,
    ) -> None:
        super().__init__()
        self.paths = paths
        self._make_engine = make_engine
        self._make_store = make_store
        self._starter = starter
        self.errors = ErrorWatch()
        self.settings = Settings(paths.settings, paths.hub_token, self)
        self.translation = Translation()
        self.translation.switch(self.settings.language)
        self.theme = Theme(self)
        self._apply_looks()
        self.window = MainWindow(self.theme, self.settings)
        self._settings_window: SettingsWindow | None = None
        self._is_open = False
        self._connect()

    def _connect(self) -> None:
        self.settings.changed.connect(self._on_setting)
        self.errors.unexpected.connect(self._show_unexpected_error, Qt.ConnectionType.QueuedConnection)
        window = self.window
        # Queued behind the first paint event, so that the first frame is on the screen before this work begins.
        window.painted_first.connect(lambda: QTimer.singleShot(0, self.open))
        window.settings_requested.connect(self.show_settings)
        window.log_requested.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.paths.logs))))
        window.about_requested.connect(self._show_about)
        window.closed.connect(self.close)

    # Start

    def show(self) -> None:
        self.window.show()

    def open(self) -> None:
        """Creates what the first frame does not need: database, engine, model store, controllers."""
        try:
            self.database = Database(self.paths.database)
        except DatabaseTooNew:
            self._refuse_newer_database()
            return
        self.mark = SessionMark(self.paths.data / "running")
        self.bridge = EngineBridge(self)
        if self.database.holds_deleted:  # it is purged below, so nothing of it may stay in the engine's cache
            Engine.forget_chats(self.paths.cache)
        self.engine = self._make_engine(self.paths.cache)
        self.store = self._make_store(self.paths.models, self.bridge.post, self._starter)
        starter = StarterPair(self._starter / "main", self._starter / "draft")
        self.models = ModelController(self.engine, self.store, self.bridge, self.settings, starter, self)
        self.chats = ChatController(self.engine, self.bridge, self.database, self.settings, self.models, self)
        self._is_open = True
        self.window.bind(self.chats, self.models)
        self.models.pair_changed.connect(self._mark_loading)
        self._show_last_session_notice()
        self.models.start()
        self.opened.emit()

    def _mark_loading(self) -> None:
        pair = self.models.pair
        self.mark.set_loading(pair.main_folder if pair.state == PairState.LOADING else "")

    def _show_last_session_notice(self) -> None:
        rescued = self.database.rescued
        if rescued is not None:
            self.window.banner.show_warning(lambda: self._repaired_text(rescued.saved_messages))
        elif self.mark.ended_badly:
            self._show_crash_notice(self.mark.was_loading)

    def _repaired_text(self, saved_messages: int) -> BannerText:
        sentence = self.tr("The file with your chats was damaged. %1 messages were saved from it.")
        return BannerText(fill(sentence, count(saved_messages)), self.tr("Chats repaired"))

    def _show_crash_notice(self, was_loading: str) -> None:
        if was_loading and was_loading != str(self._starter / "main"):
            self.settings.main_folder = self.settings.draft_folder = STARTER_FOLDER
            self.window.banner.show_warning(lambda: self._replaced_text(Path(was_loading).name))
        else:
            self.window.banner.show_info(self._crashed_text, self.window.log_requested.emit)

    def _replaced_text(self, model: str) -> BannerText:
        sentence = self.tr("Hunch ended while it loaded %1, so the starter pair is loaded this time.")
        return BannerText(fill(sentence, model), self.tr("Another model is loaded"))

    def _crashed_text(self) -> BannerText:
        sentence = self.tr("Hunch did not end properly last time. Your chats are kept.")
        return BannerText(sentence, button=self.tr("Show Log"))

    def _refuse_newer_database(self) -> None:
        sentence = self.tr("Your chats were written by a newer version of Hunch. Open them with that one.")
        box = QMessageBox(QMessageBox.Icon.Warning, APP_NAME, sentence, QMessageBox.StandardButton.Close, self.window)
        box.finished.connect(self.window.close)
        box.open()

    # While it runs

    def come_to_front(self) -> None:
        window = self.window
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.show()
        window.raise_()
        window.activateWindow()

    def show_settings(self, page: str = "") -> SettingsWindow | None:
        if not self._is_open:
            return None
        if self._settings_window is None:
            from app.views.settings.window import SettingsWindow

            self._settings_window = SettingsWindow(self.theme, self.settings, self.chats, self.models)
        if page:
            self._settings_window.show_page(page)
        self._settings_window.show()
        self._settings_window.raise_()
        self._settings_window.activateWindow()
        return self._settings_window

    def _on_setting(self, name: str) -> None:
        if name == "language":
            self.translation.switch(self.settings.language)
        if name in ("language", "appearance", "text_scale"):
            self._apply_looks()

    def _apply_looks(self) -> None:
        self.theme.set_language(self.translation.language)
        self.theme.set_appearance(cast(Appearance, self.settings.appearance))  # the option allows no other value
        self.theme.set_scale(self.settings.text_scale)

    def _show_unexpected_error(self, summary: str) -> None:
        self.window.banner.show_warning(
            lambda: BannerText(summary, self.tr("Something went wrong in Hunch"), button=self.tr("Show Log")),
            self.window.log_requested.emit,
        )

    def _show_about(self) -> None:
        sentence = self.tr("Chat with language models on your own Mac. A small draft guesses, the main model checks.")
        QMessageBox.about(self.window, APP_NAME, sentence)

    # End

    def close(self) -> None:
        """INVARIANT: replies are stored before the engine closes, and no event is delivered after that."""
        self.window.hide()  # closing may wait for the engine's current step
        if self._settings_window is not None:
            self._settings_window.close()
        if self._is_open:
            self._is_open = False
            self.chats.close()
            self.bridge.close()
            if not (self.engine.close() and self.store.close()):
                _log.warning("the engine did not end in time")
            self.mark.end()
            self.database.close()
        self.settings.save()
        self.ended.emit()


def run(profile_dir: Path | None) -> int:
    qt = qt_application()
    paths = Paths.for_user(profile_dir)
    instance = OnlyInstance(paths.lock)
    if not instance.take():
        return 0 if instance.call_the_other() else 1
    open_log(paths.logs)
    compile_stale()
    application = Application(paths)
    application.errors.install()
    interrupts = Interrupts()
    interrupts.install()
    interrupts.received.connect(application.window.close)
    instance.called.connect(application.come_to_front)
    application.ended.connect(qt.quit)
    application.show()
    code = qt.exec()
    instance.release()
    return code


def qt_application() -> QApplication:
    qt = QApplication(sys.argv[:1])
    qt.setApplicationName(APP_NAME)
    qt.setApplicationDisplayName(APP_NAME)
    # Closing the main window ends the app through `Application.close`; closing the settings window does not.
    qt.setQuitOnLastWindowClosed(False)
    GuiThreadGarbage(qt)
    return qt
