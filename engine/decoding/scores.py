"""Log-probabilities of tokens: the model's own, before bias, penalties, masks, filters and temperature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mlx.core as mx

_ROWS = 64  # rows of a prompt scored at a time, to bound memory: they are in float32


@dataclass(frozen=True, slots=True)
class Score:
    token: int
    logprob: float
    likeliest: tuple[tuple[int, float], ...]  # the most likely tokens at its position, in descending order


class Scores:
    """Log-probabilities of one reply's tokens: noted with each draw, final once the tokens are committed."""

    def __init__(self, most: int, position: int) -> None:
        """`most`: likeliest tokens to keep at each position; `position`: of the first token to be committed."""
        self._most = most
        self._position = position
        self._noted: dict[int, tuple[mx.array, ...]] = {}  # by the position of their first row
        self._committed: list[Score] = []

    def note(self, logits: mx.array, position: int, drawn: mx.array) -> None:
        """`logits` (rows, vocabulary), from which `drawn` (rows,) came; the first row's token is at `position`."""
        self._noted[position] = (drawn, *self._measured(logits, drawn))

    def commit(self, tokens: Sequence[int]) -> None:
        """`tokens`, drawn from the first noted rows, are now part of the text."""
        noted = self._noted.pop(self._position)
        self._position += len(tokens)
        self._committed += _as_scores(*noted)[: len(tokens)]

    def take(self) -> list[Score]:
        """The scores committed since the last call."""
        committed = self._committed
        self._committed = []
        return committed

    def of_prompt(self, logits: mx.array, following: Sequence[int]) -> list[Score]:
        """Scores of the prompt's tokens after the first fed one; waits for the device."""
        scores: list[Score] = []
        for begin in range(0, len(following), _ROWS):
            tokens = mx.array(list(following[begin : begin + _ROWS]), dtype=mx.uint32)
            scores += _as_scores(tokens, *self._measured(logits[begin : begin + tokens.size], tokens))
        return scores

    def _measured(self, logits: mx.array, tokens: mx.array) -> tuple[mx.array, mx.array, mx.array]:
        logprobs = logits.astype(mx.float32)
        logprobs = logprobs - mx.logsumexp(logprobs, axis=-1, keepdims=True)
        within = mx.minimum(tokens, logits.shape[-1] - 1)[:, None]  # NO_TOKEN is never committed
        most = min(self._most, logits.shape[-1])
        likeliest = mx.argpartition(-logprobs, kth=max(most, 1) - 1, axis=-1)[:, :most]
        return (
            mx.take_along_axis(logprobs, within, axis=-1)[:, 0],
            likeliest,
            mx.take_along_axis(logprobs, likeliest, axis=-1),
        )


def _as_scores(tokens: mx.array, logprobs: mx.array, likeliest: mx.array, theirs: mx.array) -> list[Score]:
    mx.eval(tokens, logprobs, likeliest, theirs)
    rows: Any = zip(*(array.tolist() for array in (tokens, logprobs, likeliest, theirs)), strict=True)
    return [
        Score(token, logprob, tuple(sorted(zip(ids, values, strict=True), key=lambda pair: (-pair[1], pair[0]))))
        for token, logprob, ids, values in rows
    ]
