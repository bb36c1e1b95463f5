"""How much of a draft stands. Pure functions on token lists; no MLX, no state.

`chosen[i]` is the main model's own draw after the first i drafted tokens; it is valid only while those all stand.
"""

from __future__ import annotations

from collections.abc import Sequence


def matching(drafted: Sequence[int], chosen: Sequence[int]) -> list[int]:
    """The tokens to emit: the main model's draws, up to and including the first that the draft did not foresee.

    Greedy decoding and Gumbel-coupled sampling differ only in the law that the draws come from; the rule is the same:
    nothing is emitted that the main model did not draw itself, so no residual law is needed.
    """
    emitted = []
    for position, token in enumerate(chosen):
        emitted.append(token)
        if position < len(drafted) and drafted[position] != token:
            break
    return emitted
