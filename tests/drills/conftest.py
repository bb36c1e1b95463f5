"""Whole drills run only when they are asked for: `-m drill`."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "drill: a slow proof; `make drills` runs them")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "drill" in config.option.markexpr.replace("not drill", ""):
        return
    slow = [item for item in items if item.get_closest_marker("drill")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in slow]
