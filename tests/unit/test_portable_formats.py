"""Chats of other apps, and our own form: what is understood, in which order, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from app.portable import own
from app.portable.child import understood
from app.portable.json_stream import Element, JsonReader, loads
from app.portable.problems import Unreadable, WhyNotRead
from app.portable.writing import Names, safe_name
from app.storage import Attachment, AttachmentKind
from app.storage.codec import as_name
from app.storage.parts import Call, CallStage, Result, Text, Thinking, Unknown, of_kind
from app.storage.portable import PortableChat, PortableMessage
from tests.helpers.foreign_chats import HIDDEN, chatgpt, drawing, lm_studio, node, pointer, replied, said, slot, step


def chat(found: Any) -> PortableChat:
    (result,) = understood(loads(json.dumps(found)))
    return result


def refusal(found: Any) -> WhyNotRead:
    with pytest.raises(Unreadable) as refused:
        chat(found)
    return refused.value.why


def shape(of: PortableChat) -> list[tuple[int, int | None, str, str]]:
    return [(each.number, each.parent, each.role, each.text) for each in of.messages]


# ChatGPT


def test_a_conversation_is_a_tree_of_what_its_reader_saw() -> None:
    found = chat(
        chatgpt(
            node("s", "root", "system", "You are helpful", metadata=HIDDEN),
            node("q", "s", "user", "Why does it fail?", create_time=1),
            node("a1", "q", "assistant", "Because.", create_time=2, metadata={"model_slug": "gpt-4o"}),
            node("a2", "q", "assistant", "Let me look.", create_time=3, recipient="all"),
            node("call", "a2", "assistant", "ls()", recipient="python"),
            node("tool", "call", "tool", "a.txt"),
            node("a3", "tool", "assistant", "A timeout.", create_time=4, metadata={"model_slug": "gpt-5"}),
            node("q2", "a3", "user", "Thanks", create_time=5),
            current_node="q2",
        )
    )
    assert shape(found) == [
        (1, None, "user", "Why does it fail?"),
        (2, 1, "assistant", "Because."),
        (3, 1, "assistant", "A timeout."),
        (4, 3, "user", "Thanks"),
    ]
    called = Call("call", "python", '{"input": "ls()"}')
    assert found.messages[2].parts == (Text("Let me look."), called, Result("call", "", "a.txt", outside=True))
    assert (found.title, found.origin, found.shown) == ("Deploys", "chatgpt:c-1", 4)
    assert [each.main_name for each in found.messages] == ["", "gpt-4o", "gpt-5", ""]
    assert (found.created_at, found.updated_at, found.messages[0].created_at) == (1_700_000_000.5, 1_700_000_900.0, 1)


@pytest.mark.parametrize("title", ["", " \n "])
def test_a_chat_without_a_title_is_called_by_its_first_words(title: str) -> None:
    assert chat(chatgpt(node("q", "root", "user", "Why  does\nit fail?"), title=title)).title == "Why does it fail?"


def test_calls_and_results_of_an_export_are_steps() -> None:
    """With several results, results after results, charts, JSON arguments, and what was hidden."""
    chart = {"message_type": "image", "image_url": "file-service://file-Ab1", "width": 30, "height": 20}
    drew = {"aggregate_result": {"status": "success", "messages": [chart, {"message_type": "stream"}, None]}}
    quoted = {"content_type": "tether_quote", "title": "Ducks", "text": "Three ducks."}
    ran = {"content_type": "execution_output", "text": "3"}
    found = chat(
        chatgpt(
            node("q", "root", "user", "How many?"),
            node("t", "q", "assistant", content={"content_type": "thoughts", "thoughts": [{"content": "I look."}]}),
            node("c1", "t", "assistant", '{"query": "ducks"}', recipient="web.run"),
            node("r1", "c1", "tool", content=quoted),
            node("r2", "r1", "tool", content=ran),
            node("h", "r2", "tool", "secret", metadata=HIDDEN),
            node("c2", "h", "assistant", content={"content_type": "code", "text": "1+2"}, recipient="python"),
            node("r3", "c2", "tool", content={"content_type": "execution_output", "text": ""}, metadata=drew),
            node("a", "r3", "assistant", "Three."),
        )
    )
    (_, reply) = found.messages
    assert reply.text == "Three."
    assert reply.parts == (
        Thinking("I look."),
        Call("c1", "web.run", '{"query": "ducks"}'),
        Result("c1", "", "Three ducks.", outside=True),
        Result("c1", "", "3", outside=True),
        Call("c2", "python", '{"input": "1+2"}'),
        Result("c2", "", "", outside=True),
        Attachment("", AttachmentKind.PICTURE, "file-Ab1", 0),
    )
    assert all(each.consent == "" for each in of_kind(Call, reply.parts))


def test_calls_of_lm_studio_are_steps() -> None:
    request = {"type": "toolCallRequest", "toolCallRequestId": "7", "name": "read", "parameters": {"path": "a.md"}}
    answer = {"type": "toolCallResult", "toolCallRequestId": "7", "content": '[{"type": "text", "text": "ducks"}]'}
    reply = replied(
        step("I look.", style={"type": "thinking"}),
        {"type": "contentBlock", "content": [request | {"pluginIdentifier": "mcp/files"}]},
        {"type": "contentBlock", "roleOverride": "tool", "content": [answer]},
        step("Ducks."),
    )
    (_, made) = chat(lm_studio(slot(said("What is there?")), slot(reply))).messages
    assert made.text == "Ducks."
    assert made.parts == (
        Thinking("I look."),
        Call("7", "read", '{"path": "a.md"}', "files"),
        Result("7", "", "ducks", outside=True),
    )


def test_thinking_becomes_part_of_its_answer() -> None:
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "Looking", "content": "First I look."}]}
    recap = {"content_type": "reasoning_recap", "content": "Thought for 7 s"}
    found = chat(
        chatgpt(
            node("q", "root", "user", "Why?"),
            node("t", "q", "assistant", content=thoughts),
            node("r", "t", "assistant", content=recap, metadata={"finished_duration_sec": 7}),
            node("a", "r", "assistant", "So."),
        )
    )
    assert shape(found) == [(1, None, "user", "Why?"), (2, 1, "assistant", "So.")]
    assert (found.messages[1].thinking, found.messages[1].thinking_s) == ("First I look.", 7)


def test_of_files_and_what_was_heard_remains_that_they_were_there() -> None:
    heard = {"content_type": "audio_asset_pointer"}
    files = {"attachments": [{"name": "report.pdf", "size": 9}, {"id": 3}, None]}
    found = chat(
        chatgpt(
            node("q", "root", "user", heard, "What is it?", metadata=files),
            node("a", "q", "assistant", heard, {"content_type": "audio_transcription", "text": "A duck."}),
        )
    )
    notes = [(each.name, each.kind) for each in found.messages[0].attachments]
    assert notes == [("audio", AttachmentKind.NOTE), ("report.pdf", AttachmentKind.NOTE)]
    assert found.messages[1].text == "[audio]\n\nA duck."


def test_pictures_are_wanted_by_the_numbers_and_names_of_their_files() -> None:
    """Those that ChatGPT drew stand in its reply; pages that a tool looked into are none of them."""
    files = {"attachments": [{"id": "file-Ab1", "name": "sea.png"}, {"id": "file-Pdf", "name": "a.pdf"}]}
    page = {"content_type": "multimodal_text", "parts": [pointer("file-service://file-Page", metadata={})]}
    asked = [pointer("file-service://file-Ab1"), pointer("sediment://9f#file_00c2#p_0.jpg"), "What?"]
    found = chat(
        chatgpt(
            node("q", "root", "user", *asked, metadata=files),
            node("call", "q", "assistant", "{}", recipient="dalle.text2im"),
            node("page", "call", "tool", content=page),
            drawing("d", "page", "sediment://file_00d1"),
            node("a", "d", "assistant", "Here."),
        )
    )
    picture, noted = AttachmentKind.PICTURE, AttachmentKind.NOTE
    assert [[(each.name, each.kind, each.text) for each in message.attachments] for message in found.messages] == [
        [("sea.png", picture, "file-Ab1"), ("", picture, "file_00c2"), ("a.pdf", noted, "")],
        [("", picture, "file_00d1")],
    ]
    assert shape(found) == [(1, None, "user", "What?"), (2, 1, "assistant", "Here.")]
    (message,) = chat(lm_studio(slot(said("What?", "user", "17 - 4.png")))).messages
    assert [(each.kind, each.text) for each in message.attachments] == [(picture, "17 - 4.png")]


def mark(*parts: str) -> str:
    """In a reply of ChatGPT's, in place of what its page shows."""
    return "\ue200" + "\ue202".join(parts) + "\ue201"


