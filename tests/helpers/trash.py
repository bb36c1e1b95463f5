"""Starts of the app on days of the test's, for what is kept for some days."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from app.storage.database import Connection
from app.storage.trash import KEPT_S, Trash

DAY_S = 86_400
DAYS = KEPT_S // DAY_S + 7


def on_day(day: float, start: Callable[[], object]) -> None:
    """What a start does, so many days from now."""
    moment = time.time() + day * DAY_S
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.time", lambda: moment)
        start()


def nearly_overdue(database: Connection) -> None:
    """As if a start on each of the last days had seen what is in the Trash: the next one forgets it for good.

    For any thread: the clock by which a test waits is as it was.
    """
    for day in range(-DAYS, 0):
        moment = time.time() + day * DAY_S
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("app.storage.trash.time", SimpleNamespace(time=lambda moment=moment: moment))
            Trash(database).purge()
