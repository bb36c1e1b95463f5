"""Gives the files of one model to another machine that was asked to help with it: a hub of its own, over HTTPS.

What may be read: the files that a hub's list named when the model came from it, of one repository at one commit, by the
one paired machine that was asked. What is known here of their checksums goes along, and the other machine compares.
"""

from __future__ import annotations

import json
import os
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

from engine.api.errors import EngineError, MachineUnavailable
from engine.api.files import open_plain
from engine.api.ranks import Helping, HubSource, MachineRefusal
from engine.hub.library import is_snapshot, revision_of
from engine.hub.repository import MAX_FILES, RemoteFile, is_checksum, is_wanted
from engine.hub.staging import listed_in, read_manifest
from engine.machines.callers import Caller, Callers, listening
from engine.machines.identity import Identity
from engine.machines.lent import machine_offer, offer_files
from engine.models.model_files import MIB

_OFFER_EVERY_S = 5.0  # the other machine forgets an offer (lender.OFFERED_S)
_LOOK_S = 1.0  # between two looks whether a machine is still paired
_REST_S = 30.0  # without a byte read; a download may wait for its own disk that long
_IDLE_S = 30.0  # for which a connection may say nothing, or not read
_MOST_CONNECTIONS = 16
_AGAIN_S = 0.5  # until a connection is accepted again after a failure
_PIECE_BYTES = MIB
_PASSING = (MachineRefusal.UNREACHABLE, MachineRefusal.NO_ROUTE, MachineRefusal.BUSY, MachineRefusal.NO_MODEL)
_RANGE = re.compile(r"bytes=(\d{1,15})-")


@dataclass(frozen=True, slots=True)
class _FileHere:
    file: RemoteFile
    path: Path

    def open(self) -> BinaryIO:
        """Raises OSError where it is not as the list has it; a link in its place is not followed."""
        file = open_plain(self.path, os.O_NOFOLLOW)
        if os.fstat(file.fileno()).st_size != self.file.size_bytes:
            file.close()
            raise OSError("another file")
        return file


def files_here(folder: Path, source: HubSource) -> dict[str, _FileHere]:
    """By name, those of that commit with checksums of a hub's list: none if it is another, or not known."""
    if not source.revision or revision_of(folder) != source.revision:
        return {}
    here = _in_cache(folder) if is_snapshot(folder) else _installed(folder)
    return dict(sorted((each.file.name, each) for each in here if is_wanted(each.file.name))[:MAX_FILES])


def _installed(folder: Path) -> Iterator[_FileHere]:
    return (_FileHere(file, folder / file.name) for file in listed_in(read_manifest(folder)))


def _in_cache(snapshot: Path) -> Iterator[_FileHere]:
    """Of a hub's cache: links to files that are called by their checksums, all in one folder of the repository's."""
    blobs = snapshot.parent.parent / "blobs"
    for path in snapshot.iterdir():
        with suppress(OSError):
            checksum = path.readlink().name
            if is_checksum(checksum):
                yield _FileHere(RemoteFile(path.name, (blobs / checksum).lstat().st_size, checksum), blobs / checksum)


