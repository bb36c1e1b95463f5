"""What tuning a pair has measured so far, and what it found; plain values, and the choice among them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from engine import EngineError

LENGTHS = (1, 2, 3, 4, 6, 8)
LONGER = (12, 16, 24, 32)  # each tried only where the one before it was the fastest so far
# The least gain over plain decoding that is worth keeping a draft's length for, and by how much a fixed length must
# beat auto, which also adapts to what comes later.
LEAST_GAIN = 1.03
LEAD_OVER_AUTO = 1.03
_LEAD_OF_LONGER = 1.02  # over the shorter ones: readings differ by as much


class Content(StrEnum):
    """Kinds of text that drafts guess differently well."""

    CODE = "code"
    PROSE = "prose"
    LANGUAGE = "language"  # prose in the language of the interface


@dataclass(frozen=True, slots=True)
class Way:
    """A way to draft: "off", "fixed" with so many tokens a round, or "auto"."""

    mode: str
    tokens: int = 0


PLAIN, AUTO = Way("off"), Way("auto")
WAYS = (PLAIN, *(Way("fixed", tokens) for tokens in LENGTHS), AUTO)


@dataclass(frozen=True, slots=True)
class Reading:
    content: Content
    way: Way
    tokens_per_second: float


class TuningState(StrEnum):
    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"  # a reply goes first
    DONE = "done"


@dataclass(frozen=True, slots=True)
class TuningView:
    """`best` and `gain` are known once it is done; `best` is None where no way to draft wins.

    `error` and `too_short` say why the last attempt brought nothing; what an earlier one found stays.
    """

    state: TuningState = TuningState.IDLE
    can_start: bool = False  # a pair is loaded
    is_loading: bool = False  # a pair is on its way
    done_steps: int = 0
    steps: int = 0
    seconds_left: float | None = None  # None: too little is measured
    readings: tuple[Reading, ...] = ()
    best: Way | None = None
    gain: float = 0.0  # of the best way to draft, over plain decoding
    error: EngineError | None = None  # of the request that failed
    refused: EngineError | None = None  # why the pair, or its draft, was not loaded
    too_short: bool = False  # the replies were, to say what drafting brings
    spares: bool = False  # it waits until the machine has cooled down, or saves no energy


def gains(readings: Sequence[Reading], content: Content) -> dict[Way, float]:
    """Each way's speed on one kind of text as a multiple of plain decoding's; {} until that is measured."""
    rates: dict[Way, float] = {}
    for reading in readings:
        if reading.content is content:  # of several, the fastest: a busy machine only makes a reply slower
            rates[reading.way] = max(rates.get(reading.way, 0.0), reading.tokens_per_second)
    plain = rates.get(PLAIN, 0.0)
    return {way: rate / plain for way, rate in rates.items()} if plain > 0 else {}


def ways_shown(readings: Sequence[Reading]) -> tuple[Way, ...]:
    """All that are always measured, and what was beside them: plain decoding, lengths, auto."""
    longer = {reading.way for reading in readings} - set(WAYS)
    return (*WAYS[:-1], *sorted(longer, key=lambda way: way.tokens), AUTO)


def longer_length(readings: Sequence[Reading]) -> int | None:
    """The next length that is worth trying: where the longest one so far was the fastest of them."""
    fixed = {way.tokens: gain for way, gain in mean_gains(readings).items() if way.mode == "fixed"}
    longest = max(fixed, default=0)
    others = [gain for tokens, gain in fixed.items() if tokens != longest]
    if longest < LENGTHS[-1] or fixed[longest] < _LEAD_OF_LONGER * max(others, default=0.0):
        return None
    return next((tokens for tokens in LONGER if tokens > longest), None)


def mean_gains(readings: Sequence[Reading]) -> dict[Way, float]:
    """Each way's gain over all kinds of text that were measured, as a geometric mean."""
    by_content = [found for content in Content if (found := gains(readings, content))]
    ways = [way for way in ways_shown(readings) if by_content and all(way in found for found in by_content)]
    return {way: math.exp(sum(math.log(found[way]) for found in by_content) / len(by_content)) for way in ways}


def best_way(readings: Sequence[Reading]) -> tuple[Way | None, float]:
    """The way to draft that is worth keeping, None where none is, and the gain of the best one."""
    found = {way: gain for way, gain in mean_gains(readings).items() if way != PLAIN}
    if not found:
        return None, 0.0
    best = max(found, key=found.__getitem__)
    if AUTO in found and found[best] < LEAD_OVER_AUTO * found[AUTO]:
        best = AUTO
    return (best if found[best] >= LEAST_GAIN else None), found[best]
