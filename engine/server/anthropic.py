"""Anthropic's messages, the count of their tokens, and its list of models."""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from engine.api.errors import ContextTooLong
from engine.api.events import Event, Finished, TextDelta, ToolCalled
from engine.api.types import FinishReason, Message, MessageRole, ModelInfo, Request, SpanKind, ToolCall
from engine.server.contents import seen, source_of, text_of_part
from engine.server.dialect import ApiCall, CallContext, Dialect, get, sse
from engine.server.fields import Fields, fields_of
from engine.server.parameters import (
    constraint_of,
    identifier,
    most_tokens_of,
    sampling_of,
    speculation_of,
    stops_of,
    thinking_of,
)
from engine.server.pictures import SentPictures
from engine.server.problems import Problem, invalid, unsupported
from engine.server.replies import ReplyOutcome, SharedEngine
from engine.server.tools import Tools, arguments_of, demanded, function_tool

# A line in Claude Code's prompt with a changing number, which would prevent reusing the cache after it.
_BILLING = re.compile(r"\Ax-anthropic-billing-header[^\n]*\n?")
_SIGNATURE = "unsigned"  # of thinking: without one, or with an empty one, clients leave the block out of the next turn
_WITHOUT_EFFECT = ("metadata", "service_tier", "cache_control", "context_management", "container", "mcp_servers")
_CHANGES = ("tool_addition", "tool_removal")
_ENDS = {
    FinishReason.LENGTH: "max_tokens",
    FinishReason.MEMORY: "max_tokens",
    FinishReason.CONTEXT: "model_context_window_exceeded",
}


_KINDS = {"out_of_memory": "api_error", "rank_lost": "api_error"}  # of errors, by their code
_KINDS_BY_STATUS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    409: "invalid_request_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "overloaded_error",
}


class AnthropicMessage(ApiCall):
    def __init__(self, fields: Fields, context: CallContext, model: str) -> None:
        super().__init__(fields, context, model)
        most = most_tokens_of(fields, "max_tokens")
        if most is None:
            raise invalid("max_tokens: Field required", "max_tokens")
        request, self.dropped_tools = prompt_of(fields, context.pictures)
        if request.thinking_tokens is not None and request.thinking_tokens >= most:
            raise invalid("`max_tokens` must be greater than `thinking.budget_tokens`", "thinking.budget_tokens")
        self.requests = [
            replace(
                request,
                sampling=sampling_of(fields, context.options.sampling),
                speculation=speculation_of(fields, context.state),
                max_tokens=most,
                stop=stops_of(fields, "stop_sequences"),
            )
        ]
        self._id = f"msg_{secrets.token_hex(12)}"
        self._block = -1
        self._kind = ""  # of the block that is open

    def whole(self, outcomes: Sequence[ReplyOutcome]) -> dict[str, Any]:
        (outcome,) = outcomes
        end = outcome.finished
        content: list[dict[str, Any]] = []
        if outcome.thinking:
            content.append({"type": "thinking", "thinking": "".join(outcome.thinking), "signature": _SIGNATURE})
        if outcome.text:
            content.append({"type": "text", "text": "".join(outcome.text), "citations": None})
        content += [_tool_use(call) | {"input": arguments_of(call)} for call in outcome.calls]
        return self._message(content, _usage_of(end)) | self._end(end, bool(outcome.calls)) | self.figures_of(end)

    def opening(self, done_tokens: int, total_tokens: int) -> Iterable[bytes]:
        start = self._message([], _usage(total_tokens - done_tokens, done_tokens, 0))
        yield _event("message_start", message=start)
        yield _event("ping")

    def pieces(self, index: int, event: Event) -> Iterable[bytes]:
        match event:
            case TextDelta(kind=SpanKind.THINKING, text=text):
                yield from self._open("thinking", {"type": "thinking", "thinking": "", "signature": ""})
                yield self._delta("thinking_delta", thinking=text)
            case TextDelta(text=text):
                yield from self._open("text", {"type": "text", "text": "", "citations": None})
                yield self._delta("text_delta", text=text)
            case ToolCalled(call=call):
                yield from self._close()
                yield from self._open("tool_use", _tool_use(call) | {"input": {}})
                yield self._delta("input_json_delta", partial_json=call.arguments)
                yield from self._close()

    def closing(self, outcomes: Sequence[ReplyOutcome]) -> Iterable[bytes]:
        yield from self._close()
        (outcome,) = outcomes
        end = outcome.finished
        delta = self._end(end, bool(outcome.calls))
        yield _event("message_delta", delta=delta, usage=_usage_of(end), **self.figures_of(end))
        yield _event("message_stop")

    def alive(self, done_tokens: int, total_tokens: int) -> bytes:
        """For watchdogs of bytes or events; Claude Code's other watchdog ignores pings, and is set by its variables."""
        return _event("ping")

    def failure(self, problem: Problem, request_id: str) -> bytes:
        return sse(self.context.dialect.error(problem, request_id), "error")

    def _message(self, content: list[dict[str, Any]], usage: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": self._id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": content,
            "stop_reason": None,
            "stop_sequence": None,
            "stop_details": None,
            "container": None,
            "usage": usage,
        }

    def _end(self, end: Finished, called: bool) -> dict[str, Any]:
        reason = _stop_reason(end, called)
        stop = end.stop if reason == "stop_sequence" else None
        return {"stop_reason": reason, "stop_sequence": stop, "stop_details": None, "container": None}

    def _open(self, kind: str, block: dict[str, Any]) -> Iterable[bytes]:
        if self._kind == kind:
            return
        yield from self._close()
        self._block += 1
        self._kind = kind
        yield _event("content_block_start", index=self._block, content_block=block)

    def _close(self) -> Iterable[bytes]:
        if self._kind == "thinking":
            yield self._delta("signature_delta", signature=_SIGNATURE)
        if self._kind:
            self._kind = ""
            yield _event("content_block_stop", index=self._block)

    def _delta(self, kind: str, **delta: str) -> bytes:
        return _event("content_block_delta", index=self._block, delta={"type": kind, **delta})


