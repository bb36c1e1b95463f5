"""What is here and how it is: models and health."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response

from engine.api.events import Event, TokensCounted
from engine.api.protocols import ChatEngine
from engine.api.types import Request
from engine.server.anthropic_messages import prompt_of
from engine.server.asked import identifier
from engine.server.fields import fields_of
from engine.server.metrics import CONTENT_TYPE
from engine.server.options import ServedModel
from engine.server.pictures import PictureReader
from engine.server.problems import Problem, problem_of
from engine.server.replies import Client, Desk

_STUCK_S = 30.0  # no step takes so long


class Listings:
    def __init__(self, engine: ChatEngine, desk: Desk, pictures: PictureReader) -> None:
        self._engine = engine
        self._desk = desk
        self._offer, self._supply = desk.offer, desk.supply
        self._pictures = pictures
        self._started = int(time.time())

    async def health(self, _request: HttpRequest) -> Response:
        loading = self._engine.state().loading_main is not None
        if not await self._answers():
            message = "The engine does not answer"
        elif self._engine.state().main is not None or (self._offer.models() and not loading):
            return JSONResponse({"status": "ok"})
        else:
            message = "Loading model" if loading else "No model is loaded"
        error = {"code": 503, "message": message, "type": "unavailable_error"}
        return JSONResponse({"error": error}, 503)

    async def _answers(self) -> bool:
        """Whether its thread takes commands, as it does between any two steps. An empty text waits for no others."""
        with suppress(Problem):  # which is an answer
            try:
                async with asyncio.timeout(_STUCK_S):
                    await self._counted("")
            except TimeoutError:
                return False
        return True

    async def models(self, request: HttpRequest) -> Response:
        entries = [self._entry(model, request) for model in self._offer.models()]
        if "anthropic-version" not in request.headers:
            return JSONResponse({"object": "list", "data": entries})
        ids = [entry["id"] for entry in entries]
        ends = {"first_id": ids[0] if ids else None, "last_id": ids[-1] if ids else None}
        return JSONResponse({"data": entries, "has_more": False, **ends})

    async def model(self, request: HttpRequest) -> Response:
        return JSONResponse(self._entry(self._offer.named(request.path_params["model"]), request))

    async def metrics(self, _request: HttpRequest) -> Response:
        return Response(self._desk.metrics.text(), media_type=CONTENT_TYPE)

    async def count_tokens(self, request: HttpRequest) -> Response:
        """Anthropic's: of the whole prompt, as the template makes it."""
        fields = await fields_of(request)
        model = self._offer.find(fields.text("model") or "")
        with self._pictures.sent(model.main) as sent:
            prompt, _ = prompt_of(fields, sent)
            (prompt,) = await self._pictures.read(sent, [prompt])
            async with Client(request.receive) as client:
                tokens = await client.unless_left(self._counted_in_turn(model, prompt))
            return JSONResponse({"input_tokens": tokens})

    async def _counted_in_turn(self, model: ServedModel, prompt: Request) -> int:
        turn = self._supply.join(model)
        try:
            await turn.come
            return await self._counted(prompt)
        finally:
            self._supply.leave(turn)

    async def _counted(self, prompt: Request | str) -> int:
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

    def _entry(self, model: ServedModel, request: HttpRequest) -> dict[str, Any]:
        info = model.main
        if "anthropic-version" in request.headers:
            return {
                "id": identifier(info.name),
                "type": "model",
                "display_name": info.name,
                "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._started)),
                "max_input_tokens": info.context_tokens,
                "max_tokens": info.context_tokens,
            }
        here = self._offer.is_loaded(model), self._started, self._pictures.shows(info)
        return openai_entry(model, *here, self._offer.drafts_of(model))


def openai_entry(
    model: ServedModel, loaded: bool, created: int, sees: bool, drafts: Sequence[str] = ()
) -> dict[str, Any]:
    """OpenAI's fields, and those under which llama.cpp's and vLLM's clients look for the context's length."""
    info = model.main
    draft = identifier(model.draft.name) if model.draft is not None else None
    return {
        "id": identifier(info.name),
        "object": "model",
        "created": created,
        "owned_by": "hunch",
        "meta": {"n_ctx": info.context_tokens, "n_ctx_train": info.context_tokens, "n_params": info.parameters},
        "status": {"value": "loaded" if loaded else "unloaded"},
        "architecture": {"input_modalities": ["text", *(["image"] if sees else [])], "output_modalities": ["text"]},
        "max_model_len": info.context_tokens,
        "context_length": info.context_tokens,
        "hunch": {
            "draft": draft,
            "drafts": list(drafts),
            "bytes": info.weight_bytes,
            "tools": info.about.tools,
            "chosen": model.chosen,
        },
    }
