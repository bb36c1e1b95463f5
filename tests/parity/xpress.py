"""XPress beside speculators', whose training refines a block several times in parallel, as vLLM does. After as many
times as the block has rows nothing changes any more, and that is what ours drafts row by row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mlx.core as mx
import torch
from speculators.models.xpress import XPressDraftModel, XPressSpeculatorConfig

from engine.caches.making import CacheMaker
from engine.decoding.accept import integers
from engine.drafting.proposers.xpress import XPressDrafter
from engine.models.access import ModelAccess
from engine.models.drafters import BlockConfig, drafter_config
from tests.helpers import tiny_drafters as tiny
from tests.helpers.tiny_models import build, qwen3_config
from tests.parity.authors import anchored_rows, larger, speculators_model, to_torch

_ROUNDS = 40
_CASES: dict[str, dict[str, Any]] = {
    "XPress": tiny.speculators_block_config("xpress", draft_vocab_size=tiny.VOCABULARY),
    "XPress, a vocabulary of its own": tiny.speculators_block_config("xpress"),
    "XPress, row 0 drafts": tiny.speculators_block_config("xpress", sample_from_anchor=True),
}


def xpress_cases() -> Iterator[tuple[str, int, int, float]]:
    network = build(qwen3_config())
    torch.set_grad_enabled(False)
    for name, config in _CASES.items():
        yield f"speculators {name}", *_compared(network, config)


def _compared(network: Any, config: dict[str, Any]) -> tuple[int, int, float]:
    weights = tiny.xpress_weights(config)
    parsed = drafter_config(config, weights)
    assert isinstance(parsed, BlockConfig)
    ours = XPressDrafter(parsed, ModelAccess(network))
    held = ours.sanitize(dict(weights))
    held.pop("t2d", None)
    ours.load_weights(list(held.items()), strict=True)
    ends = {"embed_tokens.weight": network.model.embed_tokens.weight, "lm_head.weight": network.lm_head.weight}
    theirs = speculators_model(XPressDraftModel, XPressSpeculatorConfig, config, ends | weights)
    caches, tokens, states = CacheMaker(ours)(), list[int](), mx.zeros((0, ours.reads_width))
    mx.random.seed(1)
    differing, error = 0, 0.0
    for turn in range(_ROUNDS):
        new = mx.random.normal((1 + 5 * turn % 7, ours.reads_width))
        tokens, states = [*tokens, *range(turn, turn + new.shape[0])], mx.concatenate([states, new])
        newest = mx.array([7 * turn % 250], dtype=mx.uint32)
        ours.read(mx.zeros((new.shape[0],), mx.uint32), new, caches)
        walk = ours.walk(ours.block(newest, caches), ours.tokens, earlier=mx.array(tokens[-1:]))
        mine, before, rows = list[int](), newest, list[mx.array]()
        for row in range(ours.tokens):
            rows.append(walk(row, before))
            before = mx.argmax(rows[-1], axis=-1)
            mine += integers(before)
        wanted, logits = _refined(
            theirs, *anchored_rows(theirs, tokens, states, newest), tokens[-1], integers(newest)[0]
        )
        kept = to_torch(mx.concatenate(rows))
        kept = kept[:, theirs.t2d] if "t2d" in weights else kept
        differing += mine != wanted
        error = larger(error, (kept - logits) / logits.abs().max())
    return _ROUNDS, differing, error


def _refined(
    theirs: Any, hidden: torch.Tensor, base: torch.Tensor, earlier: int, newest: int
) -> tuple[list[int], torch.Tensor]:
    """The tokens of the rows that draft, and the logits that they were chosen by."""
    first = 0 if theirs.config.sample_from_anchor else 1
    kept, logits = theirs.refiner_head.hidden_cache(hidden[None]), base
    for _ in range(theirs.block_size + 1):
        drafted = theirs._draft_to_verifier_ids(logits.argmax(dim=-1)).tolist()[first:]
        befores = [earlier] * first + [newest, *drafted[:-1]]
        logits = base + theirs.refiner_head.block_bias(torch.tensor([befores]), hcache=kept)[0]
    return drafted, logits[first:]
