"""How long a forward takes when it is handed over whole, each 4 and each 8 layers: a row a width, in milliseconds.

`python -m tests.bench.forward_in_parts DIR`, with a model of 30 layers and more. Only a GPU shows a difference.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlx.core as mx

from engine.caches.hooks import hooked
from engine.models.loading import LoadedModel
from tests.helpers.loading import load_model

WIDTHS, EVERY, RUNS = (1, 4, 8), (0, 4, 8), 40  # 0: whole


def _sent(_module: Any, run: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    states = run(*arguments, **keywords)
    mx.async_eval(states)
    return states


def step_ms(model: LoadedModel, caches: Any, width: int, every: int) -> float:
    tokens, layers = mx.array([[1] * width]), model.network.layers
    with hooked(layers[every - 1 :: every] if every else [], _sent):
        started = time.perf_counter()
        mx.eval(caches.forward(width, lambda: model.network(tokens, cache=caches.layers)))
    took = time.perf_counter() - started
    caches.commit(0)
    return 1000 * took


def main() -> None:
    model = load_model(Path(sys.argv[1]))
    caches = model.make_caches()
    for width in WIDTHS:
        runs = [[step_ms(model, caches, width, every) for every in EVERY] for _ in range(RUNS)]
        sys.stdout.write(f"{width} {[round(statistics.median(column), 3) for column in zip(*runs, strict=True)]}\n")


if __name__ == "__main__":
    main()
