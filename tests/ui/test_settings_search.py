"""The settings window: found in any language, lit where one is led, steady, and told truly to screen readers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAccessible, QAccessibleActionInterface, QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.settings import KEPT, Settings
from app.theme import Theme
from app.view_models.transcript import TranscriptMessage
from app.views.settings import advanced
from app.views.settings.search import search
from app.views.settings.window import SettingsWindow
from app.views.transcript.parts import PartKind
from app.views.transcript.status_parts import FoldPart
from app.views.widgets.meanings import Meanings
from app.views.widgets.spotlight import Spotlight
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.stillness import still
from tests.helpers.transcript_harness import TranscriptHarness, reply

Role = QAccessible.Role


@pytest.fixture
def window(harness: AppHarness, qtbot: QtBot) -> SettingsWindow:
    window = harness.show_settings()
    qtbot.waitUntil(window.isActiveWindow)
    return window


def found(window: SettingsWindow, query: str) -> list[str]:
    window.search.setText(query)
    return [window.list.item(row).text() for row in range(window.list.count())]


def test_a_setting_is_found_in_the_language_of_the_window(harness: AppHarness, window: SettingsWindow) -> None:
    for language, query, name in (
        ("ko", "ㄱㅈㅋㄱ", "글자 크기"),
        ("ja", "あにめ", "アニメーション"),
        ("zh_CN", "语言", "语言"),
        ("en", "predictable", "Temperature"),  # of its explanation
    ):
        harness.application.settings.language = language
        still()
        assert name in found(window, query), language

    assert found(window, "use a draft")[0].startswith("Use a draft")
    assert not any("Off for this pair" in each for each in found(window, "tune"))  # of "turned off"

    for typed, name in (("theme", "Appearance"), ("dark", "Appearance"), ("한국어", "Language")):
        assert name in [place.name for place in search(typed, window.places())]

    window.list.setFocus()
    QTest.keyClick(window.list, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert window.search.hasFocus()
    assert not harness.window.sidebar.search.hasFocus()

    assert found(window, "qqqq") == []
    assert window.nothing.isVisible()
    QTest.keyClick(window.search, Qt.Key.Key_Escape)
    assert window.isVisible()
    assert window.list.count() == len(window.pages)
    QTest.keyClick(window.search, Qt.Key.Key_Escape)
    assert not window.isVisible()


def test_screen_readers_say_what_return_opens(window: SettingsWindow, announced: list[tuple[object, str]]) -> None:
    for query in ("use a draft", "qqqq", ""):
        window.search.setText(query)
    assert announced == [(window.search, "Use a draft Advanced"), (window.search, "No results.")]


def test_going_to_a_place_lights_its_row(window: SettingsWindow, harness: AppHarness) -> None:
    found(window, "max")
    QTest.keyClicks(window.search, "")
    found(window, "reply limit")
    QTest.keyClick(window.search, Qt.Key.Key_Return)
    assert window.shown == "chat"
    field = window.sampling.fields["max_tokens"]
    assert field.hasFocus()
    (light,) = window.findChildren(Spotlight)
    assert light.isVisible()
    in_sight = window.sampling.viewport().rect()
    assert in_sight.contains(field.mapTo(window.sampling.viewport(), field.rect().center()))

    window.show_page("advanced")
    assert not window.advanced.fusion_row.isVisible()
    found(window, "fusion")
    QTest.keyClick(window.search, Qt.Key.Key_Return)
    assert window.advanced.fusion.isVisible()
    window.advanced.fusion.click()
    assert harness.application.settings.use_fusion

    window.search.clear()
    places = window.places()
    assert len(places) > 25
    for place in places:
        window.go_to(place)
        if place.page == "activity":
            assert harness.window.speculation.activity is not None
            assert harness.window.speculation.activity.isVisible()
            continue
        if place.page not in window.pages:
            assert harness.window.models_view.view.tab == place.page
            continue
        assert place.spot.isVisible(), place.name
        assert window.shown == place.page


def test_a_row_that_comes_leaves_the_others_their_numbers(window: SettingsWindow) -> None:
    """By these the palette remembers which were used."""
    before = {(each.page, each.name): each.number for each in window.places()}
    window.advanced.speculation.tokens_row.show()
    after = {(each.page, each.name): each.number for each in window.places()}
    assert before.items() < after.items()


@pytest.mark.parametrize("there", [True, False])
def test_how_this_machine_computes(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, there: bool) -> None:
    monkeypatch.setattr(advanced, "can_use_openblas", lambda: there)
    monkeypatch.setattr(advanced, "has_gpu", lambda: there)
    with open_app(tmp_path, qtbot) as harness:
        window = harness.show_settings()
        window.show_page("advanced")
        settings = harness.application.settings
        light = window.advanced.speculation.light
        assert (window.advanced.openblas.isVisible(), light.isVisible()) == (there, there)
        assert (settings.use_openblas, settings.light_drafters) == (True, True)
        window.advanced.openblas.click()
        light.click()
        assert (settings.use_openblas, settings.light_drafters) == (False, False)


def test_what_opens_in_place_is_a_button_that_is_expanded_or_collapsed(harness: AppHarness, qtbot: QtBot) -> None:
    """A row of a model, thinking, and a question about the figures."""
    transcript, meanings = TranscriptHarness([thought()]), Meanings(Theme())
    fold = transcript.parts(PartKind.FOLD)[0].widget
    assert isinstance(fold, FoldPart)
    for each in (transcript.view, meanings):
        qtbot.addWidget(each)
    row = harness.show_models("yours").yours.installed.rows[0]
    buttons: list[QWidget] = [meanings.button, row.more_button, fold.fold]
    for button in buttons:
        told = QAccessible.queryAccessibleInterface(button)
        assert told.role() == Role.Button
        for is_open in (False, True, False):
            state = told.state()
            assert (bool(state.expandable), bool(state.expanded), bool(state.collapsed)) == (True, is_open, not is_open)
            assert not state.checkable
            told.actionInterface().doAction(QAccessibleActionInterface.pressAction())
        assert told.text(QAccessible.Text.Name)


def thought() -> TranscriptMessage:
    message = reply(1, "The answer.")
    message.thinking, message.thinking_s = "First.", 2.0
    return message


def test_folders_motion_and_reset(harness: AppHarness, window: SettingsWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    window.advanced.data_button.click()
    window.advanced.log_button.click()
    assert opened == [str(harness.paths.data), str(harness.paths.logs)]

    harness.application.settings.motion = "off"
    window.show_page("chat")
    window.chat.notifications.click()
    assert window.chat.notifications.knob == 0.0
    harness.application.settings.motion = "on"
    window.chat.notifications.click()
    assert window.chat.notifications.knob < 1.0

    settings = harness.application.settings
    settings.temperature, settings.appearance, settings.system_prompt = 0.1, "dark", "Be brief."
    window.advanced.ask_to_reset().cancel_button.click()
    assert settings.temperature == 0.1
    window.advanced.ask_to_reset().act_button.click()
    assert (settings.temperature, settings.appearance, settings.system_prompt) == (0.7, "auto", "Be brief.")
    changed = {name for name in Settings.options() if getattr(settings, name) != Settings.options()[name].default}
    assert changed <= KEPT


class _Windows(QObject):
    """Which widgets were shown as windows of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[QWidget] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.shown.append(watched)
        return False