def test_marks_of_the_page_become_the_words_that_it_shows() -> None:
    cited = mark("cite", "turn0search0")
    city = mark("entity", '["city", "Paris", "France"]')
    references = [{"matched_text": cited, "alt": "([Ducks](https://example.org))"}, None, {"matched_text": 3}]
    nothing = mark("image_group", "{}") + mark("entity", "[") + mark("navlist")
    text = f"Three. {cited} In {city}, {mark('url', 'here', 'turn0')} {mark('cite', 'turn0search2')}. {nothing}"
    asked = node("q", "root", "user", "How many?")
    found = chat(chatgpt(asked, node("a", "q", "assistant", text, metadata={"content_references": references})))
    assert found.messages[1].text == "Three. ([Ducks](https://example.org)) In Paris, here."


def test_marks_of_sources_become_what_the_file_says_of_these() -> None:
    """Those of research and of files; what has no source here may be the user's own words, however long."""
    page, file, none = "【446366422802141†L1-L10】", "【8:0†my_notes.md†L2】", "【812†screenshot】"
    references = [
        {"matched_text": page, "alt": None, "title": "\n Ducks ", "url": "https://a.org/b_(c)#:~:text=Three%20ducks"},
        {"matched_text": file, "alt": None, "name": "my_notes.md", "type": "file"},
        {"matched_text": none, "alt": None, "type": "hidden"},
        {"matched_text": mark("filecite", "turn0file1"), "name": "a.pdf", "url": "javascript:3"},
    ]
    own = f"【1†source】 【注意】 【{'1' * 1_000_000}"
    text = f"Three {page}. Two {file}{none}. One {mark('filecite', 'turn0file1')} {own}"
    asked = node("q", "root", "user", "How many?")
    found = chat(chatgpt(asked, node("a", "q", "assistant", text, metadata={"content_references": references})))
    assert found.messages[1].text == (
        f"Three ([Ducks](<https://a.org/b_(c)#:~:text=Three%20ducks>)). Two (my\\_notes.md). One (a.pdf) {own}"
    )


