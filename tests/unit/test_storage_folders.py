"""Folders in the database: nesting, moving, deleting either way, undoing, and what damage can make of them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

from app.storage import Database, Project, Stores
from app.storage.codec import LONGEST_TITLE
from app.storage.schema import migrate, newest_version
from app.view_models.conversation_rows import FolderTree, rows_of


def names(stores: Stores) -> list[tuple[str, int]]:
    """Of all folders in order, with their depths."""
    tree = FolderTree(stores.folders.all())
    return [(folder.name, tree.depths[folder.id]) for folder in tree.in_order()]


def folder_of(stores: Stores, chat_id: int) -> int | None:
    summary = stores.chats.summary(chat_id)
    assert summary is not None
    return summary.folder_id


def made(stores: Stores, name: str, parent_id: int | None, chat_id: int) -> int:
    """A folder with a chat in it."""
    folder_id = stores.folders.make(name, parent_id)
    stores.folders.put_chats([chat_id], folder_id)
    return folder_id


def test_a_folder_holds_chats_and_folders(stores: Stores) -> None:
    chat = stores.chats.create("Chat")
    work = made(stores, "Work", None, chat)
    stores.folders.make("Papers", work)
    stores.folders.make("Home", None)
    assert names(stores) == [("Work", 0), ("Papers", 1), ("Home", 0)]
    assert folder_of(stores, chat) == work
    assert (stores.folders.chats_below(work), stores.folders.folders_below(work)) == (1, 1)


def test_a_folder_never_goes_into_itself(stores: Stores) -> None:
    outer = stores.folders.make("Outer", None)
    inner = stores.folders.make("Inner", outer)
    for target in (outer, inner):
        stores.folders.move(outer, target)
    assert names(stores) == [("Outer", 0), ("Inner", 1)]
    stores.folders.move(inner, None)
    assert names(stores) == [("Outer", 0), ("Inner", 0)]


def test_what_is_put_into_a_closed_folder_is_shown_and_of_a_closed_one_that_it_was_not_seen(stores: Stores) -> None:
    folder, chat = stores.folders.make("Folder", None), stores.chats.create("Chat")
    stores.folders.set_opened(folder, False)
    assert stores.chats.listing(9).chats[0].folder_id is None
    stores.folders.put_chats([chat], folder)
    assert [each.opened for each in stores.folders.all()] == [True]
    assert [each.id for each in stores.chats.listing(9).chats] == [chat]
    assert stores.folders.put_chats([chat], folder).chats == [], "nothing to undo"
    stores.folders.set_opened(folder, False)
    assert list(stores.chats.listing(9).chats) == []
    stores.chats.set_unseen(chat, True)
    assert [each.unseen for each in stores.folders.all()] == [True]


@pytest.mark.parametrize("with_chats", [False, True])
def test_deleting_a_folder_can_be_undone(stores: Stores, with_chats: bool) -> None:
    inside, deeper = stores.chats.create("Inside"), stores.chats.create("Deeper")
    outer = stores.folders.make("Outer", None)
    folder = made(stores, "Folder", outer, inside)
    inner = made(stores, "Inner", folder, deeper)
    deleted = stores.folders.delete(folder, with_chats)
    if with_chats:
        assert names(stores) == [("Outer", 0)]
        assert stores.chats.find() == []
        assert len(stores.trash.latest()) == 2
    else:
        assert names(stores) == [("Outer", 0), ("Inner", 1)]
        assert (folder_of(stores, inside), folder_of(stores, deeper)) == (outer, inner)
    stores.folders.put_back(deleted)
    assert names(stores) == [("Outer", 0), ("Folder", 1), ("Inner", 2)]
    assert (folder_of(stores, inside), folder_of(stores, deeper)) == (folder, inner)
    assert stores.trash.latest() == []


@pytest.mark.parametrize("with_chats", [False, True])
def test_what_was_moved_since_its_folder_was_deleted_stays_there(stores: Stores, with_chats: bool) -> None:
    chats = [stores.chats.create(title) for title in ("To another", "To the top", "Stays")]
    outer, other = stores.folders.make("Outer", None), stores.folders.make("Other", None)
    folder = stores.folders.make("Folder", outer)
    inner = stores.folders.make("Inner", folder)
    for chat in chats:
        stores.folders.put_chats([chat], folder)
    deleted = stores.folders.delete(folder, with_chats)
    stores.folders.move(inner, other)
    for chat, place in zip(chats, (other, None), strict=False):
        stores.trash.restore_chat(chat)
        stores.folders.put_chats([chat], place)
    stores.folders.put_back(deleted)
    assert [folder_of(stores, chat) for chat in chats] == [other, None, folder]
    assert {each.name: each.parent_id for each in stores.folders.all()}["Inner"] == (folder if with_chats else other)


def test_a_chat_that_was_in_a_deleted_folder_comes_back_outside(stores: Stores) -> None:
    chat = stores.chats.create("Chat")
    folder = made(stores, "Folder", None, chat)
    stores.folders.delete(folder, with_chats=True)
    stores.trash.restore_chat(chat)
    assert [each.id for each in stores.chats.listing(9).chats] == [chat]


def test_folders_in_a_circle_and_of_lost_parents_are_all_shown(stores: Stores) -> None:
    chat = stores.chats.create("Chat")
    first = made(stores, "First", None, chat)
    second = stores.folders.make("Second", first)
    third = stores.folders.make("Third", 777)
    stores.folders.make("Own", None)
    stores.database.execute("UPDATE folders SET parent_id = ? WHERE id = ?", (second, first))
    stores.database.execute("UPDATE folders SET parent_id = id WHERE name = 'Own'")
    assert names(stores) == [("Third", 0), ("First", 0), ("Second", 1), ("Own", 0)]
    stores.folders.move(third, second)
    assert stores.folders.chats_below(first) == 1
    stores.folders.delete(first, with_chats=True)
    assert names(stores) == [("Own", 0)]
    assert stores.chats.find() == []


def test_a_copy_lies_beside_its_original_with_its_options(stores: Stores) -> None:
    chat = stores.chats.create("Chat")
    folder = made(stores, "Folder", None, chat)
    stores.database.execute("UPDATE chats SET options = '{}', pinned = 1 WHERE id = ?", (chat,))
    stores.chats.create("Chat copy")
    copy = stores.chats.duplicate(chat, iter(["Chat copy", "Chat copy 2"]))
    row = stores.database.row("SELECT title, folder_id, options, pinned FROM chats WHERE id = ?", (copy,))
    assert row is not None
    assert tuple(row) == ("Chat copy 2", folder, "{}", 0)


def test_what_is_deleted_for_good_leaves_nothing(stores: Stores) -> None:
    kept, gone = stores.chats.create("Kept"), stores.chats.create("Gone")
    for chat in (kept, gone):
        stores.messages.add_user(chat, None, "words")
        stores.trash.put_chats([chat])
    newest, older = stores.trash.latest()
    assert (newest.title, newest.messages, newest.words) == ("Gone", 1, "words")
    assert stores.trash.forget([newest]).chats == (gone,)
    assert stores.trash.latest() == [older]
    assert stores.trash.leaves_traces
    assert [row["chat_id"] for row in stores.database.rows("SELECT chat_id FROM messages")] == [kept]
    assert stores.trash.empty().chats == (kept,)
    assert stores.database.rows("SELECT * FROM messages") == []
    assert not stores.trash.empty()


def test_any_depth_is_listed(stores: Stores) -> None:
    depth, parent = 3000, None
    with stores.database.transaction():
        for number in range(1, depth + 1):
            stores.database.execute(
                "INSERT INTO folders (id, name, parent_id, opened, created_at) VALUES (?, ?, ?, 1, 1.0)",
                (number, str(number), parent),
            )
            parent = number
    chat = stores.chats.create("Deep")
    stores.folders.put_chats([chat], depth)
    listing = stores.chats.listing(9)
    tree = FolderTree(listing.folders)
    rows = rows_of(listing, tree, date(2026, 11, 21), searching=False)
    assert (len(rows), rows[-1].chat_id, rows[-1].depth) == (depth + 2, chat, depth)
    assert tree.holds(1, depth)


def test_a_name_is_one_line_of_some_length(stores: Stores) -> None:
    stores.folders.make("name\n" * 1_000_000, None)
    assert stores.folders.all()[0].name == ("name " * (LONGEST_TITLE // 5)).strip()


def test_a_copy_of_a_chat_that_the_person_has_named_keeps_its_name(stores: Stores) -> None:
    chat = stores.chats.create("First words")
    stores.chats.rename(chat, "Taxes")
    copy = stores.chats.duplicate(chat, iter(["Taxes copy"]))
    assert not stores.states.has_open_title(copy)
    assert stores.states.has_open_title(stores.chats.duplicate(stores.chats.create("Words"), iter(["Words copy"])))


def test_a_closed_folder_shows_nothing_of_the_trash(stores: Stores) -> None:
    chat = stores.chats.create("Chat")
    made(stores, "Folder", None, chat)
    stores.chats.set_unseen(chat, True)
    mark = stores.trash.put_chats([chat])
    assert [folder.unseen for folder in stores.folders.all()] == [False]
    stores.trash.restore(mark)
    assert [folder.unseen for folder in stores.folders.all()] == [True]


def test_what_a_list_costs_does_not_grow_with_the_chats_of_a_folder(stores: Stores) -> None:
    """Counted in steps of SQLite, so that no other program has a part in it."""
    folder = stores.folders.make("Folder", None)
    steps: list[int] = []

    def step() -> None:
        steps[-1] += 1

    for _ in range(2):
        stores.database.connection.executemany(
            "INSERT INTO chats (title, created_at, updated_at, folder_id) VALUES ('Chat', 1, ?, ?)",
            [(float(number), folder) for number in range(500)],
        )
        steps.append(0)
        stores.database.connection.set_progress_handler(step, 10)
        assert len(stores.chats.listing(20).chats) == 20
        stores.database.connection.set_progress_handler(None, 0)
    assert steps[1] < steps[0] * 1.2
    assert steps[0] < 1000


def test_chats_of_lost_folders_stand_in_order_among_those_of_none(stores: Stores) -> None:
    for number, folder in enumerate((None, 77, None, -5, 78)):
        stores.database.execute(
            "INSERT INTO chats (title, created_at, updated_at, folder_id) VALUES (?, 1, ?, ?)",
            (str(number), float(number), folder),
        )
    assert [chat.title for chat in stores.chats.listing(10).chats] == ["4", "3", "2", "1", "0"]
    assert [chat.title for chat in stores.chats.listing(3).chats] == ["4", "3", "2"]


def test_a_folder_is_a_project_and_its_deletion_takes_neither_its_instructions_nor_its_options(stores: Stores) -> None:
    folder = stores.folders.make("Tea", None)
    assert stores.folders.project(folder) == Project()
    tea = Project("We sell tea.\n차", {"temperature": 0.2, "of another version": [1]})
    stores.folders.put_project(folder, tea)
    assert stores.folders.project(folder) == tea
    stores.folders.put_back(stores.folders.delete(folder, with_chats=True))
    assert stores.folders.project(folder) == tea
    stores.database.execute("UPDATE folders SET instructions = 7, options = '[' WHERE id = ?", (folder,))
    assert stores.folders.project(folder) == Project("7")
    assert stores.folders.project(77) is None


@pytest.mark.parametrize("version", range(4, newest_version()))
def test_a_folder_of_an_earlier_version_is_a_project_without_anything(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        migrate(raw, version)
        raw.execute("INSERT INTO folders (name, created_at) VALUES ('Tea', 1.0)")
    with closing(Database(path)) as database:
        (folder,) = Stores(database).folders.all()
        assert (folder.name, Stores(database).folders.project(folder.id)) == ("Tea", Project())
