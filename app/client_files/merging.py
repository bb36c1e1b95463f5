"""What a program's file is to have besides what it has, and places of a text that are changed for that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard


class Unreadable(Exception):
    """The text is not what its program reads."""


class NotKept(Exception):
    """What is to be in it cannot come in without something else being lost."""


@dataclass(frozen=True, slots=True)
class Edit:
    """In place of the characters from `start` to `end`, which may be none."""

    start: int
    end: int
    text: str


def apply(text: str, edits: Iterable[Edit]) -> str:
    pieces, at = [], 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*pieces, text[at:]])


def merged(present: Any, change: Any) -> Any:
    """Objects key by key, lists of objects by their names; in place of a single value another. Raises NotKept."""
    if isinstance(present, dict) and isinstance(change, dict):
        return present | {key: merged(present[key], new) if key in present else new for key, new in change.items()}
    if is_named(present) and is_named(change):
        items = list(present)
        for item in change:
            at = index_of(item, items)
            items[at : at + 1] = [merged(items[at], item) if at < len(items) else item]
        return items
    if isinstance(present, dict | list) or isinstance(change, dict | list):
        raise NotKept
    return change


def is_named(items: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(items, list) and all(isinstance(item, dict) for item in items)


def index_of(item: dict[str, Any], items: Sequence[dict[str, Any]]) -> int:
    """The index of the item with the same name; the length where there is none."""
    if "name" not in item:
        return len(items)
    return next((at for at, each in enumerate(items) if each.get("name") == item["name"]), len(items))
