"""Whether mlx-lm has code for an architecture, without importing mlx-lm (which would import MLX)."""

from __future__ import annotations

import importlib.util
import pkgutil
from functools import cache

# mlx-lm's table of types that share another one's code; a test compares it with mlx_lm.utils.MODEL_REMAPPING.
SAME_AS = {
    "mistral": "llama",
    "llava": "mistral3",
    "phi-msft": "phixtral",
    "falcon_mamba": "mamba",
    "joyai_llm_flash": "deepseek_v3",
    "kimi_k2": "deepseek_v3",
    "qwen2_5_vl": "qwen2_vl",
    "minimax_m2": "minimax",
    "iquestcoder": "llama",
    "xverse": "llama",
    "gemma4_unified": "gemma4",
    "deepseek_v41_text": "deepseek_v41",
    "bailing_hybrid": "bailing_moe_v3",
}


def is_known(model_type: str) -> bool:
    known = _known_types()
    return not known or model_type in known or SAME_AS.get(model_type) in known


@cache
def _known_types() -> frozenset[str]:
    """Empty if mlx-lm is not installed; loading then reports it."""
    spec = importlib.util.find_spec("mlx_lm")
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        return frozenset()
    return frozenset(module.name for module in pkgutil.iter_modules([f"{folder}/models" for folder in folders]))
