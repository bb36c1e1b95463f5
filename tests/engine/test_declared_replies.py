"""Replies of models whose tokenizer declares how to read them, against transformers' own reading of the whole text."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mlx_lm.tokenizer_utils import TokenizerWrapper
from mlx_lm.tool_parsers import mistral
from tokenizers import Tokenizer
from transformers.utils.chat_parsing import parse_response

from engine import Message, MessageRole, Request, SpanKind
from engine.decoding.prompt import encode, prompt_tokens
from engine.decoding.text import TextDecoder
from engine.decoding.tool_calls import ToolSyntax
from engine.models.declared import read_marks
from engine.models.loading import LoadedModel
from tests.engine.conftest import Zoo
from tests.helpers.loading import load_model
from tests.helpers.tiny_models import byte_tokenizer, rewrite, save_small

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "look", "parameters": {"type": "object", "properties": {"far": {"type": "integer"}}}},
}
FUNCTION = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}

# Channels, as gpt-oss has them; there is no text outside of them, and the end of a call ends the reply.
CHANNELS: dict[str, Any] = {
    "start_anchor": "<|start|>assistant",
    "fields": {
        "thinking": {"open": "<|channel|>analysis<|message|>", "close": "<|end|>"},
        "content": {"open": "<|channel|>final<|message|>", "close": ["<|end|>", "<|return|>"]},
        "tool_calls": {
            "open_pattern": r"<\|channel\|>commentary to=functions\.(?P<name>\w+).*?<\|message\|>",
            "close": "<|call|>",
            "repeats": True,
            "content": "json",
            "transform": FUNCTION,
        },
    },
}
# Command's: one list of calls, in words of its own.
LISTED: dict[str, Any] = {
    "start_anchor": "<|CHATBOT|>",
    "fields": {
        "reasoning_content": {"open": "<|START_THINKING|>", "close": "<|END_THINKING|>"},
        "content": {"open": "<|START_RESPONSE|>", "close": "<|END_RESPONSE|>", "optional": False},
        "tool_calls": {
            "open": ["<|START_ACTION|>"],
            "close": "<|END_ACTION|>",
            "content": "json",
            "transform_each": True,
            "transform": {"function": {"name": "{tool}", "arguments": "{parameters}"}},
        },
    },
}
# Elements, with arguments that only the tool's schema gives a type.
ELEMENTS: dict[str, Any] = {
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "content": {},
        "tool_calls": {
            "open_pattern": r"\s*<call name=(?P<name>[^>\n]+)>",
            "close_pattern": r"</args>\s*</call>\s*",
            "repeats": True,
            "content": "xml-inline",
            "content_args": {"tag_pattern": r"<arg (?P<key>\w+)>\s*(?P<value>.*?)\s*</arg>"},
            "transform": FUNCTION,
        },
    },
}
HARMONY = "<|channel|>analysis<|message|>Look first.<|end|><|start|>assistant"
ASKED = '<|channel|>commentary to=functions.look <|constrain|>json<|message|>{"far": 3}'
LIST = '<|START_ACTION|>[{"tool": "look", "parameters": {"far": 1}}, {"tool": "go", "parameters": {}}]<|END_ACTION|>'
ELEMENT = "<call name=look><arg far> 3 </arg><arg at>the sky</arg></args>\n</call>"


CODED = ELEMENTS["fields"]["tool_calls"] | {"close_pattern": r"</args>\s*</call\x3e"}


def declaring(model: LoadedModel, declared: dict[str, Any], parser: Any = None) -> LoadedModel:
    """`parser`: mlx-lm's module of the calls that it knows by itself."""
    theirs = model.tokenizer
    known = () if parser is None else (parser.tool_call_start, parser.tool_call_end, parser.parse_tool_call)
    tokenizer = TokenizerWrapper(theirs._tokenizer, type(theirs._detokenizer), theirs.eos_token_ids, None, *known)
    tokenizer._tokenizer.response_template = declared
    try:
        return replace(model, tokenizer=tokenizer, marks=read_marks(tokenizer, ""))
    finally:
        tokenizer._tokenizer.response_template = None


def read(model: LoadedModel, text: str) -> dict[str, Any]:
    """As the message of transformers' parser."""
    reply = TextDecoder(model, [], (), tools=ToolSyntax(model, [TOOL]) if model.marks.calls else None)
    spans = [span for token in encode(text, model) for span in reply.push(token)] + reply.finish()
    said = {kind: "".join(span.text for span in spans if span.kind is kind).strip() for kind in SpanKind}
    calls = [{"name": span.call.name, "arguments": json.loads(span.call.arguments)} for span in spans if span.call]
    return {"thinking": said[SpanKind.THINKING], "content": said[SpanKind.ANSWER], "calls": calls}


