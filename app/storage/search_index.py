"""An index of the messages by short pieces of their words, in a file of its own beside the database.

It says which chats may have a word, in any script and anywhere inside of words. Nothing in it is needed: it is read
from the messages, a few at a time, and one that is lost, damaged or too old is made anew. Only the searcher's thread
uses it. Here: keeping it, and asking it. Not here: looking into the messages that it names (`searching`).

SQLite does not notice when a letter of a piece turns into another one. So the end of a run seals the index with a sum
over its bytes, and the next run takes only what agrees with its seal. While a run has it, there is no seal: after one
that was killed it is made anew.

A piece is one or two characters of Chinese, Japanese and Korean, and up to three of all else. Messages of a chat that
were written one after another are a block of some thousand characters. Pieces are kept by block: a third of the room.
MEASURED among a million messages of 700 bytes, beside busy cores: 0.45 ms of CPU for each, and a quarter of the
database. 0.03 s for the sum over 100 MB.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from app.markup.folding import fold
from app.storage.attachments import with_attached
from app.storage.codec import as_text
from app.storage.database import Connection
from app.system.small_file import make_way
from engine import write_atomically

log = logging.getLogger(__name__)

BATCH = 200  # messages that are read at one go
_VERSION = 4  # another one makes the index anew
_BLOCK_CHARS = 4000
_MOST_ASKED = 60
_LONGEST_KEPT = 32  # characters of a word whose pieces are remembered
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
# A block has all messages of its chat from its first one up to the next block's. MEASURED: larger pages and more memory
# for what is not written yet take a third off the time.
_SCHEMA = f"""
CREATE VIRTUAL TABLE pieces USING fts5 (text, content = '', detail = none, columnsize = 0, tokenize = 'ascii');
INSERT INTO pieces (pieces, rank) VALUES ('pgsz', 16000);
INSERT INTO pieces (pieces, rank) VALUES ('hashsize', 8000000);
CREATE TABLE blocks (number INTEGER PRIMARY KEY, first INTEGER NOT NULL, chat_id INTEGER NOT NULL);
CREATE INDEX blocks_by_message ON blocks (first);
CREATE TABLE state (read_to INTEGER NOT NULL, made INTEGER NOT NULL);
INSERT INTO state VALUES (0, random());
PRAGMA user_version = {_VERSION};
"""


@dataclass(frozen=True, slots=True)
class Progress:
    """`rewritten`: messages that were read again, with the number of changes that this covers."""

    more: bool = False
    rewritten: tuple[tuple[int, int], ...] = ()


class Blocks:
    """The first message and the chat of each block, by its number, as far as they were asked for."""

    def __init__(self) -> None:
        self._made: int | None = None  # which index they are of
        self.firsts = array("q")
        self.chats = array("q")

    def follow(self, index: Connection, made: int) -> None:
        if made != self._made:
            self._made, self.firsts, self.chats = made, array("q"), array("q")
        rest = (len(self.chats),)
        for column, known in (("first", self.firsts), ("chat_id", self.chats)):
            of_rest = f"SELECT {column} AS each FROM blocks WHERE number >= ? ORDER BY number"
            known.extend(map(int, _joined(index, of_rest, rest)))


def _joined(connection: Connection, sql: str, values: Sequence[Any]) -> list[str]:
    """The numbers that `sql` selects as `each`; as one text they take a fifth of the time of as many rows."""
    text = connection.rows(f"SELECT group_concat(each) FROM ({sql})", values)[0][0]
    return text.split(",") if text else []


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


def open_index(database: Path, blocks: Blocks | None = None) -> SearchIndex | None:
    """None: there can be none here, or not now. One that cannot be read or not be written is made anew.

    `blocks`: as far as they are known already.
    """
    try:
        return _opened(database, blocks or Blocks())
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
        return _opened(database, blocks or Blocks())
    except (sqlite3.Error, OSError) as error:
        log.warning("there is no search index: %s", error.__class__.__name__)
        return None


def _opened(database: Path, blocks: Blocks) -> SearchIndex:
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
        return SearchIndex(connection, blocks)
    except BaseException:
        connection.close()
        raise


class SearchIndex:
    def __init__(self, connection: sqlite3.Connection, blocks: Blocks) -> None:
        self._db = Connection(connection)
        rows = connection.execute("SELECT read_to, made FROM state WHERE typeof(read_to) = 'integer'").fetchall()
        if len(rows) != 1 or rows[0][0] < 0:
            raise sqlite3.DatabaseError("an index that does not say what it has read")
        self._read_to: int = rows[0][0]
        self._made: int = rows[0][1]
        self._blocks = blocks

    def close(self) -> None:
        self._db.close()

    def catch_up(self, reader: Connection, batch: int = BATCH) -> Progress:
        """Reads some of the messages that it does not know yet, or that have changed since."""
        if self._is_ahead_of(reader):
            raise sqlite3.DatabaseError("the index knows messages that were never written")
        fresh = reader.rows(
            "SELECT id, chat_id, text, attachments FROM messages WHERE id > ? ORDER BY id LIMIT ?",
            (self._read_to, batch),
        )
        changed = reader.rows(
            "SELECT id, chat_id, text, attachments, times"
            " FROM rewritten CROSS JOIN messages ON id = message_id LIMIT ?",
            (batch,),
        )
        known_to = fresh[-1]["id"] if fresh else self._read_to
        with self._db.transaction(durable=False):
            self._add(self._known(row for row in changed if row["id"] <= self._read_to))
            self._add(self._new(fresh))
            self._db.execute("UPDATE state SET read_to = ?", (known_to,))
        self._read_to = known_to
        covered = tuple((row["id"], row["times"]) for row in changed if row["id"] <= known_to)
        return Progress(len(fresh) == batch or len(changed) == batch, covered)

    def blocks_with(self, folded: str, most: int = -1) -> dict[int, list[int]] | None:
        """The blocks that may have the word, by chat. None: any may, or more than `most` do."""
        asked = _question(folded)
        if not asked:
            return None
        self._blocks.follow(self._db, self._made)
        sql = "SELECT rowid AS each FROM pieces WHERE pieces MATCH ? LIMIT ?"
        numbers = _joined(self._db, sql, (asked, most + 1 if most >= 0 else -1))
        if 0 <= most < len(numbers):
            return None
        chats, result = self._blocks.chats, dict[int, list[int]]()
        try:
            for number in map(int, numbers):
                result.setdefault(chats[number], []).append(number)
        except IndexError:
            raise sqlite3.DatabaseError("an index of blocks that it does not have") from None
        return result

    def messages_of(self, block: int) -> tuple[int, int]:
        """The first and the last number that a message of the block may have."""
        firsts = self._blocks.firsts
        return firsts[block], firsts[block + 1] - 1 if block + 1 < len(firsts) else self._read_to

    def chats_not_read(self, reader: Connection) -> set[int]:
        """Those with messages that it has not read, or cannot number, or that have changed since."""
        sql = (
            "SELECT DISTINCT chat_id FROM messages NOT INDEXED WHERE id > ?"
            " UNION SELECT DISTINCT chat_id FROM messages NOT INDEXED WHERE id <= 0"
            " UNION SELECT chat_id FROM rewritten CROSS JOIN messages ON id = message_id"
        )
        return {row[0] for row in reader.rows(sql, (self._read_to,))}

    def _is_ahead_of(self, reader: Connection) -> bool:
        """Somebody has put an older database in the place of the one that it was made of."""
        row = reader.row("SELECT seq FROM sqlite_sequence WHERE name = 'messages'")
        return self._read_to > (0 if row is None else row[0])

    def _known(self, rows: Iterable[sqlite3.Row]) -> list[tuple[int, str]]:
        """Messages that have changed, with the blocks that they are in."""
        result = []
        for row in rows:
            block = self._db.row("SELECT number FROM blocks WHERE first <= ? ORDER BY first DESC", (row["id"],))
            if block is not None:
                result.append((block[0], _searched(row)))
        return sorted(result)

    def _new(self, rows: Iterable[sqlite3.Row]) -> list[tuple[int, str]]:
        """Blocks of messages that were written one after another."""
        blocks: list[tuple[int, int, list[str]]] = []  # first message, chat, texts
        chars = 0
        for row in rows:
            number, chat_id, text = row["id"], row["chat_id"], _searched(row)
            if not blocks or blocks[-1][1] != chat_id or chars > _BLOCK_CHARS:
                blocks.append((number, chat_id, []))
                chars = 0
            blocks[-1][2].append(text)
            chars += len(text)
        blocks = [each for each in blocks if isinstance(each[1], int)]
        free = self._db.rows("SELECT ifnull(max(number) + 1, 0) FROM blocks")[0][0]
        numbered = [(free + at, first, chat_id) for at, (first, chat_id, _texts) in enumerate(blocks)]
        self._db.connection.executemany("INSERT INTO blocks VALUES (?, ?, ?)", numbered)
        return [(free + at, "\n".join(texts)) for at, (_first, _chat, texts) in enumerate(blocks)]

    def _add(self, blocks: Iterable[tuple[int, str]]) -> None:
        """In the order of their numbers: what goes back has SQLite write what it has first."""
        pieces = ((number, " ".join(pieces_of(text))) for number, text in blocks)
        self._db.connection.executemany("INSERT INTO pieces (rowid, text) VALUES (?, ?)", pieces)


def _searched(row: sqlite3.Row) -> str:
    return with_attached(as_text(row["text"]), row["attachments"])


def pieces_of(text: str) -> set[str]:
    """All stretches of up to two or three characters of each word."""
    runs = set(_RUN.findall(fold(text)))
    return set().union(*(_kept_pieces(run) if len(run) <= _LONGEST_KEPT else _pieces(run) for run in runs))


def _pieces(run: str) -> tuple[str, ...]:
    sizes = range(1, _size(run) + 1)
    return tuple(run[at : at + size] for size in sizes for at in range(len(run) - size + 1))


_kept_pieces = lru_cache(maxsize=8192)(_pieces)


def _question(folded: str) -> str:
    """What the index is asked, in the words of FTS5."""
    return " AND ".join(f'"{piece}"' for run in _RUN.findall(folded) for piece in _asked_pieces(run))


def _asked_pieces(run: str) -> list[str]:
    """All of the longest that there are; of a very long word only some."""
    size = min(_size(run), len(run))
    return [run[at : at + size] for at in range(len(run) - size + 1)][:_MOST_ASKED]


def _size(run: str) -> int:
    return 2 if _BEGINS_WIDE.match(run) else 3
