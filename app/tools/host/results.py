"""What a server said, as bounded plain values for the app: tools and results of calls."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from app.tools.wire import LONGEST_RESULT, MOST_PICTURES, MOST_SCHEMA, PICTURE_BYTES

_LONGEST_NAME = 1_000
_LONGEST_DESCRIPTION = 8_000  # before it is cleaned
_LONGEST_WORD = 300  # of names, types and addresses in a result
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")


@dataclass(slots=True)
class HostResult:
    text: str = ""
    left_out: int = 0  # characters
    failed: bool = False
    pictures: list[bytes] = field(default_factory=list)


def tool_of(name: str, description: str | None, schema: object, hints: object) -> dict[str, Any]:
    """Of a schema that is too large or no JSON nothing is sent; then the tool takes any object."""
    try:
        text = json.dumps(schema, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        text = ""
    return {
        "name": name[:_LONGEST_NAME],
        "description": (description or "")[:_LONGEST_DESCRIPTION],
        "schema": text if len(text) <= MOST_SCHEMA else "",
        "reads_only": getattr(hints, "read_only_hint", None) is True,
    }


def result_of(raw: dict[str, Any]) -> HostResult:
    """From the result of a call as it came. What is neither text nor a picture is named."""
    result = HostResult(failed=raw.get("isError") is True)
    content = raw.get("content")
    items = content if isinstance(content, list) else []
    if not items and raw.get("structuredContent") is not None:
        items = [{"type": "text", "text": json.dumps(raw["structuredContent"], ensure_ascii=False)}]
    _join(result, (_text_of(each, result) for each in items))
    return result


def _join(result: HostResult, texts: Iterable[str]) -> None:
    kept: list[str] = []
    room = LONGEST_RESULT
    for each in texts:
        kept.append(each[:room])
        result.left_out += len(each) - len(kept[-1])
        room -= len(kept[-1])
        if room <= 0:
            kept = ["\n".join(kept)]  # thousands of items stay one text
    result.text = "\n".join(each for each in kept if each)[: LONGEST_RESULT + 1]


def _text_of(item: object, result: HostResult) -> str:
    match item:
        case {"type": "text", "text": str(text)} | {"type": "resource", "resource": {"text": str(text)}}:
            said = text
        case {"type": "image", "data": str(data)}:
            said = _picture(data, _word(item, "mimeType"), result)
        case {"type": "resource_link"}:
            said = f"[{_word(item, 'name')}: {_word(item, 'uri')}]"
        case {"type": "resource", "resource": dict(resource)}:
            said = f"[a file that is no text, left out: {_word(resource, 'uri')} {_word(resource, 'mimeType')}]"
        case {"type": "audio"}:
            said = f"[a sound, left out: {_word(item, 'mimeType')}]"
        case _:
            said = f"[left out: {_word(item, 'type') or 'something without a type'}]"
    return said


def _picture(data: str, kind: str, result: HostResult) -> str:
    used = sum(map(len, result.pictures))
    if len(result.pictures) == MOST_PICTURES:
        return f"[a picture, left out: more than {MOST_PICTURES}]"
    if used + len(data) * 3 // 4 > PICTURE_BYTES:
        return f"[a picture, left out: more than {PICTURE_BYTES >> 20} MiB]"
    try:
        picture = base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        picture = b""
    if not picture.startswith(_PICTURES):
        return f"[a picture, left out: {kind or 'of no type'}]"
    result.pictures.append(picture)
    return ""


def _word(item: Any, name: str) -> str:
    value = item.get(name) if isinstance(item, dict) else None
    return value[:_LONGEST_WORD] if isinstance(value, str) else ""
