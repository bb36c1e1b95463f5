"""The composer's button for how much a model thinks: where it is, what it offers, and what it sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from app.view_models.chat_options import Scope
from engine import Effort, ModelAbout
from tests.helpers.app_harness import AppHarness
from tests.helpers.fake_engine import DRAFT, MAIN
from tests.helpers.stillness import still

pytestmark = pytest.mark.usefixtures("qapp")
PLAIN = replace(MAIN, folder="/models/Plain-8B", name="Plain-8B")
BRIEF = replace(
    MAIN,
    folder="/models/Brief-8B",
    about=ModelAbout(thinking=True, thinking_off=True, efforts=(Effort.HIGH,)),
    ends_thinking=True,
)
ALWAYS = replace(MAIN, folder="/models/Always-8B", about=ModelAbout(thinking=True))
THINKS = replace(MAIN, about=ModelAbout(thinking=True, thinking_off=True, efforts=(Effort.LOW, Effort.HIGH)))


@pytest.fixture
def app(tmp_path: Path, qtbot: QtBot) -> Iterator[AppHarness]:
    models = {each.folder: each for each in (THINKS, DRAFT, PLAIN, BRIEF, ALWAYS)}
    with AppHarness(tmp_path, models) as harness:
        harness.open(qtbot)
        yield harness


def offered(app: AppHarness) -> list[str]:
    """With a mark on the chosen one."""
    actions = app.window.composer.effort.menu().actions()
    until = next(at for at, action in enumerate(actions) if action.isSeparator())
    return [f"{'✓ ' * action.isChecked()}{action.text()}" for action in actions[:until]]


def load(app: AppHarness, folder: str, qtbot: QtBot) -> None:
    app.models.choose_main(folder)
    qtbot.waitUntil(app.is_settled)
    still()


def test_it_is_there_only_where_the_model_leaves_a_choice(app: AppHarness, qtbot: QtBot) -> None:
    composer = app.window.composer
    button = composer.effort
    room = composer._foot.sizeHint().width()
    for folder, levels in (
        (THINKS.folder, ["✓ Off", "Low", "Normal", "High"]),
        (PLAIN.folder, []),
        (BRIEF.folder, ["✓ Off", "Low", "Normal", "High"]),  # low as a limit of tokens
        (ALWAYS.folder, []),  # it thinks, and nothing can be said about it
    ):
        load(app, folder, qtbot)
        assert button.isVisible() == bool(levels), folder
        assert (composer._foot.sizeHint().width() == room) == bool(levels)
        if levels:
            assert offered(app) == levels


def test_a_level_is_the_chats_until_it_is_kept_for_the_model(app: AppHarness, qtbot: QtBot) -> None:
    button = app.window.composer.effort
    options = app.chats.options
    assert button.accessibleName() == "Thinking: Off"
    menu = button.menu()
    assert not menu.actions()[-1].isEnabled()
    menu.actions()[3].trigger()
    assert button.accessibleName() == "Thinking: High"
    assert options.view(Scope.CHAT).own == {"thinking": "high"}
    app.ask(qtbot, "One")
    request = app.engine.requests[-1]
    assert (request.thinking, request.effort) == (True, Effort.HIGH)

    first = app.chats.chat_id
    app.chats.new_chat()
    assert button.accessibleName() == "Thinking: Off"
    app.chats.open_chat(first)
    assert button.accessibleName() == "Thinking: High"
    last = button.menu().actions()[-1]
    assert last.text() == "Use for All Chats with Main 8B"
    last.trigger()
    assert options.view(Scope.CHAT).own == {}
    assert app.application.settings.model_defaults == {MAIN.folder: {"thinking": "high"}}
    app.chats.new_chat()
    assert button.accessibleName() == "Thinking: High"
    load(app, BRIEF.folder, qtbot)
    assert button.accessibleName() == "Thinking: Off"


def test_what_a_model_does_not_know_is_shown_as_what_it_does(app: AppHarness, qtbot: QtBot) -> None:
    button = app.window.composer.effort
    app.application.settings.thinking = "high"
    assert button.accessibleName() == "Thinking: High"
    button.show_effort("high", ("low", "normal"), "X", own=False)
    assert offered(app) == ["Low", "✓ Normal"]
    button.show_effort("off", ("low", "normal"), "X", own=False)
    assert offered(app) == ["Low", "✓ Normal"]
    button.show_effort(1500, ("off", "normal"), "X", own=False)
    assert offered(app) == ["Off", "Normal", "✓ Up to 1,500 tokens"]


def test_a_model_s_name_is_shown_with_its_signs(app: AppHarness) -> None:
    button = app.window.composer.effort
    button.show_effort("off", ("off", "normal"), "R&D 8B", own=True)
    assert button.menu().actions()[-1].text() == "Use for All Chats with R&&D 8B"


def test_by_keyboard_alone(app: AppHarness, qtbot: QtBot) -> None:
    composer = app.window.composer
    composer.take_focus()
    for _ in range(5):
        focused = QApplication.focusWidget()
        assert focused is not None
        if focused is composer.effort:
            break
        QTest.keyClick(focused, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is composer.effort
    QTest.keyClick(composer.effort, Qt.Key.Key_Return)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert menu.activeAction() is not None
    assert menu.activeAction().text() == "Off"
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert composer.effort.accessibleName() == "Thinking: Low"
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is None)
