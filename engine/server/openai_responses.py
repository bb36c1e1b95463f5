"""OpenAI's responses, without a memory: every request brings the whole conversation."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from engine.api.events import Event, TextDelta, ToolCalled
from engine.api.stats import RequestStats
from engine.api.types import Message, MessageRole, Request, SpanKind, ToolCall, Truncation
from engine.server.contents import OPENAI_ROLES, seen, settled, text_of
from engine.server.dialect import CUT, ApiCall, CallContext, sse
from engine.server.fields import Fields
from engine.server.figures import usage_of
from engine.server.openai_chat import WITHOUT_EFFECT
from engine.server.parameters import constraint_of, most_tokens_of, sampling_of, speculation_of, thinking_of
from engine.server.pictures import SentPictures
from engine.server.problems import Problem, invalid, unsupported
from engine.server.replies import ReplyOutcome
from engine.server.tools import Tools, chosen_tools, function_tool

_NAMES = {Truncation.NONE: "disabled", Truncation.OLDEST: "auto"}
_MORE_TOOLS = "additional_tools"  # an item of the input, with which Codex gives some of its tools
_SEALED = "reasoning.encrypted_content"
_SEAL = {"encrypted_content": "plain"}  # of thinking: the AI SDK leaves what has none out of the next turn


class OpenAIResponse(ApiCall):
    streamed_codes = frozenset({"context_length_exceeded"})  # by this event Codex leaves out the oldest of its history

    def __init__(self, fields: Fields, context: CallContext, model: str) -> None:
        super().__init__(fields, context, model)
        fields.refuse("previous_response_id", "conversation", "background", "prompt", "top_logprobs")
        fields.ignore(*WITHOUT_EFFECT, "max_tool_calls", "stream_options")
        self._text = fields.raw("text")
        text = fields.object("text")
        form = text.object("format") if text is not None else None
        reasoning = fields.object("reasoning")
        self._effort = reasoning.text("effort") if reasoning is not None else None
        self._summary = reasoning.text("summary") if reasoning is not None else None
        thinking = _THINKING if self._summary in (None, "none") else _SUMMARY
        is_sealed = _SEALED in fields.items("include")
        self._thinking = thinking._replace(more=thinking.more | _SEAL) if is_sealed else thinking
        self._tools = _tools(fields)
        self.dropped_tools = self._tools.dropped
        request = Request(
            messages=_messages(fields, self._tools.spaces, context.pictures),
            constraint=constraint_of(form, "text.format"),
            **self._tools.asked,
            **thinking_of(fields, self._effort, "reasoning.effort"),
            sampling=sampling_of(fields, context.options.sampling),
            speculation=speculation_of(fields, context.state),
            max_tokens=most_tokens_of(fields, "max_output_tokens"),
            truncation=_truncation_of(fields),
        )
        self.requests = [request]
        self._id = f"resp_{secrets.token_hex(12)}"
        self._created = int(time.time())
        self._sent = 0  # events
        self._names = {flat: {"name": name, "namespace": space} for flat, space, name in self._tools.spaces}
        self._items: list[dict[str, Any]] = []  # those that are complete
        self._open: _Item | None = None

    def whole(self, outcomes: Sequence[ReplyOutcome]) -> dict[str, Any]:
        (outcome,) = outcomes
        for form, text in ((self._thinking, outcome.thinking), (_MESSAGE, outcome.text)):
            if text:
                self._items.append(_Item(form, text).whole())
        self._items += [self._call(call, "completed") for call in outcome.calls]
        return self._response(outcome)

    def opening(self, done_tokens: int, total_tokens: int) -> Iterable[bytes]:
        yield self._event("response.created", response=self._response(None))
        yield self._event("response.in_progress", response=self._response(None))

    def pieces(self, index: int, event: Event) -> Iterable[bytes]:
        match event:
            case TextDelta(kind=kind, text=text):
                wanted = self._thinking if kind is SpanKind.THINKING else _MESSAGE
                item = self._open
                if item is None or item.form is not wanted:
                    yield from self._close()
                    item = self._open = _Item(wanted)
                    yield from self._begin(item)
                yield from self._add(item, text)
            case ToolCalled(call=call):
                yield from self._close()
                yield from self._call_events(call)

    def closing(self, outcomes: Sequence[ReplyOutcome]) -> Iterable[bytes]:
        yield from self._close()
        (outcome,) = outcomes
        response = self._response(outcome)
        yield self._event(f"response.{response['status']}", response=response)

    def alive(self, done_tokens: int, total_tokens: int) -> bytes:
        """An event that changes nothing: by comments alone Codex waits five minutes, and then asks again."""
        if self._open is not None:
            return b"".join(self._add(self._open, ""))
        return self._event("response.in_progress", response=self._response(None))

    def failure(self, problem: Problem, request_id: str) -> bytes:
        """Two events, as OpenAI's: some clients know the first one alone, and some the second."""
        error = self.context.dialect.error(problem, request_id)["error"]
        beside = {name: error[name] for name in ("code", "message", "param")}  # by its schema; it sends them within
        failed = {"code": problem.code or "server_error", "message": problem.message}
        response = self._response(None) | {"status": "failed", "error": failed}
        return self._event("error", **beside, error=error) + self._event("response.failed", response=response)

    def _event(self, kind: str, **data: Any) -> bytes:
        event = {"type": kind, "sequence_number": self._sent, **data}
        self._sent += 1
        return sse(event, kind)

    def _begin(self, item: _Item) -> Iterable[bytes]:
        yield self._event("response.output_item.added", output_index=len(self._items), item=item.begun())
        yield self._event(f"response.{item.form.part_events}.added", **self._place(item), part=item.part(""))

    def _add(self, item: _Item, text: str) -> Iterable[bytes]:
        item.texts.append(text)
        yield self._event(f"response.{item.form.text_events}.delta", **self._place(item), delta=text, **item.more)

    def _close(self) -> Iterable[bytes]:
        item = self._open
        self._open = None
        if item is None:
            return
        place = self._place(item)
        yield self._event(f"response.{item.form.text_events}.done", **place, text=item.text, **item.more)
        yield self._event(f"response.{item.form.part_events}.done", **place, part=item.part(item.text))
        yield self._event("response.output_item.done", output_index=len(self._items), item=item.whole())
        self._items.append(item.whole())

    def _place(self, item: _Item) -> dict[str, Any]:
        return {"item_id": item.id, "output_index": len(self._items), f"{item.form.field}_index": 0}

    def _call_events(self, call: ToolCall) -> Iterable[bytes]:
        at = len(self._items)
        item = self._call(call, "completed")
        begun = item | {"arguments": "", "status": "in_progress"}
        yield self._event("response.output_item.added", output_index=at, item=begun)
        place = {"item_id": item["id"], "output_index": at}
        yield self._event("response.function_call_arguments.delta", **place, delta=call.arguments)
        done = {"arguments": call.arguments, "name": item["name"]}
        yield self._event("response.function_call_arguments.done", **place, **done)
        yield self._event("response.output_item.done", output_index=at, item=item)
        self._items.append(item)

    def _call(self, call: ToolCall, status: str) -> dict[str, Any]:
        item = {"type": "function_call", "id": f"fc_{secrets.token_hex(12)}", "call_id": call.id, "status": status}
        return item | {"arguments": call.arguments} | self._names.get(call.name, {"name": call.name})

    def _response(self, outcome: ReplyOutcome | None) -> dict[str, Any]:
        """All fields that the vendor's schema requires; the usage is zero until the end."""
        asked = self.fields.values
        sampling = self.requests[0].sampling
        cut = outcome is not None and outcome.finished.reason in CUT
        status = "incomplete" if cut else "completed"
        if outcome is None:
            status = "in_progress"
        response: dict[str, Any] = {
            "id": self._id,
            "object": "response",
            "created_at": self._created,
            "completed_at": int(time.time()) if status == "completed" else None,
            "status": status,
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "error": None,
            "model": self.model,
            "output": list(self._items),
            "previous_response_id": None,
            "instructions": asked.get("instructions"),
            "tools": [_answered_tool(tool) for tool in asked.get("tools") or []],
            "tool_choice": asked.get("tool_choice") or "auto",
            "parallel_tool_calls": self._tools.several,
            "max_tool_calls": None,
            "text": {"format": {"type": "text"}, **self._text},
            "truncation": _NAMES[self.requests[0].truncation],
            "reasoning": {"effort": self._effort, "summary": self._summary},
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "presence_penalty": sampling.presence_penalty,
            "frequency_penalty": sampling.frequency_penalty,
            "top_logprobs": 0,
            "max_output_tokens": self.requests[0].max_tokens,
            "usage": _usage([], 0),
            "store": False,
            "background": False,
            "service_tier": "default",
            "metadata": asked.get("metadata") or {},
            "safety_identifier": asked.get("safety_identifier"),
            "prompt_cache_key": asked.get("prompt_cache_key"),
        }
        if outcome is None:
            return response
        usage = _usage([outcome.finished.stats], outcome.thinking_tokens)
        return response | {"usage": usage} | self.figures_of(outcome.finished)


