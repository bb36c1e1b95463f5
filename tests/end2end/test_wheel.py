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
from email import message_from_bytes
from importlib.metadata import files, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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


def _required(wheel: Path) -> set[str]:
    """The libraries that an installer would bring: what the wheel names, what that names, and so on."""
    name = f"{wheel.name.split('-py3')[0]}.dist-info/METADATA"
    named = message_from_bytes(zipfile.ZipFile(wheel).read(name)).get_all("Requires-Dist", [])
    found: dict[str, set[str]] = {}  # by library, the extras of it that were asked for
    asked = [(Requirement(each), "") for each in named]
    while asked:
        one, extra = asked.pop()
        if one.marker is not None and not one.marker.evaluate({"extra": extra}):
            continue
        library = canonicalize_name(one.name)
        extras = {"", *one.extras} - found.setdefault(library, set())
        found[library] |= extras
        asked += [(Requirement(each), more) for more in extras for each in requires(library) or []]
    return set(found)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel in it and the libraries that it asks for, which are linked from this one."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    for library in _required(wheel):
        tops = {file.parts[0] for file in files(library) or []} - {"..", "__pycache__"}
        for top in tops:
            if not (packages / top).exists():
                (packages / top).symlink_to(Path(sysconfig.get_path("purelib")) / top)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(pip, check=True, timeout=300)
    return folder


@pytest.mark.slow
def test_it_asks_for_no_tools_of_developers(wheel: Path) -> None:
    assert {"mlx", "mlx-lm", "pyside6-essentials", "huggingface-hub", "platformdirs"} <= _required(wheel)
    assert not {"pytest", "pytest-qt", "mypy", "ruff", "import-linter"} & _required(wheel)


@pytest.mark.slow
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
