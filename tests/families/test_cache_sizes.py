"""What a chat takes is told by a config as it is measured on the network: for every family, and for models in use."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
from typing import Any

import mlx.core as mx
import pytest
from mlx_lm.utils import MODEL_REMAPPING

from engine.api.types import CacheSizes
from engine.caches.making import WIDTH_MATTERS, CacheMaker, eight_bits_of
from engine.models.cache_sizes import cache_sizes
from engine.models.families import FAMILIES as TABLE
from engine.models.families import family_for
from engine.models.memory import memory_need
from tests.families.configs import FAIR_PART, FAMILIES, UNBUILDABLE, config
from tests.families.harness import Network
from tests.families.shapes import SHAPES

# What a token alone does not show: a row is made for a group of tokens. There the config tells more than the network.
GROWS_LATER = ("deepseek_v41",)
COUNTER_BYTES = 8  # longcat_flash_ngram remembers the last token's number, too


def module_of(model_type: str) -> Any:
    return importlib.import_module(f"mlx_lm.models.{MODEL_REMAPPING.get(model_type, model_type)}")


def build(told: dict[str, Any], precision: mx.Dtype) -> Network:
    """Not evaluated: the largest takes no memory."""
    module = module_of(told["model_type"])
    network = module.Model(module.ModelArgs.from_dict(copy.deepcopy(told)))
    network.set_dtype(precision)
    return network


def measured(told: dict[str, Any], precision: mx.Dtype) -> CacheSizes:
    network = build(told, precision)
    need = memory_need(network, CacheMaker(network)().layers)
    kind = eight_bits_of(network)
    coded = 0 if kind is None else memory_need(network, CacheMaker(network, kind)().layers).token_bytes
    return CacheSizes(need.token_bytes, need.fixed_bytes, coded)


def as_published(family: str) -> dict[str, Any]:
    """The keys that the family reads; a real config.json has no others that another family would read."""
    told = config(family)
    inner = told.get("text_config")
    if inner is None:
        return _known_to(family, told)
    kept = _known_to(inner["model_type"], inner) if inner["model_type"] != family else inner
    return {**{key: value for key, value in told.items() if key in ("model_type", "vocab_size")}, "text_config": kept}


def _known_to(family: str, told: dict[str, Any]) -> dict[str, Any]:
    parts = [each for each in vars(module_of(family)).values() if inspect.isclass(each)]
    names = {field.name for part in parts if dataclasses.is_dataclass(part) for field in dataclasses.fields(part)}
    named = {key: value for key, value in told.items() if key in names | {"model_type"}}
    return named if family not in ("gpt2", "gpt_neox", "gpt_bigcode") else _with_all_heads(named)


def _with_all_heads(told: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in told.items() if key != "num_key_value_heads"}


def check(family: str) -> None:
    sizes, network = cache_sizes(as_published(family), widened=True), measured(config(family), mx.float32)
    if family in GROWS_LATER:
        assert sizes.token_bytes > network.token_bytes
        assert sizes.fixed_bytes > network.fixed_bytes
        return
    assert sizes.token_bytes == network.token_bytes
    assert bool(sizes.eight_bit_token_bytes) is bool(network.eight_bit_token_bytes)
    assert abs(sizes.fixed_bytes - network.fixed_bytes) <= COUNTER_BYTES


@pytest.mark.parametrize("family", FAIR_PART)
def test_a_fair_part_is_told_as_it_is_measured(family: str) -> None:
    if family not in GROWS_LATER:
        check(family)


@pytest.mark.families
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_told_as_it_is_measured(family: str) -> None:
    check(family)


@pytest.mark.parametrize("name", SHAPES)
def test_models_in_use_are_told_to_the_byte(name: str) -> None:
    """With the keys that their own config.json has, so that what mlx-lm assumes for others is right, too."""
    assert cache_sizes(SHAPES[name]) == measured(SHAPES[name], mx.bfloat16)


def test_the_table_has_every_family_and_says_which_cannot_speculate() -> None:
    assert {family for family in (*FAMILIES, *UNBUILDABLE) if family not in TABLE} == set()
    assert {family for family, row in TABLE.items() if not row.speculates} == set(WIDTH_MATTERS)
    assert family_for("not-a-model").name == "not-a-model"


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"model_type": 7},
        {"model_type": "llama", "num_hidden_layers": 10**12, "num_attention_heads": 0},
        {"model_type": "qwen3_5", "text_config": [], "full_attention_interval": -1},
        {"model_type": "gemma3", "layer_types": [{}] * 3, "num_hidden_layers": 2},
        {"model_type": "nemotron-nas", "block_configs": [1, {"attention": {"n_heads_in_group": 0}}]},
        {"model_type": "nemotron_h", "hybrid_override_pattern": "M" * 10**6},
    ],
)
def test_odd_numbers_count_as_nothing(odd: dict[str, Any]) -> None:
    sizes = cache_sizes(odd)
    assert sizes.token_bytes >= 0
    assert sizes.fixed_bytes >= 0
