"""Attachments of the message that is being written: rows with a change signal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from app.storage import Attachment, AttachmentKind, Attachments


@dataclass(frozen=True, slots=True)
class AttachedRow:
    """`attachment` is None while the file is read; `progress` is the share done, also of a document to be searched."""

    number: int
    name: str
    kind: AttachmentKind = AttachmentKind.TEXT
    size_bytes: int = 0
    tokens: int | None = None  # None: not counted yet
    progress: float | None = None
    attachment: Attachment | None = None

    @property
    def is_picture(self) -> bool:
        return self.kind is AttachmentKind.PICTURE


def row_of(attachment: Attachment, number: int = 0, tokens: int | None = None) -> AttachedRow:
    """Of a file that is read."""
    return AttachedRow(number, attachment.name, attachment.kind, attachment.size_bytes, tokens, None, attachment)


def attachments_of(rows: Sequence[AttachedRow]) -> Attachments:
    """The files that are read, with their tokens if known."""
    read = [(row, row.attachment) for row in rows if row.attachment is not None]
    return tuple(replace(each, tokens=row.tokens or each.tokens) for row, each in read)


class AttachedModel(QObject):
    """Attachments of the open chat."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[AttachedRow] = []

    @property
    def is_reading(self) -> bool:
        return any(row.attachment is None for row in self.rows)

    @property
    def tokens(self) -> int:
        return sum(row.tokens or 0 for row in self.rows)

    @property
    def longest(self) -> AttachedRow | None:
        """Of those whose tokens are known, but for what was found to fit."""
        counted = [row for row in self.rows if row.tokens and row.kind is not AttachmentKind.PASSAGES]
        return max(counted, key=lambda row: row.tokens or 0, default=None)

    def row(self, number: int) -> AttachedRow | None:
        return next((row for row in self.rows if row.number == number), None)

    def set_rows(self, rows: list[AttachedRow]) -> None:
        if rows != self.rows:
            self.rows = rows
            self.changed.emit()
