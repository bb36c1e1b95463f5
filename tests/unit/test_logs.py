"""The log: for its owner only, and without the words of any chat."""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.system.logs import ErrorWatch, earlier_crash, open_log, put_aside
from tests.architecture.project import ROOT
from tests.helpers.stillness import still

SECRET = "zebra"


@pytest.fixture
def log(tmp_path: Path, restored: None) -> Path:
    return open_log(tmp_path / "logs")


@pytest.fixture
def restored() -> Iterator[None]:
    """What tests open is closed behind them."""
    before = logging.getLogger().handlers[:]
    level = logging.getLogger().level
    yield
    faulthandler.disable()
    for handler in logging.getLogger().handlers[:]:
        if handler not in before:
            handler.close()
        logging.getLogger().removeHandler(handler)
    for handler in before:
        logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(level)


def fail() -> None:
    try:
        raise ValueError(f"{SECRET} cannot be parsed")
    except ValueError as error:
        raise KeyError(SECRET) from error


def test_the_words_of_an_exception_are_not_logged(log: Path) -> None:
    try:
        fail()
    except KeyError:
        logging.getLogger("anybody").exception("something failed")
    written = log.read_text(encoding="utf-8")
    assert SECRET not in written
    assert "KeyError" in written
    assert "ValueError" in written
    assert "in fail" in written


def test_a_message_is_one_line_whatever_a_name_in_it_holds(log: Path) -> None:
    """No line of somebody else's, nothing that a terminal acts on, and half of a character keeps nothing out."""
    logging.getLogger("anybody").warning("could not load %s", "모델\nCRITICAL \x1b]0;x\x07\u202e \udcff")
    (line,) = log.read_text(encoding="utf-8").splitlines()
    assert line.endswith(r"WARNING anybody: could not load 모델\nCRITICAL \x1b]0;x\x07\u202e \udcff")


@pytest.mark.usefixtures("qapp")
def test_the_words_of_an_unexpected_error_are_not_kind_of(log: Path) -> None:
    watch, said = ErrorWatch(), list[str]()
    watch.unexpected.connect(said.append)
    for error in (ValueError(SECRET), OSError(28, "No space left on device", SECRET)):
        watch.report(type(error), error, None)
    still()
    assert said == ["ValueError", "OSError: No space left on device"]
    assert SECRET not in log.read_text(encoding="utf-8")


def test_files_of_the_log_are_for_their_owner_only(log: Path) -> None:
    files = [log, log.with_name("crash.log")]
    assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600, 0o600]


def test_the_stacks_of_a_crash_are_kept_until_the_next_one(tmp_path: Path) -> None:
    """Of a process that dies of a signal, as two later ones see it."""
    run = f"from app.system.logs import open_log; from pathlib import Path; open_log(Path({str(tmp_path)!r}))"
    kill = f"{run}; import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    done = subprocess.run([sys.executable, "-c", kill], check=False, cwd=ROOT, timeout=120, capture_output=True)
    assert done.returncode == -signal.SIGSEGV
    assert earlier_crash(tmp_path) == ""
    for _ in range(2):
        put_aside(tmp_path)
        assert "Segmentation fault" in earlier_crash(tmp_path)
        assert not (tmp_path / "crash.log").exists()


@pytest.mark.usefixtures("restored")
def test_a_log_is_opened_whatever_stands_in_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    os.mkfifo(folder / "hunch.log")
    (folder / "crash.log").symlink_to("/dev/full")
    path = open_log(folder)
    logging.getLogger("anybody").warning("words")
    assert "words" in path.read_text(encoding="utf-8")
    assert (folder / "crash.log").is_file()
    assert len(list(folder.glob("*-aside-*"))) == 2


@pytest.mark.usefixtures("restored")
def test_the_stacks_of_a_crash_with_a_folder_in_their_place_cost_no_log(tmp_path: Path) -> None:
    (tmp_path / "crash.log").write_text("stacks", encoding="utf-8")
    (tmp_path / "earlier-crash.log").mkdir()
    assert open_log(tmp_path).is_file()
    assert "stacks" in earlier_crash(tmp_path)
