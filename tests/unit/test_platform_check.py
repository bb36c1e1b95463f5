"""What a person reads when Qt cannot start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from app.system import platform_check
from tests.architecture.project import ROOT


def test_machine_that_runs_these_tests_has_no_problem() -> None:
    assert platform_check.qt_problem() is None


def test_a_library_that_no_screen_plugin_finds_is_named_in_one_line() -> None:
    from PySide6 import QtCore

    problem_of, missing = platform_check._screen_problem, Path("/nowhere/libno-such-plugin.so")
    assert problem_of([missing, Path(QtCore.__file__)]) is None  # one that loads is enough
    problem = problem_of([missing])
    assert problem is not None
    assert problem.startswith("Qt cannot start here: /nowhere/libno-such-plugin.so: cannot open shared object file")
    assert "\n" not in problem


def test_command_prints_the_line_and_fails(tmp_path: Path) -> None:
    package = tmp_path / "PySide6"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "QtNetwork.py").write_text('raise ImportError("libEGL.so.1: cannot open shared object file")\n')
    done = subprocess.run(
        [sys.executable, "-m", "app.system.platform_check"],
        cwd=ROOT,
        env={"PYTHONPATH": str(tmp_path)},
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "libEGL.so.1" in done.stderr
    assert done.stderr.count("\n") == 1
