"""A main model that cannot be loaded does not cost the pair that works: it stays, or is loaded again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.controllers.pair_loading import StarterPair
from app.storage import ReplyStatus
from app.view_models.model_list import DraftState, PairState
from engine import EngineError, ModelDamaged, ModelDeleted, ModelInfo, ModelNotFound
from tests.helpers.controller_harness import ControllerHarness, open_harness
from tests.helpers.fake_engine import DRAFT, MAIN, model_info
from tests.helpers.fake_model_store import installed
from tests.helpers.reply_words import title_of

GONE = model_info("/models/Gone-9B", parameters=9_000_000_000)
BROKEN = model_info("/models/Broken-9B", parameters=9_000_000_000)
OTHER = model_info("/models/Other-1B", parameters=1_000_000_000)
INFOS = (MAIN, DRAFT, OTHER)


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[ControllerHarness]:
    """The list has two models that cannot be loaded: what shows of one before, shows of the other only afterwards."""
    starter = StarterPair(tmp_path / "starter", tmp_path / "starter-draft")
    starter.main.mkdir()
    models: dict[str, ModelInfo | EngineError] = {info.folder: info for info in INFOS}
    models |= {BROKEN.folder: ModelDamaged(BROKEN.folder, "weights"), str(starter.main): model_info(str(starter.main))}
    listed = [installed(info) for info in (*INFOS, GONE, BROKEN)]
    with open_harness(tmp_path, qtbot, models=models, installed=listed, starter=starter) as harness:
        harness.engine.damaged.add(BROKEN.folder)
        harness.load_pair()
        yield harness


def check_that_the_pair_works(harness: ControllerHarness) -> None:
    pair = harness.models.pair
    assert (pair.main_folder, pair.draft_folder) == (MAIN.folder, DRAFT.folder)
    assert (pair.state, pair.draft_state, pair.error) == (PairState.READY, DraftState.ACTIVE, None)
    assert (harness.settings.main_folder, harness.settings.draft_folder) == (MAIN.folder, DRAFT.folder)
    state = harness.engine.state()
    assert (state.main, state.draft) == (MAIN, DRAFT)


def wait_for_the_refusal(harness: ControllerHarness, title: str) -> None:
    harness.qtbot.waitUntil(lambda: [notice.title for notice in harness.notices] == [title])
    harness.wait_for_pair()


def test_a_folder_that_is_gone_is_refused_and_the_reply_goes_on(harness: ControllerHarness) -> None:
    harness.models.choose_main(GONE.folder)
    wait_for_the_refusal(harness, title_of(ModelNotFound))
    check_that_the_pair_works(harness)
    assert len(harness.engine.loads) == 2  # and none to go back

    harness.problems.clear()
    harness.engine.gate.hold()
    harness.chat.send("Hello")
    harness.models.choose_main(GONE.folder)
    harness.models.switch_now()
    harness.engine.gate.open()
    wait_for_the_refusal(harness, title_of(ModelNotFound))
    harness.wait_until_quiet()
    assert harness.rows[-1].status is ReplyStatus.DONE
    check_that_the_pair_works(harness)


@pytest.mark.parametrize("draft", ["", OTHER.folder], ids=["of its own choice", "with a draft"])
def test_damaged_weights_are_told_and_the_pair_is_loaded_again(harness: ControllerHarness, draft: str) -> None:
    if draft:
        harness.models.choose_pair(BROKEN.folder, draft)
    else:
        harness.models.choose_main(BROKEN.folder)
    wait_for_the_refusal(harness, title_of(ModelDamaged))
    harness.qtbot.waitUntil(lambda: harness.models.pair.draft_state is DraftState.ACTIVE)
    check_that_the_pair_works(harness)
    assert harness.engine.loads[-1] == (MAIN.folder, DRAFT.folder)


def test_of_two_choices_that_fail_the_pair_before_both_is_gone_back_to(harness: ControllerHarness) -> None:
    harness.models.choose_main(BROKEN.folder)
    harness.models.choose_main(GONE.folder)
    harness.qtbot.waitUntil(lambda: bool(harness.notices))
    harness.qtbot.waitUntil(lambda: harness.models.pair.main_folder == MAIN.folder)
    harness.qtbot.waitUntil(lambda: harness.models.pair.draft_state is DraftState.ACTIVE)
    check_that_the_pair_works(harness)


def test_a_pair_out_of_memory_stays_the_one_that_the_next_message_loads(harness: ControllerHarness) -> None:
    harness.models.eject()
    harness.models.choose_main(GONE.folder)
    wait_for_the_refusal(harness, title_of(ModelNotFound))
    assert harness.models.pair.state is PairState.UNLOADED
    assert harness.say("Hello").status is ReplyStatus.DONE
    harness.qtbot.waitUntil(lambda: harness.models.pair.draft_state is DraftState.ACTIVE)
    check_that_the_pair_works(harness)


def test_nothing_goes_back_to_what_was_deleted_meanwhile(harness: ControllerHarness) -> None:
    harness.models.choose_main(BROKEN.folder)
    harness.bridge.event_arrived.emit(ModelDeleted(MAIN.folder))
    wait_for_the_refusal(harness, title_of(ModelDamaged))
    harness.qtbot.waitUntil(lambda: harness.models.pair.state is PairState.READY)
    assert harness.models.pair.main_name == "starter"
    assert harness.settings.main_folder == "starter"


def test_where_that_one_is_gone_too_it_says_so(harness: ControllerHarness) -> None:
    harness.models.choose_main(BROKEN.folder)
    del harness.engine.models[MAIN.folder]
    harness.qtbot.waitUntil(lambda: len(harness.notices) == 2)
    assert [notice.title for notice in harness.notices] == [title_of(ModelDamaged), title_of(ModelNotFound)]
    assert harness.models.pair.state is PairState.FAILED
    assert harness.models.pair.main_folder == MAIN.folder
