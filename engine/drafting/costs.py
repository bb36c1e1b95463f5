"""What rounds of a loaded pair take on this machine, in seconds: measured at rest, corrected by what rounds took.

One price for each (source, drafted tokens), so that plans can be compared. Pure arithmetic: no MLX, no clock.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median

from engine.api.types import MAX_DRAFT_TOKENS
from engine.drafting.baseline import Baselines, depth_of

MAX_WIDTH = MAX_DRAFT_TOKENS + 1
_PADDING_GAIN = 0.97  # a forward is padded only where that takes at most so much of the time
_RECENT = 7
_READING_TOKENS = 64  # reading fewer takes as long
_GUESSED_TOKEN = 0.13  # before anything is measured: a drafted token and checking it, as a share of a plain round
_CALIBRATION_MEETINGS = 2.0  # with plain rounds: the calibration weighs as much as so many of them
_SLOWEST_LEARNING = 0.05
# What rounds of a length are seen to take says so much of each length next to it; and is worth so much less for each
# later meeting of its source: else a length that looks dear by bad luck is not drafted, and so never looks cheaper.
_LIKENESS, _FADING, _MOST_MEETINGS = 0.3, 0.97, 20
_ROUGH_ERROR = 0.1  # of a drafted pass, in plain ones
_MOST_TOKENS_SEEN = 30  # of older ones is learnt no slower
# One round corrects a price by no more than this; one that was measured by less: a round of four times its time says
# that something else ran meanwhile.
_LARGEST_STEP, _LARGEST_CORRECTION = math.log(1.5), math.log(1.2)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Seconds measured on this machine for this pair: a forward over so many tokens, a token of each source, and what a
    draft of it takes however short it is.

    `rollback_s` is what forgetting a part of a forward costs, where the caches fold tokens together.
    """

    verify_s: Mapping[int, float] = field(default_factory=dict)
    draft_s: Mapping[str, float] = field(default_factory=dict)
    rollback_s: float = 0.0
    round_s: Mapping[str, float] = field(default_factory=dict)
    rounding: float = 0.0  # by how much a logit differs between a wide forward and narrow ones
    per_pass: float | None = None  # of a drafter, on replies of its main model
    misread: str = ""  # what of it seems to be read the wrong way round
    error: float = 0.0  # of one of its times beside another, as a share

    def shared_by(self, replies: int) -> Calibration:
        """Of a batch: a forward over so many tokens of each reply, and a draft for each.

        A forward over rows is taken to last as long as one over as many tokens of one text.
        """
        verify_s = {width: _continued(self.verify_s, width * replies) for width in self.verify_s}
        drafts = (
            {source: replies * seconds for source, seconds in times.items()} for times in (self.draft_s, self.round_s)
        )
        draft_s, round_s = drafts
        return Calibration(verify_s, draft_s, self.rollback_s, round_s, error=self.error)


Kind = tuple[str, int, int]  # of a round: its source, drafted tokens, depth


@dataclass(frozen=True, slots=True)
class Took:
    """What rounds have taken, in plain rounds; 0: not known."""

    plain_rounds: float = 0.0
    error: float = 0.0  # one standard error, as a share
    plain_passes: float = 0.0  # that this rests on


