"""Checks of a request: types and values only, without a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from engine.api.errors import EmptyConversation, InvalidRequest
from engine.api.types import (
    KV_BITS,
    LARGEST_PICTURE_SIDE,
    MAX_DRAFT_TOKENS,
    MOST_LOGPROBS,
    SAMPLING_LIMITS,
    Acceptance,
    Constraint,
    ConstraintKind,
    Effort,
    Message,
    MessageRole,
    Picture,
    PictureDetail,
    Request,
    Sampling,
    Speculation,
    SpeculationMode,
    ToolCall,
    Truncation,
)

# Types of fields, and the lower limits of those that may be None.
_TYPES: Mapping[str, type] = MappingProxyType(
    {
        **dict.fromkeys(("thinking", "trace", "transient", "background", "guest"), bool),
        **dict.fromkeys(("may_call", "several_calls", "prompt_logprobs"), bool),
        **dict.fromkeys(("model", "conversation", "owner", "prediction"), str),
        "sampling": Sampling,
        "picture_detail": PictureDetail,
        "effort": Effort,
        "truncation": Truncation,
    }
)
_LEAST: Mapping[str, int] = MappingProxyType(
    {"max_tokens": 1, "context_tokens": 1, "thinking_tokens": 0, "shared_characters": 0}
)
_LARGEST_SHOWN = 10**40
_DEEPEST = 100
LARGEST_CONSTRAINT = 1 << 17  # characters


def check_request(request: Request) -> None:
    """Raise InvalidRequest for the first field of a wrong type or out of range, EmptyConversation without a prompt.

    Types of numbers must match exactly: True is not a seed, and a subclass may do anything.
    """
    _check_type("request", request, Request)
    for name, kind in _TYPES.items():
        _check_type(name, getattr(request, name), kind)
    if request.logprobs is not None:
        _check_integer("logprobs", request.logprobs, f"0..{MOST_LOGPROBS}", lambda most: 0 <= most <= MOST_LOGPROBS)
    elif request.prompt_logprobs:
        raise InvalidRequest("prompt_logprobs", "True", "with logprobs")
    if request.kv_bits is not None:
        _check_integer("kv_bits", request.kv_bits, " | ".join(map(str, KV_BITS)), KV_BITS.__contains__)
    _check_sampling(request.sampling)
    _check_logit_bias(request.sampling.logit_bias)
    check_speculation(request.speculation)
    _check_messages(request.messages)
    _check_kept(request)
    _check_all("tools", request.tools, dict)
    _check_json("tools", list(request.tools))
    _check_json("template_variables", request.template_variables)
    _check_constraint(request)
    _check_token_ids("tokens", request.tokens)
    check_text("text", request.text)
    _check_characters("prediction", request.prediction)
    _check_all("stop", request.stop, str)
    for name, least in _LEAST.items():
        if (value := getattr(request, name)) is not None:
            _check_integer(name, value, f"{least}..", least.__le__)
    given = [name for name in ("messages", "tokens", "text") if getattr(request, name)]
    if len(given) > 1:
        raise InvalidRequest(given[1], str(len(getattr(request, given[1]))), "messages | tokens | text")
    if not given:
        raise EmptyConversation


def speculating(request: Request, speculation: Speculation) -> Request:
    """The request with another speculation. How drafts are accepted is unchanged, because the text can depend on it."""
    return replace(request, speculation=replace(speculation, acceptance=request.speculation.acceptance))


def context_limit(request: Request, context_tokens: int) -> int:
    """The model's context, or less if the request has a lower limit, in tokens."""
    return min(context_tokens, request.context_tokens or context_tokens)


def check_text(field: str, text: str) -> None:
    """Raise InvalidRequest if `text` is not a valid text."""
    _check_type(field, text, str)
    _check_characters(field, text)


def check_tokens(field: str, tokens: Sequence[int], vocabulary: int) -> None:
    """Raise InvalidRequest for a token outside the vocabulary: the device would read out of bounds."""
    wrong = next((token for token in tokens if not 0 <= token < vocabulary), None)
    if wrong is not None:
        raise InvalidRequest(field, str(wrong), f"0..{vocabulary - 1}")


def _check_sampling(sampling: Sampling) -> None:
    for name, limits in SAMPLING_LIMITS.items():
        value = getattr(sampling, name)
        if value is None and name == "seed":
            continue
        (_check_integer if limits.whole else _check_number)(name, value, str(limits), limits.allow)


def _check_logit_bias(pairs: tuple[tuple[int, float], ...]) -> None:
    _check_all("logit_bias", pairs, tuple)
    for pair in pairs:
        if len(pair) != 2:
            raise InvalidRequest("logit_bias", f"{len(pair)} values", "(token, bias)")
        _check_number("logit_bias", pair[1], "-100..100", lambda value: abs(value) <= 100)
    _check_token_ids("logit_bias", tuple(token for token, _ in pairs))


