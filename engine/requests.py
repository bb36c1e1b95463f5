"""What a request may ask for. Values only; whether a model can serve it is another question."""

from __future__ import annotations

import math
from collections.abc import Callable

from engine.errors import EmptyConversation, InvalidRequest
from engine.types import MAX_DRAFT_TOKENS, MAX_SEED, Request


def check_request(request: Request) -> None:
    """Raise InvalidRequest for the first field out of range, EmptyConversation when there is nothing to answer."""
    sampling = request.sampling
    _check("temperature", sampling.temperature, "0..10", lambda value: 0 <= value <= 10)
    _check("top_p", sampling.top_p, "0..1", lambda value: 0 <= value <= 1)
    _check("top_k", sampling.top_k, "0..", lambda value: value >= 0)
    _check("min_p", sampling.min_p, "0..1", lambda value: 0 <= value <= 1)
    _check("repetition_penalty", sampling.repetition_penalty, "0<..10", lambda value: 0 < value <= 10)
    if sampling.seed is not None:
        _check("seed", sampling.seed, f"0..{MAX_SEED}", lambda value: 0 <= value <= MAX_SEED)
    if request.max_tokens is not None:
        _check("max_tokens", request.max_tokens, "1..", lambda value: value >= 1)
    _check("speculation", request.speculation.tokens, f"1..{MAX_DRAFT_TOKENS}", lambda n: 1 <= n <= MAX_DRAFT_TOKENS)
    if request.messages and request.tokens:
        raise InvalidRequest("tokens", str(len(request.tokens)), "messages | tokens")
    if not request.messages and not request.tokens:
        raise EmptyConversation


def _check(field: str, value: float, allowed: str, holds: Callable[[float], bool]) -> None:
    if not math.isfinite(value) or not holds(value):
        raise InvalidRequest(field, str(value), allowed)
