"""Quick Ask from outside: a later start with --quick-ask opens it in the Hunch that runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.project import ROOT
from tests.end2end.process import PATIENCE_S, running, said

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
        if self.is_open and self.window.tools.desktop.quick_ask.edit.hasFocus():
            self.watch.stop()
            print("quick ask", self.window.tools.desktop.quick_ask.isVisible(), flush=True)
            self.window.close_at_once()
application.Application = Telling
sys.exit(application.run(Path(sys.argv[1]), len(sys.argv) > 2))
"""


@pytest.mark.slow
def test_a_later_start_opens_it_in_the_first(tmp_path: Path) -> None:
    with running(_RUN, tmp_path) as first:
        assert said(first) == "open\n"
        second = [sys.executable, "-m", "app", "--profile-dir", str(tmp_path), "--quick-ask"]
        assert subprocess.run(second, cwd=ROOT, timeout=PATIENCE_S, check=False).returncode == 0
        assert said(first) == "quick ask True\n"
        assert first.wait(PATIENCE_S) == 0


@pytest.mark.slow
def test_a_first_start_opens_it_too(tmp_path: Path) -> None:
    with running(_RUN, tmp_path, "--quick-ask") as only:
        assert [said(only), said(only)] == ["open\n", "quick ask True\n"]
        assert only.wait(PATIENCE_S) == 0
