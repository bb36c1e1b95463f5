"""One of each kind of cache: going back to a checkpoint, and going on from disk, equal a fresh prefill."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import mlx.core as mx
import pytest

from engine.caches.eight_bits import EightBitCache
from engine.decoding.sequence import Sequence
from engine.models.loading import LoadedModel
from engine.prefix.disk import PrefixDisk
from engine.prefix.memory import PrefixStore
from tests.families.configs import FAIR_PART
from tests.families.harness import PROMPT, build, fresh, loaded, says_next

TURN_END = 20
AT_8_BITS = ("qwen3", "gemma3_text", "qwen3_5", "falcon_h1")
BRANCH = [*PROMPT[: TURN_END + 3], 7, 8, 9, 10]
ROUNDING = 1e-4  # a chunk of a state-space model sums in another order than two chunks do


def read(store: PrefixStore, model: LoadedModel, tokens: list[int]) -> tuple[Sequence, int]:
    sequence = store.take(model, list(tokens))
    sequence.turn_end = TURN_END
    start = sequence.caches.position
    while sequence.uncached > 1:
        sequence.prefill_chunk()
    return sequence, start


def keep(store: PrefixStore, sequence: Sequence) -> None:
    store.put(sequence)
    while store.has_unwritten:
        store.write_step()


def assert_equal(sequence: Sequence) -> None:
    expected = says_next(fresh(sequence.model, sequence.tokens))
    difference = mx.abs(says_next(sequence) - expected).max()
    assert bool((difference <= ROUNDING * mx.abs(expected).max()).item())


@pytest.mark.costly
@pytest.mark.parametrize(
    ("family", "eight_bits"),
    [*((family, None) for family in FAIR_PART), *((family, EightBitCache) for family in AT_8_BITS)],
)
def test_a_branch_a_restart_and_a_return(family: str, eight_bits: type[EightBitCache] | None, tmp_path: Path) -> None:
    model = cast(LoadedModel, SimpleNamespace(**vars(loaded(build(family), eight_bits)), identity="tiny"))
    store = PrefixStore(disk=PrefixDisk(tmp_path))
    keep(store, read(store, model, PROMPT)[0])

    branch, start = read(store, model, BRANCH)
    assert TURN_END <= start <= TURN_END + 3
    assert_equal(branch)

    again, start = read(PrefixStore(disk=PrefixDisk(tmp_path)), model, [*PROMPT, 5, 6])
    assert start == len(PROMPT) - 1
    assert_equal(again)

    keep(store, branch)
    back, start = read(store, model, [*PROMPT, 5, 6])
    assert start == len(PROMPT) - 1
    assert_equal(back)
