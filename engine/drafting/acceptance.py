"""Accept rates by position, accept rates by the draft's own probabilities, and how sharply a draft should sample.

Learnt from every verified token. Pure arithmetic.
"""

from __future__ import annotations

import math
from bisect import bisect, bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.api.types import MAX_DRAFT_TOKENS

_BUCKET_ENDS = (1, 2, 3, 4, 6, 8, 12, 16, MAX_DRAFT_TOKENS)  # positions in a draft that share a rate
# Beta prior of the first position: its mean while there is credit, and its mean without
_HOPE = 0.6
_DOUBT = 0.0
# weights of the priors, in pseudo-counts; at later positions the prior mean is the rate of the position before
_FIRST_PRIOR_TRIALS = 2.0
_PRIOR_TRIALS = 8.0
# decay of older trials, at each new trial and at each round
_FADING = 0.995
_ROUND_FADING = 0.997
_DOUBTED_TRIALS = 4.0  # trials that a rate keeps after `doubt`
_RECALLED_TRIALS = 16.0  # and in the next run of the program
_LEAST_ACCEPTED = 0.5  # accepted tokens, decayed, from which on a position counts as reached

_GRADES = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.995)
_GRADE_MIDDLES = tuple((low + high) / 2 for low, high in pairwise((0.0, *_GRADES, 1.0)))
_GRADE_TRIALS = 4  # weight of a grade's prior, which is the middle of its probabilities
_SLOWEST_LEARNING = 0.01
_SUREST_LEARNING = 0.0025  # of the highest grade: long drafts consist of it, so its error compounds


@dataclass(slots=True)
class _Rate:
    """The accept rate of some positions, which may drift."""

    right: float = 0.0  # accepted tokens
    trials: float = 0.0

    def learn(self, right: bool) -> None:
        self.right = _FADING * self.right + right
        self.trials = _FADING * self.trials + 1

    def fade(self, kept: float) -> None:
        self.right *= kept
        self.trials *= kept

    def limit(self, trials: float) -> None:
        """Keep the rate, as that of at most so many trials."""
        self.fade(min(1.0, trials / self.trials) if self.trials else 1.0)

    def average(self, prior: float, weight: float) -> float:
        """Mean of a Beta posterior: (accepted + weight * prior) / (trials + weight). `prior` is the prior mean,
        `weight` its pseudo-count.
        """
        return (self.right + weight * prior) / (self.trials + weight)


class AcceptRates:
    """P(accepted) of the token at each position of a draft, given that those before it were accepted."""

    def __init__(self, hope: float = 0.0) -> None:
        """`hope`: a rate that is expected of this draft; a low one is not used, as tries are paid from a credit."""
        self._hope = max(hope, _HOPE)
        self._buckets = [_Rate() for _ in _BUCKET_ENDS]

    def kept(self) -> list[tuple[float, float]]:
        """(accepted, trials) of each group of positions, to store for a later run."""
        return [(bucket.right, bucket.trials) for bucket in self._buckets]

    def recall(self, kept: Sequence[Sequence[float]]) -> None:
        """Start with what an earlier run has learnt, as few trials. Raises ValueError if that is not valid."""
        if len(kept) != len(self._buckets) or not all(0 <= right <= trials < math.inf for right, trials in kept):
            raise ValueError("not accept rates")
        self._buckets = [_Rate(right, trials) for right, trials in kept]
        for bucket in self._buckets:
            bucket.limit(_RECALLED_TRIALS)

    @property
    def longest(self) -> int:
        """The position up to which tokens were accepted."""
        ends = zip(_BUCKET_ENDS, self._buckets, strict=True)
        return max((end for end, bucket in ends if bucket.right >= _LEAST_ACCEPTED), default=0)

    def learn(self, drafted: int, accepted: int) -> None:
        """The first `accepted` of `drafted` tokens were accepted; those after the first rejected one are no trials."""
        for position in range(1, min(accepted + 1, drafted) + 1):
            self._buckets[bisect_left(_BUCKET_ENDS, position)].learn(position <= accepted)

    def end_round(self, share: float = 1.0) -> None:
        """Decay the rates after every round, drafted or plain, so that a position without trials is tried again.

        `share`: this reply's share of a round of a batch.
        """
        for bucket in self._buckets:
            bucket.fade(_ROUND_FADING**share)

    def doubt(self) -> None:
        """Reduce all rates to a few trials: the text has changed."""
        for bucket in self._buckets:
            bucket.limit(_DOUBTED_TRIALS)

    def by_position(self, *, hopeful: bool) -> list[float]:
        """Accept rates of positions 1 to MAX_DRAFT_TOKENS. `hopeful`: a high rate where nothing was tried; else 0."""
        rates: list[float] = []
        average = self._hope if hopeful else _DOUBT
        for bucket, end in zip(self._buckets, _BUCKET_ENDS, strict=True):
            average = bucket.average(average, _PRIOR_TRIALS if rates else _FIRST_PRIOR_TRIALS)
            rates += [average] * (end - len(rates))
        return rates