def _usage(stats: Sequence[RequestStats], thinking_tokens: int) -> dict[str, Any]:
    usage = usage_of(stats, thinking_tokens)
    return {
        "input_tokens": usage["prompt_tokens"],
        "input_tokens_details": usage["prompt_tokens_details"],
        "output_tokens": usage["completion_tokens"],
        "output_tokens_details": usage["completion_tokens_details"],
        "total_tokens": usage["total_tokens"],
    }


def _answered_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """With the fields that a function must have in an answer, though not in a request."""
    absent = {"description": None, "parameters": None, "strict": False}
    return absent | tool if tool.get("type") == "function" else tool


class _Form(NamedTuple):
    """How text is an item of the output, which has one part."""

    kind: str
    field: str  # with the part
    part: str  # its kind
    part_events: str
    text_events: str
    more: dict[str, Any]  # of the item


_MESSAGE = _Form("message", "content", "output_text", "content_part", "output_text", {"role": "assistant"})
_THINKING = _Form("reasoning", "content", "reasoning_text", "content_part", "reasoning_text", {"summary": []})
# What OpenAI's service gives of its thinking, so that its clients show nothing else. Here it is the thinking itself.
_SUMMARY = _Form(
    "reasoning", "summary", "summary_text", "reasoning_summary_part", "reasoning_summary_text", {"summary": []}
)


