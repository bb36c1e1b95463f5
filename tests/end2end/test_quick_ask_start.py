"""Quick Ask from outside: a later start with --quick-ask opens it in the Hunch that runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120

# The real program, which tells what it shows and ends when Quick Ask is shown.
_RUN = """
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from app import application
class Telling(application.Application):
    def __init__(self, *parts):
        super().__init__(*parts)
        self.opened.connect(lambda: print("open", flush=True))
        self.watch = QTimer(self, interval=20, timeout=self.look)
        self.watch.start()
    def look(self):
        if self.is_open and self.window.comfort.outside.quick_ask.edit.hasFocus():
            self.watch.stop()
            print("quick ask", self.window.comfort.outside.quick_ask.isVisible(), flush=True)
            self.window.close_at_once()
application.Application = Telling
sys.exit(application.run(Path(sys.argv[1]), len(sys.argv) > 2))
"""


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _RUN, str(folder), *more],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ.copy(),
    )


@pytest.mark.slow
def test_a_later_start_opens_it_in_the_first(tmp_path: Path) -> None:
    first = start(tmp_path)
    assert first.stdout is not None
    assert first.stdout.readline() == "open\n"
    second = subprocess.run(
        [sys.executable, "-m", "app", "--profile-dir", str(tmp_path), "--quick-ask"],
        cwd=ROOT,
        timeout=PATIENCE_S,
        check=False,
    )
    assert second.returncode == 0
    assert first.stdout.readline() == "quick ask True\n"
    assert first.wait(PATIENCE_S) == 0
    first.stdout.close()


@pytest.mark.slow
def test_a_first_start_opens_it_too(tmp_path: Path) -> None:
    only = start(tmp_path, "--quick-ask")
    assert only.stdout is not None
    assert only.stdout.readline() == "open\n"
    assert only.stdout.readline() == "quick ask True\n"
    assert only.wait(PATIENCE_S) == 0
    only.stdout.close()
