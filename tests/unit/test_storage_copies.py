"""The copies of the database: when one is made, how many stay, and what leaves them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections import namedtuple
from contextlib import closing
from pathlib import Path

import pytest

from app.storage import Database, Pictures, Purged, Stores
from app.storage.copies import copies_of, copy_if_due, copy_to, forget_in_copies
from tests.helpers.chat_files import fill as fill_two

HOUR_S = 3600
DAY_S = 86_400
NOON = 1_800_000_000 // DAY_S * DAY_S + DAY_S // 2

Usage = namedtuple("Usage", "total used free")


def fill(path: Path) -> None:
    fill_two(path, chats=3, messages=40, words=40)


def change_at(path: Path, moment: float, monkeypatch: pytest.MonkeyPatch) -> None:
    os.utime(path, (moment, moment))
    monkeypatch.setattr(time, "time", lambda: moment + 60)
    copy_if_due(path)


def hours_ago(path: Path) -> list[float]:
    return [(NOON - copy.stat().st_mtime) / HOUR_S for copy in copies_of(path)]


def test_a_copy_an_hour_while_something_changes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)
    for minutes in (0, 30, 58, 61, 100, 123):
        change_at(path, NOON + minutes * 60, monkeypatch)
    assert [copy.stat().st_mtime - NOON for copy in copies_of(path)] == [0, 61 * 60, 123 * 60]
    monkeypatch.setattr(time, "time", lambda: NOON + 3.0 * DAY_S)
    copy_if_due(path)
    assert len(copies_of(path)) == 3, "nothing was changed"


def test_a_copy_has_everything_and_is_one_file(path: Path) -> None:
    fill(path)
    with closing(Database(path)) as database:
        Stores(database).messages.add_user(1, None, "in the log")
        copy_if_due(path)
    (copy,) = copies_of(path)
    with closing(sqlite3.connect(f"file:{copy}?mode=ro", uri=True)) as opened:
        assert opened.execute("SELECT count(*) FROM messages").fetchone()[0] == 121
    assert list(copy.parent.iterdir()) == [copy]


def test_the_newest_of_24_hours_and_14_days_are_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)
    for hour in range(-20 * 24, 1, 3):
        change_at(path, NOON + hour * HOUR_S, monkeypatch)
    kept = hours_ago(path)
    assert kept[-24:] == [3.0 * number for number in reversed(range(24))]
    assert len({(NOON - hours * HOUR_S) // DAY_S for hours in kept}) == 14
    assert len(kept) == 24 + 14 - 4, "the last hours are of four days"


def test_copies_take_no_more_than_a_twentieth_of_the_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)
    size = path.stat().st_size
    total = 20 * (3 * size + 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(total, 0, total))
    for hour in range(-10, 1):
        change_at(path, NOON + hour * HOUR_S, monkeypatch)
    assert hours_ago(path) == [2, 1, 0]


@pytest.mark.parametrize(("total", "free"), [(1 << 40, 1), (20, 1 << 40)])
def test_a_copy_without_room_takes_none(path: Path, monkeypatch: pytest.MonkeyPatch, total: int, free: int) -> None:
    fill(path)
    size = path.stat().st_size
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(total * (size - 1), 0, free * size))
    with pytest.raises(OSError, match="No space"):
        copy_if_due(path)
    assert copies_of(path) == []


def test_a_clock_that_jumps_leaves_the_copy_of_another_day(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)
    change_at(path, NOON, monkeypatch)
    for start in range(60):
        change_at(path, (NOON + 9 * DAY_S, NOON - 9 * DAY_S)[start % 2] + start, monkeypatch)
    assert sorted(hours_ago(path)) == [-9 * 24, 0, pytest.approx(9 * 24, abs=1)]


def test_a_copy_that_fails_leaves_nothing(path: Path) -> None:
    path.write_bytes(b"no database" * 1000)
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.DatabaseError):
        copy_to(connection, path.with_name("copy.db"))
    assert list(path.parent.iterdir()) == [path]


def test_a_copy_does_not_wait_for_another_program(path: Path) -> None:
    fill(path)
    with (
        closing(sqlite3.connect(path, isolation_level=None)) as other,
        closing(sqlite3.connect(path, timeout=0)) as connection,
    ):
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(BlockingIOError):
            copy_to(connection, path.with_name("copy.db"))
    assert not list(path.parent.glob("copy*"))


@pytest.mark.expect_log("pictures that no row names stay")
@pytest.mark.parametrize("damaged", [False, True])
def test_what_a_copy_names_stays_and_goes_with_it(path: Path, damaged: bool) -> None:
    """So whoever puts a copy in the database's place has its pictures too; one that cannot be read may name any."""
    fill(path)
    pictures = Pictures(path)
    digest = pictures.put(b"picture")
    pictures.give_up(digest)
    with closing(Database(path)) as database:
        change = "UPDATE messages SET parts = ? WHERE id = 7"
        database.execute(change, (f'[{{"digest": "{digest}"}}]',))
        copy_if_due(path)
        (copy,) = copies_of(path)
        database.execute(change, (None,))
        if damaged:
            copy.write_bytes(b"no database" * 1000)
        pictures.sweep(database)
        assert pictures.get(digest) == b"picture"
        copy.unlink()
        pictures.sweep(database)
        assert pictures.get(digest) is None


@pytest.mark.parametrize("damaged", [False, True])
def test_pictures_stay_while_what_is_not_in_the_database_may_name_them(path: Path, damaged: bool) -> None:
    """What was left of an earlier run, or a damaged database that is kept."""
    fill(path)
    pictures, kept = Pictures(path), path.with_name(f"{path.stem}-damaged-20260101-000000.db")
    digest = pictures.put(b"picture")
    pictures.give_up(digest)
    if damaged:
        kept.write_bytes(b"damaged")
    else:
        pictures.keep_all()
    with closing(Database(path)) as database:
        pictures.sweep(database)
        assert pictures.get(digest) == b"picture"
        pictures = Pictures(path)
        kept.unlink(missing_ok=True)
        pictures.sweep(database)
        assert pictures.get(digest) is None


@pytest.mark.expect_log("a copy could not be cleaned and is deleted")
def test_a_copy_that_is_busy_stays_until_it_can_be_cleaned(path: Path) -> None:
    """Its words are the last ones of a file that may break; a copy that is no database is deleted."""
    fill(path)
    copy_if_due(path)
    os.utime(copies_of(path)[0], (0, 0))
    copy_if_due(path)
    held, other = copies_of(path)
    broken = held.with_name("chats-000009.db")
    broken.write_bytes(b"no database" * 100)
    purged, times = Purged(chats=(2,)), [copy.stat().st_mtime for copy in (held, other)]
    with closing(sqlite3.connect(held, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError):
            forget_in_copies(path, purged)
    assert copies_of(path) == [held, other]
    assert [b"chat 2" in copy.read_bytes() for copy in (held, other)] == [True, False]
    forget_in_copies(path, purged)
    assert b"chat 2" not in held.read_bytes()
    assert [copy.stat().st_mtime for copy in (held, other)] == times  # else all would be of one hour
    for copy in (held, other):
        with closing(sqlite3.connect(copy)) as kept:  # its messages are gone as well, and no other chat's
            assert kept.execute("SELECT count(*) FROM messages").fetchone()[0] == 80
