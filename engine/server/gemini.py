"""Google's Gemini API: generateContent, streamGenerateContent, countTokens and the list of models.

The model's name is in the path, and so is whether the answer is streamed: as server-sent events with `alt=sse`, else as
one JSON array.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from engine.api.events import Event, Finished, TextDelta, ToolCalled
from engine.api.stats import RequestStats
from engine.api.types import (
    Constraint,
    ConstraintKind,
    Message,
    MessageRole,
    ModelInfo,
    Picture,
    Request,
    SpanKind,
    ToolCall,
)
from engine.server.dialect import CUT, ApiCall, CallContext, Dialect, get, packed, sse
from engine.server.fields import Fields, fields_of
from engine.server.figures import usage_of
from engine.server.parameters import (
    ANY_OBJECT,
    choices_of,
    identifier,
    json_constraint,
    most_tokens_of,
    sampling_of,
    several,
    speculation_of,
    stops_of,
    thinking_of,
)
from engine.server.pictures import SentPictures
from engine.server.problems import Problem, invalid, unsupported
from engine.server.replies import ReplyOutcome, SharedEngine
from engine.server.tools import Tools, arguments_of, demanded

_PATHS = ("/v1beta/models", "/v1/models")
_METHODS = (":generateContent", ":streamGenerateContent", ":countTokens")
_KEY = "x-goog-api-key"
_CLIENT = "x-goog-api-client"
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    405: "UNIMPLEMENTED",
    408: "DEADLINE_EXCEEDED",
    409: "FAILED_PRECONDITION",
    413: "INVALID_ARGUMENT",
    415: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}
_SAMPLING = {
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "seed": "seed",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
}
_REFUSED = ("responseLogprobs", "logprobs", "speechConfig", "imageConfig")  # of generationConfig
_WITHOUT_EFFECT = {"nullable", "propertyOrdering", "example", "title"}  # in a schema, or said in another way
_NUMBERS = {"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"}
_FORMATS = {"float", "double", "int32", "int64", "enum"}  # of OpenAPI alone
_SCHEMA = "responseSchema"


class _GoogleFields(Fields):
    """Names as JSON has them; clients may also write them with underscores, and an array of one object without []."""

    def any(self, *names: str) -> Any:
        return super().any(*(spelling for name in names for spelling in (name, _with_underscores(name))))

    def items(self, name: str) -> list[Any]:
        value = self.any(name)
        return [value] if isinstance(value, dict) else super().items(name)


class GenerateContent(ApiCall):
    streams = False

    def __init__(self, fields: Fields, context: CallContext, model: str) -> None:
        fields = _GoogleFields(fields.values)
        super().__init__(fields, context, model)
        self.stream = self.streams
        self._in_array = context.query.get("alt") != "sse"
        if self._in_array:
            self.media_type = "application/json"
        self._begun = False  # the array
        config = fields.object("generationConfig") or _GoogleFields({})
        config.refuse(*_REFUSED)
        if any(kind not in ("TEXT", "MODALITY_UNSPECIFIED") for kind in config.items("responseModalities")):
            raise unsupported("responseModalities", ", but for TEXT")
        fields.refuse("cachedContent")
        thinking = config.object("thinkingConfig") or _GoogleFields({})
        self._shows_thinking = thinking.flag("includeThoughts")
        level = thinking.text("thinkingLevel")
        effort = None if level in (None, "THINKING_LEVEL_UNSPECIFIED") else str(level).lower()
        budget = thinking.integer("thinkingBudget")
        dynamic = budget == -1 or (budget is None and effort is None and self._shows_thinking)
        request, self.dropped_tools = prompt_of(
            fields,
            context.pictures,
            sampling=sampling_of(_sampling_fields(config), context.options.sampling),
            speculation=speculation_of(fields, context.state),
            max_tokens=most_tokens_of(config, "maxOutputTokens"),
            stop=stops_of(config, "stopSequences"),
            constraint=_constraint_of(config),
            **thinking_of(thinking, effort, "thinkingLevel", dynamic or None, "thinkingBudget"),
        )
        self._choices = choices_of(config, "candidateCount")
        self.requests = several(request, self._choices)
        self._id = secrets.token_urlsafe(16)

    @staticmethod
    def named_model(http: HttpRequest, fields: Fields) -> str:
        return str(http.path_params["model"])

    def whole(self, outcomes: Sequence[ReplyOutcome]) -> dict[str, Any]:
        candidates = []
        for index, outcome in enumerate(outcomes):
            parts = []
            if outcome.thinking and self._shows_thinking:
                parts.append({"text": "".join(outcome.thinking), "thought": True})
            if outcome.text or not outcome.calls:
                parts.append({"text": "".join(outcome.text)})
            parts += [_call_part(call) for call in outcome.calls]
            candidates.append(_candidate(index, parts, outcome.finished))
        return self._response(*candidates) | self._figures(outcomes)

    def pieces(self, index: int, event: Event) -> Iterable[bytes]:
        match event:
            case TextDelta(kind=SpanKind.THINKING, text=text):
                if self._shows_thinking:
                    yield self._piece(_candidate(index, [{"text": text, "thought": True}]))
            case TextDelta(text=text):
                yield self._piece(_candidate(index, [{"text": text}]))
            case ToolCalled(call=call):
                yield self._piece(_candidate(index, [_call_part(call)]))

    def closing(self, outcomes: Sequence[ReplyOutcome]) -> Iterable[bytes]:
        candidates = [_candidate(index, [{"text": ""}], each.finished) for index, each in enumerate(outcomes)]
        yield self._framed(self._response(*candidates) | self._figures(outcomes)) + self._end

    def alive(self, done_tokens: int, total_tokens: int) -> bytes:
        """An empty line: in an array as between events it says nothing. Google's own client takes no comments."""
        return b"\n"

    def failure(self, problem: Problem, request_id: str) -> bytes:
        return self._framed(self.context.dialect.error(problem, request_id)) + self._end

    def _piece(self, candidate: dict[str, Any]) -> bytes:
        return self._framed(self._response(candidate))

    def _framed(self, piece: dict[str, Any]) -> bytes:
        if not self._in_array:
            return sse(piece)
        begin = b",\n" if self._begun else b"["
        self._begun = True
        return begin + packed(piece)

    @property
    def _end(self) -> bytes:
        return b"]" if self._in_array else b""

    def _response(self, *candidates: dict[str, Any]) -> dict[str, Any]:
        return {"candidates": list(candidates), "modelVersion": self.model, "responseId": self._id}

    def _figures(self, outcomes: Sequence[ReplyOutcome]) -> dict[str, Any]:
        ends = [outcome.finished for outcome in outcomes]
        thinking_tokens = sum(outcome.thinking_tokens for outcome in outcomes)
        figures = {"usageMetadata": _usage([end.stats for end in ends], thinking_tokens, self._choices)}
        return figures | self.figures_of(ends[0]) if len(ends) == 1 else figures


