"""The server for other programs, as the app runs it: real requests over HTTP, its page, its rows, its end."""

from __future__ import annotations

import base64
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.controllers.server import _FAMILY_WITH_TOOLS, ServerController
from app.storage import ReplyStatus
from app.view_models.model_list import PairState
from app.view_models.request_table import RequestRole, RequestRow
from app.views.settings.search import search
from app.views.settings.server import ServerPage
from app.words.clients import AGENT_TOKENS, CLIENTS
from app.words.requests import RequestColumn
from engine import ModelAbout, ServerPhase, load_catalog
from tests.architecture.project import ROOT
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import DRAFT, MAIN, model_info
from tests.helpers.fake_model_store import installed
from tests.helpers.gui_waits import gui_waits
from tests.helpers.picture_files import rgb_png
from tests.helpers.ports import free_port
from tests.helpers.served import PATIENCE_S, Asked, chat_body, client_of, listens
from tests.helpers.stillness import still
from tests.helpers.window_pages import SETTINGS_PAGES

SAYS_HOW_IT_WAS_STARTED = "import json, os, sys\nprint(json.dumps([sys.argv, dict(os.environ)]))\n"
WRITTEN = "A draft guesses, the main model checks."


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot, port: int) -> Iterator[AppHarness]:
    with open_app(tmp_path, qtbot, put_settings={"server_port": port}) as harness:
        yield harness


@pytest.fixture
def page(harness: AppHarness) -> ServerPage:
    return harness.open_page(ServerPage)


def wait_for(server: ServerController, phase: ServerPhase, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: server.state.phase is phase)


def turn_on(server: ServerController, qtbot: QtBot) -> None:
    server.set_on(True)
    wait_for(server, ServerPhase.RUNNING, qtbot)


def ask(
    server: ServerController, key: str = "", path: str = "/v1/chat/completions", content: object = "Hello"
) -> httpx2.Response:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    with client_of(server.reached.address) as http:
        return http.post(path, json=chat_body(content), headers=headers)


def of_programs(harness: AppHarness) -> list[RequestRow]:
    return [row for row in harness.chats.requests.rows if row.of_program]


def said_of_programs(harness: AppHarness) -> list[tuple[str, str, str]]:
    """The state of each, in two lines and spoken."""
    table, roles = harness.chats.requests, (Qt.ItemDataRole.DisplayRole, RequestRole.SECOND_LINE)
    places = [table.index(at, RequestColumn.STATE) for at, row in enumerate(table.rows) if row.of_program]
    spoken = Qt.ItemDataRole.AccessibleTextRole
    return [tuple(str(table.data(place, role)) for role in (*roles, spoken)) for place in places]  # type: ignore[misc]


def threads() -> set[str]:
    return {each.name for each in threading.enumerate()}


def test_it_is_off_until_somebody_turns_it_on(
    harness: AppHarness, server: ServerController, port: int, qtbot: QtBot
) -> None:
    assert server.state.phase is ServerPhase.OFF
    assert not listens(port)
    assert "server" not in threads()

    turn_on(server, qtbot)
    assert ask(server).json()["choices"][0]["message"]["content"] == WRITTEN
    qtbot.waitUntil(lambda: [row.status for row in of_programs(harness)] == [ReplyStatus.DONE])
    table = harness.chats.requests
    cells = {column: table.data(table.index(0, column)) for column in RequestColumn}
    assert cells[RequestColumn.CHAT] == "Another program"
    chat = table.index(0, RequestColumn.CHAT)
    when = chat.data(RequestRole.WHEN)
    assert when
    assert chat.data(RequestRole.SECOND_LINE) == "Main 8B ← Draft 1B"
    assert chat.data(Qt.ItemDataRole.AccessibleTextRole) == f"Another program {when} Main 8B ← Draft 1B"
    assert cells[RequestColumn.ACCEPT_RATE] == "63%"
    harness.ask(qtbot, "Question")  # the person's own are rows as before
    assert [row.of_program for row in table.rows] == [False, True]

    with client_of(server.reached.address) as http:
        listed = http.get("/v1/models").json()["data"][0]
    assert (listed["id"], listed["context_length"]) == (server.reached.model, server.reached.context_tokens)
    assert ("image" in listed["architecture"]["input_modalities"]) is server.reached.sees

    for host, status in ((f"host.docker.internal:{server.port}", 200), ("host.example", 403)):
        with client_of(server.reached.address) as http:
            assert http.get("/v1/models", headers={"host": host}).status_code == status

    harness.models.eject()
    qtbot.waitUntil(lambda: harness.engine.state().main is None)
    asked = Asked(server.port, chat_body("Hello"))
    qtbot.waitUntil(lambda: asked.done and harness.models.pair.state is PairState.READY)
    assert " 200 " in asked.answer


