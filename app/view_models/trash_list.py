"""What was deleted in the last 30 days, as a Qt model: the newest first, more of it as it is scrolled."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.storage import Deletion
from app.words.formats import listed
from app.words.trash import deletion_detail, deletion_title

__all__ = ["DELETION", "Deletion", "TrashListModel"]

DELETION = Qt.ItemDataRole.UserRole
PAGE = 100


class TrashListModel(QAbstractListModel):
    refreshed = Signal()

    def __init__(self, latest: Callable[[int], Sequence[Deletion]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._latest = latest
        self._limit = PAGE
        self.rows: list[Deletion] = []

    def refresh(self) -> None:
        rows = list(self._latest(self._limit))
        if rows != self.rows:
            self.beginResetModel()
            self.rows = rows
            self.endResetModel()
        self.refreshed.emit()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        deletion = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return deletion_title(deletion)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return listed(deletion_title(deletion), deletion_detail(deletion), deletion.words)
        return deletion if role == DELETION else None

    def canFetchMore(self, _parent: QModelIndex | QPersistentModelIndex) -> bool:  # noqa: N802 - Qt's name
        return len(self.rows) >= self._limit

    def fetchMore(self, _parent: QModelIndex | QPersistentModelIndex) -> None:  # noqa: N802 - Qt's name
        self._limit += PAGE
        rows = list(self._latest(self._limit))
        known = len(self.rows)
        if len(rows) > known:
            self.beginInsertRows(QModelIndex(), known, len(rows) - 1)
            self.rows = rows
            self.endInsertRows()