def test_code_is_code() -> None:
    content = {"content_type": "code", "language": "python", "text": 'x = """\n```\n"""'}
    found = chat(chatgpt(node("q", "root", "user", "x"), node("a", "q", "assistant", content=content)))
    assert found.messages[1].text == '````python\nx = """\n```\n"""\n````'


def canvas(key: str, parent: str, recipient: str, said: Any, *, as_text: bool = False) -> dict[str, Any]:
    text = said if isinstance(said, str) else json.dumps(said)
    content: dict[str, Any] = {"content_type": "code", "language": "json", "text": text}
    if as_text:
        content = {"content_type": "text", "parts": [text]}
    return node(key, parent, "assistant", content=content, recipient=f"canmore.{recipient}_textdoc")


@pytest.mark.parametrize("as_text", [False, True])
def test_documents_and_code_in_the_canvas_stand_in_their_reply(as_text: bool) -> None:
    code = {"name": "ducks", "type": "code/python", "content": 'x = """\n```\n"""\n'}
    updates = {"updates": [{"pattern": ".*", "multiple": False, "replacement": "y = 1\n"}, {"replacement": ""}]}
    essay = {"name": "my_essay", "type": "document", "content": "It *rained*."}
    found = chat(
        chatgpt(
            canvas("c", "root", "create", code, as_text=as_text),
            canvas("u", "c", "update", updates, as_text=as_text),
            canvas("e", "u", "create", essay, as_text=as_text),
            node("t", "e", "tool", "Successfully created"),
            canvas("v", "t", "update", {"updates": [{"replacement": "Two."}]}, as_text=as_text),
            node("a", "v", "assistant", "I have written it."),
        )
    )
    (reply,) = found.messages
    assert reply.text == (
        '**ducks**\n\n````python\nx = """\n```\n"""\n````\n\n```python\ny = 1\n```\n\n'
        "**my\\_essay**\n\nIt *rained*.\n\nTwo.\n\nI have written it."
    )


