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
_STEADY_LEAD = 1.02  # RECENT must beat STEADY by 2 %
_STOPPING_LEAD = 0.99  # a draft that stops by itself must beat a fixed length by 1 %
_HIGHEST_FLOOR, _NEARLY_SURE = 0.95, 0.8


class Policy(Enum):
    """A way to choose how many tokens to draft."""

    STEADY = auto()  # the length that is best at the average rates
    RECENT = auto()  # the length that is best at the rates of the latest rounds
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
    """Tokens of a source's drafted rounds, and the seconds that they would have taken under each policy. Older ones
    decay.
    """

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
    """What each policy would plan for one offer. Compared by their records: by its own rates each looks best."""

    def __init__(
        self, plan: Plan, rates: AcceptRates, seconds: Sequence[float], *, hopeful: bool, error: float = 0.0
    ) -> None:
        """`plan` has no length yet; `seconds[n]`: price of a round that drafts n tokens, with the relative `error`."""
        self._seconds, self._error = seconds, error
        self._tokens: dict[Policy, list[float]] = {}
        self._fixed: dict[Policy, Option] = {}
        for policy in (Policy.STEADY, Policy.RECENT):
            chances = rates.by_position(hopeful=hopeful, recent=policy is Policy.RECENT)[: len(seconds) - 1]
            tokens = [1.0, *(1 + reached for reached in accumulate(accumulate(chances, mul)))]
            length = _best_length(tokens, seconds, error)
            self._tokens[policy] = tokens
            self._fixed[policy] = Option(replace(plan, length=length), tokens[length], seconds[length])
        self.rule = StopRule((), ())

    def fixed(self, record: Record) -> Option:
        """The best fixed length."""
        return self._fixed[self._best(record)]

    def of_length(self, length: int, record: Record) -> Option:
        best = self._best(record)
        plan = replace(self._fixed[best].plan, length=length)
        return Option(plan, self._tokens[best][length], self._seconds[length])

    def stopping(self, record: Record, worth: tuple[float, ...], plain_s: float) -> Option:
        """A plan that stops where another token is not expected to pay."""
        best = self._best(record)
        fixed = self._fixed[best]
        lead = record.rate(Policy.STOPPING, self._fixed[Policy.STEADY]) / self._record_rate(record, best)
        rate = max(fixed.rate, record.rate(Policy.STOPPING, self._fixed[Policy.STEADY]), 1 / plain_s)
        self.rule = StopRule(stop_floors(self._tokens[best], self._seconds, rate, self._error), worth)
        plan = replace(fixed.plan, length=len(self._seconds) - 1, stop=self.rule)
        return Option(plan, _STOPPING_LEAD * lead * fixed.tokens, fixed.seconds)

    def teach(self, record: Record, outcome: Outcome) -> None:
        """Add to each policy's record the accepted tokens of a drafted round, and the seconds they would have taken.

        A policy with shorter drafts needs several rounds for the same tokens. Counted a round each, it would look slow
        exactly where everything is accepted.
        """
        drafts = {policy: min(option.plan.length, outcome.drafted) for policy, option in self._fixed.items()}
        if self.rule.worth and outcome.probabilities:
            drafts[Policy.STOPPING] = self.rule.would_draft(outcome.probabilities)
        for policy, drafted in drafts.items():
            tokens = outcome.accepted + 1
            rounds = max(1.0, tokens / (drafted + 1))
            record.learn(policy, tokens, rounds * self._seconds[drafted])

    def _best(self, record: Record) -> Policy:
        steady, recent = (self._record_rate(record, policy) for policy in (Policy.STEADY, Policy.RECENT))
        return Policy.RECENT if recent > _STEADY_LEAD * steady else Policy.STEADY

    def _record_rate(self, record: Record, policy: Policy) -> float:
        return record.rate(policy, self._fixed[Policy.STEADY])


def _best_length(tokens: Sequence[float], seconds: Sequence[float], error: float) -> int:
    """The length of the highest rate; or more, nearly sure tokens if the rates differ by less than `error`."""
    rates = [brought / price for brought, price in zip(tokens, seconds, strict=True)]
    best = max(range(1, len(seconds)), key=lambda length: rates[length])
    as_good = (length for length in range(best, len(seconds)) if rates[length] >= (1 - error) * rates[best])
    return max((length for length in as_good if tokens[length] - tokens[length - 1] >= _NEARLY_SURE), default=best)


def stop_floors(
    tokens: Sequence[float], seconds: Sequence[float], rate: float, error: float = 0.0
) -> tuple[float, ...]:
    """floors[k - 1]: P(all k accepted) below which no longer draft pays, for drafts of k = 1, 2, … tokens.

    `tokens[n]` and `seconds[n]`: expected tokens and price of a round that drafts n; `rate`: tokens a second to beat.
    Where costs rise in steps, a draft goes on to the end of its step. Nearly sure tokens are not stopped for a
    difference within the relative `error` of the prices: one round fewer is certain.
    """

    def price_of_more(shorter: int, longer: int, error_s: float = 0.0) -> float:
        """Seconds for each further token."""
        return (seconds[longer] - seconds[shorter] - error_s) / max(tokens[longer] - tokens[shorter], 1e-9)

    floors = []
    ends = [len(tokens) - 1]  # lengths where going on is cheapest, the nearest last
    for drafted in range(len(tokens) - 2, 0, -1):
        while len(ends) > 1 and price_of_more(drafted, ends[-1]) >= price_of_more(ends[-1], ends[-2]):
            ends.pop()
        chance = tokens[drafted] - tokens[drafted - 1]  # P(all accepted), on average
        floor = rate * price_of_more(drafted, ends[-1]) * chance
        if floor > _NEARLY_SURE:
            error_s = 2 * error * seconds[ends[-1]]
            floor = max(_NEARLY_SURE, rate * price_of_more(drafted, ends[-1], error_s) * chance)
        floors.append(min(_HIGHEST_FLOOR, max(0.0, floor)))
        ends.append(drafted)
    return tuple(reversed(floors))
