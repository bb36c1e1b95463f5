"""OpenAI's dialect: its endpoints, its list of models, and what llama.cpp's and vLLM's clients look for there."""

from __future__ import annotations

from typing import Any

from engine.server.dialect import Dialect, get
from engine.server.openai_chat import ChatCompletion, Completion
from engine.server.openai_responses import OpenAIResponse
from engine.server.options import ServedModel
from engine.server.parameters import identifier
from engine.server.problems import Problem
from engine.server.replies import SharedEngine


def error_body(problem: Problem, request_id: str) -> dict[str, Any]:
    error = {"message": problem.message, "type": problem.kind, "param": problem.param, "code": problem.code}
    return {"error": error}


def _entry(model: ServedModel, shared: SharedEngine) -> dict[str, Any]:
    """OpenAI's fields, and those under which llama.cpp's and vLLM's clients look for the context's length."""
    info = model.main
    sees = ["image"] if shared.pictures.shows(info) else []
    return {
        "id": identifier(info.name),
        "object": "model",
        "created": shared.started,
        "owned_by": "hunch",
        "meta": {"n_ctx": info.context_tokens, "n_ctx_train": info.context_tokens, "n_params": info.parameters},
        "status": {"value": "loaded" if shared.models.is_loaded(info) else "unloaded"},
        "architecture": {"input_modalities": ["text", *sees], "output_modalities": ["text"]},
        "max_model_len": info.context_tokens,
        "context_length": info.context_tokens,
        "hunch": {
            "draft": identifier(model.draft.name) if model.draft is not None else None,
            "drafts": shared.models.drafts_of(model),
            "bytes": info.weight_bytes,
            "tools": info.about.tools,
            "chosen": model.chosen,
        },
    }


def _props(shared: SharedEngine) -> dict[str, Any]:
    """llama.cpp's."""
    loaded = [each.main for each in shared.models.all() if shared.models.is_loaded(each.main)]
    settings = {"n_ctx": sum(info.context_tokens for info in loaded)}
    sees = any(shared.pictures.shows(info) for info in loaded)
    return {"default_generation_settings": settings, "total_slots": 1, "modalities": {"vision": sees}}


OPENAI = Dialect(
    owns=lambda path, headers: True,
    calls={
        "/v1/chat/completions": ChatCompletion,
        "/v1/completions": Completion,
        "/v1/responses": OpenAIResponse,
    },
    lookups=lambda shared: [
        get("/props", lambda _: _props(shared)),
        get("/v1/models", lambda _: {"object": "list", "data": [_entry(each, shared) for each in shared.models.all()]}),
        get("/v1/models/{model:path}", lambda http: _entry(shared.models.named(http.path_params["model"]), shared)),
    ],
    error=error_body,
)
