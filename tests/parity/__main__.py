"""`make parity`: drafters of each kind and dialect, ours, mlx-vlm's and their authors', on the same random weights in
float32.

Both read the same states of a main model, several rounds in a row with some rows taken back in between, and draft
greedily: logits within 1e-4 (of the largest, where heads feed on their own states or correct them), tokens equal.
DeepSpec's, AngelSpec's, SpecForge's and SGLang's code is compared where it is on PYTHONPATH. Pictures are in
`pictures.py`. Prints a line a case; ends with status 1 where one differs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

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
from tests.parity.sglang import sglang_cases
from tests.parity.specforge import specforge_cases


def main() -> int:
    failed = 0
    for name, prefixes, differing, error in cases():
        bad = differing > 0 or not error < 1e-4
        failed += bad
        verdict = "DIFFERS" if bad else "same   "
        print(f"{verdict}  {name:40} {prefixes} prefixes, {differing} differ, {error:.1e}", flush=True)
    return 1 if failed else 0


def cases() -> Iterator[tuple[str, int, int, float]]:
    """(name, prefixes, how many of them were drafted otherwise, the largest difference of logits)."""
    yield from block_cases()
    yield from eagle_cases()
    yield from mtp_cases()
    yield from assistant_cases()
    yield from author_cases()
    yield from peagle_cases()
    yield from layer_cases()
    yield from picture_cases()
    yield from deepspec_cases()
    yield from angelspec_cases()
    yield from specforge_cases()
    yield from sglang_cases()


if __name__ == "__main__":
    sys.exit(main())
