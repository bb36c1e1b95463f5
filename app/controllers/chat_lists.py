"""What the list of chats shows: all of them by folder and day, or what a search finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.storage import ChatSummary, Listing, Storage


def folder_of(storage: Storage, chat_id: int) -> int | None:
    """The one that a chat is in, wherever it is listed."""
    summary = storage.read.chats.summary(chat_id)
    return None if summary is None else summary.folder_id


def list_chats(storage: Storage, query: str, limit: int, done: Callable[[Listing], None]) -> None:
    """A search is done by a thread; a later one takes its place. All else is read at once."""
    if query:

        def tell(found: Sequence[ChatSummary]) -> None:
            """With the folders, which no row shows then: what was found can be moved into them."""
            done(Listing(found, storage.read.folders.all(), more=len(found) == limit))

        storage.search(query, limit, tell)
    else:
        storage.stop_search()
        done(storage.read.chats.listing(limit))
