"""A project's page, the composer's line that leads to it, and the folder's menu."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.storage.project_files import FileState, ProjectFile
from app.theme import Theme
from app.view_models.chat_options import Scope
from app.views.shell.project_files import ProjectFilesCard
from tests.helpers.app_harness import AppHarness
from tests.helpers.composing import compose
from tests.helpers.stillness import still


@pytest.fixture
def tea(app: AppHarness, qtbot: QtBot) -> int:
    """A project of that name."""
    return app.make_folder(qtbot, "Tea")


def choose_in_menu(app: AppHarness, folder_id: int, words: str) -> None:
    """Of the folder."""
    chats = app.window.sidebar.chats
    chats.setCurrentIndex(app.chats.conversations.index_of_folder(folder_id))
    QTest.keyClick(chats, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    next(action for action in menu.actions() if action.text() == words).trigger()
    menu.close()


def test_the_page_is_in_place_of_the_chat_and_keeps_what_is_typed(app: AppHarness, qtbot: QtBot, tea: int) -> None:
    page = app.window.project_page
    page.show(tea)
    still()
    form = page.form
    assert form.isVisible()
    assert not app.window.composer.isVisible()
    assert (app.window.header.title.text(), form.name.text()) == ("Tea", "Tea")
    QTest.keyClicks(form.instructions, "We sell tea.")
    form.settings.fields["temperature"].field.chosen.emit(0.3)
    form.name.setText("Tea shop")
    form.name.editingFinished.emit()
    qtbot.waitUntil(lambda: app.window.header.title.text() == "Tea shop")

    QTest.keyClick(form, Qt.Key.Key_Escape)
    still()
    assert app.window.composer.isVisible()
    app.wait_until_stored(qtbot)
    page.show(tea)
    assert form.instructions.text() == "We sell tea."
    assert form.settings.fields["temperature"].leave.isVisible()
    form.settings.fields["temperature"].leave.click()
    assert dict(app.chats.projects.get(tea).options) == {}


def test_what_is_composed_in_one_project_stays_out_of_the_next(app: AppHarness, qtbot: QtBot, tea: int) -> None:
    other = app.make_folder(qtbot)
    page = app.window.project_page
    page.show(tea)
    still()
    QTest.keyClicks(page.form.instructions, "We sell ")
    compose(page.form.instructions, "차")
    page.show(other)
    still()
    compose(page.form.instructions, "", "!")
    instructions = [app.chats.projects.get(each).instructions for each in (tea, other)]
    assert instructions == ["We sell 차", "!"]


def test_a_new_chat_says_in_the_composer_where_it_is(app: AppHarness, qtbot: QtBot, tea: int) -> None:
    line = app.window.composer.project
    assert not line.isVisible()
    app.chats.projects.put_instructions(tea, "We sell tea.")
    app.window.project_page.show(tea)
    app.window.project_page.form.new_button.click()
    still()
    assert (line.isVisible(), line.text()) == (True, "Tea · instructions")
    assert line.accessibleName() == "Project: Tea · instructions"
    assert app.window.composer.edit.hasFocus()
    app.ask(qtbot, "How?")
    assert app.chats.options.folder_of(app.chats.chat_id) == tea
    line.click()
    still()
    assert app.window.project_page.form.isVisible()
    app.window.menu.new_chat.trigger()
    still()
    assert (line.isVisible(), app.window.project_page.form.isVisible()) == (False, False)


def test_the_menu_of_a_folder_leads_to_both(app: AppHarness, tea: int) -> None:
    choose_in_menu(app, tea, "Project…")
    still()
    assert app.window.project_page.form.isVisible()
    app.window.models_view.show()
    still()
    assert not app.window.project_page.form.isVisible(), "one page at a time"
    choose_in_menu(app, tea, "New Chat Here")
    still()
    assert not app.window.models_view.is_shown
    assert app.window.composer.project.text() == "Tea"


def test_a_deleted_project_is_left(app: AppHarness, qtbot: QtBot, tea: int) -> None:
    app.window.project_page.show(tea)
    app.chats.folders.delete(tea, with_chats=False)
    qtbot.waitUntil(lambda: not app.window.project_page.is_shown)


def test_the_panel_of_a_chat_says_what_comes_from_the_project(app: AppHarness, tea: int) -> None:
    app.chats.options.put_in_project(tea, "temperature", 0.3)
    app.chats.new_chat_in(tea)
    app.window.chat_settings.toggle_panel()
    panel = app.window.chat_settings.panel
    assert panel.rows["temperature"].explanation.text() == "From the project"
    app.chats.options.put(Scope.CHAT, "temperature", 0.5)
    assert panel.rows["temperature"].explanation.text() == "This chat only"


def test_the_models_of_a_project_are_loaded_with_its_new_chats(app: AppHarness, qtbot: QtBot, tea: int) -> None:
    """As if they were chosen; those that are loaded now become its own with one click, and cease to be with another."""
    page = app.window.project_page
    page.show(tea)
    still()
    page.form.use_button.click()
    pair = app.models.present_pair()
    assert app.chats.projects.pair(tea) == pair
    assert page.form.leave_button.isVisible()
    assert not page.form.use_button.isVisible()
    app.models.choose_draft(None)
    page.form.new_button.click()
    qtbot.waitUntil(lambda: app.models.present_pair() == pair)
    page.show(tea)
    page.form.leave_button.click()
    assert app.chats.projects.pair(tea) is None


def dropped(widget: QWidget, at: QPoint, *files: Path) -> bool:
    """Files of another program, over a widget and let go there; whether they are taken."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    copy, left, plain = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    for event in (
        QDragEnterEvent(at, copy, data, left, plain),
        QDragMoveEvent(at, copy, data, left, plain),
        QDropEvent(at.toPointF(), copy, data, left, plain),
    ):
        QApplication.sendEvent(widget, event)
    return event.isAccepted()


