"""Servers of other programs on this machine: a port for one, and when it answers."""

from __future__ import annotations

import socket
import time
import urllib.error
import urllib.request

_START_S = 120.0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def wait_for_answer(address: str) -> None:
    """Or for an error of HTTP, which is one too."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + _START_S
    while True:
        try:
            with opener.open(address, timeout=5):
                return
        except urllib.error.HTTPError:
            return
        except OSError:
            assert time.monotonic() < deadline, f"{address} does not answer"
            time.sleep(0.2)
