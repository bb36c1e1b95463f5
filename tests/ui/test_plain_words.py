"""Names are shown and heard as they are: no sign in them means something to Qt."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.theme import Theme
from app.views.widgets.buttons import PillButton
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.fields import Segments
from app.views.widgets.plain_words import set_window_title

NAMES = ["R&D", "a && b &", "Regex [*] in Python", "[*][*]", "%1 plain"]


def heard(widget: QWidget) -> str:
    interface = QAccessible.queryAccessibleInterface(widget)
    assert interface is not None
    return interface.text(QAccessible.Text.Name)


@pytest.mark.parametrize("name", NAMES)
def test_a_button_shows_and_says_all_of_a_name_and_has_no_key(qtbot: QtBot, name: str) -> None:
    theme = Theme()
    button, choice = PillButton(theme), Segments(theme)
    qtbot.addWidget(button)
    qtbot.addWidget(choice)
    button.setText(name)
    choice.set_choices([("model", name)])
    for each in (button, choice.buttons[0]):
        assert (each.text(), heard(each), each.shortcut().isEmpty()) == (name, name, True)


@pytest.mark.parametrize("name", NAMES)
def test_a_title_of_a_window_is_shown_whole(qtbot: QtBot, name: str) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    dialog = Dialog(Theme(), window, lambda: DialogText(name, cancel="Cancel"))
    set_window_title(window, name)
    for each in (window, dialog):
        each.show()
        assert each.windowHandle().title() == name
    dialog.close()
