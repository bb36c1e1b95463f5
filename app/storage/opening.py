"""Opening the SQLite file: finish an interrupted rescue, check, rescue, migrate.

A database of a newer version is refused and not changed; a damaged one is rescued (see `rescue`).
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from app.storage import copies, rescue, schema
from app.storage.database import BUSY_MS, LARGEST_NUMBER, READ_TEXT, TRIES, Connection, is_busy, is_damage
from app.system.small_file import is_in_the_way, move_aside

# The log is checkpointed this often: damage there loses all later pages.
_LOG_PAGES = 64
_OPENING_BUSY_MS = 1000  # the user waits, and a notice reports the lock
_LOOKING_S = 5.0  # limit of the check, since the user waits
_STEPS = 10_000  # SQLite's steps between two checks of the time

_PRAGMAS = (
    f"PRAGMA busy_timeout = {BUSY_MS}",
    "PRAGMA journal_mode = WAL",
    f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}",
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",  # as `sync_file`
)


class Database(Connection):
    """The connection that writes. `rescued`: the result of a rescue, until a notice has shown it."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_way(path)
        rescue.finish(path)
        _make_private(path)
        if not is_sound(path):
            rescue.rebuild(path)
        super().__init__(_connect_or_rebuild(path))
        self._path = path
        self._file = path.stat()

    def is_in_place(self) -> bool:
        """False where the file was deleted or renamed: SQLite would go on writing to what no start finds.

        Raises OSError (ESTALE) where another file has taken its place.
        """
        try:
            found = self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        if not os.path.samestat(found, self._file):
            self.empty_log()  # the next start would take it for the log of the other file
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), str(self._path))
        return True

    def put_back(self) -> Database:
        """The connection to a new file at the old place, with all that this one has, which it closes."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.empty_log()
        for suffix in ("-wal", "-shm"):  # they would be taken for the new file's
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        copies.copy_to(self.connection, self._path)
        database = Database(self._path)
        self.close()
        return database

    @property
    def rescued(self) -> rescue.Rescued | None:
        row = self.row("SELECT value FROM notes WHERE name = 'rescued'")
        return None if row is None else rescue.Rescued.from_json(row["value"])

    @contextmanager
    def waiting(self, most_ms: int = _OPENING_BUSY_MS) -> Iterator[None]:
        """Only so long for other connections that hold the file."""
        self.connection.execute(f"PRAGMA busy_timeout = {most_ms}")
        try:
            yield
        finally:
            self.connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")

    def checkpoint(self) -> None:
        """Moves what was written from the log to the database itself, as far as no connection reads."""
        self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def empty_log(self) -> None:
        """Move all pages and truncate the log; waits a little for readers."""
        with self.waiting(BUSY_MS // 50):
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


class MemoryDatabase(Database):
    """A database in memory, for a run that must not write to the disk."""

    def __init__(self, address: str) -> None:
        connection = sqlite3.connect(address, uri=True, isolation_level=None)
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        connection.execute("PRAGMA foreign_keys = ON")
        schema.migrate(connection)
        Connection.__init__(self, connection)

    def is_in_place(self) -> bool:
        return True


def is_sound(path: Path) -> bool:
    """False if SQLite finds faults every time: a single failure may be the disk's.

    A file without faults after some seconds of checking counts as sound. Raises sqlite3.OperationalError or OSError
    when the file cannot be read or is locked.
    """
    if not path.exists() or path.stat().st_size == 0:
        return True
    end = time.monotonic() + _LOOKING_S
    for attempt in range(TRIES):
        try:
            if _has_no_fault(path, end):
                return True
        except UnicodeDecodeError:  # SQLite's own message about a damaged schema
            continue
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                return attempt == 0
            is_senseless = error.sqlite_errorcode == sqlite3.SQLITE_ERROR  # of its header or schema; not of a disk
            if is_busy(error) or (not is_damage(error) and not is_senseless and attempt == TRIES - 1):
                raise
    rescue.read_through(path)
    return False


def _has_no_fault(path: Path, end: float) -> bool:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.text_factory = READ_TEXT
        connection.execute(f"PRAGMA busy_timeout = {_OPENING_BUSY_MS}")
        connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
        version = schema.version_of(connection)
        known = schema.newest_version()
        if version > known and schema.noted_version(connection) == version:  # refused later
            return True
        # MEASURED: half a second for 200,000 messages; without its look at the indexes it takes a third of one.
        if connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
            return False
        if version > known:
            return schema.noted_version(connection) != known  # else the version number is damaged
        if version < 0 or schema.schema_of(connection) != schema.expected_schema(version):
            return False
        _read_indexes(connection)
        if _ends_within_a_page(path, connection):
            return False
        return _has_possible_numbers(connection) and _can_be_written(connection, path)


def _read_indexes(connection: sqlite3.Connection) -> None:
    """Raises sqlite3.DatabaseError for an entry that SQLite cannot read: its check does not look into them.

    MEASURED: 0.06 s for 300,000 messages.
    """
    made = "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
    for name, table, sql in connection.execute(made).fetchall():
        columns = [row[2] for row in connection.execute(f"PRAGMA index_info({name})") if row[2]]
        largest = ", ".join(f"max({column})" for column in (*columns, "rowid"))
        entries = sql.partition(" WHERE ")[2] or "1"
        connection.execute(f"SELECT {largest} FROM {table} INDEXED BY {name} WHERE {entries}").fetchone()


def _ends_within_a_page(path: Path, connection: sqlite3.Connection) -> bool:
    """SQLite reads the missing end as zeros. If the log has that page, nothing is damaged."""
    log = path.with_name(path.name + "-wal")
    page_bytes: int = connection.execute("PRAGMA page_size").fetchone()[0]
    return path.stat().st_size % page_bytes != 0 and (not log.exists() or log.stat().st_size == 0)


def _has_possible_numbers(connection: sqlite3.Connection) -> bool:
    """Whether all ids are valid: others are damage, and Qt's signals cannot hold them."""
    for table, last in connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall():
        ends = f'SELECT (SELECT min(id) FROM "{table}") < 0 OR (SELECT max(id) FROM "{table}") > {LARGEST_NUMBER}'
        if type(last) is not int or last > LARGEST_NUMBER or connection.execute(ends).fetchone()[0]:
            return False
    return True


def _can_be_written(connection: sqlite3.Connection, path: Path) -> bool:
    """False if a damaged header forbids writing. Locks of other writers do not count."""
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute("PRAGMA user_version = 0")  # SQLite allows the beginning also where it refuses a change
        finally:
            connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        return not (error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_READONLY and os.access(path, os.W_OK))
    return True


def _make_way(path: Path) -> None:
    """Move aside whatever blocks SQLite's own files. Raises OSError if that is the database itself."""
    if is_in_the_way(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    for suffix in ("-wal", "-shm", "-journal"):
        move_aside(path.with_name(path.name + suffix))


def _make_private(path: Path) -> None:
    """Files that SQLite makes get the permissions of this one."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for file in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        if file.exists() and file.stat().st_mode & 0o077:
            file.chmod(0o600)


def _connect_or_rebuild(path: Path) -> sqlite3.Connection:
    """Connect to a file that was checked: an error that occurs once is the disk's."""
    for _ in range(TRIES):
        try:
            return _connect(path)
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
    rescue.rebuild(path)
    return _connect(path)


def _connect(path: Path) -> sqlite3.Connection:
    # Autocommit, so that transactions are exactly those of `transaction`.
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        schema.migrate(connection, file=path)
    except BaseException:
        connection.close()
        raise
    return connection
