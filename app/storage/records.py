"""Rows of the database as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from app.storage.parts import Attachment, Attachments, Parts, of_kind
from engine import EngineError, MessageRole, RequestStats

_ONLY_SHOWN = ("QUEUED", "READING", "STOPPING", "UNSAVED", "UNREADABLE")


class ReplyStatus(StrEnum):
    """How far a reply is: stored as text, and the same value up to the screen. The user's own messages are DONE.

    The database has STREAMING for every running reply; QUEUED, READING, STOPPING, UNSAVED and UNREADABLE are only
    shown. A value that another version wrote is read as DONE.
    """

    QUEUED = "queued"
    READING = "reading"  # the model reads the prompt
    STOPPING = "stopping"  # asked to, and at the end of its present step
    STREAMING = "streaming"  # found at start, it means that the app ended in the middle
    DONE = "done"
    LENGTH = "length"  # ended at the limit on reply tokens
    CONTEXT = "context"  # ended where the model's context is full
    MEMORY = "memory"  # ended where the machine's memory is full
    STOPPED = "stopped"  # by the user; can be continued
    INTERRUPTED = "interrupted"  # the app ended while it was written; can be continued
    MODEL_CHANGED = "model_changed"  # its model was unloaded; can be continued
    FAILED = "failed"  # the message's `error` says why
    UNSAVED = "unsaved"  # ended, and its end is not on disk yet
    UNREADABLE = "unreadable"  # its row is damaged

    @classmethod
    def _missing_(cls, value: object) -> ReplyStatus:
        """A value that another version wrote: the text is there, and nothing else is known of its end."""
        return cls.DONE

    @classmethod
    def stored(cls, value: object) -> ReplyStatus:
        """As a row has it; what is only shown never ends by itself, so nothing that is stored is taken for it."""
        return _STORED.get(value, cls.DONE)

    @property
    def under_way(self) -> bool:
        return self in (ReplyStatus.QUEUED, ReplyStatus.READING, ReplyStatus.STREAMING, ReplyStatus.STOPPING)


_STORED: dict[object, ReplyStatus] = {each.value: each for each in ReplyStatus if each.name not in _ONLY_SHOWN}


@dataclass(frozen=True, slots=True)
class Match:
    """A message that a search found."""

    message_id: int
    snippet: str  # the text around the first word found
    words: tuple[str, ...]  # as they were asked for: as one where all are next to one another, else each that was found
    attachment: int | None = None  # which one of the message's they are in; None: its own words


@dataclass(frozen=True, slots=True)
class ChatSummary:
    id: int
    title: str
    pinned: bool
    updated_at: float  # seconds since the epoch
    matches: tuple[Match, ...] = ()
    folder_id: int | None = None  # of a folder that may not exist
    unseen: bool = False  # a reply ended while it was out of sight


@dataclass(frozen=True, slots=True)
class Folder:
    id: int
    name: str
    parent_id: int | None  # of a folder that may not exist
    opened: bool = True
    unseen: bool = False  # a chat that is in it itself has a reply that was not seen


@dataclass(frozen=True, slots=True)
class Listing:
    """What the list of chats shows. `more`: there are chats after the last one; `partial`: they are still searched."""

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

    @property
    def attachments(self) -> Attachments:
        return of_kind(Attachment, self.parts)


@dataclass(frozen=True, slots=True)
class Deletion:
    """A chat or messages in the Trash: what was deleted with one wish has one mark."""

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
    """The text of a reply so far."""

    message_id: int
    text: str
    thinking: str
    thinking_s: float


@dataclass(frozen=True, slots=True)
class Question:
    """`chat_id` 0 makes a chat with that title."""

    chat_id: int
    parent_id: int | None
    text: str
    title: str
    main_name: str
    draft_name: str
    attachments: Attachments = ()
    options: Mapping[str, Any] = field(default_factory=dict)  # of a new chat


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
    """`role`: whose words they are to be. `attachments`: None where those of the message were not changed."""

    message_id: int
    kind: EditKind
    role: MessageRole
    text: str
    attachments: Attachments | None = None
