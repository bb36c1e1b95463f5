"""Every main model of the catalog that has a drafter there: its network gives what drafters of that kind need."""

from __future__ import annotations

import mlx.core as mx
import pytest

from engine import CatalogModel, load_catalog
from engine.caches.making import CacheMaker
from engine.decoding.hidden_states import HiddenStates
from engine.drafting.drafters import network_class
from engine.models.access import ModelAccess
from engine.models.drafter_kinds import drafter_config
from engine.models.drafters import BODY, DrafterConfig
from engine.models.mtp_families import FAMILIES as MTP_FAMILIES
from engine.models.mtp_families import family_of
from tests.architecture.project import ROOT
from tests.families import configs
from tests.families.harness import build
from tests.helpers import tiny_drafters as tiny

# What config.json of a model says, by the catalog's families; the first that fits a name
MODEL_TYPES: dict[str, dict[str, str]] = {
    "Qwen2.5": {"": "qwen2"},
    "Qwen3": {"B-A": "qwen3_moe", "": "qwen3"},
    "Qwen3-Next": {"": "qwen3_next"},
    "Qwen3.5": {"B-A": "qwen3_5_moe", "": "qwen3_5"},
    "Qwen3.6": {"B-A": "qwen3_5_moe", "": "qwen3_5"},
    "Qwen3.8": {"": "qwen3_5"},
    "Llama 3": {"": "llama"},
    "DeepSeek R1": {"Qwen": "qwen2"},
    "Gemma 3": {"": "gemma3"},
    "Gemma 4": {"": "gemma4"},
    "Mistral": {"Small-4": "mistral4", "Small-3.2": "mistral3", "": "mistral"},
    "gpt-oss": {"": "gpt_oss"},
    "GLM-4.7-Flash": {"": "glm4_moe_lite"},
    "LFM2.5": {"": "lfm2"},
    "MiniCPM": {"": "llama"},
    "SmolLM": {"": "llama"},
    "SmolLM2": {"": "llama"},
    "SmolLM3": {"": "smollm3"},
    "Nemotron": {"": "nemotron_h"},
    "Muse Glimmer": {"": "muse_glimmer"},
}
WIDTH = 32
LAYER = {"head_dim": 8, "intermediate_size": 32}
SIZES = {"hidden_size": WIDTH, "target_hidden_size": WIDTH, "vocab_size": configs.VOCABULARY}
SMALL = LAYER | SIZES | {"mask_token_id": 90}


def model_type(model: CatalogModel) -> str:
    return next(told for part, told in MODEL_TYPES[model.family].items() if part in model.name)


def paired() -> set[tuple[str, str | None]]:
    catalog = load_catalog(ROOT / "resources" / "catalog.json")
    mains = {model.repository: model_type(model) for model in catalog.models}
    return {(mains[main], draft.kind) for draft in catalog.drafts for main in draft.mains}


def small(kind: str) -> DrafterConfig:
    config_of, _ = tiny.KINDS[kind]
    config = config_of(**SMALL)
    if block := config.get("dflash_config"):
        config["dflash_config"] = block | {"mask_token_id": 90, "selector_top_k": 8}
    if "draft_vocab_size" in config:
        config["draft_vocab_size"] = 48
    parsed = drafter_config(config)
    assert parsed is not None
    return parsed


@pytest.mark.costly
@pytest.mark.parametrize(("main", "kind"), sorted(paired(), key=str))
def test_a_main_model_of_the_catalog_can_have_the_drafters_that_go_with_it(main: str, kind: str | None) -> None:
    """Shapes as small as they can be, layers, embedding and head as mlx-lm makes them of that family."""
    network = build(main)
    if kind is None:
        assert CacheMaker(network)().can_roll_back
        return
    access = ModelAccess(network)
    HiddenStates(network, [0, access.layers - 1, BODY]).check(network)
    if kind == "mtp":
        assert main == "gemma4" or family_of(f"{main}_mtp", configs.config(main)) in MTP_FAMILIES
        return
    drafter = network_class(small(kind))(small(kind), access)
    drafted = drafter.rehearse(4, CacheMaker(drafter)())
    assert not mx.any(mx.isnan(drafted.astype(mx.float32))).item()


def test_every_main_model_of_the_catalog_is_of_a_known_family() -> None:
    catalog = load_catalog(ROOT / "resources" / "catalog.json")
    assert {model_type(model) for model in catalog.models} <= {*configs.FAMILIES}
