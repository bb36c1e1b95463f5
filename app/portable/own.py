"""Our own format: JSON with everything, one chat a line, after the presets that they use. Files are not trusted."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from app.portable.json_stream import MOST_CHARACTERS
from app.portable.problems import Unreadable, WhyNotRead
from app.storage.codec import LONGEST_TITLE, as_name, as_title, is_shallow, storable
from app.storage.columns import COLUMNS, checked, object_from_file, text_from_file, time_from_file
from app.storage.parts import Attachment, AttachmentKind
from app.storage.portable import PortableChat, PortableMessage, with_files
from engine import open_plain

FORMAT = "hunch.chats"
VERSION = 2  # 1: a message has "attachments" and no other parts
_BEGIN = f'{{"format": "{FORMAT}"'.encode()

MOST_PICTURE_BYTES = 150_000_000  # of one chat
_LONGEST_NAME = 100
TAIL = "\n]}\n"


def head(presets: Sequence[dict[str, Any]] = ()) -> str:
    kept = f'"presets": {json.dumps(list(presets), ensure_ascii=False, allow_nan=False)}, ' if presets else ""
    return f'{_BEGIN.decode()}, "version": {VERSION}, {kept}"chats": ['


def is_export(path: Path) -> bool:
    """Whether it is our format, by its first bytes (see `head`)."""
    try:
        with open_plain(path) as file:
            return file.read(len(_BEGIN)) == _BEGIN
    except OSError:
        return False


def line_of(chat: PortableChat) -> str:
    values = asdict(replace(chat, messages=()))
    if not chat.projects:
        del values["projects"]
    values["id"] = values.pop("origin")
    values["messages"] = [_to_file(each) for each in chat.messages]
    return json.dumps(values, ensure_ascii=False, allow_nan=False)


def _to_file(message: PortableMessage) -> dict[str, Any]:
    values = {name: column.to_file(getattr(message, name)) for name, column in COLUMNS.items()}
    read = {} if message.reads_from is None else {"reads_from": message.reads_from}
    return {"id": message.number, "parent": message.parent} | read | values


def check_head(found: dict[str, Any]) -> None:
    version = found.get("version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise Unreadable(WhyNotRead.WRONG)
    if version > VERSION:
        raise Unreadable(WhyNotRead.NEWER)


def presets_of(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The presets in the object around the chats; their values are checked where they are used."""
    presets = found.get("presets") if found.get("format") == FORMAT else None
    for each in presets if isinstance(presets, list) else ():
        if isinstance(each, dict) and isinstance(each.get("values"), dict) and is_shallow(each["values"]):
            number = each.get("id")
            name = each.get("name")
            if isinstance(number, str) and isinstance(name, str) and 0 < len(number) <= _LONGEST_NAME and name.strip():
                name = as_title(" ".join(as_name(storable(name)).split())[:_LONGEST_NAME])
                yield {"id": storable(number), "name": name, "values": object_from_file(each["values"])}


def chat_of(found: dict[str, Any], *, ours: bool = False) -> PortableChat:
    """The chat of a line. Raises Unreadable for anything invalid; missing fields have defaults.

    `ours`: thumbnails were made by us, and are decoded in this process.
    """
    try:
        messages = tuple(_messages(checked(found.get("messages"), list)))
        folder = [text_from_file(name)[:LONGEST_TITLE] for name in checked(found.get("folder", []), list)[:50]]
        shown = found.get("shown")
        chat = PortableChat(
            origin=text_from_file(found.get("id"))[:500],
            title=text_from_file(found.get("title"))[:LONGEST_TITLE],
            messages=messages,
            shown=shown if type(shown) is int and any(shown == each.number for each in messages) else None,
            renamed=found.get("renamed") is True,
            pinned=found.get("pinned") is True,
            created_at=time_from_file(found.get("created_at")),
            updated_at=time_from_file(found.get("updated_at")),
            folder=tuple(folder),
            projects=tuple(map(_project, checked(found.get("projects", []), list)[:50])),
            options=object_from_file(found.get("options")),
        )
    except ValueError:
        raise Unreadable(WhyNotRead.WRONG) from None
    return chat if ours else with_files(chat, partial(replace, thumbnail=""))


def _project(found: object) -> dict[str, Any] | None:
    if found is None:
        return None
    values = checked(found, dict)
    options = object_from_file(values.get("options")) or {}
    return {"instructions": text_from_file(values.get("instructions")), "options": options}


def with_bytes(chat: PortableChat, bytes_of: Callable[[str], bytes | None]) -> PortableChat:
    """Adds the bytes of pictures as base64, once each; texts of documents stay once each, too.

    Versions of a message have the same ones. Those that are too many for an import are left out; `without_bytes` names
    them.
    """
    written = {""}
    documents: set[str] = set()
    has_pictures = any(each.is_picture for message in chat.messages for each in message.attachments)
    words = len(line_of(chat)) if has_pictures else 0
    left = min(MOST_PICTURE_BYTES, (MOST_CHARACTERS - words) * 3 // 4)  # as base64 an import reads both

    def whole(attachment: Attachment) -> Attachment:
        nonlocal left
        if attachment.kind is AttachmentKind.SEARCHED:
            is_there = attachment.name in documents
            documents.add(attachment.name)
            return replace(attachment, text="") if is_there else attachment
        data = bytes_of(attachment.digest) if attachment.digest not in written else None
        written.add(attachment.digest)
        left -= len(data or b"")
        data = data if left >= 0 else None
        text = attachment.text if data is None else base64.b64encode(data).decode()
        return replace(attachment, text=text, thumbnail="")

    return with_files(chat, whole)


def without_bytes(chat: PortableChat) -> set[str]:
    """Digests of the pictures left out by `with_bytes`."""
    pictures = [each for message in chat.messages for each in message.attachments if each.is_picture]
    return {each.digest for each in pictures} - {each.digest for each in pictures if each.text}


def _messages(found: list[Any]) -> Iterator[PortableMessage]:
    """Raises ValueError, or Unreadable."""
    known: set[int] = set()
    for each in found:
        values = {"parts": checked(each, dict).get("attachments")} | each
        number = values.get("id")
        parent = values.get("parent")
        if type(number) is not int or number in known:
            raise ValueError
        if parent is not None and (type(parent) is not int or parent not in known):
            raise Unreadable(WhyNotRead.CIRCLE)
        known.add(number)
        columns = {name: column.from_file(values.get(name)) for name, column in COLUMNS.items()}
        read = values.get("reads_from")
        yield PortableMessage(
            number, parent, **columns, reads_from=read if type(read) is int and read in known else None
        )
