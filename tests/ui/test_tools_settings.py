"""Settings → Tools: what is shown of servers, and that nothing runs before its whole command was seen."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.storage.consents import EVERY_CHAT, Consent
from app.system.secrets import Secrets
from app.tools import commands, servers
from app.tools.definitions import LONGEST_DESCRIPTION, Answer, ToolResult
from app.tools.host_process import ToolHost
from app.tools.wire import ConnectionState, ServerProblem
from app.view_models.tools import CallState, ServerRow, ToolRow
from app.views.settings.search import places, search
from app.views.settings.tools import RemovedCard, RunSheet, ServerCard, ToolsPage
from app.views.transcript.consent_part import ConsentPart
from app.words.tools import problem_text, program_page, sign_in_pages
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.oauth_tool_server import browse, oauth_tool_server
from tests.helpers.stillness import still
from tests.helpers.tool_calls import MODELS, call, calls, says
from tests.helpers.tool_hosts import MALICIOUS

FILES = "/opt/homebrew/bin/npx -y server-filesystem" + " /Users/mei/a-long-folder" * 12
LINEAR = {
    "url": "https://mcp.example.com/mcp",
    "headers": {"Authorization": "Bearer 1", "X-Team": "YOUR_TEAM"},
}


class Setup:
    def __init__(self, app: AppHarness) -> None:
        self.app = app
        self.servers = app.application.tool_servers
        self.page = app.open_page(ToolsPage)
        self.window = app.application.settings_window()

    def add(self, text: str = FILES) -> ServerCard:
        before = set(self.page.cards)
        self.servers.add_text(text)
        still()
        (server,) = set(self.page.cards) - before
        return self.card(server)

    def card(self, server: str) -> ServerCard:
        card = self.page.cards[server]
        assert isinstance(card, ServerCard)
        return card

    def row(self) -> ServerRow:
        return self.servers.rows()[0]

    def show(self, card: ServerCard, *tools: ToolRow, **changes: object) -> None:
        """In place of what is so, which is not shown again."""
        self.app.chats.tools.blockSignals(True)
        card.show_server(replace(self.row(), **changes), tools)  # type: ignore[arg-type]

    @property
    def sheets(self) -> list[RunSheet]:
        return self.page.findChildren(RunSheet)


@pytest.fixture
def setup(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Setup]:
    monkeypatch.setenv("HOME", str(tmp_path))
    find = commands.find_command  # whatever this machine has, there is no Node.js
    monkeypatch.setattr(servers, "find_command", lambda name: "" if name.endswith("npx") else find(name))
    monkeypatch.setattr(servers, "ask_shell", lambda _name: "")
    with open_app(tmp_path / "profile", qtbot, models=MODELS) as app:
        yield Setup(app)


def test_a_server_is_switched_on_only_after_its_whole_command_was_shown(setup: Setup) -> None:
    card = setup.add()
    QTest.mouseClick(card.on, Qt.MouseButton.LeftButton)
    still()
    assert not card.on.isChecked()
    (asked,) = setup.sheets
    assert asked.command.text() == FILES
    assert asked.command.verticalScrollBar().maximum() == 0, "none of it is hidden"
    assert asked.rect().contains(asked.command.geometry())
    assert asked.act_button.isEnabled()
    assert asked.cancel_button.hasFocus()
    asked.reject()
    assert setup.row().state is ConnectionState.OFF
    card.ask().accept()
    still()
    assert setup.row().state is not ConnectionState.OFF
    assert card.on.isChecked()


def test_the_focus_stays_where_a_server_was_removed_and_put_back(setup: Setup, qtbot: QtBot) -> None:
    setup.window.activateWindow()
    qtbot.waitUntil(setup.window.isActiveWindow)
    card = setup.add("npx -y one")
    other = setup.add("npx -y two")
    (first,) = (server for server, each in setup.page.cards.items() if each is card)
    card.remove.setFocus()
    QTest.keyClick(card.remove, Qt.Key.Key_Return)
    still()
    removed = setup.page.cards[first]
    assert isinstance(removed, RemovedCard)
    assert removed.undo.hasFocus()
    QTest.keyClick(removed.undo, Qt.Key.Key_Return)
    still()
    assert setup.card(first).on.hasFocus()
    other.remove.setFocus()
    setup.add("npx -y three")
    assert other.remove.hasFocus()


def test_a_command_longer_than_the_sheet_has_to_be_read_to_its_end(setup: Setup) -> None:
    asked = setup.add("/bin/sh -c" + f" '{'word ' * 700}'" * 20 + " end").ask()
    still()
    assert asked.height() < asked.screen().availableSize().height()
    assert not asked.act_button.isEnabled()
    bar = asked.command.verticalScrollBar()
    bar.setValue(bar.maximum())
    assert asked.act_button.isEnabled()
    bar.setValue(0)
    assert asked.act_button.isEnabled()


def test_a_command_that_changed_meanwhile_stays_off(setup: Setup) -> None:
    card = setup.add()
    setup.show(card, place="/bin/sh -c former")
    card.ask().accept()
    assert setup.row().state is ConnectionState.OFF


def test_one_that_was_seen_is_switched_at_once(setup: Setup) -> None:
    card = setup.add()
    setup.servers.confirm(setup.row().id, FILES)
    QTest.mouseClick(card.on, Qt.MouseButton.LeftButton)
    assert setup.row().state is ConnectionState.OFF
    QTest.keyClick(card.on, Qt.Key.Key_Space)
    assert setup.row().state is not ConnectionState.OFF
    assert not setup.sheets


def test_secrets_are_passwords_that_are_never_shown(setup: Setup) -> None:
    card = setup.add(json.dumps({"mcpServers": {"linear": LINEAR}}))
    field = card.secrets["X-Team"]
    assert field.echoMode() is QLineEdit.EchoMode.Password
    assert setup.row().missing == ("X-Team",)
    field.setText("\x07")
    field.editingFinished.emit()
    assert "cannot be used" in card._secret_rows["X-Team"].explanation.text()
    field.setFocus()
    QTest.keyClicks(field, "s3cret")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert setup.row().missing == ()
    assert card.secrets["X-Team"].text() == ""


def test_what_it_offers_is_shown_whole(setup: Setup) -> None:
    description = "word " * (LONGEST_DESCRIPTION // 5)
    card = setup.add()
    setup.show(card, ToolRow("x/x", "x", description, 900), state=ConnectionState.READY)
    QTest.keyClick(card.offers, Qt.Key.Key_Return)
    still()
    labels = [label.text() for label in card.findChildren(type(card.fault)) if label.isVisible()]
    assert description in labels
    assert card.offers.shows_more()


def test_what_is_not_known_yet_is_asked_of_the_server_which_can_be_restarted(setup: Setup, qtbot: QtBot) -> None:
    noted = setup.app.paths.data / "noted"
    noted.mkdir()
    card = setup.add(f"{sys.executable} {MALICIOUS} good {noted}")
    setup.servers.confirm(setup.row().id, setup.row().place)
    card.offers.click()
    qtbot.waitUntil(lambda: "1 tool" in card.offers.text())
    card.restart.click()
    qtbot.waitUntil(lambda: len(list(noted.iterdir())) == 2)


def test_its_last_words_are_opened(setup: Setup) -> None:
    card = setup.add()
    setup.show(card, state=ConnectionState.FAILED, stderr="last words")
    assert not card.stderr.isVisible()
    card.last_words.click()
    still()
    assert card.stderr.isVisible()
    assert card.stderr.text() == "last words"


def test_a_server_is_removed_in_its_place_with_undo_and_the_others_keep_what_is_typed(setup: Setup) -> None:
    setup.add()
    typed = setup.add(json.dumps({"mcpServers": {"linear": LINEAR}}))
    typed.secrets["X-Team"].setText("half")
    first, second = setup.page.cards
    setup.card(first).remove.click()
    removed = setup.page.cards[first]
    assert isinstance(removed, RemovedCard)
    assert list(setup.page.cards) == [first, second], "in its place"
    assert setup.card(second) is typed
    assert typed.secrets["X-Team"].text() == "half"
    removed.undo.click()
    assert not removed.isVisible()
    setup.card(first).remove.click()
    setup.window.show_page("general")
    assert list(setup.page.cards) == [second], "it is forgotten when the page is left"
    assert [row.id for row in setup.servers.rows()] == [second]


def test_a_consent_for_every_chat_is_seen_and_ended(setup: Setup) -> None:
    tools = setup.app.chats.tools
    row = next(each for each in setup.page.built_in.rows if each.words.name.text() == "Read files")
    assert not row.ask_again.isVisibleTo(setup.page)
    tools.consents.put(EVERY_CHAT, Consent("", "read_file", "", "digest", ""))
    tools.changed.emit()
    assert row.words.explanation.text().endswith("Runs without asking.")
    QTest.mouseClick(row.ask_again, Qt.MouseButton.LeftButton)
    assert not row.ask_again.isVisibleTo(setup.page)
    assert not tools.consents.all()


def test_a_missing_program_is_named_with_the_way_to_get_it(setup: Setup, qtbot: QtBot) -> None:
    card = setup.add()
    card.ask().accept()
    qtbot.waitUntil(lambda: "Node.js" in card.fault.text())
    assert card.get_program.isVisible()
    assert program_page("node").startswith("https://")
    other = setup.add("/no/such/thing")
    other.ask().accept()
    qtbot.waitUntil(lambda: "/no/such/thing" in other.fault.text())
    assert not other.get_program.isVisible()


@pytest.mark.parametrize(
    "problem", ["not_protocol", "not_text", "closed", "host_ended", "arguments", "", "of a later version"]
)
def test_any_other_problem_has_words(problem: str) -> None:
    assert problem_text(problem, "")
    assert problem_text(problem, "detail")


@pytest.mark.parametrize("problem", [each for each in ServerProblem if "sign" in each or each == "no_registration"])
def test_what_goes_wrong_with_a_sign_in_has_words_of_its_own(problem: ServerProblem) -> None:
    words = [problem_text(each, "detail") for each in ServerProblem]
    assert words.count(problem_text(problem, "detail")) == 1


def test_adding_says_what_became_of_it(setup: Setup) -> None:
    add = setup.page.add_card
    assert setup.page.empty.isVisible()
    assert not add.add_button.isEnabled()
    add.field.insertPlainText('{"mcpServers": {}}')
    add.add_button.click()
    assert "no command" in add.outcome.text()
    assert add.field.text(), "it can be corrected"
    add.field.set_text(
        json.dumps({"mcpServers": {"memory": {"command": "/bin/sh"}, "odd": {"command": "/bin/\u202esh"}}})
    )
    add.add_button.click()
    assert add.field.text() == ""
    assert "memory" in add.outcome.text()
    assert "odd: " in add.outcome.text()
    assert not setup.page.empty.isVisible()


def test_servers_of_other_programs_are_offered_where_there_are_any(setup: Setup, tmp_path: Path) -> None:
    assert not setup.page.import_card.isVisible()
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": {"memory": {"command": "/bin/sh"}}}))
    setup.page.hide()
    setup.page.show()
    assert setup.page.import_card.isVisible()
    setup.page.import_card.buttons["Cursor"].click()
    assert "memory" in setup.page.add_card.outcome.text()
    assert list(setup.page.cards) == ["memory"]


def test_the_search_finds_servers_and_adding(setup: Setup) -> None:
    card = setup.add()
    found = search(setup.row().name, places({"tools": setup.page}, {"tools": "Tools"}))
    assert found[0].control is card.on
    assert search("JSON", places({"tools": setup.page}, {"tools": "Tools"}))


def content(path: Path) -> bytes:
    """b"" of a folder, and of a file that is gone by now."""
    with suppress(IsADirectoryError, FileNotFoundError):
        return path.read_bytes()
    return b""


def test_signing_in_and_out(setup: Setup, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the browser; the tokens are among the secrets alone, and are deleted and revoked."""
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    with oauth_tool_server() as server:
        card = setup.add(server.address)
        assert not card.sign_in.isVisible()
        card.ask().accept()
        qtbot.waitUntil(card.sign_in.isVisible)
        assert (card.sign_in.text(), card.fault.text()) == ("Sign In…", "Sign in to use it.")
        assert opened == []

        QTest.mouseClick(card.sign_in, Qt.MouseButton.LeftButton)
        assert card.sign_in.text() == "Cancel Sign-In"
        assert not card.fault.isVisible()
        qtbot.waitUntil(lambda: len(opened) == 1)
        assert card.head.explanation.text() == "Sign in at 127.0.0.1, in your browser."
        setup.servers.sign_in(setup.row().id, sign_in_pages())  # a second one changes nothing
        card.sign_in.click()
        assert (card.sign_in.text(), card.fault.text()) == ("Sign In…", "Sign in to use it.")

        card.sign_in.click()
        qtbot.waitUntil(lambda: len(opened) == 2)
        assert "You can close this page." in browse(opened[1])
        qtbot.waitUntil(lambda: card.sign_in.text() == "Sign Out")
        qtbot.waitUntil(lambda: setup.row().state is ConnectionState.READY)
        token = server.sign_in.access[-1]
        paths = setup.app.paths
        qtbot.waitUntil(lambda: Secrets(paths.hub_token).tool_secret(setup.row().id, "grant", "") is not None)
        others = [each for each in paths.data.rglob("*") if each != paths.hub_token]
        assert not any(token.encode() in content(each) for each in others)

        card.sign_in.click()
        qtbot.waitUntil(lambda: card.sign_in.text() == "Sign In…")
        qtbot.waitUntil(lambda: server.sign_in.revoked == server.sign_in.refresh)
        qtbot.waitUntil(lambda: not paths.hub_token.exists())
        assert len(opened) == 2


