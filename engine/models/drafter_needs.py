"""What a drafter needs and nothing here computes, told by its config alone. Read without MLX.

Drafters are published with layers of several families. One that was read as another's would draft all the same, and
be wrong: so whatever is not known is named, and the drafter refused.
"""

from __future__ import annotations

from typing import Any

from engine.models.model_files import JsonObject, object_at

_PARTS = ("transformer_layer_config", "text_config", "dflash_config")
_FAMILY = "gemma4"  # its layers have other norms, and values that are keys
_ACTIVATION_KEYS, _ACTIVATIONS = ("hidden_act", "hidden_activation"), ("silu", "swish")
_LAYER_KEYS = ("attention_k_eq_v", "global_head_dim", "hidden_size_per_layer_input", "enable_moe_block")


def unmet_need(config: JsonObject) -> str:
    """The name of a part that is not computed here, as the config has it; "" where there is none.

    Only for drafters that bring layers of their own kind: a head of its main model has those of that.
    """
    classes = config.get("architectures")
    for name in classes if isinstance(classes, list) else []:
        if str(name).lower().startswith(_FAMILY):
            return str(name)[:100]
    said = flat(config)
    for key in _LAYER_KEYS:
        if said.get(key):
            return key
    for key in _ACTIVATION_KEYS:
        if (named := said.get(key)) is not None and str(named).lower() not in _ACTIVATIONS:
            return f"{key} {named}"[:100]
    rope = object_at(said, "rope_parameters")
    return next((f"rope_parameters.{key}"[:100] for key, value in rope.items() if isinstance(value, dict)), "")


def flat(config: JsonObject) -> dict[str, Any]:
    """One object of what is said at the top, in `transformer_layer_config` or in `dflash_config`."""
    return {**config, **{key: value for part in _PARTS for key, value in object_at(config, part).items()}}
