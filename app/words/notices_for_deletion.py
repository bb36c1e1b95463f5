"""Why a model was not deleted, as rows of the table of refusals in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import engine
from app.words.notice_rows import QT_TRANSLATE_NOOP, Row
from engine import DeleteRefusal


def _because(*reasons: DeleteRefusal) -> Callable[[Any], bool]:
    return lambda error: error.reason in reasons


DELETION = (
    Row(
        engine.DeleteFailed,
        QT_TRANSLATE_NOOP("Messages", "Not deleted"),
        QT_TRANSLATE_NOOP("Messages", "%1 comes with Hunch and stays."),
        values=("model",),
        when=_because(DeleteRefusal.STARTER),
    ),
    Row(
        engine.DeleteFailed,
        QT_TRANSLATE_NOOP("Messages", "Not deleted"),
        QT_TRANSLATE_NOOP("Messages", "A reply is being written with %1. Stop it first."),
        values=("model",),
        when=_because(DeleteRefusal.IN_USE),
    ),
    Row(
        engine.DeleteFailed,
        QT_TRANSLATE_NOOP("Messages", "Not deleted"),
        QT_TRANSLATE_NOOP("Messages", "Hunch did not install %1. Delete it where it came from."),
        values=("model",),
        when=_because(DeleteRefusal.NOT_OURS, DeleteRefusal.NO_MODEL),
    ),
    Row(
        engine.DeleteFailed,
        QT_TRANSLATE_NOOP("Messages", "Not deleted"),
        QT_TRANSLATE_NOOP("Messages", "There is no model in %1."),
        QT_TRANSLATE_NOOP("Messages", "It may have been moved or deleted, or its disk is not connected."),
        values=("folder",),
        when=_because(DeleteRefusal.GONE),
    ),
    Row(
        engine.DeleteFailed,
        QT_TRANSLATE_NOOP("Messages", "Not deleted"),
        QT_TRANSLATE_NOOP("Messages", "Hunch may not write to %1."),
        QT_TRANSLATE_NOOP("Messages", "Allow it, then try again."),
        values=("folder",),
        when=_because(DeleteRefusal.FORBIDDEN),
    ),
    Row(
        engine.DeleteFailed,
        QT_TRANSLATE_NOOP("Messages", "Not deleted"),
        QT_TRANSLATE_NOOP("Messages", "The disk with %1 can only be read, not written to."),
        values=("folder",),
        when=_because(DeleteRefusal.READ_ONLY),
    ),
    Row(
        engine.DeleteFailed,
        QT_TRANSLATE_NOOP("Messages", "Not deleted"),
        QT_TRANSLATE_NOOP("Messages", "Another program is using %1."),
        QT_TRANSLATE_NOOP("Messages", "Close that program, then try again."),
        values=("model",),
        when=_because(DeleteRefusal.LOCKED),
    ),
    Row(
        engine.DeleteFailed,
        QT_TRANSLATE_NOOP("Messages", "Not deleted"),
        QT_TRANSLATE_NOOP("Messages", "%1 could not be deleted."),
        QT_TRANSLATE_NOOP("Messages", "Check the disk, then try again."),
        values=("model",),
    ),
)
