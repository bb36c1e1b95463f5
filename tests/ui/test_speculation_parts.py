"""Statistics over restarts, rows that open their reply, the pair's switch, and races, through the whole window."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.controllers.race import Race
from app.controllers.statistics import Grouping
from app.storage import ReplyStatus
from app.view_models.chat_options import Scope
from app.view_models.race import Lap, LapState, RaceState, RaceView
from app.view_models.request_table import RequestRow
from app.views.activity.race_window import lap_text, verdict
from app.views.activity.window import REQUESTS, TOTALS, ActivityWindow
from app.views.transcript.message_footer import RACE, MessageFooter
from app.views.transcript.parts import as_widget
from app.words.replies import gain_text
from app.words.requests import RequestColumn
from engine import ContextTooLong, DraftingState, Request, RequestStats, SpeculationMode
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.double_click import double_click
from tests.helpers.fake_engine import DRAFT, MAIN, Script
from tests.helpers.figures import read
from tests.helpers.stillness import still
from tests.helpers.window_pages import activity

LOSS = Script(pieces=("a loss ",) * 12, round_s=0.4)


@pytest.fixture
def app(tmp_path: Path, qtbot: QtBot) -> AppHarness:  # type: ignore[misc]
    with open_app(tmp_path, qtbot, put_settings={"overlay_explained": True}) as harness:
        yield harness


def page_of(app: AppHarness, qtbot: QtBot) -> ActivityWindow:
    window = activity(app)
    assert isinstance(window, ActivityWindow)
    window.show_tab(TOTALS)
    app.wait_until_stored(qtbot)
    window.show_tab(REQUESTS)
    return window


# Statistics


def test_a_row_opens_its_chat_at_the_reply_and_by_key_on_its_branch(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "One?")
    reply, chat = app.chats.transcript.messages[-1].id, app.chats.chat_id
    app.chats.new_chat()
    app.ask(qtbot, "Two?")
    table = page_of(app, qtbot).table
    place = table.visualRect(app.chats.requests.index(1, RequestColumn.STATE)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert app.chats.chat_id == chat
    view = app.transcript
    qtbot.waitUntil(lambda: view.focused_row() == app.chats.transcript.row_of(reply))

    app.chats.new_chat()
    app.ask(qtbot, "One?")
    first = app.chats.transcript.messages[-1].id
    app.chats.asking.regenerate(first)
    app.wait_until_quiet(qtbot)
    assert app.chats.transcript.row_of(first) is None
    table = page_of(app, qtbot).table
    table.setCurrentIndex(app.chats.requests.index(1, RequestColumn.STATE))
    QTest.keyClick(table, Qt.Key.Key_Return)
    assert app.chats.transcript.row_of(first) is not None


def test_totals_and_clearing_them_and_the_first_token_of_a_lap_is_one_token(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "One?")
    page = page_of(app, qtbot)
    page.show_tab(TOTALS)
    assert [total.requests for total in page.totals.totals] == [1]
    page.totals.groups.set_value(Grouping.LANGUAGE)
    assert page.totals.totals[0].key == ("", "en")
    app.application.speculation.statistics.clear()
    app.wait_until_stored(qtbot)
    assert page.totals.totals == []
    assert app.chats.requests.rows == []
    assert app.chats.transcript.messages[-1].stats is not None
    assert not page.totals.nothing.isHidden()

    def figures(tokens: int) -> str:
        return lap_text(Lap(LapState.RUNNING, stats=RequestStats(generated_tokens=tokens, decode_s=0.5)))

    assert [figures(tokens).partition(" ·")[0] for tokens in (0, 1, 1234)] == ["0 tokens", "1 token", "1,234 tokens"]
    same = RaceView(RaceState.DONE, (Lap(LapState.DONE, tokens=(7,)), Lap(LapState.DONE, tokens=(7,))))
    assert verdict(same).startswith("Same text: the 1 token is identical.")
    app.application.settings.language = "ko"
    assert figures(1).startswith("1토큰 · ")


def test_requests_are_kept_and_shown_page_by_page(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_app(tmp_path, qtbot) as app:
        for number in range(3):
            app.ask(qtbot, f"{number}?")
        live = app.chats.requests.rows[0]
        assert (live.pair, live.status) == (f"{MAIN.name} ← {DRAFT.name}", ReplyStatus.DONE)
    monkeypatch.setattr("app.controllers.statistics.PAGE_ROWS", 2)
    with open_app(tmp_path, qtbot) as app:
        page, rows = page_of(app, qtbot), app.chats.requests.rows
        qtbot.waitUntil(lambda: len(rows) == 2)
        row = rows[0]
        assert (row.chat, row.pair, row.status, row.stats) == ("0?", live.pair, live.status, live.stats)
        assert page.more_button.text() == "Show more (1 older)"
        page.more_button.click()
        qtbot.waitUntil(lambda: len(rows) == 3)
        numbers = [row.message_id for row in rows]
        assert numbers == sorted(set(numbers), reverse=True)
        assert not page.more_button.isVisibleTo(page)
        app.ask(qtbot, "And?")
        page.show_tab(TOTALS)
        qtbot.waitUntil(lambda: [total.requests for total in page.totals.totals] == [4])


def test_the_oldest_requests_leave_the_table(app: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of programs leave it for good."""
    monkeypatch.setattr("app.view_models.request_table.MOST_ROWS", 2)
    page, table = page_of(app, qtbot), app.chats.requests
    for number in range(1, 5):
        app.ask(qtbot, f"{number}?")
    assert [row.message_id for row in table.rows] == [8, 6]
    assert page.more_button.text() == "Show more (2 older)"
    page.more_button.click()
    qtbot.waitUntil(lambda: len(table.rows) == 4)
    assert [row.message_id for row in table.rows] == [8, 6, 4, 2]
    assert not page.more_button.isVisibleTo(page)
    for key in (1001, 1002):
        table.put(RequestRow(key, "", "Main", ReplyStatus.DONE, of_program=True))
    app.ask(qtbot, "5?")
    assert [row.message_id for row in table.rows] == [10, 0, 0, 8]
    assert page.more_button.text() == "Show more (3 older)"
    page.more_button.click()
    qtbot.waitUntil(lambda: len(table.rows) == 7)
    assert [row.message_id for row in table.rows if not row.of_program] == [10, 8, 6, 4, 2]


