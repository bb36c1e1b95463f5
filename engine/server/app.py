"""The dialects, the routes, and how a request becomes an answer."""

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
from starlette.routing import Mount, Route, Router
from starlette.types import Receive, Scope, Send

from engine.api.types import EngineState, ModelInfo
from engine.server.anthropic import ANTHROPIC
from engine.server.dialect import ApiCall, CallContext, Dialect
from engine.server.fields import fields_of
from engine.server.gemini import GEMINI
from engine.server.guard import Guard
from engine.server.lm_studio import LM_STUDIO
from engine.server.metrics import CONTENT_TYPE
from engine.server.ollama import OLLAMA
from engine.server.openai import OPENAI
from engine.server.options import ServedModel
from engine.server.pictures import SentPictures
from engine.server.problems import Problem
from engine.server.replies import Client, ClientLeft, Replies, SharedEngine, owner_of

_log = logging.getLogger(__name__)

# A request is answered by the first dialect that owns it; the last one owns all.
DIALECTS = (ANTHROPIC, GEMINI, LM_STUDIO, OLLAMA, OPENAI)

_NO_NAME = re.compile(r"[^A-Za-z0-9_.:-]")


def make_app(shared: SharedEngine) -> Starlette:
    routers = {dialect: Router(_routes_of(dialect, shared)) for dialect in DIALECTS}

    async def in_its_dialect(scope: Scope, receive: Receive, send: Send) -> None:
        await routers[scope["dialect"]](scope, receive, send)

    async def health(_request: HttpRequest) -> Response:
        if (why := await shared.unwell()) is None:
            return JSONResponse({"status": "ok"})
        return JSONResponse({"error": {"code": 503, "message": why, "type": "unavailable_error"}}, 503)

    async def metrics(_request: HttpRequest) -> Response:
        if shared.options.guests and shared.options.key is None:
            raise Problem(403, "What all programs asked is told to holders of a key.", "permission_error", "no_key")
        return Response(shared.metrics.text(), media_type=CONTENT_TYPE)

    handlers: dict[Any, Any] = {
        Problem: _refuse,
        HTTPException: _refuse_route,
        ClientDisconnect: _leave,
        ClientLeft: _leave,
        Exception: _fail,
    }
    return Starlette(
        routes=[Route("/health", health), Route("/metrics", metrics), Mount("/", in_its_dialect)],
        middleware=[Middleware(Guard, options=shared.options, dialects=DIALECTS)],
        exception_handlers=handlers,
    )


def _routes_of(dialect: Dialect, shared: SharedEngine) -> list[Route]:
    calls = [Route(path, _Calling(path, call, shared), methods=["POST"]) for path, call in dialect.calls.items()]
    return [*calls, *dialect.lookups(shared)]


