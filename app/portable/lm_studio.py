"""LM Studio's chats: lists of messages with versions, of which the chosen ones follow one another."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Any

from app.portable.beside import wanted
from app.portable.json_stream import loads
from app.portable.problems import Unreadable, WhyNotRead
from app.portable.reading import (
    LONGEST_RESULT,
    MOST_NODES,
    list_at,
    name_at,
    note,
    number_at,
    object_at,
    options_with,
    text_at,
    time_at,
)
from app.storage.codec import is_shallow
from app.storage.parts import Attachment, Call, Content, Part, Result, Text, Thinking, content_of, of_kind
from app.storage.portable import PortableChat, PortableMessage

_MS = 0.001
_ROLES = ("user", "assistant")
_PROMPT = "llm.prediction.systemPrompt"
_THINK = "<think>"
_THOUGHT = "</think>"
_MADE_AT = re.compile(r"(\d{13})-")  # a step's identifier begins with its time


def is_lm_studio(found: dict[str, Any]) -> bool:
    """Not a tree of other apps, in which several messages follow one."""
    messages = list_at(found, "messages")
    parents = [str(parent) for each in messages if (parent := text_at(each, "parent") or number_at(each, "parent"))]
    return bool(messages) and len(set(parents)) == len(parents) and all(map(_is_message, messages))


def _is_message(found: Any) -> bool:
    return isinstance(found, dict) and ("versions" in found or ("role" in found and "content" in found))


def chat_of(found: dict[str, Any], folder: tuple[str, ...] = ()) -> PortableChat:
    """Raises Unreadable."""
    began = time_at(found, "createdAt", unit_s=_MS)
    messages: list[PortableMessage] = []
    parent: int | None = None
    for slot in list_at(found, "messages"):
        parent = _add_versions(messages, slot, parent, messages[-1].created_at if messages else began)
        if len(messages) > MOST_NODES:
            raise Unreadable(WhyNotRead.TOO_LARGE)
    if not messages:
        raise Unreadable(WhyNotRead.EMPTY)
    title = name_at(found, "name") or name_at(found, "title")
    last = max(time_at(found, name, unit_s=_MS) for name in ("userLastMessagedAt", "assistantLastMessagedAt"))
    known_by = "".join(each.text for each in (messages[:1] if began else messages))
    words = hashlib.blake2b(known_by.encode(), digest_size=8).hexdigest()
    return PortableChat(
        origin=f"lmstudio:{began}:{words}",
        title=title,
        messages=tuple(messages),
        shown=parent,
        renamed=bool(title),
        pinned=found.get("pinned") is True,
        created_at=began,
        updated_at=last or began,
        folder=folder,
        options=options_with(text_at(found, "systemPrompt").strip() or _set_prompt(found) or _system_message(found)),
    )


def _set_prompt(found: dict[str, Any]) -> str:
    """The system prompt among the settings that are the chat's own."""
    used = found.get("usePerChatPredictionConfig") is not False
    fields = list_at(object_at(found, "perChatPredictionConfig"), "fields") if used else []
    return next((text_at(each, "value").strip() for each in fields if text_at(each, "key") == _PROMPT), "")


def _system_message(found: dict[str, Any]) -> str:
    slots = [(list_at(slot, "versions") or [slot])[0] for slot in list_at(found, "messages")]
    for slot in slots:
        if text_at(slot, "role") == "system":
            said = _Said()
            _take(slot, said)
            return "\n\n".join(filter(None, said.texts))
    return ""


def _add_versions(messages: list[PortableMessage], slot: Any, parent: int | None, after: float) -> int | None:
    """Add a message's versions; returns the number of the chosen one, which is the next message's parent.

    `after`: the time of one that does not say its own.
    """
    versions = list_at(slot, "versions") or [slot]
    chosen = number_at(slot, "currentlySelected")
    followed = parent
    for place, version in enumerate(versions):
        message = _message(version, len(messages) + 1, parent, after)
        if message is not None:
            messages.append(message)
            if place == chosen or followed == parent:
                followed = message.number
    return followed