# The pair's switch


def test_a_pair_that_lost_is_turned_off_and_on_again(app: AppHarness, qtbot: QtBot) -> None:
    app.engine.scripts.append(LOSS)
    app.ask(qtbot, "One?")
    app.window.inspector.set_wanted(True)
    panel = app.window.inspector.panel
    assert panel.turn_off.isVisibleTo(panel)
    panel.turn_off.click()
    app.ask(qtbot, "Two?")
    assert app.engine.requests[-1].speculation.mode == "off"
    assert "off for this pair" in app.window.header.chip.accessibleName()
    cards = app.show_settings("advanced").advanced.speculation
    assert cards.off_row.isVisibleTo(cards)
    cards.on_button.click()
    app.ask(qtbot, "Three?")
    assert app.engine.requests[-1].speculation.mode == "auto"
    assert not cards.off_row.isVisibleTo(cards)


def test_the_picker_changes_how_a_chat_drafts(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "One?")
    app.chats.options.put(Scope.CHAT, "speculation_mode", "off")
    app.window.open_picker()
    controls = app.window.picker.more.speculation
    assert controls.modes.value == "off"
    assert "This chat only." in controls.explanation.text()
    controls.modes.buttons[1].click()
    assert app.application.settings.speculation_mode == "auto"  # all other chats
    app.window.picker.close()
    app.ask(qtbot, "Two?")
    assert app.engine.requests[-1].speculation.mode == "auto"
    app.chats.new_chat()
    app.window.open_picker()
    assert (controls.modes.value, "Only" in controls.explanation.text()) == ("auto", False)
    app.window.picker.close()

    app.window.inspector.panel.turn_off.click()
    assert [app.models.pair.off_for_pair] == [True]
    app.window.banner.button.click()
    assert [app.models.pair.off_for_pair] == [False]
    for choose in (partial(app.models.choose_speculation, "auto", 3), partial(app.models.choose_draft, None)):
        app.models.set_off_for_pair(True)
        choose()
        assert not app.models.pair.off_for_pair

    settings = app.application.settings
    app.window.open_picker()
    assert [button.text() for button in controls.modes.buttons] == ["Off", "Auto"]
    app.window.picker.close()
    own = app.show_settings("advanced").advanced.speculation.controls
    own.modes.buttons[1].click()
    assert settings.speculation_mode == "fixed"
    app.window.open_picker()
    assert [button.text() for button in controls.modes.buttons] == ["Off", "Fixed", "Auto"]
    app.window.banner.button.click()
    assert settings.speculation_mode == own.modes.value == "auto"