class _Calling:
    """An endpoint where the engine writes a reply."""

    def __init__(self, path: str, call: type[ApiCall], shared: SharedEngine) -> None:
        self._path = path
        self._call = call
        self._shared = shared

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._answer(scope, receive, send)
        except ClientLeft:
            _log.debug("a client has left before its answer was complete")

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        http = HttpRequest(scope, receive)
        fields = await fields_of(http)
        name = self._call.named_model(http, fields)
        model = self._shared.models.find(name)
        if isinstance(draft := fields.any("draft_model"), str):
            model = self._shared.models.with_draft(model, draft)
        async with Client(receive, fields) as client:
            with self._shared.pictures.sent(model.main, await client.beside(owner_of, scope, fields)) as sent:
                state = EngineState(model.main, model.draft)
                context = CallContext(scope["dialect"], self._shared.options, state, sent, http.query_params)
                call = await client.beside(self._call, fields, context, name)
                if call.requests:
                    await self._write(call, model, sent, client, scope, receive, send)
                    return
                await client.unless_left(self._shared.queue.visit(model, call.keep_s))
                answer = await client.beside(lambda: JSONResponse(call.without_reply(), headers=_headers(call)))
            await answer(scope, receive, send)

    async def _write(
        self,
        call: ApiCall,
        model: ServedModel,
        sent: SentPictures,
        client: Client,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        requests = call.requests
        if sent.texts:
            with self._shared.expecting(len(requests)):
                requests = await client.unless_left(self._shared.pictures.read(sent, requests))
        with self._shared.replies(self._path, requests, client, model, call.keep_s, sent.owner) as replies:
            if call.stream:
                await replies.judged(call.streamed_codes)
                await _Stream(call, replies, client, send).run(scope["request_id"])
            else:
                outcomes = await replies.whole()
                answer = await client.beside(
                    lambda: JSONResponse(call.whole(outcomes), headers=_headers(call, replies.model))
                )
                await answer(scope, receive, send)


class _Stream:
    """A streamed answer: the head at once, the first piece when the prompt's length is known."""

    def __init__(self, call: ApiCall, replies: Replies, client: Client, send: Send) -> None:
        self._call = call
        self._replies = replies
        self._client = client
        self._send = send
        self._time = asyncio.get_running_loop().time
        self._written = self._time()
        self._opened = False

    async def run(self, request_id: str) -> None:
        """Send all pieces; a failure is the last one."""
        stream_headers = {
            "cache-control": "no-store",
            "x-accel-buffering": "no",
            **await self._client.beside(_headers, self._call, self._replies.model),
        }
        head = Response(media_type=self._call.media_type, headers=stream_headers)
        del head.headers["content-length"]
        await self._send({"type": "http.response.start", "status": 200, "headers": head.raw_headers})
        try:
            async for found in self._replies.events(self._patience_s):
                await self._open()
                await self._write(b"" if found is None else b"".join(self._call.pieces(*found)))
                if self._patience_s() <= 0:
                    await self._write(await self._client.beside(self._call.alive, *self._replies.progress))
            await self._write(await self._with_body(self._call.closing, self._replies.outcomes), more=False)
        except Problem as problem:
            await self._open()
            failure = await self._client.beside(self._call.failure, problem, request_id)
            await self._write(failure, more=False)

    async def _open(self) -> None:
        if not self._opened:
            self._opened = True
            await self._write(await self._with_body(self._call.opening, *self._replies.progress))

    async def _with_body(self, pieces: Callable[..., Iterable[bytes]], *of: Any) -> bytes:
        """Pieces that may repeat what the client sent."""
        return await self._client.beside(lambda: b"".join(pieces(*of)))

    async def _write(self, body: bytes, *, more: bool = True) -> None:
        if body or not more:
            await self._send({"type": "http.response.body", "body": body, "more_body": more})
            self._written = self._time()

    def _patience_s(self) -> float:
        """Of a client that has got nothing since then; events that write nothing do not renew it."""
        return self._written + self._call.context.options.silence_s - self._time()


def _headers(call: ApiCall, model: ModelInfo | None = None) -> dict[str, str]:
    """Which fields had no effect. Their names are the client's, so only what a name may consist of is repeated.

    `model`: the one that answers; None: it is not known yet.
    """
    ignored = [*call.fields.ignored, *(f"tools:{kind}" for kind in call.dropped_tools)]
    in_doubt = any(each.strict_tools and not (each.must_call or each.constraint) for each in call.requests)
    if in_doubt and not (model is not None and model.holds_calls):
        ignored.append("tools:strict")
    names = ", ".join(_NO_NAME.sub("?", name[:40]) for name in ignored[:20])
    return {"x-hunch-ignored": names} if names else {}


async def _refuse(request: HttpRequest, problem: Problem) -> Response:
    body = request.scope["dialect"].error(problem, request.scope["request_id"])
    return JSONResponse(body, problem.status, problem.headers)


async def _refuse_route(request: HttpRequest, error: HTTPException) -> Response:
    message = "There is no such endpoint." if error.status_code == 404 else error.detail
    problem = Problem(error.status_code, message, code="not_found" if error.status_code == 404 else None)
    return await _refuse(request, problem)


async def _leave(_request: HttpRequest, _left: Exception) -> Response:
    """The client has left: anything may be sent."""
    return Response(status_code=400)


async def _fail(request: HttpRequest, error: Exception) -> Response:
    frames = "".join(traceback.format_tb(error.__traceback__))  # its own words may repeat a client's
    _log.error("a request of another program failed: %s\n%s", type(error).__name__, frames)
    return await _refuse(request, Problem(500, "The server failed.", "server_error", "internal", retry=False))
