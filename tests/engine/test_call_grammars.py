"""What the grammar of a call allows is parsed by mlx-lm's own parser into arguments that match the tool's schema."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from engine.api.errors import InvalidRequest
from engine.decoding.call_grammars import GRAMMARS
from engine.decoding.constraint import Grammar, compiled
from engine.decoding.tool_calls import ToolSyntax
from engine.models.loading import KNOWN_CALLS, LoadedModel
from tests.engine.batch_harness import _template as some_model
from tests.helpers.callers import calling, written
from tests.helpers.tiny_models import byte_tokenizer

Schema = dict[str, Any]
# What ends a value, which random letters seldom do.
CLOSERS = (
    "\n</parameter>\n",
    "\n</parameter>\n</function>\n</tool_call>",
    "</arg_value>",
    '<|"|>',
    '"',
    '"}',
    "}",
    "]",
)
# A text within JSON that has a tag of the syntax in it: no parser reads that, and no grammar here keeps it out.
IN_JSON = re.compile(r'[\[{:,>]\s*"(?:[^"\\]|\\.)*(?:</|<\||\|>)')
ENDLESS = re.compile(r"\d[eE][+-]?\d{3}|\d{300}")  # numbers beyond a double
NEW = ("qwen3_coder", "glm47", "gemma4")


@cache
def model_of(parser: str, tokens: bool, template: str = "") -> LoadedModel:
    return calling(some_model(), byte_tokenizer(), parser, tokens=tokens, template=template)


def syntax_of(model: LoadedModel, schema: Schema, name: str = "look") -> ToolSyntax:
    return ToolSyntax(model, [{"type": "function", "function": {"name": name, "parameters": schema}}])


def grammar_for(model: LoadedModel, schema: Schema, name: str = "look") -> Grammar:
    return compiled([syntax_of(model, schema, name).grammar((name,), several=False)], model)


def allows(model: LoadedModel, grammar: Grammar, text: str) -> bool:
    tokens = model.tokenizer.encode(text, add_special_tokens=False)
    matcher = grammar.alone.deep_copy()
    return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


def parsed(model: LoadedModel, schema: Schema, text: str) -> Any:
    calls = syntax_of(model, schema).calls_in(text)
    assert [call.name for call in calls] == ["look"], text
    return json.loads(calls[0].arguments)


def matches(value: Any, schema: Schema) -> bool:
    return bool(Draft202012Validator(schema).is_valid(value))


PATTERNS = {"^[a-z]{2,4}$": st.from_regex("[a-z]{2,4}", fullmatch=True), "^/[a-z/]*$": st.just("/a/b")}
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\x00<\r"), max_size=12)


@st.composite
def strings(draw: st.DrawFn) -> Schema:
    kind = draw(st.sampled_from(("any", "length", "choice", "pattern")))
    if kind == "length":
        least = draw(st.integers(0, 3))
        return {"type": "string", "minLength": least, "maxLength": least + draw(st.integers(0, 4))}
    if kind == "choice":
        choices = st.lists(st.sampled_from(("sky", "sea", "a b", "[x", "null", "12", "가")), min_size=1, unique=True)
        return {"type": "string", "enum": draw(choices)}
    return {"type": "string"} | ({"pattern": draw(st.sampled_from(sorted(PATTERNS)))} if kind == "pattern" else {})


SIMPLE = st.one_of(
    strings(),
    st.sampled_from(({"type": "integer"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"}, {})),
    st.integers(-5, 5).map(lambda least: {"type": "integer", "minimum": least, "maximum": least + 7}),
    st.just({"$ref": "#/$defs/place"}),
)
KEYS = st.sampled_from(("at", "far", "path", "a_b", "B2", "type"))


def objects(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    def made(parts: dict[str, Schema], needed: set[str], closed: bool) -> Schema:
        held: Schema = {"type": "object", "properties": parts, "required": sorted(needed & set(parts))}
        return held | ({"additionalProperties": False} if closed else {})

    return st.builds(made, st.dictionaries(KEYS, inner, max_size=3), st.sets(KEYS), st.booleans())


def wider(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    """Arrays, objects, and what may be null."""
    bounds = st.sampled_from(({}, {"minItems": 1}, {"maxItems": 2}, {"minItems": 2, "maxItems": 3}))
    several = st.builds(lambda items, bound: {"type": "array", "items": items} | bound, inner, bounds)
    return st.one_of(several, objects(inner), inner.map(lambda each: {"anyOf": [each, {"type": "null"}]}))


PLACE = {"type": "object", "properties": {"x": {"type": "integer"}, "name": {"type": "string"}}, "required": ["x"]}
SCHEMAS = objects(st.recursive(SIMPLE, wider, max_leaves=4)).map(lambda each: each | {"$defs": {"place": PLACE}})


def values(schema: Schema) -> st.SearchStrategy[Any]:
    """Some that match."""
    if "$ref" in schema:
        return values(PLACE)
    if "anyOf" in schema:
        return st.one_of([values(each) for each in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    return OF_TYPE[schema.get("type", "")](schema)


def texts(schema: Schema) -> st.SearchStrategy[str]:
    return PATTERNS.get(schema.get("pattern", ""), WORDS.filter(lambda text: matches(text, schema)))


def arrays(schema: Schema) -> st.SearchStrategy[list[Any]]:
    least = schema.get("minItems", 0)
    return st.lists(values(schema["items"]), min_size=least, max_size=schema.get("maxItems", least + 2))


def members(schema: Schema) -> st.SearchStrategy[dict[str, Any]]:
    """In the order of the schema."""
    held = {key: values(each) for key, each in schema["properties"].items()}
    needed = {key: held.pop(key) for key in schema.get("required", [])}
    order = list(schema["properties"])
    made = st.fixed_dictionaries(needed, optional=held)
    return made.map(lambda value: {key: value[key] for key in order if key in value})


OF_TYPE: dict[str, Callable[[Schema], st.SearchStrategy[Any]]] = {
    "": lambda _: WORDS.filter(lambda text: text.strip()[:1].isalpha() and text.strip().lower() != "null"),
    "string": texts,
    "integer": lambda each: st.integers(each.get("minimum", -(10**9)), each.get("maximum", 10**9)),
    "number": lambda _: st.floats(-1e9, 1e9).map(lambda value: round(value, 3) or 0.0),
    "boolean": lambda _: st.booleans(),
    "null": lambda _: st.none(),
    "array": arrays,
    "object": members,
}


def read_alike(value: Any, known: bool) -> Any:
    """What of an argument a parser keeps: GLM's takes the blanks around a text away."""
    return value.strip() if known and isinstance(value, str) else value


