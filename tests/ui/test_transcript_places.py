"""Leaving a chat and coming back to the same line."""

from __future__ import annotations

import pytest

from app.view_models.transcript import ReplyStatus, TranscriptMessage
from app.views.transcript.reading_places import ReadingPlace
from tests.helpers.stillness import still
from tests.helpers.transcript_harness import PARAGRAPH, Opener, TranscriptHarness, long_chat, question, reply

TABLE = "| a | b |\n| --- | --- |\n" + "| cell | other |\n" * 60


def mixed(number: int) -> TranscriptMessage:
    text = f"# Title {number}\n\n{PARAGRAPH}\n\n- one\n- two\n\n```\nx = 1\n```\n\n{TABLE}\n{PARAGRAPH * 4}"
    return reply(number, text)


@pytest.mark.parametrize("share", [0.41, 0.87])
def test_coming_back_shows_the_same_pixels(open_transcript: Opener, share: float) -> None:
    chat = [*long_chat(12), mixed(100), question(101, "word " * 900), mixed(102)]
    harness = open_transcript(chat)
    harness.scroll_to(round(harness.bottom * share))
    before, place = harness.view.viewport().grab().toImage(), harness.view.place()
    harness.model.set_messages([question(900), *long_chat(30)])
    harness.model.set_messages(chat)
    harness.view.go_to(place)
    still()
    harness.settle()
    assert harness.view.viewport().grab().toImage() == before


@pytest.mark.parametrize("size", [(500, 400), (1200, 900)])
def test_another_window_shows_the_same_words(open_transcript: Opener, size: tuple[int, int]) -> None:
    chat = [reply(1000, "\n\n".join(f"number{n} {PARAGRAPH}" for n in range(120))), *long_chat(5)]
    harness = open_transcript(chat)
    harness.scroll_to(harness.bottom // 3)
    place = harness.view.place()
    words = top_words(harness)
    again = open_transcript(chat)
    again.view.resize(*size)
    again.theme.set_scale(1.5)
    again.view.go_to(place)
    still()
    again.settle()
    assert top_words(again) == words


def top_words(harness: TranscriptHarness) -> str:
    shown = [(place.bottom(), part) for part, place in harness.view.visible_parts.shown() if part.selectable]
    _, part = min(((bottom, part) for bottom, part in shown if bottom > 0), key=lambda each: each[0])
    document = part.document
    assert document is not None
    return document.toPlainText().split()[0]


def test_a_reply_that_grew_meanwhile_is_found_again(open_transcript: Opener) -> None:
    """Streamed, it is one section; opened again, many."""
    harness = open_transcript([question(1), reply(2, "", ReplyStatus.STREAMING)])
    text = "\n\n".join(f"number{n} {PARAGRAPH}" for n in range(120))
    for start in range(0, len(text), 700):
        harness.model.append_text(2, text[start : start + 700])
    harness.scroll_to(harness.bottom // 2)
    words, place = top_words(harness), harness.view.place()
    harness.model.set_messages([question(900)])
    harness.model.set_messages([question(1), reply(2, text + "\n\n" + PARAGRAPH * 9)])
    harness.view.go_to(place)
    assert top_words(harness) == words


def test_any_place_is_somewhere_and_none_or_one_that_is_gone_is_the_end(open_transcript: Opener) -> None:
    harness = open_transcript([*long_chat(10), mixed(100), *[question(200 + n) for n in range(30)]])
    view = harness.view
    assert view.place() is None
    for offset in (-1e9, -1.5, 0.0, 1e9, 12.25):
        view.go_to(ReadingPlace(100, offset))
        assert 0 <= harness.value <= harness.bottom
    for gone in (None, ReadingPlace(9999, 3.5)):
        harness.scroll_to(300)
        view.go_to(gone)
        assert harness.value == harness.bottom
    assert not view.show_message(9999)
    assert (harness.value, view.place()) == (harness.bottom, None)
