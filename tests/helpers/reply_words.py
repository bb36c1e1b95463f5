"""What the screen says about a row of the transcript, and of an error: the same words that its views show."""

from __future__ import annotations

from app.view_models.model_list import PairView
from app.view_models.transcript import TranscriptMessage
from app.words.notices import Notice, drafting_sentence
from app.words.notices_for_errors import STORAGE_TABLE, TABLE, notice_for
from app.words.replies import FooterLine, reply_footer, reply_notice


def footer_of(message: TranscriptMessage) -> FooterLine:
    footer = reply_footer(message.stats, message.status, empty=message.empty)
    assert footer is not None
    return footer


def notice_of(message: TranscriptMessage) -> Notice:
    notice = reply_notice(message.status, message.error, empty=message.empty)
    assert notice is not None
    return notice


def pair_reason(pair: PairView) -> str:
    if pair.error is not None:
        return notice_for(pair.error).sentence
    return drafting_sentence(pair.drafting) if pair.drafting is not None else ""


def title_of(kind: type[object]) -> str:
    """Of the row without a condition, which is the last of its kind."""
    return [row.title for row in (*TABLE, *STORAGE_TABLE) if row.kind is kind][-1]