class StreamGenerateContent(GenerateContent):
    streams = True


def prompt_of(fields: Fields, pictures: SentPictures, **settings: Any) -> tuple[Request, tuple[str, ...]]:
    """What the prompt is made from, with these further fields of it, and the kinds of tools that are dropped."""
    messages = []
    if (system := fields.object("systemInstruction")) is not None:
        texts = [part.text("text") or "" for part in system.objects("parts")]
        messages.append(Message(MessageRole.SYSTEM, "".join(texts)))
    for of_model, parts in _turns(fields):
        messages += [_models(parts)] if of_model else _users(parts, pictures)
    tools = _tools(fields)
    return Request(messages=tuple(messages), **tools.asked, **settings), tools.dropped


def _turns(fields: Fields) -> list[tuple[bool, list[Fields]]]:
    """Whether each is the model's, and its parts. Google's client keeps each piece of a stream as contents."""
    turns: list[tuple[bool, list[Fields]]] = []
    for content in fields.objects("contents"):
        role = content.text("role")
        if role not in (None, "", "user", "function", "model"):
            raise content.wrong("role", "user or model")
        if turns and turns[-1][0] == (role == "model"):
            turns[-1][1].extend(content.objects("parts"))
        else:
            turns.append((role == "model", content.objects("parts")))
    if not turns:
        raise invalid("contents are not specified", "contents")
    return turns


