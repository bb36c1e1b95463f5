"""Which proposer drafts how many tokens next: as asked, or what promises the most tokens per second. Pure arithmetic.

What rounds cost is learnt per loaded pair (`RoundCosts`) and outlives a reply; how often a draft is right is learnt
within one reply, because it is a matter of what is being written.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Protocol

from engine.api.types import MAX_DRAFT_TOKENS, Speculation, SpeculationMode
from engine.drafting.confidence import Confidence

LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, MAX_DRAFT_TOKENS)
_RECENT = 9
_PROBE_EVERY_ROUNDS = 48
_PROBE_SHARE = 0.01
_PROBE_LENGTHS, _GOOD = (1, 2, 4, 8), 0.8  # how often a good draft is right
_FIRST_TOKENS = 3  # of the first draft ever
# No probe in a reply's first rounds: what it is about is decided in its first words, where a draft is at its worst.
_START_ROUNDS = 8
_READING_TOKENS = 64  # fewer are read no faster
_ADVANTAGE = 1.02  # a change of plan must promise this much

# How often a source is right, before anything is known of it, and how many trials that guess weighs.
_FIRST_GUESS, _GUESS_TRIALS = 0.7, 6
_SLOWEST_LEARNING = 0.04  # an average at first, then ever less forgetful, down to this
# Of rounds in which a draft stops by itself: what is thought before any was seen, and how fast they are forgotten.
_GUESS_ROUNDS, _GUESS_TOKENS, _GATED_FADING = 2, 2.5, 0.9


@dataclass(frozen=True, slots=True)
class Offer:
    """A proposer could draft up to `most` tokens now; `grade` tells its good occasions from its poor ones.

    One that is `behind` has to read so many tokens first.
    """

    source: str
    most: int
    grade: int = 0
    gated: bool = False  # it stops by itself where it is not sure enough
    behind: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    source: str = ""
    length: int = 0
    grade: int = 0
    gated: bool = False


PLAIN = Plan()


@dataclass(frozen=True, slots=True)
class Calibration:
    """Seconds measured on this machine for this pair: a forward over so many tokens, and one token of each source."""

    verify_s: Mapping[int, float] = field(default_factory=dict)
    draft_s: Mapping[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class RoundCosts:
    """Seconds that rounds of this pair take, by source and draft length: as seen lately, or else as calibrated.

    Only recent rounds count, so that a chat that has grown long or a machine that has grown hot is priced as it is.
    """

    calibration: Calibration = field(default_factory=Calibration)
    agreement: dict[tuple[str, int], float] = field(default_factory=dict)  # where the last reply left it
    rounds: int = 0  # so far, of all replies
    last_asked: dict[str, int] = field(default_factory=dict)  # the round in which a source drafted last
    _seen: dict[tuple[str, int], deque[float]] = field(default_factory=dict)
    _gated: dict[str, tuple[float, float]] = field(default_factory=dict)  # tokens and seconds, fading
    _reading: dict[str, float] = field(default_factory=dict)  # seconds a token of what a source has to read first

    def observe(self, source: str, drafted: int, seconds: float) -> None:
        key = (source if drafted else "", drafted)
        self._seen.setdefault(key, deque(maxlen=_RECENT)).append(seconds)

    @property
    def plain_s(self) -> float:
        """A plain round; 0 while unknown."""
        return self._median("", 0) or self.calibration.verify_s.get(1, 0.0)

    def expected_s(self, source: str, length: int) -> float:
        if length == 0:
            return self.plain_s
        if seen := self._median(source, length):
            few = len(self._seen[source, length]) < 3 and self.calibration.verify_s
            return min(seen, self.plain_s + self._extra_s(source, length)) if few else seen  # the first ones warm up
        near = self._nearest_seen(source, length)
        if not near:
            return self.plain_s + self._extra_s(source, length)
        # What the nearest length took, moved by what the difference in length should cost.
        scale = self._median(source, near) / max(self.plain_s + self._extra_s(source, near), 1e-9)
        return max(self.plain_s, scale * (self.plain_s + self._extra_s(source, length)))

    def observe_reading(self, source: str, tokens: int, seconds: float) -> None:
        """The lowest price counts: one that is too high would never be corrected, for nobody would read again."""
        price_s = seconds / max(tokens, _READING_TOKENS)
        self._reading[source] = min(price_s, self._reading.get(source, price_s))

    def reading_s(self, source: str, tokens: int) -> float:
        return self._reading.get(source, 0.0) * max(tokens, _READING_TOKENS) if tokens else 0.0

    def observe_gated(self, source: str, drafted: int, tokens: int) -> None:
        """A round in which a draft stopped by itself: what counts is what such rounds bring in all.

        It is charged the median of rounds like it, for one that something else held up says nothing of the draft.
        """
        seconds = self.expected_s(source, drafted)
        held = self._gated.get(source) or (_GUESS_ROUNDS * _GUESS_TOKENS, _GUESS_ROUNDS * seconds)
        self._gated[source] = (_GATED_FADING * held[0] + tokens, _GATED_FADING * held[1] + seconds)

    def gated_rate(self, source: str) -> float:
        """Tokens per second of such rounds; before any was seen, a hopeful guess."""
        if source in self._gated:
            tokens, seconds = self._gated[source]
            return tokens / seconds
        return _GUESS_TOKENS / self.expected_s(source, 3) if self.plain_s else float("inf")

    def drafts_in_vain(self) -> bool:
        """Whether rounds of a draft model have brought less than plain ones."""
        return 0 < self.draft_speed < 1

    @property
    def draft_speed(self) -> float:
        """What rounds of a draft model bring, as a multiple of plain decoding's speed; 0 while unknown."""
        return max((self.gated_rate(source) * self.plain_s for source in self._gated), default=0.0)

    def has_seen(self, source: str) -> bool:
        """Whether `source` is a draft model that has drafted."""
        return source in self._gated

    def knows(self, source: str) -> bool:
        """Whether there is more than a guess of what `source` costs."""
        return self.has_seen(source) or bool(self.calibration.verify_s)

    def marginal_s(self, source: str) -> float:
        """What one more drafted token costs, whether it stands or not."""
        return (self._extra_s(source, 8) - self._extra_s(source, 1)) / 7

    def _extra_s(self, source: str, length: int) -> float:
        """What drafting and verifying `length` tokens adds to a plain round, by calibration."""
        verify = self.calibration.verify_s
        if 1 not in verify:
            return 0.15 * length * self.plain_s  # a guess, replaced by the first rounds seen
        drift = self.plain_s / verify[1] if verify[1] else 1.0
        widening = _interpolated(verify, length + 1) - verify[1]
        return drift * (widening + length * self.calibration.draft_s.get(source, 0.0))

    def _nearest_seen(self, source: str, length: int) -> int:
        seen = [drafted for name, drafted in self._seen if name == source and drafted]
        return min(seen, key=lambda drafted: abs(drafted - length), default=0)

    def _median(self, source: str, drafted: int) -> float:
        seen = self._seen.get((source if drafted else "", drafted))
        return median(seen) if seen else 0.0


