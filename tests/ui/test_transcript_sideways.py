"""Tables and code wider than the column: by wheel with Shift, by trackpad, by keys; and the line beside thinking."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollBar

from app.view_models.transcript import ReplyStatus
from app.views.transcript.parts import PartKind
from app.views.transcript.text_parts import ReadOnlyText, SelectableInside
from tests.helpers.transcript_harness import PARAGRAPH, Opener, TranscriptHarness, question, reply

COLUMNS = 24
TABLE = "\n".join("|" + f" {cell} |" * COLUMNS for cell in ("heading", "---:", "a long cell"))
CODE = f"```py\nx = '{'wide ' * 60}'\n```"
NONE = Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def harness(open_transcript: Opener) -> TranscriptHarness:
    harness = open_transcript([reply(1, f"{TABLE}\n\n{PARAGRAPH}"), question(2), reply(3, CODE)])
    harness.view.resize(600, 700)
    QApplication.processEvents()
    return harness


def text_of(harness: TranscriptHarness, kind: PartKind) -> ReadOnlyText:
    widget: object = harness.parts(kind)[0].widget
    text = widget.text if isinstance(widget, SelectableInside) else widget
    assert isinstance(text, ReadOnlyText)
    return text


def bar_of(harness: TranscriptHarness, kind: PartKind) -> QScrollBar:
    return text_of(harness, kind).horizontalScrollBar()


def wheel(text: ReadOnlyText, delta: QPoint, keys: Qt.KeyboardModifier = NONE) -> None:
    window = text.window()
    at = text.viewport().mapTo(window, text.viewport().rect().center())
    QTest.wheelEvent(window.windowHandle(), at, delta, stateKey=keys)
    QApplication.processEvents()


@pytest.mark.parametrize("kind", [PartKind.TABLE, PartKind.CODE])
def test_wheel_and_trackpad_move_what_is_under_the_pointer(harness: TranscriptHarness, kind: PartKind) -> None:
    bar, text = bar_of(harness, kind), text_of(harness, kind)
    assert bar.maximum() > 100
    wheel(text, QPoint(0, -120), SHIFT)
    first = bar.value()
    assert first > 0
    wheel(text, QPoint(-120, 0))
    assert bar.value() > first
    wheel(text, QPoint(0, 120), SHIFT)
    wheel(text, QPoint(120, 0))
    assert bar.value() == 0


def test_the_wheel_alone_scrolls_the_transcript(harness: TranscriptHarness) -> None:
    harness.view.resize(600, 200)
    QApplication.processEvents()
    harness.scroll_to(0)
    wheel(text_of(harness, PartKind.TABLE), QPoint(0, -120))
    assert harness.value > 0
    assert bar_of(harness, PartKind.TABLE).value() == 0


def test_keys_move_the_one_in_the_focused_message(harness: TranscriptHarness) -> None:
    harness.view.setFocus()
    for kind, steps in ((PartKind.CODE, 1), (PartKind.TABLE, 3)):
        for _ in range(steps):
            QTest.keyClick(harness.view, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClick(harness.view, Qt.Key.Key_Right)
        assert bar_of(harness, kind).value() > 0
        QTest.keyClick(harness.view, Qt.Key.Key_Left)
        assert bar_of(harness, kind).value() == 0


@pytest.mark.parametrize(("kind", "text"), [(PartKind.TABLE, f"{TABLE}\n\nMore"), (PartKind.CODE, CODE[:-3])])
def test_what_was_scrolled_stays_there_while_the_reply_grows(
    open_transcript: Opener, kind: PartKind, text: str
) -> None:
    harness = open_transcript([reply(1, "", ReplyStatus.STREAMING)])
    harness.model.append_text(1, text)
    bar_of(harness, kind).setValue(150)
    for _ in range(5):
        harness.model.append_text(1, " and more\n\n")
        QApplication.processEvents()
    assert bar_of(harness, kind).value() == 150
