"""DFlash, DSpark and DFlash2 beside mlx-vlm's.

Its sliding layers keep, of a round's n rows, n - 1 more than the window, and rows that came alone in another order than
their positions; where they are not causal, each row of a block sees all that is kept. None of this is the authors', so
windows are compared where it does not show: causal ones, by two rows or more. The others stand beside the authors' own
code (`authors.py`).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import mlx.core as mx
from mlx.utils import tree_unflatten

from engine.caches.making import CacheMaker
from engine.drafting.proposers.dflash import BlockDrafter
from engine.models.access import ModelAccess
from engine.models.drafter_kinds import drafter_config
from engine.models.drafter_tensors import usual
from engine.models.drafters import SEEN_ROWS, BlockConfig
from tests.helpers import tiny_drafters as tiny
from tests.helpers.tiny_models import build, qwen3_config

_ROUNDS = 40
_SLIDING = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 12}
CASES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("z-lab DFlash", "qwen3_dflash", tiny.dflash_config()),
    ("z-lab DFlash, causal", "qwen3_dflash", tiny.dflash_config(is_causal=True)),
    ("z-lab DFlash, sliding and causal", "qwen3_dflash", tiny.dflash_config(**_SLIDING, is_causal=True)),
    ("z-lab DFlash, scaled rotation", "qwen3_dflash", tiny.dflash_config(rope_scaling=tiny.YARN)),
    ("DeepSpec DSpark", "dspark", tiny.dspark_config()),
    ("DeepSpec DSpark, interleaved rotation", "dspark", tiny.dspark_config(rope_is_neox_style=False)),
    ("DSpark, row 0 drafts nothing", "dspark", tiny.dspark_config(sample_from_anchor=False)),
    ("Muse Glimmer's assistant", "muse_glimmer_assistant", tiny.muse_config()),
    ("DFlash2, full layers", "dflash2", tiny.dflash2_config(layer_types=["full_attention"] * 2)),
)


def block_cases() -> Iterator[tuple[str, int, int, float]]:
    network = build(qwen3_config())
    for name, module, config in CASES:
        yield name, *_compare(network, module, config)


def _compare(network: Any, module: str, config: dict[str, Any]) -> tuple[int, int, float]:
    weights = (tiny.muse_weights if module.startswith("muse") else tiny.block_weights)(config)
    ours = _ours(config, weights, network)
    theirs = _theirs(module, config, weights, network)
    seen = _recorded(theirs)
    caches, their_caches = CacheMaker(ours)(), theirs.make_cache()
    mx.random.seed(1)
    differing, error, width = 0, 0.0, 2 * tiny.WIDTH
    for turn in range(_ROUNDS):
        states = mx.random.normal((_rows(_parsed(config), turn), width))
        anchor = mx.array([7 * turn % 250], dtype=mx.uint32)
        ours.read(mx.zeros((states.shape[0],), mx.uint32), states, caches)
        drafted = ours.block(anchor, caches)
        before, tokens, logits = anchor, [], []
        for row in range(ours.tokens):
            base = ours.base_logits(drafted[row : row + 1])
            logits.append(ours.step_logits(base, before, drafted[row : row + 1]))
            before = mx.argmax(logits[-1], axis=-1)
            tokens.append(before)
        block = ours.tokens + 1
        expected = theirs.draft_block(
            anchor.astype(mx.int32), states[None], their_caches, block, lambda logits: mx.argmax(logits, axis=-1)
        )
        difference: float = mx.abs(seen[-1] - drafted).max().item()  # type: ignore[assignment]
        if not difference <= error:  # NaN, too
            error = difference
        differing += expected[0].tolist() != mx.concatenate(tokens).tolist()
    return _ROUNDS, differing, error


def _rows(config: BlockConfig, turn: int) -> int:
    return 2 + 5 * turn % 6 if 0 < max(config.windows) < SEEN_ROWS else 1 + 5 * turn % 7


def _recorded(theirs: Any) -> list[mx.array]:
    """What its backbone returns from now on, without the row that drafts nothing."""
    seen: list[mx.array] = []
    run = type(theirs)._hidden
    drops = not getattr(theirs.config, "sample_from_anchor", False)

    def record(self: Any, *arguments: Any, **named: Any) -> Any:
        hidden = run(self, *arguments, **named)
        seen.append(hidden[0, int(drops) :])
        return hidden

    theirs.__class__ = type("Recorded", (type(theirs),), {"_hidden": record})
    return seen


def _ours(config: dict[str, Any], weights: dict[str, mx.array], network: Any) -> BlockDrafter:
    ours = BlockDrafter(_parsed(config), ModelAccess(network))
    ours.load_weights([(usual(name), weight) for name, weight in weights.items()], strict=True)
    return ours


def _parsed(config: dict[str, Any]) -> BlockConfig:
    parsed = drafter_config(config)
    assert isinstance(parsed, BlockConfig)
    return parsed


def _theirs(module: str, config: dict[str, Any], weights: dict[str, mx.array], network: Any) -> Any:
    package = importlib.import_module(f"mlx_vlm.speculative.drafters.{module}")
    said = dict(config)
    if module == "dspark":  # theirs wants what we take from the top in an object of its own
        said["dflash_config"] = {
            key: said[key]
            for key in ("mask_token_id", "target_layer_ids", "markov_rank", "markov_head_type", "sample_from_anchor")
            if key in said
        } | {"num_target_layers": tiny.MAIN_LAYERS, "confidence_head_with_markov": True}
        if said.get("sample_from_anchor") is False:
            said["dspark_bonus_anchor"] = True
    theirs = package.Model(package.ModelConfig.from_dict(said))
    theirs.update(tree_unflatten(list(theirs.sanitize(weights).items())))
    network.rollback_speculative_cache = None  # theirs asks for it, and needs it only in its own loop
    if module.startswith("muse"):
        theirs.validate_target_compatibility = lambda target: None  # its main model's family and size
    theirs.bind(network)
    return theirs
