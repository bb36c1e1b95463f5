"""What the list of chats shows: all of them by folder and day, or what a search finds."""

from __future__ import annotations

from collections.abc import Callable

from app.storage import Listing, Storage


def list_chats(storage: Storage, query: str, limit: int, done: Callable[[Listing], None]) -> None:
    """A search is done by a thread; a later one takes its place. All else is read at once."""
    if query:
        storage.search(query, limit, lambda found: done(Listing(found, more=len(found) == limit)))
    else:
        storage.stop_search()
        done(storage.read.chats.listing(limit))