def theirs(declared: dict[str, Any], text: str) -> dict[str, Any]:
    fields = {name: field | {"optional": True} for name, field in declared["fields"].items()}
    message = parse_response(text, declared | {"fields": fields}, prefix="", tools=[TOOL])
    thinking = message.get("thinking") or message.get("reasoning_content", "")
    calls = [call["function"] for call in message.get("tool_calls", [])]
    return {"thinking": thinking, "content": message.get("content", ""), "calls": calls}


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (CHANNELS, f"{HARMONY}<|channel|>final<|message|>Well.<|return|>"),
        (CHANNELS, HARMONY + ASKED),
        (CHANNELS, f"{HARMONY}{ASKED}<|call|><|start|>assistant{ASKED}<|call|>"),
        (LISTED, f"<|START_THINKING|>So.<|END_THINKING|>{LIST}"),
        (LISTED, "<|START_RESPONSE|>Well.<|END_RESPONSE|>"),
        (ELEMENTS, f"Well.\n{ELEMENT}\n{ELEMENT}"),
        (ELEMENTS, "a < b and <call of duty>"),
        (ELEMENTS | {"fields": ELEMENTS["fields"] | {"tool_calls": CODED}}, ELEMENT.replace("the sky", "3e5")),
    ],
    ids=["channels", "call", "calls", "list", "answer", "elements", "text", "coded"],
)
def test_a_reply_is_read_as_transformers_reads_it(main: LoadedModel, declared: dict[str, Any], text: str) -> None:
    expected = theirs(declared, text)
    assert read(declaring(main, declared), text) == expected
    assert expected["calls"] or expected["content"]


CHANNEL = ("<|start|>", "<|channel|>", "<|message|>", "<|end|>")
MUSE = ("<|start|>", "<|message|>", "<|eom|>")
SOLAR = ("<|begin|>", "<|think|>", "<|content|>", "<|end|>")
KIMI = ("<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>")
COMMAND = ("<|START_THINKING|>", "<|END_THINKING|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>")


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (CHANNEL, f"{HARMONY}<|channel|>final<|message|>Well."),
        (("[THINK]", "[/THINK]"), "[THINK]Look first.[/THINK]Well."),
        (("<seed:think>", "</seed:think>"), "<seed:think>Look first.</seed:think>Well."),
        (COMMAND, "<|START_THINKING|>Look first.<|END_THINKING|><|START_RESPONSE|>Well.<|END_RESPONSE|>"),
        (MUSE, " to=self<|message|>Look first.<|eom|><|start|>assistant to=user<|message|>Well."),
        (
            KIMI,
            "<|open|>think<|sep|>Look first.<|close|>think<|sep|><|open|>response<|sep|>Well.<|close|>response<|sep|>"
            "<|close|>message<|sep|>",
        ),
        ((), "<think>Look first.</think>Well."),
        (COMMAND[:2], "<|START_THINKING|>Look first.<|END_THINKING|><|START_TEXT|>Well.<|END_TEXT|>"),
        ((), "<thought>Look first.</thought>Well."),
        (SOLAR, "<|think|>Look first.<|end|><|begin|>assistant<|content|>Well."),
        ((), "Here are my reasoning steps:Look first.[BEGIN FINAL RESPONSE]Well.[END FINAL RESPONSE]"),
        ((), "<think>Look first.</think>\n\n<response>Well.</response>"),
        (("<think>", "</think>"), "<think>Look first.</think>\n\n<response>Well.</response>"),
    ],
    ids=[
        *("gpt-oss", "Mistral", "Seed", "Command", "Muse", "Kimi K3", "spelled", "newer Command"),
        *("EXAONE Deep", "Solar Open", "Apriel", "Granite", "ERNIE"),
    ],
)
def test_thinking_of_families_that_declare_nothing_is_no_answer(
    tmp_path: Path, tokens: tuple[str, ...], text: str
) -> None:
    model = speaking(tmp_path, *tokens, template=f"[TOOL_CALLS]{{# {text} #}}")
    assert read(model, text) == {"thinking": "Look first.", "content": "Well.", "calls": []}
    assert (model.info.ends_thinking, model.info.about.thinking) == (True, tokens != KIMI)


