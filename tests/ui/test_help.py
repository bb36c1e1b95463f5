"""About with the licences, diagnostics without anything of the user's, and Help: found and read by keyboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.theme import Theme
from app.view_models.help_pages import PAGES, help_pages
from app.views.models.model_card import CardText
from app.views.shell.help_menu import LicencesDialog, ReportDialog, redacted
from app.views.shell.help_window import HelpWindow
from app.views.shell.menu import MenuBar
from app.views.shell.shortcuts import ShortcutTable
from app.views.widgets.dialog import Dialog
from app.views.widgets.labels import TextLabel
from app.views.widgets.roles import install_roles
from app.views.widgets.spotlight import Spotlight
from app.words.languages import Translation
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.stillness import still
from tests.unit.test_help_pages import KEY

SECRET = "zebra"


@pytest.fixture
def app(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppHarness]:
    monkeypatch.setenv("HOME", str(tmp_path / "home" / "anna"))
    with open_app(tmp_path, qtbot) as harness:
        yield harness


def test_diagnostics_hold_nothing_of_the_user(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, f"What is a {SECRET}?")
    settings = app.application.settings
    settings.system_prompt = settings.hub_proxy = settings.hub_endpoint = f"http://{SECRET}"
    settings.hub_mirrors, settings.model_folders = (f"http://{SECRET}",), (f"/{SECRET}",)
    settings.presets = ({"id": "1", "name": SECRET, "values": {}},)
    settings.hub_token, settings.server_key = f"token-{SECRET}", f"key-{SECRET}"
    settings.temperature, settings.motion = 0.3, "off"
    settings.recent_models = (f"/Volumes/{SECRET}/Qwen",)
    log = f"a {Path.home()}/Models/Qwen, sent token-{SECRET}\ncould not load /Volumes/{SECRET}/Qwen\n"
    log += f"The hub did not answer: HubUnreachable(endpoint='https://…@{SECRET}:8443', reason='name')\n"
    (app.paths.logs / "hunch.log").write_text(log, "utf-8")
    (app.paths.logs / "earlier-crash.log").write_text("Fatal Python error: Segmentation fault\n", "utf-8")
    QGuiApplication.clipboard().clear()
    app.window.menu.copy_diagnostics.trigger()
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() != "")
    text = QGuiApplication.clipboard().text()
    assert SECRET not in text
    assert "anna" not in text
    for told in (
        "Hunch 0.",
        "temperature = 0.3",
        "motion = off",
        "Segmentation fault",
        "a ~/Models/Qwen, sent …",
        "load Qwen",
    ):
        assert told in text
    app.window.banner.button.click()
    (dialog,) = app.window.findChildren(ReportDialog)
    qtbot.waitUntil(lambda: "Segmentation fault" in dialog.text.text())

    dialog.close()

    app.application.help.show_licences().close()
    qtbot.waitUntil(lambda: not app.window.findChildren(LicencesDialog))
    with qtbot.waitSignal(app.window.banner.appeared):
        app.window.menu.copy_diagnostics.trigger()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/Users/anna/x", "~/x"),
        ('File "/home/anna/.venv/a.py"', 'File "~/.venv/a.py"'),
        ("token hf_abcdefghij", "token …"),
        ("/opt/homebrew", "/opt/homebrew"),
    ],
)
def test_homes_and_tokens_are_hidden(line: str, told: str) -> None:
    assert redacted(line, [], []) == told


def test_about_leads_to_the_licences_of_all_that_is_shipped(app: AppHarness, qtbot: QtBot) -> None:
    app.window.menu.about.trigger()
    (about,) = app.window.findChildren(Dialog)
    assert about.title.text().startswith("Hunch 0.")
    assert "MLX 0." in about.detail.text()
    about.other_button.click()
    (dialog,) = app.window.findChildren(LicencesDialog)
    qtbot.waitUntil(lambda: "Apache License" in dialog.text.text())


@pytest.fixture
def theme() -> Theme:
    return Theme()


@pytest.fixture
def window(qtbot: QtBot, theme: Theme) -> Iterator[HelpWindow]:
    install_roles()
    owner = QWidget()
    window = HelpWindow(theme, MenuBar(owner), Translation())
    window.come_to_front()
    qtbot.waitUntil(window.isActiveWindow)
    yield window
    for each in (window, owner):
        each.close()
        each.deleteLater()


def test_a_window_beside_the_main_one_comes_over_it_where_that_is_full_screen(window: HelpWindow) -> None:
    """macOS shows one that may fill the screen itself, as Qt calls all that are not customized, on another desktop."""
    kinds = Qt.WindowType
    assert window.windowFlags() & kinds.CustomizeWindowHint
    assert not window.windowFlags() & kinds.WindowFullscreenButtonHint
    buttons = kinds.WindowTitleHint | kinds.WindowMinMaxButtonsHint | kinds.WindowCloseButtonHint
    assert window.windowFlags() & buttons == buttons


def rows(window: HelpWindow) -> list[str]:
    return [window.list.item(row).text() for row in range(window.list.count())]


def test_the_question_that_was_found_is_read_without_a_mouse(window: HelpWindow, qtbot: QtBot) -> None:
    assert len(rows(window)) == len(PAGES)
    QTest.keyClicks(window.search, "start over")
    assert rows(window)[0] == "How do I start over?"
    (heading,) = (each for section, each in window.text.questions.items() if section.question == rows(window)[0])
    viewport = window.text.viewport()
    qtbot.waitUntil(lambda: viewport.rect().contains(heading.mapTo(viewport, heading.rect().center())))
    assert window.text.verticalScrollBar().value() > 0

    def is_lit() -> bool:
        lights = [each for each in window.text.findChildren(Spotlight) if each.isVisible()]
        return len(lights) == 1 and lights[0].geometry().contains(heading.geometry())

    qtbot.waitUntil(is_lit)
    QTest.keyClick(window.search, Qt.Key.Key_Return)
    assert window.text.hasFocus()
    before = window.text.verticalScrollBar().value()
    QTest.keyClick(window.text, Qt.Key.Key_Home)
    QTest.keyClick(window.text, Qt.Key.Key_Up)
    assert window.text.verticalScrollBar().value() < before


def routes(harness: AppHarness) -> set[str]:
    """What menus, settings and models are called, such as "Settings → Chat → Seed"."""
    settings, models = harness.show_settings(), harness.show_models()
    found: set[tuple[str, ...]] = set()
    for each in harness.window.menu.bar.actions():
        menu = each.menu()
        assert isinstance(menu, QMenu)
        found |= {(each.text(), entry.text()) for entry in menu.actions()}
    found |= {(models.accessibleName(), button.text()) for button in models.tabs.buttons}
    found |= {(settings.windowTitle(), page.title.text()) for page in settings.pages.values()}
    for page in settings.pages.values():
        labels = [label.text() for label in page.findChildren(TextLabel)]
        found |= {(settings.windowTitle(), page.title.text(), words) for words in labels}
    return {" → ".join(route).replace("&", "").replace("…", "") for route in found}


def test_every_route_and_key_in_it_is_there_and_nothing_is_stored(harness: AppHarness) -> None:
    """In English; that other languages translate each route is `unit/test_help_pages.py`'s."""
    texts = [section.answer for page in help_pages("en") for section in page.sections]
    texts.append((Path(__file__).parents[2] / "README.md").read_text("utf-8"))
    told = {bold.replace("…", "") for text in texts for bold in re.findall(r"\*\*([^*]+ → [^*]+)\*\*", text)}
    assert len(told) > 15
    assert sorted(told - routes(harness)) == []

    native = QKeySequence.SequenceFormat.NativeText
    table = ShortcutTable(harness.application.theme, harness.window.menu)
    known = {part for each in table.findChildren(TextLabel) for part in each.text().split(" / ")}
    for page in help_pages("en"):
        for section in page.sections:
            for key in KEY.findall(section.answer):
                action = harness.window.menu.actions.get(key)
                name = action.shortcut() if action else QKeySequence(key)
                assert name.toString(native) in known, (key, section.question)
    table.deleteLater()

    harness.window.menu.help.trigger()
    window = harness.application.help.help
    assert window is not None
    before = dict(harness.application.settings.values)
    window.list.setCurrentRow(1)
    window.search.setText("pdf")
    window.close()
    assert harness.application.settings.values == before
    harness.window.menu.help.trigger()
    window.search.clear()
    window.list.setCurrentRow(1)
    harness.application.settings.language = "ko"
    still()
    assert rows(window)[:2] == ["첫걸음", "초안 모델과 속도"]
    assert window.list.currentRow() == 1
    assert window.text.accessibleName() == "초안 모델과 속도"
    window.search.setText("qqqq")  # which is nowhere
    harness.application.settings.language = "ja"
    still()
    assert window.text.accessibleName() == "ドラフトと速さ"