def test_files_are_dropped_on_the_page_or_on_the_folder(
    app: AppHarness, qtbot: QtBot, tea: int, tmp_path: Path
) -> None:
    documents = app.chats.documents
    small, large, broken = tmp_path / "prices.txt", tmp_path / "book.txt", tmp_path / "code.bin"
    small.write_text("Assam costs 4.")
    large.write_text("차 " * 200_000)
    broken.write_bytes(b"\0\1\2" * 500)
    chats = app.window.sidebar.chats
    place = chats.visualRect(app.chats.conversations.index_of_folder(tea)).center()
    assert dropped(chats.viewport(), place, small)
    assert not dropped(chats.viewport(), QPoint(5, chats.viewport().height() - 2), small)
    app.window.project_page.show(tea)
    still()
    assert dropped(app.window, app.window.rect().center(), large, broken)
    states = "ready", "ready", "unreadable"
    qtbot.waitUntil(lambda: sorted(each.state for each in documents.files(tea)) == sorted(states))
    qtbot.waitUntil(lambda: bool(app.chats.shared.whole_files(tea).ids))
    still()
    lines = app.window.project_page.form.files.lines.values()
    said = {line.name.text(): line.state.text().partition(" · ")[2] for line in lines}
    assert said["prices.txt"] == "read whole in every chat"
    assert said["book.txt"] == "searched when needed"
    assert said["code.bin"] == "No readable text."

    line = next(line for line in lines if line.name.text() == "prices.txt")
    assert line.remove_button.accessibleName() == "Remove prices.txt"
    line.remove_button.click()
    qtbot.waitUntil(lambda: len(documents.files(tea)) == 2)
    app.window.banner.button.click()
    qtbot.waitUntil(lambda: len(documents.files(tea)) == 3)

    app.window.project_page.form.new_button.click()
    still()
    assert app.window.composer.project.text() == "Tea · 3 files"


def test_a_file_that_comes_as_another_goes_is_the_last(qtbot: QtBot) -> None:
    """Of more than are listed, the next one."""
    card = ProjectFilesCard(Theme())
    qtbot.addWidget(card)
    card.show()
    files = [ProjectFile(number, f"{number}.txt", "", 9, 0, 0, 9, FileState.READY) for number in range(4)]
    card.show_files(files[:3], (), 4)
    card.show_files(files[1:], (), 3)
    still()
    assert sorted(card.lines, key=lambda number: card.lines[number].y()) == [1, 2, 3]


def test_the_meter_says_what_is_the_project_s(app: AppHarness, qtbot: QtBot, tea: int) -> None:
    app.chats.projects.put_instructions(tea, "We sell tea.")
    app.chats.new_chat_in(tea)
    ring = app.window.composer.ring
    qtbot.waitUntil(lambda: "read once for all its chats" in ring.accessibleName())
    app.chats.new_chat()
    qtbot.waitUntil(lambda: "read once" not in ring.accessibleName())
