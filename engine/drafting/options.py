"""What could be planned with an offer, and which way of choosing a length has brought more. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import accumulate
from operator import mul

from engine.drafting.acceptance import AcceptRates, StopRule
from engine.drafting.plans import Outcome, Plan

_FADING = 0.985  # of older rounds in a policy's record, each drafted round
_PRIOR_ROUNDS = 12.0  # what is expected of a policy weighs as much as so many rounds of its record
_STEADY_LEAD = 1.02  # of its rate, counts: a length changes with the latest rounds where that brings clearly more
_STOPPING_LEAD = 0.99  # of its rate, counts: a draft stops by itself where that brings clearly more
_HIGHEST_FLOOR, _NEARLY_SURE = 0.95, 0.8


class Policy(Enum):
    """A way to choose how many tokens to draft."""

    STEADY = auto()  # the length that is best at the average rates
    RECENT = auto()  # the length that is best at the rates of the latest rounds
    STOPPING = auto()  # the draft stops by itself


@dataclass(frozen=True, slots=True)
class Option:
    """A plan with what it should bring and cost."""

    plan: Plan
    tokens: float
    seconds: float

    @property
    def rate(self) -> float:
        return self.tokens / self.seconds


class Record:
    """The tokens of a source's drafted rounds, and what they would have cost under each policy. Older ones fade."""

    def __init__(self) -> None:
        self._sums = dict.fromkeys(Policy, (0.0, 0.0))  # tokens and seconds

    def learn(self, policy: Policy, tokens: float, seconds: float) -> None:
        old_tokens, old_seconds = self._sums[policy]
        self._sums[policy] = _FADING * old_tokens + tokens, _FADING * old_seconds + seconds

    def rate(self, policy: Policy, expected: Option) -> float:
        """Tokens per second; before there are any, those of the option."""
        tokens, seconds = self._sums[policy]
        return (tokens + _PRIOR_ROUNDS * expected.tokens) / (seconds + _PRIOR_ROUNDS * expected.seconds)


class Choice:
    """What each policy makes of one offer. They are compared by their records, for each looks best by its own rates."""

    def __init__(
        self, plan: Plan, rates: AcceptRates, seconds: Sequence[float], *, hopeful: bool, error: float = 0.0
    ) -> None:
        """`plan` lacks a length; `seconds` are the prices of rounds that draft 0, 1, … tokens, each with this error."""
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
        """The draft stops by itself, where that is expected to bring more than to go on."""
        best = self._best(record)
        fixed = self._fixed[best]
        lead = record.rate(Policy.STOPPING, self._fixed[Policy.STEADY]) / self._record_rate(record, best)
        rate = max(fixed.rate, record.rate(Policy.STOPPING, self._fixed[Policy.STEADY]), 1 / plain_s)
        self.rule = StopRule(stop_floors(self._tokens[best], self._seconds, rate, self._error), worth)
        plan = replace(fixed.plan, length=len(self._seconds) - 1, stop=self.rule)
        return Option(plan, _STOPPING_LEAD * lead * fixed.tokens, fixed.seconds)

    def teach(self, record: Record, outcome: Outcome) -> None:
        """What the tokens of a round that drafted would have cost under each policy.

        One that drafts less than was right takes more such rounds for them: compared round by round, it would seem to
        have brought little just where everything was easy.
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
    """The length of the highest rate; or more nearly sure tokens, if the rates differ by no more than the `error`."""
    rates = [brought / price for brought, price in zip(tokens, seconds, strict=True)]
    best = max(range(1, len(seconds)), key=lambda length: rates[length])
    as_good = (length for length in range(best, len(seconds)) if rates[length] >= (1 - error) * rates[best])
    return max((length for length in as_good if tokens[length] - tokens[length - 1] >= _NEARLY_SURE), default=best)


def stop_floors(
    tokens: Sequence[float], seconds: Sequence[float], rate: float, error: float = 0.0
) -> tuple[float, ...]:
    """For drafts of 1, 2, … tokens: the chance that all stand, below which no longer draft is worth its time.

    `tokens` and `seconds` are what rounds of each length bring on average and cost, from length 0 on; `rate` is the
    tokens per second to beat. With costs that rise in steps a draft so goes on to the end of its step. Nearly sure
    tokens stop for no price that may well be an `error` of the seconds, a share: a round less is certain.
    """

    def price_of_more(shorter: int, longer: int, error_s: float = 0.0) -> float:
        """Seconds a token."""
        return (seconds[longer] - seconds[shorter] - error_s) / max(tokens[longer] - tokens[shorter], 1e-9)

    floors = []
    ends = [len(tokens) - 1]  # the lengths at which going on from the length at hand is cheapest, the nearest last
    for drafted in range(len(tokens) - 2, 0, -1):
        while len(ends) > 1 and price_of_more(drafted, ends[-1]) >= price_of_more(ends[-1], ends[-2]):
            ends.pop()
        stands = tokens[drafted] - tokens[drafted - 1]  # the chance that these tokens all stand, on average
        floor = rate * price_of_more(drafted, ends[-1]) * stands
        if floor > _NEARLY_SURE:
            error_s = 2 * error * seconds[ends[-1]]
            floor = max(_NEARLY_SURE, rate * price_of_more(drafted, ends[-1], error_s) * stands)
        floors.append(min(_HIGHEST_FLOOR, max(0.0, floor)))
        ends.append(drafted)
    return tuple(reversed(floors))
