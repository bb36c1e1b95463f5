"""What a person reads when Qt cannot start. The libraries missing here have names that no machine has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.system import platform_check
from tests.architecture.project import ROOT


def test_machine_that_runs_these_tests_has_no_problem() -> None:
    assert platform_check.qt_problem() is None


@pytest.mark.skipif(sys.platform != "linux", reason="only there does Qt come without its libraries")
def test_every_missing_package_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    libraries = {"libno-such-1.so.1": "first-package", "libc.so.6": "installed", "libno-such-2.so.1": "second-package"}
    monkeypatch.setattr(platform_check, "_SCREEN_LIBRARIES", {"libno-such-plugin.so": libraries})
    problem = platform_check._screen_problem([Path("/nowhere/libno-such-plugin.so")])
    assert problem is not None
    assert problem.endswith("sudo apt install first-package second-package")
    assert "\n" not in problem


def test_one_screen_plugin_that_loads_is_enough() -> None:
    from PySide6 import QtCore

    assert platform_check._screen_problem([Path("/nowhere/libqwayland.so"), Path(QtCore.__file__)]) is None


def test_command_prints_the_line_and_fails(tmp_path: Path) -> None:
    package = tmp_path / "PySide6"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "QtWidgets.py").write_text('raise ImportError("libEGL.so.1: cannot open shared object file")\n')
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
