"""The app's ready forms on a real engine: replies conform, by a checker of our own, and are the same with any draft."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from app.controllers.schemas import keys_schema, list_schema, table_schema
from app.markup.json_text import read, table_of
from engine import Constraint, ConstraintKind, FinishReason, Request, Sampling, SpanKind, Speculation
from engine.models.loading import LoadedModel
from tests.engine.batch_harness import written
from tests.engine.test_thinking_limit import said

# A random model ends neither strings nor lists by itself. A quote comes first: brackets may stand in a string.
ENDS = {'"': 12.0, "]": 8.0, "}": 8.0, ",": 4.0}
COLUMNS = ["name", "값", 'a "b"']
NONE = "no draft"
TYPES: dict[str, Any] = {
    "string": str,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
    "integer": int,
}


def conforms(value: Any, schema: dict[str, Any]) -> bool:
    """For the keywords that the ready forms use, read from the specification."""
    kinds = schema.get("type", list(TYPES))
    names = [kinds] if isinstance(kinds, str) else kinds
    fits = [name for name in names if isinstance(value, TYPES[name]) and (name == "boolean" or value is not True)]
    if not fits and value is not False:
        return False
    if isinstance(value, list):
        length = schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        return length and all(conforms(each, schema.get("items", {})) for each in value)
    if isinstance(value, dict):
        known = schema.get("properties", {})
        others = schema.get("additionalProperties", {})
        return all(name in value for name in schema.get("required", ())) and all(
            conforms(each, known[name]) if name in known else others is not False and conforms(each, others)
            for name, each in value.items()
        )
    return True


def test_the_checker_tells_them_apart() -> None:
    table = json.loads(table_schema(["a"]))
    assert conforms([{"a": 1}], table)
    wrong: list[Any] = [[], [{}], [{"a": 1, "b": 2}], [{"a": []}], [{"a": None}], {}]
    assert not any(conforms(each, table) for each in wrong)
    assert not conforms([1], json.loads(list_schema()))
    assert not conforms({"a": None}, json.loads(keys_schema()))


@pytest.mark.costly
@pytest.mark.parametrize("thinks", [False, True])
@pytest.mark.parametrize("schema", [table_schema(COLUMNS), list_schema(), keys_schema()], ids=["table", "list", "keys"])
def test_replies_conform_and_are_the_same_with_any_draft(
    thinkers: dict[str, LoadedModel], schema: str, thinks: bool
) -> None:
    """Thinking before it is free."""
    encode = thinkers["main"].tokenizer.encode
    bias = tuple((encode(text)[0], value) for text, value in ENDS.items())
    for temperature in (0.0, 1.0):
        asked = Request(
            tokens=(65, 66, 259) if thinks else (65, 66),
            constraint=Constraint(ConstraintKind.JSON, schema),
            thinking_tokens=5 if thinks else None,
            sampling=Sampling(temperature=temperature, seed=7, logit_bias=bias),
            speculation=Speculation.off(),
            max_tokens=600,
            trace=True,
        )
        (plain,) = written(thinkers, NONE, asked)
        for draft, speculation in ((NONE, Speculation.fixed(3)), ("close", Speculation.fixed(5))):
            (drafted,) = written(thinkers, draft, replace(asked, speculation=speculation))
            assert drafted.tokens == plain.tokens
        assert plain.finished.reason is FinishReason.STOP, plain.text[:300]
        answer = said(plain, SpanKind.ANSWER)
        value = json.loads(answer)
        assert conforms(value, json.loads(schema))
        if value:
            assert read(answer) is not None
        if schema == table_schema(COLUMNS):
            table = table_of(read(answer))
            assert table is not None
            assert table.columns == tuple(COLUMNS)
