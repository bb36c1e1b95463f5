"""What a message shows and lets one do: bubbles, thinking, code, footers, notices, icons, keys, names."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.markup.highlight import has_lexer
from app.theme import DARK
from app.view_models.transcript import ReplyStatus
from app.views.transcript.code_part import CodePart
from app.views.transcript.message_footer import MessageFooter
from app.views.transcript.parts import Bubble, PartKind
from app.views.transcript.status_parts import FoldPart, NoticePart
from app.views.transcript.text_parts import BubblePart, ReadOnlyText, TextPart
from app.views.widgets.buttons import IconButton
from app.words.notices import NoticeAction
from engine import InvalidRequest
from tests.helpers.stillness import still
from tests.helpers.transcript_harness import STATS, Opener, TranscriptHarness, long_chat, question, reply


def texts(harness: TranscriptHarness) -> list[str]:
    widgets = (part.widget for part in harness.parts(PartKind.TEXT))
    return [widget.toPlainText() for widget in widgets if isinstance(widget, TextPart)]


def code_of(harness: TranscriptHarness) -> CodePart:
    widget = harness.parts(PartKind.CODE)[0].widget
    assert isinstance(widget, CodePart)
    return widget


def footer_of(harness: TranscriptHarness, message_id: int) -> MessageFooter:
    part = next(part for part in harness.parts(PartKind.FOOTER) if part.message_id == message_id)
    assert isinstance(part.widget, MessageFooter)
    return part.widget


def shown_acts(footer: MessageFooter) -> set[str]:
    return {act for act, button in footer.buttons.items() if button.isVisible()}


@pytest.fixture(autouse=True)
def _has_lexer(qtbot: QtBot) -> None:
    """These tests look at colours at once; how the first code of a language waits for its lexer is another's matter."""
    qtbot.waitUntil(lambda: all(map(has_lexer, ("py", "python"))))


# Text


def test_what_waited_is_shown_when_the_reply_ends(open_transcript: Opener) -> None:
    harness = open_transcript([reply(1, "", ReplyStatus.STREAMING)])
    harness.model.append_text(1, "costs 3 * ")
    harness.model.append_text(1, "x\n-")
    assert texts(harness) == ["costs 3 * x"]
    harness.model.change(1, status=ReplyStatus.STOPPED)
    assert texts(harness) == ["costs 3 * x\n-"]


def test_a_reply_can_go_on(open_transcript: Opener) -> None:
    harness = open_transcript([reply(1, "half a", ReplyStatus.STOPPED)])
    harness.model.change(1, status=ReplyStatus.STREAMING)
    harness.model.append_text(1, " sentence")
    assert texts(harness) == ["half a sentence"]
    harness.model.change(1, text="anew")
    assert texts(harness) == ["anew"]


# Code


def test_open_code_is_appended_to_and_coloured_as_it_comes(open_transcript: Opener) -> None:
    harness = open_transcript([reply(1, "", ReplyStatus.STREAMING)])
    harness.model.append_text(1, "```python\nimport os\n")
    widget = code_of(harness)
    removed: list[int] = []
    widget.text.document().contentsChange.connect(lambda _at, gone, _came: removed.append(gone))
    for number in range(30):
        harness.model.append_text(1, f"x{number} = {number}\n")
    assert widget.text.toPlainText().count("\n") == 30
    assert not any(removed)
    assert widget.text.document().lastBlock().layout().formats()
    harness.model.append_text(1, "```\nafter\n")
    assert code_of(harness) is widget
    still()
    assert widget.text.document().firstBlock().layout().formats()


@pytest.mark.parametrize("begin", ["```python\nx = 1\nf", "- a\n\n  ```python\n  x = 1\n  f"])
def test_code_that_a_reply_ends_in_is_coloured_to_its_end(open_transcript: Opener, begin: str) -> None:
    harness = open_transcript([reply(1, "", ReplyStatus.STREAMING)])
    harness.model.append_text(1, begin)
    harness.model.append_text(1, "or")
    harness.model.change(1, status=ReplyStatus.STOPPED)
    still()
    assert code_of(harness).text.document().lastBlock().layout().formats()


