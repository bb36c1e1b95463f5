"""Tools: given to the template as they are, and calls found in the text by mlx-lm's own parsers; nothing is dropped."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mlx_lm import tool_parsers

from engine import (
    Constraint,
    ConstraintKind,
    InvalidRequest,
    Message,
    MessageRole,
    ModelReady,
    Request,
    Sampling,
    SpanKind,
    Speculation,
    ToolCall,
    ToolCalled,
)
from engine.decoding.prompt import encode, grammar_of, prompt_tokens
from engine.decoding.text import TextDecoder
from engine.decoding.tool_calls import ToolSyntax
from engine.drafting.proposers.lookup import LookupProposer
from engine.models.loading import LoadedModel
from tests.helpers.engine_client import EngineClient
from tests.helpers.loading import load_model
from tests.helpers.tiny_models import rewrite, save_small

TEMPLATE = (
    "{% if tools %}<|im_start|>system\n{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}<|im_end|>\n{% endif %}"
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}"
    "{% for tool_call in message.tool_calls or [] %}<tool_call>\n{% set tool_call = tool_call.function %}"
    '{"name": "{{ tool_call.name }}", "arguments": {{ tool_call.arguments | tojson }}}\n</tool_call>{% endfor %}'
    "<|im_end|>\n{% endfor %}{% if shout %}LOUD{% endif %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TOOL: dict[str, Any] = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
SAID = '<tool_call>\n{"name": "look", "arguments": {"at": "the sky"}}\n</tool_call>'
ENDLESS = '<tool_call>{"name": "look", "arguments": {"at": [1e999]}}</tool_call>'  # a number that no JSON can have
HALF = '<tool_call>{"name": "look", "arguments": {"at": "\\ud83d"}}</tool_call>'  # half a pair, which no text can have
USER = Message(MessageRole.USER, "x")


@pytest.fixture(scope="module")
def caller_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose template takes tools, as Qwen's."""
    return save_small(tmp_path_factory.mktemp("caller"), "<think>", "</think>", template=TEMPLATE)


@pytest.fixture(scope="module")
def caller(caller_folder: Path) -> LoadedModel:
    return load_model(caller_folder)


def read(model: LoadedModel, text: str, *, several: bool = True) -> tuple[str, list[tuple[str, str]]]:
    """The answer's text, and the calls with their places marked by "|" in it."""
    reply = TextDecoder(model, [], (), tools=ToolSyntax(model, [TOOL]), several_calls=several)
    spans = [span for token in encode(text, model) for span in reply.push(token)] + reply.finish()
    said = "".join("|" if span.call else span.text for span in spans if span.kind is SpanKind.ANSWER)
    return said, [(span.call.name, span.call.arguments) for span in spans if span.call]


LOOKED = ("look", '{"at": "the sky"}')


@pytest.mark.parametrize(
    ("text", "said", "calls"),
    [
        (SAID, "|", [LOOKED]),
        (f"Well. {SAID}", "Well. |", [LOOKED]),
        (f"{SAID}\n{SAID} so", "|| so", [LOOKED, LOOKED]),
        (SAID.removesuffix("\n</tool_call>"), "|", [LOOKED]),
        (f"<think>{SAID}</think>{SAID}", "|", [LOOKED]),
        ('<tool_call>{"name": "look", "arguments": null}</tool_call>', "|", [("look", "{}")]),
        (SAID.replace("arguments", "parameters"), "|", [LOOKED]),
        ("<tool_call>no call</tool_call> so", "<tool_call>no call</tool_call> so", []),
        ('<tool_call>{"name": "look"', '<tool_call>{"name": "look"', []),
        ('<tool_call>{"name": 1}</tool_call>', '<tool_call>{"name": 1}</tool_call>', []),
        ('<tool_call>["look"]</tool_call>', '<tool_call>["look"]</tool_call>', []),
        ("<tool_call>" + "[" * 5000 + "</tool_call>", "<tool_call>" + "[" * 5000 + "</tool_call>", []),
        ("<tool_cal", "<tool_cal", []),
        (ENDLESS, ENDLESS, []),
        (HALF, HALF, []),
    ],
    ids=[
        "call",
        "text first",
        "two",
        "no end",
        "thought",
        "null",
        "parameters",
        "no json",
        "cut",
        "no name",
        "list",
        "deep",
        "half",
        "inf",
        "surrogate",
    ],
)
def test_a_call_is_found_and_what_is_none_stays_text(
    caller: LoadedModel, text: str, said: str, calls: list[tuple[str, str]]
) -> None:
    assert read(caller, text) == (said, calls)


