"""Our own form of chats: JSON that holds everything, one chat a line, and before them the presets that they use.

What is read is not trusted.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from app.portable.problems import Unreadable, WhyNotRead
from app.storage.attachments import Attachment, Attachments, attachments_of
from app.storage.codec import LATEST_S, LONGEST_TITLE, as_name, as_title
from app.storage.portable import ROLES, Json, PortableChat, PortableMessage
from app.storage.records import ReplyStatus

FORMAT = "hunch.chats"
VERSION = 1
_BEGIN = f'{{"format": "{FORMAT}"'.encode()

MOST_PRESETS = 500
MOST_PICTURE_BYTES = 150_000_000  # of one chat: as base64 they and its words are less than an import reads of a chat
_LONGEST_NAME = 100
TAIL = "\n]}\n"


def head(presets: Sequence[dict[str, Any]] = ()) -> str:
    kept = f'"presets": {json.dumps(list(presets), ensure_ascii=False, allow_nan=False)}, ' if presets else ""
    return f'{_BEGIN.decode()}, "version": {VERSION}, {kept}"chats": ['


def is_export(path: Path) -> bool:
    """By its first bytes, as `head` writes them."""
    try:
        if not path.is_file():  # to open a pipe would wait for its writer
            return False
        with path.open("rb") as file:
            return file.read(len(_BEGIN)) == _BEGIN
    except OSError:
        return False


def line_of(chat: PortableChat) -> str:
    """Every field, in one line of JSON."""
    values = asdict(chat)
    values["id"] = values.pop("origin")
    for message in values["messages"]:
        message["id"] = message.pop("number")
    return json.dumps(values, ensure_ascii=False, allow_nan=False)


def check_head(found: dict[str, Any]) -> None:
    version = found.get("version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise Unreadable(WhyNotRead.WRONG)
    if version > VERSION:
        raise Unreadable(WhyNotRead.NEWER)


def presets_of(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Those that are presets, in the object around the chats; what they set is checked where it is used."""
    presets = found.get("presets") if found.get("format") == FORMAT else None
    for each in presets[:MOST_PRESETS] if isinstance(presets, list) else ():
        if isinstance(each, dict) and isinstance(each.get("values"), dict):
            number, name = each.get("id"), each.get("name")
            if isinstance(number, str) and isinstance(name, str) and 0 < len(number) <= _LONGEST_NAME and name.strip():
                name = as_title(" ".join(as_name(storable(name)).split())[:_LONGEST_NAME])
                yield {"id": storable(number), "name": name, "values": _object(each, "values")}


def chat_of(found: dict[str, Any], *, ours: bool = False) -> PortableChat:
    """Raises Unreadable for whatever is not as `line_of` writes it; fields that are missing have their usual values.

    `ours`: thumbnails are of our own making, which are decoded in this process.
    """
    messages = tuple(_messages(_of(found.get("messages"), list)))
    if not ours:
        messages = tuple(map(_without_thumbnails, messages))
    numbers = {message.number for message in messages}
    shown = found.get("shown")
    return PortableChat(
        origin=_text(found, "id")[:500],
        title=_text(found, "title")[:LONGEST_TITLE],
        messages=messages,
        shown=shown if type(shown) is int and shown in numbers else None,
        renamed=found.get("renamed") is True,
        pinned=found.get("pinned") is True,
        created_at=_time(found, "created_at"),
        updated_at=_time(found, "updated_at"),
        folder=tuple(storable(_of(name, str))[:LONGEST_TITLE] for name in _of(found.get("folder", []), list)[:50]),
        options=_object(found, "options"),
    )


def with_bytes(chat: PortableChat, bytes_of: Callable[[str], bytes | None]) -> PortableChat:
    """Pictures with what is stored of them, as base64 in place of the text that they do not have: each once.

    Versions of a message have the same ones. Those that are too many are left out, so that the words can be read;
    `without_bytes` names them.
    """
    written, left = {""}, MOST_PICTURE_BYTES

    def whole(attachment: Attachment) -> Attachment:
        nonlocal left
        data = bytes_of(attachment.digest) if attachment.digest not in written else None
        written.add(attachment.digest)
        left -= len(data or b"")
        data = data if left >= 0 else None
        text = attachment.text if data is None else base64.b64encode(data).decode()
        return replace(attachment, text=text, thumbnail="")

    messages = (replace(each, attachments=tuple(map(whole, each.attachments))) for each in chat.messages)
    return replace(chat, messages=tuple(messages))


def without_bytes(chat: PortableChat) -> set[str]:
    """The digests of pictures whose bytes `with_bytes` has not put in."""
    pictures = [each for message in chat.messages for each in message.attachments if each.is_picture]
    return {each.digest for each in pictures} - {each.digest for each in pictures if each.text}


def _without_thumbnails(message: PortableMessage) -> PortableMessage:
    attachments = tuple(replace(each, thumbnail="") for each in message.attachments)
    return replace(message, attachments=attachments) if attachments else message


def _messages(found: list[Any]) -> Iterator[PortableMessage]:
    known: set[int] = set()
    for each in found:
        message = _message(_of(each, dict), known)
        known.add(message.number)
        yield message


def _message(found: dict[str, Any], known: set[int]) -> PortableMessage:
    number, parent, role = _of(found.get("id"), int), found.get("parent"), found.get("role")
    if number in known or role not in ROLES:
        raise Unreadable(WhyNotRead.WRONG)
    if parent is not None and (type(parent) is not int or parent not in known):
        raise Unreadable(WhyNotRead.CIRCLE)
    return PortableMessage(
        number=number,
        parent=parent,
        role=role,
        text=_text(found, "text"),
        thinking=_text(found, "thinking"),
        thinking_s=_number(found, "thinking_s"),
        status=_status(found.get("status")),
        main_name=_text(found, "main_name"),
        draft_name=_text(found, "draft_name"),
        stats=_object(found, "stats"),
        error=_object(found, "error"),
        drafting=_object(found, "drafting"),
        attachments=_attachments(found.get("attachments")),
        created_at=_time(found, "created_at"),
    )


def _status(value: object) -> str:
    status = ReplyStatus.stored(value) if isinstance(value, str) else ReplyStatus.DONE
    return ReplyStatus.DONE if status is ReplyStatus.STREAMING else status


def _attachments(found: object) -> Attachments:
    """MEASURED: by way of JSON, as other values are made storable, they would take twice the memory."""
    attachments = attachments_of(_of(found, list)) if found else ()
    return tuple(replace(each, name=storable(each.name), text=storable(each.text)) for each in attachments)


def _of(value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise Unreadable(WhyNotRead.WRONG)
    return value


def _text(found: dict[str, Any], name: str) -> str:
    return storable(_of(found.get(name, ""), str))


def _number(found: dict[str, Any], name: str) -> float:
    value = found.get(name, 0.0)
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > LATEST_S or math.isnan(value):
        raise Unreadable(WhyNotRead.WRONG)
    return float(value)


def _time(found: dict[str, Any], name: str) -> float:
    return max(0.0, _number(found, name))


def _object(found: dict[str, Any], name: str) -> Json:
    value = found.get(name)
    if value is None:
        return None
    cleaned: dict[str, Any] = json.loads(storable(json.dumps(_of(value, dict), ensure_ascii=False)))
    return cleaned


def storable(text: str) -> str:
    """Without halves of surrogate pairs, which are no characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
