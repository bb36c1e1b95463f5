"""The app made one file: `sys.executable` is the app itself, and what starts a child by it must still work."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

import app.__main__
from app.system import limited_child
from app.system.limited_child import ChildLimits, Stop, lines_of
from engine import CHILDREN, TokenizerBroken
from engine.cluster.operations import Reply
from engine.machines.process import ChildProcess
from engine.machines.versions import hello_here
from engine.models.children import RUN_RANK, TRY_MODEL, command
from engine.models.first_use import FirstUse
from tests.helpers.bad_tokenizers import spoiled
from tests.helpers.pdf_files import pdf_bytes
from tests.helpers.tiny_models import build, qwen3_config, save

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = qwen3_config()
    return save(build(config), config, tmp_path_factory.mktemp("model") / "sound")


def program(folder: Path, line: str) -> str:
    """An executable of another name than Python's."""
    file = folder / "Hunch"
    file.write_text(f"#!/bin/sh\n{line}\n")
    file.chmod(0o755)
    return str(file)


@pytest.fixture
def bundled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Qt: what it starts needs none."""
    code = 'import sys; sys.modules["PySide6"] = None; from app.__main__ import main; sys.exit(main(sys.argv[1:]))'
    monkeypatch.setattr(sys, "executable", program(tmp_path, f"exec {sys.executable} -c '{code}' \"$@\""))


@pytest.mark.usefixtures("bundled")
def test_a_new_model_is_tried_by_the_app_itself(tmp_path: Path, sound: Path) -> None:
    with pytest.raises(TokenizerBroken):
        list(FirstUse().check(spoiled(shutil.copytree(sound, tmp_path / "bad"), "a long beginning")))


@pytest.mark.expect_log("could not be tried to the end")
def test_a_program_that_does_not_know_how_is_no_fault_of_the_model(
    tmp_path: Path, sound: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for line in ("exit 2", "exit 1", "exit 0"):
        monkeypatch.setattr(sys, "executable", program(tmp_path, line))
        list(FirstUse().check(sound))
    monkeypatch.setattr(sys, "executable", "")
    list(FirstUse().check(sound))


@pytest.mark.usefixtures("bundled")
def test_a_rank_is_the_app_itself() -> None:
    rank = ChildProcess(RUN_RANK, Reply)
    try:
        assert rank.wire.arrives(120.0)
        assert rank.wire.receive()[0] == hello_here()
    finally:
        rank.end(60.0)


def test_only_a_python_is_told_to_run_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    assert app.__main__._OF_ENGINE == CHILDREN
    for executable, frozen, asked in (
        ("/usr/bin/python3.11", False, "-P"),
        ("/venv/bin/python", False, "-P"),
        ("/Applications/Hunch.app/Contents/MacOS/Python", False, "-P"),
        ("/Applications/Hunch.app/Contents/MacOS/python", "macosx_app", TRY_MODEL),
        ("/Applications/Hunch.app/Contents/MacOS/Hunch", False, TRY_MODEL),
        ("", False, TRY_MODEL),
    ):
        monkeypatch.setattr(sys, "executable", executable)
        monkeypatch.setattr(sys, "frozen", frozen, raising=False)
        assert command(TRY_MODEL, "folder")[1] == asked


def test_an_app_that_is_its_own_interpreter_reads_files_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", program(tmp_path, f'exec {sys.executable} -m app "$@"'))
    (tmp_path / "a.pdf").write_bytes(pdf_bytes(["One page"]))
    limits = ChildLimits(60, 2 << 30, 1 << 20)
    read = list(lines_of("--read-pages", [str(tmp_path / "a.pdf"), "pdf", "100", "60"], limits, Stop()))
    assert [json.loads(line)["text"] for line in read] == ["One page"]


def test_the_command_line_knows_every_child() -> None:
    assert tuple(limited_child.CHILDREN) == app.__main__._CHILDREN