@pytest.mark.parametrize(
    ("recipient", "said", "text"),
    [
        ("create", '{"name": "essay", "content": "It rai', '```json\n{"name": "essay", "content": "It rai\n```'),
        ("update", "[1]", "```json\n[1]\n```"),
        ("create", {"name": "essay", "content": ""}, "**essay**"),
        ("create", {"name": "", "type": "code/a b`", "content": "x"}, "```\nx\n```"),
        ("update", {"updates": [{"pattern": "x", "replacement": ""}, None, {"replacement": 3}]}, ""),
        ("create", " ", ""),
    ],
)
def test_what_the_canvas_was_told_is_left_out_only_where_it_is_nothing(recipient: str, said: Any, text: str) -> None:
    found = chat(chatgpt(node("q", "root", "user", "Write."), canvas("c", "q", recipient, said)))
    assert [each.text for each in found.messages[1:]] == ([text] if text else [])


def test_circles_and_lost_parents() -> None:
    around = [node("a", "b", "user", "1"), node("b", "a", "assistant", "2")]
    assert refusal(chatgpt(*around)) is WhyNotRead.CIRCLE
    unseen = [node("a", "b", "system", "1"), node("b", "a", "system", "2"), node("c", "a", "user", "3")]
    assert refusal(chatgpt(*unseen)) is WhyNotRead.CIRCLE
    assert shape(chat(chatgpt(node("a", "nobody", "user", "alone")))) == [(1, None, "user", "alone")]
    assert refusal(chatgpt()) is WhyNotRead.EMPTY


def test_a_long_chain_needs_no_deep_stack() -> None:
    roles = ("user", "assistant")
    nodes = [node(str(n), str(n - 1) if n else "root", roles[n % 2], str(n)) for n in range(5000)]
    found = chat(chatgpt(*reversed(nodes)))
    assert [each.parent for each in found.messages] == [None, *range(1, 5000)]


def test_what_was_told_about_every_answer_is_the_system_prompt() -> None:
    told = {"user_context_message_data": {"about_user_message": "I keep ducks.", "about_model_message": "Be short."}}
    question = node("q", "s", "user", "Why?")
    found = chat(chatgpt(node("s", "root", "user", "", metadata=HIDDEN | told), question, current_node="q"))
    assert found.options == {"system_prompt": "I keep ducks.\n\nBe short."}
    found = chat(chatgpt(node("s", "root", "system", "You count.", metadata=HIDDEN), question, current_node="q"))
    assert found.options == {"system_prompt": "You count."}
    assert chat(chatgpt(question, current_node="q")).options is None


# LM Studio


def test_the_system_prompt_of_lm_studio() -> None:
    assert chat(lm_studio(slot(said("Hi")), systemPrompt="Be short.")).options == {"system_prompt": "Be short."}
    found = chat(lm_studio(slot(said("You count.", "system")), slot(said("Hi"))))
    assert (found.options, shape(found)) == ({"system_prompt": "You count."}, [(1, None, "user", "Hi")])
    assert chat(lm_studio(slot(said("Hi")))).options is None
    fields = [None, {"key": "llm.prediction.temperature", "value": 1}]
    own = {"fields": [*fields, {"key": "llm.prediction.systemPrompt", "value": "Be kind."}]}
    found = chat(lm_studio(slot(said("Hi")), systemPrompt="", perChatPredictionConfig=own))
    assert found.options == {"system_prompt": "Be kind."}
    unused = {"perChatPredictionConfig": own, "usePerChatPredictionConfig": False}
    assert chat(lm_studio(slot(said("Hi")), **unused)).options is None


