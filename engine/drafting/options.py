"""The plans that an offer allows, and which way to choose a length has been fastest. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import accumulate
from operator import mul

from engine.drafting.acceptance import AcceptRates, StopRule
from engine.drafting.plans import Outcome, Plan

_FADING = 0.985  # older rounds of a record are multiplied by this, each drafted round
_PRIOR_ROUNDS = 12.0  # weight of the expected rate, in rounds of the record
_STOPPING_LEAD = 0.99  # a draft that stops by itself must beat a fixed length by 1 %


class Policy(Enum):
    """A way to choose how many tokens to draft."""

    FIXED = auto()  # the length that is best at the average rates
    STOPPING = auto()  # the draft stops by itself


@dataclass(frozen=True, slots=True)
class Option:
    """A plan with its expected tokens and seconds."""

    plan: Plan
    tokens: float
    seconds: float

    @property
    def rate(self) -> float:
        return self.tokens / self.seconds


class Record:
    """What a source's drafted rounds would have brought under each policy, and taken. Older ones decay."""

    def __init__(self) -> None:
        self._sums = dict.fromkeys(Policy, (0.0, 0.0))  # (tokens, seconds)

    def learn(self, policy: Policy, tokens: float, seconds: float) -> None:
        old_tokens, old_seconds = self._sums[policy]
        self._sums[policy] = _FADING * old_tokens + tokens, _FADING * old_seconds + seconds

    def rate(self, policy: Policy, expected: Option) -> float:
        """(tokens + 12 * expected tokens) / (seconds + 12 * expected seconds), in tokens a second."""
        tokens, seconds = self._sums[policy]
        return (tokens + _PRIOR_ROUNDS * expected.tokens) / (seconds + _PRIOR_ROUNDS * expected.seconds)


class Choice:
    """What each policy would plan for one offer. Compared by their records: by its own estimates each is optimal."""

    def __init__(self, plan: Plan, rates: AcceptRates, seconds: Sequence[float], *, hopeful: bool) -> None:
        """`plan` has no length yet; `seconds[n]`: price of a round that drafts n tokens."""
        chances = rates.by_position(hopeful=hopeful)[: len(seconds) - 1]
        self._seconds, self._plan = seconds, plan
        self._tokens = [1.0, *(1 + reached for reached in accumulate(accumulate(chances, mul)))]
        self.fixed = self.of_length(max(range(1, len(seconds)), key=lambda n: self._tokens[n] / seconds[n]))
        self.rule = StopRule((), ())

    def of_length(self, length: int) -> Option:
        return Option(replace(self._plan, length=length), self._tokens[length], self._seconds[length])

    def stopping(self, record: Record, worth: tuple[float, ...], plain_s: float) -> Option:
        """A plan that stops where another token is not expected to pay."""
        stopped = record.rate(Policy.STOPPING, self.fixed)
        rate = max(self.fixed.rate, stopped, 1 / plain_s)
        self.rule = StopRule(stop_floors(self._tokens, self._seconds, rate), worth)
        plan = replace(self._plan, length=len(self._seconds) - 1, stop=self.rule)
        lead = _STOPPING_LEAD * stopped / record.rate(Policy.FIXED, self.fixed)
        return Option(plan, lead * self.fixed.tokens, self.fixed.seconds)

    def teach(self, record: Record, outcome: Outcome) -> None:
        """Add to each policy's record the tokens that a drafted round would have brought under it, and its price."""
        drafts = {Policy.FIXED: min(self.fixed.plan.length, outcome.drafted)}
        if self.rule.worth and outcome.probabilities:
            drafts[Policy.STOPPING] = self.rule.would_draft(outcome.probabilities)
        for policy, drafted in drafts.items():
            record.learn(policy, min(outcome.accepted, drafted) + 1, self._seconds[drafted])


def stop_floors(tokens: Sequence[float], seconds: Sequence[float], rate: float) -> tuple[float, ...]:
    """floors[k - 1]: P(all k accepted) below which no longer draft pays, for drafts of k = 1, 2, … tokens.

    `tokens[n]` and `seconds[n]`: expected tokens and price of a round that drafts n; `rate`: tokens a second to beat.
    Where costs rise in steps, a draft goes on to the end of its step.
    """

    def price_of_more(shorter: int, longer: int) -> float:
        """Seconds for each further token."""
        return (seconds[longer] - seconds[shorter]) / max(tokens[longer] - tokens[shorter], 1e-9)

    floors = []
    ends = [len(tokens) - 1]  # corners of the lower convex hull, the nearest last
    for drafted in range(len(tokens) - 2, 0, -1):
        while len(ends) > 1 and price_of_more(drafted, ends[-1]) >= price_of_more(ends[-1], ends[-2]):
            ends.pop()
        chance = tokens[drafted] - tokens[drafted - 1]  # P(all accepted), on average
        floors.append(rate * price_of_more(drafted, ends[-1]) * chance)
        ends.append(drafted)
    return tuple(reversed(floors))
