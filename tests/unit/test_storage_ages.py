"""What is kept for its time stays at least so long whatever one start's clock says, and not for ever."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.storage.database import Connection
from app.storage.trash import Ages

DAY_S = 86_400.0
TODAY = 1.8e9
KEPT_DAYS = 30


@pytest.fixture
def database() -> Iterator[Connection]:
    yield from notes()


def notes() -> Iterator[Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT)")
        yield Connection(connection)


def gone_after(database: Connection, days: Iterable[float], began: float = 0) -> float | None:
    """The day of the start that ends what was there on the first; `days` and `began` from TODAY, by their clocks."""
    with pytest.MonkeyPatch.context() as patch:
        for day in days:
            patch.setattr("time.time", lambda day=day: TODAY + day * DAY_S)
            if Ages(database, "kept").overdue([TODAY + began * DAY_S], KEPT_DAYS * DAY_S):
                return day
    return None


@pytest.mark.parametrize(
    ("pause", "longest"),
    [(0.3, 38), (1, 38), (3, 40), (7, 45), (40, 400)],
)
def test_it_goes_in_time_however_often_the_app_is_started(database: Connection, pause: float, longest: float) -> None:
    gone = gone_after(database, (pause * start for start in range(1000)))
    assert gone is not None
    assert KEPT_DAYS < gone <= longest


@given(st.integers(0, 37), st.floats(-100_000, 100_000))
def test_no_clock_that_is_wrong_at_one_start_ends_it_before_its_time(start: int, wrong: float) -> None:
    for database in notes():
        days: list[float] = list(range(60))
        days[start] = wrong
        starts = iter(days)
        assert gone_after(database, starts) is not None
        assert len(days) - len(list(starts)) > KEPT_DAYS


def test_a_clock_that_is_another_at_each_start_ends_nothing(database: Connection) -> None:
    """Two systems on one machine, of which one is wrong."""
    assert gone_after(database, ((0.01 * start, 9000)[start % 2] for start in range(1000))) is None


@pytest.mark.parametrize("began", [-20_000, 20_000])
def test_what_began_while_the_clock_was_wrong_has_all_its_time(database: Connection, began: float) -> None:
    gone = gone_after(database, [began, *range(60)], began)
    assert gone is not None
    assert KEPT_DAYS <= gone <= 45


@pytest.mark.parametrize(
    "note", ["", "[]", '{"now": "x", "counted": null}', '{"now": 1e999}', '{"now": NaN, "counted": 3}']
)
def test_a_damaged_note_has_the_time_begin_anew(database: Connection, note: str) -> None:
    assert gone_after(database, range(20)) is None
    database.execute("UPDATE notes SET value = ?", (note,))
    gone = gone_after(database, range(20, 100))
    assert gone is not None
    assert gone >= 20 + KEPT_DAYS


def test_what_is_there_no_more_is_not_noted(database: Connection) -> None:
    gone_after(database, [0, 1])
    assert Ages(database, "kept").overdue([], 0) == []
    row = database.row("SELECT value FROM notes")
    assert row is not None
    assert set(json.loads(row[0])) == {"now", "counted"}
