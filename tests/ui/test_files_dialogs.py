"""Export and import as a person does them: dialogs, progress, cancel, undo, and what a disk refuses."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sqlite3
import threading
from pathlib import Path
from typing import Any, NoReturn

import pytest
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.controllers import imports
from app.controllers.exports import ExportFormat
from app.controllers.files import FileControllers
from app.storage import AttachmentKind, Stores, portable
from app.storage.database import Reason
from app.storage.project_files import FileState
from app.view_models.chat_options import Scope
from app.views.files.export_dialog import ExportDialog
from app.views.files.import_dialog import ImportDialog
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.foreign_chats import chatgpt, node, pointer


def files(app: AppHarness) -> FileControllers:
    return app.application.file_controllers


def export(app: AppHarness, qtbot: QtBot, form: ExportFormat, path: Path, *, every: bool = False) -> ExportDialog:
    dialog = app.window.files.export(None if every else [app.chats.chat_id], app.chats.title)
    dialog.form.set_value(form)
    dialog.form.chosen.emit(form)
    exports = files(app).exports
    ended = [QSignalSpy(signal) for signal in (exports.finished, exports.failed)]
    dialog.export_to(str(path))
    qtbot.waitUntil(lambda: any(spy.count() for spy in ended))
    return dialog


def export_with_files(app: AppHarness, qtbot: QtBot, form: ExportFormat, path: Path, *, every: bool = False) -> None:
    with pytest.MonkeyPatch.context() as patched:
        opened = app.window.files.export

        def open_with_files(chats: list[int] | None, title: str) -> ExportDialog:
            dialog = opened(chats, title)
            assert dialog.with_files.isVisibleTo(dialog)
            assert not dialog.with_files.isChecked()
            dialog.with_files.click()
            return dialog

        patched.setattr(app.window.files, "export", open_with_files)
        export(app, qtbot, form, path, every=every)


def conversations(folder: Path, count: int, *more: Any) -> Path:
    """`more`: parts of each question."""
    path = folder / "conversations.json"
    asked = [node("q", "root", "user", f"Question {number}", *more) for number in range(count)]
    chats = [chatgpt(each, conversation_id=str(at), title=f"Chat {at}") for at, each in enumerate(asked)]
    path.write_text(json.dumps([*chats, {"mapping": 3}]), encoding="utf-8")
    return path


def look(app: AppHarness, qtbot: QtBot, *paths: Path) -> ImportDialog:
    dialog = app.window.files.import_chats()
    with qtbot.waitSignal(files(app).imports.previewed):
        dialog.look([str(path) for path in paths])
    return dialog


def titles(app: AppHarness) -> list[str]:
    return sorted(each.title for each in app.application.storage.read.chats.find())


def test_a_chat_is_exported_to_a_file_and_all_chats_to_a_folder(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    app.ask(qtbot, "a/b: c?")
    app.window.sidebar.chats.export_requested.emit([app.chats.chat_id], "Ducks")
    (dialog,) = app.window.findChildren(ExportDialog)
    assert dialog.title.text() == "Export “Ducks”"
    dialog.reject()
    qtbot.waitUntil(lambda: not app.window.findChildren(ExportDialog))
    app.window.menu.export_chat.trigger()
    (dialog,) = app.window.findChildren(ExportDialog)
    dialog.act_button.click()
    (chooser,) = dialog.findChildren(QFileDialog)
    assert chooser.acceptMode() is QFileDialog.AcceptMode.AcceptSave
    assert not chooser.testOption(QFileDialog.Option.DontConfirmOverwrite)
    assert [Path(name).name for name in chooser.selectedFiles()] == ["a b c.md"]
    chooser.reject()
    dialog.reject()

    export(app, qtbot, ExportFormat.MARKDOWN, tmp_path / "out.md")
    text = (tmp_path / "out.md").read_text(encoding="utf-8")
    assert text.startswith("# a/b: c?\n\n## You")
    for told in ("## Main-8B", "A draft guesses, the main model checks.", "tok/s"):
        assert told in text
    assert app.window.banner.sentence.text() == "Exported to “out.md”."

    app.chats.options.put(Scope.CHAT, "seed", 424242)  # on its way to the disk
    dialog = export(app, qtbot, ExportFormat.JSON, tmp_path / "gone" / "x.json")
    assert dialog.sentence.text() == f"Not exported. {tmp_path / 'gone'} no longer exists. Choose another place."
    assert dialog.act_button.isEnabled()
    with qtbot.waitSignal(files(app).exports.finished):
        dialog.export_to(str(tmp_path / "x.json"))
    assert "424242" in (tmp_path / "x.json").read_text("utf-8")

    for text in ("Same", "Same", "초안이 뭐예요?"):
        app.chats.new_chat()
        app.ask(qtbot, text)
    export(app, qtbot, ExportFormat.MARKDOWN, tmp_path, every=True)
    (folder,) = tmp_path.glob("Hunch chats *")
    assert sorted(each.name for each in folder.iterdir()) == ["Same 2.md", "Same.md", "a b c.md", "초안이 뭐예요.md"]


def test_what_is_exported_comes_back_in_another_profile_with_the_presets_in_use(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path / "one", qtbot) as app:
        app.ask(qtbot, "One")
        app.chats.asking.regenerate(app.chats.transcript.messages[1].id)
        app.wait_until_quiet(qtbot)
        options = app.chats.options
        options.put(Scope.CHAT, "system_prompt", "Speak like a pirate.")
        options.save_preset("Pirate")
        preset = options.view(Scope.CHAT).preset
        options.choose_preset("")
        options.save_preset("Other")
        options.choose_preset(preset)
        options.keep()
        app.wait_until_stored(qtbot)
        export(app, qtbot, ExportFormat.JSON, tmp_path / "one.json")
        app.chats.new_chat()
        app.ask(qtbot, "Two")
        export(app, qtbot, ExportFormat.JSON, tmp_path / "all.json", every=True)
        assert [each["name"] for each in options.presets_of(None)] == ["Pirate", "Other"]  # of all chats, all
    with open_app(tmp_path / "other", qtbot) as app:
        dialog = look(app, qtbot, tmp_path / "one.json")
        assert dialog.sentence.text() == "1 chat · 3 messages · 1 new preset"
        with qtbot.waitSignal(files(app).imports.imported):
            dialog.act_button.click()
        assert app.chats.title == "One"
        assert app.chats.options.here.values["system_prompt"] == "Speak like a pirate."
        assert [*app.chats.options.view(Scope.CHAT).presets.values()] == ["Pirate"]
        assert app.window.banner.hint.text() == "Presets imported: 1."
        app.window.banner.button.click()
        app.wait_until_stored(qtbot)
        assert app.chats.options.view(Scope.CHAT).presets == {}

        dialog = look(app, qtbot, tmp_path / "all.json")
        with qtbot.waitSignal(files(app).imports.imported):
            dialog.act_button.click()
        assert titles(app) == ["One", "Two"]
        app.chats.open_chat(app.application.storage.read.chats.find("One")[0].id)
        reply = app.chats.transcript.messages[1]
        assert (reply.sibling, reply.siblings, reply.stats is not None) == (2, 2, True)


def test_other_files_can_be_chosen_where_nothing_can_be_imported(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"chats": [{"ti', encoding="utf-8")
    dialog = look(app, qtbot, broken)
    assert dialog.sentence.text() == "0 chats · 0 messages · 1 unreadable"
    assert (dialog.act_button.text(), dialog.act_button.isEnabled()) == ("Choose files…", True)
    assert dialog.folder_button.isVisible()
    assert not dialog.is_choosing, "a file that is opened from elsewhere would take the words away"
    dialog.act_button.click()
    dialog.findChild(QFileDialog).filesSelected.emit([str(conversations(tmp_path, 1))])  # type: ignore[union-attr]
    qtbot.waitUntil(lambda: dialog.act_button.text() == "Import")
    assert not dialog.folder_button.isVisible()
    with qtbot.waitSignal(files(app).imports.imported):
        dialog.act_button.click()
    assert titles(app) == ["Chat 0"]


def test_an_import_is_previewed_done_once_undone_and_continued(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    path, banner = conversations(tmp_path, 3, pointer("sediment://file_1")), app.window.banner
    dialog = look(app, qtbot, path)
    assert dialog.sentence.text() == "3 chats · 3 messages · 1 unreadable · 3 pictures left out"
    assert dialog.problems.toPlainText() == "conversations.json: not a supported chat file"
    assert titles(app) == []
    with qtbot.waitSignal(files(app).imports.imported):
        dialog.act_button.click()
    assert titles(app) == ["Chat 0", "Chat 1", "Chat 2"]
    assert banner.sentence.text() == "Chats imported: 3."

    dialog = look(app, qtbot, path)
    assert "3 already here" in dialog.sentence.text()
    assert not dialog.act_button.isEnabled()
    dialog.again.setChecked(True)
    with qtbot.waitSignal(files(app).imports.imported):
        dialog.act_button.click()
    assert len(titles(app)) == 6
    banner.button.click()
    app.wait_until_stored(qtbot)
    assert titles(app) == ["Chat 0", "Chat 1", "Chat 2"]
    qtbot.waitUntil(lambda: not list(app.application.paths.data.glob("import-*")))

    app.chats.open_chat(app.application.storage.read.chats.find("Chat 1")[0].id)
    grown = [node("q", "root", "user", "Question 1", pointer("sediment://file_1")), node("a", "q", "assistant", "Why.")]
    path.write_text(json.dumps([chatgpt(*grown, conversation_id="1", title="Chat 1", update_time=2e9)]))
    dialog = look(app, qtbot, path)
    with qtbot.waitSignal(files(app).imports.imported):
        dialog.act_button.click()
    assert [row.text for row in app.chats.transcript.messages][1:] == ["Why."], "the open chat shows it"
    assert banner.sentence.text() == "Chats with new messages: 1."


def test_a_cancelled_import(app: AppHarness, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is read; twice, while a step of it is under way; and where no folder takes what is read."""
    imports = files(app).imports
    dialog = app.window.files.import_chats()
    dialog.look([str(conversations(tmp_path, 2000))])
    assert dialog.bar.isVisible()
    with qtbot.waitSignal(imports.cancelled):
        dialog.reject()
    qtbot.waitUntil(lambda: not list(app.application.paths.data.glob("import-*")))

    monkeypatch.setattr(portable, "STEP_CHATS", 1)
    dialog = look(app, qtbot, conversations(tmp_path, 3))
    begun, free, add = threading.Event(), threading.Event(), portable.add

    def add_slowly(stores: Stores, chat: portable.PortableChat, *more: Any) -> int:
        begun.set()
        assert free.wait(60)
        return add(stores, chat, *more)

    monkeypatch.setattr(portable, "add", add_slowly)
    cancelled = QSignalSpy(imports.cancelled)
    dialog.act_button.click()
    assert begun.wait(60)
    dialog.reject()
    dialog.reject()
    free.set()
    app.wait_until_stored(qtbot)
    still_there = [each for each in app.window.findChildren(ImportDialog) if each.isVisible()]
    assert (titles(app), cancelled.count(), still_there) == ([], 1, [])


