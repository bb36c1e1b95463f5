"""Reads a request's fields: sampling, limits, drafting, schemas, by each dialect's names."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any, TypeVar

from engine.api.types import (
    MAX_DRAFT_TOKENS,
    SAMPLING_LIMITS,
    Constraint,
    ConstraintKind,
    EngineState,
    Limits,
    ModelInfo,
    Request,
    Sampling,
    Speculation,
)
from engine.server.contents import text_of
from engine.server.fields import Fields
from engine.server.problems import draft_not_loaded, invalid, unsupported

_Number = TypeVar("_Number", int, float)
_MOST_CHOICES = 8
_MOST_STOPS = 16
_THINKING = {"enabled": True, "adaptive": True, "disabled": False}
# What templates know of what clients say; "": no thinking.
_EFFORTS = {
    **dict.fromkeys(("none", "minimal"), ""),
    **{effort: effort for effort in ("low", "medium", "high")},
    **dict.fromkeys(("xhigh", "max", "ultra"), "high"),
}
_OTHER_NAMES = {"repetition_penalty": ("repeat_penalty",)}  # as llama.cpp, LM Studio and Ollama have it
ANY_OBJECT = {"type": "object"}
_OUR_VARIABLES = ("messages", "tools", "add_generation_prompt", "enable_thinking", "documents")


def sampling_of(fields: Fields, defaults: Sampling) -> Sampling:
    """Values out of range are refused by name, as the engine would."""
    given: dict[str, Any] = {}
    for name, limits in SAMPLING_LIMITS.items():
        names = (name, *_OTHER_NAMES.get(name, ()))
        value = fields.integer(*names) if limits.whole else fields.number(*names)
        if name == "top_k" and value == -1:
            value = 0
        if value is None or (name == "seed" and value == -1):
            continue
        if name == "seed":
            value = int(value) % (1 << 64)  # some clients send negative ones
        if limits.or_zero and 0 < value < limits.low:
            value = 0
        given[name] = within(limits, fields.given(names), value)
    return replace(defaults, **given, logit_bias=_logit_bias(fields))


def _logit_bias(fields: Fields) -> tuple[tuple[int, float], ...]:
    pairs = []
    for token, bias in fields.raw("logit_bias").items():
        if not token.isdecimal() or len(token) > 9 or isinstance(bias, bool) or not isinstance(bias, int | float):
            raise fields.wrong("logit_bias", "an object of token ids and numbers")
        pairs.append((int(token), float(within(Limits(-100, 100), "logit_bias", bias))))
    return tuple(pairs)


def within(limits: Limits, name: str, value: _Number) -> _Number:
    """The value. Raises Problem."""
    if not limits.allow(value):
        raise invalid(f"'{name}' is {value}; allowed: {limits}.", name)
    return value


def stops_of(fields: Fields, name: str = "stop") -> tuple[str, ...]:
    value = fields.any(name)
    stops = [value] if isinstance(value, str) else fields.items(name)
    if not all(isinstance(stop, str) for stop in stops) or len(stops) > _MOST_STOPS:
        raise fields.wrong(name, f"a string or an array of at most {_MOST_STOPS} strings")
    return tuple(stop for stop in stops if stop)


def most_tokens_of(fields: Fields, *names: str) -> int | None:
    """None: as many as the context has room for, which -1 says too."""
    most = fields.integer(*names)
    return None if most in (None, -1) else within(Limits(1), names[0], most)


def speculation_of(fields: Fields, state: EngineState) -> Speculation:
    """By `speculation` ("off", "auto" or a number), `num_draft_tokens`, and `draft_model` (null: none)."""
    length = fields.any("speculation")
    tokens = fields.integer("num_draft_tokens")
    if fields.has("draft_model"):
        name = fields.text("draft_model")
        if name is None:
            return Speculation.off()
        if state.draft is None or name not in names_of(state.draft.name):
            raise draft_not_loaded(name)
    if length is None:
        length = "auto" if tokens is None else tokens
    if length in ("off", "auto"):
        return Speculation.off() if length == "off" else Speculation.auto()
    if isinstance(length, bool) or not isinstance(length, int) or not 0 <= length <= MAX_DRAFT_TOKENS:
        raise fields.wrong("speculation", f'"off", "auto" or a number from 0 to {MAX_DRAFT_TOKENS}')
    return Speculation.fixed(length) if length else Speculation.off()


def ttl_of(fields: Fields) -> float | None:
    """Seconds that a model loaded for this request stays; LM Studio's name."""
    seconds = fields.number("ttl")
    return None if seconds is None else or_ever(seconds)


