"""Chat templates: programs that are not trusted, run with limits of time and memory.

Python code of a template ends at a deadline (watch.py). A single operation of the interpreter (a power, a padded
string, a join) is bounded before it runs: by the size of its operands, by its result, and by all results of one
rendering. Renders like transformers.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import wraps
from types import CodeType
from typing import Any, NoReturn

import jinja2
import jinja2.ext
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.parser import Parser
from jinja2.runtime import Context, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from engine.models.watch import Question, never, watched

RENDERING_S = 1.0  # of processor time
MOST_AT_ONCE = 16 << 20  # characters of one value
MOST_WORK = 1 << 26  # characters that one operation may read or write
MOST_IN_ALL = 1 << 28  # characters that one rendering may produce in all
ITEM = 32  # size of a list's item, in characters
MOST_DIGITS = 1200  # of a number
MOST_PATTERN = 4096  # characters of a format string
MOST_LETTERS = 1 << 20  # of a text that is read letter by letter
MOST_CODE = 400_000  # characters for Python's compiler, which cannot be interrupted: MEASURED 0.1 s for these
# In a format string. A name with parentheses counts as wide: finding its end would take quadratic time.
_WIDE = re.compile(r"%(?:\([^()]*\))?[^%a-zA-Z(]*(?:\*|\d{5})|%\([^()]*\(")
_LONG_NUMBER = re.compile(r"\d{5}")
_BY_NUMBER = {"center", "ljust", "rjust", "zfill", "expandtabs", "to_bytes", "indent", "batch", "slice", "round"}
_BY_LETTER = {
    "batch",
    "groupby",
    "join",
    "list",
    "max",
    "min",
    "slice",
    "sort",
    "striptags",
    "title",
    "unique",
    "wordcount",
}
_BY_TEXT = {"translate", "rfind", "rindex", "rsplit", "rpartition"}
_UNUSED_FILTERS = ("pprint", "urlize", "wordwrap", "xmlattr")  # for web pages
_UNFINISHED = "CONTINUE_FINAL_MESSAGE_TAG "

Turn = dict[str, Any]


class TemplateTooCostly(jinja2.TemplateError):
    """The template needs more than any chat does."""


class ChatTemplate:
    """A template's source, compiled at the first rendering."""

    def __init__(self, source: str, variables: Mapping[str, Any], limit_s: float = RENDERING_S) -> None:
        """`variables`: for every rendering, the tokenizer's special tokens."""
        self._source, self._variables, self._limit_s = source, dict(variables), limit_s
        self._environment = _Environment()
        self._compiled: jinja2.Template | None = None

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
        turns = [dict(turn) for turn in turns]
        if unfinished:
            turns[-1]["content"] += _UNFINISHED
        self._environment.spent.characters = 0
        with watched(self._limit_s, aborted):
            text = self._render(**{"tools": None, "documents": None, **self._variables, **variables, "messages": turns})
        return _cut(text, turns[-1]["content"]) if unfinished else text

    def _render(self, **variables: Any) -> str:
        if self._compiled is None:
            self._compiled = self._environment.from_string(self._source)
        return _joined(self._compiled.generate(**variables))


def _cut(text: str, last: str) -> str:
    """The text up to the end of the last turn, which the template may have trimmed."""
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


