"""Statistics and errors as JSON, so that footers and notices can be worded later in any language.

Reads what older and newer versions wrote: unknown fields are ignored, missing ones take their defaults.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any

import engine
from engine import DraftingState, EngineError, InternalError, RequestStats

_STATS_FIELDS = {field.name: field for field in fields(RequestStats)}


def stats_to_json(stats: RequestStats) -> str:
    return json.dumps(asdict(stats), separators=(",", ":"))


def stats_from_json(text: str) -> RequestStats:
    stored: dict[str, Any] = json.loads(text)
    known = {name: _stats_value(name, value) for name, value in stored.items() if name in _STATS_FIELDS}
    return RequestStats(**known)


def _stats_value(name: str, value: Any) -> Any:
    if name == "drafting":
        return DraftingState(value) if value in set(DraftingState) else DraftingState.OFF
    return tuple(value) if isinstance(value, list) else value


def error_to_json(error: EngineError) -> str:
    values = asdict(error)  # type: ignore[call-overload]
    return json.dumps({"type": type(error).__name__, **values}, ensure_ascii=False)


def error_from_json(text: str) -> EngineError:
    stored: dict[str, Any] = json.loads(text)
    kind = getattr(engine, stored.pop("type", ""), None)
    if not (isinstance(kind, type) and issubclass(kind, EngineError)):
        return InternalError(text)
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()}
    try:
        return kind(**values)
    except TypeError:  # the class has other fields by now
        return InternalError(text)
