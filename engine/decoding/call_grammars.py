"""Grammars of tool calls, by mlx-lm's parser: what they allow is parsed into arguments that match the tool's schema.

In Lark, as llguidance reads it. Where values are no JSON, a parser guesses their types: schemas with values that it
would take for others are refused, and so are words of schemas that are not known here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from engine.decoding.constraint import refusal, strictly

Schema = Mapping[str, Any]
Member = tuple[str, Schema, bool]  # the name of an argument, what it may be, and whether it is required

# Schemas are not trusted: what a grammar of them may take.
_MOST_REFERENCES = 16  # one after another
_MOST_VALUES = 2000
_MOST_LETTERS = 1 << 17  # of the rules of a tool
# What a schema may have beside what it allows; formats count only in JSON.
_NOTES = frozenset(
    ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "format", "$schema", "$id")
) | {"$comment", "$defs", "definitions"}
_WHOLE = re.compile(r"\^([^|^$]*)\$")  # a pattern of the whole text
_NAME = re.compile(r"[^\s<>\"\\{}]+")
_ESCAPED = r"\/"
_SLASH = r"\x2f"
_KEY = "/[A-Za-z0-9_-]+/"
_TRIMMED = r"/([^\s\x1c-\x1f]((?s:.*)[^\s\x1c-\x1f])?)?/"


@dataclass(slots=True)
class Rules:
    """The rules of a grammar, while they are written; methods return Lark expressions."""

    marker: Callable[[str], str]  # of a text that is a control token in some vocabularies
    end: str  # of a call: no text contains it
    template: str = ""  # the model's
    lines: list[str] = field(default_factory=lambda: ["ANY: /(?s:.*)/"])

    def rule(self, body: str, options: str = "") -> str:
        return self.recursive(lambda _: body, options)

    def recursive(self, write: Callable[[str], str], options: str = "") -> str:
        """A rule whose body, which `write` returns, may have its name."""
        at = len(self.lines)
        self.lines.append("")
        self.lines[at] = f"rule_{at}{options}: {write(f'rule_{at}')}"
        return f"rule_{at}"

    def json(self, schema: Schema, root: Schema) -> str:
        """A value in JSON, of a part of the schema `root`."""
        held = {name: root[name] for name in ("$defs", "definitions") if name in root}
        return self.rule(f"%json {json.dumps(strictly(json.dumps({**held, **schema})))}")

    def text(self, closer: str, body: str = "", but: Sequence[str] = ()) -> str:
        """A text, and `closer`. It contains neither that nor the end of a call, and is none of the terminals `but`.

        `body`: a terminal that allows it; "": any text.
        """
        none = [f"(ANY {json.dumps(each)} ANY)" for each in (closer, self.end) if each]
        name = f"TEXT_{len(self.lines)}"
        self.lines.append(f"{name}: ANY & {body or 'ANY'} & ~({' | '.join([*none, *but])})")
        closing = self.marker(closer)
        return f"{name} {closing}" if closing.startswith("<[") else self.rule(f"{name} {closing}", "[lazy]")


class CallGrammar:
    """A call of one tool between the markers, in JSON as most models write it."""

    between = '"\\n"'  # between two calls

    def __init__(self, schema: Schema, rules: Rules) -> None:
        self.schema = schema
        self.rules = rules

    def call(self, name: str) -> str:
        before = f'\n{{"name": {json.dumps(name)}, "arguments": '
        return f"{json.dumps(before)} {self.rules.json(self.schema, self.schema)} {json.dumps('}' + chr(10))}"

    def resolved(self, part: Schema) -> Schema:
        """What a reference means, which other parts are already."""
        for _ in range(_MOST_REFERENCES):
            if "$ref" not in part:
                return part
            if set(part) - _NOTES - {"$ref"}:
                break
            held: Any = self.schema
            root, *names = str(part["$ref"]).split("/")
            for name in names:
                held = held.get(name) if isinstance(held, Mapping) else None
            if root != "#" or not isinstance(held, Mapping):
                break
            part = held
        raise refusal(f"the reference {part.get('$ref')}")


def call_of(name: str, schema: Any, rules: Rules, kind: type[CallGrammar]) -> str:
    """A rule for a call of a tool. Raises InvalidRequest for a name or a schema that cannot be written."""
    before = len(rules.lines)
    try:
        rule = rules.rule(kind(schema, rules).call(name))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise refusal(f"a schema that is none: {error}") from error
    if sum(map(len, rules.lines[before:])) > _MOST_LETTERS:
        raise refusal("a schema that is too long")
    return rule


class MistralGrammar(CallGrammar):
    between = ""

    def call(self, name: str) -> str:
        return f"{json.dumps(name)} {self.rules.marker('[ARGS]')} {self.rules.json(self.schema, self.schema)}"


class Qwen3CoderGrammar(CallGrammar):
    """Texts as they are, on lines between tags; all else in JSON."""

    _closer = "</parameter>"

    def call(self, name: str) -> str:
        anything = self.rules.text(self._closer, but=[r"/(?i:null)\n?/"])
        pairs = in_order(self.schema, self._pair, lambda part: self._value(part, anything), anything)
        return f'"\\n<function={named(name)}>\\n" {pairs} "</function>\\n"'

    def _pair(self, key: str, value: str) -> str:
        return f'"<parameter=" {key} ">\\n" {value} "\\n"'

    def _value(self, part: Schema, anything: str) -> str:
        asked = self.resolved(part)
        nullable = "anyOf" in asked
        if nullable:
            ways = [self.resolved(each) for each in asked["anyOf"]]
            others = [each for each in ways if each.get("type") != "null"]
            asked = others[0] if len(others) == 1 and not set(part) - _NOTES - {"anyOf"} else {"type": "several"}
        kind = asked.get("type")
        typed = asked is part  # else what could be an object or array is read as that, and nothing else but texts
        if kind in ("object", "array") or (typed and kind in ("integer", "number", "boolean", "null")):
            return f'{self.rules.json(part, self.schema)} "\\n{self._closer}"'
        if kind == "string" or (texts_of(asked) is not None and kind is None):
            return self._text(asked, anything, typed and kind == "string", nullable)
        if set(asked) - _NOTES:
            raise refusal(f"values of type {kind}")
        return anything

    def _text(self, part: Schema, anything: str, typed: bool, nullable: bool) -> str:
        if (texts := texts_of(part)) is not None:
            for text in texts:
                if text.lower() == "null" or (not typed and text.lstrip()[:1] in ("[", "{")):
                    raise refusal("a choice that is read as something else")
            texts = [*texts, "null"] if nullable else texts
            return f'({" | ".join(map(json.dumps, texts))}) "\\n{self._closer}"'
        body = body_of(part)
        if typed and not body:
            return anything
        but = [] if nullable else ["/(?i:null)/"]
        but += [] if typed else [r"/\s*[\[{](?s:.*)/"]
        if nullable and body:
            body = f'({body} | "null")'
        return self.rules.text(f"\n{self._closer}", body, [f"(ANY {json.dumps(self._closer)} ANY)", *but])


class Glm47Grammar(CallGrammar):
    """Texts as they are, without the blanks around them; all else in JSON."""

    _closer = "</arg_value>"

    def __init__(self, schema: Schema, rules: Rules) -> None:
        super().__init__(schema, rules)
        self._line = '"\\n"' if re.search(r"</arg_key>(?:\\n|\n)", rules.template) else ""
        self.between = self._line

    def call(self, name: str) -> str:
        anything = self.rules.text(self._closer)
        pairs = in_order(self.schema, self._pair, lambda part: self._value(part, anything), anything)
        return f"{json.dumps(named(name))} {self._line} {pairs}"

    def _pair(self, key: str, value: str) -> str:
        opener, after_key, before_value = map(self.rules.marker, ("<arg_key>", "</arg_key>", "<arg_value>"))
        return f"{opener} {key} {after_key} {self._line} {before_value} {value} {self._line}"

    def _value(self, part: Schema, anything: str) -> str:
        closing = self.rules.marker(self._closer)
        if part.get("type") != "string":
            return f"{self.rules.json(part, self.schema)} {closing}"
        if (texts := texts_of(part)) is not None:
            if any(text != text.strip() for text in texts):
                raise refusal("a choice that is read as something else")
            return f"({' | '.join(map(json.dumps, texts))}) {closing}"
        body = body_of(part)
        return self.rules.text(self._closer, f"{body} & {_TRIMMED}") if body else anything


class Gemma4Grammar(CallGrammar):
    """Texts between marks, and keys without any, in their order."""

    between = ""
    _mark = '<|"|>'

    def __init__(self, schema: Schema, rules: Rules) -> None:
        super().__init__(schema, rules)
        self._referred: dict[str, str] = {}  # rules, by the reference; "": any value
        self._values = 0
        self._quote = rules.marker(self._mark)

    def call(self, name: str) -> str:
        return f'"call:{named(name)}" {self._object(self.schema)}'

    def _value(self, part: Schema) -> str:
        self._values += 1
        if self._values > _MOST_VALUES:
            raise refusal("too many values")
        if "$ref" in part:
            return self._once(str(part["$ref"]), lambda _: self._value(self.resolved(part)))
        if (listed := values_of(part)) is not None:
            return f"({' | '.join(map(self._listed, listed))})"
        if "anyOf" in part:
            check_words(part, {"anyOf"})
            return f"({' | '.join(self._value(as_schema(each)) for each in part['anyOf'])})"
        if isinstance(kinds := part.get("type"), list):
            return f"({' | '.join(self._value({**part, 'type': kind}) for kind in kinds)})"
        return self._of_type(part)

    def _of_type(self, part: Schema) -> str:
        match part.get("type"):
            case "string":
                return self._text(part)
            case "array":
                return self._array(part)
            case "object":
                return self._object(part)
            case "integer" | "number" | "boolean" | "null":
                return self.rules.json(part, self.schema)
        check_words(part, ())
        return self._once("", self._any)

    def _once(self, reference: str, write: Callable[[str], str]) -> str:
        def body(rule: str) -> str:
            self._referred[reference] = rule
            return write(rule)

        return self._referred.get(reference) or self.rules.recursive(body)

    def _any(self, rule: str) -> str:
        simple = self.rules.json({"type": ["number", "boolean", "null"]}, {})
        return f'{self._text({})} | {simple} | "[" ({rule} ("," {rule})*)? "]" | {self._members(rule)}'

    def _members(self, value: str) -> str:
        pair = f'/[A-Za-z0-9_]+/ ":" {value}'
        return f'"{{" ({pair} ("," {pair})*)? "}}"'

    def _text(self, part: Schema) -> str:
        return f"{self._quote} {self.rules.text(self._mark, body_of(part))}"

    def _listed(self, value: Any) -> str:
        if isinstance(value, dict | list):
            raise refusal("a choice of objects or arrays")
        if not isinstance(value, str):
            return json.dumps(json.dumps(value))
        return f"{self._quote} {json.dumps(value)} {self._quote}"

    def _array(self, part: Schema) -> str:
        check_words(part, {"type", "items", "minItems", "maxItems"})
        item = self.rules.rule(self._value(as_schema(part.get("items", True))))
        least = int(part.get("minItems", 0))
        most = part.get("maxItems")
        if most == 0:
            return '"[]"'
        rest = f'("," {item}){{{max(0, least - 1)},{"" if most is None else int(most) - 1}}}'
        return f'"[" {item} {rest} "]"' if least else f'"[" ({item} {rest})? "]"'

    def _object(self, part: Schema) -> str:
        members = members_of(part)
        if members is None:
            more = as_schema(part.get("additionalProperties", True))
            return self._members(self.rules.rule(self._value(more)))
        pairs = []
        for key, each, needed in sorted(members, key=lambda member: member[0].lower()):
            if not re.fullmatch(r"\w+", key):
                raise refusal(f"a key that cannot be written: {key}")
            pairs.append((f'"{key}:" {self._value(each)}', needed))
        return f'"{{" {separated(pairs)} "}}"'


GRAMMARS: Mapping[str, type[CallGrammar]] = MappingProxyType(
    {
        "json_tools": CallGrammar,
        "mistral": MistralGrammar,
        "qwen3_coder": Qwen3CoderGrammar,
        "glm47": Glm47Grammar,
        "gemma4": Gemma4Grammar,
    }
)


def in_order(schema: Schema, pair: Callable[[str, str], str], value: Callable[[Schema], str], anything: str) -> str:
    """The arguments of a call one after another; those that are not required may be left out."""
    members = members_of(schema)
    if members is None:
        return f"({pair(_KEY, anything)})*"
    pairs = ((pair(json.dumps(named(key)), value(part)), needed) for key, part, needed in members)
    return " ".join(f"({each}){'' if needed else '?'}" for each, needed in pairs)


def separated(pairs: Sequence[tuple[str, bool]]) -> str:
    """The same with commas between them."""
    ways = []
    for at, (first, needed) in enumerate(pairs):
        rest = " ".join(f'("," {each}){"" if must else "?"}' for each, must in pairs[at + 1 :])
        ways.append(f"({first} {rest})")
        if needed:
            return f"({' | '.join(ways)})"
    return f"({' | '.join(ways)})?" if ways else ""


def named(name: str) -> str:
    """A name that no parser takes for anything else."""
    if not _NAME.fullmatch(name):
        raise refusal(f"a name that cannot be written: {name}")
    return name


def members_of(schema: Schema) -> list[Member] | None:
    """The arguments of an object; None: any. Those that are not named, though allowed, are not written."""
    check_words(schema, {"type", "properties", "required", "additionalProperties"})
    if schema.get("type", "object") != "object":
        raise refusal(f"arguments of type {schema['type']}")
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    if set(required) - set(properties):
        raise refusal("an argument that is required, but not described")
    if "properties" not in schema and schema.get("additionalProperties") is not False:
        return None
    return [(key, as_schema(part), key in required) for key, part in properties.items()]


def as_schema(part: Any) -> Schema:
    if part is True:
        return {}
    if not isinstance(part, dict):
        raise refusal("a schema that is no object")
    return part


def check_words(schema: Schema, known: Collection[str]) -> None:
    if unknown := sorted(set(schema) - _NOTES - set(known)):
        raise refusal(f"{unknown[0]!r} of a schema")


def values_of(part: Schema) -> list[Any] | None:
    """The choices of a schema that lists them."""
    if "enum" not in part and "const" not in part:
        return None
    check_words(part, {"enum", "const", "type"})
    listed: list[Any] = part["enum"] if "enum" in part else [part["const"]]
    kinds = {"string": str, "integer": int, "number": int | float, "boolean": bool, "null": type(None)}
    kind = kinds.get(str(part.get("type")), object)
    return [each for each in listed if isinstance(each, kind) and not (isinstance(each, bool) and kind is int)]


def texts_of(part: Schema) -> list[str] | None:
    """The same where all are texts."""
    listed = values_of(part)
    if listed is not None and not all(isinstance(each, str) for each in listed):
        raise refusal("a choice of other values than texts")
    return listed


def body_of(part: Schema) -> str:
    """A terminal for what a schema says of a text; "": nothing."""
    check_words(part, {"type", "minLength", "maxLength", "pattern"})
    parts = []
    if "minLength" in part or "maxLength" in part:
        parts.append(f"/(?s:.{{{int(part.get('minLength', 0))},{part.get('maxLength', '')}}})/")
    if "pattern" in part:
        found = _WHOLE.fullmatch(str(part["pattern"]))
        if found is None or f"\\{_ESCAPED}" in found[1]:
            raise refusal(f"a pattern that is not of the whole text: {part['pattern']}")
        parts.append(f"/{found[1].replace(_ESCAPED, '/').replace('/', _SLASH)}/")
    return " & ".join(parts)
