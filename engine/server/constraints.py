"""The form that a client demands of an answer, in each dialect's words, as the engine's constraint."""

from __future__ import annotations

import json
from typing import Any

from engine.api.types import Constraint, ConstraintKind
from engine.server.fields import Fields
from engine.server.problems import unsupported

_ANY_OBJECT = {"type": "object"}


def constraint_of(form: Fields | None, param: str) -> Constraint | None:
    """Of OpenAI's `response_format` and `text.format`, and Anthropic's `output_config.format`."""
    if form is None:
        return None
    match form.text("type"):
        case None | "text":
            return None
        case "json_object":
            return _of_schema(_ANY_OBJECT)
        case "json_schema":
            within = form.object("json_schema") or form
            if not within.has("schema"):
                raise within.wrong("schema", "a JSON schema")
            return _of_schema(within.raw("schema"))
        case kind:
            raise unsupported(param, f" as '{kind}'")


def ollama_constraint(fields: Fields) -> Constraint | None:
    """`format`: "json", or a schema."""
    form = fields.any("format")
    if form in (None, ""):
        return None
    return _of_schema(_ANY_OBJECT if form == "json" else fields.raw("format"))


def _of_schema(schema: dict[str, Any]) -> Constraint:
    return Constraint(ConstraintKind.JSON, json.dumps(schema, ensure_ascii=False))
