"""JSON as editors read it, with comments and commas before a closing bracket: changed where it has to be, else kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from app.client_files.merging import Edit, NotKept, Unreadable, apply, index_of

_GAP = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_REST = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/[ \t]*)?(?=\r?\n)")  # of a line that has nothing more to say
_INDENT = re.compile(r"[ \t]*")


@dataclass(slots=True)
class _Node:
    start: int
    end: int
    data: Any
    keys: list[int] = field(default_factory=list)  # where each of its members begins
    members: list[_Node] = field(default_factory=list)
    comma: bool = False  # after the last of them

    def member(self, key: str) -> _Node:
        return self.members[list(self.data).index(key)]


def parsed(text: str) -> Any:
    """Raises Unreadable."""
    return _Reader(text).whole().data


def written(change: dict[str, Any]) -> str:
    """A file of its own."""
    return json.dumps(change, ensure_ascii=False, indent=2) + "\n"


def edited(text: str, change: dict[str, Any]) -> str:
    """Raises Unreadable or NotKept."""
    root = _Reader(text).whole()
    if not isinstance(root.data, dict):
        raise Unreadable
    return apply(text, _Writer(text, root).edits(root, change))


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._decoder = json.JSONDecoder()

    def whole(self) -> _Node:
        try:
            node = self._value(self._skip(0))
        except (ValueError, IndexError, RecursionError) as error:
            raise Unreadable from error
        if self._skip(node.end) != len(self._text):
            raise Unreadable
        return node

    def _skip(self, at: int) -> int:
        found = _GAP.match(self._text, at)
        return found.end() if found else at

    def _value(self, at: int) -> _Node:
        if self._text[at] not in "{[":
            data, end = self._decoder.raw_decode(self._text, at)
            return _Node(at, end, data)
        is_object = self._text[at] == "{"
        node = _Node(at, at, {} if is_object else [])
        at = self._skip(at + 1)
        while self._text[at] != ("}" if is_object else "]"):
            if node.members and not node.comma:
                raise ValueError(at)
            node.keys.append(at)
            at = self._skip(self._member(node, at, is_object).end)
            node.comma = self._text[at] == ","
            at = self._skip(at + 1) if node.comma else at
        node.end = at + 1
        return node

    def _member(self, node: _Node, at: int, is_object: bool) -> _Node:
        if not is_object:
            child = self._value(at)
            node.data.append(child.data)
        else:
            if self._text[at] != '"':
                raise ValueError(at)
            key, at = self._decoder.raw_decode(self._text, at)
            at = self._skip(at)
            if key in node.data or self._text[at] != ":":  # programs differ in which of two with one name counts
                raise ValueError(at)
            child = self._value(self._skip(at + 1))
            node.data[key] = child.data
        node.members.append(child)
        return child


class _Writer:
    def __init__(self, text: str, root: _Node) -> None:
        self._text = text
        self._unit = (self._indent(root.keys[0]) if root.keys else None) or "  "

    def edits(self, node: _Node, change: dict[str, Any]) -> Iterator[Edit]:
        new = {key: value for key, value in change.items() if key not in node.data}
        for key in change.keys() - new.keys():
            yield from self._changed(node.member(key), change[key])
        if new:
            yield from self._added(node, [(f"{_packed(key)}: ", value) for key, value in new.items()])

    def _changed(self, node: _Node, value: Any) -> Iterator[Edit]:
        if isinstance(node.data, dict) and isinstance(value, dict):
            yield from self.edits(node, value)
        elif isinstance(node.data, list) and isinstance(value, list):
            places = [(index_of(item, node.data), item) for item in value]
            for at, item in places:
                if at < len(node.data):
                    yield from self.edits(node.members[at], item)
            if new := [("", item) for at, item in places if at == len(node.data)]:
                yield from self._added(node, new)
        elif isinstance(node.data, dict | list):
            raise NotKept
        elif node.data != value or type(node.data) is not type(value):
            yield Edit(node.start, node.end, _packed(value))

    def _added(self, node: _Node, entries: list[tuple[str, Any]]) -> Iterator[Edit]:
        """After its last member, on lines of their own where its members are."""
        if not node.members:
            outer = self._line_indent(node.start)
            inner = outer + self._unit
            lines = ",".join(f"\n{inner}{name}{self._written(value, inner)}" for name, value in entries)
            yield Edit(node.start + 1, node.start + 1, f"{lines}\n{outer}")
            return
        last = node.members[-1].end
        indent = self._indent(node.keys[-1])
        if indent is None:
            lines = ", ".join(f"{name}{_packed(value)}" for name, value in entries)
            yield Edit(last, last, f", {lines}")
            return
        lines = ",".join(f"\n{indent}{name}{self._written(value, indent)}" for name, value in entries)
        behind = self._text.index(",", _gap_end(self._text, last)) + 1 if node.comma else last
        rest = _REST.match(self._text, behind)
        at = rest.end() if rest else behind
        if node.comma:
            yield Edit(at, at, f"{lines},")
        elif at == last:
            yield Edit(at, at, f",{lines}")
        else:
            yield Edit(last, last, ",")
            yield Edit(at, at, lines)

    def _written(self, value: Any, indent: str) -> str:
        return json.dumps(value, ensure_ascii=False, indent=self._unit).replace("\n", f"\n{indent}")

    def _indent(self, at: int) -> str | None:
        """Before what begins a line; None: it does not begin one."""
        indent = self._line_indent(at)
        return indent if self._text[:at].endswith(f"\n{indent}") else None

    def _line_indent(self, at: int) -> str:
        found = _INDENT.match(self._text, self._text.rfind("\n", 0, at) + 1)
        return found[0] if found else ""


def _gap_end(text: str, at: int) -> int:
    found = _GAP.match(text, at)
    return found.end() if found else at


def _packed(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
