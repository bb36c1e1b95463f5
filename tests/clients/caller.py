"""`python -m tests.clients.caller KEY`: a server over a scripted engine that calls the tools it is given, thinks where
it is asked to, takes pictures, and answers to any name.

It reads the file that a coding agent's task names, edits it, reads it again and says so, by whichever tools the agent
has for that. Other tools get one call, with the arguments that their schemas require.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.documents.sent_pictures import Decoder
from engine import (
    Message,
    MessageRole,
    ModelReady,
    Request,
    RequestId,
    Server,
    ServerOptions,
    ServerPhase,
    Sink,
    ToolCall,
)
from tests.helpers.engine_client import EngineClient
from tests.helpers.fake_engine import FakeEngine, Script, model_info

MAIN = replace(model_info("/models/Caller"), context_tokens=131_072, sees=True)
BEFORE, AFTER = "a draft", "the main model"
SAID = "I have read the results."


class Caller(FakeEngine):
    def submit(self, request: Request, sink: Sink) -> RequestId:
        self.scripts.append(_script(request))
        return super().submit(request, sink)


def _script(request: Request) -> Script:
    begin = max((at for at, each in enumerate(request.messages) if each.role is MessageRole.USER), default=0)
    results = sum(each.role is MessageRole.TOOL for each in request.messages[begin:])
    tools = {tool["function"]["name"]: tool["function"].get("parameters") or {} for tool in request.tools}
    call = _call(tools, request.messages, results)
    if call is None:
        thinking = ("I think. ",) if request.thinking else ()
        return Script(pieces=tuple(f"{word} " for word in SAID.split()), thinking=thinking)
    return Script(pieces=("I look. ",), calls=(ToolCall(f"call_{id(request):x}_{results}", *call),))


def _call(tools: dict[str, Any], messages: tuple[Message, ...], results: int) -> tuple[str, str] | None:
    named = re.search(r"\S*/note\.txt", " ".join(each.content for each in messages if each.role is MessageRole.USER))
    for name, arguments in _STEPS.items():
        if name in tools:
            steps = arguments(named.group() if named else "")
            return (
                (name_of(name, results, tools), json.dumps(steps[results])) if results < len(steps) and named else None
            )
    if not tools or results:
        return None
    name, schema = next(iter(tools.items()))
    return name, json.dumps(filled(schema))


def name_of(first: str, results: int, tools: dict[str, Any]) -> str:
    """Agents have one tool to read and one to edit, or one for commands."""
    return {"Read": "Edit", "read": "edit"}.get(first, first) if results == 1 else first


def _claude(path: str) -> list[dict[str, Any]]:
    read = {"file_path": path}
    return [read, read | {"old_string": BEFORE, "new_string": AFTER}, read]


def _opencode(path: str) -> list[dict[str, Any]]:
    read = {"filePath": path}
    return [read, read | {"oldString": BEFORE, "newString": AFTER}, read]


def _codex(path: str) -> list[dict[str, Any]]:
    edit = f"sed -i 's/{BEFORE}/{AFTER}/' {path}"
    return [{"cmd": command} for command in (f"cat {path}", edit, f"cat {path}")]


_STEPS: dict[str, Callable[[str], list[dict[str, Any]]]] = {
    "Read": _claude,
    "read": _opencode,
    "exec_command": _codex,
}


def filled(schema: dict[str, Any]) -> Any:
    """Something that the schema allows, where it is simple."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            properties = schema.get("properties") or {}
            return {name: filled(properties.get(name) or {}) for name in schema.get("required") or properties}
        case "array":
            return []
        case "integer" | "number":
            return 2
        case "boolean":
            return True
    return "x"


def main(key: str) -> int:
    engine = Caller({MAIN.folder: MAIN})
    assert isinstance(EngineClient(engine).load(Path(MAIN.folder)), ModelReady)
    running = threading.Event()
    options = ServerOptions(port=0, key=key, any_name=True)
    server = Server(engine, options, lambda state: _on_change(state.phase, running), Decoder())
    server.start()
    assert running.wait(60)
    print(json.dumps({"serving": server.state.addresses}), flush=True)
    threading.Event().wait()
    return 0


def _on_change(phase: ServerPhase, running: threading.Event) -> None:
    if phase is ServerPhase.RUNNING:
        running.set()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
