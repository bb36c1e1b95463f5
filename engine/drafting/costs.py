"""Prices of rounds: seconds on this machine, calibrated while idle, corrected by the rounds since.

One price for each (source, drafted tokens), so that plans can be compared. Pure arithmetic: no MLX, no clock.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median

from engine.api.types import MAX_DRAFT_TOKENS, ForwardTimes
from engine.drafting.pass_ratio import BAD_LUCK, PassRatios, depth_of, tokens_at

MAX_WIDTH = MAX_DRAFT_TOKENS + 1
_PADDING_GAIN = 0.97  # a forward is padded only if that takes at most this share of the time
_RECENT = 7
_READING_TOKENS = 64  # prefilling fewer takes as long as this many
_GUESSED_TOKEN = 0.13  # uncalibrated cost of drafting, and of verifying, a token, as a share of a plain round
_CALIBRATION_MEETINGS = 2.0  # weight of the calibration's excess, in comparisons with plain rounds
_SLOWEST_LEARNING = 0.05
_ROUGH_ERROR = 0.1  # of a drafted pass in plain passes, as a share
_MOST_TOKENS_SEEN = 30  # tokens after which the weight of a new round stays constant
_ROUND_SHARE = 0.05  # time of a drafted round besides its forwards, as a share of a plain step
_LIKE = 2.0  # models within this factor of the size are comparable
# Of a draft's time, what is spent on each row by itself. MEASURED: for four rows small drafts take 1.4 to 2.1 times as
# long as for one, where forwards take 1.1 times as long.
_APART = 0.25
_CLOCK_NOISE = 0.2  # one standard error of a round's seconds, as a share
_DRAFT = "draft"
# Largest correction by one round, in logs, without and with a calibration: a round of four times its price shows that
# something else ran meanwhile.
_LARGEST_STEP = math.log(1.5)
_LARGEST_CORRECTION = math.log(1.2)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Seconds measured on this machine for this pair: `verify_s` of a forward by width, `draft_s` of a drafted token by
    source, `round_s` of a draft besides its tokens by source.

    `rollback_s`: of a partial commit, where a cache folds tokens into one state. `deep_s`, `draft_deep_s`: what each
    token of context adds to a forward, by width, and to a drafted token, by source; empty if not measured.
    """

    verify_s: Mapping[int, float] = field(default_factory=dict)
    draft_s: Mapping[str, float] = field(default_factory=dict)
    rollback_s: float = 0.0
    round_s: Mapping[str, float] = field(default_factory=dict)
    rounding: float = 0.0  # largest difference of log-probabilities between wide and narrow forwards, in nats
    per_pass: float | None = None  # of a drafter, on replies of its main model
    misread: str = ""  # the convention of a drafter that is probably read the wrong way
    error: float = 0.0  # relative standard error of a ratio of its times
    deep_s: Mapping[int, float] = field(default_factory=dict)
    draft_deep_s: Mapping[str, float] = field(default_factory=dict)

    def shared_by(self, replies: int, in_rows: Collection[str] = ()) -> Calibration:
        """The calibration of a batch in which each reply drafts; sources `in_rows` draft for all in the same forwards,
        others for one after the other.

        A forward over rows is assumed to take as long as one over as many tokens of one text, a draft's to grow with
        its rows as the main model's do, and contexts to be alike.
        """
        verify_s = {width: _continued(self.verify_s, width * replies) for width in self.verify_s}
        together = verify_s[1] / self.verify_s[1] if self.verify_s else 1.0
        growth = dict.fromkeys(in_rows, together + _APART * (replies - together))

        def for_all(times: Mapping[str, float]) -> dict[str, float]:
            return {source: growth.get(source, replies) * seconds for source, seconds in times.items()}

        deep_s = {width: replies * seconds for width, seconds in self.deep_s.items()}
        draft_deep_s = {source: replies * seconds for source, seconds in self.draft_deep_s.items()}
        draft_s = for_all(self.draft_s)
        round_s = for_all(self.round_s)
        return Calibration(
            verify_s, draft_s, self.rollback_s, round_s, error=self.error, deep_s=deep_s, draft_deep_s=draft_deep_s
        )


