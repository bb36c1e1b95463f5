"""What macOS hands to the app: addresses of ours and files. They are shown, and never sent."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from pytestqt.qtbot import QtBot

from app.portable import own
from app.views.files.import_dialog import ImportDialog
from app.views.shell.file_actions import prompt_in
from tests.architecture.project import ROOT
from tests.helpers.app_harness import AppHarness
from tests.helpers.composing import compose
from tests.helpers.portable_chat import CHAT


@pytest.mark.parametrize(
    ("address", "prompt"),
    [
        ("hunch://ask?text=%EC%95%88%EB%85%95", "안녕"),
        ("hunch://ask?text=a+b%0Ac", "a b\nc"),
        ("hunch://ask?text=a%1b%5b2Jb%E2%80%AE", "ab"),
        ("hunch://ask?text=%ff", "\ufffd"),
        ("hunch://ask", ""),
        ("hunch://delete?text=all", ""),
        ("https://ask?text=a", ""),
        ("hunch://ask?" + "&".join(["text=a"] * 100), ""),
        ("hunch://ask?text=" + "a" * 100_000, "a" * 20_000),
    ],
)
def test_words_of_an_address(address: str, prompt: str) -> None:
    assert prompt_in(QUrl(address)) == prompt


def test_words_and_files_wait_in_the_composer(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    """Long words of a service, too, as with a long paste: the user chose them, so none is cut off."""
    files, composer = app.window.files, app.window.composer
    app.show_models("find")
    files.open(QUrl("hunch://ask?text=Why%3F"))
    assert not app.window.models_view.is_shown
    files.open(QUrl("hunch://ask?text=How%3F"))
    files.open(QUrl("hunch://quit"))
    assert composer.text() == "Why?\n\nHow?"
    assert app.engine.requests == []
    assert app.chats.transcript.messages == []

    composer.set_text("")
    composer.edit.insert_text("안")
    compose(composer.edit, "녕")
    files.open(QUrl("hunch://ask?text=Why%3F"))
    assert composer.text() == "안녕\n\nWhy?"

    (tmp_path / "메모.txt").write_text("words", "utf-8")
    app.window.files.open(QUrl.fromLocalFile(str(tmp_path / "메모.txt")))
    qtbot.waitUntil(lambda: [row.name for row in app.window.composer.attached_rows()] == ["메모.txt"])
    assert app.engine.requests == []

    composer.set_text("")
    files.open("  Why?\x1b[2J\n")
    assert composer.text() == "Why?"
    files.open(" \n")
    files.open("a" * 20_001)
    assert composer.text() == "Why?"
    assert [len(row.attachment.text) for row in composer.attached_rows()[1:] if row.attachment] == [20_001]
    assert app.engine.requests == []


def test_exported_chats_are_imported_after_a_question(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    for name, content in (("data.json", "[1]"), ("chats.json", own.head() + own.TAIL)):
        (tmp_path / name).write_text(content, "utf-8")
        app.window.files.open(QUrl.fromLocalFile(str(tmp_path / name)))
        qtbot.waitUntil(lambda: [row.name for row in app.window.composer.attached_rows()] == ["data.json"])
        assert name != "data.json" or not app.window.findChildren(ImportDialog)
    qtbot.waitUntil(lambda: bool(app.window.findChildren(ImportDialog)))
    assert len(app.window.composer.attached_rows()) == 1


def test_several_exports_are_imported_in_turn(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    """Not one in the dialog of another, which would discard what that is about to import."""
    titles, imports = ["One", "Two"], app.application.file_controllers.imports

    def dialogs() -> list[ImportDialog]:
        return [each for each in app.window.findChildren(ImportDialog) if each.isVisible()]

    with qtbot.waitSignal(imports.previewed):
        for title in titles:
            line = own.line_of(replace(CHAT, origin=f"x:{title}", title=title))
            (tmp_path / f"{title}.json").write_text(own.head() + line + own.TAIL, "utf-8")
            app.window.files.open(QUrl.fromLocalFile(str(tmp_path / f"{title}.json")))
    for _ in titles:
        qtbot.waitUntil(lambda: [each.act_button.text() for each in dialogs()] == ["Import"])
        dialogs()[0].act_button.click()
    qtbot.waitUntil(lambda: not dialogs())
    app.wait_until_stored(qtbot)
    assert sorted(each.title for each in app.application.storage.read.chats.find()) == titles


def test_what_comes_before_the_chats_are_open_waits() -> None:
    """In a process of its own: there is one application object in each."""
    code = """
from PySide6.QtCore import QCoreApplication, QUrl
from PySide6.QtGui import QFileOpenEvent
from app.system.qt_application import qt_application
qt = qt_application()
opened = []
QCoreApplication.sendEvent(qt, QFileOpenEvent(QUrl("hunch://ask?text=1")))
qt.take("words")
qt.open_with(opened.append)
QCoreApplication.sendEvent(qt, QFileOpenEvent(QUrl("hunch://ask?text=2")))
print([given if isinstance(given, str) else given.query() for given in opened])
"""
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=False, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "['text=1', 'words', 'text=2']", done.stderr
