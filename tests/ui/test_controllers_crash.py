"""kill -9 in the middle of a reply: what is on disk afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from pytestqt.qtbot import QtBot

from app.view_models.transcript import ReplyStatus
from app.words.notices import NoticeAction
from tests.helpers.app_harness import AppHarness
from tests.helpers.controller_harness import open_harness
from tests.helpers.reply_words import notice_of

ROOT = Path(__file__).resolve().parents[2]


def test_kill_loses_nothing_that_was_saved(tmp_path: Path, qtbot: QtBot) -> None:
    stored = _run_and_kill(tmp_path, saves=2)
    with open_harness(tmp_path, qtbot) as harness:
        harness.chat.open_chat(1)
        question, reply = harness.rows
        assert (question.text, harness.titles()) == ("Count", ["Count"])
        assert reply.status is ReplyStatus.INTERRUPTED
        assert reply.can_continue
        assert notice_of(reply).action is NoticeAction.CONTINUE
        pieces = [int(piece) for piece in reply.text.split()]
        assert pieces == list(range(len(pieces)))
        assert len(pieces) >= stored > 0


def test_a_start_deletes_what_a_write_left_that_was_killed(tmp_path: Path, qtbot: QtBot) -> None:
    with AppHarness(tmp_path) as harness:
        left = harness.paths.data / "settings.json.0123abcd.new"
        left.write_text("secret words")
        os.utime(left, (0, 0))
        harness.open(qtbot)
        qtbot.waitUntil(lambda: not left.exists())


def _run_and_kill(folder: Path, saves: int) -> int:
    """How many pieces were stored when the program had said so `saves` times and was killed."""
    command = [sys.executable, "-m", "tests.helpers.crash_child", str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=os.environ.copy()) as child:
        assert child.stdout is not None
        stored = [int(child.stdout.readline()) for _ in range(saves)]
        child.kill()
    return stored[-1]
