"""`make slow` runs a sample of each drill, `make drills` the whole."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents and item.get_closest_marker("drill") is None:
            item.add_marker(pytest.mark.slow)
