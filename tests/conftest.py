"""What holds for every test: no screen, no home, no network, no thread left behind, no warning in a log. No MLX here.

Qt's and Python's warnings fail by the settings in pyproject.toml.
"""

from __future__ import annotations

import gc
import itertools
import logging
import os
import random
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures.thread import _threads_queues  # by the thread
from contextlib import nullcontext
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from PySide6.QtCore import QCoreApplication, QLocale
from pytestqt.qtbot import QtBot

from tests.helpers import shaking
from tests.helpers.fonts import no_fonts_but, usual_fonts

_THREAD_END_S = 60.0
_PATIENCE_MS = 240_000
_LOOK_MS = 1
_FULL_COLLECTION_EVERY = 100  # tests
_MEMORY = Path("/dev/shm")  # of Linux
_ROOM_BYTES = 4 << 30  # tests take a tenth of that

# Set while this file is imported: libraries read the environment when they are.
_HOME = Path(tempfile.mkdtemp(prefix="hunch-tests-"))


def _isolate_environment() -> None:
    unwanted = ("XDG_", "HF_", "HUGGINGFACE_", "TRANSFORMERS_", "QT_", "HUNCH_")
    for name in [name for name in os.environ if name.startswith(unwanted) or name.lower().endswith("_proxy")]:
        del os.environ[name]
    os.environ["HOME"] = str(_HOME)
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    os.environ.update(QT_SCALE_FACTOR="1", QT_SCREEN_SCALE_FACTORS="", QT_FONT_DPI="96", QT_USE_PHYSICAL_DPI="0")
    os.environ["MLX_ENABLE_TF32"] = "0"  # newer GPUs multiply float32 in 19 bits otherwise
    os.environ["HUNCH_BONJOUR"] = "0"  # what is opened or lent in a test looks for no machine, and tells none
    os.environ["HUNCH_OPENBLAS"] = "0"  # with it, forwards of one and of many tokens are not equal to the bit
    # The interface follows the system's language, and tests must not depend on the developer's.
    os.environ.update(LANG="C.UTF-8", LC_ALL="C.UTF-8", LANGUAGE="")
    for name in ("CONFIG", "DATA", "CACHE", "STATE", "RUNTIME"):
        suffix = "DIR" if name == "RUNTIME" else "HOME"
        folder = _HOME / "xdg" / name.lower()
        folder.mkdir(parents=True, mode=0o700)
        os.environ[f"XDG_{name}_{suffix}"] = str(folder)


def _put_folders_in_memory() -> None:
    """Most tests save a chat or a setting, and a disk takes longer for that than the app."""
    if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))


_isolate_environment()
_put_folders_in_memory()
QLocale.setDefault(QLocale("en_US"))  # as the app does when it is told its language

# Machines under test are busy, so time says nothing; a failure prints what reproduces it. Drills look for new examples.
settings.register_profile(
    "drills", deadline=None, database=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("hunch", settings.get_profile("drills"), derandomize=True)
_EXAMPLES = 3  # of so many examples `make test` tries one, `make slow` all

# For the same reason what is waited for may take longer than the five seconds of pytest-qt.
for _wait in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals, QtBot.waitExposed, QtBot.waitActive):
    _wait.__kwdefaults__ = {**(_wait.__kwdefaults__ or {}), "timeout": _PATIENCE_MS}


def _wait_between_looks(bot: QtBot, _ms: int, wait: Callable[[QtBot, int], None] = QtBot.wait) -> None:
    wait(bot, _LOOK_MS)


# What is waited for takes less than pytest-qt's 10 ms between two looks, mostly. No test calls `wait` itself.
QtBot.wait = _wait_between_looks  # type: ignore[assignment]


def _refuse_strangers(event: str, args: tuple[object, ...]) -> None:
    """An audit hook: any connection that would leave this machine fails in the test that made it."""
    if event != "socket.connect" or not isinstance(args[1], tuple):
        return
    host = str(args[1][0])
    if not _is_here(host):
        raise PermissionError(f"a test tried to reach {host}")


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


sys.addaudithook(_refuse_strangers)


# As in the app (app/system/qt_application.py): another thread must not be the one that frees a Qt object.
gc.disable()
_tests = itertools.count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--system-fonts", action="store_true", help="the machine's fonts, instead of DejaVu Sans alone")
    parser.addoption("--shake", nargs="?", type=int, const=-1, metavar="SEED", help="tests/ui against delays")
    parser.addoption("--shake-times", type=int, default=20, help="how often each test is run by --shake")


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--system-fonts"):
        os.environ.update(no_fonts_but(_HOME, usual_fonts()))  # widths depend on them
    if config.option.shake == -1:  # before other processes get the options
        config.option.shake = random.randrange(1 << 32)
    settings.load_profile("drills" if config.getoption("markexpr") == "drill" else "hunch")


