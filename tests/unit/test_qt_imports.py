"""Imports after Qt's read no source files."""

from __future__ import annotations

import subprocess
import sys

import pytest

_CODE = """
import inspect
from app.system.qt_imports import read_no_sources

told, read = read_no_sources(), []
inspect.getsource = lambda module: read.append(module) or ""
import app.application
print(told, len(read))
"""


def test_this_version_of_qt_reads_no_source_of_what_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "0"]


@pytest.mark.slow
def test_without_it_every_source_is_read() -> None:
    """Or there is nothing left to turn off."""
    code = _CODE.replace("read_no_sources(), []", "None, []")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[1]) > 100
