"""A key that is held presses once: buttons, switches, choices, menus, lists, dialogs, Send."""

from __future__ import annotations

import weakref
from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.theme import Theme
from app.views.widgets.buttons import ChoiceButton, PillButton
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.fields import LineField, Switch
from app.views.widgets.held_keys import Menu
from tests.helpers.app_harness import AppHarness

KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
Make = Callable[[Theme, list[object]], QWidget]


def repeat(widget: QWidget, key: Qt.Key, times: int = 3) -> None:
    for _ in range(times):
        QApplication.sendEvent(widget, QKeyEvent(QEvent.Type.KeyPress, key, Qt.KeyboardModifier(0), "", autorep=True))


def button(theme: Theme, told: list[object]) -> QWidget:
    made = PillButton(theme)
    made.clicked.connect(lambda: told.append("click"))
    return made


def switch(theme: Theme, told: list[object]) -> QWidget:
    made = Switch(theme)
    made.toggled.connect(told.append)
    return made


def line(theme: Theme, told: list[object]) -> QWidget:
    made = LineField(theme)
    made.returnPressed.connect(lambda: told.append("line"))
    return made


def choice(theme: Theme, told: list[object]) -> QWidget:
    made = ChoiceButton(theme)
    made.set_choices([("one", "One"), ("two", "Two")])
    made.showPopup = lambda: told.append("open")  # type: ignore[method-assign]
    return made


def dialog(theme: Theme, told: list[object]) -> QWidget:
    words = DialogText("Title", "Sentence", act="Do it", cancel="Cancel")
    made = Dialog(theme, None, lambda: words)
    made.act_button.clicked.connect(lambda: told.append("act"))
    return made


def menu(theme: Theme, told: list[object]) -> QWidget:
    made = Menu()
    made.addAction("First").triggered.connect(lambda _checked: told.append("entry"))
    made.setActiveAction(made.actions()[0])
    return made


@pytest.mark.parametrize("make", [button, switch, line, choice, dialog, menu])
def test_a_repeat_presses_nothing(make: Make, qtbot: QtBot) -> None:
    told: list[object] = []
    widget = make(Theme(), told)
    qtbot.addWidget(widget)
    for key in KEYS:
        repeat(widget, key)
    assert told == []
    QTest.keyClick(widget, Qt.Key.Key_Return)
    assert len(told) == 1


def test_words_that_wait_are_not_sent_by_a_key_that_chose_something_else(harness: AppHarness, qtbot: QtBot) -> None:
    """Return chose a model, and is still held when the composer has the focus again."""
    edit = harness.window.composer.edit
    QTest.keyClicks(edit, "not finished")
    repeat(edit, Qt.Key.Key_Return)
    harness.wait_until_quiet(qtbot)
    assert (harness.engine.requests, edit.text()) == ([], "not finished")
    assert not harness.window.menu.new_folder.autoRepeat()
    menus = [widget for widget in QApplication.allWidgets() if isinstance(widget, QMenu)]
    assert len(menus) > 5
    assert [widget for widget in menus if not isinstance(widget, Menu)] == []


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_the_menu_of_a_choice_has_a_tick_at_what_is_chosen(
    harness: AppHarness, monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    made = ChoiceButton(harness.application.theme, harness.window)
    made.set_choices([("one", "One"), ("two", "Two & more")])
    made.set_value("two")
    made.show()
    made.showPopup()
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert [action.isChecked() or not action.icon().isNull() for action in menu.actions()] == [False, True]
    assert menu.activeAction() is menu.actions()[1]
    menu.actions()[0].trigger()
    assert made.value == "one"
    menu.close()


def test_an_open_menu_of_a_choice_does_not_own_the_button(qapp: QApplication) -> None:
    """The end of the menu would be that of the button, and that again the menu's: a segmentation fault."""
    made = ChoiceButton(Theme())
    made.set_choices([("one", "One")])
    made.showPopup()
    seen = weakref.ref(made)
    del made
    assert seen() is None
