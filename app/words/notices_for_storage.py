"""Every refusal of the storage in words: what could not be stored or opened, why, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.storage import NotOpened, NotStored, Reason
from app.words.notice_rows import QT_TRANSLATE_NOOP, Row
from app.words.notices import NoticeAction


def _because(*reasons: Reason) -> Callable[[Any], bool]:
    return lambda problem: problem.reason in reasons


STORAGE_TABLE = (
    Row(
        NotStored,
        QT_TRANSLATE_NOOP("Messages", "Not saved"),
        QT_TRANSLATE_NOOP("Messages", "There is no room left on the disk with %1."),
        QT_TRANSLATE_NOOP("Messages", "Free some space, then try again. Your words stay here."),
        NoticeAction.RETRY,
        values=("folder",),
        when=_because(Reason.FULL),
    ),
    Row(
        NotStored,
        QT_TRANSLATE_NOOP("Messages", "Not saved"),
        QT_TRANSLATE_NOOP("Messages", "Another program keeps the file with your chats locked."),
        QT_TRANSLATE_NOOP("Messages", "Close that program, then try again. Your words stay here."),
        NoticeAction.RETRY,
        when=_because(Reason.LOCKED),
    ),
    Row(
        NotStored,
        QT_TRANSLATE_NOOP("Messages", "Not saved"),
        QT_TRANSLATE_NOOP("Messages", "Hunch may not write to %1."),
        QT_TRANSLATE_NOOP("Messages", "Allow it, then try again. Your words stay here."),
        NoticeAction.RETRY,
        values=("folder",),
        when=_because(Reason.READ_ONLY),
    ),
    Row(
        NotStored,
        QT_TRANSLATE_NOOP("Messages", "Not saved"),
        QT_TRANSLATE_NOOP("Messages", "It could not be written to the disk with %1."),
        QT_TRANSLATE_NOOP("Messages", "Check the disk, then try again. Your words stay here."),
        NoticeAction.RETRY,
        values=("folder",),
    ),
    Row(
        NotOpened,
        QT_TRANSLATE_NOOP("Messages", "Your chats cannot be opened"),
        QT_TRANSLATE_NOOP("Messages", "There is no room left on the disk with %1."),
        QT_TRANSLATE_NOOP("Messages", "Free some space, then try again."),
        NoticeAction.RETRY,
        values=("folder",),
        when=_because(Reason.FULL),
    ),
    Row(
        NotOpened,
        QT_TRANSLATE_NOOP("Messages", "Your chats cannot be opened"),
        QT_TRANSLATE_NOOP("Messages", "Another program keeps the file with your chats locked."),
        QT_TRANSLATE_NOOP("Messages", "Close that program, then try again."),
        NoticeAction.RETRY,
        when=_because(Reason.LOCKED),
    ),
    Row(
        NotOpened,
        QT_TRANSLATE_NOOP("Messages", "Your chats cannot be opened"),
        QT_TRANSLATE_NOOP("Messages", "Hunch may not write to %1."),
        QT_TRANSLATE_NOOP("Messages", "Allow it, then try again."),
        NoticeAction.RETRY,
        values=("folder",),
        when=_because(Reason.READ_ONLY),
    ),
    Row(
        NotOpened,
        QT_TRANSLATE_NOOP("Messages", "Your chats cannot be opened"),
        QT_TRANSLATE_NOOP("Messages", "The file with them in %1 cannot be read now. It has not been changed."),
        QT_TRANSLATE_NOOP("Messages", "Check the disk, then try again."),
        NoticeAction.RETRY,
        values=("folder",),
    ),
)