def test_long_code_is_copied_whole_from_its_first_piece(open_transcript: Opener) -> None:
    code = "".join(f"x = {number}\n" for number in range(9000))
    harness = open_transcript([reply(1, f"Look:\n\n```py\n{code}```\nEnd")])
    assert not any(part.widget.copy_button.isVisible() for part in harness.parts(PartKind.CODE))  # type: ignore[union-attr]
    still()
    assert code_of(harness).text.document().firstBlock().layout().formats(), "a piece has colours"
    harness.scroll_to(0)
    code_of(harness).copy_button.click()
    assert QGuiApplication.clipboard().text() == code


@pytest.mark.parametrize("streamed", [True, False])
def test_wide_code_is_shown_from_its_left_end(open_transcript: Opener, streamed: bool) -> None:
    code = "```py\n" + "\n".join("x = " + "long " * 80 for _ in range(8)) + "\n```\n"
    harness = open_transcript([*long_chat(3), reply(900, "" if streamed else code, ReplyStatus.STREAMING)])
    for start in range(0, len(code) if streamed else 0, 300):
        harness.model.append_text(900, code[start : start + 300])
    harness.model.change(900, status=ReplyStatus.DONE)
    for appearance in ("dark", "light"):
        still()
        assert code_of(harness).text.horizontalScrollBar().maximum() > 1000
        assert code_of(harness).text.horizontalScrollBar().value() == 0
        harness.theme.set_appearance(appearance)
    harness.scroll_to(0)
    harness.scroll_to(harness.bottom)
    still()
    assert code_of(harness).text.horizontalScrollBar().value() == 0


def test_colours_after_an_emoji_fall_on_the_right_characters(open_transcript: Opener) -> None:
    harness = open_transcript([reply(1, '```python\ns = "🎉"; return 1\n```')])
    still()
    line = code_of(harness).text.document().firstBlock()
    utf16 = line.text().encode("utf-16-le")
    words = [utf16[2 * f.start : 2 * (f.start + f.length)].decode("utf-16-le") for f in line.layout().formats()]
    assert "return" in words
    assert "1" in words


# Thinking, progress, notices


def test_thinking_opens_in_place(open_transcript: Opener) -> None:
    message = reply(1, "The answer.")
    message.thinking, message.thinking_s = "First *thought*.\n\nSecond.", 72.0
    harness = open_transcript([message])
    fold = harness.parts(PartKind.FOLD)[0].widget
    assert isinstance(fold, FoldPart)
    assert "1 min 12 s" in fold.fold.text()
    assert texts(harness) == ["The answer."]
    top = harness.place_of(1, PartKind.FOLD)
    fold.fold.click()
    assert texts(harness) == ["First thought.", "Second.", "The answer."]
    assert harness.place_of(1, PartKind.FOLD) == top
    fold.fold.click()
    assert texts(harness) == ["The answer."]


def test_thinking_that_goes_on_grows_in_sight_and_can_be_ended(open_transcript: Opener) -> None:
    """Also where it begins behind words."""
    harness = open_transcript([reply(1, "", ReplyStatus.STREAMING)])
    asked: list[tuple[int, str]] = []
    harness.view.context.act_requested.connect(lambda message_id, act: asked.append((message_id, act)))
    harness.model.append_text(1, "Let me ", thinking=True)
    fold = harness.parts(PartKind.FOLD)[0].widget
    assert isinstance(fold, FoldPart)
    button, stops = fold.answer_now, harness.view.visible_parts.tab_stops()
    assert button.isVisibleTo(fold)
    assert button.accessibleName() == "Answer now"
    assert stops.index(button) == 1 + stops.index(fold.fold)
    button.click()
    assert asked == [(1, "answer_now")]
    fold.fold.click()
    harness.model.append_text(1, "think", thinking=True)
    assert texts(harness) == ["Let me think"]
    harness.model.append_text(1, "So.")
    assert texts(harness) == ["Let me think", "So."]
    assert not button.isVisibleTo(fold)
    harness.model.set_messages([reply(2, "", ReplyStatus.STREAMING)])
    harness.model.append_text(2, "Let me see. ")
    harness.model.append_text(2, "First, ", thinking=True)
    assert harness.parts(PartKind.FOLD)


def test_a_notice_says_what_to_do(open_transcript: Opener, qtbot: QtBot) -> None:
    message = reply(1, "Half", ReplyStatus.FAILED)
    message.error = InvalidRequest("<b>seed</b>", "-1", "0..9")
    harness = open_transcript([message])
    widget = harness.parts(PartKind.NOTICE)[0].widget
    assert isinstance(widget, NoticePart)
    labels = [label.text() for label in widget.findChildren(QLabel) if label.isVisible()]
    assert labels == ["Setting out of range", "<b>seed</b> is set to -1; allowed: 0..9."]
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in widget.findChildren(QLabel))
    with qtbot.waitSignal(harness.view.context.notice_action_requested) as asked:
        widget.buttons[0].click()
    assert asked.args == [1, NoticeAction.OPEN_SETTINGS]


