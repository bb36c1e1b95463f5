"""Qt's application object as Hunch wants it, and fast imports beside Qt."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QFileOpenEvent, QGuiApplication, QIcon
from PySide6.QtWidgets import QApplication

from app.system.build import ROOT
from app.system.bundle import own_bundle
from app.system.paths import APP_NAME

# MEASURED: while the engine's thread runs Python, each painted widget waits this long for it: 0.3 s a frame with 5 ms.
SWITCH_S = 0.001
_LOOK_EVERY_MS = 500


class GuiThreadGarbage(QObject):
    """Runs due garbage collections on the GUI thread, by a timer.

    Python collects on whichever thread allocates next. If the engine's or the formulas' thread then frees a Qt object
    in a cycle, the process dies. MEASURED: a segmentation fault in a formula's thread, each time the tests ran. A full
    collection visits everything that was imported. MEASURED: a tenth of a second of the window's time with MLX and
    transformers in memory. So objects that exist after imports have settled are frozen, except young ones, and so are
    those of later imports. They are collected when another program comes to the front, and at later imports while it is
    there: the user does not wait for the window.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._modules_seen = self._modules_frozen = 0
        self._is_in_front = True
        self._timer = QTimer(self, interval=_LOOK_EVERY_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            app.applicationStateChanged.connect(self._on_state)

    def collect(self) -> None:
        """Collect the oldest generation that is due by Python's thresholds; freeze objects after imports."""
        before = self._modules_seen
        self._modules_seen = len(sys.modules)
        if before == self._modules_seen != self._modules_frozen:
            self._modules_frozen = before
            self._set_aside(young=self._is_in_front)
            return
        due = [generation for generation in range(3) if gc.get_count()[generation] > gc.get_threshold()[generation]]
        if due:
            gc.collect(due[-1])

    def _on_state(self, state: Qt.ApplicationState) -> None:
        self._is_in_front = state == Qt.ApplicationState.ApplicationActive
        if self._modules_frozen and not self._is_in_front:
            self._set_aside(young=False)

    def _set_aside(self, *, young: bool) -> None:
        """Freeze all living objects; collect all generations first, or only the `young` one."""
        if not young:
            gc.unfreeze()
        gc.collect(1 if young else 2)
        gc.freeze()


class HunchApplication(QApplication):
    """Reports when the app is asked to end, by the Dock or at logout, before its windows close.

    `quit_asked` comes first, with the event: a slot that ignores the event keeps the app running. Files, addresses and
    service texts from macOS wait until `open_with` is called.
    """

    quit_asked = Signal(object)
    is_quitting = False
    _open: Callable[[QUrl | str], None] | None = None

    def __init__(self, arguments: list[str]) -> None:
        super().__init__(arguments)
        os.environ.pop("CFProcessPath", None)  # macOS has read it; other programs that Hunch starts are not its app
        self._to_open: list[QUrl | str] = []

    def open_with(self, opener: Callable[[QUrl | str], None]) -> None:
        self._open = opener
        waiting = self._to_open
        self._to_open = []
        for given in waiting:
            opener(given)

    def take(self, given: QUrl | str) -> None:
        if self._open is None:
            self._to_open.append(given)
        else:
            self._open(given)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QFileOpenEvent):
            self.take(event.url())
            return True
        if event.type() != QEvent.Type.Quit:
            return super().event(event)
        self.is_quitting = True
        try:
            self.quit_asked.emit(event)
            return super().event(event) if event.isAccepted() else True
        finally:
            self.is_quitting = False


def is_quitting() -> bool:
    application = QCoreApplication.instance()
    return isinstance(application, HunchApplication) and application.is_quitting


def qt_application() -> HunchApplication:
    qt = HunchApplication(sys.argv[:1])
    qt.setApplicationName(APP_NAME)
    qt.setApplicationDisplayName(APP_NAME)
    if own_bundle() is None:  # an app's is in the style that its user has chosen; Python's own would be in the Dock
        qt.setWindowIcon(QIcon(str(ROOT / "resources" / "app_icon.svg")))
    # Closing the main window ends the app through `Application.close`; closing the settings window does not.
    qt.setQuitOnLastWindowClosed(False)
    sys.setswitchinterval(SWITCH_S)
    GuiThreadGarbage(qt)
    return qt
