"""What is here and how it is: models and health."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response

from engine.api.events import Event, TokensCounted
from engine.api.protocols import ChatEngine
from engine.api.types import EngineState, ModelInfo, Request
from engine.server.anthropic_messages import prompt_of
from engine.server.asked import identifier, names_of
from engine.server.fields import fields_of
from engine.server.metrics import CONTENT_TYPE
from engine.server.pictures import PictureReader
from engine.server.problems import problem_of, unknown_model
from engine.server.replies import Desk


class Listings:
    def __init__(self, engine: ChatEngine, desk: Desk, pictures: PictureReader) -> None:
        self._engine = engine
        self._desk = desk
        self._pictures = pictures
        self._started = int(time.time())

    async def health(self, _request: HttpRequest) -> Response:
        if self._engine.state().main is not None:
            return JSONResponse({"status": "ok"})
        loading = self._engine.state().loading_main is not None
        message = "Loading model" if loading else "No model is loaded"
        error = {"code": 503, "message": message, "type": "unavailable_error"}
        return JSONResponse({"error": error}, 503)

    async def models(self, request: HttpRequest) -> Response:
        entries = [self._entry(info, request) for info in self._chat_models()]
        if "anthropic-version" not in request.headers:
            return JSONResponse({"object": "list", "data": entries})
        ids = [entry["id"] for entry in entries]
        ends = {"first_id": ids[0] if ids else None, "last_id": ids[-1] if ids else None}
        return JSONResponse({"data": entries, "has_more": False, **ends})

    async def model(self, request: HttpRequest) -> Response:
        name = request.path_params["model"]
        for info in self._chat_models():
            if name in names_of(info.name):
                return JSONResponse(self._entry(info, request))
        raise unknown_model(name)

    async def metrics(self, _request: HttpRequest) -> Response:
        return Response(self._desk.metrics.text(), media_type=CONTENT_TYPE)

    async def count_tokens(self, request: HttpRequest) -> Response:
        """Anthropic's: of the whole prompt, as the template makes it."""
        fields = await fields_of(request)
        fields.has("model")
        with self._pictures.sent(self._engine.state()) as sent:
            prompt, _ = prompt_of(fields, sent)
            (prompt,) = await self._pictures.read(sent, [prompt])
            return JSONResponse({"input_tokens": await self._counted(prompt)})

    async def _counted(self, prompt: Request) -> int:
        """Raises Problem."""
        loop = asyncio.get_running_loop()
        counted: asyncio.Future[TokensCounted] = loop.create_future()

        def take(event: TokensCounted) -> None:
            if not counted.done():
                counted.set_result(event)

        def hear(event: Event) -> None:
            if isinstance(event, TokensCounted):
                with suppress(RuntimeError):  # the loop has ended
                    loop.call_soon_threadsafe(take, event)

        self._engine.count_tokens(prompt, hear)
        answer = await counted
        if answer.error is not None:
            raise problem_of(answer.error)
        return answer.tokens

    def _chat_models(self) -> list[ModelInfo]:
        main = self._engine.state().main
        return [] if main is None else [main]

    def _entry(self, info: ModelInfo, request: HttpRequest) -> dict[str, Any]:
        if "anthropic-version" in request.headers:
            return {
                "id": identifier(info.name),
                "type": "model",
                "display_name": info.name,
                "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._started)),
                "max_input_tokens": info.context_tokens,
                "max_tokens": info.context_tokens,
            }
        return openai_entry(info, self._engine.state(), self._started, self._pictures.shows(info))


def openai_entry(info: ModelInfo, state: EngineState, created: int, sees: bool) -> dict[str, Any]:
    """OpenAI's fields, and those under which llama.cpp's and vLLM's clients look for the context's length."""
    draft = identifier(state.draft.name) if state.draft is not None else None
    return {
        "id": identifier(info.name),
        "object": "model",
        "created": created,
        "owned_by": "hunch",
        "meta": {"n_ctx": info.context_tokens, "n_ctx_train": info.context_tokens, "n_params": info.parameters},
        "status": {"value": "loaded"},
        "architecture": {"input_modalities": ["text", *(["image"] if sees else [])], "output_modalities": ["text"]},
        "max_model_len": info.context_tokens,
        "context_length": info.context_tokens,
        "hunch": {"draft": draft, "bytes": info.weight_bytes},
    }
