"""Tools and calls of each dialect in the form that chat templates use."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.api.types import ToolCall
from engine.server.fields import Fields
from engine.server.problems import invalid, unsupported

Space = tuple[str, str, str]
_OBJECT: dict[str, Any] = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class Tools:
    given: tuple[dict[str, Any], ...] = ()
    dropped: tuple[str, ...] = ()  # kinds that only their own service runs
    several: bool = True
    spaces: tuple[Space, ...] = ()  # (flat name, namespace, name) of the Responses' namespaces
    demanded: tuple[str, ...] = ()  # one of these has to be called

    @property
    def asked(self) -> dict[str, Any]:
        """Fields of a Request."""
        functions = [tool["function"] for tool in self.given]
        strict = tuple(function["name"] for function in functions if function.get("strict"))
        called = {"several_calls": self.several, "must_call": self.demanded, "strict_tools": strict}
        return {"tools": self.given, **called}


def openai_tools(fields: Fields) -> Tools:
    """Function tools, as they are sent."""
    tools = []
    for tool in fields.objects("tools"):
        function = tool.object("function")
        if tool.text("type") != "function" or function is None:
            raise unsupported("tools", ", but for functions")
        tools.append(_checked(tool, function))
    return chosen_tools(fields, tools)


def chosen_tools(
    fields: Fields, tools: Sequence[dict[str, Any]], dropped: Sequence[str] = (), spaces: Sequence[Space] = ()
) -> Tools:
    """With the choice that OpenAI's dialects share."""
    made = Tools(tuple(tools), tuple(dropped), fields.flag("parallel_tool_calls", True), tuple(spaces))
    choice = fields.any("tool_choice")
    if isinstance(choice, dict) and choice.get("type") == "function":
        within = choice.get("function", choice)  # the Responses have the name beside the type
        name = within.get("name") if isinstance(within, dict) else None
        return replace(made, several=False, demanded=demanded(tools, [str(name)]))
    match choice:
        case None | "auto":
            return made
        case "none":
            return replace(made, given=())
        case "required":
            return replace(made, demanded=demanded(tools))
    raise unsupported("tool_choice", f" as {json.dumps(choice)[:60]}")


def demanded(tools: Sequence[dict[str, Any]], wanted: Sequence[str] = ()) -> tuple[str, ...]:
    """Those of these names; without any, all."""
    names: tuple[str, ...] = tuple(tool["function"]["name"] for tool in tools)
    if not names or not set(names).issuperset(wanted):
        raise invalid("'tool_choice' demands a tool that is not among 'tools'.", "tool_choice")
    return tuple(wanted) or names


def _checked(tool: Fields, function: Fields) -> dict[str, Any]:
    if not function.text("name"):
        raise function.wrong("name", "a name")
    function.raw("parameters")
    function.flag("strict")
    return tool.values


def function_tool(tool: Fields, schema: str) -> dict[str, Any]:
    name = tool.text("name")
    if not name:
        raise tool.wrong("name", "a name")
    function: dict[str, Any] = {"name": name}
    if (description := tool.text("description")) is not None:
        function["description"] = description
    function["parameters"] = tool.raw(schema) or _OBJECT
    if tool.flag("strict"):
        function["strict"] = True
    return {"type": "function", "function": function}


def openai_calls(fields: Fields) -> tuple[ToolCall, ...]:
    """Those of a message of the assistant's."""
    calls = []
    for call in fields.objects("tool_calls"):
        function = call.object("function")
        if function is None:
            raise invalid("Only functions can have been called.", "messages")
        calls.append(ToolCall(call.text("id") or "", function.text("name") or "", function.text("arguments") or "{}"))
    return tuple(calls)


def as_openai(calls: Sequence[ToolCall], first: int | None = None) -> list[dict[str, Any]]:
    """`first`: with the index of each, for a stream."""
    return [
        ({} if first is None else {"index": first + at})
        | {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for at, call in enumerate(calls)
    ]


def arguments_of(call: ToolCall) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(call.arguments)
    return parsed
