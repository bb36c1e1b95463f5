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
    DatabaseTooNew,
    MessageStore,
    NotOpened,
    ReplyStatus,
    Stores,
    copies,
    schema,
)
from app.storage.database import Reason, reason_of
from app.words.notices_for_errors import notice_for
from tests.helpers.chat_files import PAGE_BYTES, fill

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


@pytest.mark.parametrize("can_be_deleted", [True, False])
def test_migration_keeps_a_copy_of_what_was(path: Path, monkeypatch: pytest.MonkeyPatch, can_be_deleted: bool) -> None:
    """One is enough; an earlier one that cannot be deleted stops nothing."""
    fill(path, chats=3, messages=40, words=200)
    earlier = path.with_name("chats-before-v2.db")
    earlier.touch() if can_be_deleted else earlier.mkdir()
    scripts = [*schema._scripts(), "ALTER TABLE chats ADD COLUMN mood TEXT"]
    monkeypatch.setattr(schema, "_scripts", lambda: scripts)
    with closing(Database(path)) as database:
        assert database.row("SELECT mood FROM chats") is not None
        assert database.rescued is None
    with closing(sqlite3.connect(path.with_name(f"chats-before-v{len(scripts)}.db"))) as copy:
        assert copy.execute("SELECT count(*) FROM messages").fetchone()[0] == 120
    assert earlier.exists() is not can_be_deleted


# What version 1 wrote in its two columns, and the one status that it has become; the last is from a version to come.
_VERSION_1 = [
    ("done", "stop", ReplyStatus.DONE),
    ("done", None, ReplyStatus.DONE),
    ("done", "length", ReplyStatus.LENGTH),
    ("done", "context", ReplyStatus.CONTEXT),
    ("done", "memory", ReplyStatus.MEMORY),
    ("stopped", "cancelled", ReplyStatus.STOPPED),
    ("interrupted", None, ReplyStatus.INTERRUPTED),
    ("failed", None, ReplyStatus.FAILED),
    ("streaming", None, ReplyStatus.STREAMING),
    ("from another version", None, ReplyStatus.DONE),
]


def write_version_1(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        schema.migrate(raw, 1)
        raw.execute("INSERT INTO chats (title, created_at, updated_at) VALUES ('old', 1, 1)")
        for number, (status, finish, _) in enumerate(_VERSION_1, start=1):
            raw.execute(
                "INSERT INTO messages (chat_id, role, text, status, finish, created_at)"
                " VALUES (1, 'assistant', ?, ?, ?, 1)",
                (f"reply {number} " + "text " * 400, status, finish),
            )


def statuses(database: Database) -> list[ReplyStatus | None]:
    messages = MessageStore(database, ChatStore(database))
    found = [messages.message(number) for number in range(1, len(_VERSION_1) + 1)]
    return [None if message is None else message.status for message in found]


def test_every_status_of_version_1_is_read(path: Path) -> None:
    write_version_1(path)
    with closing(Database(path)) as database:
        assert statuses(database) == [status for _, _, status in _VERSION_1]
    with closing(sqlite3.connect(path.with_name(f"chats-before-v{schema.newest_version()}.db"))) as copy:
        assert copy.execute("SELECT count(*) FROM messages WHERE finish = 'length'").fetchone()[0] == 1


@DAMAGED
def test_a_damaged_file_of_version_1_is_rescued_with_its_statuses(path: Path) -> None:
    write_version_1(path)
    with path.open("r+b") as file:  # the index is broken, the tables are whole
        with closing(sqlite3.connect(path)) as raw:
            page = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = 'messages_by_parent'").fetchone()[0]
        file.seek((page - 1) * PAGE_BYTES)
        file.write(b"\xff" * PAGE_BYTES)
    with closing(Database(path)) as database:
        assert database.rescued is not None
        assert database.rescued.saved_messages == len(_VERSION_1)
        assert statuses(database) == [status for _, _, status in _VERSION_1]


def test_who_opens_a_file_that_is_being_migrated_waits_for_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As two processes do. Without waiting, one would do again what the other has done meanwhile."""
    write_version_1(path)
    copy_to, opened = copies.copy_to, list[int]()

    def open_it() -> None:
        with closing(Database(path)) as database:
            opened.append(len(statuses(database)))

    other = threading.Thread(target=open_it)

    def copy_slowly(connection: sqlite3.Connection, target: Path) -> None:
        if other.ident is None:
            other.start()
            other.join(1.0)
        copy_to(connection, target)

    monkeypatch.setattr(schema, "copy_to", copy_slowly)
    with closing(Database(path)) as database:
        other.join()
        assert (opened, database.rescued, len(statuses(database))) == ([len(_VERSION_1)], None, len(_VERSION_1))


@DAMAGED
def test_a_rescue_keeps_what_version_4_brought(path: Path) -> None:
    """Also of a chat that an older version wrote, whose rows are shorter than the others."""
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        schema.migrate(raw, 3)
        raw.execute("INSERT INTO chats (title, created_at, updated_at) VALUES ('old', 1, 1)")
        raw.execute("INSERT INTO messages (chat_id, role, text, created_at) VALUES (1, 'user', 'old words', 1)")
    with closing(Database(path)) as database:
        database.execute("INSERT INTO folders (name, created_at) VALUES ('Work', 2)")
        chat = "INSERT INTO chats (title, created_at, updated_at, folder_id, options) VALUES ('new', 3, 3, 1, '{}')"
        database.execute(chat)
        words = "INSERT INTO messages (chat_id, role, text, created_at, parts) VALUES (2, 'user', 'new', 3, '[]')"
        database.execute(words)
        root = "SELECT rootpage FROM sqlite_master WHERE name = 'messages_by_parent'"
        page = database.rows(root)[0]["rootpage"]
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE_BYTES)
        file.write(b"\xff" * PAGE_BYTES)
    with closing(Database(path)) as database:
        assert database.rescued is not None
        chats = database.rows("SELECT title, folder_id, options FROM chats ORDER BY id")
        assert [tuple(row) for row in chats] == [("old", None, None), ("new", 1, "{}")]
        messages = database.rows("SELECT text, parts FROM messages ORDER BY id")
        assert [tuple(row) for row in messages] == [("old words", None), ("new", "[]")]
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


def test_a_file_of_a_newer_version_is_refused_also_where_this_one_takes_it_for_damaged(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    Database(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as later:
        later.execute("CREATE TABLE moods (mood NOT NULL)")
        later.execute("INSERT INTO moods VALUES (1)")
        later.execute("UPDATE notes SET value = '99' WHERE name = 'version'")
        later.execute("PRAGMA user_version = 99")
        later.execute("PRAGMA writable_schema = ON")
        later.execute(
            "UPDATE sqlite_schema SET sql = 'CREATE TABLE moods (mood NOT NULL, of NOT NULL)' WHERE name = 'moods'"
        )
    before = path.read_bytes()
    with pytest.raises(DatabaseTooNew, match="schema version 99"):
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
