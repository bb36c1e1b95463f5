"""The documents of a project, in a database of its own: which they are, their text by page, and passages to search.

A file is named by where it is and read from there (`app/documents/indexing`); the text is kept here, and nowhere else.
What is taken out is not in `all` from then on, and goes from the disk in slices. Each thread opens the database for
itself; several may, one of which reads files.
"""

from __future__ import annotations

import os
import sqlite3
import time
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, count, zip_longest
from pathlib import Path

from app.storage.codec import as_name
from app.storage.database import BUSY_MS, Connection, is_busy
from app.storage.passages import cut_up, for_index, terms_of

MOST_FILES = 5_000
MOST_BYTES = 2 << 30  # of all files of a project together
MOST_CHARACTERS = 20_000_000  # of one file
_VERSION = 1
_SUFFIXES = ("-wal", "-shm", "-journal", "")
_MOST_TERMS = 40  # of a question
_MANY = 20_000  # passages with a word from which on it is looked for only among those with rarer ones
_ABOUT_WEIGHT = 0.5  # of a word in a file's name or a heading, beside one in the passage
_SLICE = 50  # passages taken out at a time
_MERGED_PAGES = 500  # of the index, at a time

# On which line of its file a part begins; not of pages, nor of parts that were read before this was stored.
_LINES = "CREATE TABLE IF NOT EXISTS lines (part_id INTEGER PRIMARY KEY, line INTEGER NOT NULL)"
_WITH_LINES = " LEFT JOIN lines ON lines.part_id = parts.id"

