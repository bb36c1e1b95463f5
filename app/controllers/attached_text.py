"""How attachments stand in a prompt. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from app.storage import Attachment, AttachmentKind

_PASTED = "pasted text"  # part of the prompt, which is not translated
_FENCE = "```"
_FENCES = re.compile("```+")  # as it begins with letters, megabytes are searched at once


def prompt_of(text: str, attachments: Iterable[Attachment]) -> str:
    """The attachments, each with its name and between fences that its text does not have, then the message."""
    return "\n\n".join([*(block_of(each) for each in attachments), *([text] if text else [])])


def block_of(attachment: Attachment) -> str:
    if attachment.kind is AttachmentKind.NOTE:
        return f"Attachment that is not here: {_name(attachment)}"
    fence = max((_FENCE, *(found + "`" for found in _FENCES.findall(attachment.text))), key=len)
    return f"Attachment: {_name(attachment)}\n{fence}\n{attachment.text.rstrip()}\n{fence}"


def title_of(attachments: Iterable[Attachment]) -> str:
    """For a chat that begins without words: the name of a file, or how a pasted text begins."""
    first = next(iter(attachments), None)
    return "" if first is None else first.name or first.text.strip()[:500]


def _name(attachment: Attachment) -> str:
    """On one line, whatever the file is called."""
    return " ".join("".join(filter(str.isprintable, attachment.name)).split()) or _PASTED
