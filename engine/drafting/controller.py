"""Which proposer drafts how many tokens next: as requested, or the plan with the most expected tokens a second. Pure
arithmetic.

`History` keeps prices and accept rates of a loaded pair across replies. A controller plans the rounds of one reply from
it, and adds the outcome of each round.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import partial
from itertools import accumulate
from operator import mul
from statistics import fmean

from engine.api.types import MAX_DRAFT_TOKENS, Speculation, SpeculationMode
from engine.drafting.acceptance import AcceptRates, Sharpness, StopRule, Worth
from engine.drafting.costs import Calibration, RoundCosts
from engine.drafting.plans import PLAIN, Offer, Plan, RoundOutcome

_ADVANTAGE = 1.02  # another plan must be faster by this factor
_FIRST_TOKENS = 4  # length <= 2 * max(longest accepted run, this)
# in plain tokens
_START_CREDIT = 0.8
_CREDIT_PER_ROUND = 0.004
_MOST_CREDIT = 3.0
_LEAST_CREDIT = 0.0
_TRUSTED_RATE = 0.8  # a draft that is accepted as often begins with all credit
_MOST_ROUNDS_WITHOUT_PLAIN = 96
_COMPARED_ROUND = 2  # until enough plain passes are known this round of a reply is plain: replies may be short
_TYPICAL_REPLY_TOKENS = 200.0
_FADING = 0.985  # older rounds of a record are multiplied by this, each drafted round
_PRIOR_ROUNDS = 12.0  # weight of the expected rate, in rounds of the record
_STOPPING_LEAD = 0.99  # a draft that stops by itself must beat a fixed length by 1 %


class Policy(Enum):
    """A way to choose how many tokens to draft."""

    FIXED = auto()  # the length that is best at the average rates
    STOPPING = auto()  # the draft stops by itself


@dataclass(frozen=True, slots=True)
class PricedPlan:
    """A plan with its expected tokens and seconds."""

    plan: Plan
    tokens: float
    seconds: float

    @property
    def rate(self) -> float:
        return self.tokens / self.seconds


class Record:
    """Tokens and seconds that a source's drafted rounds would have taken under each policy; older rounds decay."""

    def __init__(self) -> None:
        self._sums = dict.fromkeys(Policy, (0.0, 0.0))  # (tokens, seconds)

    def learn(self, policy: Policy, tokens: float, seconds: float) -> None:
        old_tokens, old_seconds = self._sums[policy]
        self._sums[policy] = _FADING * old_tokens + tokens, _FADING * old_seconds + seconds

    def rate(self, policy: Policy, expected: PricedPlan) -> float:
        """(tokens + 12 * expected tokens) / (seconds + 12 * expected seconds), in tokens a second."""
        tokens, seconds = self._sums[policy]
        return (tokens + _PRIOR_ROUNDS * expected.tokens) / (seconds + _PRIOR_ROUNDS * expected.seconds)


