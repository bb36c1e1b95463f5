"""What a person reads when Qt cannot start."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from app.system import platform_check
from tests.architecture.project import ROOT, python_files


def test_machine_that_runs_these_tests_has_no_problem() -> None:
    assert platform_check.qt_problem() is None


def test_a_library_that_no_screen_plugin_finds_is_named_in_one_line() -> None:
    problem = platform_check._screen_problem([Path("/nowhere/libno-such-plugin.so")])
    assert problem is not None
    assert problem.startswith("Qt cannot start here: /nowhere/libno-such-plugin.so: cannot open shared object file")
    assert "\n" not in problem


def test_one_screen_plugin_that_loads_is_enough() -> None:
    from PySide6 import QtCore

    assert platform_check._screen_problem([Path("/nowhere/libqwayland.so"), Path(QtCore.__file__)]) is None


def test_the_app_imports_no_other_part_of_qt() -> None:
    """Which would not be tried."""
    parts = {"QtCore", "QtGui", "QtWidgets", "QtNetwork", "QtSvg"}
    sources = "".join(path.read_text(encoding="utf-8") for path in python_files("app"))
    assert set(re.findall(r"(?:from|import) PySide6\.(\w+)", sources)) == parts


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
