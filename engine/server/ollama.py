"""Ollama's chat and generate, for programs that know no other: lines of JSON, the last with figures; and its lists."""

from __future__ import annotations

import re
import time
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from engine.api.events import Event, Finished, TextDelta, ToolCalled
from engine.api.types import (
    Constraint,
    Message,
    MessageRole,
    ModelInfo,
    Picture,
    Request,
    SpanKind,
    ToolCall,
    Truncation,
)
from engine.server.contents import settled
from engine.server.dialect import CUT, ApiCall, CallContext, Dialect, get, packed
from engine.server.fields import Fields, fields_of
from engine.server.options import ServedModel
from engine.server.parameters import (
    ANY_OBJECT,
    identifier,
    json_constraint,
    or_ever,
    quantization_of,
    sampling_of,
    speculation_of,
    stops_of,
    thinking_of,
)
from engine.server.pictures import SentPictures
from engine.server.problems import Problem, invalid, unsupported
from engine.server.replies import ReplyOutcome, SharedEngine
from engine.server.tools import arguments_of, openai_tools

_LONGEST_DURATION = 40  # characters
_UNITS_S = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PARTS = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)")
_DURATION = re.compile(rf"[-+]?(?:0|(?:{_PARTS.pattern})+)", re.ASCII)  # as Go writes them
_NANOSECONDS = 1_000_000_000
_VERSION = "0.13.0"  # whose answers these are; clients look whether it is new enough for tools and thinking
_NEVER = "2318-01-01T00:00:00Z"
_LATEST = 1e10  # seconds that are still a date
_CHANGING = ("pull", "push", "create", "copy", "delete")


class OllamaCall(ApiCall):
    """`stream` is what it does where a request says nothing."""

    media_type = "application/x-ndjson"

    def __init__(self, fields: Fields, context: CallContext, model: str) -> None:
        super().__init__(fields, context, model)
        self.stream = fields.flag("stream", True)
        self.keep_s = keep_alive_of(fields)
        fields.ignore("shift")
        fields.refuse("logprobs", "suffix")
        self._options = fields.object("options") or Fields({})
        self._started = time.monotonic()

    def asked(self, **prompt: Any) -> Request:
        think = self._think()
        most = self._options.integer("num_predict")
        context = self._options.integer("num_ctx")
        return Request(
            **prompt,
            sampling=sampling_of(self._options, self.context.options.sampling),
            speculation=speculation_of(self.fields, self.context.state),
            max_tokens=most if most is not None and most > 0 else None,
            context_tokens=context if context is not None and context > 0 else None,
            stop=stops_of(self._options),
            constraint=_constraint_of(self.fields),
            **thinking_of(self.fields, think if isinstance(think, str) else None, "think", otherwise=bool(think)),
        )

    def _think(self) -> bool | str | None:
        think: bool | str | None = self.fields.any("think")
        if not (think is None or isinstance(think, bool) or think in ("low", "medium", "high", "max")):
            raise self.fields.wrong("think", 'true, false, "low", "medium", "high" or "max"')
        main = self.context.state.main
        if think and main is not None and not main.about.thinking:
            raise invalid(f'"{self.model}" does not support thinking', "think")
        return think

    def without_reply(self) -> dict[str, Any]:
        reason = {"done": True, "done_reason": "unload" if self.keep_s == 0 else "load"}
        return self.head() | self.text(SpanKind.ANSWER, "") | reason

    @abstractmethod
    def text(self, kind: SpanKind, text: str) -> dict[str, Any]:
        """Of a piece."""

    def calls(self, calls: Sequence[ToolCall]) -> dict[str, Any]:
        """The same."""
        raise NotImplementedError

    def pieces(self, index: int, event: Event) -> Iterable[bytes]:
        match event:
            case TextDelta(kind=kind, text=text):
                yield _line(self.head() | self.text(kind, text) | {"done": False})
            case ToolCalled(call=call):
                yield _line(self.head() | self.calls([call]) | {"done": False})
            case Finished():
                yield _line(self.head() | self.text(SpanKind.ANSWER, "") | self.end(event))

    def alive(self, done_tokens: int, total_tokens: int) -> bytes:
        """An empty piece: a line of JSON has no comments."""
        return _line(self.head() | self.text(SpanKind.ANSWER, "") | {"done": False})

    def failure(self, problem: Problem, request_id: str) -> bytes:
        return _line(self.context.dialect.error(problem, request_id))

    def head(self) -> dict[str, Any]:
        return {"model": self.model, "created_at": datetime.now(UTC).isoformat().replace("+00:00", "Z")}

    def end(self, end: Finished) -> dict[str, Any]:
        stats = end.stats
        return {
            "done": True,
            "done_reason": "length" if end.reason in CUT else "stop",
            "total_duration": int((time.monotonic() - self._started) * _NANOSECONDS),
            "load_duration": 0,
            "prompt_eval_count": stats.prompt_tokens,
            "prompt_eval_duration": int(stats.prefill_s * _NANOSECONDS),
            "eval_count": stats.generated_tokens,
            "eval_duration": int(stats.decode_s * _NANOSECONDS),
        }


