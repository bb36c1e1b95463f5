"""The families of models: their names, and how their caches are made. One row a family; the only place with such facts
about a family, for engine and app.

mlx-lm may know a model_type without a row: it is then shown by its type, and its caches are assumed to be plain keys
and values.
"""

from __future__ import annotations

import importlib.util
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache
from types import MappingProxyType

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
# Those whose weights mlx-lm reads in FP8 with a scale for each block.
READ_FP8 = frozenset(
    {"deepseek_v3", "deepseek_v32", "glm_moe_dsa", "kimi_k25", "mimo_v2_flash", "minimax", "minimax_m3_vl", "mistral4"}
)
_BY_NAME = (  # the longer prefix first
    ("deepseek-r1-distill", "DeepSeek R1"),
    ("qwen2.5", "Qwen2.5"),
    ("qwen3.5", "Qwen3.5"),
    ("qwen3.6", "Qwen3.6"),
    ("qwen3.8", "Qwen3.8"),
    ("llama-3", "Llama 3"),
    ("smollm3", "SmolLM3"),
    ("smollm2", "SmolLM2"),
    ("smollm", "SmolLM"),
    ("devstral", "Devstral"),
    ("ministral", "Ministral"),
    ("mistral", "Mistral"),
    ("lfm2.5", "LFM2.5"),
)
_GEMMA3 = {
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "sliding_window": 512,
    "sliding_window_pattern": 6,
}
_GEMMA4 = {
    "num_attention_heads": 8,
    "num_key_value_heads": 1,
    "head_dim": 256,
    "global_head_dim": 512,
    "sliding_window": 512,
    "sliding_window_pattern": 5,
    "num_kv_shared_layers": 20,
}
_LATENT = {"kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128}
_LATENT_INDEXED = {**_LATENT, "index_head_dim": 128}
_DELTA = {"full_attention_interval": 4, "linear_conv_kernel_dim": 4}
_FALCON = {"mamba_d_conv": 4, "mamba_n_groups": 1}


class Caches(Enum):
    """What a layer's cache holds; cache_sizes.py computes its size."""

    KEYS = auto()  # keys and values of every token
    WINDOWS = auto()  # … in some layers of the last tokens only
    LOOPS = auto()  # keys and values of every token, and also of windows
    LATENT = auto()  # one compressed row a token
    LATENT_WIDE = auto()  # … which mlx-lm keeps unpacked
    LATENT_TWICE = auto()
    LATENT_INDEXED = auto()  # … and the keys of an index
    KEYS_INDEXED = auto()
    COMPRESSED = auto()  # one row for a group of tokens
    DELTA = auto()  # some layers with a state of gated deltas
    DELTA_KEYED = auto()  # Kimi's: latent rows in the layers between
    LINEAR = auto()  # some layers with a state of linear attention
    STATE_SPACE = auto()  # Mamba 1
    STATE_SPACE_HEADS = auto()  # Mamba 2, in every layer or in some
    SHORT_CONVOLUTIONS = auto()
    CONVOLVED_WINDOWS = auto()
    RECURRENT_UNITS = auto()
    TOKEN_SHIFTS = auto()


@dataclass(frozen=True, slots=True)
class Family:
    name: str
    caches: Caches = Caches.KEYS
    defaults: Mapping[str, object] = field(default_factory=dict)  # mlx-lm's defaults where the config has no value
    speculates: bool = True  # False: a forward over several tokens differs from one by one
    context_tokens: int = 0  # where the config has no value; 0: not known


def family_for(model_type: str) -> Family:
    return FAMILIES.get(model_type) or FAMILIES.get(SAME_AS.get(model_type, "")) or Family(model_type)


def family_name(model_type: str, name: str) -> str:
    """Its usual name: several families share an architecture, and differ only in the model's name."""
    plain = re.sub(r"[-_ ]+", "-", name.casefold())
    named = next((family for sign, family in _BY_NAME if sign in plain), "")
    return named or (family_for(model_type).name if model_type else "")


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "Klear": Family("Klear"),
        "afm7": Family("AFM"),
        "afmoe": Family("AFMoE", Caches.WINDOWS, {"sliding_window": 2048}),
        "apertus": Family("Apertus"),
        "baichuan_m1": Family("Baichuan M1", Caches.CONVOLVED_WINDOWS),
        "bailing_hybrid": Family("Ling", Caches.LINEAR),
        "bailing_moe": Family("Ling"),
        "bailing_moe_linear": Family("Ling", Caches.LINEAR),
        "bailing_moe_v3": Family("Ling", Caches.DELTA_KEYED),
        "bitnet": Family("BitNet"),
        "cohere": Family("Command R"),
        "cohere2": Family("Command R", Caches.WINDOWS, {"sliding_window": 4096, "sliding_window_pattern": 4}),
        "dbrx": Family("DBRX"),
        "deepseek": Family("DeepSeek"),
        "deepseek_v2": Family("DeepSeek V2", Caches.LATENT_WIDE, _LATENT),
        "deepseek_v3": Family("DeepSeek V3", Caches.LATENT, _LATENT),
        "deepseek_v32": Family("DeepSeek V3.2", Caches.LATENT_INDEXED, _LATENT_INDEXED),
        "deepseek_v41": Family("DeepSeek V4.1", Caches.COMPRESSED, {"sliding_window": 128, "head_dim": 512}),
        "dots1": Family("dots"),
        "ernie4_5": Family("ERNIE 4.5"),
        "ernie4_5_moe": Family("ERNIE 4.5"),
        "exaone": Family("EXAONE 3"),
        "exaone4": Family("EXAONE 4", Caches.WINDOWS),
        "exaone_moe": Family("EXAONE", Caches.WINDOWS),
        "falcon_h1": Family("Falcon H1", Caches.STATE_SPACE_HEADS, _FALCON),
        "falcon_mamba": Family("Falcon Mamba", Caches.STATE_SPACE),
        "gear": Family("Gear", Caches.SHORT_CONVOLUTIONS, {"sliding_window": 512, "conv_L_cache": 3}),
        "gemma": Family("Gemma"),
        "gemma2": Family("Gemma 2"),
        "gemma3": Family("Gemma 3", Caches.WINDOWS, _GEMMA3, context_tokens=131_072),
        "gemma3_text": Family(
            "Gemma 3", Caches.WINDOWS, {**_GEMMA3, "num_attention_heads": 4, "num_key_value_heads": 1}
        ),
        "gemma3n": Family("Gemma 3n", Caches.WINDOWS),
        "gemma4": Family("Gemma 4", Caches.WINDOWS, _GEMMA4, context_tokens=131_072),
        "gemma4_text": Family("Gemma 4", Caches.WINDOWS, _GEMMA4, context_tokens=131_072),
        "glm": Family("GLM-4"),
        "glm4": Family("GLM-4"),
        "glm4_moe": Family("GLM-4.5"),
        "glm4_moe_lite": Family("GLM-4.7-Flash", Caches.LATENT, _LATENT),
        "glm_moe_dsa": Family("GLM-5", Caches.LATENT_INDEXED, _LATENT_INDEXED),
        "gpt2": Family("GPT-2"),
        "gpt_bigcode": Family("StarCoder", defaults={"num_key_value_heads": 1}),
        "gpt_neox": Family("GPT-NeoX"),
        "gpt_oss": Family(
            "gpt-oss", Caches.WINDOWS, {"sliding_window": 128, "sliding_window_pattern": 2, "head_dim": 64}
        ),
        "gptj": Family("GPT-J"),
        "granite": Family("Granite"),
        "granitemoe": Family("Granite"),
        "granitemoehybrid": Family("Granite 4", Caches.STATE_SPACE_HEADS),
        "helium": Family("Helium"),
        "hunyuan": Family("Hunyuan"),
        "hunyuan_v1_dense": Family("Hunyuan"),
        "internlm2": Family("InternLM 2"),
        "internlm3": Family("InternLM 3"),
        "iquestloopcoder": Family("IQuest Coder", Caches.LOOPS, {"loop_window_size": 64}),
        "jamba": Family("Jamba", Caches.STATE_SPACE),
        "kimi_k2": Family("Kimi K2", Caches.LATENT, _LATENT),
        "kimi_k25": Family("Kimi K2.5", Caches.LATENT, _LATENT),
        "kimi_k3": Family("Kimi K3", Caches.DELTA_KEYED, _LATENT),
        "kimi_linear": Family("Kimi Linear", Caches.DELTA_KEYED, _LATENT),
        "kimi_vl": Family("Kimi VL", Caches.LATENT, _LATENT),
        "laguna": Family("Laguna", Caches.WINDOWS, {"sliding_window": 512}),
        "lfm2": Family("LFM2", Caches.SHORT_CONVOLUTIONS, {"conv_L_cache": 3}),
        "lfm2-vl": Family("LFM2", Caches.SHORT_CONVOLUTIONS, {"conv_L_cache": 3}),
        "lfm2_moe": Family("LFM2", Caches.SHORT_CONVOLUTIONS, {"conv_L_cache": 3}),
        "lille-130m": Family("Lille"),
        "llama": Family("Llama", Caches.WINDOWS),
        "llama4": Family("Llama 4", Caches.WINDOWS, {"attention_chunk_size": 8192}),
        "llama4_text": Family("Llama 4"),
        "longcat_flash": Family("LongCat", Caches.LATENT_TWICE),
        "longcat_flash_ngram": Family("LongCat", Caches.LATENT_TWICE),
        "mamba": Family("Mamba", Caches.STATE_SPACE),
        "mamba2": Family("Mamba 2", Caches.STATE_SPACE_HEADS),
        "mellum": Family("Mellum", Caches.WINDOWS),
        "mimo": Family("MiMo"),
        "mimo_v2_flash": Family("MiMo V2", Caches.WINDOWS),
        "minicpm": Family("MiniCPM"),
        "minicpm3": Family("MiniCPM 3", Caches.LATENT_WIDE),
        "minimax": Family("MiniMax"),
        "minimax_m3_vl": Family("MiniMax M3", Caches.KEYS_INDEXED, {"index_head_dim": 128}),
        "ministral3": Family("Ministral 3", Caches.WINDOWS),
        "mistral": Family("Mistral", Caches.WINDOWS),
        "mistral3": Family("Mistral", Caches.WINDOWS),
        "mistral4": Family("Mistral", Caches.LATENT, _LATENT),
        "mixtral": Family("Mixtral"),
        "muse_glimmer": Family("Muse Glimmer", Caches.WINDOWS, {"sliding_window": 2048}),
        "muse_spark": Family("Muse Spark", Caches.WINDOWS),
        "nanbeige": Family("Nanbeige"),
        "nanochat": Family("nanochat"),
        "nemotron": Family("Nemotron"),
        "nemotron-nas": Family("Nemotron"),
        "nemotron_h": Family("Nemotron-H", Caches.STATE_SPACE_HEADS, {"mamba_n_groups": 1}),
        "olmo": Family("OLMo"),
        "olmo2": Family("OLMo 2"),
        "olmo3": Family("OLMo 3", Caches.WINDOWS, {"sliding_window_pattern": 4}),
        "olmo_hybrid": Family("OLMo Hybrid", Caches.DELTA, _DELTA),
        "olmoe": Family("OLMoE"),
        "openelm": Family("OpenELM"),
        "phi": Family("Phi"),
        "phi3": Family("Phi-3"),
        "phi3small": Family("Phi-3", speculates=False),
        "phimoe": Family("Phi-3.5"),
        "phixtral": Family("Phixtral"),
        "pixtral": Family("Pixtral", Caches.WINDOWS),
        "plamo": Family("PLaMo"),
        "plamo2": Family("PLaMo 2", Caches.STATE_SPACE_HEADS, {"mamba_d_conv": 4, "mamba_n_groups": 0}),
        "plamo3": Family("PLaMo 3", Caches.WINDOWS, {"sliding_window_pattern": 8, "window_size": 2048}),
        "prism_hadamard_qwen35": Family("Qwen3.5", Caches.DELTA, _DELTA),
        "qwen": Family("Qwen"),
        "qwen2": Family("Qwen2"),
        "qwen2_moe": Family("Qwen2"),
        "qwen2_vl": Family("Qwen2 VL"),
        "qwen2_5_vl": Family("Qwen2.5 VL"),
        "qwen3": Family("Qwen3"),
        "qwen3_5": Family("Qwen3.5", Caches.DELTA, _DELTA),
        "qwen3_5_moe": Family("Qwen3.5", Caches.DELTA, _DELTA),
        "qwen3_moe": Family("Qwen3"),
        "qwen3_next": Family("Qwen3-Next", Caches.DELTA, _DELTA),
        "qwen3_vl": Family("Qwen3 VL"),
        "qwen3_vl_moe": Family("Qwen3 VL"),
        "recurrent_gemma": Family("RecurrentGemma", Caches.RECURRENT_UNITS),
        "rwkv7": Family("RWKV 7", Caches.TOKEN_SHIFTS),
        "seed_oss": Family("Seed-OSS"),
        "smollm3": Family("SmolLM3"),
        "solar_open": Family("Solar Open"),
        "spark2_5": Family("Spark", Caches.WINDOWS, {"sliding_window_pattern": 4}),
        "stablelm": Family("StableLM"),
        "starcoder2": Family("StarCoder 2"),
        "step3p5": Family("Step 3.5", Caches.WINDOWS, {"sliding_window": 512, "sliding_window_pattern": 2}),
        "talkie": Family("Talkie"),
        "telechat3": Family("TeleChat 3"),
        "youtu_llm": Family("Youtu", Caches.LATENT_WIDE, _LATENT),
    }
)


def is_known(model_type: str) -> bool:
    """Whether mlx-lm has code for it, without importing mlx-lm (which would import MLX)."""
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
