"""Damaged files: what SQLite reads of them and the latest copy become one file, whatever the file is, and in time."""

from __future__ import annotations

import os
import sqlite3
import tracemalloc
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from app.storage import Attachment, AttachmentKind, Database, Edit, EditKind, Stores, opening, rescue
from app.storage.chats import QUICK_ASK
from app.storage.copies import copies_of, copy_if_due
from app.storage.opening import is_sound
from app.storage.search_index import index_path, open_index
from engine import MessageRole
from tests.helpers.chat_files import PAGE_BYTES, SECRET, fill, look, wipe

pytestmark = pytest.mark.expect_log("the database was damaged")

_CHATS, _MESSAGES = 3, 40
_INNER = 5  # the kind of a page with the numbers of others
_LEVELS = 14

Damage = Callable[[Path], None]


def fill_two(path: Path) -> tuple[frozenset[str], frozenset[str]]:
    """The texts that a copy has, and those that came after it."""
    copied = fill(path, chats=_CHATS, messages=_MESSAGES, words=200)
    copy_if_due(path)
    newer = frozenset(f"{SECRET} newer {number} " + "word " * 40 for number in range(4))
    with closing(Database(path)) as database:
        stores = Stores(database)
        for text in sorted(newer):
            stores.messages.add_user(1, stores.chats.leaf(1), text)
    return copied, newer


def turned_round(path: Path, place: int, count: int = PAGE_BYTES) -> None:
    whole = bytearray(path.read_bytes())
    whole[place : place + count] = bytes(255 - byte for byte in whole[place : place + count])
    path.write_bytes(whole)


def root(path: Path, table: str) -> int:
    """Where its first page begins."""
    with closing(sqlite3.connect(path)) as raw:
        (number,) = raw.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    return (int(number) - 1) * PAGE_BYTES


