"""What a draft may bring that was never loaded here: by what forwards take on this machine, and by how often it is said
to be right. An estimate, and only where something was measured. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.api.types import MAX_DRAFT_TOKENS, ForwardTimes
from engine.drafting.costs import Calibration, RoundCosts

_ROUND_SHARE = 0.05  # of a plain step: what a drafted round takes beside its forwards
_LIKE = 2.0  # a model of up to so many times the size is like another
_DRAFT = "draft"


def times_like(measured: Sequence[ForwardTimes], weight_bytes: int, *, sparse: bool) -> ForwardTimes | None:
    """Of the model that is nearest in size, if it is of about that size and of the same sort."""
    alike = [(abs(math.log(each.weight_bytes / weight_bytes)), each) for each in measured if each.sparse == sparse]
    distance, nearest = min(alike, key=lambda pair: pair[0], default=(math.inf, None))
    return nearest if distance <= math.log(_LIKE) else None


def estimated_gain(
    times: ForwardTimes, draft_share: float, acceptance: float, *, by_block: bool = False
) -> float | None:
    """Over plain decoding, at the best draft length; at least 1, for a draft that does not pay rests.

    `draft_share`: what a forward of the draft takes, of a plain step; one is made for each token, or for each round
    (`by_block`). `acceptance`: how often a drafted token stands. None where too little was measured, or told.
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
    """How often a drafted token stands where so many are drafted a round and so many come of it, the main model's own
    included. `drafted` 0: not told, and taken to be as many as there could be, so that less is believed.
    """
    if not drafted:
        return 1 - 1 / tokens_per_pass
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(middle**at for at in range(drafted + 1)) < tokens_per_pass else (low, middle)
    return low
