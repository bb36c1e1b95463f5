"""Which model can draft for which."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine import (
    DraftIsMain,
    DraftTooLarge,
    DraftVocabularyDiffers,
    ModelInfo,
    draft_problem,
    inspect_model,
    may_share_tokens,
)
from engine.models.compatibility import token_map
from tests.helpers.fake_engine import model_info
from tests.helpers.model_folders import TENSORS, TOKENS, model_files, write_folder

LARGE = {**TENSORS, "model.layers.0.weight": ("F32", (64, 64))}


def pair(tmp_path: Path, draft_tokens: dict[str, int]) -> tuple[ModelInfo, ModelInfo]:
    main = write_folder(tmp_path / "main", model_files(tensors=LARGE))
    draft = write_folder(tmp_path / "draft", model_files({"vocab_size": 99}, tokens=draft_tokens))
    return inspect_model(main), inspect_model(draft)


def test_a_smaller_model_with_the_same_tokens_may_draft(tmp_path: Path) -> None:
    main, draft = pair(tmp_path, TOKENS)
    assert draft_problem(main, draft) is None
    assert token_map(Path(main.folder), Path(draft.folder)) is None


def test_a_model_does_not_draft_for_itself_under_any_path(tmp_path: Path) -> None:
    main, _ = pair(tmp_path, TOKENS)
    (tmp_path / "other-name").symlink_to(main.folder)
    same = replace(main, folder=str(tmp_path / "other-name"))
    assert isinstance(draft_problem(main, same), DraftIsMain)


def test_a_draft_that_is_not_smaller_is_refused(tmp_path: Path) -> None:
    main, draft = pair(tmp_path, TOKENS)
    problem = draft_problem(draft, main)
    assert isinstance(problem, DraftTooLarge)
    assert (problem.main_bytes, problem.draft_bytes) == (draft.weight_bytes, main.weight_bytes)


def test_another_vocabulary_is_not_known_to_fit(tmp_path: Path) -> None:
    main, draft = pair(tmp_path, {"a": 0, "b": 1, "ba": 2, "글": 3})
    problem = draft_problem(main, draft)
    assert isinstance(problem, DraftVocabularyDiffers)
    assert (problem.main_tokens, problem.draft_tokens, problem.shared_tokens) == (5, 5, -1)
    assert may_share_tokens(main, draft)
    assert not may_share_tokens(main, replace(draft, vocabulary_tokens=6))


def test_comparing_all_models_with_each_other_does_not_ask_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred models are ten thousand pairs, and a window waits for them."""
    infos = [model_info(f"/models/M-{number}", 1_000_000_000 + number * 100_000_000) for number in range(30)]
    monkeypatch.setattr(Path, "resolve", lambda _path: pytest.fail("the disk was asked"))
    problems = [draft_problem(main, draft) for main in infos for draft in infos if main is not draft]
    assert problems.count(None) == 30 * 29 // 2
