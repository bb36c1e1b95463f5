"""The whole app with its windows over a scripted engine and model store, in a folder of the test's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self, TypeVar

import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.application import Application
from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.settings import Settings
from app.storage import Stores
from app.system.energy import EnergySource
from app.system.paths import Paths
from app.view_models.model_list import PairState
from app.views.models.view import ModelsView
from app.views.settings.window import SettingsWindow
from app.views.shell.main_window import MainWindow
from app.views.transcript.message_footer import message_menu
from app.views.transcript.view import TranscriptView
from app.views.widgets.attachment_chip import AttachmentChip
from engine import EngineError, InstalledModel, ModelInfo, ModelLibrary, Sink
from tests.helpers.fake_engine import DRAFT, MAIN, FakeEngine, model_info
from tests.helpers.fake_model_store import FakeModelStore
from tests.helpers.stillness import NEVER_MS, still

Shown = TypeVar("Shown", bound=QWidget)


class AppHarness:
    """A context manager: the app is closed at the end, also when the test failed, or its windows would outlive it.

    `put_settings` is for what must be in the settings file before the app starts.
    """

    def __init__(
        self,
        folder: Path,
        models: Mapping[str, ModelInfo | EngineError] | None = None,
        installed: Sequence[InstalledModel] | None = None,
        put_settings: Mapping[str, object] | None = None,
        with_starter: bool = False,
        machine: EnergySource | None = None,
    ) -> None:
        self.paths = Paths.for_user(folder)
        starter = folder / "starter"
        self.engine = FakeEngine(_starter_models(starter) if with_starter else models)
        self._installed = installed
        usual: dict[str, object] = {"language": "en", "automatic_titles": False}
        if not with_starter:
            usual |= {"main_folder": MAIN.folder, "draft_folder": DRAFT.folder}
        self._prepare(usual | dict(put_settings or {}))
        self.application = Application(self.paths, lambda _, **__: self.engine, self._make_store, starter, machine)
        self.application._opening.setInterval(NEVER_MS)  # told by the clock; a busy machine is to change no test
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prepare(self, values: Mapping[str, object]) -> None:
        settings = Settings(self.paths.settings, self.paths.hub_token)
        for name, value in values.items():
            setattr(settings, name, value)
        settings.save()

    def _make_store(self, _folder: Path, sink: Sink, _starter: Path) -> ModelLibrary:
        self.store = FakeModelStore(sink, self._installed)
        return self.store

    @property
    def window(self) -> MainWindow:
        return self.application.window

    @property
    def transcript(self) -> TranscriptView:
        """Once something was asked, or a chat opened."""
        assert self.window.transcript is not None
        return self.window.transcript

    def show_settings(self, page: str = "") -> SettingsWindow:
        window = self.application.show_settings()
        assert window is not None
        if page:
            window.show_page(page)
        return window

    def open_page(self, kind: type[Shown]) -> Shown:
        return open_page(self.application, kind)

    def act(self, row: int, words: str) -> None:
        """As chosen from the menu of the message."""
        message = self.chats.transcript.messages[row]
        menu = message_menu(self.transcript.copier.context, message, self.transcript)
        next(action for action in menu.actions() if action.text() == words).trigger()
        menu.deleteLater()

    def show_models(self, tab: str = "") -> ModelsView:
        self.application.show_models(tab)
        return self.window.models_view.view

    @property
    def chats(self) -> ChatController:
        return self.application.chats

    @property
    def models(self) -> ModelController:
        return self.application.models

    def open(self, qtbot: QtBot) -> None:
        """As a start does: the window first, the rest once it is painted; then waits for the pair."""
        with qtbot.waitSignal(self.application.opened):
            self.application.show()
        self.window.activateWindow()
        qtbot.waitUntil(self.window.isActiveWindow)
        qtbot.waitUntil(self.is_settled)

    def is_settled(self) -> bool:
        pair, listed = self.models.pair, self.models.library.installed
        return pair.state is not PairState.LOADING and pair.draft_state != "loading" and bool(listed)

    def ask(self, qtbot: QtBot, text: str) -> str:
        """Puts it into the composer, presses Return and waits for the whole reply."""
        self.window.composer.edit.insertPlainText(text)
        self.press_return()
        self.wait_until_quiet(qtbot)
        return self.chats.transcript.messages[-1].text

    def press_return(self) -> None:
        QTest.keyClick(self.window.composer.edit, Qt.Key.Key_Return)

    @property
    def chips(self) -> list[AttachmentChip]:
        """Of what is attached in the composer."""
        return list(self.window.composer.attached.chips.values())

    @property
    def used_tokens(self) -> int:
        return self.window.composer.ring.used_tokens

    def make_folder(self, qtbot: QtBot, name: str = "") -> int:
        """Its number; with a name, once that is stored."""
        made: list[int] = []
        self.chats.folders.made.connect(made.append)
        self.chats.folders.make()
        qtbot.waitUntil(lambda: bool(made))
        if name:
            self.chats.folders.rename(made[0], name)
        self.wait_until_stored(qtbot)
        still()
        return made[0]

    def change(self, qtbot: QtBot, what: Callable[[Stores], object]) -> None:
        """Does something to the writer's connection."""
        self.application.storage.write(what, lambda _: None, lambda _: None)
        self.wait_until_stored(qtbot)

    def wait_until_quiet(self, qtbot: QtBot) -> None:
        """Until everything that was asked of the disk and of the engine is answered."""
        qtbot.waitUntil(lambda: not self.application.storage.pending and not self.chats.generating)

    def wait_until_stored(self, qtbot: QtBot) -> None:
        qtbot.waitUntil(lambda: not self.application.storage.pending)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self.window.close_at_once()
        reset_process(self.application)


def open_page(application: Application, kind: type[Shown]) -> Shown:
    """A page of the settings."""
    window = application.settings_window()
    for name, page in window.pages.items():
        if isinstance(page, kind):
            window.show_page(name)
            window.come_to_front()
            return page
    raise LookupError(kind)


def focused() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def reset_process(application: Application) -> None:
    """What a closed app set for the whole process would reach the next test."""
    still()
    for window in QApplication.topLevelWidgets():  # before the rest, which they would show of a storage that is closed
        window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    application.translation.switch("en")
    application.theme.set_appearance("auto")
    application.theme.set_scale(1.0)
    application.translation.remove()
    # What is connected to a lambda is freed with its sender only: a closed app would stay in memory.
    for part in [application, *vars(application).values()]:
        if isinstance(part, QObject) and shiboken6.isValid(part):
            part.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _starter_models(starter: Path) -> dict[str, ModelInfo | EngineError]:
    for part in ("main", "draft"):
        (starter / part).mkdir(parents=True)
    main, draft = str(starter / "main"), str(starter / "draft")
    return {main: model_info(main, 6_000_000), draft: model_info(draft, 1_000_000)}


@contextmanager
def open_app(folder: Path, qtbot: QtBot, **parts: object) -> Iterator[AppHarness]:
    with AppHarness(folder, **parts) as harness:  # type: ignore[arg-type]
        harness.open(qtbot)
        yield harness