class Choice:
    """The best plan of each policy for one offer.

    Policies are compared by their records: by its own estimates each would be best.
    """

    def __init__(
        self, plan: Plan, rates: AcceptRates, seconds: Sequence[float], rollback_s: float = 0.0, *, hopeful: bool
    ) -> None:
        """`plan` gets its length from `seconds[n]`, the price of a round that drafts n tokens, all of them accepted;
        `rollback_s`: what one takes in addition of which some are rejected.
        """
        chances = rates.by_position(hopeful=hopeful)[: len(seconds) - 1]
        whole = [1.0, *accumulate(chances, mul)]  # P(all n accepted)
        self._round_s = seconds
        self._rollback_s = rollback_s
        self._seconds = [price + (1 - all_) * rollback_s for price, all_ in zip(seconds, whole, strict=True)]
        self._plan = plan
        self._tokens = list(accumulate(whole))
        self.fixed = self.of_length(max(range(1, len(seconds)), key=lambda n: self._tokens[n] / self._seconds[n]))
        self.rule = StopRule((), ())

    def of_length(self, length: int) -> PricedPlan:
        return PricedPlan(replace(self._plan, length=length), self._tokens[length], self._seconds[length])

    def stopping(self, record: Record, worth: tuple[float, ...], plain_s: float) -> PricedPlan:
        """A plan that stops where another token is not expected to pay."""
        stopped = record.rate(Policy.STOPPING, self.fixed)
        rate = max(self.fixed.rate, stopped, 1 / plain_s)
        self.rule = StopRule(stop_floors(self._tokens, self._seconds, rate), worth)
        plan = replace(self._plan, length=len(self._seconds) - 1, stop=self.rule)
        lead = _STOPPING_LEAD * stopped / record.rate(Policy.FIXED, self.fixed)
        return PricedPlan(plan, lead * self.fixed.tokens, self.fixed.seconds)

    def teach(self, record: Record, outcome: RoundOutcome) -> None:
        """Add a drafted round to each policy's record: the tokens and the price that it would have had."""
        drafts = {Policy.FIXED: min(self.fixed.plan.length, outcome.drafted)}
        if self.rule.worth and outcome.probabilities:
            drafts[Policy.STOPPING] = self.rule.would_draft(outcome.probabilities)
        for policy, drafted in drafts.items():
            rollback_s = self._rollback_s if outcome.accepted < drafted else 0.0
            record.learn(policy, min(outcome.accepted, drafted) + 1, self._round_s[drafted] + rollback_s)


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