# The row under a message


def test_icons_come_with_the_pointer_and_nothing_moves(open_transcript: Opener) -> None:
    harness = open_transcript([question(1), reply(2, "Answer"), question(3), reply(4, "More")])
    places = [place for _, place in harness.view.visible_parts.shown()]
    assert not footer_of(harness, 2).findChildren(IconButton), "icons that nobody has asked for"
    text = next(part.widget for part in harness.parts(PartKind.TEXT) if part.message_id == 2)
    QApplication.sendEvent(text, QEvent(QEvent.Type.Enter))  # type: ignore[arg-type]
    still()
    assert shown_acts(footer_of(harness, 2)) == {"copy", "edit", "regenerate", "delete", "more"}
    assert shown_acts(footer_of(harness, 4)) == set()
    assert [place for _, place in harness.view.visible_parts.shown()] == places
    QApplication.sendEvent(harness.view, QEvent(QEvent.Type.Leave))
    assert shown_acts(footer_of(harness, 2)) == set()


def test_icons_stay_while_their_menu_is_open(open_transcript: Opener, qtbot: QtBot) -> None:
    harness = open_transcript([question(1), reply(2, "Answer")])
    text = next(part.widget for part in harness.parts(PartKind.TEXT) if part.message_id == 2)
    QApplication.sendEvent(text, QEvent(QEvent.Type.Enter))  # type: ignore[arg-type]
    still()
    footer_of(harness, 2).buttons["more"].click()
    menu = QApplication.activePopupWidget()
    QApplication.sendEvent(harness.view, QEvent(QEvent.Type.Leave))  # the pointer is over the menu now
    assert shown_acts(footer_of(harness, 2)) >= {"copy", "more"}
    assert menu is not None
    menu.close()
    qtbot.waitUntil(lambda: not shown_acts(footer_of(harness, 2)))


def test_icons_ask(open_transcript: Opener, qtbot: QtBot) -> None:
    harness = open_transcript([question(1), reply(2, "Half", ReplyStatus.STOPPED)])
    context = harness.view.context
    for message_id, act, signal in (
        (2, "regenerate", context.regenerate_requested),
        (2, "continue", context.continue_requested),
        (2, "copy", context.copy_requested),
        (1, "edit", context.edit_requested),
        (1, "delete", context.delete_requested),
    ):
        harness.view.message_keys.show(message_id - 1)
        with qtbot.waitSignal(signal) as asked:
            footer_of(harness, message_id).buttons[act].click()
        assert asked.args == [message_id], act


def test_a_footer_that_tells_of_a_cost_has_a_way_out(open_transcript: Opener, qtbot: QtBot) -> None:
    slow = replace(STATS, plain_rounds=329.0)
    harness = open_transcript([question(1), replace(reply(2, "Answer"), stats=slow), question(3), reply(4, "More")])
    assert not footer_of(harness, 4).link.isVisible()
    assert footer_of(harness, 2).link.focusPolicy() is Qt.FocusPolicy.NoFocus
    harness.view.message_keys.step(-1)
    harness.view.message_keys.step(-1)
    harness.view.message_keys.step(-1)
    assert footer_of(harness, 2).link.focusPolicy() is Qt.FocusPolicy.TabFocus
    with qtbot.waitSignal(harness.view.context.notice_action_requested) as asked:
        footer_of(harness, 2).link.click()
    assert asked.args == [2, NoticeAction.TURN_OFF_PAIR]


def test_a_reply_being_written_keeps_its_icons_and_cannot_be_edited(open_transcript: Opener) -> None:
    harness = open_transcript([reply(1, "Half", ReplyStatus.STREAMING)])
    harness.view.message_keys.step(1)
    footer = footer_of(harness, 1)
    assert shown_acts(footer) == {"copy", "edit", "regenerate", "delete", "more"}
    assert [act for act in shown_acts(footer) if not footer.buttons[act].isEnabled()] == ["edit"]
    harness.model.change(1, status=ReplyStatus.DONE)
    assert footer_of(harness, 1).buttons["edit"].isEnabled()