def test_a_picture_of_a_program_is_decoded_as_one_of_the_windows(tmp_path: Path, qtbot: QtBot, port: int) -> None:
    models = {MAIN.folder: replace(MAIN, sees=True)}
    rgb = bytes(range(9 * 5 * 3))
    data = base64.b64encode(rgb_png(9, 5, rgb)).decode()
    content = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}]
    put = {"server_port": port, "main_folder": MAIN.folder, "draft_folder": ""}
    with open_app(tmp_path, qtbot, models=models, put_settings=put) as harness:
        turn_on(harness.application.server, qtbot)
        assert ask(harness.application.server, content=content).status_code == 200
        (picture,) = harness.engine.requests[-1].messages[-1].pictures
    assert (picture.width, picture.height, picture.rgb) == (9, 5, rgb)


def test_a_request_that_is_cut_off_ends_its_row(harness: AppHarness, server: ServerController, qtbot: QtBot) -> None:
    turn_on(server, qtbot)
    harness.engine.gate.hold()
    body = json.dumps(chat_body("Hello", stream=True)).encode()
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as connection:
        head = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        harness.engine.gate.let_through(1)
        qtbot.waitUntil(lambda: [row.status for row in of_programs(harness)] == [ReplyStatus.STREAMING])
        assert len(harness.engine.state().guests) == 1  # the person's own come first
        harness.window.composer.edit.insertPlainText("Question")
        harness.press_return()
        qtbot.waitUntil(lambda: said_of_programs(harness) == [("Paused", "for your chat", "Paused for your chat")])
    harness.chats.stop()
    qtbot.waitUntil(lambda: [row.status for row in of_programs(harness)] == [ReplyStatus.STOPPED])
    assert said_of_programs(harness)[0][0] == "Stopped"


def test_programs_without_the_key_are_refused(
    harness: AppHarness, server: ServerController, page: ServerPage, qtbot: QtBot
) -> None:
    QTest.mouseClick(page.new_key, Qt.MouseButton.LeftButton)
    key = server.reached.key
    turn_on(server, qtbot)
    assert [ask(server, given).status_code for given in ("", "another", key)] == [401, 401, 200]
    assert page.key.echoMode() == page.key.EchoMode.Password
    assert key not in page.connect_card.text.text()
    QTest.mouseClick(page.show_key, Qt.MouseButton.LeftButton)
    assert page.key.text() == key
    assert key in page.connect_card.text.text()
    qtbot.waitUntil(lambda: harness.paths.hub_token.exists() and key in harness.paths.hub_token.read_text())
    assert key not in harness.paths.settings.read_text()
    QTest.mouseClick(page.new_key, Qt.MouseButton.LeftButton)
    assert server.reached.key != key
    qtbot.waitUntil(lambda: server.state.phase is ServerPhase.RUNNING and ask(server, key).status_code == 401)
    QTest.mouseClick(page.remove_key, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: server.state.phase is ServerPhase.RUNNING and ask(server).status_code == 200)


def test_no_program_connects_while_the_key_cannot_be_read(
    harness: AppHarness, server: ServerController, page: ServerPage, qtbot: QtBot
) -> None:
    """Of a locked keychain, say: without a key any program could."""
    harness.application.settings.server_has_key = True
    server.set_on(True)
    wait_for(server, ServerPhase.FAILED, qtbot)
    assert page.on_row.explanation.text().startswith("The key cannot be read.")
    assert (page.remove_key.isVisibleTo(page), page.copy_key.isVisibleTo(page)) == (True, False)
    assert not listens(server.port)
    QTest.mouseClick(page.new_key, Qt.MouseButton.LeftButton)
    wait_for(server, ServerPhase.RUNNING, qtbot)
    assert [ask(server, given).status_code for given in ("", server.reached.key)] == [401, 200]


def test_a_key_of_an_earlier_build_is_known_to_be_there(
    harness: AppHarness, server: ServerController, page: ServerPage, qtbot: QtBot
) -> None:
    server.make_key()
    harness.application.settings.server_has_key = False
    turn_on(server, qtbot)
    assert harness.application.settings.server_has_key


