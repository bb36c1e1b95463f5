"""Conversations on disk, in SQLite. No Qt, no engine calls, no words for people."""

from app.storage.records import ChatSummary, StoredMessage, StoredStatus

__all__ = ["ChatSummary", "StoredMessage", "StoredStatus"]
