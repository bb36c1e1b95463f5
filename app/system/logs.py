"""Where the app logs, and what catches errors that nobody expected. No prompt or reply text is ever logged here."""

from __future__ import annotations

import faulthandler
import logging
import sys
import threading
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, qInstallMessageHandler

_LOG_BYTES = 1_000_000
_QT_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}

_log = logging.getLogger("hunch")


class ErrorWatch(QObject):
    """Catches unhandled exceptions of all threads; emits `unexpected` once per kind of exception."""

    unexpected = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._told: set[str] = set()

    def install(self) -> None:
        sys.excepthook = self.report
        threading.excepthook = self._report_from_thread
        qInstallMessageHandler(_log_qt_message)

    def report(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        _log.critical("unhandled exception", exc_info=(kind, error, trace))
        summary = f"{kind.__name__}: {error}"
        if summary not in self._told:
            self._told.add(summary)
            self.unexpected.emit(summary)

    def _report_from_thread(self, caught: threading.ExceptHookArgs) -> None:
        if caught.exc_value is not None:
            self.report(caught.exc_type, caught.exc_value, caught.exc_traceback)


def open_log(folder: Path) -> Path:
    """Starts logging to a file and to the terminal; Python stacks of a hard crash go next to it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "hunch.log"
    to_file = RotatingFileHandler(path, maxBytes=_LOG_BYTES, backupCount=3, encoding="utf-8")
    to_terminal = logging.StreamHandler()
    to_terminal.setLevel(logging.WARNING)
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        handlers=[to_file, to_terminal],
        force=True,
    )
    # The handle lives as long as the process: faulthandler writes to it from a signal handler.
    faulthandler.enable((folder / "crash.log").open("a", encoding="utf-8"), all_threads=True)
    return path


def _log_qt_message(kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    logging.getLogger("qt").log(_QT_LEVELS.get(kind, logging.WARNING), "%s", message)
