"""Folders as projects: what their chats begin with, whose options are in force, and what is kept of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.storage import Folder
from app.storage.project_files import FileState, ProjectFiles, open_files, reading
from app.view_models.chat_options import Scope
from engine import MessageRole, Request
from tests.helpers.controller_harness import ControllerHarness, open_harness
from tests.helpers.documents import damage, read_all

pytestmark = pytest.mark.usefixtures("qapp")


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[ControllerHarness]:
    with open_harness(tmp_path, qtbot) as harness:
        harness.load_pair()
        yield harness


def project(harness: ControllerHarness, name: str = "Tea", parent_id: int | None = None) -> int:
    made: list[int] = []
    harness.change(lambda stores: made.append(stores.folders.make(name, parent_id)))
    return made[0]


def told(harness: ControllerHarness) -> tuple[str, int]:
    """The system message of the latest request, and how much of it is shared."""
    request: Request = harness.engine.requests[-1]
    first = request.messages[0]
    return (first.content if first.role is MessageRole.SYSTEM else "", request.shared_characters)


def folders(harness: ControllerHarness) -> list[Folder]:
    return harness.storage.read.folders.all()


def test_all_its_chats_begin_with_its_instructions(harness: ControllerHarness) -> None:
    """Then come their own system prompts; what they share is said to the engine."""
    tea = project(harness)
    projects, options = harness.controller.projects, harness.controller.options
    projects.put_instructions(tea, "We sell tea.\n")

    harness.controller.new_chat_in(tea)
    harness.say("How?")
    assert told(harness) == ("We sell tea.", 12)
    assert options.folder_of(harness.chat.chat_id) == tea

    harness.controller.new_chat_in(tea)
    options.put(Scope.CHAT, "system_prompt", "Be brief.")
    harness.say("Why?")
    assert told(harness) == ("We sell tea.\n\nBe brief.", 12)

    harness.chat.new_chat()
    harness.say("Hello")
    assert told(harness) == ("", 0)
    assert options.folder_of(harness.chat.chat_id) is None


def test_a_chat_that_is_moved_follows_from_its_next_reply_on(harness: ControllerHarness) -> None:
    tea = project(harness)
    harness.controller.projects.put_instructions(tea, "We sell tea.")
    harness.say("One")
    chat_id = harness.chat.chat_id

    harness.controller.folders.move_chats([chat_id], tea)
    harness.settle()
    harness.say("Two")
    assert told(harness) == ("We sell tea.", 12)

    harness.controller.deletions.undo()
    harness.settle()
    harness.say("Three")
    assert told(harness) == ("", 0)


def test_of_folders_within_folders_the_nearest_that_sets_an_option_counts(harness: ControllerHarness) -> None:
    """The settings are below the model's defaults, these below a preset, then come the projects and the chat."""
    outer = project(harness, "Outer")
    inner = project(harness, "Inner", outer)
    projects, options = harness.controller.projects, harness.controller.options
    projects.put_instructions(outer, "We sell tea.")
    projects.put_instructions(inner, "Black tea only.")
    projects.put_options(outer, {"temperature": 0.2, "top_k": 5, "max_tokens": 100})
    projects.put_options(inner, {"temperature": 0.4})
    options.put(Scope.MODEL, "min_p", 0.2)
    options.put(Scope.MODEL, "top_k", 7)

    harness.controller.new_chat_in(inner)
    options.put(Scope.CHAT, "max_tokens", 200)
    harness.say("How?")

    request = harness.engine.requests[-1]
    sampling = request.sampling
    assert told(harness)[0] == "We sell tea.\n\nBlack tea only."
    assert (sampling.temperature, sampling.top_k, sampling.min_p, request.max_tokens) == (0.4, 5, 0.2, 200)
    view = options.view(Scope.CHAT)
    assert {name: view.sources[name] for name in ("temperature", "top_k", "min_p")} == {
        "temperature": "project",
        "top_k": "project",
        "min_p": "model",
    }
    assert (view.own, view.otherwise["max_tokens"]) == ({"max_tokens": 200}, 100)

    projects.put_options(inner, {}, ["temperature"])
    harness.say("And now?")
    assert harness.engine.requests[-1].sampling.temperature == 0.2


def test_a_preset_is_below_the_project(harness: ControllerHarness) -> None:
    tea = project(harness)
    options = harness.controller.options
    harness.controller.new_chat_in(tea)
    options.put(Scope.CHAT, "temperature", 0.9)
    options.put(Scope.CHAT, "top_k", 9)
    options.save_preset("Warm")
    harness.controller.projects.put_options(tea, {"temperature": 0.1})
    harness.say("How?")
    sampling = harness.engine.requests[-1].sampling
    assert (sampling.temperature, sampling.top_k) == (0.1, 9)


