"""A message as typed parts: any list of them is stored, copied, exported, imported and searched without loss."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from app.portable import own
from app.portable.markdown import markdown_of
from app.storage import Attachment, AttachmentKind, Database, ReplyText, Stores, opening, portable, schema
from app.storage.consents import Consent
from app.storage.left_words import Left, LeftWords
from app.storage.parts import (
    Call,
    CallStage,
    Part,
    Parts,
    Result,
    Text,
    Thinking,
    Unknown,
    all_parts,
    content_of,
    of_kind,
    parts_from_json,
)
from app.storage.portable import PortableChat, PortableMessage
from app.storage.searching import Searching
from app.view_models.tools import CallState
from app.view_models.transcript import transcript_row
from engine import MessageRole, ToolCall
from tests.helpers.portable_chat import WORDS
from tests.helpers.prompt_messages import request_messages
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
        '<details><summary>Tool: weather</summary>\n\n```json\n{"city": "Busan"}\n```',
        "```\n17 degrees, `windy`\n```\n\n</details>",
        "> *Thinking*\n>\n> It is windy.",
        "Take a coat.",
    )
    assert "\n\n".join(steps) in written
    assert "hologram" not in written


def test_a_window_and_a_prompt_have_the_texts(stores: Stores) -> None:
    _, reply = reply_of(stores, *STEPS)
    branch = stores.messages.branch(reply)
    row = transcript_row(branch[-1])
    assert (row.text, row.thinking) == ("Take a coat.", "It is windy.")
    (step,) = row.steps
    assert (step.text, step.thinking, step.thinking_s) == ("Let me look.", "I need the weather.", 1.5)
    assert [(each.tool, each.result, each.state) for each in step.calls] == [
        ("weather", "17 degrees, `windy`", CallState.DONE)
    ]
    assert [each.content for each in request_messages(branch, "")] == ["Coat?", "Let me look.\n\nTake a coat."]


def test_a_prompt_for_a_model_that_can_call_has_the_steps(stores: Stores) -> None:
    chat, reply = reply_of(stores, *STEPS)
    stores.messages.add_user(chat, reply, "Thanks")
    branch = stores.messages.shown_branch(chat)
    messages = request_messages(branch, "Be brief.", with_calls=True)
    assert [each.role.value for each in messages] == ["system", "user", "assistant", "tool", "assistant", "user"]
    asked, answered, said = messages[2:5]
    assert (asked.content, asked.reasoning) == ("Let me look.", "I need the weather.")
    assert asked.tool_calls == (ToolCall("c-1", "weather", '{"city": "Busan"}'),)
    assert (answered.tool_call_id, answered.name, answered.content) == ("c-1", "weather", "17 degrees, `windy`")
    assert (said.content, said.reasoning) == ("Take a coat.", "")
    more = request_messages(branch, "", with_calls=True, with_thinking=True)
    assert more[3].reasoning == "It is windy."


@pytest.mark.parametrize("stage", list(CallStage))
def test_every_call_has_a_result_in_the_prompt_and_calls_are_never_joined(stores: Stores, stage: CallStage) -> None:
    """A reply that broke off, a reply that was inserted after it, then a question."""
    made = Call("c-1", "a", "{}", stage=stage)
    chat, reply = reply_of(stores, Text("One."), made, replace(made, id="c-2"))
    inserted = stores.messages.insert(chat, reply, MessageRole.ASSISTANT, "Two.")
    stores.messages.add_user(chat, inserted, "And?")
    messages = request_messages(stores.messages.shown_branch(chat), "", with_calls=True)
    assert [each.role.value for each in messages] == ["user", "assistant", "tool", "tool", "assistant", "user"]
    assert [each.tool_call_id for each in messages[2:4]] == ["c-1", "c-2"]
    assert all(each.content for each in messages) or stage is CallStage.ANSWERED


def test_between_a_result_and_a_question_there_is_an_answer(stores: Stores) -> None:
    chat, reply = reply_of(stores, Call("c-1", "a", "{}"), Result("c-1", "a", "done"))
    stores.messages.add_user(chat, reply, "And?")
    roles = [each.role.value for each in request_messages(stores.messages.shown_branch(chat), "", with_calls=True)]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]


def test_pictures_of_a_result_are_shown_with_it(stores: Stores) -> None:
    picture = Attachment("", AttachmentKind.PICTURE, "", 9, digest="a" * 64, width=3, height=3)
    _, reply = reply_of(stores, FILE, STEPS[2], STEPS[3], picture, Text("There."))
    row = transcript_row(stores.messages.branch(reply)[-1])
    assert (row.attachments, row.steps[0].calls[0].pictures) == ((FILE,), (picture,))


def test_a_call_that_was_sent_when_the_app_crashed_is_not_known_to_have_run(stores: Stores) -> None:
    sent = Call("c-1", "send", "{}", stage=CallStage.SENT)
    chat = stores.chats.create("Mail")
    reply = stores.messages.begin_reply(chat, stores.messages.add_user(chat, None, "Send"), "Main", "")
    stores.messages.put_parts(reply, (sent, replace(sent, id="c-2", stage=CallStage.ASKED)))
    stores.database.execute("UPDATE messages SET status = 'interrupted' WHERE status = 'streaming'")
    row = transcript_row(stores.messages.branch(reply)[-1])
    assert [each.state for each in row.steps[0].calls] == [CallState.UNKNOWN, CallState.STOPPED]
    assert row.can_continue
    stores.messages.resume_reply(reply)
    assert [each.stage for each in of_kind(Call, stored(stores, reply))] == [CallStage.UNKNOWN, CallStage.STOPPED]


@pytest.mark.parametrize("at", range(6))
def test_steps_that_the_disk_did_not_take_are_put_back(stores: Stores, tmp_path: Path, at: int) -> None:
    """`at`: how many of the parts were on disk."""
    _, reply = reply_of(stores, *STEPS[:at])
    left = LeftWords(tmp_path / "left.json")
    assert left.leave(Left(replies=[ReplyText(reply, "Take a coat.", "It is windy.", 0.0, STEPS[:5])]))
    left.put_back(stores)
    assert stored(stores, reply) == STEPS
    assert not left.is_there


def test_steps_of_another_reply_are_not_put_back(stores: Stores, tmp_path: Path) -> None:
    _, reply = reply_of(stores, Text("Other."), Call("c-9", "weather", "{}"))
    left = LeftWords(tmp_path / "left.json")
    left.leave(Left(replies=[ReplyText(reply, "Take a coat.", "", 0.0, STEPS[:5])]))
    left.put_back(stores)
    assert stored(stores, reply) == (Text("Other."), Call("c-9", "weather", "{}"))


def test_what_tools_a_chat_may_use_is_neither_exported_nor_imported(stores: Stores) -> None:
    chat, _ = reply_of(stores, *STEPS)
    stores.states.put_options(chat, {"tools": ["/time", "mail/send"], "folders": ["/home/me"], "temperature": 0.5})
    stores.consents.put(chat, Consent("mail", "send", "", "d", "Sends."))
    line = own.line_of(exported(stores, chat))
    assert "mail" not in line
    assert "/home/me" not in line
    hostile = json.loads(line)
    hostile["options"] |= {"tools": ["mail/send"], "folders": ["/"]}
    copy = portable.add(stores, own.chat_of(hostile))
    assert set(stores.states.options(copy)) == {"temperature", "imported"}
    assert stores.consents.of_chat(copy) == []


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
        if version >= 4:
            attached = '[{"name": "a.md", "kind": "text", "text": "three ducks", "size_bytes": 11, "tokens": 0}]'
            column = "attachments" if version < 8 else "parts"
            raw.execute(f"UPDATE messages SET {column} = ? WHERE id = 1", (attached,))


@pytest.mark.parametrize("version", range(1, 10))
def test_messages_of_every_earlier_version_have_their_parts(path: Path, version: int) -> None:
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


@pytest.mark.parametrize("version", range(1, 10))
def test_a_migration_that_is_cut_begins_anew(path: Path, version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a kill leaves is what SQLite has not committed."""
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


def test_names_of_tools_are_no_html_in_markdown() -> None:
    call = Call("c", "x", "{}", server='<img src="//evil">', tool="a & b")
    chat = PortableChat("x", "T", (PortableMessage(1, None, "assistant", "", parts=(call,)),), shown=1)
    (line,) = [each for each in markdown_of(chat, WORDS).splitlines() if "<summary>" in each]
    assert line == "<details><summary>Tool: &lt;img src=&quot;//evil&quot;&gt; · a &amp; b</summary>"
