"""Chats and messages in SQLite. No Qt, no engine calls, no translated text."""

from app.storage.chats import ChatStore
from app.storage.database import Database, DatabaseTooNew
from app.storage.exchange import Asked, Question
from app.storage.folders import DeletedFolder
from app.storage.messages import MessageStore
from app.storage.problems import NotOpened, NotStored, Reason, StorageProblem
from app.storage.records import (
    ChatSummary,
    Deletion,
    Folder,
    Listing,
    Match,
    Purged,
    ReplyStatus,
    ReplyText,
    StoredMessage,
)
from app.storage.rescue import Rescued
from app.storage.storage import Opened, Storage, Stores

__all__ = [
    "Asked",
    "ChatStore",
    "ChatSummary",
    "Database",
    "DatabaseTooNew",
    "DeletedFolder",
    "Deletion",
    "Folder",
    "Listing",
    "Match",
    "MessageStore",
    "NotOpened",
    "NotStored",
    "Opened",
    "Purged",
    "Question",
    "Reason",
    "ReplyStatus",
    "ReplyText",
    "Rescued",
    "Storage",
    "StorageProblem",
    "StoredMessage",
    "Stores",
]