def _users(parts: Sequence[Fields], pictures: SentPictures) -> list[Message]:
    """Results of functions go before the text."""
    results = []
    texts = []
    marks = []
    for part in parts:
        if (result := part.object("functionResponse")) is not None:
            text = packed(result.raw("response")).decode()
            call = result.text("id") or ""
            shown = tuple(_picture(each, pictures) for each in result.objects("parts"))
            name = result.text("name") or ""
            results.append(Message(MessageRole.TOOL, text, tool_call_id=call, name=name, pictures=shown))
        elif part.any("inlineData") is not None:
            marks.append(_picture(part, pictures))
        else:
            texts.append(_text(part))
    if texts or marks:
        results.append(Message(MessageRole.USER, "\n\n".join(texts), pictures=tuple(marks)))
    return results


def _models(parts: Sequence[Fields]) -> Message:
    texts = []
    thoughts = []
    calls = []
    for part in parts:
        if (call := part.object("functionCall")) is not None:
            arguments = packed(call.raw("args")).decode()
            calls.append(ToolCall(call.text("id") or "", call.text("name") or "", arguments))
        elif part.flag("thought"):
            thoughts.append(part.text("text") or "")
        else:
            texts.append(_text(part))
    return Message(MessageRole.ASSISTANT, "".join(texts), "".join(thoughts), tuple(calls))


def _text(part: Fields) -> str:
    text = part.text("text")
    if text is None and set(part.values) - {"thoughtSignature", "thought_signature"}:
        raise unsupported("contents", f": parts with {', '.join(sorted(part.values))[:60]}")
    return text or ""


def _picture(part: Fields, pictures: SentPictures) -> Picture:
    data = part.object("inlineData")
    kind = "" if data is None else data.text("mimeType") or ""
    if data is None or not kind.startswith("image/"):
        raise unsupported("inlineData", f" of type '{kind[:40]}', but for pictures")
    return pictures.add((data.text("data") or "").translate(_PLAIN_BASE64))


_PLAIN_BASE64 = str.maketrans("-_", "+/")  # Google's clients send the alphabet of addresses, too


def _tools(fields: Fields) -> Tools:
    tools = []
    dropped = []
    for tool in fields.objects("tools"):
        tools += [_function(each) for each in tool.objects("functionDeclarations")]
        dropped += [name for name in tool.values if name not in ("functionDeclarations", "function_declarations")]
    made = Tools(tuple(tools), tuple(dropped))
    config = fields.object("toolConfig")
    calling = config.object("functionCallingConfig") if config is not None else None
    if calling is None:
        return made
    match calling.text("mode"):
        case None | "AUTO" | "MODE_UNSPECIFIED":
            return made
        case "NONE":
            return replace(made, given=())
        case "VALIDATED":
            strict = ({**tool, "function": tool["function"] | {"strict": True}} for tool in tools)
            return replace(made, given=tuple(strict))
        case "ANY":
            names = [str(name) for name in calling.items("allowedFunctionNames")]
            return replace(made, demanded=demanded(tools, names))
        case mode:
            raise unsupported("functionCallingConfig.mode", f" as '{str(mode)[:40]}'")


def _function(declaration: Fields) -> dict[str, Any]:
    name = declaration.text("name")
    if not name:
        raise declaration.wrong("name", "a name")
    parameters = declaration.raw("parametersJsonSchema") or as_json_schema(declaration.raw("parameters"))
    function = {"name": name, "description": declaration.text("description") or "", "parameters": parameters}
    return {"type": "function", "function": function}


def _sampling_fields(config: Fields) -> Fields:
    return Fields({ours: config.any(name) for name, ours in _SAMPLING.items()}, "generationConfig.")


def _constraint_of(config: Fields) -> Constraint | None:
    schema = config.raw("responseJsonSchema") or config.raw("_responseJsonSchema")
    if not schema and (sent := config.raw(_SCHEMA)):
        schema = as_json_schema(sent, closed=True)
    match config.text("responseMimeType"):
        case None | "" | "text/plain":
            if schema:
                raise invalid("A schema needs 'responseMimeType' application/json.", "responseMimeType")
            return None
        case "application/json":
            return json_constraint(schema or ANY_OBJECT)
        case "text/x.enum" if isinstance(words := schema.get("enum"), list) and words:
            return Constraint(ConstraintKind.REGEX, "|".join(re.escape(str(word)) for word in words))
        case kind:
            raise unsupported("responseMimeType", f" as '{str(kind)[:40]}'")


