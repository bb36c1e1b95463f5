"""Damage to the file with the chats: every byte of it and of its log turned round, beside a copy and alone."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.storage import Database, Stores
from app.storage.copies import copy_if_due
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.chat_files import PAGE_BYTES, SECRET, fill, look, wipe
from tests.helpers.samples import drilled

pytestmark = pytest.mark.expect_log("the database was damaged")

_STEP = int(os.environ.get("DRILL_STEP", "1"))  # every byte takes minutes
_SAMPLE = 9601  # a prime, so that the sample meets every kind of place


class LogRecorder(logging.Handler):
    """Everything that is logged, with all that stands behind it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(self.format(record))


@pytest.fixture
def log() -> Iterator[LogRecorder]:
    log = LogRecorder()
    logging.getLogger().addHandler(log)
    yield log
    logging.getLogger().removeHandler(log)


@pytest.mark.parametrize(
    ("mask", "step"),
    [*drilled(product([0xFF, *(1 << bit for bit in range(8))], [_STEP])), (0xFF, _SAMPLE), (4, _SAMPLE)],
)
def test_bytes_and_bits_turned_round(tmp_path: Path, log: LogRecorder, mask: int, step: int) -> None:
    """A byte costs no words that the copy has; a message with a wrong parent is in another version of the chat."""
    path = tmp_path / "chats.db"
    texts = fill(path, messages=20, words=80)
    copy_if_due(path)
    whole = path.read_bytes()
    for at in range(0, len(whole), step):
        wipe(path)
        damaged = bytearray(whole)
        damaged[at] ^= mask
        path.write_bytes(damaged)
        seen = look(path)
        lost = [text[:12] for text in texts - seen.versions]
        assert len(lost) <= 1, f"byte {at} by {mask}: {lost}"  # a letter of it that SQLite cannot know is wrong
        assert len(seen.titles) >= 2, f"byte {at} by {mask}: {seen.titles}"
    assert not [line for line in log.heard if SECRET in line]


@pytest.mark.parametrize("step", [*drilled([(17,)]), 4001])
def test_bytes_of_the_log_turned_round(tmp_path: Path, step: int) -> None:
    """A byte of the log costs the change that it is in and those after it, and nothing before them."""
    path = tmp_path / "chats.db"
    texts = fill(path)
    database = Database(path)
    stores = Stores(database)
    written = [f"{SECRET} logged {number} " + "word " * 40 for number in range(12)]
    for text in written:
        stores.messages.add_user(1, stores.chats.leaf(1), text)
    log = path.with_name("chats.db-wal")
    whole = path.read_bytes()
    logged = log.read_bytes()
    database.close()
    for at in range(0, len(logged), step):
        wipe(path)
        damaged = bytearray(logged)
        damaged[at] ^= 0xFF
        path.write_bytes(whole)
        log.write_bytes(damaged)
        seen = look(path).texts
        found = [text for text in written if text in seen]
        assert texts <= seen, f"byte {at} of the log"
        assert found == written[: len(found)], f"byte {at} of the log"
        assert len(found) / len(written) >= at / len(logged) - 0.4, f"byte {at} of the log"


# A header that forbids writing, one that is lost, a schema, pages of rows.
@pytest.mark.parametrize("place", [0, 18, 60, PAGE_BYTES + 8, 5 * PAGE_BYTES + 4080, 9 * PAGE_BYTES])
def test_a_start_with_a_damaged_file_ends_in_an_open_window(
    tmp_path: Path, qtbot: QtBot, log: LogRecorder, place: int
) -> None:
    """It says once, in figures, what was saved, and shows no word of a chat there."""
    with AppHarness(tmp_path) as harness:
        path = harness.paths.database
        texts = fill(path)
        copy_if_due(path)
        damaged = bytearray(path.read_bytes())
        damaged[place : place + 40] = bytes(255 - byte for byte in damaged[place : place + 40])
        path.write_bytes(damaged)
        harness.open(qtbot)
        assert "Messages recovered" in harness.window.banner.sentence.text()
        assert SECRET not in harness.window.banner.accessibleName()
        harness.wait_until_stored(qtbot)
        assert harness.ask(qtbot, "Still there?")
    assert len(texts - look(path).texts) <= 2
    kept = [file.read_bytes() for file in path.parent.glob("chats-damaged-*.db")]
    assert kept == [bytes(damaged)]
    with open_app(tmp_path, qtbot) as again:
        assert not again.window.banner.isVisible()
    assert not [line for line in log.heard if SECRET in line]
