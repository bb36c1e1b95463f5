"""What a built-in tool is, and what it may reach in one call."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from app.storage import Stores
from app.system.limited_child import Stop
from app.tools.definitions import Tool, ToolResult, cleaned

BUILT_IN = ""  # the id of their server
T = TypeVar("T")


class Refusal(Exception):
    """Why a call fails, in words for the model."""


@dataclass(frozen=True, slots=True)
class Reach:
    chat_id: int = 0
    typed: frozenset[str] = frozenset()  # addresses in the user's own words, in the branch
    folders: tuple[Path, ...] = ()  # files and folders that the user chose for the chat
    documents: Mapping[str, tuple[Path, int]] = field(default_factory=dict)  # by name: a database, the id in it
    failed: Callable[[Path, sqlite3.Error], None] = lambda _path, _error: None  # called for a database that is damaged
    stores: Callable[[], AbstractContextManager[Stores]] | None = None  # opens a reader
    stop: Stop = field(default_factory=Stop)


Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BuiltIn:
    tool: Tool
    run: Callable[[Arguments, Reach], ToolResult]  # raises Refusal
    # It reaches nothing, or only what the user typed.
    is_free: Callable[[Arguments, Reach], bool] = lambda _arguments, _reach: False
    subject: Callable[[Arguments], str] = lambda _arguments: ""  # what consent for several calls is limited to


def described(name: str, description: str, required: Mapping[str, object], optional: Mapping[str, object] = {}) -> Tool:
    """`required`, `optional`: schemas of its parameters."""
    schema = {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }
    return Tool.of(BUILT_IN, name, description, schema, reads_only=True)


def named_as(name: str, named: Mapping[str, T]) -> T | None:
    """What has that name, or one that looks the same: a model writes a plain space for each kind of space."""
    if name in named:
        return named[name]
    wanted = _seen(name)
    return next((each for other, each in named.items() if _seen(other) == wanted), None)


def _seen(name: str) -> str:
    return " ".join(cleaned(unicodedata.normalize("NFC", name), len(name) + 1, lines=False).split())


def text_of(arguments: Arguments, name: str) -> str:
    """A text of the arguments; some models write null for what they leave out. Raises Refusal."""
    value = "" if arguments.get(name) is None else arguments[name]
    if not isinstance(value, str):
        raise Refusal(f"{name} must be a text")
    return value.strip()
