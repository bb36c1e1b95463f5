"""A download on the screen: how far, how long, what it waits for, what became of it, and its buttons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from unittest.mock import Mock

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.theme import Theme
from app.view_models.downloads import DownloadEntry, DownloadState
from app.views.models import download_row
from app.views.models.download_row import DownloadRow
from app.views.widgets.labels import TextLabel
from engine import AccessDenied, FileProgress, HubUnreachable, Retry
from tests.helpers.figures import read

GB = 10**9
PAIR = DownloadEntry(
    *(1, ("org/Main-8B", "org/Draft-1B"), 2 * GB, 5 * GB, 50e6, 62.0),
    files=(
        FileProgress("Main-8B/model.safetensors", GB, 4 * GB, 25e6, 120.0),
        FileProgress("Draft-1B/model.safetensors", GB, GB, 25e6, None),
    ),
    state=DownloadState.RUNNING,
)


@pytest.fixture
def models() -> Mock:
    return Mock()


@pytest.fixture
def row(models: Mock, qtbot: QtBot) -> Iterator[DownloadRow]:
    window = QWidget()
    qtbot.addWidget(window)
    row = DownloadRow(Theme(window), models)
    QVBoxLayout(window).addWidget(row)
    window.resize(700, 300)
    window.show()
    yield row
    window.close()


def click(button: QAbstractButton) -> None:
    assert button.isVisible()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_time_is_left_for_the_whole_and_for_each_file(row: DownloadRow) -> None:
    row.show_entry(PAIR)
    assert read(row.words.text()) == "2.0 GB of 5.0 GB · 50.0 MB per second · 1 min left"
    assert row.bar.isVisible()
    assert row.bar.share == pytest.approx(0.4)
    assert QAccessible.queryAccessibleInterface(row.bar).role() == QAccessible.Role.ProgressBar
    assert not row.files.isVisible()
    click(row.files_button)
    told = [read(label.text()) for label in row.files.findChildren(TextLabel)]
    assert told[1] == "1.0 GB of 4.0 GB · 25.0 MB per second · 2 min left"
    assert told[3] == "1.0 GB"  # it is whole


@pytest.mark.parametrize(("busy", "why"), [(False, "Connection lost"), (True, "Hub busy")])
def test_a_wait_before_the_next_try_can_be_cut_short(row: DownloadRow, models: Mock, busy: bool, why: str) -> None:
    row.show_entry(replace(PAIR, retry=Retry(8.0, hub_is_busy=busy)))
    assert read(row.words.text()) == f"{why}. Retrying in 8 s"
    assert row.try_button.text() == "Try now"
    click(row.try_button)
    models.downloads.try_now.assert_called_once_with(PAIR.id)
    row.show_entry(PAIR)
    assert not row.try_button.isVisible()

    row.show_entry(replace(PAIR, retry=Retry(8.0, hub_is_busy=True), waiting="Main-8B"))
    assert "per second" in read(row.words.text())
    assert read(row.problem.text()) == "Main 8B: Hub busy. Retrying in 8 s"
    click(row.try_button)
    assert models.downloads.try_now.call_count == 2
    row.show_entry(PAIR)
    assert not row.problem.isVisible()


def test_a_half_that_failed_is_told_below_or_with_its_page(
    row: DownloadRow, models: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    row.show_entry(replace(PAIR, error=AccessDenied("org/Draft-1B", gated=True), page="https://hub.test/org/Draft-1B"))
    assert row.bar.isVisible()
    assert read(row.words.text()).startswith("2.0 GB of 5.0 GB")
    assert row.problem.text().startswith("org/Draft-1B has terms to accept")
    assert (row.go_button.isVisible(), row.page_button.isVisible()) == (True, True)
    click(row.try_button)
    models.downloads.resume.assert_called_once_with(PAIR.id)
    row.show_entry(PAIR)
    assert not row.problem.isVisible()

    error = HubUnreachable("org/Draft-1B", "https://hub.test", "timed out")
    row.show_entry(replace(PAIR, state=DownloadState.PAUSED, error=error))
    assert read(row.words.text()) == "Paused at 2.0 GB of 5.0 GB"
    assert "hub.test" in row.problem.text()
    assert row.problem.isVisible()
    assert not row.try_button.isVisible()
    click(row.go_button)
    assert models.downloads.resume.call_count == 2

    gated, page = AccessDenied("org/Main-8B", gated=True), "https://hub.test/org/Main-8B"
    row.show_entry(replace(PAIR, state=DownloadState.FAILED, error=gated, page=page))
    assert "has terms to accept" in read(row.words.text())
    assert "add your token in Settings" in read(row.words.text())
    asked: list[str] = []
    monkeypatch.setattr(download_row, "ask_to_open", lambda page, _theme, _parent: asked.append(page))
    click(row.page_button)
    assert asked == [page]
    row.show_entry(PAIR)
    assert not row.page_button.isVisible()


def test_what_offline_mode_paused_says_so_and_can_be_resumed(row: DownloadRow) -> None:
    row.show_entry(replace(PAIR, state=DownloadState.PAUSED, offline=True))
    words = "Paused at 2.0 GB of 5.0 GB\nTurn off offline mode to resume."
    assert read(row.words.text()) == words
    assert (row.go_button.isVisible(), row.go_button.accessibleName()) == (True, "Resume")
