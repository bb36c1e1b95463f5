"""Opening the SQLite file: finishing a rescue, examining, rescuing, migrating.

A database that a newer version wrote is refused, not changed; a damaged one is rescued (see `rescue`).
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from importlib.resources import files
from pathlib import Path

from app.storage import rescue
from app.storage.database import BUSY_MS, READ_TEXT, TRIES, Connection, is_busy, is_damage
from app.storage.salvage import LARGEST_NUMBER, has_lost_page
from app.system.small_file import is_in_the_way, make_way

# Written pages go to the database itself this often: what is only in the log is lost with the first bad byte there.
_LOG_PAGES = 64
_OPENING_BUSY_MS = 1000  # the user waits for the chats, and a notice says what keeps them
_FIRST_WITH_NOTES = 3  # the schema version that brought the table

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
)

# Of this connection alone, and undone with what it undoes.
_WATCH = """
CREATE TEMP TABLE IF NOT EXISTS changed_chats (id INTEGER PRIMARY KEY);
CREATE TEMP TRIGGER IF NOT EXISTS chat_made AFTER INSERT ON main.chats
    BEGIN INSERT OR IGNORE INTO changed_chats VALUES (NEW.id); END;
CREATE TEMP TRIGGER IF NOT EXISTS chat_changed AFTER UPDATE OF title, pinned, updated_at, deleted_at ON main.chats
    BEGIN INSERT OR IGNORE INTO changed_chats VALUES (NEW.id); END;
CREATE TEMP TRIGGER IF NOT EXISTS chat_gone AFTER DELETE ON main.chats
    BEGIN INSERT OR IGNORE INTO changed_chats VALUES (OLD.id); END;
"""

Schema = dict[str, str]  # the name of a table or index, and how it was made


class DatabaseTooNew(Exception):
    """The file was written by a newer version of the app."""

    def __init__(self, version: int) -> None:
        super().__init__(f"schema version {version}")
        self.version = version


class Database(Connection):
    """The connection that writes. `rescued` says what was saved of a damaged file, until a notice has said so."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_way(path)
        rescue.finish(path)
        _make_private(path)
        if not is_sound(path):
            rescue.rebuild(path, _make_tables)
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

    def watch_chats(self) -> None:
        """From now on `changed_chats` says which chats this connection has changed in what a search knows of them."""
        self.connection.executescript(_WATCH)

    def changed_chats(self) -> list[int]:
        """Since the last time."""
        numbers = [row["id"] for row in self.rows("SELECT id FROM temp.changed_chats")]
        if numbers:
            self.execute("DELETE FROM temp.changed_chats")
        return numbers

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
        _make_tables(connection)
        Connection.__init__(self, connection)


def is_sound(path: Path) -> bool:
    """False when SQLite finds faults each time it looks: one look that fails may be the disk's fault, not the file's.

    Raises sqlite3.OperationalError or OSError when the file cannot be read or is locked.
    """
    if not path.exists() or path.stat().st_size == 0:
        return True
    if rescue.log_is_broken(path):  # looked at first: SQLite empties a log that it cannot read
        return False
    for attempt in range(TRIES):
        try:
            if _has_no_fault(path):
                return True
        except UnicodeDecodeError:  # in what SQLite itself says of a damaged schema
            continue
        except sqlite3.DatabaseError as error:
            if is_busy(error) or (not is_damage(error) and not _is_senseless(error) and attempt == TRIES - 1):
                raise
    rescue.read_through(path)
    return False


def _is_senseless(error: sqlite3.DatabaseError) -> bool:
    """What SQLite says of a header or a schema that makes no sense; a disk that fails has codes of its own."""
    return error.sqlite_errorcode == sqlite3.SQLITE_ERROR