def test_icons_stay_under_the_pointer_when_another_version_takes_the_place(open_transcript: Opener) -> None:
    harness = open_transcript([question(1), reply(2, "Answer")])
    text = next(part.widget for part in harness.parts(PartKind.TEXT) if part.message_id == 2)
    QApplication.sendEvent(text, QEvent(QEvent.Type.Enter))  # type: ignore[arg-type]
    still()
    second = replace(reply(3, "", ReplyStatus.QUEUED), sibling=2, siblings=2)
    harness.model.show_branch([harness.model.messages[0], second])
    still()
    assert {"regenerate", "more", "earlier", "later"} <= shown_acts(footer_of(harness, 3))


def test_no_icon_moves_when_a_reply_gets_its_second_version(open_transcript: Opener) -> None:
    """Or a second click on the same place would show the first version instead of writing a third."""
    harness = open_transcript([question(1), reply(2, "First try")])
    harness.view.message_keys.step(-1)
    before = {act: button.geometry() for act, button in footer_of(harness, 2).buttons.items()}
    harness.model.change(2, sibling=2, siblings=2)
    after = {act: button.geometry() for act, button in footer_of(harness, 2).buttons.items()}
    for act in ("copy", "regenerate", "delete", "more"):
        assert after[act] == before[act]


def test_the_footer_says_which_model_wrote_a_reply(open_transcript: Opener) -> None:
    harness = open_transcript([question(1), replace(reply(2, "Answer"), model="Qwen3-8B-4bit")])
    harness.theme.set_reply_figures(True)
    footer = footer_of(harness, 2)
    assert footer.accessibleName().endswith("Qwen3-8B-4bit")
    assert "Qwen3-8B-4bit" in footer.toolTip()
    with_name = footer.grab().toImage()
    harness.model.change(2, model="")
    assert footer_of(harness, 2).grab().toImage() != with_name


def test_a_narrow_footer_says_all_of_it_in_more_lines(open_transcript: Opener) -> None:
    """The last of its details was an ellipsis."""
    harness = open_transcript([question(1), reply(2, "Answer")])
    harness.theme.set_reply_figures(True)
    harness.view.resize(260, 600)
    seen = []
    for rounds in (101, 111):
        harness.model.change(2, stats=replace(STATS, rounds=rounds))
        still()
        seen.append(footer_of(harness, 2).grab().toImage())
    assert seen[0].size() == seen[1].size()
    assert seen[0] != seen[1]


def test_versions_are_always_in_sight_at_the_edge_that_their_message_has(open_transcript: Opener, qtbot: QtBot) -> None:
    asked_again = question(1)
    message = reply(2, "Second try")
    for each in (asked_again, message):
        each.sibling = 2
        each.siblings = 3
    harness = open_transcript([asked_again, message])
    footer = footer_of(harness, 2)
    assert shown_acts(footer) == {"earlier", "later"}
    assert footer.buttons["earlier"].x() == 0
    above = footer_of(harness, 1)
    assert above.buttons["later"].geometry().right() == above.width() - 1
    with qtbot.waitSignal(harness.view.context.sibling_requested) as asked:
        footer.buttons["earlier"].click()
    assert asked.args == [2, -1]
    harness.model.change(2, sibling=3)
    assert not footer.buttons["later"].isEnabled()


# Keys and names