def test_versions_of_lm_studio_are_branches() -> None:
    thinks = {"style": {"type": "thinking", "ended": True}}
    made = {"genInfo": {"indexedModelIdentifier": "lmstudio-community/Qwen3"}}
    found = chat(
        lm_studio(
            slot(said("How many ducks?"), said("How many?"), selected=1),
            slot(
                replied(step("Count.", stepIdentifier="1718900060000-0.4", **thinks), step("Three.", **made)),
                replied(step("Four.", stepIdentifier="1718900120000-0.02")),
            ),
            slot(said("Sure?")),
            slot(replied({"type": "debugInfoBlock"}, step("<think>hm</think>Yes."))),
        )
    )
    assert shape(found) == [
        (1, None, "user", "How many ducks?"),
        (2, None, "user", "How many?"),
        (3, 2, "assistant", "Three."),
        (4, 2, "assistant", "Four."),
        (5, 3, "user", "Sure?"),
        (6, 5, "assistant", "Yes."),
    ]
    assert found.shown == 6
    assert [found.messages[at].thinking for at in (2, 5)] == ["Count.", "hm"]
    assert [found.messages[at].main_name for at in (2, 3)] == ["lmstudio-community/Qwen3", "qwen3-8b"]
    assert found.created_at == 1_718_900_000.0
    assert [each.created_at - found.created_at for each in found.messages] == [0, 0, 60, 120, 120, 120]


def test_files_of_lm_studio_are_noted_and_old_chats_read() -> None:
    file = {"type": "file", "fileType": "image", "name": "duck.png"}
    message = {"type": "singleStep", "role": "user", "content": [{"type": "text", "text": "See"}, file]}
    assert [each.name for each in chat(lm_studio(slot(message))).messages[0].attachments] == ["duck.png"]
    old = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
    assert shape(chat(old)) == [(1, None, "user", "Hi"), (2, 1, "assistant", "Hello")]
    assert (chat(old).title, chat(old | {"title": "Ducks"}).title) == ("Hi", "Ducks")


def test_the_same_chat_has_the_same_origin_when_it_was_renamed() -> None:
    one, other = (chat(lm_studio(slot(said("Hi")), name=name)) for name in ("Old", "New"))
    assert one.origin == other.origin
    assert one.origin != chat(lm_studio(slot(said("Ho")))).origin


def test_chats_without_a_time_are_one_only_if_they_say_the_same() -> None:
    """An import would pass over the second of them."""
    question = {"role": "user", "content": "Hi"}
    one, same, other = (
        chat({"messages": [question, {"role": "assistant", "content": answer}]}) for answer in ("Hello", "Hello", "Ho")
    )
    assert one.origin == same.origin != other.origin


def test_a_list_that_is_a_tree_is_not_read_as_if_all_of_it_was_said() -> None:
    """As llama.cpp's page writes it: versions of a reply would follow one another."""

    def written(*parents: str | None) -> dict[str, Any]:
        roles = ["user", "assistant", "assistant", "user"]
        found = zip("abcd", parents, roles, strict=False)
        return {"messages": [{"id": key, "parent": at, "role": role, "content": key} for key, at, role in found]}

    assert [each.text for each in chat(written(None, "a", "b", "c")).messages] == ["a", "b", "c", "d"]
    assert refusal(written(None, "a", "a", "c")) is WhyNotRead.UNKNOWN


@pytest.mark.parametrize("found", [3, "x", None, [], {}, {"messages": []}, {"mapping": 3}, {"a": {"mapping": {}}}])
def test_what_is_no_chat_is_not_taken_for_one(found: Any) -> None:
    assert refusal(found) is WhyNotRead.UNKNOWN


