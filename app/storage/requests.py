"""The statistics of each request, kept after its chat is deleted: pages of them, and totals.

SQLite sums the counters; rates are computed from the sums as `RequestStats` does for a single reply.
"""

from __future__ import annotations

import math
import sqlite3
import time
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from app.markup.kinds import kind_of
from app.storage.codec import LARGEST, as_text, as_time, as_title, stats_from_json, stats_to_json
from app.storage.database import Store
from app.storage.records import ReplyStatus, ReplyText
from engine import MAX_DRAFT_TOKENS, RequestStats

# The first round and token of a reply do not count in its rates, so the sums leave them out.
_BEHIND_THE_FIRST = ("generated_tokens", "rounds")
_SUMMED = tuple(
    field.name
    for field in fields(RequestStats)
    if field.type in ("int", "float")
    and field.name not in ("stretch_rounds", "draft_speed", "plain_rounds_error", "plain_passes", "context_tokens")
)
_PLAIN, _DRAFTED, _JUDGED = range(3)
# Older than the request with that id; 0: all.
_OLDER = "(? = 0 OR (requests.created_at, requests.id) < (SELECT created_at, id FROM requests WHERE id = ?))"
# Reads each number of the JSON once; text sorts above all numbers, so it exceeds the maximum.
_READ = (
    "WITH counters AS MATERIALIZED (SELECT main_name, draft_name, language, content, "
    + ", ".join(f"json_extract(stats, '$.{name}') AS {name}" for name in (*_SUMMED, "plain_rounds_error"))
    + " FROM requests WHERE json_valid(stats))"
)


@dataclass(frozen=True, slots=True)
class StoredRequest:
    id: int
    chat_id: int
    message_id: int
    title: str  # of its chat; "" if that was deleted
    main_name: str
    draft_name: str
    status: ReplyStatus
    stats: RequestStats
    at_s: float  # when it ended


class Grouping(StrEnum):
    PAIR = "pair"
    LANGUAGE = "language"
    CONTENT = "content"


@dataclass(frozen=True, slots=True)
class Total:
    """Sums over requests with one key: "main" and "draft" of a pair, else "" and a code.

    `drafted`: those that drafted; `judged`: those whose speed was compared with plain decoding.
    """

    key: tuple[str, str]
    requests: int
    drafted: RequestStats
    judged: RequestStats


_KEYS = {
    Grouping.PAIR: ("main_name", "draft_name"),
    Grouping.LANGUAGE: ("''", "language"),
    Grouping.CONTENT: ("''", "content"),
}


class RequestStore(Store):
    def add(self, reply: ReplyText, status: ReplyStatus, stats: RequestStats) -> None:
        """Add a request; detects language and content from the stored reply, in the transaction that ends it."""
        kind = kind_of(reply.text or reply.thinking)
        sql = (
            "INSERT INTO requests"
            " (chat_id, message_id, main_name, draft_name, status, language, content, stats, created_at)"
            " SELECT chat_id, id, main_name, draft_name, ?, ?, ?, ?, ? FROM messages WHERE id = ?"
        )
        values = (status, kind.language, kind.content, stats_to_json(stats), time.time(), reply.message_id)
        self._db.execute(sql, values)

    def recent(self, limit: int, before: int = 0) -> list[StoredRequest]:
        """Newest first; `before`: only older ones. Unreadable rows are left out."""
        sql = (
            "SELECT requests.*, chats.title FROM requests"
            " LEFT JOIN chats ON chats.id = requests.chat_id AND chats.deleted_at IS NULL"
            f" WHERE {_OLDER} ORDER BY requests.created_at DESC, requests.id DESC LIMIT ?"
        )
        stored = (_stored(row) for row in self._db.rows(sql, (before, before, limit)))
        return [each for each in stored if each is not None]

    def older(self, before: int) -> int:
        """Number of requests older than that one."""
        return int(self._db.rows(f"SELECT count(*) FROM requests WHERE {_OLDER}", (before, before))[0][0])

    def last_of(self, message_id: int) -> int:
        """The newest request of a message; 0: none."""
        return int(self._db.rows("SELECT ifnull(max(id), 0) FROM requests WHERE message_id = ?", (message_id,))[0][0])

    def clear(self) -> None:
        self._db.execute("DELETE FROM requests")

    def totals(self, grouping: Grouping) -> list[Total]:
        """Totals by key, with the most requests first."""
        first, second = _KEYS[grouping]
        sums = ", ".join(_sum_of(name) for name in _SUMMED)
        sql = (
            f"{_READ} SELECT {first} AS first, {second} AS second, {_DEGREE} AS degree, count(*) AS requests, {sums},"
            f" {_SQUARED_ERRORS} AS squared_errors FROM counters GROUP BY 1, 2, 3"
        )
        groups: dict[tuple[str, str], dict[int, sqlite3.Row]] = {}
        for row in self._db.rows(sql):
            groups.setdefault((as_text(row["first"]), as_text(row["second"])), {})[row["degree"]] = row
        positions = self._positions(grouping)
        totals = (_total(key, by_degree, positions.get(key, {})) for key, by_degree in groups.items())
        return sorted(totals, key=lambda total: (-total.requests, total.key))

    def _positions(self, grouping: Grouping) -> dict[tuple[str, str], dict[int, tuple[int, int]]]:
        """(drafted, accepted) tokens by key and position in the draft."""
        first, second = _KEYS[grouping]
        sql = (
            f"SELECT {first} AS first, {second} AS second, place.key AS position, total(place.value) AS drafted,"
            " total(json_extract(stats, '$.accepted_by_position[' || place.key || ']')) AS accepted"
            " FROM requests, json_each(iif(json_valid(stats), stats, '{}'), '$.drafted_by_position') AS place"
            " WHERE typeof(place.key) = 'integer' AND place.key < ? GROUP BY 1, 2, 3"
        )
        found: dict[tuple[str, str], dict[int, tuple[int, int]]] = {}
        for row in self._db.rows(sql, (MAX_DRAFT_TOKENS,)):
            key = as_text(row["first"]), as_text(row["second"])
            found.setdefault(key, {})[row["position"]] = int(row["drafted"]), int(row["accepted"])
        return found


