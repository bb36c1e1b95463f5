"""Opening the SQLite file: finishing a rescue, examining, rescuing, migrating.

A database that a newer version wrote is refused, not changed; a damaged one is rescued (see `rescue`).
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from app.storage import rescue, schema
from app.storage.database import BUSY_MS, LARGEST_NUMBER, READ_TEXT, TRIES, Connection, is_busy, is_damage
from app.system.small_file import is_in_the_way, move_aside

# Written pages go to the database itself this often: what is only in the log is lost with the first bad byte there.
_LOG_PAGES = 64
_OPENING_BUSY_MS = 1000  # the user waits for the chats, and a notice says what keeps them
_LOOKING_S = 5.0  # at most: the user waits for the chats
_STEPS = 10_000  # of SQLite between two looks at the time

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
    """The connection that writes. `rescued` says what was saved of a damaged file, until a notice has said so."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_way(path)
        rescue.finish(path)
        _make_private(path)
        if not is_sound(path):
            rescue.rebuild(path)
        super().__init__(_connect_or_rebuild(path))

    @property
    def rescued(self) -> rescue.Rescued | None:
        row = self.row("SELECT value FROM notes WHERE name = 'rescued'")
        return None if row is None else rescue.Rescued.from_json(row["value"])

    @contextmanager
    def opening(self) -> Iterator[None]:
        """Another connection that holds the file is waited for shortly only."""
        self.connection.execute(f"PRAGMA busy_timeout = {_OPENING_BUSY_MS}")
        try:
            yield
        finally:
            self.connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")

    def checkpoint(self) -> None:
        """Moves what was written from the log to the database itself, as far as no connection reads."""
        self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def empty_log(self) -> None:
        """Likewise, and what was there before leaves the log, too; waits a little for who reads."""
        self.connection.execute(f"PRAGMA busy_timeout = {BUSY_MS // 50}")
        try:
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            self.connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")


class MemoryDatabase(Database):
    """One that is deleted with its last connection, for a run that may not write to the disk."""

    def __init__(self, address: str) -> None:
        connection = sqlite3.connect(address, uri=True, isolation_level=None)
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        connection.execute("PRAGMA foreign_keys = ON")
        schema.migrate(connection)
        Connection.__init__(self, connection)


def is_sound(path: Path) -> bool:
    """False when SQLite finds faults each time it looks: one look that fails may be the disk's fault, not the file's.

    A file in which it finds none for some seconds is taken for sound.

    Raises sqlite3.OperationalError or OSError when the file cannot be read or is locked.
    """
    if not path.exists() or path.stat().st_size == 0:
        return True
    end = time.monotonic() + _LOOKING_S
    for attempt in range(TRIES):
        try:
            if _has_no_fault(path, end):
                return True
        except UnicodeDecodeError:  # in what SQLite itself says of a damaged schema
            continue
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                return attempt == 0
            if is_busy(error) or (not is_damage(error) and not _is_senseless(error) and attempt == TRIES - 1):
                raise
    rescue.read_through(path)
    return False


def _is_senseless(error: sqlite3.DatabaseError) -> bool:
    """What SQLite says of a header or a schema that makes no sense; a disk that fails has codes of its own."""
    return error.sqlite_errorcode == sqlite3.SQLITE_ERROR


def _has_no_fault(path: Path, end: float) -> bool:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.text_factory = READ_TEXT
        connection.execute(f"PRAGMA busy_timeout = {_OPENING_BUSY_MS}")
        connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
        version = schema.version_of(connection)
        known = schema.newest_version()
        if version > known and schema.noted_version(connection) == version:  # not ours to judge, and refused
            return True
        # MEASURED: half a second for 200,000 messages; without its look at the indexes it takes a third of one.
        if connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
            return False
        if version > known:
            return schema.noted_version(connection) != known  # otherwise the number is damaged
        if version < 0 or schema.schema_of(connection) != schema.expected_schema(version):
            return False
        if _ends_within_a_page(path, connection):
            return False
        return _has_possible_numbers(connection) and _can_be_written(connection, path)


def _ends_within_a_page(path: Path, connection: sqlite3.Connection) -> bool:
    """SQLite takes zeros for the rest; where the log has that page, it is no damage."""
    log = path.with_name(path.name + "-wal")
    page_bytes: int = connection.execute("PRAGMA page_size").fetchone()[0]
    return path.stat().st_size % page_bytes != 0 and (not log.exists() or log.stat().st_size == 0)


def _has_possible_numbers(connection: sqlite3.Connection) -> bool:
    """No program gives other numbers, and Qt's signals cannot name them; a rescue has none of them."""
    for table, last in connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall():
        ends = f'SELECT (SELECT min(id) FROM "{table}") < 0 OR (SELECT max(id) FROM "{table}") > {LARGEST_NUMBER}'
        if type(last) is not int or last > LARGEST_NUMBER or connection.execute(ends).fetchone()[0]:
            return False
    return True


def _can_be_written(connection: sqlite3.Connection, path: Path) -> bool:
    """False where the file itself forbids what its permissions allow: a damaged header. Other writers say nothing."""
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
    """What is no file keeps SQLite from its own, and a rescue from its end. Raises OSError where it is the chats."""
    if is_in_the_way(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    for suffix in ("-wal", "-shm", "-journal"):
        move_aside(path.with_name(path.name + suffix))


def _make_private(path: Path) -> None:
    """What SQLite makes beside the file gets the file's own permissions."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for file in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        if file.exists() and file.stat().st_mode & 0o077:
            file.chmod(0o600)


def _connect_or_rebuild(path: Path) -> sqlite3.Connection:
    """Of a file that was found sound: damage that is met only once is the disk's fault, not the file's."""
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
