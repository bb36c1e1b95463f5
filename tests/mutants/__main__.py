"""`make mutants`: prints every fault in the engine that no test notices, and the share of those that are noticed.

A fault that is noticed otherwise than by a failing test is printed too, with how. What a busy machine could have done
does not count as noticed. The tree must not change meanwhile.

ARGS="--only engine/caches/base.py" for one file or folder, "--sample 50 --seed 1" for some of the faults,
"--list" to see them without running anything.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutants.covering import ROOT, covering, modules
from tests.mutants.faults import Mutant, mutants
from tests.mutants.trial import Outcome, measure, run

_EQUIVALENT = Path(__file__).with_name("equivalent.txt")
_ENOUGH = 0.9


def main() -> int:
    options = _options()
    chosen = _chosen(options)
    if options.list:
        sys.stdout.writelines(f"{_line(mutant)}\n" for mutant in chosen)
        return 0
    limits = {tests: measure(tests) for tests in {covering(mutant.file) for mutant in chosen}}

    def tried(mutant: Mutant) -> Outcome:
        tests = covering(mutant.file)
        return run(f"{mutant.file}:{mutant.number}", tests, limits[tests])

    with ThreadPoolExecutor(options.jobs) as jobs:
        return 0 if _report(chosen, jobs.map(tried, chosen)) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="files whose path begins so")
    parser.add_argument("--sample", type=int, help="so many faults, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of that draw")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time")
    parser.add_argument("--list", action="store_true", help="print the faults and run nothing")
    return parser.parse_args()


def _chosen(options: argparse.Namespace) -> list[Mutant]:
    spared = equivalent()
    files = modules(options.only)
    found = [m for file in files for m in mutants(file, (ROOT / file).read_text(encoding="utf-8"))]
    told = [mutant for mutant in found if mutant.key not in spared]
    if options.sample is None or options.sample >= len(told):
        return told
    drawn = random.Random(options.seed).sample(told, options.sample)
    return sorted(drawn, key=lambda mutant: (mutant.file, mutant.number))


def equivalent() -> set[str]:
    """The keys in the list; an indented line under each says why it changes no behaviour."""
    lines = _EQUIVALENT.read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith(("#", " "))}


def _line(mutant: Mutant) -> str:
    return f"{mutant.file}:{mutant.line}: {mutant.source}\n    {mutant.change}"


def _report(chosen: list[Mutant], outcomes: Iterable[Outcome]) -> bool:
    """Whether enough were noticed."""
    counts: Counter[Outcome] = Counter()
    for mutant, outcome in zip(chosen, outcomes, strict=True):
        counts[outcome] += 1
        if outcome is not Outcome.FAILED:
            told = "" if outcome is Outcome.PASSED else f"    ({outcome.value})\n"
            print(f"{_line(mutant)}\n{told}", end="", flush=True)
    noticed = sum(count for outcome, count in counts.items() if outcome.is_noticed)
    print(f"{noticed} of {len(chosen)} faults noticed: {noticed / max(1, len(chosen)):.1%}")
    print(", ".join(f"{count} {outcome.value}" for outcome, count in counts.items() if outcome is not Outcome.PASSED))
    return noticed >= _ENOUGH * len(chosen)


if __name__ == "__main__":
    sys.exit(main())
