"""Fetching one address, in a process with limits: public ones only, unless the user typed it."""

from __future__ import annotations

import json
from dataclasses import replace

from app.system.limited_child import ChildLimits, lines_of
from app.tools.builtin.addresses import Target, target_of
from app.tools.builtin.tool import Arguments, BuiltIn, Reach, Refusal, described, text_of
from app.tools.definitions import ToolResult

LIMITS = ChildLimits(cpu_s=10, memory_bytes=512 << 20, output_bytes=4 << 20, address_bytes=4 << 30)


def _run(arguments: Arguments, reach: Reach) -> ToolResult:
    address = text_of(arguments, "address")
    typed = _is_typed(arguments, reach)
    target_of(address, typed=typed)
    for line in lines_of("--fetch-page", [address, "typed" if typed else ""], LIMITS, reach.stop):
        said = json.loads(line)
        if "why" in said:
            raise Refusal(str(said["why"]))
        return ToolResult(str(said["text"]), outside=True)
    raise Refusal("nothing came")


def _is_typed(arguments: Arguments, reach: Reach) -> bool:
    wanted = _target(arguments.get("address"))
    return wanted is not None and any(_target(each) == wanted for each in reach.typed)


def _target(address: object) -> Target | None:
    try:
        return target_of(address.strip(), typed=True) if isinstance(address, str) else None
    except Refusal:
        return None


def _host(arguments: Arguments) -> str:
    """Consent for more than one address is for one host."""
    target = _target(arguments.get("address"))
    return "?" if target is None else f"{target.scheme}://{target.host}:{target.port}"


_ADDRESS = {"type": "string", "description": 'The whole address, such as "https://example.org/page"'}
_DESCRIBED = described(
    "fetch_page",
    "Fetches one address of the web and returns its text. The user is asked, unless they wrote the address.",
    {"address": _ADDRESS},
)

# The address itself can carry words to its host, so it counts as a tool that sends.
TOOLS = (
    BuiltIn(
        replace(_DESCRIBED, reads_only=False),
        _run,
        is_free=_is_typed,
        subject=_host,
    ),
)