def test_a_call_that_needs_more_is_said_with_the_sign_in_that_allows_it(
    setup: Setup, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))

    def sign_in() -> None:
        card.sign_in.click()
        qtbot.waitUntil(lambda: bool(opened))
        browse(opened.pop())
        qtbot.waitUntil(lambda: card.sign_in.text() == "Sign Out")
        qtbot.waitUntil(lambda: setup.row().state is ConnectionState.READY)

    with oauth_tool_server("scopes") as server:
        card = setup.add(server.address)
        card.ask().accept()
        qtbot.waitUntil(card.sign_in.isVisible)
        sign_in()
        qtbot.waitUntil(lambda: bool(setup.servers.known(setup.row().id)))
        (tool,) = setup.servers.known(setup.row().id)
        results: list[ToolResult] = []
        setup.servers.call(tool, "{}", results.append)
        qtbot.waitUntil(lambda: bool(results))
        assert card.head.explanation.text().startswith("A call needs more than you allowed at the sign-in (write).")
        former = list(server.sign_in.refresh)
        sign_in()
        qtbot.waitUntil(lambda: card.head.explanation.text() == "Running")
        assert server.sign_in.scopes == ["read", "read write"]
        qtbot.waitUntil(lambda: server.sign_in.revoked == former)


@pytest.mark.parametrize("page", ["http://192.168.1.2/", "file:///etc/passwd", "x-other:open", "https://a@b.example/"])
def test_no_other_page_is_opened_for_a_sign_in(setup: Setup, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    """Whatever the tool host says."""
    opened: list[object] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    monkeypatch.setattr(ToolHost, "sign_in", lambda *said: said[3](page))
    setup.add("https://mcp.example.com/mcp")
    setup.servers.sign_in(setup.row().id, sign_in_pages())
    still()
    assert opened == []


def test_from_adding_a_server_to_its_answer_in_a_chat(tmp_path: Path, qtbot: QtBot) -> None:
    """A server that really runs: typed into the page, seen, switched on, chosen in the panel, allowed in the chat."""
    noted = tmp_path / "noted"
    noted.mkdir()
    with open_app(tmp_path / "profile", qtbot, models=MODELS) as app:
        page = app.open_page(ToolsPage)
        page.add_card.field.insertPlainText(f"TOKEN=hush {sys.executable} {MALICIOUS} good {noted}")
        page.add_card.add_button.click()
        (server,) = page.cards
        card = page.cards[server]
        assert isinstance(card, ServerCard)
        card.ask().accept()
        qtbot.waitUntil(lambda: "1 tool" in card.offers.text())
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

        qtbot.waitUntil(lambda: bool(asked()))
        (question,) = asked()
        question.early.stop()
        question.answers[Answer.CHAT].click()
        qtbot.waitUntil(lambda: not app.chats.generating)
        (step,) = app.chats.transcript.messages[-1].steps
        assert (step.calls[0].state, step.calls[0].result) == (CallState.DONE, "done")
