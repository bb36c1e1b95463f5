"""From a request to the tokens of its prompt: what the template is given, and how much of it a next turn repeats."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tokenizers import processors

from engine import EmptyConversation, Message, MessageRole, Request, TemplateFailed, TokenizerBroken
from engine.decoding.prompt import encode, prompt_tokens, shared_end, spared_tokens, turn_end
from engine.models.loading import LoadedModel
from engine.models.templates import ChatTemplate
from tests.helpers.loading import load_model
from tests.helpers.tiny_models import VOCABULARY, byte_tokenizer, rewrite, save_small

BEGINNING = "<|endoftext|>"
# Every turn, then what announces a reply: thinking that is switched off is closed at once.
TEMPLATE = (
    "{{ enable_thinking }}|{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% if not enable_thinking %}<done>{% endif %}{% endif %}"
)
ENDLESS = "{% for a in range(9999) %}" * 4 + "{% endfor %}" * 4
SYSTEM, USER, ASSISTANT = MessageRole.SYSTEM, MessageRole.USER, MessageRole.ASSISTANT


def made(folder: Path) -> Path:
    """A model whose tokenizer begins each text with a token of its own."""
    tokenizer = byte_tokenizer()
    begins = [(BEGINNING, tokenizer.token_to_id(BEGINNING))]
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{BEGINNING} $A", special_tokens=begins)
    return save_small(folder, tokenizer=tokenizer)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load_model(without_template(made(tmp_path_factory.mktemp("plain"))))


def without_template(folder: Path) -> Path:
    settings = folder / "tokenizer_config.json"
    told = json.loads(settings.read_text())
    del told["chat_template"]
    settings.write_text(json.dumps(told))
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return with_template(load_model(made(tmp_path_factory.mktemp("chat"))), TEMPLATE)


def with_template(model: LoadedModel, template: str) -> LoadedModel:
    return replace(model, template=ChatTemplate(template, {}))


def refusing(model: LoadedModel, refuses: str) -> LoadedModel:
    """Whose template begins each message with this, and which has no other template."""
    begin = "{% for m in messages %}"
    return replace(with_template(model, TEMPLATE.replace(begin, begin + refuses)), beside={})


def chat(*turns: tuple[MessageRole, str], **changes: Any) -> Request:
    return Request(messages=tuple(Message(role, content) for role, content in turns), **changes)


def text(model: LoadedModel, request: Request) -> str:
    return str(model.tokenizer.decode(prompt_tokens(request, model)))


def width(written: str) -> int:
    return len(written.encode())


@pytest.mark.parametrize(
    ("turns", "thinking", "written"),
    [
        ([(USER, "가?")], True, "True|user: 가?\nassistant: "),
        (
            [(USER, "a"), (ASSISTANT, "b"), (USER, "c")],
            False,
            "False|user: a\nassistant: b\nuser: c\nassistant: <done>",
        ),
        ([(SYSTEM, "s"), (USER, "a"), (ASSISTANT, "b and")], True, "True|system: s\nuser: a\nassistant: b and"),
    ],
)
def test_the_template_gets_the_whole_chat(
    model: LoadedModel, turns: list[tuple[MessageRole, str]], thinking: bool, written: str
) -> None:
    """A reply is announced, but one that goes on; no token begins the text but what the template writes."""
    assert text(model, chat(*turns, thinking=thinking)) == written


def test_a_template_in_a_processors_file_is_the_models(tmp_path: Path) -> None:
    """Pixtral's folders have no other: their chats were joined messages, and pictures had no place."""
    folder = without_template(made(tmp_path))
    (folder / "chat_template.json").write_text(json.dumps({"chat_template": TEMPLATE}))
    assert text(load_model(folder), chat((USER, "a"))) == "False|user: a\nassistant: <done>"


def test_where_no_template_is_the_default_the_first_is(tmp_path: Path) -> None:
    folder = made(tmp_path)
    named = [{"name": "chat", "template": TEMPLATE}, {"name": "tool_use", "template": "{{ tools }}"}]
    rewrite(folder / "tokenizer_config.json", chat_template=named)
    assert text(load_model(folder), chat((USER, "a"))) == "False|user: a\nassistant: <done>"


