"""The routes, and how a request becomes an answer."""

from __future__ import annotations

import asyncio
import logging
import re
import traceback
from collections.abc import Callable, Iterable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from engine.api.protocols import ChatEngine
from engine.api.types import EngineState, ModelInfo
from engine.server import listings
from engine.server.anthropic_messages import AnthropicMessage
from engine.server.asked import model_name
from engine.server.discovery import discovery_routes
from engine.server.fields import Fields, fields_of
from engine.server.guard import Guard
from engine.server.ollama import OllamaChat, OllamaGenerate
from engine.server.openai_chat import ChatCompletion, Completion
from engine.server.openai_responses import OpenAIResponse
from engine.server.options import ServedModel, ServerOptions
from engine.server.pictures import PictureReader, SentPictures
from engine.server.problems import Dialect, Problem
from engine.server.replies import Client, ClientLeft, Desk, Replies
from engine.server.shapes import House, Shape

_log = logging.getLogger(__name__)

_NO_NAME = re.compile(r"[^A-Za-z0-9_.:-]")

_SHAPES: dict[str, Callable[[Fields, House], Shape]] = {
    "/v1/chat/completions": ChatCompletion,
    "/api/v0/chat/completions": ChatCompletion,
    "/v1/completions": Completion,
    "/v1/messages": AnthropicMessage,
    "/v1/responses": OpenAIResponse,
    "/api/chat": OllamaChat,
    "/api/generate": OllamaGenerate,
}


def make_app(engine: ChatEngine, options: ServerOptions, desk: Desk, pictures: PictureReader) -> Starlette:
    listing = listings.Listings(engine, desk, pictures)
    routes = [
        *(Route(path, _Writing(shape, options, desk, pictures), methods=["POST"]) for path, shape in _SHAPES.items()),
        Route("/v1/messages/count_tokens", listing.count_tokens, methods=["POST"]),
        *discovery_routes(desk.offer, desk.supply, pictures),
        Route("/health", listing.health),
        Route("/metrics", listing.metrics),
        Route("/v1/models", listing.models),
        Route("/v1/models/{model:path}", listing.model),
    ]
    handlers: dict[Any, Any] = {Problem: _refuse, HTTPException: _refuse_route}
    handlers |= {ClientDisconnect: _leave, ClientLeft: _leave}
    handlers |= {Exception: _fail}
    return Starlette(routes=routes, middleware=[Middleware(Guard, options=options)], exception_handlers=handlers)


class _Writing:
    """An endpoint that has the engine write."""

    def __init__(
        self, shape: Callable[[Fields, House], Shape], options: ServerOptions, desk: Desk, pictures: PictureReader
    ) -> None:
        self._shape = shape
        self._options = options
        self._desk = desk
        self._pictures = pictures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._answer(scope, receive, send)
        except ClientLeft:
            _log.debug("a client has left before its answer was complete")

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = HttpRequest(scope, receive)
        fields = await fields_of(request)
        model = self._desk.offer.find(model_name(fields))
        if isinstance(draft := fields.any("draft_model"), str):
            model = self._desk.offer.with_draft(model, draft)
        with self._pictures.sent(model.main) as sent:
            shape = self._shape(fields, House(self._options, EngineState(model.main, model.draft), sent))
            if shape.requests:
                await self._write(shape, model, sent, scope, receive, send)
                return
            async with Client(receive) as client:
                await client.unless_left(self._desk.supply.visit(model, shape.keep_s))
            await JSONResponse(shape.without_reply(), headers=_headers(shape))(scope, receive, send)

    async def _write(
        self, shape: Shape, model: ServedModel, sent: SentPictures, scope: Scope, receive: Receive, send: Send
    ) -> None:
        async with Client(receive) as client:
            requests = shape.requests
            if sent.texts:
                with self._desk.expecting(len(requests)):
                    requests = await client.unless_left(self._pictures.read(sent, requests))
            async with self._desk.replies(scope["path"], requests, client, model, shape.keep_s) as replies:
                if shape.stream:
                    await replies.judged()
                    await _Stream(shape, replies, self._options, send).run(scope["request_id"])
                else:
                    content = shape.whole(await replies.whole())
                    answer = JSONResponse(content, headers=_headers(shape, replies.model))
                    await answer(scope, receive, send)


