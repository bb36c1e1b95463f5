"""Configs as transformers 5 writes them: the rotation is in an entry of its own, which few families of mlx-lm read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

from engine.models.cache_sizes import cache_sizes
from tests.families.configs import config
from tests.families.harness import PROMPT, build
from tests.helpers.loading import load_model
from tests.helpers.tiny_models import VOCABULARY, save

_LLAMA = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16}
_YARN = {"factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 32.0, "beta_slow": 1.0}
_LONG = {"short_factor": [1.0] * 2, "long_factor": [3.0] * 2, "original_max_position_embeddings": 16}
_FAST = 777.0  # a base that no family assumes
_WHOLE = {"rope_type": "default", "rope_theta": _FAST}
_HALF = _WHOLE | {"partial_rotary_factor": 0.5}
_CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # by family: as it was written before, and now
    "llama": (
        {"rope_theta": _FAST, "rope_scaling": {"rope_type": "llama3", **_LLAMA}},
        {"rope_parameters": {"rope_type": "llama3", "rope_theta": _FAST, **_LLAMA}},
    ),
    "gpt_oss": (
        {"rope_theta": _FAST, "rope_scaling": {"rope_type": "yarn", **_YARN}},
        {"rope_parameters": {"rope_type": "yarn", "rope_theta": _FAST, **_YARN}},
    ),
    "phi3": (
        {"rope_theta": _FAST, "partial_rotary_factor": 0.5, "rope_scaling": {"type": "longrope", **_LONG}},
        {"rope_parameters": {"rope_type": "longrope", "rope_theta": _FAST, "partial_rotary_factor": 0.5, **_LONG}},
    ),
    "qwen3_moe": (
        {"rope_theta": _FAST, "num_experts": 16},
        {"rope_parameters": _WHOLE, "num_local_experts": 16},
    ),
    "glm4": (
        {"rope_theta": _FAST, "partial_rotary_factor": 0.25},
        {"rope_parameters": {"rope_type": "default", "rope_theta": _FAST, "partial_rotary_factor": 0.25}},
    ),
    "gpt_neox": (
        {"rotary_emb_base": _FAST, "rotary_pct": 0.5},
        {"rope_parameters": _HALF},
    ),
    "laguna": (
        {"partial_rotary_factor": 1.0, "rope_parameters": {"full_attention": _HALF, "sliding_attention": _WHOLE}},
        {"rope_parameters": {"full_attention": _HALF, "sliding_attention": _WHOLE}},
    ),
    "gemma4_text": (
        {"attention_k_eq_v": True, "global_head_dim": 16, "num_global_key_value_heads": 1},
        {"attention_k_eq_v": True, "per_layer_config": {"01": {"head_dim": 16, "num_key_value_heads": 1}}},
    ),
    "gemma3_text": (
        {"rope_theta": _FAST, "rope_local_base_freq": 55.0, "rope_scaling": {"rope_type": "linear", "factor": 8.0}},
        {
            "rope_parameters": {
                "full_attention": {"rope_type": "linear", "rope_theta": _FAST, "factor": 8.0},
                "sliding_attention": {"rope_type": "default", "rope_theta": 55.0},
            }
        },
    ),
}


@pytest.mark.parametrize("family", _CASES)
def test_a_config_of_transformers_5_means_what_it_did_before(family: str, tmp_path: Path) -> None:
    before, now = _CASES[family]
    network = build(family, vocab_size=VOCABULARY, **before)
    written = {name: value for name, value in config(family).items() if name not in ("rope_scaling", *before)}
    folder = save(network, written | {"vocab_size": VOCABULARY} | now, tmp_path / "m")
    assert cache_sizes(json.loads((folder / "config.json").read_text())) == cache_sizes(written | before)
    tokens = mx.array([PROMPT])
    assert bool(mx.array_equal(load_model(folder).network(tokens), network(tokens)))


def test_a_model_around_another_has_its_rotation_in_the_inner_config(tmp_path: Path) -> None:
    before, now = _CASES["gemma3_text"]
    inner = {"model_type": "gemma3_text"} | config("gemma3_text") | {"vocab_size": VOCABULARY}
    network = build("gemma3", vocab_size=VOCABULARY, text_config=inner | before)
    text = {name: value for name, value in inner.items() if name not in before} | now
    folder = save(network, {"model_type": "gemma3", "text_config": text, "vocab_size": VOCABULARY}, tmp_path / "m")
    assert "rope_theta" not in json.loads((folder / "config.json").read_text())["text_config"]
    tokens = mx.array([PROMPT])
    assert bool(mx.array_equal(load_model(folder).network(tokens), network(tokens)))


def test_whether_a_model_within_another_has_a_head_of_its_own_is_said_outside(tmp_path: Path) -> None:
    outer = config("qwen2_vl") | {"vocab_size": VOCABULARY, "tie_word_embeddings": False}
    inner = outer["text_config"] | {"vocab_size": VOCABULARY, "tie_word_embeddings": False}
    network = build("qwen2_vl", **outer | {"text_config": inner})
    text = {name: value for name, value in inner.items() if name not in ("rope_scaling", "tie_word_embeddings")}
    own = {name: outer[name] for name in ("model_type", "vocab_size", "tie_word_embeddings")}
    folder = save(network, own | {"text_config": text}, tmp_path / "m")
    tokens = mx.array([PROMPT])
    assert bool(mx.array_equal(load_model(folder).network(tokens), network(tokens)))
