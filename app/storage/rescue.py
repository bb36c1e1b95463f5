"""Backups of the database, and handling a damaged file: check it, move it aside, save what can be read.

A damaged file is never deleted: it may hold more than we can read.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

_TABLES = ("chats", "messages")
_KEPT_BACKUPS = 3
_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Rescued:
    damaged_file: Path
    saved_messages: int


def is_sound(path: Path) -> bool:
    """False when SQLite reports faults or cannot read the file."""
    try:
        connection = sqlite3.connect(path)
        try:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        log.warning("the database cannot be checked: %s", error)
        return isinstance(error, sqlite3.OperationalError)  # locked or not readable is not damaged


def set_aside(path: Path) -> Path:
    damaged = path.with_name(f"{path.stem}-damaged-{time.strftime('%Y%m%d-%H%M%S')}.db")
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(damaged.with_name(damaged.name + suffix))
    return damaged


def copy_to(connection: sqlite3.Connection, target: Path) -> None:
    """Copies the whole database atomically."""
    partial = target.with_name(target.name + ".new")
    partial.unlink(missing_ok=True)
    connection.execute("VACUUM INTO ?", (str(partial),))
    partial.replace(target)


def back_up_daily(connection: sqlite3.Connection, path: Path) -> None:
    newest = newest_backup(path)
    if newest is not None and time.time() - newest.stat().st_mtime < _DAY_S:
        return
    path.with_name("backups").mkdir(exist_ok=True)
    copy_to(connection, path.with_name("backups") / f"{path.stem}-{time.strftime('%Y%m%d-%H%M%S')}.db")
    for old in _backups(path)[:-_KEPT_BACKUPS]:
        old.unlink()


def newest_backup(path: Path) -> Path | None:
    return max(_backups(path), default=None)


def _backups(path: Path) -> list[Path]:
    """Oldest first: their names are their dates."""
    return sorted(path.with_name("backups").glob(f"{path.stem}-*.db"))


def count_messages(path: Path) -> int:
    """The number of messages in a copy; 0 when it is damaged."""
    if not is_sound(path):
        return 0
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("SELECT count(*) FROM messages").fetchone()[0])
    finally:
        connection.close()


def salvage(damaged: Path, fresh: sqlite3.Connection) -> int:
    """Copies row by row, so that a broken page loses only its own rows. Returns the number of messages saved."""
    source = sqlite3.connect(damaged)
    source.row_factory = sqlite3.Row
    fresh.execute("PRAGMA foreign_keys = OFF")
    fresh.execute("BEGIN")
    saved = {table: _copy_rows(source, fresh, table) for table in _TABLES}
    # A message whose parent or chat is lost becomes the start of a branch or of a chat.
    fresh.execute(
        "INSERT INTO chats (id, created_at, updated_at) SELECT chat_id, min(created_at), max(created_at)"
        " FROM messages WHERE chat_id NOT IN (SELECT id FROM chats) GROUP BY chat_id"
    )
    fresh.execute("UPDATE messages SET parent_id = NULL WHERE parent_id NOT IN (SELECT id FROM messages)")
    fresh.execute("COMMIT")
    fresh.execute("PRAGMA foreign_keys = ON")
    source.close()
    return saved["messages"]


def _copy_rows(source: sqlite3.Connection, fresh: sqlite3.Connection, table: str) -> int:
    saved = 0
    for number in range(1, _last_id(source, table) + 1):
        row = _read_row(source, table, number)
        if row is not None:
            values = _as_of_today(dict(row))
            names, marks = ", ".join(values), ", ".join("?" * len(values))
            fresh.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values()))
            saved += 1
    return saved


def _as_of_today(values: dict[str, Any]) -> dict[str, Any]:
    """A row of schema version 1 without the column that version 2 made part of the status."""
    finish = values.pop("finish", None)
    if finish in ("length", "context", "memory") and values["status"] == "done":
        values["status"] = finish
    return values


def _last_id(source: sqlite3.Connection, table: str) -> int:
    for query in (f"SELECT max(id) FROM {table}", f"SELECT seq FROM sqlite_sequence WHERE name = '{table}'"):
        try:
            found = source.execute(query).fetchone()
        except sqlite3.DatabaseError as error:
            log.warning("%s: %s", query, error)
            continue
        if found and found[0]:
            return int(found[0])
    return 0


def _read_row(source: sqlite3.Connection, table: str, number: int) -> sqlite3.Row | None:
    try:
        row: sqlite3.Row | None = source.execute(f"SELECT * FROM {table} WHERE id = ?", (number,)).fetchone()
    except sqlite3.DatabaseError:
        return None
    return row
