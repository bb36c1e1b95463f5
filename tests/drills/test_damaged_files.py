"""Damage to the file with the chats: every byte of it and of its log turned round, every page cut off."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.storage import Database, Stores, rescue
from app.storage.salvage import TABLES
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.chat_files import (
    PAGE_BYTES,
    SECRET,
    fill,
    fill_every_table,
    look,
    readable_texts,
    rows_of,
    type_words,
    typed,
    wipe,
)

_INNER, _LEAF = 5, 13  # kinds of a table's pages
_VALUE_BYTES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)


Places = dict[str, int]  # "pointer", "number", "kind of COLUMN", "value of COLUMN" → the last byte of it in the file


def row_places(path: Path, table: str) -> dict[int, Places]:
    """Of each row of the table, by its number. A value that takes no byte has no place."""
    with closing(sqlite3.connect(path)) as connection:
        columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
        numbers = {number for (number,) in connection.execute(f"SELECT rowid FROM {table}")}
    data = path.read_bytes()
    found = dict(_rows(data, page_bytes, root, columns))
    assert found.keys() == numbers, "not read as SQLite reads it"
    return found


def _rows(data: bytes, page_bytes: int, number: int, columns: list[str]) -> Iterator[tuple[int, Places]]:
    start = (number - 1) * page_bytes
    head = start + (100 if number == 1 else 0)
    inner, cells = data[head] == _INNER, int.from_bytes(data[head + 3 : head + 5], "big")
    assert inner or data[head] == _LEAF
    first = head + (12 if inner else 8)
    for pointer in range(first, first + 2 * cells, 2):
        cell = start + int.from_bytes(data[pointer : pointer + 2], "big")
        if inner:
            yield from _rows(data, page_bytes, int.from_bytes(data[cell : cell + 4], "big"), columns)
        else:
            yield _row(data, pointer + 1, cell, columns)
    if inner:
        yield from _rows(data, page_bytes, int.from_bytes(data[head + 8 : head + 12], "big"), columns)


def _row(data: bytes, pointer: int, cell: int, columns: list[str]) -> tuple[int, Places]:
    _, at = _varint(data, cell)
    number, record = _varint(data, at)
    head_bytes, at = _varint(data, record)
    value, places = record + head_bytes, {"pointer": pointer, "number": record - 1}
    for column in columns:
        kind, after = _varint(data, at)
        places[f"kind of {column}"], at = after - 1, after
        value_bytes = _VALUE_BYTES[kind] if kind < len(_VALUE_BYTES) else (kind - 12) // 2
        if value_bytes:
            value += value_bytes
            places[f"value of {column}"] = value - 1
    return number, places


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    while data[at] >= 0x80:
        value, at = value << 7 | data[at] & 0x7F, at + 1
    return value << 7 | data[at], at + 1


pytestmark = pytest.mark.expect_log("the database was damaged", "a copy could not be cleaned")

_STEP = int(os.environ.get("DRILL_STEP", "1"))  # every byte takes minutes
_HEAD_BYTES = 48
_SAMPLE = 9601  # a prime, so that the sample meets every kind of place


Damage = tuple[int, int]  # which byte, and which bits of it are turned round


class LogRecorder(logging.Handler):
    """Everything that is logged, with all that stands behind it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(self.format(record))


@pytest.fixture
def log() -> Iterator[LogRecorder]:
    log = LogRecorder()
    logging.getLogger().addHandler(log)
    yield log
    logging.getLogger().removeHandler(log)


def every_byte(whole: bytes, mask: int = 0xFF) -> list[Damage]:
    return [(at, mask) for at in range(len(whole))]


def every_bit_of_the_heads(whole: bytes) -> list[Damage]:
    """Of the first bytes of each page: its kind, the number of its rows, and where they are."""
    places = [page + at for page in range(0, len(whole), PAGE_BYTES) for at in range(_HEAD_BYTES)]
    return [(at, 1 << bit) for at in places for bit in range(8)]


def damage(path: Path, damages: Callable[[bytes], list[Damage]], step: int) -> None:
    """One byte costs the message that it is in, and no other."""
    texts, whole = fill(path), path.read_bytes()
    for at, mask in damages(whole)[::step]:
        wipe(path)
        damaged = bytearray(whole)
        damaged[at] ^= mask
        path.write_bytes(damaged)
        seen = look(path)
        lost = texts - seen.texts
        assert len(lost) <= 1, f"byte {at} by {mask}: {[text[:12] for text in lost]}"
        assert len(seen.titles) >= 2, f"byte {at} by {mask}: {seen.titles}"


