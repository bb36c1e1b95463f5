"""The section of engine/models/README.md on model families, made from what the examination found."""

from __future__ import annotations

from collections.abc import Sequence

from engine.caches.making import WIDTH_MATTERS
from tests.families.configs import READS_OTHERWISE, UNBUILDABLE
from tests.families.examine import CLOSE, Outcome


def section(outcomes: Sequence[Outcome]) -> str:
    exact = [outcome for outcome in outcomes if outcome.exact]
    bitwise = [outcome for outcome in exact if outcome.from_plain == 0]
    lines = [
        f"{len(exact)} of the {len(outcomes)} families that a machine without a GPU can build speculate exactly",
        f"({len(exact) / len(outcomes):.0%}): at every draft length from 1 to 8, and at 32, the tokens are",
        f"plain decoding's and mlx-lm's own, and so is the cache after the reply: to the bit in {len(bitwise)} of",
        f"them, within {CLOSE:.0e} of the largest logit in the others, which compute some tokens and one by different",
        "formulas. A fresh prefill of the same tokens leaves the same cache, too, but in the families marked so.",
        "",
        "| family | what it does | why |",
        "|---|---|---|",
    ]
    lines += [f"| {o.family} | decodes plainly | {WIDTH_MATTERS[o.family]} |" for o in outcomes if not o.speculates]
    lines += [f"| {family} | speculates; prefill differs | {why} |" for family, why in READS_OTHERWISE.items()]
    lines += [f"| {family} | not examined | {why} |" for family, why in UNBUILDABLE.items()]
    return "\n".join(lines) + "\n"
