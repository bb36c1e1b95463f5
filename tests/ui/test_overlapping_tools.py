"""Acts that overlap in tools, projects, summaries, copies and exports: the second comes while the first is under way.

Nothing is lost, nothing acts on another message than it was for, and what was switched off does not run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.controllers.exports import ExportFormat
from app.tools.definitions import Answer
from app.view_models.chat_options import Scope
from app.view_models.model_list import PairState
from app.view_models.tools import CallState, CallView
from app.view_models.transcript import TranscriptMessage
from tests.helpers.app_harness import AppHarness, focused, open_app
from tests.helpers.fake_engine import Script, model_info
from tests.helpers.picture_files import image, written
from tests.helpers.stillness import still
from tests.helpers.tool_calls import MODELS, FakeServers, call, calls, says, tool
from tests.ui.test_files_dialogs import export
from tests.ui.test_message_editing import begin_edit, editor, texts, type_anew
from tests.ui.test_overlapping_acts import disk, held

PLAIN = model_info("/models/Plain")


@contextmanager
def open_with_tools(folder: Path, qtbot: QtBot) -> Iterator[tuple[AppHarness, FakeServers]]:
    servers = FakeServers()
    servers.put(tool("read", reads_only=True))
    with open_app(folder, qtbot, models=MODELS | {PLAIN.folder: PLAIN}) as app:
        app.chats.tools.use_servers(servers)
        app.chats.tools.set_on(["files/read"], True)
        yield app, servers


def reply(app: AppHarness) -> TranscriptMessage:
    return app.chats.transcript.messages[-1]


def made_calls(app: AppHarness) -> list[CallView]:
    return [each for step in reply(app).steps for each in step.calls]


def ask_for_calls(app: AppHarness, qtbot: QtBot, answer: Answer, *paths: str) -> None:
    """A question that the model answers after it has read these, and the answer to the question that follows."""
    app.engine.scripts += [calls(*(call("files__read", {"path": each}) for each in paths)), says("Done.")]
    app.window.composer.send("Read")
    qtbot.waitUntil(lambda: bool(app.chats.transcript.messages) and reply(app).consent is not None)
    consent = reply(app).consent
    assert consent is not None
    app.chats.exchanges.answer(reply(app).id, answer, consent)


def begin_reply(app: AppHarness, qtbot: QtBot) -> str:
    """One that stands still after its first words, which are returned."""
    app.engine.gate.hold()
    app.window.composer.send("Question")
    qtbot.waitUntil(lambda: app.chats.generating)
    let_through_words(app, qtbot)
    return reply(app).text


def let_through_words(app: AppHarness, qtbot: QtBot) -> None:
    before = reply(app).text
    app.engine.gate.let_through(1)
    qtbot.waitUntil(lambda: reply(app).text != before)


def begin_summary(app: AppHarness, qtbot: QtBot) -> None:
    """A third question, of whose chat the model reads all from the second on; a summary of the rest stands still."""
    app.chats.options.put(Scope.CHAT, "long_chats", "summary")
    for question in ("First", "Second"):
        app.ask(qtbot, question)
    app.engine.scripts += [Script(first=2), Script(("A", " summary."))]
    asked = len(app.engine.requests)
    app.chats.replies.ended.connect(app.engine.gate.hold)
    app.ask(qtbot, "Third")
    qtbot.waitUntil(lambda: len(app.engine.requests) == asked + 2)
    app.chats.replies.ended.disconnect(app.engine.gate.hold)


def end_summary(app: AppHarness, qtbot: QtBot) -> None:
    app.engine.gate.open()
    qtbot.waitUntil(lambda: not app.chats.summaries._reply.is_running)
    app.wait_until_quiet(qtbot)
    still()


# Summaries


def test_the_delete_key_is_for_the_message_in_focus_though_a_summary_came_before_it(
    app: AppHarness, qtbot: QtBot
) -> None:
    begin_summary(app, qtbot)
    app.transcript.message_keys.show(3)
    there = [each.id for each in app.chats.transcript.messages]
    end_summary(app, qtbot)
    assert "A summary." in texts(app)
    QTest.keyClick(app.transcript, Qt.Key.Key_Delete)
    app.wait_until_quiet(qtbot)
    still()
    assert [each for each in there if app.chats.transcript.row_of(each) is None] == [there[3]]


def test_a_summary_that_is_shown_is_read(app: AppHarness, qtbot: QtBot) -> None:
    begin_summary(app, qtbot)
    type_anew(begin_edit(app, 2), "Other")
    editor(app, 2).other.click()  # saved as another version; what follows stays
    app.wait_until_stored(qtbot)
    end_summary(app, qtbot)
    app.ask(qtbot, "Fourth")
    is_read = any("A summary." in each.content for each in app.engine.requests[-1].messages)
    assert is_read == ("A summary." in texts(app))


# Finding


def test_a_step_without_words_to_find_ends(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "Question")
    app.window.menu.find.trigger()
    QTest.keyClick(focused(), Qt.Key.Key_Return)
    finder = app.transcript.finder
    qtbot.waitUntil(lambda: not finder.is_reading)


# Tools


def test_a_tool_that_is_switched_off_makes_no_more_calls(tmp_path: Path, qtbot: QtBot) -> None:
    with open_with_tools(tmp_path, qtbot) as (app, servers):
        servers.holds = True
        ask_for_calls(app, qtbot, Answer.ALWAYS, "a", "b")
        qtbot.waitUntil(lambda: bool(servers.waiting))
        app.chats.tools.set_on(["files/read"], False)
        servers.holds = False
        servers.waiting[0]()
        app.wait_until_quiet(qtbot)
        assert [arguments for _, arguments in servers.ran] == ['{"path": "a"}']
        assert [each.state for each in made_calls(app)] == [CallState.DONE, CallState.FAILED]


def test_a_result_stays_though_the_reply_is_stopped_while_its_pictures_are_read(tmp_path: Path, qtbot: QtBot) -> None:
    with open_with_tools(tmp_path, qtbot) as (app, servers):
        servers.holds = True
        servers.pictures = (written(image(20, 20), "PNG"),)
        ask_for_calls(app, qtbot, Answer.ONCE, "a")
        qtbot.waitUntil(lambda: bool(servers.waiting))
        servers.waiting[0]()
        app.chats.stop()
        app.wait_until_quiet(qtbot)
        assert [(each.state, each.result) for each in made_calls(app)] == [(CallState.DONE, "read ran")]


def test_another_model_waits_until_a_reply_that_calls_tools_has_ended(tmp_path: Path, qtbot: QtBot) -> None:
    with open_with_tools(tmp_path, qtbot) as (app, servers):
        servers.holds = True
        waiting: list[str] = []
        app.models.main_waits.connect(waiting.append)
        ask_for_calls(app, qtbot, Answer.ONCE, "a")
        qtbot.waitUntil(lambda: bool(servers.waiting))
        app.models.choose_main(PLAIN.folder)
        assert waiting == [PLAIN.name]
        servers.waiting[0]()
        app.wait_until_quiet(qtbot)
        assert "read ran" in [each.content for each in app.engine.requests[-1].messages]
        qtbot.waitUntil(lambda: app.models.pair.main_name == PLAIN.name and app.models.pair.state is PairState.READY)


# Projects


def test_a_name_that_was_typed_is_kept_when_another_project_is_opened(app: AppHarness, qtbot: QtBot) -> None:
    project, other = app.make_folder(qtbot), app.make_folder(qtbot)
    page = app.window.project_page
    page.show(project)
    still()
    page.form.name.setFocus()
    page.form.name.selectAll()
    QTest.keyClicks(page.form.name, "Tea")
    page.show(other)
    app.wait_until_stored(qtbot)
    still()
    assert app.chats.conversations.tree.folders[project].name == "Tea"


# Copies and exports


def test_a_copy_has_all_words_of_a_reply_though_the_disk_is_slow(app: AppHarness, qtbot: QtBot) -> None:
    begin_reply(app, qtbot)
    chat_id = app.chats.chat_id
    with held(disk(app)):
        app.chats.replies.save()
        let_through_words(app, qtbot)
        shown = reply(app).text
        app.chats.duplicate(chat_id)
    qtbot.waitUntil(lambda: app.chats.chat_id != chat_id)
    assert reply(app).text == shown


def test_an_export_has_the_words_of_a_reply_that_is_written(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    shown = begin_reply(app, qtbot)
    export(app, qtbot, ExportFormat.MARKDOWN, tmp_path / "x.md")
    assert shown.strip() in (tmp_path / "x.md").read_text()


def test_an_export_has_instructions_that_were_just_typed(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    project = app.make_folder(qtbot)
    app.chats.new_chat_in(project)
    app.ask(qtbot, "Question")
    app.window.project_page.show(project)
    still()
    QTest.keyClicks(app.window.project_page.form.instructions, "Be brief.")
    export(app, qtbot, ExportFormat.JSON, tmp_path / "x.json")
    assert "Be brief." in (tmp_path / "x.json").read_text()
