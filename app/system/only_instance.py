"""One Hunch per profile: a second start brings the first one's window to the front and ends.

The lock is a file that the system unlocks when the process ends; a second start reaches the first by a local socket.
The first answers only while it has a window: one that is ending is waited for, not handed over to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

_CALL_MS = 2000
_ANSWER = b"here"


class OnlyInstance(QObject):
    called = Signal()  # somebody started the app again

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

    def call_the_other(self) -> bool:
        """Asks the process that holds the lock to come to the front; False when it has no window to show."""
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        reached = socket.waitForConnected(_CALL_MS) and socket.waitForReadyRead(_CALL_MS)
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
            if self.has_window():
                caller.write(_ANSWER)
                caller.flush()
                self.called.emit()
            caller.disconnected.connect(caller.deleteLater)
            caller.disconnectFromServer()


def _socket_name(lock_file: Path) -> str:
    """Short, because the path of a local socket may have about a hundred characters."""
    return "hunch-" + hashlib.sha256(str(lock_file.resolve()).encode()).hexdigest()[:16]
