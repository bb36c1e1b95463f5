"""What one request did, counted once on the engine thread. Rates are properties defined here and nowhere else.

Counters: P rounds, D drafted (and verified), A accepted, N emitted. Every round emits one token of the main model
besides the accepted ones, so N = A + P unless the reply's last round is cut short. The first round ends the prefill, so
rates leave it out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from itertools import zip_longest
from typing import Any

from engine.api.types import DraftingState

_CERTAIN_ERRORS = 1.64  # z of a 90 % confidence interval
_SURE_ERRORS = 2.6  # z of 99 %
_CERTAIN = 1.1  # the speed-up is certain if its 90 % interval is within this factor
# Half width of the interval in logs, beyond which nothing is said.
_WIDEST = 0.4
_WIDEST_SURE = 0.6  # of what is certainly a gain or a loss
_WIDEST_EQUAL = 0.2  # of what is as fast as without
_MOST_STRETCHES = 40  # an even number
_ADDED = (
    *("prompt_tokens", "cached_tokens", "generated_tokens", "rounds", "draft_rounds", "drafted", "accepted", "forced"),
    *("queued_s", "prefill_s", "decode_s", "draft_s", "verify_s"),
    *("shared_rounds", "shared_gained", "shared_s", "plain_rounds"),
)
_ADDED_BY_PLACE = ("drafted_by_position", "accepted_by_position", "rounds_by_accepted")


@dataclass(frozen=True, slots=True)
class RequestStats:
    prompt_tokens: int = 0
    cached_tokens: int = 0  # of the prompt, from the prefix store
    generated_tokens: int = 0
    rounds: int = 0
    draft_rounds: int = 0  # rounds that verified at least one drafted token
    drafted: int = 0
    accepted: int = 0
    forced: int = 0  # of these, tokens that a constraint left no choice about
    drafted_by_position: tuple[int, ...] = ()
    accepted_by_position: tuple[int, ...] = ()
    rounds_by_accepted: tuple[int, ...] = ()  # draft rounds by number of accepted tokens: none, one, two …
    emitted_by_stretch: tuple[int, ...] = ()  # tokens of each `stretch_rounds` rounds after the first, in order
    stretch_rounds: int = 1
    proposer: str = ""
    drafting: DraftingState = DraftingState.OFF
    queued_s: float = 0.0
    prefill_s: float = 0.0  # from leaving the queue to the first token
    first_token_s: float = 0.0  # from submit to the first token
    decode_s: float = 0.0  # from the first token to the last
    draft_s: float = 0.0  # of decode_s: drafting, extrapolated from the rounds that timed it
    verify_s: float = 0.0  # of decode_s: the main model's forwards, extrapolated in the same way, and all plain rounds
    shared_rounds: int = 0  # rounds in a batch
    shared_gained: int = 0  # tokens beyond one a round that drafts brought these
    shared_s: float = 0.0  # of decode_s: these rounds, with other replies' steps between
    plain_rounds: float = 0.0  # cost of unshared rounds after the first, in units of a plain round; 0: not known
    plain_rounds_error: float = 0.0  # one standard error of that, as a share
    plain_passes: int = 0  # plain passes measured, in this and recent replies
    draft_speed: float = 0.0  # while parked: speed with drafts as a multiple of plain speed; 0: no draft was tried yet
    context_tokens: int = 0  # prompt and reply so far
    context_limit_tokens: int = 0

    def plus(self, later: RequestStats) -> RequestStats:
        """Of two requests that wrote one reply.

        A request's first round and token do not count in its rates, so those of the later one are left out.
        """
        if not self.rounds or not later.rounds:
            return self if self.rounds else later
        values: dict[str, Any] = {name: getattr(self, name) + getattr(later, name) for name in _ADDED}
        for name in ("generated_tokens", "rounds"):
            values[name] -= 1
        for name in _ADDED_BY_PLACE:
            pairs = zip_longest(getattr(self, name), getattr(later, name), fillvalue=0)
            values[name] = tuple(one + other for one, other in pairs)
        known = (self.plain_rounds or self.rounds == 1) and (later.plain_rounds or later.rounds == 1)
        values["plain_rounds"] = values["plain_rounds"] if known else 0.0
        errors = (self.plain_rounds * self.plain_rounds_error, later.plain_rounds * later.plain_rounds_error)
        values["plain_rounds_error"] = math.hypot(*errors) / values["plain_rounds"] if values["plain_rounds"] else 0.0
        return replace(
            later,
            **values,
            emitted_by_stretch=(),  # intervals of two requests do not join
            proposer=later.proposer or self.proposer,
            first_token_s=self.first_token_s,
        )

    @property
    def accept_rate(self) -> float | None:
        """A / D: the share of verified tokens that was accepted."""
        return self.accepted / self.drafted if self.drafted else None

    @property
    def accept_rate_by_position(self) -> tuple[float, ...]:
        pairs = zip(self.accepted_by_position, self.drafted_by_position, strict=True)
        return tuple(accepted / drafted if drafted else 0.0 for accepted, drafted in pairs)

    @property
    def tokens_per_pass(self) -> float | None:
        """(N - 1) / (P - 1): counts the main model's own token of each pass."""
        return (self.generated_tokens - 1) / (self.rounds - 1) if self.rounds > 1 else None

    @property
    def tokens_per_pass_over_time(self) -> tuple[float, ...]:
        """The same for intervals of equally many passes, from the reply's start to its end."""
        rounds = self.rounds - 1
        starts = range(0, len(self.emitted_by_stretch) * self.stretch_rounds, max(1, self.stretch_rounds))
        widths = (max(1, min(self.stretch_rounds, rounds - start)) for start in starts)
        return tuple(emitted / width for emitted, width in zip(self.emitted_by_stretch, widths, strict=False))

    @property
    def share_by_accepted(self) -> tuple[float, ...]:
        """Of the passes with a draft: the share that accepted none, one, two … of its tokens."""
        whole = sum(self.rounds_by_accepted)
        return tuple(rounds / whole for rounds in self.rounds_by_accepted) if whole else ()

    @property
    def tokens_per_second(self) -> float | None:
        """Over the whole reply, from the first token on: never a burst."""
        return (self.generated_tokens - 1) / self.decode_s if self.decode_s > 0 and self.generated_tokens > 1 else None

    @property
    def break_even(self) -> float | None:
        """Tokens a pass must bring to be as fast as plain decoding = its time in plain passes, at least 1.

        A pass that others shared costs what it brings. As it is at least 1, no speed-up exceeds the tokens per pass.
        """
        own = self._own_ratio
        all_tokens = self.tokens_per_pass
        if not self.shared_rounds or own is None or all_tokens is None:
            return self._own_break_even
        return all_tokens / self._of_whole(own)

    @property
    def speed_up(self) -> float | None:
        """The reply's time without a draft, divided by its time.

        speed-up = tokens per pass / break-even = (N - 1) / plain_rounds

        `plain_rounds`: time of its passes, each in plain passes at the same time and depth, so that load from elsewhere
        cancels out (`drafting/pass_ratio.py`). A race's figure is the same, with plain passes of its plain lap. Shared
        passes count as neither gain nor loss. The first pass ends the prefill and does not count.

        1 if the difference is small and not significant, and its interval narrow. None while too little is known.
        """
        own = self._own_ratio
        interval = self.speed_up_interval
        if own is None or interval is None:
            return None
        if self._is_apart(own):
            return self._of_whole(own)
        is_equal = 1 / _CERTAIN <= own <= _CERTAIN and _CERTAIN_ERRORS * self.plain_rounds_error <= _WIDEST_EQUAL
        return 1.0 if is_equal else None

    def _is_apart(self, own: float) -> bool:
        """Whether 2.6 standard errors do not reach 1."""
        return abs(math.log(own)) > _SURE_ERRORS * self.plain_rounds_error

    @property
    def speed_up_interval(self) -> tuple[float, float] | None:
        """90 % confidence interval: speed-up * e^(± 1.64 standard errors). None while it is too wide to say anything.

        A gain or loss is reported only if 2.6 standard errors do not reach 1.
        """
        own = self._own_ratio
        error = _CERTAIN_ERRORS * self.plain_rounds_error
        if own is None or not self.drafted or error > (_WIDEST_SURE if self._is_apart(own) else _WIDEST):
            return None
        return self._of_whole(own * math.exp(-error)), self._of_whole(own * math.exp(error))

    @property
    def is_speed_up_certain(self) -> bool:
        """Whether the interval is within a tenth of the speed-up."""
        speed_up = self.speed_up
        interval = self.speed_up_interval
        if speed_up is None or interval is None:
            return False
        return max(speed_up / interval[0], interval[1] / speed_up) <= _CERTAIN

    @property
    def saved_s(self) -> float | None:
        """Seconds that the reply would have taken longer without a draft; negative where drafting cost time."""
        speed_up = self.speed_up
        return None if speed_up is None or self.decode_s <= self.shared_s else self.decode_s * (speed_up - 1)

    @property
    def plain_tokens_per_second(self) -> float | None:
        """Predicted speed of the same machine at that time without a draft: tokens per second / speed-up."""
        rate = self.tokens_per_second
        speed_up = self.speed_up
        return None if rate is None or speed_up is None or self.decode_s <= self.shared_s else rate / speed_up

    @property
    def _own_rounds(self) -> int:
        return self.rounds - 1 - self.shared_rounds

    @property
    def _own_break_even(self) -> float | None:
        return max(1.0, self.plain_rounds / self._own_rounds) if self.plain_rounds and self._own_rounds > 0 else None

    @property
    def _own_ratio(self) -> float | None:
        """The speed-up of unshared rounds; None also if the only one drew the end."""
        tokens = self.generated_tokens - 1 - self.shared_rounds - self.shared_gained
        needed = self._own_break_even
        return None if needed is None or tokens <= 0 else tokens / self._own_rounds / needed

    def _of_whole(self, own: float) -> float:
        """The speed-up of the whole reply, if that of its unshared rounds is `own`.

        Kept at most the tokens per pass, where shared passes were much faster than its own.
        """
        share = 1 - self.shared_s / self.decode_s if self.decode_s > 0 else 1.0
        return min(1 + (own - 1) * max(0.0, share), self.tokens_per_pass or 1.0)

    @property
    def other_s(self) -> float:
        """Of decode_s: neither drafting nor a forward of this reply."""
        return max(0.0, self.decode_s - self.draft_s - self.verify_s)

    @property
    def draft_cost(self) -> float | None:
        """Share of the decoding time spent on drafting."""
        return self.draft_s / self.decode_s if self.decode_s and self.draft_s else None


