"""Runs of some tests on a copy of the tree, each in a process of its own, perhaps with one fault."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from tests.mutants.covering import ROOT
from tests.mutants.process import IMPORT_BROKE, IN_THE_IMPORT, WAITING, Limit, measured, run_afresh, serve

# Started once with the libraries in it and copied for every run, which is safe because none of them has a thread yet.
# With Metal that is not so, and every run starts from nothing.
_LIBRARIES = ["pytest", "hypothesis", "numpy", "mlx.core", "mlx_lm.generate", "mlx_lm.models.qwen3", "PySide6.QtTest"]
_LINUX = sys.platform == "linux"
_PARTS = ("app", "engine", "i18n", "resources", "tests", "pyproject.toml")


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


_CODES = {0: Outcome.PASSED, 1: Outcome.FAILED, 2: Outcome.NOT_COLLECTED, IMPORT_BROKE: Outcome.NOT_IMPORTED}
_CODES[WAITING] = Outcome.WAITING
_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
_SIGNALS = {signal.SIGXCPU: Outcome.ENDLESS} | dict.fromkeys(_CRASHES, Outcome.CRASHED)


def outcome(code: int) -> Outcome:
    """Of an exit code, negative for a signal. SIGKILL, say, comes from a system that ran out of memory."""
    return _SIGNALS.get(signal.Signals(-code), Outcome.UNDECIDED) if code < 0 else _CODES.get(code, Outcome.UNDECIDED)


class Trials:
    """Runs tests on a copy of the tree as it was when this was made. Used in a `with`, which deletes the copy."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="hunch-mutants-"))
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
            os.environ[name] = "1"  # numpy's matrix library would start threads
        self._processes: Any = multiprocessing.get_context("forkserver" if _LINUX else "spawn")
        self._asking = threading.local()
        if _LINUX:
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
        ended = self._run(None, 0, tests, Limit(3600, 3600))
        if ended is not Outcome.PASSED:
            raise SystemExit(f"the tests fail before anything is changed: {' '.join(tests)} ({ended.value})")
        processor_s = sum(seconds for seconds, _ in measured(self.folder, tests).values())
        return Limit(3 * processor_s + 5, 10 * (time.monotonic() - started) + 30)

    def passes(self, tests: Sequence[str], limit: Limit) -> bool:
        """Whether the tests still pass within the limit while nothing is changed."""
        return self._run(None, 0, tests, limit) is Outcome.PASSED

    def outcome(self, file: str, number: int, tests: Sequence[str], limit: Limit) -> Outcome:
        ended = self._run(file, number, tests, limit)
        if ended is Outcome.WAITING and not self.passes(tests, Limit(3600, limit.wall_s / 2)):
            return Outcome.UNDECIDED  # the machine is so busy now that the tests take that long by themselves
        return ended

    def _run(self, file: str | None, number: int, tests: Sequence[str], limit: Limit) -> Outcome:
        code = self._run_a_copy(file, number, tests, limit) if file is not None and _LINUX else IN_THE_IMPORT
        return outcome(self._run_afresh(file, number, tests, limit) if code == IN_THE_IMPORT else code)

    def _run_a_copy(self, file: str, number: int, tests: Sequence[str], limit: Limit) -> int:
        """Of a process that has collected the tests; each asking thread has one, for the last tests it asked for."""
        if getattr(self._asking, "tests", None) != tests:
            self._asking.tests = tests
            self._asking.connection, there = self._processes.Pipe()
            self._processes.Process(target=serve, args=(self.folder, tests, there), daemon=True).start()
            there.close()
        try:
            self._asking.connection.send((file, number, limit))
            return int(self._asking.connection.recv())
        except (EOFError, OSError):
            return IN_THE_IMPORT  # these tests cannot be collected so, say because that starts a thread

    def _run_afresh(self, file: str | None, number: int, tests: Sequence[str], limit: Limit) -> int:
        process = self._processes.Process(target=run_afresh, args=(self.folder, file, number, tests, limit))
        process.start()
        process.join(limit.wall_s)
        if process.is_alive():
            os.killpg(process.pid, signal.SIGKILL)
            process.join()
            return WAITING
        return int(process.exitcode)
