"""The log, unexpected errors, and crash logs of earlier runs.

No prompt or reply text is ever logged: an exception's text may contain user data, so only its kind and source positions
are logged.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import sys
import threading
import time
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, qInstallMessageHandler

from app.system.failures import CRASHES, kind_of, places
from app.system.small_file import move_aside, read_small

EARLIER = "earlier-crash.log"
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
        self._reported: set[str] = set()

    def install(self) -> None:
        sys.excepthook = self.report
        threading.excepthook = self._report_from_thread
        qInstallMessageHandler(_log_qt_message)

    def report(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        _log.critical("unhandled exception", exc_info=(kind, error, trace))
        summary = kind_of(error)
        if summary not in self._reported:
            self._reported.add(summary)
            self.unexpected.emit(summary)

    def _report_from_thread(self, caught: threading.ExceptHookArgs) -> None:
        if caught.exc_value is not None:
            self.report(caught.exc_type, caught.exc_value, caught.exc_traceback)


_Trace = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class PrivateFormatter(logging.Formatter):
    """Formats an exception as kinds and positions, and a message as one printable line.

    Names of folders and models may contain line breaks or invalid text.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in super().formatMessage(record))

    def formatException(self, ei: _Trace) -> str:  # noqa: N802 - logging's name
        return "" if ei[1] is None else places(ei[1])


class PrivateFile(RotatingFileHandler):
    """A log that only its owner may read."""

    def _open(self) -> TextIOWrapper:
        stream = super()._open()
        os.fchmod(stream.fileno(), 0o600)
        return stream


def open_log(folder: Path) -> Path:
    """Starts logging to a file and to the terminal; Python stacks of a hard crash go next to it."""
    path = folder / "hunch.log"
    to_terminal = logging.StreamHandler()
    to_terminal.setLevel(logging.WARNING)
    handlers: list[logging.Handler] = [to_terminal]
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for file in (path, folder / CRASHES, folder / EARLIER):
            move_aside(file)  # opening a pipe would block
        put_aside(folder)
        handlers.append(PrivateFile(path, maxBytes=_LOG_BYTES, backupCount=3, encoding="utf-8"))
        # Open until the process ends: faulthandler writes to it from a signal handler.
        crashes = os.open(folder / CRASHES, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.fchmod(crashes, 0o600)
        faulthandler.enable(crashes, all_threads=True)
    except OSError as error:
        sys.stderr.write(f"There is no log: {error.strerror}\n")
    for handler in handlers:
        handler.setFormatter(PrivateFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=handlers, force=True)
    return path


def _log_qt_message(kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    logging.getLogger("qt").log(_QT_LEVELS.get(kind, logging.WARNING), "%s", message)


def put_aside(folder: Path) -> None:
    """Move the crash log of the last run aside; an older one stays if that run left none. Raises OSError."""
    file = folder / CRASHES
    if file.is_file() and file.stat().st_size:
        file.replace(folder / EARLIER)


def earlier_crash(folder: Path) -> str:
    """Time and stacks of an earlier crash; "" if there was none."""
    file = folder / EARLIER
    try:
        moment = time.strftime("%Y-%m-%d %H:%M", time.localtime(file.stat().st_mtime))
        return f"{moment}\n{read_small(file).decode('utf-8', 'replace').strip()}"
    except (OSError, ValueError):
        return ""