@pytest.mark.parametrize(
    ("text", "cut", "thought", "calls"),
    [
        (f"<think>Hm. {SAID}\n{SAID}", False, "Hm. ", [LOOKED, LOOKED]),
        (f"<think>{SAID}</think>", False, SAID, []),
        ("<think>Not <tool_call>, as", False, "Not <tool_call>, as", []),
        (f"<think>{SAID}", True, SAID, []),
        (f"<think>Not <tool_call>, as {SAID}", False, "Not <tool_call>, as ", [LOOKED]),
        ("<think>Not <tool_call>, as HALT, no</think>Well.", False, "Not <tool_call>, as ", []),
    ],
    ids=["call", "only thought of", "prose", "cut", "prose and a call", "a stop string"],
)
def test_a_call_in_thinking_that_is_never_closed_is_one(
    tmp_path: Path, text: str, cut: bool, thought: str, calls: list[tuple[str, str]]
) -> None:
    """Qwen3.5 and Kimi K2 now and then call without closing their thinking, and end there."""
    model = load_model(save_small(tmp_path, "<think>", "</think>", "<tool_call>", "</tool_call>", template=TEMPLATE))
    reply = TextDecoder(model, [], ("HALT",), tools=ToolSyntax(model, [TOOL]))
    spans = [span for token in encode(text, model) for span in reply.push(token)] + reply.finish(cut=cut)
    assert "".join(span.text for span in spans if span.kind is SpanKind.THINKING) == thought
    assert [(span.call.name, span.call.arguments) for span in spans if span.call] == calls


CODED = "<function=look>\n<parameter=at>\nthe sky\n</parameter>\n</function>"


@pytest.mark.parametrize(
    ("text", "said", "calls"),
    [
        (f"So:\n\n{CODED}\n</tool_call>", "So:\n\n|", [LOOKED]),
        (CODED, "|", [LOOKED]),
        (CODED.replace("look", "other"), CODED.replace("look", "other"), []),
        (f"{CODED}\n</tool_call>\n<tool_call>\n{CODED}\n</tool_call> so", "|| so", [LOOKED, LOOKED]),
        ("It ends with `</tool_call>`.\n\nSo.", "It ends with `</tool_call>`.\n\nSo.", []),
        (f"{CODED}\nIt ends with `</tool_call>`.", "|It ends with `</tool_call>`.", [LOOKED]),
    ],
    ids=["no opener", "no marker", "no tool", "another", "words", "words after a call"],
)
def test_a_call_may_lack_its_first_marker_as_qwen3_coder_s_do(
    caller_folder: Path, tmp_path: Path, text: str, said: str, calls: list[tuple[str, str]]
) -> None:
    model = with_parser(Path(shutil.copytree(caller_folder, tmp_path / "coder")), "qwen3_coder")
    assert read(model, text) == (said, calls)


def test_lines_between_calls_are_no_text_of_a_model_without_thinking_either(tmp_path: Path) -> None:
    """As of Qwen2.5: a client would get a text of a line break between two calls."""
    model = with_parser(save_small(tmp_path), "json_tools")
    assert read(model, f"\nWell.\n\n{SAID}\n{SAID}\n") == ("\nWell.\n\n||", [LOOKED, LOOKED])


