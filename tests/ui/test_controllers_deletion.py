"""Deleting models: one that is in use stays until its files are gone, and what replaces it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.controllers.pair_loading import StarterPair
from app.view_models.model_list import DraftState, PairState, Upkeep, UpkeepState
from engine import InternalError, Message, MessageRole, ModelFailed, ModelNotFound, ModelRole, ModelVerified, Request
from tests.helpers.controller_harness import ControllerHarness, open_harness
from tests.helpers.fake_engine import DRAFT, MAIN, model_info
from tests.helpers.fake_model_store import installed

OTHER = model_info("/models/Other-1B", parameters=1_000_000_000, digest="vocabulary-b")
ALL = (MAIN, DRAFT, OTHER)


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[ControllerHarness]:
    models = {info.folder: info for info in ALL}
    with open_harness(tmp_path, qtbot, models=models, installed=[installed(info) for info in ALL]) as harness:
        harness.load_pair()
        yield harness


def test_delete_of_the_loaded_pair_unloads_it(harness: ControllerHarness) -> None:
    harness.models.delete(DRAFT.folder)
    harness.qtbot.waitUntil(lambda: "Draft-1B" not in [model.name for model in harness.models.models])
    assert (harness.models.pair.state, harness.models.pair.draft_state) == (PairState.READY, DraftState.NONE)
    harness.models.delete(MAIN.folder)
    harness.qtbot.waitUntil(lambda: "Main-8B" not in [model.name for model in harness.models.models])
    assert (harness.models.pair.state, harness.models.can_reply) == (PairState.NO_MODEL, False)
    assert (harness.settings.main_folder, harness.settings.draft_folder) == ("starter", "starter")  # not what is gone


def test_delete_of_the_loaded_main_model_brings_the_starter_pair_back(tmp_path: Path, qtbot: QtBot) -> None:
    starter = StarterPair(tmp_path / "starter" / "main", tmp_path / "starter" / "draft")
    for folder in (starter.main, starter.draft):
        folder.mkdir(parents=True)
    (starter.main / "hunch.json").write_text('{"name": "Hunch Starter"}')
    infos = [model_info(str(starter.main)), model_info(str(starter.draft), parameters=1_000_000)]
    models = {info.folder: info for info in (*infos, MAIN, DRAFT)}
    with open_harness(tmp_path, qtbot, models=models, starter=starter) as harness:
        harness.load_pair()
        names: list[str] = []
        harness.models.pair_changed.connect(lambda: names.append(harness.models.pair.main_name))
        harness.models.delete(MAIN.folder)
        harness.qtbot.waitUntil(lambda: harness.models.pair.main_folder == str(starter.main))
        assert "Hunch Starter" in names
        harness.wait_for_pair()
        assert (harness.models.pair.main_folder, harness.models.pair.draft_folder) == (
            str(starter.main),
            str(starter.draft),
        )


def test_what_was_deleted_by_hand_is_not_listed_once_somebody_has_chosen_it(harness: ControllerHarness) -> None:
    """It was listed as fit for this Mac until the next start."""
    harness.models.choose_main(OTHER.folder)
    harness.qtbot.waitUntil(lambda: harness.models.checks.known(OTHER, DRAFT) is not None)
    harness.wait_for_pair()
    harness.store.models = [installed(MAIN), installed(DRAFT)]
    harness.bridge.post(ModelFailed(ModelRole.MAIN, OTHER.folder, ModelNotFound(OTHER.folder)))
    harness.qtbot.waitUntil(lambda: OTHER.folder not in {model.folder for model in harness.models.models})


def test_a_main_model_that_is_writing_is_not_deleted(harness: ControllerHarness) -> None:
    harness.engine.gate.hold()
    harness.engine.submit(Request(messages=(Message(MessageRole.USER, "Hello"),)), lambda _event: None)
    harness.models.delete(MAIN.folder)
    assert harness.notices[0].sentence == "Main-8B is writing a reply. Stop it first."
    assert harness.models.pair.state is PairState.READY
    harness.engine.gate.open()


@pytest.mark.parametrize("folder", [MAIN.folder, DRAFT.folder])
def test_a_loaded_model_that_cannot_be_deleted_stays_loaded(harness: ControllerHarness, folder: str) -> None:
    harness.store.undeletable.add(folder)
    before = (harness.models.pair, harness.settings.main_folder, harness.settings.draft_folder)
    harness.models.delete(folder)
    harness.qtbot.waitUntil(lambda: bool(harness.notices))
    assert (harness.models.pair, harness.settings.main_folder, harness.settings.draft_folder) == before


def test_verifying_ends_when_a_model_is_deleted(harness: ControllerHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether or not it can be; and one that nobody can look at says why."""
    library, error = harness.models.library, InternalError("x")
    monkeypatch.setattr(harness.store, "verify", lambda _folder: None)  # it takes minutes
    library.verify(OTHER.folder)
    harness.bridge.post(ModelVerified(OTHER.folder, known=False, error=error))
    harness.qtbot.waitUntil(lambda: library.upkeep(OTHER.folder) == Upkeep(UpkeepState.NOT_ASKED, error=error))
    for undeletable in ({OTHER.folder}, set[str]()):
        harness.store.undeletable = undeletable
        library.verify(OTHER.folder)
        harness.models.delete(OTHER.folder)
        harness.qtbot.waitUntil(lambda: library.upkeep(OTHER.folder) == Upkeep())
