"""Choosing, installing and deleting models: the model controller over the scripted engine and model store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.controllers.models import ModelController
from app.controllers.pair_loading import StarterPair
from app.settings import STARTER_TEMPERATURE
from app.storage import ReplyStatus
from app.theme import Theme
from app.view_models.model_list import DraftGroup, DraftState, PairState, Upkeep, UpkeepState
from app.views.shell.picker import Picker
from app.views.shell.shell_window import ShellWindow
from app.views.widgets.option_list import ListedOption, OptionList
from app.words.notices_for_errors import notice_for
from app.words.pairs import draft_details, gain_figure
from engine import (
    DownloadFinished,
    DownloadId,
    DrafterExamined,
    DrafterInfo,
    ForwardTimes,
    HubAccess,
    InternalError,
    LoadAborted,
    Message,
    MessageRole,
    ModelDamaged,
    ModelFailed,
    ModelInfo,
    ModelLoading,
    ModelMeasured,
    ModelNotFound,
    ModelReady,
    ModelRole,
    ModelUnloaded,
    ModelVerified,
    Request,
    load_catalog,
)
from tests.architecture.project import ROOT
from tests.helpers.controller_harness import ControllerHarness, open_harness
from tests.helpers.fake_engine import DRAFT, MAIN, model_info
from tests.helpers.fake_model_store import installed
from tests.helpers.reply_words import pair_reason, title_of

MIDDLE = model_info("/models/Middle-4B", parameters=4_000_000_000)
OTHER = model_info("/models/Other-1B", parameters=1_000_000_000, digest="vocabulary-b")
OTHER_MAIN = model_info("/models/Other-9B", parameters=9_000_000_000, digest="vocabulary-b")
BROKEN = model_info("/models/Broken")
ALL = (MAIN, DRAFT, MIDDLE, OTHER, OTHER_MAIN)


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[ControllerHarness]:
    damage = ModelDamaged(BROKEN.folder, "truncated")
    models = {info.folder: info for info in ALL} | {BROKEN.folder: damage}
    store = [installed(info) for info in ALL] + [installed(BROKEN, error=damage)]
    with open_harness(tmp_path, qtbot, models=models, installed=store) as harness:
        harness.load_pair()
        yield harness


def test_what_comes_with_the_app_has_its_own_draft_and_is_kept_by_name(tmp_path: Path, qtbot: QtBot) -> None:
    starter = StarterPair(tmp_path / "main", tmp_path / "draft")
    eyes = model_info(str(starter.eyes)), model_info(str(starter.eyes.with_name("draft")))
    infos = [model_info(str(starter.main), digest="s"), model_info(str(starter.draft), 4_000_000_000, digest="s")]
    models = {info.folder: info for info in (*infos, *eyes, MAIN, DRAFT)}
    with open_harness(tmp_path, qtbot, models=models, starter=starter) as harness:
        harness.load_pair()
        harness.models.choose_main(str(starter.main))
        harness.wait_for_pair()
        assert (harness.models.pair.main_name, harness.models.pair.draft_name) == ("main", "draft")
        assert (harness.settings.main_folder, harness.settings.draft_folder) == ("starter", "starter")
        harness.models.choose_main(str(starter.eyes))
        harness.wait_for_pair()
        assert (harness.models.pair.main_folder, harness.models.pair.draft_folder) == tuple(
            each.folder for each in eyes
        )
        kept = harness.settings.main_folder, harness.settings.draft_folder
        assert kept == ("starter/eyes/main", "starter/eyes/draft")
        assert harness.settings.last_drafts[kept[0]] == kept[1]
        assert harness.settings.sampling().temperature == STARTER_TEMPERATURE


def test_main_that_is_gone_is_told_and_not_replaced(tmp_path: Path, qtbot: QtBot) -> None:
    """What the person chose never turns silently into something else."""
    with open_harness(tmp_path, qtbot) as harness:
        harness.load_pair(main="/models/Gone")
        assert harness.models.pair.state is PairState.FAILED
        assert "/models/Gone" in pair_reason(harness.models.pair)
        assert [notice.title for notice in harness.notices] == [title_of(ModelNotFound)]
        assert harness.settings.main_folder == "/models/Gone"


def test_draft_of_another_family_is_refused_with_the_reason(harness: ControllerHarness) -> None:
    harness.models.choose_draft(OTHER.folder)
    harness.qtbot.waitUntil(lambda: harness.models.pair.draft_state is DraftState.REFUSED)
    assert harness.engine.drafts == [OTHER.folder, None]  # nothing drafts that the chip does not name
    assert pair_reason(harness.models.pair) == "The same tokens mean different text."
    assert [notice.title for notice in harness.notices] == ["Different vocabulary"]
    assert harness.models.pair.state is PairState.READY


def choose_main(harness: ControllerHarness, folder: str, *, comes_with: str) -> None:
    """Waits until this draft has come with it."""
    models = harness.models
    models.choose_main(folder)
    harness.qtbot.waitUntil(lambda: (models.pair.main_folder, models.pair.draft_folder) == (folder, comes_with))
    harness.wait_for_pair()
    assert models.pair.draft_folder == comes_with


def test_a_main_model_comes_with_the_draft_that_it_had_last_or_with_one_that_fits(harness: ControllerHarness) -> None:
    """Not with the one of the pair before, nor with one where the person chose none."""
    harness.models.choose_draft(MIDDLE.folder)
    harness.wait_for_pair()
    choose_main(harness, MIDDLE.folder, comes_with=DRAFT.folder)
    choose_main(harness, MAIN.folder, comes_with=MIDDLE.folder)
    harness.models.choose_draft(None)
    choose_main(harness, MIDDLE.folder, comes_with=DRAFT.folder)
    choose_main(harness, MAIN.folder, comes_with="")
    assert harness.settings.last_drafts == {MIDDLE.folder: DRAFT.folder, MAIN.folder: ""}

    choose_main(harness, OTHER_MAIN.folder, comes_with=OTHER.folder)  # once their files are compared
    assert (harness.settings.main_folder, harness.settings.draft_folder) == (OTHER_MAIN.folder, OTHER.folder)


def test_a_draft_that_can_no_longer_serve_does_not_come_back(harness: ControllerHarness) -> None:
    harness.models.choose_draft(OTHER.folder)
    harness.qtbot.waitUntil(lambda: harness.models.pair.draft_state is DraftState.REFUSED)
    choose_main(harness, MIDDLE.folder, comes_with=DRAFT.folder)
    choose_main(harness, MAIN.folder, comes_with=DRAFT.folder)
    harness.settings.last_drafts = {MAIN.folder: "/models/gone"}
    choose_main(harness, MIDDLE.folder, comes_with=DRAFT.folder)
    choose_main(harness, MAIN.folder, comes_with=DRAFT.folder)


def test_the_draft_that_was_installed_for_a_main_model_comes_with_it(harness: ControllerHarness) -> None:
    row = harness.models.install_pair("org/New-9B", "org/New-draft")
    harness.qtbot.waitUntil(lambda: bool(harness.models.downloads.folders(row)))
    main, draft = harness.models.downloads.folders(row)
    assert harness.settings.last_drafts[main] == draft


def test_an_aborted_load_is_not_reported(harness: ControllerHarness) -> None:
    """The engine reports it for each half of the pair; the app itself has requested the other model."""
    before = harness.models.pair
    for role in ModelRole:
        harness.bridge.post(ModelFailed(role, OTHER.folder, LoadAborted(OTHER.folder)))
    harness.models.refresh()
    harness.models.choose_main(MIDDLE.folder)
    harness.wait_for_pair()
    assert harness.notices == []
    assert before.state is harness.models.pair.state is PairState.READY
    assert harness.models.pair.main_name == "Middle-4B"


def test_models_are_listed_as_people_read_their_names(tmp_path: Path, qtbot: QtBot) -> None:
    names = ("Qwen-13B", "qwen-2B", "Alpha", "Qwen-2B-4bit")
    models = [installed(model_info(f"/models/{name}")) for name in names]
    with open_harness(tmp_path, qtbot, installed=models) as harness:
        harness.models.refresh()
        qtbot.waitUntil(lambda: bool(harness.models.models))
        assert [model.name for model in harness.models.models] == ["Alpha", "qwen-2B", "Qwen-2B-4bit", "Qwen-13B"]


def test_no_hub_gets_the_token_of_another_and_a_folder_is_added_once(harness: ControllerHarness) -> None:
    """Neither on the way to the next, nor when all settings are reset: the token stays, and so does its hub."""
    settings, own = harness.settings, HubAccess("https://hub.test", "secret")
    settings.hub_endpoint = own.endpoint
    settings.hub_token = own.token
    settings.hub_endpoint = "https://other.test"
    settings.hub_token = "another"
    settings.hub_endpoint = own.endpoint
    harness.settings.reset_all()
    told = {access for access in harness.store.hubs if access.token}
    assert told == {own, HubAccess("https://other.test", "another")}
    assert harness.store.hub == own

    for _ in range(2):
        harness.models.sources.add_folder("/shared/models")
    assert (harness.store.folders, harness.settings.model_folders) == (("/shared/models",), ("/shared/models",))
    settings.hub_endpoint = "hub.test:8080"
    settings.hub_token_in_clear = True
    assert harness.store.hub == HubAccess("https://hub.test:8080", token_in_clear=True)


def drafter_for(main: ModelInfo, main_layers: int = 36) -> ModelInfo:
    needs = DrafterInfo("dflash", main.width, main_layers, main.vocabulary_rows, (1, 3))
    info = replace(DRAFT, folder="/models/Main-8B-DFlash", name="Main-8B-DFlash", vocabulary_digest="")
    return replace(info, drafter=needs)


@pytest.fixture
def with_drafter(tmp_path: Path, qtbot: QtBot) -> Iterator[ControllerHarness]:
    main = replace(MAIN, width=4096, layers=36, vocabulary_rows=151_936)
    other = replace(drafter_for(main, main_layers=28), folder="/models/Other", name="Other")
    next_one = replace(drafter_for(main), folder="/models/Main2-8B-DFlash", name="Main2-8B-DFlash", parameters=9**10)
    drafters = [drafter_for(main), other, next_one]
    infos = [main, DRAFT, *drafters]
    models = {info.folder: info for info in infos}
    with open_harness(tmp_path, qtbot, models=models, installed=[installed(info) for info in infos]) as harness:
        harness.models.start()
        harness.qtbot.waitUntil(lambda: bool(harness.models.models))
        harness.models.choose_main(main.folder)
        harness.wait_for_pair()
        yield harness


def test_a_drafter_comes_with_its_main_model_and_a_poor_one_is_told(with_drafter: ControllerHarness) -> None:
    models = with_drafter.models
    assert models.pair.draft_name == "Main-8B-DFlash"
    by_name = {choice.model.name: choice for choice in models.drafts_for_main()}
    assert by_name["Main-8B-DFlash"].group is DraftGroup.RECOMMENDED
    assert by_name["Other"].group is DraftGroup.NOT_COMPATIBLE
    assert by_name["Main2-8B-DFlash"].group is DraftGroup.COMPATIBLE  # it has the sizes, and another main model's name
    error = by_name["Other"].error
    assert error is not None
    assert notice_for(error).sentence == "It expects 28 layers; this model has 36."

    for folder, per_pass in (("/models/Main-8B-DFlash", 1.7), ("/models/gone", 1.0), ("/models/Main-8B-DFlash", 1.03)):
        with_drafter.engine.tell(None, DrafterExamined(folder, per_pass))
    with_drafter.qtbot.waitUntil(lambda: len(with_drafter.notices) == 1)
    assert "Only 1.0 tokens" in with_drafter.notices[0].sentence


def options_of(shown: OptionList) -> list[ListedOption]:
    model = shown.model()
    return [model.index(row, 0).data(Qt.ItemDataRole.UserRole) for row in range(model.rowCount())]


def test_each_draft_tells_what_it_takes_and_brings(tmp_path: Path, qtbot: QtBot) -> None:
    """Before anything was measured of the pair an estimate, afterwards what it brought last before that."""
    main = replace(model_info("/models/Qwen3-8B-8bit"), weight_bytes=8_700_000_000)
    main = replace(main, width=4096, layers=36, vocabulary_rows=151_936)
    drafter = replace(drafter_for(main), folder="/models/dspark", name="dspark_qwen3_8b_block7")
    models = {each.folder: each for each in (main, drafter, DRAFT)}
    rows = [installed(main), installed(drafter), installed(DRAFT)]
    names = {main.folder: "mlx-community/Qwen3-8B-8bit", drafter.folder: "deepseek-ai/dspark_qwen3_8b_block7"}
    rows = [replace(row, repository=names.get(row.folder, "")) for row in rows]
    with open_harness(tmp_path, qtbot, models=models, installed=rows) as harness:
        harness.models.library.catalog = load_catalog(ROOT / "resources" / "catalog.json")
        harness.models.start()
        qtbot.waitUntil(lambda: bool(harness.models.models))
        harness.models.choose_main(main.folder)
        harness.wait_for_pair()

        def detail(name: str) -> str:
            choice = next(each for each in harness.models.drafts_for_main() if each.model.name == name)
            return " · ".join(draft_details(choice.extra_bytes, choice.gain))

        assert "more memory" in detail(drafter.name)
        assert "estimate" not in detail(drafter.name)
        times = ForwardTimes(main.weight_bytes, False, ((1, 0.04), (2, 0.041), (4, 0.043), (8, 0.05)))
        with qtbot.waitSignal(harness.models.models_changed):
            harness.engine.tell(None, ModelMeasured(main.folder, times))  # unasked
        assert re.search(r"about \d\.\d× in chats \(estimate\)", detail(drafter.name))
        assert "estimate" not in detail(DRAFT.name)  # nobody told how far it is right
        with qtbot.waitSignal(harness.models.models_changed):
            harness.models.library.note_gain(main.folder, drafter.folder, 1.7, of_race=True)
        assert detail(drafter.name).endswith("1.7× on this Mac"), "one figure: what was measured here"
        partner = harness.models.library.gain(names[main.folder], names[drafter.folder])
        assert partner == harness.models.library.gain_of(main.folder, drafter.folder)


def test_a_draft_that_loses_is_not_loaded_with_its_main_model(harness: ControllerHarness) -> None:
    """Not by itself: whoever chooses it has it."""
    library = harness.models.library
    library.note_gain(MAIN.folder, DRAFT.folder, 0.69)
    assert not harness.models.records.get(MAIN.folder, DRAFT.folder).loses, "one reply is no proof"
    library.note_gain(MAIN.folder, DRAFT.folder, 0.69, of_race=True)
    choice = next(each for each in harness.models.drafts_for_main() if each.model.folder == DRAFT.folder)
    assert gain_figure(choice.gain) == "slower"
    assert "slower here (0.69×)" in draft_details(choice.extra_bytes, choice.gain)

    choose_main(harness, MIDDLE.folder, comes_with=DRAFT.folder)
    choose_main(harness, MAIN.folder, comes_with="")
    harness.models.choose_draft(DRAFT.folder)
    harness.wait_for_pair()
    assert harness.models.pair.draft_folder == DRAFT.folder


def _is_checked(models: ModelController, folder: str) -> bool:
    return any(choice.check is not None for choice in models.drafts_for_main() if choice.model.folder == folder)


def test_a_drafter_is_offered_as_a_draft_only(with_drafter: ControllerHarness, qtbot: QtBot) -> None:
    theme = Theme()
    window = ShellWindow(theme)
    qtbot.addWidget(window)
    models = with_drafter.models
    picker = Picker(theme, window, models, with_drafter.controller)

    picker.fill()

    assert [option.text for option in options_of(picker.mains)] == ["Main 8B", "Used as drafts", "Draft 1B"]
    drafts = ["Main 8B DFlash", "Chat models", "Draft 1B", "Compatible", "Main2 8B DFlash"]
    refused = ["Not compatible", "Drafters", "Other", "Chat models", "Main 8B"]
    assert [option.text for option in options_of(picker.drafts)][1:] == ["Recommended", "Drafters", *drafts, *refused]
    details = {option.text: option.detail for option in options_of(picker.drafts)}
    assert details["Main 8B DFlash"].startswith("DFlash drafter · ")
    for name, said in (("Main-8B-DFlash", "Made for this main model"), ("Main2-8B-DFlash", "Named after another")):
        folder = f"/models/{name}"
        models.choose_draft(folder)
        models.check_pair(folder)
        qtbot.waitUntil(partial(_is_checked, models, folder))
        picker.fill()
        assert said in picker.note.text()


def test_a_main_model_with_a_head_of_its_own_is_offered_it(tmp_path: Path, qtbot: QtBot) -> None:
    head = DrafterInfo("mtp", 0, 0, 0, ())
    main = replace(MAIN, own_drafter=head)
    models = {main.folder: main, DRAFT.folder: DRAFT}
    with open_harness(tmp_path, qtbot, models=models, installed=[installed(main), installed(DRAFT)]) as harness:
        harness.models.start()
        qtbot.waitUntil(lambda: bool(harness.models.models))
        harness.models.choose_main(main.folder)
        harness.wait_for_pair()
        choices = {choice.model.name: choice for choice in harness.models.drafts_for_main()}

    assert choices["Main-8B"].group is DraftGroup.RECOMMENDED
    assert choices["Main-8B"].model.drafter == "mtp"
    assert harness.models.pair.draft_folder == main.folder
    assert [model.drafter for model in harness.models.models] == [None, None]


# Coming and going


def test_another_main_model_waits_for_the_reply(harness: ControllerHarness, qtbot: QtBot) -> None:
    """It is said, nothing is lost, and the model follows when the reply has ended."""
    said: list[str] = []
    harness.models.main_waits.connect(said.append)
    harness.engine.gate.hold()
    harness.chat.send("Hello")
    loads = len(harness.engine.loads)
    harness.models.choose_main(DRAFT.folder)
    harness.models.choose_main(MAIN.folder)  # on second thoughts: all stays as it is
    harness.models.choose_main(DRAFT.folder)
    assert said == ["Draft-1B", "Draft-1B"]
    assert len(harness.engine.loads) == loads
    harness.engine.gate.open()
    qtbot.waitUntil(lambda: harness.models.pair.main_name == "Draft-1B" and harness.models.pair.state == "ready")
    assert harness.rows[-1].status is ReplyStatus.DONE


def test_a_model_deleted_while_it_is_loaded_leaves_nothing(harness: ControllerHarness, qtbot: QtBot) -> None:
    """Where no pair comes with the app; what the engine still says of it is of no model that is wanted."""
    harness.models.choose_main(OTHER_MAIN.folder)
    harness.models.delete(OTHER_MAIN.folder)
    qtbot.waitUntil(lambda: "Other-9B" not in [model.name for model in harness.models.models])
    qtbot.waitUntil(lambda: harness.engine.state().main is None and harness.engine.state().loading_main is None)
    main, folder = ModelRole.MAIN, OTHER_MAIN.folder
    late = ModelLoading(main, folder), ModelFailed(main, folder, LoadAborted(folder)), ModelUnloaded(main)
    for event in late:
        harness.bridge.event_arrived.emit(event)
    assert (harness.models.pair.state, harness.models.can_reply) == (PairState.NO_MODEL, False)


def update(harness: ControllerHarness, folder: str, changed: bool = True) -> None:
    harness.bridge.event_arrived.emit(DownloadFinished(DownloadId(99), "org/x", folder, changed))


def outdated(harness: ControllerHarness) -> list[str]:
    return [model.folder for model in harness.models.models if model.is_outdated]


def test_an_updated_model_is_reloaded_when_asked_and_cuts_no_reply(harness: ControllerHarness, qtbot: QtBot) -> None:
    update(harness, MAIN.folder, changed=False)
    update(harness, OTHER_MAIN.folder)
    assert outdated(harness) == []
    harness.engine.gate.hold()
    harness.chat.send("Hello")
    loads = len(harness.engine.loads)
    update(harness, MAIN.folder)
    assert outdated(harness) == [MAIN.folder]
    harness.models.reload(MAIN.folder)
    assert len(harness.engine.loads) == loads
    harness.engine.gate.open()
    qtbot.waitUntil(lambda: len(harness.engine.loads) > loads)
    harness.wait_for_pair()
    harness.wait_until_quiet()
    assert harness.rows[-1].status is ReplyStatus.DONE
    assert harness.engine.loads[loads:] == [(MAIN.folder, DRAFT.folder)]
    assert outdated(harness) == []

    loads = len(harness.engine.loads)
    update(harness, DRAFT.folder)
    assert outdated(harness) == [DRAFT.folder]
    harness.models.reload(DRAFT.folder)
    harness.wait_for_pair()
    assert outdated(harness) == []
    assert len(harness.engine.loads) == loads
    assert harness.models.pair.draft_state == "active"


def test_a_draft_that_is_chosen_for_an_unloaded_pair_comes_with_it(harness: ControllerHarness, qtbot: QtBot) -> None:
    harness.models.choose_draft(None)
    harness.models.eject()
    qtbot.waitUntil(lambda: harness.engine.state().main is None)
    harness.models.choose_draft(DRAFT.folder)
    assert str(harness.models.pair.state) == "unloaded"
    assert harness.chat.send("Hello")
    qtbot.waitUntil(lambda: harness.rows[-1].status is ReplyStatus.DONE)
    qtbot.waitUntil(lambda: harness.models.pair.draft_state == "active")
    assert harness.notices == []


def test_an_idle_pair_is_unloaded_only_when_that_was_asked_for(harness: ControllerHarness, qtbot: QtBot) -> None:
    idle = harness.models.idle_timer
    assert not idle.isActive()
    harness.settings.unload_after_min = 5
    assert idle.isActive()
    assert idle.interval() == 5 * 60_000
    harness.engine.gate.hold()
    harness.chat.send("Hello")
    qtbot.waitUntil(lambda: not idle.isActive())
    idle.timeout.emit()
    assert str(harness.models.pair.state) == "ready"
    harness.engine.gate.open()
    qtbot.waitUntil(idle.isActive)
    idle.timeout.emit()
    assert str(harness.models.pair.state) == "unloaded"
    harness.settings.unload_after_min = 0
    assert not idle.isActive()


def test_what_is_told_late_of_a_former_main_model_is_not_taken_for_the_present_one(harness: ControllerHarness) -> None:
    """It was on its way to the window when the other one was chosen."""
    harness.bridge.post(ModelFailed(ModelRole.MAIN, BROKEN.folder, ModelNotFound(BROKEN.folder)))
    harness.models.choose_main(MIDDLE.folder)
    harness.wait_for_pair()
    assert (harness.models.pair.state, harness.models.pair.error) == (PairState.READY, None)
    settings = harness.settings.main_folder, harness.settings.draft_folder
    harness.bridge.post(ModelReady(ModelRole.MAIN, OTHER_MAIN))
    harness.models.choose_pair(BROKEN.folder, OTHER.folder)
    harness.wait_for_pair()
    assert (harness.settings.main_folder, harness.settings.draft_folder) == settings


def test_what_is_told_late_of_a_former_draft_is_not_taken_for_the_present_one(harness: ControllerHarness) -> None:
    """It would stand on the chip, as the one that drafts or as one that is refused, until the next is loaded."""
    models, bridge = harness.models, harness.bridge
    harness.engine.gate.hold()
    harness.chat.new_chat()
    harness.chat.send("Hello")  # drafts come after it
    models.choose_draft(OTHER.folder)
    models.choose_draft(DRAFT.folder)
    for late in (ModelReady(ModelRole.DRAFT, OTHER), ModelFailed(ModelRole.DRAFT, OTHER.folder, ModelNotFound("x"))):
        bridge.event_arrived.emit(late)
        assert (models.pair.draft_folder, models.pair.draft_state) == (DRAFT.folder, "loading")
    assert harness.notices == []
    harness.engine.gate.open()
    harness.wait_for_pair()
    assert models.pair.draft_state == "active"


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