class RoundCosts:
    """Prices of this pair's rounds. Outlives a reply.

    A price is the calibrated time, times how much slower everything is just now (a long chat, a hot or busy machine),
    times what rounds of this length have taken beyond their calibration. Without a calibration every drafted token adds
    the same share of a plain round, learnt from the rounds seen.
    """

    def __init__(self, calibration: Calibration | None = None) -> None:
        self.calibration = calibration or Calibration()

    @property
    def calibration(self) -> Calibration:
        return self._calibration

    @calibration.setter
    def calibration(self, calibration: Calibration) -> None:
        """Forgets the rounds seen before, for they were compared with another calibration."""
        self._calibration = calibration
        self._forward_s = _forward_times(calibration.verify_s)
        self.baselines = Baselines(calibrated=self.calibrated, error=calibration.error)
        self._padded = _padded_widths(self._forward_s, calibration)
        # The latest rounds: source, drafted tokens, log of what they took beyond the price known then.
        self._recent: deque[tuple[str, int, float]] = deque(maxlen=_RECENT)
        self._now = 1.0  # how much more than its price a round takes just now
        self._beyond: dict[str, _Excess] = {}  # by source
        self._token_share: dict[str, tuple[float, int]] = {}  # without a calibration: of a plain round, tokens seen
        self._drafted: dict[str, int] = {}  # tokens so far, by source
        self._reading: dict[str, float] = {}  # seconds a token of what a source has to read first

    @property
    def calibrated(self) -> bool:
        return bool(self._calibration.verify_s)

    def refuses(self, source: str) -> bool:
        """Whether what was measured has no price of this draft, for it could not be measured."""
        return self.calibrated and source not in self._calibration.draft_s

    def padded(self, width: int) -> int:
        """The width at which a forward over `width` tokens is fastest: `width` itself, or a little more."""
        return self._padded[width] if width < len(self._padded) else width

    @property
    def plain_s(self) -> float:
        """A plain round, as things are now; 0 while unknown."""
        return self.price_s("", 0)

    def price_s(self, source: str, length: int) -> float:
        """A round in which `source` drafts `length` tokens; 0 while nothing is known."""
        if not self._recent and not self.calibrated:
            return 0.0
        return self._now * self._expected_s(source, length)

    def prices_s(self, source: str, longest: int) -> list[float]:
        """The same for lengths of 0 to `longest`."""
        return [self._now * self._expected_s(source, length) for length in range(longest + 1)]

    def in_plain_rounds(self, rounds: Mapping[Kind, int], reading_s: float = 0.0) -> Took:
        """What so many rounds take, in plain rounds; `reading_s` is what drafts have read meanwhile.

        A drafted round takes its calibrated price beside a plain one's, times what the baseline says of its source and
        depth; never less than a plain round.
        """
        plain_s, error, passes = self._calibrated_s("", 0), 0.0, 0.0
        if not self._recent and not self.calibrated:
            return Took()
        total = reading_s / (self._now * self._expected_s("", 0))
        for (source, drafted, depth), count in rounds.items():
            if not drafted:
                total += count
                continue
            baseline = self.baselines.of(source, depth)
            cost = count * max(1.0, self._calibrated_s(source, drafted) / plain_s * math.exp(baseline.excess))
            total += cost
            error += cost * baseline.error
            passes += cost * baseline.plain_passes
        drafted_cost = total - sum(count for (_, drafted, _), count in rounds.items() if not drafted)
        return Took(total, error / total, passes / drafted_cost if drafted_cost else 0.0) if total else Took()

    @property
    def lacks_plain_passes(self) -> bool:
        """Whether what drafted passes take beside plain ones is known so roughly that a plain one is worth its time."""
        latest = self.baselines.latest
        return latest is not None and latest.error > _ROUGH_ERROR

    def observe_pass(self, kind: Kind, began_at: float, ended_at: float) -> None:
        """A pass of a reply, from the token before it to its last one, all that belongs to it included."""
        source, drafted, depth = kind
        beyond = math.log(max(ended_at - began_at, 1e-9) / self._calibrated_s(source, drafted))
        self.baselines.see(source if drafted else "", depth, beyond, began_at, ended_at)

    def longest_priced(self, source: str) -> int:
        """Drafts of up to so many tokens have a price that can be relied on."""
        if self.calibrated:
            return MAX_DRAFT_TOKENS
        return min(MAX_DRAFT_TOKENS, 1 + self._drafted.get(source, 0))

    def observe(self, source: str, drafted: int, seconds: float) -> None:
        """A round of this kind took `seconds`, all that belongs to it included."""
        self._drafted[source] = self._drafted.get(source, 0) + drafted
        ratio = math.log(max(seconds, 1e-9) / self._expected_s(source, drafted))
        before = [seen for seen in self._recent if bool(seen[1]) != bool(drafted)]
        if before and 2 * len(before) >= len(self._recent):
            changed = ratio - median(seen[2] for seen in before)
            if drafted:
                self._learn(source, drafted, changed)
            else:
                self._learn(before[-1][0], before[-1][1], -changed)
        self._recent.append((source, drafted, math.log(max(seconds, 1e-9) / self._expected_s(source, drafted))))
        self._now = math.exp(median(ratio for *_, ratio in self._recent))

    def _expected_s(self, source: str, length: int) -> float:
        beyond = self._beyond[source].of(length) if length and source in self._beyond else 0.0
        return self._calibrated_s(source, length) * math.exp(beyond)

    def _calibrated_s(self, source: str, length: int) -> float:
        if not self.calibrated:
            return 1 + length * self._token_share.get(source, (_GUESSED_TOKEN, 0))[0]
        drafting = self._calibration
        draft_s = drafting.round_s.get(source, 0.0) + length * drafting.draft_s.get(source, 0.0) if length else 0.0
        return self._forward_s[self.padded(length + 1)] + draft_s

    def _learn(self, source: str, drafted: int, excess: float) -> None:
        """Beside plain rounds just before or after, rounds of this length took more than their price, by this log.

        Only where plain and drafted rounds meet: else a busy machine could not be told from a length that costs more.
        """
        largest = _LARGEST_CORRECTION if self.calibrated else _LARGEST_STEP
        excess = max(-largest, min(largest, excess))
        if not self.calibrated:
            share, tokens = self._token_share.get(source, (_GUESSED_TOKEN, 0))
            seen = ((1 + drafted * share) * math.exp(excess) - 1) / drafted
            # The guess counts as a token: a draft's very first round also pays for what is done once.
            share += drafted / (tokens + drafted + 1) * (max(0.0, seen) - share)
            self._token_share[source] = (share, min(tokens + drafted, _MOST_TOKENS_SEEN))
            return
        self._beyond.setdefault(source, _Excess()).learn(drafted, excess)

    def observe_reading(self, source: str, tokens: int, seconds: float) -> None:
        """The lowest price counts: one that is too high would never be corrected, for nobody would read again."""
        price_s = seconds / max(tokens, _READING_TOKENS)
        self._reading[source] = min(price_s, self._reading.get(source, price_s))

    def reading_s(self, source: str, tokens: int) -> float:
        """What `source` takes to read so many tokens of the chat; 0 while unknown."""
        return self._reading.get(source, 0.0) * max(tokens, _READING_TOKENS) if tokens else 0.0