def test_another_port_and_the_network(server: ServerController, page: ServerPage, qtbot: QtBot) -> None:
    turn_on(server, qtbot)
    before, other = server.port, free_port()
    page.port.setValue(other)
    qtbot.waitUntil(lambda: server.state.addresses[:1] == (f"http://127.0.0.1:{other}",))
    assert not listens(before)
    assert f"http://127.0.0.1:{other}" in page.connect_card.text.text()

    page.in_network.click()
    turn_on(server, qtbot)
    assert ask(server).status_code == 401
    assert ask(server, server.reached.key).status_code == 200
    assert server.state.addresses == (f"http://0.0.0.0:{server.port}",)
    page.remove_key.click()
    assert not page.in_network.isChecked()
    qtbot.waitUntil(lambda: server.state.addresses[:1] == (f"http://127.0.0.1:{server.port}",))


def test_a_port_that_is_taken(harness: AppHarness, server: ServerController, page: ServerPage, qtbot: QtBot) -> None:
    banner = harness.window.banner
    with socket.create_server(("127.0.0.1", server.port)):
        server.set_on(True)
        wait_for(server, ServerPhase.FAILED, qtbot)
        sentence = f"Port {server.port} is taken by another program."
        assert page.on_row.explanation.text() == sentence
        assert banner.sentence.text() == sentence
        assert not page.another_row.isHidden()
        while server.state.phase is not ServerPhase.RUNNING:  # the next may be taken, too
            page.another.click()
            qtbot.waitUntil(lambda: server.state.phase in (ServerPhase.RUNNING, ServerPhase.FAILED))
    assert page.another_row.isHidden()
    assert not banner.isVisible()
    assert page.port.value() == server.port
    assert ask(server).status_code == 200


