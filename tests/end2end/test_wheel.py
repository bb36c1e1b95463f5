"""The wheel: everything of the checkout is in it, and what it installs starts from any folder, in an empty home."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.architecture.project import ROOT, project_files

_INSTALLED = ("app", "engine", "resources", "i18n")
_BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"


def _shipped() -> list[str]:
    files = [path.relative_to(ROOT) for path in project_files()]
    return [path.as_posix() for path in files if path.parts[0] in _INSTALLED]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy that holds the project's own files only, without the network."""
    folder = tmp_path_factory.mktemp("wheel")
    for file in [*_shipped(), "pyproject.toml", "README.md", "LICENSE"]:
        (folder / "copy" / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, folder / "copy" / file)
    command = [sys.executable, "-c", _BUILD, str(folder)]
    done = subprocess.run(command, cwd=folder / "copy", check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel in it, which finds the libraries of this one."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(pip, check=True, timeout=300)
    return folder


def test_everything_of_the_checkout_is_in_it(wheel: Path) -> None:
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.split("/")[0] in _INSTALLED}
    assert inside == set(_shipped())


@pytest.mark.slow
def test_what_it_installs_answers_a_question(installed: Path, tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "LANG": "C.UTF-8"}
    environment["QT_QPA_PLATFORM"] = "offscreen"
    (tmp_path / "home").mkdir()
    command = [str(installed / "bin" / "hunch"), "--smoke", "out.png"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    assert (tmp_path / "out.png").stat().st_size > 0
    assert len(list((tmp_path / "home").rglob("hunch_*.qm"))) == 4
