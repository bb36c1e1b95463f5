"""How long things have been kept, by what the starts have seen: no clock that is wrong at one of them ends anything.

From start to start at most a week counts, in either direction, and a week is waited for beyond the time: a start whose
clock is years ahead brings nothing to its end too early, and the next one, whose clock is right, takes it back.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable

from app.storage.codec import as_json_object
from app.storage.database import Connection

_WEEK_S = 7 * 86_400


class Ages:
    """Kept in a note of the database."""

    def __init__(self, database: Connection, note: str) -> None:
        self._db = database
        self._note = note

    def overdue(self, things: Iterable[float], kept_s: float) -> list[float]:
        """For a start: of all there are, each named by the moment of its beginning, those kept for so long."""
        now, noted = time.time(), self._noted()
        gone_by = max(-_WEEK_S, min(_WEEK_S, now - noted.get("now", now)))
        counted = noted.get("counted", 0.0) + gone_by
        begun = {thing: noted.get(str(thing), counted - max(0.0, min(gone_by, now - thing))) for thing in things}
        values = {"now": now, "counted": counted} | {str(thing): moment for thing, moment in begun.items()}
        self._db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (self._note, json.dumps(values)))
        return [thing for thing, moment in begun.items() if counted - moment >= kept_s + _WEEK_S]

    def _noted(self) -> dict[str, float]:
        """What damage has made something else of is left out: the time begins again then."""
        row = self._db.row("SELECT value FROM notes WHERE name = ?", (self._note,))
        noted = (None if row is None else as_json_object(row["value"])) or {}
        return {name: value for name, value in noted.items() if type(value) is float and math.isfinite(value)}
