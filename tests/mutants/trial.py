"""Runs of some tests, each in a process of its own, perhaps with one fault in a module.

As a plugin of pytest (`-p tests.mutants.trial`) it puts the fault that `FAULT` names ("file:number") into that module
as it is imported, so that nothing on the disk changes.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType

from tests.mutants.covering import ROOT
from tests.mutants.faults import mutated

FAULT = "HUNCH_MUTANT"
LIMIT_S = "HUNCH_MUTANT_LIMIT_S"
_PYTEST = ["-p", "tests.mutants.trial", "-p", "no:cacheprovider", "-x", "-q", "--tb=no", "--hypothesis-seed=0"]
_CHOSEN = ["-m", "not families and not drill", "-W", "ignore::pytest.PytestAssertRewriteWarning"]


class Outcome(Enum):
    """What became of a run. What a busy machine or a broken run could have done is UNDECIDED: it was not noticed."""

    PASSED = "passed"
    FAILED = "by a failing test"
    NOT_COLLECTED = "while the module was imported or the tests were collected"
    CRASHED = "by a crash"
    ENDLESS = "by the limit of processor time"
    WAITING = "by an endless wait"
    UNDECIDED = "undecided"

    @property
    def is_noticed(self) -> bool:
        return self not in (Outcome.PASSED, Outcome.UNDECIDED)


_CODES = {0: Outcome.PASSED, 1: Outcome.FAILED, 2: Outcome.NOT_COLLECTED, 4: Outcome.NOT_COLLECTED}
_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
_SIGNALS = {-signal.SIGXCPU: Outcome.ENDLESS} | {-number: Outcome.CRASHED for number in _CRASHES}


@dataclass(frozen=True)
class Limit:
    """What a run may take. Processor time ends loops, however busy the machine is; wall time ends endless waits."""

    processor_s: float
    wall_s: float


def measure(tests: Sequence[str]) -> Limit:
    """Run the tests with nothing changed; they must pass. The limit is a multiple of what that took."""
    began_s = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = run("", tests, Limit(3600, 3600))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended is not Outcome.PASSED:
        raise SystemExit(f"the tests fail before anything is changed: {' '.join(tests)} ({ended.value})")
    processor_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Limit(3 * processor_s + 5, 20 * (time.monotonic() - began_s) + 60)


def run(fault: str, tests: Sequence[str], limit: Limit, folder: Path = ROOT) -> Outcome:
    """Of the tests in that folder. SIGKILL, say, comes from a system that ran out of memory: that is undecided."""
    command = [sys.executable, "-m", "pytest", *_PYTEST, *_CHOSEN, *tests]
    given = {FAULT: fault, LIMIT_S: str(int(limit.processor_s) + 1), "OPENBLAS_NUM_THREADS": "1"}
    environment = os.environ | given | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            code = process.wait(limit.wall_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return Outcome.WAITING
    return (_CODES | _SIGNALS).get(code, Outcome.UNDECIDED)


class _Changed(SourceFileLoader):
    """Finds and loads the module with its fault."""

    def __init__(self, file: str, number: int) -> None:
        super().__init__(file.removesuffix(".py").replace("/", "."), str(Path(file).resolve()))
        self._number = number

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        return spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, fullname: str) -> CodeType:
        del fullname
        tree = mutated(Path(self.path).read_text(encoding="utf-8"), self._number)
        return compile(tree, self.path, "exec")


def _begin(fault: str, processor_s: int) -> None:
    """In the process of the run. SIGXCPU comes at the first of the two limits, and says what it was."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (processor_s, processor_s + 4))
    file, _, number = fault.rpartition(":")
    if file:
        sys.meta_path.insert(0, _Changed(file, int(number)))


if LIMIT_S in os.environ:  # before any conftest imports the engine
    _begin(os.environ[FAULT], int(os.environ[LIMIT_S]))