@pytest.mark.parametrize("tokens", [True, False], ids=["tokens", "spelled"])
@pytest.mark.parametrize("parser", NEW)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_call_as_templates_write_it_is_allowed_and_parsed(parser: str, tokens: bool, data: st.DataObject) -> None:
    schema = data.draw(SCHEMAS)
    model = model_of(parser, tokens)
    grammar = grammar_if_any(model, schema)
    arguments = data.draw(values(schema))
    text = written(parser, "look", arguments, schema)
    if not allows(model, grammar, text):  # then a parser takes it for something else, or it has more than one spelling
        told = syntax_of(model, schema).calls_in(text)
        known = [json.loads(call.arguments) for call in told]
        assert known != [arguments] or any(map(ambiguous, arguments.values()))
        return
    found = parsed(model, schema, text)
    assert {key: read_alike(each, parser == "glm47") for key, each in arguments.items()} == found


def grammar_if_any(model: LoadedModel, schema: Schema) -> Grammar:
    try:
        return grammar_for(model, schema)
    except InvalidRequest:
        assume(False)
        raise


def ambiguous(value: Any) -> bool:
    """Values with more than one spelling in JSON, or those of a text with blanks around it, or with a marker in it."""
    spelled = json.dumps(value, ensure_ascii=False)
    return "e-" in spelled or "\\" in spelled or '" ' in spelled or ' "' in spelled or "\x7f" in spelled


@pytest.mark.parametrize("tokens", [True, False], ids=["tokens", "spelled"])
@pytest.mark.parametrize("parser", sorted(KNOWN_CALLS))
@settings(max_examples=40, deadline=None)
@given(schema=SCHEMAS, seed=st.integers(0, 2**32))
def test_whatever_the_grammar_allows_is_parsed_into_matching_arguments(
    parser: str, tokens: bool, schema: Schema, seed: int
) -> None:
    model = model_of(parser, tokens)
    grammar = grammar_if_any(model, schema)
    text = some_text(model, grammar, random.Random(seed))
    assume(text and not IN_JSON.search(text) and not ENDLESS.search(text))
    found = parsed(model, schema, text)
    assert matches(found, schema), (text, found)


def some_text(model: LoadedModel, grammar: Grammar, chance: random.Random) -> str:
    """A call at random; "" if it comes to no end."""
    matcher = grammar.alone.deep_copy()
    vocabulary = grammar.vocabulary
    encode = model.tokenizer.encode
    closers = [encode(each, add_special_tokens=False) for each in CLOSERS]
    said: list[int] = []
    for _ in range(300):
        if matcher.is_accepting():
            return str(model.tokenizer.decode(said))
        chance.shuffle(closers)
        ways = [each for each in closers if matcher.validate_tokens(each) == len(each)]
        if ways and chance.random() < 0.3:
            chosen = ways[0]
        else:
            row = np.zeros(vocabulary.words, dtype=np.int32)
            matcher.unsafe_compute_mask_ptr(row.ctypes.data, vocabulary.known_words * 4)
            bits = np.unpackbits(row.view(np.uint8), bitorder="little")
            chosen = [int(chance.choice(np.flatnonzero(bits)))]
        assert matcher.try_consume_tokens(chosen) == len(chosen)
        said += chosen
    return ""


