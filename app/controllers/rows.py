"""Stored messages as rows of the transcript and as messages of a request. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from app.storage import StoredMessage, StoredStatus
from app.view_models.reply_stats import FooterLine, footer_line, stopped_line
from app.view_models.transcript import MessageStatus, TranscriptMessage
from app.words.notices import Notice, reply_was_cut, reply_was_interrupted
from app.words.notices_for_errors import notice_for
from engine import FinishReason, Message, MessageRole

TITLE_LENGTH = 60


def transcript_row(stored: StoredMessage) -> TranscriptMessage:
    return TranscriptMessage(
        id=stored.id,
        from_user=stored.role is MessageRole.USER,
        text=stored.text,
        thinking=stored.thinking,
        thinking_s=stored.thinking_s,
        status=MessageStatus(stored.status.value),
        footer=_footer_of(stored),
        notice=notice_of(stored),
        model=stored.main_name,
        sibling=stored.sibling,
        siblings=stored.siblings,
    )


def _footer_of(stored: StoredMessage) -> FooterLine | None:
    if stored.stats and stored.stats.generated_tokens:
        return footer_line(stored.stats)
    if stored.status is StoredStatus.STOPPED and not (stored.text or stored.thinking):
        return stopped_line()
    return None


def notice_of(stored: StoredMessage) -> Notice | None:
    if stored.status is StoredStatus.FAILED and stored.error is not None:
        return notice_for(stored.error)
    if stored.status is StoredStatus.INTERRUPTED:
        return reply_was_interrupted(with_text=bool(stored.text or stored.thinking))
    if stored.finish in (FinishReason.LENGTH, FinishReason.CONTEXT, FinishReason.MEMORY):
        return reply_was_cut(stored.finish)
    if stored.finish is FinishReason.MODEL_CHANGED and (stored.text or stored.thinking):
        return reply_was_cut(stored.finish)
    return None


def request_messages(branch: Iterable[StoredMessage], system_prompt: str) -> tuple[Message, ...]:
    """The system prompt and the branch, as chat templates want it: nothing empty, and turns that alternate.

    Thinking is left out: models are trained to see only their earlier answers.
    """
    said = [(stored.role, stored.text) for stored in branch if stored.text.strip()]
    turns = [
        Message(role, "\n\n".join(text for _, text in neighbours))
        for role, neighbours in groupby(said, key=lambda each: each[0])
    ]
    system = [Message(MessageRole.SYSTEM, system_prompt.strip())] if system_prompt.strip() else []
    return tuple(system + turns)


def storable(text: str) -> str:
    """What a person typed or pasted, without the halves of characters that neither a database nor a tokenizer takes."""
    return text.encode("utf-8", "replace").decode("utf-8").strip()


def title_from(text: str) -> str:
    """The first line, cut at a word where there are words."""
    lines = text.strip().splitlines()
    first = " ".join(lines[0].split()) if lines else ""
    if len(first) <= TITLE_LENGTH:
        return first
    start, _, last_word = first[:TITLE_LENGTH].rpartition(" ")
    return (start if start and len(last_word) < TITLE_LENGTH // 2 else first[:TITLE_LENGTH]).rstrip() + "…"