@dataclass(slots=True)
class History:
    """What was learnt of a loaded pair. One for all its replies, engine thread only."""

    costs: RoundCosts = field(default_factory=RoundCosts)
    replies: int = 1  # that share each round
    rates: dict[tuple[str, int], AcceptRates] = field(default_factory=dict)  # by (source, grade)
    worth: defaultdict[str, Worth] = field(default_factory=partial(defaultdict, Worth))
    sharpness: defaultdict[str, Sharpness] = field(default_factory=partial(defaultdict, Sharpness))
    records: defaultdict[str, Record] = field(default_factory=partial(defaultdict, Record))
    credit: float = _START_CREDIT  # plain tokens that tries of drafts may still cost
    trusted: bool = False  # the credit was at its maximum, and not at its minimum since
    longest: dict[str, int] = field(default_factory=dict)  # accepted run, by source
    draft_speed: float = 0.0  # while parked: predicted speed with drafts, as a multiple of plain speed
    drafted: set[str] = field(default_factory=set)  # sources that have drafted
    hopes: dict[str, float] = field(default_factory=dict)  # by source, the accept rate that is expected of it
    same: dict[str, str] = field(default_factory=dict)  # of a source whose draft another one computes as well: that one
    in_rows: set[str] = field(default_factory=set)  # sources that draft for all replies of a batch in the same forwards
    _shared: dict[int, tuple[Calibration, History]] = field(default_factory=dict, repr=False)  # by number of replies

    def shared_by(self, replies: int) -> History:
        """The history for batches of `replies`: accept rates are shared, prices are not.

        A price there is the seconds of a batch's round in which each reply drafts that many tokens.
        """
        calibration = self.costs.calibration
        if replies == 1:
            return self
        if self._shared.get(replies, (None,))[0] is not calibration:
            costs = RoundCosts(calibration.shared_by(replies, self.in_rows), replies)
            anew = History(
                costs, replies, self.rates, self.worth, self.sharpness, longest=self.longest, hopes=self.hopes
            )
            anew.credit = max(self.credit, _START_CREDIT)
            anew.same = self.same
            anew.in_rows = self.in_rows
            self._shared[replies] = calibration, anew
        return self._shared[replies][1]

    def draft_in_rows(self, source: str) -> None:
        """From here on `source` drafts for all replies of a batch in the same forwards."""
        self.in_rows.add(source)
        self._shared.clear()

    def promise(self, kinds: Sequence[int]) -> float:
        """Predicted tokens a second of replies of these kinds of text at the best draft length; 0 without a draft.

        Kinds without trials count as good while there is credit.
        """
        best = 0.0
        for source in {*self.hopes, *self.costs.calibration.draft_s}:
            if not self.costs.refuses(source):
                best = max(best, fmean(self._speed(source, kind) for kind in kinds))
        return best

    def gain_of(self, source: str, kind: int) -> float:
        """Predicted tokens a second with drafts of `source` over those of the fastest way without; 0: not known."""
        plain_s = self.costs.plain_s
        if not plain_s:
            return 0.0
        others = [self._speed(each, kind) for each in self.costs.calibration.draft_s if each != source]
        return self._speed(source, kind) / max([1 / plain_s, *others])

    def _speed(self, source: str, kind: int) -> float:
        """Tokens a second at the best draft length, by what is known."""
        seconds = self.costs.prices_s(source, MAX_DRAFT_TOKENS)
        rollback_s = self.costs.rollback_s
        return Choice(
            Plan(source), self.rates_of(source, kind), seconds, rollback_s, hopeful=self.credit > 0
        ).fixed.rate

    def rates_of(self, source: str, grade: int) -> AcceptRates:
        source = self.draft_of(source)
        if (source, grade) not in self.rates:
            self.rates[source, grade] = AcceptRates(self.hopes.get(source, 0.0))
        return self.rates[source, grade]

    def draft_of(self, source: str) -> str:
        """The source by whose name its accept rates are learnt."""
        return self.same.get(source, source)

    def expect(self, source: str, rate: float) -> None:
        """`rate`: the accept rate that is published or measured of this draft; 0: not known."""
        self.hopes[source] = rate
        self._trust(rate)

    def _trust(self, rate: float) -> None:
        """A draft that is right so often is tried although its prices say that it does not pay.

        MEASURED: on a busy machine the first prices are of few forwards, some of which take ten times as long. A draft
        that gains a half was then not tried in one first reply of ten.
        """
        if rate >= _TRUSTED_RATE:
            self.credit = _MOST_CREDIT

    def recall(self, source: str, grade: int, kept: Sequence[Sequence[float]]) -> None:
        """Start with the accept rates of an earlier run. Raises ValueError if they are not valid."""
        rates = self.rates_of(source, grade)
        rates.recall(kept)
        self._trust(rates.by_position(hopeful=False)[0])
        self.longest[source] = max(rates.longest, self.longest.get(source, _FIRST_TOKENS))

    def doubt(self, source: str) -> None:
        """Reduce the source's records to a few trials: the credit fell from its maximum to its minimum."""
        self.trusted = False
        self.credit = _START_CREDIT
        for (name, _), rates in self.rates.items():
            if name == self.draft_of(source):
                rates.doubt()

    def learn(self, plan: Plan, outcome: RoundOutcome) -> None:
        """Add the outcome of a drafted round to its source's records."""
        draft = self.draft_of(plan.source)
        self.rates_of(draft, plan.grade).learn(outcome.drafted, outcome.accepted)
        self.longest[draft] = max(outcome.accepted, self.longest.get(draft, _FIRST_TOKENS))
        if outcome.probabilities:
            self.worth[draft].learn(outcome.probabilities, outcome.accepted)
        for guesses, truth in zip(outcome.guesses, outcome.truths, strict=False):
            self.sharpness[draft].learn(guesses, truth)


