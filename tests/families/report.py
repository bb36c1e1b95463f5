"""Examines every family and writes what came out: `python -m tests.families.report FILE`.

FILE gets the section of engine/ARCHITECTURE.md that lists the families which do not speculate. What the suite itself
checks, it checks with the same examination (`test_families.py`).
"""

from __future__ import annotations

import sys
from pathlib import Path

from engine.caches.making import WIDTH_MATTERS
from tests.families.configs import FAMILIES, UNBUILDABLE
from tests.families.examine import Outcome, examine


def section(outcomes: list[Outcome]) -> str:
    exact = [outcome for outcome in outcomes if outcome.exact]
    bitwise = [outcome for outcome in exact if outcome.difference == 0]
    largest = max(outcome.difference for outcome in exact)
    lines = [
        f"{len(exact)} of the {len(outcomes)} families that can be built without a GPU ({len(exact) / len(outcomes):.0%}) "
        "speculate exactly: at every draft",
        "length from 1 to 8 the tokens are plain decoding's and mlx-lm's own, and after the reply the cache is a fresh",
        f"prefill's: to the bit in {len(bitwise)}, in the others, which compute a chunk and single tokens by different formulas,",
        f"within {largest:.0e} of the largest logit.",
        "",
        "| family | instead | why |",
        "|---|---|---|",
    ]
    lines += [f"| {o.family} | decodes plainly | {WIDTH_MATTERS.get(o.family, '?')} |" for o in outcomes if not o.exact]
    lines += [f"| {family} | not examined | {why} |" for family, why in UNBUILDABLE.items()]
    return "\n".join(lines) + "\n"


def main(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(section([examine(family) for family in FAMILIES]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
