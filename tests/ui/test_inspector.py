"""The inspector: what it says of a reply, when it is shown, and that it follows the reply in focus."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.theme import Theme
from app.views.shell.inspector import InspectorPanel
from app.words.pairs import PairGain
from engine import DraftingState, RequestStats
from tests.helpers.app_harness import AppHarness
from tests.helpers.stillness import still

GAIN = RequestStats(
    generated_tokens=412,
    rounds=142,
    draft_rounds=141,
    drafted=564,
    accepted=270,
    drafted_by_position=(141, 141, 141, 141),
    accepted_by_position=(111, 79, 49, 31),
    rounds_by_accepted=(30, 32, 30, 18, 31),
    emitted_by_stretch=(12, 10, 14),
    stretch_rounds=4,
    drafting=DraftingState.ACTIVE,
    decode_s=10.0,
    draft_s=2.5,
    verify_s=7.0,
    plain_rounds=253.0,
)


@pytest.fixture
def panel(qtbot: QtBot) -> InspectorPanel:
    panel = InspectorPanel(Theme())
    qtbot.addWidget(panel)
    panel.show()
    return panel


@pytest.mark.parametrize(
    ("stats", "headline"),
    [
        (None, "No reply yet"),
        (GAIN, "1.6× faster"),
        (RequestStats(drafting=DraftingState.OFF), "Nothing was written"),
        (RequestStats(generated_tokens=9, drafting=DraftingState.NO_DRAFT), "No draft"),
        (RequestStats(generated_tokens=9, drafting=DraftingState.OFF), "Drafting is off"),
        (
            RequestStats(generated_tokens=90, rounds=90, shared_rounds=80, drafting=DraftingState.BATCHED),
            "Answered together",
        ),
        (RequestStats(generated_tokens=90, drafting=DraftingState.PARKED), "Too short to judge"),
        (
            RequestStats(generated_tokens=90, drafting=DraftingState.PARKED, draft_speed=0.8),
            "no draft used: no gain here",
        ),
        (replace(GAIN, generated_tokens=5), "Too short to judge"),
        (replace(GAIN, plain_rounds_error=1.0), "Too close to call"),
    ],
)
def test_the_verdict_or_why_there_is_none(panel: InspectorPanel, stats: RequestStats | None, headline: str) -> None:
    panel.show_reply(stats, running=False)
    assert panel.headline.text() == headline
    has_said_all = headline == "Nothing was written"
    assert bool(panel.sentence.text()) != has_said_all
    assert panel.sentence.isVisibleTo(panel) != has_said_all  # an empty one would keep a line free


def test_where_a_reply_has_no_figure_the_pair_s_is_shown(panel: InspectorPanel) -> None:
    """The same one as in the picker and in Models."""
    short = replace(GAIN, generated_tokens=5)
    panel.show_reply(short, running=False, pair_gain=PairGain(2.1))
    assert panel.against.text() == "This pair: 2.1× on this Mac."
    panel.show_reply(GAIN, running=False, pair_gain=PairGain(2.1))
    assert "This pair" not in panel.against.text()
    panel.show_reply(short, running=False)
    assert not panel.against.isVisibleTo(panel)


def test_every_chart_can_be_heard_and_shows_nothing_where_next_to_nothing_was_drafted(panel: InspectorPanel) -> None:
    for stats in (RequestStats(generated_tokens=9), replace(GAIN, rounds=3, draft_rounds=2)):
        panel.show_reply(stats, running=False)
        assert not any(chart.isVisibleTo(panel) for chart in panel.charts)
    panel.show_reply(replace(GAIN, rounds=4, draft_rounds=3), running=False)
    assert all(chart.isVisibleTo(panel) for chart in panel.charts)

    panel.show_reply(GAIN, running=False)
    assert all(chart.accessibleName() and chart.accessibleDescription() for chart in panel.charts)
    assert "position 1: 79" in panel.charts[0].accessibleDescription()


def test_the_starter_s_figures_are_told_as_what_they_are(panel: InspectorPanel) -> None:
    panel.show_reply(GAIN, running=False, of_starter=True)
    assert "knows its text" in panel.starter.text()
    panel.show_reply(RequestStats(generated_tokens=9), running=False, of_starter=True)  # without a figure
    assert not panel.starter.isVisibleTo(panel)
    panel.show_reply(GAIN, running=False)
    assert not panel.starter.isVisibleTo(panel)


def test_it_is_shown_where_there_is_room_which_the_sidebar_makes_and_takes_back(app: AppHarness, qtbot: QtBot) -> None:
    button, window = app.window.inspector, app.window
    assert not button.panel.isVisible()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert button.panel.isVisible()
    assert button.action.isChecked()
    QTest.keyClick(window, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier)
    assert not button.panel.isVisible()
    assert not app.application.settings.inspector_visible

    button.set_wanted(True)
    window.resize(760, 600)
    qtbot.waitUntil(lambda: not button.panel.isVisible())
    window.resize(1200, 700)
    qtbot.waitUntil(button.panel.isVisible)

    button.set_wanted(False)
    window.resize(900, 600)
    assert window.sidebar.isVisible()
    button.set_wanted(True)
    assert (button.panel.isVisible(), window.sidebar.isVisible()) == (True, False)
    assert app.application.settings.sidebar_visible  # the next start has it
    button.set_wanted(False)
    assert (button.panel.isVisible(), window.sidebar.isVisible()) == (False, True)
    assert app.application.settings.sidebar_visible
    window.toggle_sidebar()
    button.set_wanted(True)
    button.set_wanted(False)
    assert not window.sidebar.isVisible()  # it was the person who hid it

    app.application.settings.text_scale = 2.0
    still()
    button.action.trigger()
    assert not any((window.sidebar.isVisible(), button.panel.isVisible(), button.action.isChecked()))
    assert "Widen" in window.banner.sentence.text()
    app.application.settings.text_scale = 1.0
    button.set_wanted(True)
    assert (button.panel.isVisible(), window.banner.isVisible()) == (True, False)


def test_it_is_live_and_follows_the_reply_in_focus(app: AppHarness, qtbot: QtBot) -> None:
    button = app.window.inspector
    button.set_wanted(True)
    app.engine.gate.hold()
    QTest.keyClicks(app.window.composer.edit, "Why?")
    app.press_return()
    app.engine.gate.let_through(2)
    chart = button.panel.charts[0]
    qtbot.waitUntil(lambda: chart.stats.rounds == 2)
    app.engine.gate.open()
    app.wait_until_quiet(qtbot)
    qtbot.waitUntil(lambda: chart.stats.rounds == 4)

    app.ask(qtbot, "Two?")
    messages, highlights = app.chats.transcript.messages, app.transcript.message_keys.highlights
    assert button.message_id == messages[-1].id
    highlights.focus(1)
    assert button.message_id == messages[1].id
    highlights.focus(2)  # a question: the latest reply
    assert button.message_id == messages[-1].id