# Our own

# Halves of pairs are no characters: what is stored has none.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
objects = st.dictionaries(
    texts, st.none() | st.booleans() | numbers | texts | st.lists(numbers, max_size=2), max_size=3
)
times = st.floats(0, 3e10, allow_nan=False)
names = texts.map(as_name)
attached = st.builds(  # documents that are searched stay where they are
    Attachment,
    names,
    st.sampled_from(sorted(set(AttachmentKind) - {AttachmentKind.PICTURE, AttachmentKind.SEARCHED})),
    texts,
    st.integers(0, 10**15),
    st.integers(0, 10**15),
)
digests = st.integers(0, 2**256 - 1).map(lambda number: f"{number:064x}")
pictures = st.builds(
    Attachment,
    names,
    st.just(AttachmentKind.PICTURE),
    texts,
    st.integers(0, 10**15),
    digest=digests,
    width=st.integers(1, 10**4),
    height=st.integers(1, 10**4),
)
unknown = st.builds(
    lambda values, kind: Unknown(json.dumps(values | {"part": kind}, ensure_ascii=False)),
    objects,
    st.sampled_from(["hologram", 3, None, "", ["text"]]),
)
parts = st.one_of(
    st.builds(Text, texts),
    st.builds(Thinking, texts, times),
    st.builds(Call, texts, texts, texts, texts, texts, st.sampled_from(CallStage), texts),
    st.builds(Result, texts, texts, texts, st.booleans(), times, st.booleans()),
    attached,
    pictures,
    unknown,
)


@st.composite
def chats(draw: st.DrawFn) -> PortableChat:
    count = draw(st.integers(0, 4))
    numbers = draw(st.lists(st.integers(1, 99), min_size=count, max_size=count, unique=True))
    messages = tuple(
        PortableMessage(
            number=number,
            parent=draw(st.sampled_from([None, *numbers[:at]])),
            role=draw(st.sampled_from(["user", "assistant", "system"])),
            text=draw(texts),
            thinking=draw(texts),
            thinking_s=draw(times),
            status=draw(st.sampled_from(["done", "stopped", "length", "failed", "interrupted"])),
            main_name=draw(texts),
            draft_name=draw(texts),
            stats=draw(st.none() | objects),
            error=draw(st.none() | objects),
            drafting=draw(st.none() | objects),
            parts=tuple(draw(st.lists(parts, max_size=3))),
            created_at=draw(times),
        )
        for at, number in enumerate(numbers)
    )
    return PortableChat(
        origin=draw(texts.filter(bool)),
        title=draw(texts),
        messages=messages,
        shown=draw(st.sampled_from([None, *numbers])),
        renamed=draw(st.booleans()),
        pinned=draw(st.booleans()),
        created_at=draw(times),
        updated_at=draw(times),
        folder=tuple(draw(st.lists(texts, max_size=2))),
        options=draw(st.none() | objects),
    )


@pytest.mark.parametrize(
    "change",
    [
        {"messages": [3]},
        {"messages": [{"id": 1}]},
        {"messages": [{"id": True, "role": "user"}]},
        {"messages": [{"id": 1, "role": "user", "text": 3}]},
        {"messages": [{"id": 1, "role": "user"}, {"id": 1, "role": "user"}]},
        {"messages": [{"id": 1, "role": "user", "created_at": 1e300}]},
        {"messages": [{"id": 1, "role": "user", "stats": []}]},
        {"title": 3},
        {"projects": 3},
        {"projects": [3]},
        {"projects": [{"instructions": 3}]},
        {"id": ""},
    ],
)
def test_a_value_of_the_wrong_kind_refuses_the_chat(change: dict[str, Any]) -> None:
    usual = json.loads(own.line_of(PortableChat("x", "Title", ())))
    assert refusal(usual | change) is WhyNotRead.WRONG


