"""Every refusal of the engine in words, as one table: title, sentence, what to do, and the button.

Those of downloads are in `notices_for_downloads`; those of the storage and of deleting are here, too.

The strings are in `QT_TRANSLATE_NOOP` so that lupdate finds them; they are translated when a notice is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication

import engine
from app.documents.problems import NotAttached, WhyNot
from app.storage import NotOpened, NotStored, Reason, StorageProblem
from app.storage.codec import as_name
from app.words.formats import count, fill, labelled, listed, number, size
from app.words.notices import QT_TRANSLATE_NOOP, Notice, NoticeAction, NoticeRow, translated
from app.words.notices_for_downloads import DOWNLOAD_TABLE
from engine import DeleteFailed, DeleteRefusal, DrafterExamined, EngineError

Problem = EngineError | DeleteFailed | DrafterExamined | StorageProblem
_MOST_NAMED = 4
_ROUND = 1_000_000  # pixels that are named as the most
# Of a config or tensors that mlx-lm does not know: the files themselves were looked at before.
_OF_MLX = ("AttributeError: ", "IndexError: ", "KeyError: ", "TypeError: ", "ValueError: ")


def _because(*reasons: Reason | DeleteRefusal) -> Callable[[Any], bool]:
    return lambda problem: problem.reason in reasons


# Why something could not be stored, or the chats not opened, and what to do.
_STORAGE_REASONS = (
    (
        Reason.FULL,
        QT_TRANSLATE_NOOP("Messages", "The disk with %1 is full."),
        QT_TRANSLATE_NOOP("Messages", "Free some space."),
    ),
    (
        Reason.LOCKED,
        QT_TRANSLATE_NOOP("Messages", "Another program locked your chats."),
        QT_TRANSLATE_NOOP("Messages", "Close that program."),
    ),
    (
        Reason.NO_LOCKS,
        QT_TRANSLATE_NOOP("Messages", "The disk with %1 cannot lock files."),
        QT_TRANSLATE_NOOP("Messages", "Move this folder to another disk."),
    ),
    (
        Reason.READ_ONLY,
        QT_TRANSLATE_NOOP("Messages", "No permission to write to %1."),
        QT_TRANSLATE_NOOP("Messages", "Allow access."),
    ),
    (
        Reason.REPLACED,
        QT_TRANSLATE_NOOP("Messages", "The chat file in %1 was replaced by another one."),
        QT_TRANSLATE_NOOP("Messages", "Quit Hunch and open it again."),
    ),
)


def _storage_rows(kind: type[StorageProblem], title: str, otherwise: str) -> tuple[NoticeRow, ...]:
    """`otherwise`: the sentence for any other reason."""
    rows = tuple(
        NoticeRow(
            kind,
            title,
            sentence,
            hint,
            NoticeAction.RETRY,
            values=("folder",) if "%1" in sentence else (),
            when=_because(reason),
        )
        for reason, sentence, hint in _STORAGE_REASONS
    )
    check = QT_TRANSLATE_NOOP("Messages", "Check the disk.")
    return (*rows, NoticeRow(kind, title, otherwise, check, NoticeAction.RETRY, values=("folder",)))


STORAGE_TABLE = (
    *_storage_rows(
        NotStored,
        QT_TRANSLATE_NOOP("Messages", "Not saved; your text is kept"),
        QT_TRANSLATE_NOOP("Messages", "%1 cannot be written to."),
    ),
    *_storage_rows(
        NotOpened,
        QT_TRANSLATE_NOOP("Messages", "Chats cannot be opened"),
        QT_TRANSLATE_NOOP("Messages", "The chat file in %1 is unreadable, but unchanged."),
    ),
)


_not_deleted = partial(NoticeRow, engine.DeleteFailed, QT_TRANSLATE_NOOP("Messages", "Not deleted"), values=("model",))
_not_divided = partial(
    NoticeRow,
    engine.ModelNotSplittable,
    QT_TRANSLATE_NOOP("Messages", "Model cannot be divided"),
    hint=QT_TRANSLATE_NOOP("Messages", "Choose another model family."),
    action=NoticeAction.CHOOSE_MODEL,
    values=("model", "model_type"),
)
_does_not_fit = partial(
    NoticeRow,
    engine.DrafterDoesNotFit,
    QT_TRANSLATE_NOOP("Messages", "Made for another model"),
    hint=QT_TRANSLATE_NOOP("Messages", "Choose one made for this model."),
    action=NoticeAction.CHOOSE_DRAFT,
    values=("expected", "actual"),
)
_other_vocabulary = partial(
    NoticeRow,
    engine.DraftVocabularyDiffers,
    QT_TRANSLATE_NOOP("Messages", "Different vocabulary"),
    hint=QT_TRANSLATE_NOOP("Messages", "Choose a small draft of the same family."),
    action=NoticeAction.CHOOSE_DRAFT,
)
_part_lost = partial(NoticeRow, engine.RankLost, QT_TRANSLATE_NOOP("Messages", "Part of the model is gone"))
_unavailable = partial(NoticeRow, engine.MachineUnavailable, values=("address",))


# Why a model was not deleted.
DELETION = (
    _not_deleted(
        QT_TRANSLATE_NOOP("Messages", "%1 is part of Hunch."),
        when=_because(DeleteRefusal.STARTER),
    ),
    _not_deleted(
        QT_TRANSLATE_NOOP("Messages", "%1 is writing a reply. Stop it first."),
        when=_because(DeleteRefusal.IN_USE),
    ),
    _not_deleted(
        QT_TRANSLATE_NOOP("Messages", "Another app installed %1. Delete it there."),
        when=_because(DeleteRefusal.NOT_OURS, DeleteRefusal.NO_MODEL),
    ),
    _not_deleted(
        QT_TRANSLATE_NOOP("Messages", "No model in %1."),
        QT_TRANSLATE_NOOP("Messages", "Moved, deleted, or its disk is not connected."),
        values=("folder",),
        when=_because(DeleteRefusal.GONE),
    ),
    _not_deleted(
        QT_TRANSLATE_NOOP("Messages", "No permission to write to %1."),
        QT_TRANSLATE_NOOP("Messages", "Allow access."),
        values=("folder",),
        when=_because(DeleteRefusal.FORBIDDEN),
    ),
    _not_deleted(
        QT_TRANSLATE_NOOP("Messages", "The disk with %1 is read-only."),
        values=("folder",),
        when=_because(DeleteRefusal.READ_ONLY),
    ),
    _not_deleted(
        QT_TRANSLATE_NOOP("Messages", "Another program is using %1."),
        QT_TRANSLATE_NOOP("Messages", "Close that program."),
        when=_because(DeleteRefusal.LOCKED),
    ),
    _not_deleted(
        QT_TRANSLATE_NOOP("Messages", "%1 could not be deleted."),
        QT_TRANSLATE_NOOP("Messages", "Check the disk."),
    ),
)


TABLE = (
    *DOWNLOAD_TABLE,
    NoticeRow(
        engine.ModelNotFound,
        QT_TRANSLATE_NOOP("Messages", "Model not found"),
        QT_TRANSLATE_NOOP("Messages", "No model in %1."),
        QT_TRANSLATE_NOOP("Messages", "Moved, deleted, or its disk is not connected."),
        NoticeAction.CHOOSE_MODEL,
        values=("folder",),
    ),
    NoticeRow(
        engine.ModelHasNoConfig,
        QT_TRANSLATE_NOOP("Messages", "No config.json"),
        QT_TRANSLATE_NOOP("Messages", "%1 has no config.json."),
        QT_TRANSLATE_NOOP("Messages", "Add its config.json and tokenizer."),
        NoticeAction.OPEN_MODELS,
        values=("model",),
    ),
    NoticeRow(
        engine.ModelHasNoWeights,
        QT_TRANSLATE_NOOP("Messages", "Weights missing"),
        QT_TRANSLATE_NOOP("Messages", "%1 has no safetensors weights."),
        QT_TRANSLATE_NOOP("Messages", "Choose its MLX version, or reinstall it."),
        NoticeAction.OPEN_MODELS,
        values=("model",),
    ),
    NoticeRow(
        engine.ModelDamaged,
        QT_TRANSLATE_NOOP("Messages", "Model not supported"),
        QT_TRANSLATE_NOOP("Messages", "MLX cannot load %1."),
        QT_TRANSLATE_NOOP("Messages", "Look for it at mlx-community."),
        NoticeAction.OPEN_MODELS,
        values=("model",),
        when=lambda error: error.detail.startswith(_OF_MLX),
    ),
    NoticeRow(
        engine.ModelDamaged,
        QT_TRANSLATE_NOOP("Messages", "Model damaged"),
        QT_TRANSLATE_NOOP("Messages", "A file of %1 is damaged."),
        QT_TRANSLATE_NOOP("Messages", "Delete and reinstall it."),
        NoticeAction.OPEN_MODELS,
        values=("model",),
    ),
    NoticeRow(
        engine.ModelChanged,
        QT_TRANSLATE_NOOP("Messages", "Model files changed"),
        QT_TRANSLATE_NOOP("Messages", "The files of %1 have changed."),
        QT_TRANSLATE_NOOP("Messages", "Load the model again."),
        values=("model",),
    ),
    NoticeRow(
        engine.LogitsBroken,
        QT_TRANSLATE_NOOP("Messages", "Invalid model output"),
        QT_TRANSLATE_NOOP("Messages", "The weights of %1 may be damaged."),
        QT_TRANSLATE_NOOP("Messages", "Reinstall it, or choose another model."),
        NoticeAction.OPEN_MODELS,
        values=("model",),
    ),
    NoticeRow(
        engine.ModelUnsupported,
        QT_TRANSLATE_NOOP("Messages", "Model not supported"),
        QT_TRANSLATE_NOOP("Messages", "MLX cannot read the weights of %1 (“%2”)."),
        QT_TRANSLATE_NOOP("Messages", "Look for it at mlx-community."),
        NoticeAction.OPEN_MODELS,
        values=("model", "packing"),
        when=lambda error: bool(error.packing),
    ),
    NoticeRow(
        engine.ModelUnsupported,
        QT_TRANSLATE_NOOP("Messages", "Model not supported"),
        QT_TRANSLATE_NOOP("Messages", "MLX cannot run %1 (“%2”) yet."),
        QT_TRANSLATE_NOOP("Messages", "Choose another model family."),
        NoticeAction.CHOOSE_MODEL,
        values=("model", "model_type"),
        when=lambda error: bool(error.model_type),
    ),
    NoticeRow(
        engine.ModelUnsupported,
        QT_TRANSLATE_NOOP("Messages", "Model not supported"),
        QT_TRANSLATE_NOOP("Messages", "%1 names no architecture."),
        QT_TRANSLATE_NOOP("Messages", "Choose another model family."),
        NoticeAction.CHOOSE_MODEL,
        values=("model",),
    ),
    NoticeRow(
        engine.DrafterUnsupported,
        QT_TRANSLATE_NOOP("Messages", "Draft model not supported"),
        QT_TRANSLATE_NOOP("Messages", "%1 needs “%2”, which Hunch lacks."),
        action=NoticeAction.CHOOSE_DRAFT,
        values=("model", "need"),
    ),
    NoticeRow(
        engine.ModelRunsCode,
        QT_TRANSLATE_NOOP("Messages", "Model refused"),
        QT_TRANSLATE_NOOP("Messages", "%1 brings its own code, which Hunch never runs."),
        action=NoticeAction.CHOOSE_MODEL,
        values=("model",),
    ),
    NoticeRow(
        engine.ModelOnlyDrafts,
        QT_TRANSLATE_NOOP("Messages", "Not a chat model"),
        QT_TRANSLATE_NOOP("Messages", "%1 only drafts for other models."),
        QT_TRANSLATE_NOOP("Messages", "Use it as a draft."),
        NoticeAction.CHOOSE_MODEL,
        values=("model",),
    ),
    NoticeRow(
        engine.TokenizerBroken,
        QT_TRANSLATE_NOOP("Messages", "Tokenizer broken"),
        QT_TRANSLATE_NOOP("Messages", "%1 has an unusable tokenizer."),
        QT_TRANSLATE_NOOP("Messages", "Look for it at mlx-community."),
        NoticeAction.OPEN_MODELS,
        values=("model",),
    ),
    NoticeRow(
        engine.ModelTooLarge,
        QT_TRANSLATE_NOOP("Messages", "Not enough memory"),
        QT_TRANSLATE_NOOP("Messages", "%1 needs %2 of memory; %3 is available."),
        QT_TRANSLATE_NOOP("Messages", "Close other apps, or choose a smaller model."),
        NoticeAction.CHOOSE_MODEL,
        values=("model", "needed_bytes", "available_bytes"),
        when=lambda error: error.needed_bytes <= error.available_bytes + error.others_bytes,
    ),
    NoticeRow(
        engine.ModelTooLarge,
        QT_TRANSLATE_NOOP("Messages", "Not enough memory"),
        QT_TRANSLATE_NOOP("Messages", "%1 needs %2 of memory; %3 is available."),
        QT_TRANSLATE_NOOP("Messages", "Choose a smaller model, or fewer bits."),
        NoticeAction.CHOOSE_MODEL,
        values=("model", "needed_bytes", "available_bytes"),
    ),
    NoticeRow(
        engine.LoadAborted,
        QT_TRANSLATE_NOOP("Messages", "Loading stopped"),
        QT_TRANSLATE_NOOP("Messages", "You chose another model before %1 loaded."),
        action=NoticeAction.CHOOSE_MODEL,
        values=("model",),
    ),
    NoticeRow(
        engine.RepliesUnderWay,
        QT_TRANSLATE_NOOP("Messages", "Main model in use"),
        QT_TRANSLATE_NOOP("Messages", "%1 was not loaded: another model is writing."),
        QT_TRANSLATE_NOOP("Messages", "Wait, or stop it."),
        NoticeAction.CHOOSE_MODEL,
        values=("model",),
    ),
    _other_vocabulary(
        QT_TRANSLATE_NOOP("Messages", "Only %1 of %2 tokens match; nine in ten must."),
        values=("shared_tokens", "most_tokens"),
        when=lambda error: error.shared_tokens >= 0,
    ),
    _other_vocabulary(
        QT_TRANSLATE_NOOP("Messages", "Different vocabularies (%1 and %2 tokens)."),
        values=("main_tokens", "draft_tokens"),
        when=lambda error: error.main_tokens != error.draft_tokens,
    ),
    _other_vocabulary(
        QT_TRANSLATE_NOOP("Messages", "The same tokens mean different text."),
    ),
    NoticeRow(
        engine.DraftIsMain,
        QT_TRANSLATE_NOOP("Messages", "Same model twice"),
        QT_TRANSLATE_NOOP("Messages", "A model cannot guess faster than itself."),
        QT_TRANSLATE_NOOP("Messages", "Choose a small draft of the same family."),
        NoticeAction.CHOOSE_DRAFT,
    ),
    NoticeRow(
        engine.DraftTooLarge,
        QT_TRANSLATE_NOOP("Messages", "Draft too large"),
        QT_TRANSLATE_NOOP("Messages", "Too large: %1, main model %2."),
        QT_TRANSLATE_NOOP("Messages", "A fifth or less works well."),
        NoticeAction.CHOOSE_DRAFT,
        values=("draft_bytes", "main_bytes"),
    ),
    NoticeRow(
        engine.DraftCannotRewind,
        QT_TRANSLATE_NOOP("Messages", "Cannot draft"),
        QT_TRANSLATE_NOOP("Messages", "“%1” drafts cannot undo wrong guesses."),
        action=NoticeAction.CHOOSE_DRAFT,
        values=("model_type",),
    ),
    _does_not_fit(
        QT_TRANSLATE_NOOP("Messages", "It expects %1 layers; this model has %2."),
        when=lambda error: error.what == "layers",
    ),
    _does_not_fit(
        QT_TRANSLATE_NOOP("Messages", "It expects width %1; this model has %2."),
        when=lambda error: error.what == "width",
    ),
    _does_not_fit(
        QT_TRANSLATE_NOOP("Messages", "It needs keys and values this model lacks."),
        values=(),
        when=lambda error: error.what == "keys",
    ),
    NoticeRow(
        engine.DrafterDoesNotFit,
        QT_TRANSLATE_NOOP("Messages", "No drafters for this model"),
        QT_TRANSLATE_NOOP("Messages", "Drafters need hidden states this model lacks."),
        QT_TRANSLATE_NOOP("Messages", "Choose a small draft of the same family."),
        NoticeAction.CHOOSE_DRAFT,
        when=lambda error: error.what == "states",
    ),
    _does_not_fit(
        QT_TRANSLATE_NOOP("Messages", "It expects %1 vocabulary tokens; this model has %2."),
    ),
    NoticeRow(
        engine.DrafterExamined,
        QT_TRANSLATE_NOOP("Messages", "Drafter misread"),
        QT_TRANSLATE_NOOP("Messages", "Read another way, it guesses better."),
        QT_TRANSLATE_NOOP("Messages", "Replies are unaffected."),
        NoticeAction.CHOOSE_DRAFT,
        when=lambda examined: bool(examined.misread),
    ),
    NoticeRow(
        engine.DrafterExamined,
        QT_TRANSLATE_NOOP("Messages", "Drafter hardly helps"),
        QT_TRANSLATE_NOOP("Messages", "Only %1 tokens per pass in a test."),
        QT_TRANSLATE_NOOP("Messages", "It may be for another model."),
        NoticeAction.CHOOSE_DRAFT,
        values=("per_pass",),
    ),
    NoticeRow(
        engine.NoModelLoaded,
        QT_TRANSLATE_NOOP("Messages", "No model loaded"),
        QT_TRANSLATE_NOOP("Messages", "Choose a main model."),
        action=NoticeAction.CHOOSE_MODEL,
    ),
    NoticeRow(
        engine.EmptyConversation,
        QT_TRANSLATE_NOOP("Messages", "Nothing to reply to"),
        QT_TRANSLATE_NOOP("Messages", "This chat is empty."),
        QT_TRANSLATE_NOOP("Messages", "Write something first."),
    ),
    NoticeRow(
        engine.InvalidRequest,
        QT_TRANSLATE_NOOP("Messages", "Setting out of range"),
        QT_TRANSLATE_NOOP("Messages", "%1 is set to %2; allowed: %3."),
        action=NoticeAction.OPEN_SETTINGS,
        values=("field", "value", "allowed"),
    ),
    NoticeRow(
        engine.ContextTooLong,
        QT_TRANSLATE_NOOP("Messages", "This chat no longer fits"),
        QT_TRANSLATE_NOOP("Messages", "This chat has %1 tokens; the model holds %2."),
        QT_TRANSLATE_NOOP("Messages", "Go on without the oldest messages, or start a new chat."),
        NoticeAction.LEAVE_OUT,
        values=("actual_tokens", "limit_tokens"),
        others=(NoticeAction.SUMMARISE, NoticeAction.NEW_CHAT),
        when=lambda error: error.can_truncate,
    ),
    NoticeRow(
        engine.ContextTooLong,
        QT_TRANSLATE_NOOP("Messages", "Too long to read"),
        QT_TRANSLATE_NOOP("Messages", "What must be read has %1 tokens; the model holds %2."),
        QT_TRANSLATE_NOOP(
            "Messages",
            "Shorten the message or the instructions, unpin messages, or choose a longer-context model.",
        ),
        NoticeAction.CHOOSE_MODEL,
        values=("actual_tokens", "limit_tokens"),
        others=(NoticeAction.NEW_CHAT,),
    ),
    NoticeRow(
        engine.CannotSee,
        QT_TRANSLATE_NOOP("Messages", "Model cannot see pictures"),
        QT_TRANSLATE_NOOP("Messages", "Pictures stay in this chat."),
        QT_TRANSLATE_NOOP("Messages", "Choose a model that can."),
        NoticeAction.WITHOUT_PICTURES,
    ),
    NoticeRow(
        engine.PictureTooLarge,
        QT_TRANSLATE_NOOP("Messages", "Not enough memory for this picture"),
        QT_TRANSLATE_NOOP("Messages", "Lower the picture detail, or close other apps."),
        action=NoticeAction.WITHOUT_PICTURES,
    ),
    NoticeRow(
        engine.TemplateFailed,
        QT_TRANSLATE_NOOP("Messages", "Chat template failed"),
        QT_TRANSLATE_NOOP("Messages", "The model could not format this chat."),
        QT_TRANSLATE_NOOP("Messages", "Start with your own message, or remove the system prompt."),
        NoticeAction.CHOOSE_MODEL,
    ),
    *DELETION,
    _not_divided(
        QT_TRANSLATE_NOOP("Messages", "Over several Macs, %1 (“%2”) cannot take back drafts that were rejected."),
        when=lambda error: error.why is engine.SplitRefusal.ROLLBACK,
    ),
    _not_divided(
        QT_TRANSLATE_NOOP("Messages", "%1 (“%2”) divides into equal parts only."),
        when=lambda error: error.why is engine.SplitRefusal.SPLIT,
    ),
    _not_divided(
        QT_TRANSLATE_NOOP("Messages", "%1 (“%2”) has not been tried over several Macs yet."),
        when=lambda error: error.why is engine.SplitRefusal.UNTRIED,
    ),
    _not_divided(
        QT_TRANSLATE_NOOP("Messages", "%1 (“%2”) runs only over two Macs of one chip, on a Thunderbolt 5 cable."),
        when=lambda error: error.why is engine.SplitRefusal.TENSOR_ONLY,
    ),
    _not_divided(
        QT_TRANSLATE_NOOP("Messages", "The layers of %1 (“%2”) cannot run apart from each other."),
    ),
    NoticeRow(
        engine.RankLost,
        QT_TRANSLATE_NOOP("Messages", "The two Macs do not match"),
        QT_TRANSLATE_NOOP("Messages", "They have different versions of Hunch, or of the model."),
        QT_TRANSLATE_NOOP("Messages", "Install the same on both."),
        when=lambda error: error.why is engine.RankEnd.DIFFERS,
    ),
    _part_lost(
        QT_TRANSLATE_NOOP("Messages", "%1 could not run its layers."),
        QT_TRANSLATE_NOOP("Messages", "Try again when it is back, or run the model on this Mac alone."),
        NoticeAction.RETRY,
        values=("machine",),
        when=lambda error: error.why is engine.RankEnd.FAILED and bool(error.machine),
    ),
    _part_lost(
        QT_TRANSLATE_NOOP("Messages", "%1 has too little free memory for its layers."),
        QT_TRANSLATE_NOOP("Messages", "Close other apps there, or choose a smaller model."),
        NoticeAction.RETRY,
        values=("machine",),
        when=lambda error: error.why is engine.RankEnd.MEMORY and bool(error.machine),
    ),
    _part_lost(
        QT_TRANSLATE_NOOP("Messages", "A process could not run its layers."),
        QT_TRANSLATE_NOOP("Messages", "Load the model again."),
        when=lambda error: error.why in (engine.RankEnd.FAILED, engine.RankEnd.MEMORY),
    ),
    _part_lost(
        QT_TRANSLATE_NOOP("Messages", "%1, which has some of its layers, no longer answers."),
        QT_TRANSLATE_NOOP("Messages", "Try again when it is back, or run the model on this Mac alone."),
        NoticeAction.RETRY,
        values=("machine",),
        when=lambda error: bool(error.machine),
    ),
    _part_lost(
        QT_TRANSLATE_NOOP("Messages", "A process with some of its layers no longer answers."),
        QT_TRANSLATE_NOOP("Messages", "Load the model again."),
    ),
    _unavailable(
        QT_TRANSLATE_NOOP("Messages", "The other Mac is out of reach"),
        QT_TRANSLATE_NOOP("Messages", "Nothing answers at %1."),
        QT_TRANSLATE_NOOP("Messages", "Check that it is awake, in this network, with Lend memory to other Macs on."),
        action=NoticeAction.RETRY,
        when=lambda error: error.why is engine.MachineRefusal.UNREACHABLE,
    ),
    _unavailable(
        QT_TRANSLATE_NOOP("Messages", "The other Mac is out of reach"),
        QT_TRANSLATE_NOOP("Messages", "This Mac finds no way to %1."),
        QT_TRANSLATE_NOOP(
            "Messages",
            "Check that it is awake and in this network, and allow Hunch in "
            "System Settings → Privacy & Security → Local Network.",
        ),
        action=NoticeAction.RETRY,
        when=lambda error: error.why is engine.MachineRefusal.NO_ROUTE,
    ),
    _unavailable(
        QT_TRANSLATE_NOOP("Messages", "No longer paired"),
        QT_TRANSLATE_NOOP("Messages", "The Mac at %1 does not know this one."),
        QT_TRANSLATE_NOOP("Messages", "Remove it here, then pair again."),
        when=lambda error: error.why is engine.MachineRefusal.STRANGER,
    ),
    _unavailable(
        QT_TRANSLATE_NOOP("Messages", "No pairing code"),
        QT_TRANSLATE_NOOP("Messages", "The Mac at %1 shows no code, or it has run out."),
        QT_TRANSLATE_NOOP("Messages", "Show a new code there."),
        when=lambda error: error.why is engine.MachineRefusal.NOT_INVITING,
    ),
    _unavailable(
        QT_TRANSLATE_NOOP("Messages", "Wrong code"),
        QT_TRANSLATE_NOOP("Messages", "The Mac at %1 shows another code."),
        QT_TRANSLATE_NOOP("Messages", "Type its eight digits again. After five tries it needs a new code."),
        when=lambda error: error.why is engine.MachineRefusal.CODE,
    ),
    _unavailable(
        QT_TRANSLATE_NOOP("Messages", "The other Mac is in use"),
        QT_TRANSLATE_NOOP("Messages", "The other Mac lends to %1 now."),
        QT_TRANSLATE_NOOP("Messages", "Wait, or press Stop now there."),
        action=NoticeAction.RETRY,
        values=("detail",),
        when=lambda error: error.why is engine.MachineRefusal.BUSY,
    ),
    _unavailable(
        QT_TRANSLATE_NOOP("Messages", "The other Mac has stopped lending"),
        QT_TRANSLATE_NOOP("Messages", "Stop now was pressed on the Mac at %1."),
        QT_TRANSLATE_NOOP("Messages", "Wait ten minutes, or turn Lend memory to other Macs off and on there."),
        action=NoticeAction.RETRY,
        when=lambda error: error.why is engine.MachineRefusal.TAKEN_BACK,
    ),
    _unavailable(
        QT_TRANSLATE_NOOP("Messages", "Not enough memory on the other Mac"),
        QT_TRANSLATE_NOOP("Messages", "The Mac at %1 now lends less than this model needs there."),
        QT_TRANSLATE_NOOP("Messages", "Unload the model that is loaded there, or choose a smaller one."),
        action=NoticeAction.RETRY,
        when=lambda error: error.why is engine.MachineRefusal.MEMORY,
    ),
    _unavailable(
        QT_TRANSLATE_NOOP("Messages", "Model missing on the other Mac"),
        QT_TRANSLATE_NOOP("Messages", "The Mac at %1 has no model with the same files."),
        QT_TRANSLATE_NOOP("Messages", "Install the same model there."),
        when=lambda error: error.why is engine.MachineRefusal.NO_MODEL,
    ),
    _unavailable(
        QT_TRANSLATE_NOOP("Messages", "The two Macs do not match"),
        QT_TRANSLATE_NOOP("Messages", "The Mac at %1 has an older version than this one: %2."),
        QT_TRANSLATE_NOOP("Messages", "Update Hunch there."),
        values=("address", "detail"),
        when=lambda error: error.why is engine.MachineRefusal.OLDER,
    ),
    _unavailable(
        QT_TRANSLATE_NOOP("Messages", "The two Macs do not match"),
        QT_TRANSLATE_NOOP("Messages", "The Mac at %1 has a newer version than this one: %2."),
        QT_TRANSLATE_NOOP("Messages", "Update Hunch on this Mac."),
        values=("address", "detail"),
        when=lambda error: error.why is engine.MachineRefusal.NEWER,
    ),
    _unavailable(
        QT_TRANSLATE_NOOP("Messages", "Model differs on the other Mac"),
        QT_TRANSLATE_NOOP("Messages", "The Mac at %1 has the same version of it with other contents."),
        QT_TRANSLATE_NOOP("Messages", "Verify it on both Macs, under Models, and repair the one that is damaged."),
        when=lambda error: error.why is engine.MachineRefusal.DIFFERS,
    ),
    _unavailable(
        QT_TRANSLATE_NOOP("Messages", "The two Macs do not match"),
        QT_TRANSLATE_NOOP("Messages", "The Mac at %1 answers in another way."),
        QT_TRANSLATE_NOOP("Messages", "Install the same version of Hunch on both."),
        when=lambda error: error.why is engine.MachineRefusal.MISBEHAVED,
    ),
    NoticeRow(
        engine.OutOfMemory,
        QT_TRANSLATE_NOOP("Messages", "Out of memory"),
        QT_TRANSLATE_NOOP("Messages", "Close other apps, or choose a smaller model."),
        action=NoticeAction.RETRY,
    ),
    NoticeRow(
        engine.EngineClosed,
        QT_TRANSLATE_NOOP("Messages", "Engine closed"),
        QT_TRANSLATE_NOOP("Messages", "Hunch was quitting."),
        QT_TRANSLATE_NOOP("Messages", "Reopen Hunch to continue."),
    ),
    NoticeRow(
        engine.MlxUnusable,
        QT_TRANSLATE_NOOP("Messages", "MLX cannot be loaded"),
        QT_TRANSLATE_NOOP("Messages", "Not installed; this is %1."),
        QT_TRANSLATE_NOOP("Messages", "Reinstall Hunch."),
        values=("system",),
        when=lambda error: not error.wheel,
    ),
    NoticeRow(
        engine.MlxUnusable,
        QT_TRANSLATE_NOOP("Messages", "MLX cannot be loaded"),
        QT_TRANSLATE_NOOP("Messages", "Installed for %2; this is %1."),
        QT_TRANSLATE_NOOP("Messages", "Update macOS, or reinstall Hunch."),
        values=("system", "wheel"),
    ),
    NoticeRow(
        engine.InternalError,
        QT_TRANSLATE_NOOP("Messages", "Something went wrong in Hunch"),
        QT_TRANSLATE_NOOP("Messages", "This is a bug."),
        QT_TRANSLATE_NOOP("Messages", "See the log."),
        NoticeAction.RETRY,
    ),
)


# Why a file was not attached, and what to do. %1: the limit.
NOT_ATTACHED = {
    WhyNot.IMAGE: (
        QT_TRANSLATE_NOOP("Files", "Not PNG, JPEG, GIF, WebP or BMP."),
        QT_TRANSLATE_NOOP("Files", "Save it as PNG or JPEG."),
    ),
    WhyNot.PICTURE_TOO_LARGE: (
        QT_TRANSLATE_NOOP("Files", "Too many pixels."),
        QT_TRANSLATE_NOOP("Files", "Up to %1 pixels."),
    ),
    WhyNot.PICTURE_FILE_TOO_LARGE: (
        QT_TRANSLATE_NOOP("Files", "Larger than %1."),
        QT_TRANSLATE_NOOP("Files", "Resave it in another app."),
    ),
    WhyNot.PICTURE_TOO_NARROW: (
        QT_TRANSLATE_NOOP("Files", "Too narrow to make out."),
        QT_TRANSLATE_NOOP("Files", "Attach a part."),
    ),
    WhyNot.PICTURE_DAMAGED: (
        QT_TRANSLATE_NOOP("Files", "Damaged."),
        QT_TRANSLATE_NOOP("Files", "Resave it in another app."),
    ),
    WhyNot.NOT_STORED: (QT_TRANSLATE_NOOP("Files", "Not saved."), QT_TRANSLATE_NOOP("Files", "Check the disk.")),
    WhyNot.BINARY: (
        QT_TRANSLATE_NOOP("Files", "No readable text."),
        QT_TRANSLATE_NOOP("Files", "Attach it as text or PDF."),
    ),
    WhyNot.FOLDER: (QT_TRANSLATE_NOOP("Files", "A folder."), QT_TRANSLATE_NOOP("Files", "Attach its files.")),
    WhyNot.EMPTY: (QT_TRANSLATE_NOOP("Files", "Empty."), ""),
    WhyNot.TOO_LARGE: (
        QT_TRANSLATE_NOOP("Files", "Larger than %1."),
        QT_TRANSLATE_NOOP("Files", "Attach only what you need."),
    ),
    WhyNot.TOO_LONG: (
        QT_TRANSLATE_NOOP("Files", "Longer than %1 characters."),
        QT_TRANSLATE_NOOP("Files", "Attach only what you need."),
    ),
    WhyNot.TOO_MANY: (
        QT_TRANSLATE_NOOP("Files", "Up to %1 files per message."),
        QT_TRANSLATE_NOOP("Files", "Send these, or remove some."),
    ),
    WhyNot.GONE: (QT_TRANSLATE_NOOP("Files", "Not found."), ""),
    WhyNot.FORBIDDEN: (
        QT_TRANSLATE_NOOP("Files", "No permission."),
        QT_TRANSLATE_NOOP("Files", "Allow access in System Settings."),
    ),
    WhyNot.UNREADABLE: (QT_TRANSLATE_NOOP("Files", "Not readable."), QT_TRANSLATE_NOOP("Files", "Check the disk.")),
    WhyNot.ENCRYPTED: (
        QT_TRANSLATE_NOOP("Files", "Password-protected."),
        QT_TRANSLATE_NOOP("Files", "Remove the password."),
    ),
    WhyNot.SCANNED: (
        QT_TRANSLATE_NOOP("Files", "Page images without text."),
        QT_TRANSLATE_NOOP("Files", "Run text recognition (OCR) first."),
    ),
    WhyNot.DAMAGED: (QT_TRANSLATE_NOOP("Files", "Damaged."), QT_TRANSLATE_NOOP("Files", "Resave it in another app.")),
    WhyNot.TOO_COMPLEX: (QT_TRANSLATE_NOOP("Files", "Too complex."), QT_TRANSLATE_NOOP("Files", "Attach fewer pages.")),
}


def notice_for(error: Problem) -> Notice:
    row = next((row for row in (*TABLE, *STORAGE_TABLE) if isinstance(error, row.kind) and row.when(error)), None)
    if row is None:
        return Notice(
            QCoreApplication.translate("Messages", "Something went wrong"),
            QCoreApplication.translate("Messages", "Unknown error."),
            detail=str(error),
        )
    sentence = fill(translated(row.sentence), *(_value(error, name) for name in row.values))
    detail = str(getattr(error, "detail", ""))
    return Notice(translated(row.title), sentence, translated(row.hint), row.action, detail, row.others)


def reason_text(error: Problem) -> str:
    """What happened, and below it what to do."""
    notice = notice_for(error)
    return "\n".join(words for words in (notice.sentence, notice.hint) if words)


def title_and_reason(error: Problem) -> str:
    """In one line, where nothing else says what the reason is of."""
    notice = notice_for(error)
    return f"{notice.title} · {notice.sentence}"


def _value(error: Any, name: str) -> str:
    """A field as the interface language writes it. What a file or its name holds turns no word of the sentence."""
    if name == "model":
        return as_name(Path(error.folder).name or str(error.folder))
    value = getattr(error, name)
    if name == "endpoint":
        return as_name(str(value).removeprefix("https://"))
    if name.endswith("_bytes"):
        return size(value)
    if name == "per_pass":
        return number(value, 1)
    if name.endswith("_tokens"):
        return count(value)
    return as_name(listed(*value) if isinstance(value, tuple) else str(value))


def not_attached(problems: Sequence[NotAttached]) -> Notice:
    """Of one file, or of several that were dropped together."""
    if len(problems) == 1:
        return _of_one(problems[0])
    title = fill(QCoreApplication.translate("Files", "Files not attached: %1"), count(len(problems)))
    pasted = QCoreApplication.translate("AttachmentChip", "Picture")  # which has no name
    lines = [labelled(each.name or pasted, _reason_and_hint(each)[0]) for each in problems[:_MOST_NAMED]]
    more = len(problems) - _MOST_NAMED
    if more > 0:
        lines.append(fill(QCoreApplication.translate("Files", "And %1 more."), count(more)))
    return Notice(title, "\n".join(lines))


def _of_one(problem: NotAttached) -> Notice:
    title = QCoreApplication.translate("Files", "%1 not attached")
    nameless = QCoreApplication.translate("Files", "Not attached")
    return Notice(fill(title, problem.name) if problem.name else nameless, *_reason_and_hint(problem))


def _reason_and_hint(problem: NotAttached) -> tuple[str, str]:
    sentence, hint = (translated(source, "Files") for source in NOT_ATTACHED[problem.why])
    of_file = problem.why in (WhyNot.TOO_LARGE, WhyNot.PICTURE_FILE_TOO_LARGE)
    limit = size(problem.limit) if of_file else count(problem.limit)
    return fill(sentence, limit), fill(hint, count(problem.limit // _ROUND * _ROUND or problem.limit))
