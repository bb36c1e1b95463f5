"""How often drafted tokens stand, what a draft's own probabilities are worth, and how sharply it should draw.

Learnt from every drafted token that the main model checked. Pure arithmetic.
"""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from engine.api.types import MAX_DRAFT_TOKENS

_BUCKET_ENDS = (1, 2, 3, 4, 6, 8, 12, 16, MAX_DRAFT_TOKENS)  # positions in a draft that share a rate
_HOPE, _DOUBT = 0.6, 0.0  # how often the first token stands, before anything is known
_FIRST_PRIOR_TRIALS, _PRIOR_TRIALS = 2.0, 8.0  # a later position is taken to be like the one before it
_FADING, _ROUND_FADING = 0.995, 0.997  # of older trials: for each new one, and each round
_RECENT_FADING, _RECENT_PRIOR_TRIALS = 0.92, 2.0
_DOUBTED_TRIALS = 4.0  # what is left of a rate that has misled

_GRADES = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.995)
_GRADE_MIDDLES = (0.1, 0.27, 0.42, 0.57, 0.72, 0.85, 0.92, 0.96, 0.98, 0.99)
_GRADE_TRIALS = 4  # what the middle of a grade weighs before anything is known
_SLOWEST_LEARNING = 0.01
_SUREST_LEARNING = 0.0025  # of the surest grade: long drafts are made of it, and its error counts once for each token


class _Rate:
    """A share of trials that may drift: a slow average, and one of late that forgets with every round."""

    def __init__(self) -> None:
        self._right = self._trials = 0.0
        self._recent_right = self._recent_trials = 0.0

    def learn(self, right: bool) -> None:
        self._right, self._trials = _FADING * self._right + right, _FADING * self._trials + 1
        self._recent_right, self._recent_trials = self._recent_right + right, self._recent_trials + 1

    def end_round(self, share: float) -> None:
        """What is not tried for long is forgotten, so that it is tried again."""
        slowly, fast = _ROUND_FADING**share, _RECENT_FADING**share
        self._right *= slowly
        self._trials *= slowly
        self._recent_right *= fast
        self._recent_trials *= fast

    def doubt(self) -> None:
        kept = min(1.0, _DOUBTED_TRIALS / self._trials) if self._trials else 1.0
        self._right *= kept
        self._trials *= kept

    def average(self, prior: float, weight: float) -> float:
        """`prior` is what is thought of it before any trial, as if from `weight` trials."""
        return (self._right + weight * prior) / (self._trials + weight)

    def recent(self, average: float) -> float:
        return (self._recent_right + _RECENT_PRIOR_TRIALS * average) / (self._recent_trials + _RECENT_PRIOR_TRIALS)


class AcceptRates:
    """The chance that the token at each position of a draft stands, given that those before it do."""

    def __init__(self) -> None:
        self._buckets = [_Rate() for _ in _BUCKET_ENDS]

    def learn(self, drafted: int, accepted: int) -> None:
        """Of `drafted` tokens the first `accepted` stood. Those after the first that did not teach nothing."""
        for position in range(1, min(accepted + 1, drafted) + 1):
            self._buckets[bisect_left(_BUCKET_ENDS, position)].learn(position <= accepted)

    def end_round(self, share: float = 1.0) -> None:
        """A round is over, whether it drafted or not: what was seen lately says a little less of the next one.

        `share`: of one that several replies had together, so much is this one's.
        """
        for bucket in self._buckets:
            bucket.end_round(share)

    def doubt(self) -> None:
        """What was seen until now has misled: it counts for little beside what comes."""
        for bucket in self._buckets:
            bucket.doubt()

    def by_position(self, *, hopeful: bool, recent: bool = False) -> list[float]:
        """For positions 1 to MAX_DRAFT_TOKENS, on average or of late.

        `hopeful` says what is thought of what was never seen.
        """
        rates: list[float] = []
        average = _HOPE if hopeful else _DOUBT
        for bucket, end in zip(self._buckets, _BUCKET_ENDS, strict=True):
            average = bucket.average(average, _PRIOR_TRIALS if rates else _FIRST_PRIOR_TRIALS)
            rates += [bucket.recent(average) if recent else average] * (end - len(rates))
        return rates


@dataclass(frozen=True, slots=True)
class StopRule:
    """When a draft is to stop by itself.

    `floors[k - 1]` is the chance that all of k tokens stand, below which a further one is not worth its time; `worth`
    is what a stated probability of each grade has been worth. Without floors it never stops.
    """

    floors: tuple[float, ...]
    worth: tuple[float, ...]

    def goes_on(self, probabilities: Sequence[float], unknown: int = 0) -> bool:
        """Whether to draft another token after tokens that the draft gave these probabilities.

        Behind them are tokens whose probabilities are `unknown` yet: they cannot raise the chance that all stand.
        """
        if not self.floors:
            return True
        drafted = len(probabilities) + unknown
        return drafted <= len(self.floors) and self.chance(probabilities) >= self.floors[drafted - 1]

    def would_draft(self, probabilities: Sequence[float]) -> int:
        """Of a draft with these probabilities, how many tokens there would be under this rule."""
        goes_on = (self.goes_on(probabilities[:count]) for count in range(1, len(probabilities)))
        return next((count for count, more in enumerate(goes_on, start=1) if not more), len(probabilities))

    def chance(self, probabilities: Sequence[float]) -> float:
        """That tokens with these probabilities all stand."""
        chance = 1.0
        for probability in probabilities:
            chance *= self.worth[bisect(_GRADES, probability)]
        return chance


class Worth:
    """What the probabilities that a draft states are worth: they are no honest chances, so each grade is learnt."""

    def __init__(self) -> None:
        self._right = list(_GRADE_MIDDLES)
        self._trials = [_GRADE_TRIALS] * len(_GRADE_MIDDLES)

    @property
    def by_grade(self) -> tuple[float, ...]:
        return tuple(self._right)

    def learn(self, probabilities: Sequence[float], accepted: int) -> None:
        """The tokens with these probabilities were drafted, and the first `accepted` of them stood."""
        for position, probability in enumerate(probabilities[: accepted + 1]):
            grade = bisect(_GRADES, probability)
            self._trials[grade] += 1
            slowest = _SUREST_LEARNING if grade == len(_GRADES) else _SLOWEST_LEARNING
            weight = max(1 / self._trials[grade], slowest)
            self._right[grade] += weight * ((position < accepted) - self._right[grade])


class Sharpness:
    """How much sharper than its own distribution a draft should draw its guesses; learnt by comparing, at no cost.

    A small model is less decided than the main model. At every drafted position it also says what it would have
    guessed at each other level, so the level that is right most often is known.
    """

    LEVELS = (1.0, 1.6, 2.5, 5.0)

    def __init__(self) -> None:
        self.level = 0
        self._hits = [0.5] * len(self.LEVELS)
        self._trials = 0

    def learn(self, guesses: Sequence[int], truth: int) -> None:
        """At one position each level would have guessed like this, and `truth` is what the main model drew."""
        self._trials += 1
        weight = max(1 / (self._trials + 2), _SLOWEST_LEARNING)
        for level, guess in enumerate(guesses):
            self._hits[level] += weight * ((guess == truth) - self._hits[level])
        self.level = self._hits.index(max(self._hits))
