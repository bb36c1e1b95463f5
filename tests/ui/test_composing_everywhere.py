"""One walk through every field of the app with an input method: nothing is sent, lost or doubled.

A field is anything visible that takes input methods. New pages and fields are walked without being named here.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSpinBox, QLineEdit, QPlainTextEdit, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

from app.views.widgets.composing import Composing
from tests.helpers.app_harness import AppHarness
from tests.helpers.composing import compose

_TYPED = (QLineEdit, QPlainTextEdit, QTextEdit)
Field = QLineEdit | QPlainTextEdit | QTextEdit


def fields(window: QWidget) -> list[Field]:
    found = [each for each in window.findChildren(QWidget) if isinstance(each, _TYPED)]
    return [each for each in found if each.isVisible() and each.isEnabled() and not each.isReadOnly()]


def words_in(field: Field) -> str:
    return field.text() if isinstance(field, QLineEdit) else field.toPlainText()


def takes(field: Field) -> str:
    """What an input method would commit there: letters where letters are taken, else digits."""
    number = isinstance(field.parent(), QAbstractSpinBox) or (isinstance(field, QLineEdit) and field.validator())
    return "1" if number else "한"


def empty(field: Field) -> None:
    field.selectAll()
    compose(field, "", "")
    QTest.keyClick(field, Qt.Key.Key_Delete)


def walk(window: QWidget, other: QWidget | None = None) -> int:
    """Composes, presses Return, and leaves each field; the words must be there once."""
    walked = fields(window)
    for field in walked:
        field.setFocus()
        empty(field)
        word = takes(field)
        compose(field, word)
        QTest.keyClick(field, Qt.Key.Key_Return)
        if not isinstance(field.parent(), QAbstractSpinBox):  # Return writes its number out
            assert word not in words_in(field), f"{name_of(field)}: committed by Return"
        field.selectAll()
        compose(field, "", word)
        assert words_in(field) == word, f"{name_of(field)}: lost or doubled"
        if isinstance(field, Composing):
            compose(field, word)
            (other or window).setFocus()
            field.clearFocus()
            left = words_in(field)
            if word == "1":  # a number that is too small becomes the least one
                assert left in ("11", "512"), f"{name_of(field)}: lost or doubled when it was left"
            else:
                assert left.count(word) == 2, f"{name_of(field)}: lost or doubled when it was left"
            assert not field.composed
        empty(field)
    return len(walked)


def name_of(field: QObject) -> str:
    return f"{type(field).__name__} {field.accessibleName() if isinstance(field, QWidget) else ''}"


def test_the_window_with_a_chat_and_with_the_models_and_the_settings(harness: AppHarness, qtbot: QtBot) -> None:
    assert walk(harness.window) >= 2  # the message and the search
    assert harness.engine.requests == []
    for tab in ("yours", "find"):
        view = harness.show_models(tab)
        assert walk(harness.window) >= 1
        assert view.isVisible()

    harness.models.choose_speculation("fixed", 4)
    for page in ("chat", "advanced"):
        window = harness.show_settings(page)
        qtbot.waitUntil(window.isActiveWindow)
        assert walk(window) >= 2  # the search, and what is on the page
        assert window.isVisible()