@dataclass(slots=True)
class _Said:
    whole: list[Part] = field(default_factory=list)  # texts, thoughts, calls and results, in order
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    model: str = ""
    created_at: float = 0.0


def _message(version: Any, number: int, parent: int | None, after: float) -> PortableMessage | None:
    role = text_at(version, "role")
    said = _Said()
    if role not in _ROLES:
        return None
    for step in list_at(version, "steps") or [version]:
        _take(step, said)
    said.model = said.model or name_at(object_at(version, "senderInfo"), "senderName")
    text, thinking = _split_thinking("\n\n".join(filter(None, said.texts)))
    thinking = "\n\n".join(filter(None, [*said.thoughts, thinking]))
    if not (text or thinking or said.attachments or said.whole):
        return None
    content = Content(text, thinking, parts=tuple(said.attachments))
    if of_kind(Call, said.whole):
        content = content_of([*said.attachments, *said.whole])
    return PortableMessage(
        number=number,
        parent=parent,
        role=role,
        text=content.text,
        thinking=content.thinking,
        main_name=said.model if role == "assistant" else "",
        parts=content.parts,
        created_at=said.created_at or after,
    )


def _take(step: Any, said: _Said) -> None:
    """A step of a reply, or a message without steps."""
    content = step.get("content") if isinstance(step, dict) else None
    items = content if isinstance(content, list) else [{"type": "text", "text": content}]
    text = "".join(text_at(item, "text") for item in items if text_at(item, "type") == "text").strip()
    thinks = text_at(object_at(step, "style"), "type") == "thinking"
    (said.thoughts if thinks else said.texts).append(text)
    if text:
        said.whole.append(Thinking(text) if thinks else Text(text))
    said.whole += filter(None, map(_called, items))
    for item in items:
        if text_at(item, "type") == "file":
            said.attachments.append(_file(item))
    made = object_at(step, "genInfo")
    said.model = name_at(made, "indexedModelIdentifier") or name_at(made, "identifier") or said.model
    if not said.created_at and (at := _MADE_AT.match(text_at(step, "stepIdentifier"))):
        said.created_at = int(at[1]) * _MS


def _called(item: Any) -> Part | None:
    """A call of a tool, or its result."""
    kind = text_at(item, "type")
    number = next((str(item[name]) for name in ("toolCallRequestId", "callId") if item.get(name)), "")
    if kind == "toolCallRequest":
        parameters = object_at(item, "parameters")
        arguments = json.dumps(parameters, ensure_ascii=False) if is_shallow(parameters) else "{}"
        server = name_at(item, "pluginIdentifier").removeprefix("mcp/")
        return Call(number, name_at(item, "name"), arguments, server)
    if kind == "toolCallResult":
        return Result(number, name_at(item, "name"), _result_text(item), outside=True)
    return None


def _result_text(item: Any) -> str:
    """Of a text, or of a list of contents as JSON in one."""
    content = item.get("content")
    if isinstance(content, str):
        try:
            content = loads(content)
        except Unreadable:
            return text_at(item, "content")[:LONGEST_RESULT]
    contents = content if isinstance(content, list) else [content]
    texts = [each if isinstance(each, str) else text_at(each, "text") for each in contents]
    return "\n\n".join(filter(None, texts))[:LONGEST_RESULT] or text_at(item, "content")[:LONGEST_RESULT]


def _file(item: Any) -> Attachment:
    kind, name, file = (name_at(item, each) for each in ("fileType", "name", "fileIdentifier"))
    return wanted(name or file, file) if kind == "image" and file else note(name or kind or "file")


def _split_thinking(text: str) -> tuple[str, str]:
    """Separate thinking that is marked within a reply's text."""
    if not text.startswith(_THINK) or _THOUGHT not in text:
        return text, ""
    thinking, _, rest = text.removeprefix(_THINK).partition(_THOUGHT)
    return rest.strip(), thinking.strip()
