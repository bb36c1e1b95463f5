"""What opening the storage does beside the chats: damaged files of long ago, and a run that may not write."""

from __future__ import annotations

import errno
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.storage import Database, NotStored, Opened, Reason, Stores, opening
from app.system.worker import JobPanicked
from tests.helpers.faulty_disk import Fault, failing, is_possible
from tests.helpers.storage_owner import Owner
from tests.helpers.trash import DAYS, nearly_overdue, on_day
from tests.helpers.zones import KIRIBATI, NEW_YORK, in_zone

DAY_S = 86_400


@pytest.fixture
def owner(path: Path) -> Iterator[Owner]:
    owner = Owner(path)
    yield owner
    assert owner.storage.close()


def damaged_file(folder: Path, age_days: float, tail: str = "") -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(time.time() - age_days * DAY_S))
    file = folder / f"chats-damaged-{stamp}{tail}.db"
    for each in (file, file.with_name(file.name + "-wal")):
        each.write_bytes(b"words")
    return file


def test_damaged_files_are_kept_as_long_as_the_trash(tmp_path: Path, owner: Owner) -> None:
    gone = [damaged_file(tmp_path, 31), damaged_file(tmp_path, 400, "-1")]
    on_day(-1, owner.open)
    kept = [damaged_file(tmp_path, 0), damaged_file(tmp_path, 0, "-2"), tmp_path / "chats-damaged-mine.db"]
    kept[-1].write_bytes(b"")
    assert all(file.exists() for file in gone)
    for day in range(DAYS):
        on_day(day, owner.open)
    assert not any(file.exists() or file.with_name(file.name + "-wal").exists() for file in gone)
    assert all(file.exists() for file in kept)


def test_a_damaged_file_goes_in_time_although_its_user_travels(tmp_path: Path, owner: Owner) -> None:
    file = damaged_file(tmp_path, 0)
    for day in range(DAYS + 8):
        with in_zone((NEW_YORK, KIRIBATI)[day % 2]):
            on_day(day, owner.open)
    assert not file.exists()


@pytest.mark.expect_log("stays until the next start")
def test_a_damaged_file_that_cannot_be_deleted_is_in_nobody_s_way(tmp_path: Path, owner: Owner) -> None:
    (tmp_path / "chats-damaged-20200101-000000.db").mkdir()
    for day in range(DAYS + 1):
        on_day(day, owner.open)
    assert isinstance(owner.open(), Opened)


@pytest.mark.expect_log("stays until the next start")
@pytest.mark.skipif(not is_possible(), reason="SQLite's library is not found")
def test_a_full_disk_keeps_what_is_overdue_and_no_start_out(tmp_path: Path, owner: Owner) -> None:
    with closing(Database(owner.storage.path)) as database:
        stores = Stores(database)
        stores.trash.put_chats([stores.chats.create("gone")])
        nearly_overdue(database)  # open, so that there is room for SQLite's own index
        with failing(Fault(frozenset({"pwrite64"}), at=1, number=errno.ENOSPC, persistent=True), tmp_path) as fault:
            assert isinstance(owner.open(), Opened)
        assert fault.was_met
    assert len(owner.storage.read.trash.marks()) == 1
    assert isinstance(owner.open(), Opened)
    assert not owner.storage.read.trash.marks()


def test_a_run_without_the_disk_has_chats_and_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "nothing"
    owner = Owner(folder / "chats.db")
    owner.storage.open_in_memory(owner.done, owner.done)
    assert isinstance(owner.settle(), Opened)
    assert not owner.storage.keeps
    chat = owner.write(lambda stores: stores.chats.create("here"))
    assert isinstance(chat, int)
    owner.write(lambda stores: stores.messages.add_user(chat, None, "said"))
    assert [message.text for message in owner.storage.read.messages.shown_branch(chat)] == ["said"]
    assert [each.id for each in owner.search("said")] == [chat]
    owner.storage.settle()
    assert owner.storage.close()
    assert not folder.exists()


@pytest.mark.expect_log("cannot be opened")
def test_a_file_that_is_locked_starts_in_memory(tmp_path: Path, owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply was cut, and its mark cannot be changed: the disk is full, or somebody holds the file."""
    path = owner.storage.path
    with closing(Database(path)) as database:
        stores = Stores(database)
        chat = stores.chats.create("cut")
        stores.messages.begin_reply(chat, stores.messages.add_user(chat, None, "Why?"), "Main", "")
    monkeypatch.setattr(opening, "BUSY_MS", 10)
    monkeypatch.setattr(opening, "_PRAGMAS", ("PRAGMA busy_timeout = 10", *opening._PRAGMAS[1:]))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        refused = owner.open()
        assert isinstance(refused, sqlite3.OperationalError)
        assert owner.storage.refusal(refused).reason is Reason.LOCKED
        owner.storage.open_in_memory(owner.done, owner.done)
        assert isinstance(owner.settle(), Opened)
        assert owner.storage.read.chats.find() == []
        new = owner.write(lambda stores: stores.chats.create("here"))
        assert [each.id for each in owner.storage.read.chats.find()] == [new]
    with closing(Database(path)) as database:
        assert [each.title for each in Stores(database).chats.find()] == ["cut"]


@pytest.mark.expect_log("was not stored")
def test_a_change_that_breaks_in_any_way_is_refused_and_the_next_is_made(owner: Owner) -> None:
    class Panic(BaseException):
        pass

    def breaks(stores: Stores) -> None:
        with stores.database.transaction():
            stores.chats.create("lost")
            raise Panic

    assert isinstance(owner.open(), Opened)
    owner.storage.write(breaks, owner.done, owner.done)
    with pytest.raises(JobPanicked):  # told as any other mistake of ours
        owner.settle()
    assert isinstance(owner.outcome, NotStored)
    owner.write(lambda stores: stores.chats.create("kept"))
    assert [each.title for each in owner.storage.read.chats.find()] == ["kept"]


@pytest.mark.expect_log("was gone")
@pytest.mark.parametrize("renamed", [False, True])
def test_a_file_that_is_gone_is_written_anew_by_the_next_change(tmp_path: Path, renamed: bool) -> None:
    home = tmp_path / "home"
    owner = Owner(home / "chats.db")
    owner.open()
    owner.write(lambda stores: stores.chats.create("before"))
    read = owner.storage.read
    if renamed:
        home.rename(tmp_path / "moved")
    else:
        owner.storage.path.unlink()  # its log stays
    owner.write(lambda stores: stores.chats.create("after"))
    assert {read.chats.summary(number).title for number in (1, 2)} == {"before", "after"}  # type: ignore[union-attr]
    assert owner.storage.close()
    with closing(Database(owner.storage.path)) as database:
        assert database.rescued is None
        assert len(Stores(database).chats.ids()) == 2


@pytest.mark.expect_log("was not stored")
def test_nothing_is_stored_in_a_file_that_another_one_has_replaced(tmp_path: Path, owner: Owner) -> None:
    other = tmp_path / "other.db"
    with closing(Database(other)) as database:
        Stores(database).chats.create("other")
    owner.open()
    owner.write(lambda stores: [stores.chats.create("ours") for _ in range(20)])
    other.replace(owner.storage.path)
    refused = owner.write(lambda stores: stores.chats.create("after"))
    assert isinstance(refused, NotStored)
    assert refused.reason is Reason.REPLACED
    assert owner.storage.close()
    with closing(Database(owner.storage.path)) as database:
        assert [Stores(database).chats.summary(number).title for number in Stores(database).chats.ids()] == ["other"]  # type: ignore[union-attr]
