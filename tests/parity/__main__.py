"""`make parity`: drafters of each kind and dialect, ours, mlx-vlm's and their authors', on the same random weights in
float32.

Both read the same states of a main model, several rounds in a row with some rows taken back in between, and draft
greedily: logits within 1e-4 (of the largest, where heads feed on their own states or correct them), tokens equal.
DeepSpec's, AngelSpec's, AngelSlim's and SpecForge's code is compared where it is on PYTHONPATH. Pictures are
in `pictures.py`. `make parity ARGS="peagle angelspec"` compares those parts alone. Prints a line a case; ends with
status 1 where one differs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from tests.parity.angelspec import angelspec_cases
from tests.parity.assistants import assistant_cases
from tests.parity.authors import author_cases
from tests.parity.blocks import block_cases
from tests.parity.deepspec import deepspec_cases
from tests.parity.eagle3 import eagle_cases
from tests.parity.layers import layer_cases
from tests.parity.mtp import mtp_cases
from tests.parity.peagle import peagle_cases
from tests.parity.pictures import picture_cases
from tests.parity.specforge import specforge_cases

Case = tuple[str, int, int, float]  # name, prefixes, how many were drafted otherwise, largest difference of logits
_PARTS: dict[str, Callable[[], Iterator[Case]]] = {
    "blocks": block_cases,
    "eagle3": eagle_cases,
    "mtp": mtp_cases,
    "assistants": assistant_cases,
    "authors": author_cases,
    "peagle": peagle_cases,
    "layers": layer_cases,
    "pictures": picture_cases,
    "deepspec": deepspec_cases,
    "angelspec": angelspec_cases,
    "specforge": specforge_cases,
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
