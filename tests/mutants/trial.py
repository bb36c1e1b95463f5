"""One run of some tests on a copy of the tree, in a process of its own, perhaps with one module changed."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from tests.mutants.covering import ROOT
from tests.mutants.faults import mutated

# Started once with the libraries in it and copied for every run, which is safe because none of them has a thread yet.
# With Metal that is not so, and every run starts from nothing.
_LIBRARIES = ["pytest", "hypothesis", "numpy", "mlx.core", "mlx_lm.generate", "mlx_lm.models.qwen3", "PySide6.QtTest"]
_PARTS = ("app", "engine", "i18n", "resources", "tests", "pyproject.toml")
_PYTEST = ["-x", "-q", "--tb=no", "--hypothesis-seed=0", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
_IMPORT_BROKE = 100  # what a run leaves with then, beside pytest's own codes


class Outcome(Enum):
    """What became of a run. What a busy machine or a broken run could have done is UNDECIDED: it was not noticed."""

    PASSED = "passed"
    FAILED = "by a failing test"
    NOT_COLLECTED = "while the tests were collected"
    NOT_IMPORTED = "by the import of the module"
    CRASHED = "by a crash"
    ENDLESS = "by the limit of processor time"
    WAITING = "by an endless wait"
    UNDECIDED = "undecided"

    @property
    def is_noticed(self) -> bool:
        return self not in (Outcome.PASSED, Outcome.UNDECIDED)


_CODES = {0: Outcome.PASSED, 1: Outcome.FAILED, 2: Outcome.NOT_COLLECTED, _IMPORT_BROKE: Outcome.NOT_IMPORTED}
_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
_SIGNALS = {signal.SIGXCPU: Outcome.ENDLESS} | dict.fromkeys(_CRASHES, Outcome.CRASHED)


def outcome(code: int) -> Outcome:
    """Of an exit code, negative for a signal. SIGKILL, say, comes from a system that ran out of memory."""
    return _SIGNALS.get(signal.Signals(-code), Outcome.UNDECIDED) if code < 0 else _CODES.get(code, Outcome.UNDECIDED)


@dataclass(frozen=True)
class Limit:
    """What a run may take. Processor time ends loops, however busy the machine is; wall time ends endless waits."""

    processor_s: float
    wall_s: float


class Trials:
    """Runs tests on a copy of the tree as it was when this was made. Used in a `with`, which deletes the copy."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="hunch-mutants-"))
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
            os.environ[name] = "1"  # numpy's matrix library would start threads
        self._processes: Any = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")
        if sys.platform == "linux":
            self._processes.set_forkserver_preload(_LIBRARIES)

    def __enter__(self) -> Trials:
        for part in _PARTS:
            source, target = ROOT / part, self.folder / "tree" / part
            target.parent.mkdir(exist_ok=True)
            shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def measure(self, tests: Sequence[str]) -> Limit:
        """Run the tests on the tree as it is; they must pass. The limit is a multiple of what that took."""
        started = time.monotonic()
        ended = self._run(None, 0, tests, Limit(3600, 3600), measures=True)
        if ended is not Outcome.PASSED:
            raise SystemExit(f"the tests fail before anything is changed: {' '.join(tests)} ({ended.value})")
        processor_s = sum(_seconds(self.folder, tests).values())
        return Limit(4 * processor_s + 30, 10 * (time.monotonic() - started) + 30)

    def passes(self, tests: Sequence[str], limit: Limit) -> bool:
        """Whether the tests still pass within the limit while nothing is changed."""
        return self._run(None, 0, tests, limit) is Outcome.PASSED

    def outcome(self, file: str, number: int, tests: Sequence[str], limit: Limit) -> Outcome:
        ended = self._run(file, number, tests, limit)
        if ended is Outcome.WAITING and not self.passes(tests, Limit(3600, limit.wall_s / 2)):
            return Outcome.UNDECIDED  # the machine is so busy now that the tests take that long by themselves
        return ended

    def _run(
        self, file: str | None, number: int, tests: Sequence[str], limit: Limit, *, measures: bool = False
    ) -> Outcome:
        process = self._processes.Process(target=_run, args=(self.folder, file, number, tests, limit, measures))
        process.start()
        process.join(limit.wall_s)
        if process.is_alive():
            os.killpg(process.pid, signal.SIGKILL)
            process.join()
            return Outcome.WAITING
        return outcome(process.exitcode)


def _run(folder: Path, file: str | None, number: int, tests: Sequence[str], limit: Limit, measures: bool) -> None:
    """In the new process, which leaves with pytest's verdict."""
    os.setsid()
    own = Path(tempfile.mkdtemp(dir=folder))
    os.environ.update(TMPDIR=str(own), HOME=str(own))
    tempfile.tempdir = None
    _hide_output(own / "output")
    _enter(folder / "tree")
    changed = None
    if file is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # SIGXCPU comes at the first of the two, and says what it was; SIGKILL at the second.
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit.processor_s) + 1, int(limit.processor_s) + 5))
        changed = _Changed(file, number)
        sys.meta_path.insert(0, changed)
    import pytest

    order = _Durations() if measures else _QuickFirst(_seconds(folder, tests))
    code = int(pytest.main([*_PYTEST, *tests], plugins=[order]))
    if isinstance(order, _Durations):
        _notes(folder, tests).write_text(json.dumps(order.seconds))
    shutil.rmtree(own, ignore_errors=True)
    os._exit(_IMPORT_BROKE if changed is not None and changed.broke else code)


def _notes(folder: Path, tests: Sequence[str]) -> Path:
    return folder / f"{zlib.crc32(' '.join(tests).encode())}.json"


def _seconds(folder: Path, tests: Sequence[str]) -> dict[str, float]:
    """Processor time by test, as it was measured; nothing where it was not."""
    notes = _notes(folder, tests)
    return dict(json.loads(notes.read_text())) if notes.exists() else {}


class _Durations:
    """A plugin of pytest that notes what each test takes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._began = 0.0

    def pytest_runtest_logstart(self) -> None:
        self._began = time.process_time()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.seconds[nodeid] = time.process_time() - self._began


class _QuickFirst:
    """A plugin of pytest that puts those tests last which take longer than the average: most faults need none of them.

    The rest of the order stays, so what a file's tests share is made twice at most.
    """

    def __init__(self, seconds: dict[str, float]) -> None:
        self._seconds = seconds
        self._average = sum(seconds.values()) / max(1, len(seconds))

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items.sort(key=lambda item: self._seconds.get(item.nodeid, 0.0) > self._average)


def _hide_output(file: Path) -> None:
    output = os.open(file, os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)


def _enter(tree: Path) -> None:
    os.chdir(tree)
    sys.path[:] = [str(tree), *(path for path in sys.path if path not in ("", str(ROOT)))]
    for name in [name for name in sys.modules if name.split(".")[0] in ("app", "engine", "tests")]:
        del sys.modules[name]


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
