"""Predicted speed-up of a draft that was never loaded here: from measured forward times and published accept rates.
Pure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.api.types import MAX_DRAFT_TOKENS, ForwardTimes
from engine.drafting.costs import Calibration, RoundCosts

_ROUND_SHARE = 0.05  # time of a drafted round besides its forwards, as a share of a plain step
_LIKE = 2.0  # models within this factor of the size are comparable
_DRAFT = "draft"


def times_like(measured: Sequence[ForwardTimes], weight_bytes: int, *, sparse: bool) -> ForwardTimes | None:
    """Those of the measured model nearest in size, if it is comparable and equally sparse or dense."""
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
    """The accept rate a token that gives `tokens_per_pass` with so many drafted a round, the main model's token
    included. `drafted` 0: not published; the maximum is assumed, which gives the lowest rate.
    """
    if not drafted:
        return 1 - 1 / tokens_per_pass
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(middle**at for at in range(drafted + 1)) < tokens_per_pass else (low, middle)
    return low
