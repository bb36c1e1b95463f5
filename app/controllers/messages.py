"""Converts stored messages to transcript rows and to request messages, attachments included. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import groupby

from app.storage import Attachment, AttachmentKind, StoredMessage
from app.storage.parts import Text, all_parts, of_kind
from app.view_models.drafted_text import DraftedText
from app.view_models.transcript import TranscriptMessage
from engine import Message, MessageRole, Picture

TITLE_LENGTH = 60

PixelsOf = Callable[[Attachment], Picture | None]  # a picture's pixels; None: it is not here

_PASTED = "pasted text"  # part of the prompt, which is not translated
_FENCE = "```"
_FENCES = re.compile("```+")  # as it begins with letters, megabytes are searched at once


def prompt_of(text: str, attachments: Iterable[Attachment]) -> str:
    """The attachments, each with its name and between fences that its text does not have, then the message."""
    return "\n\n".join([*(block_of(each) for each in attachments), *([text] if text else [])])


def block_of(attachment: Attachment) -> str:
    if attachment.is_picture:
        return f"Picture that is not shown: {_name(attachment, 'without a name')}"
    if attachment.kind is AttachmentKind.NOTE:
        return f"Attachment that is not here: {_name(attachment)}"
    fence = max((_FENCE, *(found + "`" for found in _FENCES.findall(attachment.text))), key=len)
    return f"Attachment: {_name(attachment)}\n{fence}\n{attachment.text.rstrip()}\n{fence}"


def title_of(attachments: Iterable[Attachment]) -> str:
    """For a chat that begins without words: the name of a file, or how a pasted text begins."""
    first = next(iter(attachments), None)
    return "" if first is None else first.name or first.text.strip()[:500]


def _name(attachment: Attachment, nameless: str = _PASTED) -> str:
    """On one line, whatever the file is called."""
    return " ".join("".join(filter(str.isprintable, attachment.name)).split()) or nameless


def transcript_row(stored: StoredMessage) -> TranscriptMessage:
    return TranscriptMessage(
        id=stored.id,
        from_user=stored.role is MessageRole.USER,
        text=stored.text,
        thinking=stored.thinking,
        thinking_s=stored.thinking_s,
        status=stored.status,
        stats=stored.stats,
        error=stored.error,
        drafted=DraftedText(stored.drafting) if stored.drafting else None,
        model=stored.main_name,
        sibling=stored.sibling,
        siblings=stored.siblings,
        attachments=stored.attachments,
    )


def request_messages(
    branch: Iterable[StoredMessage], system_prompt: str, seen: PixelsOf = lambda _picture: None
) -> tuple[Message, ...]:
    """The system prompt and the branch as chat templates require them: no empty message, and alternating roles.

    Thinking and tools are left out: models are trained to see only their earlier answers. Of a picture without pixels
    the prompt says that there was one.
    """
    said = [each for stored in branch if (each := _said(stored, seen)).content.strip() or each.pictures]
    turns = [_joined(list(neighbours)) for _, neighbours in groupby(said, key=lambda each: each.role)]
    system = [Message(MessageRole.SYSTEM, system_prompt.strip())] if system_prompt.strip() else []
    return tuple(system + turns)


def _said(stored: StoredMessage, seen: PixelsOf) -> Message:
    may_show = stored.role is MessageRole.USER  # templates have no place for them in a reply
    pictures = {each: seen(each) for each in stored.attachments if each.is_picture and may_show}
    written = [each for each in stored.attachments if pictures.get(each) is None]
    shown = tuple(found for each in stored.attachments if (found := pictures.get(each)) is not None)
    text = "\n\n".join(each.text for each in of_kind(Text, all_parts(stored)))
    return Message(stored.role, prompt_of(text, written), pictures=shown)


def _joined(neighbours: list[Message]) -> Message:
    text = "\n\n".join(each.content for each in neighbours if each.content)
    return Message(
        neighbours[0].role, text, pictures=tuple(picture for each in neighbours for picture in each.pictures)
    )


def storable(text: str) -> str:
    """`text` without lone surrogates, which neither the database nor a tokenizer accepts, and stripped."""
    return text.encode("utf-8", "replace").decode("utf-8").strip()


def title_from(text: str) -> str:
    """The first line, cut to TITLE_LENGTH, at a word boundary if there is one."""
    lines = text.strip().splitlines()
    first = " ".join(lines[0].split()) if lines else ""
    if len(first) <= TITLE_LENGTH:
        return first
    start, _, last_word = first[:TITLE_LENGTH].rpartition(" ")
    return (start if start and len(last_word) < TITLE_LENGTH // 2 else first[:TITLE_LENGTH]).rstrip() + "…"


def conversation_of(chat_id: int) -> str:
    """A chat's name to the engine."""
    return str(chat_id)