class Controller(Protocol):
    """Plans each round of one reply and hears how it went."""

    @property
    def parked(self) -> bool: ...

    def wants(self, source: str) -> bool:
        """Whether it is worth asking `source` for an offer; a draft that rests need not even read along."""

    def lets_read(self, offer: Offer) -> bool:
        """Whether a source that is behind should read on, a chunk now."""

    def observe_reading(self, source: str, tokens: int, seconds: float) -> None: ...

    def plan(self, offers: Sequence[Offer]) -> Plan: ...

    def observe(self, plan: Plan, drafted: int, accepted: int, seconds: float | None) -> None:
        """How the planned round went; `seconds` only where they are typical of such rounds."""


class FixedController:
    """Always the same number of tokens, from the first source that offers any."""

    parked = False

    def __init__(self, tokens: int, costs: RoundCosts) -> None:
        self._tokens = tokens
        self._costs = costs

    def wants(self, source: str) -> bool:
        return self._tokens > 0 and bool(source)

    def lets_read(self, offer: Offer) -> bool:
        return True

    def observe_reading(self, source: str, tokens: int, seconds: float) -> None:
        self._costs.observe_reading(source, tokens, seconds)

    def plan(self, offers: Sequence[Offer]) -> Plan:
        offer = next((offer for offer in offers if offer.most), None)
        return Plan(offer.source, min(self._tokens, offer.most), offer.grade) if offer and self._tokens else PLAIN

    def observe(self, plan: Plan, drafted: int, accepted: int, seconds: float | None) -> None:
        assert accepted <= drafted
        if seconds is not None:
            self._costs.observe(plan.source, drafted, seconds)


