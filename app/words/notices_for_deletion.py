"""Why a model was not deleted, as rows of the table of refusals in words."""

from __future__ import annotations

import engine
from app.words.notice_rows import QT_TRANSLATE_NOOP, Row

DELETION = (
    Row(
        engine.DeleteFailed,
        QT_TRANSLATE_NOOP("Messages", "Not deleted"),
        QT_TRANSLATE_NOOP("Messages", "%1 comes with Hunch and stays."),
        values=("model",),
        when=lambda error: error.reason is engine.DeleteRefusal.STARTER,
    ),
    Row(
        engine.DeleteFailed,
        QT_TRANSLATE_NOOP("Messages", "Not deleted"),
        QT_TRANSLATE_NOOP("Messages", "A reply is being written with %1. Stop it first."),
        values=("model",),
        when=lambda error: error.reason is engine.DeleteRefusal.IN_USE,
    ),
    Row(
        engine.DeleteFailed,
        QT_TRANSLATE_NOOP("Messages", "Not deleted"),
        QT_TRANSLATE_NOOP("Messages", "Hunch did not install %1. Delete it where it came from."),
        values=("model",),
        when=lambda error: error.reason is not None,
    ),
    Row(
        engine.DeleteFailed,
        QT_TRANSLATE_NOOP("Messages", "Not deleted"),
        QT_TRANSLATE_NOOP("Messages", "%1 could not be deleted: %2"),
        values=("model", "detail"),
    ),
)
