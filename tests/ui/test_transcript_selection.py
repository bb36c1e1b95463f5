"""One selection through blocks and messages, by pointer and keys, and what is copied of it.

Mouse events are given to the window, so that they take the way of real ones.
"""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

from app.markup.block import Block
from app.view_models.transcript import ReplyStatus
from app.views.transcript.parts import Part
from app.views.transcript.selection import TextPlace
from app.views.transcript.selection_keys import SelectionPointer
from app.views.transcript.text_parts import ReadOnlyText
from app.views.transcript.view import TranscriptMenu
from tests.helpers.event_loop import after
from tests.helpers.stillness import NEVER_MS, still
from tests.helpers.transcript_harness import (
    PARAGRAPH,
    Opener,
    TranscriptHarness,
    long_chat,
    question,
    reply,
    selected_words,
)

Key = QKeySequence.StandardKey
RIGHT, LEFT, DOWN, UP = Key.SelectNextChar, Key.SelectPreviousChar, Key.SelectNextLine, Key.SelectPreviousLine
SHIFT = Qt.KeyboardModifier.ShiftModifier
CHAT = [
    question(1, "First question"),
    reply(2, "Alpha **bold** words\n\nBeta paragraph\n\n```py\nx = 1\ny = 2\n```\n\n- one\n- two\n\nOmega end"),
    question(3, "Second question"),
    reply(4, "The last answer"),
]


def text_with(harness: TranscriptHarness, words: str) -> ReadOnlyText:
    in_sight = [each for each in harness.texts() if each.mapTo(harness.view, QPoint(0, 0)).y() >= 0]
    return next(each for each in in_sight if words in each.toPlainText())


def point(harness: TranscriptHarness, words: str, *, behind: bool = False) -> QPoint:
    """Where some words begin or end, in the window."""
    text = text_with(harness, words)
    cursor = QTextCursor(text.document())
    cursor.setPosition(text.toPlainText().index(words) + (len(words) if behind else 0))
    return text.viewport().mapTo(harness.view, text.cursorRect(cursor).center())


def mouse(harness: TranscriptHarness, kind: str, at: QPoint, modifiers: Qt.KeyboardModifier | None = None) -> None:
    window = harness.view.windowHandle()
    act = getattr(QTest, kind)
    if kind == "mouseMove":
        act(window, at)
    else:
        act(window, Qt.MouseButton.LeftButton, modifiers or Qt.KeyboardModifier.NoModifier, at)
    still()