def test_one_call_may_be_the_last(caller: LoadedModel) -> None:
    assert read(caller, f"{SAID}{SAID} so", several=False) == ("|", [LOOKED])


def test_ids_of_calls_are_what_every_template_takes(caller: LoadedModel) -> None:
    """Mistral's refuse all but nine letters or digits."""
    reply = TextDecoder(caller, [], (), tools=ToolSyntax(caller, [TOOL]))
    spans = [span for token in encode(SAID * 2, caller) for span in reply.push(token)] + reply.finish()
    ids = [span.call.id for span in spans if span.call]
    assert len(set(ids)) == 2
    assert all(re.fullmatch("[A-Za-z0-9]{9}", each) for each in ids)


def test_ids_of_others_are_what_a_template_takes(caller_folder: Path, tmp_path: Path) -> None:
    """A chat that goes on here may have calls of another app or provider."""
    id_of_each = (
        "{% for id in [m.tool_call_id] if id %}",
        "{% for id in m.tool_calls | default([]) | map(attribute='id') %}",
    )
    nine = "".join(
        f"{each}{{% if id | length != 9 %}}{{{{ raise_exception('9') }}}}{{% endif %}}{{% endfor %}}"
        for each in id_of_each
    )
    template = f"{{% for m in messages %}}{nine}{{% endfor %}}{TEMPLATE}"
    model = with_parser(shutil.copytree(caller_folder, tmp_path / "model"), "json_tools", template)
    asked = Message(MessageRole.ASSISTANT, "", tool_calls=(ToolCall("call_1", *LOOKED),))
    answer = Message(MessageRole.TOOL, "blue", tool_call_id="call_1", name="look")
    assert "tool\nblue" in rendered(model, Request((USER, asked, answer), tools=(TOOL,)))


def test_without_tools_a_call_is_text(caller: LoadedModel) -> None:
    reply = TextDecoder(caller, [], ())
    spans = [span for token in encode(SAID, caller) for span in reply.push(token)] + reply.finish()
    assert "".join(span.text for span in spans) == SAID


def rendered(model: LoadedModel, request: Request) -> str:
    return str(model.tokenizer.decode(prompt_tokens(request, model)))


def test_tools_and_variables_reach_the_template_as_they_are(caller: LoadedModel) -> None:
    text = rendered(caller, Request((USER,), tools=(TOOL,), template_variables={"shout": True}))
    assert json.dumps(TOOL) in text
    assert "LOUD" in text


def test_calls_and_their_answers_are_part_of_the_chat(caller: LoadedModel) -> None:
    call = ToolCall("call_1", *LOOKED)
    asked = Message(MessageRole.ASSISTANT, "Well. ", tool_calls=(call,))
    answer = Message(MessageRole.TOOL, "blue", tool_call_id="call_1", name="look")
    text = rendered(caller, Request((USER, asked, answer), tools=(TOOL,)))
    assert f"assistant\nWell. {SAID}" in text
    assert text.index("tool\nblue") > text.index(SAID)


def invoked(at: str, prefix: str) -> str:
    return f'<{prefix}invoke name="look"><{prefix}parameter name="at">{at}</{prefix}parameter></{prefix}invoke>'


