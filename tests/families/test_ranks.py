"""Every family whose layers can run in several processes: tokens and logits of two and three ranks are those of one.

In tensor mode they are those of that mode without drafts, to the bit, and close to those of one process.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from engine.api.modes import RankMode
from engine.caches.base import CacheSet
from engine.cluster.loading import loading_over_ranks
from engine.cluster.modes import BY_THREE, SHARDED
from engine.cluster.plan import SPLITTABLE, plan_ranks
from engine.models import loading
from engine.models.loading import LoadedModel
from tests.families.configs import config
from tests.families.examine import CLOSE, EVERY_LENGTH, LEAST_VARIETY, apart
from tests.families.harness import GREEDY, PROMPT, WARM, Errant, Told, fresh, reply, says_next
from tests.helpers.loading import at_once, load_model
from tests.helpers.ranks import rank_folder

TOKENS = 20
CHUNKS = (7, 16, 70)  # tokens; after the last MLX's spare buffers are given back
LONG_PROMPT = [(n * n + 7 * n + 5) % 89 + 1 for n in range(150)]
NO_TOKENIZER = SimpleNamespace(
    _tokenizer=None,
    has_chat_template=False,
    has_thinking=False,
    has_tool_calling=False,
    eos_token_ids=(),
)

pytestmark = pytest.mark.families


@pytest.fixture(autouse=True)
def without_tokenizers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of some families transformers has none for such a config; here all is tokens."""
    monkeypatch.setattr(loading, "_load_tokenizer", lambda path, width: NO_TOKENIZER)
    monkeypatch.setattr(loading, "_chat_template", lambda tokenizer, path: None)


CASES = [(family, ranks) for family in sorted(SPLITTABLE) for ranks in (2, 3)]
CASES.remove(("bailing_hybrid", 3))  # the tiny one has two groups of layers


@pytest.mark.parametrize(("family", "ranks"), CASES)
def test_ranks_compute_to_the_bit_what_one_process_does(family: str, ranks: int, tmp_path: Path) -> None:
    folder, _ = rank_folder(family, tmp_path)
    plan = plan_ranks(folder, [1 << 30] * ranks)
    alone = _told(load_model(folder))
    model = at_once(loading_over_ranks(plan))
    try:
        together = _told(model)
    finally:
        model.close()

    assert len(set(alone[0][0])) > LEAST_VARIETY
    for length, (tokens, accepted, next_logits) in together.items():
        assert (tokens, accepted) == alone[length][:2], length
        assert np.array_equal(next_logits, alone[length][2]), length


SHARES = [(family, 2) for family in sorted(SHARDED)] + [(family, 3) for family in sorted(BY_THREE)]


@pytest.mark.parametrize(("family", "ranks"), SHARES)
def test_neither_draft_nor_chunks_change_anything_in_tensor_mode(family: str, ranks: int, tmp_path: Path) -> None:
    """No bit, where forwards of all widths agree to the bit in one process; else as little as there."""
    folder, _ = rank_folder(family, tmp_path, **divisible(family, ranks))
    one = load_model(folder)
    by_width, by_chunk = (0.0 if apart == 0 else CLOSE for apart in (apart_by_width(one), apart_by_chunk(one)))
    alone = says_next(fresh(one, PROMPT))
    model = at_once(loading_over_ranks(plan_ranks(folder, [1 << 30] * ranks, mode=RankMode.TENSOR)))
    try:
        assert apart_by_width(model) <= by_width
        assert apart_by_chunk(model) <= by_chunk
        replies = _told(model)
        here = says_next(fresh(model, PROMPT))
    finally:
        model.close()

    assert len(set(replies[0][0])) > LEAST_VARIETY
    assert apart(here, alone) <= CLOSE
    for length in (*EVERY_LENGTH, -2):
        plain = replies[-1 if length == -2 else 0]
        assert replies[length][0] == plain[0], length
        assert apart(replies[length][2], plain[2]) <= by_width, length


def divisible(family: str, ranks: int) -> dict[str, Any]:
    """What in the tiny model's configuration has to be another number."""
    if family == "prism_hadamard_qwen35":  # it has rows of one group of numbers
        return {"text_config": config(family)["text_config"] | {"intermediate_size": 256}}
    if ranks == 2:
        return {}
    sizes = {"hidden_size": 48, "num_attention_heads": 6, "num_key_value_heads": 3}
    return sizes | {"intermediate_size": 96, "moe_intermediate_size": 48}


def apart_by_chunk(model: LoadedModel) -> float:
    """How far a prompt's logits, read in chunks, are from those that it gets token by token."""
    caches = model.make_caches()
    single = mx.stack([_logits(model, caches, [token], 1)[0] for token in LONG_PROMPT])
    most = 0.0
    for width in CHUNKS:
        caches = model.make_caches()
        for begin in range(0, len(LONG_PROMPT), width):
            chunk = LONG_PROMPT[begin : begin + width]
            most = max(most, apart(_logits(model, caches, chunk, len(chunk)), single[begin : begin + width]))
    return most


def apart_by_width(model: LoadedModel) -> float:
    """How far forwards over 2 to 8 tokens, of which any number is kept, are from single tokens'."""
    caches = model.make_caches()
    single = mx.stack([_logits(model, caches, [token], 1)[0] for token in PROMPT])
    most = 0.0
    for width in EVERY_LENGTH:
        caches = model.make_caches()
        for kept in range(width + 1):
            begin = caches.position
            rows = _logits(model, caches, PROMPT[begin : begin + width], kept)
            most = max(most, apart(rows, single[begin : begin + width]))
        assert caches.position == sum(range(width + 1))
    return most


def _logits(model: LoadedModel, caches: CacheSet, tokens: list[int], kept: int) -> mx.array:
    fed = mx.array([tokens], dtype=mx.uint32)
    rows = caches.forward(len(tokens), lambda: model.network(fed, cache=caches.layers))[0]
    mx.eval(rows)
    caches.commit(kept)
    return rows


def _told(model: LoadedModel) -> dict[int, tuple[list[int], set[int], Any]]:
    """By length of the drafts, 0: plain decoding; -1 and -2: the same with a temperature, plain and drafted."""
    plain, warm = reply(model, tokens=TOKENS), reply(model, WARM, tokens=TOKENS)
    replies = {0: plain, -1: warm}
    for length in EVERY_LENGTH:
        replies[length] = reply(model, GREEDY, _errant(plain), lambda _, n=length: n, TOKENS)  # type: ignore[misc]
    replies[-2] = reply(model, WARM, _errant(warm), lambda number: number % 8 + 1, TOKENS)
    return {how: (told.tokens, told.accepted, np.array(says_next(told.conversation))) for how, told in replies.items()}


def _errant(told: Told) -> Errant:
    return Errant([*PROMPT, *told.tokens])