class _Item:
    """Of the output: the reasoning, or the message."""

    def __init__(self, form: _Form, texts: Iterable[str] = ()) -> None:
        self.form = form
        self.texts = list(texts)
        self.id = f"{'msg' if form is _MESSAGE else 'rs'}_{secrets.token_hex(12)}"
        self.more: dict[str, Any] = {"logprobs": []} if form is _MESSAGE else {}  # of events, and of the part

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def part(self, text: str) -> dict[str, Any]:
        part: dict[str, Any] = {"type": self.form.part, "text": text}
        return part | {"annotations": []} | self.more if self.form is _MESSAGE else part

    def begun(self) -> dict[str, Any]:
        item: dict[str, Any] = {"type": self.form.kind, "id": self.id, "status": "in_progress", "content": []}
        return item | self.form.more

    def whole(self) -> dict[str, Any]:
        return self.begun() | {"status": "completed", self.form.field: [self.part(self.text)]}


def _truncation_of(fields: Fields) -> Truncation:
    wanted = fields.text("truncation") or _NAMES[Truncation.NONE]
    if wanted not in _NAMES.values():
        raise fields.wrong("truncation", "'auto' or 'disabled'")
    return next(truncation for truncation, name in _NAMES.items() if name == wanted)


def _messages(fields: Fields, spaces: Sequence[tuple[str, str, str]], pictures: SentPictures) -> tuple[Message, ...]:
    messages: list[Message] = []
    if instructions := fields.text("instructions"):
        messages.append(Message(MessageRole.SYSTEM, instructions))
    if isinstance(fields.any("input"), str):
        messages.append(Message(MessageRole.USER, fields.text("input") or ""))
    else:
        flat = {(space, name): flat for flat, space, name in spaces}
        items = (item for item in fields.objects("input") if item.any("type") != _MORE_TOOLS)
        messages += [_message(item, flat, pictures) for item in items]
    if not messages:
        raise invalid("'input' must have something to answer.", "input")
    return settled(list(_joined(messages)))


def _message(item: Fields, flat: dict[tuple[str, str], str], pictures: SentPictures) -> Message:
    match item.text("type") or "message":
        case "message":
            role = item.one_of("role", OPENAI_ROLES)
            if role is not MessageRole.USER:
                return Message(role, text_of(item))
            text, marks = seen(item, pictures)
            return Message(role, text, pictures=marks)
        case "agent_message":  # of Codex's agents to each other; parts of it may be encrypted
            return Message(MessageRole.USER, "".join(part.text("text") or "" for part in item.objects("content")))
        case "reasoning":
            parts = item.objects("content") or item.objects("summary")
            return Message(MessageRole.ASSISTANT, "", "".join(part.text("text") or "" for part in parts))
        case "function_call":
            space = item.text("namespace") or ""
            name = item.text("name") or ""
            call = ToolCall(item.text("call_id") or "", flat.get((space, name), name), item.text("arguments") or "{}")
            return Message(MessageRole.ASSISTANT, "", tool_calls=(call,))
        case "function_call_output":
            call_id = item.text("call_id") or ""
            text, marks = seen(item, pictures, "output")
            return Message(MessageRole.TOOL, text, tool_call_id=call_id, pictures=marks)
        case kind:
            raise unsupported("input", f": items of type '{kind}'")


def _joined(messages: Iterable[Message]) -> Iterator[Message]:
    """Reasoning, text and calls that follow each other are one turn of the assistant's."""
    for role, turns in groupby(messages, attrgetter("role")):
        if role is MessageRole.ASSISTANT:
            items = list(turns)
            text = "".join(each.content for each in items)
            thoughts = "".join(each.reasoning for each in items)
            yield Message(role, text, thoughts, tuple(call for each in items for call in each.tool_calls))
        else:
            yield from turns


def _tools(fields: Fields) -> Tools:
    """Functions; those of a namespace under flat names, which the answer turns back."""
    tools = []
    dropped = []
    spaces = []
    items = [] if isinstance(fields.any("input"), str) else fields.objects("input")
    more = [tool for item in items if item.any("type") == _MORE_TOOLS for tool in item.objects("tools")]
    for tool in (*fields.objects("tools"), *more):
        match tool.text("type"):
            case "function":
                tools.append(function_tool(tool, "parameters"))
            case "namespace":
                space = tool.text("name") or ""
                for each in tool.objects("tools"):
                    if (sort := each.text("type") or "function") != "function":
                        dropped.append(sort)
                        continue
                    function = function_tool(each, "parameters")
                    name = function["function"]["name"]
                    function["function"]["name"] = flat = f"{space}__{name}"
                    spaces.append((flat, space, name))
                    tools.append(function)
            case kind:
                dropped.append(str(kind))
    return chosen_tools(fields, tools, dropped, spaces)
