"""A frame in one piece, on systems whose sockets hold 8 KB."""

from __future__ import annotations

import socket

from engine.machines.wire import socket_pair


def test_sockets_between_processes_hold_a_frame() -> None:
    usual, _ = usual_pair = socket.socketpair()
    ours, theirs = pair = socket_pair()
    for end in (ours, theirs):
        for buffer in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            assert end.getsockopt(socket.SOL_SOCKET, buffer) > usual.getsockopt(socket.SOL_SOCKET, buffer)
    for end in (*pair, *usual_pair):
        end.close()
