"""The composer's button for tools and its panel, by keyboard alone, too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.controllers.tools import ToolsController
from app.tools.definitions import Answer
from app.view_models.transcript import TranscriptMessage
from app.views.shell.chat_tools import ChatToolsPanel
from app.views.widgets.buttons import IconButton
from app.views.widgets.focus import FocusRing
from tests.helpers.app_harness import AppHarness, focused, open_app
from tests.helpers.fake_engine import MAIN, model_info
from tests.helpers.fake_model_store import installed
from tests.helpers.stillness import still
from tests.helpers.tool_calls import MODELS, FakeServers, call, calls, says, tool

PLAIN = model_info("/models/Small-1B")


@pytest.fixture
def servers() -> FakeServers:
    found = FakeServers()
    found.put(tool("search", "github", "Finds issues."), tool("create", "github"))
    return found


@pytest.fixture
def app(tmp_path: Path, qtbot: QtBot, servers: FakeServers) -> Iterator[AppHarness]:
    with open_app(tmp_path, qtbot, models=MODELS | {PLAIN.folder: PLAIN}) as app:
        app.chats.tools.use_servers(servers)
        app.chats.tools.set_on(["/calculator", "github/search"], True)
        yield app


@pytest.fixture
def tools(app: AppHarness) -> ToolsController:
    return app.chats.tools


@pytest.fixture
def panel(app: AppHarness, tools: ToolsController, qtbot: QtBot) -> ChatToolsPanel:
    app.window.composer.tools_button.click()
    qtbot.waitUntil(lambda: all(row.tokens for group in tools.chat_tools() for row in group.tools))
    still()
    return app.window.composer.tools_button.panel


def test_no_ring_is_shown_where_it_was_opened_by_a_click(
    panel: ChatToolsPanel, app: AppHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    button = app.window.composer.tools_button
    first = panel.first
    assert isinstance(first, FocusRing)
    assert first.has_ring
    panel.leave()
    monkeypatch.setattr(button, "underMouse", lambda: True)
    button.click()
    assert (first.hasFocus(), first.has_ring) == (True, False)


def tokens(tools: ToolsController, *ids: str) -> int:
    return sum(row.tokens for group in tools.chat_tools() for row in group.tools if row.id in ids)


def test_each_tool_has_its_tokens_and_there_is_a_sum(panel: ChatToolsPanel, tools: ToolsController) -> None:
    assert panel.lines["/calculator"].name.text() == "Calculator"
    of_search = tokens(tools, "github/search")
    assert panel.lines["github/search"].about.text() == f"{of_search} tokens · Finds issues."
    assert panel.sum.text() == f"2 tools on, {tokens(tools, *tools.chosen)} tokens"
    panel.lines["/time"].switch.click()
    assert panel.sum.text() == f"3 tools on, {tokens(tools, *tools.chosen)} tokens"
    assert set(tools.chosen) == {"/calculator", "/time", "github/search"}
    assert not panel.much.isVisible()


def test_all_of_a_server_are_switched_together(panel: ChatToolsPanel, tools: ToolsController) -> None:
    head = panel.heads["github"].switch
    assert (head.isChecked(), head.is_partly_on) == (False, True)
    assert head.accessibleDescription() == "1 tool on"
    middle = head.grab().toImage()
    head.click()
    assert set(tools.chosen) == {"/calculator", "github/search", "github/create"}
    assert (head.isChecked(), head.is_partly_on) == (True, False)
    assert head.grab().toImage() != middle
    head.click()
    assert tools.chosen == ("/calculator",)
    assert (head.isChecked(), head.is_partly_on) == (False, False)
    assert head.grab().toImage() != middle, "none of them looks as some do"


@pytest.mark.parametrize("answer", [Answer.CHAT, Answer.ALWAYS])
def test_a_consent_is_seen_and_ended(
    answer: Answer, panel: ChatToolsPanel, app: AppHarness, qtbot: QtBot, servers: FakeServers
) -> None:
    line = panel.lines["github/search"]
    plain = line.about.text()
    app.engine.scripts.extend(
        (calls(call("github__search")), says("Done."), calls(call("github__search")), says("No."))
    )

    def ask() -> TranscriptMessage:
        app.chats.send("Search")
        rows = app.chats.transcript
        qtbot.waitUntil(lambda: bool(rows.messages) and rows.messages[-1].consent is not None)
        return rows.messages[-1]

    reply = ask()
    assert reply.consent is not None
    app.chats.exchanges.answer(reply.id, answer, reply.consent)
    app.wait_until_quiet(qtbot)
    app.window.composer.tools_button.click()
    assert line.ask_again.isVisible()
    assert "Runs without asking." in line.about.text()
    line.ask_again.click()
    assert not line.ask_again.isVisible()
    assert line.about.text() == plain
    ask()
    assert len(servers.ran) == 1


def test_many_tokens_are_warned_of(panel: ChatToolsPanel, servers: FakeServers, qtbot: QtBot) -> None:
    servers.put(tool("search", "github", "word " * 390))
    panel.heads["github"].switch.click()
    qtbot.waitUntil(panel.much.isVisible)


def test_a_model_that_cannot_says_so_and_who_can(
    panel: ChatToolsPanel, tools: ToolsController, app: AppHarness, qtbot: QtBot
) -> None:
    app.models.choose_main(PLAIN.folder)
    qtbot.waitUntil(lambda: "Small 1B cannot use tools." in panel.note.text())
    assert panel.find_button.isVisible()
    assert not panel.lines["/time"].switch.isEnabled()
    assert panel.lines["/calculator"].switch.isEnabled(), "what is on can be switched off"
    assert "cannot use tools" in app.window.composer.tools_button.accessibleName()
    assert (panel.sum.isVisible(), panel.much.isVisible(), app.window.composer.tools_button.has_dot) == (False,) * 3
    app.store.models = [installed(MODELS[MAIN.folder]), installed(PLAIN)]
    app.store.scan()
    qtbot.waitUntil(lambda: bool(tools.models_that_can()))
    panel.show_tools()
    assert "Main 8B" in panel.note.text()
    assert not panel.find_button.isVisible()


def test_servers_are_asked_when_it_opens_and_their_state_is_said(app: AppHarness, qtbot: QtBot) -> None:
    servers = app.application.tool_servers
    app.chats.tools.use_servers(servers)
    servers.add_text("/no/such/program")
    (row,) = servers.rows()
    servers.confirm(row.id, row.place)
    button = app.window.composer.tools_button
    button.click()
    qtbot.waitUntil(lambda: "/no/such/program" in button.panel.heads[row.id].about.text())
    assert not button.panel.heads[row.id].switch.isEnabled()


def test_by_keyboard_alone(panel: ChatToolsPanel, tools: ToolsController, app: AppHarness) -> None:
    panel.leave()
    button = app.window.composer.tools_button
    button.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(button, Qt.Key.Key_Return)
    still()
    assert panel.isVisible()
    assert focused() is panel.heads[""].switch
    QTest.keyClick(focused(), Qt.Key.Key_Tab)
    assert focused() is panel.lines["/calculator"].switch
    QTest.keyClick(focused(), Qt.Key.Key_Space)
    assert "/calculator" not in tools.chosen
    QTest.keyClick(focused(), Qt.Key.Key_Escape)
    assert not panel.isVisible()
    assert button.hasFocus()


def test_it_closes_when_the_focus_goes_elsewhere(panel: ChatToolsPanel, app: AppHarness) -> None:
    app.window.composer.take_focus()
    assert not panel.isVisible()


def test_files_are_chosen_where_a_tool_reads_them(
    panel: ChatToolsPanel, tools: ToolsController, tmp_path: Path
) -> None:
    notes, plan = str(tmp_path / "notes"), str(tmp_path / "plan.md")
    assert not panel.folders.isVisible()
    panel.lines["/read_file"].switch.click()
    assert panel.folders.isVisible()
    assert panel.folders.none.isVisible()
    chat_id = tools.chat_id
    panel.folders.add(chat_id, [notes, plan])
    panel.folders.add(chat_id, [notes])
    panel.folders.add(chat_id + 1, ["/elsewhere"])  # chosen for a chat that was left
    assert tools.folders == (notes, plan)
    assert not panel.folders.none.isVisible()
    still()
    first, _ = (each for each in panel.folders.findChildren(IconButton) if each.isVisible())
    first.setFocus()
    QTest.keyClick(first, Qt.Key.Key_Return)
    assert focused().accessibleName() == f"Remove {plan}"
    QTest.keyClick(focused(), Qt.Key.Key_Return)
    assert focused() is panel.folders.add_folder
    assert panel.folders.none.isVisible()


def test_the_panel_is_inside_the_window(panel: ChatToolsPanel, app: AppHarness) -> None:
    assert app.window.rect().contains(panel.geometry())
    button = app.window.composer.tools_button
    assert panel.geometry().bottom() < button.mapTo(app.window, button.rect().topLeft()).y()


def test_its_height_follows_the_size_of_the_text(panel: ChatToolsPanel, app: AppHarness) -> None:
    app.window.resize(1400, 1400)
    button = app.window.composer.tools_button

    def height_at(scale: float) -> int:
        panel.leave()
        app.application.settings.text_scale = scale
        still()
        button.click()
        still()
        return panel.height()

    small = height_at(1.0)
    large = height_at(1.5)
    assert height_at(1.0) == small
    assert large > small


def test_the_button_says_that_some_are_on(app: AppHarness, tools: ToolsController, panel: ChatToolsPanel) -> None:
    button = app.window.composer.tools_button
    assert button.accessibleName() == f"Tools: {panel.sum.text()}"
    tools.set_on(tools.chosen, False)
    assert button.accessibleName() == "Tools"


def test_without_tools_in_use_nothing_is_asked_about_them(app: AppHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that nothing of them is imported or counted before the panel is opened."""
    tools = app.chats.tools
    tools.set_on(tools.chosen, False)
    monkeypatch.setattr(tools, "chat_tools", lambda: pytest.fail("they are asked for"))
    tools.changed.emit()


def test_the_text_ends_left_of_the_buttons(app: AppHarness) -> None:
    composer = app.window.composer
    composer.edit.insertPlainText("word " * 200)
    still()
    button = composer.tools_button
    edge = button.mapTo(composer, button.rect().topLeft()).x()
    assert composer.edit.cursorRect().right() + composer.edit.x() < edge
