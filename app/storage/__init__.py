"""Chats and messages in SQLite. No Qt, no engine calls, no translated text."""

from app.storage.chats import ChatStore
from app.storage.database import NotOpened, NotStored, Reason, StorageProblem
from app.storage.folders import FolderChange
from app.storage.messages import MessageStore
from app.storage.opening import Database
from app.storage.parts import Attachment, AttachmentKind, Attachments
from app.storage.pictures import Pictures
from app.storage.records import (
    Asked,
    ChatSummary,
    Deletion,
    Edit,
    EditKind,
    Folder,
    Listing,
    Match,
    Project,
    Purged,
    Question,
    ReadMessages,
    ReplyStatus,
    ReplyText,
    StoredMessage,
)
from app.storage.requests import Grouping, StoredRequest, Total
from app.storage.rescue import Rescued
from app.storage.schema import DatabaseTooNew
from app.storage.storage import Opened, Storage, Stores
