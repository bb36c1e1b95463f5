"""Races through the whole window: what is asked of the engine, what is shown of it, and how they end."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.controllers.race import Race
from app.storage import ReplyStatus
from app.view_models.chat_options import Scope
from app.view_models.race import RaceState, RaceView, Verdict
from app.view_models.race_times import LEAST_PAIRS, RaceTimes
from app.views.activity.race_window import RaceText, RaceWindow, figure_text, race_sentence
from app.views.transcript.message_footer import RACE
from app.words.model_names import pair_name
from app.words.replies import factor_text
from engine import ContextTooLong, DraftingState, Request, RequestStats, SpeculationMode
from tests.helpers.app_harness import AppHarness
from tests.helpers.double_click import double_click
from tests.helpers.fake_engine import DRAFT, MAIN, ROUND_S, Script
from tests.helpers.stillness import still

WORDS = ("a word ",) * 14
LAPS = 1 + 2 * LEAST_PAIRS  # the first is not timed


@pytest.fixture
def app(app: AppHarness) -> AppHarness:
    app.application.settings.overlay_explained = True
    return app


def race_of(app: AppHarness, qtbot: QtBot) -> Race:
    app.ask(qtbot, "One?")
    app.engine.requests.clear()
    app.engine.scripts.extend([Script(WORDS)] * 60)
    return app.application.speculation.race


def window_of(app: AppHarness) -> RaceWindow:
    window = app.window.speculation.race_window
    assert window is not None
    return window


def open_race(app: AppHarness) -> RaceWindow:
    app.window.speculation.open_race(app.chats.transcript.messages[-1].id)
    return window_of(app)


def request_of(app: AppHarness) -> Request:
    asked: list[Request | None] = []
    app.chats.asking.request_of(app.chats.transcript.messages[-1].id, asked.append)
    (request,) = asked
    assert request is not None
    return request


def test_both_ways_run_in_turns_until_the_clock_is_sure(app: AppHarness, qtbot: QtBot) -> None:
    race = race_of(app, qtbot)
    QTest.keyClick(app.window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: race.view.state is RaceState.DONE)
    auto, off = SpeculationMode.AUTO, SpeculationMode.OFF
    requests = app.engine.requests
    assert [each.speculation.mode for each in requests] == [auto, off, auto, auto, off, off, auto]
    assert {each.sampling for each in requests} == {requests[0].sampling}
    assert requests[0].sampling.seed is not None
    assert {each.messages for each in requests} == {requests[0].messages}
    assert requests[0].messages[-1].content == "One?"
    assert all(each.background for each in requests)

    # The scripted engine takes the same time for a round either way, and writes 49 tokens in 14 rounds with a draft.
    view = race.view
    assert view.times.pairs == LEAST_PAIRS
    assert view.times.plain_s == pytest.approx([ROUND_S] * LEAST_PAIRS)
    assert view.times.factor == pytest.approx(view.times.plain_s[0] / view.times.drafted_s[0])
    window = window_of(app)
    assert window.figure.text() == factor_text(view.times.factor or 0.0) == "3.7× faster"
    assert "differ from token 15" in window.sentence.text()
    assert window.text.text.toPlainText() == "".join(WORDS), "the text is shown once"
    plain, drafted = window.bars.figures
    assert plain == "0.78 s · 17 tok/s"
    assert drafted.endswith("s · 62 tok/s")
    assert plain in window.bars.accessibleName()
    assert window.sentence.text().startswith("Median of 3 pairs of laps.")
    (source, longer), *_ = app.engine.races
    assert source == "draft model"
    says = (view.drafted.tokens_per_pass or 0.0) / (view.drafted.break_even or 1.0)
    assert longer == pytest.approx(says / (view.times.factor or 1.0)), "the next footer says the same"
    gain = app.models.records.get(MAIN.folder, DRAFT.folder).gain
    assert gain == pytest.approx(view.times.factor, rel=0.2), "the pair's figure has learnt it"


def test_the_bars_are_whole_at_the_least_size_with_the_largest_text(app: AppHarness, qtbot: QtBot) -> None:
    race_of(app, qtbot)
    window = open_race(app)
    app.application.settings.text_scale = 2.0
    window.resize(window.minimumSize())
    still()
    assert window.bars.height() >= window.bars.sizeHint().height()
    parts = (window.figure, window.sentence, window.bars, window.text, window.close_button)
    for above, below in pairwise(parts):
        assert above.mapTo(window, above.rect().bottomLeft()).y() < below.mapTo(window, below.rect().topLeft()).y()
    assert window.close_button.mapTo(window, window.close_button.rect().bottomLeft()).y() < window.height()


def test_a_message_has_a_race_and_the_window_ends_it(app: AppHarness, qtbot: QtBot) -> None:
    race = race_of(app, qtbot)
    app.transcript.context.act_requested.emit(app.chats.transcript.messages[-1].id, RACE)  # of the menu of a message
    qtbot.waitUntil(lambda: len(app.engine.requests) == LAPS and race.view.state is RaceState.DONE)

    app.engine.gate.hold()
    app.window.speculation.race.trigger()
    qtbot.waitUntil(lambda: race.under_way)
    shown = window_of(app)
    assert shown.figure.text() == "Measuring…"
    app.window.close_at_once()
    app.engine.gate.open()
    assert not shown.isVisible()
    assert not race.under_way, "it goes on unseen"
    QApplication.sendEvent(shown, QEvent(QEvent.Type.LanguageChange))  # nothing is read of a closed database


def test_where_the_laps_never_agree_nothing_is_said(app: AppHarness, qtbot: QtBot) -> None:
    race = race_of(app, qtbot)
    app.engine.scripts.clear()
    chance = random.Random(1)
    app.engine.scripts.extend(Script(WORDS, round_s=ROUND_S * chance.uniform(0.5, 2)) for _ in range(90))
    window = open_race(app)
    seen: set[str] = set()
    race.changed.connect(lambda: seen.add(window.sentence.text()))
    qtbot.waitUntil(lambda: race.view.state is RaceState.DONE)
    assert race.view.verdict is Verdict.BUSY
    assert "The laps differ, so it takes longer." in seen
    assert window.figure.text() == "Not measured"
    assert window.sentence.text() == "The laps differed too much. Race again when this Mac is idle."
    assert window.bars.figures == ("", "")
    assert app.models.records.get(MAIN.folder, DRAFT.folder).weight < LEAST_PAIRS


def test_where_auto_drafts_nothing_the_race_does(app: AppHarness, qtbot: QtBot) -> None:
    """Else it would compare plain decoding with itself."""
    race = race_of(app, qtbot)
    app.engine.scripts.clear()
    app.engine.scripts.extend([Script(WORDS, drafts=False, round_s=0.04)])
    app.engine.scripts.extend(
        Script(WORDS, round_s=ROUND_S if drafted else 0.01) for drafted in (False, True, True, False, False, True)
    )
    window = open_race(app)
    qtbot.waitUntil(lambda: race.view.state is RaceState.DONE)
    drafted = [each for each in app.engine.requests if each.speculation.mode is SpeculationMode.AUTO]
    assert [each.speculation.insists for each in drafted] == [False, True, True, True]
    assert window.figure.text().endswith("% slower")
    assert window.sentence.text().endswith("So Auto drafts nothing here.")


@pytest.mark.parametrize("state", [DraftingState.FAILED, DraftingState.UNSUPPORTED])
def test_where_nothing_can_be_drafted_the_verdict_says_why(state: DraftingState) -> None:
    stats = RequestStats(generated_tokens=50, rounds=50, decode_s=1.5, drafting=state)
    view = RaceView(RaceState.DONE, tokens=50, drafted=stats, verdict=Verdict.NOTHING_DRAFTED)
    assert figure_text(view) == "Nothing was drafted"
    assert race_sentence(view)


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(
    ("plain_s", "drafted_s", "said"),
    [(0.04, 0.02, "2.0× faster"), (0.02, 0.03, "33% slower"), (0.02, 0.0202, "as fast as without")],
)
def test_the_figure_is_that_of_the_bars(plain_s: float, drafted_s: float, said: str) -> None:
    """Seconds that say 1.8 are never shown beside another figure: both are of its own middle pair."""
    times = RaceTimes((plain_s,) * 3, (drafted_s,) * 3, 9.0)
    view = RaceView(RaceState.DONE, tokens=101, times=times, verdict=Verdict.KNOWN)
    assert figure_text(view) == said
    assert race_sentence(view) == "Median of 3 pair(s) of laps. Same text: 101 token(s)."


def test_the_text_is_followed_though_its_field_becomes_lower(app: AppHarness, qtbot: QtBot) -> None:
    text = RaceText(app.application.theme)
    qtbot.addWidget(text)
    text.resize(300, 200)
    text.show()
    text.show_text("a line\n" * 40)
    still()
    bar = text.text.verticalScrollBar()
    assert 0 < bar.value() == bar.maximum()
    text.resize(240, 120)
    still()
    assert bar.value() == bar.maximum()
    text.show_text("a line\n" * 60)
    still()
    assert bar.value() == bar.maximum()
    bar.setValue(3)
    text.resize(240, 100)
    text.show_text("a line\n" * 80)
    still()
    assert bar.value() == 3, "the reader has scrolled up"


def test_a_reply_of_few_words_is_no_race(app: AppHarness, qtbot: QtBot) -> None:
    race = race_of(app, qtbot)
    app.engine.scripts.clear()
    app.engine.scripts.append(Script(("Yes.",)))
    window = open_race(app)
    qtbot.waitUntil(lambda: race.view.state is RaceState.DONE)
    assert len(app.engine.requests) == 1
    assert (window.figure.text(), window.sentence.text()) == (
        "Too short to measure",
        "Try a prompt with a longer reply.",
    )


def test_a_long_reply_is_raced_by_its_beginning(app: AppHarness, qtbot: QtBot) -> None:
    """A lap of minutes would leave no time for others: it is ended, and the rest have as many tokens."""
    race = race_of(app, qtbot)
    app.engine.scripts.clear()
    app.engine.scripts.extend([Script(("a word ",) * 900, round_s=0.1)] * LAPS)
    app.engine.gate.hold()
    app.engine.gate.let_through(30)
    open_race(app)
    qtbot.waitUntil(lambda: race.view.tokens > 0)
    assert 48 <= race.view.tokens <= 110
    assert app.engine.requests[-1].max_tokens == race.view.tokens
    race.cancel()
    app.engine.gate.open()


def test_a_race_gives_way_to_a_reply(app: AppHarness, qtbot: QtBot) -> None:
    race = race_of(app, qtbot)
    app.engine.gate.hold()
    race.start(request_of(app), greedy=True)
    app.engine.gate.let_through(3)
    qtbot.waitUntil(lambda: bool(race.view.text))
    begun = race.view.text
    assert app.chats.send("In between?")
    qtbot.waitUntil(lambda: race.view.state is RaceState.WAITING)
    assert race.view.text.startswith(begun)
    app.engine.gate.open()
    qtbot.waitUntil(lambda: race.view.state is RaceState.DONE)
    assert app.chats.transcript.messages[-1].status is ReplyStatus.DONE
    assert [each.background for each in app.engine.requests].count(True) == LAPS

    app.chats.options.put(Scope.CHAT, "fastest", True)
    for greedy in (False, True):
        race.start(request_of(app), greedy=greedy)
        qtbot.waitUntil(lambda: race.view.state is RaceState.DONE)
        assert ("“Fastest drafting”" in race_sentence(race.view)) is not greedy
        assert ("rounding" in race_sentence(race.view)) is greedy


def test_a_double_click_on_race_does_not_stop_it_but_closing_its_window_does(app: AppHarness, qtbot: QtBot) -> None:
    race = race_of(app, qtbot)
    window = open_race(app)
    qtbot.waitUntil(lambda: race.view.state is RaceState.DONE)
    app.engine.gate.hold()
    double_click(window.go_button)
    assert race.under_way
    app.engine.gate.open()
    qtbot.waitUntil(lambda: race.view.state is RaceState.DONE)

    app.engine.gate.hold()
    open_race(app)
    qtbot.waitUntil(lambda: race.view.state is RaceState.RUNNING)
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert not window.isVisible()
    assert race.view.state is RaceState.CANCELLED
    app.engine.gate.open()
    qtbot.waitUntil(lambda: not app.engine.state().running)


def test_a_race_says_why_it_cannot_run(app: AppHarness, qtbot: QtBot) -> None:
    race = race_of(app, qtbot)
    app.engine.scripts.appendleft(Script((), error=ContextTooLong(limit_tokens=4_096, actual_tokens=50_000)))
    window = open_race(app)
    qtbot.waitUntil(lambda: race.view.state is RaceState.FAILED)
    assert window.figure.text() == "The race could not run"
    assert window.sentence.text() == "What must be read has 50,000 tokens; the model holds 4,096."
    assert not window.go_button.isEnabled(), "the model would refuse it again"

    app.models.eject()
    qtbot.waitUntil(lambda: app.engine.state().main is None)
    open_race(app)
    qtbot.waitUntil(lambda: race.view.state is RaceState.DONE)
    assert race.view.verdict is Verdict.KNOWN

    app.models.choose_draft(None)
    open_race(app)
    assert not window.go_button.isEnabled()
    assert "Load a pair" in window.sentence.text()


def test_an_error_in_a_later_lap_ends_it(app: AppHarness, qtbot: QtBot) -> None:
    race = race_of(app, qtbot)
    app.engine.scripts.clear()
    app.engine.scripts.extend([Script(WORDS)] * 3)
    app.engine.scripts.append(Script((), error=ContextTooLong(limit_tokens=4_096, actual_tokens=50_000)))
    open_race(app)
    qtbot.waitUntil(lambda: race.view.state is RaceState.FAILED)
    assert race.view.text == "".join(WORDS)
    assert app.models.records.get(MAIN.folder, DRAFT.folder).weight < LEAST_PAIRS


def test_an_unloaded_model_ends_it_in_the_middle_of_a_lap(app: AppHarness, qtbot: QtBot) -> None:
    race = race_of(app, qtbot)
    app.engine.gate.hold()
    window = open_race(app)
    app.engine.gate.let_through(20)  # into the second lap
    qtbot.waitUntil(lambda: race.view.tokens > 0 and len(app.engine.requests) == 2)
    app.models.eject()
    app.engine.gate.open()
    qtbot.waitUntil(lambda: race.view.state is RaceState.CANCELLED)
    qtbot.waitUntil(lambda: app.engine.state().main is None)
    assert window.figure.text() == "Not measured"


def test_another_main_model_between_its_laps_ends_it(app: AppHarness, qtbot: QtBot) -> None:
    race = race_of(app, qtbot)
    app.engine.gate.hold()
    open_race(app)
    app.engine.gate.let_through(3)
    qtbot.waitUntil(lambda: bool(race.view.text))
    assert app.chats.send("In between?")
    qtbot.waitUntil(lambda: race.view.state is RaceState.WAITING)
    app.models.choose_main(DRAFT.folder)
    app.engine.gate.open()
    qtbot.waitUntil(lambda: app.models.pair.main_folder == DRAFT.folder and app.models.pair.state == "ready")
    qtbot.waitUntil(lambda: not app.engine.state().running and not app.engine.state().queued)
    assert race.view.state is RaceState.CANCELLED


def test_another_draft_begins_it_anew(app: AppHarness, qtbot: QtBot) -> None:
    """Laps of two drafts are not one race."""
    race = race_of(app, qtbot)
    app.engine.gate.hold()
    open_race(app)
    app.engine.gate.let_through(20)
    qtbot.waitUntil(lambda: race.view.tokens > 0 and len(app.engine.requests) == 2)
    app.models.choose_draft(None)
    assert race.view.state is RaceState.CANCELLED
    app.models.choose_draft(DRAFT.folder)
    app.engine.gate.open()
    qtbot.waitUntil(lambda: app.models.pair.draft_state == "active")
    open_race(app)
    app.engine.requests.clear()
    qtbot.waitUntil(lambda: race.view.state is RaceState.DONE)
    assert race.view.times.pairs == LEAST_PAIRS
    assert window_of(app).windowTitle() == f"Race: {pair_name(MAIN.name, DRAFT.name)}"
    app.models.choose_draft(None)
    assert race.view == RaceView(), "what was found is another pair's"
    assert window_of(app).windowTitle() == "Race"


def test_while_laps_are_timed_the_window_does_next_to_nothing(app: AppHarness, qtbot: QtBot) -> None:
    """What it does would be a part of their times; and it is never said to wait for itself."""
    race = race_of(app, qtbot)
    window = open_race(app)
    shown: list[tuple[int, str]] = []
    race.changed.connect(lambda: shown.append((len(app.engine.requests), window.sentence.text())))
    qtbot.waitUntil(lambda: race.view.state is RaceState.DONE)
    for lap in range(3, LAPS):
        assert sum(number == lap for number, _ in shown) <= 2
    assert not any("Continues after" in words for _, words in shown)