def drag(harness: TranscriptHarness, start: QPoint, end: QPoint) -> None:
    mouse(harness, "mousePress", start)
    mouse(harness, "mouseMove", QPoint((start.x() + end.x()) // 2, (start.y() + end.y()) // 2))
    mouse(harness, "mouseMove", end)
    mouse(harness, "mouseRelease", end)


def lit(harness: TranscriptHarness) -> list[str]:
    """What is shown as selected, from above."""
    found: list[str] = []
    for text in harness.texts():
        words = selected_words(text)
        assert text.textCursor().hasSelection() == bool(words), "what screen readers hear is another selection"
        found += words
    return [words for words in found if words]


def copied(harness: TranscriptHarness) -> str:
    QGuiApplication.clipboard().clear()
    QTest.keyClick(harness.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    return QGuiApplication.clipboard().text()


def test_a_drag_goes_through_blocks_and_messages(open_transcript: Opener) -> None:
    harness = open_transcript(CHAT)
    drag(harness, point(harness, "bold"), point(harness, "Second", behind=True))
    assert lit(harness) == [
        "bold words",
        "Beta paragraph",
        "x = 1\ny = 2",
        "•\u00a0\u00a0one\n•\u00a0\u00a0two",
        "Omega end",
        "Second",
    ]
    assert copied(harness) == "bold words\n\nBeta paragraph\n\nx = 1\ny = 2\n\n• one\n• two\n\nOmega end\n\nSecond"
    harness.view.copier.copy_selection(markdown=True)
    expected = "**bold** words\n\nBeta paragraph\n\n```py\nx = 1\ny = 2\n```\n\n- one\n- two\n\nOmega end\n\nSecond"
    assert QGuiApplication.clipboard().text() == expected


def test_a_drag_upwards_beside_the_text_and_with_shift(open_transcript: Opener) -> None:
    harness = open_transcript(CHAT)
    drag(harness, point(harness, "paragraph"), point(harness, "question"))
    assert copied(harness) == "question\n\nAlpha bold words\n\nBeta "
    mouse(harness, "mouseClick", point(harness, "last"))
    assert lit(harness) == []
    drag(harness, QPoint(5, point(harness, "Beta").y()), QPoint(5, point(harness, "x = 1").y()))
    assert copied(harness).startswith("Beta paragraph")
    drag(harness, point(harness, "The last"), QPoint(400, 595))
    assert copied(harness) == "The last answer"
    QTest.keyClick(harness.view, Qt.Key.Key_Escape)
    assert lit(harness) == []
    mouse(harness, "mouseClick", point(harness, "Beta"))
    mouse(harness, "mouseClick", point(harness, "x = 1", behind=True), SHIFT)
    assert lit(harness) == ["Beta paragraph", "x = 1"]
    mouse(harness, "mouseClick", point(harness, "bold"), SHIFT)
    assert lit(harness) == ["bold words"]


def test_two_clicks_take_a_word_and_three_a_line(open_transcript: Opener) -> None:
    harness = open_transcript(CHAT)
    assert isinstance(harness.view.pointer, SelectionPointer)
    harness.view.pointer.third_click.setInterval(NEVER_MS)
    at = point(harness, "paragraph") + QPoint(6, 0)
    mouse(harness, "mousePress", at)
    mouse(harness, "mouseRelease", at)
    mouse(harness, "mouseDClick", at)
    assert lit(harness) == ["paragraph"]
    mouse(harness, "mousePress", at)
    mouse(harness, "mouseRelease", at)
    assert lit(harness) == ["Beta paragraph"]
    at = point(harness, "= 1")
    mouse(harness, "mouseDClick", at)
    mouse(harness, "mousePress", at)
    mouse(harness, "mouseRelease", at)
    assert lit(harness) == ["x = 1"]


def test_a_drag_after_two_clicks_takes_whole_words(open_transcript: Opener) -> None:
    harness = open_transcript(CHAT)
    at = point(harness, "bold") + QPoint(6, 0)
    pointer = harness.view.pointer
    assert isinstance(pointer, SelectionPointer)
    pointer.double_click(at)
    mouse(harness, "mouseMove", point(harness, "paragraph") + QPoint(12, 0))
    pointer.move(point(harness, "paragraph") + QPoint(12, 0))
    pointer.release()
    assert lit(harness) == ["bold words", "Beta paragraph"]


def test_all_is_selected_with_what_is_out_of_sight(open_transcript: Opener) -> None:
    chat = long_chat(30)
    harness = open_transcript(chat)
    harness.view.setFocus()
    QTest.keyClick(harness.view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert all(selected_words(each) for each in harness.texts())
    text = copied(harness)
    assert text.startswith("Question 1?\n\nReply 0\n\nSome words")
    assert [f"Reply {turn}" in text for turn in range(30)] == [True] * 30
    harness.view.copier.copy_selection(markdown=True)
    assert QGuiApplication.clipboard().text() == "\n\n".join(message.text for message in chat)


def test_it_scrolls_at_the_edges(open_transcript: Opener, qtbot: QtBot) -> None:
    harness = open_transcript(long_chat(20))
    before = harness.value
    start = QPoint(300, 300)
    mouse(harness, "mousePress", start)
    QTest.mouseMove(harness.view.windowHandle(), QPoint(300, -80))  # it is not still while it scrolls
    qtbot.waitUntil(lambda: harness.value < before - 700)
    mouse(harness, "mouseRelease", QPoint(300, -80))
    pointer = harness.view.pointer
    assert isinstance(pointer, SelectionPointer)
    qtbot.waitUntil(lambda: not pointer.is_pressed)
    held = harness.value
    assert len(copied(harness)) > 500
    after(100)  # three steps of scrolling
    assert harness.value == held


@pytest.mark.parametrize("comes_back", [False, True])
def test_a_drag_ends_without_word_of_the_button(open_transcript: Opener, qtbot: QtBot, comes_back: bool) -> None:
    """The text that was pressed has scrolled out of sight: Qt told that one, or none."""
    harness = open_transcript(long_chat(20))
    pointer = harness.view.pointer
    assert isinstance(pointer, SelectionPointer)
    pointer.press(QPoint(300, 300), extend=False)
    pointer.move(QPoint(300, 200 if comes_back else -80))
    before = copied(harness)
    if comes_back:
        mouse(harness, "mouseMove", QPoint(280, 120))  # the pointer may have been left at the second
        mouse(harness, "mouseMove", QPoint(300, 100))
    qtbot.waitUntil(lambda: not pointer.is_pressed)
    held = harness.value
    after(100)
    assert (harness.value, copied(harness)) == (held, before)


def test_it_survives_scrolling_out_of_sight_and_no_other_text_inherits_it(open_transcript: Opener) -> None:
    harness = open_transcript(long_chat(12))
    words = "Some words that fill"
    drag(harness, point(harness, words), point(harness, words, behind=True))
    before, text = lit(harness), copied(harness)
    assert before == [words]
    place = harness.value
    for value in range(place, 0, -150):
        harness.scroll_to(value)
        assert lit(harness) in ([], before)
    assert lit(harness) == []
    assert copied(harness) == text
    harness.scroll_to(place)
    assert lit(harness) == before


def test_it_survives_streaming(open_transcript: Opener) -> None:
    harness = open_transcript([question(1), reply(2, "", ReplyStatus.STREAMING)])
    harness.model.append_text(2, "some words here")
    drag(harness, point(harness, "some"), point(harness, "words", behind=True))
    for piece in (" and **mo", "re**\n\nnext\n\n", PARAGRAPH, "\n\n```\ncode\n```\n"):
        harness.model.append_text(2, piece)
        assert lit(harness) == ["some words"]
    harness.model.change(2, status=ReplyStatus.DONE)
    assert lit(harness) == ["some words"]
    assert copied(harness) == "some words"


def test_nothing_moves_under_the_pointer_while_text_grows(open_transcript: Opener) -> None:
    harness = open_transcript([*long_chat(10), question(1001), reply(1002, "", ReplyStatus.STREAMING)])
    harness.model.append_text(1002, PARAGRAPH * 4)
    start = point(harness, "Some words")
    mouse(harness, "mousePress", start)
    mouse(harness, "mouseMove", start + QPoint(100, 0))
    held = harness.value
    harness.model.append_text(1002, PARAGRAPH * 4)
    assert harness.value == held
    mouse(harness, "mouseRelease", start + QPoint(100, 0))


def test_links_still_open_and_a_drag_over_one_does_not(open_transcript: Opener, qtbot: QtBot) -> None:
    harness = open_transcript([reply(1, "see [the page](https://example.com/x) there")])
    at = point(harness, "page")
    with qtbot.waitSignal(harness.view.context.link_requested) as asked:
        mouse(harness, "mouseClick", at)
    assert asked.args == ["https://example.com/x"]
    with qtbot.assertNotEmitted(harness.view.context.link_requested):
        drag(harness, point(harness, "the page"), point(harness, "page", behind=True) - QPoint(2, 0))
    assert lit(harness) in (["the page"], ["the pag"])


def test_tables_and_formulas_are_selected_too(open_transcript: Opener, qtbot: QtBot) -> None:
    source = "Before\n\n| a | b |\n|---|---|\n| one\\|1 | `two` |\n\n$$\nx^2\n$$\n\nso $y$ it is"
    harness = open_transcript([reply(1, source)])
    qtbot.waitUntil(
        lambda: not any(getattr(part.widget, "pending", None) for part, _ in harness.view.visible_parts.shown())
    )
    drag(harness, point(harness, "Before"), point(harness, "it is", behind=True))
    assert copied(harness) == "Before\n\na\tb\none|1\ttwo\n\nx^2\n\nso y it is"
    harness.view.copier.copy_selection(markdown=True)
    expected = "Before\n\n| a | b |\n| --- | --- |\n| one\\|1 | `two` |\n\n$$\nx^2\n$$\n\nso $y$ it is"
    assert QGuiApplication.clipboard().text() == expected
    drag(harness, point(harness, "one"), point(harness, "two", behind=True))
    assert lit(harness) == ["one|1", "two"]


def select_from(harness: TranscriptHarness, words: str) -> None:
    """From these words of the first message to the end."""
    harness.scroll_to(0)
    part = next(part for part in harness.view.items[0].parts if part.address is not None and words in text_of(part))
    assert part.address is not None
    place = TextPlace(1, part.address, text_of(part).index(words))
    harness.view.selection.begin(place, place)
    end = TextPlace(harness.model.messages[-1].id, (1 << 40, 0, 0), 0)
    harness.view.selection.extend(end, end)


def text_of(part: Part) -> str:
    return part.content.text if isinstance(part.content, Block) else ""


def test_code_with_fences_is_copied_within_longer_ones(open_transcript: Opener) -> None:
    source = "````markdown\nA list:\n```py\nx = 1\n```\n````\n\nthe end"
    harness = open_transcript([reply(1, source)])
    select_from(harness, "list")
    harness.view.copier.copy_selection(markdown=True)
    assert QGuiApplication.clipboard().text() == source.replace("A list", "list")


def test_long_code_is_copied_with_each_of_its_lines(open_transcript: Opener) -> None:
    lines = [f"value_{number} = {number}" for number in range(3000)]
    harness = open_transcript([reply(1, "```py\n" + "\n".join(lines) + "\n```\n")])
    select_from(harness, "value_1 =")
    assert copied(harness).splitlines() == lines[1:]
    harness.view.copier.copy_selection(markdown=True)
    assert QGuiApplication.clipboard().text().splitlines() == ["```py", *lines[1:], "```"]


def test_a_message_that_goes_takes_the_selection_along(open_transcript: Opener) -> None:
    harness = open_transcript(CHAT)
    drag(harness, point(harness, "Alpha"), point(harness, "last", behind=True))
    harness.model.show_branch(harness.model.messages[:2])
    assert lit(harness) == []
    assert harness.view.selection.is_empty
    harness.model.set_messages(long_chat(2))
    assert lit(harness) == []


def menu_words(harness: TranscriptHarness, at: QPoint) -> list[str]:
    view = harness.view
    menu = TranscriptMenu(view, at)
    words = [action.text() for action in menu.actions()]
    menu.deleteLater()
    return words


def test_the_menu_has_what_is_possible_here(open_transcript: Opener) -> None:
    harness = open_transcript([reply(1, "see [the page](https://example.com/x) there")])
    words = menu_words(harness, point(harness, "page"))
    assert (words[0], words[-1]) == ("Copy Link", "Select All")
    assert {"Copy as Markdown", "Copy as Plain Text", "Edit", "Regenerate", "Insert Before", "Delete"} <= set(words)
    assert menu_words(harness, QPoint(400, 590)) == ["Select All"]
    harness.view.selectAll()
    assert menu_words(harness, point(harness, "there")) == ["Copy", "Copy as Markdown", "Quote", "Select All"]


def test_focus_is_the_transcript_s_and_no_text_has_a_menu_or_selection_of_its_own(open_transcript: Opener) -> None:
    harness = open_transcript(CHAT)
    harness.view.activateWindow()
    mouse(harness, "mouseClick", point(harness, "Beta"))
    assert QApplication.focusWidget() in (harness.view, None)
    for widget in harness.view.findChildren(QWidget):
        if isinstance(widget, QTextEdit):
            assert not widget.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse


# By keys: through blocks and messages, in sight or not


def press(harness: TranscriptHarness, *keys: Key, times: int = 1) -> None:
    for _ in range(times):
        for key in keys:
            QTest.keySequence(harness.view, QKeySequence(key))
    still()


def begin_at(harness: TranscriptHarness, words: str) -> None:
    """As a click before these words."""
    text = text_with(harness, words)
    part = next(
        part for part, _ in harness.view.visible_parts.shown() if part.selectable is not None and _has(part, text)
    )
    assert part.address is not None
    place = TextPlace(part.message_id, part.address, text.toPlainText().index(words))
    harness.view.selection.begin(place, place)


def _has(part: object, text: object) -> bool:
    widget = getattr(part, "widget", None)
    return widget is text or getattr(widget, "text", None) is text


def test_characters_go_through_blocks_and_messages(open_transcript: Opener) -> None:
    harness = open_transcript(CHAT)
    begin_at(harness, "question")
    press(harness, RIGHT, times=len("question") + 1 + len("Alp"))
    assert copied(harness) == "question\n\nAlp"
    press(harness, LEFT, times=4 + len("ion"))
    assert copied(harness) == "quest"
    press(harness, LEFT, times=len("quest") + 2)
    assert copied(harness) == "t ", "the other way round, from where it began"


def test_words_lines_and_ends(open_transcript: Opener) -> None:
    harness = open_transcript(CHAT)
    begin_at(harness, "bold")
    press(harness, Key.SelectNextWord)
    assert copied(harness) == "bold "
    press(harness, Key.SelectPreviousWord, Key.SelectPreviousWord)
    assert copied(harness) == "Alpha "
    press(harness, Key.SelectEndOfLine)
    assert copied(harness) == "bold words"
    press(harness, Key.SelectEndOfLine)
    assert copied(harness) == "bold words"
    press(harness, Key.SelectStartOfLine)
    assert copied(harness) == "Alpha "
    press(harness, Key.SelectEndOfDocument)
    assert copied(harness).endswith("The last answer")
    press(harness, Key.SelectStartOfDocument)
    assert copied(harness).startswith("First question\n\nAlpha")


def test_lines_keep_their_column_through_blocks(open_transcript: Opener) -> None:
    harness = open_transcript(CHAT)
    begin_at(harness, "bold")
    press(harness, DOWN)
    place = harness.view.selection.cursor
    assert place is not None
    assert 5 <= place.char <= 8  # of "Beta paragraph", below "bold"
    press(harness, DOWN, times=12)
    assert copied(harness).endswith("The last answer")
    press(harness, UP, times=13)
    assert copied(harness).endswith("Alpha ")


def test_nothing_selected_begins_at_the_message_in_focus_or_in_sight(open_transcript: Opener) -> None:
    harness = open_transcript(CHAT)
    press(harness, Key.SelectNextWord)
    assert copied(harness) == "First "
    QTest.keyClick(harness.view, Qt.Key.Key_Escape)
    assert harness.view.selection.is_empty
    harness.view.message_keys.step(-1)
    press(harness, RIGHT, times=3)
    assert copied(harness) == "The"
    QTest.keyClick(harness.view, Qt.Key.Key_Escape)
    assert harness.view.selection.is_empty
    press(harness, LEFT, times=3)
    assert copied(harness) == "wer"


def test_what_is_reached_comes_into_sight_however_far_away(open_transcript: Opener) -> None:
    text = "begin\n\n" + f"{PARAGRAPH}\n\n" * 400 + "the very end"
    harness = open_transcript([*long_chat(4), reply(90, text), question(91, "after")])
    begin_at(harness, "after")
    press(harness, LEFT, times=3)  # into the last section
    assert copied(harness) == "nd"
    press(harness, Key.SelectPreviousPage, times=3)
    place = harness.view.selection.cursor
    assert place is not None
    assert place.message_id == 90
    assert harness.value < harness.bottom
    press(harness, Key.SelectStartOfDocument)
    assert harness.value == 0
    assert copied(harness).startswith("Question 1?")
    assert copied(harness).endswith("the very end")
    harness.scroll_to(harness.bottom)
    press(harness, RIGHT)
    assert harness.value < 100, "the end that moves is shown again"


def test_an_empty_transcript_and_its_edges(open_transcript: Opener) -> None:
    nothing = open_transcript([])
    harness = open_transcript([question(1, "a"), reply(2, "")])
    for key in (RIGHT, LEFT, DOWN, UP, Key.SelectNextWord, Key.SelectNextPage, Key.SelectPreviousPage):
        press(nothing, key)
        assert nothing.view.selection.is_empty
        press(harness, key, times=3)
        assert copied(harness) in ("a", "")
        harness.view.selection.clear()


def test_it_goes_through_code_tables_and_formulas_and_back(open_transcript: Opener) -> None:
    harness = open_transcript(
        [reply(1, "one\n\n```py\nx = 1\n```\n\n| a | b |\n|---|---|\n| c | d |\n\n$$x^2$$\n\ntwo"), question(2, "end")]
    )
    begin_at(harness, "one")
    for _ in range(60):
        press(harness, RIGHT)
    whole = copied(harness)
    assert whole.endswith("two\n\nend")
    assert "x = 1" in whole
    for _ in range(60):
        press(harness, LEFT)
    assert harness.view.selection.is_empty
