"""Qt's application object as Hunch wants it."""

from __future__ import annotations

import sys
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication

from app.system.gui_gc import GuiThreadGarbage
from app.system.paths import APP_NAME

# MEASURED: while the engine's thread runs Python, each painted widget waits this long for it: 0.3 s a frame with 5 ms.
_SWITCH_S = 0.001


class HunchApplication(QApplication):
    """Knows while all visible windows are asked to close because the app shall end: by the Dock, or at logging out.

    `may_quit` is asked first.
    """

    is_quitting = False
    may_quit: Callable[[], bool] = staticmethod(lambda: True)

    def event(self, event: QEvent) -> bool:
        if event.type() != QEvent.Type.Quit:
            return super().event(event)
        self.is_quitting = True
        try:
            if self.may_quit():
                return super().event(event)
            event.ignore()
            return True
        finally:
            self.is_quitting = False


def is_quitting() -> bool:
    application = QCoreApplication.instance()
    return isinstance(application, HunchApplication) and application.is_quitting


def qt_application() -> HunchApplication:
    qt = HunchApplication(sys.argv[:1])
    qt.setApplicationName(APP_NAME)
    qt.setApplicationDisplayName(APP_NAME)
    # Closing the main window ends the app through `Application.close`; closing the settings window does not.
    qt.setQuitOnLastWindowClosed(False)
    sys.setswitchinterval(_SWITCH_S)
    GuiThreadGarbage(qt)
    return qt