# From a message


def test_a_click_on_the_figures_opens_the_inspector_with_them(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "One?")
    app.ask(qtbot, "Two?")
    first = app.chats.transcript.messages[1].id
    view = app.transcript
    footers = [
        as_widget(part.widget)
        for part, _ in view.visible_parts.shown()
        if part.message_id == first and isinstance(part.widget, MessageFooter)
    ]
    left = Qt.MouseButton.LeftButton
    assert isinstance(footers[0], MessageFooter)
    QTest.mousePress(footers[0], left, pos=QPoint(8, 8))  # a drag selects text
    QTest.mouseRelease(footers[0], left, pos=QPoint(60, -40))
    QTest.mouseClick(footers[0], left, pos=QPoint(footers[0]._layout.text_px + 20, 8))  # beside them
    assert not app.window.inspector.panel.isVisible()
    QTest.mouseClick(footers[0], left, pos=QPoint(8, 8))
    assert app.window.inspector.panel.isVisible()
    assert app.window.inspector.message_id == first


# Races


def race_of(app: AppHarness, qtbot: QtBot) -> Race:
    app.ask(qtbot, "One?")
    app.engine.requests.clear()
    return app.application.speculation.race


def test_a_race_compares_plain_and_drafted(app: AppHarness, qtbot: QtBot) -> None:
    race = race_of(app, qtbot)
    QTest.keyClick(app.window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: race.view.state is RaceState.DONE)
    reading, plain, drafted = app.engine.requests
    assert reading.max_tokens == 1
    assert plain.speculation.mode is SpeculationMode.OFF
    assert drafted.speculation.mode is SpeculationMode.AUTO
    assert plain.sampling == drafted.sampling
    assert plain.sampling.seed is not None
    assert plain.messages == drafted.messages
    assert plain.messages[-1].content == "One?"
    window = app.window.speculation.race_window
    assert window is not None
    assert window.sentence.text() == verdict(race.view)
    # The scripted engine numbers its tokens, and drafts more of them for the same words.
    assert not race.view.identical
    assert "differ from token 5" in window.sentence.text()
    assert [lane.text.toPlainText() for lane in window.lanes] == [lap.text for lap in race.view.laps]
    for lane in window.lanes:
        lane.text.moveCursor(QTextCursor.MoveOperation.Start)
        words = lane.text.viewport().mapTo(lane, lane.text.cursorRect().topLeft())
        assert words.x() == lane.name.x() == lane.figures.x()
    app.application.settings.text_scale = 2.0
    window.resize(window.minimumSize())
    still()
    for lane in window.lanes:
        assert lane.name.geometry().bottom() < lane.text.y() <= lane.figures.y() - lane.text.height()

    window.close()
    app.engine.requests.clear()
    app.transcript.act_requested.emit(app.chats.transcript.messages[-1].id, RACE)  # of the menu of a message
    qtbot.waitUntil(lambda: len(app.engine.requests) == 3 and race.view.state is RaceState.DONE)

    app.engine.gate.hold()
    app.window.speculation.race.trigger()
    qtbot.waitUntil(lambda: race.under_way)
    shown = app.window.speculation.race_window
    assert shown is not None
    app.window.close_at_once()
    app.engine.gate.open()
    assert not shown.isVisible()
    assert not race.under_way, "it goes on unseen"
    QApplication.sendEvent(shown, QEvent(QEvent.Type.LanguageChange))  # nothing is read of a closed database


