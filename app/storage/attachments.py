"""Files and long texts that go with a message: values, and their form in the database."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum

from app.storage.codec import LARGEST, as_name, as_text

_OF_PICTURES = ("digest", "width", "height", "thumbnail")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MOST_THUMBNAIL = 64_000


class AttachmentKind(StrEnum):
    TEXT = "text"  # text or code, from a file
    PDF = "pdf"  # the text of one
    PASTED = "pasted"  # has no name
    PICTURE = "picture"  # its bytes are in a file of their own, see `pictures`
    NOTE = "note"  # of an imported chat: only the name of what was there

    @classmethod
    def _missing_(cls, value: object) -> AttachmentKind:
        return cls.TEXT


@dataclass(frozen=True, slots=True)
class Attachment:
    name: str
    kind: AttachmentKind
    text: str
    size_bytes: int  # of the file, or of the pasted text
    tokens: int = 0  # as the main model counted them; 0: not known
    digest: str = ""  # of a picture: which file has its bytes
    width: int = 0  # likewise, in pixels
    height: int = 0
    thumbnail: str = ""  # likewise: a small square JPEG of ours, as base64

    @property
    def is_picture(self) -> bool:
        return self.kind is AttachmentKind.PICTURE


Attachments = tuple[Attachment, ...]

_USUAL = asdict(Attachment("", AttachmentKind.TEXT, "", 0))


def attachments_to_json(attachments: Sequence[Attachment]) -> str | None:
    return json.dumps([_to_json(each) for each in attachments], ensure_ascii=False) if attachments else None


def _to_json(attachment: Attachment) -> dict[str, object]:
    values = asdict(attachment)
    return values if attachment.is_picture else {key: each for key, each in values.items() if key not in _OF_PICTURES}


def digests_in(stored: object) -> set[str]:
    """Those that a row may name, also one that is damaged: what else looks like one keeps a file, and harms nothing."""
    return set(_DIGEST.findall(as_text(stored)))


def with_attached(text: str, stored: object) -> str:
    """What is searched of a message."""
    return "\n".join(searched_texts(text, stored))


def searched_texts(text: str, stored: object) -> list[str]:
    """The words of a message, then the name and text of each of its attachments."""
    return [text, *(f"{each.name}\n{each.text}" for each in attachments_from_json(stored))]


def attachments_from_json(text: object) -> Attachments:
    """Of what cannot be read, nothing; never raises."""
    if text is None:
        return ()
    try:
        stored = json.loads(as_text(text))
    except (ValueError, RecursionError):
        return ()
    return attachments_of(stored) if isinstance(stored, list) else ()


def attachments_of(stored: Sequence[object]) -> Attachments:
    return tuple(_attachment(each) for each in stored if isinstance(each, dict))


def _attachment(stored: dict[str, object]) -> Attachment:
    values = {field.name: _like(_USUAL[field.name], stored.get(field.name)) for field in fields(Attachment)}
    made = Attachment(**values | {"name": as_name(values["name"]), "kind": AttachmentKind(values["kind"])})  # type: ignore[arg-type]
    whole = _DIGEST.fullmatch(made.digest) and made.width and made.height and len(made.thumbnail) <= _MOST_THUMBNAIL
    if made.is_picture and not whole:  # its digest, size or thumbnail is not valid
        return replace(made, kind=AttachmentKind.NOTE, digest="", width=0, height=0, thumbnail="")
    return made if made.is_picture else replace(made, digest="", width=0, height=0, thumbnail="")


def _like(usual: object, value: object) -> object:
    if isinstance(usual, int):
        return value if type(value) is int and 0 <= value <= LARGEST else usual
    return value if isinstance(value, str) else usual