class AutoController:
    """The plan with the most expected tokens per second, nothing drafted included.

    A source that has lost its place is asked again now and then, in case the text has become easier. A draft model
    decides in the round itself when to stop (`confidence.py`), at the price of a token that is set here.
    """

    def __init__(self, costs: RoundCosts, confidence: Confidence) -> None:
        self._costs = costs
        self._confidence = confidence
        self._agreement = dict(costs.agreement)
        self._trials: dict[tuple[str, int], int] = {}
        self._rounds = 0
        self._behind: dict[str, int] = {}
        self._paid = ""  # the source whose last probe did, so that another costs nothing
        self._present = PLAIN
        self.parked = costs.drafts_in_vain()  # as the last reply left it; asked again after a while

    def wants(self, source: str) -> bool:
        return not (self.parked and self._costs.has_seen(source)) or self._probe_due(source)

    def lets_read(self, offer: Offer) -> bool:
        """Until it is parked a draft reads at once; then only where that is as cheap as a probe has to be."""
        self._behind[offer.source] = offer.behind
        return not self.parked or self._probe_due(offer.source)

    def observe_reading(self, source: str, tokens: int, seconds: float) -> None:
        self._costs.observe_reading(source, tokens, seconds)

    def plan(self, offers: Sequence[Offer]) -> Plan:
        if not self._costs.plain_s:
            return PLAIN  # what a draft is worth can only be said against a plain round
        self._behind.update((offer.source, offer.behind) for offer in offers)
        plans = [PLAIN, *(plan for offer in offers if offer.most for plan in _plans(offer))]
        best = max(plans, key=self._tokens_per_second)
        hold = self._present in plans and self._tokens_per_second(best) < _ADVANTAGE * self._tokens_per_second(
            self._present
        )
        self._present = best = self._present if hold else best
        if any(offer.most and offer.gated for offer in offers):  # else no draft was asked, and nothing is known anew
            self.parked = best == PLAIN
        if best == PLAIN:
            due = next((offer for offer in offers if offer.most and self._probe_due(offer.source)), None)
            if due:
                best = Plan(due.source, min(self._probe_tokens(due.source), due.most), due.grade, due.gated)
        if best.gated:
            self._confidence.floor = self._floor(best.source)
            if not self._costs.knows(best.source):  # the first draft ever is a short one
                best = replace(best, length=min(_FIRST_TOKENS, best.length))
        return best

    def observe(self, plan: Plan, drafted: int, accepted: int, seconds: float | None) -> None:
        self._rounds += 1
        self._costs.rounds += 1
        if seconds is not None:
            self._costs.observe(plan.source, drafted, seconds)
        if not drafted:
            return
        self._costs.last_asked[plan.source] = self._costs.rounds
        if plan.gated and self.parked:  # counted when made: a step in flight may have put the planned one off
            self._paid = plan.source if self._pays(plan.source, drafted, accepted + 1) else ""
        if plan.gated and seconds is not None:
            self._costs.observe_gated(plan.source, drafted, accepted + 1)
            return
        for trial in range(min(accepted + 1, drafted)):
            self._learn((plan.source, plan.grade), trial < accepted)

    def _learn(self, key: tuple[str, int], right: bool) -> None:
        self._trials[key] = trials = self._trials.get(key, _GUESS_TRIALS) + 1
        agreement = self._agreement.get(key, _FIRST_GUESS)
        self._agreement[key] = agreement + max(1 / trials, _SLOWEST_LEARNING) * (right - agreement)
        self._costs.agreement[key] = self._agreement[key]

    def _probe_due(self, source: str) -> bool:
        """Rarely enough to cost at most about a hundredth of the time, counted over all replies."""
        if self._paid == source:
            return True
        plain_s = self._costs.plain_s
        extra_s = max(0.0, self._costs.expected_s(source, self._probe_tokens(source)) - plain_s)
        extra_s += self._costs.reading_s(source, self._behind.get(source, 0))
        interval = max(_PROBE_EVERY_ROUNDS, extra_s / plain_s / _PROBE_SHARE if plain_s else 0.0)
        rested = self._costs.rounds - self._costs.last_asked.get(source, 0)
        return self._rounds >= _START_ROUNDS and rested >= interval

    def _probe_tokens(self, source: str) -> int:
        """The shortest draft that would pay if it were a good one; if none would, the cheapest."""
        good = ((length, sum(_GOOD**position for position in range(length + 1))) for length in _PROBE_LENGTHS)
        return next((length for length, tokens in good if self._pays(source, length, tokens)), _PROBE_LENGTHS[0])

    def _pays(self, source: str, drafted: int, tokens: float) -> bool:
        """Whether rounds that bring so many tokens are faster than plain ones."""
        return tokens * self._costs.plain_s > _ADVANTAGE * self._costs.expected_s(source, drafted)

    def _floor(self, source: str) -> float:
        """The chance below which one more token costs more time than it is expected to save."""
        if not self._costs.plain_s:
            return 0.0
        return min(0.9, self._costs.marginal_s(source) * self._costs.gated_rate(source))

    def _tokens_per_second(self, plan: Plan) -> float:
        if plan.gated:
            return self._costs.gated_rate(plan.source)
        agreement = self._agreement.get((plan.source, plan.grade), _FIRST_GUESS)
        tokens = sum(agreement**position for position in range(plan.length + 1))
        seconds = self._costs.expected_s(plan.source, plan.length)
        return tokens / seconds if seconds else tokens


def _plans(offer: Offer) -> list[Plan]:
    lengths = [offer.most] if offer.gated else sorted({min(length, offer.most) for length in LENGTHS})
    return [Plan(offer.source, length, offer.grade, offer.gated) for length in lengths]


def make_controller(speculation: Speculation, costs: RoundCosts, confidence: Confidence | None = None) -> Controller:
    confidence = confidence or Confidence()
    if speculation.mode is SpeculationMode.AUTO:
        return AutoController(costs, confidence)
    confidence.floor = 0.0
    return FixedController(speculation.tokens if speculation.mode is SpeculationMode.FIXED else 0, costs)


def _interpolated(seconds: Mapping[int, float], width: int) -> float:
    widths = sorted(seconds)
    if width in seconds or len(widths) == 1:
        return seconds.get(width, seconds[widths[0]])
    upper = next((at for at, known in enumerate(widths) if known > width), len(widths) - 1)
    low, high = widths[max(upper - 1, 0)], widths[max(upper, 1)]
    share = (width - low) / (high - low)
    return seconds[low] + share * (seconds[high] - seconds[low])
