"""Whether one model can draft for another, by their files. Cheap enough for every row of a list."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from engine.api.errors import DrafterDoesNotFit, DraftError, DraftIsMain, DraftTooLarge, DraftVocabularyDiffers
from engine.api.types import DrafterInfo, ModelInfo
from engine.models.names import is_named_after, stem
from engine.models.token_map import LEAST_SHARED, TokenMap
from engine.models.vocabulary import MAX_TOKENS, read_table, read_vocabulary

# A chat model of at most this share of the main model's parameters speeds up most machines as a draft.
RECOMMENDED_SHARE = 1 / 5


def draft_problem(main: ModelInfo, draft: ModelInfo) -> DraftError | None:
    """None if `draft` can draft for `main`.

    Opens no file: if vocabularies differ, `check_pair` compares them. A folder can draft for itself if it contains a
    drafter beside the model.
    """
    if _is_same(main, draft):
        return DraftIsMain(draft.folder) if main.own_drafter is None else None
    if draft.drafter is not None:
        return _misfit(main, draft.folder, draft.drafter)
    return draft_refusal(main, draft, None if main.vocabulary_digest == draft.vocabulary_digest else -1)


def _is_same(main: ModelInfo, draft: ModelInfo) -> bool:
    """Accesses the disk last: a list compares all its models with each other."""
    return main.weight_bytes == draft.weight_bytes and Path(main.folder).resolve() == Path(draft.folder).resolve()


def draft_refusal(main: ModelInfo, draft: ModelInfo, shared_tokens: int | None) -> DraftError | None:
    """Why a model cannot draft for `main`. `shared_tokens`: None: all are shared; -1: not counted."""
    tokens = main.vocabulary_tokens, draft.vocabulary_tokens
    if shared_tokens is not None and shared_tokens < LEAST_SHARED * max(tokens):
        return DraftVocabularyDiffers(draft.folder, *tokens, shared_tokens)
    if draft.weight_bytes >= main.weight_bytes:
        return DraftTooLarge(draft.folder, main.weight_bytes, draft.weight_bytes)
    return None


def _misfit(main: ModelInfo, folder: str, drafter: DrafterInfo) -> DrafterDoesNotFit | None:
    """The first size of its main model that differs from what the drafter expects; 0: not given."""
    deepest = max(drafter.layers, default=-1) + 1
    expected = (
        ("layers", max(drafter.main_layers or main.layers, deepest), main.layers),
        ("width", drafter.main_width or main.width, main.width),
        ("vocabulary", drafter.vocabulary_rows or main.vocabulary_rows, main.vocabulary_rows),
    )
    given = (sizes for sizes in expected if sizes[1] and sizes[2])
    return next((DrafterDoesNotFit(folder, *sizes) for sizes in given if sizes[1] != sizes[2]), None)


def is_made_for(main: ModelInfo, drafter: ModelInfo) -> bool:
    """Whether the drafter's config or name says so. Sizes alone do not: those of a family's next model may be equal."""
    given = drafter.about.made_for.rpartition("/")[2]
    return stem(given) == stem(main.name) or is_named_after(drafter.name, main.name)


def is_good_draft(main: ModelInfo, draft: ModelInfo) -> bool:
    """Whether a possible draft is made for the main model, or small enough, or in the main model's own folder."""
    if draft.folder == main.folder:
        return draft.own_drafter is not None
    if draft.drafter is not None:
        return is_made_for(main, draft)
    return draft.parameters <= main.parameters * RECOMMENDED_SHARE


def best_draft(main: ModelInfo, models: Iterable[ModelInfo]) -> ModelInfo | None:
    """A drafter made for `main`, else the head in its own folder, else the largest good draft."""
    good = [info for info in models if draft_problem(main, info) is None and is_good_draft(main, info)]
    return max(good, key=lambda info: (info.drafter is not None, info.parameters), default=None)


def may_share_tokens(main: ModelInfo, draft: ModelInfo) -> bool:
    """Whether the files of two different vocabularies could show that they share enough tokens."""
    fewer, more = sorted((main.vocabulary_tokens, draft.vocabulary_tokens))
    return fewer >= LEAST_SHARED * more


def token_map(main_folder: Path, draft_folder: Path, draft_rows: int = MAX_TOKENS) -> TokenMap | None:
    """How the draft's tokens map to the main model's; None if they are the same.

    `draft_rows`: size of its embedding. Raises DraftVocabularyDiffers and TokenizerBroken.
    """
    main = read_vocabulary(main_folder)
    draft = read_vocabulary(draft_folder)
    if main.digest == draft.digest and draft_rows == MAX_TOKENS:
        return None
    main_table = read_table(main_folder)
    draft_table = read_table(draft_folder)
    if main_table is None or draft_table is None:
        if main.digest == draft.digest:
            return None
        raise DraftVocabularyDiffers(str(draft_folder), main.tokens, draft.tokens)
    tokens = TokenMap(main_table, draft_table, draft_rows)
    if not tokens.fits:
        raise DraftVocabularyDiffers(str(draft_folder), main.tokens, draft.tokens, tokens.shared)
    return tokens
