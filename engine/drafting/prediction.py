"""What a draft may bring that was never loaded here: by what this machine's forwards take, and how often it is said to
be right. An estimate, and only where the machine was measured. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.api.types import MAX_DRAFT_TOKENS

_ROUND_SHARE = 0.05  # of a plain step: what a drafted round takes beside its forwards


def estimated_gain(verify_s: Mapping[int, float], draft_share: float, acceptance: float) -> float | None:
    """Over plain decoding, at the best draft length; at least 1, for a draft that does not pay rests.

    `verify_s`: seconds of the main model's forwards, by width. `draft_share`: what a token of the draft takes, of a
    plain step. `acceptance`: how often a drafted token stands. None where too little was measured, or told.
    """
    plain_s = verify_s.get(1, 0.0)
    widths = sorted(width for width, seconds in verify_s.items() if 1 < width <= MAX_DRAFT_TOKENS + 1 and seconds > 0)
    if plain_s <= 0 or not widths or not 0 <= acceptance < 1 or not 0 < draft_share < 1:
        return None
    gains = []
    for width in widths:
        drafted = width - 1
        tokens = (1 - acceptance**width) / (1 - acceptance)
        gains.append(tokens / (verify_s[width] / plain_s + drafted * draft_share + _ROUND_SHARE))
    return max(1.0, *gains)
