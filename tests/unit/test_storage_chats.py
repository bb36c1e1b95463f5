"""Chats and message trees in the database."""

from __future__ import annotations

import time

import pytest

from app.storage import ReplyStatus, ReplyText, Stores
from app.storage.codec import LONGEST_TITLE, error_from_json, error_to_json, stats_from_json, stats_to_json
from app.view_models.transcript import transcript_row
from app.words.replies import reply_footer, reply_notice
from engine import (
    ContextTooLong,
    DraftingState,
    InternalError,
    ModelTooLarge,
    NothingToInstall,
    RequestStats,
)
from tests.helpers.reply_words import notice_of
from tests.helpers.trash import nearly_overdue

DAY_S = 86_400.0
STATS = RequestStats(
    generated_tokens=9, drafted=8, accepted=5, rounds=4, accepted_by_position=(3, 2), drafted_by_position=(4, 4),
    drafting=DraftingState.PARKED, proposer="draft model", decode_s=0.5,
)  # fmt: skip


def exchange(stores: Stores, chat_id: int, parent: int | None, question: str, answer: str) -> tuple[int, int]:
    asked = stores.messages.add_user(chat_id, parent, question)
    reply = stores.messages.begin_reply(chat_id, asked, "Main", "Draft")
    stores.messages.set_end(ReplyText(reply, answer, "", 0.0), ReplyStatus.DONE, STATS, None, None)
    return asked, reply


def texts(stores: Stores, chat_id: int) -> list[str]:
    return [message.text for message in stores.messages.branch(stores.chats.leaf(chat_id))]


def found(stores: Stores, query: str) -> list[str]:
    return [chat.title for chat in stores.chats.find(query)]


def test_reply_comes_back_as_it_was_written(stores: Stores) -> None:
    chat = stores.chats.create("Chat")
    asked = stores.messages.add_user(chat, None, "Question")
    reply = stores.messages.begin_reply(chat, asked, "Main", "Draft")
    stores.messages.save_texts([ReplyText(reply, "Half", "Hm", 1.5)])
    half = stores.messages.message(reply)
    assert half is not None
    assert (half.text, half.thinking, half.thinking_s, half.status) == ("Half", "Hm", 1.5, ReplyStatus.STREAMING)
    whole, error = ReplyText(reply, "Half and half", "Hm", 2.0), ContextTooLong(10, 20)
    stores.messages.set_end(whole, ReplyStatus.FAILED, STATS, error, None)
    done = stores.messages.message(reply)
    assert done is not None
    assert (done.text, done.stats, str(done.error), done.main_name, done.draft_name) == (
        "Half and half",
        STATS,
        str(error),
        "Main",
        "Draft",
    )


def test_what_was_deleted_is_forgotten_after_thirty_days(stores: Stores) -> None:
    kept, gone = stores.chats.create("Kept"), stores.chats.create("Gone")
    exchange(stores, gone, None, "q", "a")
    _, deleted = exchange(stores, kept, None, "q", "deleted answer")
    stores.messages.delete_below(deleted)
    stores.trash.put_chats([gone])
    nearly_overdue(stores.database)
    purged = stores.trash.purge()
    assert (purged.chats, purged.messages) == ((gone,), (deleted,))
    assert {row["chat_id"] for row in stores.database.rows("SELECT chat_id FROM messages")} == {kept}
    assert found(stores, "deleted answer") == []


