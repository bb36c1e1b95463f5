"""One Hunch per profile: a second start brings the first one's window to the front, or opens Quick Ask, and ends.

The lock is a file that the system unlocks when the process ends; a second start reaches the first by a local socket.
The first answers only while it has a window: one that is ending is waited for, not handed over to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

_CALL_MS = 2000
_LONGEST_WISH = 16
_ANSWER = b"here"
FRONT, QUICK_ASK = b"front\n", b"ask\n"  # what a later start wants


class OnlyInstance(QObject):
    called = Signal()  # somebody started the app again
    quick_ask_called = Signal()  # likewise, with --quick-ask

    def __init__(self, lock_file: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.has_window: Callable[[], bool] = lambda: True
        self._name = _socket_name(lock_file)
        self._lock = QLockFile(str(lock_file))
        # A lock is stale when its process is gone, however old it is.
        self._lock.setStaleLockTime(0)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_call)

    def take(self, wait_ms: int = 0) -> bool:
        """Whether this process is the one that runs; it then listens for later starts.

        Where no lock file can be made at all, as on a disk that is read only, everyone runs.
        """
        if not self._lock.tryLock(wait_ms) and self._lock.error() == QLockFile.LockError.LockFailedError:
            return False
        QLocalServer.removeServer(self._name)  # left behind by a crash
        self._server.listen(self._name)
        return True

    def call_the_other(self, wish: bytes = FRONT) -> bool:
        """Asks the process that holds the lock for FRONT or QUICK_ASK; False when it has no window to show."""
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        reached = socket.waitForConnected(_CALL_MS)
        if reached:
            socket.write(wish)
            reached = socket.waitForReadyRead(_CALL_MS)
        answer = socket.readAll().data() if reached else b""
        socket.disconnectFromServer()
        return answer == _ANSWER

    def stop_listening(self) -> None:
        """From here on this process is ending."""
        self._server.close()

    def release(self) -> None:
        self._server.close()
        self._lock.unlock()

    def _on_call(self) -> None:
        while self._server.hasPendingConnections():
            caller = self._server.nextPendingConnection()
            caller.disconnected.connect(caller.deleteLater)
            caller.readyRead.connect(partial(self._answer, caller))
            if caller.bytesAvailable():
                self._answer(caller)

    def _answer(self, caller: QLocalSocket) -> None:
        """Once its whole wish is here. Whoever sends something else gets no answer."""
        if not caller.canReadLine():
            return
        wish = caller.readLine(_LONGEST_WISH).data()
        if self.has_window() and wish in (FRONT, QUICK_ASK):
            caller.write(_ANSWER)
            caller.flush()
            (self.quick_ask_called if wish == QUICK_ASK else self.called).emit()
        caller.disconnectFromServer()


def _socket_name(lock_file: Path) -> str:
    """Short, because the path of a local socket may have about a hundred characters."""
    return "hunch-" + hashlib.sha256(str(lock_file.resolve()).encode()).hexdigest()[:16]
