"""MLX on a CPU would compile C++ into a folder that all users of a machine share; the engine must not let it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import mlx.core as mx
import pytest

from tests.architecture.project import ROOT

_ACTIVATION = """
import mlx.core as mx
import engine.models.loading
from mlx_lm.models.activations import swiglu
mx.eval(swiglu(mx.ones((4, 4)), mx.ones((4, 4))))
"""


@pytest.mark.skipif(mx.metal.is_available(), reason="Metal's kernels are not compiled by g++")
def test_engine_compiles_nothing_at_run_time(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", _ACTIVATION], cwd=ROOT, env=environment, check=True, timeout=120)
    assert list(tmp_path.iterdir()) == []
