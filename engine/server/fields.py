"""Reads a JSON body field by field: wrong types are refused by name, and fields that no handler has read are known."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from starlette.requests import Request as HttpRequest

from engine.server.problems import Problem, invalid

_T = TypeVar("_T")
_LONG = 1 << 16  # bytes; a longer body is read on another thread
_MOST_DEPTH = 64
# More than any model's context has room for. While they are parsed, no other thread of Python's runs. MEASURED: that is
# 0.1 s for so many values, and 0.15 s for so many names.
_MOST_VALUES = 1 << 20
_MOST_NAMES = 1 << 18


async def fields_of(request: HttpRequest) -> Fields:
    body = await request.body()
    is_long = len(body) > _LONG
    value = await asyncio.to_thread(_parse, body) if is_long else _parse(body)
    if not isinstance(value, dict):
        raise invalid("The body must be a JSON object.")
    return Fields(value, is_long=is_long)


def _parse(body: bytes) -> Any:
    # each value but the first in an object or array has a comma before it; those in texts are counted as well
    if sum(map(body.count, (b",", b"[", b"{"))) > _MOST_VALUES or body.count(b":") > _MOST_NAMES:
        raise Problem(413, "The body has too many values.", code="request_too_large")
    try:
        value = json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise invalid("The body is not JSON.", code="invalid_json") from error
    _check(value)
    return value


def _refuse(name: str) -> None:
    raise ValueError(name)


def _check(value: Any) -> None:
    """Raise for a value nested too deeply, and for what no answer could repeat: half of a surrogate pair, 1e999."""
    level: list[Any] = [value]
    for _ in range(_MOST_DEPTH):
        for each in level:
            if isinstance(each, str) and not each.isascii():
                _check_characters(each)
            if isinstance(each, float) and math.isinf(each):
                raise invalid("The body holds a number beyond a double.", code="invalid_json")
        level = [part for each in level if isinstance(each, dict | list) for part in _parts(each)]
        if not level:
            return
    raise invalid("The body is nested too deeply.", code="invalid_json")


def _parts(value: dict[str, Any] | list[Any]) -> list[Any]:
    return [*value, *value.values()] if isinstance(value, dict) else value


def _check_characters(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise invalid("The body holds half of a surrogate pair.", code="invalid_json") from error


class Fields:
    """One JSON object. `at`: its place in the body, for messages; `is_long`: the body."""

    def __init__(self, values: Mapping[str, Any], at: str = "", *, is_long: bool = False) -> None:
        self.values = dict(values)
        self.is_long = is_long
        self._at = at
        self._read: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return self.values.get(name) is not None

    @property
    def ignored(self) -> list[str]:
        """Names of fields with a value that were not read."""
        return sorted(name for name in self.values if name not in self._read and name in self)

    def ignore(self, *names: str) -> None:
        """Fields without effect."""
        self._read.update(names)

    def has(self, name: str) -> bool:
        """Whether it is there, null included."""
        self._read.add(name)
        return name in self.values

    def any(self, *names: str) -> Any:
        """The first of these that is neither missing nor null."""
        self._read.update(names)
        return next((self.values[name] for name in names if name in self), None)

    def text(self, name: str) -> str | None:
        return self._of_kind(str, name, "a string")

    def flag(self, name: str, default: bool = False) -> bool:
        value = self._of_kind(bool, name, "true or false")
        return default if value is None else value

    def number(self, *names: str) -> float | None:
        value = self.any(*names)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300 or math.isnan(value):
            raise self.wrong(self.given(names), "a number")
        return value

    def integer(self, *names: str) -> int | None:
        value = self.any(*names)
        if value is None:
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 1 << 64:
            raise self.wrong(self.given(names), "an integer")
        return value

    def items(self, name: str) -> list[Any]:
        return self._of_kind(list, name, "an array") or []

    def objects(self, name: str) -> list[Fields]:
        items = self.items(name)
        return [self._object(item, f"{name}[{at}]") for at, item in enumerate(items)]

    def object(self, name: str) -> Fields | None:
        value = self.any(name)
        return None if value is None else self._object(value, name)

    def raw(self, name: str) -> dict[str, Any]:
        """A JSON object as it is."""
        return self._of_kind(dict, name, "an object") or {}

    def place(self, name: str) -> str:
        """Of this field in the body."""
        return f"{self._at}{name}"

    def one_of(self, name: str, choices: Mapping[str, _T], usual: str = "") -> _T:
        chosen = self.text(name) or usual
        if chosen not in choices:
            raise self.wrong(name, f"one of {', '.join(choices)}")
        return choices[chosen]

    def wrong(self, name: str, wanted: str) -> Problem:
        return invalid(f"'{self.place(name)}' must be {wanted}.", self.place(name))

    def refuse(self, *names: str) -> None:
        """Refuse fields that would change the answer, and are not supported; not where they are empty."""
        for name in names:
            if self.any(name) not in (None, False, "", [], {}):
                raise invalid(f"'{self.place(name)}' is not supported.", name, "unsupported_parameter")

    def given(self, names: Sequence[str]) -> str:
        """The first of these that is there, null included; else the first."""
        return next((name for name in names if name in self), names[0])

    def _of_kind(self, kind: type[_T], name: str, wanted: str) -> _T | None:
        value = self.any(name)
        if value is not None and not isinstance(value, kind):
            raise self.wrong(name, wanted)
        return value

    def _object(self, value: Any, place: str) -> Fields:
        if not isinstance(value, dict):
            raise self.wrong(place, "an object")
        return type(self)(value, f"{self.place(place)}.", is_long=self.is_long)