def _stop_reason(end: Finished, called: bool) -> str:
    if end.reason in _ENDS:
        return _ENDS[end.reason]
    if called:
        return "tool_use"
    return "stop_sequence" if end.stop else "end_turn"


def prompt_of(fields: Fields, pictures: SentPictures) -> tuple[Request, tuple[str, ...]]:
    """Messages and tools of the prompt, and the kinds of tools that are dropped."""
    fields.ignore(*_WITHOUT_EFFECT)
    effort = None
    form = fields.object("output_format")  # the name that it had first
    if (output := fields.object("output_config")) is not None:
        effort = output.text("effort")
        form = output.object("format") or form
    if not fields.items("messages"):
        raise invalid("messages: at least one message is required", "messages")
    tools = _tools(fields)
    request = Request(
        messages=(
            *_system(fields),
            *_joined(each for turn in fields.objects("messages") for each in _turn(turn, pictures)),
        ),
        constraint=constraint_of(form, "output_config.format"),
        **tools.asked,
        **thinking_of(fields, effort, "output_config.effort", otherwise=False),
    )
    return request, tools.dropped


def _tools(fields: Fields) -> Tools:
    tools = []
    dropped = []
    for tool in fields.objects("tools"):
        kind = tool.text("type")
        if kind not in (None, "custom"):
            dropped.append(kind)
            continue
        tools.append(function_tool(tool, "input_schema"))
    tools = _changed(tools, fields)
    choice = fields.object("tool_choice")
    kind = choice.text("type") if choice is not None else None
    several = choice is None or not choice.flag("disable_parallel_tool_use")
    if choice is None or kind not in {"any", "tool"}:
        return Tools(() if kind == "none" else tuple(tools), tuple(dropped), several)
    names = [choice.text("name") or ""] if kind == "tool" else []
    return Tools(tuple(tools), tuple(dropped), several and kind == "any", demanded=demanded(tools, names))


def _changed(tools: Sequence[dict[str, Any]], fields: Fields) -> list[dict[str, Any]]:
    """With the tools that system messages within the conversation add, and without those that they remove."""
    known = {tool["function"]["name"]: tool for tool in tools}
    left = dict(known)
    systems = [turn for turn in fields.objects("messages") if turn.any("role") == "system"]
    for block in (block for turn in systems for block in _blocks(turn, "content")):
        tool = block.object("tool") or Fields({})
        name = tool.text("name") or ""
        if (definition := tool.object("definition")) is not None:
            defined = function_tool(definition, "input_schema")
            name = defined["function"]["name"]
            known[name] = defined
        match block.text("type"):
            case "tool_addition" if name in known:
                left[name] = known[name]
            case "tool_removal":
                left.pop(name, None)
    return list(left.values())


def _blocks(fields: Fields, name: str) -> list[Fields]:
    """A string as one."""
    value = fields.any(name)
    return [Fields({"type": "text", "text": value})] if isinstance(value, str) else fields.objects(name)


def _texts(fields: Fields, name: str) -> list[str]:
    """Blocks that change the tools have none."""
    return [text_of_part(block) for block in _blocks(fields, name) if block.any("type") not in _CHANGES]


def _system(fields: Fields) -> list[Message]:
    texts = [text for text in (_BILLING.sub("", each) for each in _texts(fields, "system")) if text]
    return [Message(MessageRole.SYSTEM, "\n\n".join(texts))] if texts else []


