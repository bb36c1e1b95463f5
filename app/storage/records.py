"""Rows of the database as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from app.storage.parts import Attachment, Attachments, Parts, Summary, of_kind
from engine import EngineError, MessageRole, RequestStats

_ONLY_SHOWN = ("QUEUED", "READING", "STOPPING", "CALLING", "WAITS_FOR_YOU", "UNSAVED", "UNREADABLE")


class ReplyStatus(StrEnum):
    """How far a reply is, in the database and on the screen. The user's own messages are DONE.

    The database has STREAMING for every running reply; QUEUED, READING, STOPPING, CALLING, WAITS_FOR_YOU, UNSAVED and
    UNREADABLE are only shown. Unknown values count as DONE.
    """

    QUEUED = "queued"
    READING = "reading"  # the model reads the prompt
    STOPPING = "stopping"  # stopped, and ends with its present step
    CALLING = "calling"  # tools that the reply has called run
    WAITS_FOR_YOU = "waits_for_you"  # for the user's consent to calls
    STREAMING = "streaming"  # found at a start, it means that the app ended meanwhile
    DONE = "done"
    LENGTH = "length"  # ended at the limit on reply tokens
    CONTEXT = "context"  # ended where the model's context is full
    MEMORY = "memory"  # ended where the machine's memory is full
    STOPPED = "stopped"  # by the user; can be continued
    INTERRUPTED = "interrupted"  # the app ended while it was written; can be continued
    MODEL_CHANGED = "model_changed"  # its model was unloaded; can be continued
    FAILED = "failed"  # the message's `error` says why
    UNSAVED = "unsaved"  # ended, but not on disk yet
    UNREADABLE = "unreadable"  # its row is damaged

    @classmethod
    def _missing_(cls, value: object) -> ReplyStatus:
        """A value of another version: the text is there, but how it ended is not known."""
        return cls.DONE

    @classmethod
    def stored(cls, value: object) -> ReplyStatus:
        """The value of a row; one that is only shown counts as unknown."""
        return _STORED.get(value, cls.DONE)

    @property
    def under_way(self) -> bool:
        return self in _UNDER_WAY


_UNDER_WAY = (
    *(ReplyStatus.QUEUED, ReplyStatus.READING, ReplyStatus.STREAMING, ReplyStatus.STOPPING),
    *(ReplyStatus.CALLING, ReplyStatus.WAITS_FOR_YOU),
)
_STORED: dict[object, ReplyStatus] = {each.value: each for each in ReplyStatus if each.name not in _ONLY_SHOWN}


@dataclass(frozen=True, slots=True)
class Match:
    """A message that a search found."""

    message_id: int
    snippet: str  # the text around the first word found
    words: tuple[str, ...]  # as in the query: one phrase if they are adjacent, else each found word
    attachment: int | None = None  # index of the attachment with them; None: the message's text


@dataclass(frozen=True, slots=True)
class ChatSummary:
    id: int
    title: str
    pinned: bool
    updated_at: float  # seconds since the epoch
    matches: tuple[Match, ...] = ()
    folder_id: int | None = None  # may be missing
    unseen: bool = False  # a reply ended while the chat was not visible


@dataclass(frozen=True, slots=True)
class Folder:
    id: int
    name: str
    parent_id: int | None  # may be missing
    opened: bool = True
    unseen: bool = False  # a chat directly in it has an unseen reply


@dataclass(frozen=True, slots=True)
class Project:
    """What a folder has for its chats."""

    instructions: str = ""  # what the model reads first in each
    options: Mapping[str, Any] = field(default_factory=dict)  # theirs, where they set none themselves


@dataclass(frozen=True, slots=True)
class Listing:
    """The list of chats. `more`: there are chats after the last one; `partial`: the search is still running."""

    chats: Sequence[ChatSummary]
    folders: Sequence[Folder] = ()
    more: bool = False
    partial: bool = False


@dataclass(frozen=True, slots=True)
class StoredMessage:
    id: int
    chat_id: int
    parent_id: int | None
    role: MessageRole
    text: str
    thinking: str = ""
    thinking_s: float = 0.0
    status: ReplyStatus = ReplyStatus.DONE
    main_name: str = ""
    draft_name: str = ""
    stats: RequestStats | None = None
    error: EngineError | None = None
    drafting: str = ""  # JSON: which of its text was drafted, see DraftedText
    sibling: int = 1
    siblings: int = 1
    parts: Parts = ()  # what comes before its thinking and text, see `parts`
    reads_from: int | None = None  # of a reply: the first message that the model read for it; None: the branch's first
    pinned: bool = False  # it stays in the prompt of a long chat

    @property
    def attachments(self) -> Attachments:
        return of_kind(Attachment, self.parts)

    @property
    def is_summary(self) -> bool:
        """Of messages before it that the model no longer reads; its role is the system's."""
        return any(isinstance(each, Summary) for each in self.parts)


@dataclass(frozen=True, slots=True)
class ReadMessages:
    """The messages of a branch that a prompt may have: exchanges with a pinned message, then `rest` without a gap."""

    pinned: Sequence[StoredMessage] = ()
    rest: Sequence[StoredMessage] = ()


@dataclass(frozen=True, slots=True)
class Deletion:
    """A chat or messages in the Trash; one user action has one mark."""

    mark: float  # seconds since the epoch
    chat_id: int
    title: str
    whole_chat: bool
    messages: int = 0  # how many
    words: str = ""  # of the latest of them


@dataclass(frozen=True, slots=True)
class Purged:
    """The ids of what was deleted for good."""

    chats: tuple[int, ...] = ()
    messages: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.chats or self.messages)


@dataclass(frozen=True, slots=True)
class ReplyText:
    """The text of a reply so far; of one that called tools, of its last step."""

    message_id: int
    text: str
    thinking: str
    thinking_s: float
    parts: Parts | None = None  # what comes before that; None: as it is on disk
    reads_from: int | None = None  # 0: the branch's first; None: as it is on disk


@dataclass(frozen=True, slots=True)
class Question:
    """`chat_id` 0: makes a chat with that title; `is_new`: makes that one."""

    chat_id: int
    parent_id: int | None
    text: str
    title: str
    main_name: str
    draft_name: str
    attachments: Attachments = ()
    options: Mapping[str, Any] = field(default_factory=dict)  # of a new chat
    folder_id: int | None = None  # of a new chat
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    chat_id: int
    user_id: int
    reply_id: int


class EditKind(StrEnum):
    EDIT = "edit"  # the message itself
    BEFORE = "before"  # a new one before it
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Edit:
    """`role`: the message's role after the edit. `attachments`: None if unchanged."""

    message_id: int
    kind: EditKind
    role: MessageRole
    text: str
    attachments: Attachments | None = None
