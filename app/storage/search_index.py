"""An index of the messages by short pieces of their words, in a file of its own beside the database.

It says which chats may have a word, in any script and anywhere inside of words. It is derived from the messages, a few
at a time; a lost, damaged or outdated one is rebuilt. Only the searcher's thread uses it. Here: keeping it, and asking
it. Not here: looking into the messages that it names (`searching`).

A piece is one or two characters of Chinese, Japanese and Korean, and up to three of kana and of all else. Messages of a
chat that were written one after another are a block of some thousand characters. Pieces are kept by block: a third of
the room. MEASURED among a million messages of 700 bytes, beside busy cores: 0.45 ms of CPU for each, and a quarter of
the database.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import sqlite3
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import add
from pathlib import Path
from typing import Any

from app.markup.folding import fold
from app.storage.codec import as_text
from app.storage.database import Connection
from app.storage.parts import searched_texts
from app.system.small_file import move_aside

log = logging.getLogger(__name__)

BATCH = 200  # messages read at a time, fewer if they are long
_SLICE_CHARS = 300_000
_OVERLAP = 64  # characters of the slice before, for what is cut between two
_VERSION = 5  # another version rebuilds the index
_BLOCK_CHARS = 8000
_PART_CHARS = 10_000
_REST_S = 0.002
_MOST_ASKED = 60
_FEW = 2000  # a larger number is estimated rather than counted
_SAMPLE = 2000  # blocks with a word, from which its frequency is estimated
_COMMON = 2  # a word in more than one of so many blocks counts as common
_LONGEST_KEPT = 32  # characters of a word whose pieces are remembered
_SUFFIXES = ("-wal", "-shm", "-journal", "")
_PAGE_BYTES = 16384  # so that a list of pieces fits into one page
_BUSY_S = 0.1  # a search does not wait longer for the index
_NO_DAMAGE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL)

WIDE = (
    "\u1100-\u11ff\u3005-\u3007\u3041-\u30ff\u3105-\u31ff\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{WIDE}]+|[^\\W_{WIDE}]+")
_BEGINS_WIDE = re.compile(f"[{WIDE}]")
_KANA = re.compile("(?=([\u3041-\u30ff]{3}))")  # kana are few, so most pairs occur in every block

# No copy of the pieces is stored, so a row cannot be removed; one that is added again has the pieces of both. A block
# has all messages of its chat from its first one up to the next block's. MEASURED: larger pages and more memory for
# pending writes take a third off the time.
_SCHEMA = f"""
CREATE VIRTUAL TABLE pieces USING fts5 (text, content = '', detail = none, columnsize = 0, tokenize = 'ascii');
INSERT INTO pieces (pieces, rank) VALUES ('pgsz', 16000);
INSERT INTO pieces (pieces, rank) VALUES ('hashsize', 8000000);
CREATE TABLE blocks (number INTEGER PRIMARY KEY, first INTEGER NOT NULL, chat_id INTEGER NOT NULL);
CREATE INDEX blocks_by_message ON blocks (first);
CREATE TABLE state (read_to INTEGER NOT NULL);
INSERT INTO state VALUES (0);
PRAGMA user_version = {_VERSION};
"""


@dataclass(frozen=True, slots=True)
class Progress:
    """`rewritten`: messages that were indexed again, with the number of changes covered."""

    more: bool = False
    rewritten: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _Rest:
    """A message that is too long for one slice. A run that ends before its last slice begins it again in the next."""

    block: int
    message_id: int
    text: str
    at: int
    covers: tuple[tuple[int, int], ...] = ()  # the change that it is read for


def _numbers(connection: Connection, sql: str, values: Sequence[Any]) -> list[int]:
    """The numbers that `sql` selects as `each`; as one text they take half the time."""
    numbers: list[int] = json.loads(connection.rows(f"SELECT json_group_array(each) FROM ({sql})", values)[0][0])
    return numbers


def index_path(database: Path, suffix: str = "") -> Path:
    return database.with_name(f"{database.stem}-search.db{suffix}")


def forget_index(database: Path) -> None:
    """Delete the index, which has text that must not be found in any file; it is rebuilt."""
    for suffix in _SUFFIXES:
        index_path(database, suffix).unlink(missing_ok=True)


def can_be_damage(error: Exception) -> bool:
    """False for errors of a sound index: locked, or on a full disk."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return isinstance(error, sqlite3.Error) and code & 0xFF not in _NO_DAMAGE


