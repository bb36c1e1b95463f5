"""The Models view by itself: the controllers over a scripted engine and model store, and nothing else of the window."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent
from pytestqt.qtbot import QtBot

from app.controllers.library import open_catalog
from app.theme import Theme
from app.views.models.view import ModelsView
from app.words.languages import Translation, compiled_sentences
from tests.helpers.controller_harness import ControllerHarness


class ModelsHarness(ControllerHarness):
    def __init__(self, folder: Path, qtbot: QtBot, **parts: object) -> None:
        super().__init__(folder, qtbot, **parts)  # type: ignore[arg-type]
        self.models.library.catalog = open_catalog()
        self.load_pair()
        self.translation = Translation(compiled_sentences())
        self.theme = Theme()
        self.translation.switch("en")
        self.view = ModelsView(self.theme, self.settings, self.models)
        self.view.resize(860, 700)

    def show(self, tab: str) -> ModelsView:
        self.view.show_tab(tab)
        self.view.show()
        self.view.activateWindow()
        self.qtbot.waitUntil(self.view.isActiveWindow)
        return self.view

    def close(self) -> None:
        super().close()  # first, as in the app: what the bridge brings later would find no view
        self.view.close()
        self.view.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        self.translation.remove()


@contextmanager
def open_models(folder: Path, qtbot: QtBot, **parts: object) -> Iterator[ModelsHarness]:
    harness = ModelsHarness(folder, qtbot, **parts)
    try:
        yield harness
    finally:
        harness.close()