RoundKind = tuple[str, int, int]  # of a round: source, drafted tokens, depth


@dataclass(frozen=True, slots=True)
class TimeInPlainRounds:
    """The time of several rounds, in plain rounds; 0: not known."""

    plain_rounds: float = 0.0
    error: float = 0.0  # one standard error, as a share
    plain_passes: float = 0.0  # number of plain passes measured for it


class RoundCosts:
    """Prices of this pair's rounds, in seconds. Outlives a reply.

    price(source, n) = now * exp(excess(source)) * (forward(n + 1) + round_s(source) + n * draft_s(source))
    and `rollback_s` more where some of the n are rejected

    `forward`, `round_s` and `draft_s` are calibrated, forward and draft_s as a constant and a part for each token of
    context; a plain round is forward(1). `now` is the median of measured / predicted over the latest rounds: a hot or
    busy machine. `excess` is the log of what drafted rounds took beyond plain ones measured next to them. Without a
    calibration the last factor is 1 + n * share, where `share` is learnt from rounds; then only ratios of prices mean
    anything until `now` is known.
    """

    def __init__(self, calibration: Calibration | None = None, replies: int = 1) -> None:
        """`replies` share each round; each drafts as many tokens as its price is asked for."""
        self._guessed_token = replies * _GUESSED_TOKEN / (1 + (replies - 1) * _GUESSED_TOKEN)
        self._alone = replies == 1
        self.context_tokens = 0  # of the reply whose round is planned or observed; all prices depend on it
        # of sources that draft on another device: seconds of a draft besides its tokens, and of each token
        self.elsewhere: dict[str, tuple[float, float]] = {}
        self.calibrate(calibration or Calibration())

    def calibrate(self, calibration: Calibration) -> None:
        """Drops all observed rounds: they were compared with the former calibration."""
        self.calibration = calibration
        self._forward_s = _forward_times(calibration.verify_s)
        self._deep_s = _forward_times(calibration.deep_s) or (0.0,) * len(self._forward_s)
        self.ratios = PassRatios(calibrated=self.calibrated, error=calibration.error)
        self._padded = _padded_widths(self._forward_s, calibration)
        # the latest rounds: (source, drafted tokens, log(measured / predicted))
        self._recent: deque[tuple[str, int, float]] = deque(maxlen=_RECENT)
        self._now = 1.0  # median of measured / predicted
        self._beyond: dict[str, tuple[float, int]] = {}  # by source: (excess, comparisons with plain rounds)
        self._token_share: dict[str, tuple[float, int]] = {}  # by source: (share a drafted token, tokens seen)
        self._drafted: dict[str, int] = {}  # tokens drafted so far, by source
        self._reading: dict[str, float] = {}  # seconds of prefill for each token, by source

    @property
    def calibrated(self) -> bool:
        return bool(self.calibration.verify_s)

    def refuses(self, source: str) -> bool:
        """Whether the calibration lacks this source, because measuring it failed."""
        return self.calibrated and source not in self.calibration.draft_s and source not in self.elsewhere

    def padded(self, width: int) -> int:
        """The fastest width for a forward over `width` tokens: `width`, or a little more."""
        return self._padded[width] if width < len(self._padded) else width

    @property
    def plain_s(self) -> float:
        """Price of a plain round at present, in seconds; 0 while unknown."""
        return self.price_s("", 0)

    def price_s(self, source: str, length: int) -> float:
        """Price of a round in which `source` drafts `length` tokens, in seconds; 0 while unknown."""
        if not self._recent and not self.calibrated:
            return 0.0
        return self._now * self._expected_s(source, length)

    @property
    def rollback_s(self) -> float:
        """Seconds at present of a round of which some tokens are rejected, besides its price; of a batch's rounds, in
        almost all of which some are, it is part of what they are seen to take beyond their price.
        """
        return self._now * self.calibration.rollback_s if self._alone else 0.0

    def prices_s(self, source: str, longest: int) -> list[float]:
        """Prices for lengths of 0 to `longest`, in seconds."""
        return [self._now * self._expected_s(source, length) for length in range(longest + 1)]

    def in_plain_rounds(
        self, rounds: Mapping[RoundKind, int], reading_s: float = 0.0, context_tokens: int = 0
    ) -> TimeInPlainRounds:
        """With a calibration: the time of these rounds and of `reading_s` of draft prefill, in plain rounds at the same
        context.

        drafted round = max(1, calibrated price / calibrated plain price * exp(excess of its source and depth)).
        """
        error = passes = 0.0
        total = reading_s / (self._now * self._calibrated_s("", 0, context_tokens))
        for (source, drafted, depth), count in rounds.items():
            if not drafted:
                total += count
                continue
            ratio = self.ratios.of(source, depth)
            context = tokens_at(depth)
            drafted_s = self._calibrated_s(source, drafted, context)
            plain_s = self._calibrated_s("", 0, context)
            cost = count * max(1.0, drafted_s / plain_s * math.exp(ratio.excess))
            total += cost
            error += cost * ratio.error
            passes += cost * ratio.plain_passes
        drafted_cost = total - sum(count for (_, drafted, _), count in rounds.items() if not drafted)
        return (
            TimeInPlainRounds(total, error / total, passes / drafted_cost if drafted_cost else 0.0)
            if total
            else TimeInPlainRounds()
        )

    @property
    def lacks_plain_passes(self) -> bool:
        """Whether plain passes are worth their time, because the error of drafted passes is large."""
        latest = self.ratios.latest
        return latest is not None and latest.error > _ROUGH_ERROR

    def observe_pass(self, kind: RoundKind, began_at: float, ended_at: float) -> None:
        """A pass of a reply, from its last token before (`began_at`) to its own last token (`ended_at`), in seconds."""
        source, drafted, depth = kind
        beyond = math.log(max(ended_at - began_at, 1e-9) / self._calibrated_s(source, drafted, tokens_at(depth)))
        self.ratios.see(source if drafted else "", depth, beyond, began_at, ended_at)

    def longest_priced(self, source: str) -> int:
        """The longest draft with a reliable price, in tokens."""
        if self.calibrated:
            return MAX_DRAFT_TOKENS
        return min(MAX_DRAFT_TOKENS, 1 + self._drafted.get(source, 0))

    def observe(self, source: str, drafted: int, seconds: float, *, partly: bool = False) -> None:
        """A round with `drafted` tokens of `source` took `seconds` in all. `partly`: some were rejected."""
        self._drafted[source] = self._drafted.get(source, 0) + drafted
        rollback_s = self.calibration.rollback_s if partly and self._alone else 0.0
        ratio = math.log(max(seconds, 1e-9) / (self._expected_s(source, drafted) + rollback_s))
        before = [seen for seen in self._recent if bool(seen[1]) != bool(drafted)]
        if before and 2 * len(before) >= len(self._recent):
            changed = ratio - median(seen[2] for seen in before)
            if drafted:
                self._learn(source, drafted, changed)
            else:
                self._learn(before[-1][0], before[-1][1], -changed)
        expected_s = self._expected_s(source, drafted) + rollback_s
        self._recent.append((source, drafted, math.log(max(seconds, 1e-9) / expected_s)))
        self._now = math.exp(median(ratio for *_, ratio in self._recent))

    def _expected_s(self, source: str, length: int) -> float:
        beyond, _ = self._beyond.get(source, (0.0, 0)) if length else (0.0, 0)
        return self._calibrated_s(source, length, self.context_tokens) * math.exp(beyond)

    def _calibrated_s(self, source: str, length: int, context_tokens: int) -> float:
        if not self.calibrated:
            return 1 + length * self._token_share.get(source, (self._guessed_token, 0))[0]
        drafting = self.calibration
        width = self.padded(length + 1)
        token_s = drafting.draft_s.get(source, 0.0) + context_tokens * drafting.draft_deep_s.get(source, 0.0)
        round_s = drafting.round_s.get(source, 0.0)
        if source in self.elsewhere:
            round_s, token_s = self.elsewhere[source]
        draft_s = round_s + length * token_s if length else 0.0
        return self._forward_s[width] + context_tokens * self._deep_s[width] + draft_s

    def _learn(self, source: str, drafted: int, excess: float) -> None:
        """`excess`: log(measured / predicted) of a drafted round, minus that of plain rounds next to it.

        Learnt only next to plain rounds: else a busy machine would look like an expensive draft.
        """
        largest = _LARGEST_CORRECTION if self.calibrated else _LARGEST_STEP
        excess = max(-largest, min(largest, excess))
        if not self.calibrated:
            share, tokens = self._token_share.get(source, (self._guessed_token, 0))
            seen = ((1 + drafted * share) * math.exp(excess) - 1) / drafted
            # the guess weighs as one token: a draft's first round includes one-time costs
            share += drafted / (tokens + drafted + 1) * (max(0.0, seen) - share)
            self._token_share[source] = (share, min(tokens + drafted, _MOST_TOKENS_SEEN))
            return
        beyond, meetings = self._beyond.get(source, (0.0, 0))
        weight = max(1 / (meetings + 1 + _CALIBRATION_MEETINGS), _SLOWEST_LEARNING)
        self._beyond[source] = beyond + weight * excess, meetings + 1

    def observe_reading(self, source: str, tokens: int, seconds: float) -> None:
        """Keeps the lowest price: one that is too high would stop the prefill, and never be corrected."""
        price_s = seconds / max(tokens, _READING_TOKENS)
        self._reading[source] = min(price_s, self._reading.get(source, price_s))

    def reading_s(self, source: str, tokens: int) -> float:
        """Seconds of `source` to prefill `tokens` of the chat; 0 while unknown."""
        return self._reading.get(source, 0.0) * max(tokens, _READING_TOKENS) if tokens else 0.0