def test_keys_step_through_messages(open_transcript: Opener) -> None:
    harness = open_transcript(long_chat(20))
    harness.view.setFocus()
    for expected in (40, 39, 38):
        QTest.keyClick(harness.view, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
        assert shown_acts(footer_of(harness, expected))
    QTest.keyClick(harness.view, Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier)
    assert shown_acts(footer_of(harness, 39))
    for _ in range(60):
        harness.view.message_keys.step(-1)
    assert harness.value == 0
    assert shown_acts(footer_of(harness, 1))
    QTest.keyClick(harness.view, Qt.Key.Key_Escape)
    assert not shown_acts(footer_of(harness, 1))


def test_parts_say_their_number_of_now(open_transcript: Opener) -> None:
    """Also those of messages that were on the screen before others came and went."""
    harness = open_transcript([question(1), reply(2, "Answer\n\n```\ncode\n```")])
    harness.model.append(question(3))
    harness.model.append(reply(4, "Answer"))
    harness.model.show_branch([question(1), reply(5, "Put between"), *harness.model.messages[1:]])
    heard = {text.accessibleName() for text in harness.view.findChildren(ReadOnlyText) if text.isVisible()}
    assert heard == {
        "Your message, 1 of 5",
        "Reply, message 2 of 5",
        "Reply, message 3 of 5",
        "Your message, 4 of 5",
        "Reply, message 5 of 5",
    }
    harness.model.show_branch(harness.model.messages[:3])
    heard = {text.accessibleName() for text in harness.view.findChildren(ReadOnlyText) if text.isVisible()}
    assert heard == {"Your message, 1 of 3", "Reply, message 2 of 3", "Reply, message 3 of 3"}


# Around it


def test_words_are_shown_as_typed_and_replies_in_blocks(open_transcript: Opener) -> None:
    typed = "**not bold** <b>\n    indented `x`"
    harness = open_transcript([question(1, typed), reply(2, "# Head\n\nsome **bold**\n\n1. one\n2. two")])
    bubble = harness.parts(PartKind.BUBBLE)[0].widget
    assert isinstance(bubble, BubblePart)
    assert bubble.text.toPlainText() == typed
    assert texts(harness) == ["Head", "some bold", "1.  one\n2.  two"]
    harness.model.set_messages([])
    assert not list(harness.view.visible_parts.shown())


def test_colours_follow_the_theme(open_transcript: Opener) -> None:
    harness = open_transcript([question(1), reply(2, "Answer with `code`")])
    harness.theme.set_appearance("dark")
    assert harness.view.viewport().grab().toImage().pixelColor(2, 590) == DARK.window
    text = harness.parts(PartKind.TEXT)[0].widget
    assert isinstance(text, TextPart)
    assert text.document().firstBlock().begin().fragment().charFormat().foreground().color() == DARK.text


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_nothing_overlaps_and_nothing_is_cut_off(open_transcript: Opener, scale: float) -> None:
    source = (
        "# Head\n\ntext `x`\n\n- a\n  ```py\n  x\n  ```\n- b\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> q\n\n---\n\nend"
    )
    harness = open_transcript([question(1), reply(2, source)])
    harness.theme.set_scale(scale)
    harness.view.resize(420, 1600)
    still()
    shown = sorted((place.top(), place.bottom()) for _, place in harness.view.visible_parts.shown())
    assert all(above < below for (_, above), (below, _) in pairwise(shown))
    for part in harness.parts(PartKind.TEXT):
        assert isinstance(part.widget, TextPart)
        assert part.widget.document().size().height() <= part.widget.height()


def test_items_and_quotes_that_are_read_from_the_right_begin_in_sight(open_transcript: Opener) -> None:
    """Their bullets and numbers were beyond the right edge, and the bars of quotes at the other side."""
    harness = open_transcript([])
    for number, mark in enumerate(("- ", "1. ", "- [x] ", "> ", "> - "), 1):
        harness.model.set_messages([reply(number, f"{mark}כתב one כתב\n{mark}כתב")])
        (part,) = harness.parts(PartKind.TEXT)
        assert isinstance(part.widget, TextPart)
        document = part.widget.document()
        block = document.begin()
        while block.isValid():
            place = document.documentLayout().blockBoundingRect(block)
            for row in range(block.layout().lineCount()):
                line = block.layout().lineAt(row).naturalTextRect().translated(place.topLeft())
                assert 0 <= line.left() < line.right() <= document.textWidth(), mark
            block = block.next()
        if ">" in mark:
            picture = part.widget.grab().toImage()
            middle, bar = picture.height() // 2, picture.width() - 2
            assert picture.pixelColor(bar, middle) != picture.pixelColor(picture.width() // 4, middle)
            assert picture.pixelColor(1, middle) == picture.pixelColor(picture.width() // 4, middle)


def test_a_message_that_cannot_be_shown(open_transcript: Opener, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    harness = open_transcript([question(1, "One")])

    def fail(*_: object) -> int:
        raise RuntimeError

    with monkeypatch.context() as patch, qtbot.capture_exceptions() as errors:
        patch.setattr(TextPart, "show_part", fail)
        harness.model.append(reply(2, "Two"))
    assert errors
    harness.model.append(question(3, "Three"))
    still()
    assert texts(harness) == ["Two"]
    assert [part.content for part in harness.parts(PartKind.BUBBLE)] == [Bubble("One"), Bubble("Three")]


def test_code_with_other_line_ends_is_shown_whole(open_transcript: Opener) -> None:
    code = code_of(open_transcript([reply(1, "```js\none\u2028two\u2028three\n```")])).text
    assert code.height() >= code.document().size().height()
