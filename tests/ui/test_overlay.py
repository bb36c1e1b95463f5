"""Marks of drafted text in rendered replies: which characters, live and kept, the card, the keys, the first time."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from app.view_models.drafted_text import DraftedText, DraftMark
from app.view_models.transcript import ReplyStatus
from app.views.transcript.overlay import Overlay, OverlayLayer, OverlayMode
from app.words.overlay import card_words
from tests.helpers.app_harness import AppHarness
from tests.helpers.stillness import still
from tests.helpers.transcript_harness import TranscriptHarness, question, reply

TEXT = "The draft **guesses** a few tokens.\n\n- one item\n- two\n\n```\ncode here\nand there\n```\n"


def mark(text: str, word: str, wanted: str | None = None) -> DraftMark:
    start = text.index(word)
    return (
        DraftMark(start, start + len(word), wanted, 2, 4, 7)
        if wanted is not None
        else DraftMark(start, start + len(word))
    )


class OverlaySetup:
    def __init__(self, text: str, *marks: DraftMark, status: ReplyStatus = ReplyStatus.DONE) -> None:
        self.drafted = DraftedText()
        self.drafted.add(marks, 0, thinking=False)
        message = reply(2, text, status)
        message.drafted = self.drafted
        self.harness = TranscriptHarness([question(1), message])
        self.overlay = Overlay(self.harness.view, self.harness.model, self.harness.theme)

    def layers(self) -> list[OverlayLayer]:
        return list(self.overlay._layers.values())

    def tints(self) -> list[str]:
        return [self.words_in(layer, rect) for layer in self.layers() for rect in layer.tints]

    def corrections(self) -> list[str]:
        return [self.words_in(layer, spot.rect) for layer in self.layers() for spot in layer.spots]

    @staticmethod
    def words_in(layer: OverlayLayer, rect: object) -> str:
        """What stands where the mark is painted."""
        text = layer.text
        left = text.cursorForPosition(QPoint(round(rect.left()) + 1, round(rect.center().y())))  # type: ignore[attr-defined]
        right = text.cursorForPosition(QPoint(round(rect.right()) - 1, round(rect.center().y())))  # type: ignore[attr-defined]
        cursor = text.textCursor()
        cursor.setPosition(left.position())
        cursor.setPosition(right.position(), cursor.MoveMode.KeepAnchor)
        return cursor.selectedText()


def move_to(layer: OverlayLayer, at: QPoint) -> None:
    """The pointer moves there without a button."""
    viewport, none = layer.text.viewport(), Qt.MouseButton.NoButton
    place = viewport.mapToGlobal(at).toPointF()
    event = QMouseEvent(QEvent.Type.MouseMove, at.toPointF(), place, none, none, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(viewport, event)


def test_marks_stand_under_the_words_of_the_rendered_text(qtbot: QtBot) -> None:
    """One over two lines of code on both. Without corrections, what was foreseen is left."""
    marks = mark(TEXT, "guesses"), mark(TEXT, "few", " many"), mark(TEXT, "item"), mark(TEXT, "here\nand")
    setup = OverlaySetup(TEXT, *marks, mark(TEXT, "there", " x"))
    setup.overlay.set_mode(OverlayMode.ACCEPTED)
    assert setup.tints() == ["guesses", "item", "here", "and"]
    assert setup.corrections() == ["few", "there"]
    setup.overlay.set_mode(OverlayMode.GUESSED)
    assert (setup.tints(), setup.corrections()) == (["guesses", "item", "here", "and"], [])
    setup.overlay.set_mode(OverlayMode.OFF)
    assert setup.layers() == []


def test_a_part_of_a_character_is_not_accepted_and_is_corrected_whole(qtbot: QtBot) -> None:
    text = "cafe\u0301 s cafe\u0301"
    last = len(text) - 1
    setup = OverlaySetup(text, DraftMark(0, 4), DraftMark(last, last + 1, "x", 1, 1, 1))
    setup.overlay.set_mode(OverlayMode.ACCEPTED)
    assert (setup.tints(), setup.corrections()) == (["caf"], ["e\u0301"])


def test_marks_that_grow_word_by_word_are_those_of_the_whole_text(qtbot: QtBot) -> None:
    """What was measured before stays; the last line is wrapped anew each time."""
    words = ["guess", "초안이", "a\u0301b", "\U0001f600", "model,", "\n\n", "```\n", "code(x)\n", "end"] * 14
    text, marks = "", []
    live = OverlaySetup("", status=ReplyStatus.STREAMING)
    live.harness.view.resize(420, 900)
    live.overlay.set_mode(OverlayMode.ACCEPTED)
    for number, word in enumerate(words):
        piece = word if word.isspace() or word.endswith("\n") else f"{word} "
        wanted = " x" if number % 3 == 0 else None
        fresh = [DraftMark(len(text), len(text) + len(piece), wanted, 1, 4, number)] if piece.strip() else []
        marks += fresh
        text += piece
        live.drafted.add(fresh, 0, thinking=False)
        live.harness.model.append_text(2, piece)
    whole = OverlaySetup(text, *marks, status=ReplyStatus.STREAMING)
    whole.harness.view.resize(420, 900)
    whole.overlay.set_mode(OverlayMode.ACCEPTED)
    still()
    assert len(live.tints()) > 20
    assert sorted(live.tints()) == sorted(whole.tints())
    assert sorted(live.corrections()) == sorted(whole.corrections())


def test_thinking_has_marks_of_its_own(qtbot: QtBot) -> None:
    setup = OverlaySetup("The answer.", mark("The answer.", "answer"))
    setup.harness.model.messages[1].thinking = "Let me think about it."
    setup.drafted.add([DraftMark(7, 12)], 0, thinking=True)
    setup.harness.view.toggle_thinking(2)
    setup.overlay.set_mode(OverlayMode.ACCEPTED)
    assert sorted(setup.tints()) == ["answer", "think"]


def test_marks_find_their_place_in_a_reply_of_many_sections(qtbot: QtBot) -> None:
    """Only the last section is read at first; each one knows where it begins."""
    text = "".join(f"Paragraph {number} says the same again and again.\n\n" for number in range(1500)) + "The very end."
    setup = OverlaySetup(text, mark(text, "very"))
    setup.overlay.set_mode(OverlayMode.ACCEPTED)
    setup.harness.view.jump_to_end()
    still()
    assert setup.tints() == ["very"]


def test_the_card_says_what_the_draft_wanted(qtbot: QtBot) -> None:
    setup = OverlaySetup(TEXT, mark(TEXT, "few", " many"))
    setup.overlay.set_mode(OverlayMode.ACCEPTED)
    (layer,) = (each for each in setup.layers() if each.spots)
    middle = layer.rect_of(layer.spots[0]).center().toPoint()
    move_to(layer, middle)
    assert setup.overlay.card.isVisible()
    words = setup.overlay.card.words
    assert (words.wanted, words.chosen) == ("many", "few")
    assert "2 of 4" in words.place
    move_to(layer, QPoint(2, 2))
    assert not setup.overlay.card.isVisible()


def test_keys_go_from_correction_to_correction(qtbot: QtBot) -> None:
    setup = OverlaySetup(TEXT, mark(TEXT, "draft", " model"), mark(TEXT, "two", " 2"), mark(TEXT, "there", " x"))
    setup.overlay.set_mode(OverlayMode.ACCEPTED)
    seen = []
    for _ in range(4):
        setup.overlay.step(1)
        seen.append(setup.overlay.card.words.chosen)
    assert seen == ["draft", "two", "there", "draft"]
    setup.overlay.step(-1)
    assert setup.overlay.card.words.chosen == "there"


@pytest.mark.parametrize("key", [Qt.Key.Key_Escape, Qt.Key.Key_A])
def test_a_card_that_a_key_has_brought_goes_with_escape_or_what_is_typed(qtbot: QtBot, key: Qt.Key) -> None:
    setup = OverlaySetup(TEXT, mark(TEXT, "draft", " model"), mark(TEXT, "two", " 2"))
    setup.overlay.set_mode(OverlayMode.ACCEPTED)
    field = QLineEdit()
    qtbot.addWidget(field)
    field.show()
    setup.overlay.step(1)
    for other in (Qt.Key.Key_Control, Qt.Key.Key_Alt):  # on the way to the next one
        QTest.keyPress(field, other)
    assert not setup.overlay.card.isHidden()
    QTest.keyClick(field, key)
    assert setup.overlay.card.isHidden()
    assert field.text() == ("" if key is Qt.Key.Key_Escape else "a")
    setup.overlay.step(1)
    assert not setup.overlay.card.isHidden()
    setup.overlay.hide_card()
    QTest.keyClicks(field, "b")
    assert field.text().endswith("b")


@pytest.mark.parametrize(
    ("wanted", "shown"), [("", "to end the reply"), ("\ufffd", "a part of another character"), (" ", "␣"), ("\n", "↵")]
)
def test_what_cannot_be_read_has_words(qtbot: QtBot, wanted: str, shown: str) -> None:
    assert card_words(DraftMark(0, 1, wanted, 1, 4, 3), "x").wanted == shown


def test_a_hostile_word_is_plain_text(qtbot: QtBot) -> None:
    setup = OverlaySetup(TEXT, mark(TEXT, "few", "<img src=x><b>bold</b>"))
    setup.overlay.set_mode(OverlayMode.ACCEPTED)
    setup.overlay.step(1)
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in setup.overlay.card._labels)
    assert setup.overlay.card.words.wanted.startswith("<img")


def test_the_first_reply_shows_it_once_with_one_sentence(app: AppHarness, qtbot: QtBot) -> None:
    menu, banner = app.window.overlay, app.window.banner
    app.ask(qtbot, "One?")
    overlay = menu.overlay
    assert overlay is not None
    assert overlay.shown_once == app.chats.transcript.messages[-1].id
    assert banner.isVisible()
    assert "guessed right" in banner.sentence.text()
    assert menu.mode is OverlayMode.OFF
    assert not banner.timer.isActive()  # it waits
    QTest.mouseClick(banner.close_button, Qt.MouseButton.LeftButton)
    app.ask(qtbot, "Two?")
    assert not overlay.shown_once
    assert not banner.isVisible()


@pytest.mark.parametrize("leave", ["another chat", "models"])
def test_the_words_about_the_marks_go_with_them(app: AppHarness, qtbot: QtBot, leave: str) -> None:
    app.ask(qtbot, "One?")
    assert app.window.banner.isVisible()
    if leave == "models":
        app.window.models_view.show()
    else:
        app.chats.new_chat()
    overlay = app.window.overlay.overlay
    assert overlay is not None
    assert (overlay.shown_once, app.window.banner.isVisible()) == (0, False)


def test_it_is_kept_and_a_key_shows_and_hides_the_marks_that_were_chosen(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "One?")
    app.window.banner.button.click()
    assert app.application.settings.overlay == "accepted"

    app.application.settings.overlay = "off"
    overlay = app.window.overlay.overlay
    assert overlay is not None
    keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    menu, banner = app.window.overlay, app.window.banner
    for mode, words in (("accepted", "guessed right, corrected."), ("off", "hidden"), ("foreseen", "guessed right.")):
        if mode == "foreseen":
            menu.choices[OverlayMode.GUESSED].trigger()
            menu.shown.trigger()
        QTest.keyClick(app.window, Qt.Key.Key_D, keys)
        assert words in banner.sentence.text()
        assert app.application.settings.overlay == overlay.mode == mode
        assert menu.shown.isChecked() == bool(overlay._layers) == (mode != "off")

    app.chats.new_chat()
    menu.shown.trigger()
    menu.shown.trigger()  # in a chat without a reply
    assert menu.mode is OverlayMode.GUESSED
    assert banner.sentence.text() == "Marked: guessed right. None in sight."
    menu.choices[OverlayMode.ACCEPTED].trigger()
    menu.shown.trigger()
    menu.shown.trigger()
    assert banner.sentence.text() == "Marked: guessed right, corrected. No corrections in sight."
    banner.hide()
    menu.next.trigger()
    assert banner.isVisible()
    banner.hide()
    app.ask(qtbot, "One?")
    assert menu.overlay is not None
    assert menu.overlay.has_corrections_in_sight
    menu.next.trigger()
    assert not banner.isVisible()

    app.application.settings.overlay = "corrections"
    assert app.window.overlay.mode is OverlayMode.ACCEPTED