class ReplyTime:
    """The time of a reply's unshared rounds, in plain rounds. Each round has the prices of the draft loaded then."""

    def __init__(self, costs: RoundCosts) -> None:
        self._costs = costs
        self._rounds: Counter[RoundKind] = Counter()  # since the draft last changed
        self._context_tokens = 0  # at the latest round
        self._before = TimeInPlainRounds()
        # before there is a calibration: seconds of rounds without a draft, and with one
        self._timed: dict[bool, list[float]] = {False: [], True: []}

    def count(self, source: str, drafted: int, context_tokens: int = 0) -> RoundKind:
        self._context_tokens = context_tokens
        kind = (source if drafted else "", drafted, depth_of(context_tokens))
        self._rounds[kind] += 1
        return kind

    def time(self, kind: RoundKind, began_at: float, ended_at: float) -> None:
        """Seconds of a typical round, from the previous reply token to its own last token."""
        self._costs.observe_pass(kind, began_at, ended_at)
        if not self._costs.calibrated:
            self._timed[bool(kind[1])].append(ended_at - began_at)

    def total(self, reading_s: float) -> TimeInPlainRounds:
        """`reading_s`: seconds that the present draft has prefilled in this reply."""
        known = self._costs.calibrated
        now = (
            self._costs.in_plain_rounds(self._rounds, reading_s, self._context_tokens)
            if known
            else self._by_clock(reading_s)
        )
        before = self._before
        if not now.plain_rounds and self._rounds:
            return TimeInPlainRounds()
        total = before.plain_rounds + now.plain_rounds
        if not total:
            return TimeInPlainRounds()
        error = (before.plain_rounds * before.error + now.plain_rounds * now.error) / total
        return TimeInPlainRounds(total, error, now.plain_passes if now.error else before.plain_passes)

    def change_draft(self, costs: RoundCosts, reading_s: float) -> None:
        """Use the prices `costs` for the rounds from here on."""
        total = self.total(reading_s)
        if total.plain_rounds:
            self._before = total
            self._rounds.clear()
            self._timed = {False: [], True: []}
        self._costs = costs

    def _by_clock(self, reading_s: float) -> TimeInPlainRounds:
        """drafted round = mean of those that were timed / median of the plain ones"""
        plain = self._timed[False]
        drafted = self._timed[True]
        count = sum(rounds for (_, length, _), rounds in self._rounds.items() if length)
        others = self._rounds.total() - count
        if not count and not reading_s:
            return TimeInPlainRounds(others)
        if not plain or not drafted:
            return TimeInPlainRounds()
        cost = count * max(1.0, fmean(drafted) / median(plain))
        total = others + cost + reading_s / median(plain)
        error = math.hypot(
            _CLOCK_NOISE * math.sqrt(1 / len(plain) + 1 / len(drafted)), BAD_LUCK / math.sqrt(1 + len(plain))
        )
        return TimeInPlainRounds(total, error * cost / total, len(plain))


