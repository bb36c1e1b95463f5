"""Models that call tools, by any of mlx-lm's parsers, and calls as the templates of such models write them."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mlx_lm.tokenizer_utils import TokenizerWrapper
from tokenizers import AddedToken, Tokenizer
from transformers import PreTrainedTokenizerFast

from engine.models.control_words import ControlWords
from engine.models.declared import read_marks
from engine.models.loading import LoadedModel
from engine.models.templates import ChatTemplate

Schema = dict[str, Any]
# The control tokens of a call, by mlx-lm's parser.
MARKS = {
    "json_tools": ("<tool_call>", "</tool_call>"),
    "mistral": ("[TOOL_CALLS]", "[ARGS]"),
    "qwen3_coder": ("<tool_call>", "</tool_call>"),
    "glm47": ("<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
    "gemma4": ("<|tool_call>", "<tool_call|>", '<|"|>'),
}
END = "<|im_end|>"


def calling(
    base: LoadedModel, backend: Tokenizer, parser: str, *, tokens: bool = True, template: str = ""
) -> LoadedModel:
    """`base` with another tokenizer. `tokens`: the marks of calls are tokens of it."""
    backend.add_special_tokens([AddedToken(END, special=True, normalized=False)])
    if tokens:
        backend.add_tokens([AddedToken(mark, normalized=False) for mark in MARKS[parser]])
    theirs = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token=END)  # type: ignore[no-untyped-call]
    module = importlib.import_module(f"mlx_lm.tool_parsers.{parser}")
    tokenizer = TokenizerWrapper(
        theirs,
        eos_token_ids=[theirs.convert_tokens_to_ids(END)],
        tool_parser=module.parse_tool_call,
        tool_call_start=module.tool_call_start,
        tool_call_end=module.tool_call_end,
    )
    return replace(
        base,
        tokenizer=tokenizer,
        template=ChatTemplate(template, {"eos_token": END}),
        marks=read_marks(tokenizer, template),
        control_words=ControlWords.of(tokenizer),
        beside={},
        logit_width=max(base.logit_width, len(theirs)),
    )


def written(parser: str, name: str, arguments: Mapping[str, Any], schema: Schema) -> str:
    """In JSON where a text would be read as something else."""
    known = schema["properties"]
    if parser == "qwen3_coder":
        pairs = "".join(f"<parameter={key}>\n{_text(each)}\n</parameter>\n" for key, each in arguments.items())
        return f"<tool_call>\n<function={name}>\n{pairs}</function>\n</tool_call>"
    if parser == "glm47":
        raw = {key: known[key].get("type") == "string" for key in arguments}
        texts = {key: _text(each) if raw[key] else _json(each) for key, each in arguments.items()}
        pairs = "".join(f"<arg_key>{key}</arg_key><arg_value>{text}</arg_value>" for key, text in texts.items())
        return f"<tool_call>{name}{pairs}</tool_call>"
    if parser == "gemma4":
        return f"<|tool_call>call:{name}{_gemma(arguments)}<tool_call|>"
    if parser == "mistral":
        return f"[TOOL_CALLS]{name}[ARGS]{_json(arguments)}"
    return f'<tool_call>\n{{"name": "{name}", "arguments": {_json(arguments)}}}\n</tool_call>'


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _gemma(value: Any) -> str:
    if isinstance(value, str):
        return f'<|"|>{value}<|"|>'
    if isinstance(value, list):
        return f"[{','.join(map(_gemma, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{key}:{_gemma(value[key])}' for key in sorted(value, key=str.lower))}}}"
    return json.dumps(value)
