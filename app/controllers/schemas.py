"""JSON schemas that a chat's replies are held to: ready ones, and what is wrong with one that is typed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.option_checks import LONGEST_SCHEMA
from engine import schema_refusal

MOST_COLUMNS = 30
_PLAIN = {"type": ["string", "number", "boolean"]}
_MOST_ITEMS = 500  # some models write items without end


class SchemaKind(StrEnum):
    NONE = ""  # free text
    LIST = "list"
    TABLE = "table"
    KEYS = "keys"  # an object of keys and values
    OWN = "own"


class SchemaFault(StrEnum):
    TOO_LONG = "too_long"
    NO_JSON = "no_json"
    NO_OBJECT = "no_object"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    fault: SchemaFault
    line: int = 0  # of NO_JSON
    detail: str = ""  # of REFUSED, in the words of the library that enforces it


def list_schema() -> str:
    return _text({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": _MOST_ITEMS})


def keys_schema() -> str:
    return _text({"type": "object", "additionalProperties": _PLAIN})


def table_schema(columns: Sequence[str]) -> str:
    row = {
        "type": "object",
        "properties": dict.fromkeys(columns, _PLAIN),
        "required": list(columns),
        "additionalProperties": False,
    }
    return _text({"type": "array", "items": row, "minItems": 1, "maxItems": _MOST_ITEMS})


def columns_in(text: str) -> list[str]:
    """Names between commas of any script, each once."""
    for comma in "，、;；\n":
        text = text.replace(comma, ",")
    return list(dict.fromkeys(name for each in text.split(",") if (name := " ".join(each.split()))))[:MOST_COLUMNS]


def kind_of(schema: str) -> tuple[SchemaKind, list[str]]:
    """Which ready one it is, and the columns of a table."""
    ready = {"": SchemaKind.NONE, list_schema(): SchemaKind.LIST, keys_schema(): SchemaKind.KEYS}
    if schema in ready:
        return ready[schema], []
    try:
        columns = list(json.loads(schema)["items"]["properties"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return SchemaKind.OWN, []
    return (SchemaKind.TABLE, columns) if table_schema(columns) == schema else (SchemaKind.OWN, [])


def problem_of(schema: str) -> SchemaProblem | None:
    """Why replies cannot be held to it."""
    if len(schema) > LONGEST_SCHEMA:
        return SchemaProblem(SchemaFault.TOO_LONG)
    try:
        value = json.loads(schema)
    except json.JSONDecodeError as error:
        return SchemaProblem(SchemaFault.NO_JSON, error.lineno)
    except (ValueError, RecursionError):
        return SchemaProblem(SchemaFault.NO_JSON, 1)
    if not isinstance(value, dict):
        return SchemaProblem(SchemaFault.NO_OBJECT)
    refusal = schema_refusal(schema)
    return SchemaProblem(SchemaFault.REFUSED, detail=refusal) if refusal else None


def _text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, ensure_ascii=False, indent=2)