@dataclass(frozen=True, slots=True)
class StopRule:
    """The rule by which a draft ends early: after k tokens if P(all k accepted) < `floors[k - 1]`.

    P is the product of `worth[grade]` over the tokens' probabilities. `worth`: accept rate by grade of probability.
    Without floors a draft never ends early.
    """

    floors: tuple[float, ...]
    worth: tuple[float, ...]

    def goes_on(self, probabilities: Sequence[float], unknown: int = 0) -> bool:
        """Whether to draft another token after tokens with these probabilities; the first one in any case.

        `unknown`: number of further drafted tokens whose probabilities are not read yet. They can only lower P(all
        accepted).
        """
        drafted = len(probabilities) + unknown
        if not self.floors or not drafted:
            return True
        return drafted <= len(self.floors) and self.chance(probabilities) >= self.floors[drafted - 1]

    def would_draft(self, probabilities: Sequence[float]) -> int:
        """Number of tokens that this rule keeps of a draft with these probabilities."""
        counts = range(1, len(probabilities))
        return next((each for each in counts if not self.goes_on(probabilities[:each])), len(probabilities))

    def chance(self, probabilities: Sequence[float]) -> float:
        """P(all accepted) of tokens with these probabilities."""
        chance = 1.0
        for probability in probabilities:
            chance *= self.worth[bisect(_GRADES, probability)]
        return chance


class Worth:
    """Accept rate by grade of a draft's own probabilities, which are not calibrated."""

    def __init__(self) -> None:
        self._right = list(_GRADE_MIDDLES)
        self._trials = [_GRADE_TRIALS] * len(_GRADE_MIDDLES)

    @property
    def by_grade(self) -> tuple[float, ...]:
        return tuple(self._right)

    def learn(self, probabilities: Sequence[float], accepted: int) -> None:
        """The tokens with these probabilities were drafted, and the first `accepted` of them accepted."""
        for position, probability in enumerate(probabilities[: accepted + 1]):
            grade = bisect(_GRADES, probability)
            self._trials[grade] += 1
            slowest = _SUREST_LEARNING if grade == len(_GRADES) else _SLOWEST_LEARNING
            weight = max(1 / self._trials[grade], slowest)
            self._right[grade] += weight * ((position < accepted) - self._right[grade])


class Sharpness:
    """By how much to sharpen a draft's distribution before sampling: the level whose tokens equal the verdicts most
    often.

    A small model's distribution is flatter than the main model's. Each drafted token also records what every other
    level would have drawn, so comparing them costs no forward.
    """

    LEVELS = (1.0, 1.6, 2.5, 5.0)

    def __init__(self) -> None:
        self.level = 0
        self._hits = [0.5] * len(self.LEVELS)
        self._trials = 0

    def learn(self, guesses: Sequence[int], truth: int) -> None:
        """`guesses` (levels,): the token of each level at one position; `truth`: the verdict there."""
        self._trials += 1
        weight = max(1 / (self._trials + 2), _SLOWEST_LEARNING)
        for level, guess in enumerate(guesses):
            self._hits[level] += weight * ((guess == truth) - self._hits[level])
        self.level = self._hits.index(max(self._hits))
