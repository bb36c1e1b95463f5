"""Chat templates: programs that are not trusted, rendered as transformers renders them, in jinja's sandbox.

A template that is new here is first rendered in a limited child process (first_use.py). In this process compilation and
rendering end at a deadline (watch.py). It is checked between two lines, so the two operators with which a single line
can run for ever are bounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NoReturn

import jinja2
import jinja2.ext
from jinja2 import nodes
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from engine.models.about import TAKES_TOOLS
from engine.models.effort import EffortVariables
from engine.models.watch import Question, never, watched

RENDERING_S = 1.0  # of processor time
MOST_CHARACTERS = 16 << 20  # of the rendered text, and items of a repeated value
MOST_BITS = 4096  # of an integer
_NAME = re.compile(r"[.'\"](\w+)")
_UNFINISHED = "CONTINUE_FINAL_MESSAGE_TAG "

Turn = dict[str, Any]


class TemplateTooCostly(jinja2.TemplateError):
    """The template needs more than any chat does."""


class ChatTemplate:
    """A template's source; it is compiled when it is first rendered."""

    def __init__(
        self, source: str, variables: Mapping[str, Any], with_tools: str = "", limit_s: float = RENDERING_S
    ) -> None:
        """`variables`: for every rendering, the tokenizer's special tokens. `with_tools`: another source for tools."""
        self.source = source
        self._with_tools = with_tools or source
        self.text = source + self._with_tools
        self.names = frozenset(_NAME.findall(self.text))  # by which it finds keys and values
        self.effort = EffortVariables.of(source)
        self.takes_tools = bool(TAKES_TOOLS.search(self._with_tools))
        self._variables = dict(variables)
        self._limit_s = limit_s

    def render(
        self,
        turns: Sequence[Turn],
        *,
        unfinished: bool = False,
        aborted: Question = never,
        **variables: Any,
    ) -> str:
        """`unfinished`: continue the last turn.

        Raises a jinja2.TemplateError, TooLong, Aborted when `aborted` returns True, or what the template raises.
        """
        turns = [_with_thinking(turn) for turn in turns]
        if unfinished:
            turns[-1]["content"] += _UNFINISHED
        with watched(self._limit_s, aborted):
            text = self._render(**{"tools": None, "documents": None, **self._variables, **variables, "messages": turns})
        return _cut(text, turns[-1]["content"]) if unfinished else text

    def _render(self, **variables: Any) -> str:
        source = self._with_tools if variables["tools"] else self.source
        return _joined(_compiled(source).generate(**variables))


@lru_cache(maxsize=8)
def _compiled(source: str) -> jinja2.Template:
    """Compiling takes longer than rendering, and a draft often has the template of its main model."""
    return _Environment().from_string(source)


def _with_thinking(turn: Turn) -> Turn:
    """A copy with the reasoning under Gemma 4's and gpt-oss's names, too; gpt-oss's refuses it beside a call's text."""
    reasoning = turn.get("reasoning_content")
    named = {"reasoning": reasoning} if reasoning else {}
    if reasoning and not (turn.get("tool_calls") and turn["content"]):
        named["thinking"] = reasoning
    return {**named, **turn}


def _cut(text: str, last: str) -> str:
    """The text up to the end of the last turn; the template may have trimmed it."""
    said = last.removesuffix(_UNFINISHED)
    if said.strip() not in text or _UNFINISHED.strip() not in text:
        raise jinja2.TemplateError("the template leaves out part of the last message, which is to be continued")
    at = text.rindex(_UNFINISHED.strip())
    return text[:at] if text[at : at + len(_UNFINISHED)] == _UNFINISHED else text[:at].rstrip()


class _Generation(jinja2.ext.Extension):
    """{% generation %}…{% endgeneration %} marks replies for training; here it has no effect."""

    tags = {"generation"}  # noqa: RUF012  jinja2 declares it so

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_said"), [], [], body).set_lineno(line)

    def _said(self, caller: Callable[[], str]) -> str:
        return caller()


class _Environment(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset(("*", "**"))

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_Generation, jinja2.ext.loopcontrols],
        )
        self.filters["tojson"] = _to_json
        self.globals |= {"raise_exception": _raise, "strftime_now": _now, "dict": _Dict(), "namespace": _Names}

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Refuse operations that Python computes in one step while every other thread waits."""
        if isinstance(left, int) and isinstance(right, int):
            bits = left.bit_length() * right if operator == "**" else left.bit_length() + right.bit_length()
            if bits > MOST_BITS:
                raise TemplateTooCostly("a number that is too large")
        elif operator == "*":
            count, value = (left, right) if isinstance(left, int) else (right, left)
            if isinstance(count, int) and hasattr(value, "__len__") and count * len(value) > MOST_CHARACTERS:
                raise TemplateTooCostly("a value that is repeated too often")
        return super().call_binop(context, operator, left, right)


class _Dict:
    """A function instead of the class, so that a template cannot access the class."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, *args: Any) -> dict[Any, Any]:
        return dict.fromkeys(*args)


class _Names(Namespace):
    def __init__(*args: Any, **kwargs: Any) -> None:  # so that `namespace(self=…)` works, as in jinja2
        self = args[0]
        args = args[1:]
        names = dict(*args, **kwargs)
        for name in names:
            _check_name(name)
        Namespace.__init__(self, names)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _joined(parts: Iterable[str]) -> str:
    kept = []
    characters = 0
    for part in parts:
        kept.append(part)
        characters += len(part)
        if characters > MOST_CHARACTERS:
            raise TemplateTooCostly("a text that is too long")
    return "".join(kept)


def _to_json(
    value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _raise(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _now(pattern: str) -> str:
    return datetime.now().strftime(pattern)


def _check_name(name: Any) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise jinja2.exceptions.SecurityError(f"a name that begins with an underscore: {name[:40]!r}")
