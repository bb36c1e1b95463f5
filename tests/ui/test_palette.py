"""The command palette: by keyboard only, with an input method, and what was used lately first."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.views.chats.chat_rows import RenameField
from app.views.shell.palette import CommandPalette
from app.views.widgets.spotlight import Spotlight
from tests.helpers.app_harness import AppHarness
from tests.helpers.composing import compose
from tests.helpers.stillness import still

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def palette(harness: AppHarness, qtbot: QtBot) -> CommandPalette:
    """Open, with the places of the settings in it."""
    palette = harness.window.tools.palette
    QTest.keyClick(harness.window, Qt.Key.Key_K, CONTROL)
    qtbot.waitUntil(lambda: any(each.key.startswith("settings:") for each in harness.window.tools.commands.all()))
    return palette


def shown(palette: CommandPalette) -> list[str]:
    return [palette.list.item(row).text() for row in range(palette.list.count())]


def test_it_offers_what_can_act_now(harness: AppHarness, palette: CommandPalette) -> None:
    """No reply is being written, and no chat is open."""
    assert not {"Stop Reply", "Rename Chat", "Command Palette"} & set(shown(palette))
    assert "Write Message" in shown(palette)

    entries = [palette.list.item(row).data(Qt.ItemDataRole.UserRole) for row in range(palette.list.count())]
    assert all(entry.icon_name and entry.aside and not entry.detail for entry in entries)
    assert {entry.text: entry.aside for entry in entries}["New Chat"] == "Ctrl+N"
    heights = {palette.list.sizeHintForRow(row) for row in range(palette.list.count())}
    assert heights == {harness.application.theme.px(32)}
    assert palette.list.viewport().height() % harness.application.theme.px(32) < 5, "a row is cut at the foot"

    last = palette.list.count() - 1
    QTest.keyClick(palette.field, Qt.Key.Key_Up)
    assert palette.list.currentRow() == last
    QTest.keyClick(palette.field, Qt.Key.Key_Down)
    assert palette.list.currentRow() == 0
    assert palette.field.hasFocus()

    QTest.keyClicks(palette.field, "qqqq")
    assert shown(palette) == []
    assert palette.nothing.isVisible()
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert palette.isVisible()

    palette.field.clear()
    QTest.keyClicks(palette.field, "new chat")
    QTest.keyClick(palette.field, Qt.Key.Key_Escape)
    assert not palette.isVisible()
    assert harness.application.settings.recent_commands == ()

    QTest.keyClick(harness.window, Qt.Key.Key_K, CONTROL)
    edit = harness.window.composer.edit
    assert palette.isVisible()
    assert palette.field.hasFocus()
    QTest.keyClick(palette.field, Qt.Key.Key_K, CONTROL)
    assert not palette.isVisible()
    assert edit.hasFocus()

    palette.open_palette()
    harness.window.sidebar.search.setFocus()
    assert not palette.isVisible()
    assert harness.window.sidebar.search.hasFocus()


def test_what_return_would_do_is_heard(palette: CommandPalette, announced: list[tuple[object, str]]) -> None:
    QTest.keyClicks(palette.field, "chat")
    first, second = shown(palette)[:2]
    QTest.keyClick(palette.field, Qt.Key.Key_Down)
    QTest.keyClicks(palette.field, "qqqq")
    said = [words for _, words in announced]
    assert (said[3].startswith(first), said[4].startswith(second), said[-1]) == (True, True, "No results.")
    palette.leave()
    announced.clear()
    palette.open_palette()
    assert announced[-1] == (palette.field, palette.list.current_words)


def test_looks_settings_and_models_are_found_by_name(
    harness: AppHarness, palette: CommandPalette, qtbot: QtBot
) -> None:
    """No model that usually drafts."""
    QTest.keyClicks(palette.field, "larger")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert harness.application.settings.text_scale == 1.15
    QTest.keyClick(harness.window, Qt.Key.Key_K, CONTROL)
    assert shown(palette)[0] == "Larger Text"

    QTest.keyClicks(palette.field, "dark")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert harness.application.settings.appearance == "dark"
    palette.open_palette()
    QTest.keyClicks(palette.field, "theme")
    assert {"Light", "Dark", "Auto"} <= set(shown(palette))

    palette.field.clear()
    QTest.keyClicks(palette.field, "temperature")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    window = harness.application.settings_window()
    assert (window.isVisible(), window.shown) == (True, "chat")
    (light,) = window.findChildren(Spotlight)
    row = window.sampling.fields["temperature"].parentWidget()
    assert row is not None
    assert light.geometry().contains(row.geometry())

    draft = next(entry for entry in harness.models.models if entry.name == "Draft-1B")
    assert draft.drafts_for
    window.close()
    palette.open_palette()
    QTest.keyClicks(palette.field, "use draft-1b")
    assert "Use Draft 1B" not in shown(palette)
    palette.field.clear()
    harness.models.choose_main(draft.folder)
    qtbot.waitUntil(lambda: harness.models.pair.main_name == "Draft-1B")
    palette.refresh()
    QTest.keyClicks(palette.field, "use main-8b")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: harness.models.pair.main_name == "Main-8B")


def test_a_chat_is_opened_or_restored_by_its_title(harness: AppHarness, palette: CommandPalette, qtbot: QtBot) -> None:
    """The name of a chat is typed into a field that goes when its focus does."""
    palette.leave()
    harness.ask(qtbot, "How many whales")
    first = harness.chats.chat_id
    harness.chats.new_chat()
    harness.window.search_chats()
    QTest.keyClick(harness.window, Qt.Key.Key_K, CONTROL)
    QTest.keyClicks(palette.field, "whales")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert (harness.chats.chat_id, harness.window.composer.edit.hasFocus()) == (first, True)

    harness.window.menu.delete.trigger()
    harness.wait_until_stored(qtbot)
    palette.open_palette()
    QTest.keyClicks(palette.field, "whales")
    assert shown(palette) == ["Restore “How many whales”"]
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    harness.wait_until_stored(qtbot)
    assert harness.chats.title == "How many whales"
    palette.open_palette()
    QTest.keyClicks(palette.field, "Recently Deleted")
    assert shown(palette) == ["Recently Deleted"]

    palette.leave()
    harness.window.menu.rename.trigger()
    QTest.keyClick(harness.window, Qt.Key.Key_K, CONTROL)
    qtbot.waitUntil(lambda: harness.window.findChild(RenameField) is None)
    QTest.keyClicks(palette.field, "sdbr")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert not harness.window.sidebar.isVisible()
    assert harness.window.composer.edit.hasFocus()


def test_each_language_is_found_by_its_own_name(harness: AppHarness, palette: CommandPalette, qtbot: QtBot) -> None:
    """The former is the way back for who reads none of what the window says."""
    settings = harness.application.settings
    for typed, code in (("日本", "ja"), ("engl", "en"), ("한국", "ko"), ("english", "en")):
        QTest.keyClicks(palette.field, typed) if typed.isascii() else palette.field.setText(typed)
        QTest.keyClick(palette.field, Qt.Key.Key_Return)
        assert settings.language == code
        palette.open_palette()
    for language, typed in (("en", "japanese"), ("ko", "일본어"), ("ko", "japanese"), ("zh_CN", "日语")):
        harness.application.settings.language = language
        still()
        palette.refresh()
        palette.field.setText(typed)
        assert "日本語" in shown(palette)

    palette.field.clear()
    harness.application.settings.language = "ko"
    still()
    palette.refresh()
    compose(palette.field, "채티")
    assert "새 채팅" in shown(palette)
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert palette.isVisible()
    compose(palette.field, "", "채팅")
    assert palette.field.text() == "채팅"
    assert "새 채팅" in shown(palette)
