"""Opening, migrating and rescuing the database file."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.storage import (
    ChatStore,
    Database,
    DatabaseTooNew,
    MessageStore,
    Pictures,
    Purged,
    ReplyStatus,
    Stores,
    opening,
    rescue,
)
from app.storage.salvage import Pages
from engine import MessageRole

PAGE_BYTES = 4096
DAMAGED = pytest.mark.expect_log("the database was damaged")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new folder" / "chats.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    database = Database(path)
    yield database
    database.close()


def fill(path: Path, chats: int = 3, messages: int = 40) -> None:
    with closing(Database(path)) as database:
        store = ChatStore(database)
        tree = MessageStore(database, store)
        with database.transaction():
            for chat in range(chats):
                chat_id, parent = store.create(f"chat {chat}"), None
                for number in range(messages):
                    parent = tree.add_user(chat_id, parent, f"message {number} " + "text " * 200)


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
    fill(path)
    scripts = [*opening._migrations(), "ALTER TABLE chats ADD COLUMN mood TEXT"]
    monkeypatch.setattr(opening, "_migrations", lambda: scripts)
    with closing(Database(path)) as database:
        assert database.row("SELECT mood FROM chats") is not None
    with closing(sqlite3.connect(path.with_name(f"chats-before-v{len(scripts)}.db"))) as copy:
        assert copy.execute("SELECT count(*) FROM messages").fetchone()[0] == 120


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
        raw.executescript(opening._migrations()[0] + "; PRAGMA user_version = 1;")
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
    with closing(sqlite3.connect(path.with_name(f"chats-before-v{len(opening._migrations())}.db"))) as copy:
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
    copy_to, opened = rescue.copy_to, list[int]()

    def open_it() -> None:
        with closing(Database(path)) as database:
            opened.append(len(statuses(database)))

    other = threading.Thread(target=open_it)

    def copy_slowly(connection: sqlite3.Connection, target: Path) -> None:
        if other.ident is None:
            other.start()
            other.join(1.0)
        copy_to(connection, target)

    monkeypatch.setattr(rescue, "copy_to", copy_slowly)
    with closing(Database(path)) as database:
        other.join()
        assert (opened, database.rescued, len(statuses(database))) == ([len(_VERSION_1)], None, len(_VERSION_1))


def test_migration_that_fails_leaves_the_version_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)
    first = opening._migrations()
    monkeypatch.setattr(opening, "_migrations", lambda: [*first, "CREATE TABLE extra (a); SELECT nothing"])
    with pytest.raises(sqlite3.OperationalError):
        Database(path)
    monkeypatch.setattr(opening, "_migrations", lambda: first)
    with closing(Database(path)) as database:
        assert database.rows("SELECT name FROM sqlite_master WHERE name = 'extra'") == []
        assert len(ChatStore(database).find()) == 3


@DAMAGED
def test_damaged_pages_cost_only_their_own_rows(path: Path) -> None:
    fill(path)
    pages = path.stat().st_size // PAGE_BYTES
    damaged = bytearray(path.read_bytes())
    for page in (pages // 2, pages // 2 + 1):
        damaged[page * PAGE_BYTES : (page + 1) * PAGE_BYTES] = b"\xa5" * PAGE_BYTES
    path.write_bytes(damaged)
    with closing(Database(path)) as database:
        assert database.rescued is not None
        assert 100 <= database.rescued.saved_messages < 120
        assert path.with_name(database.rescued.damaged_file).read_bytes() == damaged
        tree = MessageStore(database, ChatStore(database))
        kept = [tree.message(row["id"]) for row in database.rows("SELECT id FROM messages")]
        assert len(kept) == database.rescued.saved_messages
        assert all(message and message.role is MessageRole.USER for message in kept)
        assert database.row("PRAGMA foreign_key_check") is None


@DAMAGED
@pytest.mark.parametrize("readable", [True, False], ids=["by SQLite", "by its pages"])
def test_a_rescue_keeps_what_version_4_brought(path: Path, readable: bool) -> None:
    """Also of a chat that an older version wrote, whose rows are shorter than the others."""
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        first = opening._migrations()
        raw.executescript(";".join(first[:3]) + "; PRAGMA user_version = 3;")
        raw.execute("INSERT INTO chats (title, created_at, updated_at) VALUES ('old', 1, 1)")
        raw.execute("INSERT INTO messages (chat_id, role, text, created_at) VALUES (1, 'user', 'old words', 1)")
    with closing(Database(path)) as database:
        database.execute("INSERT INTO folders (name, created_at) VALUES ('Work', 2)")
        chat = "INSERT INTO chats (title, created_at, updated_at, folder_id, options) VALUES ('new', 3, 3, 1, '{}')"
        database.execute(chat)
        words = "INSERT INTO messages (chat_id, role, text, created_at, parts) VALUES (2, 'user', 'new', 3, '[]')"
        database.execute(words)
        root = "SELECT rootpage FROM sqlite_master WHERE name = 'messages_by_parent'"
        page = 1 if not readable else database.rows(root)[0]["rootpage"]
    with path.open("r+b") as file:
        file.seek(0 if not readable else (page - 1) * PAGE_BYTES)
        file.write(b"\xff" * (100 if not readable else PAGE_BYTES))
    with closing(Database(path)) as database:
        assert database.rescued is not None
        chats = database.rows("SELECT title, folder_id, options FROM chats ORDER BY id")
        assert [tuple(row) for row in chats] == [("old", None, None), ("new", 1, "{}")]
        messages = database.rows("SELECT text, parts FROM messages ORDER BY id")
        assert [tuple(row) for row in messages] == [("old words", None), ("new", "[]")]
        assert [row["name"] for row in database.rows("SELECT name FROM folders")] == ["Work"]


@DAMAGED
def test_file_that_is_no_database_is_put_aside(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"this was never a database" * 500)
    with closing(Database(path)) as database:
        assert database.rescued is not None
        assert database.rescued.saved_messages == 0
        assert path.with_name(database.rescued.damaged_file).exists()
        assert ChatStore(database).find() == []


def test_empty_file_is_a_new_database(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.touch()
    with closing(Database(path)) as database:
        assert database.rescued is None
        assert ChatStore(database).create("first") == 1


@DAMAGED
def test_copy_takes_over_where_nothing_can_be_read(path: Path) -> None:
    fill(path)
    rescue.copy_if_due(path)
    path.write_bytes(b"\xa5" * path.stat().st_size)
    with closing(Database(path)) as database:
        assert database.rescued is not None
        assert database.rescued.saved_messages == 120
        assert len(ChatStore(database).find()) == 3


def test_one_copy_a_day_and_three_are_kept(path: Path) -> None:
    fill(path)
    rescue.copy_if_due(path)
    rescue.copy_if_due(path)
    assert len(rescue.copies_of(path)) == 1
    backups = path.with_name("backups")
    for day in range(1, 5):  # as earlier versions named them
        (backups / f"chats-2020010{day}-000000.db").write_bytes(b"")
        os.utime(backups / f"chats-2020010{day}-000000.db", (0, 0))
    for _ in range(2):
        os.utime(rescue.copies_of(path)[-1], (0, 0))
        rescue.copy_if_due(path)
    assert [copy.name for copy in rescue.copies_of(path)] == ["chats-000001.db", "chats-000002.db", "chats-000003.db"]


def test_a_clock_that_jumped_does_not_stop_the_copies(path: Path) -> None:
    fill(path)
    rescue.copy_if_due(path)
    os.utime(rescue.copies_of(path)[-1], (4_000_000_000, 4_000_000_000))
    rescue.copy_if_due(path)
    assert len(rescue.copies_of(path)) == 2
    with closing(sqlite3.connect(rescue.copies_of(path)[-1])) as newest:
        assert newest.execute("SELECT count(*) FROM messages").fetchone()[0] == 120


def test_a_clock_that_is_another_at_each_start_leaves_the_copy_of_another_day(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(path)
    rescue.copy_if_due(path)
    yesterday = rescue.copies_of(path)[0]
    os.utime(yesterday, (0, 0))
    for start in range(6):
        now = (1_000_000, 2_000_000)[start % 2] + start
        monkeypatch.setattr(time, "time", lambda now=now: float(now))
        before = set(rescue.copies_of(path))
        rescue.copy_if_due(path)
        for copy in set(rescue.copies_of(path)) - before:
            os.utime(copy, (now, now))
    assert (len(rescue.copies_of(path)), rescue.copies_of(path)[0]) == (3, yesterday)


@pytest.mark.expect_log("pictures that no row names stay")
@pytest.mark.parametrize("damaged", [False, True])
def test_what_a_copy_names_stays_and_goes_with_it(path: Path, damaged: bool) -> None:
    """So whoever puts a copy in the database's place has its pictures too; one that cannot be read may name any."""
    fill(path)
    pictures = Pictures(path)
    digest = pictures.put(b"picture")
    pictures.give_up(digest)
    with closing(Database(path)) as database:
        change = "UPDATE messages SET parts = ? WHERE id = 7"
        database.execute(change, (f'[{{"digest": "{digest}"}}]',))
        rescue.copy_if_due(path)
        (copy,) = rescue.copies_of(path)
        database.execute(change, (None,))
        if damaged:
            copy.write_bytes(b"no database" * 1000)
        pictures.sweep(database)
        assert pictures.get(digest) == b"picture"
        copy.unlink()
        pictures.sweep(database)
        assert pictures.get(digest) is None


