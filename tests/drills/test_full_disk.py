"""The app on a small disk of its own that is full before each thing that it stores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.storage import Database
from app.view_models.transcript import ReplyStatus
from app.views.shell.kept_words import unsaved
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import Script
from tests.helpers.faulty_disk import mounted

pytestmark = pytest.mark.expect_log(
    "was not stored",
    "cannot be opened",
    "cannot be saved",
    "a copy could not be made",
    "what was measured of the pair is not kept",
)

_DISK_BYTES = 3 << 20
_LONG = "precious words " * 20_000  # more than the free pages that SQLite may still have, and its log


class Disk:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self) -> None:
        with suppress(OSError), self._filler.open("ab", buffering=0) as file:
            while file.write(b"\0" * 4096):
                pass

    def make_room(self) -> None:
        self._filler.unlink(missing_ok=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with mounted(tmp_path / "disk", f"size={_DISK_BYTES}") as folder:
        yield Disk(folder)


def texts_on_disk(disk: Disk) -> list[str]:
    with closing(Database(disk.folder / "data" / "chats.db")) as database:
        return [row["text"] for row in database.rows("SELECT text FROM messages ORDER BY id")]


def send(harness: AppHarness, text: str) -> None:
    harness.window.composer.set_text(text)
    QTest.keyClick(harness.window.composer.edit, Qt.Key.Key_Return)


def try_again(harness: AppHarness) -> None:
    QTest.mouseClick(harness.window.banner.button, Qt.MouseButton.LeftButton)


def test_full_before_the_start(disk: Disk, qtbot: QtBot) -> None:
    with AppHarness(disk.folder) as harness:
        disk.fill()
        harness.application.show()
        qtbot.waitUntil(harness.window.banner.isVisible)
        assert "is full" in harness.window.banner.sentence.text()
        send(harness, "typed meanwhile")
        assert harness.window.composer.text() == "typed meanwhile"
        disk.make_room()
        with qtbot.waitSignal(harness.application.opened):
            try_again(harness)
        QTest.keyClick(harness.window.composer.edit, Qt.Key.Key_Return)
        harness.wait_until_quiet(qtbot)
        harness.close()
        assert texts_on_disk(disk)[0] == "typed meanwhile"


@pytest.mark.parametrize("closes", [False, True])
def test_full_while_a_reply_is_written_and_ends(disk: Disk, qtbot: QtBot, closes: bool) -> None:
    with open_app(disk.folder, qtbot) as harness:
        harness.engine.scripts.append(Script(pieces=(_LONG, "and the end")))
        harness.engine.gate.hold()
        send(harness, "Story")
        qtbot.waitUntil(lambda: harness.chats.generating)
        disk.fill()
        harness.engine.gate.open()
        qtbot.waitUntil(lambda: harness.chats.transcript.messages[-1].status is ReplyStatus.UNSAVED)
        reply = harness.chats.transcript.messages[-1]
        assert (reply.text, reply.status) == (_LONG + "and the end", ReplyStatus.UNSAVED)
        if closes:  # it says what would be lost, and ends all the same when it is asked again
            harness.window.close()
            assert harness.window.isVisible()
            assert harness.window.banner.title.text() == unsaved().title
        else:
            disk.make_room()
            qtbot.waitUntil(lambda: harness.chats.transcript.messages[-1].status is ReplyStatus.DONE)
            banner = harness.window.banner
            while banner.isVisible():  # nothing is left to be tried, nor said below what came later
                assert banner.title.text() != "Not saved; your text is kept"
                banner.close_button.click()
        with qtbot.waitSignal(harness.application.ended):
            harness.window.close()
        harness.close()
        disk.make_room()
        on_disk = texts_on_disk(disk)
        assert on_disk[0] == "Story"
        if not closes:
            assert on_disk[1] == _LONG + "and the end"
            return
    with AppHarness(disk.folder) as harness:  # what did not fit is gone, as was said, and the reply is marked so
        harness.open(qtbot)
        harness.chats.open_chat(next(row.chat_id for row in harness.chats.conversations.rows if row.chat_id))
        question, reply = harness.chats.transcript.messages
        assert (question.text, reply.status) == ("Story", ReplyStatus.INTERRUPTED)
        assert (_LONG + "and the end").startswith(reply.text)


def test_full_while_settings_change(disk: Disk, qtbot: QtBot) -> None:
    """A preset and a pair's switch are on the disk as soon as it has room, also where nobody changes anything more."""
    with open_app(disk.folder, qtbot) as harness:
        harness.wait_until_stored(qtbot)
        disk.fill()
        settings, banner, paths = harness.application.settings, harness.window.banner, harness.paths
        settings.system_prompt = _LONG
        settings.presets = ({"id": "a", "name": "Mine", "values": {}},)
        harness.models.set_off_for_pair(True)
        qtbot.waitUntil(lambda: banner.isVisible() and banner.title.text() == "Settings not saved")
        disk.make_room()
        qtbot.waitUntil(lambda: json.loads(paths.settings.read_text()).get("presets") == list(settings.presets))
        qtbot.waitUntil(lambda: '"off": true' in paths.pairs.read_text() if paths.pairs.exists() else False)
        qtbot.waitUntil(lambda: banner.isHidden() or banner.title.text() != "Settings not saved")
        assert json.loads(paths.settings.read_text())["system_prompt"] == _LONG


def test_full_before_closing(disk: Disk, qtbot: QtBot) -> None:
    with open_app(disk.folder, qtbot) as harness:
        harness.ask(qtbot, "Kept")
        disk.fill()
        harness.window.composer.set_text(_LONG)
        harness.window.close()  # what was typed just now is on the screen only: that is said first
        assert harness.window.isVisible()
        assert harness.window.banner.title.text() == unsaved().title
        with qtbot.waitSignal(harness.application.ended):
            harness.window.close()
        harness.close()
        with suppress(FileNotFoundError):
            disk.make_room()
        assert texts_on_disk(disk)[0] == "Kept"
