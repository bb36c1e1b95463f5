"""What an import brings along: the window must be up before anything heavy is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.architecture.project import ROOT

_MODEL_LIBRARIES = ["mlx", "mlx_lm", "transformers", "huggingface_hub", "tokenizers", "numpy"]
_SERVER_LIBRARIES = ["starlette", "uvicorn", "prometheus_client"]


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("engine", [*_MODEL_LIBRARIES, *_SERVER_LIBRARIES, "PySide6"]),
        ("app.application", [*_MODEL_LIBRARIES, *_SERVER_LIBRARIES]),
        ("app.system.platform_check", [*_MODEL_LIBRARIES, "PySide6"]),
    ],
)
def test_import_loads_nothing_heavy(module: str, unwanted: list[str]) -> None:
    code = f"import {module}, sys; print([name for name in {unwanted} if name in sys.modules])"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr
