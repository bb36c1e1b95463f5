"""Weights are of half precision, and not widened as on a CPU: `pytest -p tests.as_mac.half`.

Tests that compare numbers with those of float32 count as expected failures; any other exception fails, as does what the
engine logs.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

from engine.models import networks
from tests.helpers import half_precision

_load = mx.load


def _halved(file: str, **options: Any) -> Any:
    """Weights, and nothing that is kept of a chat."""
    tensors = _load(file, **options)
    if options or not isinstance(tensors, dict):
        return tensors
    return {name: each.astype(mx.bfloat16) if each.dtype == mx.float32 else each for name, each in tensors.items()}


mx.load = _halved  # type: ignore[assignment]
mx.gather_mm = half_precision.gather_mm
networks.widens = lambda: False  # before others import it


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call" and call.excinfo is not None and call.excinfo.errisinstance(AssertionError):
        raises = Path(call.excinfo.traceback[-1].path)
        if raises.is_relative_to(item.config.rootpath / "tests"):
            report.outcome = "skipped"
            report.wasxfail = "a number of float32"
    return report
