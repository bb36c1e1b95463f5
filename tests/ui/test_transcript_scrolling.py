"""Following the end, yielding to the reader, staying in place, and few widgets."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QAccessible, QPaintEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QScrollBar, QWidget
from pytestqt.qtbot import QtBot

from app.view_models.transcript import ReplyStatus
from app.views.transcript import code_colors, visible_parts
from app.views.transcript.parts import PartKind
from app.views.transcript.text_parts import ReadOnlyText, TextPart
from tests.helpers.stillness import still
from tests.helpers.transcript_harness import PARAGRAPH, Opener, TranscriptHarness, long_chat, question, reply

NONE = Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def streaming_transcript(open_transcript: Opener) -> TranscriptHarness:
    harness = open_transcript(long_chat(9))
    harness.model.append(question(1001))
    harness.model.append(reply(1002, "", ReplyStatus.STREAMING))
    return harness


def wheel(widget: QWidget, delta_y: int, delta_x: int = 0, keys: Qt.KeyboardModifier = NONE) -> None:
    """As the system sends it; an event that is only posted to a widget never reaches its parents."""
    window = widget.window()
    at = widget.mapTo(window, widget.rect().center())
    QTest.wheelEvent(window.windowHandle(), at, QPoint(delta_x, delta_y), stateKey=keys)
    still()


def test_a_chat_opens_at_its_end_keys_scroll_and_asking_goes_back_there(open_transcript: Opener) -> None:
    harness = open_transcript(long_chat(20))
    assert harness.value == harness.bottom > 0
    assert harness.parts(PartKind.FOOTER)[-1].message_id == 40
    harness.view.setFocus()
    QTest.keyClick(harness.view, Qt.Key.Key_Home)
    assert harness.value == 0
    QTest.keyClick(harness.view, Qt.Key.Key_PageDown)
    assert 0 < harness.value < harness.bottom
    QTest.keyClick(harness.view, Qt.Key.Key_End)
    assert harness.value == harness.bottom
    harness.scroll_to(100)
    harness.model.append(question(2001))
    assert harness.value == harness.bottom


def test_another_version_leaves_the_reader_there_or_at_the_end(open_transcript: Opener) -> None:
    chat = long_chat(20)
    harness = open_transcript(chat)
    harness.scroll_to(900)
    place = harness.value
    harness.model.set_messages([*chat[:4], question(501), reply(502, "Short"), *long_chat(60)[50:]])
    still()
    assert harness.value == place < harness.bottom
    harness.scroll_to(harness.bottom)
    harness.model.set_messages([*harness.model.messages[:-1], reply(503, f"{PARAGRAPH}\n\n" * 20)])
    assert harness.value == harness.bottom


def test_only_what_is_in_sight_has_widgets(open_transcript: Opener) -> None:
    small, large = open_transcript(long_chat(10)), open_transcript(long_chat(40))
    assert len([*large.view.visible_parts.shown()]) <= len([*small.view.visible_parts.shown()]) + 2 < 60
    made = len(large.view.viewport().children())
    for value in range(large.bottom, 0, -max(1, large.bottom // 12)):
        large.scroll_to(value)
    assert len(large.view.viewport().children()) < made + 60


def test_growing_text_touches_only_the_last_widget(open_transcript: Opener) -> None:
    harness = streaming_transcript(open_transcript)
    harness.model.append_text(1002, "first paragraph\n\nsecond paragraph\n\nthird")
    before = [(part, part.content, part.widget) for part in harness.parts(PartKind.TEXT)]
    harness.model.append_text(1002, " grows")
    after = harness.parts(PartKind.TEXT)
    assert [part for part, _, _ in before] == after
    changed = [part for part, content, _ in before if part.content is not content]
    assert changed == after[-1:]
    assert all(part.widget is widget for part, _, widget in before)


class Painted(QObject):
    """What of a widget is painted, in pixels."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.area_px = 0
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            self.area_px += sum(rect.width() * rect.height() for rect in event.region())  # type: ignore[attr-defined]
        return False