def _joined(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Consecutive user messages joined: many templates require alternating roles."""
    joined: list[Message] = []
    for role, turns in groupby(messages, attrgetter("role")):
        if role is MessageRole.USER:
            neighbours = list(turns)
            text = "\n\n".join(filter(None, (each.content for each in neighbours)))
            pictures = tuple(picture for each in neighbours for picture in each.pictures)
            joined.append(Message(role, text, pictures=pictures))
        else:
            joined += turns
    return tuple(joined)


def _turn(turn: Fields, pictures: SentPictures) -> list[Message]:
    match turn.text("role"):
        case "user":
            return _users(turn, pictures)
        case "assistant":
            return [_assistants(turn)]
        case "system":
            text = "".join(_texts(turn, "content"))
            return [Message(MessageRole.USER, f"<system-reminder>\n{text}\n</system-reminder>")] if text else []
    raise turn.wrong("role", "user, assistant or system")


def _users(turn: Fields, pictures: SentPictures) -> list[Message]:
    messages = []
    texts = []
    marks = []
    for block in _blocks(turn, "content"):
        match block.text("type"):
            case "text" | "document":
                texts.append(text_of_part(block))
            case "tool_result":
                failed = "Error: " if block.flag("is_error") else ""
                call = block.text("tool_use_id") or ""
                text, shown = seen(block, pictures)
                messages.append(Message(MessageRole.TOOL, failed + text, tool_call_id=call, pictures=shown))
            case "image":
                marks.append(pictures.add(source_of(block)))
            case kind:
                raise unsupported("messages", f": blocks of type '{kind}'")
    if texts or marks:
        messages.append(Message(MessageRole.USER, "\n\n".join(texts), pictures=tuple(marks)))
    return messages


def _assistants(turn: Fields) -> Message:
    texts = []
    thoughts = []
    calls = []
    for block in _blocks(turn, "content"):
        match block.text("type"):
            case "text":
                texts.append(block.text("text") or "")
            case "thinking":
                thoughts.append(block.text("thinking") or "")
            case "tool_use":
                arguments = json.dumps(block.raw("input"), ensure_ascii=False)
                calls.append(ToolCall(block.text("id") or "", block.text("name") or "", arguments))
            case "redacted_thinking":
                pass
            case kind:
                raise unsupported("messages", f": blocks of type '{kind}'")
    return Message(MessageRole.ASSISTANT, "".join(texts), "\n".join(thoughts), tuple(calls))


def _usage_of(end: Finished) -> dict[str, Any]:
    stats = end.stats
    return _usage(stats.prompt_tokens - stats.cached_tokens, stats.cached_tokens, stats.generated_tokens)


def _usage(read: int, cached: int, written: int) -> dict[str, Any]:
    """All fields of Anthropic's schema; `read` excludes cached tokens."""
    return {
        "input_tokens": max(0, read),
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
        "cache_creation": None,
        "output_tokens": written,
        "output_tokens_details": None,
        "server_tool_use": None,
        "service_tier": None,
        "inference_geo": None,
    }


def _tool_use(call: ToolCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "caller": {"type": "direct"}}


def _event(name: str, **data: Any) -> bytes:
    return sse({"type": name, **data}, name)


def _error(problem: Problem, request_id: str) -> dict[str, Any]:
    kind = _KINDS.get(problem.code or "") or _KINDS_BY_STATUS.get(problem.status, problem.kind)
    message = problem.message
    if isinstance(cause := problem.cause, ContextTooLong):
        message = f"prompt is too long: {cause.actual_tokens} tokens > {cause.limit_tokens} maximum"
    if problem.of_picture:  # by these words Claude Code leaves it out and goes on; else its chat could not
        message = f"Could not process image: {message}"
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": request_id}


def _entry(info: ModelInfo, started: int) -> dict[str, Any]:
    return {
        "id": identifier(info.name),
        "type": "model",
        "display_name": info.name,
        "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "max_input_tokens": info.context_tokens,
        "max_tokens": info.context_tokens,
    }


def _lookups(shared: SharedEngine) -> list[Route]:
    async def count_tokens(http: HttpRequest) -> Response:
        fields = await fields_of(http)
        name = fields.text("model") or ""
        tokens = await shared.count_tokens(http, fields, name, lambda pictures: prompt_of(fields, pictures)[0])
        return JSONResponse({"input_tokens": tokens})

    def models(_http: HttpRequest) -> dict[str, Any]:
        entries = [_entry(each.main, shared.started) for each in shared.models.all()]
        ids = [entry["id"] for entry in entries] or [None]
        return {"data": entries, "has_more": False, "first_id": ids[0], "last_id": ids[-1]}

    return [
        Route("/v1/messages/count_tokens", count_tokens, methods=["POST"]),
        get("/v1/models", models),
        get(
            "/v1/models/{model:path}",
            lambda http: _entry(shared.models.named(http.path_params["model"]).main, shared.started),
        ),
    ]


def _owns(path: str, headers: Headers) -> bool:
    """OpenAI has the same path for its list of models."""
    return path.startswith("/v1/messages") or (path.startswith("/v1/models") and "anthropic-version" in headers)


ANTHROPIC = Dialect(
    owns=_owns,
    calls={"/v1/messages": AnthropicMessage},
    lookups=_lookups,
    error=_error,
    key_header="x-api-key",
)