def _has_no_fault(path: Path) -> bool:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.text_factory = READ_TEXT
        connection.execute(f"PRAGMA busy_timeout = {_OPENING_BUSY_MS}")
        version, known = connection.execute("PRAGMA user_version").fetchone()[0], len(_migrations())
        if version > known and _noted_version(connection) == version:  # not ours to judge, and refused
            return True
        # MEASURED: half a second for 200,000 messages; without its look at the indexes it takes a third of one.
        if connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
            return False
        if version > known:
            return _noted_version(connection) != known  # otherwise the number is damaged
        if version < 0 or _schema(connection) != _expected_schema(version):
            return False
        if has_lost_page(path, connection.execute("PRAGMA page_count").fetchone()[0], rescue.logged_pages(path)):
            return False
        return _has_possible_numbers(connection) and _can_be_written(connection, path)


def _noted_version(connection: sqlite3.Connection) -> int:
    """The version as the file's own notes have it; 0: they do not."""
    try:
        row = connection.execute("SELECT value FROM notes WHERE name = 'version'").fetchone()
        return int(row[0]) if row else 0
    except (sqlite3.DatabaseError, ValueError):
        return 0


def _has_possible_numbers(connection: sqlite3.Connection) -> bool:
    """No program gives such numbers, and Qt's signals cannot name them; a rescue gives the rows others."""
    numbered = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'"
    for (table,) in connection.execute(numbered).fetchall():
        ends = f'SELECT (SELECT min(id) FROM "{table}") < 0 OR (SELECT max(id) FROM "{table}") > {LARGEST_NUMBER}'
        if connection.execute(ends).fetchone()[0]:
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
        make_way(path.with_name(path.name + suffix))


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
    rescue.rebuild(path, _make_tables)
    return _connect(path)


def _connect(path: Path) -> sqlite3.Connection:
    # Autocommit, so that transactions are exactly those of `transaction`.
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        _migrate(connection, path)
        with suppress(sqlite3.OperationalError):  # its own schema may be damaged, and chats can do without it
            _mend_numbers(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _make_tables(connection: sqlite3.Connection) -> None:
    _migrate(connection, None)


def _migrate(connection: sqlite3.Connection, path: Path | None) -> None:
    """All or nothing. Another process that opens the file meanwhile waits, and finds it done."""
    migrations = _migrations()
    if _version(connection) == len(migrations):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection)
        if version > len(migrations):
            raise DatabaseTooNew(version)
        if 0 < version < len(migrations) and path is not None:
            _copy_before(path, len(migrations))
        for number, script in enumerate(migrations[version:], start=version + 1):
            for statement in _statements(script):
                connection.execute(statement)
            if number >= _FIRST_WITH_NOTES:
                connection.execute("INSERT OR REPLACE INTO notes VALUES ('version', ?)", (str(number),))
            connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite itself rolls back some that fail
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _copy_before(path: Path, version: int) -> None:
    """By a connection of its own: the one that migrates is in its transaction already."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        rescue.copy_to(connection, path.with_name(f"{path.stem}-before-v{version}.db"))


def _statements(script: str) -> Iterator[str]:
    """Python's own `executescript` would end the transaction first."""
    statement = ""
    for part in script.split(";"):
        statement += part + ";"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _mend_numbers(connection: sqlite3.Connection) -> None:
    """No bit of what SQLite notes as the last number makes the next row one that Qt's signals cannot name."""
    wrong = connection.execute("SELECT name FROM sqlite_sequence WHERE seq > ?", (LARGEST_NUMBER,)).fetchall()
    for (table,) in wrong:
        if connection.execute("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", (table,)).fetchone():
            last = f'(SELECT ifnull(max(id), 0) FROM "{table}")'
            connection.execute(f"UPDATE sqlite_sequence SET seq = {last} WHERE name = ?", (table,))


def _schema(connection: sqlite3.Connection) -> Schema:
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
    return dict(rows.fetchall())


def _expected_schema(version: int) -> Schema:
    return _schema_of(tuple(_migrations()[:version]))


@cache
def _schema_of(migrations: tuple[str, ...]) -> Schema:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for script in migrations:
            connection.executescript(script)
        return _schema(connection)


def _migrations() -> list[str]:
    folder = files("app.storage") / "migrations"
    scripts = sorted((each for each in folder.iterdir() if each.name.endswith(".sql")), key=lambda each: each.name)
    return [script.read_text(encoding="utf-8") for script in scripts]
