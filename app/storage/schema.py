"""The tables of the database: one script in `migrations/` for each version, and migration of a file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from importlib.resources import files
from pathlib import Path

from app.storage.copies import copies_before_migrations, copy_to

_FIRST_WITH_NOTES = 3  # the version that brought the table

Schema = dict[str, str]  # name of a table or index -> its SQL


class DatabaseTooNew(Exception):
    """The file was written by a newer version of the app."""


def newest_version() -> int:
    return len(_scripts())


def migrate(connection: sqlite3.Connection, to_version: int | None = None, file: Path | None = None) -> None:
    """Migrate in one transaction. Another process that opens the file meanwhile waits, and finds it migrated.

    `file`: the connection's file, which is copied first.
    """
    scripts = _scripts()[:to_version]
    if version_of(connection) == len(scripts):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = version_of(connection)
        if version > len(scripts):
            raise DatabaseTooNew(f"schema version {version}")
        if 0 < version < len(scripts) and file is not None:
            _copy_before(file, len(scripts))
        for number, script in enumerate(scripts[version:], start=version + 1):
            for statement in _statements(script):
                connection.execute(statement)
            if number >= _FIRST_WITH_NOTES:
                connection.execute("INSERT OR REPLACE INTO notes VALUES ('version', ?)", (str(number),))
            connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite rolls back some failed transactions itself
            connection.execute("ROLLBACK")
        raise


def version_of(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def noted_version(connection: sqlite3.Connection) -> int:
    """The version in the file's notes; 0: none."""
    try:
        row = connection.execute("SELECT value FROM notes WHERE name = 'version'").fetchone()
        return int(row[0]) if row else 0
    except (sqlite3.DatabaseError, ValueError):
        return 0


def schema_of(connection: sqlite3.Connection) -> Schema:
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
    return dict(rows.fetchall())


@cache
def expected_schema(version: int) -> Schema:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for script in _scripts()[:version]:
            connection.executescript(script)
        return schema_of(connection)


def _copy_before(file: Path, version: int) -> None:
    """In place of that before an earlier migration. On another connection: the migrating one is in its transaction."""
    earlier = copies_before_migrations(file)
    new = file.with_name(f"{file.stem}-before-v{version}.db")
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        copy_to(connection, new)
    with suppress(OSError):  # one that cannot be deleted, locked in Finder perhaps, stays
        for each in earlier:
            if each != new:
                each.unlink()


def _statements(script: str) -> Iterator[str]:
    """Single statements, since `executescript` would end the transaction."""
    statement = ""
    for part in script.split(";"):
        statement += part + ";"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _scripts() -> list[str]:
    folder = files("app.storage") / "migrations"
    scripts = sorted((each for each in folder.iterdir() if each.name.endswith(".sql")), key=lambda each: each.name)
    return [script.read_text(encoding="utf-8") for script in scripts]
