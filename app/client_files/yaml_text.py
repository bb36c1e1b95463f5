"""YAML, changed at the places that its parser names: comments, order and every other value stay as they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from app.client_files.merging import Edit, NotKept, Unreadable, apply, index_of

_Lines = list[str]


def parsed(text: str) -> Any:
    """Raises Unreadable."""
    import yaml

    try:
        return yaml.safe_load(text) or {}
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Unreadable from error


def written(change: dict[str, Any]) -> str:
    """A file of its own."""
    return "".join(_lines(change, ""))


def edited(text: str, change: dict[str, Any]) -> str:
    """Raises Unreadable or NotKept."""
    import yaml

    if not isinstance(parsed(text), dict):
        raise Unreadable
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if root is None:
        return _ended(text) + written(change)
    return apply(text, _Writer(text).edits(root, change))


class _Writer:
    """Nodes are the parser's, which knows where each begins and ends."""

    def __init__(self, text: str) -> None:
        self._text = text

    def edits(self, node: Any, change: dict[str, Any]) -> Iterator[Edit]:
        """Of a mapping."""
        present = {key.value: value for key, value in node.value}
        new = {key: value for key, value in change.items() if key not in present}
        for key in change.keys() - new.keys():
            yield from self._changed(present[key], change[key])
        if new:
            indent = " " * node.value[0][0].start_mark.column if node.value else ""
            yield self._added(node, _lines(new, indent))

    def _changed(self, node: Any, value: Any) -> Iterator[Edit]:
        if node.id == "mapping" and isinstance(value, dict):
            yield from self.edits(node, value)
        elif node.id == "sequence" and isinstance(value, list):
            names = [{key.value: each.value for key, each in item.value} for item in node.value]
            for item in value:
                at = index_of(item, names)
                if at < len(names):
                    yield from self.edits(node.value[at], item)
                else:
                    yield self._added(node, _item(item, " " * node.start_mark.column))
        elif node.id != "scalar" or isinstance(value, dict | list) or node.style in ("|", ">"):
            raise NotKept
        elif parsed(f"x: {self._source(node)}\n") != {"x": value}:
            yield Edit(node.start_mark.index, node.end_mark.index, json.dumps(value, ensure_ascii=False))

    def _source(self, node: Any) -> str:
        return self._text[node.start_mark.index : node.end_mark.index]

    def _added(self, node: Any, lines: _Lines) -> Edit:
        """On lines of their own, after its last value and a comment beside that."""
        if node.flow_style or not node.value:
            raise NotKept
        at = self._text.find("\n", _end(node))
        at = len(self._text) if at < 0 else at + 1
        begin = "" if self._text[:at].endswith("\n") else "\n"
        return Edit(at, at, begin + "".join(lines))


def _end(node: Any) -> int:
    """Where its last value ends: the parser's own end of a block is where the next thing begins."""
    while node.id != "scalar" and not node.flow_style and node.value:
        node = node.value[-1][1] if node.id == "mapping" else node.value[-1]
    if node.id == "scalar" and node.style in ("|", ">"):
        raise NotKept
    return int(node.end_mark.index)


def _lines(values: dict[str, Any], indent: str) -> _Lines:
    lines = []
    for key, value in values.items():
        match value:
            case dict():
                lines += [f"{indent}{key}:\n", *_lines(value, f"{indent}  ")]
            case list():
                lines += [f"{indent}{key}:\n", *(line for item in value for line in _item(item, f"{indent}  "))]
            case _:
                lines.append(f"{indent}{key}: {json.dumps(value, ensure_ascii=False)}\n")
    return lines


def _item(values: dict[str, Any], indent: str) -> _Lines:
    first, *others = _lines(values, f"{indent}  ")
    return [f"{indent}- {first.lstrip()}", *others]


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"
