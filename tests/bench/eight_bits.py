"""Rows about keys and values at 8 bits: the context that fits into 8 GB, and what a token costs behind 8,192."""

from __future__ import annotations

import statistics
import time
from functools import partial

import mlx.core as mx

from engine import fit_together, load_catalog
from engine.caches.base import CacheSet
from engine.caches.eight_bits import EightBitCache
from engine.caches.making import CacheMaker, eight_bits_of
from engine.models.fit import memory_share
from tests.bench.opponents import interleaved
from tests.bench.rows import Measure, Row
from tests.bench.setup import BenchSetup
from tests.helpers.tiny_models import Network, build, qwen3_config

_MEMORY = memory_share(8 << 30, is_mac=True)
_CONTEXT = 8192
# The shape of Qwen2.5 0.5B, a third as deep and with a third of its vocabulary.
_SHAPE = {
    "hidden_size": 896,
    "num_hidden_layers": 8,
    "intermediate_size": 4864,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "vocab_size": 50_000,
}


def eight_bits_context(_setup: BenchSetup, _runs: int) -> Row:
    """Of the pairs that are recommended for 8 GB, where memory limits the context so that 8 bits are automatic."""
    told = []
    ratios = []
    for pair in load_catalog("resources/catalog.json").pairs_for(_MEMORY, "en"):
        models = [pair.main.info(), *([] if pair.draft is None else [pair.draft.info()])]
        fit = partial(fit_together, models, pair.main.context_tokens, _MEMORY)
        before, after = (fit(kv_bits=bits).largest_context_tokens for bits in (16, None))
        if after > before:
            ratios.append(after / before)
            told.append(f"{pair.main.name} {before:,} → {after:,}")
    return Row("engine.eight_bits.context", min(ratios), "ratio", "≥ 1.8", f"{', '.join(told)}; the least", ratios)


def eight_bits_rate(_setup: BenchSetup, runs: int) -> Row:
    """Plain tokens a second behind 8,192 tokens, as a share of those with 16 bits: forwards by turns."""
    network = build(qwen3_config(**_SHAPE), scale=1.0)
    kind = eight_bits_of(network)
    at_8, at_16 = (_filled(network, each) for each in (kind, None))
    pairs = list(interleaved(8 * runs, partial(_forward_s, network, at_8), partial(_forward_s, network, at_16)))
    ratios = [other / mine for mine, other in pairs]
    ms = 1e3 * min(mine for mine, _ in pairs), 1e3 * min(other for _, other in pairs)
    detail = f"{ms[0]:.1f} / {ms[1]:.1f} ms a token at best, {at_8.nbytes / at_16.nbytes:.2f} of the memory"
    return Row("engine.eight_bits.rate", statistics.median(ratios), "ratio", "≥ 0.97", detail, ratios)


def _filled(network: Network, kind: type[EightBitCache] | None) -> CacheSet:
    """Caches of random rows: what is in them costs nothing."""
    caches = CacheMaker(network, kind)()
    shape = (1, _SHAPE["num_key_value_heads"], _CONTEXT, _SHAPE["head_dim"])
    for layer in caches.layers:
        layer.update_and_fetch(mx.random.normal(shape), mx.random.normal(shape))
        caches.evaluate()
    caches.position = _CONTEXT
    return caches


def _forward_s(network: Network, caches: CacheSet) -> float:
    started = time.perf_counter()
    mx.eval(caches.forward(1, lambda: network(mx.array([[5]]), cache=caches.layers)))
    seconds = time.perf_counter() - started
    caches.commit(0)
    return seconds


EIGHT_BITS: tuple[Measure, ...] = (eight_bits_context, eight_bits_rate)
