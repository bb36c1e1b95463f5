"""The contents of a notice, its buttons' texts, and why a reply was drafted or was not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.storage import StorageProblem
from engine import DeleteFailed, DrafterExamined, DraftingState, EngineError


class NoticeAction(StrEnum):
    """What a notice's button does; the view decides how."""

    CHOOSE_MODEL = "choose_model"
    CHOOSE_DRAFT = "choose_draft"
    OPEN_MODELS = "open_models"
    INSTALL_MODEL = "install_model"
    OPEN_SETTINGS = "open_settings"
    OPEN_HUB = "open_hub"  # address, token, proxy, offline mode
    RETRY = "retry"
    CONTINUE = "continue"
    NEW_CHAT = "new_chat"
    LEAVE_OUT = "leave_out"  # the oldest messages, for this chat from here on
    SUMMARISE = "summarise"  # so, with a summary of them
    WITHOUT_PICTURES = "without_pictures"  # the chat goes on, and its model is not asked to see
    TURN_OFF_PAIR = "turn_off_pair"  # drafting, for the loaded pair


@dataclass(frozen=True, slots=True)
class Notice:
    title: str
    sentence: str
    hint: str = ""
    action: NoticeAction | None = None
    detail: str = ""  # English text of the engine or a library, for reports and a tooltip
    others: tuple[NoticeAction, ...] = ()  # further choices: the notice asks, and nothing went wrong


def action_text(action: NoticeAction | None) -> str:
    """What the button says; nothing without an action."""
    if action is None:
        return ""
    return {
        NoticeAction.CHOOSE_MODEL: QCoreApplication.translate("Messages", "Choose a model"),
        NoticeAction.CHOOSE_DRAFT: QCoreApplication.translate("Messages", "Choose a draft"),
        NoticeAction.OPEN_MODELS: QCoreApplication.translate("Messages", "Open Models"),
        NoticeAction.INSTALL_MODEL: QCoreApplication.translate("Messages", "Install a model"),
        NoticeAction.OPEN_SETTINGS: QCoreApplication.translate("Messages", "Open Settings"),
        NoticeAction.OPEN_HUB: QCoreApplication.translate("Messages", "Open Settings"),
        NoticeAction.RETRY: QCoreApplication.translate("Messages", "Try again"),
        NoticeAction.CONTINUE: QCoreApplication.translate("Messages", "Continue"),
        NoticeAction.NEW_CHAT: QCoreApplication.translate("Messages", "New chat"),
        NoticeAction.LEAVE_OUT: QCoreApplication.translate("Options", "Leave out the oldest"),
        NoticeAction.SUMMARISE: QCoreApplication.translate("Options", "Summarize the oldest"),
        NoticeAction.WITHOUT_PICTURES: QCoreApplication.translate("Messages", "Go on without them"),
        NoticeAction.TURN_OFF_PAIR: QCoreApplication.translate("Messages", "Turn off for this pair"),
    }[action]


def drafting_sentence(state: DraftingState) -> str:
    """Why nothing is drafted; "" while something is."""
    return {
        DraftingState.OFF: QCoreApplication.translate("Messages", "Drafting is off."),
        DraftingState.NO_DRAFT: QCoreApplication.translate("Messages", "No draft loaded."),
        DraftingState.CATCHING_UP: QCoreApplication.translate("Messages", "The draft is still reading the chat."),
        DraftingState.BATCHED: QCoreApplication.translate(
            "Messages", "Drafting pauses while several replies are written."
        ),
        DraftingState.PARKED: QCoreApplication.translate("Messages", "Paused: drafting would be slower."),
        DraftingState.UNSUPPORTED: QCoreApplication.translate(
            "Messages", "No drafting: this model's cache cannot be rolled back."
        ),
        DraftingState.FAILED: QCoreApplication.translate(
            "Messages", "The draft failed; the main model finished alone."
        ),
    }.get(state, "")


@dataclass(frozen=True, slots=True)
class NoticeRow:
    """`values` names the fields of the error that fill %1, %2 … of the sentence; "model" is the folder's last part."""

    kind: type[EngineError] | type[DeleteFailed] | type[DrafterExamined] | type[StorageProblem]
    title: str
    sentence: str
    hint: str = ""
    action: NoticeAction | None = None
    values: tuple[str, ...] = ()
    others: tuple[NoticeAction, ...] = ()
    when: Callable[[Any], bool] = lambda _error: True  # the first matching row of an error is used


def QT_TRANSLATE_NOOP(_context: str, source: str) -> str:  # noqa: N802 - lupdate looks for this name; Qt's own has no types
    return source


def translated(source: str, context: str = "Messages") -> str:
    """The words of a row, translated when it is shown."""
    return QCoreApplication.translate(context, source) if source else ""