@pytest.hookimpl(tryfirst=True)  # before the marks are looked at
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of a test that is `costly`, the cases between the first and the last are slow; so are most random examples."""
    hypothetical = [item for item in items if getattr(getattr(item, "obj", None), "is_hypothesis_test", False)]
    if "not slow" in config.getoption("markexpr"):
        _try_fewer_examples({item.obj for item in hypothetical})  # type: ignore[attr-defined]
    else:
        for item in hypothetical:
            item.add_marker(pytest.mark.slow)
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        if "costly" in marks and not marks & {"slow", "drill", "families"}:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for each in cases.values():
        for item in each[1:-1]:
            item.add_marker(pytest.mark.slow)
    if config.option.shake is not None:
        items[:] = shaking.repeated(items, config.option.shake, config.option.shake_times)


def pytest_report_header(config: pytest.Config) -> list[str]:
    return [] if config.option.shake is None else [f"shaken: --shake={config.option.shake}"]


@pytest.fixture(scope="session", autouse=True)
def other_core_is_busy(request: pytest.FixtureRequest) -> Iterator[None]:
    with nullcontext() if request.config.option.shake is None else shaking.busy_core():
        yield


@pytest.fixture(autouse=True)
def nothing_comes_when_it_should(request: pytest.FixtureRequest) -> Iterator[None]:
    seed = request.config.option.shake
    with pytest.MonkeyPatch.context() as patch:
        if seed is not None:
            shaking.delay_all(patch, random.Random(f"{seed} {request.node.nodeid}"))
        yield


def _try_fewer_examples(tests: set[Any]) -> None:
    for test in tests:  # which Hypothesis would not let be decorated again
        usual = test._hypothesis_internal_use_settings or settings()
        test._hypothesis_internal_use_settings = settings(usual, max_examples=usual.max_examples // _EXAMPLES + 1)


def pytest_collection_finish() -> None:
    _forget_what_stays()


def _forget_what_stays() -> None:
    """Libraries, test modules and models are never garbage; looking at them took two seconds a full collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def garbage_is_collected_on_the_main_thread() -> Iterator[None]:
    yield
    gc.collect(1)
    if next(_tests) % _FULL_COLLECTION_EVERY == 0:
        _forget_what_stays()


class LogTrap(logging.Handler):
    """Keeps the warnings and errors that it hears, but those that match an expected pattern."""

    def __init__(self, expected: Sequence[str]) -> None:
        super().__init__(logging.WARNING)
        self.expected = expected
        self.kept: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        told = self.format(record)
        if not any(re.search(pattern, told) for pattern in self.expected):
            self.kept.append(f"{record.levelname} {record.name}: {told}")


@pytest.fixture(autouse=True)
def log_is_quiet(request: pytest.FixtureRequest) -> Iterator[None]:
    """A warning or error in the app's or the engine's log fails the test, but those named by `expect_log`."""
    trap = LogTrap([pattern for mark in request.node.iter_markers("expect_log") for pattern in mark.args])
    for name in ("app", "engine"):
        logging.getLogger(name).addHandler(trap)
    yield
    for name in ("app", "engine"):
        logging.getLogger(name).removeHandler(trap)
    assert not trap.kept, "unexpected in the log:\n" + "\n".join(trap.kept)


@pytest.fixture(autouse=True)
def words_are_those_of_the_source() -> Iterator[None]:
    """A translator that outlives its test would change what the next one reads, in some orders of tests only."""
    yield
    if QCoreApplication.instance() is not None:
        left = QCoreApplication.translate("_Counts", "%Ln download(s)", "", 2)
        assert left == "2 download(s)", "the test left a translator behind"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What a test printed may be no text, which cannot be sent to the process that reports."""
    report = yield
    report.sections = [(name, text.encode("utf-8", "replace").decode()) for name, text in report.sections]
    if item.config.option.shake is not None:
        report.sections.append(("shaken by", f"--shake={item.config.option.shake}"))
    return report


def pytest_unconfigure() -> None:
    shutil.rmtree(_HOME, ignore_errors=True)


@pytest.fixture(autouse=True)
def no_thread_is_left_behind() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    left = _threads_left(before, deadline_s=time.monotonic() + _THREAD_END_S)
    assert not left, f"threads still run after the test: {left}"


# Qt's pool threads get a dummy object when Python runs on them, cannot be joined and end by themselves; for the other
# see `engine/models/networks.py`.
_STAY = ("Dummy-", "first to use MLX")


def _threads_left(before: set[threading.Thread], deadline_s: float) -> list[str]:
    pools = [_threads_queues[each] for each in before if each in _threads_queues]  # of fixtures that outlive the test
    before |= {each for each in threading.enumerate() if _threads_queues.get(each) in pools}
    for thread in set(threading.enumerate()) - before:
        if not thread.name.startswith(_STAY):
            while thread.ident is None:  # it is just being started
                time.sleep(0.001)
            thread.join(timeout=max(0.0, deadline_s - time.monotonic()))
    return [t.name for t in set(threading.enumerate()) - before if t.is_alive() and not t.name.startswith(_STAY)]
