"""The section of engine/ARCHITECTURE.md on model families, made from what the examination found."""

from __future__ import annotations

from collections.abc import Sequence

from engine.caches.making import WIDTH_MATTERS
from tests.families.configs import UNBUILDABLE
from tests.families.examine import CLOSE, Outcome


def section(outcomes: Sequence[Outcome]) -> str:
    exact = [outcome for outcome in outcomes if outcome.exact]
    bitwise = [outcome for outcome in exact if outcome.difference == 0]
    lines = [
        f"{len(exact)} of the {len(outcomes)} families that a machine without a GPU can build speculate exactly",
        f"({len(exact) / len(outcomes):.0%}): at every draft length from 1 to 8 the tokens are plain decoding's and",
        "mlx-lm's own, and after the reply the cache is as a fresh prefill's. It is equal to the bit in",
        f"{len(bitwise)} of them, and within {CLOSE:.0e} of the largest logit in the others, which compute a chunk and",
        "its tokens one by one with different formulas. The rest:",
        "",
        "| family | what it does | why |",
        "|---|---|---|",
    ]
    lines += [f"| {o.family} | decodes plainly | {WIDTH_MATTERS[o.family]} |" for o in outcomes if not o.speculates]
    lines += [f"| {family} | not examined | {why} |" for family, why in UNBUILDABLE.items()]
    return "\n".join(lines) + "\n"