def test_quick_ask_is_in_no_project(harness: ControllerHarness) -> None:
    tea = project(harness)
    harness.controller.projects.put_instructions(tea, "We sell tea.")
    harness.controller.new_chat_in(tea)
    asked: list[int] = []
    harness.controller.asking.ask_quickly("What time is it?", lambda each: asked.append(each.chat_id), lambda: None)
    harness.settle()
    harness.wait_until_quiet()
    assert told(harness) == ("", 0)
    assert harness.controller.options.folder_of(asked[0]) is None
    assert harness.controller.options.folder_of(harness.chat.chat_id) == tea, "the new chat still is"


def test_a_new_chat_in_a_closed_project_is_listed_there(harness: ControllerHarness) -> None:
    tea = project(harness)
    harness.change(lambda stores: stores.folders.set_opened(tea, False))
    harness.controller.new_chat_in(tea)
    harness.say("How?")
    assert [each.opened for each in folders(harness)] == [True]
    row = harness.controller.conversations.rows[-1]
    assert (row.chat_id, row.inside) == (harness.chat.chat_id, tea)


def test_a_project_that_is_deleted_meanwhile_leaves_its_new_chat_outside(harness: ControllerHarness) -> None:
    tea = project(harness)
    harness.controller.projects.put_instructions(tea, "We sell tea.")
    harness.controller.new_chat_in(tea)
    harness.change(lambda stores: stores.folders.delete(tea, with_chats=False))
    harness.say("How?")
    assert told(harness) == ("", 0)


@pytest.mark.parametrize("with_chats", [False, True])
def test_what_was_typed_is_back_with_an_undone_deletion(harness: ControllerHarness, with_chats: bool) -> None:
    """Even where it was typed a moment before."""
    tea = project(harness)
    projects = harness.controller.projects
    projects.put_options(tea, {"seed": 3})
    projects.put_instructions(tea, "We sell tea.")
    harness.controller.conversations.refresh()
    harness.controller.folders.delete(tea, with_chats)
    harness.settle()
    assert projects.get(tea).instructions == ""
    harness.controller.deletions.undo()
    harness.settle()
    found = projects.get(tea)
    assert (found.instructions, dict(found.options)) == ("We sell tea.", {"seed": 3})


def test_what_is_typed_is_there_at_the_next_start(tmp_path: Path, qtbot: QtBot) -> None:
    with open_harness(tmp_path, qtbot) as harness:
        tea = project(harness)
        harness.controller.projects.put_instructions(tea, "We sell te")
        harness.controller.projects.put_instructions(tea, "We sell tea.")
    with open_harness(tmp_path, qtbot) as harness:
        assert harness.controller.projects.get(tea).instructions == "We sell tea."


def read_files(harness: ControllerHarness, folder_id: int, *files: Path) -> None:
    """Give the project these files, and wait until they are read."""
    documents = harness.controller.documents
    documents.add(folder_id, files)
    harness.qtbot.waitUntil(
        lambda: (
            len(documents.files(folder_id)) == len(files)
            and all(each.state is FileState.READY for each in documents.files(folder_id))
        )
    )


def test_small_files_are_read_whole_by_all_its_chats_and_large_ones_are_not(
    harness: ControllerHarness, tmp_path: Path
) -> None:
    """Between the instructions and the chat's own system prompt; a fence that a file has ends none."""
    tea = project(harness)
    small, large, code = tmp_path / "prices.txt", tmp_path / "book.txt", tmp_path / "code.md"
    small.write_text("Assam costs 4.\n")
    large.write_text("차 " * 200_000)
    code.write_text("```\nprint()\n```")
    read_files(harness, tea, small, large, code)
    harness.controller.projects.put_instructions(tea, "We sell tea.")
    harness.controller.new_chat_in(tea)
    harness.controller.options.put(Scope.CHAT, "system_prompt", "Be brief.")
    harness.say("How much is it?")

    shared = (
        "We sell tea.\n\n"
        "File of this project: prices.txt\n```\nAssam costs 4.\n```\n\n"
        "File of this project: code.md\n````\n```\nprint()\n```\n````"
    )
    assert told(harness) == (f"{shared}\n\nBe brief.", len(shared))
    names = {each.id: each.name for each in harness.controller.documents.files(tea)}
    assert sorted(names[each] for each in harness.controller.shared.whole_files(tea).ids) == ["code.md", "prices.txt"]
    assert harness.controller.asking.begins_with_files(harness.chat.chat_id)

    harness.controller.documents.remove(tea, [each for each, name in names.items() if name == "prices.txt"])
    harness.qtbot.waitUntil(lambda: len(harness.controller.documents.files(tea)) == 2)
    harness.say("And now?")
    assert "Assam" not in told(harness)[0]


