"""The table of requests in words: the names of its columns, and what a cell says."""

from __future__ import annotations

from enum import IntEnum

from PySide6.QtCore import QCoreApplication

from app.storage import ReplyStatus
from app.words import formats
from app.words.replies import speed_up_text, status_text
from engine import RequestStats

NOT_KNOWN = "–"


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


def column_name(column: RequestColumn) -> str:
    return {
        RequestColumn.CHAT: QCoreApplication.translate("Requests", "Chat"),
        RequestColumn.PAIR: QCoreApplication.translate("Requests", "Models"),
        RequestColumn.STATE: QCoreApplication.translate("Requests", "State"),
        RequestColumn.ACCEPT_RATE: QCoreApplication.translate("Requests", "Accept rate"),
        RequestColumn.TOKENS_PER_PASS: QCoreApplication.translate("Requests", "Tokens per pass"),
        RequestColumn.DRAFTED: QCoreApplication.translate("Requests", "Drafted"),
        RequestColumn.ACCEPTED: QCoreApplication.translate("Requests", "Accepted"),
        RequestColumn.SPEED: QCoreApplication.translate("Requests", "Tokens per second"),
        RequestColumn.SPEED_UP: QCoreApplication.translate("Requests", "Speed-up"),
    }[column]


def cell_text(column: RequestColumn, status: ReplyStatus, stats: RequestStats) -> str:
    """Of the columns behind the names; the chat and the pair are names and need no words."""
    return {
        RequestColumn.STATE: lambda: status_text(status),
        RequestColumn.ACCEPT_RATE: lambda: _percent(stats.accept_rate),
        RequestColumn.TOKENS_PER_PASS: lambda: _number(stats.tokens_per_pass if stats.drafted else None),
        RequestColumn.DRAFTED: lambda: formats.count(stats.drafted),
        RequestColumn.ACCEPTED: lambda: formats.count(stats.accepted),
        RequestColumn.SPEED: lambda: _number(stats.tokens_per_second),
        RequestColumn.SPEED_UP: lambda: speed_up_text(stats),
    }[column]()


def _percent(value: float | None) -> str:
    return NOT_KNOWN if value is None else formats.percent(value)


def _number(value: float | None) -> str:
    return NOT_KNOWN if value is None else formats.number(value, 1)
