"""How a model's replies are written: its marks, and the parser of its calls.

mlx-lm knows some, a tokenizer may declare others in its `response_template` for transformers, and `marks.py` has those
of some families. Of a response template only fields that begin and end with plain text, or with patterns that do, are
used. The text between is parsed by transformers. Its patterns come from the folder: their length and repetitions are
limited, and so is the time of each search.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from types import ModuleType, SimpleNamespace
from typing import Any

import regex  # type: ignore[import-untyped]
from transformers.utils.chat_parsing import ResponseParser, content_parsers
from transformers.utils.chat_parsing.response_templates import load_response_template

from engine.models.marks import FamilyMarks, thinking_family

_SEARCH_S = 0.1  # of processor time
_PARSING_S = 0.5  # by a pattern of mlx-lm's
_MOST_FIELDS = 16
_MOST_LETTERS = 400  # of a pattern, or of a text that begins or ends something
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


# The calls, or a single one, in a text with the marks of its calls, by that and the tools. May raise anything.
ParseCalls = Callable[[str, Sequence[Any]], Any]


@dataclass(frozen=True, slots=True)
class Marks:
    """What begins and ends a part of a reply: texts, and their tokens."""

    opens: str
    closes: str  # "": the end of the reply
    opening: tuple[int, ...]
    closing: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ReplyMarks:
    """How a model's replies are written."""

    thinking: Marks | None = None
    calls: Marks | None = None
    parse_calls: ParseCalls | None = None  # if it has calls
    parser: str = ""  # the name of that among mlx-lm's
    around: tuple[str, ...] = ()  # marks that are no part of an answer

    @property
    def thinking_texts(self) -> tuple[str, str]:
        """What opens and closes thinking; empty: nothing does."""
        return ("", "") if self.thinking is None else (self.thinking.opens, self.thinking.closes)


def read_marks(tokenizer: Any, templates: str) -> ReplyMarks:
    """What mlx-lm's wrapper of a tokenizer knows counts first, then what is declared, then what is known of families.

    `templates`: the text in which the families' marks are looked for.
    """
    family = thinking_family(templates) or FamilyMarks()
    declared = getattr(tokenizer, "response_template", None)
    declared = family.declared if declared is None else declared
    marks = ReplyMarks() if declared is None else _declared_marks(declared, tokenizer)
    if tokenizer.has_tool_calling:
        marks = replace(marks, **_known_calls(tokenizer))
    if tokenizer.has_thinking:
        thinking = _marks(tokenizer.think_start, tokenizer.think_end, tokenizer)
        around = family.around if family.opens == tokenizer.think_start else ()
        return replace(marks, thinking=thinking, around=(*marks.around, *around, *tokenizer.structural_markers))
    if marks.thinking is None and family.opens:
        thinking = _marks(family.opens, family.closes, tokenizer)
        thinking = replace(thinking, opens=family.opens.lstrip())  # a reply begins without a space
        return replace(marks, thinking=thinking, around=(*marks.around, *family.around))
    return marks


def _marks(opens: str, closes: str, tokenizer: Any) -> Marks:
    opening, closing = (tuple(tokenizer.encode(text, add_special_tokens=False)) for text in (opens, closes))
    return Marks(opens, closes, opening, closing)


def _known_calls(tokenizer: Any) -> dict[str, Any]:
    """By mlx-lm's parser of the model."""
    marks = _marks(tokenizer.tool_call_start, tokenizer.tool_call_end or "", tokenizer)
    module = tokenizer.tool_parser.__module__
    _limit_patterns(sys.modules[module])

    def parse(text: str, tools: Sequence[Any]) -> Any:
        return tokenizer.tool_parser(text[len(marks.opens) :].removesuffix(marks.closes), tools)

    return {"calls": marks, "parse_calls": parse, "parser": module.rpartition(".")[2]}


def _declared_marks(declared: Any, tokenizer: Any) -> ReplyMarks:
    try:
        fields = _checked(declared)
        marks = ReplyMarks(around=tuple(_marks_of_answers(declared, fields)))
        if ends := _ends_of_calls(fields.get("tool_calls", {})):
            marks = replace(marks, calls=_marks(*ends, tokenizer), parse_calls=_parser_of(declared))
    except Exception as error:  # noqa: BLE001  whatever is odd about it: replies are shown as they are
        _log.info("the response template is not read: %s", type(error).__name__)
        return ReplyMarks()
    thinking = next((fields[name] for name in _THINKING if name in fields), {})
    opens = _only(thinking.get("open"))
    closes = _only(thinking.get("close"))
    return replace(marks, thinking=_marks(opens, closes, tokenizer)) if opens and closes else marks


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


def _parser_of(declared: dict[str, Any]) -> ParseCalls:
    """By transformers' parser, which raises for what is no call."""
    template = load_response_template(declared)
    limited = {
        name: replace(each, open_re=_limited(each.open_re), close_re=_limited(each.close_re), optional=True)
        for name, each in template.fields.items()
    }
    template = replace(template, fields=limited, defaults={})

    def parse(text: str, tools: Sequence[Any]) -> list[Any]:
        parser = ResponseParser(template, prefix="", tools=list(tools))
        parser.feed(text)
        message, _ = parser.finalize()
        calls = _flat(message.pop("tool_calls"))
        if message:
            raise ValueError("other text than calls")
        return [call["function"] for call in calls]

    return parse


def _flat(calls: Any) -> list[Any]:
    return [each for call in calls for each in _flat(call)] if isinstance(calls, list) else [calls]


def _ends_of_calls(field: dict[str, Any]) -> tuple[str, str] | None:
    """The texts with which calls begin and end; None if they do not begin with a text."""
    start = _only(field.get("open")) or _begin(_PARTS.findall(field.get("open_pattern", "").removeprefix(r"\s*")))
    end = _only(field.get("close"))
    if not end and (pattern := field.get("close_pattern")):
        end = _begin(_PARTS.findall(pattern.removesuffix(r"\s*"))[::-1])[::-1]
    return (start, end) if start.strip() and len(start + end) <= _MOST_LETTERS else None


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
