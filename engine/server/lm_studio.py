"""LM Studio's lists of models, which editors read, and its path to OpenAI's chat completions."""

from __future__ import annotations

from typing import Any

from engine.api.types import ModelInfo
from engine.server.dialect import Dialect, get
from engine.server.openai import error_body
from engine.server.openai_chat import ChatCompletion
from engine.server.parameters import identifier, quantization_of
from engine.server.replies import SharedEngine


def _entry(info: ModelInfo, shared: SharedEngine) -> dict[str, Any]:
    loaded = shared.models.is_loaded(info)
    entry = {
        "id": identifier(info.name),
        "object": "model",
        "type": "vlm" if shared.pictures.shows(info) else "llm",
        "publisher": "hunch",
        "arch": info.model_type,
        "compatibility_type": "mlx",
        "quantization": quantization_of(info),
        "state": "loaded" if loaded else "not-loaded",
        "max_context_length": info.context_tokens,
        "capabilities": ["tool_use"] if info.about.tools else [],
    }
    return entry | ({"loaded_context_length": info.context_tokens} if loaded else {})


def _entry_v1(info: ModelInfo, shared: SharedEngine) -> dict[str, Any]:
    instance = {"id": identifier(info.name), "config": {"context_length": info.context_tokens}}
    return {
        "type": "llm",
        "key": identifier(info.name),
        "display_name": info.name,
        "publisher": "hunch",
        "architecture": info.model_type,
        "format": "mlx",
        "size_bytes": info.weight_bytes,
        "max_context_length": info.context_tokens,
        "loaded_instances": [instance] if shared.models.is_loaded(info) else [],
        "capabilities": {"vision": shared.pictures.shows(info), "trained_for_tool_use": info.about.tools},
    }


LM_STUDIO = Dialect(
    owns=lambda path, headers: path.startswith(("/api/v0/", "/api/v1/")),
    calls={"/api/v0/chat/completions": ChatCompletion},
    lookups=lambda shared: [
        get(
            "/api/v0/models",
            lambda _: {"object": "list", "data": [_entry(each.main, shared) for each in shared.models.all()]},
        ),
        get("/api/v1/models", lambda _: {"models": [_entry_v1(each.main, shared) for each in shared.models.all()]}),
    ],
    error=error_body,
)
