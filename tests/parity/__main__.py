"""`make parity`: heads that draft token by token, ours, mlx-vlm's and their authors', on the same random weights.

Blocks but Laguna's are written once more in numpy, in `tests/engine/test_block_reference.py`.

Both read the same states of a main model, several rounds in a row with some rows taken back in between, and draft
greedily: logits within 1e-4 (of the largest, where heads feed on their own states), tokens equal. Pictures are
in `pictures.py`. `make parity ARGS="peagle mtp"` compares those parts alone. Prints a line a case; ends with status 1
where one differs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from tests.parity.assistants import assistant_cases
from tests.parity.authors import author_cases
from tests.parity.laguna import laguna_cases
from tests.parity.layers import layer_cases
from tests.parity.mtp import mtp_cases
from tests.parity.peagle import peagle_cases
from tests.parity.pictures import picture_cases

Case = tuple[str, int, int, float]  # name, prefixes, how many were drafted otherwise, largest difference of logits
_PARTS: dict[str, Callable[[], Iterator[Case]]] = {
    "mtp": mtp_cases,
    "assistants": assistant_cases,
    "authors": author_cases,
    "peagle": peagle_cases,
    "laguna": laguna_cases,
    "layers": layer_cases,
    "pictures": picture_cases,
}


def main(parts: list[str]) -> int:
    failed = 0
    for part in parts or _PARTS:
        for name, prefixes, differing, error in _PARTS[part]():
            bad = differing > 0 or not error < 1e-4
            failed += bad
            verdict = "DIFFERS" if bad else "same   "
            print(f"{verdict}  {name:40} {prefixes} prefixes, {differing} differ, {error:.1e}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