def test_no_window_flashes_and_controls_are_heard(harness: AppHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that is shown before it has a parent is a window for a moment, and takes the focus."""
    watch = _Windows()
    app = QApplication.instance()
    assert app is not None
    app.installEventFilter(watch)
    harness.application.settings_window()
    harness.window.models_view.find()
    app.removeEventFilter(watch)
    assert watch.shown == []

    window = harness.show_settings("chat")
    told = QAccessible.queryAccessibleInterface(window.list)
    assert told.role() == Role.List
    pages = [told.child(number) for number in range(told.childCount())]
    assert [page.role() for page in pages] == [Role.ListItem] * len(window.pages)
    assert [page.text(QAccessible.Text.Name) for page in pages if page.state().selected] == ["Chat"]

    content = window.sampling.widget()
    assert content is not None
    told = QAccessible.queryAccessibleInterface(content)
    heard = [told.child(number).object() for number in range(told.childCount())]
    assert heard[:2] == [window.sampling.title, window.chat], "from the top"

    window.show_page("appearance")
    segments = window.appearance.appearance
    assert QAccessible.queryAccessibleInterface(segments).role() == Role.Grouping
    looks = [QAccessible.queryAccessibleInterface(button) for button in segments.buttons]
    assert [each.role() for each in looks] == [Role.RadioButton] * 3
    assert [each.text(QAccessible.Text.Name) for each in looks if each.state().checked] == ["Auto"]
    segments.buttons[2].click()
    assert [each.text(QAccessible.Text.Name) for each in looks if each.state().checked] == ["Dark"]

    told = QAccessible.queryAccessibleInterface(window.general.language)
    assert told.role() == Role.ComboBox
    assert told.text(QAccessible.Text.Value) == "English"
    assert told.text(QAccessible.Text.Name).startswith("Language")  # on a Mac also its value
    with monkeypatch.context() as on_a_mac:
        on_a_mac.setattr(sys, "platform", "darwin")
        assert told.text(QAccessible.Text.Name) == "Language, English"
    assert QAccessibleActionInterface.pressAction() in told.actionInterface().actionNames()

    switch = window.chat.notifications
    told = QAccessible.queryAccessibleInterface(switch)
    assert (told.role(), bool(told.state().checked)) == (Role.CheckBox, True)
    switch.click()
    assert not told.state().checked