def test_a_port_that_is_free_again_is_taken_without_the_user(
    harness: AppHarness, server: ServerController, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later each time, and the user is told once."""
    hour_ms = 3_600_000  # no timer runs out by itself here
    monkeypatch.setattr("app.system.retry_timer.FIRST_WAIT_MS", hour_ms)
    monkeypatch.setattr("app.system.retry_timer.MOST_WAIT_MS", 3 * hour_ms)
    failed: list[None] = []
    server.failed.connect(lambda: failed.append(None))
    with socket.create_server(("127.0.0.1", server.port)):
        server.set_on(True)
        for hours in (1, 2, 3, 3):
            qtbot.waitUntil(server.retry.isActive)
            assert server.retry.interval() == hours * hour_ms
            assert server.state.phase is ServerPhase.FAILED
            server.retry.stop()
            server.retry.timeout.emit()
        qtbot.waitUntil(server.retry.isActive)
    assert len(failed) == 1
    server.retry.timeout.emit()
    wait_for(server, ServerPhase.RUNNING, qtbot)
    assert not server.retry.isActive()
    assert not harness.window.banner.isVisible()
    server.retry.timeout.emit()  # of a timer that ran out just then
    assert ask(server).status_code == 200


def test_the_window_does_not_wait_for_it(server: ServerController, page: ServerPage, qtbot: QtBot) -> None:
    with gui_waits() as met:
        page.on.click()
        wait_for(server, ServerPhase.RUNNING, qtbot)
        server.make_key()
        qtbot.waitUntil(lambda: server.state.phase is ServerPhase.STOPPING)
        assert page.on_row.explanation.text() == "Starting…"  # with another key
        wait_for(server, ServerPhase.RUNNING, qtbot)
        page.on.click()
        page.on.click()  # before it has ended
        qtbot.waitUntil(lambda: server.state.phase is ServerPhase.STOPPING or not server.is_on)
        wait_for(server, ServerPhase.RUNNING, qtbot)
        page.on.click()
        wait_for(server, ServerPhase.OFF, qtbot)
    assert met == []


def test_it_is_on_again_after_a_start_and_ends_with_the_app(tmp_path: Path, qtbot: QtBot, port: int) -> None:
    with open_app(tmp_path, qtbot, put_settings={"server_port": port, "server_on": True}) as harness:
        server = harness.application.server
        wait_for(server, ServerPhase.RUNNING, qtbot)
        harness.engine.gate.hold()
        body = json.dumps(chat_body("Hello", stream=True)).encode()
        head = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
            connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
            harness.engine.gate.let_through(1)
            qtbot.waitUntil(lambda: bool(of_programs(harness)))
            harness.close()
            connection.settimeout(PATIENCE_S)
            while connection.recv(4096):
                pass
        assert "server" not in threads()
        assert not listens(port)


def test_each_client_is_shown_and_copied_as_it_is(server: ServerController, page: ServerPage, qtbot: QtBot) -> None:
    server.make_key()
    card = page.connect_card
    for key, client in CLIENTS.items():
        card.client.choose(key)
        assert card.text.accessibleName() == "Text to paste"
        qtbot.waitUntil(lambda: card.text.verticalScrollBar().maximum() == 0)  # all of it is in sight
        card.copy_button.click()
        assert QGuiApplication.clipboard().text() == client.text(server.reached)
        assert card.copy_button.text() == "Copied"


def test_a_program_is_started(harness: AppHarness, server: ServerController, tmp_path: Path, qtbot: QtBot) -> None:
    server.make_key()
    turn_on(server, qtbot)
    key = server.reached.key
    qtbot.waitUntil(lambda: harness.paths.hub_token.exists() and key in harness.paths.hub_token.read_text())
    home = tmp_path / "home"
    for name in ("aider", "claude"):
        program = home / ".local" / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!{sys.executable}\n{SAYS_HOW_IT_WAS_STARTED}")
        program.chmod(0o755)

    def launched(*arguments: str) -> subprocess.CompletedProcess[str]:
        options = (f"--profile-dir={tmp_path}", f"--port={server.port}")
        command = [sys.executable, "-m", "app", "launch", *options, *arguments]
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "KEPT": "yes"}
        return subprocess.run(
            command, capture_output=True, check=False, cwd=ROOT, env=environment, text=True, timeout=300
        )

    arguments, environment = json.loads(launched("aider", "--message", "Say hello", "--port").stdout)
    assert arguments[1:3] == ["--model", "openai/Main-8B"]
    assert arguments[-3:] == ["--message", "Say hello", "--port"]
    assert environment["OPENAI_API_BASE"] == f"{server.reached.address}/v1"
    assert environment["OPENAI_API_KEY"] == key
    assert environment["KEPT"] == "yes"

    refused = launched("claude")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("Claude Code works with tools, and Main 8B calls none.")
    _, environment = json.loads(launched("--model", "main-8b", "claude").stdout)  # the user knows better
    assert (environment["ANTHROPIC_MODEL"], environment["ANTHROPIC_AUTH_TOKEN"]) == ("Main-8B", key)
    assert {each.name for each in home.iterdir()} == {".local"}


def test_a_model_that_cannot_serve_a_program(harness: AppHarness, server: ServerController, page: ServerPage) -> None:
    card = page.connect_card
    card.client.choose("curl")
    assert card.note.isHidden()
    card.client.choose("claude")
    assert card.note.text().startswith("Claude Code works with tools, and Main 8B calls none. Qwen")
    assert card.note.text().endswith("can serve it: see Models.")
    harness.application.settings.language = "ko"
    still()
    assert card.note.text().startswith("Claude Code에는")


def test_an_installed_model_that_can_serve_goes_first(tmp_path: Path, qtbot: QtBot) -> None:
    able = replace(model_info("/models/Agent-7B-4bit"), about=ModelAbout(tools=True), context_tokens=AGENT_TOKENS)
    short = replace(able, folder="/models/Short-9B", name="Short-9B", context_tokens=AGENT_TOKENS - 1)
    here = [installed(model) for model in (MAIN, DRAFT, short, able)]
    with open_app(tmp_path, qtbot, installed=here) as app:
        page = app.open_page(ServerPage)
        note = page.connect_card.note
        assert note.text().endswith("calls none. Agent 7B is installed and can serve it.")


def test_every_family_that_is_recommended_for_agents_serves_them() -> None:
    named = [
        model
        for model in load_catalog(ROOT / "resources" / "catalog.json").models
        if model.name.startswith(_FAMILY_WITH_TOOLS)
    ]
    assert len(named) > 10
    assert [model.name for model in named if model.context_tokens < AGENT_TOKENS] == []


def test_menu_search_and_pages_lead_there(harness: AppHarness, server: ServerController, qtbot: QtBot) -> None:
    menu = harness.application.server_menu
    commands = {each.text: each for each in harness.window.tools.commands.all()}
    assert "Server Settings" in commands
    commands["Turn Server On"].act()
    wait_for(server, ServerPhase.RUNNING, qtbot)
    assert menu.switch.text() == "Turn Server Off"
    menu.switch.trigger()
    wait_for(server, ServerPhase.OFF, qtbot)
    menu.settings.trigger()
    window = harness.show_settings()
    assert window.shown == "server"
    names = {"port": "Port", "key": "Key", "connect": "Connect a program", "claude": "Connect a program"}
    for words, name in names.items():
        assert name in [place.name for place in search(words, window.places()) if place.page == "server"]

    assert tuple(harness.show_settings().pages) == SETTINGS_PAGES
