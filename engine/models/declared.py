"""Thinking and tool calls by a tokenizer's `response_template` for transformers, where mlx-lm has no parser for it; and
what the folders of some families do not declare and mlx-lm does not know.

Only fields that begin and end with plain text, or with patterns that do, are used. The text between is parsed by
transformers. Its patterns come from the folder: their length and repetitions are limited, and so is the time of each
search.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from types import ModuleType, SimpleNamespace
from typing import Any

import regex  # type: ignore[import-untyped]
from transformers.utils.chat_parsing import ResponseParser, content_parsers
from transformers.utils.chat_parsing.response_templates import load_response_template

_SEARCH_S = 0.1  # of processor time
_PARSING_S = 0.5  # by a pattern of mlx-lm's
_MOST_FIELDS = 16
_MOST_LETTERS = 400  # of a pattern, or of a text that begins or ends something
# By added tokens that no other family has all of: what opens and closes thinking, and the marks around answers.
_KNOWN: Mapping[tuple[str, ...], tuple[str, str, tuple[str, ...]]] = {
    ("<|eom|>", "<|message|>"): (  # Muse
        " to=self<|message|>",
        "<|eom|>",
        ("<|start|>assistant to=user<|message|>", "<|start|>assistant to=commentary<|message|>", "to=user<|message|>"),
    ),
    ("[THINK]",): ("[THINK]", "[/THINK]", ()),  # Magistral, Ministral 3
    ("<seed:think>",): ("<seed:think>", "</seed:think>", ()),  # Seed-OSS
    ("<mm:think>",): ("<mm:think>", "</mm:think>", ()),  # MiniMax M3
    ("<|inner_prefix|>",): ("<|inner_prefix|>", "<|inner_suffix|>", ()),  # Apertus
    ("<|START_THINKING|>",): ("<|START_THINKING|>", "<|END_THINKING|>", ("<|START_RESPONSE|>", "<|END_RESPONSE|>")),
}
_SPELLED = ("<think>", "</think>")  # in several tokens, by some models whose template names them
_CHANNELS = {  # of gpt-oss, whose folders mostly declare nothing
    "start_anchor": "<|start|>assistant",
    "fields": {
        "thinking": {"open": "<|channel|>analysis<|message|>", "close": "<|end|>"},
        "content": {
            "open": [
                *("<|channel|>final<|message|>", "<|channel|>commentary<|message|>"),
                *("<|channel|>commentary ", "<|channel|>analysis "),  # before a call
            ],
            "close": ["<|end|>", "<|return|>"],
        },
        "tool_calls": {
            "open_pattern": r"to=functions\.(?P<name>[\w.-]+).*?<\|message\|>",  # after a channel, or before one
            "close": "<|call|>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
        },
    },
}
_THINKING = ("reasoning_content", "thinking", "reasoning")  # names of the field in templates
_PARTS = re.compile(r"\\(?:x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8}|\d+|.)|.", re.DOTALL)
_MEANING = frozenset(".^$*+?{}[]|()")  # characters with a special meaning in patterns

_log = logging.getLogger(__name__)

# transformers' parsers of a call's content search with the folder's patterns, for as long as it takes.
content_parsers.re = SimpleNamespace(  # type: ignore[attr-defined]
    DOTALL=regex.DOTALL,
    escape=regex.escape,
    sub=partial(regex.sub, timeout=_SEARCH_S),
    finditer=partial(regex.finditer, timeout=_SEARCH_S),
)


def adopt_declared(tokenizer: Any) -> tuple[str, ...]:
    """Add the markers of thinking and calls that are declared, or known here, to mlx-lm's wrapper of a tokenizer, where
    it has found none.

    Returns the marks around answers, which are no part of them.
    """
    if tokenizer.has_tool_calling:
        _limit_patterns(sys.modules[tokenizer.tool_parser.__module__])
    added = tokenizer.get_added_vocab()
    declared = getattr(tokenizer._tokenizer, "response_template", None)  # noqa: SLF001  not forwarded if it is missing
    if declared is None and "<|channel|>" in added:
        declared = _CHANNELS
    marks = () if declared is None else _adopt(declared, tokenizer)
    if tokenizer.has_thinking:
        return (*marks, *tokenizer.structural_markers)
    for signs, (opens, closes, around) in _KNOWN.items():
        if all(each in added for each in signs):
            _set(tokenizer, "think", (opens, closes))
            tokenizer._think_start = opens.lstrip()  # noqa: SLF001  a reply begins without a space
            return around
    if all(each in str(tokenizer.chat_template) for each in _SPELLED):
        _set(tokenizer, "think", _SPELLED)
    return marks


def _adopt(declared: Any, tokenizer: Any) -> tuple[str, ...]:
    try:
        fields = _checked(declared)
        calls = _calls(declared, fields)
        marks = tuple(_marks_of_answers(declared, fields))
    except Exception as error:  # noqa: BLE001  whatever is odd about it: replies are shown as they are
        _log.info("the response template is not read: %s", type(error).__name__)
        return ()
    thinking = next((fields[name] for name in _THINKING if name in fields), {})
    opens = _only(thinking.get("open"))
    closes = _only(thinking.get("close"))
    if opens and closes and not tokenizer.has_thinking:
        _set(tokenizer, "think", (opens, closes))
    if calls is not None and not tokenizer.has_tool_calling:
        _set(tokenizer, "tool_call", (calls.start, calls.end))
        tokenizer._tool_parser = calls  # noqa: SLF001
    return marks


def _set(tokenizer: Any, name: str, ends: tuple[str, str]) -> None:
    for end, text in zip(("start", "end"), ends, strict=True):
        setattr(tokenizer, f"_{name}_{end}", text)
        setattr(tokenizer, f"_{name}_{end}_tokens", tuple(tokenizer.encode(text, add_special_tokens=False)))


def _checked(declared: Any) -> dict[str, dict[str, Any]]:
    """The template's fields. Raises ValueError if there are none, or for patterns that must not be compiled."""
    fields = declared["fields"]
    if len(fields) > _MOST_FIELDS or not all(isinstance(field, dict) for field in fields.values()):
        raise ValueError("fields without measure")
    for pattern in _patterns(declared):
        # MEASURED: (?:a{1000}){1000} takes half a second to compile; one level more takes hours.
        if len(pattern) > _MOST_LETTERS or "{" in _PARTS.findall(pattern):
            raise ValueError("a pattern without measure")
    return dict(fields)