def point(data: bytearray, page: int, to: int) -> None:
    """Every pointer of an inner page leads to one place."""
    number = (to // PAGE_BYTES + 1).to_bytes(4, "big")
    assert data[page] == _INNER
    for pointer in range(page + 12, page + 12 + 2 * int.from_bytes(data[page + 3 : page + 5], "big"), 2):
        cell = page + int.from_bytes(data[pointer : pointer + 2], "big")
        data[cell : cell + 4] = number
    data[page + 8 : page + 12] = number


def into_itself(path: Path) -> None:
    data, page = bytearray(path.read_bytes()), root(path, "messages")
    point(data, page, page)
    path.write_bytes(data)


def many_ways_to_one_page(path: Path) -> None:
    """Some hundred ways down at each of fourteen levels: who goes all of them never ends."""
    data = bytearray(path.read_bytes())
    page = root(path, "messages")
    inner = bytes(data[page : page + PAGE_BYTES])
    leaf = (int.from_bytes(inner[8:12], "big") - 1) * PAGE_BYTES
    for _ in range(_LEVELS):
        below = len(data)
        data += inner
        point(data, page, below)
        page = below
    point(data, page, leaf)
    data[28:32] = (len(data) // PAGE_BYTES).to_bytes(4, "big")
    path.write_bytes(data)


def a_byte_before(path: Path) -> None:
    path.write_bytes(b"x" + path.read_bytes())


def garbage(path: Path) -> None:
    path.write_bytes(b"this was never a database" * 5000)


def gigabytes_of_zeros(path: Path) -> None:
    path.write_bytes(b"")
    os.truncate(path, 2 << 30)


def gigabytes_of_zeros_behind(path: Path) -> None:
    turned_round(path, root(path, "messages"))
    os.truncate(path, 2 << 30)


def cut_off(path: Path) -> None:
    os.truncate(path, path.stat().st_size // PAGE_BYTES // 2 * PAGE_BYTES)


ENDLESS = [into_itself, many_ways_to_one_page, a_byte_before, garbage, gigabytes_of_zeros, gigabytes_of_zeros_behind]


@pytest.mark.parametrize("damage", [*ENDLESS, cut_off])
def test_any_damaged_file_opens_with_its_copy(path: Path, monkeypatch: pytest.MonkeyPatch, damage: Damage) -> None:
    monkeypatch.setattr(rescue, "_PATIENCE_S", 0.2)
    copied, newer = fill_two(path)
    damage(path)
    kept = path.stat().st_size
    tracemalloc.start()
    try:
        with closing(Database(path)) as database:
            assert database.rescued is not None
            assert database.rescued.saved_messages >= len(copied)
            assert path.with_name(database.rescued.damaged_file).stat().st_size == kept
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()
    assert copied <= look(path).texts <= copied | newer


@pytest.mark.parametrize("damage", ENDLESS)
def test_any_damaged_file_opens_without_a_copy(path: Path, monkeypatch: pytest.MonkeyPatch, damage: Damage) -> None:
    monkeypatch.setattr(rescue, "_PATIENCE_S", 0.2)
    texts = fill(path, chats=_CHATS, messages=_MESSAGES, words=200)
    damage(path)
    assert look(path).texts <= texts


def test_a_large_file_is_not_examined_for_long(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = fill(path)
    monkeypatch.setattr(opening, "_LOOKING_S", -1.0)
    monkeypatch.setattr(opening, "_STEPS", 1)
    assert is_sound(path)
    assert look(path).texts == texts


def test_damaged_pages_in_several_places_cost_only_their_own_rows(path: Path) -> None:
    texts = fill(path, chats=_CHATS, messages=_MESSAGES, words=200)
    for part in (3, 5, 7):
        place = path.stat().st_size * part // 10 // PAGE_BYTES * PAGE_BYTES
        turned_round(path, place)
    lost = texts - look(path).texts
    assert len(lost) <= 3 * 4


@pytest.mark.parametrize("part", range(1, 10))
def test_what_the_copy_has_and_what_can_be_read_of_the_file_are_put_together(path: Path, part: int) -> None:
    """By the numbers of the rows: what was changed since stays changed, and what was deleted stays deleted."""
    copied, newer = fill_two(path)
    with closing(Database(path)) as database:
        database.execute("UPDATE messages SET text = ? WHERE id = 1", (f"{SECRET} other words",))
        mark = Stores(database).messages.delete(Stores(database).messages.shown_branch(2)[1], following=False)
        whole = database.rows("SELECT id, text FROM messages")
    turned_round(path, path.stat().st_size * part // 10 // PAGE_BYTES * PAGE_BYTES)
    with closing(Database(path)) as database:
        assert database.rescued is not None
        found = database.rows("SELECT id, text FROM messages")
        assert len(found) - len({row["id"] for row in found}) == 0
        assert [row["id"] for row in found if row["id"] <= len(copied)] == list(range(1, len(copied) + 1))
        assert {tuple(row) for row in found} - {tuple(row) for row in whole} <= {
            (1, text) for text in copied if text.startswith(f"{SECRET} 1.0 ")
        }
        deleted = [row[0] for row in database.rows("SELECT deleted_at FROM messages WHERE deleted_at IS NOT NULL")]
        assert deleted in ([mark], [])
    assert len(newer - look(path).texts) <= 4


def test_what_was_deleted_in_a_table_that_can_be_read_does_not_come_back(path: Path) -> None:
    fill(path, chats=_CHATS, messages=_MESSAGES, words=200)
    with closing(Database(path)) as database:
        Stores(database).unsent.put(1, "sent since")
        Stores(database).unsent.put(2, "typed")
        Stores(database).folders.make("gone", None)
    copy_if_due(path)
    with closing(Database(path)) as database:
        database.execute("DELETE FROM unsent WHERE chat_id = 1")
        database.execute("DELETE FROM folders")
    turned_round(path, root(path, "messages"))
    with closing(Database(path)) as database:
        assert database.rescued is not None
        assert database.rescued.from_copies == _CHATS * _MESSAGES
        assert Stores(database).unsent.all() == {2: "typed"}
        assert not database.rows("SELECT * FROM folders")


def test_what_was_deleted_for_good_and_is_still_in_the_copy_does_not_come_back(path: Path) -> None:
    fill(path, messages=_MESSAGES, words=200)
    copy_if_due(path)
    with closing(Database(path)) as database:
        stores = Stores(database)
        stores.trash.put_chats([1])
        stores.trash.empty()
    turned_round(path, root(path, "messages"))
    assert look(path).titles == (f"{SECRET} chat 2",)
    assert all(text.startswith(f"{SECRET} 2.") for text in look(path).texts)


def test_a_damaged_copy_is_passed_over_for_the_one_before_it(path: Path) -> None:
    texts = fill(path, messages=_MESSAGES, words=200)
    copy_if_due(path)
    (sound,) = copies_of(path)
    latest = sound.with_name("chats-000002.db")
    latest.write_bytes(sound.read_bytes())
    turned_round(latest, root(latest, "messages"))
    garbage(sound.with_name("chats-000003.db"))
    garbage(path)
    assert look(path).texts == texts


def test_a_copy_of_an_earlier_version_is_brought_up_to_date(path: Path) -> None:
    texts = fill(path)
    copy_if_due(path)
    (copy,) = copies_of(path)
    with closing(sqlite3.connect(copy, isolation_level=None)) as raw:
        raw.execute("ALTER TABLE messages RENAME COLUMN parts TO attachments")
        raw.execute("ALTER TABLE edits DROP COLUMN attachments")
        raw.execute("DROP TABLE consents")
        raw.execute("DROP INDEX messages_pinned")
        for column in ("reads_from", "pinned"):
            raw.execute(f"ALTER TABLE messages DROP COLUMN {column}")
        for column in ("instructions", "options"):
            raw.execute(f"ALTER TABLE folders DROP COLUMN {column}")
        raw.execute("PRAGMA user_version = 6")
    before = copy.read_bytes()
    garbage(path)
    assert look(path).texts == texts
    assert copy.read_bytes() == before


def test_a_rescue_keeps_the_order_and_what_was_typed(path: Path) -> None:
    edit = Edit(3, EditKind.AFTER, MessageRole.USER, "half", (Attachment("a.txt", AttachmentKind.TEXT, "text", 4),))
    with closing(Database(path)) as database:
        stores = Stores(database)
        chat = stores.chats.create("chat")
        parent = None
        for text in ("a", "b", "c"):
            parent = stores.messages.add_user(chat, parent, text)
        first, second, _ = stores.messages.shown_branch(chat)
        stores.messages.insert(chat, first.id, MessageRole.ASSISTANT, "inserted")
        stores.messages.delete(second, following=False)
        stores.edits.put_with_attachments(edit)
        stores.unsent.put(QUICK_ASK, "not asked yet")
    turned_round(path, root(path, "messages_by_parent"))
    with closing(Database(path)) as database:
        assert database.rescued is not None
        assert [each.text for each in Stores(database).messages.shown_branch(chat)] == ["a", "inserted", "c"]
        assert Stores(database).edits.of_chat(chat) == {3: edit}
        assert Stores(database).unsent.in_quick_ask() == "not asked yet"
        assert database.row("PRAGMA foreign_key_check") is None


def test_messages_of_a_lost_chat_are_in_one_without_a_title(path: Path) -> None:
    texts = fill(path)
    turned_round(path, root(path, "chats"))
    with closing(Database(path)) as database:
        database.execute("UPDATE chats SET title = 'found' WHERE title = ''")
    seen = look(path)
    assert (seen.titles, seen.texts) == (("found", "found"), texts)


@pytest.mark.parametrize("number", [2**31, 2**62, -5])
def test_rows_of_numbers_that_nothing_gives_are_taken_from_the_copy(path: Path, number: int) -> None:
    """Qt's signals cannot name them."""
    texts = fill(path)
    copy_if_due(path)
    with closing(Database(path)) as database:
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute("UPDATE messages SET id = ? WHERE id = 9", (number,))
        database.execute("UPDATE messages SET chat_id = ? WHERE id = 3", (number,))
    assert look(path).texts == texts
    assert is_sound(path)


def test_a_deletion_before_there_was_anything_is_damage(path: Path) -> None:
    """One bit makes 0 of NULL; the next start would delete the chat for good."""
    texts = fill(path)
    with closing(Database(path)) as database:
        database.execute("UPDATE chats SET deleted_at = 0 WHERE id = 2")
        database.execute("UPDATE messages SET deleted_at = 0 WHERE id = 3")
    turned_round(path, root(path, "messages_by_parent"))
    assert look(path).texts == texts


def test_a_row_with_the_number_of_a_later_one_does_not_take_its_place(path: Path) -> None:
    texts = fill(path, words=80)
    copy_if_due(path)
    whole = path.read_bytes()
    words = whole.index(f"{SECRET} 1.2".encode())
    for place in (at for at in range(words - 80, words) if whole[at] == 3):
        path.write_bytes(whole[:place] + b"\x06" + whole[place + 1 :])
        with closing(sqlite3.connect(path)) as raw:
            ids = [number for (number,) in raw.execute("SELECT id FROM messages NOT INDEXED WHERE id < 9")]
        if ids == [1, 2, 6, 4, 5, 6, 7, 8]:
            break
    else:
        pytest.fail("no byte is the number of the row")
    assert look(path).texts == texts


def _read(path: Path, sql: str) -> list[object]:
    with closing(sqlite3.connect(path)) as raw, suppress(sqlite3.DatabaseError):
        return [row[0] for row in raw.execute(sql)]
    return []


def test_an_entry_of_an_index_that_cannot_be_read_is_damage(path: Path) -> None:
    """SQLite's own check passes it over, and the chat could not be opened."""
    texts = fill(path, messages=20)
    whole = path.read_bytes()
    end = root(path, "messages_by_parent") + PAGE_BYTES
    for place in range(end - 200, end):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 2]) + whole[place + 1 :])
        is_passed = "ok" in _read(path, "PRAGMA integrity_check")
        if is_passed and not _read(path, "SELECT id, parent_id FROM messages WHERE chat_id = 1"):
            break
    else:
        pytest.fail("SQLite finds all of them")
    assert look(path).texts == texts


def test_a_file_that_ends_within_a_page_is_not_sound(path: Path) -> None:
    texts = fill(path, messages=3, words=1500)
    whole = path.read_bytes()
    for cut in (1, 700, PAGE_BYTES - 1):
        path.write_bytes(whole[:-cut])
        assert not is_sound(path), f"{cut} bytes"
        assert len(texts - look(path).texts) <= 1
        wipe(path)


@pytest.mark.parametrize("note", ['{"damaged_file": 3, "saved_messages": "x"}', "[" * 100_000, "{}", "3", b"\xff"])
def test_a_damaged_note_of_a_rescue_tells_nothing(tmp_path: Path, note: str | bytes) -> None:
    with closing(Database(tmp_path / "chats.db")) as database:
        database.execute("INSERT INTO notes VALUES ('rescued', ?)", (note,))
        assert database.rescued is None


def test_a_rescue_and_the_index_find_what_is_no_folder_and_no_file_in_their_places(path: Path, tmp_path: Path) -> None:
    texts = fill(path, messages=3, words=3)
    copy_if_due(path)
    (tmp_path / "chats-rescue").write_text("")
    (index_path(path) / "inside").mkdir(parents=True)
    turned_round(path, 0, 200)
    assert look(path).texts == texts
    index = open_index(path)
    assert index is not None
    index.close()
    assert index_path(path).is_file()