RESPONSE = "{# <think> <response> #}[TOOL_CALLS]"
XML = "Well:\n\n```xml\n<response>1</response>\n```"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (XML, XML),
        (f"<think>Look.</think>{XML}", XML),
        (f"<think>Look.</think>\n<response>\n{XML} so\n</response>", f"{XML} so"),
        ("`</response>` ends it", "`</response>` ends it"),
    ],
    ids=["no thinking", "no marks", "in marks", "the end alone"],
)
def test_marks_around_answers_that_are_words_too_are_kept_within(tmp_path: Path, text: str, content: str) -> None:
    """Of Granite: they are no tokens of its vocabulary, and names of elements in many a program."""
    assert read(speaking(tmp_path, template=RESPONSE), text)["content"] == content


@pytest.mark.parametrize(
    ("tokens", "template", "text"),
    [
        (("[THINK]", "[/THINK]"), "[TOOL_CALLS]", "[THINK]Well."),  # which all of Mistral's newer vocabularies have
        ((), "{# Write <response>…</response> #}[TOOL_CALLS]", "<response>Well.</response>"),
    ],
)
def test_a_template_without_thinking_is_of_no_thinking_model(
    tmp_path: Path, tokens: tuple[str, ...], template: str, text: str
) -> None:
    model = speaking(tmp_path, *tokens, template=template)
    assert not model.info.ends_thinking
    assert read(model, text)["content"] == text


def test_what_was_once_shown_with_its_marks_is_text_in_later_prompts(tmp_path: Path) -> None:
    """Templates with such marks of their own refuse them in a reply's text, and would read them as the model's."""
    model = speaking(tmp_path, *CHANNEL, template="{# <|channel|> #}{% for m in messages %}{{ m.content }}{% endfor %}")
    shown = Message(MessageRole.ASSISTANT, f"{HARMONY}<|channel|>final<|message|>Well.")
    asked = Message(MessageRole.USER, "why?")
    tokens = prompt_tokens(Request(messages=(asked, shown, asked)), model)
    assert not {*tokens} & {model.tokenizer.convert_tokens_to_ids(word) for word in CHANNEL}


def changed(**changes: Any) -> dict[str, Any]:
    fields = ELEMENTS["fields"]
    return ELEMENTS | {"fields": fields | {"tool_calls": fields["tool_calls"] | changes}}


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (CHANNELS, ASKED[:-3]),
        (CHANNELS, ASKED.replace('"far"', "far")),
        (LISTED, LIST.replace('"tool"', '"what"')),
        (LISTED, "<|START_ACTION|>{}<|END_ACTION|>"),
        (changed(close_pattern="</args>|</call>"), "<call name=look></args> so </call>"),
        (ELEMENTS, "<call name="),
    ],
    ids=["cut", "no json", "no name", "no list", "more", "half"],
)
def test_what_is_no_call_stays_text(main: LoadedModel, declared: dict[str, Any], text: str) -> None:
    found = read(declaring(main, declared), text)
    assert (found["content"], found["calls"]) == (text, [])


ENDLESS = r"(?:x|xx)+y"


@pytest.mark.parametrize(
    "changes",
    [
        {"open_pattern": rf"<call name=(?P<name>\w+)>k{ENDLESS}"},
        {"close_pattern": rf"{ENDLESS}</call>"},
        {"content_args": {"tag_pattern": rf"(?P<key>k)(?P<value>){ENDLESS}"}},
    ],
    ids=["open", "close", "tag"],
)
def test_a_pattern_without_end_makes_no_call(main: LoadedModel, changes: dict[str, Any]) -> None:
    text = f"<call name=look>k{'x' * 200}</args></call>"
    assert read(declaring(main, changed(**changes)), text)["content"] == text


@pytest.mark.parametrize(
    "declared",
    [
        changed(open_pattern=r"<call(?:(?:(?:a{1000}){1000}){1000}){1000}(?P<name>)"),
        changed(
            content="kv-lines", content_args={"value_parser": {"name": "xml-inline", "args": {"tag_pattern": "a{9}"}}}
        ),
        changed(close_pattern="(" * 3),
        changed(open_pattern=r"(?P<name>\w+)"),
        {"fields": {"tool_calls": 1}},
        [1],
        "x",
    ],
    ids=["counted", "nested", "broken", "anywhere", "no field", "a list", "a text"],
)
def test_what_is_no_template_changes_nothing(main: LoadedModel, declared: Any) -> None:
    model = declaring(main, declared)
    assert (model.marks.thinking, model.marks.calls) == (None, None)


