"""The one way in which the engine and the app write small files."""

from __future__ import annotations

import fcntl
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from app.documents.pages import DocumentKind, pages_of
from app.documents.problems import Refused
from app.portable import own
from app.portable.beside import beside
from app.portable.problems import Unreadable
from app.portable.reading import chunks, sources
from app.system.limited_child import Stop
from engine import EngineError, remove_unfinished, write_atomically
from engine.hub.repository import RemoteFile
from engine.hub.stop import StopSignal
from engine.hub.writer import _checksum
from engine.models.model_files import FileError, read_header, read_limited
from engine.prefix.file import read_segment
from engine.server.command import _key_in


def test_text_and_bytes_replace_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "settings.json"
    write_atomically(file, "가나다")
    assert file.read_bytes() == "가나다".encode()
    write_atomically(file, b"\x00\xff")
    assert file.read_bytes() == b"\x00\xff"
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize(("private", "mode"), [(True, 0o600), (False, 0o644)])
def test_only_a_private_file_is_closed_to_other_users(tmp_path: Path, private: bool, mode: int) -> None:
    before = os.umask(0o022)
    try:
        write_atomically(tmp_path / "file", "", private=private)
        write_atomically(tmp_path / "made" / "file", "", private=private)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode
    assert stat.S_IMODE((tmp_path / "made").stat().st_mode) == mode | (0o100 if private else 0o111)


def test_a_private_file_is_private_even_where_a_public_one_was(tmp_path: Path) -> None:
    write_atomically(tmp_path / "file", "old", private=False)
    write_atomically(tmp_path / "file", "new")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600


def test_a_write_that_fails_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    taken = tmp_path / "file"
    (taken / "a folder cannot be replaced").mkdir(parents=True)
    with pytest.raises(OSError):  # noqa: PT011  which one is the system's choice
        write_atomically(taken, "new")
    assert list(tmp_path.iterdir()) == [taken]


def test_bytes_are_on_the_disk_before_the_name_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, seen = tmp_path / "file", list[tuple[bool, int]]()
    sync = os.fsync

    def watched(descriptor: int) -> None:
        seen.append((file.exists(), os.fstat(descriptor).st_size))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    write_atomically(file, "text")
    assert seen == [(False, 4)]


@pytest.mark.parametrize("volume_knows_it", [True, False])
def test_a_mac_is_asked_to_empty_the_memory_of_the_drive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, volume_knows_it: bool
) -> None:
    asked = list[object]()

    def control(_descriptor: int, request: int) -> None:
        asked.append(request)
        if not volume_knows_it:
            raise OSError

    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", control)
    monkeypatch.setattr(os, "fsync", lambda _descriptor: asked.append("fsync"))
    write_atomically(tmp_path / "file", "text")
    assert asked == ([51] if volume_knows_it else [51, "fsync"])


def test_what_a_killed_process_was_writing_does_not_stay(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    write_atomically(file, "old")
    code = """
import os, signal, sys
from pathlib import Path
from engine.api.files import write_atomically
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
write_atomically(Path(sys.argv[1]), "secret words")
"""
    assert subprocess.run([sys.executable, "-c", code, str(file)], check=False).returncode == -signal.SIGKILL
    (left,) = set(tmp_path.iterdir()) - {file}
    kept = [tmp_path / name for name in ("chats.db.new", "notes.deadbeef.new.txt", ".deadbeef.new")]
    for other in kept:
        other.touch()
    remove_unfinished(tmp_path)
    assert left.exists()  # it may be another thread's, which goes on
    for old in (left, *kept):
        os.utime(old, (0, 0))
    remove_unfinished(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([file, *kept])
    left.touch()
    os.utime(left, (4e9, 4e9))  # written before the clock was set back
    remove_unfinished(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([file, *kept])
    assert file.read_text() == "old"


def test_more_than_the_reader_of_a_file_takes_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write_atomically(file, "fits", most_bytes=4)
    with pytest.raises(OSError, match="too large"):
        write_atomically(file, "fits!", most_bytes=4)
    assert (list(tmp_path.iterdir()), file.read_text()) == ([file], "fits")


def read_pages(kind: DocumentKind) -> Callable[[Path], object]:
    return lambda path: list(pages_of(path, kind, 100, Stop()))


def read_export(path: Path) -> None:
    if not own.is_export(path):
        raise OSError("no export")


def read_source(path: Path) -> None:
    (source,) = sources(path)
    list(chunks(source, lambda _read: None))


READERS: dict[str, Callable[[Path], object]] = {
    "a file of chats": read_source,
    "a look at one": read_export,
    **{f"pages of {kind}": read_pages(kind) for kind in DocumentKind},
    "a picture beside chats": lambda path: beside(path.parent, 1)._by_name["pipe"](),
    "config.json": lambda path: read_limited(path, 100),
    "weights": read_header,
    "a kept prefix": read_segment,
    "a download": lambda path: _checksum(path, RemoteFile("pipe", 4, "0" * 64), StopSignal(), print),
    "a key": _key_in,
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_no_reader_waits_for_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Callable[[Path], object]
) -> None:
    """That has come in the place of a file just after this was looked at. Here nobody opens it to write."""
    (tmp_path / "file").write_bytes(b"words")
    found = (tmp_path / "file").stat()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    for look in ("stat", "lstat"):
        monkeypatch.setattr(Path, look, lambda _path, **_: found)
    monkeypatch.setattr(Path, "is_file", lambda _path: True)
    ended: list[Exception] = []

    def read() -> None:
        try:
            reader(pipe)
        except (OSError, ValueError, FileError, EngineError, Unreadable, Refused) as error:
            ended.append(error)

    reading = threading.Thread(target=read, daemon=True)
    reading.start()
    reading.join(60)
    assert ended
