"""Puts every refusal of the engine into words: a title, a sentence, what to do. Other sentences are in `notices`."""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from app.words.formats import count, fill, size
from app.words.notices import Notice, NoticeAction
from engine import (
    AccessDenied,
    ChecksumMismatch,
    ContextTooLong,
    DiskFull,
    DraftCannotRewind,
    DraftIsMain,
    DraftTooLarge,
    DraftVocabularyDiffers,
    EmptyConversation,
    EngineClosed,
    EngineError,
    HubMisbehaved,
    HubUnreachable,
    InternalError,
    InvalidRequest,
    LoadAborted,
    ModelDamaged,
    ModelHasNoWeights,
    ModelNotFound,
    ModelRunsCode,
    ModelTooLarge,
    ModelUnsupported,
    NoModelLoaded,
    NothingToInstall,
    OutOfMemory,
    RepositoryNotFound,
    StorageFailed,
    TemplateFailed,
    TokenizerBroken,
)


@singledispatch
def notice_for(error: EngineError) -> Notice:
    return Notice(
        QCoreApplication.translate("Messages", "Something went wrong"),
        QCoreApplication.translate("Messages", "The engine reported an error that has no description yet."),
        str(error),
    )


def _model_name(folder: str) -> str:
    return Path(folder).name or folder


@notice_for.register
def _(error: ModelNotFound) -> Notice:
    return Notice(
        QCoreApplication.translate("Messages", "Model not found"),
        fill(QCoreApplication.translate("Messages", "There is no model in %1."), error.folder),
        QCoreApplication.translate("Messages", "It may have been moved or deleted. Choose another model."),
        NoticeAction.CHOOSE_MODEL,
    )


@notice_for.register
def _(error: ModelHasNoWeights) -> Notice:
    return Notice(
        QCoreApplication.translate("Messages", "Model without weights"),
        fill(QCoreApplication.translate("Messages", "%1 has no safetensors weights."), _model_name(error.folder)),
        QCoreApplication.translate("Messages", "Install it again, or choose another model."),
        NoticeAction.OPEN_MODELS,
    )


@notice_for.register
def _(error: ModelDamaged) -> Notice:
    sentence = QCoreApplication.translate("Messages", "A file of %1 is damaged or incomplete: %2")
    return Notice(
        QCoreApplication.translate("Messages", "Model damaged"),
        fill(sentence, _model_name(error.folder), error.detail),
        QCoreApplication.translate("Messages", "Delete it and install it again."),
        NoticeAction.OPEN_MODELS,
    )


@notice_for.register
def _(error: ModelUnsupported) -> Notice:
    sentence = QCoreApplication.translate("Messages", "%1 has the architecture “%2”, which MLX cannot run yet.")
    if not error.model_type:
        sentence = QCoreApplication.translate("Messages", "The configuration of %1 names no architecture.")
    return Notice(
        QCoreApplication.translate("Messages", "Model not supported"),
        fill(sentence, _model_name(error.folder), error.model_type),
        QCoreApplication.translate("Messages", "Choose a model of another family."),
        NoticeAction.CHOOSE_MODEL,
    )


@notice_for.register
def _(error: ModelRunsCode) -> Notice:
    sentence = QCoreApplication.translate("Messages", "%1 wants to run program code of its own. Hunch never does that.")
    return Notice(
        QCoreApplication.translate("Messages", "Model refused"),
        fill(sentence, _model_name(error.folder)),
        QCoreApplication.translate("Messages", "Choose a model that needs no code of its own."),
        NoticeAction.CHOOSE_MODEL,
    )


@notice_for.register
def _(error: TokenizerBroken) -> Notice:
    sentence = QCoreApplication.translate("Messages", "The tokenizer of %1 cannot be used: %2")
    return Notice(
        QCoreApplication.translate("Messages", "Tokenizer broken"),
        fill(sentence, _model_name(error.folder), error.detail),
        QCoreApplication.translate("Messages", "Delete the model and install it again."),
        NoticeAction.OPEN_MODELS,
    )


@notice_for.register
def _(error: ModelTooLarge) -> Notice:
    sentence = QCoreApplication.translate("Messages", "%1 needs %2 of memory; %3 are available.")
    return Notice(
        QCoreApplication.translate("Messages", "Not enough memory"),
        fill(sentence, _model_name(error.folder), size(error.needed_bytes), size(error.available_bytes)),
        QCoreApplication.translate("Messages", "Choose a smaller model or one with fewer bits."),
        NoticeAction.CHOOSE_MODEL,
    )


