"""Tooltips show words of models and files as they are: no tag works, no file is read, and nothing is cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.theme import Theme
from app.views.widgets.labels import ElidedLabel
from app.views.widgets.page_list import PageEntry, PageList
from app.views.widgets.tooltips import Tooltip, set_tooltip, shown_tooltip

LONG = "a sentence that goes on, " * 30


def ask(at: QWidget, place: QPoint | None = None, on_screen: QPoint | None = None) -> Tooltip:
    """As Qt asks for one when the pointer has rested."""
    inside = place or at.rect().center()
    QApplication.sendEvent(at, QHelpEvent(QEvent.Type.ToolTip, inside, on_screen or at.mapToGlobal(inside)))
    shown = shown_tooltip()
    assert shown is not None
    assert not [each for each in QApplication.topLevelWidgets() if each.inherits("QTipLabel")]
    return shown


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
    shown = ask(widget)
    assert shown.height() < 200
    assert shown.document.toPlainText() == widget.toolTip() == f"<img src='{picture}'>"


def test_a_title_that_is_cut_shows_its_tags(qtbot: QtBot, picture: Path) -> None:
    label = ElidedLabel(Theme())
    qtbot.addWidget(label)
    label.setText(f"A long title <img src='{picture}'> & more of it <b>bold</b>")
    label.resize(60, 20)
    label.show()
    label.grab()
    assert "<b>bold" in ask(label).document.toPlainText()


def test_the_entries_of_a_list_have_theirs(qtbot: QtBot) -> None:
    pages = PageList(Theme())
    qtbot.addWidget(pages)
    pages.set_entries([PageEntry("one"), PageEntry("<b>two</b>")])
    pages.resize(200, 200)
    pages.show()
    second = pages.visualItemRect(pages.item(1)).center()
    assert ask(pages.viewport(), second).document.toPlainText() == "<b>two</b>"


@pytest.mark.costly
@pytest.mark.parametrize("text", ["short", LONG, "x" * 400, "two\nlines", "글" * 300])
@pytest.mark.parametrize("corner", ["topLeft", "topRight", "bottomLeft", "bottomRight"])
@pytest.mark.parametrize("scale", [0.85, 2.0])
def test_it_is_whole_on_the_screen(widget: QWidget, text: str, corner: str, scale: float) -> None:
    theme = Theme()
    theme.set_scale(scale)
    screen = widget.screen().availableGeometry()
    set_tooltip(widget, text)
    shown = ask(widget, on_screen=getattr(screen, corner)())
    assert screen.contains(shown.geometry())
    assert shown.document.size().toSize() == shown.size()
    assert shown.document.idealWidth() <= shown.width() + 1
    theme.set_scale(1.0)


@pytest.mark.parametrize("end", ["leave", "press", "key", "hide"])
def test_it_ends_with_what_it_is_of(widget: QWidget, end: str) -> None:
    set_tooltip(widget, "words")
    ask(widget)
    {
        "leave": lambda: QApplication.sendEvent(widget, QEvent(QEvent.Type.Leave)),
        "press": lambda: QTest.mouseClick(widget, Qt.MouseButton.LeftButton),
        "key": lambda: QTest.keyClick(widget, Qt.Key.Key_A),
        "hide": widget.hide,
    }[end]()
    assert shown_tooltip() is None


def test_of_an_error_without_end_the_beginning_is_shown(widget: QWidget) -> None:
    set_tooltip(widget, LONG * 500)
    shown = ask(widget).document.toPlainText()
    assert len(shown) < 10_000
    assert (LONG * 500).startswith(shown.removesuffix("…"))


def test_without_words_there_is_none(widget: QWidget) -> None:
    set_tooltip(widget, "words")
    set_tooltip(widget, "")
    QApplication.sendEvent(widget, QHelpEvent(QEvent.Type.ToolTip, QPoint(5, 5), QPoint(5, 5)))
    assert shown_tooltip() is None