@pytest.mark.parametrize("is_read_out", [False, True])
def test_a_step_of_the_wheel_paints_what_comes_into_sight_and_no_more(
    is_read_out: bool, open_transcript: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also above messages whose height was a guess, and below the button that lies over the text."""
    monkeypatch.setattr(QAccessible, "isActive", lambda: is_read_out)
    harness = open_transcript(long_chat(20))
    view = harness.view
    for _ in range(8):  # until there are enough widgets
        wheel(view.viewport(), 120)
    painted, page = Painted(view.viewport()), view.viewport().width() * view.viewport().height()
    for step in range(15):
        wheel(view.viewport(), 120 if step < 10 else -120)
    assert view.jump_button.isVisible()
    assert painted.area_px < 15 * page / 2
    shown = view.screen().grabWindow(view.winId()).toImage()
    assert shown == view.grab().toImage().convertedTo(shown.format())


def test_what_is_painted_bit_by_bit_is_what_would_be_painted_at_once(open_transcript: Opener, qtbot: QtBot) -> None:
    """Code, its foot, its colours, the row below, paragraphs, lists and a table, on the screen itself."""
    harness = open_transcript([*long_chat(2), reply(9, "", ReplyStatus.STREAMING)])
    harness.view.resize(500, 360)
    text = 'Some *words* here.\n\n```python\ndef f():\n    """Doc."""\n    return "a" * 70 + "' + "wide " * 30 + '"\n\n'
    text += f"x = f()\n```\n\n{PARAGRAPH}\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nThe `end`, at last."

    def is_whole() -> bool:
        """What is drawn wrong stays so; colours of code come a turn later."""
        painted = harness.view.screen().grabWindow(harness.view.winId()).toImage()
        return bool(painted == harness.view.grab().toImage().convertedTo(painted.format()))

    for start in range(0, len(text), 9):
        harness.model.append_text(9, text[start : start + 9])
        qtbot.waitUntil(is_whole)


def test_it_follows_the_end_until_a_reader_steps_up(open_transcript: Opener) -> None:
    harness = streaming_transcript(open_transcript)
    button = harness.view.jump_button
    for _ in range(10):
        harness.model.append_text(1002, PARAGRAPH)
        assert harness.value == harness.bottom
    assert not button.isVisible()
    harness.scroll_to(harness.bottom - 3)
    held = harness.value
    harness.model.append_text(1002, PARAGRAPH * 3)
    assert harness.value == held < harness.bottom
    harness.scroll_to(harness.bottom - 40)
    harness.model.append_text(1002, PARAGRAPH * 5)
    assert harness.value == harness.bottom
    for width_px in (400, 800, 1400):  # never over the text
        harness.view.resize(width_px, 600)
        harness.scroll_to(harness.bottom - 400)
        assert button.isVisible()
        assert button.x() > max(place.right() for _, place in harness.view.visible_parts.shown())
        assert button.geometry().right() < harness.view.viewport().width()
    assert button.accessibleName()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert harness.value == harness.bottom
    assert not button.isVisible()

    over = harness.parts(PartKind.TEXT)[-1].widget
    assert isinstance(over, TextPart)
    wheel(over.viewport(), 120)
    held = harness.value
    harness.model.append_text(1002, PARAGRAPH * 3)
    assert harness.value == held < harness.bottom

    bar = harness.view.verticalScrollBar()
    bar.setSliderDown(True)
    bar.setSliderPosition(harness.bottom // 2)
    harness.settle()
    held = harness.value
    harness.model.append_text(1002, PARAGRAPH * 5)
    assert harness.value == held
    bar.setSliderDown(False)


def test_scrolling_into_unread_messages_keeps_what_is_seen_in_place(open_transcript: Opener) -> None:
    harness = open_transcript(long_chat(20))
    for _ in range(25):
        shown = {id(part): place.y() for part, place in harness.view.visible_parts.shown()}
        wheel(harness.view.viewport(), 120)
        after = {id(part): place.y() for part, place in harness.view.visible_parts.shown()}
        moved = {after[key] - shown[key] for key in shown.keys() & after.keys()}
        assert len(moved) == 1, "parts moved against each other"
        assert 0 < moved.pop() <= 200


def test_the_words_at_the_top_edge_stay_there_whatever_lays_them_out_anew(open_transcript: Opener) -> None:
    long = [*long_chat(30), reply(1001, PARAGRAPH * 40), question(1003)]
    harness = open_transcript(long)
    harness.scroll_to(harness.view.items[-2].top_px + harness.view.items[-2].height_px // 2)
    before = harness.view.place()
    assert before is not None
    changes: list[Callable[[], None]] = [
        lambda: harness.view.resize(520, 600),
        lambda: harness.theme.set_scale(2.0),
        lambda: harness.theme.set_appearance("dark"),
        lambda: harness.theme.set_scale(1.0),
        lambda: harness.view.resize(1000, 600),
    ]
    for change in changes:
        change()
        still()
        after = harness.view.place()
        assert after is not None
        assert after.message_id == before.message_id
        assert abs(after.offset - before.offset) < 100  # characters; a line has about as many


def test_nothing_moves_when_the_first_words_come(open_transcript: Opener) -> None:
    """Also where heights are rounded."""
    harness = open_transcript([*long_chat(5), question(1001), reply(1002, "", ReplyStatus.QUEUED)])
    harness.theme.set_scale(1.5)
    still()
    before = harness.value, harness.bottom
    harness.model.append_text(1002, "A word")
    harness.model.change(1002, status=ReplyStatus.STREAMING)
    assert (harness.value, harness.bottom) == before


def calls(act: Callable[[], object]) -> int:
    """How many functions of Python an act has called, which no busy machine changes."""
    counted = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal counted
        counted += event == "call"

    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(None)
    return counted


def calls_of_acts(harness: TranscriptHarness) -> dict[str, int]:
    """What changes a place far up, or how everything looks."""
    view = harness.view
    acts: dict[str, Callable[[], object]] = {
        "hit far up": lambda: view.show_message(101),
        "scroll": lambda: harness.scroll_to(harness.value - 300),
        "change": lambda: harness.model.change(102, text=PARAGRAPH),
        "resize": lambda: view.resize(700, 600),
        "colours": lambda: harness.theme.set_appearance("dark"),
        "text size": lambda: harness.theme.set_scale(1.5),
        "another message": lambda: harness.model.append(question(100_000)),
    }
    return {name: calls(act) for name, act in acts.items()}


def test_what_stands_below_a_place_costs_it_nothing(open_transcript: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    # Otherwise a slow machine leaves a part of the work to the next turn.
    monkeypatch.setattr(visible_parts, "thread_time", lambda: 0.0)
    monkeypatch.setattr(code_colors, "thread_time", lambda: 0.0)
    few, many = (calls_of_acts(open_transcript(long_chat(turns))) for turns in (100, 1000))
    assert {name: (few[name], many[name]) for name in few if many[name] > few[name] + 1000} == {}


# Tables and code wider than the column

COLUMNS = 24
TABLE = "\n".join("|" + f" {cell} |" * COLUMNS for cell in ("heading", "---:", "a long cell"))
CODE = f"```py\nx = '{'wide ' * 60}'\n```"


@pytest.fixture
def wide(open_transcript: Opener) -> TranscriptHarness:
    harness = open_transcript([reply(1, f"{TABLE}\n\n{PARAGRAPH}"), question(2), reply(3, CODE)])
    harness.view.resize(600, 700)
    still()
    return harness


def text_of(harness: TranscriptHarness, kind: PartKind) -> ReadOnlyText:
    text = harness.parts(kind)[0].selectable
    assert isinstance(text, ReadOnlyText)
    return text


def bar_of(harness: TranscriptHarness, kind: PartKind) -> QScrollBar:
    return text_of(harness, kind).horizontalScrollBar()


@pytest.mark.parametrize("kind", [PartKind.TABLE, PartKind.CODE])
def test_wheel_and_trackpad_move_what_is_under_the_pointer(wide: TranscriptHarness, kind: PartKind) -> None:
    bar, text = bar_of(wide, kind), text_of(wide, kind)
    assert bar.maximum() > 100
    wheel(text.viewport(), -120, keys=SHIFT)
    first = bar.value()
    assert first > 0
    wheel(text.viewport(), 0, -120)
    assert bar.value() > first
    wheel(text.viewport(), 120, keys=SHIFT)
    wheel(text.viewport(), 0, 120)
    assert bar.value() == 0


def test_the_wheel_alone_scrolls_the_transcript(wide: TranscriptHarness) -> None:
    wide.view.resize(600, 200)
    still()
    wide.scroll_to(0)
    wheel(text_of(wide, PartKind.TABLE).viewport(), -120)
    assert wide.value > 0
    assert bar_of(wide, PartKind.TABLE).value() == 0


def test_keys_move_the_one_in_the_focused_message(wide: TranscriptHarness) -> None:
    wide.view.setFocus()
    for kind, steps in ((PartKind.CODE, 1), (PartKind.TABLE, 3)):
        for _ in range(steps):
            QTest.keyClick(wide.view, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClick(wide.view, Qt.Key.Key_Right)
        assert bar_of(wide, kind).value() > 0
        QTest.keyClick(wide.view, Qt.Key.Key_Left)
        assert bar_of(wide, kind).value() == 0


@pytest.mark.parametrize(("kind", "text"), [(PartKind.TABLE, f"{TABLE}\n\nMore"), (PartKind.CODE, CODE[:-3])])
def test_what_was_scrolled_stays_there_while_the_reply_grows(
    open_transcript: Opener, kind: PartKind, text: str
) -> None:
    harness = open_transcript([reply(1, "", ReplyStatus.STREAMING)])
    harness.model.append_text(1, text)
    bar_of(harness, kind).setValue(150)
    for _ in range(5):
        harness.model.append_text(1, " and more\n\n")
        still()
    assert bar_of(harness, kind).value() == 150