# The predicted speed-up of a draft that was never loaded here: from measured forward times and published accept rates.


def times_like(measured: Sequence[ForwardTimes], weight_bytes: int, *, sparse: bool) -> ForwardTimes | None:
    """The times of the measured model nearest in size, if it is comparable and also sparse or also dense."""
    alike = [(abs(math.log(each.weight_bytes / weight_bytes)), each) for each in measured if each.sparse == sparse]
    distance, nearest = min(alike, key=lambda pair: pair[0], default=(math.inf, None))
    return nearest if distance <= math.log(_LIKE) else None


def estimated_gain(
    times: ForwardTimes, draft_share: float, acceptance: float, *, by_block: bool = False
) -> float | None:
    """Plain seconds over drafted seconds a token, at the best draft length; at least 1, since a slower draft is parked.

    `draft_share`: a forward of the draft over a plain step; one for each token, or one a round (`by_block`).
    `acceptance`: accept rate of a drafted token. None where too little was measured or published.
    """
    widths = [width for width, _ in times.by_width if width <= MAX_DRAFT_TOKENS + 1]
    widest = max(widths, default=0)
    if widest < 2 or 1 not in widths or not 0 <= acceptance < 1 or draft_share <= 0:
        return None
    plain_s = RoundCosts(Calibration(dict(times.by_width))).plain_s
    forwards = (0.0, draft_share * plain_s) if by_block else (draft_share * plain_s, 0.0)
    token_s, round_s = ({_DRAFT: seconds} for seconds in forwards)
    prices = RoundCosts(Calibration(dict(times.by_width), token_s, round_s=round_s)).prices_s(_DRAFT, widest - 1)
    if not plain_s > 0:
        return None
    tokens = ((1 - acceptance ** (length + 1)) / (1 - acceptance) for length in range(1, widest))
    return max(1.0, *(each / (price / plain_s + _ROUND_SHARE) for each, price in zip(tokens, prices[1:], strict=True)))


