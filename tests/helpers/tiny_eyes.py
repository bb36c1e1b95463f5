"""Folders of small models that see: a random text network of mlx-lm's, a random tower beside it, and pictures."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
from mlx.utils import tree_flatten
from tokenizers import AddedToken, Tokenizer

from engine import Message, MessageRole, Picture
from tests.helpers.tiny_assistants import main_config
from tests.helpers.tiny_families import random_network
from tests.helpers.tiny_heads import head_weights
from tests.helpers.tiny_models import VOCABULARY, build, byte_tokenizer, qwen3_config, rewrite, save, save_tokenizer

VISION_START, PLACEHOLDER, VISION_END = "<|vision_start|>", "<|image_pad|>", "<|vision_end|>"
_BREAKS = ("[IMG_BREAK]", "[IMG_END]")
_TILES = tuple(f"<|img_row_{row}_col_{column}|>" for row in (1, 2) for column in (1, 2, 3, 4))
_PARTS = ("<|image_start|>", "<|image_end|>", "<|img_thumbnail|>", *_TILES)
IMAGE_TOKEN = 260
_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% if message.content is string %}{{ message.content }}{% else %}{% for part in message.content %}"
    "{% if part.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part.text }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_TEXT: dict[str, Any] = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "intermediate_size": 96,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 24,
    "rms_norm_eps": 1e-6,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": 4096,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "eos_token_id": 257,
}
_VISION: dict[str, Any] = {
    "depth": 3,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_heads": 2,
    "patch_size": 4,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "in_channels": 3,
    "num_position_embeddings": 36,
    "out_hidden_size": 64,
    "deepstack_visual_indexes": [],
}
_MROPE = {"rope_type": "default", "type": "default", "rope_theta": 10000.0, "mrope_interleaved": True}
_DELTA = {
    "linear_num_value_heads": 4,
    "linear_num_key_heads": 2,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 16,
    "linear_conv_kernel_dim": 4,
    "full_attention_interval": 2,
}
CONFIGS: dict[str, dict[str, Any]] = {
    "qwen3_vl": {
        "model_type": "qwen3_vl",
        "text_config": {
            **_TEXT,
            "model_type": "qwen3_vl_text",
            "rope_scaling": {**_MROPE, "mrope_section": [6, 3, 3]},
        },
        "vision_config": {**_VISION, "model_type": "qwen3_vl", "deepstack_visual_indexes": [0, 1]},
    },
    "qwen3_5": {
        "model_type": "qwen3_5",
        "text_config": {
            **_TEXT,
            **_DELTA,
            "model_type": "qwen3_5_text",
            "head_dim": 32,
            "rope_parameters": {**_MROPE, "mrope_section": [3, 3, 2], "partial_rotary_factor": 0.5},
        },
        "vision_config": {**_VISION, "model_type": "qwen3_5"},
    },
}
_SIDE_BY_SIDE = {"type": "mrope", "mrope_section": [2, 3, 3]}
CONFIGS["qwen2_5_vl"] = {
    "model_type": "qwen2_5_vl",
    "text_config": {**_TEXT, "model_type": "qwen2_5_vl_text", "head_dim": 16, "rope_scaling": _SIDE_BY_SIDE},
    "vision_config": {**_VISION, "model_type": "qwen2_5_vl", "window_size": 16, "fullatt_block_indexes": [1]},
}
_QWEN2_VISION = {name: number for name, number in _VISION.items() if name != "out_hidden_size"}
CONFIGS["qwen2_vl"] = {
    "model_type": "qwen2_vl",
    "text_config": {**CONFIGS["qwen2_5_vl"]["text_config"], "model_type": "qwen2_vl_text"},
    "vision_config": {**_QWEN2_VISION, "model_type": "qwen2_vl", "hidden_size": 64, "embed_dim": 32, "mlp_ratio": 1.5},
}
_LAYERS = {
    "num_hidden_layers": 3,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 2,
    "patch_size": 4,
}
_PIXTRAL: dict[str, Any] = {
    **_LAYERS,
    "model_type": "pixtral",
    "head_dim": 16,
    "image_size": 64,
    "hidden_act": "silu",
    "rope_theta": 10000.0,
}
CONFIGS["lfm2-vl"] = {
    "model_type": "lfm2-vl",
    "downsample_factor": 2,
    "tile_size": 32,
    "min_tiles": 2,
    "max_tiles": 4,
    "min_image_tokens": 4,
    "max_image_tokens": 20,
    "max_pixels_tolerance": 1.0,
    "projector_hidden_size": 48,
    "text_config": {
        **_TEXT,
        "model_type": "lfm2",
        "tie_word_embeddings": True,
        "norm_eps": 1e-6,
        "conv_bias": False,
        "conv_L_cache": 3,
        "block_dim": 64,
        "block_ff_dim": 96,
        "block_multiple_of": 8,
        "block_ffn_dim_multiplier": 1.0,
        "block_auto_adjust_ff_dim": False,
        "layer_types": ["conv", "full_attention"],
    },
    "vision_config": {
        "model_type": "siglip2_vision_model",
        **_LAYERS,
        "num_patches": 25,
    },
}
for _name, _patches in (("mistral3", 2), ("pixtral", 1)):
    CONFIGS[_name] = {
        "model_type": _name,
        "image_token_index": IMAGE_TOKEN,
        "spatial_merge_size": _patches,
        "vision_feature_layer": -1,
        "vision_feature_select_strategy": "full",
        "text_config": {**_TEXT, "model_type": "mistral"},
        "vision_config": {**_PIXTRAL, "patch_size": 8 // _patches},
    }
CONFIGS["gemma3"] = {
    "model_type": "gemma3",
    "vocab_size": VOCABULARY,
    "boi_token_index": 259,
    "image_token_index": IMAGE_TOKEN,
    "eoi_token_index": 261,
    "mm_tokens_per_image": 16,
    "hidden_size": 64,
    "text_config": {
        **_TEXT,
        "model_type": "gemma3_text",
        "sliding_window": 24,
        "sliding_window_pattern": 2,
        "mm_tokens_per_image": 16,
        "query_pre_attn_scalar": 24,
        "rope_local_base_freq": 10000.0,
        "rope_global_base_freq": 1000000.0,
    },
    "vision_config": {
        "model_type": "siglip_vision_model",
        **_LAYERS,
        "image_size": 32,
    },
}
_GEMMA4_VISION = {
    **_LAYERS,
    "model_type": "gemma4_vision",
    "num_hidden_layers": 2,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "rms_norm_eps": 1e-6,
    "pooling_kernel_size": 2,
    "position_embedding_size": 64,
    "rope_parameters": {"rope_type": "default", "rope_theta": 100.0},
}
CONFIGS["gemma4-unified"] = {
    **main_config("gemma4-large", tie_word_embeddings=False, use_bidirectional_attention="vision"),
    "model_type": "gemma4_unified",
    "boi_token_id": 259,
    "eoi_token_id": 261,
    "vision_config": {
        "model_type": "gemma4_unified_vision",
        "patch_size": 4,
        "pooling_kernel_size": 2,
        "model_patch_size": 8,
        "mm_embed_dim": 32,
        "mm_posemb_size": 24,
        "output_proj_dims": 32,
        "rms_norm_eps": 1e-6,
    },
}
for _name, _vision, _attends in (
    ("gemma4", {"use_clipped_linears": True}, None),
    ("gemma4-large", {"standardize": True}, "vision"),
):
    CONFIGS[_name] = {
        **main_config(_name, tie_word_embeddings=False, use_bidirectional_attention=_attends),
        "boi_token_id": 259,
        "eoi_token_id": 261,
        "vision_config": _GEMMA4_VISION | _vision,
    }
_SEEDS = {"gemma4-unified": 3}  # the first tokens depend on what is seen
_IDS = {"image_token_id": IMAGE_TOKEN, "video_token_id": 262, "vision_start_token_id": 259, "vision_end_token_id": 261}
PICTURES = {
    "max_soft_tokens": 24,  # more than its window
    "min_pixels": 64,
    "max_pixels": 64 * 64,
    "image_mean": [0.5, 0.4, 0.3],
    "image_std": [0.5, 0.3, 0.25],
}


def save_seeing(kind: str, folder: Path, seed: int = 0, **other: Any) -> Path:
    """As a hub's repository has it, in mlx-vlm's names; `other` numbers of its `text`, `vision` and `pictures`."""
    config = (
        CONFIGS[kind]
        | (_IDS if "gemma" not in kind else {"image_token_id": IMAGE_TOKEN})
        | {"tie_word_embeddings": False, "eos_token_id": 257}
    )
    config |= {f"{part}_config": config[f"{part}_config"] | other.get(part, {}) for part in ("text", "vision")}
    network = random_network(config, seed or _SEEDS.get(kind, 0))
    weights = dict(tree_flatten(network.parameters())) | _tower(kind, config["vision_config"])
    if kind == "qwen3_5":  # it drafts for itself, too
        head = head_weights(kind, **config["text_config"])
        weights |= {f"mtp.{name}": weight for name, weight in head.items()}
    mx.eval(weights)
    folder.mkdir(parents=True, exist_ok=True)
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "mlx"})
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "preprocessor_config.json").write_text(json.dumps(PICTURES | other.get("pictures", {})))
    save_tokenizer(folder, seeing_tokenizer())
    rewrite(folder / "tokenizer_config.json", chat_template=_template(kind))
    return folder


def save_text_draft(folder: Path) -> Path:
    """Reads text only, with the same tokens."""
    config = qwen3_config()
    return save(build(config, seed=4), config, folder, seeing_tokenizer())


def seeing_tokenizer() -> Tokenizer:
    tokenizer = byte_tokenizer()
    names = (VISION_START, PLACEHOLDER, VISION_END, *_BREAKS, *_PARTS)
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in names])
    return tokenizer


def _template(kind: str) -> str:
    """Gemma's and Mistral's write one mark for a picture."""
    if "qwen" in kind:
        return _TEMPLATE
    mark = VISION_START if kind == "gemma3" else PLACEHOLDER
    return _TEMPLATE.replace(VISION_START + PLACEHOLDER + VISION_END, mark)


def _tower(kind: str, vision: dict[str, Any]) -> dict[str, mx.array]:
    if kind in ("gemma4", "gemma4-large"):
        return _gemma4(vision)
    shapes = _SHAPES.get(kind, _qwen)(vision)
    if "qwen" in kind:
        shapes = {f"vision_tower.{name}": shape for name, shape in shapes.items()}
    return {name: _random(name, shape) for name, shape in shapes.items()}


def _unified(vision: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    width, pixels, at = vision["mm_embed_dim"], 3 * vision["model_patch_size"] ** 2, "vision_embedder"
    shapes: dict[str, tuple[int, ...]] = {
        f"{at}.patch_dense.weight": (width, pixels),
        f"{at}.patch_dense.bias": (width,),
        f"{at}.pos_embedding": (vision["mm_posemb_size"], 2, width),
        "embed_vision.embedding_projection.weight": (48, width),
    }
    for name, wide in (("patch_ln1", pixels), ("patch_ln2", width), ("pos_norm", width)):
        shapes |= {f"{at}.{name}.weight": (wide,), f"{at}.{name}.bias": (wide,)}
    return shapes


def _pixtral(vision: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    width, inner, patch = vision["hidden_size"], vision["intermediate_size"], vision["patch_size"]
    at, beside = "vision_tower.vision_model", "multi_modal_projector"
    shapes: dict[str, tuple[int, ...]] = {
        f"{at}.patch_conv.weight": (width, patch, patch, 3),
        f"{at}.ln_pre.weight": (width,),
        f"{beside}.linear_1.weight": (64, width),
        f"{beside}.linear_2.weight": (64, 64),
    }
    maps = {f"attention.{part}_proj": (width, width) for part in "qkvo"}
    maps |= {f"feed_forward.{part}_proj": (inner, width) for part in ("gate", "up")}
    maps["feed_forward.down_proj"] = width, inner
    for layer in range(vision["num_hidden_layers"]):
        shapes |= {f"{at}.transformer.layers.{layer}.{name}.weight": shape for name, shape in maps.items()}
        norms = (f"{at}.transformer.layers.{layer}.{name}_norm.weight" for name in ("attention", "ffn"))
        shapes |= dict.fromkeys(norms, (width,))
    return shapes


def _siglip2(vision: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    width, beside, at = vision["hidden_size"], "multi_modal_projector", "vision_tower"
    shapes = {name.replace("vision_model.", ""): shape for name, shape in _siglip(vision | {"image_size": 4}).items()}
    shapes = {name: shape for name, shape in shapes.items() if beside not in name}
    shapes |= {
        f"{at}.embeddings.patch_embedding.weight": (width, 3 * vision["patch_size"] ** 2),
        f"{at}.embeddings.position_embedding.weight": (vision["num_patches"], width),
    }
    for name, out, given in (("linear_1", 48, 4 * width), ("linear_2", 64, 48)):
        shapes |= {f"{beside}.{name}.weight": (out, given), f"{beside}.{name}.bias": (out,)}
    return shapes | {f"{beside}.layer_norm.{part}": (4 * width,) for part in ("weight", "bias")}


def _with_merger(vision: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    width, beside = vision["hidden_size"], "multi_modal_projector"
    merger = {f"{beside}.norm.weight": (width,), f"{beside}.patch_merger.merging_layer.weight": (width, 4 * width)}
    return _pixtral(vision) | merger


def _with_biases(vision: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    return _pixtral(vision) | {f"multi_modal_projector.linear_{number}.bias": (64,) for number in (1, 2)}


def _gemma4(vision: dict[str, Any]) -> dict[str, mx.array]:
    width, inner, at = vision["hidden_size"], vision["intermediate_size"], "vision_tower"
    shapes: dict[str, tuple[int, ...]] = {
        f"{at}.patch_embedder.input_proj.weight": (width, 3 * vision["patch_size"] ** 2),
        f"{at}.patch_embedder.position_embedding_table": (2, vision["position_embedding_size"], width),
        "embed_vision.embedding_projection.weight": (48, width),
    }
    maps = {f"self_attn.{part}_proj": (width, width) for part in "qkvo"}
    maps |= {"mlp.gate_proj": (inner, width), "mlp.up_proj": (inner, width), "mlp.down_proj": (width, inner)}
    limits: dict[str, mx.array] = {}
    if vision.get("standardize"):
        shapes |= {f"{at}.std_bias": (width,)}
        limits[f"{at}.std_scale"] = mx.full((width,), 0.05)
    for layer in range(vision["num_hidden_layers"]):
        for name, shape in maps.items():
            mapped = f"{at}.encoder.layers.{layer}.{name}"
            shapes |= {f"{mapped}.linear.weight": shape}
            if vision.get("use_clipped_linears"):
                limits |= {f"{mapped}.{end}_{side}": mx.array(value) for end, limit in (("input", 1.5), ("output", 2.0))
                           for side, value in (("min", -limit), ("max", limit))}  # fmt: skip
        norms = (
            "input_layernorm",
            "post_attention_layernorm",
            "pre_feedforward_layernorm",
            "post_feedforward_layernorm",
        )
        shapes |= {f"{at}.encoder.layers.{layer}.{norm}.weight": (width,) for norm in norms}
        heads = (f"{at}.encoder.layers.{layer}.self_attn.{part}_norm.weight" for part in "qk")
        shapes |= dict.fromkeys(heads, (vision["head_dim"],))
    return {name: _random(name, shape) for name, shape in shapes.items()} | limits


def _siglip(vision: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    width, inner, patch = vision["hidden_size"], vision["intermediate_size"], vision["patch_size"]
    at = "vision_tower.vision_model"
    shapes: dict[str, tuple[int, ...]] = {
        f"{at}.embeddings.patch_embedding.weight": (width, patch, patch, 3),
        f"{at}.embeddings.patch_embedding.bias": (width,),
        f"{at}.embeddings.position_embedding.weight": ((vision["image_size"] // patch) ** 2, width),
        "multi_modal_projector.mm_input_projection_weight": (width, 64),
        "multi_modal_projector.mm_soft_emb_norm.weight": (width,),
    }
    maps = {f"self_attn.{part}_proj": (width, width) for part in ("q", "k", "v", "out")}
    maps |= {"mlp.fc1": (inner, width), "mlp.fc2": (width, inner)}
    norms = [f"encoder.layers.{layer}.layer_norm{n}" for layer in range(vision["num_hidden_layers"]) for n in (1, 2)]
    for layer in range(vision["num_hidden_layers"]):
        for name, (rows, columns) in maps.items():
            mapped = f"{at}.encoder.layers.{layer}.{name}"
            shapes |= {f"{mapped}.weight": (rows, columns), f"{mapped}.bias": (rows,)}
    for name in (*norms, "post_layernorm"):
        shapes |= {f"{at}.{name}.weight": (width,), f"{at}.{name}.bias": (width,)}
    return shapes


def _qwen(vision: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    width, inner, patch = vision["hidden_size"], vision["intermediate_size"], vision["patch_size"]
    wide, out = width * vision["spatial_merge_size"] ** 2, vision["out_hidden_size"]
    shapes: dict[str, tuple[int, ...]] = {
        "patch_embed.proj.weight": (width, vision["temporal_patch_size"], patch, patch, 3),
        "patch_embed.proj.bias": (width,),
        "pos_embed.weight": (vision["num_position_embeddings"], width),
    }
    for block in range(vision["depth"]):
        for name, (rows, columns) in {
            "attn.qkv": (3 * width, width),
            "attn.proj": (width, width),
            "mlp.linear_fc1": (inner, width),
            "mlp.linear_fc2": (width, inner),
        }.items():
            shapes |= {f"blocks.{block}.{name}.weight": (rows, columns), f"blocks.{block}.{name}.bias": (rows,)}
        for name in ("norm1", "norm2"):
            shapes |= {f"blocks.{block}.{name}.weight": (width,), f"blocks.{block}.{name}.bias": (width,)}
    stacked = [f"deepstack_merger_list.{at}" for at in range(len(vision["deepstack_visual_indexes"]))]
    for name in ("merger", *stacked):
        normed = width if name == "merger" else wide
        shapes |= {f"{name}.norm.weight": (normed,), f"{name}.norm.bias": (normed,)}
        shapes |= {f"{name}.linear_fc1.weight": (wide, wide), f"{name}.linear_fc1.bias": (wide,)}
        shapes |= {f"{name}.linear_fc2.weight": (out, wide), f"{name}.linear_fc2.bias": (out,)}
    return shapes


def _qwen25(vision: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    width, inner, patch = vision["hidden_size"], vision["intermediate_size"], vision["patch_size"]
    wide = width * vision["spatial_merge_size"] ** 2
    maps = {"merger.mlp.0": (wide, wide), "merger.mlp.2": (vision["out_hidden_size"], wide)}
    norms = ["merger.ln_q"]
    for block in range(vision["depth"]):
        maps |= {f"blocks.{block}.attn.{name}": (out, width) for name, out in (("qkv", 3 * width), ("proj", width))}
        maps |= {f"blocks.{block}.mlp.{name}_proj": (inner, width) for name in ("gate", "up")}
        maps[f"blocks.{block}.mlp.down_proj"] = width, inner
        norms += [f"blocks.{block}.norm{n}" for n in (1, 2)]
    shapes: dict[str, tuple[int, ...]] = {f"{name}.weight": (width,) for name in norms}
    for name, (rows, columns) in maps.items():
        shapes |= {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}
    return shapes | {"patch_embed.proj.weight": (width, vision["temporal_patch_size"], patch, patch, 3)}


def _qwen2(vision: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    width, patch = vision["embed_dim"], vision["patch_size"]
    inner, wide = int(width * vision["mlp_ratio"]), width * vision["spatial_merge_size"] ** 2
    maps = {"merger.mlp.0": (wide, wide), "merger.mlp.2": (vision["hidden_size"], wide)}
    norms = ["merger.ln_q"]
    for block in range(vision["depth"]):
        maps |= {f"blocks.{block}.attn.{name}": (out, width) for name, out in (("qkv", 3 * width), ("proj", width))}
        maps |= {f"blocks.{block}.mlp.fc1": (inner, width), f"blocks.{block}.mlp.fc2": (width, inner)}
        norms += [f"blocks.{block}.norm{n}" for n in (1, 2)]
    shapes: dict[str, tuple[int, ...]] = {}
    for name, size in {**maps, **dict.fromkeys(norms, (width,))}.items():
        shapes |= {f"{name}.weight": size, f"{name}.bias": size[:1]}
    return shapes | {"patch_embed.proj.weight": (width, vision["temporal_patch_size"], patch, patch, 3)}


_SHAPES = {
    "gemma3": _siglip,
    "gemma4-unified": _unified,
    "lfm2-vl": _siglip2,
    "mistral3": _with_merger,
    "pixtral": _with_biases,
    "qwen2_vl": _qwen2,
    "qwen2_5_vl": _qwen25,
}


def _random(name: str, shape: tuple[int, ...]) -> mx.array:
    noise = mx.random.normal(shape)
    if re.search("norm|_ln|ln_", name):
        return (1.0 if name.endswith("weight") else 0.0) + 0.1 * noise
    spread = 0.1 if len(shape) == 1 else 1.5 * float(np.prod(shape[1:])) ** -0.5
    return spread * noise


def picture(width: int, height: int, seed: int = 0) -> Picture:
    """Colours in patches, so that making it smaller leaves something of it."""
    coarse = np.random.default_rng(seed).integers(0, 256, (height // 7 + 1, width // 7 + 1, 3), np.uint8)
    return as_picture(np.ascontiguousarray(coarse.repeat(7, 0).repeat(7, 1)[:height, :width]))


def as_picture(pixels: Any) -> Picture:
    rgb = pixels.tobytes()
    return Picture(pixels.shape[1], pixels.shape[0], rgb, sha256(rgb).hexdigest())


def asked(text: str, *pictures: Picture) -> Message:
    return Message(MessageRole.USER, text, pictures=pictures)
