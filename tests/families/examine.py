"""What a family does with and without a draft: the examination behind the tests and the list in the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import mlx.core as mx
import numpy as np

from engine.api.types import MAX_DRAFT_TOKENS
from engine.caches.kinds import leaves
from engine.models.loading import LoadedModel
from tests.families.harness import (
    PROMPT,
    WARM,
    Errant,
    Told,
    build,
    fresh,
    loaded,
    mlx_lm_reply,
    reply,
    says_next,
)

EVERY_LENGTH = tuple(range(1, 9))
LEAST_VARIETY = 8  # different tokens in a reply
SPARE_TOKENS = 3  # of a reply, besides those that the longest draft, or every count of accepted tokens, takes
CLOSE = 1e-4  # of the largest logit: a chunk and the same tokens one by one, in float32


@dataclass(frozen=True, slots=True)
class Outcome:
    family: str
    caches: tuple[str, ...]
    speculates: bool
    variety: int
    plain_is_mlx_lm: bool
    inexact_lengths: tuple[int, ...]
    unseen_counts: tuple[int, ...]  # lengths at which not every count of accepted tokens occurred
    longest_is_exact: bool
    warm_is_exact: bool
    # What the caches say next, compared as a share of the largest logit:
    from_plain: float  # after speculation and after plain decoding of the same tokens
    from_prefill: float  # after either of them and after a fresh prefill of the same tokens

    @property
    def exact(self) -> bool:
        texts = self.plain_is_mlx_lm and not self.inexact_lengths and self.longest_is_exact and self.warm_is_exact
        return self.speculates and texts and self.from_plain <= CLOSE


def examine(family: str, lengths: Sequence[int] = EVERY_LENGTH) -> Outcome:
    network = build(family)
    model = loaded(network)
    tokens = max(sum(range(1, max(lengths) + 2)), MAX_DRAFT_TOKENS) + SPARE_TOKENS
    theirs, plain = mlx_lm_reply(network, tokens), reply(model, tokens=tokens)
    speculates = plain.conversation.caches.can_roll_back
    drafted = {n: _drafted(model, plain, n) for n in lengths} if speculates else {}
    mx.clear_cache()
    return Outcome(
        family=family,
        caches=tuple(sorted({type(leaf).__name__ for leaf in leaves(plain.conversation.caches.layers)})),
        speculates=speculates,
        variety=len(set(theirs)),
        plain_is_mlx_lm=plain.tokens == theirs,
        inexact_lengths=tuple(n for n, told in drafted.items() if told.tokens != plain.tokens),
        unseen_counts=tuple(n for n, told in drafted.items() if told.accepted != set(range(n + 1))),
        longest_is_exact=not speculates or _drafted(model, plain, MAX_DRAFT_TOKENS).tokens == plain.tokens,
        warm_is_exact=not speculates or _warm_is_exact(model, tokens),
        from_plain=max([_apart(told, plain) for told in drafted.values()], default=0.0),
        from_prefill=max(_from_prefill(model, told) for told in (plain, *drafted.values())),
    )


def _drafted(model: LoadedModel, plain: Told, length: int) -> Told:
    truth = [*PROMPT, *plain.tokens]
    return reply(model, proposer=Errant(truth), length=lambda _: length, tokens=len(plain.tokens))


def _warm_is_exact(model: LoadedModel, tokens: int) -> bool:
    """The same seed draws the same tokens, with drafts of every length in turn."""
    plain = reply(model, WARM, tokens=tokens)
    truth = [*PROMPT, *plain.tokens]
    drafted = reply(model, WARM, Errant(truth), lambda number: number % 8 + 1, tokens)
    return drafted.tokens == plain.tokens


def _apart(told: Told, plain: Told) -> float:
    return apart(says_next(told.conversation), says_next(plain.conversation)) if told.tokens == plain.tokens else inf


def _from_prefill(model: LoadedModel, told: Told) -> float:
    return apart(says_next(told.conversation), says_next(fresh(model, told.conversation.tokens)))


def apart(these: mx.array, those: mx.array) -> float:
    """The largest difference of two rows of logits, as a share of the largest logit."""
    a, b = np.array(these), np.array(those)
    possible = np.isfinite(b)
    assert np.array_equal(possible, np.isfinite(a))
    return float(np.abs(a[possible] - b[possible]).max() / np.abs(b[possible]).max())
