"""Statistics and errors as JSON, so that footers and notices can be worded later in any language.

Reads values of older and newer versions, and damaged ones: unknown fields are ignored, missing and impossible ones take
their defaults. Reading never raises.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from dataclasses import asdict, fields
from typing import Any, Never

import engine
from engine import DraftingState, EngineError, InternalError, RequestStats

_USUAL = {field.name: getattr(RequestStats(), field.name) for field in fields(RequestStats)}
_RATES = [name for name, value in vars(RequestStats).items() if isinstance(value, property)]
_UNREADABLE = "unreadable"
LONGEST_TITLE = 500
LATEST_S = 4e10  # a later moment has no date
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\ufe0e\ufe0f")  # characters without any ink
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
LARGEST = 1e15  # largest counter or time of a reply, so that sums stay finite
_MOST_PLACES = 1000  # values by position, or over time
_MOST_DEPTH = 100  # of an object that goes with a chat or message


def stats_to_json(stats: RequestStats) -> str:
    return json.dumps(asdict(stats), separators=(",", ":"))


def stats_from_json(text: object) -> RequestStats | None:
    """The statistics; None if there are none, or they cannot be read."""
    stored = as_json_object(text)
    if stored is None:
        return None
    stats = RequestStats(**{name: like(usual, stored.get(name)) for name, usual in _USUAL.items()})
    return stats if _is_consistent(stats) else None


def _is_consistent(stats: RequestStats) -> bool:
    """Whether all rates can be computed, as they can from consistent counters."""
    try:
        for rate in _RATES:
            getattr(stats, rate)
    except (ArithmeticError, ValueError, IndexError):
        return False
    return True


def error_to_json(error: EngineError) -> str:
    values = asdict(error)  # type: ignore[call-overload]
    return json.dumps({"type": type(error).__name__, **values}, ensure_ascii=False)


def error_from_json(text: object) -> EngineError | None:
    if text is None:
        return None
    stored = as_json_object(text) or {}
    kind = getattr(engine, str(stored.pop("type", "")), None)
    if not (isinstance(kind, type) and issubclass(kind, EngineError) and kind is not EngineError):
        return InternalError(_UNREADABLE)
    kinds = {field.name: field.type for field in fields(kind)}  # type: ignore[arg-type]
    known = {name: value for name, value in stored.items() if name in kinds}
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in known.items()}
    if not all(_is_of(kinds[name], value) for name, value in values.items()):
        return InternalError(_UNREADABLE)
    try:
        return kind(**values)
    except TypeError:  # a field of the class is missing
        return InternalError(_UNREADABLE)


def as_text(value: object) -> str:
    """A text column, which damage may have given another type."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def as_name(value: object) -> str:
    """A name for display: one line of bounded length, with its own direction; may be empty."""
    return _UNSEEN.sub(" ", as_text(value)[:LONGEST_TITLE]).strip()


def as_title(value: object) -> str:
    """A chat's title, or the name of a folder or file: never blank."""
    title = as_name(value)
    inked = (char not in _BLANK and unicodedata.category(char)[0] not in "CZ" for char in title)
    return title if any(inked) else "…"


def as_json_object(text: object) -> dict[str, Any] | None:
    if not isinstance(text, str):
        return None
    try:
        stored = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return stored if isinstance(stored, dict) else None


def exportable_object(text: object) -> dict[str, Any] | None:
    """The object, if it can be exported as JSON and imported again."""
    try:
        value = None if text is None else json.loads(as_text(text), parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and is_shallow(value) else None


def object_to_json(value: dict[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def is_shallow(value: object) -> bool:
    """Whether it is no deeper than an import accepts."""
    layer = [value]
    for _ in range(_MOST_DEPTH):
        inner = [each.values() if isinstance(each, dict) else each for each in layer if isinstance(each, dict | list)]
        layer = [each for some in inner for each in some]
        if not layer:
            return True
    return False


def _refuse(_constant: str) -> Never:
    raise ValueError


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def as_time(value: object) -> float:
    """A moment or a duration in seconds; 0.0 if impossible."""
    return value if isinstance(value, float) and 0 <= value < LATEST_S else 0.0


def storable(text: str) -> str:
    """The text without halves of surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def like(usual: Any, value: Any) -> Any:
    """`value` if it has the type of `usual` and is possible for a reply."""
    if isinstance(usual, DraftingState):
        return DraftingState(value) if value in list(DraftingState) else DraftingState.OFF
    if isinstance(usual, tuple):
        whole = isinstance(value, list) and len(value) <= _MOST_PLACES and all(_counts(each) for each in value)
        return tuple(value) if whole else usual
    if isinstance(usual, str | bool):
        return value if isinstance(value, type(usual)) else usual
    if isinstance(usual, int):
        return value if _counts(value) else usual
    return value if _is_number(value) and 0 <= value <= LARGEST else usual


def _counts(value: object) -> bool:
    return type(value) is int and 0 <= value <= LARGEST


def _is_number(value: object) -> bool:
    """Whether it is a finite number that Qt's integers can hold."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18


def _is_of(annotation: object, value: object) -> bool:
    """Whether a value has the type that the error's class declares."""
    if "int" in str(annotation) or "float" in str(annotation):
        return _is_number(value) or (value is None and "None" in str(annotation))
    if "bool" in str(annotation):
        return isinstance(value, bool)
    if "tuple" in str(annotation):
        return isinstance(value, tuple) and all(isinstance(each, str) for each in value)
    return isinstance(value, str) or (value is None and "None" in str(annotation))