def or_ever(seconds: float) -> float:
    return inf if seconds < 0 else float(seconds)


def identifier(name: str) -> str:
    """A model's name as clients give it: without spaces."""
    return "-".join(name.split())


def quantization_of(info: ModelInfo) -> str:
    return info.quantization or (f"{info.bits:g}bit" if info.bits else "")


def names_of(name: str) -> set[str]:
    return {name, identifier(name), f"{identifier(name)}:latest"}


def several(request: Request, count: int) -> list[Request]:
    """`count` requests that differ in their seeds; the first has the one that was asked for."""
    seed = request.sampling.seed
    first = secrets.randbits(53) if seed is None and count > 1 else seed
    if first is None:
        return [request]
    seeds = [(first + at) % (1 << 64) for at in range(count)]
    return [replace(request, sampling=replace(request.sampling, seed=seed)) for seed in seeds]


def thinking_of(
    fields: Fields, effort: str | None, at: str, otherwise: bool | None = None, budget: str = "thinking_token_budget"
) -> dict[str, Any]:
    """Whether to think and how much, and what a client gives the template by name: fields of a Request.

    `effort`: how much, from the dialect's field `at`; `budget`: its field for a number of tokens. `otherwise`: the
    default without `enable_thinking` and `thinking`; None: by effort, or without that by a budget.
    """
    if effort is not None and effort not in _EFFORTS:
        raise fields.wrong(at, f"one of {', '.join(_EFFORTS)}")
    tokens = _budget_of(fields, budget)
    if otherwise is None:
        otherwise = bool(tokens if effort is None else _EFFORTS[effort])
    thinks = otherwise
    if (thinking := fields.object("thinking")) is not None:
        thinks = thinking.one_of("type", _THINKING)
        tokens = _budget_of(thinking, "budget_tokens") if tokens is None else tokens
    variables = Fields(fields.raw("chat_template_kwargs"), "chat_template_kwargs.")
    thinks = variables.flag("enable_thinking", thinks)
    given = {name: value for name, value in variables.values.items() if name not in _OUR_VARIABLES}
    if effort is not None and _EFFORTS[effort]:
        given.setdefault("reasoning_effort", _EFFORTS[effort])
    return {"thinking": thinks, "thinking_tokens": tokens if thinks else None, "template_variables": given}


def check_limits(requests: Sequence[Request], state: EngineState) -> None:
    """Raise Problem for a limit of thinking that the loaded model cannot be held to."""
    main = state.main
    if main is not None and main.about.thinking and not main.ends_thinking:
        limit = next((each.thinking_tokens for each in requests if each.thinking_tokens is not None), None)
        if limit is not None:
            raise unsupported("thinking budget", " for this model: how its thinking ends is not known")


def _budget_of(fields: Fields, name: str) -> int | None:
    tokens = fields.integer(name)
    if tokens is None or tokens == -1:
        return None
    if tokens < 0:
        raise fields.wrong(name, "a number of tokens, 0 or more")
    return tokens


def prediction_of(fields: Fields) -> dict[str, Any]:
    """Predicted outputs: what of them is accepted is counted from the rounds."""
    prediction = fields.object("prediction")
    if prediction is None:
        return {}
    if prediction.text("type") != "content":
        raise prediction.wrong("type", '"content"')
    return {"prediction": text_of(prediction), "trace": True}


def choices_of(fields: Fields, name: str = "n") -> int:
    count = fields.integer(name)
    return 1 if count is None else within(Limits(1, _MOST_CHOICES), name, count)


def constraint_of(form: Fields | None, param: str) -> Constraint | None:
    """Of OpenAI's `response_format` and `text.format`, and Anthropic's `output_config.format`."""
    if form is None:
        return None
    match form.text("type"):
        case None | "text":
            return None
        case "json_object":
            return json_constraint(form.raw("schema") or ANY_OBJECT)  # llama.cpp's clients may have one here
        case "json_schema":
            within = form.object("json_schema") or form
            if not within.has("schema"):
                raise within.wrong("schema", "a JSON schema")
            return json_constraint(within.raw("schema"))
        case kind:
            raise unsupported(param, f" as '{kind}'")


def json_constraint(schema: dict[str, Any]) -> Constraint:
    return Constraint(ConstraintKind.JSON, json.dumps(schema, ensure_ascii=False))
