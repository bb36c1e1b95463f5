"""Checks of option values: return the value to keep, or raise ValueError or TypeError.

A number out of range becomes the nearest allowed one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, TypeVar

from engine import Effort, Limits

T = TypeVar("T")

LONGEST_THINKING = 1_000_000  # tokens
LONGEST_SCHEMA = 20_000  # characters


def number(low: float, high: float, limits: Limits | None = None) -> Callable[[Any], float]:
    def check(value: Any) -> float:
        if not math.isfinite(float(value)):
            raise ValueError(value)
        kept = min(max(float(value), low), high)
        return kept if limits is None else limits.nearest(kept)

    return check


def whole(low: int, high: int) -> Callable[[Any], int]:
    return lambda value: int(min(max(int(value), low), high))


def optional(check: Callable[[Any], T]) -> Callable[[Any], T | None]:
    return lambda value: None if value is None else check(value)


def one_of(*choices: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in choices:
            raise ValueError(value)
        return str(value)

    return check


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def prompt(value: Any) -> str:
    """Text without halves of surrogate pairs."""
    return text(value).encode("utf-8", "replace").decode()


def schema(value: Any) -> str:
    """A JSON schema as text; "": none."""
    read = prompt(value).strip()
    if not read:
        return ""
    try:
        fits = len(read) <= LONGEST_SCHEMA and isinstance(json.loads(read), dict)
    except RecursionError:
        fits = False
    if not fits:
        raise ValueError(len(read))
    return read


def texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise TypeError(value)
    return tuple(text(each) for each in value)


def address(scheme: str) -> Callable[[Any], str]:
    """With the scheme that users leave out."""

    def check(value: Any) -> str:
        typed = text(value).strip()
        return f"{scheme}://{typed}" if typed and "://" not in typed else typed

    return check


def addresses(value: Any) -> tuple[str, ...]:
    """Each once."""
    return tuple(dict.fromkeys(map(address("https"), texts(value))))


def records(**kinds: type) -> Callable[[Any], tuple[dict[str, Any], ...]]:
    """The valid ones of a list of objects: those that have all these fields, of these kinds."""

    def check(value: Any) -> tuple[dict[str, Any], ...]:
        if not isinstance(value, list | tuple):
            raise TypeError(value)
        found = [each for each in value if isinstance(each, dict)]
        return tuple(each for each in found if all(isinstance(each.get(name), kind) for name, kind in kinds.items()))

    return check


def mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(value)
    return {name: each for name, each in value.items() if isinstance(name, str)}


def mappings(value: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict):
        raise TypeError(value)
    return {str(name): values for name, values in value.items() if isinstance(values, dict)}


def words_by_name(value: Any) -> dict[str, str]:
    return {name: each for name, each in mapping(value).items() if isinstance(each, str)}


def how_to_think(value: Any) -> str | int:
    """Off, an effort, or a limit in tokens. Earlier versions stored true or false, "free" or "short"."""
    if isinstance(value, bool):
        return "normal" if value else "off"
    if type(value) is int:
        return whole(1, LONGEST_THINKING)(value)
    return one_of("off", *Effort)({"free": "normal", "short": "low"}.get(value, value))


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(value)
    return value
