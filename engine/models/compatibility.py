"""Whether one model can draft for another, from what their files say. Cheap enough to ask for every row of a list."""

from __future__ import annotations

from pathlib import Path

from engine.api.errors import DrafterDoesNotFit, DraftError, DraftIsMain, DraftTooLarge, DraftVocabularyDiffers
from engine.api.types import DrafterInfo, ModelInfo
from engine.models.vocabulary import first_difference, read_vocabulary, token_texts


def draft_problem(main: ModelInfo, draft: ModelInfo) -> DraftError | None:
    """None when `draft` can draft for `main`. Opens no file; vocabulary_difference tells which token differs.

    The same folder can where it holds a drafter beside the model.
    """
    if Path(main.folder).resolve() == Path(draft.folder).resolve():
        return DraftIsMain(draft.folder) if main.own_drafter is None else None
    if draft.drafter is not None:
        return _misfit(main, draft.folder, draft.drafter)
    if main.vocabulary_digest != draft.vocabulary_digest:
        return DraftVocabularyDiffers(draft.folder, main.vocabulary_tokens, draft.vocabulary_tokens)
    if draft.weight_bytes >= main.weight_bytes:
        return DraftTooLarge(draft.folder, main.weight_bytes, draft.weight_bytes)
    return None


def _misfit(main: ModelInfo, folder: str, drafter: DrafterInfo) -> DrafterDoesNotFit | None:
    """The first size that a drafter expects of its main model and that this one does not have."""
    deepest = max(drafter.layers, default=-1) + 1
    expected = (
        ("layers", drafter.main_layers or max(main.layers, deepest), main.layers),
        ("width", drafter.main_width or main.width, main.width),
        ("vocabulary", drafter.vocabulary_rows or main.vocabulary_rows, main.vocabulary_rows),
    )
    return next((DrafterDoesNotFit(folder, *sizes) for sizes in expected if sizes[1] != sizes[2]), None)


def vocabulary_difference(main_folder: Path | str, draft_folder: Path | str) -> DraftVocabularyDiffers | None:
    """The first token id that means different text in the two; None when none does. Raises TokenizerBroken."""
    main, draft = read_vocabulary(Path(main_folder)), read_vocabulary(Path(draft_folder))
    if main.digest == draft.digest:
        return None
    main_texts, draft_texts = token_texts(Path(main_folder)), token_texts(Path(draft_folder))
    if main_texts is None or draft_texts is None:
        return DraftVocabularyDiffers(str(draft_folder), main.tokens, draft.tokens)
    token = first_difference(main_texts, draft_texts)
    if token is None:
        return None
    texts = main_texts.get(token, ""), draft_texts.get(token, "")
    return DraftVocabularyDiffers(str(draft_folder), main.tokens, draft.tokens, token, *texts)
