"""Every byte of the file with the chats turned round, and the app started on it: its window opens, and shows the rest.

A start for each of some ten thousand bytes would take hours. So each is first read without a window, and the app is
started once for each different outcome: what was lost, what was logged, how much of it was saved.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.drills.test_damaged_files import LogRecorder, log  # noqa: F401  a fixture
from tests.helpers.app_harness import AppHarness
from tests.helpers.chat_files import SECRET, Seen, fill, look, wipe

pytestmark = pytest.mark.expect_log(".*")  # what is logged is looked at here

_NUMBERS = re.compile(r"\d+")

Outcome = tuple[Seen | str, tuple[str, ...]]


def one_place_an_outcome(folder: Path, log: LogRecorder, places: Sequence[int]) -> Iterator[int]:  # noqa: F811
    """The first byte of each outcome; an error in reading is an outcome, too."""
    path = folder / "chats.db"
    fill(path)
    whole, met = path.read_bytes(), set[Outcome]()
    for at in places or range(len(whole)):
        wipe(path)
        path.write_bytes(turned_round(whole, at))
        log.heard.clear()
        seen: Seen | str
        try:
            seen = look(path)
        except Exception as error:  # noqa: BLE001  whatever it is, the window must live with it
            seen = type(error).__name__
        outcome = seen, tuple(_NUMBERS.sub("", line.splitlines()[0]) for line in log.heard)
        if outcome not in met:
            met.add(outcome)
            yield at


def turned_round(whole: bytes, at: int) -> bytes:
    damaged = bytearray(whole)
    damaged[at] ^= 0xFF
    return bytes(damaged)


def start(folder: Path, qtbot: QtBot, log: LogRecorder, at: int) -> None:  # noqa: F811
    """It opens, says what it saved in figures, shows both chats, takes a new message, and tells the log no words."""
    log.heard.clear()
    with AppHarness(folder) as harness:
        texts = fill(harness.paths.database)
        harness.paths.database.write_bytes(turned_round(harness.paths.database.read_bytes(), at))
        harness.open(qtbot)
        harness.wait_until_stored(qtbot)
        banner, shown = harness.window.banner, set[str]()
        assert SECRET not in banner.accessibleName() + banner.sentence.text(), f"byte {at}"
        chats = [row.chat_id for row in harness.chats.conversations.rows if row.chat_id]
        for chat in chats:
            harness.chats.open_chat(chat)
            harness.wait_until_stored(qtbot)
            shown |= {message.text for message in harness.chats.transcript.messages}
        assert len(chats) >= 2, f"byte {at}"
        assert len(texts - shown) <= 1, f"byte {at}"
        assert harness.ask(qtbot, "Still there?"), f"byte {at}"
    assert not [line for line in log.heard if SECRET in line], f"byte {at}"


def run(folder: Path, qtbot: QtBot, log: LogRecorder, places: Sequence[int]) -> int:  # noqa: F811
    starts = 0
    for at in one_place_an_outcome(folder / "read", log, places):
        print(f"byte {at}")  # noqa: T201  what a failure happened at
        start(folder / "started", qtbot, log, at)
        shutil.rmtree(folder / "started")
        starts += 1
    return starts


@pytest.mark.drill
def test_every_outcome_of_a_byte_turned_round(tmp_path: Path, qtbot: QtBot, log: LogRecorder) -> None:  # noqa: F811
    starts = run(tmp_path, qtbot, log, ())
    print(f"{starts} outcomes")  # noqa: T201  the drill's report
    assert starts > 10


def test_some_outcomes(tmp_path: Path, qtbot: QtBot, log: LogRecorder) -> None:  # noqa: F811
    assert run(tmp_path, qtbot, log, [18, 28, 4096 * 3 + 2000, 4096 * 6 + 3])
