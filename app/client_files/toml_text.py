"""TOML, changed line by line: what that would break is found when the result is read again."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from app.client_files.merging import NotKept, Unreadable

_HEADER = re.compile(r"\s*\[")

_MOST_MARKS = 100  # in a value, before which a comment may begin


def parsed(text: str) -> Any:
    """Raises Unreadable."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable from error


def written(change: dict[str, Any]) -> str:
    """A file of its own."""
    return edited("", change)


def edited(text: str, change: dict[str, Any]) -> str:
    """Raises NotKept."""
    lines = text.splitlines(keepends=True)
    for path, values in _tables(change, ()):
        begin = _begin(lines, path)
        if begin is None:
            head = ["\n"] if lines else []
            if lines and not lines[-1].endswith("\n"):
                lines[-1] += "\n"
            lines += [*head, f"[{'.'.join(map(_key, path))}]\n"]
            begin = len(lines)
        end = next((at for at in range(begin, len(lines)) if _HEADER.match(lines[at])), len(lines))
        lines[begin:end] = _with(lines[begin:end], values)
    return "".join(lines)


def _tables(change: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Those that have values of their own, the outermost first."""
    values = {key: value for key, value in change.items() if not isinstance(value, dict)}
    if values:
        yield path, values
    for key, value in change.items():
        if isinstance(value, dict):
            yield from _tables(value, (*path, key))


def _begin(lines: list[str], path: tuple[str, ...]) -> int | None:
    """The first line after the header of a table; None: it has none."""
    if not path:
        return 0
    names = r"\s*\.\s*".join(_named(name) for name in path)
    header = re.compile(rf"\s*\[\s*{names}\s*\]\s*(?:#.*)?$")
    return next((at + 1 for at, line in enumerate(lines) if header.match(line)), None)


def _with(lines: list[str], values: dict[str, Any]) -> list[str]:
    """The lines of one table. New ones come after the last that was changed, else first."""
    lines, behind = list(lines), 0
    new = []
    for key, value in values.items():
        known = re.compile(rf"\s*{_named(key)}\s*=\s*")
        at = next((at for at, line in enumerate(lines) if known.match(line)), None)
        if at is None:
            new.append(f"{_key(key)} = {_packed(value)}\n")
        elif found := known.match(lines[at]):
            lines[at] = found[0] + _packed(value) + lines[at][found.end() + _value_length(lines[at][found.end() :]) :]
            behind = max(behind, at + 1)
    if behind and new and not lines[behind - 1].endswith("\n"):
        lines[behind - 1] += "\n"
    gap = ["\n"] if new and not behind and lines and lines[0].strip() else []
    return [*lines[:behind], *new, *gap, *lines[behind:]]


def _value_length(rest: str) -> int:
    """Of the value with which the rest of a line begins: up to a comment, or to its end. Raises NotKept."""
    marks = [at for at, char in enumerate(rest) if char == "#"]
    for end in (*marks[:_MOST_MARKS], len(rest)):
        value = rest[:end].rstrip()
        try:
            tomllib.loads(f"x = {value}\n")
        except ValueError:
            continue
        return len(value)
    raise NotKept  # it goes on in the next line


def _named(key: str) -> str:
    return rf"(?:{re.escape(key)}|{re.escape(_packed(key))}|'{re.escape(key)}')"


def _key(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else _packed(key)


def _packed(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
