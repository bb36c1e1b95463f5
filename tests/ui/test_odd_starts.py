"""Starts that find something else where their files are to be: there is a window, and it says what is wrong."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.storage import Database, NotOpened, Stores, opening
from app.storage.chats import QUICK_ASK
from app.storage.copies import copy_if_due
from app.storage.left_words import Left, LeftWords
from app.words.chat_groups import ChatGroup
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.reply_words import title_of
from tests.helpers.samples import fair

pytestmark = pytest.mark.expect_log(
    "settings", "token", "left", "log", "mark", "pairs", "database", "copy", "put aside", "opened", "stored", "search"
)

_GUARD_S = 20  # only so that a start that waits for ever fails instead of staying


@contextmanager
def guarded() -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(_GUARD_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def fifo(file: Path) -> None:
    os.mkfifo(file)


def folder(file: Path) -> None:
    (file / "inside").mkdir(parents=True)


def endless(file: Path) -> None:
    file.symlink_to("/dev/zero")


def huge(file: Path) -> None:
    with file.open("wb") as opened:
        opened.truncate(3_000_000_000)


def no_words(file: Path) -> None:
    file.write_bytes(b"\xff\0" * 1000)


class _Odd(AppHarness):
    """Puts something in the place of some files before the app starts."""

    def __init__(self, profile: Path, put: Callable[[Path], None], *names: str) -> None:
        self._names, self._put = names, put
        super().__init__(profile)

    def _prepare(self, values: object) -> None:
        super()._prepare(values)  # type: ignore[arg-type]
        for name in self._names:
            file = self.paths.data / name
            file.unlink(missing_ok=True)
            self._put(file)


def started(harness: AppHarness, qtbot: QtBot) -> list[str]:
    """Until the models load, or a refusal is told; returns the titles that the banner had meanwhile."""
    titles: list[str] = []
    application = harness.application
    application.window.banner.appeared.connect(lambda: titles.append(application.window.banner.title.text()))
    application.show()
    qtbot.waitUntil(lambda: application.is_open or title_of(NotOpened) in titles)
    return titles


@pytest.mark.costly
@pytest.mark.parametrize("put", [fifo, folder, endless, huge, no_words])
def test_odd_small_files_keep_no_chats_closed(tmp_path: Path, qtbot: QtBot, put: Callable[[Path], None]) -> None:
    small = ("settings.json", "hub_token", "running", "pairs.json", "unsent.txt", "left.json")
    with guarded(), _Odd(tmp_path, put, *small) as harness:
        titles = started(harness, qtbot)
        assert harness.application.is_open
        assert harness.application.storage.keeps
        assert "Some settings were reset" in titles


def chats_of(profile: Path) -> None:
    with closing(Database(profile / "data" / "chats.db")) as database:
        stores = Stores(database)
        stores.messages.add_user(stores.chats.create("kept"), None, "kept words")


@pytest.mark.parametrize(("put", "is_damaged"), [(fifo, True), (folder, False), (endless, False)])
def test_odd_files_of_sqlite_are_put_aside(
    tmp_path: Path, qtbot: QtBot, put: Callable[[Path], None], is_damaged: bool
) -> None:
    chats_of(tmp_path)
    if is_damaged:
        copy_if_due(tmp_path / "data" / "chats.db")
        with (tmp_path / "data" / "chats.db").open("r+b") as file:
            file.seek(100)
            file.write(b"\xff" * 20)
    with guarded(), _Odd(tmp_path, put, "chats.db-shm", "chats.db-wal", "chats.db-journal") as harness:
        started(harness, qtbot)
        assert harness.application.is_open
        rows = harness.application.storage.read.database.rows("SELECT text FROM messages")
        assert [row["text"] for row in rows] == ["kept words"]
        assert len(list(harness.paths.data.glob("chats.db-*-aside-*"))) == 3


@pytest.mark.parametrize("put", [fifo, folder, endless])
def test_something_else_in_place_of_the_chats(tmp_path: Path, qtbot: QtBot, put: Callable[[Path], None]) -> None:
    with guarded(), _Odd(tmp_path, put, "chats.db") as harness:
        harness.engine.close()  # which the app does not come to
        assert title_of(NotOpened) in started(harness, qtbot)


def test_chats_that_another_program_keeps(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    chats_of(tmp_path)
    monkeypatch.setattr(opening, "_OPENING_BUSY_MS", 77)
    with closing(sqlite3.connect(tmp_path / "data" / "chats.db", isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with guarded(), AppHarness(tmp_path) as harness:
            harness.engine.close()  # which the app does not come to
            assert title_of(NotOpened) in started(harness, qtbot)
            assert "locked" in harness.window.banner.sentence.text()


def test_a_slow_opening_is_told_until_it_ends(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on = threading.Event()
    look = opening.is_sound

    def slow(path: Path) -> bool:
        goes_on.wait()
        return look(path)

    monkeypatch.setattr(opening, "is_sound", slow)
    with AppHarness(tmp_path) as harness:
        banner = harness.window.banner
        harness.application._opening.setInterval(0)
        harness.application.show()
        qtbot.waitUntil(lambda: banner.title.text() == "Opening your chats…")
        goes_on.set()
        qtbot.waitUntil(lambda: harness.application.is_open)
        assert not banner.isVisible()


def test_a_start_deletes_what_a_write_left_that_was_killed(tmp_path: Path, qtbot: QtBot) -> None:
    with AppHarness(tmp_path) as harness:
        left = harness.paths.data / "settings.json.0123abcd.new"
        left.write_text("secret words")
        os.utime(left, (0, 0))
        harness.open(qtbot)
        qtbot.waitUntil(lambda: not left.exists())


def test_a_home_that_is_a_link(tmp_path: Path, qtbot: QtBot) -> None:
    """Also one that leads to another place by the next start, where the folder was moved to."""
    home, link = tmp_path / "disk", tmp_path / "home"
    home.mkdir()
    link.symlink_to(home)
    with open_app(link, qtbot) as harness:
        harness.ask(qtbot, "On another disk")
        assert harness.paths.data.is_relative_to(link)
    link.unlink()
    link.symlink_to(home.rename(tmp_path / "moved"))
    with open_app(link, qtbot) as harness:
        assert [row.title for row in harness.chats.conversations.rows if row.chat_id] == ["On another disk"]
    assert link.is_symlink()
    assert not home.exists()


@pytest.mark.expect_log("what was measured of the pair is not kept")  # where the reply ends after the move
@pytest.mark.parametrize(
    "behind", [lambda profile: profile / "data", lambda profile: profile], ids=["data", "a folder above"]
)
def test_a_data_folder_behind_a_link_is_moved_while_the_app_runs(
    tmp_path: Path, qtbot: QtBot, behind: Callable[[Path], Path]
) -> None:
    """What is written until the link leads to it again waits in its field."""
    disk, profile = tmp_path / "disk", tmp_path / "profile"
    disk.mkdir()
    link = behind(profile)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(disk)
    with open_app(profile, qtbot) as harness:
        harness.ask(qtbot, "Before")
        moved = disk.rename(tmp_path / "moved")
        harness.window.composer.edit.insertPlainText("Meanwhile")
        harness.press_return()
        qtbot.waitUntil(lambda: harness.window.banner.button.text() == "Try again")
        assert harness.window.composer.text() == "Meanwhile"
        assert not disk.exists()
        link.unlink()
        link.symlink_to(moved)
        QTest.mouseClick(harness.window.banner.button, Qt.MouseButton.LeftButton)
        harness.wait_until_quiet(qtbot)
        harness.ask(qtbot, "After")
        harness.chats.conversations.set_query("meanwhile")
        harness.wait_until_stored(qtbot)
        assert [row.title for row in harness.chats.conversations.rows if row.chat_id] == ["Before"]
    with open_app(profile, qtbot) as harness:
        (chat,) = harness.application.storage.read.chats.ids()
        asked = [each.text for each in harness.application.storage.read.messages.shown_branch(chat)][::2]
        assert asked == ["Before", "Meanwhile", "After"]
    assert link.is_symlink()


def test_what_was_just_asked_is_the_first_chat_although_the_clock_was_set_back(tmp_path: Path, qtbot: QtBot) -> None:
    with closing(Database(tmp_path / "data" / "chats.db")) as database, database.transaction():
        for number in range(150):
            Stores(database).chats.create(f"Chat {number}")
        database.execute("UPDATE chats SET updated_at = updated_at + ?", (365 * 86_400,))
    for question in ("Just now", "And again"):
        with open_app(tmp_path, qtbot) as harness:
            harness.ask(qtbot, question)
            heading, newest, following = harness.chats.conversations.rows[:3]
            assert (heading.group, newest.title, newest.chat_id) == (ChatGroup.TODAY, question, harness.chats.chat_id)
            assert following.title == ("Chat 149" if question == "Just now" else "Just now")


@pytest.mark.parametrize("place", fair(["database", "unsent.txt", "left.json"], "database"))
def test_megabytes_that_were_not_sent_wait_as_an_attachment(tmp_path: Path, qtbot: QtBot, place: str) -> None:
    """A field that gets them holds up the start."""
    long, short, data = "말\n" * 600_000, "half a thought", tmp_path / "data"
    with closing(Database(data / "chats.db")) as database:
        Stores(database).unsent.put(0, long if place == "database" else short)
        Stores(database).unsent.put(QUICK_ASK, long)
    if place == "unsent.txt":
        (data / place).write_text(long, "utf-8")
    elif place == "left.json":
        assert LeftWords(data / place).leave(Left(unsent={0: long}))
    with AppHarness(tmp_path) as harness:
        started(harness, qtbot)
        composer = harness.window.composer
        assert composer.text() == ""
        waiting = [row.attachment.text for row in composer.attached.rows if row.attachment]
        assert [text.strip() for text in waiting] in (
            [long.strip()] * 2,
            [long.strip(), f"{short}\n\n{long}".strip()],
        )
        assert not any((data / name).exists() for name in ("unsent.txt", "left.json"))
