"""Models for the benchmark, made from the starter pair: the same function at the cost of one many times its size."""

from __future__ import annotations

import importlib
import json
import shutil
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten, tree_map_with_path

from tests.helpers.tiny_models import rewrite

HIDDEN, INTERMEDIATE, HEADS, LAYERS = 768, 3072, 12, 12

Weights = dict[str, mx.array]


def inflate(source: Path, folder: Path) -> Path:
    """The main model of the starter pair, widened with zeros and deepened with blocks that add nothing.

    A mean over more, empty dimensions is smaller; the norms' weights and epsilon make up for it.
    """
    config = json.loads((source / "config.json").read_text())
    weights = {name: value.astype(mx.float32) for name, value in weights_of(source).items()}
    share = config["hidden_size"] / HIDDEN
    wide: Weights = {}
    for name, value in weights.items():
        wide[name] = _widened(name, value, config, share)
    for layer in range(config["num_hidden_layers"], LAYERS):
        wide |= _empty_block(layer, wide)
    grown = config | {
        "hidden_size": HIDDEN,
        "intermediate_size": INTERMEDIATE,
        "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "rms_norm_eps": config["rms_norm_eps"] * share,
        "torch_dtype": "float32",
    }
    return _save(source, folder, grown, wide)


def _widened(name: str, value: mx.array, config: dict[str, Any], share: float) -> mx.array:
    head, heads, kv_heads = config["head_dim"], config["num_attention_heads"], config["num_key_value_heads"]
    if "q_norm" in name or "k_norm" in name:
        return value
    if name.endswith("norm.weight"):
        return mx.multiply(_padded(value, (HIDDEN,)), share**0.5)
    if "k_proj" in name or "v_proj" in name:  # each query head gets its own copy of the head that it shared
        value = mx.repeat(value.reshape(kv_heads, head, -1), heads // kv_heads, axis=0).reshape(heads * head, -1)
    attention = HEADS * head
    shapes = {
        "embed_tokens": (value.shape[0], HIDDEN),
        "lm_head": (value.shape[0], HIDDEN),
        "o_proj": (HIDDEN, attention),
        "gate_proj": (INTERMEDIATE, HIDDEN),
        "up_proj": (INTERMEDIATE, HIDDEN),
        "down_proj": (HIDDEN, INTERMEDIATE),
    }
    kind = name.split(".")[-2]
    return _padded(value, shapes.get(kind, (attention, HIDDEN)))


def _empty_block(layer: int, weights: Weights) -> Weights:
    """Block `layer`, as costly as the first and without any effect: what it would add is zero."""
    prefix = "model.layers.0."
    mx.random.seed(layer)
    block = {}
    for name in [name for name in weights if name.startswith(prefix)]:
        shape = weights[name].shape
        silent = "o_proj" in name or "down_proj" in name
        value = mx.zeros(shape) if silent else mx.random.normal(shape) * 0.02
        block[name.replace(prefix, f"model.layers.{layer}.")] = mx.ones(shape) if "norm" in name else value
    return block


def weights_of(source: Path) -> Weights:
    weights = mx.load(str(source / "model.safetensors"))
    assert isinstance(weights, dict)
    return weights


def _padded(value: mx.array, shape: tuple[int, ...]) -> mx.array:
    return mx.pad(value, [(0, wanted - have) for wanted, have in zip(shape, value.shape, strict=True)])


def stranger(source: Path, folder: Path) -> Path:
    """A draft with the same tokenizer that has learnt nothing."""
    config = json.loads((source / "config.json").read_text())
    mx.random.seed(3)
    weights = {
        name: mx.ones(value.shape) if "norm" in name else mx.random.normal(value.shape) * 0.02
        for name, value in weights_of(source).items()
    }
    return _save(source, folder, config, weights)


def noised(source: Path, folder: Path, noise: float) -> Path:
    """The same draft, as wrong as real ones are: noise of so much of each weight's spread."""
    config = json.loads((source / "config.json").read_text())
    mx.random.seed(5)
    weights = {
        name: value + noise * mx.std(value) * mx.random.normal(value.shape) if value.ndim > 1 else value
        for name, value in ((name, value.astype(mx.float32)) for name, value in weights_of(source).items())
    }
    return _save(source, folder, config, weights)


def endless(source: Path, folder: Path) -> Path:
    """The same model, whose replies do not end: the padding token, which it never writes, stands for the end.

    The end itself becomes as unlikely as that. MEASURED: where it only ended nothing, the model wrote nothing else from
    there on, which a lookup foresees: long replies looked four times as fast with it as with any fixed length.
    """
    config = json.loads((source / "config.json").read_text())
    weights = weights_of(source)
    head = weights.get("lm_head.weight", weights["model.embed_tokens.weight"])
    end, padding = config["eos_token_id"], config["pad_token_id"]
    is_end = mx.arange(head.shape[0])[:, None] == end
    weights["lm_head.weight"] = mx.where(is_end, head[padding], head)
    _save(source, folder, config | {"eos_token_id": padding, "tie_word_embeddings": False}, weights)
    about = json.loads((source / "tokenizer_config.json").read_text())
    rewrite(folder / "generation_config.json", eos_token_id=padding)
    rewrite(folder / "tokenizer_config.json", eos_token=about["pad_token"])
    return folder


def windowed(inflated: Path, folder: Path) -> Path:
    """The inflated main model with windows of 128 tokens in its first half, as an exaone_moe model without experts."""
    config = json.loads((inflated / "config.json").read_text())
    kinds = ["sliding_attention" if layer < LAYERS // 2 else "full_attention" for layer in range(LAYERS)]
    changes = {
        "model_type": "exaone_moe",
        "moe_intermediate_size": 1,
        "num_experts": 1,
        "num_experts_per_tok": 1,
        "num_shared_experts": 0,
        "sliding_window": 128,
        "layer_types": kinds,
        "is_moe_layer": [False] * LAYERS,
    }
    return _save(inflated, folder, config | changes, weights_of(inflated))


def with_states(inflated: Path, folder: Path) -> Path:
    """The inflated main model as a qwen3_5 model: layers with states and without any effect between its own."""
    config = json.loads((inflated / "config.json").read_text())
    text = hybrid_config(config["vocab_size"], LAYERS)["text_config"] | {
        name: config[name]
        for name in ("hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads", "rms_norm_eps")
    }
    text["rope_parameters"] = {"rope_theta": config["rope_theta"], "partial_rotary_factor": 1.0, "rope_type": "default"}
    text["tie_word_embeddings"] = config["tie_word_embeddings"]
    whole = {"model_type": "qwen3_5", "text_config": text, "vocab_size": config["vocab_size"]}
    prefix = "language_model."
    weights = _random("qwen3_5", whole, whisper_from=LAYERS)
    for name, value in weights_of(inflated).items():
        layer = _layer(name)
        if layer < LAYERS // 2:  # the others have no effect
            placed = prefix + name.replace(f"layers.{layer}.", f"layers.{2 * layer + 1}.")
            weights[placed] = _gated(name, value, config["head_dim"])
    for name in weights:
        silent = "out_proj" in name or "down_proj" in name
        if silent and _layer(name) % 2 == 0:
            weights[name] = mx.zeros_like(weights[name])
    return _save(inflated, folder, whole, weights)


def _gated(name: str, value: mx.array, head: int) -> mx.array:
    """Attention whose gate is always half open."""
    if "q_proj" in name:
        queries = value.reshape(-1, head, value.shape[1])
        return mx.concatenate([queries, mx.zeros_like(queries)], axis=1).reshape(-1, value.shape[1])
    return 2 * value if "o_proj" in name else value


def hybrid_pair(source: Path, folder: Path) -> tuple[Path, Path]:
    """A random qwen3_5 model of 100 M parameters, and its first layers as a draft: the others whisper."""
    vocabulary = json.loads((source / "config.json").read_text())["vocab_size"]
    config = hybrid_config(vocabulary, layers=16)
    main = _random("qwen3_5", config, whisper_from=2)
    small = hybrid_config(vocabulary, layers=2)
    kept = {name: value for name, value in main.items() if _layer(name) < 2}
    return _save(source, folder / "main", config, main), _save(source, folder / "draft", small, kept)


def hybrid_config(vocabulary: int, layers: int) -> dict[str, Any]:
    text = {
        "model_type": "qwen3_5_text",
        "hidden_size": 768,
        "intermediate_size": 2304,
        "num_hidden_layers": layers,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 64,
        "rms_norm_eps": 1e-6,
        "vocab_size": vocabulary,
        "max_position_embeddings": 4096,
        "linear_num_value_heads": 12,
        "linear_num_key_heads": 6,
        "linear_key_head_dim": 64,
        "linear_value_head_dim": 64,
        "linear_conv_kernel_dim": 4,
        "full_attention_interval": 2,
        "tie_word_embeddings": False,
        "rope_parameters": {"rope_theta": 10000.0, "partial_rotary_factor": 0.5, "rope_type": "default"},
    }
    return {"model_type": "qwen3_5", "text_config": text, "vocab_size": vocabulary, "max_position_embeddings": 4096}


def _random(model_type: str, config: dict[str, Any], whisper_from: int) -> Weights:
    mx.random.seed(0)
    module = importlib.import_module(f"mlx_lm.models.{model_type}")
    network = module.Model(module.ModelArgs.from_dict(config))

    def scaled(path: str, weight: mx.array) -> mx.array:
        if "norm" in path or weight.ndim < 2:
            return weight
        quiet = _layer(path) >= whisper_from and ("o_proj" in path or "down_proj" in path or "out_proj" in path)
        return weight * (0.1 if quiet else 3.0)

    parameters = tree_map_with_path(scaled, network.parameters())
    return dict(tree_flatten(parameters))


def _layer(name: str) -> int:
    parts = name.split(".")
    return int(parts[parts.index("layers") + 1]) if "layers" in parts else -1


def _save(source: Path, folder: Path, config: dict[str, Any], weights: Weights) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for path in source.iterdir():
        if path.name.startswith(("tokenizer", "generation_config", "chat_template")):
            shutil.copy(path, folder / path.name)
    (folder / "config.json").write_text(json.dumps(config))
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "mlx"})
    return folder
