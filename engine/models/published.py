"""What is published of a pair: where the engine has not used it yet, that is what it expects."""

from __future__ import annotations

from collections.abc import Callable

# (folder of the main model, folder of the draft) -> accept rate of a drafted token; 0: not known
Published = Callable[[str, str], float]


def nothing_published(_main: str, _draft: str) -> float:
    return 0.0
