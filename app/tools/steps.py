"""The rules of an exchange: which calls are answered without running, when it ends, and how parts of a reply change."""

from __future__ import annotations

import json
import re
from collections.abc import Container
from dataclasses import replace

from app.storage.parts import Call, CallStage, Parts, Result, of_kind
from app.tools.definitions import JOINT, ToolResult
from engine import RequestStats

MOST_CALLS = 8  # of a step
MOST_STEPS = 10  # without asking whether to go on
MOST_CHANGES = 2  # of a tool, before its call fails
MOST_CONTEXT = 0.75  # share of the context in use from which the model has to answer

TOO_MANY = f"Error: only {MOST_CALLS} calls run at a time. Make this call again if it is still needed."
NO_TOOL = "Error: there is no tool of that name."
NO_OBJECT = "Error: the arguments are not a JSON object."
ONCE_MORE = "\n\n[This is the result of an equal call before. Do not make this call again.]"
ENOUGH = "Error: this call was made before. Answer with what you have."
NOT_THERE = "Error: the tool is not available any more."
KEEPS_CHANGING = "Error: the tool is described otherwise each time, so it did not run."
NEARLY_FULL = "\n\n[The context is nearly full: no more calls. Answer with what you have.]"
NO_PERMIT = "Error: it may not run."

_ADDRESS = re.compile(r"https?://[^\s<>\"'`]+", re.IGNORECASE)
_PLAIN = re.compile(r"https?://[^/]+/[!-~]*", re.IGNORECASE)  # up to the first letter of another script in its path
_AFTER_ADDRESS = ".,;:!?)]}»”’。、，！？）」』"
_MOST_AFTER = 4


def without_running(call: Call, number: int, names: Container[str], parts: Parts) -> ToolResult | None:
    """The result of a call that does not run; None: it runs. `number`: its place in its step."""
    if call.name not in names:
        return ToolResult(NO_TOOL, failed=True)
    if object_of(call.arguments) is None:
        return ToolResult(NO_OBJECT, failed=True)
    earlier = _earlier(call, parts)
    if len(earlier) > 1:
        return ToolResult(ENOUGH, failed=True)
    if earlier:
        return ToolResult(earlier[0].text + ONCE_MORE, failed=earlier[0].failed)
    return ToolResult(TOO_MANY, failed=True) if number >= MOST_CALLS else None


def goes_round(call: Call, parts: Parts) -> bool:
    """Whether the model makes a call for the third time: then it has to answer."""
    return len(_earlier(call, parts)) > 1


def _earlier(call: Call, parts: Parts) -> list[Result]:
    """Results of equal calls of the same reply."""
    equal = [each.id for each in of_kind(Call, parts) if key_of(each) == key_of(call) and each.id != call.id]
    return [each for each in of_kind(Result, parts) if each.id in equal]


def sources_of(parts: Parts) -> frozenset[str]:
    """Servers whose words these results brought; "": words of files or the web."""
    names = (each.name for each in of_kind(Result, parts) if each.outside)
    return frozenset(server if joint else "" for server, joint, _ in (name.partition(JOINT) for name in names))


def with_call(parts: Parts, call: Call) -> Parts:
    return tuple(call if isinstance(each, Call) and each.id == call.id else each for each in parts)


def answered(parts: Parts, call: Call, result: ToolResult) -> Parts:
    """With the result after those before it."""
    answer = Result(call.id, call.name, result.text, result.failed, result.seconds, result.outside)
    return (*with_call(parts, replace(call, stage=CallStage.ANSWERED)), answer)


def with_note(parts: Parts, note: str) -> Parts:
    """With a note after the last result, for the model and the user."""
    last = next((at for at in reversed(range(len(parts))) if isinstance(parts[at], Result)), None)
    return tuple(
        replace(each, text=each.text + note) if at == last and isinstance(each, Result) else each
        for at, each in enumerate(parts)
    )


def is_full(stats: RequestStats) -> bool:
    """Whether so much of the context is in use that the model has to answer."""
    return stats.context_tokens > MOST_CONTEXT * stats.context_limit_tokens > 0


def key_of(call: Call) -> tuple[str, str]:
    """Equal for calls of one tool with equal arguments."""
    values = object_of(call.arguments)
    return call.name, call.arguments if values is None else json.dumps(values, sort_keys=True)


def object_of(arguments: str) -> dict[str, object] | None:
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def addresses_in(text: str) -> frozenset[str]:
    """Each as it was written, and without what may follow it: a bracket, a stop, or words without a space."""
    whole = _ADDRESS.findall(text)
    found = {*whole, *(match[0] for each in whole if (match := _PLAIN.match(each)))}
    found |= {each.rstrip(_AFTER_ADDRESS) for each in found}
    for _ in range(_MOST_AFTER):  # a bracket may be the address's own
        found |= {each[:-1] for each in found if each[-1] in _AFTER_ADDRESS}
    return frozenset(found)
