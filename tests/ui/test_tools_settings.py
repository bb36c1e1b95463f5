"""Settings → Tools: what is shown of servers, and that nothing runs before its whole command was seen."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.theme import Theme
from app.tools.definitions import LONGEST_DESCRIPTION
from app.view_models.tools import AddedServers, Answer, CallState, ConnectionState, RefusedServer, ServerRow, ToolRow
from app.views.settings.search import places, search
from app.views.settings.tools import RemovedCard, RunSheet, ServerCard, ToolsPage, ToolWords
from app.views.transcript.consent_part import ConsentPart
from app.words.tools import problem_text, program_page
from tests.helpers.app_harness import open_app
from tests.helpers.fake_tools import BUILT_IN, GITHUB, SIGNED_OUT, FakeChatTools, FakeServers
from tests.helpers.stillness import still
from tests.helpers.tool_calls import MODELS, call, calls, says
from tests.helpers.tool_hosts import MALICIOUS

FILES = ServerRow(
    "files",
    "files",
    "/opt/homebrew/bin/npx -y server-filesystem" + " /Users/mei/a-long-folder" * 12,
    state=ConnectionState.OFF,
)


class Setup:
    def __init__(self, *servers: ServerRow) -> None:
        self.servers = FakeServers(*servers)
        self.tools = FakeChatTools()
        self.page = ToolsPage(Theme(), self.tools, self.servers)
        self.page.resize(560, 900)
        self.page.show()
        still()

    def card(self, server: str) -> ServerCard:
        card = self.page.cards[server]
        assert isinstance(card, ServerCard)
        return card


@pytest.fixture
def setup(qtbot: QtBot) -> Setup:
    made = Setup(GITHUB, FILES, SIGNED_OUT)
    qtbot.addWidget(made.page)
    return made


def state_of(setup: Setup, server: str) -> ConnectionState:
    return setup.servers.servers[server].state


def sheet(setup: Setup) -> RunSheet:
    (found,) = setup.page.findChildren(RunSheet)
    return found


def test_a_server_is_switched_on_only_after_its_whole_command_was_shown(setup: Setup) -> None:
    card = setup.card("files")
    QTest.mouseClick(card.on, Qt.MouseButton.LeftButton)
    still()
    assert not card.on.isChecked()
    assert state_of(setup, "files") is ConnectionState.OFF
    asked = sheet(setup)
    assert asked.command.text() == FILES.place
    assert asked.command.verticalScrollBar().maximum() == 0, "none of it is hidden"
    assert asked.rect().contains(asked.command.geometry())
    assert asked.act_button.isEnabled()
    assert asked.cancel_button.hasFocus()
    asked.reject()
    assert state_of(setup, "files") is ConnectionState.OFF
    card.ask().accept()
    still()
    assert state_of(setup, "files") is ConnectionState.STOPPED
    assert ("list", "files") in setup.servers.did
    assert card.on.isChecked()
    assert not setup.card("files").on.isHidden()


def test_a_command_longer_than_the_sheet_has_to_be_read_to_its_end(setup: Setup) -> None:
    setup.servers.put(replace(FILES, place="/bin/sh -c " + "word " * 20_000 + "end"))
    asked = setup.card("files").ask()
    still()
    assert asked.height() < asked.screen().availableSize().height()
    assert not asked.act_button.isEnabled()
    bar = asked.command.verticalScrollBar()
    bar.setValue(bar.maximum())
    assert asked.act_button.isEnabled()
    bar.setValue(0)
    assert asked.act_button.isEnabled()


def test_a_command_that_changed_meanwhile_stays_off(setup: Setup) -> None:
    asked = setup.card("files").ask()
    setup.servers.put(replace(FILES, place="/bin/sh -c evil"))
    asked.accept()
    assert state_of(setup, "files") is ConnectionState.OFF


def test_one_that_was_seen_is_switched_at_once(setup: Setup) -> None:
    QTest.mouseClick(setup.card("linear").on, Qt.MouseButton.LeftButton)
    assert state_of(setup, "linear") is ConnectionState.OFF
    QTest.keyClick(setup.card("linear").on, Qt.Key.Key_Space)
    assert state_of(setup, "linear") is ConnectionState.STOPPED
    assert not setup.page.findChildren(RunSheet)


def test_secrets_are_passwords_that_are_never_shown(setup: Setup) -> None:
    field = setup.card("linear").secrets["X-Team"]
    assert field.echoMode() is QLineEdit.EchoMode.Password
    field.setFocus()
    QTest.keyClicks(field, "s3cret")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert ("secret", "linear", "X-Team", "s3cret") in setup.servers.did
    assert setup.card("linear").secrets["X-Team"].text() == ""


def test_a_value_that_cannot_be_one_is_said(setup: Setup) -> None:
    card = setup.card("linear")
    card.secrets["X-Team"].setText("\x07")
    card.secrets["X-Team"].editingFinished.emit()
    assert "cannot be used" in card._secret_rows["X-Team"].explanation.text()


def test_what_it_offers_is_shown_whole(setup: Setup) -> None:
    description = "word " * (LONGEST_DESCRIPTION // 5)
    setup.servers.put(replace(GITHUB, tools=(ToolRow("github/x", "x", description, 900),)))
    card = setup.card("github")
    QTest.keyClick(card.offers, Qt.Key.Key_Return)
    still()
    labels = [label.text() for label in card.findChildren(type(card.fault)) if label.isVisible()]
    assert description in labels
    assert card.offers.shows_more()


def test_what_is_not_known_yet_is_asked_of_the_server(setup: Setup) -> None:
    setup.tools.servers = ()
    setup.servers.put(replace(GITHUB, tools=(), state=ConnectionState.STOPPED))
    setup.card("github").offers.click()
    assert ("list", "github") in setup.servers.did


def test_its_last_words_are_opened(setup: Setup) -> None:
    card = setup.card("linear")
    assert not card.stderr.isVisible()
    card.last_words.click()
    still()
    assert card.stderr.isVisible()
    assert card.stderr.text() == "last words"


def test_restart_and_remove_with_undo(setup: Setup) -> None:
    setup.card("github").restart.click()
    assert ("restart", "github") in setup.servers.did
    before = list(setup.page.cards)
    setup.card("files").remove.click()
    removed = setup.page.cards["files"]
    assert isinstance(removed, RemovedCard)
    assert list(setup.page.cards) == before, "in its place"
    removed.undo.click()
    assert isinstance(setup.page.cards["files"], ServerCard)
    setup.card("files").remove.click()
    setup.page.hide()
    assert not setup.servers.removed, "it is forgotten when the page is left"
    assert "files" not in setup.page.cards


def test_what_is_opened_and_typed_stays_when_another_server_goes(setup: Setup) -> None:
    card = setup.card("linear")
    card.secrets["X-Team"].setText("half")
    setup.card("github").remove.click()
    assert setup.card("linear") is card
    assert card.secrets["X-Team"].text() == "half"


def test_a_consent_for_every_chat_is_seen_and_ended(setup: Setup) -> None:
    card = setup.card("github")
    card.offers.click()
    allowed = replace(GITHUB.tools[1], always=True)
    setup.tools.servers = (
        replace(BUILT_IN, tools=(*BUILT_IN.tools[:-1], replace(BUILT_IN.tools[-1], always=True))),
        replace(GITHUB, tools=(GITHUB.tools[0], allowed)),
    )
    setup.servers.put(replace(GITHUB, tools=setup.tools.servers[1].tools))
    still()
    rows = [row for row in setup.page.findChildren(ToolWords) if row.ask_again.isVisibleTo(setup.page)]
    assert [row.words.name.text() for row in rows] == ["Load a web page", "create_issue"]
    assert all(row.words.explanation.text().endswith("Runs without asking.") for row in rows)
    for row in rows:
        QTest.mouseClick(row.ask_again, Qt.MouseButton.LeftButton)
    assert not any(tool.always for group in setup.tools.servers for tool in group.tools)


def test_a_missing_program_is_named_with_the_way_to_get_it(setup: Setup) -> None:
    row = replace(FILES, state=ConnectionState.FAILED, problem="no_command", detail="node")
    setup.servers.put(row)
    card = setup.card("files")
    assert "Node.js" in card.fault.text()
    assert card.get_program.isVisible()
    assert program_page("node").startswith("https://")
    setup.servers.put(replace(row, detail="/no/such/thing"))
    assert not card.get_program.isVisible()
    assert "/no/such/thing" in card.fault.text()


@pytest.mark.parametrize(
    "problem", ["not_protocol", "not_text", "closed", "host_ended", "arguments", "", "of a later version"]
)
def test_any_other_problem_has_words(problem: str) -> None:
    assert problem_text(problem, "")
    assert problem_text(problem, "detail")


def test_adding_says_what_became_of_it(setup: Setup) -> None:
    add = setup.page.add_card
    assert not add.add_button.isEnabled()
    add.field.insertPlainText('{"mcpServers": {}}')
    setup.servers.outcome = AddedServers(understood=False)
    add.add_button.click()
    assert "no command" in add.outcome.text()
    assert add.field.text(), "it can be corrected"
    setup.servers.outcome = AddedServers(("memory",), (RefusedServer("odd", "characters"),))
    add.add_button.click()
    assert add.field.text() == ""
    assert "memory" in add.outcome.text()
    assert "odd: " in add.outcome.text()


def test_servers_of_other_programs_are_offered_where_there_are_any(setup: Setup) -> None:
    assert not setup.page.import_card.isVisible()
    setup.servers.others = ("Claude Desktop",)
    setup.servers.changed.emit()
    assert setup.page.import_card.isVisible()
    setup.servers.outcome = AddedServers(("memory",))
    setup.page.import_card.buttons["Claude Desktop"].click()
    assert ("import", "Claude Desktop") in setup.servers.did
    assert "memory" in setup.page.add_card.outcome.text()


def test_without_servers_it_says_what_they_are_for(qtbot: QtBot) -> None:
    setup = Setup()
    qtbot.addWidget(setup.page)
    assert setup.page.empty.isVisible()
    setup.servers.put(GITHUB)
    assert not setup.page.empty.isVisible()


def test_the_search_finds_servers_and_adding(setup: Setup) -> None:
    found = search("github", places({"tools": setup.page}, {"tools": "Tools"}))
    assert found[0].control is setup.card("github").on
    assert search("JSON", places({"tools": setup.page}, {"tools": "Tools"}))


def test_from_adding_a_server_to_its_answer_in_a_chat(tmp_path: Path, qtbot: QtBot) -> None:
    """A server that really runs: typed into the page, seen, switched on, chosen in the panel, allowed in the chat."""
    noted = tmp_path / "noted"
    noted.mkdir()
    with open_app(tmp_path / "profile", qtbot, models=MODELS) as app:
        page = app.show_settings("tools").pages["tools"]
        assert isinstance(page, ToolsPage)
        page.add_card.field.insertPlainText(f"TOKEN=hush {sys.executable} {MALICIOUS} good {noted}")
        page.add_card.add_button.click()
        (server,) = page.cards
        card = page.cards[server]
        assert isinstance(card, ServerCard)
        card.ask().accept()
        qtbot.waitUntil(lambda: "1 tool" in card.offers.text(), timeout=90_000)
        app.window.activateWindow()
        app.window.composer.tools_button.click()
        panel = app.window.composer.tools_button.panel
        panel.heads[server].switch.click()
        panel.leave()
        (name,) = app.chats.tools.chosen
        flat = next(tool.flat_name for tool in app.application.tool_servers.known(server) if tool.id == name)
        app.engine.scripts.extend((calls(call(flat, {"text": "hello"})), says("Done.")))
        app.window.composer.send("Try it.")

        def asked() -> list[ConsentPart]:
            widgets = [part.widget for part, _ in app.transcript.visible_parts.shown()]
            return [each for each in widgets if isinstance(each, ConsentPart)]

        qtbot.waitUntil(lambda: bool(asked()), timeout=90_000)
        (question,) = asked()
        question.early.stop()
        question.answers[Answer.CHAT].click()
        qtbot.waitUntil(lambda: not app.chats.generating, timeout=90_000)
        (step,) = app.chats.transcript.messages[-1].steps
        assert (step.calls[0].state, step.calls[0].result) == (CallState.DONE, "done")