def acceptance_of(tokens_per_pass: float, drafted: int) -> float:
    """The accept rate of each drafted token that gives `tokens_per_pass`, the main model's token included.

    `drafted`: tokens drafted a round. 0: not published; then the maximum is assumed, which gives the lowest rate.
    """
    if not drafted:
        return 1 - 1 / tokens_per_pass
    low = 0.0
    high = 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(middle**at for at in range(drafted + 1)) < tokens_per_pass else (low, middle)
    return low


def _forward_times(verify_s: Mapping[int, float]) -> tuple[float, ...]:
    """Seconds by width, 0 to MAX_WIDTH; linear between measured widths."""
    return tuple(_continued(verify_s, max(width, 1)) for width in range(MAX_WIDTH + 1)) if verify_s else ()


def _continued(seconds: Mapping[int, float], width: int) -> float:
    """The times, linear between measured widths, and extended beyond the widest, never falling.

    The slope there is that from half the widest on: between the last two widths it is noise, or a step of tiles.
    """
    widest = max(seconds)
    if width > widest:
        half = max((known for known in seconds if 2 * known <= widest), default=widest)
        steepness = max(0.0, (seconds[widest] - seconds[half]) / max(1, widest - half))
        return seconds[widest] + (width - widest) * steepness
    low = max((known for known in seconds if known <= width), default=min(seconds))
    high = min(known for known in seconds if known >= width)
    return seconds[low] + (width - low) / max(1, high - low) * (seconds[high] - seconds[low])


def _padded_widths(forward_s: tuple[float, ...], calibration: Calibration) -> tuple[int, ...]:
    """No padding for a difference within the calibration's error: the minimum of many noisy times is too low."""
    padded = []
    gain = _PADDING_GAIN - 2 * calibration.error
    for width in range(len(forward_s)):
        best = min(range(width, len(forward_s)), key=lambda wider: forward_s[wider])
        pays = forward_s[best] + calibration.rollback_s < gain * forward_s[width]
        padded.append(best if pays and width else width)
    return tuple(padded)
