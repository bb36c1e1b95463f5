"""The daily question for a newer Hunch, of a real server: when it is asked, what is told, and what is let pass."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QDesktopServices, QGuiApplication
from pytestqt.qtbot import QtBot

from app.application import look_for_updates
from app.bridge import GuiCalls
from app.controllers.updates import Updates
from app.settings import Settings
from app.system import updates
from app.system.updates import Channel, UpdateNotice
from app.views.shell import start_notices
from app.views.widgets.dialog import Dialog
from tests.helpers.app_harness import AppHarness
from tests.helpers.notices import NoticeServer, answer, notice_server
from tests.helpers.stillness import still

DAY_S = 24 * 3600.0


@pytest.fixture
def server() -> Iterator[NoticeServer]:
    with notice_server() as server:
        yield server


class Clock:
    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        return self.now


class Asked:
    """The question, and what came of it; `settle` waits for its end."""

    def __init__(self, folder: Path, channel: Channel | None, qtbot: QtBot) -> None:
        self.clock, self.found = Clock(), list[UpdateNotice]()
        self._qtbot, self._calls = qtbot, GuiCalls()
        self.settings = Settings(folder / "settings.json", folder / "token")
        self.updates = Updates(channel, self.settings, self._calls.post, self.clock, "0.1")
        self.updates.found.connect(self.found.append)

    def look(self) -> list[UpdateNotice]:
        self.updates.look()
        self._qtbot.waitUntil(lambda: self.updates._question is None)
        return self.found


@pytest.fixture
def asked(tmp_path: Path, server: NoticeServer, qtbot: QtBot) -> Asked:
    return Asked(tmp_path, server.channel, qtbot)


def test_it_is_asked_once_a_day_and_told_once_a_version(asked: Asked, server: NoticeServer) -> None:
    assert [each.version for each in asked.look()] == ["9.1"]
    ((path, headers),) = server.asked  # and it says nothing of the user
    assert path == "/notice.json"
    assert headers.keys() <= {"Host", "Accept", "Accept-Encoding", "Connection", "User-Agent"}
    assert headers["User-Agent"] == "hunch"
    asked.clock.now += DAY_S - 1
    asked.look()
    assert len(server.asked) == 1
    asked.clock.now += 1
    assert len(asked.look()) == 1
    assert len(server.asked) == 2
    asked.clock.now -= 30 * DAY_S  # set back
    server.body = answer("9.2")
    assert [each.version for each in asked.look()] == ["9.1", "9.2"]
    asked.clock.now += DAY_S
    server.body = answer("9.1")  # once more
    assert [each.version for each in asked.look()] == ["9.1", "9.2"]


@pytest.mark.parametrize("name", ["hub_offline", "tells_updates"])
def test_nothing_is_asked_offline_or_with_the_switch_off(asked: Asked, server: NoticeServer, name: str) -> None:
    setattr(asked.settings, name, name == "hub_offline")
    assert asked.look() == []
    assert server.asked == []


def test_no_channel_no_question(
    harness: AppHarness, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Asked(tmp_path, None, qtbot).look() == []
    monkeypatch.setattr(updates, "CHANNEL", None)
    look_for_updates(harness.application)
    assert not harness.window.findChildren(start_notices.UpdateOffer)
    general = harness.show_settings("general").general
    assert not general.updates.isVisible()


@pytest.mark.costly
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"{}",
        b"[" * 100_000,
        answer().replace(b"9.1", b"9.9"),  # not what was signed
        answer("0.1"),  # this one
        answer("0.0.9"),
        b" " * (5 << 20),  # longer than any answer may be
        b"elsewhere",  # redirected for ever
    ],
    ids=["empty", "html", "nothing", "deep", "forged", "same", "older", "long", "redirects"],
)
def test_what_is_no_news_is_let_pass(asked: Asked, server: NoticeServer, body: bytes) -> None:
    server.body = body
    assert asked.look() == []
    assert 1 <= len(server.asked) <= 6


def test_no_server_is_let_pass(tmp_path: Path, qtbot: QtBot) -> None:
    with notice_server() as gone:
        channel = gone.channel
    assert Asked(tmp_path, channel, qtbot).look() == []


def test_the_end_waits_for_no_answer(asked: Asked, server: NoticeServer, qtbot: QtBot) -> None:
    server.hangs = True
    asked.updates.look()
    qtbot.waitUntil(lambda: bool(server.asked))
    asked.updates.close()
    qtbot.waitUntil(lambda: asked.updates._question is None)  # the server is silent for a minute yet
    assert asked.found == []


@pytest.mark.parametrize("command", ["", "uv tool upgrade hunch-chat"])
def test_the_notes_are_in_the_users_language_and_lead_to_the_page(
    harness: AppHarness, server: NoticeServer, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    monkeypatch.setattr(start_notices, "update_command", lambda: command)
    monkeypatch.setattr(updates, "CHANNEL", server.channel)
    banner = harness.window.banner
    look_for_updates(harness.application)
    qtbot.waitUntil(lambda: banner.isVisible() and banner.sentence.text() == "Hunch 9.1 is available")
    harness.application.settings.language = "ko"
    still()
    banner.button.click()
    (dialog,) = harness.window.findChildren(Dialog)
    assert dialog.sentence.text() == "더 빨라요."
    assert command in dialog.detail.text()
    assert dialog.other_button.isVisible() == bool(command)
    if command:
        dialog.other_button.click()
        assert QGuiApplication.clipboard().text() == command
        assert opened == []
    else:
        dialog.act_button.click()
        assert opened == ["https://hunch.example/releases/v9.1"]
        general = harness.show_settings("general").general
        assert general.updates.isVisible()
        general.updates.click()
        assert not harness.application.settings.tells_updates
