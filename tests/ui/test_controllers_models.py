"""Choosing, installing and deleting models: the model controller over the scripted engine and shelf."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.controllers.models import StarterPair
from app.view_models.model_list import DownloadState, DraftGroup, DraftState, PairState
from engine import HubUnreachable, ModelDamaged, ModelSource, Speculation
from tests.helpers.desk import Desk, open_desk, recorded
from tests.helpers.fake_engine import DRAFT, MAIN, model_info
from tests.helpers.fake_shelf import TOTAL_BYTES, installed
from tests.helpers.reply_words import pair_reason

MIDDLE = model_info("/models/Middle-4B", parameters=4_000_000_000)
OTHER = model_info("/models/Other-1B", parameters=1_000_000_000, digest="vocabulary-b")
OTHER_MAIN = model_info("/models/Other-9B", parameters=9_000_000_000, digest="vocabulary-b")
BROKEN = model_info("/models/Broken")
ALL = (MAIN, DRAFT, MIDDLE, OTHER, OTHER_MAIN)


@pytest.fixture
def desk(tmp_path: Path, qtbot: QtBot) -> Iterator[Desk]:
    damage = ModelDamaged(BROKEN.folder, "truncated")
    models = {info.folder: info for info in ALL} | {BROKEN.folder: damage}
    shelf = [installed(info) for info in ALL] + [installed(BROKEN, error=damage)]
    with open_desk(tmp_path, qtbot, models=models, installed=shelf) as desk:
        desk.load_pair()
        yield desk


def test_start_loads_the_last_pair(desk: Desk) -> None:
    pair = desk.models.pair
    assert (pair.main_name, pair.draft_name, pair.speculation.mode) == ("Main-8B", "Draft-1B", "auto")
    assert (pair.state, pair.draft_state, pair_reason(pair)) == (PairState.READY, DraftState.ACTIVE, "")
    assert desk.engine.loads == [(MAIN.folder, DRAFT.folder)]


def test_start_without_a_choice_loads_the_starter_pair(tmp_path: Path, qtbot: QtBot) -> None:
    starter = StarterPair(tmp_path / "starter" / "main", tmp_path / "starter" / "draft")
    for folder in (starter.main, starter.draft):
        folder.mkdir(parents=True)
    infos = [model_info(str(starter.main)), model_info(str(starter.draft), parameters=1_000_000)]
    parts = {"models": {info.folder: info for info in infos}, "installed": [installed(infos[0])], "starter": starter}
    with open_desk(tmp_path, qtbot, **parts) as desk:
        desk.models.start()
        desk.wait_for_pair()
        assert (desk.models.pair.main_name, desk.models.pair.draft_name) == ("main", "draft")
        assert desk.settings.main_folder == "starter"  # wherever the next version of the app lies


def test_starter_main_comes_with_its_own_draft(tmp_path: Path, qtbot: QtBot) -> None:
    starter = StarterPair(tmp_path / "main", tmp_path / "draft")
    infos = [model_info(str(starter.main), digest="s"), model_info(str(starter.draft), 4_000_000_000, digest="s")]
    models = {info.folder: info for info in (*infos, MAIN, DRAFT)}
    with open_desk(tmp_path, qtbot, models=models, starter=starter) as desk:
        desk.load_pair()
        desk.models.choose_main(str(starter.main))
        desk.wait_for_pair()
        assert (desk.models.pair.main_name, desk.models.pair.draft_name) == ("main", "draft")
        assert (desk.settings.main_folder, desk.settings.draft_folder) == ("starter", "starter")


def test_start_with_nothing_to_load_says_so(tmp_path: Path, qtbot: QtBot) -> None:
    with open_desk(tmp_path, qtbot) as desk:
        desk.models.start()
        desk.wait_for_pair()
        assert (desk.models.pair.state, desk.models.can_reply, desk.notices) == (PairState.NO_MODEL, False, [])


def test_main_that_is_gone_is_told_and_not_replaced(tmp_path: Path, qtbot: QtBot) -> None:
    """What the person chose never turns silently into something else."""
    with open_desk(tmp_path, qtbot) as desk:
        desk.load_pair(main="/models/Gone")
        assert desk.models.pair.state is PairState.FAILED
        assert "/models/Gone" in pair_reason(desk.models.pair)
        assert [notice.title for notice in desk.notices] == ["Model not found"]
        assert desk.settings.main_folder == "/models/Gone"


def test_draft_changes_without_loading_main_again(desk: Desk) -> None:
    desk.models.choose_draft(MIDDLE.folder)
    desk.qtbot.waitUntil(lambda: desk.models.pair.draft_state is DraftState.ACTIVE)
    assert desk.models.pair.draft_name == "Middle-4B"
    desk.models.choose_draft(None)
    assert (desk.models.pair.draft_state, desk.models.pair.draft_name) == (DraftState.NONE, "")
    assert (len(desk.engine.loads), desk.engine.drafts) == (1, [MIDDLE.folder, None])
    assert desk.settings.draft_folder == ""


def test_draft_of_another_family_is_refused_with_the_reason(desk: Desk) -> None:
    desk.models.choose_draft(OTHER.folder)
    desk.qtbot.waitUntil(lambda: desk.models.pair.draft_state is DraftState.REFUSED)
    assert desk.engine.drafts == [OTHER.folder, None]  # nothing drafts that the chip does not name
    assert pair_reason(desk.models.pair) == "The same token numbers mean different text to the two models."
    assert [notice.title for notice in desk.notices] == ["Different vocabulary"]
    assert desk.models.pair.state is PairState.READY


def test_new_main_keeps_a_draft_that_fits_or_takes_one_that_does(desk: Desk) -> None:
    desk.models.choose_main(MIDDLE.folder)
    desk.wait_for_pair()
    assert (desk.models.pair.main_name, desk.models.pair.draft_name) == ("Middle-4B", "Draft-1B")
    desk.models.choose_main(OTHER_MAIN.folder)
    desk.wait_for_pair()
    assert (desk.models.pair.main_name, desk.models.pair.draft_name) == ("Other-9B", "Other-1B")
    assert (desk.settings.main_folder, desk.settings.draft_folder) == (OTHER_MAIN.folder, OTHER.folder)


def test_every_model_is_listed_as_draft_with_its_reason(desk: Desk) -> None:
    choices = [(choice.group, choice.model.name, choice.error) for choice in desk.models.drafts_for_main()]
    recommended, compatible, refused = DraftGroup
    assert choices[:2] == [(recommended, "Draft-1B", None), (compatible, "Middle-4B", None)]
    assert {name for group, name, error in choices if group is refused and error} == {
        "Broken",
        "Main-8B",
        "Other-1B",
        "Other-9B",
    }


def test_models_say_what_they_are(desk: Desk) -> None:
    by_name = {model.name: model for model in desk.models.models}
    assert (by_name["Main-8B"].is_main, by_name["Draft-1B"].is_draft) == (True, True)
    assert by_name["Main-8B"].source is ModelSource.OWN
    error = by_name["Broken"].error
    assert isinstance(error, ModelDamaged)
    assert "truncated" in error.detail


def test_models_are_listed_as_people_read_their_names(tmp_path: Path, qtbot: QtBot) -> None:
    names = ("Qwen-13B", "qwen-2B", "Alpha", "Qwen-2B-4bit")
    models = [installed(model_info(f"/models/{name}")) for name in names]
    with open_desk(tmp_path, qtbot, installed=models) as desk:
        desk.models.refresh()
        qtbot.waitUntil(lambda: bool(desk.models.models))
        assert [model.name for model in desk.models.models] == ["Alpha", "qwen-2B", "Qwen-2B-4bit", "Qwen-13B"]


def test_only_our_own_models_can_be_deleted(tmp_path: Path, qtbot: QtBot) -> None:
    shelf = [installed(MAIN, source) for source in ModelSource]
    with open_desk(tmp_path, qtbot, installed=shelf) as desk:
        desk.models.refresh()
        desk.qtbot.waitUntil(lambda: bool(desk.models.models))
        assert [model.can_delete for model in desk.models.models] == [False, True, False, False]


def test_install_shows_progress_and_ends_as_a_model(desk: Desk) -> None:
    desk.shelf.gate.hold()
    done = recorded(desk.models.model_installed)
    download = desk.models.install(" org/New-2B ")
    assert desk.models.downloads[0].state is DownloadState.WAITING
    desk.shelf.gate.let_through(2)
    desk.qtbot.waitUntil(lambda: desk.models.downloads[0].done_bytes == TOTAL_BYTES // 2)
    assert (desk.models.downloads[0].id, desk.models.downloads[0].state) == (download, DownloadState.RUNNING)
    assert desk.models.install("org/New-2B") == download
    desk.shelf.gate.open()
    desk.qtbot.waitUntil(lambda: "New-2B" in [model.name for model in desk.models.models])
    assert (done, desk.models.downloads) == ([("org/New-2B", "/models/New-2B")], [])


def test_pause_keeps_and_resume_goes_on(desk: Desk) -> None:
    desk.shelf.gate.hold()
    download = desk.models.install("org/New-2B")
    desk.shelf.gate.let_through(1)
    desk.qtbot.waitUntil(lambda: desk.models.downloads[0].done_bytes > 0)
    desk.models.pause(download)
    desk.qtbot.waitUntil(lambda: desk.models.downloads[0].state is DownloadState.PAUSED)
    assert desk.models.downloads[0].done_bytes == TOTAL_BYTES // 4
    desk.models.resume(download)
    assert len(desk.models.downloads) == 1
    desk.shelf.gate.open()
    desk.qtbot.waitUntil(lambda: not desk.models.downloads)


def test_cancel_takes_the_download_away(desk: Desk) -> None:
    desk.shelf.gate.hold()
    download = desk.models.install("org/New-2B")
    desk.shelf.gate.let_through(1)
    desk.qtbot.waitUntil(lambda: desk.models.downloads[0].done_bytes > 0)
    desk.models.cancel(download)
    assert desk.models.downloads == []
    desk.shelf.gate.open()
    desk.models.install("org/Later")
    desk.qtbot.waitUntil(lambda: "Later" in [model.name for model in desk.models.models])
    assert "New-2B" not in [model.name for model in desk.models.models]


def test_failed_download_says_why_and_can_be_tried_again(desk: Desk) -> None:
    desk.shelf.failures["org/New-2B"] = HubUnreachable("org/New-2B", "https://hub.test", "timed out")
    download = desk.models.install("org/New-2B")
    desk.qtbot.waitUntil(lambda: desk.models.downloads[0].state is DownloadState.FAILED)
    assert desk.models.downloads[0].error is desk.shelf.failures["org/New-2B"]
    desk.shelf.failures.clear()
    desk.models.resume(download)
    desk.qtbot.waitUntil(lambda: "New-2B" in [model.name for model in desk.models.models])


def test_delete_of_the_loaded_pair_unloads_it_first(desk: Desk) -> None:
    desk.models.delete(DRAFT.folder)
    desk.qtbot.waitUntil(lambda: "Draft-1B" not in [model.name for model in desk.models.models])
    assert (desk.models.pair.state, desk.models.pair.draft_state) == (PairState.READY, DraftState.NONE)
    desk.models.delete(MAIN.folder)
    desk.qtbot.waitUntil(lambda: "Main-8B" not in [model.name for model in desk.models.models])
    assert (desk.models.pair.state, desk.models.can_reply) == (PairState.NO_MODEL, False)
    assert (desk.settings.main_folder, desk.settings.draft_folder) == ("starter", "starter")  # not what is gone


def test_delete_of_the_loaded_main_model_brings_the_starter_pair_back(tmp_path: Path, qtbot: QtBot) -> None:
    starter = StarterPair(tmp_path / "starter" / "main", tmp_path / "starter" / "draft")
    for folder in (starter.main, starter.draft):
        folder.mkdir(parents=True)
    (starter.main / "hunch.json").write_text('{"name": "Hunch Starter"}')
    infos = [model_info(str(starter.main)), model_info(str(starter.draft), parameters=1_000_000)]
    models = {info.folder: info for info in (*infos, MAIN, DRAFT)}
    with open_desk(tmp_path, qtbot, models=models, starter=starter) as desk:
        desk.load_pair()
        desk.models.delete(MAIN.folder)
        assert (desk.models.pair.state, desk.models.pair.main_name) == (PairState.LOADING, "Hunch Starter")
        desk.wait_for_pair()
        assert (desk.models.pair.main_folder, desk.models.pair.draft_folder) == (str(starter.main), str(starter.draft))


def test_delete_that_fails_is_told(desk: Desk) -> None:
    desk.shelf.undeletable.add(OTHER.folder)
    desk.models.delete(OTHER.folder)
    desk.qtbot.waitUntil(lambda: bool(desk.notices))
    assert desk.notices[0].sentence == "Other-1B could not be deleted: permission denied"


def test_folders_and_hub_are_kept_and_passed_on(desk: Desk) -> None:
    desk.models.add_folder("/shared/models")
    desk.models.add_folder("/shared/models")
    assert (desk.shelf.folders, desk.settings.model_folders) == (("/shared/models",), ("/shared/models",))
    desk.models.remove_folder("/shared/models")
    assert desk.shelf.folders == ()
    desk.models.set_hub(" http://hub.test ", "secret")
    assert (desk.shelf.hub, desk.settings.hub_token) == (("http://hub.test", "secret"), "secret")
    desk.models.set_hub("hub.test:8080", "secret")
    assert desk.settings.hub_endpoint == "https://hub.test:8080"
    desk.models.set_hub("", "")
    assert desk.shelf.hub == (None, None)


def test_speculation_is_part_of_the_pair(desk: Desk) -> None:
    said = recorded(desk.models.pair_changed)
    desk.settings.speculation_tokens = 5
    assert said == [()]
    desk.models.set_speculation("off", 4)
    assert (desk.models.pair.speculation.mode, desk.models.pair.draft_state) == ("off", DraftState.PARKED)
    desk.models.set_speculation("fixed", 6)
    assert desk.models.pair.speculation == Speculation.fixed(6)
    assert desk.models.pair.draft_state is DraftState.ACTIVE
