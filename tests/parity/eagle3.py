"""EAGLE-3 beside mlx-vlm's. Of what it does not know (`fc_norm`, `norm_output`, norms of heads) there is no parity."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import mlx.core as mx
from mlx.utils import tree_unflatten

from engine.drafting.proposers.eagle3 import EagleDrafter
from engine.drafting.proposers.layers import widened
from engine.models.access import ModelAccess
from engine.models.drafter_kinds import drafter_config
from engine.models.drafters import EagleConfig
from tests.helpers import tiny_drafters as tiny
from tests.helpers.tiny_models import build, qwen3_config
from tests.parity.chains import compare

_NARROW = {"hidden_size": 32, "num_attention_heads": 2, "num_key_value_heads": 1}
CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("SafeAILab EAGLE-3", tiny.eagle_author_config()),
    ("speculators EAGLE-3", tiny.eagle_config()),
    ("EAGLE-3, norm before residual", tiny.eagle_config(norm_before_residual=True)),
    ("EAGLE-3, norm before fc", tiny.eagle_config(norm_before_fc=True)),
    ("EAGLE-3, the whole vocabulary", tiny.eagle_config(draft_vocab_size=tiny.VOCABULARY)),
    ("EAGLE-3, three layers", tiny.eagle_config(layer={"num_hidden_layers": 3})),
    ("EAGLE-3, narrower than its main model", tiny.eagle_config(target_hidden_size=tiny.WIDTH, layer=_NARROW)),
)


def eagle_cases() -> Iterator[tuple[str, int, int, float]]:
    network = build(qwen3_config())
    for name, config in CASES:
        weights = tiny.eagle_weights(config)
        ours, theirs = _ours(config, weights, network), _theirs(config, weights, network)

        def logits(state: mx.array, theirs: Any = theirs) -> mx.array:
            narrow = theirs._logits(state[None])[0]
            return narrow if theirs.d2t is None else widened(narrow, theirs.d2t, tiny.VOCABULARY)

        yield name, *compare(ours, theirs, depth=5, keeps_own_rows=False, logits=logits)


def _ours(config: dict[str, Any], weights: dict[str, mx.array], network: Any) -> EagleDrafter:
    parsed = drafter_config(config, weights)
    assert isinstance(parsed, EagleConfig)
    ours = EagleDrafter(parsed, ModelAccess(network))
    renamed = ours.sanitize(weights)
    renamed.pop("t2d", None)
    ours.load_weights(list(renamed.items()), strict=True)
    return ours


def _theirs(config: dict[str, Any], weights: dict[str, mx.array], network: Any) -> Any:
    package = importlib.import_module("mlx_vlm.speculative.drafters.eagle3")
    said = dict(config)
    if "transformer_layer_config" not in said:  # theirs knows one dialect
        said["transformer_layer_config"] = {key: said[key] for key in tiny.SIZES}
    theirs = package.Eagle3DraftModel(package.ModelConfig.from_dict(said))
    renamed = {name.replace("midlayer.", "layers.0."): weight for name, weight in weights.items()}
    theirs.update(tree_unflatten(list(theirs.sanitize(renamed).items())))
    theirs.bind(network)
    return theirs
