"""Configs as transformers 5 writes them, with the entries that it wrote before: most of mlx-lm's families (0.32) read
only those. Of a rotation that they do not find some assume another one, without a word.
"""

from __future__ import annotations

from engine.models.model_files import JsonObject, object_at


def add_older_entries(config: JsonObject) -> None:
    """WORKAROUND: changes `config`; entries that it has stay."""
    text = object_at(config, "text_config")
    if type(tied := config.get("tie_word_embeddings")) is bool:
        text.setdefault("tie_word_embeddings", tied)
    for part in (config, text):
        part |= {name: value for name, value in _older(part).items() if value is not None and part.get(name) is None}
        if "rope_parameters" in part:
            part.setdefault("rope_scaling", None)  # which some families must be given


def _older(config: JsonObject) -> JsonObject:
    rope = object_at(config, "rope_parameters")
    full = object_at(rope, "full_attention") or rope  # some have one for each kind of layer
    kind = full.get("rope_type", "default")
    layers = object_at(config, "per_layer_config")  # of Gemma 4, those that see all of a text
    layer = object_at(layers, next(iter(layers), ""))
    return {
        "rope_theta": full.get("rope_theta"),
        "rope_local_base_freq": object_at(rope, "sliding_attention").get("rope_theta"),
        "partial_rotary_factor": rope.get("partial_rotary_factor"),
        "rotary_emb_base": rope.get("rope_theta"),  # GPT-NeoX's names
        "rotary_pct": rope.get("partial_rotary_factor"),
        "rope_scaling": None if kind == "default" else {**full, "type": kind},
        "num_experts": config.get("num_local_experts") if rope else None,
        "global_head_dim": layer.get("head_dim"),
        "num_global_key_value_heads": layer.get("num_key_value_heads"),
    }