def as_json_schema(schema: Any, *, closed: bool = False) -> dict[str, Any]:
    """Google's schemas are OpenAPI's: types in capitals, numbers in quotes. `closed`: without further properties."""
    if not isinstance(schema, dict):
        raise invalid("A schema must be an object.", _SCHEMA)
    made: dict[str, Any] = {}
    for written, value in schema.items():
        name = re.sub(r"_([a-z])", lambda found: found[1].upper(), written)
        if name == "type":
            made |= {} if value == "TYPE_UNSPECIFIED" else {"type": str(value).lower()}
        elif name == "properties" and isinstance(value, dict):
            made[name] = {each: as_json_schema(within, closed=closed) for each, within in value.items()}
        elif name == "items":
            made[name] = as_json_schema(value, closed=closed)
        elif name in ("anyOf", "prefixItems") and isinstance(value, list):
            made[name] = [as_json_schema(each, closed=closed) for each in value]
        elif name in _NUMBERS and str(value).isdecimal():
            made[name] = int(value)
        elif name not in _WITHOUT_EFFECT and not (name == "format" and value in _FORMATS):
            made[name] = value
    if closed and "properties" in made:
        made.setdefault("additionalProperties", False)
    return {"anyOf": [made, {"type": "null"}]} if schema.get("nullable") is True else made


def _candidate(index: int, parts: list[dict[str, Any]], end: Finished | None = None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": index}
    if end is not None:
        candidate["finishReason"] = "MAX_TOKENS" if end.reason in CUT else "STOP"
    return candidate


def _call_part(call: ToolCall) -> dict[str, Any]:
    return {"functionCall": {"id": call.id, "name": call.name, "args": arguments_of(call)}}


def _usage(stats: Sequence[RequestStats], thinking_tokens: int, choices: int) -> dict[str, Any]:
    usage = usage_of(stats, thinking_tokens, choices)
    return {
        "promptTokenCount": usage["prompt_tokens"],
        "cachedContentTokenCount": usage["prompt_tokens_details"]["cached_tokens"],
        "candidatesTokenCount": usage["completion_tokens"] - thinking_tokens,
        "thoughtsTokenCount": thinking_tokens,
        "totalTokenCount": usage["total_tokens"],
    }


@lru_cache
def _with_underscores(name: str) -> str:
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)


def _error(problem: Problem, request_id: str) -> dict[str, Any]:
    status = _STATUSES.get(problem.status, "INTERNAL")
    return {"error": {"code": problem.status, "message": problem.message, "status": status}}


def _entry(info: ModelInfo) -> dict[str, Any]:
    return {
        "name": f"models/{identifier(info.name)}",
        "baseModelId": identifier(info.name),
        "version": "1",
        "displayName": info.name,
        "inputTokenLimit": info.context_tokens,
        "outputTokenLimit": info.context_tokens,
        "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
        "thinking": info.about.thinking,
    }


def _lookups(shared: SharedEngine) -> list[Route]:
    async def count_tokens(http: HttpRequest) -> Response:
        """Of a whole request, or of contents alone."""
        sent = await fields_of(http)
        body = _GoogleFields(sent.values, is_long=sent.is_long)
        fields = body.object("generateContentRequest") or body
        name = http.path_params["model"]
        tokens = await shared.count_tokens(http, fields, name, lambda pictures: prompt_of(fields, pictures)[0])
        return JSONResponse({"totalTokens": tokens})

    def models(_http: HttpRequest) -> dict[str, Any]:
        return {"models": [_entry(each.main) for each in shared.models.all()]}

    def model(http: HttpRequest) -> dict[str, Any]:
        return _entry(shared.models.named(http.path_params["model"]).main)

    return [
        *(Route(f"{each}/{{model:path}}:countTokens", count_tokens, methods=["POST"]) for each in _PATHS),
        *(get(each, models) for each in _PATHS),
        *(get(f"{each}/{{model:path}}", model) for each in _PATHS),
    ]


def _owns(path: str, headers: Headers) -> bool:
    """Under /v1 OpenAI's list of models has the same path."""
    if path.startswith("/v1/models"):
        return path.endswith(_METHODS) or any(name in headers for name in (_KEY, _CLIENT))
    return path.startswith("/v1beta/")


GEMINI = Dialect(
    owns=_owns,
    calls={
        f"{path}/{{model:path}}:{call}": made
        for path in _PATHS
        for call, made in (("generateContent", GenerateContent), ("streamGenerateContent", StreamGenerateContent))
    },
    lookups=_lookups,
    error=_error,
    key_header=_KEY,
    key_parameter="key",
)
