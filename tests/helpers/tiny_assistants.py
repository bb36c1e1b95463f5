"""Tiny Gemma 4 main models, and drafters for them: random weights under the names in which they are published."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten
from mlx_lm.models.gemma4_text import DecoderLayer, ModelArgs

from tests.helpers.tiny_drafters import GEMMA_LAYERS, block_weights, gemma_block_config, random_weight, save_drafter
from tests.helpers.tiny_families import random_network
from tests.helpers.tiny_models import VOCABULARY, save

Weights = dict[str, mx.array]

WINDOW = 16
WIDTH, CLUSTERS = 32, 24
_TEXT: dict[str, Any] = {
    "model_type": "gemma4_text",
    "hidden_size": 48,
    "num_hidden_layers": 6,
    "intermediate_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "global_head_dim": 32,
    "rms_norm_eps": 1e-6,
    "vocab_size": VOCABULARY,
    "vocab_size_per_layer_input": VOCABULARY,
    "hidden_size_per_layer_input": 0,
    "num_kv_shared_layers": 0,
    "use_double_wide_mlp": False,
    "sliding_window": WINDOW,
    "layer_types": ["sliding_attention", "sliding_attention", "full_attention"] * 2,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": True,
    "rope_parameters": GEMMA_LAYERS["rope_parameters"],
}
MAINS: dict[str, dict[str, Any]] = {
    # as the small ones: the last layers read the rows of others, and each is given something of the token
    "gemma4": _TEXT | {"num_kv_shared_layers": 2, "hidden_size_per_layer_input": 8},
    # as the large ones: in full layers, values are keys
    "gemma4-large": _TEXT | {"attention_k_eq_v": True, "num_global_key_value_heads": 1},
}


def main_config(family: str, **changes: Any) -> dict[str, Any]:
    text = copy.deepcopy(MAINS[family]) | changes
    return {"model_type": "gemma4", "vocab_size": VOCABULARY, "text_config": text}


def build_main(family: str, scale: float = 3.0, **changes: Any) -> Any:
    return random_network(main_config(family, **changes), scale=scale)


def save_main(family: str, folder: Path, **changes: Any) -> Path:
    config = main_config(family, **changes)
    network = build_main(family, **changes)
    return save(network, config, folder)


def assistant_config(family: str = "gemma4", **changes: Any) -> dict[str, Any]:
    """The small ones look at a part of the vocabulary only."""
    text = copy.deepcopy(MAINS[family]) | {
        "hidden_size": WIDTH,
        "num_hidden_layers": 4,
        "num_kv_shared_layers": 4,
        "layer_types": ["sliding_attention"] * 3 + ["full_attention"],
        "hidden_size_per_layer_input": 0,
        "vocab_size_per_layer_input": 0,
    }
    return {
        "architectures": ["Gemma4AssistantForCausalLM"],
        "model_type": "gemma4_assistant",
        "backbone_hidden_size": MAINS[family]["hidden_size"],
        "use_ordered_embeddings": family == "gemma4",
        "num_centroids": CLUSTERS,
        "centroid_intermediate_top_k": 12,
        "tie_word_embeddings": True,
        "text_config": text,
    } | changes


def assistant_weights(config: dict[str, Any], seed: int = 9) -> Weights:
    mx.random.seed(seed)
    text, wide = config["text_config"], config["backbone_hidden_size"]
    sizes = ModelArgs.from_dict(text)
    weights = Weights()
    for index in range(sizes.num_hidden_layers):
        parts: Weights = dict(tree_flatten(DecoderLayer(sizes, index).parameters()))
        weights |= {f"model.layers.{index}.{name}": random_weight(name, part.shape) for name, part in parts.items()}
    width, rows = sizes.hidden_size, sizes.vocab_size
    for name, shape in {
        "model.embed_tokens.weight": (rows, width),
        "model.norm.weight": (width,),
        "pre_projection.weight": (width, 2 * wide),
        "post_projection.weight": (wide, width),
    }.items():
        weights[name] = random_weight(name, shape)
    if config["use_ordered_embeddings"]:
        weights["masked_embedding.centroids.weight"] = random_weight("", (config["num_centroids"], width))
        weights["masked_embedding.token_ordering"] = mx.random.permutation(rows).astype(mx.int64)
    elif not config["tie_word_embeddings"]:
        weights["lm_head.weight"] = random_weight("", (rows, width))
    return weights


def save_assistant(family: str, folder: Path, **changes: Any) -> Path:
    config = assistant_config(family, **changes)
    return save_drafter(folder, config, assistant_weights(config))


def save_block(family: str, folder: Path) -> Path:
    """DeepSpec's DSpark, which has that family's layers."""
    sizes = {key: MAINS[family][key] for key in ("hidden_size", "num_attention_heads")}
    config = gemma_block_config(**sizes, num_target_layers=MAINS[family]["num_hidden_layers"], target_layer_ids=[1, 4])
    return save_drafter(folder, config, block_weights(config))