class KeptIndex:
    """The index file of a run, opened on demand."""

    def __init__(self, database: Path) -> None:
        self._path = database
        self._index: SearchIndex | None = None

    def get(self) -> SearchIndex | None:
        if self._index is None:
            self._index = open_index(self._path)
        return self._index

    def drop(self) -> None:
        self.close()
        forget_index(self._path)

    def close(self) -> None:
        if self._index is not None:
            self._index.close()
            self._index = None


def open_index(database: Path) -> SearchIndex | None:
    """The index; None if it cannot be opened. An unreadable or read-only one is rebuilt."""
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
    for suffix in _SUFFIXES:
        move_aside(index_path(database, suffix))
    os.close(os.open(index_path(database), os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(index_path(database), isolation_level=None, timeout=_BUSY_S)
    try:
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")  # of a new file
        connection.execute("PRAGMA journal_mode = WAL")
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
        self.database = Connection(connection)
        rows = connection.execute("SELECT read_to FROM state WHERE typeof(read_to) = 'integer'").fetchall()
        if len(rows) != 1 or rows[0][0] < 0:
            raise sqlite3.DatabaseError("an index that does not say what it has read")
        self._read_to: int = rows[0][0]
        self._firsts: list[int] = []  # the first message of each block
        self._chats: list[int] = []  # and its chat
        self._rest: _Rest | None = None

    def close(self) -> None:
        self.database.close()

    def catch_up(self, reader: Connection, batch: int = BATCH) -> Progress:
        """Index some new or changed messages."""
        if self._is_ahead_of(reader):
            raise sqlite3.DatabaseError("the index knows messages that were never written")
        if self._rest is not None:
            return self._add_rest(self._rest)
        noted = reader.rows("SELECT id, times FROM rewritten CROSS JOIN messages ON id = message_id LIMIT ?", (batch,))
        fresh = self._fresh(reader, batch)
        if fresh:
            return self._add_fresh(fresh, noted)
        return self._add_changed(reader, noted, len(noted) == batch)

    def _fresh(self, reader: Connection, most: int) -> list[sqlite3.Row]:
        """New messages, few enough that a search can wait for them: one that is long is the last."""
        sql = "SELECT id, chat_id, text, parts FROM messages WHERE id > ? ORDER BY id LIMIT 1"
        fresh: list[sqlite3.Row] = []
        chars = 0
        while len(fresh) < most and chars < _SLICE_CHARS:
            row = reader.row(sql, (fresh[-1]["id"] if fresh else self._read_to,))
            if row is None:
                break
            fresh.append(row)
            chars += len(as_text(row["text"])) + len(as_text(row["parts"]))
        return fresh

    def _add_fresh(self, fresh: list[sqlite3.Row], noted: list[sqlite3.Row]) -> Progress:
        texts = [_searched(row) for row in fresh]
        is_long = len(texts[-1]) > _SLICE_CHARS and isinstance(fresh[-1]["chat_id"], int)
        whole = fresh[:-1] if is_long else fresh
        known_to = whole[-1]["id"] if whole else self._read_to
        covered = tuple((row["id"], row["times"]) for row in noted if self._read_to < row["id"] <= known_to)
        with self.database.transaction(durable=bool(covered)):  # changes are noted nowhere else
            blocks = self._new(fresh, [text[:_SLICE_CHARS] for text in texts])
            self._add(blocks)
            self.database.execute("UPDATE state SET read_to = ?", (known_to,))
        self._read_to = known_to
        if is_long:
            self._rest = _Rest(blocks[-1][0], fresh[-1]["id"], texts[-1], _SLICE_CHARS)
        return Progress(True, covered)

    def _add_changed(self, reader: Connection, noted: list[sqlite3.Row], more: bool) -> Progress:
        """As far as a search can wait; the others are known only when they are new no longer."""
        covered: list[tuple[int, int]] = []
        added: list[tuple[int, str]] = []
        rest: _Rest | None = None
        for number, times in (row for row in noted if row["id"] <= self._read_to):
            if sum(len(text) for _block, text in added) >= _SLICE_CHARS:
                more = True
                break
            covered.append((number, times))
            row = reader.row("SELECT text, parts FROM messages WHERE id = ?", (number,))
            block = self._block_of(number)
            if row is not None and block is not None:
                text = _searched(row)
                added.append((block, text[:_SLICE_CHARS]))
                if len(text) > _SLICE_CHARS:  # then it is the last
                    rest = _Rest(block, number, text, _SLICE_CHARS, tuple(covered[-1:]))
        if rest is not None:
            covered.pop()
        with self.database.transaction(durable=bool(covered)):
            self._add(sorted(added))
        self._rest = rest
        return Progress(more or rest is not None, tuple(covered))

    def _add_rest(self, rest: _Rest) -> Progress:
        """The next slice of a long message."""
        end = rest.at + _SLICE_CHARS
        is_last = end >= len(rest.text)
        known_to = max(self._read_to, rest.message_id) if is_last else self._read_to
        with self.database.transaction(durable=is_last and bool(rest.covers)):
            self._add([(rest.block, rest.text[rest.at - _OVERLAP : end])])
            self.database.execute("UPDATE state SET read_to = ?", (known_to,))
        self._read_to = known_to
        self._rest = None if is_last else replace(rest, at=end)
        return Progress(True, rest.covers if is_last else ())

    def blocks_with(self, folded: str, if_rare: bool = False) -> Sequence[int] | None:
        """The blocks that may have the word, in order. None: any may; `if_rare`: also for common words."""
        asked = _question(folded)
        if not asked:
            return None
        self.know_blocks()
        blocks = self._matching(asked, _SAMPLE)
        if len(blocks) < _SAMPLE:
            return blocks
        return None if if_rare and blocks[-1] < _COMMON * _SAMPLE else self._matching(asked)

    def _matching(self, asked: str, most: int = -1) -> Sequence[int]:
        sql = "SELECT rowid AS each FROM pieces WHERE pieces MATCH ? ORDER BY rowid LIMIT ?"
        blocks = _numbers(self.database, sql, (asked, most))
        if blocks and blocks[-1] >= len(self._chats):
            raise sqlite3.DatabaseError("an index of blocks that it does not have")
        return blocks

    def know_blocks(self) -> None:
        """Read the blocks added since the last call, all or none."""
        rest = (len(self._chats),)
        of_rest = "SELECT {} AS each FROM blocks WHERE number >= ? ORDER BY number"
        firsts = _numbers(self.database, of_rest.format("first"), rest)
        chats = _numbers(self.database, of_rest.format("chat_id"), rest)
        self._firsts += firsts
        self._chats += chats

    def chats_of(self, blocks: Sequence[int]) -> set[int]:
        return set(map(self._chats.__getitem__, blocks))

    def within(self, blocks: Sequence[Sequence[int]], messages: Iterable[int]) -> Iterator[int]:
        """A chat's messages in these blocks, the latest first."""
        first = math.inf
        is_within = False
        for message in messages:
            if message < first:
                number = bisect_right(self._firsts, message) - 1
                first = self._firsts[number]
                is_within = any(_has(each, number) for each in blocks)
            if is_within:
                yield message

    def chats_not_read(self, reader: Connection) -> set[int]:
        """Chats with messages that are not indexed, or changed since."""
        row = reader.row("SELECT max(id) FROM messages")
        is_behind = row is not None and row[0] is not None and row[0] > self._read_to + _FEW
        fresh = "messages WHERE +id > ?" if is_behind else "messages NOT INDEXED WHERE id > ?"  # "+": by an index alone
        sql = (
            f"SELECT DISTINCT chat_id FROM {fresh}"
            " UNION SELECT DISTINCT chat_id FROM messages NOT INDEXED WHERE id <= 0"
            " UNION SELECT chat_id FROM rewritten CROSS JOIN messages ON id = message_id"
        )
        return {row[0] for row in reader.rows(sql, (self._read_to,))}

    def _is_ahead_of(self, reader: Connection) -> bool:
        """Whether the database was replaced by an older one."""
        row = reader.row("SELECT seq FROM sqlite_sequence WHERE name = 'messages'")
        return self._read_to > (0 if row is None else row[0])

    def _block_of(self, message_id: int) -> int | None:
        sql = "SELECT number FROM blocks WHERE first <= ? ORDER BY first DESC, number DESC"
        block = self.database.row(sql, (message_id,))
        return None if block is None else block[0]

    def _new(self, rows: Sequence[sqlite3.Row], searched: Sequence[str]) -> list[tuple[int, str]]:
        """New blocks of messages written one after another."""
        blocks: list[tuple[int, int, list[str]]] = []  # first message, chat, texts
        chars = 0
        for row, text in zip(rows, searched, strict=True):
            if not blocks or blocks[-1][1] != row["chat_id"] or chars > _BLOCK_CHARS:
                blocks.append((row["id"], row["chat_id"], []))
                chars = 0
            blocks[-1][2].append(text)
            chars += len(text)
        blocks = [each for each in blocks if isinstance(each[1], int)]
        free = self.database.rows("SELECT ifnull(max(number) + 1, 0) FROM blocks")[0][0]
        numbered = [(free + at, first, chat_id) for at, (first, chat_id, _texts) in enumerate(blocks)]
        self.database.connection.executemany("INSERT INTO blocks VALUES (?, ?, ?)", numbered)
        return [(free + at, "\n".join(texts)) for at, (_first, _chat, texts) in enumerate(blocks)]

    def _add(self, blocks: Iterable[tuple[int, str]]) -> None:
        """In ascending order: out of order, SQLite first writes what it has."""
        pieces = ((number, " ".join(pieces_of(text))) for number, text in blocks)
        self.database.connection.executemany("INSERT INTO pieces (rowid, text) VALUES (?, ?)", pieces)


def _has(blocks: Sequence[int], number: int) -> bool:
    at = bisect_left(blocks, number)
    return at < len(blocks) and blocks[at] == number


def _searched(row: sqlite3.Row) -> str:
    return "\n".join(searched_texts(as_text(row["text"]), row["parts"]))


def pieces_of(text: str) -> set[str]:
    """All substrings of each word, of up to two or three characters. A long text by parts, with rests between them:
    Python runs one thread at a time, so the window would wait.
    """
    found: set[str] = set()
    for at in range(0, len(text), _PART_CHARS):
        if at:
            time.sleep(_REST_S)
        runs = set(_RUN.findall(fold(text[max(0, at - _OVERLAP) : at + _PART_CHARS])))
        longest = max(map(len, runs), default=0)
        found.update("".join(runs), *map(_kept_pieces if longest <= _LONGEST_KEPT else _pieces, runs))
    return found


def _pieces(run: str) -> tuple[str, ...]:
    """Pieces of more than one character. Speed matters: it is called for each word of a message."""
    pairs = tuple(map(add, run, run[1:]))
    return (*pairs, *(_KANA.findall(run) if _BEGINS_WIDE.match(run) else map(add, pairs, run[2:])))


_kept_pieces = lru_cache(maxsize=8192)(_pieces)


def _question(folded: str) -> str:
    """The FTS5 query."""
    return " AND ".join(f'"{piece}"' for run in _RUN.findall(folded) for piece in _asked_pieces(run))


def _asked_pieces(run: str) -> list[str]:
    """The longest pieces of the word; only some of a very long word."""
    size = min(2 if _BEGINS_WIDE.match(run) else 3, len(run))
    pieces = [run[at : at + size] for at in range(len(run) - size + 1)]
    longer = _KANA.findall(run)
    return [*longer, *(piece for piece in pieces if not any(piece in each for each in longer))][:_MOST_ASKED]