class _Excess:
    """What rounds of a source took beyond their calibrated price, where they met plain ones: logs, by their length."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[float, int, int]] = {}  # the log, meetings, and which the latest was, of all
        self._count = 0  # meetings of all lengths
        self._known: dict[int, float] = {}  # what `of` has answered since the latest meeting

    def meetings(self, length: int) -> int:
        return self._seen[length][1] if length in self._seen else 0

    def of(self, length: int) -> float:
        """Of this length, and of those near it."""
        if length not in self._known:
            total = weights = 0.0
            for seen, (log, meetings, latest) in self._seen.items():
                weight = min(meetings, _MOST_MEETINGS) * _FADING ** (self._count - latest)
                weight *= _LIKENESS ** abs(seen - length)
                total, weights = total + weight * log, weights + weight
            self._known[length] = total / weights if weights else 0.0
        return self._known[length]

    def learn(self, length: int, excess: float) -> None:
        """A round of this length took more than its price by this log."""
        expected, meetings = self.of(length), self.meetings(length)
        log = self._seen[length][0] if meetings else expected
        weight = max(1 / (meetings + 1 + _CALIBRATION_MEETINGS), _SLOWEST_LEARNING)
        self._count += 1
        self._known.clear()
        self._seen[length] = (log + weight * (expected + excess - log), meetings + 1, self._count)


class Account:
    """What the own rounds of one reply have taken, in plain rounds. Each is priced as its own draft is."""

    def __init__(self, costs: RoundCosts) -> None:
        self._costs = costs
        self._rounds: Counter[Kind] = Counter()  # since the draft last changed
        self._before = Took()

    def count(self, source: str, drafted: int, context_tokens: int = 0) -> Kind:
        kind = (source if drafted else "", drafted, depth_of(context_tokens))
        self._rounds[kind] += 1
        return kind

    def time(self, kind: Kind, began_at: float, ended_at: float) -> None:
        """Of a round that took what such rounds take, from the token before it to its last one."""
        self._costs.observe_pass(kind, began_at, ended_at)

    def total(self, reading_s: float) -> Took:
        """`reading_s` is what the present draft has read in this reply."""
        now, before = self._costs.in_plain_rounds(self._rounds, reading_s), self._before
        if not now.plain_rounds and self._rounds:
            return Took()
        total = before.plain_rounds + now.plain_rounds
        if not total:
            return Took()
        error = (before.plain_rounds * before.error + now.plain_rounds * now.error) / total
        return Took(total, error, now.plain_passes if now.error else before.plain_passes)

    def change_draft(self, costs: RoundCosts, reading_s: float) -> None:
        """What is counted from here on has the prices `costs`."""
        total = self.total(reading_s)
        if total.plain_rounds:
            self._before = total
            self._rounds.clear()
        self._costs = costs


def _forward_times(verify_s: Mapping[int, float]) -> tuple[float, ...]:
    """Seconds by width, 0 to MAX_WIDTH; widths that were not measured lie on lines between those that were."""
    if not verify_s:
        return ()
    widths = sorted(verify_s)
    return tuple(_interpolated(verify_s, widths, max(width, 1)) for width in range(MAX_WIDTH + 1))


def _interpolated(seconds: Mapping[int, float], widths: list[int], width: int) -> float:
    if width in seconds or len(widths) == 1:
        return seconds.get(width, seconds[widths[0]])
    upper = next((at for at, known in enumerate(widths) if known > width), len(widths) - 1)
    low, high = widths[max(upper - 1, 0)], widths[max(upper, 1)]
    return seconds[low] + (width - low) / (high - low) * (seconds[high] - seconds[low])


def _continued(seconds: Mapping[int, float], width: int) -> float:
    """The same, also far beyond the widest that was measured: as steep as from half of that on, and never cheaper.

    The last two lie side by side: the line through them is made of noise, or of the step between two tiles.
    """
    widths = sorted(seconds)
    widest = widths[-1]
    half = max((known for known in widths if 2 * known <= widest), default=widest)
    if width <= widest or half == widest:
        return _interpolated(seconds, widths, min(width, widest))
    steepness = max(0.0, (seconds[widest] - seconds[half]) / (widest - half))
    return seconds[widest] + (width - widest) * steepness


def _padded_widths(forward_s: tuple[float, ...], calibration: Calibration) -> tuple[int, ...]:
    """Nothing is padded for a difference that may well be the calibration's error: the cheapest of many looks lucky."""
    padded, gain = [], _PADDING_GAIN - 2 * calibration.error
    for width in range(len(forward_s)):
        best = min(range(width, len(forward_s)), key=lambda wider: forward_s[wider])
        pays = forward_s[best] + calibration.rollback_s < gain * forward_s[width]
        padded.append(best if pays and width else width)
    return tuple(padded)