class OllamaChat(OllamaCall):
    def __init__(self, fields: Fields, context: CallContext, model: str) -> None:
        super().__init__(fields, context, model)
        fields.refuse("images")
        tools = openai_tools(fields)
        if not fields.items("messages"):
            return  # the model alone is wanted
        messages = settled([_message(each, context.pictures) for each in fields.objects("messages")])
        truncation = Truncation.OLDEST if fields.flag("truncate", True) else Truncation.NONE
        self.requests = [self.asked(messages=messages, truncation=truncation, **tools.asked)]

    def text(self, kind: SpanKind, text: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": text if kind is SpanKind.ANSWER else ""}
        return {"message": message | ({"thinking": text} if kind is SpanKind.THINKING else {})}

    def calls(self, calls: Sequence[ToolCall]) -> dict[str, Any]:
        made = [{"id": call.id, "function": {"name": call.name, "arguments": arguments_of(call)}} for call in calls]
        return {"message": {"role": "assistant", "content": "", "tool_calls": made}}

    def whole(self, outcomes: Sequence[ReplyOutcome]) -> dict[str, Any]:
        (outcome,) = outcomes
        message = {"role": "assistant", "content": "".join(outcome.text)}
        if outcome.thinking:
            message["thinking"] = "".join(outcome.thinking)
        if outcome.calls:
            message |= self.calls(outcome.calls)["message"] | {"content": message["content"]}
        return self.head() | {"message": message} | self.end(outcome.finished)


class OllamaGenerate(OllamaCall):
    def __init__(self, fields: Fields, context: CallContext, model: str) -> None:
        super().__init__(fields, context, model)
        fields.ignore("truncate")
        fields.refuse("template", "context")
        prompt = fields.text("prompt") or ""
        if fields.flag("raw"):  # as editors do that write the model's own markers around a gap
            fields.refuse("system", "images")
            self.requests = [self.asked(text=prompt)] if prompt else []
            return
        system = fields.text("system")
        messages = [Message(MessageRole.SYSTEM, system)] if system else []
        marks = _pictures(fields, context.pictures)
        messages.append(Message(MessageRole.USER, prompt, pictures=marks))
        if prompt or marks:
            self.requests = [self.asked(messages=tuple(messages))]

    def text(self, kind: SpanKind, text: str) -> dict[str, Any]:
        return {"response": "", "thinking": text} if kind is SpanKind.THINKING else {"response": text}

    def whole(self, outcomes: Sequence[ReplyOutcome]) -> dict[str, Any]:
        (outcome,) = outcomes
        thinking = {"thinking": "".join(outcome.thinking)} if outcome.thinking else {}
        return self.head() | {"response": "".join(outcome.text)} | thinking | self.end(outcome.finished)


def keep_alive_of(fields: Fields) -> float | None:
    """The same in Ollama's words: a number of seconds, or "1h30m"; below 0: for ever."""
    value = fields.any("keep_alive")
    if not isinstance(value, str):
        seconds = fields.number("keep_alive")
    elif len(value) <= _LONGEST_DURATION and _DURATION.fullmatch(value):
        sign = -1 if value.startswith("-") else 1
        seconds = sign * sum(float(number) * _UNITS_S[unit] for number, unit in _PARTS.findall(value))
    else:
        raise fields.wrong("keep_alive", 'a number of seconds or a duration as "5m"')
    return None if seconds is None else or_ever(seconds)


def _constraint_of(fields: Fields) -> Constraint | None:
    """Of `format`: "json", or a schema."""
    form = fields.any("format")
    if form in (None, ""):
        return None
    return json_constraint(ANY_OBJECT if form == "json" else fields.raw("format"))


def _message(fields: Fields, pictures: SentPictures) -> Message:
    role = fields.text("role")
    content = fields.text("content") or ""
    if role not in {"user", "tool"}:
        fields.refuse("images")
    match role:
        case "system":
            return Message(MessageRole.SYSTEM, content)
        case "user":
            return Message(MessageRole.USER, content, pictures=_pictures(fields, pictures))
        case "assistant":
            return Message(MessageRole.ASSISTANT, content, fields.text("thinking") or "", _calls(fields))
        case "tool":
            name = fields.text("tool_name") or fields.text("name") or ""
            call = fields.text("tool_call_id") or ""
            return Message(
                MessageRole.TOOL, content, tool_call_id=call, name=name, pictures=_pictures(fields, pictures)
            )
    raise unsupported("messages", f": the role '{role}'")


def _pictures(fields: Fields, pictures: SentPictures) -> tuple[Picture, ...]:
    images = fields.items("images")
    if not all(isinstance(image, str) for image in images):
        raise fields.wrong("images", "an array of pictures in base64")
    return tuple(pictures.add(image) for image in images)


def _calls(fields: Fields) -> tuple[ToolCall, ...]:
    calls = []
    for call in fields.objects("tool_calls"):
        function = call.object("function")
        if function is not None:
            arguments = packed(function.raw("arguments")).decode()
            calls.append(ToolCall(call.text("id") or "", function.text("name") or "", arguments))
    return tuple(calls)


def _line(data: dict[str, Any]) -> bytes:
    return packed(data) + b"\n"


def _error(problem: Problem, request_id: str) -> dict[str, Any]:
    return {"error": problem.message}


async def _refuse(_http: HttpRequest) -> Response:
    raise Problem(403, "Models are not changed over HTTP.", "permission_error", "not_allowed")


class _Lists:
    """What its clients ask for before they chat."""

    def __init__(self, shared: SharedEngine) -> None:
        self._shared = shared
        self._started = _time(shared.started)

    def routes(self) -> list[Route]:
        async def root(_http: HttpRequest) -> Response:
            return PlainTextResponse("Ollama is running")

        async def show(http: HttpRequest) -> Response:
            fields = await fields_of(http)
            name = fields.text("model") or fields.text("name") or ""
            return JSONResponse(self._shown(self._shared.models.named(name).main))

        return [
            Route("/", root),
            get("/api/version", lambda _: {"version": _VERSION}),
            get("/api/tags", lambda _: {"models": [self._tag(each.main) for each in self._shared.models.all()]}),
            get("/api/ps", lambda _: {"models": [self._running(each) for each in self._loaded()]}),
            Route("/api/show", show, methods=["POST"]),
            *(Route(f"/api/{name}", _refuse, methods=["POST", "DELETE"]) for name in _CHANGING),
        ]

    def _loaded(self) -> list[ServedModel]:
        """The loaded model, if any."""
        return [model for model in self._shared.models.all() if self._shared.models.is_loaded(model.main)]

    def _running(self, model: ServedModel) -> dict[str, Any]:
        at = self._shared.queue.expires_at(model)
        return self._tag(model.main) | {
            "expires_at": _time(at) if at < _LATEST else _NEVER,
            "size_vram": model.main.weight_bytes,
            "context_length": model.main.context_tokens,
        }

    def _tag(self, info: ModelInfo) -> dict[str, Any]:
        name = f"{identifier(info.name)}:latest"
        return {
            "name": name,
            "model": name,
            "modified_at": self._started,
            "size": info.weight_bytes,
            "digest": info.vocabulary_digest,
            "details": _details(info),
        }

    def _shown(self, info: ModelInfo) -> dict[str, Any]:
        family = info.model_type
        able = {"tools": info.about.tools, "thinking": info.about.thinking, "vision": self._shared.pictures.shows(info)}
        return {
            "modified_at": self._started,
            "details": _details(info),
            "model_info": {
                "general.architecture": family,
                "general.basename": info.name,
                "general.parameter_count": info.parameters,
                f"{family}.context_length": info.context_tokens,
                f"{family}.embedding_length": info.width,
            },
            "capabilities": ["completion", *(name for name, is_able in able.items() if is_able)],
        }


def _details(info: ModelInfo) -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "mlx",
        "family": info.model_type,
        "families": [info.model_type],
        "parameter_size": f"{info.parameters / 1e9:.1f}B",
        "quantization_level": quantization_of(info),
    }


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


OLLAMA = Dialect(
    owns=lambda path, headers: path == "/" or path.startswith("/api/"),
    calls={"/api/chat": OllamaChat, "/api/generate": OllamaGenerate},
    lookups=lambda shared: _Lists(shared).routes(),
    error=_error,
)
