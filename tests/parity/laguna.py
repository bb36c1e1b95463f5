"""Laguna's block drafter beside mlx-vlm's; other blocks are written once more in numpy (test_block_reference.py).

Contexts are shorter than the window: theirs lets all rows of a block see what its first one sees.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from typing import Any

import mlx.core as mx
import numpy as np

from engine.caches.making import CacheMaker
from engine.decoding.accept import integers
from engine.drafting.proposers.dflash import BlockDrafter
from engine.models.drafter_kinds import drafter_config
from tests.helpers import tiny_drafters as tiny

_CONTEXTS = (1, 3, 8)  # tokens
_NEWEST = 7


def laguna_cases() -> Iterator[tuple[str, int, int, float]]:
    config = tiny.laguna_config(sliding_window=32)
    weights = tiny.block_weights(config)
    main: Any = _Main()
    parsed: Any = drafter_config(config, weights)
    ours = BlockDrafter(parsed, main)
    ours.load_weights(list(ours.sanitize(dict(weights)).items()), strict=True)
    package = importlib.import_module("mlx_vlm.speculative.drafters.laguna_dflash")
    theirs = package.Model(package.ModelConfig.from_dict(json.loads(json.dumps(config))))
    theirs.load_weights(list(tiny.in_one_product(dict(weights)).items()), strict=True)
    theirs.embed_tokens, theirs.lm_head = main.embed, main.projected
    differing, error = 0, 0.0
    for tokens in _CONTEXTS:
        states = mx.random.normal((tokens, ours.reads_width))
        caches = CacheMaker(ours)()
        ours.read(mx.zeros((tokens,), mx.uint32), states, caches)
        own = ours.base_logits(ours.block(mx.array([_NEWEST]), caches))
        block = mx.array([[_NEWEST] + [parsed.mask_token] * (parsed.block_rows - 1)])
        other = theirs(block, states[None], theirs.make_cache())[0, 1:]
        differing += integers(mx.argmax(own, axis=-1)) != integers(mx.argmax(other, axis=-1))
        error = max(error, float(np.abs(np.array(own - other)).max()))
    yield "Laguna DFlash", len(_CONTEXTS), differing, error


class _Main:
    """The parts of a main model that a block reads, at random."""

    def __init__(self) -> None:
        mx.random.seed(1)
        self._table, self._head = (mx.random.normal((tiny.VOCABULARY, tiny.WIDTH)) for _ in range(2))

    def embed(self, tokens: mx.array) -> mx.array:
        return self._table[tokens]

    def projected(self, states: mx.array) -> mx.array:
        return states @ self._head.T
