"""The sidebar's rows: headings by day and the chats under them. Where the chats come from is the controller's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from difflib import SequenceMatcher
from enum import IntEnum, StrEnum
from itertools import groupby

from PySide6.QtCore import (
    QAbstractListModel,
    QByteArray,
    QDate,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

from app.storage import ChatSummary


class RowKind(StrEnum):
    HEADING = "heading"
    CHAT = "chat"


class ConversationRole(IntEnum):
    KIND = Qt.ItemDataRole.UserRole
    ID = Qt.ItemDataRole.UserRole + 1
    TITLE = Qt.ItemDataRole.UserRole + 2
    GENERATING = Qt.ItemDataRole.UserRole + 3
    PINNED = Qt.ItemDataRole.UserRole + 4
    SNIPPET = Qt.ItemDataRole.UserRole + 5  # the text around what a search found


@dataclass(frozen=True, slots=True)
class ConversationRow:
    kind: RowKind
    chat_id: int  # 0 for a heading
    title: str
    generating: bool = False
    pinned: bool = False
    snippet: str = ""

    @property
    def key(self) -> tuple[int, str]:
        """What makes two rows the same row, so that a change keeps the selection and the scroll position."""
        return self.chat_id, self.title if self.kind is RowKind.HEADING else ""


class ConversationListModel(QAbstractListModel):
    def __init__(self, find: Callable[[str], Sequence[ChatSummary]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[ConversationRow] = []
        self.query = ""
        self._find = find
        self._generating: frozenset[int] = frozenset()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        values: dict[int, object] = {
            Qt.ItemDataRole.DisplayRole: row.title,
            Qt.ItemDataRole.AccessibleTextRole: row.title,
            ConversationRole.KIND: str(row.kind),
            ConversationRole.ID: row.chat_id,
            ConversationRole.TITLE: row.title,
            ConversationRole.GENERATING: row.generating,
            ConversationRole.PINNED: row.pinned,
            ConversationRole.SNIPPET: row.snippet,
        }
        return values.get(role)

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        if index.isValid() and self.rows[index.row()].kind is RowKind.HEADING:
            return Qt.ItemFlag.ItemIsEnabled
        return super().flags(index)

    def roleNames(self) -> dict[int, QByteArray]:
        names = {int(role): QByteArray(role.name.lower().encode()) for role in ConversationRole}
        return super().roleNames() | names

    def set_query(self, text: str) -> None:
        self.query = text.strip()
        self.refresh()

    def set_generating(self, chats: Iterable[int]) -> None:
        self._generating = frozenset(chats)
        self._apply([replace(row, generating=row.chat_id in self._generating) for row in self.rows])

    def refresh(self) -> None:
        """Asks for the chats again and changes only the rows that differ."""
        self._apply(self._build(self._find(self.query), datetime.now().astimezone().date()))

    def row_of(self, chat_id: int) -> int | None:
        return next((row for row, each in enumerate(self.rows) if chat_id and each.chat_id == chat_id), None)

    def _build(self, chats: Iterable[ChatSummary], today: date) -> list[ConversationRow]:
        rows: list[ConversationRow] = []
        for heading, group in groupby(chats, key=lambda chat: self._heading(chat, today)):
            rows.append(ConversationRow(RowKind.HEADING, 0, heading))
            rows += [
                ConversationRow(
                    RowKind.CHAT, chat.id, chat.title, chat.id in self._generating, chat.pinned, chat.snippet
                )
                for chat in group
            ]
        return rows

    def _heading(self, chat: ChatSummary, today: date) -> str:
        day = datetime.fromtimestamp(chat.updated_at).astimezone().date()
        if chat.pinned:
            return self.tr("Pinned")
        if day >= today:
            return self.tr("Today")
        if day == today - timedelta(days=1):
            return self.tr("Yesterday")
        if day > today - timedelta(days=7):
            return self.tr("Previous 7 days")
        return QLocale().toString(QDate(day.year, day.month, 1), self.tr("MMMM yyyy", "a month, as a date format"))

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