class _Code(CodeGenerator):
    """Also passes values composed of others through the environment."""

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802  jinja2's names
        self.write("environment.text_of((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_List(self, node: nodes.List, frame: Frame) -> None:  # noqa: N802
        self._checked(super().visit_List, node, frame)

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:  # noqa: N802
        if node.ctx == "load":
            self._checked(super().visit_Tuple, node, frame)
        else:
            super().visit_Tuple(node, frame)

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:  # noqa: N802
        self._checked(super().visit_Dict, node, frame)

    def _checked(self, visit: Callable[[Any, Frame], None], node: nodes.Node, frame: Frame) -> None:
        self.write("environment.checked(")
        visit(node, frame)
        self.write(")")


class _Spent(threading.local):
    """What a rendering has produced so far; one for each thread."""

    characters = 0


class _Environment(ImmutableSandboxedEnvironment):
    code_generator_class = _Code
    intercepted_binops = frozenset(("+", "*", "**", "%", "-", "//"))

    def __init__(self) -> None:
        self.spent = _Spent()
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_Generation, jinja2.ext.loopcontrols],
            optimized=False,  # else the compiler would compute constants
            finalize=self.shown,
        )
        for name in _UNUSED_FILTERS:
            del self.filters[name]
        self.filters["tojson"] = _to_json
        self.filters = {name: self._bounded(name, filter_) for name, filter_ in self.filters.items()}
        del self.globals["lipsum"]
        self.globals |= {"raise_exception": _raise, "strftime_now": _now, "dict": _Dict(), "namespace": _Names}
        self.concat = self.joined  # type: ignore[method-assign]

    def _compile(self, source: str, filename: str) -> CodeType:
        if len(source) > MOST_CODE:
            raise TemplateTooCostly("a program without measure")
        return super()._compile(source, filename)

    def checked(self, value: Any) -> Any:
        """`value`, if it is no larger than a chat needs."""
        self.spent.characters += size_of(value)
        if self.spent.characters > MOST_IN_ALL:
            raise TemplateTooCostly("too much text on the way")
        return value

    @jinja2.pass_context  # so the compiler computes no constants
    def shown(self, context: Context, value: Any) -> Any:
        return self.checked(value)

    def joined(self, parts: Iterable[str]) -> str:
        return str(self.checked(_joined(parts)))

    def text_of(self, parts: Sequence[Any]) -> str:
        return self.joined([str(self.checked(part)) for part in parts])

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        _check_operation(operator, left, right)
        return self.checked(super().call_binop(context, operator, left, right))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805  as in jinja2
        if not isinstance(__obj, Macro):
            method = getattr(__obj, "__wrapped__", __obj)  # str.format, as the sandbox wraps it
            name = getattr(method, "__name__", "")
            args = _settled(name, args)
            _check_call(name, getattr(method, "__self__", ""), *args, *kwargs.values())
        return __self.checked(super().call(__context, __obj, *args, **kwargs))

    def _bounded(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        given = 1 if hasattr(function, "jinja_pass_arg") else 0  # the context or environment comes first

        @wraps(function)
        def bounded(*args: Any, **kwargs: Any) -> Any:
            args = (*args[:given], *_settled(name, args[given:]))
            _check_call(name, args[given], *args[given + 1 :], *kwargs.values())
            return self.checked(function(*args, **kwargs))

        return bounded


class _Dict:
    """A function instead of the class, so that a template cannot access the class."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, *args: Any) -> dict[Any, Any]:
        return dict.fromkeys(*args)


class _Names(Namespace):
    def __init__(*args: Any, **kwargs: Any) -> None:  # so that `namespace(self=…)` works, as in jinja2
        self, args = args[0], args[1:]
        names = dict(*args, **kwargs)
        for name in names:
            _check_name(name)
        Namespace.__init__(self, names)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def size_of(value: Any, indent: int = 0) -> int:
    """Approximate number of characters of `value` in text form, `indent` more for each level of an item.

    Raises TemplateTooCostly when it has too many.
    """
    total, waiting = 0, [(value, 0)]
    while waiting:
        part, depth = waiting.pop()
        if isinstance(part, str | bytes):
            total += len(part)
        elif isinstance(part, int):
            total += part.bit_length() // 3
        elif isinstance(part, dict):
            waiting.extend((item, depth + 1) for pair in part.items() for item in pair)
        elif isinstance(part, list | tuple | set | frozenset):
            waiting.extend((item, depth + 1) for item in part)
        total += ITEM + depth * indent if depth else 0
        if total + ITEM * len(waiting) > MOST_AT_ONCE:
            raise TemplateTooCostly("a value without measure")
    return total


def _joined(parts: Iterable[str]) -> str:
    kept, total = [], 0
    for part in parts:
        kept.append(part)
        total += len(part)
        if total > MOST_AT_ONCE:
            raise TemplateTooCostly("text without measure")
    return "".join(kept)


def _check_operation(operator: str, left: Any, right: Any) -> None:
    if operator == "%" and isinstance(left, str | bytes):
        _check_pattern(left)
    elif isinstance(left, int) and isinstance(right, int):
        _check_digits(operator, left, right)
    elif operator == "*":
        counts = [each for each in (left, right) if isinstance(each, int)]
        others = [each for each in (left, right) if not isinstance(each, int)]
        _check_work(sum(map(size_of, others)) + ITEM, *counts)


def _check_digits(operator: str, left: int, right: int) -> None:
    digits = (left.bit_length() * right if operator == "**" else left.bit_length() + right.bit_length()) // 3
    if digits > MOST_DIGITS:
        raise TemplateTooCostly("a number without measure")


def _settled(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Iterators to be joined, as lists whose size can be computed."""
    if name == "join" and args and not isinstance(args[0], str | Sequence):
        return list(args[0]), *args[1:]
    return args


def _check_call(name: str, subject: Any, *given: Any) -> None:
    """Limits of the filters and methods of that name."""
    if name in _BY_LETTER and isinstance(subject, str) and len(subject) > MOST_LETTERS:
        raise TemplateTooCostly("a text as a list of its letters")
    numbers = [abs(each) for each in given if isinstance(each, int)]
    texts = [each for each in given if isinstance(each, str)]
    size = size_of(subject) + size_of(given)
    if name in _BY_NUMBER:
        _check_work(size + ITEM, *numbers, *map(len, texts))
    elif name == "join":
        _check_work(1, *(len(each) + 1 for each in (subject, *given) if isinstance(each, Sequence | Mapping)))
    elif name in _BY_TEXT:
        _check_work(size_of(subject) + 1, size_of(given) + 1)
    elif name == "replace" and len(texts) >= 2:
        _check_work(size_of(subject) // max(1, len(texts[0])) + 1, len(texts[1]))
    elif name in {"format", "format_map"}:
        _check_pattern(subject)
        if isinstance(subject, str) and re.search(r"\{[^}]*\{", subject):  # a width given as a value
            _check_work(len(subject), *numbers)
    elif name == "strftime_now":
        _check_pattern("".join(texts))
    elif name == "sum" and any(isinstance(each, Sequence) for each in given):
        raise TemplateTooCostly("a sum of lists")


def _check_pattern(pattern: Any) -> None:
    """Reading one takes quadratic time."""
    if isinstance(pattern, str | bytes) and (len(pattern) > MOST_PATTERN or _is_wide(_as_text(pattern))):
        raise TemplateTooCostly("a pattern without measure")


def _is_wide(pattern: str) -> bool:
    """Whether it has a width that is a long number, or given as a value."""
    numbers = (found.start() for found in _LONG_NUMBER.finditer(pattern))
    in_braces = (pattern.rfind("{", 0, at) > pattern.rfind("}", 0, at) for at in numbers)
    return any(in_braces) or _WIDE.search(pattern) is not None


def _as_text(pattern: str | bytes) -> str:
    return pattern if isinstance(pattern, str) else pattern.decode("latin-1")


def _check_work(size: int, *times: int) -> None:
    for each in times:
        size *= max(1, each)
    if size > MOST_WORK:
        raise TemplateTooCostly("text without measure")


def _to_json(
    value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
) -> str:
    size_of(value, indent if isinstance(indent, int) else len(indent or ""))
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _raise(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _now(pattern: str) -> str:
    return datetime.now().strftime(pattern)


_now.__name__ = "strftime_now"


def _check_name(name: Any) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise jinja2.exceptions.SecurityError(f"a name that begins with an underscore: {name[:40]!r}")
