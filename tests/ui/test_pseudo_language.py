"""Every page in the pseudo-language, at 100 % and 200 %: nothing is left untranslated, and nothing is clipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.views.link_dialog import ask_to_open
from app.views.widgets.dialog import Dialog
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.pseudo_language import Screen, compile_pseudo, pseudo_language
from tests.helpers.samples import sampled

# Names, keys and units, and what the tests themselves put there.
NAMES = frozenset(
    {"Main", "Draft", "Hunch", "MLX", "Hugging", "Face", "English", "TeX", "Python", "PySide"}
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


def dialog() -> QWidget:
    return next(each for each in QApplication.topLevelWidgets() if isinstance(each, Dialog) and each.isVisible())


def settings_page(name: str) -> Callable[[AppHarness], QWidget]:
    def show(app: AppHarness) -> QWidget:
        window = app.application.show_settings(name)
        assert window is not None
        window.resize(window.minimumSize())
        return window

    return show


def inspector(app: AppHarness) -> QWidget:
    app.window.resize(1500, 900)
    app.window.inspector.set_wanted(True)
    return app.window


def picker(app: AppHarness) -> QWidget:
    app.window.open_picker()
    return app.window


def chat_settings(app: AppHarness) -> QWidget:
    app.window.chat_settings.toggle()
    return app.window


def palette(app: AppHarness) -> QWidget:
    app.window.menu.palette.trigger()
    return app.window


def quick_ask(app: AppHarness) -> QWidget:
    app.window.comfort.outside.open_quick_ask()
    return app.window.comfort.outside.quick_ask


def menu_dialog(name: str) -> Callable[[AppHarness], QWidget]:
    def show(app: AppHarness) -> QWidget:
        app.window.menu.actions[name].trigger()
        return dialog()

    return show


def link_dialog(app: AppHarness) -> QWidget:
    ask_to_open("https://example.com/", app.application.theme, app.window)
    return dialog()


def new_chat(app: AppHarness) -> QWidget:
    app.chats.new_chat()
    return app.window


PAGES: dict[str, Callable[[AppHarness], QWidget]] = {
    "chat": lambda app: app.window,
    "empty chat": new_chat,
    "inspector": inspector,
    "picker": picker,
    "chat settings": chat_settings,
    "trash": lambda app: app.window.sidebar_wiring.show_trash(),
    "palette": palette,
    "quick ask": quick_ask,
    "shortcuts": menu_dialog("shortcuts"),
    "about": menu_dialog("about"),
    "link dialog": link_dialog,
    **{
        name: settings_page(name)
        for name in ("general", "models", "discover", "speculation", "chat", "appearance", "advanced")
    },
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pseudo")
    compile_pseudo(folder)
    return folder


@pytest.fixture
def app(tmp_path: Path, qtbot: QtBot, compiled: Path) -> Iterator[AppHarness]:
    with open_app(tmp_path, qtbot) as harness:
        harness.ask(qtbot, "1 + 1?")
        with pseudo_language(compiled):
            yield harness


@pytest.mark.parametrize(("page", "scale"), sampled(list(PAGES), [1.0, 2.0]))
def test_all_words_are_translated_and_whole(
    app: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, page: str, scale: float
) -> None:
    app.application.settings.text_scale = scale
    app.window.resize(1000, 760)
    QApplication.processEvents()
    shown = PAGES[page](app)
    screen = Screen(monkeypatch, NAMES)

    def is_right() -> None:
        """Layouts come round a little later; what is wrong stays so."""
        untranslated, clipped = screen.look_at(shown)
        assert (untranslated, clipped) == (set(), set())

    qtbot.waitUntil(is_right)


def test_every_menu_is_translated(app: AppHarness) -> None:
    QApplication.processEvents()
    texts = [action.text() for action in app.window.findChildren(QAction) if action.text()]
    assert len(texts) > 40
    assert [text for text in texts if "[" not in text and any(map(str.isalpha, text))] == []