def _counter(name: str) -> str:
    """An impossible number counts as 0, as in `codec`."""
    return f"CASE WHEN {name} BETWEEN 0 AND {LARGEST:.0f} THEN {name} ELSE 0 END"


def _sum_of(name: str) -> str:
    value = f"max(0, {_counter(name)} - 1)" if name in _BEHIND_THE_FIRST else _counter(name)
    return f"total({value}) AS {name}"


_DEGREE = (
    f"CASE WHEN {_counter('drafted')} = 0 THEN {_PLAIN}"
    f" WHEN {_counter('plain_rounds')} = 0 THEN {_DRAFTED} ELSE {_JUDGED} END"
)
_ERROR = f"({_counter('plain_rounds_error')} * {_counter('plain_rounds')})"
_SQUARED_ERRORS = f"total({_ERROR} * {_ERROR})"


def _total(key: tuple[str, str], by_degree: dict[int, sqlite3.Row], positions: dict[int, tuple[int, int]]) -> Total:
    requests = sum(row["requests"] for row in by_degree.values())
    drafted = [row for degree, row in by_degree.items() if degree != _PLAIN]
    judged = [row for degree, row in by_degree.items() if degree == _JUDGED]
    places = [positions.get(place, (0, 0)) for place in range(max(positions, default=-1) + 1)]
    by_position = replace(
        _summed(drafted),
        drafted_by_position=tuple(place[0] for place in places),
        accepted_by_position=tuple(place[1] for place in places),
    )
    return Total(key, requests, by_position, _summed(judged))


def _summed(rows: list[sqlite3.Row]) -> RequestStats:
    """Statistics as of one long reply."""
    if not rows:
        return RequestStats()
    counters = {name: sum(row[name] for row in rows) for name in _SUMMED}
    for name in _BEHIND_THE_FIRST:
        counters[name] += 1
    whole = {field.name for field in fields(RequestStats) if field.type == "int"}
    values: dict[str, Any] = {name: int(value) if name in whole else value for name, value in counters.items()}
    plain = counters["plain_rounds"]
    error = math.sqrt(sum(row["squared_errors"] for row in rows)) / plain if plain else 0.0
    return replace(RequestStats(plain_rounds_error=error), **values)


def _stored(row: sqlite3.Row) -> StoredRequest | None:
    stats = stats_from_json(row["stats"])
    if stats is None:
        return None
    return StoredRequest(
        id=row["id"],
        chat_id=row["chat_id"] or 0,
        message_id=row["message_id"] or 0,
        title="" if row["title"] is None else as_title(row["title"]),  # the chat was deleted
        main_name=as_text(row["main_name"]),
        draft_name=as_text(row["draft_name"]),
        status=ReplyStatus.stored(row["status"]),
        stats=stats,
        at_s=as_time(row["created_at"]),
    )