@notice_for.register
def _(error: LoadAborted) -> Notice:
    sentence = QCoreApplication.translate("Messages", "Another model was chosen before %1 was loaded.")
    return Notice(
        QCoreApplication.translate("Messages", "Loading stopped"),
        fill(sentence, _model_name(error.folder)),
        action=NoticeAction.CHOOSE_MODEL,
    )


@notice_for.register
def _(error: DraftVocabularyDiffers) -> Notice:
    return Notice(
        QCoreApplication.translate("Messages", "Different vocabulary"),
        _vocabulary_sentence(error),
        QCoreApplication.translate("Messages", "Choose a draft from the main model's own family."),
        NoticeAction.CHOOSE_DRAFT,
    )


def _vocabulary_sentence(error: DraftVocabularyDiffers) -> str:
    if error.token_id >= 0:
        sentence = QCoreApplication.translate(
            "Messages", "Token %1 means “%2” to the main model and “%3” to the draft."
        )
        return fill(sentence, str(error.token_id), error.main_text, error.draft_text)
    if error.main_tokens != error.draft_tokens:
        sentence = QCoreApplication.translate("Messages", "The main model has %1 tokens, the draft %2.")
        return fill(sentence, count(error.main_tokens), count(error.draft_tokens))
    return QCoreApplication.translate("Messages", "The same token numbers mean different text to the two models.")


@notice_for.register
def _(_error: DraftIsMain) -> Notice:
    return Notice(
        QCoreApplication.translate("Messages", "Same model twice"),
        QCoreApplication.translate("Messages", "A model cannot guess faster than itself."),
        QCoreApplication.translate("Messages", "Choose a smaller model of the same family as the draft."),
        NoticeAction.CHOOSE_DRAFT,
    )


@notice_for.register
def _(error: DraftTooLarge) -> Notice:
    sentence = QCoreApplication.translate(
        "Messages", "The draft has %1, the main model %2; such a draft can only cost time."
    )
    return Notice(
        QCoreApplication.translate("Messages", "Draft too large"),
        fill(sentence, size(error.draft_bytes), size(error.main_bytes)),
        QCoreApplication.translate("Messages", "A good draft has at most a fifth of the main model's size."),
        NoticeAction.CHOOSE_DRAFT,
    )


@notice_for.register
def _(error: DraftCannotRewind) -> Notice:
    sentence = QCoreApplication.translate("Messages", "A draft of the kind “%1” cannot forget guesses that were wrong.")
    return Notice(
        QCoreApplication.translate("Messages", "Cannot draft"),
        fill(sentence, error.model_type),
        QCoreApplication.translate("Messages", "Choose a draft of another kind."),
        NoticeAction.CHOOSE_DRAFT,
    )


@notice_for.register
def _(_error: NoModelLoaded) -> Notice:
    return Notice(
        QCoreApplication.translate("Messages", "No model is loaded"),
        QCoreApplication.translate("Messages", "Choose a main model first; your text is kept."),
        "",
        NoticeAction.CHOOSE_MODEL,
    )


@notice_for.register
def _(_error: EmptyConversation) -> Notice:
    return Notice(
        QCoreApplication.translate("Messages", "Nothing to reply to"),
        QCoreApplication.translate("Messages", "The chat has no message yet."),
        QCoreApplication.translate("Messages", "Write something first."),
    )


@notice_for.register
def _(error: InvalidRequest) -> Notice:
    sentence = QCoreApplication.translate("Messages", "%1 is set to %2; allowed is %3.")
    return Notice(
        QCoreApplication.translate("Messages", "Setting out of range"),
        fill(sentence, error.field, error.value, error.allowed),
        QCoreApplication.translate("Messages", "Change it in Settings and try again."),
        NoticeAction.RETRY,
    )


@notice_for.register
def _(error: ContextTooLong) -> Notice:
    sentence = QCoreApplication.translate("Messages", "This chat has %1 tokens; the model holds %2.")
    return Notice(
        QCoreApplication.translate("Messages", "The chat is too long"),
        fill(sentence, count(error.actual_tokens), count(error.limit_tokens)),
        QCoreApplication.translate("Messages", "Start a new chat, or choose a model with a longer context."),
        NoticeAction.NEW_CHAT,
    )


@notice_for.register
def _(error: TemplateFailed) -> Notice:
    return Notice(
        QCoreApplication.translate("Messages", "Chat template failed"),
        fill(QCoreApplication.translate("Messages", "The model could not lay out this chat: %1"), error.detail),
        QCoreApplication.translate("Messages", "Remove the system prompt, or choose another model."),
        NoticeAction.CHOOSE_MODEL,
    )


