"""A tool and the result of a call. Values only; what a server says is cleaned and bounded here."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from app.markup.unseen import is_unseen
from app.storage.codec import is_shallow, storable
from app.tools import wire

LONGEST_DESCRIPTION = 2_000
LONGEST_RESULT = wire.LONGEST_RESULT
_LONGEST_NAME = 200  # of a tool, as its server calls it
_LONGEST_FLAT = 64
JOINT = "__"  # in a flat name, between server and tool
_DIGITS = 8
_NOT_FLAT = re.compile(r"[^A-Za-z0-9_-]")
_ANY_OBJECT = '{"properties":{},"type":"object"}'


class Answer(StrEnum):
    """What the user answers to a request for consent."""

    DONT = "dont"
    ONCE = "once"
    CHAT = "chat"  # for this tool in this chat
    ALWAYS = "always"  # for this tool


class AskReason(StrEnum):
    """Why consent is asked; the weightiest first."""

    CHANGED = "changed"  # there was one for this tool, but the server describes it differently now
    REPEAT = "repeat"  # an equal call was sent before the app ended, and it is not known whether it ran
    OUTSIDE = "outside"  # there is, but words from outside are in the chat, and this tool may change or send something
    NEW = "new"  # there is none for this tool yet
    MANY = "many"  # there is, but many calls ran without asking
    STEPS = "steps"  # the reply took many steps: whether it may go on


@dataclass(frozen=True)
class Tool:
    server: str  # id of its server; "": built in
    name: str  # as the server calls it
    description: str
    schema: str  # JSON of its parameters
    reads_only: bool = False  # the server's hint: chooses words, and when a consent rests (`gate`)
    origin: str = ""  # identity of the server: its absolute command and arguments, or the origin of its address

    @classmethod
    def of(
        cls, server: str, name: str, description: str, schema: object, *, reads_only: bool = False, origin: str = ""
    ) -> Tool:
        """From what a server says, which is not trusted."""
        return cls(
            server,
            cleaned(name, _LONGEST_NAME, lines=False),
            cleaned(description, LONGEST_DESCRIPTION),
            _schema_json(schema),
            reads_only,
            origin,
        )

    @property
    def id(self) -> str:
        """By which a chat's choice and the settings name it."""
        return f"{self.server}/{self.name}"

    @cached_property
    def flat_name(self) -> str:
        """The name that the model sees: A-Z, a-z, 0-9, "_" and "-", at most 64 characters, another for each tool."""
        whole = f"{self.server}{JOINT}{self.name}" if self.server else self.name
        flat = _NOT_FLAT.sub("-", whole)
        if flat == whole and len(flat) <= _LONGEST_FLAT and "_" not in self.server:
            return flat
        digest = hashlib.sha256(json.dumps([self.server, self.name]).encode()).hexdigest()[:_DIGITS]
        return f"{flat[: _LONGEST_FLAT - _DIGITS - 1]}_{digest}"

    @cached_property
    def digest(self) -> str:
        """Of all that consent is given for: a tool that differs in any of it needs another consent.

        The order of keys is no difference: some servers give them in another one each time.
        """
        schema = _to_json(json.loads(self.schema), in_order=True)
        seen = [self.origin, self.server, self.name, self.description, schema, self.reads_only]
        return hashlib.sha256(json.dumps(seen).encode()).hexdigest()

    def definition(self) -> dict[str, Any]:
        """For `Request.tools`, with the keys in the server's order, in which models read them best."""
        function = {
            "name": self.flat_name,
            "description": self.description,
            "parameters": json.loads(self.schema),
        }
        return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class ToolResult:
    text: str
    failed: bool = False
    pictures: tuple[bytes, ...] = ()  # PNG or JPEG, not decoded yet
    seconds: float = 0.0
    outside: bool = False  # it has words from outside: of any server, or of the web


def by_flat_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    """In order of their names; of two with one name the first."""
    found: dict[str, Tool] = {}
    for tool in sorted(tools, key=lambda each: (each.server, each.name)):
        found.setdefault(tool.flat_name, tool)
    return found


def cleaned(text: str, limit: int, *, lines: bool = True) -> str:
    """Without control characters and invisible ones, and of bounded length. `lines`: line breaks and tabs stay."""
    kept = "\n\t" if lines else ""
    text = storable(text[: 4 * limit])
    shown = (each if each in kept or not is_unseen(each) else " " for each in text)
    result = "".join(shown).strip()
    return result if len(result) <= limit else result[: limit - 1] + "…"


def cut(text: str, left_out: int = 0) -> str:
    """A result's text of bounded length; one that lacks something says so, to the model. `left_out`: characters."""
    text = storable(text)
    left_out += max(0, len(text) - LONGEST_RESULT)
    return f"{text[:LONGEST_RESULT]}\n\n[cut: {left_out} more characters]" if left_out else text


def _schema_json(schema: object) -> str:
    if not isinstance(schema, dict) or not is_shallow(schema):
        return _ANY_OBJECT
    try:
        text = _to_json(_clean(schema))
    except (ValueError, TypeError):
        return _ANY_OBJECT
    return text if len(text) <= wire.MOST_SCHEMA else _ANY_OBJECT


def _clean(value: Any) -> Any:
    """All text in it cleaned; names of parameters stay, since the server must get them back."""
    if isinstance(value, dict):
        return {storable(str(key)): _clean(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_clean(each) for each in value]
    return cleaned(value, LONGEST_DESCRIPTION) if isinstance(value, str) else value


def _to_json(value: object, *, in_order: bool = False) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=in_order)
