"""Tool calls in a reply's text, by the model's parser. Text that is no call stays text."""

from __future__ import annotations

import json
import secrets
import string
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from engine.api.errors import InvalidRequest
from engine.api.types import ToolCall
from engine.decoding.call_grammars import GRAMMARS, Rules, call_of
from engine.models.loading import LoadedModel
from engine.models.watch import TooLong, watched

_PARSING_S = 1.0  # processor time for parsing
_LONGEST = 1 << 20  # characters
_MOST_CALLS = 8  # most calls in a reply that has to call
# By parser, what begins a call where its first marker is left out, as Qwen3-Coder often does, and what ends it.
_UNMARKED = {"qwen3_coder": {"<function=": "</function>"}}


class ToolSyntax:
    """A model's syntax for tool calls: the markers around a call and the grammar between them.

    `end` may be "": the end of the reply.
    """

    def __init__(self, model: LoadedModel, tools: Sequence[Mapping[str, Any]]) -> None:
        """Raises InvalidRequest for a model that has no syntax for calls."""
        marks = model.marks
        if marks.calls is None or marks.parse_calls is None:
            raise InvalidRequest("tools", str(len(tools)), "a model whose template has tools")
        self.start = marks.calls.opens
        self.end = marks.calls.closes
        self.start_is_token = len(marks.calls.opening) == 1
        self._parse = marks.parse_calls
        self._parser = marks.parser
        self._tokenizer = model.tokenizer
        self._template = "" if model.template is None else model.template.source
        self._tools = [dict(tool) for tool in tools]

    @property
    def ends(self) -> dict[str, str]:
        """By what begins a call, what ends it."""
        return {self.start: self.end} | _UNMARKED.get(self._parser, {})

    def grammar(self, names: Sequence[str], *, several: bool, strict: Collection[str] | None = None) -> dict[str, str]:
        """The grammar of a reply that is a call of one of the tools `names` (empty: any), or with `several` a few
        calls.

        `strict`: tools whose arguments have to match their parameters; for others they are any object. None: all.
        Raises InvalidRequest for a syntax or a schema that cannot be written as a grammar here.
        """
        field = "must_call" if names else "constraint"
        kind = GRAMMARS.get(self._parser)
        if kind is None:
            raise InvalidRequest(field, "this model's syntax of calls is not known here", "what can be enforced")
        functions = self.functions([*names, *(strict or ())], field)
        functions = {name: each for name, each in functions.items() if not names or name in names}
        rules = Rules(self._marker, self.end, self._template)
        calls = []
        for name, function in functions.items():
            held = function.get("parameters") if strict is None or name in strict else None
            calls.append(call_of(name, held or {"type": "object"}, rules, kind))
        start, end = (self._marker(marker) for marker in (self.start, self.end))
        one = f"{start} ({' | '.join(calls)}) {end}"
        again = f" ({kind({}, rules).between} {one}){{0,{_MOST_CALLS - 1}}}" if several and self.end else ""
        return {"lark_grammar": "\n".join([f"start: {one}{again}", *rules.lines])}

    def functions(self, names: Collection[str], field: str = "tools") -> dict[str, Mapping[str, Any]]:
        """The tools by name. Raises InvalidRequest if there are none, or not all of `names`."""
        given = [function for tool in self._tools if "name" in (function := tool.get("function") or {})]
        functions = {function["name"]: function for function in given}
        if not functions or not functions.keys() >= set(names):
            raise InvalidRequest(field, "a tool that is not given", "one of the tools")
        return functions

    def none(self) -> dict[str, str]:
        """The grammar of a reply that begins no call."""
        return {"lark_grammar": f"start: TEXT\nANY: /(?s:.*)/\nTEXT: ANY & ~(ANY {json.dumps(self.start)} ANY)"}

    def _marker(self, text: str) -> str:
        """The marker as one token if the vocabulary has it: spelled as text it means something else to the model."""
        if not text:
            return ""
        tokens = self._tokenizer.encode(text, add_special_tokens=False)
        return f"<[{tokens[0]}]>" if len(tokens) == 1 else json.dumps(text)

    def calls_in(self, text: str) -> tuple[ToolCall, ...]:
        """The calls in `text`, from the marker of the first one; none if any of it cannot be parsed."""
        if len(text) > _LONGEST:
            return ()
        is_marked = text.startswith(self.start)
        try:
            with watched(_PARSING_S):
                parsed = self._parse(text if is_marked else self.start + text, self._tools)
            found = parsed if isinstance(parsed, list) else [parsed]
            calls = tuple(_call(each) for each in found)
            if not is_marked:
                self.functions([call.name for call in calls])
            return calls
        except (Exception, TooLong):  # noqa: BLE001  a parser of third-party code, on text that a model wrote
            return ()


def _call(parsed: Mapping[str, Any]) -> ToolCall:
    name = parsed["name"]
    arguments = parsed.get("arguments", parsed.get("parameters"))  # as they are called in the tool's definition
    if not isinstance(name, str) or not name:
        raise ValueError("a call without a name")
    if isinstance(arguments, str):
        arguments = json.loads(arguments or "{}")
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise TypeError("arguments that are no object")
    # allow_nan: a number beyond a double, such as 1e999, would be written as invalid JSON.
    written = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
    (name + written).encode()  # raises for half of a surrogate pair, with which no reply could be sent
    letters = (secrets.choice(string.ascii_letters + string.digits) for _ in range(9))  # as Mistral's templates want it
    return ToolCall("".join(letters), name, written)


def call_as_dict(call: ToolCall) -> dict[str, Any]:
    """The call as chat templates read it: most want the arguments as an object."""
    function = {"name": call.name, "arguments": value_of(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def value_of(arguments: str) -> Any:
    """What they are in JSON; the text itself if it is none."""
    with suppress(ValueError, RecursionError):
        return json.loads(arguments or "{}")
    return arguments
