"""What happens in the processes that run tests: some collect them once and are copied for each fault."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import pytest

from tests.mutants.covering import ROOT
from tests.mutants.faults import mutated
from tests.mutants.swap import place, swap

_PYTEST = [
    "-x",
    "-q",
    "--tb=no",
    "--hypothesis-seed=0",
    "-m",
    "not families and not drill",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
]
Note = tuple[float, list[str]]  # of a test: its processor time, and the functions of the engine that it calls
_START_S = 20  # of processor time, to collect tests
# What a run leaves with, beside pytest's own codes.
IMPORT_BROKE = 100
IN_THE_IMPORT = 101
WAITING = 102
BROKEN_RUN = 103  # an exception of ours leaves with 1 otherwise, as a failing test does


@dataclass(frozen=True)
class Limit:
    """What a run may take. Processor time ends loops, however busy the machine is; wall time ends endless waits."""

    processor_s: float
    wall_s: float


def run_afresh(folder: Path, file: str | None, number: int, tests: Sequence[str], limit: Limit) -> None:
    """In a new process, which leaves with pytest's verdict. The first run of some tests notes what each takes."""
    try:
        os._exit(_verdict(folder, file, number, tests, limit))
    except BaseException:  # noqa: BLE001  whatever it is, no test has failed
        os._exit(BROKEN_RUN)


def _verdict(folder: Path, file: str | None, number: int, tests: Sequence[str], limit: Limit) -> int:
    own = _enter(folder)
    changed = None
    if file is not None:
        _keep(Limit(limit.processor_s + _START_S, limit.wall_s))
        changed = _Changed(file, number)
        sys.meta_path.insert(0, changed)
    notes = measured(folder, tests)
    plugin = _Order(notes, file) if notes or file else _Notes(_file(folder, tests))
    code = int(pytest.main([*_PYTEST, *tests], plugins=[plugin]))
    shutil.rmtree(own, ignore_errors=True)
    return IMPORT_BROKE if changed is not None and changed.broke else code


def serve(folder: Path, tests: Sequence[str], asked: Connection) -> None:
    """In a new process: collect the tests, then run them for each fault that is asked for, until nobody asks."""
    own = _enter(folder)
    notes = measured(folder, tests)
    pytest.main([*_PYTEST, *tests], plugins=[_Order(notes), _Copies(notes, own, asked)])
    os._exit(0)


class _Copies:
    """A plugin of pytest that copies the process for each run, once the tests are collected."""

    def __init__(self, notes: dict[str, Note], own: Path, asked: Connection) -> None:
        self._notes = notes
        self._own = own
        self._asked = asked

    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """In a copy it returns, and pytest runs those tests that call what was changed."""
        if len(list(Path("/proc/self/task").iterdir())) > 1:
            os._exit(0)  # a thread would be missing in the copy
        shutil.copytree(self._own / "tmp", self._own / "before", symlinks=True)
        while True:
            try:
                file, number, limit = self._asked.recv()
            except EOFError:
                os._exit(0)
            copy = os.fork()
            if copy == 0:
                changed = _begin(file, number, limit)
                session.items = [item for item in session.items if self._calls(item.nodeid, changed)]
                return
            self._asked.send(_ended(copy, limit.wall_s))
            shutil.rmtree(self._own / "tmp", ignore_errors=True)
            shutil.copytree(self._own / "before", self._own / "tmp", symlinks=True)

    def _calls(self, test: str, functions: set[str]) -> bool:
        return test not in self._notes or not functions.isdisjoint(self._notes[test][1])

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        os._exit(exitstatus)


def _begin(file: str, number: int, limit: Limit) -> set[str]:
    """The functions that have changed."""
    os.setsid()
    _keep(limit)
    return swap(file, number) or os._exit(IN_THE_IMPORT)


def _ended(process: int, wall_s: float) -> int:
    """Its exit code, negative for a signal."""
    handle = os.pidfd_open(process)
    over = not select.select([handle], [], [], wall_s)[0]
    os.close(handle)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return WAITING if over else code


