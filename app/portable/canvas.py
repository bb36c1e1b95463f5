"""Documents that ChatGPT writes beside a conversation, in its canvas: what of them the messages to it hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from app.portable.json_stream import loads
from app.portable.loose import list_at, name_at, object_at, text_at
from app.portable.markdown import fenced
from app.portable.problems import Unreadable

_CREATE, _UPDATE = "canmore.create_textdoc", "canmore.update_textdoc"
_CODE = "code/"
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_MARKS = re.compile(r"([\\`*_\[\]<>&])")


def is_for_canvas(message: dict[str, Any]) -> bool:
    return text_at(message, "recipient") in (_CREATE, _UPDATE)


def kinds(messages: Iterable[dict[str, Any]]) -> Iterator[str]:
    """For each message the kind of the document that was created last: an update does not say it."""
    kind = ""
    for message in messages:
        if text_at(message, "recipient") == _CREATE:
            kind = name_at(_said(message), "type")
        yield kind


def text_of(message: dict[str, Any], kind: str) -> str:
    """A document with its name, or what an update puts into one of that kind; what cannot be read stays as it is."""
    found = _said(message)
    if isinstance(found.get("content"), str):
        return _named(name_at(found, "name"), _document(text_at(found, "content"), name_at(found, "type")))
    if isinstance(found.get("updates"), list):
        written = (text_at(each, "replacement") for each in found["updates"])
        return "\n\n".join(filter(None, (_document(each, kind) for each in written)))
    raw = _raw(message)
    return fenced(raw, "json") if raw.strip() else ""


def _named(name: str, document: str) -> str:
    title = _MARKS.sub(r"\\\1", name)
    return "\n\n".join(filter(None, (f"**{title}**" if title else "", document)))


def _document(content: str, kind: str) -> str:
    """Code in a fence; other documents are Markdown themselves."""
    if not kind.startswith(_CODE) or not content.strip():
        return content.strip()
    language = _LANGUAGE.fullmatch(kind.removeprefix(_CODE))
    return fenced(content, language[0] if language else "")


def _said(message: dict[str, Any]) -> dict[str, Any]:
    try:
        found = loads(_raw(message))
    except Unreadable:
        return {}
    return found if isinstance(found, dict) else {}


def _raw(message: dict[str, Any]) -> str:
    """The JSON, which stands where code or where words do."""
    content = object_at(message, "content")
    parts = [each for each in list_at(content, "parts") if isinstance(each, str)]
    return text_at(content, "text") or text_at({"said": "".join(parts)}, "said")
