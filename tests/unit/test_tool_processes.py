"""Finding the processes of a tool server, by what Linux and macOS show, and ending them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from app.tools import processes
from app.tools.processes import MARK, Process, end_family, family, is_child, parse_ps
from tests.helpers.tool_hosts import runs, wait_until

_PS = f"""
    1     0     1 Thu Nov 26 08:00:01 2026     /sbin/launchd
  501   400   501 Sat Nov 28 12:36:25 2026     node server.js HOME=/Users/me {MARK}=00ff.1. PATH=/bin
  502   501   501 Sat Nov 28 12:36:26 2026     (sh)
  503     1   503 Sat Nov 28 12:36:27 2026     daemon {MARK}=00ff.12.
  bad line
"""


def test_lines_of_macos_are_read() -> None:
    assert parse_ps(_PS, "00ff.1.") == [
        Process(1, 0, 1, "Thu Nov 26 08:00:01 2026", False),
        Process(501, 400, 501, "Sat Nov 28 12:36:25 2026", True),
        Process(502, 501, 501, "Sat Nov 28 12:36:26 2026", False),
        Process(503, 1, 503, "Sat Nov 28 12:36:27 2026", False),
    ]
    assert [each.marked for each in parse_ps(_PS, "00ff.")] == [False, True, False, True]
    assert not any(each.marked for each in parse_ps(_PS, ""))


def test_descendants_groups_and_noted_ones_belong_together(monkeypatch: pytest.MonkeyPatch) -> None:
    running = [
        Process(os.getpid(), 1, os.getpgrp(), "0", True),
        Process(10, os.getpid(), 10, "1", True),
        Process(11, 10, 10, "2", False),
        Process(12, 11, 12, "3", False),
        Process(13, 1, 12, "4", False),
        Process(14, 1, 14, "5", False),
        Process(15, 1, 15, "6", False),
        Process(16, 14, os.getpgrp(), "7", False),
        Process(17, 1, os.getpgrp(), "8", False),
    ]
    monkeypatch.setattr(processes, "_running", lambda _: running)
    assert family("m.", {}) == {10: "1", 11: "2", 12: "3", 13: "4"}
    assert family("m.", {14: "5", 15: "of another time"}).keys() == {10, 11, 12, 13, 14, 16}
    assert is_child("m.", os.getpid())
    assert not is_child("m.", 9)


def test_all_with_a_mark_are_ended() -> None:
    mark = f"{os.getpid():016x}."
    stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(1000)"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env=os.environ | {MARK: f"{mark}{number}."},
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        for number, code in enumerate((stubborn, "import time; print(flush=True); time.sleep(1000)"))
    ]
    for each in started:
        assert each.stdout is not None
        with each.stdout:
            each.stdout.readline()
    assert family(f"{mark}1.", {}).keys() == {started[1].pid}
    assert family(mark, {}).keys() == {each.pid for each in started}
    assert end_family(mark, {}, 0.2) == {}
    assert [each.wait() for each in started] == [-signal.SIGKILL, -signal.SIGTERM]
    wait_until(lambda: not any(runs(each.pid) for each in started), "they go on")