@pytest.mark.parametrize("state", [DraftingState.PARKED, DraftingState.ACTIVE])
def test_where_nothing_was_drafted_the_verdict_gives_the_draft_no_credit(state: DraftingState) -> None:
    plain = RequestStats(generated_tokens=50, rounds=50, decode_s=2.0)
    laps = (plain, replace(plain, decode_s=1.5, drafting=state))
    said = verdict(RaceView(RaceState.DONE, tuple(Lap(LapState.DONE, stats=each, tokens=(7, 8)) for each in laps)))
    assert "Nothing was drafted" in said
    assert "saved" not in said


PLAIN = RequestStats(generated_tokens=101, rounds=101, decode_s=4.0)
DRAFTED = RequestStats(
    generated_tokens=101, rounds=51, draft_rounds=50, drafted=100, accepted=50, decode_s=2.0, plain_rounds=50.0
)


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(
    ("plain_s", "drafted", "disturbed", "said"),
    [
        (4.0, DRAFTED, False, "saved 2.00 s: 2.0× faster."),
        (4.0, replace(DRAFTED, decode_s=1.0), True, "Undisturbed: 2.0× faster."),
        (4.0, replace(DRAFTED, plain_rounds=200.0, decode_s=1.0), True, "times are rough."),
        # Both say the same, of a machine that had something else to do.
        (2.0, replace(DRAFTED, plain_rounds=200.0, decode_s=8.0), True, "times are rough."),
        (2.0, replace(DRAFTED, plain_rounds=100.0, decode_s=4.0), True, "times are rough."),
        (4.0, replace(DRAFTED, plain_rounds_error=1.0), None, "Too short to be sure. Try a longer prompt."),
        (4.0, replace(DRAFTED, decode_s=4.0, plain_rounds_error=1.0), None, "Too close to call."),
    ],
)
def test_the_verdict_has_the_figure_of_the_reply(
    plain_s: float, drafted: RequestStats, disturbed: bool | None, said: str
) -> None:
    """Where the times of the laps say something else, the machine was busy in one of them."""
    laps = (replace(PLAIN, decode_s=plain_s), drafted)
    view = RaceView(RaceState.DONE, tuple(Lap(LapState.DONE, stats=each, tokens=(7, 8)) for each in laps))
    assert read(verdict(view)).endswith(said)
    assert disturbed in (None, view.is_disturbed)
    assert gain_text(drafted) in read(verdict(view)) or "faster" not in said


def test_a_race_gives_way_to_a_reply(app: AppHarness, qtbot: QtBot) -> None:
    race = race_of(app, qtbot)
    app.engine.gate.hold()
    asked: list[Request | None] = []
    app.chats.asking.request_of(app.chats.transcript.messages[-1].id, asked.append)
    (request,) = asked
    assert request is not None
    race.start(request, greedy=True)
    app.engine.gate.let_through(3)
    qtbot.waitUntil(lambda: bool(race.view.laps[0].text))
    begun = race.view.laps[0].text
    assert app.chats.send("In between?")
    qtbot.waitUntil(lambda: race.view.state is RaceState.WAITING)
    assert race.view.laps[0].text.startswith(begun)
    app.engine.gate.open()
    qtbot.waitUntil(lambda: race.view.state is RaceState.DONE)
    assert app.chats.transcript.messages[-1].status is ReplyStatus.DONE
    assert [each.background for each in app.engine.requests].count(True) == 3

    app.chats.options.put(Scope.CHAT, "fastest", True)
    asked.clear()
    app.chats.asking.request_of(app.chats.transcript.messages[-1].id, asked.append)
    (request,) = asked
    assert request is not None
    for greedy in (False, True):
        race.start(request, greedy=greedy)
        qtbot.waitUntil(lambda: race.view.state is RaceState.DONE)
        assert ("“Fastest drafting”" in verdict(race.view)) is not greedy
        assert ("rounding" in verdict(race.view)) is greedy


