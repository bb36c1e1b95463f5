"""`make slow` runs a sample of each drill, `make drills` the whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if str(item.path).startswith(here) and item.get_closest_marker("drill") is None:
            item.add_marker(pytest.mark.slow)
