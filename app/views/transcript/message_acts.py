"""What can be done with a message, as entries of a menu: of the icon under it, of the pointer, of the keyboard."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QMenu, QWidget

from app.view_models.transcript import ReplyStatus, TranscriptMessage
from app.views.transcript.part_context import PartContext
from app.views.widgets.held_keys import Menu

# The acts beyond those that have a signal of their own.
COPY_PLAIN, INSERT_BEFORE, INSERT_AFTER = "copy_plain", "insert_before", "insert_after"
SWITCH_ROLE, DELETE_FOLLOWING = "switch_role", "delete_following"
INSPECT, RACE = "inspect", "race"

_SIDES_PX = 64

Entry = tuple[str, str, bool]  # the act ("": a line), what it is called, whether it is possible


class MessageMenu(Menu):
    """Of one message."""

    def __init__(self, context: PartContext, message: TranscriptMessage, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFont(context.theme.ui_font())
        add_message_acts(self, context, message)


def add_message_acts(menu: QMenu, context: PartContext, message: TranscriptMessage) -> None:
    for act, words, possible in _entries(message):
        if not act:
            menu.addSeparator()
            continue
        action = menu.addAction(words)
        action.setEnabled(possible)
        action.setObjectName(f"message {act}")  # the same in every language
        action.triggered.connect(lambda _checked=False, act=act: ask_for(context, act, message.id))
    # Qt measures entries in fonts of several scripts too narrow.
    widest = max(menu.fontMetrics().horizontalAdvance(action.text()) for action in menu.actions())
    menu.setMinimumWidth(widest + context.theme.px(_SIDES_PX))


def ask_for(context: PartContext, act: str, message_id: int) -> None:
    signal = {
        "copy": context.copy_requested,
        "edit": context.edit_requested,
        "continue": context.continue_requested,
        "regenerate": context.regenerate_requested,
        "delete": context.delete_requested,
    }.get(act)
    if signal is not None:
        signal.emit(message_id)
    else:
        context.act_requested.emit(message_id, act)


def can_change(message: TranscriptMessage) -> bool:
    """Neither being written, nor being edited, nor damaged, nor in the Trash."""
    damaged = message.status in (ReplyStatus.UNREADABLE, ReplyStatus.UNSAVED)
    return not (message.under_way or message.edit is not None or damaged or message.read_only)


def _entries(message: TranscriptMessage) -> Iterator[Entry]:
    has_words = bool(message.text.strip())
    yield "copy", QCoreApplication.translate("MessageActs", "Copy as Markdown"), has_words
    yield COPY_PLAIN, QCoreApplication.translate("MessageActs", "Copy as Plain Text"), has_words
    yield "", "", False
    if not message.read_only:
        yield from _changes(message, has_words=has_words)
    elif not message.from_user:
        yield INSPECT, QCoreApplication.translate("MessageActs", "Show in Inspector"), message.stats is not None


def _changes(message: TranscriptMessage, *, has_words: bool) -> Iterator[Entry]:
    free = can_change(message)
    yield "edit", QCoreApplication.translate("MessageActs", "Edit"), free
    again = QCoreApplication.translate("MessageActs", "Write Again")
    answer = QCoreApplication.translate("MessageActs", "Write a Reply")
    yield "regenerate", answer if message.from_user else again, message.edit is None
    if not message.from_user:
        yield "continue", QCoreApplication.translate("MessageActs", "Continue"), free and has_words
        yield "", "", False
        yield INSPECT, QCoreApplication.translate("MessageActs", "Show in Inspector"), message.stats is not None
        yield RACE, QCoreApplication.translate("MessageActs", "Race…"), free
    yield "", "", False
    yield INSERT_BEFORE, QCoreApplication.translate("MessageActs", "Insert Before"), free
    yield INSERT_AFTER, QCoreApplication.translate("MessageActs", "Insert After"), free
    yours = QCoreApplication.translate("MessageActs", "Make It Yours")
    model_s = QCoreApplication.translate("MessageActs", "Make It the Model's")
    yield SWITCH_ROLE, model_s if message.from_user else yours, free
    yield "", "", False
    yield "delete", QCoreApplication.translate("MessageActs", "Delete"), True
    yield DELETE_FOLLOWING, QCoreApplication.translate("MessageActs", "Delete with All That Follows…"), True
