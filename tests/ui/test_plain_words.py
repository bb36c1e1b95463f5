"""Words of models and people are shown and heard as they are: no tag works, no sign is a key, no file is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QAccessible, QHelpEvent, QImage
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.theme import Theme
from app.views.widgets.buttons import PillButton
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.fields import Segments
from app.views.widgets.labels import ElidedLabel
from app.views.widgets.page_list import PageEntry, PageList
from app.views.widgets.plain_words import set_window_title
from app.views.widgets.tooltips import set_tooltip
from tests.helpers.tooltips import tooltip_label, tooltip_text

LONG = "a sentence that goes on, " * 30


def ask(at: QWidget, place: QPoint | None = None, on_screen: QPoint | None = None) -> str:
    """What it says when Qt asks for one, as the pointer has rested."""
    inside = place or at.rect().center()
    QApplication.sendEvent(at, QHelpEvent(QEvent.Type.ToolTip, inside, on_screen or at.mapToGlobal(inside)))
    return tooltip_text()


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    QImage(900, 700, QImage.Format.Format_RGB32).save(str(tmp_path / "picture.png"))
    return tmp_path / "picture.png"


@pytest.fixture
def widget(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.resize(200, 40)
    widget.show()
    return widget


def test_an_image_is_words(widget: QWidget, picture: Path) -> None:
    set_tooltip(widget, f"<img src='{picture}'>")
    assert ask(widget) == widget.toolTip() == f"<img src='{picture}'>"
    label = tooltip_label()
    assert label is not None
    assert label.height() < 200


def test_a_title_that_is_cut_shows_its_tags(qtbot: QtBot, picture: Path) -> None:
    label = ElidedLabel(Theme())
    qtbot.addWidget(label)
    label.setText(f"A long title <img src='{picture}'> & more of it <b>bold</b>")
    label.resize(60, 20)
    label.show()
    label.grab()
    assert "<b>bold" in ask(label)


def test_no_more_of_a_very_long_name_is_measured_than_can_be_seen(qtbot: QtBot) -> None:
    label = ElidedLabel(Theme())
    qtbot.addWidget(label)
    label.setText("W" * 100_000)
    assert label.text() == label.accessibleName() == "W" * 100_000
    assert label.sizeHint().width() < 100_000


def test_the_entries_of_a_list_have_theirs(qtbot: QtBot) -> None:
    pages = PageList(Theme())
    qtbot.addWidget(pages)
    pages.set_entries([PageEntry("one"), PageEntry("<b>two</b>")])
    pages.resize(200, 200)
    pages.show()
    second = pages.visualItemRect(pages.item(1)).center()
    assert ask(pages.viewport(), second) == "<b>two</b>"


@pytest.mark.parametrize("text", ["short", LONG, "x" * 400, "two\nlines", "글" * 300])
def test_it_is_on_the_screen_in_lines_that_break(widget: QWidget, text: str) -> None:
    screen = widget.screen().availableGeometry()
    set_tooltip(widget, text)
    assert ask(widget, on_screen=screen.topRight()) == text
    label = tooltip_label()
    assert label is not None
    assert screen.contains(label.geometry())
    assert label.width() <= 700


def test_of_an_error_without_end_the_beginning_is_shown(widget: QWidget) -> None:
    set_tooltip(widget, LONG * 500)
    shown = ask(widget)
    assert len(shown) < 10_000
    assert (LONG * 500).startswith(shown.removesuffix("…"))


def test_without_words_there_is_none(widget: QWidget) -> None:
    set_tooltip(widget, "words")
    set_tooltip(widget, "")
    QApplication.sendEvent(widget, QHelpEvent(QEvent.Type.ToolTip, QPoint(5, 5), QPoint(5, 5)))
    assert tooltip_text() == ""


# Buttons and titles

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
