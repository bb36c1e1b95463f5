"""The documents of projects in the app: lists, reading in the background, what pauses it, and what ends with what."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.controllers.project_files import ProjectFilesController
from app.documents.problems import WhyNot
from app.storage.chats import ChatStore
from app.storage.project_files import FileState, Passage, ProjectFile, ProjectFiles, open_files
from app.system.worker import ignore
from app.tools.builtin.offered import BY_NAME
from app.tools.builtin.offered import call as call_built_in
from app.tools.definitions import ToolResult
from app.words.projects import file_words
from tests.helpers.controller_harness import ControllerHarness, open_harness, recorded
from tests.helpers.documents import damage, read_all
from tests.helpers.fake_engine import MAIN, Script
from tests.helpers.pdf_files import pdf_bytes
from tests.helpers.tool_calls import MODELS, call, calls, says

SEARCH = BY_NAME["search_files"].tool
PROJECT = 1


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[ControllerHarness]:
    with open_harness(tmp_path / "profile", qtbot) as harness:
        harness.change(lambda stores: stores.folders.make("Project", None))
        yield harness


@pytest.fixture
def documents(harness: ControllerHarness) -> ProjectFilesController:
    return harness.controller.documents


def add_notes(harness: ControllerHarness) -> None:
    """To the open chat, over a loaded pair."""
    documents, owner = harness.controller.documents, -harness.chat.chat_id
    harness.load_pair()
    documents.add_text(owner, "notes", "About zebras.")
    harness.qtbot.waitUntil(lambda: documents.has_text(owner))


def start_damaged(documents: ProjectFilesController, qtbot: QtBot) -> None:
    """With a long text in the project's database, which is found by no word of it any more."""
    path = documents.database(PROJECT)
    files = open_files(path)
    files.add_text("given", "About zebras. " * 3000)
    files.close()
    damage(path, "words_data")
    documents.start()
    qtbot.waitUntil(lambda: bool(documents.files(PROJECT)))


def states(documents: ProjectFilesController, place: int = PROJECT) -> list[FileState]:
    return [each.state for each in documents.files(place)]


def search(documents: ProjectFilesController, qtbot: QtBot, question: str, *places: int) -> list[Passage]:
    found: list[list[Passage]] = []
    documents.search(places or (PROJECT,), question, 5, found.append)
    qtbot.waitUntil(lambda: bool(found))
    return found[0]


