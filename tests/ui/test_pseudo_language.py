"""Every page in the pseudo-language, at 100 % and 200 %: nothing is left untranslated, and nothing is clipped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QAction
from pytestqt.qtbot import QtBot

from app.view_models.help_pages import HelpPage, help_pages
from app.views.shell import help_window
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.pseudo_language import Screen, compile_pseudo, pseudo, pseudo_language
from tests.helpers.samples import sampled
from tests.helpers.stillness import still
from tests.helpers.window_pages import PAGES

# Names, keys and units, and what the tests themselves put there.
NAMES = frozenset(
    {"Main", "Draft", "Hunch", "MLX", "mlx", "lm", "Hugging", "Face", "English", "TeX", "Python", "PySide", "Qt"}
    | {"Markdown", "JSON", "Claude", "Code"}
    | {"Gemma", "GLM", "Flash", "GPT", "OSS", "Qwen"}
    | {
        "Ctrl",
        "Shift",
        "Meta",
        "Backspace",
        "Alt",
        "Esc",
        "Tab",
        "Return",
        "Enter",
        "Space",
        "Home",
        "End",
        "Del",
        "Down",
        "Left",
        "Right",
    }
)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pseudo")
    compile_pseudo(folder)
    return folder


def pseudo_help(_language: str) -> tuple[HelpPage, ...]:
    """With its questions alone: bold and keys would not be told from brackets."""
    return tuple(
        replace(
            page,
            title=pseudo(page.title),
            sections=tuple(replace(each, question=pseudo(each.question), answer="") for each in page.sections),
        )
        for page in help_pages("en")
    )


@pytest.fixture
def app(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, compiled: Path) -> Iterator[AppHarness]:
    monkeypatch.setattr(help_window, "help_pages", pseudo_help)
    with open_app(tmp_path, qtbot) as harness:
        harness.ask(qtbot, "1 + 1?")
        with pseudo_language(compiled):
            yield harness


@pytest.mark.costly
@pytest.mark.parametrize(("page", "scale"), sampled(list(PAGES), [1.0, 2.0]))
def test_all_words_are_translated_and_whole(
    app: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, page: str, scale: float
) -> None:
    app.application.settings.text_scale = scale
    app.window.resize(1000, 760)
    still()
    shown = PAGES[page](app)
    screen = Screen(monkeypatch, NAMES)

    def is_right() -> None:
        """Layouts come round a little later; what is wrong stays so."""
        untranslated, clipped = screen.look_at(shown)
        assert (untranslated, clipped) == (set(), set())

    qtbot.waitUntil(is_right)


def test_every_menu_is_translated(app: AppHarness) -> None:
    still()
    texts = [action.text() for action in app.window.findChildren(QAction) if action.text()]
    assert len(texts) > 40
    assert [text for text in texts if "[" not in text and any(map(str.isalpha, text))] == []
