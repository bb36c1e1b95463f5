"""Statistics over restarts, rows that open their reply, the pair's switch, and races, through the whole window."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.controllers.statistics import Grouping
from app.storage import ReplyStatus
from app.view_models.chat_options import Scope
from app.view_models.request_table import RequestRow
from app.views.activity.window import REQUESTS, TOTALS, ActivityWindow
from app.views.transcript.message_footer import MessageFooter
from app.views.widgets.labels import TextLabel
from app.words.requests import RequestColumn, total_columns
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import DRAFT, MAIN, Script
from tests.helpers.stillness import still
from tests.helpers.window_pages import activity

LOSS = Script(pieces=("a loss ",) * 12, round_s=0.4)


@pytest.fixture
def app(app: AppHarness) -> AppHarness:
    app.application.settings.overlay_explained = True
    return app


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


def test_totals_and_clearing_them(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "One?")
    page = page_of(app, qtbot)
    page.show_tab(TOTALS)
    assert [total.requests for total in page.totals.totals] == [1]
    for width_px, beside in ((1000, True), (560, False)):
        page.resize(width_px, 600)
        still()
        labels = [label for label in page.totals.findChildren(TextLabel) if label.isVisible()]
        captions = [label for label in labels if label.text() in total_columns()]
        assert [label.text() for label in captions] == total_columns()  # once, whatever the number of groups
        assert (captions[0].x() > page.totals.width() // 4) is beside
    statistics = app.application.speculation.statistics
    (one,) = page.totals.totals
    statistics.totals = {Grouping.PAIR: [replace(one, key=(f"Main {number}", "")) for number in range(15)]}
    statistics.totals_changed.emit()
    assert page.totals.findChildren(TextLabel)[-1].text() == "And 3 more."
    statistics.watch(True)
    app.wait_until_stored(qtbot)
    page.totals.groups.set_value(Grouping.LANGUAGE)
    assert page.totals.totals[0].key == ("", "en")
    statistics.clear()
    app.wait_until_stored(qtbot)
    assert page.totals.totals == []
    assert app.chats.requests.rows == []
    assert app.chats.transcript.messages[-1].stats is not None
    assert not page.totals.nothing.isHidden()


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
        assert 0 <= row.at_s - live.at_s < 3600
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
        part.widget
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
