"""A dialect: one vendor's API. To add one: README.md."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from engine.api.events import Event, Finished
from engine.api.types import EngineState, FinishReason, Request
from engine.server.fields import Fields
from engine.server.figures import hunch_of, timings_of
from engine.server.options import ServerOptions
from engine.server.parameters import identifier, ttl_of
from engine.server.pictures import SentPictures
from engine.server.problems import Problem, invalid
from engine.server.replies import ReplyOutcome, SharedEngine

CUT = frozenset({FinishReason.LENGTH, FinishReason.CONTEXT, FinishReason.MEMORY})  # ends of answers that go on


@dataclass(frozen=True, eq=False, slots=True)
class Dialect:
    """All that is particular to one vendor's API."""

    owns: Callable[[str, Headers], bool]  # whether a request with this path and these headers is in it
    calls: Mapping[str, type[ApiCall]]  # by path: endpoints where the model writes
    lookups: Callable[[SharedEngine], Sequence[Route]]  # other endpoints: models, counts
    error: Callable[[Problem, str], dict[str, Any]]  # the body of a refusal; with the request's id
    key_header: str = ""  # where its clients send the key, besides Authorization
    key_parameter: str = ""  # of the query, the same


@dataclass(frozen=True, slots=True)
class CallContext:
    """The server's state for reading a client's request."""

    dialect: Dialect
    options: ServerOptions
    state: EngineState
    pictures: SentPictures
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def draft(self) -> str | None:
        """The loaded draft's name."""
        return None if self.state.draft is None else identifier(self.state.draft.name)


class ApiCall(ABC):
    """One client's request for text, read; raises Problem in its constructor.

    `stream`: its answer comes piece by piece. `keep_s`: how long a model that is loaded for it stays afterwards; None:
    it does not say. Without `requests` it only has the model loaded, or with 0 unloaded.
    """

    media_type = "text/event-stream"
    streamed_codes: frozenset[str] = frozenset()  # of problems that its clients expect in the stream, never as a status

    def __init__(self, fields: Fields, context: CallContext, model: str) -> None:
        """`model`: the name that the client gave."""
        self.fields = fields
        self.context = context
        main = context.state.main
        self.model = identifier(main.name) if model in {"", "default"} and main is not None else model
        self.requests: list[Request] = []
        self.dropped_tools: tuple[str, ...] = ()
        self.stream = fields.flag("stream")
        self.keep_s = ttl_of(fields)

    @staticmethod
    def named_model(http: HttpRequest, fields: Fields) -> str:
        """The name that the client gives. Raises Problem where there is none."""
        name = fields.text("model")
        if name is None:
            raise invalid("'model' is missing; \"default\" is the loaded one.", "model", "missing_required_parameter")
        return name

    @abstractmethod
    def whole(self, outcomes: Sequence[ReplyOutcome]) -> dict[str, Any]:
        """The answer in one piece."""

    def without_reply(self) -> dict[str, Any]:
        """The answer where there are no requests."""
        raise NotImplementedError

    def opening(self, done_tokens: int, total_tokens: int) -> Iterable[bytes]:
        """Once, before all else of the stream. `done_tokens` of the prompt were cached; both are 0 while the request
        waits for its turn.
        """
        return ()

    @abstractmethod
    def pieces(self, index: int, event: Event) -> Iterable[bytes]:
        """What an event of a request adds to the stream."""

    def closing(self, outcomes: Sequence[ReplyOutcome]) -> Iterable[bytes]:
        """Once, after the last piece of all replies."""
        return ()

    def alive(self, done_tokens: int, total_tokens: int) -> bytes:
        """Sent where nothing else was for a while."""
        return b": prefill %d/%d\n\n" % (done_tokens, total_tokens)

    def failure(self, problem: Problem, request_id: str) -> bytes:
        """The end of a stream that has begun."""
        return sse(self.context.dialect.error(problem, request_id))

    def figures_of(self, end: Finished) -> dict[str, Any]:
        """Beyond the vendor's own."""
        return {"timings": timings_of(end.stats), "hunch": hunch_of(end, self.context.draft)}


def get(path: str, answer: Callable[[HttpRequest], Any]) -> Route:
    """A route that answers with JSON."""

    async def endpoint(request: HttpRequest) -> Response:
        return Response(packed(answer(request)), media_type="application/json")

    return Route(path, endpoint)


def sse(data: Any, event: str = "") -> bytes:
    begin = f"event: {event}\n".encode() if event else b""
    return begin + b"data: " + packed(data) + b"\n\n"


def packed(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