def _patterns(part: Any) -> Iterator[str]:
    items: Iterable[tuple[object, Any]] = ()
    if isinstance(part, dict):
        items = part.items()
    elif isinstance(part, list):
        items = enumerate(part)
    for key, value in items:
        if isinstance(key, str) and key.endswith("pattern"):
            yield str(value)
        yield from _patterns(value)


def _limited(pattern: Any, limit_s: float = _SEARCH_S) -> Any:
    """A pattern, if there is one, whose searches have a time limit."""
    ways = ("search", "match", "findall", "finditer")
    return pattern and SimpleNamespace(**{way: partial(getattr(pattern, way), timeout=limit_s) for way in ways})


def _limit_patterns(parser: ModuleType) -> None:
    """MEASURED: a call of 140,000 characters that repeats a mark takes mlx-lm's a minute, in one step."""
    for name, value in vars(parser).items():
        if isinstance(value, regex.Pattern):
            setattr(parser, name, _limited(value, _PARSING_S))


class DeclaredCalls:
    """A parser of tool calls like mlx-lm's, by a template's field: from `start` to `end`; "": to the reply's end."""

    def __init__(self, declared: dict[str, Any], start: str, end: str) -> None:
        self.start = start
        self.end = end
        template = load_response_template(declared)
        limited = {
            name: replace(field, open_re=_limited(field.open_re), close_re=_limited(field.close_re), optional=True)
            for name, field in template.fields.items()
        }
        self._template = replace(template, fields=limited, defaults={})

    def __call__(self, text: str, tools: Sequence[Any]) -> list[Any]:
        """Unlike mlx-lm's, it gets the markers too. Raises what transformers' parser does, or ValueError."""
        parser = ResponseParser(self._template, prefix="", tools=list(tools))
        parser.feed(text)
        message, _ = parser.finalize()
        calls = _flat(message.pop("tool_calls"))
        if message:
            raise ValueError("other text than calls")
        return [call["function"] for call in calls]


def _flat(calls: Any) -> list[Any]:
    return [each for call in calls for each in _flat(call)] if isinstance(calls, list) else [calls]


def _calls(declared: dict[str, Any], fields: dict[str, dict[str, Any]]) -> DeclaredCalls | None:
    field = fields.get("tool_calls", {})
    start = _only(field.get("open")) or _begin(_PARTS.findall(field.get("open_pattern", "").removeprefix(r"\s*")))
    end = _only(field.get("close"))
    if not end and (pattern := field.get("close_pattern")):
        end = _begin(_PARTS.findall(pattern.removesuffix(r"\s*"))[::-1])[::-1]
    return DeclaredCalls(declared, start, end) if start.strip() and len(start + end) <= _MOST_LETTERS else None


def _begin(parts: Sequence[str]) -> str:
    """The literal characters that a pattern begins with."""
    plain = list(takewhile(bool, map(_letter, parts)))
    if parts[len(plain) :][:1] and parts[len(plain)] in "*+?":
        del plain[-1:]
    return "".join(plain)


def _letter(part: str) -> str:
    """The character that a token of a pattern stands for; "" if it is not literal."""
    if part == r"\n":
        return "\n"
    if len(part) == 1:
        return part if part not in _MEANING else ""
    return part[1] if not part[1].isalnum() else ""


def _only(texts: Any) -> str:
    """A text, or the only one of a list."""
    found = list(_texts(texts))
    return found[0] if len(found) == 1 else ""


def _texts(texts: Any) -> Iterable[str]:
    given = texts if isinstance(texts, list) else [texts]
    return (each for each in given if isinstance(each, str) and each.strip() and len(each) <= _MOST_LETTERS)


def _marks_of_answers(declared: dict[str, Any], fields: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The marks before and after an answer and a reply."""
    content = fields.get("content", {})
    given = (declared.get("start_anchor"), content.get("open"), content.get("close"))
    yield from list(dict.fromkeys(text for texts in given for text in _texts(texts)))[:_MOST_FIELDS]
