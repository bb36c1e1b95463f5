"""`hunch ask --tools`: an exchange in a terminal, by the same gate and rules as in the window. Consent is asked there.

Where no user can answer, only tools that reach nothing and those that were allowed by name run. No consent holds for
more than one call.
"""

from __future__ import annotations

import json
import queue
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from app.markup.unseen import is_unseen
from app.storage.database import address_of
from app.storage.parts import Call, CallStage, Parts, Result, of_kind
from app.storage.storage import reader_at
from app.system.secrets import Secrets
from app.tools.builtin import offered
from app.tools.builtin.tool import BUILT_IN, Reach
from app.tools.definitions import Answer, Tool, ToolResult, by_flat_name
from app.tools.gate import Circumstances, Gate, NoPermit, Wanted
from app.tools.host_process import ServerFailed, ToolHost, for_model
from app.tools.servers import ToolServers
from app.tools.steps import (
    MOST_STEPS,
    NO_PERMIT,
    NOT_THERE,
    addresses_in,
    answered,
    goes_round,
    is_full,
    object_of,
    without_running,
)
from engine import (
    ChatEngine,
    Engine,
    Event,
    Failed,
    Finished,
    Message,
    MessageRole,
    Request,
    SpanKind,
    TextDelta,
    ToolCall,
    ToolCalled,
    run_command_line,
)

_DECLINED = "The user declined this call. It did not run."
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Servers:
    """Tools of the servers that are switched on in Hunch; each answer is waited for."""

    def __init__(self, folder: Path, secrets: Secrets) -> None:
        self._servers = ToolServers(folder / "tools.json", secrets)
        self._host = ToolHost(folder / "terminal", self._servers.reach, self._servers.renew_grant)

    def id_of(self, server: str) -> str:
        """From its id or, as the settings show it, its name."""
        ids = {each.name.casefold(): each.id for each in self._servers.all()}
        return server if self._servers.get(server) else ids.get(server.casefold(), server)

    def tools_of(self, server: str) -> tuple[Tool, ...] | ServerFailed:
        """As it describes them now; () where it is not switched on."""
        config = self._servers.get(self.id_of(server))
        if config is None or not config.enabled:
            return ()
        listed: queue.SimpleQueue[tuple[Tool, ...] | ServerFailed] = queue.SimpleQueue()
        self._host.list_tools(config, listed.put)
        return listed.get()

    def call(self, tool: Tool, arguments: str) -> ToolResult:
        """Of a server whose tools were listed."""
        results: queue.SimpleQueue[ToolResult] = queue.SimpleQueue()
        self._host.call(tool.server, tool.name, arguments, results.put)
        return results.get()

    def close(self) -> None:
        self._host.close()


class UnknownTool(Exception):
    """There is no tool of that name, or its server fails. The message is for the user, in English."""


def chosen(names: Sequence[str], servers: Servers) -> tuple[Tool, ...]:
    """Tools by their names: "calculator", "server/tool", or "server/" for all of a server's. Raises UnknownTool."""
    found: list[Tool] = []
    for name in names:
        server, slash, tool = name.rpartition("/")
        of_server = servers.tools_of(server) if slash and server else ()
        if isinstance(of_server, ServerFailed):
            raise UnknownTool(f"{name} cannot be used. {for_model(of_server)} {of_server.detail}".strip())
        built_in = offered.BY_NAME.get(tool) if not server else None
        some = [each for each in of_server if tool in ("", each.name)]
        if built_in is not None:
            some = [built_in.tool]
        if not some:
            raise UnknownTool(f"there is no tool {name}")
        found += some
    return tuple(by_flat_name(found).values())


def shown(tool: Tool, arguments: str) -> str:
    """The whole call, with every character that a terminal would not show."""
    values = object_of(arguments)
    text = arguments if values is None else json.dumps(values, indent=2, ensure_ascii=False)
    name = f"{tool.server} · {tool.name}" if tool.server else tool.name
    whole = f"{name}\n{text}"
    return "".join(
        each if each == "\n" or (each.isprintable() and not is_unseen(each)) else each.encode("unicode_escape").decode()
        for each in whole
    )


