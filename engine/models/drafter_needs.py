"""Parts of a drafter that are not implemented here, by its config alone. Read without MLX.

Drafters are published with layers of several families. One read as another family's would still draft, but badly. So
anything unknown is reported, and the drafter refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.models.model_files import JsonObject, entries, object_at

ASSISTANTS = ("gemma4_assistant", "gemma4_unified_assistant")
ASSISTANT_LACKS = ("hidden_size_per_layer_input", "enable_moe_block", "use_double_wide_mlp")
_MARKOV_HEADS = ("vanilla", "gated")
_PARTS = ("transformer_layer_config", "text_config", "dflash_config")
_GEMMA = "gemma4"
_FULL_LAYER, _SLIDING_LAYER = "full_attention", "sliding_attention"
_ACTIVATION_KEYS, _ACTIVATIONS = ("hidden_act", "hidden_activation"), ("silu", "swish")
_GEMMA_ACTIVATIONS = ("gelu_pytorch_tanh",)
_LAYER_KEYS = ("attention_k_eq_v", "global_head_dim")  # entries that only Gemma 4 has
_GEMMA_ROPE = {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1_000_000.0}  # by default
_NOWHERE_KEYS = ("hidden_size_per_layer_input", "enable_moe_block")


def unmet_need(config: JsonObject) -> str:
    """The name of an unimplemented part, as in the config; "" if there is none.

    Only for drafters with layers of their own kind: a main model's head has that model's layers.
    """
    said, gemma = flat(config), is_gemma(config)
    for key in _NOWHERE_KEYS if gemma else (*_NOWHERE_KEYS, *_LAYER_KEYS):
        if said.get(key):
            return key
    head = str(said.get("markov_head_type") or _MARKOV_HEADS[0])
    if said.get("markov_rank") and head not in _MARKOV_HEADS:
        return f"markov_head_type {head}"[:100]
    for key in _ACTIVATION_KEYS:
        if (named := said.get(key)) is None:
            continue
        if str(named).lower() not in (_GEMMA_ACTIVATIONS if gemma else _ACTIVATIONS):
            return f"{key} {named}"[:100]
    if odd := _odd_layer(said, gemma=gemma):
        return odd
    if gemma:
        layers = object_at(said, "per_layer_config").values()
        return unsupported_rope(said, [_FULL_LAYER]) or (
            "" if len({str(layer) for layer in layers}) < 2 else "per_layer_config"
        )
    rope = object_at(said, "rope_parameters")
    return next((f"rope_parameters.{key}"[:100] for key, value in rope.items() if isinstance(value, dict)), "")


def _odd_layer(said: JsonObject, *, gemma: bool) -> str:
    types = set(map(str, entries(said, "layer_types")))
    if gemma:
        return "layer_types" if types - {_FULL_LAYER} else ""  # sliding layers have sizes of their own
    return next((f"layer_types {each}"[:100] for each in sorted(types - {_FULL_LAYER, _SLIDING_LAYER})), "")


def assistant_need(config: JsonObject) -> str:
    """The same for a Gemma 4 assistant; "" for any other head."""
    text = object_at(config, "text_config") if config.get("model_type") in ASSISTANTS else {}
    return next((key for key in ASSISTANT_LACKS if text.get(key)), "")


def unsupported_rope(said: JsonObject, types: Iterable[str]) -> str:
    """Gemma 4 has rotations for each type of layer, or no entry."""
    rope = object_at(said, "rope_parameters")
    lacking = next((kind for kind in types if not isinstance(rope.get(kind), dict)), "") if rope else ""
    return f"rope_parameters.{lacking}"[:100] if lacking else ""


def is_gemma(config: JsonObject) -> bool:
    """Whether a drafter has Gemma 4's layers; drafters of such a main model may also have others."""
    classes = config.get("architectures")
    return any(str(name).lower().startswith(_GEMMA) for name in (classes if isinstance(classes, list) else []))


def of_full_layers(flat: dict[str, Any]) -> dict[str, Any]:
    """Gemma 4 has two kinds of layers with different sizes and rotations; drafters have the full kind.

    Newer versions of transformers write its sizes for each layer.
    """
    given = object_at(object_at(flat, "per_layer_config"), "0")
    shared = flat.get("attention_k_eq_v") and flat.get("num_global_key_value_heads")
    return flat | {
        "head_dim": given.get("head_dim") or flat.get("global_head_dim") or flat.get("head_dim"),
        "num_key_value_heads": given.get("num_key_value_heads") or shared or flat.get("num_key_value_heads"),
        "rope_parameters": object_at(flat, "rope_parameters").get(_FULL_LAYER) or _GEMMA_ROPE,
    }


def flat(config: JsonObject) -> dict[str, Any]:
    """The top-level entries and those of parts like `dflash_config` in one object; nulls in parts are ignored."""
    parts = (object_at(config, part).items() for part in _PARTS)
    return {**config, **{key: value for part in parts for key, value in part if value is not None}}
