"""The composer's button for tools and its panel, by keyboard alone, too."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.view_models.tools import CanCall, ConnectionState, ToolRow
from app.views.shell.chat_tools import ChatToolsPanel
from tests.helpers.app_harness import AppHarness
from tests.helpers.fake_tools import BUILT_IN, GITHUB, LACKING, FakeChatTools
from tests.helpers.stillness import still

CONTEXT = 32_768


@pytest.fixture
def tools() -> FakeChatTools:
    return FakeChatTools()


@pytest.fixture
def panel(app: AppHarness, tools: FakeChatTools) -> ChatToolsPanel:
    window = app.window
    composer = window.composer
    theme = app.application.theme

    def make() -> ChatToolsPanel:
        return ChatToolsPanel(theme, window, tools, lambda: "Small 1B", lambda: CONTEXT, composer.take_focus)

    composer.bind_tools(tools, lambda: "Small 1B", make)
    composer.tools_button.click()
    still()
    return composer.tools_button.panel


def focused() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def on(tools: FakeChatTools) -> list[str]:
    return [tool.id for server in tools.servers for tool in server.tools if tool.on]


def test_each_tool_has_its_tokens_and_there_is_a_sum(panel: ChatToolsPanel, tools: FakeChatTools) -> None:
    assert panel.lines["/calculator"].name.text() == "Calculator"
    assert panel.lines["github/search_issues"].about.text().startswith("212 tokens · Finds issues")
    assert panel.sum.text() == "2 tools on, 308 tokens"
    panel.lines["/time"].switch.click()
    assert panel.sum.text() == "3 tools on, 418 tokens"
    assert on(tools) == ["/calculator", "/time", "github/search_issues"]
    assert not panel.much.isVisible()


def test_all_of_a_server_are_switched_together(panel: ChatToolsPanel, tools: FakeChatTools) -> None:
    head = panel.heads["github"].switch
    assert head.is_partly_on
    assert head.accessibleDescription() == "1 tool on"
    middle = head.grab().toImage()
    head.click()
    assert on(tools) == ["/calculator", "github/search_issues", "github/create_issue"]
    assert head.isChecked()
    assert not head.is_partly_on
    assert head.grab().toImage() != middle
    head.click()
    assert on(tools) == ["/calculator"]
    assert not head.is_partly_on
    assert head.grab().toImage() != middle, "none of them looks as some do"


def test_a_consent_is_seen_and_ended(panel: ChatToolsPanel, tools: FakeChatTools) -> None:
    line = panel.lines["github/create_issue"]
    assert not line.ask_again.isVisible()
    allowed = replace(GITHUB.tools[1], in_chat=True)
    tools.servers = (BUILT_IN, replace(GITHUB, tools=(GITHUB.tools[0], allowed)))
    tools.changed.emit()
    assert line.about.text() == "188 tokens · Runs without asking. Opens an issue."
    QTest.mouseClick(line.ask_again, Qt.MouseButton.LeftButton)
    assert tools.servers[1].tools[1] == GITHUB.tools[1]
    assert not line.ask_again.isVisible()
    assert line.about.text() == "188 tokens · Opens an issue."


def test_many_tokens_are_warned_of(panel: ChatToolsPanel, tools: FakeChatTools) -> None:
    tools.servers = (replace(GITHUB, tools=(ToolRow("github/x", "x", "", 2_001, on=True),)),)
    tools.changed.emit()
    assert panel.much.isVisible()


def test_a_model_that_cannot_says_so_and_who_can(panel: ChatToolsPanel, tools: FakeChatTools, app: AppHarness) -> None:
    tools.can = CanCall.MODEL_CANNOT
    tools.able = ("Qwen3-8B-4bit",)
    tools.changed.emit()
    assert "Small 1B cannot use tools." in panel.note.text()
    assert "Qwen3 8B" in panel.note.text()
    assert not panel.find_button.isVisible()
    assert not panel.lines["/time"].switch.isEnabled()
    assert panel.lines["/calculator"].switch.isEnabled(), "what is on can be switched off"
    assert "cannot use tools" in app.window.composer.tools_button.accessibleName()
    tools.able = ()
    tools.changed.emit()
    assert panel.find_button.isVisible()


def test_servers_are_asked_when_it_opens_and_their_state_is_said(panel: ChatToolsPanel, tools: FakeChatTools) -> None:
    assert tools.asked == 1
    tools.servers = (replace(GITHUB, tools=(), state=ConnectionState.STARTING), LACKING)
    tools.changed.emit()
    assert panel.heads["github"].about.text() == "Starting…"
    assert "uv" in panel.heads["fetch"].about.text()
    assert not panel.heads["fetch"].switch.isEnabled()
    panel.leave()
    assert tools.asked == 1


def test_by_keyboard_alone(panel: ChatToolsPanel, tools: FakeChatTools, app: AppHarness) -> None:
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
    assert "/calculator" not in on(tools)
    QTest.keyClick(focused(), Qt.Key.Key_Escape)
    assert not panel.isVisible()
    assert button.hasFocus()


def test_it_closes_when_the_focus_goes_elsewhere(panel: ChatToolsPanel, app: AppHarness) -> None:
    app.window.composer.take_focus()
    assert not panel.isVisible()


def test_files_are_chosen_where_a_tool_reads_them(panel: ChatToolsPanel, tools: FakeChatTools) -> None:
    assert not panel.folders.isVisible()
    panel.lines["/read_file"].switch.click()
    assert panel.folders.isVisible()
    assert panel.folders.none.isVisible()
    panel.folders.add(["/a/notes", "/a/plan.md"])
    panel.folders.add(["/a/notes"])
    assert tools.folders == ("/a/notes", "/a/plan.md")
    assert not panel.folders.none.isVisible()
    tools.choose_folders(())
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


def test_a_dot_says_that_some_are_on(app: AppHarness, tools: FakeChatTools, panel: ChatToolsPanel) -> None:
    button = app.window.composer.tools_button
    assert button.accessibleName() == "Tools: 2 tools on, 308 tokens"
    tools.servers = (replace(BUILT_IN, tools=()),)
    tools.changed.emit()
    assert button.accessibleName() == "Tools"


def test_without_tools_in_use_nothing_is_asked_about_them(app: AppHarness) -> None:
    """So that nothing of them is imported or counted before the panel is opened."""
    tools = FakeChatTools((replace(BUILT_IN, tools=()),))
    app.window.composer.bind_tools(tools, str, lambda: pytest.fail("no panel is made"))
    tools.changed.emit()
    assert tools.looked == 0


def test_the_text_ends_left_of_the_buttons(app: AppHarness, panel: ChatToolsPanel, qtbot: QtBot) -> None:
    composer = app.window.composer
    composer.edit.insertPlainText("word " * 200)
    still()
    button = composer.tools_button
    edge = button.mapTo(composer, button.rect().topLeft()).x()
    assert composer.edit.cursorRect().right() + composer.edit.x() < edge
