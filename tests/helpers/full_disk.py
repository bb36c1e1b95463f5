"""SQLite refusing every change that needs room, as it does on a full disk, and taking them again."""

from __future__ import annotations

from app.storage import Stores


def fill_up(stores: Stores) -> None:
    stores.database.execute("PRAGMA max_page_count = 1")
    pages = stores.database.row("PRAGMA page_count")
    assert pages is not None
    stores.database.execute(f"PRAGMA max_page_count = {pages[0]}")


def make_room(stores: Stores) -> None:
    stores.database.execute("PRAGMA max_page_count = 1000000")
