"""How many drafted tokens are accepted. Pure: arrays and token lists in, tokens out; no state, no model, no clock.

Both rules return one row of verdicts: the main model's token after the last committed token and after each drafted one.
A drafted token is accepted if the verdict before it equals it and all tokens before it were accepted. The first verdict
that differs from the draft is the round's last token.
"""

from __future__ import annotations

from dataclasses import dataclass

import mlx.core as mx

NO_TOKENS = mx.array([], dtype=mx.uint32)
NO_TOKEN = 2**32 - 1  # where no token could be drawn
_NEARLY_NOTHING = 2.0**-40


@dataclass(frozen=True, slots=True)
class Draft:
    """Proposed tokens (n,) with the proposer's probabilities; the arrays may be unevaluated.

    `logprobs` (n, vocabulary): the distribution that each token was drawn from; None if it was not drawn.
    `probabilities` (n,): q(token) of each. `guesses` (n, levels): the token that each level of sharpness would have
    drawn.
    """

    tokens: mx.array = NO_TOKENS
    logprobs: mx.array | None = None
    probabilities: mx.array | None = None
    guesses: mx.array | None = None

    @property
    def host_arrays(self) -> tuple[mx.array | None, ...]:
        return self.tokens, self.probabilities, self.guesses


NO_DRAFT = Draft()


def integers(tokens: mx.array) -> list[int]:
    """The values as Python integers; waits until the device has computed them."""
    return tokens.tolist()  # type: ignore[return-value]


def likeliest(values: mx.array) -> mx.array:
    """argmax of each row (rows,), the first of equal ones; NO_TOKEN where the row holds NaN or only -inf.

    Of log-probabilities plus noise that is keyed by position: the tokens that plain decoding would draw, whatever was
    drafted. A draft drawn with the same noise often agrees. Greedy decoding has no noise.
    """
    tokens = mx.argmax(values, axis=-1)
    best = mx.take_along_axis(values, tokens[:, None], axis=-1)[:, 0]
    return mx.where(best > -mx.inf, tokens, mx.array(NO_TOKEN, dtype=mx.uint32))


def rejection(logprobs: mx.array, draft: Draft, uniforms: mx.array, noise: mx.array) -> mx.array:
    """Speculative sampling: a drafted token x is accepted with probability min(1, p(x) / q(x)).

    `logprobs` (n + 1, vocabulary) are log p; `uniforms` (n,) are uniform; `noise` (n + 1, vocabulary) is independent of
    the draft's. The tokens returned are distributed as p, but which ones depends on the draft. Without `draft.logprobs`
    the draft was not drawn: q(x) = 1.
    """
    drafted = draft.tokens[:, None]
    p = mx.exp(logprobs[:-1])
    q = mx.exp(draft.logprobs) if draft.logprobs is not None else (drafted == mx.arange(p.shape[-1])).astype(p.dtype)
    p_drafted = mx.take_along_axis(p, drafted, axis=-1)[:, 0]
    q_drafted = mx.take_along_axis(q, drafted, axis=-1)[:, 0]
    # The residual distribution max(p - q, 0). A rejected token has p < q, so it is hardly ever drawn again. Where p
    # equals q but for rounding, the residual is p scaled down.
    left = mx.concatenate([mx.log(mx.maximum(p - q, _NEARLY_NOTHING * p)), logprobs[-1:]])
    redrawn = likeliest(left + noise)
    accepted = uniforms * q_drafted < p_drafted
    return mx.concatenate([mx.where(accepted, draft.tokens, redrawn[:-1]), redrawn[-1:]])
