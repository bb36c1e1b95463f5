"""What a proposer can draft, what is decided for one round, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.drafting.acceptance import StopRule


@dataclass(frozen=True, slots=True)
class Offer:
    """A proposer could draft up to `most` tokens now; `grade` tells its good occasions from its poor ones.

    One that is `behind` has to read so many tokens first.
    """

    source: str
    most: int
    grade: int = 0
    tells_probabilities: bool = False  # so it can stop by itself where it is not sure enough
    behind: int = 0
    free: bool = False  # drafting takes no time of the device, so there is nothing to let rest


@dataclass(frozen=True, slots=True)
class Plan:
    """What is decided for one round: who drafts, how many tokens at most, when it stops by itself, how sharply."""

    source: str = ""
    length: int = 0
    grade: int = 0
    stop: StopRule | None = None
    sharpness: int = 0


PLAIN = Plan()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a plan; `seconds` is None where the round did not take what such rounds take.

    `probabilities` are what the draft gave its tokens, `guesses` what each level of sharpness would have drafted,
    `truths` what the main model said there. `proposed` tokens were checked, also those behind a reply's end.
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
        """Drafted tokens that the round took its time for."""
        return max(self.proposed, self.drafted)