class _Stream:
    """An answer piece by piece: its head at once, the first piece when the prompt's length is known."""

    def __init__(self, shape: Shape, replies: Replies, options: ServerOptions, send: Send) -> None:
        self._shape = shape
        self._replies = replies
        self._options = options
        self._send = send
        self._time = asyncio.get_running_loop().time
        self._written = self._time()
        self._opened = False

    async def run(self, request_id: str) -> None:
        """A failure is the last piece."""
        stream_headers = {
            "cache-control": "no-store",
            "x-accel-buffering": "no",
            **_headers(self._shape, self._replies.model),
        }
        head = Response(media_type=self._shape.media_type, headers=stream_headers)
        del head.headers["content-length"]
        await self._send({"type": "http.response.start", "status": 200, "headers": head.raw_headers})
        try:
            async for heard in self._replies.events(self._patience_s):
                await self._open()
                await self._write([] if heard is None else self._shape.pieces(*heard))
                if self._patience_s() <= 0:
                    await self._write([self._shape.alive(*self._replies.progress)])
            await self._write(self._shape.closing(self._replies.outcomes), more=False)
        except Problem as problem:
            await self._open()
            await self._write([self._shape.failure(problem, request_id)], more=False)

    async def _open(self) -> None:
        if not self._opened:
            self._opened = True
            await self._write(self._shape.opening(*self._replies.progress))

    async def _write(self, pieces: Iterable[bytes], *, more: bool = True) -> None:
        body = b"".join(pieces)
        if body or not more:
            try:
                async with asyncio.timeout(self._options.send_s):
                    await self._send({"type": "http.response.body", "body": body, "more_body": more})
            except TimeoutError:
                raise ClientLeft from None
            self._written = self._time()

    def _patience_s(self) -> float:
        """Of a client that has got nothing since then; events that write nothing do not renew it."""
        return self._written + self._options.silence_s - self._time()


def _headers(shape: Shape, model: ModelInfo | None = None) -> dict[str, str]:
    """Which fields had no effect. Their names are the client's, so only what a name may consist of is repeated.

    `model`: the one that answers; None: it is not known yet.
    """
    ignored = [*shape.fields.ignored, *(f"tools:{kind}" for kind in shape.dropped_tools)]
    in_doubt = any(each.strict_tools and not (each.must_call or each.constraint) for each in shape.requests)
    if in_doubt and not (model is not None and model.holds_calls):
        ignored.append("tools:strict")
    names = ", ".join(_NO_NAME.sub("?", name[:40]) for name in ignored[:20])
    return {"x-hunch-ignored": names} if names else {}


async def _refuse(request: HttpRequest, problem: Problem) -> Response:
    dialect = Dialect.of(request.url.path)
    return JSONResponse(problem.body(dialect, request.scope["request_id"]), problem.status, problem.headers)


async def _refuse_route(request: HttpRequest, error: HTTPException) -> Response:
    message = "There is no such endpoint." if error.status_code == 404 else error.detail
    problem = Problem(error.status_code, message, code="not_found" if error.status_code == 404 else None)
    return await _refuse(request, problem)


async def _leave(_request: HttpRequest, _left: Exception) -> Response:
    """The client has left, so what is sent does not matter."""
    return Response(status_code=400)


async def _fail(request: HttpRequest, error: Exception) -> Response:
    frames = "".join(traceback.format_tb(error.__traceback__))  # its own words may repeat a client's
    _log.error("a request of another program failed: %s\n%s", type(error).__name__, frames)
    return await _refuse(request, Problem(500, "The server failed.", "server_error", "internal", retry=False))
