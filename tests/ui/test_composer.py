"""The composer: Return and input methods, growing, unsent text, stop, big pastes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.theme import Theme
from app.views.shell.composer import Composer
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.composing import compose, paste
from tests.helpers.double_click import double_click
from tests.helpers.stillness import still
from tests.helpers.tooltips import tooltip_text


@pytest.fixture
def composer(qtbot: QtBot) -> Iterator[Composer]:
    window = QWidget()
    window.resize(800, 600)
    composer = Composer(Theme(window), window)
    composer.send_requested.connect(lambda text: composer.unsent.confirm(0, text))  # stored at once
    layout = QVBoxLayout(window)
    layout.addStretch()
    layout.addWidget(composer)
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    composer.take_focus()
    yield composer
    window.close()


def test_only_spaces_are_not_sent(composer: Composer, qtbot: QtBot) -> None:
    QTest.keyClicks(composer.edit, "   ")
    with qtbot.assertNotEmitted(composer.send_requested):
        QTest.keyClick(composer.edit, Qt.Key.Key_Return)


def test_return_while_composing_does_not_send(composer: Composer, qtbot: QtBot) -> None:
    QTest.keyClicks(composer.edit, "1. ")
    compose(composer.edit, "にほん")
    with qtbot.assertNotEmitted(composer.send_requested):
        QTest.keyClick(composer.edit, Qt.Key.Key_Return)


def test_korean_return_commits_then_sends_everything_once(composer: Composer, qtbot: QtBot) -> None:
    """The Mac delivers the commit first and the same Return again as a key."""
    compose(composer.edit, "", "안녕하세")
    compose(composer.edit, "요")
    compose(composer.edit, "", "요")
    with qtbot.waitSignal(composer.send_requested) as sent:
        QTest.keyClick(composer.edit, Qt.Key.Key_Return)
    assert sent.args == ["안녕하세요"]
    assert composer.text() == ""


def test_placeholder_hides_under_a_composition(composer: Composer, qtbot: QtBot) -> None:
    compose(composer.edit, "ㅎ")
    hinted = composer.edit.grab().toImage()
    composer.edit.set_hint("")
    assert composer.edit.grab().toImage() == hinted
    compose(composer.edit, "")
    composer.edit.set_hint("Ask anything")
    assert composer.edit.placeholderText() == "Ask anything"


def test_what_is_longer_than_the_model_can_read_is_not_sent(
    composer: Composer, announced: list[tuple[object, str]], qtbot: QtBot
) -> None:
    composer.set_text("word " * 1300)
    composer.set_context(0, 1000)
    composer.show_typed_tokens(900)
    assert composer.button.isEnabled()
    composer.show_typed_tokens(1300)
    assert not composer.button.isEnabled()
    with qtbot.assertNotEmitted(composer.send_requested):
        QTest.keyClick(composer.edit, Qt.Key.Key_Return)
    assert tooltip_text() == "300 token(s) too many."
    assert announced == [(composer.button, "300 token(s) too many.")]
    composer.set_text("word")  # the count is of what was there before
    with qtbot.waitSignal(composer.send_requested):
        QTest.keyClick(composer.edit, Qt.Key.Key_Return)


def test_one_token_too_many_is_one(harness: AppHarness) -> None:
    composer = harness.window.composer
    composer.set_text("word " * 1300)
    composer.set_context(0, 1000)
    composer.show_typed_tokens(1001)
    QTest.keyClick(composer.edit, Qt.Key.Key_Return)
    assert tooltip_text() == "1 token too many."


def test_grows_with_lines_and_stops_at_forty_percent(composer: Composer) -> None:
    one = composer.height()
    composer.set_text("\n" * 4)
    still()
    assert composer.height() > one
    composer.set_text("\n" * 400)
    still()
    assert composer.height() <= 0.4 * composer.window().height() + 1
    composer.set_text("")
    still()
    assert composer.height() == one
    compose(composer.edit, "가나다라" * 60)
    still()
    assert composer.height() > one


def test_the_scroll_bar_of_a_tall_message_is_at_the_edge_of_the_card(composer: Composer) -> None:
    composer.set_text("one\n" * 60)
    still()
    bar = composer.edit.verticalScrollBar()
    assert bar.isVisible()
    assert bar.mapTo(composer, bar.rect().topRight()).x() == composer.width() - 1
    assert composer.childAt(bar.mapTo(composer, bar.rect().bottomLeft())) is bar  # no button lies over it
    button = composer.button
    left = button.mapTo(composer, QPoint())
    assert left.x() < right_of_lines(composer) <= left.x() + button.width()  # as wide as the card, but for the bar
    lines = composer.edit.viewport()
    assert lines.mapTo(composer, lines.rect().bottomLeft()).y() < left.y()


def right_of_lines(composer: Composer) -> int:
    return composer.edit.x() + composer.edit.viewport().geometry().right()


@pytest.mark.parametrize("letter", ["w", "글"])
def test_a_line_is_beside_the_buttons_until_they_have_to_go_below(composer: Composer, letter: str) -> None:
    """As long as it is one line there; nothing goes to and fro while a word is typed or deleted."""
    before = composer.height()
    beside = []
    for length in [*range(1, 120), *range(119, 0, -1)]:
        composer.set_text(letter * length)
        beside.append(right_of_lines(composer) < composer.attach_button.mapTo(composer, QPoint()).x())
        assert composer.edit.document().firstBlock().layout().lineCount() == 1 or not beside[-1]
    assert beside == sorted(beside[:119], reverse=True) + sorted(beside[119:])
    assert set(beside) == {True, False}
    assert composer.height() == before


def test_the_context_meter_says_what_a_chat_can_have_and_why(composer: Composer) -> None:
    """Of what the model holds: as much as it was given, and as memory has room for."""
    ring = composer.ring
    ring.set_room(40_960, 0)
    composer.set_context(1_000, 40_960)
    assert ring.toolTip() == "Context: 1,000 of 40,960 tokens"
    composer.set_context(1_000, 8_192)
    assert ring.toolTip().splitlines() == [
        "Context: 1,000 of 8,192 tokens",
        "Limited to 8,192 tokens (model: 40,960)",
    ]
    ring.set_room(40_960, 2_000)
    assert ring.share == 0.5
    assert "Memory holds about 2,000 tokens (model: 40,960)" in ring.toolTip()
    assert ring.toolTip().startswith("Context: 1,000 of 2,000 tokens")
    assert "Memory holds" in ring.accessibleName()


def test_what_is_sent_stays_until_it_is_stored(composer: Composer, qtbot: QtBot) -> None:
    composer.send_requested.disconnect()
    sent: list[str] = []
    composer.send_requested.connect(sent.append)
    QTest.keyClicks(composer.edit, "Hello")
    QTest.keyClick(composer.edit, Qt.Key.Key_Return)
    QTest.keyClick(composer.edit, Qt.Key.Key_Return)
    assert (sent, composer.text()) == (["Hello"], "Hello")
    composer.unsent.release()  # the disk refused it
    assert composer.text() == "Hello"
    QTest.keyClick(composer.edit, Qt.Key.Key_Return)
    QTest.keyClicks(composer.edit, " and more")
    composer.unsent.confirm(0, "Hello")
    assert (sent, composer.text()) == (["Hello", "Hello"], "and more")


def test_indented_code_is_sent_as_it_is(tmp_path: Path, qtbot: QtBot) -> None:
    code = "    def f(self):\n        return 1"
    with open_app(tmp_path, qtbot) as app:
        composer = app.window.composer
        composer.send(f"\n{code}\n ")
        composer.edit.insert_text("later")
        app.wait_until_quiet(qtbot)
        message = app.chats.transcript.messages[0]
        assert (message.text, composer.text()) == (code, "later")
        app.chats.edits.begin(message.id)
        app.chats.edits.type(message.id, f"{code} + 1")
        assert app.chats.edits.save(message.id)
        app.wait_until_quiet(qtbot)
        assert app.chats.transcript.messages[0].text == f"{code} + 1"


def test_another_chat_can_send_while_one_is_being_stored(composer: Composer, qtbot: QtBot) -> None:
    composer.send_requested.disconnect()
    sent: list[str] = []
    composer.send_requested.connect(sent.append)
    composer.unsent.open_chat(7)
    QTest.keyClicks(composer.edit, "Hello")
    QTest.keyClick(composer.edit, Qt.Key.Key_Return)
    composer.unsent.open_chat(8)
    QTest.keyClicks(composer.edit, "Elsewhere")
    QTest.keyClick(composer.edit, Qt.Key.Key_Return)
    assert sent == ["Hello", "Elsewhere"]
    composer.unsent.release(7)
    QTest.keyClick(composer.edit, Qt.Key.Key_Return)
    assert len(sent) == 2
    assert tooltip_text() == "Still saving your last message."


def test_what_was_stored_after_its_chat_was_left_is_no_longer_unsent(composer: Composer) -> None:
    composer.send_requested.disconnect()
    kept = dict[int, str]()
    composer.unsent.changed.connect(kept.__setitem__)
    QTest.keyClicks(composer.edit, "Hello")
    QTest.keyClick(composer.edit, Qt.Key.Key_Return)
    composer.unsent.open_chat(7)
    assert kept[0] == "Hello"
    composer.unsent.confirm(0, "Hello")
    assert kept[0] == ""
    composer.unsent.open_chat(0)
    assert composer.text() == ""


def test_what_was_typed_before_the_chats_were_open_comes_after_what_waited(composer: Composer) -> None:
    QTest.keyClicks(composer.edit, "quick ")
    compose(composer.edit, "새")
    composer.unsent.restore({1: "from yesterday", 3: "elsewhere"}, 1)
    assert composer.text() == "from yesterday\nquick 새"
    composer.unsent.open_chat(3)
    assert composer.text() == "elsewhere"


@pytest.mark.parametrize("width", range(500, 560, 7))
def test_spaces_at_the_ends_of_lines_move_nothing_sideways(composer: Composer, width: int) -> None:
    composer.window().resize(width, 400)
    composer.set_text("word is here and there " * 40)
    composer.edit.moveCursor(QTextCursor.MoveOperation.End)
    assert composer.edit.horizontalScrollBar().maximum() == 0


def test_editing_around_the_cuts_of_a_long_line_changes_nothing_else(composer: Composer) -> None:
    paste(composer.edit, "x" * 20_000)
    composer.edit.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClick(composer.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(composer.edit, "next")
    assert composer.text() == "x" * 20_000 + "\nnext"
    composer.edit.moveCursor(QTextCursor.MoveOperation.Start)
    QTest.keyClicks(composer.edit, "ab\bc")
    assert composer.text() == "ac" + "x" * 20_000 + "\nnext"
    composer.edit.selectAll()
    assert composer.edit.createMimeDataFromSelection().text() == composer.text()


def test_a_click_on_send_commits_what_is_being_composed(composer: Composer, qtbot: QtBot) -> None:
    QTest.keyClicks(composer.edit, "1. ")
    compose(composer.edit, "안녕")
    with qtbot.waitSignal(composer.send_requested) as sent:
        QTest.mouseClick(composer.button, Qt.MouseButton.LeftButton)
    assert sent.args == ["1. 안녕"]
    assert composer.text() == ""
    compose(composer.edit, "네")
    assert composer.button.isEnabled()
    with qtbot.waitSignal(composer.send_requested) as sent:
        QTest.mouseClick(composer.button, Qt.MouseButton.LeftButton)
    assert sent.args == ["네"]


def test_a_double_click_on_send_does_not_stop_what_it_has_sent(composer: Composer, qtbot: QtBot) -> None:
    assert not composer.button.isEnabled()
    composer.set_text("Hi")
    composer.send_requested.connect(lambda _text: composer.set_generating(True))
    with qtbot.assertNotEmitted(composer.stop_requested):
        double_click(composer.button)
    assert composer.button.accessibleName() == "Stop"
    with qtbot.waitSignal(composer.stop_requested):
        QTest.mouseClick(composer.button, Qt.MouseButton.LeftButton)
    assert composer.edit.hasFocus()


def test_in_a_small_window_the_lines_have_the_height(tmp_path: Path, qtbot: QtBot) -> None:
    """With the buttons below hardly any would be seen."""
    with open_app(tmp_path, qtbot) as harness:
        composer = harness.window.composer
        harness.application.theme.set_scale(2.0)
        for height, is_below in ((480, False), (900, True)):
            harness.window.resize(720, height)
            composer.set_text("line\n" * 12)
            still()
            lines = composer.edit.viewport()
            line_px = composer.edit.fontMetrics().lineSpacing()
            assert lines.height() >= (4 if is_below else 3) * line_px
            top = composer.button.mapTo(composer, QPoint()).y()
            assert (lines.mapTo(composer, lines.rect().bottomLeft()).y() < top) == is_below