def test_files_are_listed_at_once_and_searched_when_they_are_read(
    documents: ProjectFilesController, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("About zebras.")
    (tmp_path / "b.pdf").write_bytes(pdf_bytes(["About whales", "About tigers"]))
    heard: list[list[FileState]] = []
    documents.changed.connect(lambda place: heard.append(states(documents, place)))
    documents.add(PROJECT, [str(tmp_path / "a.txt"), tmp_path / "b.pdf"])
    qtbot.waitUntil(lambda: states(documents) == [FileState.READY] * 2)
    assert heard[0] == [FileState.WAITS] * 2
    assert [(each.name, each.page) for each in search(documents, qtbot, "tigers")] == [("b.pdf", 2)]
    assert set(documents.by_name((PROJECT,))) == {"a.txt", "b.pdf"}
    texts: list[str] = []
    documents.text(PROJECT, documents.files(PROJECT)[1].id, texts.append, 1)
    qtbot.waitUntil(lambda: bool(texts))
    assert texts[0].strip() == "About whales"
    documents.remove(PROJECT, [documents.files(PROJECT)[1].id])
    qtbot.waitUntil(lambda: len(documents.files(PROJECT)) == 1)
    assert search(documents, qtbot, "tigers") == []


def test_nothing_is_read_while_a_reply_is_written(harness: ControllerHarness, tmp_path: Path, qtbot: QtBot) -> None:
    documents = harness.controller.documents
    harness.load_pair()
    harness.engine.scripts.append(Script(("One", " two")))
    harness.engine.gate.hold()
    harness.chat.send("Hello")
    qtbot.waitUntil(lambda: harness.chat.generating)
    (tmp_path / "a.txt").write_text("About zebras.")
    documents.add(PROJECT, [tmp_path / "a.txt"])
    qtbot.waitUntil(lambda: bool(documents.files(PROJECT)))
    assert states(documents) == [FileState.WAITS]
    harness.engine.gate.open()
    qtbot.waitUntil(lambda: states(documents) == [FileState.READY])
    harness.wait_until_quiet()


def test_the_next_run_goes_on_and_forgets_what_has_no_project(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "a.txt").write_text("About zebras.")
    with open_harness(tmp_path / "profile", qtbot) as harness:
        harness.change(lambda stores: stores.folders.make("Project", None))
        new_id = harness.chat.chat_id
        harness.change(lambda stores: stores.unsent.put(new_id, "Waits"))
        folder = harness.paths.data / "projects"
        for key in ("1", "2", "chat-7000", "chat-0"):
            files = open_files(folder / f"{key}.db")
            files.add([tmp_path / "a.txt"])
            files.close()
        documents = harness.controller.documents
        documents.start()
        qtbot.waitUntil(lambda: states(documents) == [FileState.READY])
        assert {each.name for each in folder.glob("*.db")} == {"1.db", f"chat-{new_id}.db"}
        assert [each.name for each in documents.files(-new_id)] == ["a.txt"]
        assert documents.files(2) == ()


def test_a_chat_that_is_stored_has_its_documents_and_ends_with_them(harness: ControllerHarness, qtbot: QtBot) -> None:
    documents = harness.controller.documents
    chat_id = harness.chat.chat_id
    add_notes(harness)
    harness.engine.scripts.append(Script(("Yes",)))
    harness.chat.send("Hello")
    qtbot.waitUntil(lambda: len(harness.rows) == 2)
    harness.wait_until_quiet()
    assert documents.places_of(chat_id, None) == (-chat_id,)
    assert [each.name for each in search(documents, qtbot, "zebras", -chat_id)] == ["notes"]
    harness.change(lambda stores: stores.chats.summary(chat_id) and stores.folders.put_chats([chat_id], PROJECT))
    documents.add_text(PROJECT, "more", "More about zebras.")
    qtbot.waitUntil(lambda: documents.places_of(chat_id, PROJECT) == (-chat_id, PROJECT))
    assert len(search(documents, qtbot, "zebras", PROJECT, -chat_id)) == 2
    harness.chat.delete_chats([chat_id])
    assert documents.database(-chat_id).exists()
    harness.chat.deletions.empty()
    qtbot.waitUntil(lambda: not documents.database(-chat_id).exists())
    assert documents.database(PROJECT).exists()


def test_a_document_that_waits_to_be_read_goes_with_its_chat(
    harness: ControllerHarness, tmp_path: Path, qtbot: QtBot
) -> None:
    documents = harness.controller.documents
    harness.load_pair()
    (tmp_path / "a.txt").write_text("About zebras. " * 30_000)
    chat_id = harness.chat.chat_id
    documents.add(-chat_id, [tmp_path / "a.txt"])
    harness.say("Hello")
    qtbot.waitUntil(lambda: states(documents, -chat_id) == [FileState.READY])


def test_documents_go_with_their_chat_though_another_is_open_by_then(harness: ControllerHarness, qtbot: QtBot) -> None:
    documents = harness.controller.documents
    chat_id = harness.chat.chat_id
    add_notes(harness)
    assert harness.controller.send("Hello")
    harness.controller.new_chat()
    assert not documents.files(-harness.chat.chat_id)
    qtbot.waitUntil(lambda: any(row.chat_id == chat_id for row in harness.controller.conversations.rows))
    assert [each.name for each in documents.files(-chat_id)] == ["notes"]
    harness.wait_until_quiet()


def test_documents_are_read_and_searched_once_their_database_is_copied(
    harness: ControllerHarness, qtbot: QtBot
) -> None:
    """It is copied once no thread has it open, which takes a moment: what is clicked then opens after it."""
    documents = harness.controller.documents
    original = harness.chat.chat_id
    add_notes(harness)
    harness.say("What about zebras?")
    free = threading.Event()
    documents._reader.ask(lambda: free.wait(60), ignore, ignore)
    harness.chat.duplicate(original)
    qtbot.waitUntil(lambda: harness.chat.chat_id != original)
    chat_id = harness.chat.chat_id
    (file,) = documents.files(-chat_id)
    texts: list[str] = []
    found: list[list[Passage]] = []
    documents.text(-chat_id, file.id, texts.append)
    documents.search((-chat_id,), "zebras", 5, found.append)
    tools = harness.controller.tools
    results: list[ToolResult] = []
    cancel = tools.start(SEARCH, '{"query": "zebras"}', tools.reach(chat_id, frozenset()), results.append)
    tools.start(SEARCH, '{"query": "zebras"}', tools.reach(chat_id, frozenset()), results.append)
    cancel()
    qtbot.wait(100)
    assert not texts
    assert not found
    assert not results
    free.set()
    qtbot.waitUntil(lambda: bool(texts) and bool(found) and len(results) == 2)
    assert {result.failed: "About zebras." in result.text for result in results} == {False: True, True: False}
    assert texts == ["About zebras."]
    assert [each.name for each in found[0]] == ["notes"]


def test_a_copy_of_a_chat_has_its_documents(harness: ControllerHarness, qtbot: QtBot) -> None:
    documents = harness.controller.documents
    chat_id = harness.chat.chat_id
    add_notes(harness)
    harness.say("Hello")
    harness.chat.duplicate(chat_id)
    copy = harness.chat.chat_id
    assert copy != chat_id
    qtbot.waitUntil(lambda: documents.database(-copy).exists())
    documents.remove(-chat_id, [documents.files(-chat_id)[0].id])
    qtbot.waitUntil(lambda: not documents.files(-chat_id))
    assert [each.name for each in search(documents, qtbot, "zebras", -copy)] == ["notes"]
    assert documents.database(-copy).stat().st_mode & 0o777 == 0o600


def test_what_is_deleted_is_not_made_again(harness: ControllerHarness, tmp_path: Path, qtbot: QtBot) -> None:
    documents = harness.controller.documents
    (tmp_path / "a.txt").write_text("About zebras. " * 30_000)
    documents.add(PROJECT, [tmp_path / "a.txt"])
    qtbot.waitUntil(lambda: states(documents) == [FileState.READING])
    documents.delete(PROJECT)
    documents.add_text(0, "notes", "About whales.")
    qtbot.waitUntil(lambda: documents.has_text(0))
    qtbot.waitUntil(lambda: not documents.database(PROJECT).exists())
    documents.add_text(0, "more", "About tigers.")
    qtbot.waitUntil(lambda: len(documents.files(0)) == 2)
    assert (documents.files(PROJECT), documents.database(PROJECT).exists()) == ((), False)


def test_a_list_that_cannot_be_read_costs_no_other_project_its_documents(
    harness: ControllerHarness, qtbot: QtBot
) -> None:
    documents = harness.controller.documents
    harness.change(lambda stores: stores.folders.make("Other", None))
    for place in (PROJECT, 2):
        files = open_files(documents.database(place))
        files.add_text("given", "About zebras.")
        files.close()
    damage(documents.database(PROJECT), "files")
    documents.start()
    qtbot.waitUntil(lambda: [each.name for each in documents.files(2)] == ["given"])
    documents.add_text(PROJECT, "later", "About whales.")
    qtbot.waitUntil(lambda: [each.name for each in documents.files(PROJECT)] == ["later"])


def test_a_text_that_is_lost_with_its_database_is_named_as_damaged(
    harness: ControllerHarness, qtbot: QtBot, tmp_path: Path
) -> None:
    """Until the user removes it; a file is read again from where it is."""
    documents = harness.controller.documents
    path = documents.database(PROJECT)
    (tmp_path / "a.txt").write_text("About whales.")
    files = open_files(path)
    files.add([tmp_path / "a.txt"])
    read_all(files)
    files.add_text("given", "About zebras. " * 3000)
    files.close()
    lost = ("given", FileState.UNREADABLE, WhyNot.DAMAGED)

    def is_made_anew(damaged: int) -> bool:
        names = {(each.name, each.state, each.problem) for each in documents.files(PROJECT)}
        return path.stat().st_ino != damaged and names == {("a.txt", FileState.READY, ""), lost}

    for number in range(2):  # the second time nothing but the name is there
        inode = path.stat().st_ino
        is_damaged = threading.Event()
        documents._alone(PROJECT, partial(damage, path, "parts"), is_damaged.set)  # while nothing has it open
        qtbot.waitUntil(is_damaged.is_set)
        documents.start()
        qtbot.waitUntil(lambda: bool(documents.files(PROJECT)))
        search(documents, qtbot, f"zebras {number}")
        qtbot.waitUntil(partial(is_made_anew, inode))
    assert file_words(0, "unreadable", WhyNot.DAMAGED, is_whole=False) == "Damaged."
    (given,) = (each for each in documents.files(PROJECT) if not each.path)
    documents.remove(PROJECT, [given.id])
    qtbot.waitUntil(lambda: [each.name for each in documents.files(PROJECT)] == ["a.txt"])
    qtbot.waitUntil(lambda: [each.name for each in search(documents, qtbot, "whales")] == ["a.txt"])


@pytest.mark.expect_log("no documents are searched", "a change was not stored")
def test_a_chat_that_cannot_be_read_is_not_busy_with_a_search_for_ever(
    harness: ControllerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_given: object) -> None:
        raise sqlite3.OperationalError("database is locked")

    harness.load_pair()
    harness.say("Hello")
    chat = harness.chat
    refused = recorded(chat.asking.message_refused)
    with monkeypatch.context() as patched:
        patched.setattr(ChatStore, "summary", busy)
        chat.asking._options.forget_folders()
        assert chat.send("Which animals?")
        harness.qtbot.waitUntil(lambda: bool(refused))
    assert not chat.asking.is_storing(chat.chat_id)
    assert harness.say("Which animals?").text


@pytest.mark.expect_log("OperationalError")
def test_texts_of_a_damaged_database_stay_while_the_disk_refuses_them(
    harness: ControllerHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = harness.controller.documents
    start_damaged(documents, qtbot)

    def full(*_given: object) -> int:
        raise sqlite3.OperationalError("database or disk is full")

    refused = recorded(documents.refused)
    with monkeypatch.context() as patched:
        patched.setattr(ProjectFiles, "add_text", full)
        assert search(documents, qtbot, "zebras") == []
        qtbot.waitUntil(lambda: bool(refused))
    qtbot.waitUntil(lambda: bool(search(documents, qtbot, "zebras")))


@pytest.mark.expect_log("IsADirectoryError")
def test_a_disk_that_takes_no_new_database_in_place_of_a_damaged_one_is_not_asked_again_by_itself(
    harness: ControllerHarness, qtbot: QtBot
) -> None:
    documents = harness.controller.documents
    path = documents.database(PROJECT)
    files = open_files(path)
    files.add_text("given", "About zebras.")
    files.close()
    damage(path, "files")
    in_the_way = path.with_suffix(".new")
    in_the_way.mkdir()
    refused = recorded(documents.refused)
    documents.start()
    qtbot.waitUntil(lambda: bool(refused))
    documents.add(0, [__file__])  # by now both threads have long done what they would do
    qtbot.waitUntil(lambda: states(documents, 0) == [FileState.READY])
    assert len(refused) == 1
    in_the_way.rmdir()
    documents.add_text(PROJECT, "later", "About whales.")
    qtbot.waitUntil(lambda: [each.name for each in documents.files(PROJECT)] == ["later"])


def test_a_tool_that_meets_damage_says_so_and_has_it_mended(harness: ControllerHarness, qtbot: QtBot) -> None:
    documents = harness.controller.documents
    harness.load_pair()
    start_damaged(documents, qtbot)
    harness.controller.new_chat_in(PROJECT)
    reach = harness.controller.tools.reach(harness.chat.chat_id, frozenset())
    found = call_built_in("search_files", '{"query": "zebras"}', reach)
    assert (found.failed, found.text) == (True, "Error: the documents cannot be read at present")
    qtbot.waitUntil(lambda: not call_built_in("search_files", '{"query": "zebras"}', reach).failed)


@pytest.mark.parametrize("whole", [True, False])
def test_a_damaged_database_is_made_again(tmp_path: Path, qtbot: QtBot, whole: bool) -> None:
    """With the files that can still be read from it."""
    (tmp_path / "a.txt").write_text("About zebras. " * 3000)
    with open_harness(tmp_path / "profile", qtbot) as harness:
        harness.change(lambda stores: stores.folders.make("Project", None))
        documents = harness.controller.documents
        path = documents.database(PROJECT)
        files = open_files(path)
        files.add([tmp_path / "a.txt"])
        read_all(files)
        files.close()
        data = path.read_bytes()
        at = 0 if whole else data.index(b"CREATE VIRTUAL TABLE") // 4096 * 4096 + 4096 * 9
        path.write_bytes(data[:at] + b"nonsense" * ((len(data) - at) // 8))
        documents.start()
        if not whole:
            qtbot.waitUntil(lambda: bool(documents.files(PROJECT)))
        (tmp_path / "b.txt").write_text("About whales.")
        documents.add(PROJECT, [tmp_path / "b.txt"])
        qtbot.waitUntil(lambda: FileState.READY in states(documents) and set(states(documents)) == {FileState.READY})
        search(documents, qtbot, "zebras")  # meets the damage
        qtbot.waitUntil(lambda: whole or "a.txt" in {each.name for each in search(documents, qtbot, "zebras")})
        qtbot.waitUntil(lambda: [each.name for each in search(documents, qtbot, "whales")] == ["b.txt"])


def test_damage_in_one_database_costs_no_other_its_texts_and_its_own_are_saved(tmp_path: Path, qtbot: QtBot) -> None:
    with open_harness(tmp_path / "profile", qtbot) as harness:
        harness.change(lambda stores: stores.folders.make("Project", None))
        documents = harness.controller.documents
        start_damaged(documents, qtbot)
        documents.add_text(0, "other", "About whales.")
        qtbot.waitUntil(lambda: documents.has_text(0))
        other = documents.database(0).stat().st_ino
        assert [each.name for each in search(documents, qtbot, "whales zebras", PROJECT, 0)] == ["other"]
        qtbot.waitUntil(lambda: bool(search(documents, qtbot, "zebras", PROJECT)))
        assert [each.name for each in search(documents, qtbot, "zebras", PROJECT)][:1] == ["given"]
        assert documents.database(0).stat().st_ino == other


def test_the_app_ends_at_once_while_a_file_is_read(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf_bytes([""], stream=b"BT " + b"(x) Tj " * 500_000 + b"ET"))
    with open_harness(tmp_path / "profile", qtbot) as harness:
        documents = harness.controller.documents
        documents.add(PROJECT, [tmp_path / "a.pdf"])
        qtbot.waitUntil(lambda: states(documents) == [FileState.READING])
        began = time.thread_time()
        assert documents.close()
        assert time.thread_time() - began < 0.1


def test_a_model_that_calls_searches_by_itself_and_is_not_asked_about(
    harness: ControllerHarness, tmp_path: Path, qtbot: QtBot
) -> None:
    harness.engine.models.update(MODELS)
    harness.load_pair(MAIN.folder, "")
    chat = harness.controller
    assert not chat.tools.chosen
    chat.new_chat_in(PROJECT)
    assert "/search_files" not in {each.id for row in chat.tools.chat_tools() for each in row.tools}
    (tmp_path / "b.pdf").write_bytes(pdf_bytes(["About whales", "There are three tigers."]))
    chat.documents.add(PROJECT, [tmp_path / "b.pdf"])
    qtbot.waitUntil(lambda: states(chat.documents) == [FileState.READY])
    rows = {each.id: each for row in chat.tools.chat_tools() for each in row.tools}
    assert (rows["/search_files"].on, rows["/search_files"].fixed) == (True, True)
    assert set(chat.tools.chosen) == {"/search_files", "/read_file"}
    wanted = calls(
        call("search_files", {"query": "How many tigers?"}), call("read_file", {"path": "b.pdf", "first_page": 1})
    )
    harness.engine.scripts += [wanted, says("Three [b.pdf, p. 2].")]
    assert chat.send("How many tigers are there?")
    harness.wait_until_quiet()
    results = [each for step in harness.rows[-1].steps for each in step.calls]
    assert [each.result.strip() for each in results] == ["[b.pdf, p. 2]\nThere are three tigers.", "About whales"]
    assert all(each.outside for each in results)
    assert [tool["function"]["name"] for tool in harness.engine.requests[0].tools] == ["read_file", "search_files"]


def test_documents_of_one_name_are_told_apart(harness: ControllerHarness, tmp_path: Path, qtbot: QtBot) -> None:
    """In a chat, in a folder, and in the folder around that: found, read and cited by names of their own."""
    harness.change(lambda stores: stores.folders.make("Inner", PROJECT))
    documents = harness.controller.documents
    own = -harness.chat.chat_id
    words = {own: "About whales", 2: "About tigers", PROJECT: "About zebras"}
    for place, text in words.items():
        (tmp_path / str(place)).mkdir()
        (tmp_path / str(place) / "report.txt").write_text(text)
        documents.add(place, [tmp_path / str(place) / "report.txt"])
    qtbot.waitUntil(lambda: all(documents.has_text(place) for place in words))
    harness.controller.new_chat_in(2)
    tools = harness.controller.tools
    names = {"report.txt": "About whales", "2/report.txt": "About tigers", "1/report.txt": "About zebras"}
    assert set(tools.documents()) == names.keys()
    reach = tools.reach(-own, frozenset())
    found = call_built_in("search_files", '{"query": "whales tigers zebras"}', reach).text
    assert sorted(found.split("\n\n")) == sorted(f"[{name}, line 1]\n{text}" for name, text in names.items())
    found_too = {each.name: each.text for each in search(documents, qtbot, "whales tigers zebras", own, 2, PROJECT)}
    assert found_too == names
    for name, text in names.items():
        assert call_built_in("read_file", f'{{"path": "{name}"}}', reach).text == text
    said: dict[str, str] = {}
    for name in names:
        tools.read_cited(name, 0, lambda text, path, _page: said.update({path: text}))
    places = {str(tmp_path / str(place) / "report.txt"): text for place, text in words.items()}
    qtbot.waitUntil(lambda: said == places)


def test_pasted_texts_have_names_of_their_own(documents: ProjectFilesController, qtbot: QtBot) -> None:
    for _ in range(3):
        documents.add_text(PROJECT, "", "About zebras.")
    qtbot.waitUntil(lambda: len(documents.files(PROJECT)) == 3)
    assert [each.name for each in documents.files(PROJECT)] == ["text", "text 2", "text 3"]


def test_a_list_of_thousands_is_read_once_and_then_what_has_changed(
    documents: ProjectFilesController, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / f"{number}.txt" for number in range(1000)]
    documents.add(PROJECT, paths)
    qtbot.waitUntil(lambda: states(documents) == [FileState.MISSING] * 1000)
    before = documents.files(PROJECT)
    asked: list[int] = []
    get = ProjectFiles.get

    def note(files: ProjectFiles, file_id: int) -> ProjectFile | None:
        asked.append(file_id)
        return get(files, file_id)

    monkeypatch.setattr(ProjectFiles, "get", note)
    monkeypatch.setattr(ProjectFiles, "all", lambda _files: pytest.fail("all of it was read again"))
    documents.remove(PROJECT, [before[0].id])
    documents.add_text(PROJECT, "notes", "About whales.")
    qtbot.waitUntil(lambda: len(documents.files(PROJECT)) == 1000 and documents.has_text(PROJECT))
    after = documents.files(PROJECT)
    assert [each is same for each, same in zip(before[1:], after, strict=False)] == [True] * 999
    assert set(documents.by_name((PROJECT,))) == {"notes"}
    assert set(asked) <= {before[0].id, after[-1].id}


def test_nothing_of_a_document_is_outside_of_its_place_s_database(
    harness: ControllerHarness, tmp_path: Path, qtbot: QtBot
) -> None:
    """Until it goes with a message: neither in the chats' file, nor in its copies, the index or a log."""
    documents = harness.controller.documents
    (tmp_path / "zebras.txt").write_text("Quaggas are zebras. " * 3000)
    documents.add(PROJECT, [tmp_path / "zebras.txt"])
    documents.add_text(PROJECT, "given", "Quaggas are zebras. " * 100)
    qtbot.waitUntil(lambda: states(documents) == [FileState.READY] * 2)
    harness.settle()
    assert search(documents, qtbot, "quaggas")
    there = [path for path in (tmp_path / "profile").rglob("*") if path.is_file() and b"uagga" in path.read_bytes()]
    assert {path.parent.name for path in there} == {"projects"}
    assert {path.name.partition("-")[0] for path in there} == {"1.db"}
