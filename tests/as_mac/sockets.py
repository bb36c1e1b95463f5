"""Sockets as a Mac has them: `pytest -p tests.as_mac.sockets`. Pairs hold 8 KB; ending what is not connected raises.

It raises for the engine alone, once it is done: on Linux nothing else wakes a thread that waits for the socket.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from pathlib import Path
from typing import Any

_ENGINE = f"{Path(__file__).resolve().parents[2]}/engine/"
_PAIR_BYTES = 8192
_socketpair = socket.socketpair
_shutdown = socket.socket.shutdown


def _small_pair(*arguments: Any) -> tuple[socket.socket, socket.socket]:
    pair = _socketpair(*arguments)
    for end in pair:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _PAIR_BYTES // 2)  # Linux doubles it
    return pair


def _end(connection: socket.socket, how: int) -> None:
    _shutdown(connection, how)
    if sys._getframe(1).f_code.co_filename.startswith(_ENGINE):
        raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))


socket.socketpair = _small_pair  # type: ignore[assignment]
socket.socket.shutdown = _end  # type: ignore[method-assign, assignment]
