"""What many tests of the interface begin with; a file that needs another app or transcript has a fixture of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleEvent
from pytestqt.qtbot import QtBot

from app.controllers.server import ServerController
from app.view_models.transcript import TranscriptMessage
from app.views.transcript import consent_part
from app.views.widgets import banner
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.stillness import NEVER_MS
from tests.helpers.transcript_harness import Opener, TranscriptHarness


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends after a moment lasts until a test ends it: a busy machine stands still for longer."""
    monkeypatch.setattr(banner, "_BRIEF_MS", NEVER_MS)
    monkeypatch.setattr(consent_part, "_EARLY_MS", NEVER_MS)


@pytest.fixture
def announced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, str]]:
    """What screen readers are to say at once, each with what it is about."""
    said: list[tuple[object, str]] = []

    def hear(event: QAccessibleEvent) -> None:
        if isinstance(event, QAccessibleAnnouncementEvent):
            said.append((event.object(), event.message()))

    monkeypatch.setattr(QAccessible, "updateAccessibility", hear)
    return said


@pytest.fixture
def app(tmp_path: Path, qtbot: QtBot) -> Iterator[AppHarness]:
    """The opened app over a loaded pair of the scripted engine; beside its profile a test has room for files."""
    with open_app(tmp_path / "profile", qtbot) as app:
        yield app


@pytest.fixture
def harness(app: AppHarness) -> AppHarness:
    """The same under its other name."""
    return app


@pytest.fixture
def server(harness: AppHarness) -> ServerController:
    return harness.application.server


@pytest.fixture
def open_transcript(qtbot: QtBot) -> Opener:
    def open_one(messages: list[TranscriptMessage]) -> TranscriptHarness:
        harness = TranscriptHarness(messages)
        qtbot.addWidget(harness.view)
        return harness

    return open_one
