"""Tuning a pair through an engine: it gives way to people, stops at once, and keeps only what wins."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.controllers.tuning import PASSES, TuningController
from app.storage import ReplyStatus
from app.storage.pair_records import PairRecords
from app.system.machine import machine_name
from app.theme import Theme
from app.view_models.tuning import AUTO, WAYS, Content, TuningState, TuningView, Way, mean_gains, ways_shown
from app.views.settings.tune import TuneCard, tuning_sentence, way_text
from app.words.notices_for_errors import notice_for
from engine import DraftingState, OutOfMemory
from tests.helpers.controller_harness import ControllerHarness, open_harness
from tests.helpers.double_click import double_click
from tests.helpers.fake_engine import DRAFT, MAIN, Script

STEPS = PASSES * len(WAYS) * len(Content)
ROUND_S = 0.25
SECONDS_A_STEP = 11 * ROUND_S  # of twelve rounds; the first one reads the prompt


class TuningSetup:
    def __init__(self, harness: ControllerHarness, folder: Path) -> None:
        self.harness = harness
        self.records = PairRecords(folder / "pairs.json", machine_name())
        self.tuning = TuningController(
            harness.engine,
            harness.bridge,
            harness.models,
            self.records,
            lambda: "ko",
            harness.models,
        )

    def script(self, seconds: dict[str, float], ways: Sequence[Way] = WAYS) -> None:
        """What a round takes in each way, by mode and number."""
        for _ in range(PASSES * len(Content)):
            for way in ways:
                name = f"{way.mode}{way.tokens or ''}"
                self.harness.engine.scripts.append(
                    Script(("a",) * 12, drafting=DraftingState.ACTIVE, round_s=seconds.get(name, 0.1))
                )


@pytest.fixture
def setup(tmp_path: Path, qtbot: QtBot) -> Iterator[TuningSetup]:
    with open_harness(tmp_path, qtbot) as harness:
        setup = TuningSetup(harness, tmp_path)
        harness.models.choose_main(MAIN.folder)
        qtbot.waitUntil(lambda: harness.models.pair.state == "ready")
        harness.models.choose_draft(DRAFT.folder)
        qtbot.waitUntil(lambda: setup.tuning.view.can_start and harness.models.pair.draft_state == "active")
        yield setup


def test_each_way_is_measured_on_each_text_and_the_person_s_choice_stays(setup: TuningSetup, qtbot: QtBot) -> None:
    setup.script({"off": 0.05, "fixed4": 0.02, "auto": 0.05})
    setup.tuning.start()
    assert setup.tuning.view.state is TuningState.RUNNING
    qtbot.waitUntil(lambda: setup.tuning.view.state is TuningState.DONE)
    view, requests = setup.tuning.view, setup.harness.engine.requests
    assert len(requests) == len(view.readings) == STEPS
    assert {str(request.speculation.mode) for request in requests} == {"off", "fixed", "auto"}
    assert any("등대지기" in request.messages[0].content for request in requests)
    assert view.best == Way("fixed", 4)
    assert view.gain > 2
    assert setup.harness.settings.speculation_mode == "auto"
    assert PairRecords(setup.records._file, machine_name()).get(MAIN.folder, DRAFT.folder).mode == "auto"
    assert json.loads(setup.tuning.as_json())["mode"] == "auto"
    assert tuning_sentence(view).endswith("Auto has learned this.")


def test_longer_drafts_are_tried_as_long_as_each_is_faster(setup: TuningSetup, qtbot: QtBot) -> None:
    longer = [Way("fixed", tokens) for tokens in (12, 16, 24)]
    seconds = {"off": 0.05, "auto": 0.05, "fixed8": 0.04, "fixed12": 0.03, "fixed16": 0.02, "fixed24": 0.025}
    setup.script(seconds)
    for way in longer:
        setup.script(seconds, [way])
    setup.tuning.start()
    qtbot.waitUntil(lambda: setup.tuning.view.state is TuningState.DONE)
    view = setup.tuning.view
    assert len(view.readings) == STEPS + PASSES * len(Content) * len(longer)
    assert view.best == Way("fixed", 16)
    assert ways_shown(view.readings) == (*WAYS[:-1], *longer, AUTO)
    assert list(mean_gains(view.readings)) == list(ways_shown(view.readings))


def test_it_tells_how_long_it_still_takes(setup: TuningSetup, qtbot: QtBot) -> None:
    views: list[TuningView] = []
    setup.tuning.changed.connect(lambda: views.append(setup.tuning.view))
    setup.script({f"{way.mode}{way.tokens or ''}": ROUND_S for way in WAYS})
    setup.tuning.start()
    qtbot.waitUntil(lambda: setup.tuning.view.state is TuningState.DONE)
    told = {view.done_steps: view for view in views if view.state is TuningState.RUNNING}
    assert [told[steps].seconds_left for steps in range(4)] == [None] * 4
    assert [told[steps].seconds_left for steps in range(4, STEPS)] == pytest.approx(
        [SECONDS_A_STEP * (STEPS - steps) for steps in range(4, STEPS)]
    )


@pytest.fixture
def card(setup: TuningSetup, qtbot: QtBot) -> Iterator[TuneCard]:
    window = QWidget()
    qtbot.addWidget(window)
    card = TuneCard(Theme(window), setup.tuning)
    QVBoxLayout(window).addWidget(card)
    window.resize(700, 500)
    window.show()
    yield card
    window.close()


def measured(setup: TuningSetup, card: TuneCard, qtbot: QtBot) -> None:
    setup.script({"off": 0.05, "fixed4": 0.02, "auto": 0.05})
    QTest.mouseClick(card.go_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: setup.tuning.view.state is TuningState.DONE)


def test_a_double_click_on_measure_does_not_stop_it(setup: TuningSetup, card: TuneCard, qtbot: QtBot) -> None:
    setup.script({})
    setup.harness.engine.gate.hold()
    double_click(card.go_button)
    assert setup.tuning.view.state is TuningState.RUNNING
    setup.harness.engine.gate.open()
    qtbot.waitUntil(lambda: setup.tuning.view.state is TuningState.DONE)


def test_what_was_measured_is_told_to_those_who_do_not_see_it_and_exported_to_a_file(
    setup: TuningSetup, card: TuneCard, qtbot: QtBot, tmp_path: Path
) -> None:
    assert not card.chart.isVisible()
    assert not card.export_button.isVisible()
    measured(setup, card, qtbot)
    qtbot.waitUntil(card.chart.isVisible)
    gains = mean_gains(setup.tuning.view.readings)
    assert max(gains, key=gains.__getitem__) == Way("fixed", 4)
    told = dict(part.split(": ") for part in card.chart.accessibleName().split(", "))
    assert told == {way_text(way): f"{gain:.2f}×" for way, gain in gains.items()}

    assert card.export_button.isVisible()
    QTest.mouseClick(card.export_button, Qt.MouseButton.LeftButton)
    (dialog,) = card.findChildren(QFileDialog)
    file = tmp_path / "pair.json"
    dialog.setDirectory(str(tmp_path))
    dialog.selectFile(file.name)
    dialog.accept()
    content = json.loads(file.read_text("utf-8"))
    assert (content["main"], content["draft"]) == ("Main-8B", "Draft-1B")
    assert MAIN.folder not in file.read_text("utf-8")  # where it lies has the person's name in it
    assert content["mode"] == "auto"
    rows = {(row["content"], row["mode"], row["tokens"]) for row in content["measured"]}
    assert len(rows) == len(WAYS) * len(Content)
    assert content["tuned_gain"] > 2
    card.export_to(str(tmp_path / "no" / "such" / "folder.json"))
    assert "no longer exists. Choose another place." in card.sentence.text()


def test_where_nothing_wins_it_says_so_and_leaves_auto(setup: TuningSetup, qtbot: QtBot) -> None:
    setup.script({"off": 0.01})
    setup.tuning.start()
    qtbot.waitUntil(lambda: setup.tuning.view.state is TuningState.DONE)
    assert setup.tuning.view.best is None
    assert 0 < setup.tuning.view.gain < 1
    assert setup.harness.settings.speculation_mode == "auto"


def test_a_reply_that_fails_is_told(setup: TuningSetup, card: TuneCard, qtbot: QtBot) -> None:
    setup.harness.engine.scripts.append(Script(("a",), error=OutOfMemory("")))
    QTest.mouseClick(card.go_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: setup.tuning.view.error is not None)
    assert setup.tuning.view.state is TuningState.IDLE
    assert "a reply failed" in card.sentence.text()
    assert notice_for(OutOfMemory("")).sentence in card.sentence.text()
    measured(setup, card, qtbot)
    assert setup.tuning.view.error is None
    best = card.sentence.text()
    assert best.startswith("Fastest:")
    setup.harness.engine.scripts.append(Script(("a",), error=OutOfMemory("")))
    QTest.mouseClick(card.go_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: setup.tuning.view.error is not None)
    assert card.sentence.text().endswith(best)  # what an earlier measurement found is kept
    assert "a reply failed" in card.sentence.text()


def test_replies_that_are_too_short_to_measure_are_told(setup: TuningSetup, card: TuneCard, qtbot: QtBot) -> None:
    setup.harness.engine.scripts += [Script(("a",)) for _ in range(STEPS)]
    QTest.mouseClick(card.go_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: setup.tuning.view.too_short)
    assert len(setup.harness.engine.requests) == STEPS
    assert "too short" in card.sentence.text()
    assert setup.records.get(MAIN.folder, DRAFT.folder).mode == ""
    assert setup.harness.settings.speculation_mode == "auto"


def test_a_persons_reply_goes_first(setup: TuningSetup, qtbot: QtBot) -> None:
    """The request under way is paused at once, and counts when it has gone on to its end."""
    harness = setup.harness
    harness.engine.gate.hold()
    setup.tuning.start()
    harness.engine.gate.let_through(2)
    harness.chat.new_chat()
    harness.chat.send("Hello")
    qtbot.waitUntil(lambda: setup.tuning.view.state is TuningState.WAITING)
    qtbot.waitUntil(lambda: bool(harness.texts))
    assert setup.tuning.view.done_steps == 0
    harness.engine.gate.let_through(10)
    qtbot.waitUntil(lambda: setup.tuning.view.done_steps > 0)
    assert harness.rows[-1].status is ReplyStatus.DONE
    first, reply, second = harness.engine.requests[:3]
    assert reply.messages[-1].content == "Hello"
    assert first.speculation != second.speculation
    setup.tuning.cancel()
    harness.engine.gate.open()
    qtbot.waitUntil(lambda: not harness.engine.state().running)


def test_it_is_cancelled_at_once_and_keeps_what_was_known(setup: TuningSetup, qtbot: QtBot) -> None:
    engine = setup.harness.engine
    engine.gate.hold()
    setup.tuning.start()
    qtbot.waitUntil(lambda: bool(engine.state().queued or engine.state().running))
    setup.tuning.cancel()
    assert setup.tuning.view.state is TuningState.IDLE
    qtbot.waitUntil(lambda: not engine.state().queued and not engine.state().running)
    engine.gate.open()
    assert len(engine.requests) == 1
    engine.gate.hold()
    setup.tuning.start()
    engine.gate.let_through(12)
    qtbot.waitUntil(lambda: setup.tuning.view.done_steps > 1)
    setup.harness.models.choose_draft(None)
    qtbot.waitUntil(lambda: setup.tuning.view.state is TuningState.IDLE)
    assert not setup.tuning.view.can_start
    engine.gate.open()


def test_a_title_is_asked_for_between_two_measurements_and_neither_stops_the_other(
    setup: TuningSetup, qtbot: QtBot
) -> None:
    harness = setup.harness
    harness.settings.automatic_titles = True
    harness.engine.gate.hold()
    setup.tuning.start()
    assert harness.chat.send("why is the sky blue")
    harness.engine.gate.open()
    qtbot.waitUntil(lambda: setup.tuning.view.too_short)  # it went through to the end
    assert sum(request.transient for request in harness.engine.requests) == 1
    assert len(harness.engine.requests) == STEPS + 2
    harness.wait_until_quiet()
    assert harness.titles() == ["A draft guesses, the main model checks"]


def test_what_a_former_try_has_measured_counts_for_nothing(setup: TuningSetup, qtbot: QtBot) -> None:
    """Its end was on its way to the window when that was stopped and begun again."""
    setup.harness.engine.scripts.append(Script(("a",) * 12, round_s=0.001))
    setup.script({"off": 0.05, "fixed4": 0.02, "auto": 0.05})
    setup.tuning.start()
    while setup.harness.engine.state().running or setup.harness.engine.state().queued:
        time.sleep(0.001)
    setup.tuning.cancel()
    setup.tuning.start()
    qtbot.waitUntil(lambda: setup.tuning.view.state is TuningState.DONE)
    assert len(setup.harness.engine.requests) == STEPS + 1
    assert setup.tuning.view.best == Way("fixed", 4)


def test_an_export_that_the_disk_refuses_leaves_what_was_there(
    setup: TuningSetup, card: TuneCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pair.json"
    file.write_text("former")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as disk:  # no longer: the settings are saved while the test ends
        disk.setattr(os, "fsync", full)
        card.export_to(str(file))
    assert (file.read_bytes(), [each.name for each in tmp_path.glob("*pair.json*")]) == (b"former", ["pair.json"])
    assert "is full" in card.sentence.text()


def test_nothing_is_measured_while_the_draft_is_on_its_way(setup: TuningSetup, qtbot: QtBot) -> None:
    """Until it is there the one before it drafts, or none: what was measured would be put down to the wrong pair."""
    harness = setup.harness
    harness.engine.gate.hold()
    harness.chat.new_chat()
    harness.chat.send("Hello")
    harness.models.choose_draft(None)
    harness.models.choose_draft(DRAFT.folder)  # which comes after the reply
    assert harness.models.pair.draft_state == "loading"
    assert not setup.tuning.view.can_start
    setup.tuning.start()
    harness.engine.gate.open()
    qtbot.waitUntil(lambda: setup.tuning.view.can_start)
    assert setup.tuning.view.state is TuningState.IDLE
    assert len(harness.engine.requests) == 1


def test_a_model_that_is_only_measured_can_be_deleted(setup: TuningSetup, qtbot: QtBot) -> None:
    harness = setup.harness
    harness.engine.gate.hold()
    setup.tuning.start()
    qtbot.waitUntil(lambda: bool(harness.engine.state().running))
    harness.models.delete(MAIN.folder)
    qtbot.waitUntil(lambda: "Main-8B" not in [model.name for model in harness.models.models])
    harness.engine.gate.open()
    qtbot.waitUntil(lambda: setup.tuning.view.state is TuningState.IDLE and not harness.engine.state().running)
    assert not harness.problems
    assert harness.models.pair.main_folder != MAIN.folder


def test_while_another_draft_loads_nothing_is_told_of_the_one_before_it(
    setup: TuningSetup, card: TuneCard, qtbot: QtBot, tmp_path: Path
) -> None:
    """Its speeds are not the next one's; and that a draft is missing is not true either."""
    measured(setup, card, qtbot)
    models, gate = setup.harness.models, setup.harness.engine.gate
    gate.hold()
    setup.harness.chat.new_chat()
    setup.harness.chat.send("Hello")  # drafts come after it
    models.choose_draft(MAIN.folder)  # which nobody has measured
    assert models.pair.draft_state == "loading"
    assert card.sentence.text() == "Loading this pair…"
    assert not card.go_button.isEnabled()
    assert not card.chart.isVisible()
    assert not card.export_button.isVisible()
    models.choose_draft(DRAFT.folder)
    assert card.sentence.text().startswith("Loading this pair")
    assert "Fastest:" in card.sentence.text()  # as it was measured before
    card.export_to(str(tmp_path / "pair.json"))
    assert json.loads((tmp_path / "pair.json").read_text("utf-8"))["draft"] == "Draft-1B"
    gate.open()
    qtbot.waitUntil(lambda: setup.tuning.view.can_start)
    assert card.sentence.text().startswith("Fastest:")
    models.choose_draft(None)
    qtbot.waitUntil(lambda: not card.chart.isVisible())
    assert card.sentence.text() == "Load a pair first."
