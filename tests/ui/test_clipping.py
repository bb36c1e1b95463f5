"""Every page in every language, with text twice its size: no word is cut off."""

from __future__ import annotations

from collections.abc import Callable
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QFontMetrics, QFontMetricsF
from pytestqt.qtbot import QtBot

from app.words.languages import LANGUAGES
from tests.helpers.app_harness import open_app
from tests.helpers.pseudo_language import Screen
from tests.helpers.samples import sampled
from tests.helpers.stillness import still
from tests.helpers.window_pages import PAGES


def record_elided(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What painted rows and charts had no room for."""
    cut = set[str]()
    for metrics in (QFontMetrics, QFontMetricsF):
        monkeypatch.setattr(metrics, "elidedText", partialmethod(_elided, metrics.elidedText, cut))
    return cut


def _elided(self: Any, real: Callable[..., str], cut: set[str], text: str, *more: Any) -> str:
    shown = real(self, text, *more)
    if shown != text:
        cut.add(text)
    return shown


@pytest.mark.costly
@pytest.mark.parametrize(("page", "language"), sampled(list(PAGES), sorted(LANGUAGES)))
def test_no_word_cut(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, page: str, language: str) -> None:
    with open_app(tmp_path, qtbot) as app:
        app.ask(qtbot, "1 + 1?")
        app.application.settings.language = language
        app.application.settings.text_scale = 2.0
        app.window.resize(1000, 760)
        still()
        cut = record_elided(monkeypatch)
        shown = PAGES[page](app)
        screen = Screen(monkeypatch, frozenset())

        def is_whole() -> None:
            """Layouts come round a little later; what is cut off stays so. Paths are cut where they are long."""
            cut.clear()
            shown.grab()
            assert not [words for words in screen.look_at(shown)[1] | cut if str(tmp_path) not in words]

        qtbot.waitUntil(is_whole)
