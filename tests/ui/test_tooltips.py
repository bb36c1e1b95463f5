"""Tooltips show words of models and files as they are: no tag works, and no file is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QLabel, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from app.theme import Theme
from app.views.widgets.labels import ElidedLabel
from app.views.widgets.tooltips import set_tooltip


def shown_tooltip(at: QWidget) -> QLabel:
    QToolTip.showText(QPoint(20, 20), at.toolTip(), at)
    (label,) = [each for each in QApplication.topLevelWidgets() if each.inherits("QTipLabel")]
    assert isinstance(label, QLabel)
    return label


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    QImage(900, 700, QImage.Format.Format_RGB32).save(str(tmp_path / "picture.png"))
    return tmp_path / "picture.png"


@pytest.fixture
def widget(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


def test_qt_itself_would_show_the_picture(widget: QWidget, picture: Path) -> None:
    """Otherwise the next test could not fail."""
    widget.setToolTip(f"<img src='{picture}'>")
    assert shown_tooltip(widget).sizeHint().height() > 600


def test_an_image_is_not_loaded(widget: QWidget, picture: Path) -> None:
    set_tooltip(widget, f"<img src='{picture}'>")
    assert shown_tooltip(widget).sizeHint().height() < 200


def test_a_title_that_is_cut_shows_its_tags(qtbot: QtBot, picture: Path) -> None:
    label = ElidedLabel(Theme())
    qtbot.addWidget(label)
    label.setText(f"A long title <img src='{picture}'> & more of it <b>bold</b>")
    label.resize(60, 20)
    label.show()
    label.grab()
    assert "&lt;b&gt;bold" in label.toolTip()
    assert shown_tooltip(label).sizeHint().height() < 200


@pytest.mark.parametrize("text", ["", "plain", "a & b", "two\nlines"])
def test_other_text_stays_as_it_is(widget: QWidget, text: str) -> None:
    set_tooltip(widget, text)
    assert widget.toolTip() == text
