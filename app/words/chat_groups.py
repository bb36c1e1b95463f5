"""Headings of the chat list (pinned, folders, a day, a week, or a month), and generated titles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from enum import StrEnum

from PySide6.QtCore import QCoreApplication, QDate, QLocale

from app.words.formats import count, fill


class ChatGroup(StrEnum):
    """The groups with a name of their own; older chats are grouped by month."""

    PINNED = "pinned"
    FOLDERS = "folders"
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
        ChatGroup.FOLDERS: QCoreApplication.translate("ChatGroups", "Folders"),
        ChatGroup.TODAY: QCoreApplication.translate("ChatGroups", "Today"),
        ChatGroup.YESTERDAY: QCoreApplication.translate("ChatGroups", "Yesterday"),
        ChatGroup.WEEK: QCoreApplication.translate("ChatGroups", "Previous 7 days"),
    }[group]


def copy_titles(title: str) -> Iterator[str]:
    """Titles for a copy of a chat, the best first; copies of copies count on."""
    once = QCoreApplication.translate("ChatGroups", "%1 copy", "the title of a chat's copy")
    again = QCoreApplication.translate("ChatGroups", "%1 copy %2", "the title of a second or later copy")
    yield from _numbered(_original(title, once, again), once, again)


def folder_names() -> Iterator[str]:
    name = QCoreApplication.translate("ChatGroups", "New Folder")
    again = QCoreApplication.translate("ChatGroups", "%1 %2", "the name of a second new folder: New folder 2")
    yield from _numbered(name, "%1", again)


def _numbered(title: str, once: str, again: str) -> Iterator[str]:
    yield fill(once, title)
    number = 1
    while True:
        number += 1
        yield fill(again, title, count(number))


def _original(title: str, *forms: str) -> str:
    """The title without a copy's number."""
    for form in forms:
        pattern = re.escape(form).replace("%1", "(.+)").replace("%2", r"\d+")
        if found := re.fullmatch(pattern, title, re.DOTALL):
            return found[1]
    return title