# Two calls in a reply, in the syntax of each of mlx-lm's parsers.
TWO = {
    "json_tools": "".join(
        f'<tool_call>\n{{"name": "look", "arguments": {{"at": "{at}"}}}}\n</tool_call>' for at in "ab"
    ),
    "mistral": "".join(f'[TOOL_CALLS]look[ARGS]{{"at": "{at}"}}' for at in "ab"),
    "qwen3_coder": "\n".join(
        f"<tool_call>\n<function=look>\n<parameter=at>\n{at}\n</parameter>\n</function>\n</tool_call>" for at in "ab"
    ),
    "glm47": "".join(f"<tool_call>look<arg_key>at</arg_key><arg_value>{at}</arg_value></tool_call>" for at in "ab"),
    "gemma4": "".join(f'<|tool_call>call:look{{at:<|"|>{at}<|"|>}}<tool_call|>' for at in "ab"),
    "function_gemma": "".join(
        f"<start_function_call>call:look{{at:<escape>{at}<escape>}}<end_function_call>" for at in "ab"
    ),
    "pythonic": '<|tool_call_start|>[look(at="a"), look(at="b")]<|tool_call_end|>',
    "minimax_m2": f"<minimax:tool_call>\n{invoked('a', '')}\n{invoked('b', '')}\n</minimax:tool_call>",
    "muse_spark": f"<atem:function_calls>{invoked('a', 'atem:')}{invoked('b', 'atem:')}</atem:function_calls>",
    "minicpm5": "".join(f'<function name="look"><param name="at">{at}</param></function>' for at in "ab"),
    "longcat": "\n".join(
        f"<longcat_tool_call>look\n<longcat_arg_key>at</longcat_arg_key>\n<longcat_arg_value>{at}</longcat_arg_value>\n"
        "</longcat_tool_call>"
        for at in "ab"
    ),
    "kimi_k2": "<|tool_calls_section_begin|>"
    + "".join(
        f'<|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{{"at": "{at}"}}<|tool_call_end|>'
        for at in "ab"
    )
    + "<|tool_calls_section_end|>",
    "kimi_k3": "<|open|>tools<|sep|>"
    + "".join(
        f'<|open|>call tool="look" index="1"<|sep|><|open|>argument key="at" type="string"<|sep|>{at}'
        "<|close|>argument<|sep|><|close|>call<|sep|>"
        for at in "ab"
    )
    + "<|close|>tools<|sep|>",
}
TWO["laguna"] = TWO["glm47"]


def with_parser(folder: Path, parser: str, template: str = TEMPLATE) -> LoadedModel:
    rewrite(folder / "tokenizer_config.json", tool_parser_type=parser, chat_template=template)
    return load_model(folder)


def test_every_parser_of_mlx_lm_has_two_calls_below() -> None:
    modules = Path(tool_parsers.__path__[0]).glob("[a-z]*.py")
    assert {each.stem for each in modules} == set(TWO)


@pytest.mark.parametrize("parser", TWO)
def test_two_calls_of_a_reply_are_two_in_every_syntax(caller_folder: Path, tmp_path: Path, parser: str) -> None:
    model = with_parser(shutil.copytree(caller_folder, tmp_path / "model"), parser)
    said, calls = read(model, f"I look. {TWO[parser]}")
    assert (said.split("|")[0], calls) == ("I look. ", [("look", '{"at": "a"}'), ("look", '{"at": "b"}')])


@pytest.mark.parametrize("parser", ["glm47", "longcat", "minicpm5"])
def test_a_call_that_a_limit_cuts_is_text(caller_folder: Path, tmp_path: Path, parser: str) -> None:
    """These parsers take a call without its end, and leave out an argument that is not complete."""
    model = with_parser(shutil.copytree(caller_folder, tmp_path / "model"), parser)
    text = TWO[parser][: TWO[parser].index("a<")]
    for cut in (False, True):
        reply = TextDecoder(model, [], (), tools=ToolSyntax(model, [TOOL]))
        spans = [span for token in encode(text, model) for span in reply.push(token)] + reply.finish(cut=cut)
        assert [(span.call is None, span.text == text) for span in spans] == [(cut, cut)]
        assert reply.unread_calls == cut


def test_a_call_that_repeats_a_mark_is_not_searched_for_ever(caller_folder: Path, tmp_path: Path) -> None:
    """mlx-lm's pattern begins again at each mark, in one step that nothing else ends; such a call is text."""
    model = with_parser(shutil.copytree(caller_folder, tmp_path / "model"), "glm47")
    with pytest.raises(TimeoutError):
        model.tokenizer.tool_parser(f"look{'<arg_key>at</arg_key><arg_value>' * 1000}", [])


