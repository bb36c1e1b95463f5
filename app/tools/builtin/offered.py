"""All tools that are built in, and running one of them on a thread of its own."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from app.system.limited_child import ChildFailed, ChildStopped
from app.tools.builtin import calculator, clock, documents, fetch, files, own_chats
from app.tools.builtin.tool import BuiltIn, Reach, Refusal
from app.tools.definitions import ToolResult, cut

_MODULES = (calculator, clock, own_chats, documents, files, fetch)
BY_NAME: dict[str, BuiltIn] = {each.tool.name: each for module in _MODULES for each in module.TOOLS}


def start(name: str, arguments: str, reach: Reach, done: Callable[[ToolResult], None]) -> None:
    """`done` is called on another thread."""
    threading.Thread(target=lambda: done(call(name, arguments, reach)), name=f"tool {name}", daemon=True).start()


def call(name: str, arguments: str, reach: Reach) -> ToolResult:
    """Never raises."""
    began = time.monotonic()
    try:
        reach.stop.check()  # while it waited to begin
        result = BY_NAME[name].run(json.loads(arguments), reach)
    except Refusal as refusal:
        result = ToolResult(f"Error: {refusal}", failed=True)
    except ChildStopped:
        result = ToolResult("Error: it was stopped", failed=True)
    except ChildFailed:
        result = ToolResult("Error: it took too much time or memory", failed=True)
    except Exception as error:  # noqa: BLE001  of a tool; the message may have words of the user's, which are its result
        result = ToolResult(f"Error: {type(error).__name__}", failed=True)
        with suppress(Exception):
            reach.stop.ask()
    return replace(result, text=cut(result.text), seconds=time.monotonic() - began)
