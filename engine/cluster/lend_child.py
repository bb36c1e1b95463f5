"""The process that lends this machine's memory for another one, which writes orders to its input and reads its states.

It ends when its input is closed. It loads no model itself: each rank is a process below it. A model that another
machine supplies is downloaded from a hub on loopback, which is here too.
"""

from __future__ import annotations

import ctypes
import hmac
import json
import os
import re
import secrets
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from engine.api.errors import InvalidRequest
from engine.api.ranks import HubSource, LendingPhase, LendingState
from engine.api.types import AddressProblem
from engine.cluster.discovery import END_S, Announcement, announce
from engine.cluster.identity import Identity
from engine.cluster.lender import Lender
from engine.cluster.lent import host_and_port
from engine.cluster.supplied import PIECE_BYTES, SupplyEnded, SupplyLine

LOOK_S = 1.0  # between two looks at what has changed
_END_S = 4.0  # after which it ends whatever still runs: ranks end with their sockets
_FOOTPRINT = 9  # in rusage_info_v0, after a uuid that is as long as two of these numbers: memory that counts for it
_IDLE_S = 30.0  # for which a connection may say nothing, or not read
_RANGE = re.compile(r"bytes=(\d{1,15})-")


def run(identity: str, address: str) -> int:
    """The exit status. Nothing is offered before an order says what."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that has started this one
    try:
        child = _Child(Path(identity))
        child.start(*host_and_port(address))
    except InvalidRequest:
        _post(LendingState(LendingPhase.FAILED))
        return 1
    except OSError as error:
        _post(LendingState(LendingPhase.FAILED, AddressProblem.of(error)))
        return 1
    with suppress(OSError):  # nothing reads the states any more
        child.post_states()
    threading.Timer(_END_S, os._exit, (0,)).start()
    if child.announcement is not None:
        child.announcement.stop(END_S)
    child.lender.stop()
    os._exit(0)  # the thread that reads may still wait for its input


class _Child:
    def __init__(self, identity: Path) -> None:
        self._identity = Identity(identity)
        self._models: dict[Path, HubSource] = {}
        self._hub: LoopbackHub | None = None
        self._changed = threading.Event()
        self._ended = threading.Event()
        self._code = ""
        self._known = self._identity.machines()
        self._paired = 0
        self.announcement: Announcement | None = None
        self.lender = Lender(self._identity, lambda: self._models, self._changed.set, memory_bytes=0, fetches=True)

    def start(self, host: str, port: int) -> None:
        self.lender.start(host, port)
        self.announcement = announce(self._identity, host, port)
        threading.Thread(target=self._obey, daemon=True).start()

    def post_states(self) -> None:
        """Until the input is closed: each that differs from the one before by more than passing time."""
        before: LendingState | None = None
        while not self._ended.is_set():
            state = self._state()
            if before is None or replace(state, code_s=before.code_s) != before:
                _post(state)
                before = state
            self._changed.wait(LOOK_S)
            self._changed.clear()

    def _obey(self) -> None:
        for line in sys.stdin.buffer:
            order: dict[str, Any] = json.loads(line)
            if "models" in order:
                self._models = {Path(folder): HubSource(*source) for folder, *source in order["models"]}
                self.lender.memory_bytes = order["memory_bytes"]
            elif "invite" in order:
                self._code = self.lender.invite()
            elif "take_back" in order:
                self.lender.take_back()
            self._changed.set()
        self._ended.set()
        self._changed.set()

    def _state(self) -> LendingState:
        lending, left_s, known = self.lender.lending, self.lender.invited_s, self._identity.machines()
        self._paired += known != self._known
        self._known = known
        state = LendingState(LendingPhase.READY, offered_bytes=self.lender.memory_bytes, paired=self._paired)
        if left_s:
            state = replace(state, code=self._code, code_s=left_s)
        wanted = self.lender.wanted
        if wanted is not None and wanted.machine.fingerprint in {machine.fingerprint for machine in known}:
            source = wanted.source
            state = replace(state, wanted_by=wanted.machine.name)
            state = replace(state, wanted_repository=source.repository, wanted_revision=source.revision)
        state = self._with_supply(state)
        if lending is not None:
            used = memory_of(lending.pid) if lending.pid else 0
            state = replace(state, user=lending.machine.name, folder=lending.folder, used_bytes=_rounded(used))
            state = replace(state, promised_bytes=lending.memory_bytes)
        return state

    def _with_supply(self, state: LendingState) -> LendingState:
        line = self.lender.supplies.line
        if line is not None and self._hub is None:
            with suppress(OSError):  # then the hub itself has it
                self._hub = LoopbackHub(lambda: self.lender.supplies.line)
        if line is None or self._hub is None:
            return state
        state = replace(state, supplied_by=line.machine.name, supplied_endpoint=self._hub.endpoint)
        return replace(state, supplied_repository=line.source.repository, supplied_revision=line.source.revision)


def memory_of(pid: int) -> int:
    """Bytes that the process has in memory, with those of the GPU on a Mac; 0: not known."""
    if sys.platform == "darwin":
        numbers = (ctypes.c_uint64 * 64)()
        with suppress(OSError, AttributeError):
            if ctypes.CDLL("/usr/lib/libproc.dylib").proc_pid_rusage(pid, 0, ctypes.byref(numbers)) == 0:
                return int(numbers[_FOOTPRINT])
        return 0
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _rounded(size: int) -> int:
    """A new state is worth a tenth of a gigabyte; of less, ten megabytes."""
    step = 100_000_000 if size >= 1_000_000_000 else 10_000_000
    return round(size / step) * step


def _post(state: LendingState) -> None:
    sys.stdout.write(json.dumps(asdict(state)) + "\n")
    sys.stdout.flush()


class LoopbackHub:
    """A hub at an address of this machine, for its own downloads: it has one model, which another machine supplies.

    It listens on loopback, and answers only who knows the secret in its address. It knows a commit, a list of files and
    their contents, as hubs do; who asks trusts it as little as any hub.
    """

    def __init__(self, line: Callable[[], SupplyLine | None]) -> None:
        """`line`: over which the model comes now. Raises OSError where nothing can listen."""
        self._server = _Server(line)
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}/{self._server.secret}"
        threading.Thread(target=self._server.serve_forever, name="loopback hub", daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, line: Callable[[], SupplyLine | None]) -> None:
        self.line = line
        self.secret = secrets.token_hex(16)
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """The client has closed the connection: a download that was paused does."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_S
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the standard library
        """Addresses have the secret in them."""

    def do_GET(self) -> None:
        secret, *parts = unquote(urlsplit(self.path).path, errors="replace").strip("/").split("/")
        line = self.server.line()
        if not hmac.compare_digest(secret.encode(), self.server.secret.encode()):
            self._refuse(404, "RepoNotFound")
        elif line is None:
            self._refuse(503)
        else:
            try:
                self._answer(parts, line)
            except SupplyEnded:
                self._refuse(503)

    def _answer(self, parts: list[str], line: SupplyLine) -> None:
        repository, revision = line.source.repository.split("/"), line.source.revision
        if parts == ["api", "models", *repository, "revision", revision]:
            self._say({"sha": revision})
        elif parts == ["api", "models", *repository, "tree", revision]:
            stock = line.stock()
            self._say([_entry(*file) for file in zip(stock.names, stock.sizes, stock.checksums, strict=True)])
        elif parts[:-1] == [*repository, "resolve", revision]:
            stock = line.stock()
            self._send_file(line, parts[-1], dict(zip(stock.names, stock.sizes, strict=True)).get(parts[-1]))
        else:
            self._refuse(404, "RepoNotFound")

    def _send_file(self, line: SupplyLine, name: str, size: int | None) -> None:
        asked = _RANGE.fullmatch(self.headers.get("Range", ""))
        start = int(asked[1]) if asked else 0
        if size is None:
            self._refuse(404, "EntryNotFound")
            return
        if start and start >= size:
            self._refuse(416)
            return
        ranged = {"Content-Range": f"bytes {start}-{size - 1}/{size}"} if start else {}
        first = line.read(name, start, min(PIECE_BYTES, size - start))  # before anything is promised
        self._begin(206 if start else 200, size - start, ranged)
        self.wfile.write(first)
        start += len(first)
        try:
            while start < size:
                piece = line.read(name, start, min(PIECE_BYTES, size - start))
                self.wfile.write(piece)
                start += len(piece)
        except SupplyEnded:
            self.close_connection = True  # before its end, which is how HTTP says so

    def _say(self, value: object) -> None:
        content = json.dumps(value).encode()
        self._begin(200, len(content), {"Content-Type": "application/json"})
        self.wfile.write(content)

    def _refuse(self, status: int, code: str = "") -> None:
        self._begin(status, 0, {"X-Error-Code": code} if code else {})

    def _begin(self, status: int, size: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(size), **headers}.items():
            self.send_header(name, value)
        self.end_headers()


def _entry(name: str, size: int, checksum: str) -> dict[str, object]:
    """As a hub lists it: a large file by the SHA-256 of its content, another one by git's object id."""
    entry: dict[str, object] = {"type": "file", "path": name, "size": size, "oid": checksum}
    return entry | {"lfs": {"oid": checksum, "size": size}} if len(checksum) == 64 else entry


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
