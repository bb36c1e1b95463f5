"""What is still on the screen alone when the app has closed its database: what was typed, attached, and written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.controllers.keeping import Keeping
from app.controllers.replies import Replies
from app.storage.left_words import Left


def left_words(keeping: Keeping, replies: Replies) -> Left:
    """Once the storage is closed: what was asked of it is done, refused, or beyond its time."""
    of_kind: dict[str, dict[int, Any]] = {kind: {} for kind in ("unsent", "attachments", "edit", "attached")}
    for (kind, number), value in keeping.left().items():
        if value is not None:
            of_kind[kind][number] = value
    typed, attached = of_kind["edit"], of_kind["attached"]
    edits = attached | {
        number: replace(edit, attachments=attached.get(number, edit).attachments) for number, edit in typed.items()
    }
    return Left(of_kind["unsent"], of_kind["attachments"], edits, replies.left())
