"""Opening, migrating and rescuing the database file."""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pytest

from app.storage import (
    ChatStore,
    Database,
    MessageStore,
    NotOpened,
    OfAnotherVersion,
    Stores,
    copies,
    schema,
)
from app.storage.database import Reason, reason_of
from app.words.notices_for_errors import notice_for
from tests.helpers.chat_files import PAGE_BYTES, add_version, fill

DAMAGED = pytest.mark.expect_log("the database was damaged")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new folder" / "chats.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    database = Database(path)
    yield database
    database.close()


def test_new_file_is_made_with_write_ahead_logging(database: Database) -> None:
    assert database.row("PRAGMA journal_mode")["journal_mode"] == "wal"  # type: ignore[index]
    assert database.row("PRAGMA foreign_keys")["foreign_keys"] == 1  # type: ignore[index]
    assert database.rescued is None


def test_transaction_is_all_or_nothing(database: Database) -> None:
    chats = ChatStore(database)
    with pytest.raises(sqlite3.IntegrityError), database.transaction():
        MessageStore(database, chats).add_user(chats.create("gone") + 1, None, "in no chat")
    with database.transaction(durable=False):
        chats.create("kept")
    assert [chat.title for chat in chats.find()] == ["kept"]


def test_migration_keeps_a_copy_of_what_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path, chats=3, messages=40, words=200)
    earlier = path.with_name("chats-before-v2.db")
    earlier.touch()
    version = add_version(monkeypatch)
    with closing(Database(path)) as database:
        assert database.row("SELECT mood FROM chats") is not None
    with closing(sqlite3.connect(path.with_name(f"chats-before-v{version}.db"))) as copy:
        assert copy.execute("SELECT count(*) FROM messages").fetchone()[0] == 120
    assert not earlier.exists(), "one such copy is enough"


