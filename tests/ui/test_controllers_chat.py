"""Sending, stopping, switching, versions and deletions: the chat controller over the scripted engine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.storage import Reason
from app.storage.trash import Trash
from app.system.worker import ignore
from app.view_models.transcript import ReplyStatus, TranscriptModel
from app.words.notices import NoticeAction
from engine import DraftingState, FinishReason, InternalError, MessageRole, SpeculationMode, fit_together
from tests.helpers import full_disk
from tests.helpers.controller_harness import ControllerHarness, open_harness, recorded
from tests.helpers.fake_engine import DRAFT, Script
from tests.helpers.reply_words import notice_of, pair_reason

REPLY = "".join(Script().pieces)


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[ControllerHarness]:
    with open_harness(tmp_path, qtbot) as harness:
        harness.load_pair()
        yield harness


def test_reply_waits_then_reads_then_streams(harness: ControllerHarness) -> None:
    harness.engine.gate.hold()
    begun: list[ReplyStatus] = []
    harness.chat.transcript.message_inserted.connect(lambda row: begun.append(harness.rows[row].status))
    assert harness.chat.send("Hello")
    assert begun == [ReplyStatus.DONE, ReplyStatus.QUEUED]
    harness.qtbot.waitUntil(lambda: harness.rows[-1].progress == 0.5)
    harness.engine.gate.let_through(1)
    harness.qtbot.waitUntil(lambda: harness.rows[-1].status is ReplyStatus.STREAMING)
    assert (harness.rows[-1].progress, harness.rows[-1].text) == (None, "A draft ")
    harness.engine.gate.open()
    harness.wait_until_quiet()


def test_a_stopped_reply_keeps_what_was_written_and_goes_on_in_the_same_row(harness: ControllerHarness) -> None:
    harness.engine.gate.hold()
    harness.chat.send("Hello")
    harness.engine.gate.let_through(1)
    harness.wait_for_text("A draft ")
    assert not harness.chat.send("While it is written")
    harness.chat.stop()
    harness.wait_until_quiet()
    stopped = harness.rows[-1]
    assert (stopped.text, stopped.status, stopped.can_continue) == ("A draft ", ReplyStatus.STOPPED, True)
    harness.engine.gate.open()
    assert harness.chat.asking.continue_reply(stopped.id)
    harness.wait_until_quiet()
    assert harness.texts == ["Hello", "A draft " + REPLY]
    last = harness.engine.requests[-1].messages[-1]
    assert (last.role, last.content) == (MessageRole.ASSISTANT, "A draft ")


def test_a_question_is_not_refused_because_one_of_another_chat_is_on_its_way(harness: ControllerHarness) -> None:
    harness.say("One")
    first = harness.chat.chat_id
    harness.chat.new_chat()
    assert harness.controller.send("Two")
    assert not harness.controller.send("Two"), "Return was pressed twice"
    harness.controller.open_chat(first)
    assert harness.controller.send("Three")
    aside: list[int] = []
    assert harness.controller.quick_questions.ask("Four", TranscriptModel(), aside.append)
    harness.wait_until_quiet()
    assert harness.texts == ["One", REPLY, "Three", REPLY]
    assert aside[0] not in (0, first)
    assert sorted(harness.titles()) == ["Four", "One", "Two"]
    harness.controller.new_chat()
    assert harness.controller.send("Five")
    harness.controller.new_chat()  # another one, in which it is not shown
    harness.qtbot.waitUntil(lambda: "Five" in harness.titles() and not harness.storage.pending)
    harness.wait_until_quiet()
    assert (harness.chat.is_new, harness.rows) == (True, [])


@pytest.mark.expect_log("was not stored: SQLITE_FULL")
def test_what_was_refused_in_two_chats_can_be_tried_again_at_once(harness: ControllerHarness) -> None:
    harness.say("One")
    first, again = harness.chat.chat_id, recorded(harness.chat.asking.message_refused)
    harness.chat.new_chat()
    harness.say("Two")
    fill_up(harness)
    for chat_id in (harness.chat.chat_id, first):
        harness.chat.open_chat(chat_id)
        harness.chat.send("words " * 2000)
    harness.change(full_disk.make_room)
    assert len(again) == 2
    for *_, try_again in again:
        try_again()  # type: ignore[operator]
    harness.wait_until_quiet()
    stored = harness.database.rows("SELECT chat_id, text FROM messages WHERE role = 'user' AND text LIKE 'words%'")
    assert len({row["chat_id"] for row in stored}) == len(stored) == 2


def test_title_is_first_line_until_renamed(harness: ControllerHarness) -> None:
    changes = recorded(harness.chat.current_chat_changed)
    harness.say("초안 모델은 무엇인가요?\n자세히 알려 주세요.")
    assert harness.titles() == ["초안 모델은 무엇인가요?"]
    harness.chat.rename(harness.chat.chat_id, "Drafts")
    assert (harness.titles(), changes[-1]) == (["Drafts"], (harness.chat.chat_id, "Drafts"))
    assert [row.chat for row in harness.chat.requests.rows] == ["Drafts"]
    harness.chat.delete_chats([harness.chat.chat_id])
    harness.chat.deletions.empty()
    harness.settle()
    assert [(row.chat, row.chat_id) for row in harness.chat.requests.rows] == [("", 0)]


def test_switching_chats_keeps_generating_and_saving(harness: ControllerHarness) -> None:
    harness.engine.gate.hold()
    harness.chat.send("First chat")
    first = harness.chat.chat_id
    harness.engine.gate.let_through(1)
    harness.wait_for_text("A draft ")
    harness.chat.new_chat()
    assert (harness.chat.generating, harness.rows) == (False, [])
    assert [row.generating for row in harness.chat.conversations.rows if row.chat_id == first] == [True]
    harness.engine.gate.let_through(1)
    harness.qtbot.waitUntil(lambda: stored(harness)[0] == "A draft guesses, ")
    harness.chat.open_chat(first)
    assert (harness.chat.generating, harness.texts) == (True, ["First chat", "A draft guesses, "])
    harness.engine.gate.open()
    harness.wait_until_quiet()
    assert harness.texts == ["First chat", REPLY]
    assert not any(row.generating for row in harness.chat.conversations.rows)


def stored(harness: ControllerHarness) -> tuple[str, str]:
    """Text and status of the last reply."""
    row = harness.database.rows("SELECT text, status FROM messages WHERE role = 'assistant' ORDER BY id DESC")[0]
    return row["text"], row["status"]


def test_error_is_said_again_after_a_restart(tmp_path: Path, qtbot: QtBot) -> None:
    with open_harness(tmp_path, qtbot) as harness:
        harness.load_pair()
        harness.engine.scripts.append(Script(error=InternalError("oh")))
        notice = notice_of(harness.say("Hello"))
        chat_id = harness.chat.chat_id
    with open_harness(tmp_path, qtbot) as harness:
        harness.chat.open_chat(chat_id)
        assert notice_of(harness.rows[-1]) == notice


def test_every_reason_to_finish_is_a_status_and_a_parked_draft_is_said_in_the_pair(harness: ControllerHarness) -> None:
    for reason, status in (
        (FinishReason.CONTEXT, ReplyStatus.CONTEXT),
        (FinishReason.MEMORY, ReplyStatus.MEMORY),
        (FinishReason.LENGTH, ReplyStatus.LENGTH),
    ):
        harness.engine.scripts.append(Script(finish=reason))
        assert harness.say("Hello").status is status
        assert stored(harness)[1] == status
    assert notice_of(harness.rows[-1]).action is NoticeAction.CONTINUE

    harness.engine.scripts.append(Script(drafting=DraftingState.PARKED))
    harness.say("Hello")
    assert harness.models.pair.draft_state == "parked"
    assert "slower" in pair_reason(harness.models.pair)
    harness.say("Again")
    assert harness.models.pair.draft_state == "active"


def test_reply_whose_model_is_changed_says_so_and_offers_to_continue(harness: ControllerHarness) -> None:
    harness.engine.gate.hold()
    harness.chat.send("Hello")
    harness.engine.gate.let_through(2)
    harness.wait_for_text("A draft guesses, ")
    harness.models.choose_main(DRAFT.folder)  # waits for the reply
    harness.models.switch_now()
    harness.qtbot.waitUntil(lambda: harness.rows[-1].status is ReplyStatus.MODEL_CHANGED)
    notice = notice_of(harness.rows[-1])
    assert harness.rows[-1].can_continue
    assert (notice.title, notice.action) == ("Model changed", NoticeAction.CONTINUE)


def test_the_meter_counts_keys_and_values_as_the_chat_keeps_them(
    harness: ControllerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    infos = {each.info.folder: each.info for each in harness.models.library.installed if each.info is not None}
    pair = [infos[folder] for folder in (harness.models.pair.main_folder, harness.models.pair.draft_folder)]
    memory = fit_together(pair, 1000, kv_bits=16).needed_bytes
    monkeypatch.setattr("engine.models.fit.model_memory_bytes", lambda: memory)
    room = {bits: harness.models.context_room(bits)[1] for bits in (16, 8, None)}
    assert room[16] == 1000
    assert room[8] == room[None] == pytest.approx(1000 * 32 / 17, abs=1)


def test_a_request_has_the_settings_and_the_branch_and_no_half_character(harness: ControllerHarness) -> None:
    said = recorded(harness.chat.context_changed)
    harness.say("Hello")
    assert said[-1] == (34, 4096)
    harness.settings.context_tokens = 2048
    harness.say("Again")
    assert [request.context_tokens for request in harness.engine.requests] == [None, 2048]
    model, memory = harness.models.context_room()
    assert model == 4096
    assert 0 < memory <= 4096
    harness.chat.new_chat()
    assert said[-1] == (0, 0)

    harness.settings.system_prompt = "Be brief."
    harness.engine.scripts.append(Script(pieces=("Yes.",), thinking=("Hm. ", "Well.")))
    reply = harness.say("Is it?")
    assert reply.thinking == "Hm. Well."
    assert reply.thinking_s > 0
    harness.settings.temperature = 0.1
    harness.models.choose_speculation("fixed", 3)
    harness.say("Sure?")
    request = harness.engine.requests[-1]
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

    harness.chat.new_chat()
    harness.say("broken \ud83d emoji")
    assert harness.rows[0].text == "broken ? emoji"


def fill_up(harness: ControllerHarness) -> None:
    harness.change(full_disk.fill_up)
    harness.change(lambda stores: stores.database.execute("CREATE TABLE filler AS SELECT zeroblob(3000)"))


@pytest.mark.expect_log("was not stored: SQLITE_FULL")
def test_a_reply_that_ends_on_a_full_disk_is_marked_until_it_is_saved(harness: ControllerHarness) -> None:
    long = "word " * 3000
    harness.engine.scripts.append(Script(pieces=(long,)))
    harness.engine.gate.hold()
    harness.chat.send("Hello")
    fill_up(harness)
    harness.engine.gate.open()
    harness.qtbot.waitUntil(lambda: harness.rows[-1].status is ReplyStatus.UNSAVED)
    assert harness.rows[-1].text == long
    assert (harness.refusals[-1].reason, harness.chat.has_unsaved) == (Reason.FULL, True)
    assert notice_of(harness.rows[-1]).title == "Not saved yet"
    harness.chat.new_chat()
    harness.chat.open_chat(1)
    assert (harness.rows[-1].text, harness.rows[-1].status) == (long, ReplyStatus.UNSAVED)
    harness.change(full_disk.make_room)
    harness.qtbot.waitUntil(lambda: harness.rows[-1].status is ReplyStatus.DONE)
    assert (stored(harness), harness.chat.has_unsaved) == ((long, "done"), False)


@pytest.mark.expect_log("was not stored: SQLITE_FULL")
def test_a_save_that_was_taken_says_nothing_of_a_later_one(harness: ControllerHarness) -> None:
    """Both were on their way at once."""
    replies, held = harness.controller.replies, threading.Event()
    replies.save_timer.setInterval(10**6)
    harness.engine.scripts.append(Script(pieces=("First. ", "word " * 3000, "ends")))
    harness.engine.gate.hold()
    harness.chat.send("Hello")
    harness.engine.gate.let_through(1)
    harness.qtbot.waitUntil(lambda: harness.rows[-1].text == "First. ")
    harness.storage.write(lambda _: held.wait(), ignore, ignore)
    replies.save()
    harness.storage.write(full_disk.fill_up, ignore, ignore)
    harness.engine.gate.let_through(1)
    harness.qtbot.waitUntil(lambda: "word" in harness.rows[-1].text)
    replies.save(at_once=True)
    held.set()
    harness.change(lambda _: None)
    assert (replies.has_unstored, harness.rows[-1].status) == (True, ReplyStatus.STREAMING)
    harness.change(full_disk.make_room)
    harness.engine.gate.open()


@pytest.mark.expect_log("was not stored: SQLITE_BUSY")
def test_a_file_that_another_program_locks_is_refused_without_a_freeze(harness: ControllerHarness) -> None:
    harness.change(lambda stores: stores.database.execute("PRAGMA busy_timeout = 100"))
    harness.database.execute("BEGIN IMMEDIATE")
    assert harness.controller.send("Hello")  # returns at once
    harness.qtbot.waitUntil(lambda: bool(harness.refusals))
    harness.database.execute("ROLLBACK")
    assert (harness.refusals[0].reason, harness.rows) == (Reason.LOCKED, [])
    harness.say("Hello")


@pytest.mark.expect_log("was not stored: SQLITE_FULL")
def test_a_reply_that_goes_on_before_its_end_is_saved_keeps_all_its_words(harness: ControllerHarness) -> None:
    long = "word " * 3000
    harness.engine.scripts.extend([Script(pieces=(long, "never said")), Script(pieces=("and on",))])
    harness.engine.gate.hold()
    harness.chat.send("Hello")
    fill_up(harness)
    harness.engine.gate.let_through(1)
    harness.wait_for_text(long)
    reply, asked = harness.rows[-1].id, []
    once = Qt.ConnectionType.SingleShotConnection
    harness.chat.replies.ended.connect(lambda *_: asked.append(harness.controller.asking.continue_reply(reply)), once)
    harness.chat.stop()
    harness.qtbot.waitUntil(lambda: bool(asked))
    harness.settle()
    harness.change(full_disk.make_room)
    harness.engine.gate.open()
    harness.retry()
    harness.qtbot.waitUntil(lambda: len(harness.engine.requests) == 2)
    harness.wait_until_quiet()
    assert stored(harness) == (long + "and on", "done")
    assert harness.rows[-1].text == long + "and on"


def delete(harness: ControllerHarness, message_id: int, following: bool = True) -> None:
    harness.controller.edits.delete(message_id, following)
    harness.settle()


def test_a_version_comes_with_what_followed_and_deleted_messages_are_not_sent(harness: ControllerHarness) -> None:
    harness.will_say("one", "one more", "two")
    harness.say("Question")
    first = harness.rows[1].id
    harness.say("And?")
    harness.chat.asking.regenerate(first)
    harness.wait_until_quiet()
    assert harness.texts == ["Question", "two"]
    harness.chat.show_version(harness.rows[1].id, -1)
    assert harness.texts == ["Question", "one", "And?", "one more"]
    harness.chat.show_version(first, -1)
    assert harness.texts == ["Question", "one", "And?", "one more"]

    harness.chat.new_chat()
    harness.will_say("one", "two")
    harness.say("Question")
    delete(harness, harness.rows[1].id)
    harness.say("And?")
    assert [m.content for m in harness.engine.requests[-1].messages] == ["Question\n\nAnd?"]


def test_regenerate_while_generating_stops_the_old_and_starts_the_new(harness: ControllerHarness) -> None:
    harness.will_say("old", "new")
    harness.engine.gate.hold()
    harness.chat.send("Question")
    old = harness.rows[1].id
    harness.qtbot.waitUntil(lambda: harness.rows[1].progress is not None)
    harness.chat.asking.regenerate(old)
    harness.engine.gate.open()
    harness.wait_until_quiet()
    assert harness.texts == ["Question", "new"]
    harness.chat.show_version(harness.rows[1].id, -1)
    assert (harness.rows[1].id, harness.rows[1].status) == (old, ReplyStatus.STOPPED)


def test_delete_of_a_generating_chat_stops_it_and_undo_keeps_its_text(harness: ControllerHarness) -> None:
    harness.engine.gate.hold()
    harness.chat.send("Question")
    harness.engine.gate.let_through(1)
    harness.wait_for_text("A draft ")
    chat_id = harness.chat.chat_id
    harness.chat.delete_chats([chat_id])
    harness.qtbot.waitUntil(lambda: not any(row.status.under_way for row in harness.chat.requests.rows))
    harness.chat.deletions.undo()
    assert (harness.rows[-1].text, harness.rows[-1].status) == ("A draft ", ReplyStatus.STOPPED)


def test_deleted_things_can_be_brought_back_after_a_restart(tmp_path: Path, qtbot: QtBot) -> None:
    with open_harness(tmp_path, qtbot) as harness:
        harness.load_pair()
        harness.say("Kept")
        delete(harness, harness.rows[1].id)
        harness.chat.new_chat()
        harness.say("Gone")
        harness.chat.delete_chats([harness.chat.chat_id])
    with open_harness(tmp_path, qtbot) as harness:
        assert (harness.titles(), harness.chat.deletions.last) == (["Kept"], None)
        chat, message = harness.chat.deletions.latest()
        assert (chat.title, chat.whole_chat, message.title, message.whole_chat) == ("Gone", True, "Kept", False)
        harness.chat.deletions.restore(chat)
        harness.settle()
        assert (harness.titles(), harness.texts[0]) == (["Gone", "Kept"], "Gone")
        harness.chat.deletions.restore(message)
        harness.settle()
        assert [text for text in harness.texts if text] == ["Kept", REPLY]
        assert harness.chat.deletions.latest() == []


def test_undo_goes_back_deletion_by_deletion(harness: ControllerHarness) -> None:
    harness.say("One")
    harness.chat.delete_chats([harness.chat.chat_id])
    harness.say("Two")
    delete(harness, harness.rows[1].id)
    harness.chat.deletions.undo()
    assert harness.texts == ["Two", REPLY]
    assert harness.titles() == ["Two"]
    harness.chat.deletions.undo()
    assert (sorted(harness.titles()), harness.texts, bool(harness.chat.deletions.last)) == (
        ["One", "Two"],
        ["One", REPLY],
        False,
    )
    first = harness.rows[1].id
    harness.chat.asking.regenerate(first)
    harness.wait_until_quiet()
    harness.chat.show_version(harness.rows[1].id, -1)
    delete(harness, harness.rows[0].id)
    harness.chat.deletions.undo()
    assert harness.rows[1].id == first


def test_an_emptied_trash_cannot_be_undone(harness: ControllerHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    harness.say("One")
    delete(harness, harness.rows[1].id)
    harness.chat.delete_chats([harness.chat.chat_id])
    with monkeypatch.context() as listing:
        listing.setattr(Trash, "latest", lambda *_: pytest.fail("the whole Trash is read on the GUI thread"))
        harness.chat.deletions.empty()
        harness.settle()
    assert (harness.chat.deletions.latest(), harness.chat.deletions.last) == ([], None)
    harness.say("Two")
    harness.chat.deletions.empty()
    harness.chat.delete_chats([harness.chat.chat_id])  # after it was asked for, and before it is done
    harness.settle()
    assert harness.chat.deletions.last
    harness.chat.deletions.undo()
    assert harness.titles() == ["Two"]
    delete(harness, harness.rows[1].id)
    harness.chat.delete_chats([harness.chat.chat_id])
    harness.chat.deletions.forget(harness.chat.deletions.latest(1))
    harness.settle()
    assert harness.chat.deletions.last is None


def test_a_copy_that_comes_late_takes_nobody_from_where_they_are(harness: ControllerHarness) -> None:
    harness.say("Question")
    original = harness.chat.chat_id
    harness.controller.duplicate(original)
    harness.controller.new_chat()
    harness.settle()
    assert (harness.chat.is_new, harness.texts) == (True, [])
    assert len(harness.titles()) == 2
