"""Log-probabilities in OpenAI's two forms: of a chat's answer, and of a completion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.api.types import MOST_LOGPROBS, TokenScore
from engine.server.fields import Fields
from engine.server.problems import invalid

_MOST_OF_COMPLETIONS = 5
_LEAST = -9999.0  # OpenAI's; -inf, of a token that a model cannot say, is no JSON


def chat_logprobs_of(fields: Fields) -> int | None:
    """How many tokens of each place are wanted; None: none, not even the one that was drawn."""
    most = fields.integer("top_logprobs")
    if not fields.flag("logprobs"):
        if most is not None:
            raise invalid("'top_logprobs' needs 'logprobs'.", "top_logprobs")
        return None
    return _checked("top_logprobs", most or 0, MOST_LOGPROBS)


def completion_logprobs_of(fields: Fields) -> int | None:
    most = fields.integer("logprobs")
    return None if most is None else _checked("logprobs", most, _MOST_OF_COMPLETIONS)


def _checked(name: str, most: int, limit: int) -> int:
    if not 0 <= most <= limit:
        raise invalid(f"'{name}' is {most}; allowed: 0..{limit}.", name)
    return most


def chat_logprobs(scores: Sequence[TokenScore]) -> dict[str, Any]:
    """Of the tokens that have a text: the end of a reply has none."""
    content = [
        _entry(score) | {"top_logprobs": [_entry(each) for each in score.likeliest]} for score in scores if score.text
    ]
    return {"content": content, "refusal": None}


def _entry(score: TokenScore) -> dict[str, Any]:
    return {"token": shown(score), "logprob": _number(score), "bytes": list(score.text)}


def completion_logprobs(scores: Sequence[TokenScore], offset: int, most: int) -> dict[str, Any]:
    """`offset`: of the first token's text, in characters. The drawn token is among the likeliest in any case."""
    offsets = []
    for score in scores:
        offsets.append(max(0, offset))
        offset += characters(score)
    return {
        "tokens": [shown(score) for score in scores],
        "token_logprobs": [_number(score) for score in scores],
        "top_logprobs": [_by_text(score) for score in scores] if most else None,
        "text_offset": offsets,
    }


def _by_text(score: TokenScore) -> dict[str, float | None] | None:
    if score.logprob is None:
        return None
    likeliest = {shown(each): _number(each) for each in reversed(score.likeliest)}  # of one text the likelier counts
    return {shown(score): _number(score)} | likeliest


def _number(score: TokenScore) -> float | None:
    return None if score.logprob is None else max(score.logprob, _LEAST)


def characters(score: TokenScore) -> int:
    """That begin in it: of a character in several tokens the first one has it."""
    return sum(byte & 0xC0 != 0x80 for byte in score.text)


def shown(score: TokenScore) -> str:
    """A part of a character as no text could be: its bytes."""
    return score.text.decode(errors="backslashreplace")