def test_deletions_of_one_moment_are_taken_back_one_by_one(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two windows, an import, or a clock that was put back."""
    chat, other, imported, inside = (stores.chats.create(name) for name in ("Chat", "Other", "Imported", "In it"))
    asked, answered = exchange(stores, chat, None, "q", "a")
    folder = stores.folders.make("Folder", None)
    stores.folders.put_chats([inside], folder)
    monkeypatch.setattr("time.time", lambda: 2e9)
    marks = [
        stores.messages.delete_one(answered),
        stores.messages.delete_below(asked),
        stores.trash.put_chats([other]),
        stores.trash.put_chats([imported]),
        stores.folders.delete(folder, with_chats=True).mark or 0.0,
    ]
    assert len(set(marks)) == len(marks)
    assert all(abs(mark - 2e9) < 1e-3 for mark in marks)
    stores.trash.restore(marks[2])
    assert sorted(chat.title for chat in stores.chats.find()) == ["Chat", "Other"]
    stores.trash.restore(marks[1])
    assert texts(stores, chat) == ["q"]


def test_the_latest_is_first_although_the_clock_was_set_back(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    chats = [stores.chats.create(name) for name in ("Old", "Other", "Pinned")]
    stores.chats.pin(chats[2], True)
    deleted = stores.trash.put_chats([stores.chats.create("Deleted before")])
    a_year_ago = time.time() - 365 * DAY_S
    monkeypatch.setattr("time.time", lambda: a_year_ago)
    exchange(stores, chats[0], None, "q", "a")
    assert [chat.title for chat in stores.chats.find()] == ["Pinned", "Old", "Other"]
    chats.append(stores.chats.create("New"))
    assert [chat.title for chat in stores.chats.listing(10).chats] == ["Pinned", "New", "Old", "Other"]
    assert found(stores, "e") == ["Pinned", "New", "Other"]
    assert stores.trash.put_chats([chats[1]]) > deleted
    assert [each.title for each in stores.trash.latest()] == ["Other", "Deleted before"]


def test_a_clock_that_was_years_ahead_dates_no_later_chat(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + 3650 * DAY_S)
    stores.chats.create("Ahead")
    monkeypatch.setattr("time.time", lambda: now)
    later = stores.chats.summary(stores.chats.create("Later"))
    assert later is not None
    assert later.updated_at == now


def test_versions_are_numbered_among_those_with_one_parent(stores: Stores) -> None:
    chat = stores.chats.create("Chat")
    asked, first = exchange(stores, chat, None, "q", "a")
    second = stores.messages.begin_reply(chat, asked, "Main", "")
    other = stores.chats.create("Other")
    exchange(stores, other, None, "unrelated first message", "a")
    messages = [stores.messages.message(number) for number in (asked, first, second)]
    assert [(m.sibling, m.siblings) for m in messages if m] == [(1, 1), (1, 2), (2, 2)]
    stored = messages[1]
    assert stored is not None
    assert (stores.messages.sibling(stored, 1), stores.messages.sibling(stored, -1)) == (second, None)


def test_title_from_text_gives_way_to_the_persons(stores: Stores) -> None:
    chat = stores.chats.create("First line")
    stores.chats.set_title_from_text(chat, "Edited line")
    assert found(stores, "") == ["Edited line"]
    stores.chats.rename(chat, "Mine")
    stores.chats.set_title_from_text(chat, "Edited again")
    assert found(stores, "") == ["Mine"]


def test_copy_stands_on_its_own(stores: Stores) -> None:
    chat = stores.chats.create("Chat")
    asked, _ = exchange(stores, chat, None, "q", "a")
    stores.messages.begin_reply(chat, asked, "Main", "")
    copy = stores.chats.duplicate(chat, iter(["Copy"]))
    branch = stores.messages.branch(stores.chats.leaf(copy))
    assert [(m.text, m.status) for m in branch] == [("q", ReplyStatus.DONE), ("", ReplyStatus.INTERRUPTED)]
    stores.database.execute("DELETE FROM chats WHERE id = ?", (chat,))
    assert [m.text for m in stores.messages.branch(stores.chats.leaf(copy))] == ["q", ""]


def damage(stores: Stores, message: int, column: str, value: object) -> None:
    """Puts into a row what only a damaged disk can put there."""
    stores.database.execute("PRAGMA ignore_check_constraints = ON")
    stores.database.execute(f"UPDATE messages SET {column} = ? WHERE id = ?", (value, message))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("stats", '{"rounds": "many", "drafted_by_position": [1], "accepted_by_position": []}'),
        ("stats", "[" * 50_000),
        ("stats", '{"rounds": ' + "9" * 400 + "}"),
        ("stats", b"\xff"),
        ("error", '{"type": "ContextTooLong", "limit_tokens": "a", "actual_tokens": null}'),
        ("status", "telepathy"),
        ("thinking_s", "long"),
        ("main_name", b"\xff"),
    ],
)
def test_a_damaged_column_costs_only_itself(stores: Stores, column: str, value: object) -> None:
    chat = stores.chats.create("Chat")
    _, reply = exchange(stores, chat, None, "q", "a")
    damage(stores, reply, column, value)
    assert texts(stores, chat) == ["q", "a"]
    message = stores.messages.message(reply)
    assert message is not None
    row = transcript_row(message)
    reply_footer(row.stats, row.status, empty=row.empty)
    reply_notice(ReplyStatus.FAILED, row.error, empty=row.empty)


def test_one_bad_byte_costs_one_letter(stores: Stores) -> None:
    chat = stores.chats.create("Chat")
    asked, _ = exchange(stores, chat, None, "q", "a")
    stores.database.execute("UPDATE messages SET text = CAST(x'7aff62' AS TEXT) WHERE id = ?", (asked,))
    stores.database.execute("UPDATE chats SET title = CAST(x'7aff62' AS TEXT)")
    assert texts(stores, chat) == ["z\ufffdb", "a"]
    assert found(stores, "") == ["z\ufffdb"]


def test_a_row_that_cannot_be_read_is_said_among_the_others(stores: Stores) -> None:
    chat = stores.chats.create("Chat")
    asked, reply = exchange(stores, chat, None, "q", "a")
    exchange(stores, chat, reply, "q2", "a2")
    damage(stores, asked, "role", "ghost")
    branch = stores.messages.shown_branch(chat)
    assert [(m.text, m.status is ReplyStatus.UNREADABLE) for m in branch] == [
        ("q", True),
        ("a", False),
        ("q2", False),
        ("a2", False),
    ]
    assert notice_of(transcript_row(branch[0])).title == "Message unreadable"


def test_a_long_branch_is_read_in_pages(stores: Stores) -> None:
    chat = stores.chats.create("Chat")
    stores.database.connection.executemany(
        "INSERT INTO messages (id, chat_id, parent_id, role, text, created_at) VALUES (?, ?, ?, 'user', ?, 1)",
        ((number + 1, chat, number or None, str(number)) for number in range(1200)),
    )
    stores.chats.set_leaf(chat, 1200)
    asked: list[str] = []
    stores.database.connection.set_trace_callback(asked.append)
    assert texts(stores, chat) == [str(number) for number in range(1200)]
    stores.database.connection.set_trace_callback(None)
    assert len(asked) < 10


def test_parents_that_go_round_in_a_circle_end(stores: Stores) -> None:
    chat = stores.chats.create("Chat")
    asked, reply = exchange(stores, chat, None, "q", "a")
    damage(stores, asked, "parent_id", reply)
    assert sorted(texts(stores, chat)) == ["a", "q"]
    assert stores.messages.latest_leaf(asked) == reply
    stores.messages.delete_below(asked)
    assert stores.messages.message(reply) is None


def test_a_leaf_of_another_chat_shows_none_of_its_words(stores: Stores) -> None:
    one, two = stores.chats.create("One"), stores.chats.create("Two")
    exchange(stores, one, None, "q1", "a1")
    _, other = exchange(stores, two, None, "q2", "a2")
    stores.chats.set_leaf(one, other)
    assert [message.text for message in stores.messages.shown_branch(one)] == ["q1", "a1"]


def test_a_leaf_that_something_follows_hides_nothing(stores: Stores) -> None:
    """One bit of its number, and SQLite finds no fault; a deleted end stays deleted."""
    chat = stores.chats.create("long")
    first, second = exchange(stores, chat, None, "a", "b")
    third, fourth = exchange(stores, chat, second, "c", "d")
    stores.chats.set_leaf(chat, first)
    assert [message.id for message in stores.messages.shown_branch(chat)] == [first, second, third, fourth]
    stores.messages.delete_below(third)
    assert [message.id for message in stores.messages.shown_branch(chat)] == [first, second]


def test_statistics_and_errors_are_read_as_written() -> None:
    assert stats_from_json(stats_to_json(STATS)) == STATS
    for error in (ContextTooLong(1, 2), NothingToInstall("org/x", ("gguf", "bin")), InternalError("oh")):
        again = error_from_json(error_to_json(error))
        assert (type(again), str(again)) == (type(error), str(error))


def test_what_other_versions_wrote_is_read_as_far_as_it_goes() -> None:
    stats = stats_from_json('{"rounds": 3, "drafting": "telepathy", "from_tomorrow": 1}')
    assert stats is not None
    assert (stats.rounds, stats.drafting) == (3, DraftingState.OFF)
    for text in (
        '{"type": "ErrorOfTomorrow", "a": 1}',
        '{"type": "Engine"}',
        '{"type": "EngineError"}',
        '{"type": "ContextTooLong", "a": 1}',
        "{}",
    ):
        assert isinstance(error_from_json(text), InternalError)
    newer = error_from_json('{"type": "ContextTooLong", "limit_tokens": 1, "actual_tokens": 2, "from_tomorrow": true}')
    older = error_from_json(
        '{"type": "ModelTooLarge", "folder": "m", "needed_bytes": 2, "available_bytes": 1, "fitting_bytes": 0}'
    )
    assert (str(newer), str(older)) == (str(ContextTooLong(1, 2)), str(ModelTooLarge("m", 2, 1)))


def test_a_title_is_one_line_that_can_be_shown_at_once(stores: Stores) -> None:
    """Whatever a file that was imported, a paste or damage put there."""
    chat = stores.chats.create("\u202egnp.exe\x00\x1b[31m\nsecond\u2028third \U0001f469\u200d\U0001f373")
    blank = [stores.chats.create(title) for title in ("", " ", "\u200b\n\u2028", "\u3164", "\u2800\ufe0f")]
    long = stores.chats.create("long" * 1_000_000)
    titles = {summary.id: summary.title for summary in stores.chats.find()}
    assert titles[chat] == "gnp.exe [31m second third \U0001f469\u200d\U0001f373"
    assert {titles[each] for each in blank} == {"…"}  # a row that can be seen and clicked
    assert len(titles[long]) == LONGEST_TITLE


def test_the_name_of_a_model_is_one_line_whoever_wrote_it(stores: Stores) -> None:
    chat = stores.chats.create("Chat")
    question = stores.messages.add_user(chat, None, "?")
    reply = stores.messages.begin_reply(chat, question, "model\u202e\n" * 1_000_000, "")
    stored = next(each for each in stores.messages.shown_branch(chat) if each.id == reply)
    assert stored.main_name == "model " * (LONGEST_TITLE // 7) + "mod"
    assert stored.draft_name == ""


@pytest.mark.parametrize("status", ["queued", "reading", "stopping", "unsaved", "unreadable", "from another version"])
def test_a_status_that_is_only_shown_is_never_one_that_is_stored(stores: Stores, status: str) -> None:
    """It would never end."""
    chat = stores.chats.create("chat")
    question = stores.messages.add_user(chat, None, "Why?")
    stores.database.execute("UPDATE messages SET status = ? WHERE id = ?", (status, question))
    message = stores.messages.message(question)
    assert message is not None
    assert message.status is ReplyStatus.DONE