@dataclass(slots=True)
class StatsRecorder:
    """The mutable side, one per running request, engine thread only."""

    submitted_at: float
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    rounds: int = 0
    draft_rounds: int = 0
    drafted: int = 0
    accepted: int = 0
    forced: int = 0
    drafted_by_position: list[int] = field(default_factory=list)
    accepted_by_position: list[int] = field(default_factory=list)
    rounds_by_accepted: list[int] = field(default_factory=list)
    emitted_by_stretch: list[int] = field(default_factory=list)
    stretch_rounds: int = 1
    proposer: str = ""
    drafting: DraftingState = DraftingState.OFF
    started_at: float = 0.0
    first_token_at: float = 0.0
    last_token_at: float = 0.0
    timed_draft_s: float = 0.0
    timed_verify_s: float = 0.0
    timed_rounds_s: float = 0.0
    draft_rounds_s: float = 0.0
    plain_rounds_s: float = 0.0
    shared_rounds: int = 0
    shared_gained: int = 0
    shared_s: float = 0.0
    plain_rounds: float = 0.0
    plain_rounds_error: float = 0.0
    plain_passes: int = 0
    draft_speed: float = 0.0
    context_tokens: int = 0
    context_limit_tokens: int = 0

    def count_round(self, drafted: int, accepted: int, emitted: int, seconds: float, proposed: int = 0) -> None:
        """`proposed` tokens were verified, of which `drafted` count."""
        self.rounds += 1
        self.generated_tokens += emitted
        if self.rounds == 1:
            return
        self._count_in_stretch(emitted)
        if not max(drafted, proposed):
            self.plain_rounds_s += seconds
            return
        self.draft_rounds_s += seconds
        self.draft_rounds += 1
        self.drafted += drafted
        self.accepted += accepted
        missing = drafted - len(self.drafted_by_position)
        self.drafted_by_position.extend([0] * missing)
        self.accepted_by_position.extend([0] * missing)
        for position in range(drafted):
            self.drafted_by_position[position] += 1
            self.accepted_by_position[position] += position < accepted
        self.rounds_by_accepted.extend([0] * (accepted + 1 - len(self.rounds_by_accepted)))
        self.rounds_by_accepted[accepted] += 1

    def _count_in_stretch(self, emitted: int) -> None:
        """Intervals double when there are too many, so that their number stays bounded."""
        number = (self.rounds - 2) // self.stretch_rounds
        if number == _MOST_STRETCHES:
            counts = self.emitted_by_stretch
            self.emitted_by_stretch = [one + other for one, other in zip(counts[::2], counts[1::2], strict=True)]
            self.stretch_rounds *= 2
            number //= 2
        if number == len(self.emitted_by_stretch):
            self.emitted_by_stretch.append(0)
        self.emitted_by_stretch[number] += emitted

    def count_times(self, draft_s: float, verify_s: float, round_s: float) -> None:
        """One draft round in several is timed part by part; `freeze` extrapolates its shares to all of them."""
        self.timed_draft_s += draft_s
        self.timed_verify_s += verify_s
        self.timed_rounds_s += round_s

    def freeze(self) -> RequestStats:
        scale = self.draft_rounds_s / self.timed_rounds_s if self.timed_rounds_s else 0.0
        counters: dict[str, Any] = {name: getattr(self, name) for name in _COUNTERS}
        counters |= {name: tuple(value) for name, value in counters.items() if isinstance(value, list)}
        return RequestStats(
            **counters,
            queued_s=max(0.0, self.started_at - self.submitted_at),
            prefill_s=max(0.0, self.first_token_at - self.started_at),
            first_token_s=max(0.0, self.first_token_at - self.submitted_at),
            decode_s=self.last_token_at - self.first_token_at,
            draft_s=self.timed_draft_s * scale,
            verify_s=self.timed_verify_s * scale + self.plain_rounds_s,
        )


_COUNTERS = {each.name for each in fields(RequestStats)} & {each.name for each in fields(StatsRecorder)}
