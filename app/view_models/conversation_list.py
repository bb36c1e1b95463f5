"""The chat list as a Qt model; `conversation_rows` has its rows.

Requests only as many chats as the user has scrolled to, so that its cost does not grow with their number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from difflib import SequenceMatcher

from PySide6.QtCore import (
    QAbstractListModel,
    QCollator,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    QTimer,
    Signal,
)

from app.view_models.conversation_rows import ConversationRow, FolderTree, Listing, rows_of, with_marks

__all__ = ["PAGE_CHATS", "PAGE_FOUND", "ROW", "ConversationListModel", "ConversationRow"]

ROW = Qt.ItemDataRole.UserRole  # the ConversationRow itself
PAGE_CHATS = 100
PAGE_FOUND = 40  # each of them was looked into

Find = Callable[[str, int, Callable[[Listing], None]], None]  # query, how many at most, what to call


class ConversationListModel(QAbstractListModel):
    refreshed = Signal()

    def __init__(
        self,
        find: Find,
        parent: QObject | None = None,
        today: Callable[[], date] = lambda: datetime.now().astimezone().date(),
        folder_of: Callable[[int], int | None] = lambda _chat_id: None,
    ) -> None:
        """`folder_of` returns the folder of any chat: those in closed folders are not asked for."""
        super().__init__(parent)
        self.rows: list[ConversationRow] = []
        self.query = ""
        self.is_searching = False  # the listed chats are a part of the result
        self._find = find
        self._folder_of = folder_of
        self.tree = FolderTree(())
        self._listing = Listing(())
        self._listed_for = ""  # the query of the listed chats
        self._limit = PAGE_CHATS
        self._today = today
        self._day = today()  # the date of the groups
        self._midnight = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._midnight.timeout.connect(self.follow_day)
        self._generating: frozenset[int] = frozenset()
        self._unsent: frozenset[int] = frozenset()

    @property
    def is_answered(self) -> bool:
        """Whether the listed chats are a (partial) result of the query."""
        return self._listed_for == self.query

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.spoken
        return row if role == ROW else None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        row = self.rows[index.row()]
        if row.is_heading:
            return Qt.ItemFlag.ItemIsEnabled
        flags = super().flags(index) | (Qt.ItemFlag.NoItemFlags if row.continues else Qt.ItemFlag.ItemIsDragEnabled)
        return flags & ~Qt.ItemFlag.ItemIsSelectable if row.folder_id else flags

    def canFetchMore(self, _parent: QModelIndex | QPersistentModelIndex) -> bool:  # noqa: N802 - Qt's name
        return self._listing.more

    def fetchMore(self, _parent: QModelIndex | QPersistentModelIndex) -> None:  # noqa: N802 - Qt's name
        if self._listing.more:
            self._limit += PAGE_CHATS
            self._listing = replace(self._listing, more=False)  # a search answers later, and is not to be begun again
            self.refresh()

    def set_query(self, text: str) -> None:
        self.query = text.strip()
        self._limit = PAGE_FOUND if self.query else PAGE_CHATS
        self.refresh()

    def set_generating(self, chats: Iterable[int]) -> None:
        self._generating = frozenset(chats)
        self._apply(self.rows)

    def set_unsent(self, chats: Iterable[int]) -> None:
        """Chats, other than the open one, in whose field text waits."""
        self._unsent = frozenset(chats)
        self._apply(self.rows)

    def set_opened(self, folder_id: int, opened: bool) -> None:
        """Opens or closes a folder at once; its chats come with the next refresh."""
        if not self.is_answered:
            return  # what is listed is not of the query
        folders = [replace(each, opened=opened) if each.id == folder_id else each for each in self._listing.folders]
        self._show(replace(self._listing, folders=folders))

    def refresh(self) -> None:
        """Asks for the chats again; inserts, removes and changes only the rows that differ."""
        self.is_searching = bool(self.query)
        self._find(self.query, self._limit, self._show)

    def follow_day(self) -> None:
        """Regroup the chats after midnight."""
        if self._today() != self._day:
            self.refresh()

    def _show(self, listing: Listing) -> None:
        """A partial result of the same query removes no row, so that the list does not jump."""
        self.is_searching = listing.partial
        if listing.partial and self.is_answered and len(listing.chats) < len(self._listing.chats):
            self.refreshed.emit()
            return
        self._listing = listing
        self._listed_for = self.query
        self._day = self._today()
        self._midnight.start(_until_next_ms(self._day))
        self.tree = FolderTree(listing.folders, lambda folder: QCollator().sortKey(folder.name))
        self._apply(rows_of(listing, self.tree, self._day, bool(self.query)))
        self.refreshed.emit()

    def index_of(self, chat_id: int) -> QModelIndex:
        """Invalid where it is not listed."""
        return self._index_where(lambda row: row.chat_id == chat_id != 0)

    def index_of_folder(self, folder_id: int) -> QModelIndex:
        return self._index_where(lambda row: row.folder_id == folder_id != 0)

    def _index_where(self, wanted: Callable[[ConversationRow], bool]) -> QModelIndex:
        return next((self.index(row) for row, each in enumerate(self.rows) if wanted(each)), QModelIndex())

    def _apply(self, rows: list[ConversationRow]) -> None:
        writing = {chat_id: self._folder_of(chat_id) for chat_id in self._generating}
        rows = with_marks(rows, self.tree, writing, self._unsent)
        old = [row.key for row in self.rows]
        new = [row.key for row in rows]
        if old != new:
            self._change_rows(old, new, rows)
        for number, row in enumerate(rows):
            if self.rows[number] is not row and self.rows[number] != row:
                self.rows[number] = row
                self.dataChanged.emit(self.index(number), self.index(number))

    def _change_rows(self, old: Sequence[object], new: Sequence[object], rows: Sequence[ConversationRow]) -> None:
        for change, first, last, start, stop in reversed(SequenceMatcher(None, old, new, False).get_opcodes()):
            if change in ("delete", "replace"):
                self.beginRemoveRows(QModelIndex(), first, last - 1)
                del self.rows[first:last]
                self.endRemoveRows()
            if change in ("insert", "replace"):
                self.beginInsertRows(QModelIndex(), first, first + stop - start - 1)
                self.rows[first:first] = rows[start:stop]
                self.endInsertRows()


def _until_next_ms(day: date) -> int:
    """Until a moment after the day's end, by the present clock."""
    end = datetime.combine(day + timedelta(1), time()).astimezone()
    return 1000 * max(60, math.ceil((end - datetime.now().astimezone()).total_seconds()) + 1)
