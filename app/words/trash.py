"""What was deleted, in words: when, how much, and how long it stays."""

from __future__ import annotations

import time
from datetime import date
from math import ceil

from PySide6.QtCore import QCoreApplication, QDate, QLocale, QObject

from app.storage import Deletion
from app.storage.trash import KEPT_S
from app.words.formats import fill

_DAY_S = 86_400


def deletion_title(deletion: Deletion) -> str:
    if deletion.whole_chat:
        return deletion.title
    return fill(QCoreApplication.translate("Trash", "Messages in “%1”"), deletion.title)


def deletion_detail(deletion: Deletion) -> str:
    """When it was deleted, how many messages it has, and how many days are left."""
    counts = _Counts()
    days = ceil(max(0, min(KEPT_S, deletion.mark + KEPT_S - time.time())) / _DAY_S)
    return " · ".join((_when(deletion.mark), counts.messages(deletion.messages), counts.days_left(days)))


class _Counts(QObject):
    """Plural forms are only read from the source where an object says them."""

    def messages(self, number: int) -> str:
        return self.tr("%Ln message(s)", "", number)

    def days_left(self, number: int) -> str:
        return self.tr("%Ln day(s) left", "", number)


def _when(mark: float) -> str:
    day = date.fromtimestamp(mark)
    today = date.fromtimestamp(time.time())
    if day == today:
        return QCoreApplication.translate("Trash", "deleted today")
    if (today - day).days == 1:
        return QCoreApplication.translate("Trash", "deleted yesterday")
    form = QLocale.FormatType.ShortFormat
    written = QLocale().toString(QDate(day.year, day.month, day.day), form)
    return fill(QCoreApplication.translate("Trash", "deleted on %1"), written)