def test_kimis_calls_are_told_by_tool_and_number_as_it_writes_them(caller_folder: Path, tmp_path: Path) -> None:
    answer = "{% if m.role == 'tool' %}{{ m.get('name') or m.role }}={{ m.tool_call_id }} {% endif %}"
    ids = "{% for c in m.tool_calls or [] %}{{ c.id }} {% endfor %}"
    template = f"{{% for m in messages %}}{ids}{answer}{{% endfor %}}"
    model = with_parser(shutil.copytree(caller_folder, tmp_path / "model"), "kimi_k2", f"{{# tools #}}{template}")
    calls = [ToolCall(f"{at}23456789", name, "{}") for at, name in (("a", "look"), ("b", "go"), ("c", "look"))]
    results = [Message(MessageRole.TOOL, "x", tool_call_id=each.id) for each in calls]
    asked = [Message(MessageRole.ASSISTANT, "", tool_calls=tuple(each)) for each in (calls[:2], calls[2:])]
    chat = (USER, asked[0], *results[:2], asked[1], results[2])
    again = Message(MessageRole.ASSISTANT, "", tool_calls=tuple(calls[:1]))  # some clients count the calls of each turn
    text = rendered(model, Request((*chat, again, results[0], asked[1], results[2]), tools=(TOOL,)))
    assert text.split() == [
        *("functions.look:0", "functions.go:1", "look=functions.look:0", "go=functions.go:1"),
        *("functions.look:2", "look=functions.look:2", "functions.look:3", "look=functions.look:3"),
        *("functions.look:4", "look=functions.look:4"),
    ]


ONE_A_TURN = "{% for m in messages %}{% if m.tool_calls and m.tool_calls | length > 1 %}{{ raise_exception('one') }}"