@pytest.mark.parametrize("odd", [[1], {}, True, 1.0, "1", -1, 10**30, None])
def test_odd_places_in_the_tree_end_nothing(odd: object) -> None:
    """What a message follows, and which is shown: refused, or as if it were not said."""
    usual = json.loads(own.line_of(PortableChat("x", "Title", ())))
    messages = [{"id": 1, "role": "user"}, {"id": 2, "role": "user", "parent": odd}]
    assert odd is None or refusal(usual | {"messages": messages}) is WhyNotRead.CIRCLE
    (found,) = understood(usual | {"messages": messages[:1], "shown": odd})
    assert found.shown is None


def test_halves_of_pairs_become_question_marks() -> None:
    text = own.line_of(PortableChat("x", "T", ())).replace('"T"', '"a\\ud800b"')
    (found,) = understood(loads(text))
    assert found.title == "a?b"


# The reader of large files


def elements(text: str, size: int = 7) -> tuple[list[Any], dict[str, Any]]:
    reader = JsonReader()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return [value_of(each) for each in reader.elements(pieces)], reader.head


def value_of(element: Element) -> Any:
    if element.why is not None:
        raise Unreadable(element.why)
    return element.value


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@hypothesis_settings(max_examples=150)
@given(st.lists(json_values, max_size=4), st.integers(1, 30), st.booleans(), st.sampled_from([None, 1]))
def test_a_list_is_read_value_by_value(values: list[Any], size: int, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(values, ensure_ascii=ascii_only, indent=indent)
    assert elements(text, size) == (values, {})
    head = {"format": "x", "chats": values, "later": {"a": [1, 2]}}
    text = json.dumps(head, ensure_ascii=ascii_only, indent=indent)
    assert elements(text, size) == (values, {"format": "x", "later": {"a": [1, 2]}})
    single = {"a": values, "b": 1}
    assert elements(json.dumps(single, ensure_ascii=ascii_only, indent=indent), size) == ([single], {})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", WhyNotRead.EMPTY),
        ("hello", WhyNotRead.NOT_JSON),
        ("[1, 2", WhyNotRead.TRUNCATED),
        ('[{"a": "b', WhyNotRead.TRUNCATED),
        ("[1]]", WhyNotRead.NOT_JSON),
        ("[1] x", WhyNotRead.NOT_JSON),
        ("[NaN]", WhyNotRead.NOT_JSON),
        ('["a\nb"]', WhyNotRead.NOT_JSON),
        ('["\\x"]', WhyNotRead.NOT_JSON),
        ('[{"stats": {"rounds": 1e999}}]', WhyNotRead.NOT_JSON),
        ("[" + "9" * 5000 + "]", WhyNotRead.NOT_JSON),
        ('[{"a": 1, "a": 2}]', WhyNotRead.DUPLICATE),
        ('[[{"a": 1, "b": {}, "a": 2}]]', WhyNotRead.DUPLICATE),
        ("[" * 1_000_000, WhyNotRead.TOO_DEEP),
        ('{"a":' * 100_000, WhyNotRead.TOO_DEEP),
        ('{"a": 1, "a": 2}', WhyNotRead.DUPLICATE),
        ("{1: 2}", WhyNotRead.NOT_JSON),
        ('{"a" 2}', WhyNotRead.NOT_JSON),
        ('[{"a": tru', WhyNotRead.TRUNCATED),
        ('[{"a": truly}]', WhyNotRead.NOT_JSON),
        ('["\\ud8', WhyNotRead.TRUNCATED),
        ("[-", WhyNotRead.TRUNCATED),
        ('{"chats": [1', WhyNotRead.TRUNCATED),
        ('{"chats"', WhyNotRead.TRUNCATED),
    ],
)
def test_what_is_not_as_it_should_be_is_refused(text: str, why: WhyNotRead) -> None:
    with pytest.raises(Unreadable) as refused:
        elements(text, 1000)
    assert refused.value.why is why


