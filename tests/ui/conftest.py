"""What many tests of the interface begin with; a file that needs another app or transcript has a fixture of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.view_models.transcript import TranscriptMessage
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.transcript_harness import Opener, TranscriptHarness


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
def open_transcript(qtbot: QtBot) -> Opener:
    def open_one(messages: list[TranscriptMessage]) -> TranscriptHarness:
        harness = TranscriptHarness(messages)
        qtbot.addWidget(harness.view)
        return harness

    return open_one