@pytest.mark.parametrize("apart", [False, True], ids=["in one file", "in files of their own"])
def test_a_template_for_tools_alone_is_used_where_there_are_tools(tmp_path: Path, apart: bool) -> None:
    """As Hermes 3 has one: lists said that it calls tools, and once loaded it called none."""
    folder = made(tmp_path)
    for_tools = "{{ tools[0].name }}<tool_call>{# tool_call.name #}"
    if apart:
        (folder / "chat_template.jinja").write_text(TEMPLATE)
        (folder / "additional_chat_templates").mkdir()
        (folder / "additional_chat_templates" / "tool_use.jinja").write_text(for_tools)
    else:
        named = [{"name": "default", "template": TEMPLATE}, {"name": "tool_use", "template": for_tools}]
        rewrite(folder / "tokenizer_config.json", chat_template=named)
    loaded = load_model(folder)
    assert loaded.info.calls_tools
    assert loaded.info.about.tools
    assert text(loaded, chat((USER, "a"))) == "False|user: a\nassistant: <done>"
    assert text(loaded, chat((USER, "a"), tools=({"name": "look"},))) == "look<tool_call>"


@pytest.mark.parametrize("refuses", ["{{ raise_exception('no') }}", "{% continue %}"], ids=["refused", "left out"])
def test_a_system_message_for_which_the_template_has_no_place_begins_the_first_question(
    model: LoadedModel, refuses: str
) -> None:
    """As Gemma 2's refuses it, with which no chat with a system prompt could be had."""
    other = refusing(model, f"{{% if m.role == 'system' %}}{refuses}{{% endif %}}")
    asked = chat((SYSTEM, "be brief"), (USER, "a"), (ASSISTANT, "b"), (USER, "c"))
    assert text(other, asked) == "False|user: be brief\n\na\nassistant: b\nuser: c\nassistant: <done>"


def test_a_later_system_message_that_the_template_refuses_begins_the_next_question(model: LoadedModel) -> None:
    """As Qwen3.5's refuses it: requests of programs that remind a model in the middle of a chat had no reply."""
    other = refusing(model, "{% if m.role == 'system' and not loop.first %}{{ raise_exception('no') }}{% endif %}")
    turns = (SYSTEM, "s"), (USER, "a"), (SYSTEM, "b"), (ASSISTANT, "c"), (SYSTEM, "d"), (USER, "e")
    expected = "system: s\nuser: a\n\nb\nassistant: c\nuser: d\n\ne\n"
    assert text(other, chat(*turns)) == f"False|{expected}assistant: <done>"


def test_a_moved_system_message_makes_no_two_questions_in_a_row(model: LoadedModel) -> None:
    """Which templates as Gemma's refuse."""
    refuses = "{% if (m.role == 'user') == (loop.index0 % 2 == 1) %}{{ raise_exception('no') }}{% endif %}"
    other = refusing(model, refuses)
    turns = (USER, "a"), (SYSTEM, "b"), (SYSTEM, "c"), (ASSISTANT, "d"), (SYSTEM, "e"), (USER, "f")
    assert text(other, chat(*turns)) == "False|user: a\n\nb\n\nc\nassistant: d\nuser: e\n\nf\nassistant: <done>"


def test_without_a_template_the_messages_are_joined(plain: LoadedModel) -> None:
    assert text(plain, chat((SYSTEM, "s"), (USER, "a"), (ASSISTANT, "b"))) == f"{BEGINNING}s\n\na\n\nb"


