"""Pictures of chats that are to be imported: each is decoded and stored as if it were attached."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from app.documents.pictures import MOST_BYTES, kind_of, picture_of
from app.documents.problems import Refused, WhyNot
from app.documents.reading import Keep, kept
from app.portable import own
from app.portable.json_stream import loads
from app.storage import Attachment, AttachmentKind
from app.storage.portable import PortableChat, PortableMessage
from app.system.limited_child import Stop

_SIGN = b'"kind": "picture"'  # as a line of ours has it


def keep_pictures(spool: Path, keep: Keep, stop: Stop) -> set[str]:
    """Of the chats in `spool`, a line each; what cannot be read is a note from now on. Returns the digests."""
    digests: set[str] = set()
    made, file = spool.with_name(f"{spool.name}-kept"), spool.with_name("picture")

    def kept_here(attachment: Attachment, of_chat: dict[str, Attachment]) -> Attachment:
        stop.check()
        if not attachment.is_picture:
            return attachment
        if attachment.text or attachment.digest not in of_chat:
            of_chat[attachment.digest] = _kept(attachment, file, keep, stop)
        found = of_chat[attachment.digest]
        digests.update({found.digest} - {""})
        return replace(found, name=attachment.name)

    with spool.open("rb") as lines, made.open("wb") as written:
        for line in lines:
            written.write(_line(line, kept_here) if _SIGN in line else line)
    file.unlink(missing_ok=True)
    made.replace(spool)
    return digests


def chat_of(line: bytes) -> PortableChat:
    """Of a line of `spool`."""
    return own.chat_of(loads(line.decode("utf-8")), ours=True)


def _line(line: bytes, kept_here: Callable[[Attachment, dict[str, Attachment]], Attachment]) -> bytes:
    """Each picture's bytes are there once; elsewhere in the chat it is named by its digest, as the file has it."""
    chat, known = chat_of(line), dict[str, Attachment]()
    messages = tuple(_message(each, lambda attachment: kept_here(attachment, known)) for each in chat.messages)
    return own.line_of(replace(chat, messages=messages)).encode() + b"\n"


def _message(message: PortableMessage, kept_here: Callable[[Attachment], Attachment]) -> PortableMessage:
    return replace(message, attachments=tuple(map(kept_here, message.attachments)))


def _kept(attachment: Attachment, file: Path, keep: Keep, stop: Stop) -> Attachment:
    """`file`: for its bytes, while they are decoded. Raises OSError: a full disk makes no note of a picture."""
    try:
        data = base64.b64decode(attachment.text, validate=True)
        if 0 < len(data) <= MOST_BYTES:
            file.write_bytes(data)
            return kept(picture_of(file, kind_of(data[:64]) or "", stop), attachment.name, keep)
    except Refused as refused:
        if refused.why is WhyNot.NOT_STORED:
            raise refused.__context__ or refused from None
    except (binascii.Error, ValueError):
        pass
    return Attachment(attachment.name, AttachmentKind.NOTE, "", 0)
