"""One Hunch per profile: a second start brings the first one's window to the front, or opens Quick Ask, and ends.

The system releases the lock when its process ends; a second start reaches the first by a local socket. The first
answers only while it has a window: a start waits for one that is ending.

On a disk that several machines share, locks may hold on each of them alone, and SQLite's with them. So the locked file
names the machine that has the profile open, and is empty after an end: a start that finds another machine's name asks.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import re
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from app.system.machine import machine_id
from engine import sync_file

_CALL_MS = 1000
_LOOK_MS = 60_000  # between two looks whether the socket is still there
_LONGEST_WISH = 16
_MOST_CALLERS = 8  # at a time; a start says at once what it wants
_ANSWER = b"here"
# commands of a later start
FRONT = b"front\n"
QUICK_ASK = b"ask\n"

_MARK = re.compile(r"([0-9a-f]{32})\n(.{1,256})\n")  # id and name of a machine
_MOST_BYTES = 1024  # of it

_log = logging.getLogger(__name__)


class OnlyInstance(QObject):
    called = Signal()  # the user started the app again
    quick_ask_called = Signal()  # the same with --quick-ask
    answered = Signal()  # the other instance answered after `call_the_other` returned

    def __init__(self, lock_file: Path, has_window: Callable[[], bool] = lambda: True) -> None:
        super().__init__()
        self._has_window = has_window
        self._name = _socket_name(lock_file)
        self._file = lock_file
        self.is_first = False
        self.other_machine = ""  # name of the one that has the profile open, or has not ended
        self._lock = -1  # descriptor of the locked file
        self._is_claimed = False
        self._call: QLocalSocket | None = None  # to the other instance
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_call)
        self.look = QTimer(self, interval=_LOOK_MS)
        self.look.timeout.connect(self._listen_again)

    def take(self) -> bool:
        """Whether this process is the only one, or locking is not possible; then it listens for later starts."""
        descriptor = _opened(self._file)
        if descriptor >= 0:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.other_machine = _other_machine(descriptor)
                os.close(descriptor)
                return False
            except OSError as error:
                _log.info("other starts are not kept out: %s", error.strerror)
        self.other_machine = _other_machine(descriptor)
        self._lock = descriptor
        self.is_first = True
        QLocalServer.removeServer(self._name)  # left by a crash
        self._server.listen(self._name)
        self.look.start()
        return True

    def _listen_again(self) -> None:
        """macOS removes temporary files that nothing has used for three days, such as the socket."""
        if not os.path.lexists(self._server.fullServerName()):
            self._server.close()
            self._server.listen(self._name)

    def claim(self) -> None:
        """Write this machine's name into the locked file. Waits for the disk."""
        name = socket.gethostname().removesuffix(".local") or "?"
        with suppress(OSError):
            os.ftruncate(self._lock, 0)
            self._is_claimed = True
            os.pwrite(self._lock, f"{machine_id()}\n{name}\n".encode(), 0)
            sync_file(self._lock)

    def call_the_other(self, wish: bytes = FRONT) -> bool:
        """Ask the running instance for FRONT or QUICK_ASK; False if it has no window, or does not answer at once."""
        self._call = QLocalSocket(self)
        self._call.connectToServer(self._name)
        if self._call.waitForConnected(_CALL_MS):
            self._call.write(wish)
            if self._call.waitForReadyRead(_CALL_MS):
                return self._call.readAll().data() == _ANSWER
            self._call.readyRead.connect(self._on_answer)
        return False

    def _on_answer(self) -> None:
        if self._call is not None and self._call.readAll().data() == _ANSWER:
            self.answered.emit()

    def stop_listening(self) -> None:
        """This process is ending."""
        self.look.stop()
        self._server.close()

    def release(self) -> None:
        self.stop_listening()
        if self._lock >= 0:
            if self._is_claimed:
                with suppress(OSError):
                    os.ftruncate(self._lock, 0)
            os.close(self._lock)
            self._lock = -1

    def _on_call(self) -> None:
        while self._server.hasPendingConnections():
            caller = self._server.nextPendingConnection()
            caller.setReadBufferSize(_LONGEST_WISH)
            caller.disconnected.connect(caller.deleteLater)
            caller.readyRead.connect(partial(self._answer, caller))
            for silent in self._server.findChildren(QLocalSocket)[:-_MOST_CALLERS]:
                silent.abort()
            if caller.bytesAvailable():
                self._answer(caller)

    def _answer(self, caller: QLocalSocket) -> None:
        """Answer a complete command; ignore anything else."""
        if not caller.canReadLine() and caller.bytesAvailable() < _LONGEST_WISH:
            return
        wish = caller.readLine(_LONGEST_WISH).data()
        if self._has_window() and wish in (FRONT, QUICK_ASK):
            caller.write(_ANSWER)
            caller.flush()
            (self.quick_ask_called if wish == QUICK_ASK else self.called).emit()
        caller.disconnectFromServer()


def _opened(file: Path) -> int:
    """Descriptor to lock; -1 if it cannot be opened."""
    for flags in (os.O_RDWR | os.O_CREAT, os.O_RDONLY):  # some disks are read-only
        with suppress(OSError):
            return os.open(file, flags | os.O_NONBLOCK, 0o600)
    return -1


def _other_machine(descriptor: int) -> str:
    """ "" if there is none in the file, or something else in its place."""
    try:
        found = _MARK.fullmatch(os.pread(descriptor, _MOST_BYTES, 0).decode())
    except (OSError, ValueError):
        return ""
    return "" if found is None or found[1] == machine_id() else found[2]


def _socket_name(lock_file: Path) -> str:
    """Short, because the path of a local socket may have about a hundred characters."""
    return "hunch-" + hashlib.sha256(str(lock_file.resolve()).encode()).hexdigest()[:16]
