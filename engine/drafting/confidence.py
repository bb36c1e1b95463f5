"""What a draft's own probabilities are worth: when to stop, and how much sharper to draw. Pure arithmetic.

A draft runs on while the chance that everything so far stands is worth the cost of one more token. Its own
probabilities are no honest chances, so they are graded, and each grade learns what they are worth.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence

_GRADES = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.995)
_MIDDLES = (0.1, 0.27, 0.42, 0.57, 0.72, 0.85, 0.92, 0.96, 0.98, 0.99)
_GUESS_TRIALS = 4  # what the middle of a grade weighs before anything is known
_SLOWEST_LEARNING = 0.01


class Confidence:
    """Of one draft model for one main model; outlives a reply."""

    def __init__(self) -> None:
        self.sharpness = Sharpness()
        self.floor = 0.0  # stop where the chance that all stand falls below this; set before each round
        self._right = list(_MIDDLES)
        self._trials = [_GUESS_TRIALS] * len(_MIDDLES)
        self._said: list[float] = []

    @property
    def heard(self) -> int:
        """Tokens of the present draft that it knows of."""
        return len(self._said)

    def begin(self) -> None:
        """A new draft."""
        self._said = []

    def goes_on(self, probability: float) -> bool:
        """The draft has drawn a token to which it gave `probability`: is another one worth it?"""
        self._said.append(probability)
        return self.chance(self._said) >= self.floor

    def chance(self, said: Sequence[float]) -> float:
        """That all tokens stand to which the draft gave these probabilities."""
        product = 1.0
        for probability in said:
            product *= self._right[bisect(_GRADES, probability)]
        return product

    def learn(self, right: Sequence[bool]) -> None:
        """Which tokens of the present draft were right, up to the first that was not."""
        for probability, stood in zip(self._said, right, strict=False):
            grade = bisect(_GRADES, probability)
            self._trials[grade] += 1
            weight = max(1 / self._trials[grade], _SLOWEST_LEARNING)
            self._right[grade] += weight * (stood - self._right[grade])
        self._said = []


class Sharpness:
    """How much sharper than its own law a draft should draw its guesses. Learnt by comparing, at no cost.

    A small model is less decided than the main model; drawn as it says, it guesses what it need not. Every drafted
    place also shows what each other level would have guessed there, so the level that is right most often is known.
    """

    LEVELS = (1.0, 1.6, 2.5, 5.0)

    def __init__(self) -> None:
        self.level = 0
        self._hits = [0.5] * len(self.LEVELS)
        self._trials = 0

    def learn(self, guesses: Sequence[int], truth: int) -> None:
        """At one place each level would have guessed like this, and `truth` is what the main model drew."""
        self._trials += 1
        weight = max(1 / (self._trials + 2), _SLOWEST_LEARNING)
        for level, guess in enumerate(guesses):
            self._hits[level] += weight * ((guess == truth) - self._hits[level])
        self.level = max(range(len(self.LEVELS)), key=lambda level: self._hits[level])
