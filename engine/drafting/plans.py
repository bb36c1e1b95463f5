"""What a proposer can draft, the plan of one round, and its outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.drafting.acceptance import StopRule


@dataclass(frozen=True, slots=True)
class Offer:
    """The tokens that a proposer could draft next: up to `most`.

    `grade`: a key of accept rates; `behind`: tokens that it has to prefill first.
    """

    source: str
    most: int
    grade: int = 0
    has_probabilities: bool = False  # so a draft can stop by itself
    behind: int = 0
    free: bool = False  # needs no time of the device, so it is never parked
    certain: bool = False  # all of it will be accepted


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of one round: proposer, most tokens, when the draft stops by itself, level of sharpness."""

    source: str = ""
    length: int = 0
    grade: int = 0
    stop: StopRule | None = None
    sharpness: int = 0


PLAIN = Plan()


@dataclass(frozen=True, slots=True)
class RoundOutcome:
    """The outcome of a plan; `seconds` is None for a round that is not typical.

    Of the drafted tokens: `probabilities` by the draft, `guesses` of each level of sharpness, `truths` of the main
    model. `proposed`: all verified tokens, also those after the reply's end.
    """

    drafted: int = 0
    accepted: int = 0
    seconds: float | None = None
    probabilities: Sequence[float] = ()
    guesses: Sequence[Sequence[int]] = ()
    truths: Sequence[int] = ()
    proposed: int = 0

    @property
    def checked(self) -> int:
        """Verified tokens: those that `seconds` paid for."""
        return max(self.proposed, self.drafted)
