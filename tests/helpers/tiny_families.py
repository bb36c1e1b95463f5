"""Tiny models of the three kinds of memory: every token's rows, a sliding window, a recurrent state."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx.utils import tree_map_with_path
from mlx_lm import utils as mlx_utils

from tests.helpers.tiny_models import VOCABULARY, qwen3_config, save

WINDOW = 16
COMMON: dict[str, Any] = {
    "hidden_size": 48,
    "num_hidden_layers": 2,
    "intermediate_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "rms_norm_eps": 1e-6,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": False,
    "rope_theta": 10000.0,
}
FAMILIES: dict[str, dict[str, Any]] = {
    "dense": qwen3_config(),
    "window": COMMON | {"model_type": "gemma3_text", "sliding_window": WINDOW, "sliding_window_pattern": 2},
    "hybrid": COMMON
    | {
        "model_type": "qwen3_next",
        "linear_num_value_heads": 4,
        "linear_num_key_heads": 2,
        "linear_key_head_dim": 16,
        "linear_value_head_dim": 16,
        "linear_conv_kernel_dim": 4,
        "full_attention_interval": 2,
        "num_experts": 0,
        "num_experts_per_tok": 0,
        "decoder_sparse_step": 1,
        "shared_expert_intermediate_size": 0,
        "mlp_only_layers": [],
        "moe_intermediate_size": 0,
        "norm_topk_prob": False,
        "partial_rotary_factor": 1.0,
    },
}

# Beside them, for what is worth its time: states of another kind, with attention in between.
STATE_SPACE: dict[str, dict[str, Any]] = {
    "ssm": COMMON
    | {
        "model_type": "nemotron_h",
        "hybrid_override_pattern": "M*",
        "attention_bias": False,
        "mamba_num_heads": 4,
        "mamba_head_dim": 16,
        "mamba_proj_bias": False,
        "ssm_state_size": 16,
        "conv_kernel": 4,
        "n_groups": 2,
        "mlp_bias": False,
        "layer_norm_epsilon": 1e-6,
        "use_bias": False,
        "use_conv_bias": True,
    }
}


def save_family(kind: str, folder: Path, seed: int = 0, scale: float = 3.0) -> Path:
    """Weights scaled up, so that the distribution is peaked enough to vary with the context."""
    config = (FAMILIES | STATE_SPACE)[kind]
    return save(random_network(config, seed, scale), config, folder)


def random_network(config: dict[str, Any], seed: int = 0, scale: float = 3.0) -> Any:
    """mlx-lm's for that config, whose numbers it may change."""
    network_class, arguments = mlx_utils._get_classes(copied := copy.deepcopy(config))
    mx.random.seed(seed)
    network = network_class(arguments.from_dict(copied))
    kept = ("norm", "A_log", "dt_bias", "conv")
    network.update(
        tree_map_with_path(
            lambda path, weight: weight if any(name in path for name in kept) else weight * scale, network.parameters()
        )
    )
    mx.eval(network.parameters())
    return network