def cut_off(path: Path, step: int) -> None:
    """As much is saved as can be read, and what a copy has comes back too."""
    texts = fill(path, messages=40, words=120)
    whole = path.read_bytes()
    for pages in range(len(whole) // PAGE_BYTES - 1, 0, -step):
        wipe(path)
        path.write_bytes(whole[: pages * PAGE_BYTES])
        readable = readable_texts(path)
        path.write_bytes(whole[: pages * PAGE_BYTES])
        seen = look(path)
        assert readable <= seen.texts, f"{pages} pages"
    wipe(path)
    path.write_bytes(whole)
    rescue.copy_if_due(path)
    newest = add_a_message(path)
    for pages in range(path.stat().st_size // PAGE_BYTES - 1, 0, -step):
        now = path.read_bytes()
        path.write_bytes(now[: pages * PAGE_BYTES])
        in_file = newest in readable_texts(path)
        path.write_bytes(now[: pages * PAGE_BYTES])
        seen = look(path)
        assert texts <= seen.texts, f"{pages} pages beside a copy"
        assert not in_file or newest in seen.texts
        wipe(path)
        path.write_bytes(now)


def add_a_message(path: Path) -> str:
    text = f"{SECRET} newest"
    with closing(Database(path)) as database:
        stores = Stores(database)
        stores.messages.add_user(1, stores.chats.leaf(1), text)
    return text


def turn_round_the_log(path: Path, step: int) -> None:
    """A byte of the log costs no more than the change that it is in."""
    fill(path)
    database = Database(path)
    stores = Stores(database)
    written = [f"{SECRET} logged {number} " + "word " * 40 for number in range(12)]
    for text in written:
        stores.messages.add_user(1, stores.chats.leaf(1), text)
    log = path.with_name("chats.db-wal")
    whole, logged = path.read_bytes(), log.read_bytes()
    database.close()
    for at in range(0, len(logged), step):
        wipe(path)
        damaged = bytearray(logged)
        damaged[at] ^= 0xFF
        path.write_bytes(whole)
        log.write_bytes(damaged)
        seen = look(path)
        assert len(set(written) - seen.texts) <= 1, f"byte {at} of the log"


@pytest.mark.drill
@pytest.mark.parametrize("mask", [0xFF, *(1 << bit for bit in range(8))])
def test_every_byte_and_bit_turned_round(tmp_path: Path, log: LogRecorder, mask: int) -> None:
    damage(tmp_path / "chats.db", partial(every_byte, mask=mask), _STEP)
    assert not [line for line in log.heard if SECRET in line]


def test_some_bytes_turned_round(tmp_path: Path, log: LogRecorder) -> None:
    damage(tmp_path / "chats.db", every_byte, _SAMPLE)
    damage(tmp_path / "chats.db", partial(every_byte, mask=4), _SAMPLE)
    damage(tmp_path / "chats.db", every_bit_of_the_heads, 167)
    assert not [line for line in log.heard if SECRET in line]


def test_the_kind_of_a_page_costs_none_of_its_rows(tmp_path: Path) -> None:
    damage(tmp_path / "chats.db", lambda whole: [(at, 0xFF) for at in range(0, len(whole), PAGE_BYTES)][1:], 1)


def test_a_damaged_table_of_last_numbers_keeps_no_file_from_opening(tmp_path: Path) -> None:
    damage(tmp_path / "chats.db", lambda whole: [(whole.index(b"sqlite_sequence(name") + 16, 8)], 1)


@pytest.mark.parametrize(
    ("table", "row", "place", "bit"),
    [
        ("chats", 2, "pointer", 3),
        ("chats", 2, "kind of deleted_at", 3),
        ("chats", 1, "kind of leaf_id", 3),
        ("chats", 1, "value of leaf_id", 2),
        ("chats", 2, "kind of folder_id", 0),
        ("messages", 9, "number", 0),
        ("messages", 8, "number", 1),
        ("messages", 9, "kind of chat_id", 0),
        ("messages", 9, "value of chat_id", 0),
        ("messages", 4, "value of parent_id", 1),
    ],
)
def test_a_bit_that_costs_a_message_hides_no_other(tmp_path: Path, table: str, row: int, place: str, bit: int) -> None:
    damage(tmp_path / "chats.db", lambda _: [(row_places(tmp_path / "chats.db", table)[row][place], 1 << bit)], 1)


@pytest.mark.drill
@pytest.mark.parametrize("table", ["chats", "messages"])
def test_every_bit_of_what_ties_rows_together(tmp_path: Path, table: str) -> None:
    """Where each row is, its number, and the kind and the last byte of each column."""
    path = tmp_path / "chats.db"

    def ties(_: bytes) -> list[Damage]:
        places = [at for row in row_places(path, table).values() for at in row.values()]
        return [(at, 1 << bit) for at in places for bit in range(8)]

    damage(path, ties, _STEP)


def damage_typed(path: Path, damages: Callable[[], list[Damage]], most_lost: int, step: int = 1) -> None:
    """It costs no more than that of what was typed and not sent, and no message."""
    texts, words = fill(path), type_words(path)
    whole = path.read_bytes()
    for at, mask in damages()[::step]:
        wipe(path)
        damaged = bytearray(whole)
        damaged[at] ^= mask
        path.write_bytes(damaged)
        found = "\n".join(typed(path))
        lost = [word for word in words if word not in found]
        assert len(lost) <= most_lost, f"byte {at} by {mask}: {lost}"
        assert texts == look(path).texts


@pytest.mark.parametrize(("table", "row"), [("unsent", 1), ("edits", 5)])
def test_a_damaged_pointer_costs_no_other_words_that_were_typed(tmp_path: Path, table: str, row: int) -> None:
    path = tmp_path / "chats.db"
    damage_typed(path, lambda: [(row_places(path, table)[row]["pointer"], 1 << bit) for bit in (1, 4)], 1)


@pytest.mark.parametrize(("table", "row", "bit"), [("unsent", 0, 1), ("edits", 1, 2)])
def test_a_number_that_turns_into_another_ones_costs_no_words_that_were_typed(
    tmp_path: Path, table: str, row: int, bit: int
) -> None:
    path = tmp_path / "chats.db"
    damage_typed(path, lambda: [(row_places(path, table)[row]["number"], 1 << bit)], 0)


@pytest.mark.parametrize("table", TABLES)
def test_the_kind_of_a_page_costs_no_row_of_any_table(tmp_path: Path, table: str) -> None:
    path = tmp_path / "chats.db"
    fill_every_table(path)
    rows = rows_of(path, table)
    assert rows
    damaged = bytearray(path.read_bytes())
    for page in {places["pointer"] // PAGE_BYTES * PAGE_BYTES for places in row_places(path, table).values()}:
        damaged[page] ^= 0xFF
    wipe(path)
    path.write_bytes(damaged)
    assert rows_of(path, table) == rows


@pytest.mark.drill
@pytest.mark.parametrize("table", ["unsent", "edits"])
def test_every_bit_of_what_ties_typed_words(tmp_path: Path, table: str) -> None:
    path = tmp_path / "chats.db"

    def ties() -> list[Damage]:
        return [(at, 1 << bit) for row in row_places(path, table).values() for at in row.values() for bit in range(8)]

    damage_typed(path, ties, 1, _STEP)


@pytest.mark.drill
def test_every_page_cut_off(tmp_path: Path) -> None:
    cut_off(tmp_path / "chats.db", 1)


def test_some_pages_cut_off(tmp_path: Path) -> None:
    cut_off(tmp_path / "chats.db", 61)


@pytest.mark.drill
def test_every_byte_of_the_log_turned_round(tmp_path: Path) -> None:
    turn_round_the_log(tmp_path / "chats.db", 17)


def test_some_bytes_of_the_log_turned_round(tmp_path: Path) -> None:
    turn_round_the_log(tmp_path / "chats.db", 4001)


@pytest.mark.parametrize("place", [0, 18, 60, 100, 4096 + 8, 4 * 4096 + 2, 5 * 4096 + 4080, 9 * 4096])
def test_a_start_with_a_damaged_file_ends_in_an_open_window(
    tmp_path: Path, qtbot: QtBot, log: LogRecorder, place: int
) -> None:
    """It says once, in figures, what was saved, and shows no word of a chat there."""
    with AppHarness(tmp_path) as harness:
        path = harness.paths.database
        texts, banner = fill(path), harness.window.banner
        damaged = bytearray(path.read_bytes())
        damaged[place : place + 40] = bytes(255 - byte for byte in damaged[place : place + 40])
        path.write_bytes(damaged)
        harness.open(qtbot)
        assert "Messages recovered" in banner.sentence.text()
        assert SECRET not in banner.accessibleName()
        harness.wait_until_stored(qtbot)
    assert len(texts - look(path).texts) <= 2
    kept = [file.read_bytes() for file in path.parent.glob("chats-damaged-*.db")]
    assert kept == [bytes(damaged)]
    with open_app(tmp_path, qtbot) as again:
        assert not again.window.banner.isVisible()
    assert not [line for line in log.heard if SECRET in line]
