"""Tool calls in a reply's text, by mlx-lm's parser of the model. Text that is no call stays text."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from engine.api.errors import InvalidRequest
from engine.api.types import ToolCall
from engine.models.watch import TooLong, watched

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel

_PARSING_S = 1.0  # of processor time
_LONGEST = 1 << 20  # characters


class ToolSyntax:
    """Where a call begins and ends, and what is in it. `end` may be "": the end of the reply."""

    def __init__(self, model: LoadedModel, tools: Sequence[Mapping[str, Any]]) -> None:
        """Raises InvalidRequest for a model that has no syntax for calls."""
        if not model.tokenizer.has_tool_calling:
            raise InvalidRequest("tools", str(len(tools)), "a model whose template has tools")
        self.start: str = model.tokenizer.tool_call_start
        self.end: str = model.tokenizer.tool_call_end or ""
        self._parse = model.tokenizer.tool_parser
        self._tools = [dict(tool) for tool in tools]

    def calls_in(self, text: str) -> tuple[ToolCall, ...]:
        """The calls in `text`, between the markers; none if any of it cannot be parsed."""
        if len(text) > _LONGEST:
            return ()
        try:
            with watched(_PARSING_S):
                parsed = self._parse(text, self._tools)
            found = parsed if isinstance(parsed, list) else [parsed]
            return tuple(_call(each) for each in found)
        except (Exception, TooLong):  # noqa: BLE001  a parser of third-party code, on text that a model wrote
            return ()


def _call(parsed: Mapping[str, Any]) -> ToolCall:
    name, arguments = parsed["name"], parsed.get("arguments", {})
    if not isinstance(name, str) or not name:
        raise ValueError("a call without a name")
    if isinstance(arguments, str):
        arguments = json.loads(arguments or "{}")
    if not isinstance(arguments, dict):
        raise TypeError("arguments that are no object")
    return ToolCall(f"call_{secrets.token_hex(12)}", name, json.dumps(arguments, ensure_ascii=False))


def call_as_dict(call: ToolCall) -> dict[str, Any]:
    """As chat templates read it: most want the arguments as an object."""
    arguments: Any = call.arguments
    with suppress(ValueError, RecursionError):
        arguments = json.loads(call.arguments or "{}")
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
