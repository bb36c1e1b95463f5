"""What a request may ask for. Values only; whether a model can serve it is another question."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from engine.api.errors import EmptyConversation, InvalidRequest
from engine.api.types import MAX_DRAFT_TOKENS, MAX_SEED, Request


def check_request(request: Request) -> None:
    """Raise InvalidRequest for the first field out of range, EmptyConversation when there is nothing to answer."""
    sampling = request.sampling
    _check("temperature", sampling.temperature, "0..10", lambda value: 0 <= value <= 10)
    _check("top_p", sampling.top_p, "0..1", lambda value: 0 <= value <= 1)
    _check("top_k", sampling.top_k, "0..", lambda value: value >= 0)
    _check("min_p", sampling.min_p, "0..1", lambda value: 0 <= value <= 1)
    _check("repetition_penalty", sampling.repetition_penalty, "0<..10", lambda value: 0 < value <= 10)
    _check("presence_penalty", sampling.presence_penalty, "-10..10", lambda value: abs(value) <= 10)
    _check("frequency_penalty", sampling.frequency_penalty, "-10..10", lambda value: abs(value) <= 10)
    _check("xtc_probability", sampling.xtc_probability, "0..1", lambda value: 0 <= value <= 1)
    _check("xtc_threshold", sampling.xtc_threshold, "0..0.5", lambda value: 0 <= value <= 0.5)
    for token, added in sampling.logit_bias:
        _check("logit_bias", token, "0..", lambda value: value >= 0)
        _check("logit_bias", added, "-100..100", lambda value: abs(value) <= 100)
    if sampling.seed is not None:
        _check("seed", sampling.seed, f"0..{MAX_SEED}", lambda value: 0 <= value <= MAX_SEED)
    if request.max_tokens is not None:
        _check("max_tokens", request.max_tokens, "1..", lambda value: value >= 1)
    _check("speculation", request.speculation.tokens, f"1..{MAX_DRAFT_TOKENS}", lambda n: 1 <= n <= MAX_DRAFT_TOKENS)
    if request.messages and request.tokens:
        raise InvalidRequest("tokens", str(len(request.tokens)), "messages | tokens")
    if not request.messages and not request.tokens:
        raise EmptyConversation


def check_tokens(field: str, tokens: Sequence[int], vocabulary: int) -> None:
    """Raise InvalidRequest for a token that the model does not have: the device would read beyond its table."""
    highest = max(tokens, default=0)
    if highest >= vocabulary:
        raise InvalidRequest(field, str(highest), f"0..{vocabulary - 1}")


def _check(field: str, value: float, allowed: str, holds: Callable[[float], bool]) -> None:
    if not math.isfinite(value) or not holds(value):
        raise InvalidRequest(field, str(value), allowed)