class ModelFileServer:
    """From `start` to `end`, while the other machine wants the files. On threads of its own."""

    def __init__(
        self,
        helping: Helping,
        folder: Path | str,
        source: HubSource,
        on_use: Callable[[bool], None] = lambda _used: None,
    ) -> None:
        """`on_use` is called on a thread: whether parts of files are being read now, and at the end."""
        self.source = source
        self.files: dict[str, _FileHere] = {}
        self._helping = helping
        self._folder = Path(folder)
        self._on_use = on_use
        self._used_at: float | None = None  # monotonic; None: not now
        self._read: dict[object, int] = {}  # how far, by the file's path
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="model files offered", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self, timeout_s: float = 0.0) -> None:
        self._ended.set()
        if timeout_s:
            self._thread.join(timeout_s)

    @property
    def is_over(self) -> bool:
        """It was ended, or the other machine does not want the files."""
        return not self._thread.is_alive()

    @property
    def share(self) -> float:
        """Of the files, that was read."""
        total_bytes = sum(here.file.size_bytes for here in self.files.values())
        with self._lock:
            return min(1.0, sum(self._read.values()) / total_bytes) if total_bytes else 0.0

    @property
    def is_wanted(self) -> bool:
        """Not ended, and still paired: its user may have removed that machine meanwhile."""
        if self._ended.is_set():
            return False
        try:
            return Identity(Path(self._helping.identity)).machine(self._helping.machine.fingerprint) is not None
        except EngineError:
            return False

    def secured(self, caller: Caller) -> ssl.SSLSocket:
        """The machine that helps, and no other, at the other end. Raises OSError."""
        secure = caller.secured(Identity(Path(self._helping.identity)), ssl.CERT_REQUIRED)
        if caller.machine is None or caller.machine.fingerprint != self._helping.machine.fingerprint:
            secure.close()
            raise ConnectionRefusedError
        return secure

    def pieces(self, file: BinaryIO, size: int) -> Iterator[bytes]:
        """What is left of a file, as long as it is wanted."""
        looked_at = -_LOOK_S
        while size:
            if time.monotonic() > looked_at + _LOOK_S:
                looked_at = time.monotonic()
                if not self.is_wanted:
                    return
            piece = file.read(min(size, _PIECE_BYTES))
            if not piece or self._ended.is_set():
                return
            size -= len(piece)
            self._note_use(file)
            yield piece

    def _note_use(self, file: BinaryIO) -> None:
        with self._lock:
            self._read[file.name] = file.tell()
            begins = self._used_at is None
            self._used_at = time.monotonic()
        if begins:
            self._on_use(True)

    def _run(self) -> None:
        self.files = files_here(self._folder, self.source)
        if not self.files:
            return
        server = _Server(self)
        thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="model files", daemon=True)
        thread.start()
        try:
            while self.is_wanted and self._is_offered(server.server_port):
                self._look_at_use()
                self._ended.wait(_OFFER_EVERY_S)
        finally:
            self._ended.set()
            server.shutdown()
            server.server_close()
            thread.join()
            if self._read:
                self._on_use(False)

    def _is_offered(self, port: int) -> bool:
        """Whether the other machine wants them, or may once it answers."""
        try:
            offer_files(self._helping, self.source, port)
        except MachineUnavailable as error:
            if error.why is MachineRefusal.NO_MODEL:
                self._ask()
            return error.why in _PASSING
        except EngineError:
            return False
        return True

    def _ask(self) -> None:
        """As before this began: the other machine has forgotten it, as it was asked for another model, say."""
        with suppress(EngineError):
            machine_offer(self._helping, self._folder, self.source)

    def _look_at_use(self) -> None:
        with self._lock:
            rests = self._used_at is not None and time.monotonic() > self._used_at + _REST_S
            if rests:
                self._used_at = None
        if rests:
            self._on_use(False)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, offer: ModelFileServer) -> None:
        self.offer = offer
        self._callers = Callers(_MOST_CONNECTIONS)
        super().__init__(("", 0), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening("::", 0)
        self.server_port = self.socket.getsockname()[1]

    def get_request(self) -> tuple[socket.socket, Any]:
        try:
            return super().get_request()
        except OSError:  # no descriptor is free, say: it would be tried again at once
            time.sleep(_AGAIN_S)
            raise

    def finish_request(self, request: Any, client_address: Any) -> None:
        caller = Caller(request, client_address[0])
        if not self._callers.add(caller):
            return
        try:
            with self.offer.secured(caller) as secure:
                _Handler(secure, client_address, self)
        finally:
            self._callers.remove(caller)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Another machine, or a client that has closed the connection: a download that was paused does."""


class _Handler(BaseHTTPRequestHandler):
    """Knows a commit, a list of files and their contents, as hubs do."""

    protocol_version = "HTTP/1.1"
    timeout = _IDLE_S
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the standard library
        """Nothing is logged of what is asked."""

    def do_GET(self) -> None:
        offer = self.server.offer
        parts = unquote(urlsplit(self.path).path, errors="replace").strip("/").split("/")
        repository = offer.source.repository.split("/")
        revision = offer.source.revision
        if not offer.is_wanted:
            self._refuse(503)
        elif parts == ["api", "models", *repository, "revision", revision]:
            self._say({"sha": revision})
        elif parts == ["api", "models", *repository, "tree", revision]:
            self._say([_entry(here.file) for here in offer.files.values()])
        elif parts[:-1] == [*repository, "resolve", revision]:
            self._send_file(offer.files.get(parts[-1]))
        else:
            self._refuse(404, "RepoNotFound")

    def _send_file(self, here: _FileHere | None) -> None:
        asked = _RANGE.fullmatch(self.headers.get("Range", ""))
        start = int(asked[1]) if asked else 0
        if here is None:
            self._refuse(404, "EntryNotFound")
            return
        size = here.file.size_bytes
        if start and start >= size:
            self._refuse(416)
            return
        try:
            file = here.open()
        except OSError:
            self._refuse(404, "EntryNotFound")
            return
        ranged = {"Content-Range": f"bytes {start}-{size - 1}/{size}"} if start else {}
        self._begin(206 if start else 200, size - start, ranged)
        self.close_connection = True  # before its end, which is how HTTP says that something is missing
        with file:
            file.seek(start)
            for piece in self.server.offer.pieces(file, size - start):
                self.wfile.write(piece)

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


def _entry(file: RemoteFile) -> dict[str, object]:
    """As a hub lists it: a large file by the SHA-256 of its content, another one by git's object id."""
    size = file.size_bytes
    entry: dict[str, object] = {"type": "file", "path": file.name, "size": size, "oid": file.checksum}
    return entry | {"lfs": {"oid": file.checksum, "size": size}} if len(file.checksum) == 64 else entry
