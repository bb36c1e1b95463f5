"""Requests running and recent as a table, for the window of activity. Rows hold codes; `data` words them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.storage import ReplyStatus
from app.words.formats import moment
from app.words.model_names import ARROW, human_name
from app.words.replies import footer_line
from app.words.requests import (
    RequestColumn,
    another_program,
    cell_text,
    column_name,
    deleted_chat,
    paused_text,
    second_line,
)
from app.words.speculation import time_words
from engine import RequestStats

MOST_ROWS = 1000


class RequestRole(IntEnum):
    ROW = Qt.ItemDataRole.UserRole  # the whole RequestRow
    SECOND_LINE = Qt.ItemDataRole.UserRole + 2
    WHEN = Qt.ItemDataRole.UserRole + 3


@dataclass(frozen=True, slots=True)
class RequestRow:
    key: int  # the request's id
    chat: str
    pair: str  # "Qwen3 8B ← 0.6B"
    status: ReplyStatus = ReplyStatus.QUEUED
    stats: RequestStats = field(default_factory=RequestStats)
    chat_id: int = 0  # 0: it is deleted
    message_id: int = 0
    of_program: bool = False  # another program's, over the server
    pauses: bool = False  # for the user's requests
    at_s: float = 0.0  # when it was asked, or of an earlier run: when it ended


class RequestTableModel(QAbstractTableModel):
    """Newest first: requests of this run, and the loaded pages of older ones.

    Above a limit the oldest row is dropped for each new one; it is on the disk.
    """

    trimmed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[RequestRow] = []

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(RequestColumn)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        answers: dict[int, Callable[[], object]] = {
            Qt.ItemDataRole.DisplayRole: lambda: _text(row, RequestColumn(index.column())),
            Qt.ItemDataRole.ToolTipRole: lambda: footer_line(row.stats).tooltip,
            Qt.ItemDataRole.AccessibleTextRole: lambda: _spoken(row, RequestColumn(index.column())),
            RequestRole.ROW: lambda: row,
            RequestRole.SECOND_LINE: lambda: _second_line(row, RequestColumn(index.column())),
            RequestRole.WHEN: lambda: moment(row.at_s),
        }
        return answers[role]() if role in answers else None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation is not Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        return column_name(RequestColumn(section))

    def put(self, row: RequestRow) -> None:
        """Adds a request on top, or replaces what was known of it."""
        at = next((number for number, each in enumerate(self.rows) if each.key == row.key), None)
        if at is None:
            self._insert(row)
        elif self.rows[at] != row:
            self._replace(at, row)

    def name_chats(self, titles: Mapping[int, str]) -> None:
        """Show these titles; a chat without one was deleted for good."""
        for at, row in enumerate(self.rows):
            title = titles.get(row.chat_id, row.chat)
            if title != row.chat:
                self._replace(at, replace(row, chat=title, chat_id=row.chat_id if title else 0))

    def _replace(self, at: int, row: RequestRow) -> None:
        self.rows[at] = row
        self.dataChanged.emit(self.index(at, 0), self.index(at, len(RequestColumn) - 1))

    def row(self, key: int) -> RequestRow | None:
        return next((each for each in self.rows if each.key == key), None)

    def add_older(self, rows: Sequence[RequestRow]) -> None:
        """Older requests, newest first, below those that are there."""
        if rows:
            self.beginInsertRows(QModelIndex(), len(self.rows), len(self.rows) + len(rows) - 1)
            self.rows += rows
            self.endInsertRows()

    def remove_ended(self) -> None:
        self.beginResetModel()
        self.rows = [row for row in self.rows if row.status.under_way]
        self.endResetModel()

    def _insert(self, row: RequestRow) -> None:
        self.beginInsertRows(QModelIndex(), 0, 0)
        self.rows.insert(0, row)
        self.endInsertRows()
        if len(self.rows) > MOST_ROWS and not self.rows[-1].status.under_way:
            self.beginRemoveRows(QModelIndex(), len(self.rows) - 1, len(self.rows) - 1)
            gone = self.rows.pop()
            self.endRemoveRows()
            if not gone.of_program:
                self.trimmed.emit()


def _text(row: RequestRow, column: RequestColumn) -> str:
    if column is RequestColumn.CHAT:
        return _chat(row)
    if column is RequestColumn.STATE and row.pauses:
        return paused_text()[0]
    return cell_text(column, row.status, row.stats)


def _chat(row: RequestRow) -> str:
    if row.of_program and not row.chat:
        return another_program()
    return row.chat if row.chat or row.chat_id else deleted_chat()


def _second_line(row: RequestRow, column: RequestColumn) -> str:
    if column is RequestColumn.CHAT:
        return ARROW.join(map(human_name, row.pair.split(ARROW)))
    pauses = row.pauses and column is RequestColumn.STATE
    return paused_text()[1] if pauses else second_line(column, row.stats)


def _spoken(row: RequestRow, column: RequestColumn) -> str:
    """With what the picture shows."""
    if column is RequestColumn.TIME:
        return time_words(row.stats)
    when = moment(row.at_s) if column is RequestColumn.CHAT else ""
    return " ".join(part for part in (_text(row, column), when, _second_line(row, column)) if part)
