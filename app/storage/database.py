"""The SQLite file: opening, migrating, transactions. What is in the tables is for `chats` and `messages`.

One connection, used by the thread that opened it. A database that a newer version wrote is refused, not changed.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from app.storage import rescue

_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA busy_timeout = 5000",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA synchronous = FULL",
)


class DatabaseTooNew(Exception):
    """The file was written by a newer version of the app."""

    def __init__(self, version: int) -> None:
        super().__init__(f"schema version {version}")
        self.version = version


class Database:
    """`rescued` says what was saved when the file was found damaged; otherwise it is None."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.rescued: rescue.Rescued | None = None
        damaged = rescue.set_aside(path) if path.exists() and not rescue.is_sound(path) else None
        self._connect()
        if damaged is not None:
            self.rescued = self._rescue(damaged)

    def close(self) -> None:
        """Closes the file, and backs it up if the last backup is a day old."""
        rescue.back_up_daily(self.connection, self.path)
        self.connection.close()

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        return self.connection.execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Row | None:
        found: sqlite3.Row | None = self.connection.execute(sql, values).fetchone()
        return found

    def execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Runs one change; returns the id of the row that an INSERT made."""
        return self.connection.execute(sql, values).lastrowid or 0

    @property
    def holds_deleted(self) -> bool:
        """Whether something was deleted that has not been purged yet."""
        for table in ("chats", "messages"):
            if self.row(f"SELECT 1 FROM {table} WHERE deleted_at IS NOT NULL LIMIT 1"):
                return True
        return False

    @contextmanager
    def transaction(self, durable: bool = True) -> Iterator[None]:
        """All or nothing. Without `durable` a power cut may undo it, but a crash of the app may not. Does not nest."""
        self.connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:  # SQLite itself rolls back some that fail
                self.connection.execute("ROLLBACK")
            raise

    def _connect(self) -> None:
        # Autocommit, so that transactions are exactly those of `transaction`.
        self.connection = sqlite3.connect(self.path, isolation_level=None)
        self.connection.row_factory = sqlite3.Row
        try:
            for pragma in _PRAGMAS:
                self.connection.execute(pragma)
            self._migrate()
        except BaseException:
            self.connection.close()
            raise

    def _rescue(self, damaged: Path) -> rescue.Rescued:
        """What can be read of the damaged file, or the last copy when that has more."""
        saved = rescue.salvage(damaged, self.connection)
        backup = rescue.newest_backup(self.path)
        if backup is None or (kept := rescue.count_messages(backup)) <= saved:
            return rescue.Rescued(damaged, saved)
        self.connection.close()
        shutil.copyfile(backup, self.path)
        self._connect()
        return rescue.Rescued(damaged, kept)

    def _migrate(self) -> None:
        version: int = self.connection.execute("PRAGMA user_version").fetchone()[0]
        migrations = _migrations()
        if version > len(migrations):
            raise DatabaseTooNew(version)
        if 0 < version < len(migrations):
            rescue.copy_to(self.connection, self.path.with_name(f"{self.path.stem}-before-v{len(migrations)}.db"))
        for number, script in enumerate(migrations[version:], start=version + 1):
            self.connection.executescript(f"BEGIN IMMEDIATE; {script}; PRAGMA user_version = {number}; COMMIT;")


def _migrations() -> list[str]:
    folder = files("app.storage") / "migrations"
    scripts = sorted((each for each in folder.iterdir() if each.name.endswith(".sql")), key=lambda each: each.name)
    return [script.read_text(encoding="utf-8") for script in scripts]
