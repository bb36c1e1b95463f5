"""Chats and messages in SQLite. No Qt, no engine calls, no translated text."""

from app.storage.chats import ChatStore
from app.storage.database import Database, DatabaseTooNew
from app.storage.messages import MessageStore
from app.storage.records import ChatSummary, ReplyStatus, ReplyText, StoredMessage
from app.storage.rescue import Rescued

__all__ = [
    "ChatStore",
    "ChatSummary",
    "Database",
    "DatabaseTooNew",
    "MessageStore",
    "ReplyStatus",
    "ReplyText",
    "Rescued",
    "StoredMessage",
]
