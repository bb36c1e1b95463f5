"""The one selection of the transcript, extended by keys: through blocks and messages, in sight or not."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.view_models.transcript import TranscriptMessage
from app.views.transcript.selection import TextPlace
from tests.helpers.transcript_harness import PARAGRAPH, Opener, TranscriptHarness, long_chat, question, reply
from tests.ui.test_transcript_selection import CHAT, text_with

Key = QKeySequence.StandardKey
RIGHT, LEFT, DOWN, UP = Key.SelectNextChar, Key.SelectPreviousChar, Key.SelectNextLine, Key.SelectPreviousLine


@pytest.fixture
def open_transcript(open_transcript: Opener) -> Opener:
    def open_one(messages: list[TranscriptMessage]) -> TranscriptHarness:
        harness = open_transcript(messages)
        harness.view.setFocus()
        return harness

    return open_one


def press(harness: TranscriptHarness, *keys: Key, times: int = 1) -> None:
    for _ in range(times):
        for key in keys:
            QTest.keySequence(harness.view, QKeySequence(key))
    QApplication.processEvents()


def copied(harness: TranscriptHarness) -> str:
    QApplication.clipboard().clear()
    harness.view.copy()
    return QApplication.clipboard().text()


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