class FixedController:
    """The same number of tokens every round, from the first source that offers any."""

    parked = False
    draft_speed = 0.0

    def __init__(self, tokens: int, history: History) -> None:
        self._tokens = tokens
        self._history = history
        self._context_tokens = 0
        self.insists = tokens > 0  # the request fixed the draft

    def refuses(self, source: str) -> bool:
        return False

    def share(self, replies: int, context_tokens: int) -> None:
        self._context_tokens = context_tokens

    def wants(self, source: str) -> bool:
        return self._tokens > 0

    def may_read(self, offer: Offer) -> bool:
        return True

    def observe_reading(self, source: str, tokens: int, seconds: float) -> None:
        self._history.costs.observe_reading(source, tokens, seconds)

    def learn_unused(self, offer: Offer, drafted: int, accepted: int) -> None:
        self._history.rates_of(offer.source, offer.grade).learn(drafted, accepted)

    def plan(self, offers: Sequence[Offer]) -> Plan:
        offer = next((offer for offer in offers if offer.most), None)
        if offer is None or not self._tokens:
            return PLAIN
        sharpness = self._history.sharpness[self._history.draft_of(offer.source)].level
        length = offer.most if offer.certain else min(self._tokens, offer.most)
        return Plan(offer.source, length, offer.grade, sharpness=sharpness)

    def expected(self, plan: Plan, length: int) -> PricedPlan | None:
        return None

    def observe(self, plan: Plan, outcome: RoundOutcome) -> None:
        self._history.costs.context_tokens = self._context_tokens
        if outcome.seconds is not None:
            partly = outcome.accepted < outcome.checked
            self._history.costs.observe(plan.source, outcome.checked, outcome.seconds, partly=partly)
        if outcome.checked:
            self._history.learn(plan, outcome)


