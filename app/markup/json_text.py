"""Replies that are JSON, as Markdown to show: a table, a tree, or the JSON itself on lines. No Qt.

Their strings come from a model, so every mark of Markdown in them is escaped. Tables are cut into pieces with a head of
their own, because a long text is read piece by piece.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

FENCE = "```json\n"
_LONGEST = 400_000  # characters that are read; a longer text is shown as JSON. MEASURED: 117 ms a megabyte
_MOST_COLUMNS = 50
_PIECE_ROWS = 100
_PIECE_CHARS = 3_000
_DEEPEST = 8  # levels of a tree; what is deeper is one line
_INDENT = 2
_MOST_INDENT = 40
# How constrained JSON begins, which is written in one way only; "[" alone may begin a link.
_BEGINS = re.compile(r'\s{0,99}(?:\{\s{0,99}["}]|\[\s{0,99}[{"\[\]])')
_MARKS = re.compile(r"[!-+\--/:-@\[-`{-~]")
_PARTS = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\],:]|\s+|[^\s"{}\[\],:]+|"', re.DOTALL)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Spelled(str):
    """A number as it is written."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class JsonTable:
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]  # texts, numbers, flags, and None


def may_be_json(text: str) -> bool:
    """Whether a text that is still written is shown as JSON."""
    return _BEGINS.match(text) is not None


def read(text: str) -> Any:
    """The value of a text that is JSON as a whole, an object or a list; else None."""
    if len(text) > _LONGEST or not may_be_json(text):
        return None
    try:
        return json.loads(text, parse_int=Spelled, parse_float=Spelled, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> None:
    raise ValueError(name)


def table_of(value: Any) -> JsonTable | None:
    """A list of objects without lists or objects in them; also as the only thing in an object."""
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if not isinstance(value, list) or not value or not all(isinstance(row, dict) and row for row in value):
        return None
    columns = tuple(dict.fromkeys(name for row in value for name in row))
    flat = all(not isinstance(cell, dict | list) for row in value for cell in row.values())
    if not flat or len(columns) > _MOST_COLUMNS:
        return None
    return JsonTable(columns, tuple(tuple(row.get(name) for name in columns) for row in value))


def as_markdown(value: Any) -> str:
    table = table_of(value)
    return "\n\n".join(_pieces(table)) if table is not None else "\n".join(_tree(value, 0))


def as_csv(table: JsonTable) -> str:
    """By RFC 4180. A text that a spreadsheet would take for a formula begins with an apostrophe."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\r\n")
    writer.writerow([_guarded(name) for name in table.columns])
    writer.writerows([[_guarded(cell) for cell in row] for row in table.rows])
    return lines.getvalue()


def _guarded(cell: Any) -> str:
    text = word(cell)
    is_number = isinstance(cell, Spelled)
    return f"'{text}" if text.startswith(_FORMULA) and not is_number else text


def word(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _pieces(table: JsonTable) -> Iterator[str]:
    marks = ["---:" if _is_numeric(cells) else "---" for cells in zip(*table.rows, strict=True)]
    head = f"{_line(table.columns)}\n|{'|'.join(marks)}|"
    rows: list[str] = []
    size = 0
    for row in table.rows:
        rows.append(_line(row))
        size += len(rows[-1])
        if len(rows) == _PIECE_ROWS or size > _PIECE_CHARS:
            yield "\n".join([head, *rows])
            rows.clear()
            size = 0
    if rows:
        yield "\n".join([head, *rows])


def _is_numeric(cells: tuple[Any, ...]) -> bool:
    given = [cell for cell in cells if cell is not None]
    return bool(given) and all(isinstance(cell, Spelled) for cell in given)


def _line(cells: tuple[Any, ...]) -> str:
    return f"| {' | '.join(_escaped(word(cell)) for cell in cells)} |"


def _escaped(text: str) -> str:
    """By character references: a backslash before a bracket begins a formula."""
    return _MARKS.sub(lambda mark: f"&#{ord(mark[0])};", " ".join(text.split()))


def _tree(value: Any, depth: int) -> Iterator[str]:
    """Items of a nested list; a list's items without names."""
    indent = "  " * depth
    named = isinstance(value, dict)
    for name, each in value.items() if named else enumerate(value, 1):
        label = f"**{_escaped(str(name)) or '–'}**" if named else ""
        nested = isinstance(each, dict | list) and bool(each)
        if nested and depth < _DEEPEST:
            yield f"{indent}- {label or name}"
            yield from _tree(each, depth + 1)
        else:
            is_empty = isinstance(each, dict | list) and not each
            text = _escaped(json.dumps(each, ensure_ascii=False) if nested else word(None if is_empty else each))
            yield f"{indent}- {f'{label}: ' if label else ''}{text or '–'}"


class ShownReply:
    """A reply's text as Markdown: JSON on lines while it is written, then as a table or a tree."""

    def __init__(self) -> None:
        self._source = ""
        self._key = (False, False)
        self._shown = ""
        self._lines = Indented()

    def of(self, text: str, *, growing: bool, raw: bool) -> str:
        """`raw`: as JSON, also when it is complete. What is no JSON is returned as it is, or has words after it."""
        if not may_be_json(text):
            return text
        if self._key == (growing, raw) and text is self._source and self._shown:
            return self._shown
        goes_on = growing and self._key[0] and text.startswith(self._source)
        if not goes_on:
            self._lines = Indented()
        self._source = text
        self._key = (growing, raw)
        value = None if growing or raw else read(text)
        markdown = "" if value is None else as_markdown(value)
        self._shown = markdown or FENCE + self._lines.text(text, complete=not growing)
        if self._lines.is_followed:
            self._shown = text
        return self._shown


class Indented:
    """JSON that grows, on lines: what was returned stays as it was."""

    def __init__(self) -> None:
        self.read = 0  # characters of the source
        self.is_followed = False  # there are words after the value
        self._kept = ""  # of the source, whose part may go on
        self._lines: list[str] = []
        self._depth = 0
        self._opened = False  # after an opening bracket

    def text(self, source: str, *, complete: bool) -> str:
        """`source` is what was given before and more."""
        self._feed(source[self.read :], complete=complete)
        self.read = len(source)
        kept = self._kept.strip()
        return "".join([*self._lines, self._break() if kept and self._opened else "", kept])

    def _feed(self, added: str, *, complete: bool) -> None:
        text = self._kept + added
        self._kept = ""
        for part in _PARTS.finditer(text):
            word = part[0]
            if part.end() == len(text) and not complete and word not in "{}[],:":
                self._kept = word
                return
            self._put(word)

    def _put(self, word: str) -> None:
        if word.isspace():
            return
        if word not in "{}[],:" and self._depth <= 0:
            self.is_followed = True
        if word in "}]":
            self._depth -= 1
            if not self._opened:
                self._lines.append(self._break())
        elif self._opened:
            self._lines.append(self._break())
        self._opened = word in "{["
        self._depth += self._opened
        self._lines.append({",": f",{self._break()}", ":": ": "}.get(word, word))

    def _break(self) -> str:
        return "\n" + " " * min(_MOST_INDENT, max(0, self._depth) * _INDENT)
