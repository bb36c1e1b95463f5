"""MTP heads beside mlx-vlm's of the Qwen3.5 family, of Nemotron-H and of GLM-5, whose head is DeepSeek-V3's.

It keeps the rows of drafted tokens that stand as it drafted them, where ours reads them again with the main model's
states; so rounds in which none stands are compared, at every depth up to five.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from typing import Any

import mlx.core as mx
from mlx.utils import tree_unflatten

from engine.drafting.proposers.mtp import MtpDrafter
from engine.models.access import ModelAccess
from tests.helpers import tiny_heads as tiny
from tests.parity.chains import compare

CASES: tuple[tuple[str, str, bool], ...] = (
    ("Qwen3.5 MTP", "qwen3_5", False),
    ("Qwen3.5 MTP, raw", "qwen3_5", True),
    ("Qwen3.5 MTP, experts", "qwen3_5_moe", False),
    ("Qwen3.5 MTP, experts, raw", "qwen3_5_moe", True),
    ("Nemotron-H MTP", "nemotron_h", False),
    ("GLM-5 MTP", "glm_moe_dsa", True),
)


def mtp_cases() -> Iterator[tuple[str, int, int, float]]:
    for name, family, raw in CASES:
        main = tiny.build_main(family)
        weights = tiny.head_weights(family)
        if raw:
            weights = {f"mtp.{part.replace('head.norm', 'head_norm')}": weight for part, weight in weights.items()}
        ours, theirs = _ours(family, weights, main), _theirs(family, weights, main)

        def logits(state: mx.array, theirs: Any = theirs) -> mx.array:
            found: mx.array = theirs._lm_head_fn(state[None])[0]
            return found

        for depth in (1, 5):
            caption = f"{name}, {depth} tokens"
            yield caption, *compare(ours, theirs, depth=depth, keeps_own_rows=True, logits=logits)


def _ours(family: str, weights: tiny.Weights, main: Any) -> MtpDrafter:
    ours = MtpDrafter(tiny.parsed_head(family, weights), ModelAccess(main))
    ours.load_weights(list(ours.sanitize(weights).items()), strict=True)
    return ours


def _theirs(family: str, weights: tiny.Weights, main: Any) -> Any:
    package = importlib.import_module(f"mlx_vlm.speculative.drafters.{family.removesuffix('_moe')}_mtp")
    config = json.loads(json.dumps(tiny.head_config(family)))
    theirs = package.Model(package.ModelConfig.from_dict(config))
    sanitized = theirs.sanitize(weights) if hasattr(theirs, "sanitize") else weights
    theirs.update(tree_unflatten(list(sanitized.items())))
    if family == "nemotron_h":  # theirs takes none but its own main models
        theirs._input_embed, theirs._lm_head_fn = main.backbone.embeddings, main.lm_head
    else:
        theirs.bind(main)
    return theirs
