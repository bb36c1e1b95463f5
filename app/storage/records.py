"""Rows of the database as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine import EngineError, FinishReason, MessageRole, RequestStats


class StoredStatus(StrEnum):
    DONE = "done"
    STREAMING = "streaming"  # being written now; found at start, it means that the app ended in the middle
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ChatSummary:
    id: int
    title: str
    pinned: bool
    updated_at: float  # seconds since the epoch
    snippet: str = ""  # the text around what a search found


@dataclass(frozen=True, slots=True)
class StoredMessage:
    id: int
    chat_id: int
    parent_id: int | None
    role: MessageRole
    text: str
    thinking: str = ""
    thinking_s: float = 0.0
    status: StoredStatus = StoredStatus.DONE
    finish: FinishReason | None = None
    main_name: str = ""
    draft_name: str = ""
    stats: RequestStats | None = None
    error: EngineError | None = None
    sibling: int = 1
    siblings: int = 1


@dataclass(frozen=True, slots=True)
class ReplyText:
    """What a reply says so far."""

    message_id: int
    text: str
    thinking: str
    thinking_s: float
