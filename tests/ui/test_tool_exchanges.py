"""Exchanges: a reply calls tools, waits for consent, and goes on with their results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.storage import ReplyStatus, portable
from app.storage.parts import Call, CallStage, Parts, Result, Text, Thinking, all_parts, of_kind
from app.tools import steps as rules
from app.tools.definitions import Answer, AskReason
from app.view_models.tools import CallState, CallView, ConsentView
from app.view_models.transcript import TranscriptMessage
from engine import MessageRole, ToolCall
from tests.helpers.controller_harness import ControllerHarness, open_harness
from tests.helpers.fake_engine import MAIN, Script, model_info
from tests.helpers.picture_files import image, written
from tests.helpers.portable_chat import CHAT, say
from tests.helpers.tool_calls import MODELS, FakeServers, call, calls, says, tool

PLAIN = model_info("/models/Plain")


class Exchange:
    """A chat with tools."""

    def __init__(self, harness: ControllerHarness, *on: str) -> None:
        self.harness = harness
        self.chat = harness.controller
        self.servers = FakeServers()
        self.servers.put(tool("read", reads_only=True), tool("write"), tool("send", "mail"))
        self.chat.tools.use_servers(self.servers)
        self.chat.tools.set_on(on or ("/calculator", "/time", "files/read", "files/write", "mail/send"), True)

    def ask(self, text: str, *scripts: Script) -> None:
        self.harness.engine.scripts.extend(scripts)
        assert self.chat.send(text)

    def say(self, text: str, *scripts: Script) -> None:
        self.ask(text, *scripts)
        self.harness.wait_until_quiet()

    def wait(self) -> None:
        """For the question."""
        self.harness.qtbot.waitUntil(lambda: bool(self.harness.rows) and self.row.status is ReplyStatus.WAITS_FOR_YOU)

    def answer(self, answer: Answer) -> None:
        self.chat.exchanges.answer(self.row.id, answer, self.consent)

    def finish(self, answer: Answer) -> None:
        self.wait()
        self.answer(answer)
        self.harness.wait_until_quiet()

    @property
    def row(self) -> TranscriptMessage:
        return self.harness.rows[-1]

    @property
    def calls(self) -> list[CallView]:
        return [each for step in self.row.steps for each in step.calls]

    @property
    def consent(self) -> ConsentView:
        assert self.row.consent is not None
        return self.row.consent

    def stored(self) -> Parts:
        self.harness.settle()
        found = self.harness.storage.read.messages.message(self.row.id)
        assert found is not None
        return all_parts(found)


@pytest.fixture
def exchange(tmp_path: Path, qtbot: QtBot) -> Iterator[Exchange]:
    with open_harness(tmp_path, qtbot, models=MODELS) as harness:
        harness.load_pair()
        yield Exchange(harness)


def test_a_tool_that_reaches_nothing_runs_and_the_model_answers(exchange: Exchange) -> None:
    made = call("calculator", {"expression": "6*7"})
    exchange.say("6*7?", calls(made, thinking="I compute.", said="Let me see."), says("42."))
    row = exchange.row
    assert (row.text, row.status) == ("42.", ReplyStatus.DONE)
    (step,) = row.steps
    assert (step.text, step.thinking, step.calls[0].result) == ("Let me see.", "I compute.", "42")
    assert step.calls[0].state is CallState.DONE
    first, second = exchange.harness.engine.requests
    assert [each["function"]["name"] for each in first.tools] == [
        "calculator",
        "time",
        "files__read",
        "files__write",
        "mail__send",
    ]
    assert second.tools == first.tools
    assert second.messages[:-2] == first.messages
    asked, answered = second.messages[-2:]
    assert (asked.role, asked.content, asked.reasoning) == (MessageRole.ASSISTANT, "Let me see.", "I compute.")
    assert asked.tool_calls == (made,)
    assert (answered.role, answered.content, answered.tool_call_id) == (MessageRole.TOOL, "42", made.id)
    parts = exchange.stored()
    assert [type(each) for each in parts] == [Thinking, Text, Call, Result, Text]


@pytest.mark.expect_log("a count failed")
def test_a_call_is_not_left_waiting_where_the_chat_cannot_be_read(
    exchange: Exchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange.harness.storage, "_address", "file:/nowhere/at/all?")
    exchange.say("6*7?", calls(call("calculator", {"expression": "6*7"})), says("42."))
    assert (exchange.row.text, exchange.calls[0].result) == ("42.", "42")


def test_a_server_with_very_many_tools_is_shown_in_few_turns(exchange: Exchange) -> None:
    """Once when all are counted, not once for each of them."""
    tools = exchange.chat.tools
    exchange.servers.put(*(tool(f"tool{at}", "many") for at in range(100)))
    changes: list[None] = []
    tools.changed.connect(lambda: changes.append(None))

    def tokens() -> list[int]:
        return [each.tokens for group in tools.chat_tools() for each in group.tools if group.id == "many"]

    assert tokens() == [0] * 100
    exchange.harness.qtbot.waitUntil(lambda: bool(changes) and all(tokens()))
    assert len(changes) <= 2


def test_without_tools_a_request_has_none_and_nothing_is_listed(tmp_path: Path, qtbot: QtBot) -> None:
    with open_harness(tmp_path, qtbot, models=MODELS) as harness:
        harness.load_pair()
        exchange = Exchange(harness)
        exchange.chat.tools.set_on(exchange.chat.tools.chosen, False)
        exchange.say("Hello", says("Hi."))
        (request,) = harness.engine.requests
        assert (request.tools, request.strict_tools) == ((), ())
        assert exchange.servers.lists == 0


def test_a_model_that_cannot_call_gets_neither_tools_nor_calls(tmp_path: Path, qtbot: QtBot) -> None:
    with open_harness(tmp_path, qtbot, models=MODELS | {PLAIN.folder: PLAIN}) as harness:
        harness.load_pair()
        exchange = Exchange(harness)
        exchange.say("6*7?", calls(call("calculator", {"expression": "6*7"}), said="Let me see."), says("42."))
        harness.models.choose_main(PLAIN.folder)
        harness.wait_for_pair()
        exchange.say("Thanks", says("Yes."))
        request = harness.engine.requests[-1]
        assert request.tools == ()
        assert [(each.role, each.content) for each in request.messages] == [
            (MessageRole.USER, "6*7?"),
            (MessageRole.ASSISTANT, "Let me see.\n\n42."),
            (MessageRole.USER, "Thanks"),
        ]


def test_all_calls_of_a_step_wait_with_one_question(exchange: Exchange) -> None:
    made = [call("files__read", {"path": f"{at}.md"}) for at in "ab"]
    exchange.ask("Read", calls(call("time"), *made), says("Done."))
    exchange.wait()
    consent = exchange.consent
    assert [each.arguments for each in consent.calls] == [each.arguments for each in made]
    assert {(each.server, each.tool, each.reads_only) for each in consent.calls} == {("Files", "read", True)}
    assert (consent.reason, consent.offers) == (
        AskReason.NEW,
        (Answer.CHAT, Answer.ONCE, Answer.ALWAYS, Answer.DONT),
    )
    assert exchange.servers.ran == []
    assert exchange.chat.exchanges.waiting == (exchange.row.id,)
    assert [each.stage for each in of_kind(Call, exchange.stored())] == [CallStage.ASKED] * 3
    exchange.finish(Answer.ONCE)
    assert [name for name, _ in exchange.servers.ran] == ["files/read"] * 2
    assert [each.state for each in exchange.calls] == [CallState.DONE] * 3
    assert [each.consent for each in of_kind(Call, exchange.stored())] == ["", "once", "once"]
    exchange.ask("Again", calls(call("files__read", {"path": "a.md"})), says("Done."))
    exchange.finish(Answer.DONT)


def test_after_ten_calls_in_a_row_it_is_asked_once_more(exchange: Exchange) -> None:
    steps = [calls(*(call("files__read", {"path": f"{step}{at}"}) for at in range(6))) for step in range(3)]
    exchange.ask("Read all", *steps, says("Done."))
    exchange.wait()
    assert exchange.consent.offers[0] is Answer.CHAT
    exchange.answer(Answer.CHAT)  # for the first six
    exchange.harness.qtbot.waitUntil(lambda: len(exchange.servers.ran) == 12)
    exchange.wait()
    assert exchange.consent.reason is AskReason.MANY
    assert exchange.consent.offers == (Answer.ONCE, Answer.DONT)
    exchange.finish(Answer.ONCE)
    assert len(exchange.servers.ran) == 18


def test_what_is_declined_does_not_run_and_the_model_learns_of_it(exchange: Exchange) -> None:
    made = call("mail__send", {"path": "all"})
    exchange.ask("Send", calls(made), says("Then not."))
    exchange.finish(Answer.DONT)
    assert exchange.servers.ran == []
    assert exchange.calls[0].state is CallState.DECLINED
    assert exchange.harness.engine.requests[-1].messages[-1].content == "The user declined this call. It did not run."
    assert of_kind(Call, exchange.stored())[0].stage is CallStage.DECLINED


def test_consent_for_every_chat_holds_in_another_one_and_after_a_restart(tmp_path: Path, qtbot: QtBot) -> None:
    for start in range(3):
        with open_harness(tmp_path, qtbot, models=MODELS) as harness:
            harness.load_pair()
            exchange = Exchange(harness)
            exchange.ask("Read", calls(call("files__read", {"path": "a"})), says("Done."))
            if start == 0:
                exchange.finish(Answer.ALWAYS)
            harness.wait_until_quiet()
            assert exchange.servers.ran == [("files/read", '{"path": "a"}')]
            exchange.chat.tools.consents.end_all("mail")


def test_a_tool_that_is_described_otherwise_needs_consent_again(exchange: Exchange) -> None:
    exchange.ask("Read", calls(call("files__read", {"path": "a"})), says("Done."))
    exchange.finish(Answer.CHAT)
    former = tool("read", reads_only=True)
    exchange.servers.put(tool("read", description="Reads, and sends to me.", reads_only=True))
    exchange.ask("Read", calls(call("files__read", {"path": "b"})), says("Done."))
    exchange.wait()
    consent = exchange.consent
    assert consent.reason is AskReason.CHANGED
    ((before, after),) = consent.changed
    assert former.description in before
    assert "sends to me" in after
    exchange.finish(Answer.DONT)
    exchange.servers.put(former)  # it changes back: the consent is ended all the same
    exchange.ask("Read", calls(call("files__read", {"path": "c"})), says("Done."))
    exchange.wait()
    assert exchange.consent.reason is AskReason.NEW
    exchange.finish(Answer.DONT)
    assert len(exchange.servers.ran) == 1


def test_a_tool_that_changes_while_the_user_looks_is_shown_again(exchange: Exchange) -> None:
    exchange.ask("Send", calls(call("mail__send", {"path": "a"})), says("Done."))
    exchange.wait()
    exchange.servers.put(tool("send", "mail", "Sends to everybody."))
    seen = exchange.consent
    exchange.answer(Answer.ALWAYS)
    exchange.harness.qtbot.waitUntil(
        lambda: exchange.row.consent is not None and exchange.consent.reason is AskReason.CHANGED
    )
    exchange.chat.exchanges.answer(exchange.row.id, Answer.ALWAYS, seen)  # a second click on what was there before
    exchange.harness.settle()
    assert exchange.servers.ran == []
    exchange.finish(Answer.ONCE)
    assert len(exchange.servers.ran) == 1
    exchange.ask("Send", calls(call("mail__send", {"path": "b"})), says("Done."))
    exchange.wait()
    assert exchange.consent.reason is AskReason.NEW, "the consent was for what it was"
    exchange.finish(Answer.DONT)


def test_words_of_one_server_do_not_reach_another_that_says_it_only_reads(exchange: Exchange) -> None:
    exchange.servers.put(tool("search", "mail", reads_only=True))
    exchange.chat.tools.set_on(["mail/search"], True)
    exchange.ask("Search", calls(call("mail__search", {"q": "a"})), says("Done."))
    exchange.finish(Answer.ALWAYS)
    exchange.say("Search", calls(call("mail__search", {"q": "b"})), says("Done."))
    assert exchange.servers.ran[-1] == ("mail/search", '{"q": "b"}')
    exchange.ask(
        "Read", calls(call("files__read", {"path": "p"})), calls(call("mail__search", {"q": "c"})), says("Done.")
    )
    exchange.wait()
    exchange.answer(Answer.ONCE)
    exchange.wait()
    assert exchange.consent.reason is AskReason.OUTSIDE
    assert exchange.servers.ran[-1][0] == "files/read"
    exchange.finish(Answer.DONT)


def test_an_address_in_words_that_were_imported_was_not_typed(exchange: Exchange) -> None:
    address = "http://127.0.0.1:1/"
    chat = replace(CHAT, messages=(say(1, None, f"Look at {address}"), say(2, 1, "Yes.", "assistant")), shown=2)
    exchange.harness.change(lambda stores: portable.add(stores, chat))
    (copy,) = exchange.harness.database.rows("SELECT max(id) FROM chats")
    exchange.chat.open_chat(copy[0])
    exchange.chat.tools.set_on(["/fetch_page"], True)
    exchange.ask("Go on", calls(call("fetch_page", {"address": address})), says("So."))
    exchange.finish(Answer.ONCE)
    assert "within this machine" in exchange.calls[0].result or "with a port" in exchange.calls[0].result


def test_within_a_step_what_a_result_brings_counts_for_the_calls_after_it(exchange: Exchange) -> None:
    chat = exchange.chat
    exchange.ask("Write", calls(call("files__write", {"path": "a"})), says("Done."))
    exchange.finish(Answer.ALWAYS)
    chat.new_chat()
    exchange.chat.tools.set_on(["files/read", "files/write"], True)
    exchange.ask("Both", calls(call("files__read", {"path": "a"}), call("files__write", {"path": "b"})), says("Done."))
    exchange.wait()
    assert [each.tool for each in exchange.consent.calls] == ["read"]
    exchange.answer(Answer.ONCE)
    exchange.harness.qtbot.waitUntil(
        lambda: exchange.row.consent is not None and exchange.consent.reason is AskReason.OUTSIDE
    )
    assert [each.tool for each in exchange.consent.calls] == ["write"]
    exchange.finish(Answer.DONT)
    assert [name for name, _ in exchange.servers.ran] == ["files/write", "files/read"]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (call("nothing"), "there is no tool"),
        (call("calculator", "{"), "not a JSON object"),
        (call("calculator", "[1]"), "not a JSON object"),
        (call("calculator", {"expression": "1/0"}), "division by zero"),
    ],
)
def test_what_cannot_run_is_answered(exchange: Exchange, made: ToolCall, said: str) -> None:
    exchange.say("Go", calls(made), says("Well."))
    assert exchange.calls[0].state is CallState.FAILED
    assert said in exchange.calls[0].result
    assert exchange.row.text == "Well."


def test_the_same_call_gets_its_earlier_result_and_then_the_loop_ends(exchange: Exchange) -> None:
    same = [calls(call("calculator", {"expression": "6*7"})) for _ in range(3)]
    exchange.say("6*7?", *same, says("42."))
    assert [each.result[:2] for each in exchange.calls] == ["42", "42", "Er"]
    assert [each.state for each in exchange.calls] == [CallState.DONE, CallState.DONE, CallState.FAILED]
    last = exchange.harness.engine.requests[-1]
    assert (last.tools, last.may_call) == (exchange.harness.engine.requests[0].tools, False)


def test_only_so_many_calls_run_in_a_step(exchange: Exchange) -> None:
    exchange.say("Go", calls(*(call("calculator", {"expression": f"{at}"}) for at in range(10))), says("Done."))
    assert [each.state for each in exchange.calls] == [CallState.DONE] * 8 + [CallState.FAILED] * 2


@pytest.mark.parametrize("answer", [Answer.ONCE, Answer.DONT])
def test_after_ten_steps_it_is_asked_whether_to_go_on(exchange: Exchange, answer: Answer) -> None:
    steps = [calls(call("calculator", {"expression": f"{at}"})) for at in range(11)]
    exchange.ask("Go", *steps, says("Done."))
    exchange.wait()
    assert exchange.consent.reason is AskReason.STEPS
    assert len(exchange.row.steps) == 11
    exchange.finish(answer)
    assert exchange.row.text == "Done."
    last = exchange.harness.engine.requests[-1]
    must_answer = not last.may_call
    assert must_answer == (answer is Answer.DONT)
    assert exchange.calls[-1].state is (CallState.DECLINED if must_answer else CallState.DONE)


def test_stopping_while_a_call_runs_ends_it(exchange: Exchange) -> None:
    exchange.servers.holds = True
    exchange.ask("Read", calls(call("files__read", {"path": "a"}), call("files__read", {"path": "b"})))
    exchange.wait()
    exchange.answer(Answer.ONCE)
    exchange.harness.qtbot.waitUntil(lambda: bool(exchange.servers.waiting))
    assert exchange.row.status.value == "calling"
    assert [each.stage for each in of_kind(Call, exchange.stored())] == [CallStage.SENT, CallStage.ASKED]
    exchange.chat.stop()
    assert not exchange.row.under_way
    assert exchange.servers.cancelled == ["files/read"]
    for late in exchange.servers.waiting:
        late()
    exchange.harness.wait_until_quiet()
    assert [each.stage for each in of_kind(Call, exchange.stored())] == [CallStage.STOPPED] * 2
    assert exchange.row.can_continue
    exchange.servers.holds = False
    exchange.harness.engine.scripts.append(says("Then so."))
    exchange.chat.asking.continue_reply(exchange.row.id)
    exchange.harness.wait_until_quiet()
    assert (exchange.row.text, exchange.row.status) == ("Then so.", ReplyStatus.DONE)
    assert len(exchange.servers.ran) == 1
    answers = [each.content for each in exchange.harness.engine.requests[-1].messages if each.role is MessageRole.TOOL]
    assert answers == ["The user stopped this call. It did not run, or not to its end."] * 2


def test_stopping_while_it_waits_for_consent(exchange: Exchange) -> None:
    exchange.ask("Read", calls(call("files__read", {"path": "a"})))
    exchange.wait()
    message = exchange.row.id
    seen = exchange.consent
    exchange.chat.stop()
    exchange.chat.exchanges.answer(message, Answer.ALWAYS, seen)
    exchange.harness.wait_until_quiet()
    assert exchange.servers.ran == []
    assert exchange.row.consent is None
    assert exchange.chat.exchanges.waiting == ()


@pytest.mark.parametrize("gone", ["chat", "message"])
def test_what_is_deleted_while_a_call_runs_ends(exchange: Exchange, gone: str) -> None:
    exchange.servers.holds = True
    exchange.ask("Read", calls(call("files__read", {"path": "a"})))
    exchange.wait()
    exchange.answer(Answer.ONCE)
    exchange.harness.qtbot.waitUntil(lambda: bool(exchange.servers.waiting))
    if gone == "chat":
        exchange.chat.delete_chats([exchange.chat.chat_id])
    else:
        exchange.chat.edits.delete(exchange.row.id)
    exchange.harness.wait_until_quiet()
    assert exchange.servers.cancelled == ["files/read"]
    for late in exchange.servers.waiting:
        late()
    exchange.harness.wait_until_quiet()
    assert len(exchange.harness.engine.requests) == 1


def test_two_chats_at_once_and_a_slow_answer(exchange: Exchange) -> None:
    exchange.ask("Read", calls(call("files__read", {"path": "a"})), says("First."))
    exchange.wait()
    first, waiting = exchange.chat.chat_id, exchange.row.id
    exchange.chat.new_chat()
    exchange.chat.tools.set_on(["/calculator"], True)
    exchange.harness.engine.scripts.clear()
    exchange.ask("6*7?", calls(call("calculator", {"expression": "6*7"})), says("42."), says("First."))
    exchange.harness.qtbot.waitUntil(lambda: bool(exchange.harness.rows) and exchange.row.text == "42.")
    exchange.chat.open_chat(first)
    assert exchange.row.status is ReplyStatus.WAITS_FOR_YOU
    assert exchange.chat.exchanges.waiting == (waiting,)
    exchange.finish(Answer.ONCE)
    assert exchange.row.text == "First."


def test_closing_while_a_call_runs_leaves_it_unknown_and_it_is_never_made_again(tmp_path: Path, qtbot: QtBot) -> None:
    with open_harness(tmp_path, qtbot, models=MODELS) as harness:
        harness.load_pair()
        exchange = Exchange(harness)
        exchange.servers.holds = True
        exchange.ask("Send", calls(call("mail__send", {"path": "a"})))
        exchange.wait()
        exchange.answer(Answer.CHAT)
        qtbot.waitUntil(lambda: bool(exchange.servers.waiting))
        chat_id = exchange.chat.chat_id
    assert exchange.servers.cancelled == ["mail/send"]
    with open_harness(tmp_path, qtbot, models=MODELS) as harness:
        harness.load_pair()
        exchange = Exchange(harness)
        exchange.chat.open_chat(chat_id)
        assert (exchange.row.status, exchange.calls[0].state) == (ReplyStatus.INTERRUPTED, CallState.UNKNOWN)
        again = calls(call("mail__send", {"path": "a"}))
        harness.engine.scripts.extend([again, says("Done.")])
        exchange.chat.asking.continue_reply(exchange.row.id)
        exchange.wait()
        assert harness.engine.requests[0].messages[-1].content == "It is not known whether this call ran."
        assert exchange.consent.reason is AskReason.REPEAT
        exchange.finish(Answer.DONT)
        assert exchange.servers.ran == []


def test_the_model_is_unloaded_between_two_steps(exchange: Exchange) -> None:
    exchange.ask("Read", calls(call("files__read", {"path": "a"})), says("Done."))
    exchange.wait()
    exchange.harness.models.unload()
    exchange.harness.qtbot.waitUntil(lambda: exchange.harness.engine.state().main is None)
    exchange.answer(Answer.ONCE)
    exchange.harness.wait_until_quiet()
    assert not exchange.row.under_way
    assert exchange.calls[0].state is CallState.DONE


def test_statistics_of_all_steps_are_one_footer(exchange: Exchange) -> None:
    exchange.say("6*7?", calls(call("calculator", {"expression": "6*7"}), said="Let me see."), says("42."))
    stats = exchange.row.stats
    assert stats is not None
    assert (stats.rounds, stats.prompt_tokens) == (1, 40), "the first round of a request does not count in its rates"
    (stored,) = exchange.harness.storage.read.requests.recent(5)
    assert stored.stats == stats
    assert [row.stats for row in exchange.harness.chat.requests.rows] == [stats], "as after a restart"


@pytest.mark.expect_log("a change was not stored")
def test_a_disk_that_refuses_a_step_ends_the_reply_before_anything_runs(exchange: Exchange) -> None:
    exchange.harness.change(
        lambda stores: stores.database.execute(
            "CREATE TRIGGER full BEFORE UPDATE OF parts ON messages BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
    )
    exchange.ask("6*7?", calls(call("calculator", {"expression": "6*7"})), says("42."))
    exchange.harness.qtbot.waitUntil(lambda: bool(exchange.harness.refusals))
    assert exchange.row.status is ReplyStatus.UNSAVED
    assert len(exchange.harness.engine.requests) == 1
    assert exchange.calls[0].state is CallState.STOPPED
    exchange.harness.change(lambda stores: stores.database.execute("DROP TRIGGER full"))
    exchange.harness.retry()
    exchange.harness.settle()
    assert [each.stage for each in of_kind(Call, exchange.stored())] == [CallStage.STOPPED]


def test_another_version_of_the_reply_is_the_whole_exchange_again(exchange: Exchange) -> None:
    exchange.ask("Read", calls(call("files__read", {"path": "a"})), says("One."))
    exchange.finish(Answer.ONCE)
    exchange.harness.engine.scripts.extend([calls(call("files__read", {"path": "a"})), says("Two.")])
    exchange.chat.asking.regenerate(exchange.row.id)
    exchange.finish(Answer.ONCE)
    assert (exchange.row.text, exchange.row.siblings, len(exchange.row.steps)) == ("Two.", 2, 1)
    assert len(exchange.servers.ran) == 2
    assert [each.role for each in exchange.harness.engine.requests[2].messages] == [MessageRole.USER]
    exchange.chat.show_version(exchange.row.id, -1)
    exchange.harness.settle()
    assert (exchange.row.text, len(exchange.row.steps)) == ("One.", 1)


def test_words_of_a_reply_with_steps_are_edited_and_copied_without_touching_them(exchange: Exchange) -> None:
    exchange.say("6*7?", calls(call("calculator", {"expression": "6*7"})), says("42."))
    before = exchange.stored()
    edits = exchange.chat.edits
    edits.begin(exchange.row.id)
    edits.type(exchange.row.id, "Forty-two.")
    edits.save(exchange.row.id)
    exchange.harness.settle()
    assert exchange.stored() == (*before[:-1], Text("Forty-two."))
    exchange.chat.duplicate(exchange.chat.chat_id)
    exchange.harness.settle()
    assert exchange.stored() == (*before[:-1], Text("Forty-two."))
    exchange.say("And 6*8?", says("48."))
    roles = [each.role for each in exchange.harness.engine.requests[-1].messages]
    assert roles == [
        *(MessageRole.USER, MessageRole.ASSISTANT, MessageRole.TOOL, MessageRole.ASSISTANT, MessageRole.USER),
    ]


def test_a_copy_of_a_chat_and_a_deleted_one_have_no_consents(exchange: Exchange) -> None:
    exchange.ask("Read", calls(call("files__read", {"path": "a"})), says("Done."))
    exchange.finish(Answer.CHAT)
    first = exchange.chat.chat_id
    exchange.chat.duplicate(first)
    exchange.harness.settle()
    assert exchange.chat.chat_id != first
    exchange.ask("Read", calls(call("files__read", {"path": "b"})), says("Done."))
    exchange.finish(Answer.DONT)
    consents = "SELECT count(*) FROM consents"
    assert exchange.harness.database.rows(consents)[0][0] == 1
    exchange.harness.change(lambda stores: stores.trash.put_chats([first]))
    exchange.harness.change(lambda stores: stores.trash.empty())
    assert exchange.harness.database.rows(consents)[0][0] == 0


def test_pictures_of_a_result_are_decoded_apart_stored_and_shown(exchange: Exchange) -> None:
    exchange.servers.pictures = (written(image(30, 20), "png"), b"no picture", b"\x89PNG\r\n\x1a\nbroken")
    exchange.ask("Look", calls(call("files__read", {"path": "a.png"})), says("A picture."))
    exchange.finish(Answer.ONCE)
    (shown,) = exchange.calls[0].pictures
    assert (shown.is_picture, shown.name, exchange.row.attachments) == (True, "", ())
    assert exchange.harness.storage.pictures.get(shown.digest)
    assert [type(each).__name__ for each in exchange.stored()] == ["Call", "Result", "Attachment", "Text"]
    (*_, answer) = exchange.harness.engine.requests[-1].messages
    assert (answer.pictures, "Picture that is not shown" in answer.content) == ((), True)


def test_a_model_that_sees_is_given_the_pictures_of_a_result(tmp_path: Path, qtbot: QtBot) -> None:
    eyes = replace(MODELS[MAIN.folder], sees=True)
    with open_harness(tmp_path, qtbot, models=MODELS | {MAIN.folder: eyes}) as harness:
        harness.load_pair()
        exchange = Exchange(harness)
        exchange.servers.pictures = (written(image(30, 20), "png"),)
        exchange.ask("Look", calls(call("files__read", {"path": "a.png"})), says("A picture."))
        exchange.finish(Answer.ONCE)
        exchange.say("And now?", says("Still."))
        for request in harness.engine.requests[1:]:
            (answer,) = (each for each in request.messages if each.role is MessageRole.TOOL)
            assert [(each.width, each.height) for each in answer.pictures] == [(30, 20)]
            assert answer.content == "read ran"


def test_where_the_context_is_nearly_full_the_model_has_to_answer_and_that_is_said(
    exchange: Exchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MOST_CONTEXT", 0.001)
    one = [calls(call("calculator", {"expression": f"{at}"}), said="So.") for at in range(2)]
    exchange.say("Go", *one, says("Never."))
    assert [each.may_call for each in exchange.harness.engine.requests] == [True, False]
    assert "context is nearly full" in exchange.calls[0].result
    assert exchange.row.status is ReplyStatus.DONE, "a call that comes all the same does not run"
    assert exchange.calls[-1].state is CallState.STOPPED


def test_where_older_messages_can_be_left_out_the_model_may_go_on_calling(
    exchange: Exchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange.say("Before", says("Yes."))
    monkeypatch.setattr(rules, "MOST_CONTEXT", 0.001)
    exchange.say("Go", calls(call("calculator", {"expression": "1"}), said="So."), says("One."))
    assert [each.may_call for each in exchange.harness.engine.requests] == [True] * 3
    cut = replace(calls(call("calculator", {"expression": "2"}), said="So."), first=2)
    exchange.say("Again", cut, says("Two."))
    assert [each.may_call for each in exchange.harness.engine.requests[3:]] == [True, True]
    cut = replace(cut, first=len(exchange.harness.engine.requests[-1].messages) + 1)
    exchange.say("And again", cut, says("Two."))
    assert exchange.harness.engine.requests[-1].may_call is False


@pytest.mark.parametrize(("answer", "where"), [(Answer.ALWAYS, "always"), (Answer.CHAT, "in_chat")])
def test_consent_is_shown_where_it_holds_and_can_be_taken_back(exchange: Exchange, answer: Answer, where: str) -> None:
    def allowed() -> list[str]:
        return [row.id for group in exchange.chat.tools.chat_tools() for row in group.tools if getattr(row, where)]

    exchange.ask("Read", calls(call("files__read", {"path": "a"})), says("Done."))
    with exchange.harness.qtbot.waitSignal(exchange.chat.tools.changed):
        exchange.finish(answer)
    assert allowed() == ["files/read"]
    with exchange.harness.qtbot.waitSignal(exchange.chat.tools.changed):
        exchange.chat.tools.ask_again("files/read")
    assert allowed() == []
    exchange.ask("Read", calls(call("files__read", {"path": "b"})), says("Done."))
    exchange.finish(Answer.DONT)
    assert len(exchange.servers.ran) == 1
