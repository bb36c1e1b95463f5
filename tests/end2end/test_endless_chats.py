"""Chats longer than the context, by the app's controllers and the real engine: every reply comes, from kept caches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.storage import ReplyText, Storage, portable
from app.storage.database import Reason
from app.storage.portable import PortableChat, PortableMessage
from app.view_models.chat_options import Scope
from app.view_models.transcript import ReplyStatus, TranscriptMessage
from app.words.notices_for_errors import notice_for
from engine import ContextTooLong, Engine, MessageRole, Request, RequestId, Sink
from tests.helpers.controller_harness import ControllerHarness, open_harness, recorded
from tests.helpers.tiny_models import make_pair

LIMIT = 700


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_pair(tmp_path_factory.mktemp("pair"))


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot, pair: tuple[Path, Path]) -> Iterator[ControllerHarness]:
    with open_harness(tmp_path, qtbot, engine=Engine()) as made:
        made.load_pair(*map(str, pair))
        settings = made.settings
        settings.max_tokens, settings.context_tokens, settings.seed = 20, LIMIT, 5
        settings.system_prompt = "Be brief."
        yield made


def talk(harness: ControllerHarness, count: int, start: int = 0) -> list[TranscriptMessage]:
    return [harness.say(f"Question {number}: what of the sea?") for number in range(start, start + count)]


def beginnings(harness: ControllerHarness) -> list[int]:
    return [row for row, message in enumerate(harness.rows) if message.begins]


def prompt(reply: TranscriptMessage) -> tuple[int, int]:
    """Its tokens, and how many of them were cached."""
    assert reply.stats is not None
    return reply.stats.prompt_tokens, reply.stats.cached_tokens


def test_a_chat_goes_on_beyond_its_context(harness: ControllerHarness) -> None:
    replies = talk(harness, 16)
    assert all(each.status in (ReplyStatus.DONE, ReplyStatus.LENGTH) for each in replies)
    firsts = [each.reads_from for each in replies]
    assert firsts[0] is None
    cuts = [at for at in range(1, 16) if firsts[at] != firsts[at - 1]]
    assert len(cuts) > 1
    assert beginnings(harness) == [harness.chat.transcript.row_of(firsts[-1] or 0)]
    assert harness.rows[beginnings(harness)[0]].from_user
    for at in range(1, 16):
        tokens, cached = prompt(replies[at])
        if at in cuts:
            assert tokens <= LIMIT // 2
        else:
            assert cached >= prompt(replies[at - 1])[0] - 24  # but for what announces the reply
    harness.chat.show(harness.chat.chat_id)
    assert beginnings(harness) == [harness.chat.transcript.row_of(firsts[-1] or 0)]


def test_another_version_of_a_reply_after_a_cut_has_the_same_words(harness: ControllerHarness) -> None:
    replies = talk(harness, 14)
    cut = next(each for each in replies if each.reads_from is not None)
    for reply in (cut, replies[2], replies[-1]):
        harness.chat.asking.regenerate(reply.id)
        harness.wait_until_quiet()
        assert (harness.rows[-1].text, harness.rows[-1].reads_from) == (reply.text, reply.reads_from)
        harness.chat.show_version(harness.rows[-1].id, -1)
        harness.settle()


def test_pinned_messages_are_read_after_a_cut(harness: ControllerHarness) -> None:
    first = talk(harness, 1)[0]
    harness.controller.edits.pin(first.id, True)
    harness.settle()
    last = talk(harness, 14, 1)[-1]
    assert last.reads_from is not None
    count, still = harness.chat.transcript.left_out(last.reads_from)
    assert count == (harness.chat.transcript.row_of(last.reads_from) or 0) - 2
    assert [each.id for each in still] == [first.id]
    harness.controller.edits.pin(first.id, False)
    harness.settle()
    harness.chat.asking.regenerate(last.id)
    harness.wait_until_quiet()
    assert prompt(last)[0] - prompt(harness.rows[-1])[0] > 40


def test_a_longer_context_brings_messages_back(harness: ControllerHarness) -> None:
    assert talk(harness, 12)[-1].reads_from is not None
    harness.settings.context_tokens = 2048
    assert talk(harness, 1, 12)[-1].reads_from is None
    assert beginnings(harness) == []


def test_a_chat_that_is_to_ask_is_refused_as_it_was(harness: ControllerHarness) -> None:
    harness.controller.options.put(Scope.CHAT, "long_chats", "ask")
    replies = talk(harness, 12)
    assert isinstance(replies[-1].error, ContextTooLong)


def test_a_reply_that_filled_the_context_goes_on_without_the_oldest(harness: ControllerHarness) -> None:
    last = talk(harness, 4)[-1]
    words = "and so on, " * 35
    assert last.stats is not None
    end = ReplyText(last.id, words, "", 0.0), ReplyStatus.CONTEXT, last.stats, None, None
    harness.change(lambda stores: stores.messages.set_end(*end))
    harness.chat.update_branch(harness.chat.chat_id)
    harness.chat.asking.continue_reply(last.id)
    harness.wait_until_quiet()
    goes_on = harness.rows[-1]
    assert goes_on.text.startswith(words)
    assert len(goes_on.text) > len(words)
    assert goes_on.status in (ReplyStatus.DONE, ReplyStatus.LENGTH)
    assert goes_on.reads_from == harness.rows[-2].id


def test_what_must_be_read_and_fills_the_context_is_said_and_can_be_shortened(harness: ControllerHarness) -> None:
    """Pinned messages, then the instructions of a project, that leave no room for anything else."""
    first = harness.say("What of the sea? " * 30)
    assert first.status is ReplyStatus.LENGTH
    harness.controller.edits.pin(harness.rows[0].id, True)
    harness.settle()
    failed = harness.say("And the sky? " * 30)
    assert isinstance(failed.error, ContextTooLong)
    assert "unpin messages" in notice_for(failed.error).hint
    harness.controller.edits.pin(harness.rows[0].id, False)
    harness.settle()
    harness.chat.asking.regenerate(failed.id)
    harness.wait_until_quiet()
    assert harness.rows[-1].status is ReplyStatus.LENGTH

    harness.change(lambda stores: stores.folders.make("Project", None))
    harness.controller.projects.put_instructions(1, "Always speak of the sea. " * 60)
    harness.controller.new_chat_in(1)
    failed = harness.say("And now?")
    assert isinstance(failed.error, ContextTooLong)
    assert "the instructions" in notice_for(failed.error).hint
    harness.controller.projects.put_instructions(1, "Speak of the sea.")
    harness.chat.asking.regenerate(failed.id)
    harness.wait_until_quiet()
    assert harness.rows[-1].status is ReplyStatus.LENGTH


def test_a_branch_from_the_message_where_reading_begins(harness: ControllerHarness) -> None:
    last = talk(harness, 14)[-1]
    begins = harness.chat.transcript.message(last.reads_from or 0)
    assert begins is not None
    stored = harness.storage.read.messages.message(begins.id)
    assert stored is not None
    harness.controller.asking.ask_differently(stored, "Another question?", (), lambda _asked: None, lambda: None)
    harness.settle()
    harness.controller.update_branch(harness.chat.chat_id)
    harness.wait_until_quiet()
    replies = talk(harness, 6)
    assert [each.status for each in replies] == [ReplyStatus.LENGTH] * 6
    assert all(prompt(each)[0] <= LIMIT for each in replies)
    assert beginnings(harness) == [harness.chat.transcript.row_of(replies[-1].reads_from or 0)]
    harness.chat.show_version(next(each.id for each in harness.rows if each.text == "Another question?"), -1)
    harness.settle()
    assert beginnings(harness) == [harness.chat.transcript.row_of(last.reads_from or 0)]
    assert talk(harness, 1)[0].status is ReplyStatus.LENGTH


def test_a_context_that_becomes_smaller_and_larger_again(harness: ControllerHarness) -> None:
    smaller = 512
    before = talk(harness, 10)[-1]
    harness.settings.context_tokens = smaller
    small = talk(harness, 6, 10)
    assert [each.status for each in small] == [ReplyStatus.LENGTH] * 6
    assert max(prompt(each)[0] for each in small) < smaller
    row_of = harness.chat.transcript.row_of
    assert (row_of(small[0].reads_from or 0) or 0) > (row_of(before.reads_from or 0) or 0)
    harness.settings.context_tokens = LIMIT
    (again,) = talk(harness, 1, 16)
    assert LIMIT // 4 < prompt(again)[0] < LIMIT
    assert beginnings(harness) == [row_of(again.reads_from or 0)]


def test_a_home_that_takes_no_file_keeps_no_chat_from_going_on(
    harness: ControllerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Storage, "keeps", False)  # as after `open_in_memory`
    replies = talk(harness, 12)
    assert all(each.status is ReplyStatus.LENGTH for each in replies)
    assert beginnings(harness) == [harness.chat.transcript.row_of(replies[-1].reads_from or 0)]
    refused = recorded(harness.controller.documents.refused)
    harness.controller.documents.add(-harness.chat.chat_id, [harness.paths.settings])
    assert refused == [(-harness.chat.chat_id, Reason.READ_ONLY)]
    assert not (harness.paths.data / "projects").exists()


def told(count: int) -> PortableChat:
    """A chat of so many messages, as an import brings it."""
    roles = ("user", "assistant")
    messages = [
        PortableMessage(at, at - 1 if at else None, roles[at % 2], f"{at}: what of the sea?") for at in range(count)
    ]
    return PortableChat("elsewhere:1", "Long", tuple(messages))


def add_and_open(harness: ControllerHarness, chat: PortableChat) -> None:
    harness.change(lambda stores: portable.add(stores, chat))
    (found,) = harness.storage.read.chats.find()
    harness.chat.open_chat(found.id)


def test_an_import_that_is_longer_than_the_context(harness: ControllerHarness) -> None:
    add_and_open(harness, told(80))
    reply = harness.say("And now?")
    assert reply.status is ReplyStatus.LENGTH
    assert prompt(reply)[0] <= LIMIT // 2
    assert beginnings(harness) == [harness.chat.transcript.row_of(reply.reads_from or 0)]
    assert prompt(harness.say("And then?"))[1] >= prompt(reply)[0] - 24


@pytest.mark.slow
def test_two_hundred_turns_after_five_thousand_messages(harness: ControllerHarness, qtbot: QtBot) -> None:
    """Each is written; one that follows no cut reads only what is new; a cut leaves half of the context."""
    limit = harness.settings.context_tokens = 4096
    add_and_open(harness, told(5000))
    replies = talk(harness, 200)
    assert {each.status for each in replies} <= {ReplyStatus.DONE, ReplyStatus.LENGTH}
    assert all(each.text for each in replies)
    firsts = [each.reads_from for each in replies]
    cuts = [at for at in range(1, 200) if firsts[at] != firsts[at - 1]]
    assert 1 < len(cuts) < 20
    for at in range(1, 200):
        tokens, cached = prompt(replies[at])
        assert tokens <= limit // 2 if at in cuts else cached >= prompt(replies[at - 1])[0] - 24
    qtbot.waitUntil(lambda: not harness.chat.transcript.has_earlier)
    assert len(harness.rows) == 5400


# Summaries


def summaries(harness: ControllerHarness) -> list[int]:
    return [row for row, message in enumerate(harness.rows) if message.summary]


def test_a_summary_is_written_where_reading_begins(harness: ControllerHarness, qtbot: QtBot) -> None:
    harness.settings.long_chats = "summary"
    asked: list[Request] = []
    submit = harness.used.submit
    with pytest.MonkeyPatch.context() as patch:

        def noted(request: Request, sink: Sink) -> RequestId:
            asked.append(request)
            return submit(request, sink)

        patch.setattr(harness.used, "submit", noted)
        for number in range(10):
            talk(harness, 1, number)
            if harness.rows[-1].reads_from is not None:
                break
        qtbot.waitUntil(lambda: bool(summaries(harness)))
        (row,) = summaries(harness)
        assert beginnings(harness) == [row]
        assert harness.rows[row].text
        assert not harness.rows[row].can_continue
        said = next(each for each in asked if each.background).messages[0].content
        assert "Question 0: what of the sea?" in said
        assert harness.rows[row + 1].text not in said
        talk(harness, 1, 90)
        assert harness.rows[-1].reads_from == harness.rows[row].id
        first = next(each for each in asked[-1].messages if each.role is MessageRole.USER)
        assert first.content.startswith("[Summary of the conversation so far]\n\n" + harness.rows[row].text[:10])
        assert first.content.endswith(harness.rows[row + 1].text)
        for number in range(20):
            talk(harness, 1, 100 + number)
            if len(summaries(harness)) > 1:
                break
            qtbot.waitUntil(lambda: not harness.storage.pending)
        qtbot.waitUntil(lambda: len(summaries(harness)) > 1)
        again = [each for each in asked if each.background][-1].messages[0].content
        assert f"Summary so far: {harness.rows[row].text[:10]}" in again
        assert "Question 0: what of the sea?" not in again


def test_a_summary_can_be_changed(harness: ControllerHarness, qtbot: QtBot) -> None:
    harness.settings.long_chats = "summary"
    talk(harness, 9)
    qtbot.waitUntil(lambda: bool(summaries(harness)))
    written = harness.rows[summaries(harness)[-1]]
    harness.controller.edits.begin(written.id)
    harness.controller.edits.type(written.id, "The sea was talked about.")
    harness.controller.edits.save(written.id)
    harness.settle()
    changed = harness.rows[summaries(harness)[-1]]
    assert (changed.text, changed.siblings) == ("The sea was talked about.", 2)
    assert harness.chat.asking.regenerate(changed.id) is False
    harness.settings.long_chats = "oldest"
    assert talk(harness, 1, 9)[-1].reads_from == changed.id
