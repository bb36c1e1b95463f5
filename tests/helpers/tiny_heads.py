"""Tiny main models of the families that are trained with a head, and heads for them with each family's names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten

from engine.drafting.proposers.mtp import MtpDrafter
from engine.models.access import ModelAccess
from engine.models.drafter_kinds import drafter_config
from engine.models.drafters import MtpConfig
from engine.models.mtp_families import FAMILIES
from tests.families.configs import config as usual_config
from tests.helpers.tiny_families import COMMON, STATE_SPACE, random_network
from tests.helpers.tiny_families import FAMILIES as TINY
from tests.helpers.tiny_models import VOCABULARY, save

Weights = dict[str, mx.array]

_EXPERTS: dict[str, Any] = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
_LINEAR = {name: value for name, value in TINY["hybrid"].items() if name.startswith("linear_")}
_ROPE = {"type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5, "mrope_section": [2, 1, 1]}
_LATENT: dict[str, Any] = COMMON | {
    "kv_lora_rank": 16,
    "q_lora_rank": 24,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8,
    "v_head_dim": 12,
    "num_key_value_heads": 4,
    "n_routed_experts": 4,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "first_k_dense_replace": 1,
    "num_nextn_predict_layers": 1,
}
_CHOOSING: dict[str, Any] = {
    "index_head_dim": 16,
    "index_n_heads": 2,
    "index_topk": 24,
    "n_group": 1,
    "topk_group": 1,
    "topk_method": "noaux_tc",
    "scoring_func": "sigmoid",
    "norm_topk_prob": True,
    "routed_scaling_factor": 1.0,
    "moe_layer_freq": 1,
    "attention_bias": False,
}
MAINS: dict[str, dict[str, Any]] = {
    "qwen3_next": TINY["hybrid"] | _EXPERTS | {"num_hidden_layers": 4, "shared_expert_intermediate_size": 32},
    "qwen3_5": {
        "model_type": "qwen3_5",
        "text_config": COMMON
        | _LINEAR
        | {"model_type": "qwen3_5_text", "rope_parameters": _ROPE, "full_attention_interval": 2},
    },
    "qwen3_5_moe": {
        "model_type": "qwen3_5_moe",
        "text_config": COMMON
        | _LINEAR
        | _EXPERTS
        | {
            "model_type": "qwen3_5_moe_text",
            "rope_parameters": _ROPE,
            "full_attention_interval": 2,
            "shared_expert_intermediate_size": 32,
        },
    },
    "deepseek_v3": _LATENT | {"model_type": "deepseek_v3"},
    "glm4_moe_lite": _LATENT | {"model_type": "glm4_moe_lite"},
    "glm4_moe": COMMON
    | {
        "model_type": "glm4_moe",
        "n_routed_experts": 4,
        "n_shared_experts": 1,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 32,
        "first_k_dense_replace": 1,
        "n_group": 1,
        "topk_group": 1,
        "routed_scaling_factor": 1.0,
        "norm_topk_prob": True,
        "use_qk_norm": True,
        "rope_scaling": None,
        "attention_bias": True,
        "partial_rotary_factor": 0.5,
    },
    "qwen3": COMMON | {"model_type": "qwen3"},
    "mimo": COMMON | {"model_type": "mimo", "head_dim": 12},
    "deepseek_v32": _LATENT | _CHOOSING | {"model_type": "deepseek_v32"},
    "glm_moe_dsa": _LATENT | _CHOOSING | {"model_type": "glm_moe_dsa", "rope_parameters": {"rope_theta": 10000.0}},
    "ernie4_5_moe": COMMON
    | {
        "model_type": "ernie4_5_moe",
        "use_bias": False,
        "moe_num_experts": 4,
        "moe_k": 2,
        "moe_intermediate_size": 32,
        "moe_layer_start_index": 1,
        "num_nextn_predict_layers": 1,
    },
    "exaone_moe": COMMON
    | _EXPERTS
    | {
        "model_type": "exaone_moe",
        "num_shared_experts": 1,
        "sliding_window": 8,
        "layer_types": ["sliding_attention", "full_attention"],
        "is_moe_layer": [False, True],
        "mtp_layer_types": ["full_attention"],
        "num_nextn_predict_layers": 1,
    },
    "nemotron_h": STATE_SPACE["ssm"]
    | {
        "hybrid_override_pattern": "M*E",
        "num_hidden_layers": 3,
        "mtp_hybrid_override_pattern": "*E",
        "num_nextn_predict_layers": 1,
        "n_routed_experts": 4,
        "n_shared_experts": 1,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 32,
        "moe_shared_expert_intermediate_size": 32,
        "n_group": 1,
        "topk_group": 1,
        "norm_topk_prob": True,
        "routed_scaling_factor": 1.0,
    },
}
_USUAL = ("mellum", "bailing_moe", "bailing_hybrid", "bailing_moe_v3", "mimo_v2_flash", "longcat_flash", "step3p5")
for _family in _USUAL:
    MAINS[_family] = {**usual_config(_family), "vocab_size": VOCABULARY}
    del MAINS[_family]["rope_scaling"]
MAINS["step3p5"] |= {  # what the lists say last is the head's
    "layer_types": ["full_attention", "sliding_attention"] * 2 + ["sliding_attention"],
    "rope_theta": [10000.0] * 4 + [500.0],
    "partial_rotary_factors": [0.5, 1.0] * 2 + [1.0],
    "swiglu_limits_shared": [0.0] * 4 + [2.0],
    "num_nextn_predict_layers": 3,
}


def text_of(config: dict[str, Any]) -> dict[str, Any]:
    return config.get("text_config", config)  # type: ignore[no-any-return]


def build_main(family: str, scale: float = 3.0, **changes: Any) -> Any:
    network = random_network(with_changes(family, **changes), scale=scale)
    network.eval()
    return network


def with_changes(family: str, **changes: Any) -> dict[str, Any]:
    config = MAINS[family]
    return config | ({"text_config": text_of(config) | changes} if "text_config" in config else changes)


def head_config(family: str, **changes: Any) -> dict[str, Any]:
    """As heads lie in folders of their own."""
    return {"model_type": f"{family.removesuffix('_moe')}_mtp", "text_config": text_of(with_changes(family, **changes))}


def parsed_head(family: str, tensors: Any = (), **changes: Any) -> MtpConfig:
    parsed = drafter_config(head_config(family, **changes), tensors)
    assert isinstance(parsed, MtpConfig)
    return parsed


def head_weights(family: str, seed: int = 7, *, own_ends: bool = False, **changes: Any) -> Weights:
    """Random ones under the family's names, in the layout of mlx-lm and without what stands before them."""
    ends = ("embed_tokens.weight", "shared_head.head.weight") if own_ends else ()
    head = MtpDrafter(parsed_head(family, ends, **changes), ModelAccess(build_main(family, **changes)))
    mx.random.seed(seed)
    arrays: list[tuple[str, mx.array]] = tree_flatten(head.parameters())  # type: ignore[assignment]
    weights = {name: _random(name, array) for name, array in arrays}
    theirs = {ours: theirs for theirs, ours in reversed(list(FAMILIES[family].names.items()))}
    layers = FAMILIES[family].layers
    named = {}
    for name, weight in weights.items():
        part, _, kind = name.rpartition(".")
        ordinary = name if layers[0] == "layers.0." else layers[-1] + name.removeprefix("layers.0.")
        named[f"{theirs[part]}.{kind}" if part in theirs else ordinary] = weight
    return named


