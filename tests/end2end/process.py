"""Python as a process in the checkout, with a test's own code."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from tests.architecture.project import ROOT

PATIENCE_S = 180


def finished(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


@contextmanager
def running(code: str, *arguments: object, stderr: int | None = None) -> Iterator[subprocess.Popen[str]]:
    """It is killed where it has not ended by then, or after `PATIENCE_S`."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=stderr, text=True) as process:
        late = Timer(PATIENCE_S, process.kill)
        late.start()
        try:
            yield process
        finally:
            late.cancel()
            process.kill()


def said(process: subprocess.Popen[str]) -> str:
    """Its next line."""
    assert process.stdout is not None
    return process.stdout.readline()
