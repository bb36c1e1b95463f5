"""A double click does once what its first click was for, and a click does nothing that came about under the pointer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from unittest.mock import Mock

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.theme import Theme
from app.view_models.downloads import DownloadEntry, DownloadState
from app.views.models.download_row import DownloadRow
from app.views.widgets.banner import Banner, BannerText
from app.views.widgets.buttons import PillButton
from tests.helpers.double_click import double_click
from tests.helpers.stillness import still


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[QWidget]:
    window = QWidget()
    qtbot.addWidget(window)
    QVBoxLayout(window)
    window.resize(700, 400)
    window.show()
    yield window
    window.close()


def put(window: QWidget, *widgets: QWidget) -> None:
    layout = window.layout()
    assert layout is not None
    for widget in widgets:
        layout.addWidget(widget)
    still()


def download(number: int) -> DownloadEntry:
    return DownloadEntry(number, ("org/Main-8B",), 2, 5, 1.0, 3.0, state=DownloadState.RUNNING)


def test_a_double_click_on_pause_pauses(window: QWidget) -> None:
    models = Mock()
    row = DownloadRow(Theme(window), models)
    models.downloads.pause = lambda _id: row.show_entry(replace(download(1), state=DownloadState.PAUSED))
    put(window, row)
    row.show_entry(download(1))
    double_click(row.go_button)
    models.downloads.resume.assert_not_called()
    QTest.mouseClick(row.go_button, Qt.MouseButton.LeftButton)
    models.downloads.resume.assert_called_once_with(1)


def test_a_double_click_that_removes_a_row_leaves_the_next_one(window: QWidget) -> None:
    models, cancelled = Mock(), []
    rows = [DownloadRow(Theme(window), models) for _ in range(3)]

    def cancel(number: int) -> None:
        cancelled.append(number)
        rows[number].hide()

    models.downloads.cancel = cancel
    for number, row in enumerate(rows):
        row.show_entry(download(number))
    put(window, *rows)
    window.layout().setAlignment(Qt.AlignmentFlag.AlignTop)  # type: ignore[union-attr]
    still()
    double_click(rows[0].cancel_button)
    assert cancelled == [0]


def test_a_double_click_closes_one_of_two_warnings(window: QWidget) -> None:
    banner = Banner(Theme(window), window)
    banner.show_warning(lambda: BannerText("first"))
    banner.show_warning(lambda: BannerText("second"))
    banner.place(10, 390, 600)
    still()
    double_click(banner.close_button)
    assert (banner.isVisible(), banner.sentence.text()) == (True, "first")


def test_a_button_that_becomes_another_under_the_pointer_does_nothing(window: QWidget, qtbot: QtBot) -> None:
    """A reply ends while Stop is held down: what is typed is not sent."""
    button = PillButton(Theme(window))
    button.setText("Stop")
    put(window, button)
    QTest.mousePress(button, Qt.MouseButton.LeftButton)
    button.setText("Send")
    with qtbot.assertNotEmitted(button.clicked):
        QTest.mouseRelease(button, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(button.clicked):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_a_button_that_stays_what_it_is_takes_both_clicks(window: QWidget) -> None:
    button, clicks = PillButton(Theme(window)), []
    button.setText("Next")
    button.clicked.connect(lambda: clicks.append(1))
    put(window, button)
    double_click(button)
    assert len(clicks) == 2