@notice_for.register
def _(error: RepositoryNotFound) -> Notice:
    return Notice(
        QCoreApplication.translate("Messages", "Repository not found"),
        fill(QCoreApplication.translate("Messages", "The hub knows no repository %1."), error.repository),
        QCoreApplication.translate("Messages", "Check the spelling; a private one needs a token in Settings."),
        NoticeAction.OPEN_MODELS,
    )


@notice_for.register
def _(error: AccessDenied) -> Notice:
    if error.gated:
        sentence = QCoreApplication.translate("Messages", "%1 asks you to accept its terms first.")
        hint = QCoreApplication.translate(
            "Messages", "Accept them on its page on the hub, then put your token in Settings."
        )
    else:
        sentence = QCoreApplication.translate("Messages", "%1 is private, or the token does not reach it.")
        hint = QCoreApplication.translate("Messages", "Put a token that may read it in Settings.")
    title = QCoreApplication.translate("Messages", "No access")
    return Notice(title, fill(sentence, error.repository), hint, NoticeAction.OPEN_MODELS)


@notice_for.register
def _(error: HubUnreachable) -> Notice:
    return Notice(
        QCoreApplication.translate("Messages", "Hub not reachable"),
        fill(QCoreApplication.translate("Messages", "%1 does not answer: %2"), error.endpoint, error.detail),
        QCoreApplication.translate("Messages", "Check the connection and try again; what has arrived is kept."),
        NoticeAction.RETRY,
    )


@notice_for.register
def _(error: HubMisbehaved) -> Notice:
    return Notice(
        QCoreApplication.translate("Messages", "Hub not trusted"),
        fill(QCoreApplication.translate("Messages", "The hub sent something that it must not send: %1"), error.detail),
        QCoreApplication.translate("Messages", "Check the hub address in Settings."),
        NoticeAction.OPEN_MODELS,
    )


@notice_for.register
def _(error: ChecksumMismatch) -> Notice:
    return Notice(
        QCoreApplication.translate("Messages", "Download damaged"),
        fill(QCoreApplication.translate("Messages", "%1 does not match its checksum and was thrown away."), error.file),
        QCoreApplication.translate("Messages", "Try again; the other files are kept."),
        NoticeAction.RETRY,
    )


@notice_for.register
def _(error: NothingToInstall) -> Notice:
    found = ", ".join(error.formats)
    if found:
        sentence = QCoreApplication.translate("Messages", "%1 has no MLX weights, only %2.")
    else:
        sentence = QCoreApplication.translate("Messages", "%1 has no MLX weights.")
    return Notice(
        QCoreApplication.translate("Messages", "Nothing to install"),
        fill(sentence, error.repository, found),
        QCoreApplication.translate("Messages", "Look for the same model from mlx-community."),
        NoticeAction.OPEN_MODELS,
    )


@notice_for.register
def _(error: DiskFull) -> Notice:
    sentence = QCoreApplication.translate("Messages", "%1 needs %2 on the disk; %3 are free.")
    return Notice(
        QCoreApplication.translate("Messages", "Not enough disk space"),
        fill(sentence, error.repository, size(error.needed_bytes), size(error.available_bytes)),
        QCoreApplication.translate("Messages", "Delete a model that you no longer use."),
        NoticeAction.OPEN_MODELS,
    )


@notice_for.register
def _(error: StorageFailed) -> Notice:
    return Notice(
        QCoreApplication.translate("Messages", "Models folder not usable"),
        fill(QCoreApplication.translate("Messages", "%1 cannot be written to: %2"), error.folder, error.detail),
        QCoreApplication.translate("Messages", "Check that its disk is connected and that you may write to it."),
        NoticeAction.RETRY,
    )


@notice_for.register
def _(_error: OutOfMemory) -> Notice:
    return Notice(
        QCoreApplication.translate("Messages", "Out of memory"),
        QCoreApplication.translate("Messages", "The memory ran out while the reply was written."),
        QCoreApplication.translate("Messages", "Close other apps, shorten the chat or choose a smaller model."),
        NoticeAction.RETRY,
    )


@notice_for.register
def _(_error: EngineClosed) -> Notice:
    return Notice(
        QCoreApplication.translate("Messages", "The engine is closed"),
        QCoreApplication.translate("Messages", "Hunch was quitting when this was asked."),
        QCoreApplication.translate("Messages", "Open Hunch again and continue."),
    )


@notice_for.register
def _(error: InternalError) -> Notice:
    return Notice(
        QCoreApplication.translate("Messages", "Something went wrong in Hunch"),
        fill(QCoreApplication.translate("Messages", "This is our mistake, not yours: %1"), error.detail),
        QCoreApplication.translate("Messages", "Try again. The log holds what is needed for a report."),
        NoticeAction.RETRY,
    )
