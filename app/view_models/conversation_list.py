"""The rows of the chat list: group headings and the chats under them.

Only as many chats are asked for as somebody has scrolled to, so that what it costs does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from difflib import SequenceMatcher
from itertools import groupby

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from app.storage import ChatSummary
from app.words.chat_groups import ChatGroup, group_text

ROW = Qt.ItemDataRole.UserRole  # the ConversationRow itself
PAGE_CHATS = 100

Find = Callable[[str, int, Callable[[Sequence[ChatSummary]], None]], None]  # query, how many at most, what to call


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """A chat, or the heading of a group (`group` is set then, and `chat_id` is 0)."""

    chat_id: int = 0
    title: str = ""
    generating: bool = False
    pinned: bool = False
    snippet: str = ""  # the text around what a search found
    group: ChatGroup | date | None = None

    @property
    def text(self) -> str:
        """The chat's title, or the heading in the interface's language."""
        return self.title if self.group is None else group_text(self.group)

    @property
    def key(self) -> object:
        """What makes two rows the same row, so that a change keeps the selection and the scroll position."""
        return self.group or self.chat_id


class ConversationListModel(QAbstractListModel):
    refreshed = Signal()

    def __init__(
        self,
        find: Find,
        parent: QObject | None = None,
        today: Callable[[], date] = lambda: datetime.now().astimezone().date(),
    ) -> None:
        super().__init__(parent)
        self.rows: list[ConversationRow] = []
        self.query = ""
        self._find = find
        self._limit = PAGE_CHATS
        self._found = 0
        self._today = today
        self._generating: frozenset[int] = frozenset()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return row.text
        return row if role == ROW else None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        if index.isValid() and self.rows[index.row()].group is not None:
            return Qt.ItemFlag.ItemIsEnabled
        return super().flags(index)

    def canFetchMore(self, _parent: QModelIndex | QPersistentModelIndex) -> bool:  # noqa: N802 - Qt's name
        return self._found >= self._limit

    def fetchMore(self, _parent: QModelIndex | QPersistentModelIndex) -> None:  # noqa: N802 - Qt's name
        if self._found >= self._limit:
            self._limit += PAGE_CHATS
            self.refresh()

    def set_query(self, text: str) -> None:
        self.query, self._limit = text.strip(), PAGE_CHATS
        self.refresh()

    def set_generating(self, chats: Iterable[int]) -> None:
        self._generating = frozenset(chats)
        self._apply([replace(row, generating=row.chat_id in self._generating) for row in self.rows])

    def refresh(self) -> None:
        """Asks for the chats again; inserts, removes and changes only the rows that differ."""
        self._find(self.query, self._limit, self._show)

    def _show(self, chats: Sequence[ChatSummary]) -> None:
        self._found = len(chats)
        self._apply(self._build(chats, self._today()))
        self.refreshed.emit()

    def row_of(self, chat_id: int) -> int | None:
        return next((row for row, each in enumerate(self.rows) if chat_id and each.chat_id == chat_id), None)

    def _build(self, chats: Iterable[ChatSummary], today: date) -> list[ConversationRow]:
        rows: list[ConversationRow] = []
        for group, members in groupby(chats, key=lambda chat: _group(chat, today)):
            rows.append(ConversationRow(group=group))
            rows += [
                ConversationRow(chat.id, chat.title, chat.id in self._generating, chat.pinned, chat.snippet)
                for chat in members
            ]
        return rows

    def _apply(self, rows: list[ConversationRow]) -> None:
        old, new = [row.key for row in self.rows], [row.key for row in rows]
        if old != new:
            self._change_rows(old, new, rows)
        for number, row in enumerate(rows):
            if self.rows[number] != row:
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


def _group(chat: ChatSummary, today: date) -> ChatGroup | date:
    day = datetime.fromtimestamp(chat.updated_at).astimezone().date()
    if chat.pinned:
        return ChatGroup.PINNED
    if day >= today:
        return ChatGroup.TODAY
    if day == today - timedelta(days=1):
        return ChatGroup.YESTERDAY
    return ChatGroup.WEEK if day > today - timedelta(days=7) else day.replace(day=1)
