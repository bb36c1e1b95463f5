"""What clients ask before they chat: Ollama's lists, and the shapes of LM Studio and llama.cpp that editors read."""

from __future__ import annotations

import time
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from engine.api.types import ModelInfo
from engine.server.asked import identifier
from engine.server.fields import fields_of
from engine.server.offer import Offer
from engine.server.options import ServedModel
from engine.server.pictures import PictureReader
from engine.server.problems import Problem
from engine.server.supply import Supply

_OLLAMA = "0.13.0"  # whose answers these are; clients look whether it is new enough for tools and thinking
_NEVER, _LATEST = "2318-01-01T00:00:00Z", 1e10
_CHANGING = ("pull", "push", "create", "copy", "delete")


def discovery_routes(offer: Offer, supply: Supply, pictures: PictureReader) -> list[Route]:
    here = Discovery(offer, supply, pictures)
    return [
        Route("/", here.root),
        Route("/props", here.props),
        Route("/api/v0/models", here.lm_studio_models),
        Route("/api/v1/models", here.lm_studio_models_v1),
        Route("/api/version", here.version),
        Route("/api/tags", here.tags),
        Route("/api/ps", here.running),
        Route("/api/show", here.show, methods=["POST"]),
        *(Route(f"/api/{name}", _refuse, methods=["POST", "DELETE"]) for name in _CHANGING),
    ]


class Discovery:
    def __init__(self, offer: Offer, supply: Supply, pictures: PictureReader) -> None:
        self._offer, self._supply = offer, supply
        self._sees = pictures.shows
        self._started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    async def root(self, _request: HttpRequest) -> Response:
        return PlainTextResponse("Ollama is running")

    async def version(self, _request: HttpRequest) -> Response:
        return JSONResponse({"version": _OLLAMA})

    async def tags(self, _request: HttpRequest) -> Response:
        return JSONResponse({"models": [self._tag(model.main) for model in self._offer.models()]})

    async def running(self, _request: HttpRequest) -> Response:
        return JSONResponse({"models": [self._running(model) for model in self._loaded()]})

    async def show(self, request: HttpRequest) -> Response:
        fields = await fields_of(request)
        name = fields.text("model") or fields.text("name") or ""
        return JSONResponse(self._shown(self._offer.named(name).main))

    async def props(self, _request: HttpRequest) -> Response:
        """llama.cpp's."""
        loaded = [model.main for model in self._loaded()]
        settings = {"n_ctx": sum(info.context_tokens for info in loaded)}
        sees = any(self._sees(info) for info in loaded)
        return JSONResponse({"default_generation_settings": settings, "total_slots": 1, "modalities": {"vision": sees}})

    async def lm_studio_models(self, _request: HttpRequest) -> Response:
        models = [
            {
                "id": identifier(info.name),
                "object": "model",
                "type": "vlm" if self._sees(info) else "llm",
                "publisher": "hunch",
                "arch": info.model_type,
                "compatibility_type": "mlx",
                "quantization": info.quantization or (f"{info.bits:g}bit" if info.bits else ""),
                "state": "loaded" if loaded else "not-loaded",
                "max_context_length": info.context_tokens,
                **({"loaded_context_length": info.context_tokens} if loaded else {}),
                "capabilities": _tools(info, "tool_use"),
            }
            for info, loaded in self._models()
        ]
        return JSONResponse({"object": "list", "data": models})

    async def lm_studio_models_v1(self, _request: HttpRequest) -> Response:
        models = [
            {
                "type": "llm",
                "key": identifier(info.name),
                "display_name": info.name,
                "publisher": "hunch",
                "architecture": info.model_type,
                "format": "mlx",
                "size_bytes": info.weight_bytes,
                "max_context_length": info.context_tokens,
                "loaded_instances": [
                    {"id": identifier(info.name), "config": {"context_length": info.context_tokens}},
                ]
                if loaded
                else [],
                "capabilities": {"vision": self._sees(info), "trained_for_tool_use": info.about.tools},
            }
            for info, loaded in self._models()
        ]
        return JSONResponse({"models": models})

    def _models(self) -> list[tuple[ModelInfo, bool]]:
        """And whether they are loaded."""
        return [(model.main, self._offer.is_loaded(model)) for model in self._offer.models()]

    def _loaded(self) -> list[ServedModel]:
        """One or none."""
        return [model for model in self._offer.models() if self._offer.is_loaded(model)]

    def _running(self, model: ServedModel) -> dict[str, Any]:
        info, at = model.main, self._supply.expires_at(model)
        ends = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)) if at < _LATEST else _NEVER
        return self._tag(info) | {
            "expires_at": ends,
            "size_vram": info.weight_bytes,
            "context_length": info.context_tokens,
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
        return {
            "modified_at": self._started,
            "details": _details(info),
            "model_info": {
                "general.architecture": family,
                "general.parameter_count": info.parameters,
                f"{family}.context_length": info.context_tokens,
                f"{family}.embedding_length": info.width,
            },
            "capabilities": [
                "completion",
                *_tools(info, "tools"),
                *(["thinking"] if info.about.thinking else []),
                *(["vision"] if self._sees(info) else []),
            ],
        }


def _tools(info: ModelInfo, name: str) -> list[str]:
    return [name] if info.about.tools else []


def _details(info: ModelInfo) -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "mlx",
        "family": info.model_type,
        "families": [info.model_type],
        "parameter_size": f"{info.parameters / 1e9:.1f}B",
        "quantization_level": info.quantization or (f"{info.bits:g}bit" if info.bits else ""),
    }


async def _refuse(_request: HttpRequest) -> Response:
    raise Problem(403, "Models are not changed over HTTP.", "permission_error", "not_allowed")
