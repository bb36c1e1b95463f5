"""Messages that are inserted, replaced, and deleted by themselves: what follows stays joined, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.storage import (
    Database,
    Edit,
    EditKind,
    StoredMessage,
    Stores,
    copies,
    tree,
)
from engine import MessageRole
from tests.helpers.trash import nearly_overdue

USER, ASSISTANT = MessageRole.USER, MessageRole.ASSISTANT


def chat_of(stores: Stores, *words: str) -> int:
    """A chat in which person and model take turns."""
    chat, parent = stores.chats.create("Chat"), None
    for number, text in enumerate(words):
        parent = stores.messages.insert(chat, parent, ASSISTANT if number % 2 else USER, text)
    return chat


def shown(stores: Stores, chat: int) -> list[str]:
    return [message.text for message in stores.messages.shown_branch(chat)]


def message(stores: Stores, chat: int, text: str) -> StoredMessage:
    return next(each for each in stores.messages.shown_branch(chat) if each.text == text)


def insert(stores: Stores, beside: StoredMessage, role: MessageRole, text: str, *, after: bool) -> int:
    return stores.messages.insert(beside.chat_id, beside.id if after else beside.parent_id, role, text)


def test_with_all_that_follows_it_goes_from_every_branch(stores: Stores) -> None:
    chat = chat_of(stores, "a", "b", "c", "d")
    stores.messages.replace(message(stores, chat, "d"), "d2")
    assert stores.messages.count_below(message(stores, chat, "b")) == 3
    mark = stores.messages.delete(message(stores, chat, "b"), following=True)
    assert shown(stores, chat) == ["a"]
    stores.trash.restore(mark)
    assert shown(stores, chat) == ["a", "b", "c", "d2"]


def test_every_version_follows_what_is_inserted_before_it(stores: Stores) -> None:
    chat = chat_of(stores, "a", "b")
    stores.messages.replace(message(stores, chat, "b"), "b2")
    insert(stores, message(stores, chat, "b2"), USER, "between", after=False)
    assert shown(stores, chat) == ["a", "between", "b2"]
    assert (message(stores, chat, "b2").sibling, message(stores, chat, "b2").siblings) == (2, 2)


def test_a_copy_of_the_chat_has_its_order(stores: Stores) -> None:
    chat = chat_of(stores, "a", "b", "c", "d")
    insert(stores, message(stores, chat, "a"), ASSISTANT, "inserted", after=True)
    stores.messages.delete(message(stores, chat, "c"), following=False)
    assert shown(stores, stores.chats.duplicate(chat, iter(["copy"]))) == ["a", "inserted", "b", "d"]


def test_a_copy_to_a_message_has_only_what_leads_to_it(stores: Stores) -> None:
    chat = chat_of(stores, "a", "b", "c", "d")
    other = stores.messages.replace(message(stores, chat, "b"), "b2")
    copy = stores.chats.duplicate(chat, iter(["copy"]), other)
    assert shown(stores, copy) == ["a", "b2"]
    assert [each.siblings for each in stores.messages.shown_branch(copy)] == [1, 1]
    inserted = insert(stores, message(stores, chat, "b2"), ASSISTANT, "inserted", after=False)
    assert shown(stores, stores.chats.duplicate(chat, iter(["copy 2"]), inserted)) == ["a", "inserted"]


def test_what_follows_stays_when_the_trash_is_emptied(stores: Stores, tmp_path: Path) -> None:
    chat = chat_of(stores, "a", "b", "c", "d", "e")
    for text in ("a", "c", "d"):
        stores.messages.delete(message(stores, chat, text), following=False)
    stores.edits.put(Edit(1, EditKind.EDIT, USER, "words about a"))
    copies.copy_if_due(tmp_path / "chats.db")
    nearly_overdue(stores.database)
    purged = stores.trash.purge()
    copies.forget_in_copies(tmp_path / "chats.db", purged)
    assert (len(purged.messages), shown(stores, chat)) == (3, ["b", "e"])
    assert not stores.database.rows("SELECT * FROM edits")
    with closing(Database(copies.copies_of(tmp_path / "chats.db")[-1])) as copy:
        assert shown(Stores(copy), chat) == ["b", "e"]


def test_an_edit_is_kept_until_it_is_dropped(stores: Stores) -> None:
    chat = chat_of(stores, "a", "b")
    stores.edits.put(Edit(2, EditKind.EDIT, ASSISTANT, "one"))
    stores.edits.put(Edit(2, EditKind.EDIT, ASSISTANT, "two"))
    assert [edit.text for edit in stores.edits.of_chat(chat).values()] == ["two"]
    stores.database.execute("UPDATE edits SET kind = 'telepathy', role = x'00'")
    assert stores.edits.of_chat(chat) == {2: Edit(2, EditKind.EDIT, USER, "two")}
    stores.edits.drop(2)
    assert stores.edits.of_chat(chat) == {}


@example(steps=[("insert", 0), ("replace", 1), ("delete", 0), ("undo", 0)])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.sampled_from(["insert", "before", "replace", "delete", "undo"]), st.integers(0, 9))))
def test_a_branch_is_what_a_list_would_be(stores: Stores, steps: list[tuple[str, int]]) -> None:
    """Whatever is inserted, replaced and deleted by itself: the branch that is shown is the list that one expects."""
    chat = chat_of(stores, "a", "b", "c")
    expected, marks = ["a", "b", "c"], list[tuple[float, list[str]]]()
    for number, (step, at) in enumerate(steps):
        branch = stores.messages.shown_branch(chat)
        if step == "undo" and marks:
            mark, expected = marks.pop()
            stores.trash.restore(mark)
        elif branch and step != "undo":
            place = at % len(branch)
            if step == "delete":
                mark = stores.messages.delete(branch[place], following=False)
                if place < len(branch) - 1 and branch[place].siblings == 1:
                    marks.append((mark, list(expected)))
                    del expected[place]
                else:  # another version takes its place, or nothing
                    expected, marks = shown(stores, chat), []
            elif step == "replace":
                stores.messages.replace(branch[place], f"new {number}")
                expected[place], marks = f"new {number}", []
            else:
                insert(stores, branch[place], USER, f"new {number}", after=step == "insert")
                expected.insert(place + (step == "insert"), f"new {number}")
                marks = []
        assert shown(stores, chat) == expected


_MESSAGES = st.lists(st.tuples(st.integers(-1, 12), st.booleans()), min_size=1, max_size=12)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(messages=[(-1, False), (0, True), (1, True), (2, False), (1, False), (0, False)], leaf=4)
@example(messages=[(12, False), (12, True), (1, True), (2, False), (1, False)], leaf=4)  # what they follow is not there
@given(messages=_MESSAGES, leaf=st.integers(0, 13))
def test_a_stretch_of_a_long_chat_is_what_the_whole_tree_says(
    stores: Stores, monkeypatch: pytest.MonkeyPatch, messages: list[tuple[int, bool]], leaf: int
) -> None:
    """Each with the message before it (-1: none, 12: one that is not there), and whether it is deleted."""
    chat = stores.chats.create("Chat")
    before = [each if each < number or each == 12 else -1 for number, (each, _) in enumerate(messages)]
    first = 1 + max((row["id"] for row in stores.database.rows("SELECT id FROM messages")), default=0)
    stores.database.execute("PRAGMA foreign_keys = OFF")  # as little as damage does
    with stores.database.transaction(durable=False):
        stores.database.connection.executemany(
            "INSERT INTO messages (id, chat_id, parent_id, role, text, created_at, deleted_at)"
            " VALUES (?, ?, ?, 'user', 'text', 1, ?)",
            (
                (first + number, chat, None if before[number] < 0 else first + before[number], 1.0 if deleted else None)
                for number, (_, deleted) in enumerate(messages)
            ),
        )
    stores.chats.set_leaf(chat, first + leaf)
    numbers = range(first, first + len(messages))
    monkeypatch.setattr(tree, "LONG", 1000)
    shown, branches = stores.messages.shown_branch(chat), [stores.messages.branch(number) for number in numbers]
    whole = [stores.messages.message(number) for number in numbers]
    counts = [stores.messages.count_below(each) for each in whole if each is not None]
    monkeypatch.setattr(tree, "LONG", 0)
    assert [stores.messages.count_below(each) for each in whole if each is not None] == counts
    assert [stores.messages.message(number) for number in numbers] == whole
    end = stores.messages.shown_end(chat)
    assert ([] if end is None else stores.messages.up_to(end, 100)) == shown
    for number, branch in zip(numbers, branches, strict=True):
        for count in (1, 2, 5):
            assert stores.messages.up_to(number, count) == branch[-count:]
            assert stores.messages.before(number, count) == branch[:-1][-count:]


BETWEEN: dict[str, Callable[[Stores, StoredMessage, StoredMessage], object]] = {
    "insert after": lambda stores, a, c: insert(stores, a, ASSISTANT, "new", after=True),
    "insert before": lambda stores, a, c: insert(stores, c, ASSISTANT, "new", after=False),
    "other words for the one before": lambda stores, a, c: stores.messages.replace(a, "new"),
    "other words for the one behind": lambda stores, a, c: stores.messages.replace(c, "new"),
    "a question asked differently": lambda stores, a, c: stores.messages.add_user(a.chat_id, a.id, "new"),
    "another reply": lambda stores, a, c: stores.messages.begin_reply(a.chat_id, a.id, "main", ""),
}


@pytest.mark.parametrize("what", BETWEEN)
def test_what_is_brought_back_is_in_the_line_and_no_version_of_what_came_meanwhile(stores: Stores, what: str) -> None:
    chat = chat_of(stores, "a", "b", "c", "d")
    mark = stores.messages.delete(message(stores, chat, "b"), following=False)
    BETWEEN[what](stores, message(stores, chat, "a"), message(stores, chat, "c"))
    stores.trash.restore(mark)
    back = message(stores, chat, "b")
    assert back.siblings == 1
    assert "b" in shown(stores, chat) or what in ("a question asked differently", "another reply")
    below = stores.messages.branch(stores.messages.latest_leaf(back.id))
    assert [each.text for each in below][-2:] in (["c", "d"], ["new", "d"], ["b", "new"], ["b", ""])


def test_what_is_brought_back_at_the_end_follows_what_was_written_there(stores: Stores) -> None:
    chat = chat_of(stores, "a", "b")
    mark = stores.messages.delete(message(stores, chat, "b"), following=False)
    insert(stores, message(stores, chat, "a"), USER, "new", after=True)
    stores.trash.restore(mark)
    assert shown(stores, chat) == ["a", "new", "b"]
