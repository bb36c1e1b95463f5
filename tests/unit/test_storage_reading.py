"""From where on a chat is read for its next reply, whatever becomes of its messages, and which of them stay."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from app.portable import own
from app.portable.markdown import markdown_of
from app.storage import Attachment, AttachmentKind, ReplyStatus, ReplyText, Stores, portable
from app.storage.parts import Summary
from engine import MessageRole, RequestStats
from tests.helpers.portable_chat import WORDS

USER, ASSISTANT = MessageRole.USER, MessageRole.ASSISTANT
STATS = RequestStats(context_limit_tokens=4096)


def exchange(stores: Stores, chat: int, parent: int | None, words: str, reads_from: int | None = None) -> int:
    """The reply; to be read from that message on."""
    asked = stores.messages.add_user(chat, parent, f"{words}?")
    reply = stores.messages.begin_reply(chat, asked, "Main", "")
    text = ReplyText(reply, f"{words}.", "", 0.0, reads_from=reads_from)
    stores.messages.set_end(text, ReplyStatus.DONE, STATS, None, None)
    return reply


def read(stores: Stores, reply: int, context_tokens: int = 4096) -> str:
    """What is pinned, a bar, and the rest, each by its words."""
    found = stores.messages.read_for(reply, context_tokens)
    return "|".join(" ".join(each.text for each in part) for part in (found.pinned, found.rest))


@pytest.fixture
def chat(stores: Stores) -> int:
    """Of four exchanges; from the third on it was read from the second."""
    made = stores.chats.create("Chat")
    first = exchange(stores, made, None, "a")
    second = exchange(stores, made, first, "b")
    third = exchange(stores, made, second, "c", second - 1)
    exchange(stores, made, third, "d", second - 1)
    return made


def number(stores: Stores, chat: int, text: str) -> int:
    return next(each.id for each in stores.messages.shown_branch(chat) if each.text == text)


def test_the_next_reply_is_read_from_where_the_one_before_it_was(stores: Stores, chat: int) -> None:
    asked = stores.messages.add_user(chat, number(stores, chat, "d."), "e?")
    reply = stores.messages.begin_reply(chat, asked, "Main", "")
    assert read(stores, reply) == "|b? b. c? c. d? d. e? "
    assert read(stores, reply, 2048) == "|b? b. c? c. d? d. e? "
    assert read(stores, reply, 8192) == "|a? a. b? b. c? c. d? d. e? "


def test_a_reply_that_goes_on_is_read_as_before(stores: Stores, chat: int) -> None:
    assert read(stores, number(stores, chat, "d.")) == "|b? b. c? c. d? d."
    assert read(stores, number(stores, chat, "b.")) == "|a? a. b? b."


def test_another_version_of_an_early_reply_is_read_as_the_one_before_it(stores: Stores, chat: int) -> None:
    asked = [number(stores, chat, text) for text in ("b?", "c?", "d?")]
    again = [stores.messages.begin_reply(chat, each, "Main", "") for each in asked]
    assert [read(stores, each) for each in again] == ["|a? a. b? ", "|a? a. b? b. c? ", "|b? b. c? c. d? "]


def test_after_a_reply_that_read_everything_everything_is_read(stores: Stores, chat: int) -> None:
    last = exchange(stores, chat, number(stores, chat, "d."), "e")
    assert read(stores, exchange(stores, chat, last, "f")) == "|a? a. b? b. c? c. d? d. e? e. f? f."


@pytest.mark.parametrize("long", [False, True])
def test_pinned_messages_stay_with_their_exchange(stores: Stores, monkeypatch: pytest.MonkeyPatch, long: bool) -> None:
    monkeypatch.setattr("app.storage.tree.LONG", 3 if long else 200)
    made = stores.chats.create("Chat")
    before: int | None = None
    for words in "abcde":
        before = exchange(stores, made, before, words)
    last = exchange(stores, made, before, "f", number(stores, made, "e?"))
    for text in ("a?", "c.", "f?"):
        stores.messages.pin(number(stores, made, text), True)
    assert read(stores, last) == "a? a. c? c.|e? e. f? f."
    stores.messages.pin(number(stores, made, "c."), False)
    assert read(stores, last) == "a? a.|e? e. f? f."
    other = stores.chats.create("Other")
    assert read(stores, exchange(stores, other, None, "x")) == "|x? x."


def test_changes_of_the_message_that_is_read_first(stores: Stores, chat: int) -> None:
    asked = stores.messages.message(number(stores, chat, "b?"))
    assert asked is not None
    stores.messages.replace(asked, "b2?")
    assert read(stores, number(stores, chat, "d.")) == "|b2? b. c? c. d? d."
    stores.messages.delete_one(number(stores, chat, "b2?"))
    assert read(stores, number(stores, chat, "d.")) == "|a? a. b. c? c. d? d."
    stores.messages.delete_one(number(stores, chat, "a?"))
    assert read(stores, number(stores, chat, "d.")) == "|a. b. c? c. d? d."


def test_other_words_for_a_reply_keep_from_where_it_was_read(stores: Stores, chat: int) -> None:
    reply = stores.messages.message(number(stores, chat, "d."))
    assert reply is not None
    stores.messages.pin(reply.id, True)
    changed = stores.messages.message(stores.messages.replace(replace(reply, pinned=True), "d2."))
    assert changed is not None
    assert (changed.reads_from, changed.pinned) == (reply.reads_from, True)


def test_a_copy_and_a_file_keep_it(stores: Stores, chat: int) -> None:
    stores.messages.pin(number(stores, chat, "a?"), True)
    copy = stores.chats.duplicate(chat, iter(["Copy"]))
    (line,) = (own.line_of(each) for each in portable.chats(stores.database, [chat], "here"))
    imported = portable.add(stores, own.chat_of(json.loads(line)))
    for each in (copy, imported):
        assert read(stores, number(stores, each, "d.")) == "a? a.|b? b. c? c. d? d."


def test_a_document_that_is_not_here_is_not_said_to_be_searched(stores: Stores, chat: int) -> None:
    stores.messages.add_user(chat, None, "x?", (Attachment("a.pdf", AttachmentKind.SEARCHED, "", 9),))
    (line,) = (own.line_of(each) for each in portable.chats(stores.database, [chat], "here"))
    imported = portable.add(stores, own.chat_of(json.loads(line)))
    assert [each.kind for each in stores.messages.shown_branch(imported)[0].attachments] == [AttachmentKind.NOTE]


def test_a_summary_is_read_before_the_message_that_it_ends_at(stores: Stores, chat: int) -> None:
    left = stores.messages.left_out(chat)
    assert [each.text for each in left] == ["a?", "a.", "b?"]
    other = stores.messages.add_user(chat, number(stores, chat, "a."), "b2?")
    stores.chats.set_leaf(chat, stores.messages.latest_leaf(left[-1].id))
    summary = stores.messages.put_summary(left[-1].id, "Of a.", 2)
    assert summary is not None
    assert read(stores, number(stores, chat, "d.")) == "|Of a. b? b. c? c. d? d."
    assert [each.text for each in stores.messages.branch(other)] == ["a?", "a.", "Of a.", "b2?"]
    assert [each.text for each in stores.messages.left_out(chat)] == ["a?", "a.", "Of a."]
    last = number(stores, chat, "d.")
    exchange(stores, chat, last, "e", number(stores, chat, "d?"))
    assert [each.text for each in stores.messages.left_out(chat)] == ["Of a.", "b?", "b.", "c?", "c.", "d?"]
    (told,) = portable.chats(stores.database, [chat], "here")
    assert "## Summary\n\nOf a." in markdown_of(told, WORDS)
    imported = portable.add(stores, own.chat_of(json.loads(own.line_of(told))))
    found = [each for each in stores.messages.shown_branch(imported) if each.is_summary]
    assert [(each.text, each.parts) for each in found] == [("Of a.", (Summary(2),))]
    assert stores.messages.put_summary(10**9, "Of nothing.", 2) is None
    exchange(stores, chat, number(stores, chat, "e."), "f")
    assert stores.messages.left_out(chat) == []


@pytest.mark.parametrize("hostile", [3.5, "2", True, 99, None, [1]])
def test_a_file_that_names_another_message_is_read_from_the_beginning(
    stores: Stores, chat: int, hostile: object
) -> None:
    (line,) = (own.line_of(each) for each in portable.chats(stores.database, [chat], "here"))
    told = json.loads(line)
    for message in told["messages"]:
        message["reads_from"] = hostile
        message["pinned"] = hostile
    imported = portable.add(stores, own.chat_of(told))
    assert read(stores, number(stores, imported, "d.")) == "|a? a. b? b. c? c. d? d."