# Two threads may open a new one at the same time.
#
# No copy of the words is stored beside the text: to take a passage out, SQLite gets the same words again.
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL,          -- '': its text was given, there is no file
    name TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    changed_ns INTEGER NOT NULL,
    state TEXT NOT NULL,
    problem TEXT NOT NULL DEFAULT '',
    pages INTEGER NOT NULL DEFAULT 0,
    characters INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS parts (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL,
    page INTEGER NOT NULL,       -- 0: the file has no pages
    start INTEGER NOT NULL,      -- in the text of the file
    text TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS parts_by_file ON parts (file_id, start);
CREATE TABLE IF NOT EXISTS passages (
    id INTEGER PRIMARY KEY,
    part_id INTEGER NOT NULL,
    first INTEGER NOT NULL,      -- in the part
    last INTEGER NOT NULL,
    about TEXT NOT NULL          -- what it is found by besides its own words
);
CREATE INDEX IF NOT EXISTS passages_by_part ON passages (part_id);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (
    text, about, content = '', tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT NOT NULL);
{_LINES};
PRAGMA user_version = {_VERSION};
"""
_COLUMNS = "id, name, path, size, changed_ns, pages, characters, state, problem"
_SHOWN = "state != 'removed'"


class FileState(StrEnum):
    WAITS = "waits"  # to be read
    READING = "reading"
    READY = "ready"
    MISSING = "missing"  # it was read, and is not where it was; its text is not searched
    UNREADABLE = "unreadable"  # `problem` says why


_REMOVED = "removed"  # its text is being taken out


@dataclass(frozen=True, slots=True)
class ProjectFile:
    id: int
    name: str  # no other file of the project has it
    path: str  # "": a text without a file
    size_bytes: int
    changed_ns: int  # as it was read; with another one it is another file
    pages: int  # that were read so far; 0: it has none
    characters: int  # as far as it was read
    state: FileState
    problem: str = ""  # a code, see `app/documents/problems`


@dataclass(frozen=True, slots=True)
class Passage:
    file_id: int
    name: str
    page: int  # 0: the file has no pages
    start: int  # in the text of the file
    end: int
    text: str
    line: int = 0  # on which it begins, of a file without pages


@dataclass(frozen=True, slots=True)
class Added:
    ids: tuple[int, ...]  # of those that are new
    left_out: int = 0  # how many exceed the limits of a project


def delete_database(path: Path, suffixes: Iterable[str] = _SUFFIXES) -> None:
    for suffix in suffixes:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def rename_database(path: Path, to: Path) -> None:
    for suffix in ("-wal", ""):  # the log is there while a thread reads
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(to.with_name(to.name + suffix))


def copy_database(path: Path, to: Path) -> None:
    """Raises sqlite3.Error or OSError; nothing is there then."""
    with reading(path) as files:
        if files is None:
            raise sqlite3.DatabaseError("documents that cannot be read")
        new = _new(to)
        os.close(os.open(new, os.O_RDWR | os.O_CREAT, 0o600))
        files.copy_into(new)
    new.replace(to)


def make_anew(path: Path, known: Iterable[ProjectFile], lost: str) -> None:
    """In place of a damaged one: with these files, those that it names, and texts that are nowhere else.

    `lost`: the problem of a text of which only the name is left. Raises sqlite3.Error or OSError; the damaged one is
    there then.
    """
    named, texts = _named_in(path)
    listed = {(each.path, each.name): each for each in (*known, *named)}.values()
    new = _new(path)
    files = open_files(new)
    try:
        files.add(dict.fromkeys(Path(each.path) for each in listed if each.path))
        for each in listed:
            if not each.path and each.name in texts:
                files.add_text(each.name, texts[each.name])
            elif not each.path:
                files.add_lost(each.name, lost)
    finally:
        files.close()
    delete_database(path, _SUFFIXES[:-1])
    new.replace(path)


def _new(path: Path) -> Path:
    """Where it is written before it is whole."""
    new = path.with_suffix(".new")
    delete_database(new)
    return new


def _named_in(path: Path) -> tuple[list[ProjectFile], dict[str, str]]:
    """What can be read in a database: the list, and by name the texts without a file."""
    listed: list[ProjectFile] = []
    texts: dict[str, str] = {}
    with suppress(sqlite3.Error), reading(path) as files:
        listed += [] if files is None else files.all()
        for each in listed:
            if files is not None and not each.path and each.state is FileState.READY:
                with suppress(sqlite3.Error):
                    texts[each.name] = files.text_of(each.id)
    return listed, texts


@contextmanager
def reading(path: Path) -> Iterator[ProjectFiles | None]:
    """For a short read on any thread; None where there is no database, or it cannot be read."""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    except sqlite3.Error:
        yield None
        return
    files = ProjectFiles(connection)
    try:
        yield files if files.is_readable() else None
    finally:
        files.close()


def open_files(path: Path) -> ProjectFiles:
    """To change it; made if it is not there. Raises sqlite3.Error or OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for pragma in (
            f"busy_timeout = {BUSY_MS}",
            "secure_delete = ON",
            "temp_store = MEMORY",
            "trusted_schema = OFF",
            "cell_size_check = ON",
        ):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        _write_ahead(connection)
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            raise sqlite3.DatabaseError("documents of another version")
        if version == 0:
            connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
        connection.execute(_LINES)
    except BaseException:
        connection.close()
        raise
    return ProjectFiles(connection)


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Another thread may do the same to a new file: SQLite does not wait for that by itself."""
    until = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            return
        except sqlite3.Error as error:
            if not is_busy(error) or time.monotonic() > until:
                raise
        time.sleep(0.01)


class ProjectFiles:
    """For one thread. Made by `open_files` or `reading`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = Connection(connection)
        self._numbers: dict[str, int] = {}  # the last one that was given to a name; thousands may have it
        self._knows_lines = False  # they may be stored later, by another thread
        self._touched: set[int] = set()  # files that were changed here since `touched` was asked

    def close(self) -> None:
        self._db.close()

    def is_readable(self) -> bool:
        try:
            self._db.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
            return bool(self._db.rows("PRAGMA user_version")[0][0] == _VERSION)
        except sqlite3.Error:
            return False

    def copy_into(self, path: Path) -> None:
        """An empty file."""
        self._db.execute("VACUUM INTO ?", (str(path),))

    # The list of files

    def all(self) -> list[ProjectFile]:
        return [_file(row) for row in self._db.rows(f"SELECT {_COLUMNS} FROM files WHERE {_SHOWN} ORDER BY id")]

    def get(self, file_id: int) -> ProjectFile | None:
        row = self._db.row(f"SELECT {_COLUMNS} FROM files WHERE id = ? AND {_SHOWN}", (file_id,))
        return None if row is None else _file(row)

    def touched(self) -> set[int]:
        """Those that were added, changed or removed on this connection since this was asked last."""
        touched = self._touched
        self._touched = set()
        return touched

    def at(self, path: Path) -> ProjectFile | None:
        row = self._db.row(f"SELECT {_COLUMNS} FROM files WHERE path = ? AND {_SHOWN}", (str(path),))
        return None if row is None else _file(row)

    def named(self, name: str) -> ProjectFile | None:
        row = self._db.row(f"SELECT {_COLUMNS} FROM files WHERE name = ? AND {_SHOWN}", (name,))
        return None if row is None else _file(row)

    def add(self, paths: Iterable[Path], taken: Collection[str] = ()) -> Added:
        """Files that are to be read. One that is there already stays; what is no file is left to the reader.

        `taken`: names that none of them gets.
        """
        ids: list[int] = []
        left_out = 0
        with self._db.transaction():
            known = {row["path"] for row in self._db.rows(f"SELECT path FROM files WHERE {_SHOWN}")}
            room = self._room()
            for path in paths:
                size = _size(path)
                if str(path) in known:
                    continue
                if len(known) >= MOST_FILES or size > room:
                    left_out += 1
                    continue
                known.add(str(path))
                room -= size
                ids.append(self._insert(str(path), self._free_name(path, taken), size, FileState.WAITS))
        return Added(tuple(ids), left_out)

    def add_text(self, name: str, text: str, taken: Collection[str] = ()) -> int:
        """A text without a file, which is searched at once."""
        with self._db.transaction():
            given = name and name not in taken and self.named(name) is None
            free = as_name(name) if given else self._free_name(Path(name), taken)
            file_id = self._insert("", free, len(text.encode()), FileState.READY)
            self._put_pages(file_id, [(0, text)])
        return file_id

    def add_lost(self, name: str, problem: str) -> None:
        """A text that cannot be read any more: the user sees that it was there."""
        with self._db.transaction():
            self.end(self._insert("", as_name(name), 0, FileState.UNREADABLE), FileState.UNREADABLE, problem)

    def remove(self, ids: Iterable[int]) -> None:
        """At once from the list; `clear_some` takes out the text."""
        with self._db.transaction():
            for file_id in ids:
                sql = "UPDATE files SET state = ?, path = '', name = ? WHERE id = ?"
                self._db.execute(sql, (_REMOVED, f"\0{file_id}", file_id))
                self._touched.add(file_id)

    def _room(self) -> int:
        return MOST_BYTES - int(self._db.rows(f"SELECT ifnull(sum(size), 0) FROM files WHERE {_SHOWN}")[0][0])

    def _insert(self, path: str, name: str, size: int, state: FileState) -> int:
        sql = "INSERT INTO files (path, name, size, changed_ns, state) VALUES (?, ?, ?, 0, ?)"
        file_id = self._db.execute(sql, (path, name, size, state))
        self._touched.add(file_id)
        return file_id

    def _free_name(self, path: Path, taken: Collection[str]) -> str:
        def is_taken(name: str) -> bool:
            return name in taken or self._db.row("SELECT 1 FROM files WHERE name = ?", (name,)) is not None

        return free_name(path, is_taken, self._numbers)

    # Reading: by one thread

    def next_waiting(self) -> ProjectFile | None:
        """One that a kill has left half read is the first."""
        sql = f"SELECT {_COLUMNS} FROM files WHERE state IN ('reading', 'waits') ORDER BY state, id LIMIT 1"
        row = self._db.row(sql)
        return None if row is None else _file(row)

    def begin(self, file_id: int, size: int, changed_ns: int) -> None:
        """It is read from its beginning; `clear_some` has taken out what was read before."""
        sql = (
            "UPDATE files SET state = 'reading', size = ?, changed_ns = ?, problem = '', pages = 0, characters = 0"
            " WHERE id = ? AND state != 'removed'"
        )
        self._db.execute(sql, (size, changed_ns, file_id))
        self._touched.add(file_id)

    def put_pages(self, file_id: int, pages: Sequence[tuple[int, str]]) -> bool:
        """The next pages of a file. False: it was taken out meanwhile."""
        with self._db.transaction(durable=False):
            if self._db.row("SELECT 1 FROM files WHERE id = ? AND state = 'reading'", (file_id,)) is None:
                return False
            self._put_pages(file_id, pages)
        return True

    def _put_pages(self, file_id: int, pages: Sequence[tuple[int, str]]) -> None:
        row = self._db.rows("SELECT name, pages, characters FROM files WHERE id = ?", (file_id,))[0]
        start = row["characters"]
        last_page = row["pages"]
        line = self._last_line(file_id)
        for page, text in pages:
            part = "INSERT INTO parts (file_id, page, start, text) VALUES (?, ?, ?, ?)"
            part_id = self._db.execute(part, (file_id, page, start, text))
            if not page:
                self._db.execute("INSERT INTO lines VALUES (?, ?)", (part_id, line))
                line += text.count("\n")
            for each in cut_up(text):
                about = f"{row['name']}\n{each.heading}"
                passage = "INSERT INTO passages (part_id, first, last, about) VALUES (?, ?, ?, ?)"
                number = self._db.execute(passage, (part_id, each.start, each.end, about))
                words = for_index(text[each.start : each.end]), for_index(about)
                self._db.execute("INSERT INTO words (rowid, text, about) VALUES (?, ?, ?)", (number, *words))
            start += len(text)
            last_page = page or last_page
        self._db.execute("UPDATE files SET pages = ?, characters = ? WHERE id = ?", (last_page, start, file_id))
        self._touched.add(file_id)

    def _last_line(self, file_id: int) -> int:
        """On which the text of a file that was read so far ends."""
        sql = f"SELECT text, line FROM parts{_WITH_LINES} WHERE file_id = ? ORDER BY start DESC LIMIT 1"
        row = self._db.row(sql, (file_id,))
        return 1 if row is None else (row["line"] or 1) + row["text"].count("\n")

    def end(self, file_id: int, state: FileState, problem: str = "") -> None:
        """What waits is read again, even if it is found as it was before."""
        none = {FileState.UNREADABLE: ", pages = 0, characters = 0", FileState.WAITS: ", changed_ns = 0"}.get(state, "")
        sql = f"UPDATE files SET state = ?, problem = ?{none} WHERE id = ? AND state != 'removed'"
        self._db.execute(sql, (state, problem, file_id))
        self._touched.add(file_id)

    def signs(self) -> list[tuple[int, str, FileState, str, int, int]]:
        """Id, path, state, problem, size and time of each file that is on a disk, to see whether it has changed."""
        sql = f"SELECT id, path, state, problem, size, changed_ns FROM files WHERE {_SHOWN} AND path != ''"
        return [(row[0], row[1], FileState(row[2]), *row[3:]) for row in self._db.rows(sql)]

    # Taking out, in slices

    def clear_some(self) -> bool:
        """Take out some text of what was removed, or is to be read again. False: there is none left."""
        sql = (
            "SELECT parts.id, parts.text FROM files JOIN parts ON parts.file_id = files.id"
            " WHERE files.state IN ('removed', 'waits', 'unreadable') LIMIT 1"
        )
        part = self._db.row(sql)
        if part is None:
            return self._forget_some()
        with self._db.transaction(durable=False):
            self._note("forget", "first")
            found = self._db.rows("SELECT * FROM passages WHERE part_id = ? LIMIT ?", (part["id"], _SLICE))
            for row in found:
                words = for_index(part["text"][row["first"] : row["last"]]), for_index(row["about"])
                delete = "INSERT INTO words (words, rowid, text, about) VALUES ('delete', ?, ?, ?)"
                self._db.execute(delete, (row["id"], *words))
                self._db.execute("DELETE FROM passages WHERE id = ?", (row["id"],))
            if len(found) < _SLICE:
                self._db.execute("DELETE FROM parts WHERE id = ?", (part["id"],))
                self._db.execute("DELETE FROM lines WHERE part_id = ?", (part["id"],))
        return True

    def _forget_some(self) -> bool:
        """Merge some of the index, which keeps the words of what was taken out until then."""
        self._db.execute("DELETE FROM files WHERE state = 'removed'")
        row = self._db.row("SELECT value FROM notes WHERE name = 'forget'")
        if row is None:
            return False
        before = self._db.connection.total_changes
        pages = -_MERGED_PAGES if row["value"] == "first" else _MERGED_PAGES
        with self._db.transaction(durable=False):
            self._db.execute("INSERT INTO words (words, rank) VALUES ('merge', ?)", (pages,))
            if self._db.connection.total_changes - before < 2:
                self._db.execute("DELETE FROM notes WHERE name = 'forget'")
            else:
                self._note("forget", "on")
        return True

    def _note(self, name: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))

    # Asking

    def text_of(self, file_id: int, first_page: int | None = None, last_page: int | None = None) -> str:
        """All of its text, or that of some pages."""
        sql = "SELECT text FROM parts WHERE file_id = ? AND page BETWEEN ? AND ? ORDER BY start"
        last = (first_page or MOST_BYTES) if last_page is None else last_page
        return "".join(row[0] for row in self._db.rows(sql, (file_id, first_page or 0, last)))

    def search(self, question: str, limit: int) -> list[Passage]:
        """The passages that have most of the question's rarer words, the best first."""
        terms = self._telling(terms_of(question)[:_MOST_TERMS])
        if not terms:
            return []
        sql = (  # CROSS JOIN: in the index's order, so that only as many are looked up as are found
            "SELECT file_id, name, page, parts.start + first AS start, parts.start + last AS end,"
            " substr(parts.text, first + 1, last - first) AS text, substr(parts.text, 1, first) AS before,"
            f" {'lines.line' if self._has_lines() else 'NULL'} AS line_of_part FROM words"
            " CROSS JOIN passages ON passages.id = words.rowid CROSS JOIN parts ON parts.id = passages.part_id"
            f" CROSS JOIN files ON files.id = file_id{_WITH_LINES if self._has_lines() else ''}"
            f" WHERE words MATCH ? AND rank MATCH 'bm25(1.0, {_ABOUT_WEIGHT})' AND state IN ('ready', 'reading')"
            " ORDER BY rank LIMIT ?"
        )
        asked = " OR ".join(f'"{term}"' for term in terms)
        return [_passage(row) for row in self._db.rows(sql, (asked, limit))]

    def _has_lines(self) -> bool:
        sql = "SELECT 1 FROM sqlite_schema WHERE name = 'lines'"
        self._knows_lines = self._knows_lines or self._db.row(sql) is not None
        return self._knows_lines

    def _telling(self, terms: Sequence[str]) -> list[str]:
        """Those by which passages differ: the rarer ones, as far as few enough passages have one of them."""
        sql = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
        counted = sorted((self._db.rows(sql, (f'"{term}"', _MANY))[0][0], term) for term in terms)
        kept: list[str] = []
        together = 0
        for number, term in counted:
            together += number
            if number and (together <= _MANY or not kept):
                kept.append(term)
        return kept


