"""How many drafted tokens are accepted. Pure: arrays and token lists in, tokens out; no state, no model, no clock.

Both rules put the main model's verdict into one row of tokens: what it says after the last committed token and after
each drafted one. A drafted token is accepted while the verdict before it repeats it, and the first verdict that differs
is the round's last token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mlx.core as mx

NO_TOKENS = mx.array([], dtype=mx.uint32)
NO_TOKEN = 2**32 - 1  # in place of a token where none could be drawn
ROOT = -1  # parent of the drafted tokens that follow the last committed one


@dataclass(frozen=True, slots=True)
class Draft:
    """Proposed tokens (n,), and what their drawer knows of them; nothing of it need be evaluated.

    `logprobs` (n, vocabulary) is the distribution that each was drawn from, if it was; `probabilities` (n,) what it
    gave to each; `guesses` (n, levels) what it would have drawn at each level of sharpness. `parents` are the indices
    of the tokens that each follows, all smaller than its own; ROOT is the last committed token. None: a chain.
    """

    tokens: mx.array = NO_TOKENS
    logprobs: mx.array | None = None
    probabilities: mx.array | None = None
    guesses: mx.array | None = None
    parents: tuple[int, ...] | None = None

    @property
    def told(self) -> tuple[mx.array | None, ...]:
        """What is read of it on the host."""
        return self.tokens, self.probabilities, self.guesses

    @property
    def parent_indices(self) -> Sequence[int]:
        """The parent of each token, also where the draft is a chain."""
        return range(ROOT, self.tokens.size - 1) if self.parents is None else self.parents

    def accepted(self, verdicts: Sequence[int]) -> list[int]:
        """The indices of the tokens that the main model's `verdicts` repeat, as in `accepted_path`."""
        return accepted_path(integers(self.tokens), verdicts, self.parents)

    @property
    def depths(self) -> list[int]:
        """How many drafted tokens lead up to each verdict (n + 1,): none to the first, which is that after ROOT."""
        depths = [0]
        for parent in self.parent_indices:
            depths.append(depths[parent + 1] + 1)
        return depths


NO_DRAFT = Draft()
_NEARLY_NOTHING = 2.0**-40


def accepted_path(drafted: Sequence[int], verdicts: Sequence[int], parents: Sequence[int] | None = None) -> list[int]:
    """The indices of the `drafted` tokens that the main model's `verdicts` (one more) repeat, each after its parent.

    In a chain these are the first ones, before the first that differs. Of like siblings the first counts.
    """
    path, last = [], ROOT
    for index, token in enumerate(drafted):
        parent = index - 1 if parents is None else parents[index]
        if parent == last and token == verdicts[last + 1]:
            path.append(index)
            last = index
    return path


def integers(tokens: mx.array) -> list[int]:
    """Waits for the device, unless they are evaluated."""
    return tokens.tolist()  # type: ignore[return-value]


def likeliest(values: mx.array) -> mx.array:
    """The first maximum of each row (rows,); NO_TOKEN where the row holds NaN, or nothing but -inf."""
    tokens = mx.argmax(values, axis=-1)
    best = mx.take_along_axis(values, tokens[:, None], axis=-1)[:, 0]
    return mx.where(best > -mx.inf, tokens, mx.array(NO_TOKEN, dtype=mx.uint32))


def coupled(logprobs: mx.array, noise: mx.array) -> mx.array:
    """The main model's own draws (rows,), by the noise of their positions: whatever was drafted, plain decoding's.

    A draft drawn with the same noise agrees often. Greedy decoding is the case without noise.
    """
    return likeliest(logprobs + noise)


def rejection(logprobs: mx.array, draft: Draft, coins: mx.array, noise: mx.array) -> mx.array:
    """Speculative sampling: a drafted token x is accepted with probability min(1, p(x) / q(x)).

    `logprobs` (n + 1, vocabulary) are p, `coins` (n,) are uniform, `noise` (n + 1, vocabulary) is independent of the
    draft's. Emits tokens distributed as p, but which ones depends on the draft. A draft without logprobs was no draw:
    q(x) = 1.
    """
    drafted = draft.tokens[:, None]
    p = mx.exp(logprobs[:-1])
    q = mx.exp(draft.logprobs) if draft.logprobs is not None else _one_hot(drafted, p)
    p_drafted = mx.take_along_axis(p, drafted, axis=-1)[:, 0]
    q_drafted = mx.take_along_axis(q, drafted, axis=-1)[:, 0]
    # Hardly ever the drafted token where that was rejected: there p < q, so nothing of it is left. Where p and q are
    # the same but for rounding, nothing else is left either.
    left = mx.concatenate([mx.log(mx.maximum(p - q, _NEARLY_NOTHING * p)), logprobs[-1:]])
    redrawn = likeliest(left + noise)
    accepted = coins * q_drafted < p_drafted
    return mx.concatenate([mx.where(accepted, draft.tokens, redrawn[:-1]), redrawn[-1:]])


def _one_hot(drafted: mx.array, like: mx.array) -> mx.array:
    return (drafted == mx.arange(like.shape[-1])).astype(like.dtype)
