"""Where in a SQLite file a row has its pointer, its number, and the kind and the value of each column.

Follows the file format (https://www.sqlite.org/fileformat2.html), and trusts it: the file is sound.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

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