def test_a_copy_that_cannot_be_deleted_does_not_stop_the_next_migration(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(path, chats=1, messages=2, words=2)
    path.with_name("chats-before-v2.db").mkdir()
    add_version(monkeypatch)
    with closing(Database(path)) as database:
        assert database.row("SELECT mood FROM chats") is not None
        assert database.rescued is None


@pytest.mark.parametrize("ends_after", range(3))
def test_a_migration_that_is_cut_begins_anew(path: Path, monkeypatch: pytest.MonkeyPatch, ends_after: int) -> None:
    """What a kill leaves is what SQLite has not committed."""
    fill(path)
    version = add_version(monkeypatch)

    def cut(script: str) -> Iterator[str]:
        yield from list(statements(script))[:ends_after]
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        statements = schema._statements
        killed.setattr(schema, "_statements", cut)
        with pytest.raises(KeyboardInterrupt):
            Database(path)
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (version - 1,)
    with closing(Database(path)) as database:
        assert [row["mood"] for row in database.rows("SELECT mood FROM chats")] == ["calm"] * 2
        assert database.rescued is None


def test_who_opens_a_file_that_is_being_migrated_waits_for_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As two processes do. Without waiting, one would do again what the other has done meanwhile."""
    fill(path)
    add_version(monkeypatch)
    copy_to, opened = copies.copy_to, list[int]()

    def open_it() -> None:
        with closing(Database(path)) as database:
            opened.append(len(database.rows("SELECT mood FROM chats")))

    other = threading.Thread(target=open_it)

    def copy_slowly(connection: sqlite3.Connection, target: Path) -> None:
        if other.ident is None:
            other.start()
            other.join(1.0)
        copy_to(connection, target)

    monkeypatch.setattr(schema, "copy_to", copy_slowly)
    with closing(Database(path)) as database:
        other.join()
        assert (opened, database.rescued, len(database.rows("SELECT mood FROM chats"))) == ([2], None, 2)


@DAMAGED
def test_a_rescue_keeps_what_each_version_brought(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of chats that an older version wrote, whose rows are shorter than the others."""
    fill(path, messages=1)
    add_version(monkeypatch)
    with closing(Database(path)) as database:
        database.execute("INSERT INTO folders (name, created_at) VALUES ('Work', 2)")
        chat = "INSERT INTO chats (created_at, updated_at, folder_id, options, mood) VALUES (3, 3, 1, '{}', '')"
        database.execute(chat)
        words = "INSERT INTO messages (chat_id, role, text, created_at, parts) VALUES (3, 'user', 'new', 3, '[]')"
        database.execute(words)
        root = "SELECT rootpage FROM sqlite_master WHERE name = 'messages_by_parent'"
        page = database.rows(root)[0]["rootpage"]
    with path.open("r+b") as file:  # the index is broken, the tables are whole
        file.seek((page - 1) * PAGE_BYTES)
        file.write(b"\xff" * PAGE_BYTES)
    with closing(Database(path)) as database:
        assert database.rescued is not None
        assert database.rescued.saved_messages == 3
        chats = database.rows("SELECT folder_id, options, mood FROM chats ORDER BY id")
        assert [tuple(row) for row in chats] == [(None, None, "calm"), (None, None, "calm"), (1, "{}", "")]
        messages = database.rows("SELECT parts FROM messages ORDER BY id")
        assert [row["parts"] for row in messages] == [None, None, "[]"]
        assert [row["name"] for row in database.rows("SELECT name FROM folders")] == ["Work"]


def test_empty_file_is_a_new_database(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.touch()
    with closing(Database(path)) as database:
        assert database.rescued is None
        assert ChatStore(database).create("first") == 1


def test_words_are_for_their_owner_only(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.touch(mode=0o644)  # as earlier versions made it
    fill(path, chats=3, messages=40, words=200)
    with closing(Database(path)) as database:
        database.execute("UPDATE chats SET title = 'open'")
        copies.copy_if_due(path)
        files = [path, path.with_name("chats.db-wal"), path.with_name("chats.db-shm"), *copies.copies_of(path)]
        assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600] * 4


@DAMAGED
@pytest.mark.parametrize("noted", [2**31, 2**62, "text"])
def test_a_damaged_last_number_does_not_make_the_next_one_too_large(tmp_path: Path, noted: object) -> None:
    path = tmp_path / "chats.db"
    with closing(Database(path)) as database:
        first = Stores(database).chats.create("first")
        database.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'chats'", (noted,))
    with closing(Database(path)) as database:
        assert Stores(database).chats.create("second") == first + 1


def test_a_change_by_itself_is_on_disk_also_after_text_was_saved(database: Database) -> None:
    """Text that streams may wait for the disk; what is acknowledged after it may not."""
    with database.transaction(durable=False):
        database.execute("INSERT INTO chats (created_at, updated_at) VALUES (1, 1)")
    level = database.row("PRAGMA synchronous")
    assert level is not None
    assert level[0] == 2  # FULL
    flushed = database.row("PRAGMA fullfsync")  # a Mac's drive has a memory of its own
    assert flushed is not None
    assert flushed[0] == 1


@pytest.mark.parametrize("version", [9, 99])
def test_a_file_of_another_version_is_refused_also_where_this_one_takes_it_for_damaged(
    tmp_path: Path, version: int
) -> None:
    path = tmp_path / "chats.db"
    Database(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as later:
        later.execute("CREATE TABLE moods (mood NOT NULL)")
        later.execute("INSERT INTO moods VALUES (1)")
        later.execute("UPDATE notes SET value = ? WHERE name = 'version'", (str(version),))
        later.execute(f"PRAGMA user_version = {version}")
        later.execute("PRAGMA writable_schema = ON")
        later.execute(
            "UPDATE sqlite_schema SET sql = 'CREATE TABLE moods (mood NOT NULL, of NOT NULL)' WHERE name = 'moods'"
        )
    before = path.read_bytes()
    with pytest.raises(OfAnotherVersion, match=f"schema version {version}"):
        Database(path)
    assert (path.read_bytes(), list(tmp_path.glob("chats-*"))) == (before, [])


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.EROFS, Reason.READ_ONLY),
        (errno.EACCES, Reason.READ_ONLY),
        (errno.ENOSPC, Reason.FULL),
        (errno.EIO, Reason.UNREADABLE),
    ],
)
def test_what_the_system_refuses_has_its_reason(tmp_path: Path, number: int, reason: Reason) -> None:
    assert reason_of(OSError(number, os.strerror(number)), tmp_path / "chats.db") is reason


def test_a_disk_without_locks_is_no_other_program(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite takes the first for the second."""
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as one, closing(sqlite3.connect(path, timeout=0)) as other:
        one.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError) as locked:
            other.execute("BEGIN EXCLUSIVE")
    assert reason_of(locked.value, path) is Reason.LOCKED

    def refuse(*_: object) -> NoReturn:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "lockf", refuse)
    assert reason_of(locked.value, path) is Reason.NO_LOCKS
    notice = notice_for(NotOpened(Reason.NO_LOCKS, "/chats"))
    assert notice.sentence == "The disk with /chats cannot lock files."