def speculators_config(family: str) -> dict[str, Any]:
    return {"speculators_model_type": "mtp", "transformer_layer_config": text_of(MAINS[family])}


def speculators_weights(family: str, weights: Weights) -> Weights:
    """The same as speculators has them: under its own names, experts in two arrays, norms around zero as in shards."""
    ours = FAMILIES[family].names
    theirs = {part: name for name, part in ours.items()}  # the last is theirs
    renamed: Weights = {}
    for name, weight in weights.items():
        part, _, kind = name.rpartition(".")
        own = f"{theirs[ours[part]]}.{kind}" if part in ours else name.removeprefix("layers.0.")
        renamed[f"mtp_layers.0.{own}"] = weight - 1 if FAMILIES[family].zero_centred and "norm" in own else weight
    at = "mtp_layers.0.mlp"
    if f"{at}.switch_mlp.gate_proj.weight" in renamed:
        gate, up, down = (renamed.pop(f"{at}.switch_mlp.{part}_proj.weight") for part in ("gate", "up", "down"))
        renamed |= {f"{at}.experts.gate_up_proj": mx.concatenate([gate, up], axis=1), f"{at}.experts.down_proj": down}
    return renamed


def head_prefix(family: str) -> str:
    prefix, layers = FAMILIES[family].prefixes[0], text_of(MAINS[family]).get("num_hidden_layers", 0)
    prefix = prefix.replace("#", str(layers if prefix == "layers.#." else 0))
    return prefix if prefix == "mtp." else f"model.{prefix}"


def save_main_with_head(family: str, folder: Path, weights: Weights, **changes: Any) -> Path:
    """As the authors publish it, in that the head's tensors lie among the others."""
    save(build_main(family, **changes), with_changes(family, **changes), folder)
    shard = folder / "model.safetensors"
    held = mx.load(str(shard))
    head = {head_prefix(family) + name: weight for name, weight in weights.items()}
    mx.save_safetensors(str(shard), {**held, **head}, {"format": "mlx"})  # type: ignore[dict-item]
    return folder


def _random(name: str, like: mx.array) -> mx.array:
    values = mx.random.normal(like.shape)
    if "norm" in name:
        return 1 + 0.3 * values
    return mx.array(1.5 / like.shape[-1] ** 0.5) * values
