"""Following the end, yielding to the reader, staying in place, and few widgets."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.view_models.transcript import ReplyStatus, TranscriptMessage
from app.views.transcript.parts import PartKind
from app.views.transcript.texts import BubblePart, TextPart
from tests.helpers.transcript_desk import PARAGRAPH, Desk, long_chat, question, reply

Opener = Callable[[list[TranscriptMessage]], Desk]


@pytest.fixture
def open_desk(qtbot: QtBot) -> Opener:
    def open_one(messages: list[TranscriptMessage]) -> Desk:
        desk = Desk(messages)
        qtbot.addWidget(desk.view)
        return desk

    return open_one


def streaming_desk(open_desk: Opener, turns: int = 20) -> Desk:
    desk = open_desk(long_chat(turns))
    desk.model.append(question(1001))
    desk.model.append(reply(1002, "", ReplyStatus.STREAMING))
    return desk


def wheel(widget: QWidget, delta_y: int) -> None:
    """As the system sends it; an event that is only posted to a widget never reaches its parents."""
    window = widget.window()
    QTest.wheelEvent(window.windowHandle(), widget.mapTo(window, widget.rect().center()), QPoint(0, delta_y))
    QApplication.processEvents()


def test_a_chat_opens_at_its_end(open_desk: Opener) -> None:
    desk = open_desk(long_chat(20))
    assert desk.value == desk.bottom > 0
    assert desk.parts(PartKind.FOOTER)[-1].message_id == 40


def test_another_version_of_an_early_message_leaves_the_reader_there(open_desk: Opener) -> None:
    chat = long_chat(20)
    desk = open_desk(chat)
    desk.scroll_to(900)
    place = desk.value
    desk.model.set_messages([*chat[:4], question(501), reply(502, "Short"), *long_chat(60)[50:]])
    QApplication.processEvents()
    assert desk.value == place < desk.bottom


def test_another_version_of_the_last_reply_is_shown_to_its_end(open_desk: Opener) -> None:
    chat = long_chat(20)
    desk = open_desk(chat)
    desk.model.set_messages([*chat[:-1], reply(502, f"{PARAGRAPH}\n\n" * 20)])
    assert desk.value == desk.bottom


def test_another_chat_opens_at_its_end_wherever_the_last_one_stood(open_desk: Opener) -> None:
    desk = open_desk(long_chat(20))
    desk.scroll_to(100)
    desk.model.set_messages([question(900), *long_chat(30)])
    assert desk.value == desk.bottom


def test_only_what_is_in_sight_has_widgets(open_desk: Opener) -> None:
    small, large = open_desk(long_chat(10)), open_desk(long_chat(250))
    assert large.view.window_of_parts.live_widgets <= small.view.window_of_parts.live_widgets + 2 < 60
    made = len(large.view.viewport().children())
    for value in range(large.bottom, 0, -max(1, large.bottom // 60)):
        large.scroll_to(value)
    assert len(large.view.viewport().children()) < made + 60


def test_only_messages_in_sight_are_read(open_desk: Opener) -> None:
    desk = open_desk(long_chat(250))
    assert sum(item.is_read for item in desk.view.items) < 20


def test_growing_text_reads_only_the_tail_again(open_desk: Opener) -> None:
    desk = streaming_desk(open_desk)
    desk.model.append_text(1002, (PARAGRAPH + "\n\n") * 60)
    item = desk.view.items[-1]
    before = item.read_chars
    desk.model.append_text(1002, "more")
    assert item.read_chars - before < 2 * len(PARAGRAPH)


def test_growing_text_touches_only_the_last_widget(open_desk: Opener) -> None:
    desk = streaming_desk(open_desk)
    desk.model.append_text(1002, "first paragraph\n\nsecond paragraph\n\nthird")
    before = [(part, part.content, part.widget) for part in desk.parts(PartKind.TEXT)]
    desk.model.append_text(1002, " grows")
    after = desk.parts(PartKind.TEXT)
    assert [part for part, _, _ in before] == after
    changed = [part for part, content, _ in before if part.content is not content]
    assert changed == after[-1:]
    assert all(part.widget is widget for part, _, widget in before)


def test_it_follows_the_end(open_desk: Opener) -> None:
    desk = streaming_desk(open_desk)
    for _ in range(30):
        desk.model.append_text(1002, PARAGRAPH)
        assert desk.value == desk.bottom


def test_the_smallest_step_up_lets_go(open_desk: Opener) -> None:
    desk = streaming_desk(open_desk)
    desk.model.append_text(1002, PARAGRAPH * 10)
    desk.scroll_to(desk.bottom - 3)
    held = desk.value
    desk.model.append_text(1002, PARAGRAPH * 3)
    assert desk.value == held < desk.bottom


def test_the_wheel_over_text_scrolls_the_transcript(open_desk: Opener) -> None:
    desk = streaming_desk(open_desk)
    desk.model.append_text(1002, PARAGRAPH)
    over = desk.parts(PartKind.TEXT)[-1].widget
    assert isinstance(over, TextPart)
    before = desk.value
    wheel(over.viewport(), 120)
    assert desk.value < before
    held = desk.value
    desk.model.append_text(1002, PARAGRAPH * 3)
    assert desk.value == held


def test_coming_back_to_the_end_takes_hold_again(open_desk: Opener) -> None:
    desk = streaming_desk(open_desk)
    desk.scroll_to(desk.bottom - 500)
    desk.scroll_to(desk.bottom - 40)
    desk.model.append_text(1002, PARAGRAPH * 5)
    assert desk.value == desk.bottom


def test_asking_goes_to_the_end(open_desk: Opener) -> None:
    desk = open_desk(long_chat(20))
    desk.scroll_to(100)
    desk.model.append(question(2001))
    assert desk.value == desk.bottom


def test_the_jump_button_comes_and_goes(open_desk: Opener) -> None:
    desk = streaming_desk(open_desk)
    button = desk.view.jump_button
    assert not button.isVisible()
    desk.scroll_to(desk.bottom - 400)
    assert button.isVisible()
    assert button.accessibleName()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert desk.value == desk.bottom
    assert not button.isVisible()


def test_nothing_moves_while_text_grows_below(open_desk: Opener) -> None:
    desk = streaming_desk(open_desk)
    desk.model.append_text(1002, "# Start\n\n" + (PARAGRAPH + "\n\n") * 8)
    desk.scroll_to(desk.bottom - 300)
    places = [widget_y for _, widget_y in visible_places(desk)]
    for _ in range(20):
        desk.model.append_text(1002, "and `more` **words**\n\n```py\nx = 1\n```\n\n")
        assert [widget_y for _, widget_y in visible_places(desk)][: len(places)] == places


def visible_places(desk: Desk) -> list[tuple[int, int]]:
    shown = [(part, place.y()) for part, place in desk.view.window_of_parts.shown() if 0 <= place.y() < 250]
    return sorted(((part.message_id, y) for part, y in shown), key=lambda each: each[1])


def test_scrolling_into_unread_messages_keeps_what_is_seen_in_place(open_desk: Opener) -> None:
    desk = open_desk(long_chat(60))
    for _ in range(60):
        shown = {id(part): place.y() for part, place in desk.view.window_of_parts.shown()}
        before = desk.value
        wheel(desk.view.viewport(), 120)
        after = {id(part): place.y() for part, place in desk.view.window_of_parts.shown()}
        moved = {after[key] - shown[key] for key in shown.keys() & after.keys()}
        assert len(moved) == 1, "parts moved against each other"
        assert 0 < moved.pop() <= 200
        if before == 0:
            break


def test_a_narrower_window_keeps_the_reader_s_place(open_desk: Opener) -> None:
    desk = open_desk(long_chat(30))
    desk.scroll_to(desk.bottom // 2)
    first = top_message(desk)
    desk.view.resize(520, 600)
    QApplication.processEvents()
    assert top_message(desk) == first
    desk.theme.set_scale(2.0)
    assert top_message(desk) == first


def top_message(desk: Desk) -> int:
    shown = [(place.bottom(), part.message_id) for part, place in desk.view.window_of_parts.shown()]
    return min((bottom, number) for bottom, number in shown if bottom > 0)[1]


def test_keys_scroll(open_desk: Opener) -> None:
    desk = open_desk(long_chat(30))
    desk.view.setFocus()
    QTest.keyClick(desk.view, Qt.Key.Key_Home)
    assert desk.value == 0
    QTest.keyClick(desk.view, Qt.Key.Key_PageDown)
    assert 0 < desk.value < desk.bottom
    QTest.keyClick(desk.view, Qt.Key.Key_End)
    assert desk.value == desk.bottom


def test_a_dragged_bar_is_not_pulled_away(open_desk: Opener) -> None:
    desk = streaming_desk(open_desk)
    bar = desk.view.verticalScrollBar()
    bar.setSliderDown(True)
    bar.setSliderPosition(desk.bottom // 2)
    held = desk.value
    desk.model.append_text(1002, PARAGRAPH * 5)
    assert desk.value == held
    bar.setSliderDown(False)


def test_selecting_lets_go_of_the_end(open_desk: Opener) -> None:
    desk = streaming_desk(open_desk)
    desk.model.append_text(1002, PARAGRAPH * 4)
    text = desk.parts(PartKind.TEXT)[-1].widget
    assert isinstance(text, TextPart)
    left = Qt.MouseButton.LeftButton
    pointer(text.viewport(), QEvent.Type.MouseButtonPress, 5, left, left)
    pointer(text.viewport(), QEvent.Type.MouseMove, 200, Qt.MouseButton.NoButton, left)
    assert text.textCursor().hasSelection()
    held = desk.value
    desk.model.append_text(1002, PARAGRAPH * 4)
    assert desk.value == held
    pointer(text.viewport(), QEvent.Type.MouseButtonRelease, 200, left, Qt.MouseButton.NoButton)


def pointer(widget: QWidget, kind: QEvent.Type, x: int, button: Qt.MouseButton, held: Qt.MouseButton) -> None:
    place = QPointF(x, 10)
    event = QMouseEvent(kind, place, widget.mapToGlobal(place), button, held, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(widget, event)


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_the_column_is_never_wider_than_760_at_normal_text_size(open_desk: Opener, scale: float) -> None:
    desk = open_desk([question(1, "word " * 400), reply(2, PARAGRAPH)])
    desk.theme.set_scale(scale)
    desk.view.resize(2600, 600)
    QApplication.processEvents()
    for _, place in desk.view.window_of_parts.shown():
        assert place.width() == 760 * scale
        assert abs(place.center().x() - desk.view.viewport().rect().center().x()) <= 1
    bubble = desk.parts(PartKind.BUBBLE)[0].widget
    assert isinstance(bubble, BubblePart)
    assert bubble.text.width() <= 760 * scale * 0.8


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_nothing_moves_when_the_first_words_come(open_desk: Opener, scale: float) -> None:
    desk = open_desk([*long_chat(20), question(1001), reply(1002, "", ReplyStatus.QUEUED)])
    desk.theme.set_scale(scale)
    QApplication.processEvents()
    before = desk.value, desk.bottom
    desk.model.append_text(1002, "A word")
    desk.model.change(1002, status=ReplyStatus.STREAMING)
    assert (desk.value, desk.bottom) == before