def test_thinking_is_declared_though_mlx_lm_knows_the_calls(main: LoadedModel) -> None:
    """As Mistral's: its template has calls, and mlx-lm does not look for its markers of thinking."""
    fields = {"thinking": {"open": "[THINK]", "close": "[/THINK]"}, "content": {"open": "[SAY]"}}
    model = declaring(main, {"start_anchor": "[/INST]", "fields": fields}, mistral)
    assert read(model, "[THINK]So.[/THINK][SAY]Well.") == {"thinking": "So.", "content": "Well.", "calls": []}


def test_a_folder_that_declares_its_replies(zoo: Zoo, tmp_path: Path) -> None:
    for file in zoo.main.iterdir():
        (tmp_path / file.name).symlink_to(file)
    settings = tmp_path / "tokenizer_config.json"
    settings.unlink()
    shutil.copy(zoo.main / settings.name, settings)
    rewrite(settings, response_template=CHANNELS)
    model = load_model(tmp_path)
    assert model.info.ends_thinking
    assert read(model, HARMONY + ASKED)["calls"] == theirs(CHANNELS, HARMONY + ASKED)["calls"]


def speaking(folder: Path, *tokens: str, template: str = "", tokenizer: Tokenizer | None = None) -> LoadedModel:
    """A folder that declares nothing, with these tokens."""
    return load_model(save_small(folder, *tokens, template=f"{{{{ tools }}}}{template}", tokenizer=tokenizer))


def test_channels_of_gpt_oss_are_known_without_a_declaration(tmp_path: Path) -> None:
    signs = "<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|call|>", "<|return|>"
    model = speaking(tmp_path, *signs, template="<|channel|>commentary")
    assert (model.info.ends_thinking, model.info.calls_tools, model.info.about.tools) == (True, True, True)
    aside = "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant"
    call = {"name": "look", "arguments": {"far": 3}}
    assert read(model, HARMONY + aside + ASKED) == {"thinking": "Look first.", "content": "I look.", "calls": [call]}
    first = ' to=functions.look<|channel|>commentary json<|message|>{"far": 3}'  # as the template writes former calls
    assert read(model, HARMONY + first) == {"thinking": "Look first.", "content": "", "calls": [call]}
    assert read(model, first) == {"thinking": "", "content": "", "calls": [call]}
    reply = TextDecoder(model, [], (), tools=ToolSyntax(model, [TOOL]))
    spans = [span for token in encode(HARMONY + first, model) for span in reply.push(token)] + reply.finish()
    assert "".join(span.text for span in spans) == "Look first."
    among = ASKED.replace("commentary", "analysis")
    assert read(model, HARMONY + among) == {"thinking": "Look first.", "content": "", "calls": [call]}
    answer = f"{HARMONY}<|channel|>final<|message|>Well."
    assert read(model, answer) == {"thinking": "Look first.", "content": "Well.", "calls": []}


@pytest.fixture
def spelling(tmp_path: Path) -> LoadedModel:
    """A model that spells its markers; as in most vocabularies their last token is another one before a line break."""
    plain = json.loads(byte_tokenizer().to_str())
    plain["model"]["vocab"][">Ċ"] = 256
    plain["model"]["merges"] = [[">", "Ċ"]]
    plain["pre_tokenizer"]["use_regex"] = False
    model = speaking(tmp_path, template="{# <think> and </think> #}", tokenizer=Tokenizer.from_str(json.dumps(plain)))
    assert encode("<think>\n", model)[-1] == 256
    return model


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("<think>\n", SpanKind.THINKING),
        ("<think>", SpanKind.THINKING),
        ("<think>\n\n</think>\n\n", SpanKind.ANSWER),
        ("a", SpanKind.ANSWER),
    ],
)
def test_a_prompt_that_opens_thinking_with_a_line_break(spelling: LoadedModel, prompt: str, kind: SpanKind) -> None:
    reply = TextDecoder(spelling, encode(prompt, spelling), ())
    assert [span.kind for span in reply.push(*encode("b", spelling)) + reply.finish()] == [kind]


@pytest.mark.parametrize("opens", ["<think>", "<think>\n"])
def test_thinking_that_begins_with_a_line_break_has_its_limit(spelling: LoadedModel, opens: str) -> None:
    guide = TextDecoder(spelling, [], ()).guide(None, may_open=True, most_thinking=2)
    assert guide is not None
    guide.commit(encode(f"{opens}bb", spelling))
    assert guide.forced() == encode("</think>", spelling)