def test_an_import_that_begins_while_another_ends_is_read(
    app: AppHarness, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that was cancelled takes nothing along: neither its folder nor its pictures. Nor is it shown."""
    is_read = threading.Event()
    keep_pictures = imports.keep_pictures

    def keep_and_tell(*given: Any) -> int:
        unread = keep_pictures(*given)
        is_read.set()
        return unread

    monkeypatch.setattr(imports, "keep_pictures", keep_and_tell)
    first = files(app).imports
    for waits in (False, True, False, True):
        is_read.clear()
        first.look([str(conversations(tmp_path, 200))])
        assert not waits or is_read.wait(60)
        first.cancel()
        with qtbot.waitSignal(first.previewed) as previewed:
            first.look([str(conversations(tmp_path, 2))])
        assert previewed.args[0].chats == 2
        assert previewed.args[0].found.spool.exists()
    first.discard()
    qtbot.waitUntil(lambda: not list(app.application.paths.data.glob("import-*")))


def test_a_disk_that_takes_nothing_of_an_import_is_said_and_tried_again(
    app: AppHarness, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = files(app).imports
    path = str(conversations(tmp_path, 1))
    with monkeypatch.context() as disk:
        disk.setattr("tempfile.tempdir", str(tmp_path / "gone"))
        disk.setattr(app.application.storage, "path", tmp_path / "gone" / "chats.db")
        dialog = app.window.files.import_chats()
        with qtbot.waitSignal(refusing.not_stored) as refused:
            dialog.look([path])
        assert refused.args[0].reason is Reason.UNREADABLE
    with monkeypatch.context() as disk:
        disk.setattr(imports, "find_chats", full)
        with qtbot.waitSignal(refusing.not_stored):
            dialog.act_button.click()
        assert "is full" in dialog.sentence.text()
    with qtbot.waitSignal(refusing.previewed):
        dialog.act_button.click()
    dialog.reject()
    monkeypatch.setattr(imports, "find_chats", full)
    dialog = app.window.files.import_chats()
    with qtbot.waitSignal(refusing.not_stored):
        dialog.look([path])
    dialog.reject()
    assert not dialog.isVisible()


def test_chats_that_cannot_be_read_for_an_export_are_said(
    app: AppHarness, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.ask(qtbot, "Hello")

    def refuse() -> NoReturn:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(app.application.storage, "another_reader", refuse)
    with qtbot.waitSignal(files(app).exports.failed):
        export(app, qtbot, ExportFormat.JSON, tmp_path / "chats.json")


def full(*_: object) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.expect_log("a change was not stored")
def test_an_import_that_a_disk_refuses_is_tried_again(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = look(app, qtbot, conversations(tmp_path, 1))

    def change(sql: str) -> None:
        app.application.storage.write(lambda stores: stores.database.execute(sql), lambda _: None, lambda _: None)

    change("CREATE TEMP TRIGGER full BEFORE INSERT ON messages BEGIN SELECT RAISE(ABORT, 'no'); END")
    with qtbot.waitSignal(files(app).imports.not_stored):
        dialog.act_button.click()
    assert dialog.sentence.text().startswith("Not saved; ")
    assert dialog.act_button.text() == "Try again"
    change("DROP TRIGGER full")
    with qtbot.waitSignal(files(app).imports.imported) as imported:
        dialog.act_button.click()
    assert (app.chats.title, app.chats.chat_id) == ("Chat 0", imported.args[0].ids[0])  # a single one opens
    app.engine.gate.hold()
    assert app.chats.send("And?")
    qtbot.waitUntil(lambda: app.chats.generating)
    app.window.banner.button.click()
    qtbot.waitUntil(lambda: not app.chats.replies.chats())
    assert (titles(app), app.chats.is_new) == ([], True)
    app.engine.gate.open()


def test_leftovers_of_a_kill_go_at_a_start(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read for an import lies in the folder of the chats, where nobody else reads it."""
    elsewhere, data = tmp_path / "temporary", tmp_path / "profile" / "data"
    for name in ("hunch-import-old", "hunch-import-new", "other"):
        (elsewhere / name).mkdir(parents=True)
    os.utime(elsewhere / "hunch-import-old", (0, 0))  # of an earlier version
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    with open_app(tmp_path / "profile", qtbot) as app:
        look(app, qtbot, conversations(tmp_path, 2))
        (folder,) = data.glob("import-*")
        assert folder.stat().st_mode & 0o077 == 0
        shutil.copytree(folder, data / f"{folder.name}-killed")
        app.wait_until_quiet(qtbot)
    assert [each.name for each in data.glob("import-*")] == [f"{folder.name}-killed"]
    note = data / f"hunch-export-{'a' * 32}"
    note.write_bytes(os.fsencode(tmp_path))
    left = tmp_path / f".{note.name}"
    left.write_text("words in clear")
    with open_app(tmp_path / "profile", qtbot):
        qtbot.waitUntil(lambda: not list(data.glob("import-*")))
        qtbot.waitUntil(lambda: not (elsewhere / "hunch-import-old").exists())
        qtbot.waitUntil(lambda: not left.exists() and not note.exists())
    assert {each.name for each in elsewhere.glob("*")} >= {"hunch-import-new", "other"}


def test_imports_wait_elsewhere_where_the_folder_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = imports.new_folder(tmp_path / "gone")
    assert (folder.parent, folder.name.startswith("hunch-import-")) == (tmp_path, True)


def ask_about(app: AppHarness, qtbot: QtBot, text: str) -> int:
    """A pasted text that is searched, and a chat about it."""
    attached = files(app).attachments
    attached.add_text(text)
    attached.search_in(attached.model.rows[0].number)
    qtbot.waitUntil(
        lambda: (
            app.chats.documents.has_text(-app.chats.chat_id) and attached.model.rows[0].kind is AttachmentKind.SEARCHED
        )
    )
    app.window.composer.send("What is in it?")
    qtbot.waitUntil(lambda: len(app.chats.transcript.messages) == 2)
    app.wait_until_quiet(qtbot)
    return app.chats.chat_id


def test_a_pasted_text_that_is_searched_is_in_every_export_and_comes_back(tmp_path: Path, qtbot: QtBot) -> None:
    words = "About whales. " * 300
    with open_app(tmp_path / "one", qtbot) as app:
        chat_id = ask_about(app, qtbot, words)
        app.chats.asking.ask_differently(
            app.application.storage.read.messages.message(app.chats.transcript.messages[0].id),  # type: ignore[arg-type]
            "And what else?",
            app.chats.transcript.messages[0].attachments[-1:],
            lambda _asked: None,
            lambda: None,
        )
        app.wait_until_quiet(qtbot)
        qtbot.waitUntil(lambda: app.chats.documents.has_text(-chat_id))
        export(app, qtbot, ExportFormat.MARKDOWN, tmp_path / "one.md")
        export(app, qtbot, ExportFormat.JSON, tmp_path / "one.json")
    assert words.strip() in (tmp_path / "one.md").read_text("utf-8")
    exported = (tmp_path / "one.json").read_text("utf-8")
    attachments = [
        part for each in json.loads(exported)["chats"][0]["messages"] for part in each["parts"] if "kind" in part
    ]
    assert [each["text"] for each in attachments if each["kind"] == "searched"] == [words, ""]
    with open_app(tmp_path / "other", qtbot) as app:
        dialog = look(app, qtbot, tmp_path / "one.json")
        with qtbot.waitSignal(files(app).imports.imported):
            dialog.act_button.click()
        documents = app.chats.documents
        place = -app.chats.chat_id
        qtbot.waitUntil(lambda: documents.has_text(place))
        said: list[str] = []
        documents.text(place, documents.files(place)[0].id, said.append)
        qtbot.waitUntil(lambda: bool(said))
        assert said == [words]
        (searched,) = (
            each for each in app.chats.transcript.messages[0].attachments if each.kind is AttachmentKind.SEARCHED
        )
        assert (searched.name, searched.text) == (documents.files(place)[0].name, "")

        grown = json.loads(exported)
        messages = grown["chats"][0]["messages"]
        parts = [attachments[-1] | {"name": "seals", "text": "About seals."}]
        messages.append(messages[0] | {"id": 99, "parent": messages[-1]["id"], "text": "More", "parts": parts})
        (tmp_path / "one.json").write_text(json.dumps(grown), "utf-8")
        dialog = look(app, qtbot, tmp_path / "one.json")
        with qtbot.waitSignal(files(app).imports.imported):
            dialog.act_button.click()
        qtbot.waitUntil(lambda: len(documents.files(place)) == 2)
        app.window.banner.button.click()
        qtbot.waitUntil(lambda: len(documents.files(place)) == 1)


def test_files_are_exported_on_request(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    """As they are; of one that is gone what was read of it; those of a chat and those of its project."""
    project = app.make_folder(qtbot, "Whales")
    sources = tmp_path / "sources"
    (sources / "more").mkdir(parents=True)
    for name in ("report.bin.md", "gone.py", "more/report.bin.md", "empty.txt"):
        (sources / name).write_text("" if "empty" in name else f"About {name}")
    documents = app.chats.documents
    documents.add(project, [sources])
    ends = (FileState.READY, FileState.UNREADABLE)
    qtbot.waitUntil(lambda: [each.state in ends for each in documents.files(project)] == [True] * 4)
    (sources / "gone.py").unlink()
    (sources / "empty.txt").unlink()
    app.chats.new_chat_in(project)
    ask_about(app, qtbot, "About tigers")
    for form, path in ((ExportFormat.JSON, tmp_path / "x.json"), (ExportFormat.MARKDOWN, tmp_path / "y.md")):
        export_with_files(app, qtbot, form, path)
        assert app.window.banner.hint.text() == "Files left out because they are gone: 1."
    export_with_files(app, qtbot, ExportFormat.MARKDOWN, tmp_path, every=True)
    (folder,) = tmp_path.glob("Hunch chats *")
    for there in (tmp_path / "x - Files", tmp_path / "y - Files", folder / "Files"):
        found = {str(each.relative_to(there)): each.read_text() for each in there.rglob("*") if each.is_file()}
        assert found == {
            "Whales/report.bin.md": "About report.bin.md",
            "Whales/more - report.bin.md": "About more/report.bin.md",
            "Whales/gone.py.txt": "About gone.py",
            "What is in it/text.txt": "About tigers",
        }
    assert not list(tmp_path.glob(".*"))


def test_an_export_with_files_that_fails_leaves_none(
    app: AppHarness, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_given: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    ask_about(app, qtbot, "About tigers")
    monkeypatch.setattr("app.controllers.exports.write_json", full)
    export_with_files(app, qtbot, ExportFormat.JSON, tmp_path / "x.json")
    assert [each.name for each in tmp_path.iterdir()] == ["profile"]


def test_what_has_no_documents_is_not_asked_about_files(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "One")
    dialog = app.window.files.export([app.chats.chat_id], "One")
    assert not dialog.with_files.isVisibleTo(dialog)
    dialog.reject()