def test_in_a_small_window_a_menu_has_the_pages(window: HelpWindow, theme: Theme, qtbot: QtBot) -> None:
    theme.set_scale(2.0)
    window.resize(720, 480)
    assert (window.width(), window.height()) == (720, 480)
    assert (window.list.isVisible(), window.index.isVisible()) == (False, True)
    assert window.text.geometry().top() >= window.index.geometry().bottom()
    window.index.choose(PAGES.index("keys"))
    assert window.text.accessibleName() == window.index.text() == "Keyboard"
    QTest.keyClicks(window.search, "start over")
    assert window.list.isVisible()
    qtbot.waitUntil(lambda: window.text.viewport().height() > window.height() // 4)
    window.index.choose(PAGES.index("keys"))
    assert (window.search.text(), window.list.isVisible(), window.text.accessibleName()) == ("", False, "Keyboard")
    window.resize(1200, 640)
    assert (window.list.isVisible(), window.index.isVisible()) == (True, False)


def test_screen_readers_say_what_is_found(window: HelpWindow, announced: list[tuple[object, str]]) -> None:
    window.search.setText("qqqq")
    assert announced == [(window.search, "No results.")]


def test_a_screen_reader_gets_a_document_and_escape_closes_it(window: HelpWindow) -> None:
    told = QAccessible.queryAccessibleInterface(window.text)
    assert told.role() == QAccessible.Role.Document
    assert told.text(QAccessible.Text.Name) == "First steps"
    assert window.search.accessibleName() == "Search Help"
    assert window.list.accessibleName() == "Pages"

    window.list.setCurrentRow(PAGES.index("keys"))
    words = "\n".join(each.accessibleName() for each in window.text.findChildren(CardText))
    native = QKeySequence.SequenceFormat.NativeText
    assert QKeySequence("Ctrl+K").toString(native) in words  # of the palette
    assert "{" not in words

    QTest.keyClicks(window.search, "qqqq")
    assert rows(window) == []
    assert window.nothing.isVisible()
    QTest.keyClick(window.search, Qt.Key.Key_Escape)
    assert len(rows(window)) == len(PAGES)
    assert not window.nothing.isVisible()
    QTest.keyClick(window.search, Qt.Key.Key_Escape)
    assert not window.isVisible()