@pytest.mark.parametrize("large", ['"' + "x" * 900, "1" * 900, '{"a": [' + "1, " * 300, '{"' + "x" * 900, " " * 900])
def test_a_value_that_is_too_large_ends_the_reading(large: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.portable.json_stream.MOST_CHARACTERS", 50)
    text = '["a", ' + large
    pieces = iter([text[at : at + 10] for at in range(0, len(text), 10)])
    values = JsonReader().elements(pieces)
    assert next(values) == Element("a")
    if large.isspace():
        with pytest.raises(Unreadable, match=WhyNotRead.TRUNCATED):
            next(values)
        return
    with pytest.raises(Unreadable, match=WhyNotRead.TOO_LARGE):
        next(values)
    assert len(list(pieces)) > 50


def test_a_value_of_the_wrong_kind_leaves_the_others() -> None:
    text = '[1, {"a": [1e999]}, {"b": 1, "b": 2}, ' + "9" * 5000 + ', {"c": NaN}, 2]'
    assert [each.why or each.value for each in JsonReader().elements([text])] == [
        1,
        WhyNotRead.NOT_JSON,
        WhyNotRead.DUPLICATE,
        WhyNotRead.NOT_JSON,
        WhyNotRead.NOT_JSON,
        2,
    ]


@hypothesis_settings(max_examples=150)
@given(st.lists(json_values, max_size=3), st.data())
def test_a_file_that_is_cut_anywhere_is_truncated(values: list[Any], data: st.DataObject) -> None:
    text = json.dumps(values)
    cut = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(Unreadable, match=WhyNotRead.TRUNCATED):
        elements(text[:cut], 5)


def test_what_is_nested_without_measure_is_of_no_use() -> None:
    deep: dict[str, Any] = {}
    for _ in range(200):
        deep = {"a": deep}
    usual = json.loads(own.line_of(PortableChat("x", "Title", ())))
    assert refusal(usual | {"options": deep}) is WhyNotRead.WRONG
    assert not list(own.presets_of({"format": own.FORMAT, "presets": [{"id": "a", "name": "n", "values": deep}]}))


# Hostile values

CANVAS = ("canmore.create_textdoc", "canmore.update_textdoc", '{"content": "\\ud800"}', '{"updates": [3]}')
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("mapping", "message", "parent", "author", "role", "content", "parts", "content_type", "metadata"),
                    *("messages", "versions", "currentlySelected", "steps", "style", "type", "text", "createdAt"),
                    *("id", "shown", "title", "name", "folder", "attachments", "stats", "recipient", "create_time"),
                ]
            ),
            inner | st.sampled_from(["user", "assistant", "text", "thoughts", "multiStep", "code", *CANVAS]),
            max_size=6,
        )
    ),
    max_leaves=30,
)


@hypothesis_settings(max_examples=200)
@given(anything)
def test_whatever_a_file_says_is_understood_or_refused(found: Any) -> None:
    try:
        for each in understood(found):
            assert replace(each) == next(understood(loads(own.line_of(each))))
    except Unreadable:
        return


# Names


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("초안 모델이 뭐예요?", "초안 모델이 뭐예요"),
        ("../../etc/passwd", "etc passwd"),
        ('a<b>:"c"|d?*', "a b c d"),
        ("CON", "CON_"),
        ("nul.txt", "nul.txt_"),
        (" .hidden. ", "hidden"),
        ("", "Chat"),
        ("\u202egpj.exe\0", "gpj.exe"),
        ("e\u0301", "é"),
        ("\ud800", "Chat"),
    ],
)
def test_titles_become_names_that_every_system_takes(title: str, name: str) -> None:
    assert safe_name(title) == name


@given(st.lists(st.text(max_size=90) | st.sampled_from(["A", "a", "Ａ", "a 2"]), max_size=12))
def test_no_two_files_share_a_name(titles: list[str]) -> None:
    names = Names()
    given_names = [names.give(title) for title in titles]
    assert len({name.casefold() for name in given_names}) == len(titles)
    assert all(name and "/" not in name and len(name.encode()) < 200 for name in given_names)