def test_a_renderer_of_mlx_lms_own_is_asked_for_the_same(model: LoadedModel) -> None:
    """Where no template of the folder's is kept, the tokenizer's own method is called, with the same variables."""

    class Renderer:
        has_chat_template = True
        encode = model.tokenizer.encode

        @staticmethod
        def apply_chat_template(turns: list[dict[str, str]], **variables: bool) -> str:
            assert not variables["tokenize"]
            told = [turns, variables["continue_final_message"], variables["add_generation_prompt"]]
            return json.dumps([*told, variables["enable_thinking"]])

    own = replace(model, template=None, tokenizer=Renderer())
    for turns, goes_on in (([(USER, "a")], False), ([(USER, "a"), (ASSISTANT, "b")], True)):
        for thinking in (False, True):
            said = model.tokenizer.decode(prompt_tokens(chat(*turns, thinking=thinking), own))
            given = [{"role": role.value, "content": content} for role, content in turns]
            assert json.loads(said) == [given, goes_on, not goes_on, thinking]


@pytest.mark.parametrize("turns", [[], [(SYSTEM, "s")], [(USER, "a"), (SYSTEM, "s")]])
def test_a_chat_that_asks_nothing_is_refused(model: LoadedModel, turns: list[tuple[MessageRole, str]]) -> None:
    with pytest.raises(EmptyConversation):
        prompt_tokens(chat(*turns), model)


def test_a_template_that_writes_nothing_leaves_an_empty_chat(model: LoadedModel) -> None:
    with pytest.raises(EmptyConversation):
        prompt_tokens(chat((USER, "a")), with_template(model, "{# nothing #}"))


@pytest.mark.parametrize(
    ("template", "reason"),
    [("{{ raise_exception('no ' * 9999) }}", "TemplateError: no no"), ("{{ 1 / 0 }}", "ZeroDivisionError: ")],
)
def test_what_a_template_raises_is_told_in_short(model: LoadedModel, template: str, reason: str) -> None:
    with pytest.raises(TemplateFailed, match=reason) as caught:
        prompt_tokens(chat((USER, "a")), with_template(model, template))
    assert len(str(caught.value)) < 600


def test_a_template_without_end_is_the_templates_fault(model: LoadedModel) -> None:
    template = ChatTemplate(ENDLESS, {}, limit_s=0.1)
    with pytest.raises(TemplateFailed):
        prompt_tokens(chat((USER, "a")), replace(model, template=template))


class Panic(BaseException):
    """As a tokenizer written in Rust raises."""


class Broken:
    has_chat_template = False

    @staticmethod
    def encode(text: str, **keywords: object) -> list[int]:
        raise Panic("lost " * 999)


class BrokenRenderer(Broken):
    has_chat_template = True

    @staticmethod
    def apply_chat_template(turns: object, **variables: object) -> list[int]:
        raise Panic("lost " * 999)


@pytest.mark.parametrize("tokenizer", [Broken(), BrokenRenderer()])
def test_a_tokenizer_that_panics_is_told_from_a_template_that_fails(model: LoadedModel, tokenizer: Broken) -> None:
    with pytest.raises(TokenizerBroken, match="Panic: lost lost") as caught:
        prompt_tokens(chat((USER, "a")), replace(model, tokenizer=tokenizer, template=None))
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize("thinking", [True, False])
@pytest.mark.parametrize(
    ("turns", "stays"),
    [
        ([(USER, "가?")], "|user: 가?\n"),
        ([(USER, "a"), (ASSISTANT, "b"), (USER, "c")], "|user: a\nassistant: b\nuser: c\n"),
        ([(SYSTEM, "s"), (USER, "a"), (ASSISTANT, "b and so")], "|system: s\nuser: a\n"),
    ],
)
def test_what_announces_a_reply_is_no_part_of_the_turn(
    model: LoadedModel, turns: list[tuple[MessageRole, str]], stays: str, thinking: bool
) -> None:
    request = chat(*turns, thinking=thinking)
    prompt = prompt_tokens(request, model)
    assert turn_end(request, model, prompt) == width(f"{thinking}{stays}")
    by_length = turn_end(request, model, prompt, exact=False)
    assert by_length == (len(prompt) - 1 if turns[-1][0] is ASSISTANT else width(f"{thinking}{stays}"))