class _Order:
    """A plugin of pytest: the quick tests come first, and of `file` only those that call any function.

    Those that take longer than the average are last, for most faults need none of them. The rest of the order stays, so
    what a file's tests share is made twice at most.
    """

    def __init__(self, notes: dict[str, Note], file: str | None = None) -> None:
        self._seconds = {test: seconds for test, (seconds, _) in notes.items()}
        start = f"{Path(file).resolve()}:" if file else ""
        self._calling = {test for test, (_, called) in notes.items() if any(name.startswith(start) for name in called)}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if item.nodeid in self._calling] or items
        average = sum(self._seconds.values()) / max(1, len(self._seconds))
        items.sort(key=lambda item: self._seconds.get(item.nodeid, 0.0) > average)


class _Notes:
    """A plugin of pytest that notes what each test takes, and what functions of the engine it and its fixtures call."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._engine = str(Path("engine").resolve())
        self._notes: dict[str, Note] = {}
        self._of_fixtures: dict[int, set[str]] = {}
        self._under_way: list[set[str]] = []

    def pytest_collection_finish(self) -> None:
        sys.setprofile(self._on_call)
        threading.setprofile(self._on_call)

    def _on_call(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(self._engine):
            name = place(frame.f_code)
            for called in self._under_way:
                called.add(name)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: object) -> Iterator[None]:
        self._under_way.append(self._of_fixtures.setdefault(id(fixturedef), set()))
        try:
            return (yield)
        finally:
            self._under_way.pop()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        began = time.process_time()
        self._under_way = [set()]
        try:
            return (yield)
        finally:
            fixtures = [each for found in item._fixtureinfo.name2fixturedefs.values() for each in found]
            called = self._under_way[0].union(*(self._of_fixtures.get(id(each), ()) for each in fixtures))
            self._notes[item.nodeid] = (time.process_time() - began, sorted(called))

    def pytest_sessionfinish(self) -> None:
        self._file.write_text(json.dumps(self._notes))


def measured(folder: Path, tests: Sequence[str]) -> dict[str, Note]:
    """By test, where that was measured."""
    file = _file(folder, tests)
    return dict(json.loads(file.read_text())) if file.exists() else {}


def _file(folder: Path, tests: Sequence[str]) -> Path:
    return folder / f"{zlib.crc32(' '.join(tests).encode())}.json"


def _enter(folder: Path) -> Path:
    """Into the copy of the tree, with a folder of its own for what is temporary, and for what is printed."""
    os.setsid()
    own = Path(tempfile.mkdtemp(dir=folder))
    (own / "tmp").mkdir()
    os.environ.update(TMPDIR=str(own / "tmp"), HOME=str(own / "tmp"))
    tempfile.tempdir = None
    output = os.open(own / "output", os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    tree = folder / "tree"
    os.chdir(tree)
    sys.path[:] = [str(tree), *(path for path in sys.path if path not in ("", str(ROOT)))]
    for name in [name for name in sys.modules if name.split(".")[0] in ("app", "engine", "tests")]:
        del sys.modules[name]
    return own


def _keep(limit: Limit) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # SIGXCPU comes at the first of the two, and says what it was; SIGKILL at the second.
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit.processor_s) + 1, int(limit.processor_s) + 5))


class _Changed(SourceFileLoader):
    """Finds and loads the module with its fault, in place of the file's own code."""

    def __init__(self, file: str, number: int) -> None:
        super().__init__(file.removesuffix(".py").replace("/", "."), str(Path(file).resolve()))
        self._number = number
        self.broke = False  # the module cannot be imported

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        return spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def exec_module(self, module: ModuleType) -> None:
        self.broke = True
        super().exec_module(module)
        self.broke = False

    def get_code(self, fullname: str) -> CodeType:
        del fullname
        tree = mutated(Path(self.path).read_text(encoding="utf-8"), self._number)
        return compile(tree, self.path, "exec")
