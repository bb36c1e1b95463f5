"""What a dialect does with a request and its replies. Each endpoint that writes text is one `Shape`."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.api.events import Event
from engine.api.types import EngineState, FinishReason, Request
from engine.server.asked import identifier, ttl_of
from engine.server.fields import Fields
from engine.server.options import ServerOptions
from engine.server.pictures import SentPictures
from engine.server.problems import Dialect, Problem
from engine.server.replies import Outcome

CUT = frozenset({FinishReason.LENGTH, FinishReason.CONTEXT, FinishReason.MEMORY})  # ends of answers that go on


@dataclass(frozen=True, slots=True)
class House:
    """What a request is read against."""

    options: ServerOptions
    state: EngineState
    pictures: SentPictures

    @property
    def draft(self) -> str | None:
        """The loaded draft's name."""
        return None if self.state.draft is None else identifier(self.state.draft.name)


class Shape(ABC):
    """One client's request, read; raises Problem in its constructor. `stream`: its answer comes piece by piece.

    `keep_s`: how long a model that is loaded for it stays afterwards; None: it does not say. Without `requests` it only
    has the model loaded, or with 0 unloaded.
    """

    dialect = Dialect.OPENAI
    media_type = "text/event-stream"

    def __init__(self, fields: Fields, house: House) -> None:
        self.fields = fields
        self.house = house
        self.requests: list[Request] = []
        self.dropped_tools: tuple[str, ...] = ()
        self.stream = fields.flag("stream")
        self.keep_s = ttl_of(fields)

    @abstractmethod
    def whole(self, outcomes: Sequence[Outcome]) -> dict[str, Any]:
        """The answer in one piece."""

    def without_reply(self) -> dict[str, Any]:
        """The answer where there are no requests."""
        raise NotImplementedError

    def opening(self, done_tokens: int, total_tokens: int) -> Iterable[bytes]:
        """`done_tokens` of the prompt were cached; both are 0 while the request waits for its turn."""
        return ()

    @abstractmethod
    def pieces(self, index: int, event: Event) -> Iterable[bytes]:
        """What an event of a request adds to the stream."""

    def closing(self, outcomes: Sequence[Outcome]) -> Iterable[bytes]:
        return ()

    def alive(self, done_tokens: int, total_tokens: int) -> bytes:
        """Sent where nothing else was for a while."""
        return b": prefill %d/%d\n\n" % (done_tokens, total_tokens)

    def failure(self, problem: Problem, request_id: str) -> bytes:
        """The end of a stream that has begun."""
        return sse(problem.body(self.dialect, request_id))


def sse(data: Any, event: str = "") -> bytes:
    begin = f"event: {event}\n".encode() if event else b""
    return begin + b"data: " + packed(data) + b"\n\n"


def packed(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