@pytest.mark.parametrize("damaged", [False, True])
def test_pictures_stay_while_what_is_not_in_the_database_may_name_them(path: Path, damaged: bool) -> None:
    """What was left of an earlier run, or a damaged database that is kept."""
    fill(path)
    pictures, kept = Pictures(path), path.with_name(f"{path.stem}-damaged-20260101-000000.db")
    digest = pictures.put(b"picture")
    pictures.give_up(digest)
    if damaged:
        kept.write_bytes(b"damaged")
    else:
        pictures.keep_all()
    with closing(Database(path)) as database:
        pictures.sweep(database)
        assert pictures.get(digest) == b"picture"
        pictures = Pictures(path)
        kept.unlink(missing_ok=True)
        pictures.sweep(database)
        assert pictures.get(digest) is None


@pytest.mark.expect_log("a copy could not be cleaned and is deleted")
def test_a_copy_that_is_busy_stays_until_it_can_be_cleaned(path: Path) -> None:
    """Its words are the last ones of a file that may break; a copy that is no database is deleted."""
    fill(path)
    rescue.copy_if_due(path)
    os.utime(rescue.copies_of(path)[0], (0, 0))
    rescue.copy_if_due(path)
    held, other = rescue.copies_of(path)
    broken = held.with_name("chats-000009.db")
    broken.write_bytes(b"no database" * 100)
    purged = Purged(chats=(2,))
    with closing(sqlite3.connect(held, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError):
            rescue.forget_in_copies(path, purged)
    assert rescue.copies_of(path) == [held, other]
    assert [b"chat 1" in copy.read_bytes() for copy in (held, other)] == [True, False]
    rescue.forget_in_copies(path, purged)
    assert b"chat 1" not in held.read_bytes()
    for copy in (held, other):
        with closing(sqlite3.connect(copy)) as kept:  # its messages are gone as well, and no other chat's
            assert kept.execute("SELECT count(*) FROM messages").fetchone()[0] == 80


def test_words_are_for_their_owner_only(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.touch(mode=0o644)  # as earlier versions made it
    fill(path)
    with closing(Database(path)) as database:
        database.execute("UPDATE chats SET title = 'open'")
        rescue.copy_if_due(path)
        files = [path, path.with_name("chats.db-wal"), path.with_name("chats.db-shm"), *rescue.copies_of(path)]
        assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600] * 4


@pytest.mark.parametrize("noted", [2**31, 2**62, "text"])
def test_a_damaged_last_number_does_not_make_the_next_one_too_large(tmp_path: Path, noted: object) -> None:
    path = tmp_path / "chats.db"
    with closing(Database(path)) as database:
        first = Stores(database).chats.create("first")
        database.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'chats'", (noted,))
    with closing(Database(path)) as database:
        assert Stores(database).chats.create("second") == first + 1
        assert database.rescued is None


@DAMAGED
@pytest.mark.parametrize("offset", [2**31, 2**40, 2**62, -(2**40)])
def test_rows_of_numbers_that_nothing_gives_get_others(path: Path, offset: int) -> None:
    """Qt's signals cannot name them. What belongs together still does, and no row comes twice, also beside a copy."""
    with closing(Database(path)) as database:
        stores = Stores(database)
        folder = stores.folders.make("Folder", None)
        for title in ("Other", "Chat"):
            chat = stores.chats.create(title)
            first = stores.messages.add_user(chat, None, f"{title} question")
            stores.messages.add_user(chat, first, f"{title} follow-up")
        database.execute("UPDATE chats SET folder_id = ? WHERE id = ?", (folder, chat))
        stores.unsent.put(chat, "typed")
        database.execute("PRAGMA foreign_keys = OFF")
        for column in ("chats.id", "messages.chat_id", "unsent.chat_id"):
            table, name = column.split(".")
            database.execute(f"UPDATE {table} SET {name} = {name} + ? WHERE {name} = ?", (offset, chat))
        later = "id > 2"
        database.execute(f"UPDATE messages SET parent_id = parent_id + ? WHERE {later} AND parent_id > 0", (offset,))
        database.execute(f"UPDATE messages SET id = id + ? WHERE {later}", (offset,))
        database.execute("UPDATE chats SET leaf_id = leaf_id + ? WHERE id != 1", (offset,))
    rescue.copy_if_due(path)
    for _ in range(2):
        with closing(Database(path)) as database:
            stores = Stores(database)
            chats = {chat.title: chat.id for chat in stores.chats.find()}
            assert chats["Other"] == 1
            assert len(chats) == 2
            assert 0 < chats["Chat"] < 2**31
            for title, number in chats.items():
                branch = stores.messages.shown_branch(number)
                assert [each.text for each in branch] == [f"{title} question", f"{title} follow-up"]
                assert all(0 < each.id < 2**31 - 1000 for each in branch)
            assert stores.unsent.all() == {chats["Chat"]: "typed"}
            assert database.rows("SELECT id FROM folders")[0]["id"] == folder
            assert stores.messages.add_user(1, None, "more") < 2**31
            database.execute("DELETE FROM messages WHERE text = 'more'")


def test_a_change_by_itself_is_on_disk_also_after_text_was_saved(database: Database) -> None:
    """Text that streams may wait for the disk; what is acknowledged after it may not."""
    with database.transaction(durable=False):
        database.execute("INSERT INTO chats (created_at, updated_at) VALUES (1, 1)")
    level = database.row("PRAGMA synchronous")
    assert level is not None
    assert level[0] == 2  # FULL


def test_a_copy_for_which_there_is_no_room_takes_none(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)
    bytes_free = path.stat().st_size
    monkeypatch.setattr(rescue, "_free_bytes", lambda _folder: bytes_free)
    with pytest.raises(OSError, match="No space"):
        rescue.copy_if_due(path)
    assert rescue.copies_of(path) == []


def test_a_copy_that_fails_leaves_nothing(path: Path) -> None:
    fill(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.set_progress_handler(lambda: 1, 50)  # as a disk that fills up meanwhile
        with pytest.raises(sqlite3.OperationalError):
            rescue.copy_to(connection, path.with_name("copy.db"))
    assert list(path.parent.glob("copy*")) == []


@DAMAGED
@pytest.mark.parametrize("at", [17, 22])
def test_a_damaged_head_of_the_log_costs_nothing_that_is_in_it(path: Path, at: int) -> None:
    log = path.with_name("chats.db-wal")
    fill(path)
    with closing(Database(path)) as database:
        for title in ("one", "two", "three"):
            ChatStore(database).create(title)
        whole, logged = path.read_bytes(), bytearray(log.read_bytes())
    logged[at] ^= 0xFF
    path.write_bytes(whole)
    log.write_bytes(logged)
    with closing(Database(path)) as database:
        assert {chat.title for chat in ChatStore(database).find()} >= {"one", "two", "three"}


@DAMAGED
def test_a_damaged_number_in_the_log_makes_no_file_of_gigabytes(path: Path) -> None:
    """The number of a page, of which one byte says that there are sixteen million."""
    fill(path)
    log = path.with_name("chats.db-wal")
    with closing(Database(path)) as database:
        database.execute("UPDATE chats SET title = 'logged' WHERE id = 1")
        whole, logged = path.read_bytes(), bytearray(log.read_bytes())
    logged[32 + 1] ^= 0xFF  # behind the head of the log, in that of its first frame
    path.write_bytes(whole)
    log.write_bytes(logged)
    assert Pages(path, log).count <= len(whole) // PAGE_BYTES + 2
    with closing(Database(path)) as database:
        assert database.rescued is not None
        assert database.rescued.saved_messages == 120


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
    with pytest.raises(DatabaseTooNew) as refusal:
        Database(path)
    assert refusal.value.version == 99
    assert (path.read_bytes(), list(tmp_path.glob("chats-*"))) == (before, [])
