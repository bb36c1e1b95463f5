"""Drafts of another vocabulary: their files are compared with the main model's before anything is said of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.view_models.model_list import DraftGroup, DraftState
from engine import PairCheck
from tests.helpers.controller_harness import ControllerHarness, open_harness
from tests.helpers.fake_engine import MAIN, model_info
from tests.helpers.fake_model_store import installed

MIDDLE = model_info("/models/Middle-4B", parameters=4_000_000_000)


def groups(harness: ControllerHarness) -> dict[str, DraftGroup]:
    return {choice.model.name: choice.group for choice in harness.models.drafts_for_main()}


def test_a_vocabulary_that_differs_is_judged_by_the_files(tmp_path: Path, qtbot: QtBot) -> None:
    near = model_info("/models/Near-1B", 1_000_000_000, "vocabulary-b")
    far = replace(model_info("/models/Far-1B", 1_000_000_000, "vocabulary-c"), vocabulary_tokens=32_000)
    models = {model.folder: model for model in (MAIN, near, far)}
    with open_harness(tmp_path, qtbot, models=models, installed=[installed(each) for each in models.values()]) as found:
        found.store.pair_checks[MAIN.folder, near.folder] = PairCheck(MAIN.folder, near.folder, None, by_text=True)
        found.models.choose_main(MAIN.folder)
        found.models.refresh()
        qtbot.waitUntil(lambda: len(found.models.models) == 3)
        assert groups(found)["Near-1B"] is DraftGroup.COMPARING
        qtbot.waitUntil(lambda: groups(found)["Near-1B"] is DraftGroup.COMPATIBLE)
        assert groups(found)["Far-1B"] is DraftGroup.NOT_COMPATIBLE
        assert found.store.checked == [(MAIN.folder, near.folder)]  # once, and never what cannot be


def test_a_draft_of_another_family_stays(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only the files tell, they are compared first; what another choice made of it meanwhile holds."""
    near = model_info("/models/Near-1B", 1_000_000_000, "vocabulary-b")
    near = replace(near, vocabulary_tokens=MAIN.vocabulary_tokens + 9)
    models = {model.folder: model for model in (MAIN, MIDDLE, near)}
    with open_harness(tmp_path, qtbot, models=models, installed=[installed(each) for each in models.values()]) as found:
        for main in (MAIN, MIDDLE):
            found.store.pair_checks[main.folder, near.folder] = PairCheck(main.folder, near.folder, None, by_text=True)
        monkeypatch.setattr(found.engine, "_draft_problem", lambda _draft: None)
        found.settings.main_folder = MAIN.folder
        found.models.start()
        qtbot.waitUntil(lambda: len(found.models.models) == 3 and str(found.models.pair.state) == "ready")
        found.models.choose_draft(near.folder)
        qtbot.waitUntil(lambda: found.engine.drafts == [near.folder])

        found.models.choose_main(MIDDLE.folder)
        assert found.engine.loads[-1][1] is None
        qtbot.waitUntil(lambda: found.engine.drafts == [near.folder, near.folder])
        assert found.store.checked == [(MIDDLE.folder, near.folder)]
        found.models.choose_main(MAIN.folder)
        found.models.choose_draft(None)
        qtbot.waitUntil(lambda: len(found.store.checked) == 2 and str(found.models.pair.state) == "ready")
        qtbot.waitUntil(lambda: found.models.pair.draft_state is DraftState.NONE)
        assert found.models.pair.draft_folder == ""
        found.models.choose_draft(near.folder)
        found.models.choose_main(MIDDLE.folder)  # known by now
        assert found.engine.loads[-1][1] == near.folder
