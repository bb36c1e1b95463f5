"""Dragging chats and folders of the list onto folders, and out of them."""

from __future__ import annotations

from uuid import uuid4

from PySide6.QtCore import QByteArray, QMimeData
from PySide6.QtGui import QDropEvent

from app.view_models.conversation_rows import ConversationRow, FolderTree

_KIND = "application/x-hunch-row"
_TOKEN = uuid4().hex  # of this run: what another program drags here under the same name is not taken


def carried(row: ConversationRow) -> QMimeData:
    """Of this app alone: other programs are given nothing."""
    data = QMimeData()
    data.setData(_KIND, QByteArray(f"{_TOKEN} {row.chat_id} {row.folder_id}".encode()))
    return data


def dragged(event: QDropEvent) -> tuple[int, int] | None:
    """The chat or the folder (the other number is 0) of a drag that began in the list."""
    token, _, numbers = bytes(event.mimeData().data(_KIND).data()).decode("ascii", "replace").partition(" ")
    if token != _TOKEN:
        return None
    chat_id, folder_id = numbers.split()
    return int(chat_id), int(folder_id)


def target(row: ConversationRow | None) -> int | None:
    """The folder that a drop on a row means; None is the top."""
    if row is None or row.is_heading:
        return None
    return row.folder_id or row.inside


def is_welcome(what: tuple[int, int], folder_id: int | None, tree: FolderTree) -> bool:
    """A folder does not go into itself, nor into what is in it."""
    return not what[1] or not tree.holds(what[1], folder_id)
