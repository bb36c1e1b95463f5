"""Gives the files of one model to another machine that was asked to help with it, over the paired line.

What may be read: the files that a hub's list named when the model came from it, of one repository at one commit. What
this machine knows of their checksums goes along, and the other one compares.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.api.errors import EngineError, MachineUnavailable
from engine.api.ranks import Helping, HubSource, MachineRefusal
from engine.cluster.identity import Identity
from engine.cluster.lent import supply_line
from engine.cluster.operations import Fetch, Inventory, Piece, Ping, Pong, Refused, Stock
from engine.cluster.relay import SILENT_S
from engine.cluster.supplied import PIECE_BYTES
from engine.cluster.wire import Wire, WireBroken, WireEnded
from engine.hub.library import is_snapshot, revision_of
from engine.hub.repository import MAX_FILES, RemoteFile, is_checksum, is_wanted
from engine.hub.staging import listed_in, read_manifest

_AGAIN_S = 5.0  # until a line that was lost is made again
_REST_S = 30.0  # without a question for files; a download may wait for its own disk that long
_PASSING = (MachineRefusal.UNREACHABLE, MachineRefusal.NO_ROUTE, MachineRefusal.BUSY)
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a link, or a pipe, in its place is not read


@dataclass(frozen=True, slots=True)
class _Held:
    """A file that is here."""

    file: RemoteFile
    path: Path


def files_here(folder: Path, source: HubSource) -> dict[str, _Held]:
    """By name, those of that commit with checksums of a hub's list: none if it is another, or not known."""
    if not source.revision or revision_of(folder) != source.revision:
        return {}
    held = _in_cache(folder) if is_snapshot(folder) else _installed(folder)
    return dict(sorted((each.file.name, each) for each in held if is_wanted(each.file.name))[:MAX_FILES])


def _installed(folder: Path) -> Iterator[_Held]:
    return (_Held(file, folder / file.name) for file in listed_in(read_manifest(folder)))


def _in_cache(snapshot: Path) -> Iterator[_Held]:
    """Of a hub's cache: links to files that are called by their checksums, all in one folder of the repository's."""
    blobs = snapshot.parent.parent / "blobs"
    for path in snapshot.iterdir():
        with suppress(OSError):
            checksum = path.readlink().name
            if is_checksum(checksum):
                yield _Held(RemoteFile(path.name, (blobs / checksum).lstat().st_size, checksum), blobs / checksum)


class ModelSupply:
    """From `start` to `end`, while the other machine wants the files. On a thread of its own, a piece at a time."""

    def __init__(
        self,
        helping: Helping,
        folder: Path | str,
        source: HubSource,
        on_use: Callable[[bool], None] = lambda _used: None,
    ) -> None:
        """`on_use` is called on that thread: whether parts of files are being read now."""
        self._helping, self._folder, self._source = helping, Path(folder), source
        self._on_use = on_use
        self._used_at: float | None = None  # monotonic; None: not now
        self._files: dict[str, _Held] = {}
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._wire: Wire | None = None
        self._thread = threading.Thread(target=self._run, name="supply", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self, timeout_s: float = 0.0) -> None:
        with self._lock:
            self._ended.set()
            if self._wire is not None:
                self._wire.shut()
        if timeout_s:
            self._thread.join(timeout_s)

    @property
    def is_over(self) -> bool:
        """It was ended, or the other machine does not want the files."""
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._ended.is_set() and (files := files_here(self._folder, self._source)):
            self._files = files
            try:
                wire = supply_line(self._helping, self._source)
            except MachineUnavailable as error:
                if error.why not in _PASSING:
                    return
            except EngineError:
                return
            else:
                self._serve(wire)
            self._ended.wait(_AGAIN_S)

    def _serve(self, wire: Wire) -> None:
        try:
            with self._lock:
                self._wire = wire
            with suppress(WireEnded, WireBroken):
                while not self._ended.is_set() and wire.arrives(SILENT_S) and self._is_paired():
                    self._answer(wire)
        finally:
            self._rest()
            with self._lock:
                self._wire = None
                wire.close()

    def _is_paired(self) -> bool:
        """Still: its user may have removed that machine meanwhile."""
        try:
            known = Identity(Path(self._helping.identity)).machines()
        except EngineError:
            return False
        return any(machine.fingerprint == self._helping.machine.fingerprint for machine in known)

    def _answer(self, wire: Wire) -> None:
        match wire.receive()[0]:
            case Ping():
                if self._used_at is not None and time.monotonic() > self._used_at + _REST_S:
                    self._rest()
                wire.send(Pong())
            case Inventory():
                files = [held.file for held in self._files.values()]
                names, sizes = tuple(file.name for file in files), tuple(file.size_bytes for file in files)
                wire.send(Stock(names, sizes, tuple(file.checksum for file in files)))
            case Fetch(name=name, start=start, size=size):
                begins, self._used_at = self._used_at is None, time.monotonic()
                if begins:
                    self._on_use(True)
                piece = self._piece(name, start, size)
                wire.send(*((Refused("", ""),) if piece is None else (Piece(), piece)))

    def _rest(self) -> None:
        if self._used_at is not None:
            self._used_at = None
            self._on_use(False)

    def _piece(self, name: str, start: int, size: int) -> bytes | None:
        """None for what is not to be had: another name, another range, or a file that is not as it was."""
        held = self._files.get(name)
        if held is None or not 0 <= size <= PIECE_BYTES or start + size > held.file.size_bytes:
            return None
        try:
            descriptor = os.open(held.path, _OPEN)
        except OSError:
            return None
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size != held.file.size_bytes:
                return None
            piece = os.pread(descriptor, size, start)
            return piece if len(piece) == size else None
        except OSError:
            return None
        finally:
            os.close(descriptor)
