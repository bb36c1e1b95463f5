"""The end of the process: nothing that fails or hangs in it keeps a process without a window alive."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.end2end import process as processes
from tests.end2end.process import PATIENCE_S, finished, said

# The app with one part replaced by what stands in %s; says when it is open.
_RUN = """
import sys, threading
from pathlib import Path

import pytest
from app import application
from app.storage import Storage
from app.settings import Settings
from app.system.crash_marker import SessionMark
from app.system.only_instance import OnlyInstance
application.END_S = 3.0
class Telling(application.Application):
    def __init__(self, *parts):
        super().__init__(*parts, starter=Path(sys.argv[1]) / "none")
        self.opened.connect(lambda: print("open", flush=True))
        self.ending.connect(lambda: print("ending", flush=True))
application.Application = Telling
def fails(*_):
    raise OSError(28, "No space left on device")
def hangs(*_):
    threading.Event().wait()
%s
sys.exit(application.run(Path(sys.argv[1])))
"""


@contextmanager
def running(fault: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    with processes.running(_RUN % fault, folder, stderr=subprocess.DEVNULL) as process:
        assert said(process) == "open\n"
        yield process


@pytest.mark.slow
def test_a_step_that_hangs_ends_with_the_process(tmp_path: Path) -> None:
    with running("Storage.close = hangs", tmp_path) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 1
    assert "did not end" in (tmp_path / "logs" / "hunch.log").read_text(encoding="utf-8")


def test_neither_steps_that_fail_nor_an_engine_or_a_scan_that_goes_on_keep_the_process(tmp_path: Path) -> None:
    """A scan of a disk that does not answer, say."""
    stuck = """
from engine.hub import library
Storage.close = Settings.save = SessionMark.end = fails
def works_on(self, timeout_s=0):
    threading.Thread(target=hangs).start()
    return False
application.Engine.close = works_on
application.STORE_END_S = 0.1
is_open = threading.Event()
def scan(*_):
    is_open.wait()
    print("scanning", flush=True)
    hangs()
library.scan = scan
begin = Telling.__init__
def tell(self, *parts):
    begin(self, *parts)
    self.opened.connect(is_open.set)
Telling.__init__ = tell
"""
    with running(stuck, tmp_path) as process:
        assert said(process) == "scanning\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    log = (tmp_path / "logs" / "hunch.log").read_text(encoding="utf-8")
    assert "the engine did not end" in log
    assert "the downloads did not end" in log


def test_a_hub_whose_name_nobody_looks_up_does_not_keep_an_app_without_a_window(
    tmp_path: Path,
) -> None:
    """Which the system wishes to quit: its window was closed, and its icon beside the clock is left."""
    beside_the_clock = """
import socket
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QSystemTrayIcon
look_up, looked_up = socket.getaddrinfo, threading.Semaphore(0)
def stuck(host, *rest, **options):
    if host != "hub.example":
        return look_up(host, *rest, **options)
    looked_up.release()
    hangs()
socket.getaddrinfo = stuck
QSystemTrayIcon.isVisible = lambda icon: True
begin = Telling.__init__
def tell(self, *parts):
    begin(self, *parts)
    self.settings.hub_endpoint = "http://hub.example"
    self.settings.tray_icon = True
    self.opened.connect(self.leave)
def leave(self):
    self.models.install("org/model")
    self.models.discover.read_page("org/model")
    for _ in range(2):
        looked_up.acquire()
    self.window.close()
    print(self.window.isVisible(), self.has_window(), flush=True)
    QCoreApplication.postEvent(QCoreApplication.instance(), QEvent(QEvent.Type.Quit))
Telling.__init__, Telling.leave = tell, leave
"""
    with running(beside_the_clock, tmp_path) as process:
        assert [said(process) for _ in range(2)] == ["False True\n", "ending\n"]
        assert process.wait(PATIENCE_S) == 0
    assert "did not end" not in (tmp_path / "logs" / "hunch.log").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("hangs()", 1),
        ("re.match('(a+)+b', 'a' * 99)", -signal.SIGALRM),  # runs handlers of signals, and no other thread
        ("sum(itertools.repeat(0))", -signal.SIGALRM),  # not even those
    ],
)
def test_a_signal_ends_a_window_that_hangs(tmp_path: Path, what: str, code: int) -> None:
    freeze = f"""
import itertools, re
from PySide6.QtCore import QTimer
Telling_init = Telling.__init__
def freeze():
    print("frozen", flush=True)
    {what}
def freezing(self, *parts):
    Telling_init(self, *parts)
    self.opened.connect(lambda: QTimer.singleShot(0, freeze))
Telling.__init__ = freezing
"""
    with running(freeze, tmp_path) as process:
        assert said(process) == "frozen\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == code


@pytest.mark.parametrize(("former", "ends"), [("SIG_DFL", True), ("SIG_IGN", False)], ids=["terminal", "nohup"])
def test_a_terminal_that_is_closed_closes_the_app_it_started(tmp_path: Path, former: str, ends: bool) -> None:
    """Else the next start says that Hunch quit unexpectedly. By nohup the app outlives it."""
    with running(f"import signal\nsignal.signal(signal.SIGHUP, signal.{former})", tmp_path) as process:
        process.send_signal(signal.SIGHUP)
        if not ends:
            process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    assert not (tmp_path / "data" / "running").exists()


@pytest.mark.slow
def test_a_start_does_not_hand_over_to_a_process_that_is_ending(tmp_path: Path) -> None:
    """It waits until that one has gone, and opens a window of its own."""
    slow = """
def slow(self, *_):
    threading.Event().wait(2)
    return True
Storage.close = slow
"""
    with running(slow, tmp_path) as first:
        first.send_signal(signal.SIGTERM)
        assert said(first) == "ending\n"
        with running("", tmp_path) as second:
            assert first.wait(PATIENCE_S) == 0
            second.send_signal(signal.SIGTERM)
            assert second.wait(PATIENCE_S) == 0


@pytest.mark.slow
def test_what_was_copied_does_not_crash_the_end(tmp_path: Path) -> None:
    """Qt's clipboard deletes it after Python has ended."""
    copies = """
opened = Telling._on_storage_open
def copy(self, found):
    edit = self.window.composer.edit
    edit.set_text("some words")
    edit.selectAll()
    edit.copy()
    opened(self, found)
Telling._on_storage_open = copy
"""
    with running(copies, tmp_path) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0


def test_an_interrupt_before_there_is_a_window_ends_it_without_a_word() -> None:
    """Within Qt's imports a KeyboardInterrupt aborts the process, or is lost."""
    code = """
import os, signal
from app.__main__ import main
from app.system import platform_check
platform_check.qt_problem = lambda: os.kill(os.getpid(), signal.SIGINT)
main([])
"""
    done = finished(code)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")