def test_a_chat_has_no_more_of_them_because_another_with_more_room_is_open(
    harness: ControllerHarness, tmp_path: Path
) -> None:
    tea = project(harness)
    (tmp_path / "a.txt").write_text("茶" * 700)
    read_files(harness, tea, tmp_path / "a.txt")
    harness.controller.new_chat_in(tea)
    harness.controller.options.put(Scope.CHAT, "context_tokens", 2000)
    harness.say("How?")
    assert told(harness) == ("", 0)
    reply = harness.rows[-1].id
    harness.controller.new_chat_in(tea)
    made: list[Request | None] = []
    harness.controller.asking.request_of(reply, made.append)
    harness.qtbot.waitUntil(lambda: bool(made))
    assert [each and each.shared_characters for each in made] == [0]


def test_a_chat_has_words_of_files_also_where_another_has_no_room_for_them(
    harness: ControllerHarness, tmp_path: Path
) -> None:
    """Consents depend on it."""
    tea = project(harness)
    (tmp_path / "a.txt").write_text("茶" * 700)
    read_files(harness, tea, tmp_path / "a.txt")
    asking = harness.controller.asking
    harness.controller.new_chat_in(tea)
    harness.say("How?")
    chat_id = harness.chat.chat_id
    assert asking.begins_with_files(chat_id)
    harness.controller.new_chat_in(tea)
    harness.controller.options.put(Scope.CHAT, "context_tokens", 2000)
    harness.say("And here?")
    assert (asking.begins_with_files(chat_id), asking.begins_with_files(harness.chat.chat_id)) == (True, False)


def test_a_file_that_changes_unseen_is_read_as_it_is_now(harness: ControllerHarness, tmp_path: Path) -> None:
    """Its size is the same, and it is read so soon after others that nothing of it was shown in between."""
    documents = harness.controller.documents
    tea, coffee = project(harness), project(harness, "Coffee")
    for folder_id, name in ((tea, "tea.txt"), (coffee, "coffee.txt")):
        (tmp_path / name).write_text("It costs 4.")
        read_files(harness, folder_id, tmp_path / name)
    harness.controller.new_chat_in(tea)
    harness.say("How much?")
    assert "costs 4" in told(harness)[0]
    for folder_id, name in ((coffee, "coffee.txt"), (tea, "tea.txt")):
        (tmp_path / name).write_text("It costs 5.")
        documents.look(0, folder_id)
    before = documents.files(tea)
    harness.qtbot.waitUntil(lambda: documents.files(tea) != before)
    harness.qtbot.waitUntil(lambda: [each.state for each in documents.files(tea)] == [FileState.READY])
    harness.say("And now?")
    assert "costs 5" in told(harness)[0]


@pytest.mark.expect_log("DatabaseError")
def test_files_whose_database_is_damaged_are_read_anew_for_the_next_question(
    harness: ControllerHarness, tmp_path: Path
) -> None:
    documents = harness.controller.documents
    tea = project(harness)
    (tmp_path / "tea.txt").write_text("It costs 4.")
    files = open_files(documents.database(tea))
    files.add([tmp_path / "tea.txt"])
    read_all(files)
    files.close()
    damaged = documents.database(tea).stat().st_ino
    damage(documents.database(tea), "parts")

    def is_whole() -> bool:
        is_new = documents.database(tea).stat().st_ino != damaged
        with suppress(sqlite3.Error), reading(documents.database(tea)) as files:
            return is_new and files is not None and [each.state for each in files.all()] == [FileState.READY]
        return False

    documents.start()
    harness.qtbot.waitUntil(lambda: documents.has_text(tea))
    harness.controller.new_chat_in(tea)
    harness.say("How much?")  # finds the damage, where the empty chat's count of tokens has not yet
    harness.qtbot.waitUntil(is_whole)
    harness.qtbot.waitUntil(lambda: [each.state for each in documents.files(tea)] == [FileState.READY])
    harness.say("And now?")
    assert "costs 4" in told(harness)[0]


@pytest.mark.expect_log("OperationalError")
def test_files_that_cannot_be_read_for_a_moment_are_there_again_at_the_next_question(
    harness: ControllerHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_given: object) -> None:
        raise sqlite3.OperationalError("database is locked")

    tea = project(harness)
    (tmp_path / "tea.txt").write_text("It costs 4.")
    with monkeypatch.context() as patched:
        patched.setattr(ProjectFiles, "text_of", busy)
        read_files(harness, tea, tmp_path / "tea.txt")
        harness.controller.new_chat_in(tea)
        harness.say("How much?")
        assert "costs" not in told(harness)[0]
    harness.say("And now?")
    assert "costs 4" in told(harness)[0]


def test_files_take_a_quarter_of_the_context_at_most(harness: ControllerHarness, tmp_path: Path) -> None:
    tea = project(harness)
    files = [tmp_path / f"{number}.txt" for number in range(4)]
    for number, file in enumerate(files):
        file.write_text("茶" * 200 + str(number))
    read_files(harness, tea, *files)
    harness.controller.projects.put_options(tea, {"context_tokens": 2000})
    harness.controller.new_chat_in(tea)
    harness.say("How?")
    system, shared = told(harness)
    assert [str(number) in system for number in (0, 1, 2, 3)] == [True, True, False, False]
    assert shared == len(system)
