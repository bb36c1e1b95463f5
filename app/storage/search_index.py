"""An index of the messages by short pieces of their words, in a file of its own beside the database.

It says which chats may have a word, in any script and anywhere inside of words. Nothing in it is needed: it is read
from the messages, a few at a time, and one that is lost, damaged or too old is made anew. Only the searcher's thread
uses it. Here: keeping it, and asking it. Not here: looking into the messages that it names (`searching`).

SQLite does not notice when a letter of a piece turns into another one. So the end of a run seals the index with a sum
over its bytes, and the next run takes only what agrees with its seal. While a run has it, there is no seal: after one
that was killed it is made anew.

A piece is two characters of Chinese, Japanese and Korean, and three of all else; shorter ones end a word.
MEASURED: 0.35 ms of CPU for a message of 700 bytes, and as large as the database; 0.03 s for the sum over 100 MB.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from app.markup.folding import fold
from app.storage.attachments import with_attached
from app.storage.codec import as_text
from app.storage.database import Connection
from app.system.small_file import make_way
from engine import write_atomically

log = logging.getLogger(__name__)

BATCH = 100  # messages that are read at one go
_VERSION = 3  # another one makes the index anew
_CHAT_BITS = 32  # a row's number is that of the chat and, in its lower bits, that of the message
_END = 1 << _CHAT_BITS
_SEAL = ".seal"
_SUFFIXES = (_SEAL, "-wal", "-shm", "-journal", "")
_PART_BYTES = 1 << 20
_BUSY_S = 0.1  # a search waits no longer for what it can do without
_NO_DAMAGE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL)

_WIDE = (
    "\u1100-\u11ff\u3005-\u3007\u3041-\u30ff\u3105-\u31ff\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_WIDE}]+|[^\\W_{_WIDE}]+")
_BEGINS_WIDE = re.compile(f"[{_WIDE}]")

# No copy of the pieces is kept. So a row cannot be taken out again; one that is added once more has the pieces of both.
_SCHEMA = f"""
CREATE VIRTUAL TABLE pieces USING fts5 (text, content = '', detail = none, columnsize = 0, tokenize = 'ascii');
CREATE TABLE state (read_to INTEGER NOT NULL);
INSERT INTO state VALUES (0);
PRAGMA user_version = {_VERSION};
"""


@dataclass(frozen=True, slots=True)
class Progress:
    """`rewritten`: messages that were read again, with the number of changes that this covers."""

    more: bool = False
    rewritten: tuple[tuple[int, int], ...] = ()


def index_path(database: Path) -> Path:
    return database.with_name(f"{database.stem}-search.db")


def forget_index(database: Path) -> None:
    """For what must not be found in any file: the index is made anew."""
    for suffix in _SUFFIXES:
        _beside(database, suffix).unlink(missing_ok=True)


def take_index(database: Path) -> None:
    """For a run's first use: forgets an index that is not what the last run has sealed, and takes off the seal."""
    seal = _beside(database, _SEAL)
    try:
        for suffix in _SUFFIXES:
            make_way(_beside(database, suffix))
        sealed = seal.read_bytes() if seal.exists() else b""
        if index_path(database).exists() and sealed != _sum_over(database):
            log.info("the search index is made anew: it is not as it was left")
            forget_index(database)
        seal.unlink(missing_ok=True)
    except OSError as error:
        log.warning("the search index cannot be examined: %s", error.strerror)


def seal_index(database: Path) -> None:
    """For a run's end, when no connection is open. Without a seal the index is made anew."""
    try:
        if index_path(database).exists():
            write_atomically(_beside(database, _SEAL), _sum_over(database))
    except OSError as error:
        log.info("the search index is not sealed: %s", error.strerror)


def _sum_over(database: Path) -> bytes:
    """Of the index and of what is not in it yet."""
    total = 0
    for suffix in ("", "-wal"):
        path = _beside(database, suffix)
        if path.exists():
            with path.open("rb") as file:
                while part := file.read(_PART_BYTES):
                    total = zlib.crc32(part, total)
    return b"%08x" % total


def _beside(database: Path, suffix: str) -> Path:
    path = index_path(database)
    return path.with_name(path.name + suffix)


