"""The headings of the chat list: pinned, a day, a week, or a month."""

from __future__ import annotations

from datetime import date
from enum import StrEnum

from PySide6.QtCore import QCoreApplication, QDate, QLocale


class ChatGroup(StrEnum):
    """The groups with a name of their own; older chats are grouped by month."""

    PINNED = "pinned"
    TODAY = "today"
    YESTERDAY = "yesterday"
    WEEK = "week"


def group_text(group: ChatGroup | date) -> str:
    """A date stands for its month."""
    if isinstance(group, date):
        form = QCoreApplication.translate("ChatGroups", "MMMM yyyy", "a month, as a date format")
        return QLocale().toString(QDate(group.year, group.month, 1), form)
    return {
        ChatGroup.PINNED: QCoreApplication.translate("ChatGroups", "Pinned"),
        ChatGroup.TODAY: QCoreApplication.translate("ChatGroups", "Today"),
        ChatGroup.YESTERDAY: QCoreApplication.translate("ChatGroups", "Yesterday"),
        ChatGroup.WEEK: QCoreApplication.translate("ChatGroups", "Previous 7 days"),
    }[group]
