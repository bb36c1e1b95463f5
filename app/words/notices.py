"""What the app tells a person beside a reply or in a banner, and why a reply was drafted or was not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QCoreApplication

from engine import DraftingState, FinishReason


class NoticeAction(StrEnum):
    """What a notice's button does; the view decides how."""

    CHOOSE_MODEL = "choose_model"
    CHOOSE_DRAFT = "choose_draft"
    OPEN_MODELS = "open_models"
    RETRY = "retry"
    CONTINUE = "continue"
    NEW_CHAT = "new_chat"


@dataclass(frozen=True, slots=True)
class Notice:
    title: str
    sentence: str
    hint: str = ""
    action: NoticeAction | None = None


def action_text(action: NoticeAction) -> str:
    return {
        NoticeAction.CHOOSE_MODEL: QCoreApplication.translate("Messages", "Choose a model"),
        NoticeAction.CHOOSE_DRAFT: QCoreApplication.translate("Messages", "Choose a draft"),
        NoticeAction.OPEN_MODELS: QCoreApplication.translate("Messages", "Open model settings"),
        NoticeAction.RETRY: QCoreApplication.translate("Messages", "Try again"),
        NoticeAction.CONTINUE: QCoreApplication.translate("Messages", "Continue"),
        NoticeAction.NEW_CHAT: QCoreApplication.translate("Messages", "New chat"),
    }[action]


def drafting_sentence(state: DraftingState) -> str:
    """Why a reply was drafted, or was not."""
    return {
        DraftingState.OFF: QCoreApplication.translate("Messages", "Drafting is off."),
        DraftingState.NO_DRAFT: QCoreApplication.translate("Messages", "No draft model is loaded."),
        DraftingState.CATCHING_UP: QCoreApplication.translate(
            "Messages", "The draft model is still reading the chat; the reply goes on without it."
        ),
        DraftingState.ACTIVE: QCoreApplication.translate("Messages", "The draft model guesses ahead."),
        DraftingState.BATCHED: QCoreApplication.translate(
            "Messages", "Several replies are being written at once, so drafting pauses."
        ),
        DraftingState.PARKED: QCoreApplication.translate(
            "Messages", "Drafting was slower than plain decoding here, so it rests."
        ),
        DraftingState.UNSUPPORTED: QCoreApplication.translate(
            "Messages", "This main model's memory cannot be rewound, so nothing can be drafted for it."
        ),
        DraftingState.FAILED: QCoreApplication.translate(
            "Messages", "The draft model failed; the main model wrote the reply alone."
        ),
    }[state]


def reply_was_interrupted(*, with_text: bool) -> Notice:
    return Notice(
        QCoreApplication.translate("Messages", "The reply was interrupted"),
        QCoreApplication.translate("Messages", "Hunch ended before the reply was finished."),
        action=NoticeAction.CONTINUE if with_text else NoticeAction.RETRY,
    )


def reply_was_cut(reason: FinishReason) -> Notice:
    """A reply that ended at a limit, or with its model, and not at its own end."""
    if reason is FinishReason.MODEL_CHANGED:
        return Notice(
            QCoreApplication.translate("Messages", "The model was changed"),
            QCoreApplication.translate("Messages", "The reply stopped because its model was unloaded."),
            QCoreApplication.translate("Messages", "Continue it with the model that is loaded now."),
            NoticeAction.CONTINUE,
        )
    if reason is FinishReason.MEMORY:
        return Notice(
            QCoreApplication.translate("Messages", "The memory is full"),
            QCoreApplication.translate("Messages", "This chat has grown as long as the memory of this Mac allows."),
            QCoreApplication.translate("Messages", "Start a new chat, or choose a smaller model."),
            NoticeAction.NEW_CHAT,
        )
    if reason is FinishReason.CONTEXT:
        return Notice(
            QCoreApplication.translate("Messages", "The context is full"),
            QCoreApplication.translate("Messages", "This chat has reached the most text that the model can hold."),
            QCoreApplication.translate("Messages", "Start a new chat, or choose a model with a longer context."),
            NoticeAction.NEW_CHAT,
        )
    return Notice(
        QCoreApplication.translate("Messages", "The reply reached its length limit"),
        QCoreApplication.translate("Messages", "It ends where the limit on reply tokens was met."),
        QCoreApplication.translate("Messages", "Continue it, or raise the limit in Settings."),
        NoticeAction.CONTINUE,
    )