def check_speculation(speculation: Speculation) -> None:
    """Raise InvalidRequest for a wrong type or a draft of no possible length."""
    _check_type("speculation", speculation, Speculation)
    _check_type("speculation", speculation.mode, SpeculationMode)
    _check_type("speculation", speculation.acceptance, Acceptance)
    _check_type("speculation", speculation.guarded, bool)
    _check_type("speculation", speculation.insists, bool)
    _check_integer("speculation", speculation.tokens, f"1..{MAX_DRAFT_TOKENS}", lambda n: 1 <= n <= MAX_DRAFT_TOKENS)


def _check_messages(messages: tuple[Message, ...]) -> None:
    _check_all("messages", messages, Message)
    for message in messages:
        _check_type("messages", message.role, MessageRole)
        for text in (message.content, message.reasoning, message.tool_call_id, message.name):
            check_text("messages", text)
        _check_all("pictures", message.pictures, Picture)
        if message.pictures and message.role not in (MessageRole.USER, MessageRole.TOOL):
            raise InvalidRequest("pictures", message.role.value, "user | tool")
        for picture in message.pictures:
            _check_picture(picture)
        _check_all("messages", message.tool_calls, ToolCall)
        for call in message.tool_calls:
            for text in (call.id, call.name, call.arguments):
                check_text("messages", text)


def _check_kept(request: Request) -> None:
    _check_type("kept", request.kept, tuple)
    last = len(request.messages) - 1
    for at in request.kept:
        _check_integer("kept", at, f"0..{last}", lambda value: 0 <= value <= last)


def _check_picture(picture: Picture) -> None:
    for side in (picture.width, picture.height):
        _check_integer("pictures", side, f"1..{LARGEST_PICTURE_SIDE}", lambda side: 1 <= side <= LARGEST_PICTURE_SIDE)
    _check_type("pictures", picture.rgb, bytes)
    _check_type("pictures", picture.digest, str)
    _check_type("pictures", picture.detail or PictureDetail.NORMAL, PictureDetail)
    if len(picture.rgb) != 3 * picture.width * picture.height or not picture.digest:
        raise InvalidRequest("pictures", f"{len(picture.rgb)} bytes", "3 * width * height, and a digest")


def _check_constraint(request: Request) -> None:
    _check_all("must_call", request.must_call, str)
    _check_all("strict_tools", request.strict_tools, str)
    if request.must_call and not request.may_call:
        raise InvalidRequest("may_call", "False", "without must_call")
    constraint = request.constraint
    if constraint is None:
        return
    _check_type("constraint", constraint, Constraint)
    _check_type("constraint", constraint.kind, ConstraintKind)
    check_text("constraint", constraint.text)
    if not 0 < len(constraint.text) <= LARGEST_CONSTRAINT:
        raise InvalidRequest("constraint", f"{len(constraint.text)} characters", f"1..{LARGEST_CONSTRAINT}")
    if request.must_call:
        raise InvalidRequest("constraint", "with a call", "constraint | must_call")


def _check_json(field: str, value: object) -> None:
    """Raise InvalidRequest for anything but plain JSON values, which templates get."""
    level = [value]
    for _ in range(_DEEPEST):
        for each in level:
            if isinstance(each, str):
                _check_characters(field, each)
            elif not (each is None or type(each) in (bool, int, float, dict, list)):
                raise InvalidRequest(field, type(each).__name__, "JSON")
        level = [
            part
            for each in level
            if isinstance(each, dict | list)
            for part in ([*each, *each.values()] if isinstance(each, dict) else each)
        ]
        if not level:
            return
    raise InvalidRequest(field, f"more than {_DEEPEST} levels", "JSON")


def _check_characters(field: str, text: str) -> None:
    """Raise InvalidRequest for half a surrogate pair, which no tokenizer accepts."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidRequest(field, ascii(text[error.start]), "Unicode") from error


def _check_token_ids(field: str, tokens: tuple[int, ...]) -> None:
    _check_type(field, tokens, tuple)
    for token in tokens:
        _check_integer(field, token, "0..", lambda value: value >= 0)


def _check_all(field: str, values: tuple[object, ...], kind: type) -> None:
    _check_type(field, values, tuple)
    for value in values:
        _check_type(field, value, kind)


def _check_type(field: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise InvalidRequest(field, type(value).__name__, kind.__name__)


def _check_integer(field: str, value: int, allowed: str, holds: Callable[[int], bool]) -> None:
    if type(value) is not int or not holds(value):
        raise InvalidRequest(field, _shown(value), allowed)


def _check_number(field: str, value: float, allowed: str, holds: Callable[[float], bool]) -> None:
    """`holds` must be false for NaN and infinity."""
    if type(value) not in (int, float) or not holds(value):
        raise InvalidRequest(field, _shown(value), allowed)


def _shown(value: object) -> str:
    """A number as text; of anything else, and of very long numbers, the type."""
    short = type(value) is float or (type(value) is int and abs(value) <= _LARGEST_SHOWN)
    return str(value) if short else type(value).__name__
