"""Small databases with known words, to be damaged, and what can be read of them afterwards."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from app.storage import ChatStore, Database, MessageStore, ReplyStatus, ReplyText, Stores
from engine import RequestStats

PAGE_BYTES = 4096
SECRET = "zebra"  # in every message and title, and nowhere else


@dataclass(frozen=True, slots=True)
class Seen:
    """What a start shows: the words of each chat, and how many messages say that they cannot be read."""

    titles: tuple[str, ...]
    texts: frozenset[str]
    unreadable: int
    versions: frozenset[str]  # the words of all versions, shown or not


def fill(path: Path, chats: int = 2, messages: int = 6, words: int = 20) -> frozenset[str]:
    """Writes chats of questions and replies; returns all of their texts."""
    with closing(Database(path)) as database:
        stores, texts = Stores(database), set()
        for chat in range(1, chats + 1):
            chat_id, parent = stores.chats.create(f"{SECRET} chat {chat}"), None
            for number in range(messages):
                text = f"{SECRET} {chat}.{number} " + f"word{chat} " * words
                parent = _add(stores, chat_id, parent, text, number % 2 == 1)
                texts.add(text)
    return frozenset(texts)


def _add(stores: Stores, chat_id: int, parent: int | None, text: str, is_reply: bool) -> int:
    if not is_reply or parent is None:
        return stores.messages.add_user(chat_id, parent, text)
    reply = stores.messages.begin_reply(chat_id, parent, "Main", "Draft")
    stats = RequestStats(generated_tokens=9, rounds=4, drafted=8, accepted=5)
    with stores.database.transaction():
        stores.messages.set_end(ReplyText(reply, text, "", 0.0), ReplyStatus.DONE, stats, None, None)
    return reply


def look(path: Path) -> Seen:
    """Opens the file as a start does, which changes something too, and every chat in it."""
    with closing(Database(path)) as database:
        database.execute("UPDATE messages SET status = status WHERE id < 0")
        chats = ChatStore(database)
        messages = MessageStore(database, chats)
        listed = chats.find()
        stored = database.rows("SELECT text FROM messages WHERE deleted_at IS NULL")
        shown = [message for chat in listed for message in messages.shown_branch(chat.id)]
    titles = tuple(sorted(chat.title for chat in listed))
    unreadable = sum(message.status is ReplyStatus.UNREADABLE for message in shown)
    words = frozenset(message.text for message in shown)
    return Seen(titles, words, unreadable, frozenset(str(row["text"]) for row in stored))


def wipe(path: Path) -> None:
    for part in path.parent.glob(f"{path.stem}*.db*"):
        part.unlink()
