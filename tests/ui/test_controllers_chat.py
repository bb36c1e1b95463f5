"""Sending, stopping, switching and surviving: the chat controller over the scripted engine."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.view_models.transcript import ReplyStatus
from app.words.notices import NoticeAction
from engine import (
    ContextTooLong,
    DraftingState,
    FinishReason,
    InternalError,
    MessageRole,
    SpeculationMode,
)
from tests.helpers.desk import Desk, open_desk, recorded
from tests.helpers.fake_engine import DRAFT, MAIN, Script
from tests.helpers.reply_words import footer_of, notice_of, pair_reason

REPLY = "".join(Script().pieces)


@pytest.fixture
def desk(tmp_path: Path, qtbot: QtBot) -> Iterator[Desk]:
    with open_desk(tmp_path, qtbot) as desk:
        desk.load_pair()
        yield desk


def test_send_shows_question_and_streams_reply(desk: Desk) -> None:
    grown = recorded(desk.chat.transcript.text_appended)
    reply = desk.say("How does drafting work?")
    assert desk.texts == ["How does drafting work?", REPLY]
    assert (reply.status, reply.model, reply.from_user) == (ReplyStatus.DONE, "Main-8B", False)
    assert grown
    assert {row for (row,) in grown} == {1}


def test_reply_keeps_its_statistics_as_footer(desk: Desk) -> None:
    footer = footer_of(desk.say("Hello"))
    # Behind the first token 3 rounds of 0.06 s, 13 tokens; 10 of 16 drafted tokens kept, 0.04 s a plain token.
    assert footer.text == "2.9× faster · 72 tok/s · 63\u00a0% accepted · 4.3 tok/pass"


def test_reply_waits_then_reads_then_streams(desk: Desk) -> None:
    desk.engine.gate.hold()
    assert desk.chat.send("Hello")
    assert desk.rows[-1].status is ReplyStatus.QUEUED
    desk.qtbot.waitUntil(lambda: desk.rows[-1].progress == 0.5)
    desk.engine.gate.let_through(1)
    desk.qtbot.waitUntil(lambda: desk.rows[-1].status is ReplyStatus.STREAMING)
    assert (desk.rows[-1].progress, desk.rows[-1].text) == (None, "A draft ")
    desk.engine.gate.open()
    desk.wait_until_quiet()


def test_send_without_model_keeps_text_and_says_so(tmp_path: Path, qtbot: QtBot) -> None:
    with open_desk(tmp_path, qtbot) as desk:
        assert not desk.chat.send("Hello")
        assert [notice.action for notice in desk.notices] == [NoticeAction.CHOOSE_MODEL]
        assert desk.rows == []
        assert desk.titles() == []


def test_send_of_nothing_does_nothing(desk: Desk) -> None:
    assert not desk.chat.send("  \n ")
    assert desk.rows == []


def test_half_of_a_character_in_pasted_text_does_no_harm(desk: Desk) -> None:
    desk.say("broken \ud83d emoji")
    assert desk.rows[0].text == "broken ? emoji"


def test_send_while_generating_is_refused(desk: Desk) -> None:
    desk.engine.gate.hold()
    assert desk.chat.send("One")
    assert not desk.chat.send("Two")
    assert desk.texts == ["One", ""]
    desk.engine.gate.open()
    desk.wait_until_quiet()


def test_stop_keeps_what_was_written(desk: Desk) -> None:
    desk.engine.gate.hold()
    desk.chat.send("Hello")
    desk.engine.gate.let_through(2)
    desk.wait_for_text("A draft guesses, ")
    desk.chat.stop()
    desk.wait_until_quiet()
    assert (desk.rows[-1].text, desk.rows[-1].status) == ("A draft guesses, ", ReplyStatus.STOPPED)
    assert desk.rows[-1].can_continue


def test_continue_goes_on_in_the_same_row(desk: Desk) -> None:
    desk.engine.gate.hold()
    desk.chat.send("Hello")
    desk.engine.gate.let_through(1)
    desk.wait_for_text("A draft ")
    desk.chat.stop()
    desk.wait_until_quiet()
    desk.engine.gate.open()
    assert desk.chat.continue_reply(desk.rows[-1].id)
    desk.wait_until_quiet()
    assert desk.texts == ["Hello", "A draft " + REPLY]
    last = desk.engine.requests[-1].messages[-1]
    assert (last.role, last.content) == (MessageRole.ASSISTANT, "A draft ")


def test_request_has_system_prompt_branch_and_settings(desk: Desk) -> None:
    desk.settings.system_prompt = "Be brief."
    desk.engine.scripts.append(Script(pieces=("Yes.",), thinking=("Hm. ", "Well.")))
    reply = desk.say("Is it?")
    assert reply.thinking == "Hm. Well."
    assert reply.thinking_s > 0
    desk.settings.temperature = 0.1
    desk.models.set_speculation("fixed", 3)
    desk.say("Sure?")
    request = desk.engine.requests[-1]
    assert [(m.role.value, m.content) for m in request.messages] == [
        ("system", "Be brief."),
        ("user", "Is it?"),
        ("assistant", "Yes."),
        ("user", "Sure?"),
    ]
    assert (request.sampling.temperature, request.speculation.mode, request.speculation.tokens) == (
        0.1,
        SpeculationMode.FIXED,
        3,
    )


def test_title_is_first_line_until_renamed(desk: Desk) -> None:
    changes = recorded(desk.chat.current_chat_changed)
    desk.say("초안 모델은 무엇인가요?\n자세히 알려 주세요.")
    assert desk.titles() == ["초안 모델은 무엇인가요?"]
    desk.chat.rename_chat(desk.chat.chat_id, "Drafts")
    assert (desk.titles(), changes[-1]) == (["Drafts"], (desk.chat.chat_id, "Drafts"))
    desk.chat.edit(desk.rows[0].id, "Another question")
    desk.wait_until_quiet()
    assert desk.titles() == ["Drafts"]


def test_a_reply_stopped_before_its_first_word_says_so(desk: Desk) -> None:
    desk.engine.gate.hold()
    desk.chat.send("Hello")
    desk.chat.stop()
    desk.wait_until_quiet()
    footer = footer_of(desk.rows[-1])
    assert (desk.rows[-1].text, footer.text) == ("", "stopped before the first word")


def test_switching_chats_keeps_generating_and_saving(desk: Desk) -> None:
    desk.engine.gate.hold()
    desk.chat.send("First chat")
    first = desk.chat.chat_id
    desk.engine.gate.let_through(1)
    desk.wait_for_text("A draft ")
    desk.chat.new_chat()
    assert (desk.chat.generating, desk.rows) == (False, [])
    assert [row.generating for row in desk.chat.conversations.rows if row.chat_id == first] == [True]
    desk.engine.gate.let_through(1)
    desk.qtbot.waitUntil(lambda: stored_text(desk) == "A draft guesses, ")
    desk.chat.open_chat(first)
    assert (desk.chat.generating, desk.texts) == (True, ["First chat", "A draft guesses, "])
    desk.engine.gate.open()
    desk.wait_until_quiet()
    assert desk.texts == ["First chat", REPLY]
    assert not any(row.generating for row in desk.chat.conversations.rows)


def stored_text(desk: Desk) -> str:
    row = desk.database.row("SELECT text FROM messages WHERE role = 'assistant' ORDER BY id DESC")
    assert row is not None
    return str(row["text"])


def test_several_chats_wait_for_their_turn(desk: Desk) -> None:
    desk.engine.gate.hold()
    desk.chat.send("One")
    one = desk.chat.chat_id
    desk.chat.new_chat()
    desk.chat.send("Two")
    two = desk.chat.chat_id
    desk.engine.gate.open()
    desk.wait_until_quiet()
    assert desk.texts == ["Two", REPLY]
    desk.chat.open_chat(one)
    assert desk.texts == ["One", REPLY]
    assert one != two


def test_cancel_while_queued_ends_the_waiting_reply(desk: Desk) -> None:
    desk.engine.gate.hold()
    desk.chat.send("One")
    one = desk.chat.chat_id
    desk.chat.new_chat()
    desk.chat.send("Two")
    desk.chat.stop()
    desk.chat.open_chat(one)
    assert desk.chat.generating
    desk.engine.gate.open()
    desk.wait_until_quiet()
    assert desk.rows[-1].status is ReplyStatus.DONE
    desk.qtbot.waitUntil(lambda: not any(row.status.under_way for row in desk.chat.requests.rows))
    assert [row.status for row in desk.chat.requests.rows] == [ReplyStatus.STOPPED, ReplyStatus.DONE]


def test_error_becomes_a_notice_in_the_row(desk: Desk) -> None:
    desk.engine.scripts.append(Script(pieces=("Half",), error=ContextTooLong(4096, 5000)))
    reply = desk.say("Long")
    assert (reply.status, reply.text) == (ReplyStatus.FAILED, "Half")
    assert notice_of(reply).title == "The chat is too long"
    assert "5000" in notice_of(reply).sentence.replace(",", "")  # as the language before this test groups digits
    assert notice_of(reply).hint


def test_error_is_said_again_after_a_restart(tmp_path: Path, qtbot: QtBot) -> None:
    with open_desk(tmp_path, qtbot) as desk:
        desk.load_pair()
        desk.engine.scripts.append(Script(error=InternalError("oh")))
        notice = notice_of(desk.say("Hello"))
        chat_id = desk.chat.chat_id
    with open_desk(tmp_path, qtbot) as desk:
        desk.chat.open_chat(chat_id)
        assert notice_of(desk.rows[-1]) == notice


def test_reply_cut_by_its_limit_offers_to_continue(desk: Desk) -> None:
    desk.engine.scripts.append(Script(finish=FinishReason.LENGTH))
    reply = desk.say("Hello")
    assert (reply.status, notice_of(reply).action) == (ReplyStatus.LENGTH, NoticeAction.CONTINUE)


def test_chats_survive_a_restart(tmp_path: Path, qtbot: QtBot) -> None:
    with open_desk(tmp_path, qtbot) as desk:
        desk.load_pair()
        footer = footer_of(desk.say("Hello"))
    with open_desk(tmp_path, qtbot) as desk:
        assert desk.titles() == ["Hello"]
        desk.chat.open_chat(1)
        assert desk.texts == ["Hello", REPLY]
        assert footer_of(desk.rows[-1]) == footer


def test_quitting_in_the_middle_keeps_the_reply_and_offers_to_continue(tmp_path: Path, qtbot: QtBot) -> None:
    with open_desk(tmp_path, qtbot) as desk:
        desk.load_pair()
        desk.engine.gate.hold()
        desk.chat.send("Hello")
        desk.engine.gate.let_through(2)
        desk.wait_for_text("A draft guesses, ")
    with open_desk(tmp_path, qtbot) as desk:
        desk.chat.open_chat(1)
        assert (desk.rows[-1].text, desk.rows[-1].status) == ("A draft guesses, ", ReplyStatus.INTERRUPTED)
        assert desk.rows[-1].can_continue


def test_context_says_how_full_the_chat_is(desk: Desk) -> None:
    said = recorded(desk.chat.context_changed)
    desk.say("Hello")
    assert said[-1] == (34, 4096)
    desk.chat.new_chat()
    assert said[-1] == (0, 0)


def test_requests_are_listed_with_their_numbers(desk: Desk) -> None:
    desk.say("Hello")
    row = desk.chat.requests.rows[0]
    assert (row.chat, row.pair, row.status) == ("Hello", f"{MAIN.name} ← {DRAFT.name}", ReplyStatus.DONE)
    assert (row.stats.drafted, row.stats.accepted) == (16, 10)


def test_parked_draft_is_said_in_the_pair(desk: Desk) -> None:
    desk.engine.scripts.append(Script(drafting=DraftingState.PARKED))
    desk.say("Hello")
    assert desk.models.pair.draft_state == "parked"
    assert "slower" in pair_reason(desk.models.pair)
    desk.say("Again")
    assert desk.models.pair.draft_state == "active"


def test_reply_ends_on_the_screen_when_it_cannot_be_saved(desk: Desk) -> None:
    desk.engine.gate.hold()
    desk.chat.send("Hello")
    desk.database.execute("PRAGMA query_only = ON")  # what a full disk does to writes
    with desk.qtbot.capture_exceptions() as errors:
        desk.engine.gate.open()
        desk.wait_until_quiet()
    desk.database.execute("PRAGMA query_only = OFF")
    assert errors
    assert (desk.rows[-1].text, desk.rows[-1].status) == (REPLY, ReplyStatus.DONE)


def test_new_chat_that_cannot_be_stored_stays_new(desk: Desk) -> None:
    desk.database.execute("PRAGMA query_only = ON")
    with pytest.raises(sqlite3.OperationalError):
        desk.chat.send("Hello")
    desk.database.execute("PRAGMA query_only = OFF")
    assert (desk.chat.chat_id, desk.rows) == (0, [])
    desk.say("Hello")