@dataclass(slots=True)
class Exchange:
    """`ask` shows a question and returns whether the user said yes; None: no user can answer."""

    engine: ChatEngine
    events: queue.SimpleQueue[Event]
    tools: tuple[Tool, ...]
    servers: Servers
    reach: Reach
    allowed: frozenset[str]  # ids, or names of built-in tools
    ask: Callable[[str], bool] | None
    write: Callable[[str], None]
    note: Callable[[str], None]
    _gate: Gate = field(default_factory=Gate)
    _parts: Parts = ()

    def run(self, request: Request) -> Event:
        """Until the model answers. Returns the end of the last request."""
        by_name = by_flat_name(self.tools)
        names = tuple(by_name)
        definitions = tuple(tool.definition() for tool in by_name.values())
        request = replace(request, tools=definitions, strict_tools=names)
        steps = 0
        while True:
            end, said, thought, calls = self._written(request)
            if not calls or not isinstance(end, Finished) or not request.may_call:
                return end
            steps += 1
            messages, must_answer = self._made(calls, said, thought, by_name)
            may_call = not (must_answer or is_full(end.stats) or steps >= MOST_STEPS)
            request = replace(request, messages=(*request.messages, *messages), may_call=may_call, must_call=())

    def _written(self, request: Request) -> tuple[Event, str, str, list[ToolCall]]:
        self.engine.submit(request, self.events.put)
        said: list[str] = []
        thought: list[str] = []
        calls: list[ToolCall] = []
        while not isinstance(event := self.events.get(), Finished | Failed):
            if isinstance(event, TextDelta):
                is_answer = event.kind is SpanKind.ANSWER
                (said if is_answer else thought).append(event.text)
                if is_answer:
                    self.write(_CONTROLS.sub("", event.text))
            elif isinstance(event, ToolCalled):
                calls.append(event.call)
        return event, "".join(said), "".join(thought), calls

    def _made(
        self, calls: list[ToolCall], said: str, thought: str, by_name: dict[str, Tool]
    ) -> tuple[list[Message], bool]:
        """The messages that the step adds, and whether the model has to answer now."""
        made = [Call(each.id, each.name, each.arguments, stage=CallStage.ASKED) for each in calls]
        self._parts = (*self._parts, *made)
        must_answer = False
        messages = [Message(MessageRole.ASSISTANT, said, reasoning=thought, tool_calls=tuple(calls))]
        for number, call in enumerate(made):
            must_answer |= goes_round(call, self._parts)
            known = without_running(call, number, by_name, self._parts)
            result = self._result(call, by_name[call.name]) if known is None else known
            self._parts = answered(self._parts, call, result)
            (*_, last) = of_kind(Result, self._parts)
            messages.append(Message(MessageRole.TOOL, last.text, tool_call_id=call.id, name=call.name))
        return messages, must_answer

    def _result(self, call: Call, tool: Tool) -> ToolResult:
        is_built_in = tool.server == BUILT_IN
        values = object_of(call.arguments) or {}
        free = is_built_in and offered.BY_NAME[tool.name].is_free(values, self.reach)
        wanted = Wanted(0, tool, call.arguments, free=free)
        permit = self._gate.permit(wanted, Circumstances())
        if permit is None:
            permit = self._gate.answer(wanted, self._answer(tool, call.arguments))
        else:
            self.note(f"› {shown(tool, call.arguments)}")
        if permit is None:
            return ToolResult(_DECLINED, failed=True)
        tools = (tool,) if is_built_in else self.servers.tools_of(tool.server)
        listed = () if isinstance(tools, ServerFailed) else tools
        now = next((each for each in listed if each.name == tool.name), None)
        if now is None:
            self._gate.refuse(permit)
            return ToolResult(NOT_THERE, failed=True)
        try:
            return self._gate.execute(permit, now, call.arguments, self._run)
        except NoPermit:  # it was described otherwise
            return ToolResult(NO_PERMIT, failed=True)

    def _answer(self, tool: Tool, arguments: str) -> Answer:
        name = tool.name if tool.server == BUILT_IN else tool.id
        question = shown(tool, arguments)
        if name in self.allowed:
            self.note(f"› {question}")
            return Answer.ONCE
        if self.ask is None:
            self.note(f"{question}\nDeclined: allow it with --allow {name}")
            return Answer.DONT
        return Answer.ONCE if self.ask(question) else Answer.DONT

    def _run(self, tool: Tool, arguments: str) -> ToolResult:
        if tool.server == BUILT_IN:
            return offered.call(tool.name, arguments, self.reach)
        return self.servers.call(tool, arguments)


@dataclass(frozen=True, slots=True)
class Terminal:
    """What was given on the command line."""

    names: Sequence[str]  # of tools
    allowed: frozenset[str]
    folders: tuple[str, ...]
    database: Path


def run(asked: Sequence[str], typed: str, terminal: Terminal, servers: Servers) -> int:
    """`asked`: arguments of the engine's command line. `typed`: the user's own words; what a pipe brings is not.

    Returns the exit status, as the engine's `generate` does.
    """
    places = [each.rpartition("/") for each in terminal.allowed]
    allowed = frozenset(f"{servers.id_of(server)}{slash}{tool}" for server, slash, tool in places)
    try:
        tools = chosen(terminal.names, servers)
    except UnknownTool as unknown:
        _note(f"hunch ask: error: {unknown}")
        return 2

    def write(engine: Engine, request: Request, events: queue.SimpleQueue[Event]) -> int:
        if not (info := engine.state().main) or not info.calls_tools:
            _note("This model cannot call tools.")
            return 1
        reach = _reach(typed, terminal.folders, terminal.database)
        ask = _ask_here if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty() else None
        end = Exchange(engine, events, tools, servers, reach, allowed, ask, _write, _note).run(request)
        _write("\n")
        if isinstance(end, Failed):
            raise end.error
        return 0

    return run_command_line(asked, write)


def _reach(typed: str, folders: Sequence[str], database: Path) -> Reach:
    """What built-in tools may reach: addresses in the words, these folders, the chats on this machine."""
    paths = tuple(Path(each).expanduser().resolve() for each in folders)
    return Reach(typed=addresses_in(typed), folders=paths, stores=partial(reader_at, address_of(database)))


def _ask_here(question: str) -> bool:
    """On stderr, answered on stdin. Anything but yes is no."""
    sys.stderr.write(f"{question}\nRun this? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _note(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
