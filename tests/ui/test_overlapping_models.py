"""Acts on models, downloads and machines that overlap: the later choice holds, no answer or button acts on another
thing than it was for, and nothing that is typed goes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.controllers import machines as machines_controller
from app.view_models.chat_options import Scope
from app.view_models.downloads import DownloadState
from app.view_models.machines import AskingState
from app.view_models.model_list import DraftState, PairState, UpkeepState
from app.views.settings.machines import MachinesPage
from engine import DownloadId, DownloadStopped, ModelInfo, ModelLibrary, OutOfMemory, Sink, UpdateChecked
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import DRAFT, MAIN, model_info
from tests.helpers.fake_model_store import FakeModelStore, installed
from tests.helpers.stillness import still
from tests.ui.test_message_editing import id_of
from tests.ui.test_overlapping_acts import disk
from tests.ui.test_overlapping_acts import held as held_thread

OTHER = model_info("/models/Other-4B", 4_000_000_000)
SMALL = model_info("/models/Small-1B", 700_000_000)
_BIG = "org/Big-9B"
_EARLIER = DownloadId(99)


@pytest.fixture
def four(tmp_path: Path, qtbot: QtBot) -> Iterator[AppHarness]:
    """With two main models and two drafts."""
    infos: Sequence[ModelInfo] = (MAIN, DRAFT, OTHER, SMALL)
    models = {info.folder: info for info in infos}
    with open_app(tmp_path, qtbot, models=models, installed=[installed(info) for info in infos]) as app:
        yield app


@contextmanager
def held(store: FakeModelStore) -> Iterator[None]:
    """Meanwhile the model store does nothing of what it is asked from now on."""
    gate = threading.Event()

    def wait() -> None:
        gate.wait()

    store._commands.put(wait)
    try:
        yield
    finally:
        gate.set()


def wait_until_loaded(app: AppHarness, qtbot: QtBot) -> None:
    qtbot.waitUntil(app.is_settled)
    still()


def pair(app: AppHarness) -> tuple[str, str]:
    return app.models.pair.main_folder, app.models.pair.draft_folder


# Choosing


def test_a_pair_that_is_chosen_takes_the_place_of_a_model_that_waits(four: AppHarness, qtbot: QtBot) -> None:
    four.engine.gate.hold()
    four.window.composer.send("Question")
    qtbot.waitUntil(lambda: bool(four.engine.state().running))
    four.models.choose_main(OTHER.folder)
    four.models.choose_pair(MAIN.folder, SMALL.folder)
    four.engine.gate.open()
    four.wait_until_quiet(qtbot)
    wait_until_loaded(four, qtbot)
    assert pair(four) == (MAIN.folder, SMALL.folder)
    assert "Other 4B" not in four.window.banner.accessibleName()


def test_a_model_that_is_chosen_while_a_used_download_is_looked_for_stays(four: AppHarness, qtbot: QtBot) -> None:
    new = model_info("/models/New-2B", 2_000_000_000)
    four.engine.models[new.folder] = new
    download = four.models.install("org/New-2B")
    with held(four.store):
        qtbot.waitUntil(lambda: bool(four.models.downloads.folders(download)))
        four.models.use_downloaded(download)
        four.models.choose_main(OTHER.folder)
        wait_until_loaded(four, qtbot)
    qtbot.waitUntil(lambda: four.models.info_of(new.folder) is not None)
    wait_until_loaded(four, qtbot)
    assert four.models.pair.main_folder == OTHER.folder


@pytest.mark.parametrize("part", ["main", "draft"])
def test_try_again_is_about_what_was_refused(four: AppHarness, qtbot: QtBot, part: str) -> None:
    """The pair before, or another draft that was chosen, is loaded meanwhile."""
    refused = OTHER if part == "main" else SMALL
    four.engine.models[refused.folder] = OutOfMemory("")
    if part == "main":
        four.models.choose_pair(OTHER.folder, SMALL.folder)
    else:
        four.models.choose_draft(SMALL.folder)
    qtbot.waitUntil(four.window.banner.isVisible)
    if part == "draft":
        four.models.choose_draft(DRAFT.folder)
    wait_until_loaded(four, qtbot)
    assert pair(four) == (MAIN.folder, DRAFT.folder)
    four.engine.models[refused.folder] = refused
    assert four.window.banner.button.text() == "Try again"
    four.window.banner.button.click()
    wait_until_loaded(four, qtbot)
    assert pair(four) == ((OTHER if part == "main" else MAIN).folder, SMALL.folder)
    assert (four.models.pair.state, four.models.pair.draft_state) == (PairState.READY, DraftState.ACTIVE)


def test_undo_turns_drafting_on_for_the_pair_that_it_was_turned_off_for(four: AppHarness, qtbot: QtBot) -> None:
    records = four.models.records
    records.put_off(OTHER.folder, DRAFT.folder, True)
    four.window.speculation.turn_off()
    four.models.choose_pair(OTHER.folder, DRAFT.folder)
    wait_until_loaded(four, qtbot)
    four.window.banner.button.click()
    assert not records.get(MAIN.folder, DRAFT.folder).off
    assert records.get(OTHER.folder, DRAFT.folder).off


def test_undo_of_a_fixed_length_leaves_a_pair_off_that_was_chosen_since(four: AppHarness, qtbot: QtBot) -> None:
    four.models.records.put_off(OTHER.folder, DRAFT.folder, True)
    four.models.choose_speculation("fixed", 4)
    four.models.choose_pair(OTHER.folder, DRAFT.folder)
    wait_until_loaded(four, qtbot)
    four.window.banner.button.click()
    assert four.application.settings.speculation_mode == "auto"
    assert four.models.records.get(OTHER.folder, DRAFT.folder).off


# Who writes a reply


def written_by(app: AppHarness, qtbot: QtBot) -> set[str]:
    """On the screen, on the disk and in the table of requests."""
    app.wait_until_quiet(qtbot)
    shown = app.chats.transcript.messages[-1]
    stored = app.application.storage.read.messages.message(shown.id)
    assert stored is not None
    (row,) = app.chats.requests.rows
    return {shown.model, stored.main_name, row.pair.split(" ")[0]}


def test_a_reply_that_was_asked_of_a_model_that_does_not_load_names_the_one_that_writes_it(
    four: AppHarness, qtbot: QtBot
) -> None:
    four.engine.models[OTHER.folder] = OutOfMemory("")
    four.models.choose_main(OTHER.folder)
    four.window.composer.send("Question")
    qtbot.waitUntil(lambda: len(four.chats.transcript.messages) == 2)
    assert written_by(four, qtbot) == {MAIN.name}


def test_a_reply_names_the_model_that_was_chosen_while_its_question_was_stored(four: AppHarness, qtbot: QtBot) -> None:
    with held_thread(disk(four)):
        four.window.composer.send("Question")
        four.models.choose_main(OTHER.folder)
        wait_until_loaded(four, qtbot)
    qtbot.waitUntil(lambda: len(four.chats.transcript.messages) == 2)
    assert written_by(four, qtbot) == {OTHER.name}


# Downloads


class _EarlierDownload(AppHarness):
    """An earlier run has left a download that ran; the first scan is held until `scanned` is set."""

    def __init__(self, folder: Path) -> None:
        self.scanned = threading.Event()
        super().__init__(folder, put_settings={"going_downloads": (f"{_BIG} main",)})

    def _make_store(self, folder: Path, sink: Sink, starter: Path) -> ModelLibrary:
        store = super()._make_store(folder, sink, starter)
        self.store.gate.hold()
        self.store._repositories[_EARLIER] = _BIG
        self.store._commands.put(lambda: sink(DownloadStopped(_EARLIER, _BIG, 10, 100)))
        self.store._commands.put(self._wait)
        return store

    def _wait(self) -> None:
        self.scanned.wait()


@pytest.mark.parametrize("act", ["cancel", "pause"])
def test_a_download_that_is_ended_before_the_first_scan_does_not_go_on(tmp_path: Path, qtbot: QtBot, act: str) -> None:
    with _EarlierDownload(tmp_path) as app:
        try:
            with qtbot.waitSignal(app.application.opened):
                app.application.show()
            downloads = app.models.downloads
            qtbot.waitUntil(lambda: bool(downloads.entries))
            (row,) = downloads.entries
            if act == "cancel":
                downloads.cancel(row.id)
            else:
                downloads.resume(row.id)
                downloads.pause(row.id)
            before = list(app.store.asked)
        finally:
            app.scanned.set()
        qtbot.waitUntil(app.is_settled)
        still()
        assert app.store.asked == before
        assert [entry.state for entry in downloads.entries] == ([] if act == "cancel" else [DownloadState.PAUSED])
        assert app.application.settings.going_downloads == ()


def test_an_answer_about_an_update_changes_no_model_that_is_being_deleted(four: AppHarness, qtbot: QtBot) -> None:
    library = four.models.library
    answers: list[UpdateChecked] = []

    def note(event: object) -> None:
        if isinstance(event, UpdateChecked):
            answers.append(event)

    four.application.bridge.event_arrived.connect(note)
    with held(four.store):
        library.check_for_update(OTHER.folder)
        four.models.delete(OTHER.folder)
        assert library.upkeep(OTHER.folder).state is UpkeepState.DELETING
        four.application.bridge.post(UpdateChecked(OTHER.folder, "org/Other-4B"))
        qtbot.waitUntil(lambda: bool(answers))
        assert library.upkeep(OTHER.folder).state is UpkeepState.DELETING


# Windows


def test_a_race_of_another_reply_takes_the_place_of_the_one_that_runs(four: AppHarness, qtbot: QtBot) -> None:
    four.ask(qtbot, "First")
    four.ask(qtbot, "Second")
    race, asked = four.application.speculation.race, four.engine.requests
    four.engine.gate.hold()
    four.window.speculation.open_race(id_of(four, 1))
    qtbot.waitUntil(lambda: race.under_way and asked[-1].background)
    four.window.speculation.open_race(id_of(four, 3))
    four.wait_until_stored(qtbot)
    still()
    assert asked[-1].messages[-1].content == "Second"
    window = four.window.speculation.race_window
    assert window is not None
    window.close()
    four.engine.gate.open()


def test_a_preset_is_not_named_in_another_chat(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "First")
    first = app.chats.chat_id
    app.chats.options.put(Scope.CHAT, "temperature", 1.5)
    app.window.chat_settings.toggle_panel()
    presets = app.window.chat_settings.panel.presets
    presets.begin_naming("")
    QTest.keyClicks(presets.name, "Warm")
    app.chats.new_chat()
    app.window.chat_settings.toggle_panel()
    still()
    assert presets.choice.isVisible()
    assert not presets.name.isVisible()
    app.chats.open_chat(first)
    app.window.chat_settings.toggle_panel()
    presets.begin_naming("")
    QTest.keyClicks(presets.name, "Warm")
    QTest.keyClick(presets.name, Qt.Key.Key_Return)
    assert [each["values"] for each in app.chats.options.presets.all()] == [{"temperature": 1.5}]


def test_what_is_typed_to_pair_with_a_second_mac_stays_when_the_first_is_paired(
    app: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()

    def paired(*_arguments: object) -> SimpleNamespace:
        gate.wait()
        return SimpleNamespace(name="Studio")

    monkeypatch.setattr(machines_controller, "pair_machines", paired)
    page = app.open_page(MachinesPage)
    card = page.pairing
    try:
        QTest.keyClicks(card.address, "10.0.0.1")
        QTest.keyClicks(card.code, "11111111")
        card.pair.click()
        page.nearby.chosen.emit(("10.0.0.2",))
        QTest.keyClicks(card.code, "2222")
    finally:
        gate.set()
    qtbot.waitUntil(lambda: app.application.machines.pairing.state is AskingState.DONE)
    assert (card.address.text(), card.code.text()) == ("10.0.0.2", "2222")