def can_be_damage(error: Exception) -> bool:
    """False for an index that is sound as far as anybody knows: locked, or on a full disk."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return isinstance(error, sqlite3.Error) and code & 0xFF not in _NO_DAMAGE


def open_index(database: Path) -> SearchIndex | None:
    """None: there can be none here, or not now. One that cannot be read or not be written is made anew."""
    try:
        return _opened(database)
    except PermissionError as error:
        log.info("the search index is made anew: %s", error.strerror)
    except sqlite3.DatabaseError as error:
        if not can_be_damage(error):
            return None
        log.info("the search index is made anew: %s", error.__class__.__name__)
    except OSError:
        return None
    try:
        forget_index(database)
        return _opened(database)
    except (sqlite3.Error, OSError) as error:
        log.warning("there is no search index: %s", error.__class__.__name__)
        return None


def _opened(database: Path) -> SearchIndex:
    path = index_path(database)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, isolation_level=None, timeout=_BUSY_S)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            connection.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
        elif version != _VERSION:
            raise sqlite3.DatabaseError("an index of another version")
        return SearchIndex(connection)
    except BaseException:
        connection.close()
        raise


class SearchIndex:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = Connection(connection)
        rows = connection.execute("SELECT read_to FROM state WHERE typeof(read_to) = 'integer'").fetchall()
        if len(rows) != 1 or rows[0][0] < 0:
            raise sqlite3.DatabaseError("an index that does not say what it has read")
        self._read_to: int = rows[0][0]

    def close(self) -> None:
        self._db.close()

    def catch_up(self, reader: Connection, batch: int = BATCH) -> Progress:
        """Reads some of the messages that it does not know yet, or that have changed since."""
        if self._is_ahead_of(reader):
            raise sqlite3.DatabaseError("the index knows messages that were never written")
        fresh = reader.rows(
            "SELECT id, chat_id, text, attachments FROM messages WHERE id > ? AND id < ? ORDER BY id LIMIT ?",
            (self._read_to, _END, batch),
        )
        changed = reader.rows(
            "SELECT id, chat_id, text, attachments, times"
            " FROM rewritten CROSS JOIN messages ON id = message_id LIMIT ?",
            (batch,),
        )
        known_to = fresh[-1]["id"] if fresh else self._read_to
        with self._db.transaction(durable=False):
            self._add(fresh)
            self._add(row for row in changed if row["id"] <= self._read_to)
            self._db.execute("UPDATE state SET read_to = ?", (known_to,))
        self._read_to = known_to
        covered = tuple((row["id"], row["times"]) for row in changed if row["id"] <= known_to)
        return Progress(len(fresh) == batch or len(changed) == batch, covered)

    def chats_with(self, folded: str) -> set[int] | None:
        """The chats that may have the word in a message that it has read. None: any may."""
        asked = _question(folded)
        if not asked:
            return None
        sql = f"SELECT DISTINCT rowid >> {_CHAT_BITS} FROM pieces WHERE pieces MATCH ?"
        return {row[0] for row in self._db.rows(sql, (asked,))}

    def chats_not_read(self, reader: Connection) -> set[int]:
        """Those with messages that it has not read, or cannot number, or that have changed since."""
        sql = (
            "SELECT DISTINCT chat_id FROM messages NOT INDEXED WHERE id > ?"
            " UNION SELECT DISTINCT chat_id FROM messages WHERE chat_id >= ? OR chat_id <= 0"
            " UNION SELECT DISTINCT chat_id FROM messages NOT INDEXED WHERE id <= 0"
            " UNION SELECT chat_id FROM rewritten CROSS JOIN messages ON id = message_id"
        )
        return {row[0] for row in reader.rows(sql, (self._read_to, _END >> 1))}

    def _is_ahead_of(self, reader: Connection) -> bool:
        """Somebody has put an older database in the place of the one that it was made of."""
        row = reader.row("SELECT seq FROM sqlite_sequence WHERE name = 'messages'")
        return self._read_to > (0 if row is None else row[0])

    def _add(self, rows: Iterable[sqlite3.Row]) -> None:
        pieces = (
            (row["chat_id"] << _CHAT_BITS | row["id"], " ".join(pieces_of(_searched(row))))
            for row in rows
            if isinstance(row["chat_id"], int) and 0 < row["chat_id"] < _END >> 1 and row["id"] > 0
        )
        self._db.connection.executemany("INSERT INTO pieces (rowid, text) VALUES (?, ?)", pieces)


def _searched(row: sqlite3.Row) -> str:
    return with_attached(as_text(row["text"]), row["attachments"])


def pieces_of(text: str) -> set[str]:
    """One for each character of each word; and each letter by itself, which is what a search for one asks for."""
    result: set[str] = set()
    for run in _RUN.findall(fold(text)):
        size = _size(run)
        result.update([run[at : at + size] for at in range(len(run))])
        if size > 2:
            result.update(run)
    return result


def _question(folded: str) -> str:
    """What the index is asked, in the words of FTS5."""
    return " AND ".join(piece for run in _RUN.findall(folded) for piece in _asked_pieces(run))


def _asked_pieces(run: str) -> list[str]:
    size = _size(run)
    if len(run) >= size:  # pieces side by side, and the last one
        places = [*range(0, len(run) - size, size), len(run) - size]
        return [f'"{run[at : at + size]}"' for at in places]
    exact = size > 2 and len(run) == 1
    return [f'"{run}"' if exact else f'"{run}"*']


def _size(run: str) -> int:
    return 2 if _BEGINS_WIDE.match(run) else 3