@pytest.fixture(scope="module")
def one_by_one_folder(caller_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose template refuses two calls in a turn, as Llama 3's."""
    folder = shutil.copytree(caller_folder, tmp_path_factory.mktemp("one") / "caller")
    rewrite(folder / "tokenizer_config.json", chat_template=f"{ONE_A_TURN}{{% endif %}}{{% endfor %}}{TEMPLATE}")
    return folder


def test_where_a_template_takes_one_call_a_turn_each_has_a_turn_of_its_own(
    caller: LoadedModel, one_by_one_folder: Path
) -> None:
    calls = tuple(ToolCall(f"call_{at}", "look", json.dumps({"at": at})) for at in "ab")
    asked = Message(MessageRole.ASSISTANT, "Well.", reasoning="Two.", tool_calls=calls)
    answers = [Message(MessageRole.TOOL, f"of {each.id}", tool_call_id=each.id) for each in calls]
    chat = Request((USER, asked, *reversed(answers), USER), tools=(TOOL,))
    text = rendered(load_model(one_by_one_folder), chat)
    places = [text.index(said) for said in ("Well.", '"at": "a"', "of call_a", '"at": "b"', "of call_b")]
    assert places == sorted(places)
    assert [text.count(said) for said in ("Well.", "<tool_call>", "of call_b")] == [1, 2, 1]
    assert rendered(caller, chat).index("of call_b") < rendered(caller, chat).index("of call_a"), "as they came"


def test_where_a_template_writes_the_first_call_alone_the_others_have_turns_of_their_own(
    caller_folder: Path, tmp_path: Path
) -> None:
    """As gpt-oss's."""
    first = TEMPLATE.replace("message.tool_calls or []", "(message.tool_calls or [])[:1]")
    model = with_parser(shutil.copytree(caller_folder, tmp_path / "model"), "json_tools", first)
    calls = tuple(ToolCall(f"call_{at}", "look", json.dumps({"at": at})) for at in "ab")
    answers = (Message(MessageRole.TOOL, f"of {call.id}", tool_call_id=call.id) for call in calls)
    asked = Message(MessageRole.ASSISTANT, "", tool_calls=calls)
    text = rendered(model, Request((USER, asked, *answers), tools=(TOOL,)))
    assert re.findall(r'"at": "."|of call_.', text) == ['"at": "a"', "of call_a", '"at": "b"', "of call_b"]


def test_there_calls_of_a_later_turn_may_have_the_same_ids(one_by_one_folder: Path) -> None:
    """Some clients count the calls of each turn."""
    calls = tuple(ToolCall(f"call_{at}", "look", json.dumps({"at": at})) for at in "01")
    asked = Message(MessageRole.ASSISTANT, "", tool_calls=calls)
    first = [Message(MessageRole.TOOL, f"first {at}", tool_call_id=f"call_{at}") for at in "01"]
    again = replace(asked, tool_calls=calls[:1]), Message(MessageRole.TOOL, "second 0", tool_call_id="call_0")
    text = rendered(load_model(one_by_one_folder), Request((USER, asked, *first, *again, first[0]), tools=(TOOL,)))
    said = re.findall(r"first .|second .|<tool_call>", text)
    assert said == ["<tool_call>", "first 0", "<tool_call>", "first 1", "<tool_call>", "second 0", "first 0"]


@pytest.mark.parametrize("parser", ["json_tools", "kimi_k2"])
@pytest.mark.parametrize("one_a_turn", [False, True])
@pytest.mark.parametrize("ids", [("same", "same", "other", "same"), ("", "", "", "")])
def test_calls_with_one_id_or_none_have_an_answer_each(
    caller_folder: Path, one_by_one_folder: Path, tmp_path: Path, parser: str, one_a_turn: bool, ids: tuple[str, ...]
) -> None:
    """Ollama's clients send none, and Google's need not. Mistral's templates refuse any but nine letters or digits."""
    folder = one_by_one_folder if one_a_turn else caller_folder
    template = json.loads((folder / "tokenizer_config.json").read_text())["chat_template"]
    shown = template.replace("{{ message.content }}", "{{ message.content }}={{ message.tool_call_id }};")
    shown = shown.replace("{% set tool_call =", "{{ tool_call.id }};{% set tool_call =")
    model = with_parser(shutil.copytree(folder, tmp_path / "model"), parser, shown)
    calls = [ToolCall(each, f"tool{at}", "{}") for at, each in enumerate(ids)]
    answers = [Message(MessageRole.TOOL, f"of {at}", tool_call_id=ids[at], name=f"tool{at}") for at in (0, 2, 1, 3)]
    turns = [calls] if any(ids) else [calls[:2], calls[2:]]  # pieces of a stream may be turns
    asked = (Message(MessageRole.ASSISTANT, "", tool_calls=tuple(each)) for each in turns)
    chat = (USER, *asked, *answers)
    text = rendered(model, Request(chat if any(ids) else (*chat, *chat), tools=(TOOL,)))
    called = re.findall(r"<tool_call>\n(.*?);", text)
    answered = re.findall(r"of (.)=(.*?);", text)
    assert len({*called}) == len(called) == len(answered)
    assert all(called[4 * (place // 4) + int(at)] == each for place, (at, each) in enumerate(answered))
    assert parser == "kimi_k2" or all(each in ids or (len(each) == 9 and each.isalnum()) for each in called)


@pytest.mark.parametrize("role", [MessageRole.SYSTEM, MessageRole.USER])
def test_there_an_answer_is_found_behind_words_between_the_answers(one_by_one_folder: Path, role: MessageRole) -> None:
    """Some clients remind the model there."""
    calls = tuple(ToolCall(f"call_{at}", "look", json.dumps({"at": at})) for at in "01")
    asked = Message(MessageRole.ASSISTANT, "", tool_calls=calls)
    answers = [Message(MessageRole.TOOL, f"answer {at}", tool_call_id=f"call_{at}") for at in "01"]
    chat = Request((USER, asked, answers[0], Message(role, "note"), answers[1]), tools=(TOOL,))
    said = re.findall(r"answer .|note|<tool_call>", rendered(load_model(one_by_one_folder), chat))
    assert said == ["<tool_call>", "answer 0", "<tool_call>", "answer 1", "note"]


def test_there_a_reply_ends_with_its_first_call(
    one_by_one_folder: Path, caller_folder: Path, shared_engine: EngineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def called(folder: Path, **changes: Any) -> int:
        assert isinstance(shared_engine.load(folder), ModelReady)
        (token,) = encode("<", load_model(folder))
        sampling = Sampling(0.0, logit_bias=((token, 100.0),))
        reply = shared_engine.run(Request((USER,), tools=(TOOL,), sampling=sampling, max_tokens=3, **changes))
        return sum(isinstance(event, ToolCalled) for event in reply.events)

    one = ToolCall("1", "look", "{}")
    monkeypatch.setattr("engine.runtime.output.ToolSyntax", OddSyntax)
    monkeypatch.setattr(OddSyntax, "calls_in", lambda *_: (one, replace(one, id="2")))
    assert called(caller_folder) == 2
    assert called(one_by_one_folder) == called(caller_folder, several_calls=False) == 1
    model = load_model(one_by_one_folder)
    twice = encode(f"{SAID}\n{SAID}", model)
    for asked, several in ((model, False), (load_model(caller_folder), True)):
        grammar = grammar_of(Request((USER,), tools=(TOOL,), must_call=("look",)), asked)
        assert grammar is not None
        assert (grammar.alone.validate_tokens(twice) == len(twice)) is several


@pytest.mark.parametrize(
    ("begun", "goes_on"), [('"at": "notes/2026', "/plan-of-the-week"), ('"name_of_the_', "folder_to_look_in")]
)
def test_arguments_are_drafted_from_an_earlier_result_and_from_the_schema(
    caller: LoadedModel, begun: str, goes_on: str
) -> None:
    schema = {"type": "object", "properties": {"name_of_the_folder_to_look_in": {"type": "string"}}}
    tool = {"type": "function", "function": {"name": "look", "parameters": schema}}
    asked = Message(MessageRole.ASSISTANT, "", tool_calls=(ToolCall("abcdefghi", "list", "{}"),))
    answer = Message(MessageRole.TOOL, "One file: notes/2026/plan-of-the-week.md", tool_call_id="abcdefghi")
    call = f'<tool_call>\n{{"name": "look", "arguments": {{{begun}'
    tokens = [*prompt_tokens(Request((USER, asked, answer), tools=(tool,)), caller), *encode(call, caller)]
    lookup = LookupProposer()
    offer = lookup.offer(tokens)
    assert offer.most >= 8
    drafted = str(caller.tokenizer.decode(lookup.propose_tokens(tokens, offer.most)))
    assert goes_on.startswith(drafted) or drafted.startswith(goes_on)


def test_a_model_whose_template_takes_no_tools_says_so_though_it_has_their_markers(
    caller_folder: Path, tmp_path: Path
) -> None:
    """What mlx-lm finds in the vocabulary tells nothing of the template."""
    folder = shutil.copytree(caller_folder, tmp_path / "other")
    other = with_parser(folder, "json_tools", "{{ messages }}")
    assert other.marks.calls
    assert not other.info.calls_tools


def test_a_model_without_tools_refuses_them(client: EngineClient) -> None:
    error = client.run(Request((USER,), tools=(TOOL,))).failed.error
    assert isinstance(error, InvalidRequest)
    assert error.field == "tools"


def test_a_call_that_is_demanded_comes_whatever_the_model_would_say(
    caller_folder: Path, shared_engine: EngineClient
) -> None:
    client = shared_engine
    assert isinstance(client.load(caller_folder), ModelReady)
    place: dict[str, Any] = {"type": "object", "properties": {"at": {"$ref": "#/$defs/at"}}, "required": ["at"]}
    place |= {"additionalProperties": False, "$defs": {"at": {"enum": ["sky", "sea"]}}}
    tools = tuple({"type": "function", "function": {"name": name, "parameters": place}} for name in ("look", "go"))
    asked = Request((USER,), tools=tools, must_call=("go",), several_calls=False, sampling=Sampling(0.8, seed=4))
    for demanded in (asked, replace(asked, speculation=Speculation.off())):
        reply = client.run(demanded)
        (call,) = (event.call for event in reply.events if isinstance(event, ToolCalled))
        assert (call.name, json.loads(call.arguments)["at"] in ("sky", "sea"), reply.text()) == ("go", True, "")
    refused = client.run(replace(asked, must_call=("fly",))).failed.error
    assert isinstance(refused, InvalidRequest)


def test_with_a_schema_and_tools_the_answer_matches_one_of_them(caller: LoadedModel) -> None:
    asked = Request((USER,), tools=(TOOL,), constraint=Constraint(ConstraintKind.JSON, '{"enum": ["yes", "no"]}'))
    grammar = grammar_of(asked, caller)
    assert grammar is not None
    for text, fits in ((SAID, True), ('"yes"', True), ('"maybe"', False), ("Well. ", False)):
        matcher = grammar.alone.deep_copy()
        tokens = encode(text, caller)
        assert (matcher.try_consume_tokens(tokens) == len(tokens)) is fits, text


@pytest.mark.parametrize("tools", [({"a": object()},), ({"a": "\ud800"},), ("look",)], ids=["object", "half", "text"])
def test_tools_and_what_a_template_gets_are_plain_values(
    caller_folder: Path, shared_engine: EngineClient, tools: Any
) -> None:
    """Of a model that takes tools: any other refuses them all."""
    assert isinstance(shared_engine.load(caller_folder), ModelReady)
    bad = {"tools": Request((USER,), tools=tools)}
    if isinstance(tools[0], dict):
        bad["template_variables"] = Request((USER,), template_variables=tools[0])
    for field, request in bad.items():
        error = shared_engine.run(request).failed.error
        assert isinstance(error, InvalidRequest)
        assert error.field == field


def test_a_reply_that_calls_sends_the_call(
    caller: LoadedModel, caller_folder: Path, shared_engine: EngineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tiny model can be made to write nothing but "<", so that is taken for the marker, and for a call."""
    assert isinstance(shared_engine.load(caller_folder), ModelReady)
    (token,) = encode("<", caller)
    sampling = Sampling(0.0, logit_bias=((token, 100.0),))
    request = Request((USER,), tools=(TOOL,), sampling=sampling, max_tokens=3)
    assert shared_engine.run(request).text() == "<<<"
    monkeypatch.setattr("engine.runtime.output.ToolSyntax", OddSyntax)
    called = shared_engine.run(request)
    assert [event.call.name for event in called.events if isinstance(event, ToolCalled)] == ["look"]
    assert (called.text(), called.stats.generated_tokens) == ("", 3)
    monkeypatch.setattr("engine.runtime.output.ToolSyntax", ClosedSyntax)
    assert shared_engine.run(request).text() == "<<<", "its limit has cut it"
    monkeypatch.setattr("engine.runtime.output.ToolSyntax", OddSyntax)
    monkeypatch.setattr(OddSyntax, "calls_in", lambda *_: ())
    unread = shared_engine.run(request)
    assert (unread.text(), unread.finished.unread_calls) == ("<<<", 1)


class OddSyntax(ToolSyntax):
    def __init__(self, model: LoadedModel, tools: Any) -> None:
        super().__init__(model, tools)
        self.start, self.end = "<", ""

    def calls_in(self, text: str) -> tuple[ToolCall, ...]:
        return (ToolCall("1", "look", json.dumps({"text": text})),)


class ClosedSyntax(OddSyntax):
    def __init__(self, model: LoadedModel, tools: Any) -> None:
        super().__init__(model, tools)
        self.end = ">"