def _passage(row: sqlite3.Row) -> Passage:
    values = dict(row)
    before = values.pop("before")
    line = values.pop("line_of_part")
    text = values["text"]
    blank = text[: len(text) - len(text.lstrip())]
    known = line is not None and not values["page"]
    return Passage(**values, line=line + before.count("\n") + blank.count("\n") if known else 0)


def _file(row: sqlite3.Row) -> ProjectFile:
    return ProjectFile(
        row["id"],
        row["name"],
        row["path"],
        row["size"],
        row["changed_ns"],
        row["pages"],
        row["characters"],
        FileState(row["state"]),
        row["problem"],
    )


def free_name(path: Path, is_taken: Callable[[str], bool], numbers: dict[str, int]) -> str:
    """The name of a file; where another has that, with the folder's, or with a number. `numbers`: those given last."""
    own, folder = map(_written, (path.name, path.parent.name))
    wider = f"{folder}/{own}" if folder else own or "text"
    for name in (own or "text", wider):
        if not is_taken(name):
            return name
    following = count(numbers.get(wider, 1) + 1)
    numbers[wider] = next(each for each in following if not is_taken(f"{wider} {each}"))
    return f"{wider} {numbers[wider]}"


def _written(name: str) -> str:
    """As it is typed and cited: some systems decompose letters in the names of files."""
    return as_name(unicodedata.normalize("NFC", os.fsencode(name).decode("utf-8", "replace")))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0


def search_in(
    paths: Iterable[Path],
    question: str,
    limit: int,
    failed: Callable[[Path, sqlite3.Error], None] | None = None,
    names: Mapping[tuple[Path, int], str] = {},
) -> list[Passage]:
    """The best passages of several databases; one that cannot be read has none, and is reported to `failed`.

    `names`: of files that are known by another one than in their database.
    """
    found: list[list[Passage]] = []
    for path in paths:
        try:
            with reading(path) as files:
                passages = [] if files is None else files.search(question, limit)
                found.append([replace(each, name=names.get((path, each.file_id), each.name)) for each in passages])
        except sqlite3.Error as error:
            if failed is not None:
                failed(path, error)
    in_turn = chain.from_iterable(zip_longest(*found))  # ranks of two databases cannot be compared
    return [each for each in in_turn if each is not None][:limit]
