"""kill -9 in the middle of a reply: what is on disk afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.controllers.replies import SAVE_INTERVAL_MS
from app.view_models.transcript import ReplyStatus
from app.words.notices import NoticeAction
from tests.helpers.desk import open_desk
from tests.helpers.reply_words import notice_of

ROOT = Path(__file__).resolve().parents[2]
# Saves are 400 ms apart; the rest is for a machine that runs other things than the child.
MOST_LOST_S = SAVE_INTERVAL_MS / 1000 + 0.6


@pytest.mark.parametrize("pieces", [45, 80])
def test_kill_loses_at_most_half_a_second_of_the_reply(pieces: int, tmp_path: Path, qtbot: QtBot) -> None:
    assert SAVE_INTERVAL_MS <= 500
    came_at, killed_at = _run_and_kill(tmp_path, pieces)
    with open_desk(tmp_path, qtbot) as desk:
        desk.chat.open_chat(1)
        question, reply = desk.rows
        assert (question.text, desk.titles()) == ("Count", ["Count"])
        assert reply.status is ReplyStatus.INTERRUPTED
        assert reply.can_continue
        assert notice_of(reply).action is NoticeAction.CONTINUE
        saved = [int(piece) for piece in reply.text.split()]
        assert saved == list(range(len(saved)))
        first_lost = came_at[len(saved)] if len(saved) < len(came_at) else killed_at
        assert killed_at - first_lost <= MOST_LOST_S


def _run_and_kill(folder: Path, pieces: int) -> tuple[list[float], float]:
    """When each piece came, and when the program was killed."""
    command = [sys.executable, "-m", "tests.helpers.crash_child", str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=os.environ.copy()) as child:
        assert child.stdout is not None
        came_at = [float(child.stdout.readline().split()[0]) for _ in range(pieces)]
        child.kill()
        killed_at = time.monotonic()
        rest = [line.split() for line in child.stdout.read().splitlines()]
    return came_at + [float(line[0]) for line in rest if len(line) == 2], killed_at
