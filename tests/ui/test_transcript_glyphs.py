"""Fonts of Han characters by the language of the window, and colours of code while it is written."""

from __future__ import annotations

import threading
from functools import cache
from itertools import product
from types import SimpleNamespace

import pytest
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.markup import growing_code, highlight
from app.theme import Theme
from app.view_models.transcript import ReplyStatus
from app.views.transcript import code_colors
from app.views.transcript.code_part import CodePart
from app.views.transcript.parts import PartKind
from tests.helpers.stillness import still
from tests.helpers.transcript_harness import Opener, TranscriptHarness, question, reply


def look(font: QFont) -> tuple[object, ...]:
    return tuple(font.families()), font.weight(), font.pointSizeF()


def test_fonts_follow_the_language_and_the_text_size_at_once(open_transcript: Opener) -> None:
    """Han characters have those of the language; each with a weight of its own, because Qt keeps the fallbacks of the
    first family and weight. The application's font, which is told to widgets by and by, changes none of them.
    """
    harness = open_transcript([question(1, "直骨今"), reply(2, "直骨今\n\n| 直 |\n|---|\n| 骨 |\n\n```\n今\n```")])
    seen = set()
    for language, scale in product(("ko", "ja", "zh_CN"), (1.0, 2.0)):
        harness.theme.set_language(language)
        harness.theme.set_scale(scale)
        still()
        expected = {look(harness.theme.reply_font()), look(harness.theme.mono_font())}
        shown = harness.view.visible_parts.shown()
        documents = [document for part, _ in shown if (document := part.document) is not None]
        assert {look(document.defaultFont()) for document in documents} == expected
        seen |= expected
    assert len(seen) == 12


def test_an_english_window_has_the_han_characters_of_the_users_next_language(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = SimpleNamespace(name=lambda: "en_JP", uiLanguages=lambda: ["en-JP", "en", "ja-JP", "ko-KR"])
    monkeypatch.setattr("app.theme.QLocale", SimpleNamespace(system=lambda: system))
    theme = Theme()
    english = theme.reply_font().families(), theme.mono_font().families()
    theme.set_language("ja")
    assert english == (theme.reply_font().families(), theme.mono_font().families())


def colored_words(part: CodePart) -> dict[str, str]:
    result: dict[str, str] = {}
    block = part.text.document().begin()
    while block.isValid():
        for each in block.layout().formats():
            units = block.text().encode("utf-16-le")[2 * each.start : 2 * (each.start + each.length)]
            result[units.decode("utf-16-le")] = each.format.foreground().color().name()
        block = block.next()
    return result


def open_code(qtbot: QtBot, text: str, step: int = 3) -> tuple[TranscriptHarness, CodePart]:
    harness = TranscriptHarness([reply(1, "", ReplyStatus.STREAMING)])
    qtbot.addWidget(harness.view)
    for start in range(0, len(text), step):
        harness.model.append_text(1, text[start : start + step])
    part = harness.parts(PartKind.CODE)[0].widget
    assert isinstance(part, CodePart)
    return harness, part


def test_a_diff_has_colours_of_its_own_while_it_is_open(qtbot: QtBot) -> None:
    harness, part = open_code(qtbot, "```diff\n@@ -1 +1 @@\n-old\n+new\n same\n")
    qtbot.waitUntil(lambda: not part.colors.is_active)
    colors, found = harness.theme.palette, colored_words(part)
    assert found["-old"] == colors.fault.name()
    assert found["+new"] == colors.gain.name()
    assert " same" not in found


def test_no_lexer_is_made_on_the_thread_of_the_window(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first code of a language takes its colours a little later, without another word of it."""
    make, threads = highlight.lexer_of.__wrapped__, list[threading.Thread]()

    @cache
    def lexer_of(language: str) -> object:
        threads.append(threading.current_thread())
        return make(language)

    monkeypatch.setattr(highlight, "lexer_of", lexer_of)
    monkeypatch.setattr(growing_code, "lexer_of", lexer_of)
    monkeypatch.setattr(highlight, "_makers", {})
    _, open_part = open_code(qtbot, "```modula2\nBEGIN\nEND\n")
    qtbot.waitUntil(lambda: not open_part.colors.is_active)
    assert colored_words(open_part)["BEGIN"]
    _, whole = open_code(qtbot, "```haskell\nmodule A where\n```\n", 1000)
    qtbot.waitUntil(lambda: not whole.colors.is_active)
    assert colored_words(whole)["module"]
    assert len(threads) == 2
    assert threading.main_thread() not in threads


CODE = '''import os


def f(x):
    """Doc 😀 with

    import in it"""
    y = '😀' + "b"  # note
    return x


class A:
    pass
'''


@pytest.mark.parametrize("step", [1, 50])
def test_open_code_has_the_colours_that_it_keeps(qtbot: QtBot, step: int) -> None:
    harness, part = open_code(qtbot, f"```python\n{CODE}", step)
    qtbot.waitUntil(lambda: not part.colors.is_active)
    before = colored_words(part)
    assert len(before) > 8
    harness.model.append_text(1, "```\n")
    qtbot.waitUntil(lambda: not part.colors.is_active)
    assert colored_words(part) == before


def test_code_that_grows_while_it_is_coloured(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_colors, "_SLICE_S", 1e-9)  # a few lines at a time
    start = f"```python\n{CODE}\nwh"
    harness, part = open_code(qtbot, start, len(start))
    assert part.colors.is_active
    harness.model.append_text(1, "ile 1: f\n")
    qtbot.waitUntil(lambda: not part.colors.is_active)
    grown = colored_words(part)
    harness.model.append_text(1, "```\n")
    qtbot.waitUntil(lambda: not part.colors.is_active)
    assert grown == colored_words(part)
    assert grown["while"]
