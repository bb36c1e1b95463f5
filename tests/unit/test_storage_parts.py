"""A message as typed parts: any list of them is stored, copied, exported, imported and searched without loss."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from app.controllers.asking import request_messages
from app.portable import own
from app.portable.markdown import markdown_of
from app.storage import Attachment, AttachmentKind, Database, ReplyText, Stores, opening, portable, schema
from app.storage.parts import Call, Part, Parts, Result, Text, Thinking, Unknown, all_parts, content_of, parts_from_json
from app.storage.searching import Searching
from app.view_models.transcript import transcript_row
from engine import MessageRole
from tests.helpers.portable_chat import WORDS
from tests.unit.test_portable_formats import parts

FILE = Attachment("a.md", AttachmentKind.TEXT, "three ducks", 11)
STEPS: Parts = (
    Thinking("I need the weather.", 1.5),
    Text("Let me look."),
    Call("c-1", "weather", '{"city": "Busan"}'),
    Result("c-1", "weather", "17 degrees, `windy`"),
    Unknown('{"part": "hologram", "shape": {"sides": 5}}'),
    Thinking("It is windy."),
    Text("Take a coat."),
)


def reply_of(stores: Stores, *whole: Part) -> tuple[int, int]:
    """A chat with such a reply, and the reply."""
    chat = stores.chats.create("Weather")
    reply = stores.messages.begin_reply(chat, stores.messages.add_user(chat, None, "Coat?"), "Main", "")
    with stores.database.transaction():
        stores.messages.put_parts(reply, whole)
        stores.messages.mark_stopped(reply)
    return chat, reply


def stored(stores: Stores, message: int) -> Parts:
    found = stores.messages.message(message)
    assert found is not None
    return all_parts(found)


def exported(stores: Stores, chat: int) -> portable.PortableChat:
    (found,) = portable.chats(stores.database, [chat], "me")
    return found


@given(st.lists(parts, max_size=6))
def test_the_columns_of_a_row_have_all_parts_in_order(whole: list[Part]) -> None:
    assert all_parts(content_of(whole)) == tuple(whole)


@hypothesis_settings(max_examples=60)
@given(st.lists(parts, max_size=6))
def test_any_parts_survive_an_export_and_import(tmp_path_factory: pytest.TempPathFactory, whole: list[Part]) -> None:
    with closing(Database(tmp_path_factory.mktemp("parts") / "chats.db")) as database:
        stores = Stores(database)
        chat, reply = reply_of(stores, *whole)
        assert stored(stores, reply) == tuple(whole)
        line = own.line_of(exported(stores, chat))
        copy = portable.add(stores, own.chat_of(json.loads(line), ours=True))
        assert stored(stores, stores.chats.leaf(copy) or 0) == tuple(whole)
        again = json.loads(own.line_of(exported(stores, copy)))
        assert again["messages"][1] | {"id": 2, "parent": 1} == json.loads(line)["messages"][1]


def test_copies_versions_and_the_trash_keep_all_parts(stores: Stores) -> None:
    chat, reply = reply_of(stores, *STEPS)
    copy = stores.chats.duplicate(chat, iter(["Copy"]))
    assert stored(stores, stores.chats.leaf(copy) or 0) == STEPS
    original = stores.messages.message(reply)
    assert original is not None
    other = stores.messages.replace(original, "Take two.")
    filed = stores.messages.replace(original, "Take three.", (FILE,))
    assert stored(stores, other) == (*STEPS[:-2], Text("Take two."))
    assert stored(stores, filed) == (FILE, *STEPS[:-2], Text("Take three."))
    mark = stores.messages.delete_below(reply)
    assert stores.messages.message(reply) is None
    stores.trash.restore(mark)
    assert stored(stores, reply) == STEPS


def test_text_that_streams_leaves_what_came_before_it(stores: Stores) -> None:
    _, reply = reply_of(stores, *STEPS[:5])
    stores.messages.save_texts([ReplyText(reply, "Take", "Windy.", 1.0)])
    assert stored(stores, reply) == (*STEPS[:5], Thinking("Windy.", 1.0), Text("Take"))


@pytest.mark.parametrize("query", ["coat", "look", "weather", "Busan", "windy", "17 degrees"])
def test_what_a_tool_was_asked_and_answered_is_found(stores: Stores, query: str) -> None:
    chat, _ = reply_of(stores, *STEPS)
    assert [found.id for found in Searching(stores.database).find(query)] == [chat]


@pytest.mark.parametrize("query", ["hologram", "need"])
def test_neither_thinking_nor_what_is_not_known_is_found(stores: Stores, query: str) -> None:
    reply_of(stores, *STEPS)
    assert not Searching(stores.database).find(query)


def test_a_result_after_others_parts_says_which_attachment_it_stands_in(stores: Stores) -> None:
    reply_of(stores, STEPS[2], FILE, *STEPS[3:])
    (match,) = Searching(stores.database).find("ducks")[0].matches
    assert match.attachment == 0


def test_parts_that_come_later_are_read_by_the_index_once_more(stores: Stores) -> None:
    _, reply = reply_of(stores, *STEPS)
    stores.database.execute("DELETE FROM rewritten")
    stores.messages.put_parts(reply, STEPS)
    assert stores.database.rows("SELECT * FROM rewritten") == []
    stores.messages.put_parts(reply, (Call("c-2", "clock", "{}"), *STEPS))
    assert [tuple(row) for row in stores.database.rows("SELECT * FROM rewritten")] == [(reply, 1)]


def test_markdown_has_the_steps_of_a_reply_and_nothing_of_what_is_not_known(stores: Stores) -> None:
    chat, _ = reply_of(stores, *STEPS)
    written = markdown_of(exported(stores, chat), WORDS)
    steps = (
        "> *Thinking*\n>\n> I need the weather.",
        "Let me look.",
        '**Tool: weather**\n\n```json\n{"city": "Busan"}\n```',
        "**Result: weather**\n\n```\n17 degrees, `windy`\n```",
        "> *Thinking*\n>\n> It is windy.",
        "Take a coat.",
    )
    assert "\n\n".join(steps) in written
    assert "hologram" not in written


def test_a_window_and_a_prompt_have_the_texts(stores: Stores) -> None:
    _, reply = reply_of(stores, *STEPS)
    branch = stores.messages.branch(reply)
    assert transcript_row(branch[-1]).text == "Take a coat."
    assert [each.content for each in request_messages(branch, "")] == ["Coat?", "Let me look.\n\nTake a coat."]


@pytest.mark.parametrize(
    "text",
    ["[", "{}", "3", "null", "[3, null]", "[" * 100_000, '[{"part": "hologram", "size": NaN}]', b"\xff\xfe"],
)
def test_what_damage_has_made_of_parts_is_nothing(text: object) -> None:
    assert parts_from_json(text) == ()


def test_values_of_the_wrong_kind_are_the_usual_ones() -> None:
    odd = [
        {"part": "result", "id": 3, "failed": "yes", "text": "17"},
        {"part": "thinking", "text": "x", "seconds": "1"},
        {"name": 3, "size_bytes": 10**400, "tokens": -1},
    ]
    nothing = Attachment("", AttachmentKind.TEXT, "", 0)
    assert parts_from_json(json.dumps(odd)) == (Result("", "", "17"), Thinking("x"), nothing)


def test_a_file_of_an_earlier_version_is_read_with_its_attachments() -> None:
    attached = {"name": "a.md", "kind": "text", "text": "three ducks", "size_bytes": 11, "tokens": 0}
    message = {"id": 1, "parent": None, "role": "user", "text": "How many?", "attachments": [attached]}
    (read,) = own.chat_of({"id": "x:1", "title": "T", "messages": [message]}).messages
    assert read.parts == (FILE,)
    own.check_head({"version": 1})


def write_version(path: Path, version: int) -> None:
    """As that version of the app left it, with what it knew of."""
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        schema.migrate(raw, version)
        raw.execute("INSERT INTO chats (title, created_at, updated_at, leaf_id) VALUES ('old', 1, 1, 2)")
        words = "INSERT INTO messages (chat_id, parent_id, role, text, created_at) VALUES (1, ?, ?, ?, 1)"
        raw.execute(words, (None, "user", "How many?"))
        raw.execute(words, (1, "assistant", "Three."))
        if 4 <= version < 8:
            attached = '[{"name": "a.md", "kind": "text", "text": "three ducks", "size_bytes": 11, "tokens": 0}]'
            raw.execute("UPDATE messages SET attachments = ? WHERE id = 1", (attached,))


@pytest.mark.parametrize("version", range(1, 8))
def test_messages_of_every_earlier_version_have_their_parts(tmp_path: Path, version: int) -> None:
    path = tmp_path / "chats.db"
    write_version(path, version)
    with closing(Database(path)) as database:
        stores = Stores(database)
        assert database.rescued is None
        files: Parts = (FILE,) if version >= 4 else ()
        assert [all_parts(each) for each in stores.messages.branch(2)] == [
            (*files, Text("How many?")),
            (Text("Three."),),
        ]
        assert bool(stores.chats.find("ducks")) is bool(files)
        number = stores.messages.insert(1, 2, MessageRole.USER, "Sure?", (FILE,))
        assert stored(stores, number) == (FILE, Text("Sure?"))
        assert [row[0] for row in database.rows("PRAGMA integrity_check")] == ["ok"]
    assert opening.is_sound(path)


@pytest.mark.parametrize("version", range(1, 8))
def test_a_migration_that_is_cut_begins_anew(tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a kill leaves is what SQLite has not committed."""
    path = tmp_path / "chats.db"
    write_version(path, version)
    statements = schema._statements
    count = sum(len(list(statements(script))) for script in schema._scripts()[version:])
    for ends_after in range(count):
        left = ends_after

        def cut(script: str) -> Iterator[str]:
            nonlocal left
            for statement in statements(script):
                if not left:
                    raise KeyboardInterrupt
                left -= 1
                yield statement

        monkeypatch.setattr(schema, "_statements", cut)
        with pytest.raises(KeyboardInterrupt):
            Database(path)
        with closing(sqlite3.connect(path)) as raw:
            assert raw.execute("PRAGMA user_version").fetchone() == (version,)
    monkeypatch.setattr(schema, "_statements", statements)
    with closing(Database(path)) as database:
        assert [each.text for each in Stores(database).messages.branch(2)] == ["How many?", "Three."]
