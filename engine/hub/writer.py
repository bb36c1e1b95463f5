"""One file from a hub to the disk: resumable, hashed while it is written, and renamed only when it is right.

`<name>.<checksum>.part` grows; what a crash, a pause or a lost connection left of it is hashed again and continued.
Hashing and syncing run on a thread a few pieces after the reading, so that a fast connection need not wait.
"""

from __future__ import annotations

import logging
import os
import re
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from engine.api.errors import ChecksumMismatch, HubMisbehaved
from engine.api.files import open_plain, sync_file
from engine.hub.client import HubClient
from engine.hub.repository import RemoteFile
from engine.hub.stop import StopSignal, TryAgain
from engine.models.model_files import KIB, MIB

if TYPE_CHECKING:
    import httpx2

OnBytes = Callable[[int, bool], None]  # (bytes, whether they arrived over the network)
Slot = Callable[[], AbstractContextManager[None]]  # one of the connections that all downloads share

_log = logging.getLogger(__name__)

_STEP_BYTES = 64 * KIB  # fewer in several tries count as none
_MOST_PENDING = 8  # pieces, of at most a MiB each
_SYNC_EVERY_BYTES = 32 * MIB  # else the last sync of a large file would take seconds


def fetch_file(
    client: HubClient, commit: str, file: RemoteFile, folder: Path, stop: StopSignal, report: OnBytes, slot: Slot
) -> None:
    """Afterwards `folder/file.name` is complete and right, or this raises and the part stays for the next try.

    Each try holds a `slot`; a wait before the next try holds none.
    """

    def receive() -> None:
        with slot():
            _receive(client, commit, file, part, stop)

    with _Part(part_path(folder, file), file, stop, report) as part:
        part.take_what_is_there()
        client.persist(receive, lambda: part.bytes // _STEP_BYTES, client.patience.file_tries)
        if not part.is_right():
            part.discard()
            raise ChecksumMismatch(client.repository, file.name)
        part.sync()
    part_path(folder, file).replace(folder / file.name)


def part_path(folder: Path, file: RemoteFile) -> Path:
    return folder / f"{file.name}.{file.checksum[:16]}.part"


def is_right(path: Path, file: RemoteFile, stop: StopSignal, read: Callable[[int], None] = lambda _bytes: None) -> bool:
    """Whether `path` already is the hub's file; False if it is unreadable. `read` gets the length of each piece."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size != file.size_bytes:
            return False
        return _checksum(path, file, stop, read) == file.checksum
    except OSError as error:
        _log.warning("A file of a model cannot be read: %s", error)
        return False


def _checksum(path: Path, file: RemoteFile, stop: StopSignal, read: Callable[[int], None]) -> str:
    digest = file.new_hash()
    with open_plain(path) as content:
        while chunk := content.read(MIB):
            digest.update(chunk)
            read(len(chunk))
            stop.check()
    return digest.hexdigest()


class _Part:
    """The growing file and the hash of its content."""

    def __init__(self, path: Path, file: RemoteFile, stop: StopSignal, report: OnBytes) -> None:
        self.bytes = 0
        self._path = path
        self._file = file
        self._stop = stop
        self._report = report
        self._hash = file.new_hash()
        self._synced_bytes = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hub-hash")
        self._pending = deque[Future[None]]()

    def __enter__(self) -> _Part:
        self._content = self._path.open("a+b", buffering=0)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._thread.shutdown(cancel_futures=True)
        self._content.close()

    def take_what_is_there(self) -> None:
        self._content.seek(0)
        while chunk := self._content.read(MIB):
            self._stop.check()
            self._take(chunk, fresh=False)
            if self.bytes > self._file.size_bytes:
                self.restart()
                break

    def append(self, chunk: bytes) -> None:
        written = 0
        while written < len(chunk):  # usually all at once; a full disk writes less
            written += self._content.write(chunk[written:])
        self._take(chunk, fresh=True)
        if self.bytes - self._synced_bytes >= _SYNC_EVERY_BYTES:
            self._synced_bytes = self.bytes
            self._path.stat()  # raises if its folder was removed: the rest would be fetched for nothing
            self._later(os.fsync, self._content.fileno())

    def restart(self) -> None:
        self._catch_up()
        self._report(-self.bytes, False)
        self._content.truncate(0)
        self.bytes = 0
        self._synced_bytes = 0
        self._hash = self._file.new_hash()

    def is_right(self) -> bool:
        self._catch_up()
        return self._hash.hexdigest() == self._file.checksum

    def sync(self) -> None:
        sync_file(self._content.fileno())

    def discard(self) -> None:
        self._report(-self.bytes, False)
        self._path.unlink()

    def _take(self, chunk: bytes, fresh: bool) -> None:
        self._later(self._hash.update, chunk)
        self.bytes += len(chunk)
        self._report(len(chunk), fresh)

    def _later(self, work: Callable[[Any], None], on: Any) -> None:
        self._pending.append(self._thread.submit(work, on))
        self._catch_up(_MOST_PENDING)

    def _catch_up(self, at_most: int = 0) -> None:
        """Wait until at most `at_most` pieces are pending; raises their error."""
        while len(self._pending) > at_most:
            self._pending.popleft().result()


def _receive(client: HubClient, commit: str, file: RemoteFile, part: _Part, stop: StopSignal) -> None:
    """Fetches what is missing; raises TryAgain if the connection ended too early."""
    if part.bytes == file.size_bytes:
        return
    with client.open_file(commit, file.path or file.name, part.bytes) as response:
        first = _first_byte(client, response, file)
        _check_length(client, response, file)  # before anything that has arrived is discarded
        if first != part.bytes:
            part.restart()
        if response.status_code == 416:
            raise TryAgain("HTTP 416")
        for chunk in client.body_of(response):
            stop.check()
            if part.bytes + len(chunk) > file.size_bytes:
                raise HubMisbehaved(client.repository, f"{file.name}: more than {file.size_bytes} bytes")
            part.append(chunk)
    if part.bytes < file.size_bytes:
        raise TryAgain(f"{file.name}: {part.bytes} of {file.size_bytes} bytes")


def _first_byte(client: HubClient, response: httpx2.Response, file: RemoteFile) -> int:
    """The answer's offset: the requested one, or 0, because some servers ignore Range."""
    if response.status_code != 206:
        return 0
    header = re.match(r"bytes (\d{1,15})-", response.headers.get("Content-Range", ""))
    asked = re.match(r"bytes=(\d+)-", response.request.headers.get("Range", "bytes=0-"))
    if header is None or asked is None or int(header[1]) not in {0, int(asked[1])}:
        raise HubMisbehaved(client.repository, f"{file.name}: not the range that was asked for")
    return int(header[1])


def _check_length(client: HubClient, response: httpx2.Response, file: RemoteFile) -> None:
    """A file of another length than the list's cannot be right, however often it is fetched."""
    headers = response.headers
    if response.status_code == 206:
        header = headers.get("Content-Range", "").rpartition("/")[2]
    else:
        packed = "Transfer-Encoding" in headers or "Content-Encoding" in headers
        header = "" if packed or response.status_code != 200 else headers.get("Content-Length", "")
    if header.isascii() and header.isdecimal() and header.lstrip("0") != str(file.size_bytes).lstrip("0"):
        raise HubMisbehaved(client.repository, f"{file.name}: {header[:40]} bytes, not {file.size_bytes}")
