"""Requests running and recent as a table, for Settings → Speculation and the inspector."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.view_models.reply_stats import footer_line, speed_up_text
from app.words import formats
from engine import RequestStats

KEPT_ROWS = 50
NOT_KNOWN = "–"


class RequestState(StrEnum):
    QUEUED = "queued"
    READING = "reading"
    WRITING = "writing"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


class RequestColumn(IntEnum):
    CHAT = 0
    PAIR = 1
    STATE = 2
    ACCEPT_RATE = 3
    TOKENS_PER_PASS = 4
    DRAFTED = 5
    ACCEPTED = 6
    SPEED = 7
    SPEED_UP = 8


class RequestRole(IntEnum):
    RUNNING = Qt.ItemDataRole.UserRole
    BY_POSITION = Qt.ItemDataRole.UserRole + 1  # tuple of accept rates, position 1 first


@dataclass(frozen=True, slots=True)
class RequestRow:
    key: int  # the request's id
    chat: str
    pair: str  # "Qwen3 8B ← 0.6B"
    state: RequestState = RequestState.QUEUED
    stats: RequestStats = field(default_factory=RequestStats)

    @property
    def running(self) -> bool:
        return self.state in (RequestState.QUEUED, RequestState.READING, RequestState.WRITING)


class RequestTableModel(QAbstractTableModel):
    """Newest first; the oldest fall out beyond `KEPT_ROWS`."""

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
            Qt.ItemDataRole.DisplayRole: lambda: self._text(row, RequestColumn(index.column())),
            Qt.ItemDataRole.ToolTipRole: lambda: footer_line(row.stats).tooltip,
            Qt.ItemDataRole.TextAlignmentRole: lambda: _alignment(RequestColumn(index.column())),
            RequestRole.RUNNING: lambda: row.running,
            RequestRole.BY_POSITION: lambda: row.stats.accept_rate_by_position,
        }
        return answers[role]() if role in answers else None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation is not Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        return {
            RequestColumn.CHAT: self.tr("Chat"),
            RequestColumn.PAIR: self.tr("Models"),
            RequestColumn.STATE: self.tr("State"),
            RequestColumn.ACCEPT_RATE: self.tr("Accept rate"),
            RequestColumn.TOKENS_PER_PASS: self.tr("Tokens per pass"),
            RequestColumn.DRAFTED: self.tr("Drafted"),
            RequestColumn.ACCEPTED: self.tr("Accepted"),
            RequestColumn.SPEED: self.tr("Tokens per second"),
            RequestColumn.SPEED_UP: self.tr("Speed-up"),
        }[RequestColumn(section)]

    def put(self, row: RequestRow) -> None:
        """Adds a request on top, or replaces what was known of it."""
        at = next((number for number, each in enumerate(self.rows) if each.key == row.key), None)
        if at is None:
            self._insert(row)
        elif self.rows[at] != row:
            self.rows[at] = row
            self.dataChanged.emit(self.index(at, 0), self.index(at, len(RequestColumn) - 1))

    def row(self, key: int) -> RequestRow | None:
        return next((each for each in self.rows if each.key == key), None)

    def retranslate(self) -> None:
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(RequestColumn) - 1)
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, len(RequestColumn) - 1))

    def _insert(self, row: RequestRow) -> None:
        self.beginInsertRows(QModelIndex(), 0, 0)
        self.rows.insert(0, row)
        self.endInsertRows()
        if len(self.rows) > KEPT_ROWS:
            self.beginRemoveRows(QModelIndex(), KEPT_ROWS, len(self.rows) - 1)
            del self.rows[KEPT_ROWS:]
            self.endRemoveRows()

    def _text(self, row: RequestRow, column: RequestColumn) -> str:
        stats = row.stats
        return {
            RequestColumn.CHAT: lambda: row.chat,
            RequestColumn.PAIR: lambda: row.pair,
            RequestColumn.STATE: lambda: self._state_text(row.state),
            RequestColumn.ACCEPT_RATE: lambda: (
                NOT_KNOWN if stats.accept_rate is None else formats.percent(stats.accept_rate)
            ),
            RequestColumn.TOKENS_PER_PASS: lambda: _number(stats.tokens_per_pass if stats.drafted else None),
            RequestColumn.DRAFTED: lambda: formats.count(stats.drafted),
            RequestColumn.ACCEPTED: lambda: formats.count(stats.accepted),
            RequestColumn.SPEED: lambda: _number(stats.tokens_per_second),
            RequestColumn.SPEED_UP: lambda: speed_up_text(stats),
        }[column]()

    def _state_text(self, state: RequestState) -> str:
        return {
            RequestState.QUEUED: self.tr("Waiting"),
            RequestState.READING: self.tr("Reading"),
            RequestState.WRITING: self.tr("Writing"),
            RequestState.DONE: self.tr("Done"),
            RequestState.STOPPED: self.tr("Stopped"),
            RequestState.FAILED: self.tr("Failed"),
        }[state]


def _number(value: float | None) -> str:
    return NOT_KNOWN if value is None else formats.number(value, 1)


def _alignment(column: RequestColumn) -> Qt.AlignmentFlag:
    words = column in (RequestColumn.CHAT, RequestColumn.PAIR, RequestColumn.STATE)
    return (Qt.AlignmentFlag.AlignLeft if words else Qt.AlignmentFlag.AlignRight) | Qt.AlignmentFlag.AlignVCenter
