"""The matrix library in front of MLX's own, in processes of its own: MLX takes its names from it once, for ever."""

from __future__ import annotations

import os
import subprocess
import sys
from platform import machine

import pytest

from tests.architecture.project import ROOT

_MULTIPLY = """
import mlx.core as mx
a = mx.arange(12.0).reshape(3, 4)
print(in_front, (a @ a.T).tolist() == [[14, 38, 62], [38, 126, 214], [62, 214, 366]])
mx.eval(mx.linalg.qr(a, stream=mx.cpu))
print(any("openblas-for-mlx" in line for line in open("/proc/self/maps")))
"""
_PUT = "from engine.models.openblas import put_in_front"
_BEFORE_MLX = f"{_PUT}; in_front = put_in_front()" + _MULTIPLY
_AFTER_MLX = "import mlx.core; " + _BEFORE_MLX
# What the loader finds under the plain name is the library's own function.
_FOUND = """
from ctypes import CDLL, c_void_p, cast
from engine.models.openblas import LIBRARY
print(cast(CDLL(None).cblas_sgemm, c_void_p).value == cast(CDLL(str(LIBRARY)).cblas_sgemm, c_void_p).value)
"""

linux_only = pytest.mark.skipif((sys.platform, machine()) != ("linux", "x86_64"), reason="MLX is fast elsewhere")


def _output(code: str) -> list[str]:
    wanted = os.environ | {"HUNCH_OPENBLAS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=wanted, check=True, capture_output=True, text=True, timeout=60
    )
    return done.stdout.split()


@linux_only
def test_mlx_calls_it_when_it_comes_first() -> None:
    assert _output(_BEFORE_MLX + _FOUND) == ["True", "True", "True", "True"]


@linux_only
def test_mlx_that_is_imported_already_keeps_its_own() -> None:
    assert _output(_AFTER_MLX) == ["False", "True", "False"]


@linux_only
def test_a_file_that_is_missing_or_no_library_changes_nothing_and_the_environment_can_say_no() -> None:
    odd = "from pathlib import Path; print(*(put_in_front(Path(name)) for name in ('none', 'pyproject.toml')))"
    code = f"import os; {_PUT}; {odd}; os.environ['HUNCH_OPENBLAS'] = '0'; in_front = put_in_front()"
    assert _output(code + _MULTIPLY) == ["False", "False", "False", "True", "False"]


@linux_only
@pytest.mark.slow
@pytest.mark.parametrize("wanted", [True, False])
def test_the_engine_loads_it_on_its_own_thread_unless_it_is_not_wanted(wanted: bool) -> None:
    code = f"""
import threading
from engine import Engine
engine, gone = Engine(openblas={wanted}), threading.Event()
engine.unload(lambda event: gone.set())
gone.wait()
in_front = engine.close()
"""
    assert _output(code + _MULTIPLY) == ["True", "True", str(wanted)]
