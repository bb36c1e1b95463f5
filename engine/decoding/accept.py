"""How much of a draft stands. Pure: arrays and token lists in, tokens out; no state, no model, no clock.

Both rules put the main model's verdict into one row of tokens, `chosen`: what it says after the first i drafted ones.
A drafted token stands while the verdict repeats it, and the first verdict that differs is the round's last token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mlx.core as mx

NO_TOKENS = mx.array([], dtype=mx.uint32)
SURE = mx.array(1.0)


@dataclass(frozen=True, slots=True)
class Draft:
    """Proposed tokens (n,), and the law (n, vocabulary) that each was drawn from, as log-probabilities, if it was.

    `sure` is the probability that the drawer gave to the last of them, `rivals` what it would have been at other levels
    of sharpness (`confidence.py`).
    """

    tokens: mx.array = NO_TOKENS
    law: mx.array | None = None
    sure: mx.array = SURE
    rivals: mx.array = NO_TOKENS


NOTHING = Draft()


def standing(drafted: Sequence[int], chosen: Sequence[int]) -> list[int]:
    """The tokens to emit: verdicts up to and including the first that the draft did not foresee."""
    emitted = []
    for position, token in enumerate(chosen):
        emitted.append(token)
        if position < len(drafted) and drafted[position] != token:
            break
    return emitted


def coupled(law: mx.array, noise: mx.array) -> mx.array:
    """The main model's own draws (rows,), by the noise of their positions: whatever was drafted, plain decoding's.

    A draft drawn with the same noise agrees often. Greedy decoding is the case without noise.
    """
    return mx.argmax(law + noise, axis=-1)


def rejection(law: mx.array, draft: Draft, coins: mx.array, noise: mx.array) -> mx.array:
    """Speculative sampling: a drafted token x stands with probability min(1, p(x) / q(x)).

    `law` (n + 1, vocabulary) is p, `coins` (n,) are uniform, `noise` (n + 1, vocabulary) is independent of the draft's.
    Emits tokens distributed as p, but which ones depends on the draft. Without a law it was no draw: q(x) = 1.
    """
    drafted = draft.tokens[:, None]
    p = mx.exp(law[:-1])
    q = mx.exp(draft.law) if draft.law is not None else (drafted == mx.arange(law.shape[-1])).astype(p.dtype)
    p_drafted = mx.take_along_axis(p, drafted, axis=-1)[:, 0]
    q_drafted = mx.take_along_axis(q, drafted, axis=-1)[:, 0]
    # Never equal to the drafted token where that was rejected: there p < q, so nothing of it is left.
    left = mx.concatenate([mx.log(mx.maximum(p - q, 0)), law[-1:]])
    redrawn = mx.argmax(left + noise, axis=-1)
    stands = coins * q_drafted < p_drafted
    return mx.concatenate([mx.where(stands, draft.tokens, redrawn[:-1]), redrawn[-1:]])
