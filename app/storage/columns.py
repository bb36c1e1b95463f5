"""The columns of a message, apart from its id and those that name other messages: one list for all readers and writers.

Those are `parent_id` and `reads_from`; a copy has other ids.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.storage.codec import LATEST_S, as_text, as_time, exportable_object, is_shallow, object_to_json, storable
from app.storage.database import Connection
from app.storage.parts import Parts, part_to_json, parts_from_json, parts_of, parts_to_json
from app.storage.records import ReplyStatus

ROLES = ("user", "assistant", "system")


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its value in a row, in a `PortableMessage`, and in JSON.

    `from_file` does not trust the file: it raises ValueError, and returns the default for None.
    """

    from_row: Callable[[object], Any]
    from_file: Callable[[object], Any]
    to_row: Callable[[Any], object] = _same
    to_file: Callable[[Any], object] = _same


def text_from_file(value: object) -> str:
    return "" if value is None else storable(checked(value, str))


def number_from_file(value: object) -> float:
    number = 0.0 if value is None else checked(value, int | float)
    if isinstance(value, bool) or not abs(number) <= LATEST_S:
        raise ValueError
    return float(number)


def time_from_file(value: object) -> float:
    return max(0.0, number_from_file(value))


def object_from_file(value: object) -> dict[str, Any] | None:
    if value is None:
        return None
    if not is_shallow(value):
        raise ValueError
    cleaned: dict[str, Any] = json.loads(storable(json.dumps(checked(value, dict), ensure_ascii=False)))
    return cleaned


def _role_from_file(value: object) -> str:
    if value not in ROLES:
        raise ValueError
    return str(value)


def _status_from_row(value: object) -> str:
    status = as_text(value)
    return ReplyStatus.INTERRUPTED if status == ReplyStatus.STREAMING else status


def _status_from_file(value: object) -> str:
    status = ReplyStatus.stored(value) if isinstance(value, str) else ReplyStatus.DONE
    return ReplyStatus.DONE if status is ReplyStatus.STREAMING else status


def _parts_from_file(value: object) -> Parts:
    """MEASURED: through JSON, as for other values, they would take twice the memory."""
    return tuple(map(_storable_part, parts_of(checked(value, list)))) if value else ()


def _storable_part(part: Any) -> Any:
    values = {name: getattr(part, name) for name in part.__slots__}
    return replace(part, **{name: storable(each) for name, each in values.items() if type(each) is str})


def checked(value: Any, kind: Any) -> Any:
    """The value if it has that type; else raises ValueError."""
    if not isinstance(value, kind):
        raise ValueError
    return value


_TEXT = Column(as_text, text_from_file)
_OBJECT = Column(exportable_object, object_from_file, to_row=object_to_json)

COLUMNS: Mapping[str, Column] = {
    "role": Column(as_text, _role_from_file),
    "text": _TEXT,
    "thinking": _TEXT,
    "thinking_s": Column(as_time, number_from_file),
    "status": Column(_status_from_row, _status_from_file),
    "main_name": _TEXT,
    "draft_name": _TEXT,
    "stats": _OBJECT,
    "error": _OBJECT,
    "drafting": _OBJECT,
    "parts": Column(parts_from_json, _parts_from_file, parts_to_json, lambda parts: list(map(part_to_json, parts))),
    "created_at": Column(as_time, time_from_file),
    "pinned": Column(bool, lambda value: value is True, to_row=int),
}


def insert_message(database: Connection, chat_id: int, parent_id: int | None, values: Mapping[str, object]) -> int:
    """Insert a row with the values of `COLUMNS`. Returns its id."""
    names = ("chat_id", "parent_id", *values)
    sql = f"INSERT INTO messages ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    return database.execute(sql, (chat_id, parent_id, *values.values()))