def test_a_double_click_on_race_does_not_stop_it_but_closing_its_window_does(app: AppHarness, qtbot: QtBot) -> None:
    race = race_of(app, qtbot)
    app.window.speculation.open_race(app.chats.transcript.messages[-1].id)
    qtbot.waitUntil(lambda: race.view.state is RaceState.DONE)
    window = app.window.speculation.race_window
    assert window is not None
    app.engine.gate.hold()
    double_click(window.go_button)
    assert race.under_way
    app.engine.gate.open()
    qtbot.waitUntil(lambda: race.view.state is RaceState.DONE)

    app.engine.requests.clear()
    race = race_of(app, qtbot)
    app.engine.gate.hold()
    app.window.speculation.open_race(app.chats.transcript.messages[-1].id)
    window = app.window.speculation.race_window
    assert window is not None
    qtbot.waitUntil(lambda: race.view.state is RaceState.RUNNING)
    window.close()
    assert race.view.state is RaceState.CANCELLED
    assert [lap_text(lap) for lap in race.view.laps] == ["not written"] * 2
    app.engine.gate.open()
    qtbot.waitUntil(lambda: not app.engine.state().running)


def test_a_race_says_why_it_cannot_run(app: AppHarness, qtbot: QtBot) -> None:
    race = race_of(app, qtbot)
    app.engine.scripts.append(Script(pieces=(), error=ContextTooLong(limit_tokens=4_096, actual_tokens=50_000)))
    app.window.speculation.open_race(app.chats.transcript.messages[-1].id)
    qtbot.waitUntil(lambda: race.view.state is RaceState.FAILED)
    window = app.window.speculation.race_window
    assert window is not None
    assert window.sentence.text() == "The race could not run. This chat has 50,000 tokens; the model holds 4,096."

    app.models.eject()
    qtbot.waitUntil(lambda: app.engine.state().main is None)
    app.window.speculation.open_race(app.chats.transcript.messages[-1].id)
    qtbot.waitUntil(lambda: race.view.state is RaceState.DONE)
    assert [bool(lap.stats.drafted) for lap in race.view.laps] == [False, True]

    app.models.choose_draft(None)
    app.window.speculation.open_race(app.chats.transcript.messages[-1].id)
    assert not window.go_button.isEnabled()
    assert "Load a pair" in window.sentence.text()


def test_a_race_ends_where_another_main_model_comes_between_its_laps(app: AppHarness, qtbot: QtBot) -> None:
    race = race_of(app, qtbot)
    app.engine.gate.hold()
    app.window.speculation.open_race(app.chats.transcript.messages[-1].id)
    app.engine.gate.let_through(3)
    qtbot.waitUntil(lambda: bool(race.view.laps[0].text))
    assert app.chats.send("In between?")
    qtbot.waitUntil(lambda: race.view.state is RaceState.WAITING)
    app.models.choose_main(DRAFT.folder)
    app.engine.gate.open()
    qtbot.waitUntil(lambda: app.models.pair.main_folder == DRAFT.folder and app.models.pair.state == "ready")
    qtbot.waitUntil(lambda: not app.engine.state().running and not app.engine.state().queued)
    assert race.view.state is RaceState.CANCELLED
