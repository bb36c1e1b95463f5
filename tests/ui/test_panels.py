"""Panels over the window: always in sight, beside their button, closed by what is done elsewhere."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.views.shell.picker import Picker
from app.views.shell.shell_window import is_away
from app.views.widgets.banner import BannerText
from app.words.notices import NoticeAction
from tests.helpers.app_harness import AppHarness
from tests.helpers.stillness import still

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def picker(harness: AppHarness) -> Picker:
    window = harness.window
    window.resize(1400, 760)
    window.composer.take_focus()
    window.open_picker()
    still()
    assert window.picker.isVisible()
    return window.picker


def warn(harness: AppHarness) -> None:
    window = harness.window
    window.banner.show_warning(
        lambda: BannerText("It failed.", button="Choose another model"),
        lambda: window.follow(NoticeAction.CHOOSE_MODEL),
    )
    still()


def is_beside(picker: Picker, harness: AppHarness) -> bool:
    chip = harness.window.header.chip
    place = chip.mapTo(harness.window, QPoint(chip.width() // 2, chip.height()))
    return abs(picker.geometry().center().x() - place.x()) <= 1 and picker.y() > place.y()


def test_notices_and_new_messages_do_not_cover_it(picker: Picker, harness: AppHarness, qtbot: QtBot) -> None:
    """Its field would take keys unseen."""
    warn(harness)
    assert harness.chats.send("Hello", [])
    harness.wait_until_quiet(qtbot)
    still()
    assert picker.isVisible()
    for at in (picker.rect().center(), picker.rect().bottomRight() - QPoint(20, 20)):
        shown = harness.window.childAt(picker.mapTo(harness.window, at))
        assert shown is not None
        assert shown is picker or picker.isAncestorOf(shown)


def test_a_notice_opens_it_and_does_not_close_it(picker: Picker, harness: AppHarness) -> None:
    picker.leave()
    for _ in range(2):
        warn(harness)
        QTest.mouseClick(harness.window.banner.button, LEFT)
        assert picker.isVisible()


def clicks() -> list[Callable[[AppHarness], tuple[QWidget, QPoint]]]:
    return [
        lambda app: (app.window.header, QPoint(app.window.header.width() // 6, 24)),
        lambda app: (app.window.sidebar, QPoint(4, app.window.sidebar.height() // 2)),
        lambda app: (app.window.empty_chat, QPoint(6, app.window.empty_chat.height() - 6)),
        lambda app: (app.window, QPoint(app.window.width() - 8, app.window.height() - 8)),
    ]


@pytest.mark.parametrize("place", clicks())
def test_a_click_beside_it_closes_it(
    picker: Picker, harness: AppHarness, place: Callable[[AppHarness], tuple[QWidget, QPoint]]
) -> None:
    QTest.mouseClick(picker.note, LEFT)
    assert picker.isVisible()
    clicked, at = place(harness)
    QTest.mouseClick(clicked, LEFT, pos=at)
    assert not picker.isVisible()
    assert harness.window.composer.edit.hasFocus()  # where it was; a button would be pressed by the next Space


def test_it_follows_its_button(picker: Picker, harness: AppHarness, qtbot: QtBot) -> None:
    assert is_beside(picker, harness)
    harness.window.toggle_sidebar()
    still()
    assert is_beside(picker, harness)
    width = picker.width()
    for _ in range(3):
        harness.window.menu.larger.trigger()
    still()
    assert picker.width() > width
    assert is_beside(picker, harness)
    harness.application.settings.language = "ja"
    still()
    shown = picker.drafts.model()
    assert "No draft" not in [shown.index(row, 0).data() for row in range(shown.rowCount())]


def test_another_chat_closes_it(picker: Picker, harness: AppHarness, qtbot: QtBot) -> None:
    """Drafting may be set for one chat alone, and a race is of its reply."""
    picker.leave()
    harness.ask(qtbot, "Hello")
    harness.window.open_picker()
    assert picker.isVisible()
    harness.window.tools.desktop.new_chat()
    assert not picker.isVisible()


def test_tab_reaches_what_is_shown_since_it_was_opened(picker: Picker, harness: AppHarness) -> None:
    picker.more_button.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(picker.more_button, Qt.Key.Key_Space)
    still()
    seen: list[QWidget] = []
    while picker.isVisible():
        now = QApplication.focusWidget()
        assert now is not None
        seen.append(now)
        QTest.keyClick(now, Qt.Key.Key_Tab)
    assert {picker.more.models_button, picker.more_button} <= set(seen)


def test_a_minimized_window_is_not_looked_at(harness: AppHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a Mac the app stays active, as it does while one of the system's panels has the focus."""
    monkeypatch.setattr(QGuiApplication, "focusWindow", lambda: None)
    monkeypatch.setattr(QGuiApplication, "applicationState", lambda: Qt.ApplicationState.ApplicationActive)
    assert not is_away()
    harness.window.showMinimized()
    still()
    assert is_away()