def of(part: Schema) -> Schema:
    return {"type": "object", "properties": {"at": part}, "required": ["at"], "$defs": {"place": PLACE}}


NESTED: Schema = {}
for _ in range(6):
    NESTED = {"type": ["object"] * 6, "properties": {"a": NESTED}}
BAD: list[Any] = [
    {"anyOf": "abc"},
    {"type": "string", "minLength": "x"},
    {"type": "object", "properties": [1]},
    {"type": "object", "properties": {"a": {}}, "required": [["a"]]},
    {"enum": 5},
    {"type": {"a": 1}},
    {"$ref": "#/properties/at"},
    {"enum": [f"choice {number}" for number in range(20_000)]},
    {"type": "object", "properties": {f"a{number}": NESTED for number in range(300)}},
    NESTED,
    7,
]


@pytest.mark.parametrize(
    ("parser", "part"),
    [
        ("qwen3_coder", {"type": ["string", "null"]}),
        ("qwen3_coder", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ("qwen3_coder", {"enum": [1, 2]}),
        ("qwen3_coder", {"type": "string", "enum": ["null", "none"]}),
        ("qwen3_coder", {"enum": ["[x]"]}),
        ("glm47", {"type": "string", "enum": [" x"]}),
        *((parser, {"type": "string", "pattern": "x"}) for parser in NEW),
        *((parser, {"type": "string", "contentEncoding": "base64"}) for parser in NEW),
        *((parser, {"$ref": "#/$defs/nowhere"}) for parser in NEW),
        *((parser, {"type": "object", "propertyNames": {"pattern": "^a"}}) for parser in NEW),
        ("gemma4", {"type": "object", "properties": {"a-b": {}}}),
        ("gemma4", {"enum": [[1]]}),
        ("gemma4", {"allOf": [{"type": "string"}]}),
        *((parser, part) for parser in NEW for part in BAD),  # a tool's server may send anything
    ],
)
def test_a_schema_that_is_none_or_whose_values_would_be_read_as_others_is_refused(parser: str, part: Any) -> None:
    with pytest.raises(InvalidRequest):
        grammar_for(model_of(parser, True), of(part))


@pytest.mark.parametrize("parser", NEW)
def test_long_texts_and_slashes_in_patterns_cost_nothing(parser: str) -> None:
    model = model_of(parser, True)
    long = of({"type": "string", "maxLength": 10**9})
    assert allows(model, grammar_for(model, long), written(parser, "look", {"at": "x" * 2000}, long))
    path = of({"type": "string", "pattern": r"^\/[a-z/]+\/$"})
    grammar = grammar_for(model, path)
    for text, fits in (("/a/b/", True), ("/a/b", False)):
        assert allows(model, grammar, written(parser, "look", {"at": text}, path)) is fits


@pytest.mark.parametrize("parser", NEW)
@pytest.mark.parametrize("schema", [{}, {"type": "object"}, of({}) | {"properties": {}, "required": []}])
def test_a_tool_without_described_arguments_can_be_called(parser: str, schema: Schema) -> None:
    model = model_of(parser, True)
    grammar = grammar_for(model, schema)
    some = {"at": "the sky"}
    for arguments, fits in (({}, True), (some, "properties" not in schema)):
        text = written(parser, "look", arguments, {"properties": {"at": {"type": "string"}}})
        assert allows(model, grammar, text) is fits
        if fits:
            assert parsed(model, schema, text) == arguments


def test_glm_calls_have_the_lines_of_the_models_template() -> None:
    lines = model_of("glm47", True, template="<arg_key>{{ k }}</arg_key>\n<arg_value>{{ v }}</arg_value>\n")
    schema = of({"type": "string"})
    text = "<tool_call>look\n<arg_key>at</arg_key>\n<arg_value>sky</arg_value>\n</tool_call>"
    assert allows(lines, grammar_for(lines, schema), text)
    assert not allows(lines, grammar_for(lines, schema), text.replace("\n", ""))
    assert parsed(lines, schema, text) == {"at": "sky"}


@pytest.mark.parametrize(("parser", "between"), [("qwen3_coder", "\n"), ("glm47", ""), ("gemma4", "")])
def test_several_calls_are_apart_as_templates_write_them(parser: str, between: str) -> None:
    model = model_of(parser, True)
    schema = of({"type": "string"})
    grammar = compiled([syntax_of(model, schema).grammar((), several=True)], model)
    one = written(parser, "look", {"at": "sky"}, schema)
    assert allows(model, grammar, f"{one}{between}{one}")


def test_the_parsers_with_a_grammar_are_those_that_a_loaded_model_names() -> None:
    assert set(GRAMMARS) == KNOWN_CALLS
