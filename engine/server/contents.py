"""A message's content: a string or parts, in one form whichever it comes in, so that the next turn is found again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from engine.api.types import Message, MessageRole
from engine.server.fields import Fields
from engine.server.problems import invalid

_TEXTS = {"text", "input_text", "output_text", "refusal"}


def text_of(fields: Fields, name: str = "content") -> str:
    """The text of a string, or of parts, joined."""
    value = fields.any(name)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return "".join(_part(part) for part in fields.objects(name))


def _part(part: Fields) -> str:
    kind = part.text("type") or "text"
    if kind not in _TEXTS:
        raise invalid(f"Parts of type '{kind}' are not supported.", "messages", "unsupported_parameter")
    return part.text("refusal" if kind == "refusal" else "text") or ""


def settled(messages: Sequence[Message]) -> tuple[Message, ...]:
    """System messages at the beginning are one, and one at the end is the user's turn: no template answers it."""
    told = list(takewhile(lambda message: message.role is MessageRole.SYSTEM, messages))
    rest = list(messages[len(told) :])
    if told:
        rest.insert(0, Message(MessageRole.SYSTEM, "\n\n".join(message.content for message in told)))
    if len(rest) > 1 and rest[-1].role is MessageRole.SYSTEM:
        rest[-1] = replace(rest[-1], role=MessageRole.USER)
    return tuple(rest)
