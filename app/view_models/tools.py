"""Tools, their calls and the request for consent as the views show them. Codes and values; words are the views'."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from app.storage import Attachment, Attachments
from app.storage.parts import Call, CallStage, Part, Parts, Result, Text, Thinking
from app.tools.definitions import Answer, AskReason
from app.tools.wire import ConnectionState, RefusedServer


class CallState(StrEnum):
    WAITS = "waits"  # for consent, or for those before it
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    DECLINED = "declined"
    STOPPED = "stopped"  # by the user: it did not run, or its result is not known
    UNKNOWN = "unknown"  # the app ended while it ran: it may have run or not


@dataclass(frozen=True, slots=True)
class CallView:
    id: str
    server: str  # name of the server; "": built in
    tool: str  # as the server calls it
    arguments: str  # JSON
    state: CallState
    result: str = ""
    seconds: float = 0.0
    name: str = ""  # as the model calls the tool
    pictures: Attachments = ()  # of the result
    reads_only: bool = False
    outside: bool = False


@dataclass(frozen=True, slots=True)
class StepView:
    """What a reply thought and said before some calls, and these calls."""

    calls: tuple[CallView, ...]
    text: str = ""
    thinking: str = ""
    thinking_s: float = 0.0


@dataclass(frozen=True, slots=True)
class ConsentView:
    """One request for consent, for all calls of a step that need it."""

    calls: tuple[CallView, ...]
    reason: AskReason
    offers: tuple[Answer, ...]  # in the order to show; DONT is always among them
    changed: tuple[tuple[str, str], ...] = ()  # of tools that differ: what they were, what they are


_STATES = {
    CallStage.ASKED: CallState.WAITS,
    CallStage.SENT: CallState.RUNNING,
    CallStage.ANSWERED: CallState.DONE,
    CallStage.DECLINED: CallState.DECLINED,
    CallStage.STOPPED: CallState.STOPPED,
    CallStage.UNKNOWN: CallState.UNKNOWN,
}


@dataclass(slots=True)
class _Step:
    text: list[str] = field(default_factory=list)
    thinking: list[Thinking] = field(default_factory=list)
    calls: dict[str, CallView] = field(default_factory=dict)
    latest: str = ""  # the call that has the latest result

    def view(self) -> StepView:
        thought = "\n\n".join(each.text for each in self.thinking)
        seconds = sum(each.seconds for each in self.thinking)
        return StepView(tuple(self.calls.values()), "\n\n".join(self.text), thought, seconds)

    def answer(self, result: Result) -> None:
        call = self.calls.get(result.id) or CallView(result.id, "", result.name, "{}", CallState.DONE, name=result.name)
        state = CallState.FAILED if result.failed and call.state is CallState.DONE else call.state
        text = "\n\n".join(filter(None, (call.result, result.text)))
        answered = replace(call, state=state, result=text, seconds=result.seconds, outside=result.outside)
        self.calls[result.id] = answered
        self.latest = result.id

    def show(self, picture: Attachment) -> None:
        call = self.calls[self.latest]
        self.calls[self.latest] = replace(call, pictures=(*call.pictures, picture))


def call_view(call: Call) -> CallView:
    return CallView(call.id, call.server, call.tool or call.name, call.arguments, _STATES[call.stage], name=call.name)


def steps_of(parts: Iterable[Part]) -> tuple[tuple[StepView, ...], Attachments]:
    """The steps of a reply, and its files that are in none of them."""
    steps: list[_Step] = []
    files: list[Attachment] = []
    step = _Step()
    for part in parts:
        if isinstance(part, Text | Thinking | Call) and step.latest:
            steps.append(step)
            step = _Step()
        match part:
            case Text():
                step.text.append(part.text)
            case Thinking():
                step.thinking.append(part)
            case Call():
                step.calls[part.id] = call_view(part)
            case Result():
                step.answer(part)
            case Attachment() if step.latest and part.is_picture:
                step.show(part)
            case Attachment():
                files.append(part)
    if step.text or step.thinking or step.calls:
        steps.append(step)
    return tuple(each.view() for each in steps), tuple(files)


def has_calls(parts: Parts) -> bool:
    return any(isinstance(each, Call) for each in parts)


class CanCall(StrEnum):
    """Whether the open chat's model can call tools."""

    YES = "yes"
    NO_MODEL = "no_model"
    MODEL_CANNOT = "model_cannot"


@dataclass(frozen=True, slots=True)
class ToolRow:
    id: str  # "server/name"
    name: str
    description: str
    tokens: int  # of its definition in the prompt; 0: not known yet
    on: bool = False  # in the open chat
    always: bool = False  # it has the user's consent in every chat; `ToolsController.ask_again` ends that
    in_chat: bool = False  # it has it in the open chat
    fixed: bool = False  # it is on because the chat has documents


class SignIn(StrEnum):
    """What the user may do about a sign-in to a server."""

    NONE = "none"
    OFFERED = "offered"
    WAITS = "waits"  # for the user, in the browser; may be cancelled
    DONE = "done"  # the user may sign out


@dataclass(frozen=True, slots=True)
class ServerRow:
    """A server of tools, or the group of those that are built in."""

    id: str  # "": built in
    name: str
    place: str = ""  # its whole command, or its address
    state: ConnectionState = ConnectionState.READY
    tools: tuple[ToolRow, ...] = ()
    stderr: str = ""  # its last lines
    problem: str = ""  # why it failed: a code, see `app/tools/wire.py`
    detail: str = ""  # what the code does not say, such as the program that is missing
    secrets: tuple[str, ...] = ()  # names of its variables and headers, whose values are kept as secrets
    missing: tuple[str, ...] = ()  # those without a value
    is_removed: bool = False  # it may be put back
    seen: bool = False  # the user has seen the whole of `place`, and may switch it on
    sign_in: SignIn = SignIn.NONE
    sign_in_at: str = ""  # the host of the page where it is waited for
    lacks: str = ""  # what a call needs beside what was allowed at the sign-in


_MANY_TOKENS = 2_000
_MANY_SHARE = 0.1  # of the context


def chosen_tokens(rows: Iterable[ServerRow]) -> int:
    """Of all tools that are on."""
    return sum(tool.tokens for row in rows for tool in row.tools if tool.on)


def takes_much(tokens: int, context_tokens: int) -> bool:
    """Whether definitions of so many tokens leave a model noticeably less; 0: its context is not known."""
    return tokens > _MANY_TOKENS or (context_tokens > 0 and tokens > _MANY_SHARE * context_tokens)


@dataclass(frozen=True, slots=True)
class AddedServers:
    """What became of a command, an address, or servers from JSON or another program."""

    names: tuple[str, ...] = ()
    refused: tuple[RefusedServer, ...] = ()
    understood: bool = True  # False: it is none of these