@pytest.mark.parametrize(
    "template",
    [
        "{% for m in messages %}{{ m.content }}{% endfor %}",  # announces nothing
        "{% if not add_generation_prompt %}{{ raise_exception('an answer has to follow') }}{% endif %}hello",
        f"{{% if not add_generation_prompt %}}{ENDLESS}{{% endif %}}hello",
    ],
)
def test_where_a_turn_has_no_end_of_its_own_all_but_the_last_token_stays(model: LoadedModel, template: str) -> None:
    other = replace(model, template=ChatTemplate(template, {}, limit_s=0.5))
    request = chat((USER, "hello"))
    prompt = prompt_tokens(request, other)
    assert turn_end(request, other, prompt) == len(prompt) - 1
    assert turn_end(request, replace(other, beside={}), prompt, exact=False) == len(prompt) - 1


def test_where_a_short_question_fails_the_announcement_counts_as_one_token(model: LoadedModel) -> None:
    short = "{% if messages[0].content == 'x' %}{{ raise_exception('say more') }}{% endif %}hello"
    other, request = replace(model, template=ChatTemplate(short, {}), beside={}), chat((USER, "hello"))
    prompt = prompt_tokens(request, other)
    assert turn_end(request, other, prompt, exact=False) == len(prompt) - 1


def test_a_reply_that_answers_nobody_has_no_turn_before_it(model: LoadedModel) -> None:
    request = chat((ASSISTANT, "once upon"))
    prompt = prompt_tokens(request, model)
    assert turn_end(request, model, prompt) == len(prompt) - 1


def test_without_a_template_or_messages_all_but_the_last_token_stays(plain: LoadedModel, model: LoadedModel) -> None:
    request = chat((USER, "hello"), (ASSISTANT, "and"))
    prompt = prompt_tokens(request, plain)
    assert turn_end(request, plain, prompt) == len(prompt) - 1
    assert turn_end(Request(tokens=(5, 6, 7)), model, [5, 6, 7]) == 2


SHARED = "We sell tea.\n"


@pytest.mark.parametrize(
    ("own", "asked"), [("", "why?"), ("", "x"), ("\n\nBe brief.", "why?"), ("\n\nxylophones", "x"), ("!", "x")]
)
def test_what_chats_share_ends_where_the_next_token_is_one_of_their_own(
    model: LoadedModel, own: str, asked: str
) -> None:
    request = chat((SYSTEM, SHARED + own), (USER, asked), shared_characters=len(SHARED))
    end = shared_end(request, model, prompt_tokens(request, model))
    assert end in (width(f"False|system: {SHARED}"), width(f"False|system: {SHARED}\n"))
    others = (chat((SYSTEM, SHARED + more), (USER, "how?")) for more in ("", "\n\nBe polite."))
    assert all(prompt_tokens(each, model)[:end] == prompt_tokens(request, model)[:end] for each in others)


def test_nothing_is_shared_without_a_system_message_or_a_template_that_takes_it(model: LoadedModel) -> None:
    for request in (chat((USER, "why?"), shared_characters=3), chat((SYSTEM, SHARED), (USER, "why?"))):
        assert shared_end(request, model, prompt_tokens(request, model)) == 0
    short = "{% if messages|length > 1 and messages[1].content == 'x' %}{{ raise_exception('say more') }}{% endif %}s"
    request = chat((SYSTEM, SHARED), (USER, "why?"), shared_characters=3)
    assert shared_end(request, with_template(model, short), [5, 6, 7]) == 0


class Ending:
    """A tokenizer that names `ends`."""

    def __init__(self, model: LoadedModel, *ends: object) -> None:
        self._tokenizer, self.eos_token_ids = model.tokenizer, ends

    def encode(self, text: str, **keywords: bool) -> Any:
        return self._tokenizer.encode(text, **keywords)


def test_the_ends_of_a_reply_and_its_line_breaks_are_spared(model: LoadedModel) -> None:
    """What is no token of the output layer is left out, or it would be written to behind its end."""
    (line_break,) = encode("\n", model, special=False)
    tokenizer = Ending(model, 0, VOCABULARY - 1, VOCABULARY, -1, None, "1")
    spared = spared_tokens(replace(model, tokenizer=tokenizer))
    assert sorted(spared) == sorted({0, line_break, VOCABULARY - 1})
