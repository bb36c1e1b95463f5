"""Notices of updates, signed by a key of the tests', and a server that has them."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from app.system.updates import Channel

SECRET = bytes(range(32))
NOTES = {"en": "Faster.", "ko": "더 빨라요.", "ja": "速くなりました。", "zh_CN": "更快。"}


@cache
def signing() -> Any:
    """`packaging/sign_notice.py`, which is no package."""
    file = Path(__file__).resolve().parents[2] / "packaging" / "sign_notice.py"
    spec = spec_from_file_location("sign_notice", file)
    assert spec is not None
    assert spec.loader is not None
    module, path = module_from_spec(spec), list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = path
    return module


def answer(version: str = "9.1", page: str = "releases/v9.1", notes: object = None) -> bytes:
    text = json.dumps({"version": version, "page": page, "notes": NOTES if notes is None else notes})
    return json.dumps(signing().published(text, SECRET)).encode()


class NoticeServer(ThreadingHTTPServer):
    """Sends `body`, as often as it is asked; counts that. `hangs` keeps it silent until the end of the test."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.body = answer()
        self.hangs = False
        self.ends = threading.Event()
        self.asked: list[tuple[str, dict[str, str]]] = []

    @property
    def channel(self) -> Channel:
        here = f"http://127.0.0.1:{self.server_address[1]}"
        return Channel(f"{here}/notice.json", "https://hunch.example/", signing().public_key(SECRET))


class _Handler(BaseHTTPRequestHandler):
    server: NoticeServer

    def do_GET(self) -> None:
        self.server.asked.append((self.path, dict(self.headers)))
        if self.server.hangs:
            self.server.ends.wait(60)
            return
        if self.path == "/notice.json" and self.server.body == b"elsewhere":
            self.send_response(302)
            self.send_header("Location", self.path)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_: object) -> None:
        """Nothing into the output of the tests."""


@contextmanager
def notice_server() -> Iterator[NoticeServer]:
    with NoticeServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.ends.set()
            server.shutdown()
            thread.join()
