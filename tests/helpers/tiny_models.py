"""Small real models on disk: random weights, a real tokenizer, loadable by mlx-lm. Made for tests, never for reading.

A random model with tied embeddings repeats one token for ever and proves nothing, so these are untied; `noised` makes a
draft that agrees with its target often but not always.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten, tree_map_with_path
from mlx_lm.models import qwen3
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

Network = Any  # an mlx.nn.Module, which ships no types

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
VOCABULARY = 288  # 256 bytes, specials, and padding that the tokenizer does not know


def qwen3_config(**changes: Any) -> dict[str, Any]:
    config: dict[str, Any] = {
        "model_type": "qwen3",
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "intermediate_size": 128,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "rms_norm_eps": 1e-6,
        "vocab_size": VOCABULARY,
        "max_position_embeddings": 2048,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
    }
    return config | changes


def build(config: dict[str, Any], seed: int = 0, scale: float = 3.0) -> Network:
    """Weights scaled up, so that the distribution is peaked enough to vary with the context."""
    mx.random.seed(seed)
    network = qwen3.Model(qwen3.ModelArgs.from_dict(config))
    network.update(tree_map_with_path(lambda path, w: w * scale if "norm" not in path else w, network.parameters()))
    mx.eval(network.parameters())
    return network


def noised(network: Network, config: dict[str, Any], noise: float, seed: int = 1) -> Network:
    """The same network with `noise` (a share of each weight's spread) added: a draft that is often right."""
    mx.random.seed(seed)
    draft = qwen3.Model(qwen3.ModelArgs.from_dict(config))
    draft.update(
        tree_map_with_path(lambda _, w: w + noise * mx.std(w) * mx.random.normal(w.shape), network.parameters())
    )
    mx.eval(draft.parameters())
    return draft


def save(network: Network, config: dict[str, Any], folder: Path, tokenizer: Tokenizer | None = None) -> Path:
    """A folder as a hub's repository would have it."""
    folder.mkdir(parents=True, exist_ok=True)
    mx.save_safetensors(str(folder / "model.safetensors"), dict(tree_flatten(network.parameters())), {"format": "mlx"})
    (folder / "config.json").write_text(json.dumps(config | {"eos_token_id": 257}))
    save_tokenizer(folder, tokenizer or byte_tokenizer())
    return folder


def save_small(
    folder: Path,
    *words: str,
    template: str = CHAT_TEMPLATE,
    tokenizer: Tokenizer | None = None,
    noise: float = 0.0,
    **changes: Any,
) -> Path:
    """A model of one layer, with these words in its vocabulary."""
    tokenizer = tokenizer or byte_tokenizer()
    tokenizer.add_tokens([AddedToken(each) for each in words])
    config = qwen3_config(**{"num_hidden_layers": 1} | changes)
    network = build(config)
    save(noised(network, config, noise) if noise else network, config, folder, tokenizer)
    rewrite(folder / "tokenizer_config.json", chat_template=template)
    return folder


def rewrite(file: Path, **values: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


def byte_tokenizer(order: Sequence[int] = range(256), without: Collection[int] = ()) -> Tokenizer:
    """One token a byte and three specials. Byte number `order[i]` has id i; other tokens stand for `without`."""
    symbols = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {"~" * 9 + str(byte) if byte in without else symbols[byte]: at for at, byte in enumerate(order)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    specials = ["<|im_start|>", "<|im_end|>", "<|endoftext|>"]
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in specials])
    return tokenizer


def shuffled(network: Network, config: dict[str, Any], order: Sequence[int]) -> Network:
    """The same network for another vocabulary: its token i is what `order[i]` was."""
    places = mx.array([*order, *range(len(order), config["vocab_size"])])
    weights: Any = dict(tree_flatten(network.parameters()))
    for name in ("model.embed_tokens.weight", "lm_head.weight"):
        weights[name] = weights[name][places]
    other = qwen3.Model(qwen3.ModelArgs.from_dict(config))
    other.load_weights(list(weights.items()))
    return other


def save_tokenizer(folder: Path, tokenizer: Tokenizer) -> None:
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "chat_template": CHAT_TEMPLATE,
        "clean_up_tokenization_spaces": False,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def make_pair(folder: Path, noise: float = 0.05, **changes: Any) -> tuple[Path, Path]:
    """A main model and a draft that is right about half of the time."""
    config = qwen3_config(**changes)
    network = build(config)
    main = save(network, config, folder / "main")
    draft = save(noised(network, config, noise), config, folder / "draft")
    return main, draft


def number(array: mx.array) -> float:
    value = array.item()
    assert isinstance(value, (int, float))
    return value