class AutoController:
    """The plan with the most expected tokens a second, plain decoding included.

    Where drafting is slower it is parked, and tried again from a credit, counted in plain tokens. The credit starts
    below one token a pair, and grows by 0.004 a round and by what drafting gains; every drafted round is charged price
    / plain price - tokens. So tries cost no more than the credit, and a draft that pays again is back after a few.
    While there is credit, sources without trials count as good; without, as useless.
    """

    def __init__(self, history: History, tokens: int | None = None, *, insists: bool = False) -> None:
        """`tokens`: draft either this many or none; None: any number. `insists`: draft even where it is slower."""
        self._only = tokens
        self.insists = insists
        self._alone = self._history = history
        self._costs = history.costs
        self._context_tokens = 0  # kind of the latest plan
        self._rounds = 0
        self._tokens = 1  # of this reply
        self._since_plain = 0
        self._present = _kind(PLAIN)  # plan in use
        self._choices: dict[str, Choice] = {}  # by source, the latest
        self._uncached: dict[str, int] = {}
        self._offered: dict[str, float] = {}  # tokens a second of the drafts that were ready for the latest plan
        self.parked = self._is_slower()  # as the last reply left it

    @property
    def draft_speed(self) -> float:
        """While parked: predicted speed with drafts, as a multiple of plain speed; 0 before any was tried."""
        return self._history.draft_speed if self._history.drafted else 0.0

    def share(self, replies: int, context_tokens: int) -> None:
        """Use the prices of a batch of `replies` for the next rounds; this reply has `tokens` tokens."""
        history = self._alone.shared_by(replies)
        if history is not self._history:
            self._history = history
            self._costs = history.costs
            self.parked = self._is_slower()
        self._context_tokens = self._costs.context_tokens = context_tokens

    def refuses(self, source: str) -> bool:
        """Whether `source` may not draft, because measuring it failed."""
        return self._costs.refuses(source)

    def wants(self, source: str) -> bool:
        """Whether to ask `source` for an offer. A parked source need not prefill either."""
        return not self.refuses(source) and (not self.parked or self._may_try(source))

    def may_read(self, offer: Offer) -> bool:
        """Whether a source with uncached tokens should prefill a chunk now."""
        self._uncached[offer.source] = offer.behind
        if self.insists:
            return True
        if self.parked:
            return self._may_try(offer.source)
        saving_s = self._expected_saving_s(offer)
        self.parked = saving_s == 0 and self._costs.plain_s > 0
        return self._costs.reading_s(offer.source, offer.behind) <= saving_s

    def observe_reading(self, source: str, tokens: int, seconds: float) -> None:
        self._costs.observe_reading(source, tokens, seconds)
        self._uncached[source] = max(0, self._uncached.get(source, 0) - tokens)
        # Without a price nothing is charged, so that the first try does not use up the credit.
        if self.parked and self._costs.plain_s and source in self._history.drafted:
            self._spend(self._costs.reading_s(source, tokens) / self._costs.plain_s)

    def learn_unused(self, offer: Offer, drafted: int, accepted: int) -> None:
        """How many tokens of an unused offer would have been accepted, by the tokens emitted since."""
        self._history.rates_of(offer.source, offer.grade).learn(drafted, accepted)

    def plan(self, offers: Sequence[Offer]) -> Plan:
        plain_s = self._costs.plain_s
        compares = self._rounds == _COMPARED_ROUND and self._costs.lacks_plain_passes
        if compares or not plain_s or self._since_plain >= _MOST_ROUNDS_WITHOUT_PLAIN:
            return PLAIN  # a draft is compared with a recent plain round, so one is needed now
        options = [option for offer in offers if offer.most for option in self._options(offer)]
        chosen = self._choose(options, plain_s)
        free = {offer.source for offer in offers if offer.free}
        of_drafts = [option for option in options if option.plan.source not in free]
        self._offered = {option.plan.source: option.rate for option in sorted(of_drafts, key=lambda each: each.rate)}
        if of_drafts:
            self._history.draft_speed = plain_s * max(self._offered.values())
            self.parked = not self.insists and self._history.draft_speed <= (_ADVANTAGE if self.parked else 1.0)
        if chosen is None and self.insists:
            chosen = max(options, key=lambda option: option.rate, default=None)
        elif chosen is None:
            chosen = self._try(options, plain_s)
        return PLAIN if chosen is None else chosen.plan

    def expected(self, plan: Plan, length: int) -> PricedPlan | None:
        """The latest plan with at most this length; None if it is not for the controller to shorten."""
        if not plan.length:
            return PricedPlan(plan, 1.0, self._costs.plain_s)
        if self._only or (plan.stop is not None and plan.stop.floors):
            return None
        priced = self._choices[plan.source].of_length(min(length, plan.length))
        return replace(priced, plan=replace(plan, length=priced.plan.length))

    def observe(self, plan: Plan, outcome: RoundOutcome) -> None:
        """Learn from the planned round. Without a plan the outcome's is PLAIN."""
        history = self._history
        self._costs.context_tokens = self._context_tokens  # another reply may have planned since
        self._rounds += 1
        partly = outcome.accepted < outcome.checked
        if outcome.seconds is not None:
            self._costs.observe(plan.source, outcome.checked, outcome.seconds, partly=partly)
        for rates in history.rates.values():
            rates.end_round(1 / history.replies)
        self._tokens += outcome.accepted + 1
        self._since_plain = self._since_plain + 1 if outcome.checked else 0
        cost = -_CREDIT_PER_ROUND
        if outcome.checked:
            history.drafted.add(plan.source)
            history.learn(plan, outcome)
            price_s = self._costs.price_s(plan.source, outcome.checked) + partly * self._costs.rollback_s
            cost += price_s / self._costs.plain_s - (outcome.accepted + 1)  # both prices at the same load
            if choice := self._choices.get(plan.source):
                choice.teach(history.records[plan.source], outcome)
        self._spend(min(cost, 0.0) if self.insists else cost)
        if history.credit == _MOST_CREDIT:
            history.trusted = True
        elif history.trusted and outcome.checked and history.credit == _LEAST_CREDIT:
            history.doubt(plan.source)

    def _is_slower(self) -> bool:
        return not self.insists and 0 < self._history.draft_speed < 1

    def _spend(self, cost: float) -> None:
        """Charge `cost` plain tokens; a gain is negative."""
        self._history.credit = max(_LEAST_CREDIT, min(_MOST_CREDIT, self._history.credit - cost))

    def _choose(self, options: Sequence[PricedPlan], plain_s: float) -> PricedPlan | None:
        """The fastest option if it beats plain decoding, with a margin for a change of plan."""

        def lead(option: PricedPlan) -> float:
            return option.rate * (_ADVANTAGE if _kind(option.plan) == self._present else 1.0)

        best = max(options, key=lead, default=None)
        threshold = 1.0 if self._present[0] else _ADVANTAGE
        chosen = best if best is not None and lead(best) * plain_s > threshold else None
        self._present = _kind(chosen.plan) if chosen else _kind(PLAIN)
        return chosen

    def _try(self, options: Sequence[PricedPlan], plain_s: float) -> PricedPlan | None:
        """The fastest option of the sources that may be tried, if the credit covers its cost."""
        possible = [option for option in options if self._may_try(option.plan.source)]
        best = max(possible, key=lambda option: option.rate, default=None)
        if best is None or best.seconds / plain_s - 1 > self._history.credit:
            return None
        return best

    def _may_try(self, source: str) -> bool:
        """Whether the credit covers prefilling its uncached tokens and drafting one; prefill alone is waste."""
        plain_s = self._costs.plain_s
        cost = 0.0
        if plain_s and (behind := self._uncached.get(source, 0)):
            cost = (self._costs.reading_s(source, behind) + self._costs.price_s(source, 1)) / plain_s - 1
        return self._history.credit > cost

    def _expected_saving_s(self, offer: Offer) -> float:
        """Seconds that drafting should save in the rest of the reply, assumed to be as long as the reply so far."""
        plain_s = self._costs.plain_s
        expected = max(_TYPICAL_REPLY_TOKENS, self._tokens)
        could = replace(offer, most=MAX_DRAFT_TOKENS, has_probabilities=False)
        others = [1 / rate for source, rate in self._offered.items() if source != offer.source]
        return expected * max(0.0, min([plain_s, *others]) - 1 / self._options(could)[0].rate) if plain_s else 0.0

    def _options(self, offer: Offer) -> list[PricedPlan]:
        """The best fixed length; and a draft of the same source that stops by itself, if it has probabilities.

        Not in rows of a batch: the row that stops first saves nothing.
        """
        history = self._history
        draft = history.draft_of(offer.source)
        longest = history.longest.get(draft, _FIRST_TOKENS)
        limit = MAX_DRAFT_TOKENS if offer.certain else 2 * longest
        most = min(offer.most, self._only or min(self._costs.longest_priced(offer.source), limit))
        rates = history.rates_of(offer.source, offer.grade)
        seconds = self._costs.prices_s(offer.source, most)
        plan = Plan(offer.source, grade=offer.grade, sharpness=history.sharpness[draft].level)
        choice = Choice(plan, rates, seconds, self._costs.rollback_s, hopeful=history.credit > 0)
        self._choices[offer.source] = choice
        if self._only:
            return [choice.of_length(most)]
        fixed = choice.fixed
        if not offer.has_probabilities:
            return [fixed]
        worth = history.worth[draft].by_grade
        whole = replace(fixed, plan=replace(fixed.plan, stop=StopRule((), worth)))
        if history.replies > 1 and offer.source in history.in_rows:
            return [whole]
        return [choice.stopping(history.records[offer.source], worth, self._costs.plain_s), whole]


def _kind(plan: Plan) -> tuple[str, bool]:
    """(source, whether the draft stops by itself)."""
    return plan.source, plan.stop is not None and bool(plan.stop.floors)


Controller = FixedController | AutoController  # plans each round of one reply, and learns from its outcome


def make_controller(speculation: Speculation, history: History) -> Controller:
    if speculation.mode is SpeculationMode.AUTO:
        return AutoController(history, insists=speculation.insists)
    if speculation.mode is SpeculationMode.FIXED and speculation.guarded:
        return AutoController(history, speculation.tokens, insists=speculation.insists)
    return FixedController(speculation.tokens if speculation.mode is SpeculationMode.FIXED else 0, history)
