"""What configs of drafters say, in each dialect in which they are published, and what of them is refused."""

from __future__ import annotations

from typing import Any

import pytest

from engine import (
    DrafterDoesNotFit,
    DrafterInfo,
    DrafterUnsupported,
    DraftIsMain,
    ModelInfo,
    draft_problem,
)
from engine.models.drafter_kinds import drafter_config, drafter_kind, unmet_need
from engine.models.drafter_tensors import unplaced
from engine.models.drafters import (
    AssistantConfig,
    BlockConfig,
    EagleConfig,
    default_block_layers,
    default_eagle_layers,
)
from engine.models.inspect import check_config
from engine.models.model_files import FileError
from tests.helpers.tiny_drafters import GEMMA_LAYERS, laguna_config

SIZES: dict[str, Any] = {
    "hidden_size": 2560,
    "num_hidden_layers": 5,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "intermediate_size": 9728,
    "vocab_size": 151_936,
    "rope_theta": 1_000_000.0,
    "max_position_embeddings": 40_960,
}
Z_LAB: dict[str, Any] = {
    "architectures": ["DFlashDraftModel"],
    "model_type": "qwen3",
    "block_size": 16,
    "num_target_layers": 36,
    "dflash_config": {"mask_token_id": 151_669, "target_layer_ids": [1, 9, 17, 25, 33]},
    **SIZES,
}
DEEPSPEC: dict[str, Any] = {
    "architectures": ["Qwen3DSparkModel"],
    "model_type": "qwen3",
    "block_size": 7,
    "mask_token_id": 151_669,
    "target_layer_ids": [1, 9, 17, 25, 33],
    "markov_rank": 256,
    "markov_head_type": "vanilla",
    "enable_confidence_head": True,
    "rope_parameters": {"rope_theta": 5_000_000.0, "rope_type": "default"},
    **SIZES,
}
SPECULATORS: dict[str, Any] = {
    "speculators_model_type": "dflash",
    "transformer_layer_config": SIZES,
    "draft_vocab_size": 32_000,
    "aux_hidden_state_layer_ids": [2, 10, 18, 26, 34],
    "mask_token_id": 151_669,
    "block_size": 8,
    "sliding_window_non_causal": True,
}
GEMMA4: dict[str, Any] = DEEPSPEC | {
    "architectures": ["Gemma4DSparkModel"],
    "model_type": "gemma4_text",
    "attention_k_eq_v": True,
    "global_head_dim": 512,
    "num_global_key_value_heads": 1,
    "hidden_activation": "gelu_pytorch_tanh",
    "rope_parameters": GEMMA_LAYERS["rope_parameters"],
}
NEMOTRON: dict[str, Any] = DEEPSPEC | {  # as NVIDIA says it: one flag for all layers, and the layers twice
    "attention_sink_bias": True,
    "block_size": 8,
    "markov_rank": 512,
    "target_layer_ids": [1, 5, 19, 29, 33],
    "eagle_aux_hidden_state_layer_ids": [2, 6, 20, 30, 34],
    "dspark_bonus_anchor": True,
    "sample_from_anchor": False,
    "dflash_config": {
        "attention_sink_bias": True,
        "causal": True,
        "mask_token_id": 990,
        "swa_window_size": 1024,
        "target_layer_ids": [1, 5, 19, 29, 33],
        "use_swa": True,
        "sample_from_anchor": False,
    },
}
MUSE: dict[str, Any] = {  # as DaoCloud says it
    "architectures": ["DSparkDraftModel"],
    "speculators_model_type": "dspark",
    "speculators_config": {"algorithm": "dspark", "proposal_methods": [{"speculative_tokens": 15}]},
    "block_size": 15,
    "mask_token_id": 151_818,
    "draft_vocab_size": 151_936,
    "markov_rank": 256,
    "markov_head_type": "vanilla",
    "enable_confidence_head": True,
    "sample_from_anchor": True,
    "sliding_window_non_causal": False,
    "aux_hidden_state_layer_ids": [2, 14, 26, 38, 50],
    "transformer_layer_config": {
        **SIZES,
        "model_type": "qwen3",
        "layer_types": ["sliding_attention"] * 5,
        "use_sliding_window": True,
        "sliding_window": 2048,
    },
}
DFLY: dict[str, Any] = {  # as AngelSpec says it
    "architectures": ["Qwen3DFlyModel"],
    "model_type": "qwen3",
    "block_size": 8,
    "mask_token_id": 151_669,
    "num_target_layers": 5,
    "target_hidden_size": 2560,
    "target_num_hidden_layers": 36,
    "target_layer_ids": [1, 9, 17, 25, 33],
    "enable_hidden_correction": True,
    "hidden_correction_intermediate_size": None,
    **SIZES,
}
EAGLE: dict[str, Any] = {
    "architectures": ["LlamaForCausalLMEagle3"],
    "model_type": "llama",
    "draft_vocab_size": 32_000,
} | SIZES


ASSISTANT: dict[str, Any] = {  # as the small ones are published
    "architectures": ["Gemma4AssistantForCausalLM"],
    "model_type": "gemma4_assistant",
    "backbone_hidden_size": 2560,
    "use_ordered_embeddings": True,
    "num_centroids": 2048,
    "centroid_intermediate_top_k": 32,
    "tie_word_embeddings": True,
    "text_config": {
        "model_type": "gemma4_text",
        "hidden_size": 256,
        "num_hidden_layers": 4,
        "num_kv_shared_layers": 4,
        "layer_types": ["sliding_attention"] * 3 + ["full_attention"],
        "hidden_size_per_layer_input": 0,
        "vocab_size": 262_144,
        "global_head_dim": 512,
        "attention_k_eq_v": True,
        "hidden_activation": "gelu_pytorch_tanh",
    },
}


def block(config: dict[str, Any], **changes: Any) -> BlockConfig:
    parsed = drafter_config(config | changes)
    assert isinstance(parsed, BlockConfig)
    return parsed


def test_z_lab_counts_layers_by_their_output_and_drops_the_first_row() -> None:
    config = block(Z_LAB)
    assert config.info == DrafterInfo("dflash", 2560, 36, 151_936, (1, 9, 17, 25, 33))
    assert (config.tokens, config.anchor_first, config.mask_token) == (15, False, 151_669)
    assert config.causal == (False,) * 5
    assert config.windows == (4096,) * 5


def test_deepspec_says_all_in_one_object_and_drafts_from_the_first_row() -> None:
    config = block(DEEPSPEC)
    assert config.info.kind == "dspark"
    assert config.info.layers == (1, 9, 17, 25, 33)
    assert (config.tokens, config.anchor_first) == (7, True)
    assert config.backbone.rope_theta == 5_000_000.0
    assert config.backbone.rope_scaling is None
    named = {key: value for key, value in DEEPSPEC.items() if key != "target_layer_ids"}
    assert block(named, dspark_target_layer_ids=[1, 9, 17, 25, 33]) == config  # as some call it
    dflash = block({**DEEPSPEC, "markov_rank": 0, "markov_head_type": None, "enable_confidence_head": False})
    assert (dflash.info, dflash.tokens, dflash.anchor_first) == (config.info, 7, True)


def test_speculators_count_layers_by_their_input() -> None:
    config = block(SPECULATORS)
    assert config.info.layers == (1, 9, 17, 25, 33)
    assert (config.tokens, config.draft_vocabulary) == (7, 32_000)
    proposes = {"proposal_methods": [{"speculative_tokens": 8}]}
    assert block(SPECULATORS, speculators_config=proposes).tokens == 7  # its first row drafts where that is said
    assert block(SPECULATORS, sample_from_anchor=True).tokens == 8
    assert block(SPECULATORS, speculators_model_type="dspark", markov_rank=8).anchor_first


@pytest.mark.parametrize(
    ("tokens", "said", "drafted"),
    [(7, None, 7), (8, None, 8), (7, True, 8), (8, False, 7), (3, None, 8), (None, None, 8)],
)
def test_if_speculators_dspark_drafts_in_its_first_row(tokens: int | None, said: bool | None, drafted: int) -> None:
    """As those that were published before `sample_from_anchor` was: 15 tokens of a block of 16."""
    methods = [{"proposal_type": "greedy", "speculative_tokens": tokens}] if tokens else []
    config = SPECULATORS | {"speculators_model_type": "dspark", "markov_rank": 256}
    flag = {} if said is None else {"sample_from_anchor": said}
    assert block(config, speculators_config={"proposal_methods": methods}, **flag).tokens == drafted


def test_sliding_layers_are_causal_unless_the_config_says_otherwise() -> None:
    sliding = {"layer_types": ["sliding_attention", "full_attention"] * 2 + ["full_attention"], "sliding_window": 2048}
    assert block(Z_LAB, **sliding).causal == (True, False, True, False, False)
    assert block(Z_LAB, **sliding).windows == (2048, 0, 2048, 0, 0)
    assert block(Z_LAB, **sliding, is_causal=False).causal == (False,) * 5
    assert block(Z_LAB, **sliding, sliding_window_non_causal=True).causal == (False,) * 5
    said_in_block = {**Z_LAB["dflash_config"], "causal": True}
    assert block(Z_LAB, dflash_config=said_in_block).causal == (True,) * 5


def test_metas_windows_are_how_far_a_row_sees_back_and_in_its_block_forward() -> None:
    sliding = {"layer_types": ["sliding_attention"] * 5, "sliding_window": 2048}
    config = block(Z_LAB, architectures=[], model_type="muse_glimmer_assistant", **sliding)
    assert (config.info.kind, config.windows, config.causal) == ("dflash", (2049,) * 5, (False,) * 5)
    assert unplaced(config, ["encoder.fc.weight", "encoder.output_norm_enc.weight"]) == ""


def test_lagunas_have_gates_and_a_norm_for_each_layer_that_they_read() -> None:
    config = drafter_config(laguna_config())
    assert isinstance(config, BlockConfig)
    assert (config.info.kind, config.info.layers, config.windows, config.causal) == (
        "dflash",
        (0, 1),
        (9, 9),
        (True,) * 2,
    )
    own = ["aux_hidden_norms.1.weight", "layers.0.self_attn.g_proj.weight", "layers.1.self_attn.qkv_proj.weight"]
    assert unplaced(config, own) == ""
    assert unplaced(block(Z_LAB), own) == own[0]
    assert unmet_need(laguna_config()) == ""
    assert unmet_need(laguna_config(gating="per-element")) == "gating per-element"


def test_one_flag_makes_all_layers_slide_and_sinks_have_a_place() -> None:
    config = block(NEMOTRON)
    assert (config.windows, config.causal, config.sinks) == ((1024,) * 5, (True,) * 5, True)
    assert (config.mask_token, config.info.layers, config.anchor_first) == (990, (1, 5, 19, 29, 33), False)
    sinks = [f"layers.{layer}.self_attn.attention_sink_bias" for layer in range(5)]
    assert unplaced(config, sinks) == ""
    assert unplaced(block(DEEPSPEC), sinks) == sinks[0]
    assert block(NEMOTRON, dflash_config=NEMOTRON["dflash_config"] | {"use_swa": False}).windows == (4096,) * 5


def test_a_drafter_that_a_dflash_was_the_start_of_has_a_vocabulary_and_a_first_row_like_deepspecs() -> None:
    config = block(MUSE)
    assert (config.windows, config.causal) == ((2048,) * 5, (True,) * 5)
    assert (config.draft_vocabulary, config.anchor_first, config.tokens) == (0, True, 15)
    assert config.info.layers == (1, 13, 25, 37, 49)


def test_dflash2_is_known_by_its_selector() -> None:
    said = Z_LAB["dflash_config"] | {
        "block_size": 16,
        "selector_rank": 256,
        "selector_top_k": 16,
        "conv_kernel_size": 2,
    }
    config = block(Z_LAB, architectures=[], dflash_config=said | {"conv_group_size": 16, "output_multiplier": 2.0})
    assert config.info.kind == "dflash2"
    assert config.output_scale == 2.0


def test_dfly_counts_the_layers_that_it_reads_where_others_count_the_main_models() -> None:
    config = block(DFLY)
    assert config.info == DrafterInfo("dfly", 2560, 36, 151_936, (1, 9, 17, 25, 33))
    assert (config.tokens, config.anchor_first, config.causal) == (7, False, (False,) * 5)
    uncounted = {key: value for key, value in DFLY.items() if key != "target_num_hidden_layers"}
    assert block(uncounted).info.main_layers == 0


def test_dfly_is_known_in_the_dialects_of_those_who_convert_it() -> None:
    kept = {key: DFLY[key] for key in ("target_layer_ids", "mask_token_id", "enable_hidden_correction")}
    converted = DFLY | {"architectures": ["DFlyDraftModel"], "dflash_config": kept}
    assert block(converted) == block(DFLY)
    served = DFLY | {"architectures": ["Qwen3DFlyModel", "Qwen3DSparkModel"], "model_arch": "dfly"}
    assert drafter_kind(served) is drafter_kind(DFLY | {"architectures": [], "model_arch": "dfly"}) == "dfly"
    speculators = SPECULATORS | {"speculators_model_type": "dfly", "architectures": ["DFlySpeculator"]}
    config = block(speculators)
    assert (config.info.kind, config.info.layers, config.tokens) == ("dfly", (1, 9, 17, 25, 33), 7)
    assert block(speculators, sample_from_anchor=True).tokens == 8


def test_dflare_is_known_in_both_dialects_and_has_keys_of_its_own_for_the_context() -> None:
    """AngelSpec counts the layers that it reads, AngelSlim the main model's."""
    uncorrected = {key: value for key, value in DFLY.items() if "correction" not in key}
    config = block(uncorrected, architectures=["DFlashDraftModel"], model_arch="dflare")
    assert config.info == DrafterInfo("dflare", 2560, 36, 151_936, (1, 9, 17, 25, 33))
    slim = block(Z_LAB, architectures=["QwenDFlareDraftModel"])
    assert slim.info == config.info
    names = [f"layers.4.self_attn.{part}_proj_target.weight" for part in ("k", "v")]
    assert unplaced(slim, [*names, "layer_fusion_weights"]) == ""
    assert unplaced(block(Z_LAB), names) == names[0]


DOMINO = Z_LAB | {
    "architectures": ["DominoDraftModel"],
    "dflash_config": Z_LAB["dflash_config"]
    | {"projector_type": "domino", "emb_dim": 256, "gru_hidden_dim": 1024, "pure_draft_prefix_len": 1},
}


def with_block(config: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return config | {"dflash_config": config["dflash_config"] | changes}


def test_domino_says_whether_its_rows_draft_the_token_behind_them() -> None:
    config = block(DOMINO)
    assert config.info == DrafterInfo("domino", 2560, 36, 151_936, (1, 9, 17, 25, 33))
    assert (config.tokens, config.anchor_first) == (15, False)
    assert block(with_block(DOMINO, shift_label=True)).tokens == 16
    assert block(DOMINO | {"architectures": []}) == config  # by its projector


def test_eagle_reads_three_layers_by_their_input() -> None:
    config = drafter_config(EAGLE | {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [2, 18, 33]}})
    assert isinstance(config, EagleConfig)
    assert config.info.layers == (1, 17, 32)
    assert config.draft_vocabulary == 32_000
    assert config.windows == (4096,) * config.backbone.layers
    assert default_eagle_layers(36) == (1, 17, 32)


PEAGLE: dict[str, Any] = {  # as speculators says it
    "architectures": ["PEagleSpeculator"],
    "speculators_model_type": "peagle",
    "speculators_config": {"algorithm": "peagle", "proposal_methods": [{"speculative_tokens": 6}]},
    "draft_vocab_size": 32_000,
    "eagle_aux_hidden_state_layer_ids": [2, 18, 33],
    "mask_token_id": 151_669,
    "transformer_layer_config": SIZES | {"num_hidden_layers": 4, "model_type": "llama"},
}


def eagle(config: dict[str, Any], *tensors: str, **changes: Any) -> EagleConfig:
    parsed = drafter_config(config | changes, tensors)
    assert isinstance(parsed, EagleConfig)
    return parsed


def test_a_head_that_drafts_in_parallel_has_a_mask_and_proposes_what_it_was_trained_for() -> None:
    config = eagle(PEAGLE)
    assert config.info == DrafterInfo("peagle", 2560, 0, 151_936, (1, 17, 32))
    assert (config.mask_token, config.tokens, config.backbone.layers, config.own_embedding) == (151_669, 6, 4, False)
    assert eagle(PEAGLE, "embed_tokens.weight", "lm_head.weight").own_embedding
    assert unplaced(config, ["mask_hidden"]) == ""
    assert unplaced(eagle(EAGLE), ["mask_hidden"]) == "mask_hidden"
    check_config("", PEAGLE)
    unsaid = {"proposal_methods": [{"speculative_tokens": -1}]}
    assert eagle(PEAGLE | {"speculators_config": unsaid}).tokens == 8


def test_a_head_that_drafts_in_parallel_is_known_where_it_is_served_as_an_eagle() -> None:
    """By its learnt state, or vLLM's name for its mask; all tokens that one proposes are drafted in one forward."""
    served = EAGLE | {"ptd_token_id": 151_669}
    assert eagle(served) == eagle(EAGLE | {"mask_token_id": 151_669, "architectures": ["PEagleDraftModel"]})
    assert eagle(EAGLE | {"pard_token": 9}, "mask_hidden", "lm_head.weight").mask_token == 9
    assert eagle(served).tokens == 8
    assert eagle(EAGLE | {"mask_token_id": 151_669}).info.kind == "eagle3"
    assert drafter_kind(SIZES | {"pard_token": 9}) is None  # a draft model of its own


@pytest.mark.parametrize("mask", [None, -1, 151_936])
def test_without_a_mask_nothing_can_be_drafted_in_parallel(mask: int | None) -> None:
    with pytest.raises(FileError, match="mask_token_id"):
        eagle(PEAGLE, mask_token_id=mask)


@pytest.mark.parametrize("model_type", ["gemma4_assistant", "gemma4_unified_assistant"])
def test_an_assistant_names_its_main_models_width_and_not_its_layers(model_type: str) -> None:
    config = ASSISTANT | {"model_type": model_type}
    parsed = drafter_config(config)
    assert isinstance(parsed, AssistantConfig)
    assert parsed.info == DrafterInfo("mtp", 2560, 0, 262_144, ())
    assert (parsed.clusters, parsed.likeliest_clusters, parsed.own_head) == (2048, 32, False)
    check_config("", config)
    large = drafter_config(config | {"use_ordered_embeddings": False})
    assert isinstance(large, AssistantConfig)
    assert (large.clusters, large.own_head) == (0, False)
    untied = drafter_config(config | {"use_ordered_embeddings": False, "tie_word_embeddings": False})
    assert isinstance(untied, AssistantConfig)
    assert untied.own_head


@pytest.mark.parametrize(
    "changes",
    [
        {"backbone_hidden_size": 0},
        {"num_centroids": 2047},
        {"centroid_intermediate_top_k": 2049},
        {"text_config": {}},
        {"tie_word_embeddings": False},
        *(
            {"text_config": ASSISTANT["text_config"] | change}
            for change in (
                {"layer_types": ["chunked_attention"] * 4},
                {"num_hidden_layers": 5},
                {"vocab_size": None},
                {"rope_parameters": {"rope_theta": 10_000.0}},
                {"rope_parameters": {"full_attention": {"rope_theta": 10_000.0}}},
            )
        ),
    ],
)
def test_an_assistant_that_makes_no_sense_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(FileError):
        drafter_config(ASSISTANT | changes)


@pytest.mark.parametrize(
    ("main_layers", "drafter_layers", "expected"),
    [(36, 5, (1, 9, 17, 25, 33)), (32, 5, (1, 8, 15, 22, 29)), (64, 5, (1, 16, 31, 46, 61)), (12, 1, (6,))],
)
def test_layers_that_no_config_names(main_layers: int, drafter_layers: int, expected: tuple[int, ...]) -> None:
    assert default_block_layers(main_layers, drafter_layers) == expected


@pytest.mark.parametrize("config", [SIZES, {"model_type": "qwen3"}, {}, {"model_type": "llama", **SIZES}])
def test_a_chat_model_is_no_drafter(config: dict[str, Any]) -> None:
    assert drafter_kind(config) is None
    assert drafter_config(config) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"block_size": 10**9},
        {"block_size": 1},
        {"num_hidden_layers": 10**6},
        {"hidden_size": "wide"},
        {"layer_types": ["full_attention"]},
        {"layer_types": ["sliding_attention"] * 5},
        {"rope_theta": 0},
        {"rope_scaling": {"rope_type": "yarn"}},
        {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 0}},
        {"rope_parameters": {"rope_type": "proportional", "partial_rotary_factor": 2}},
        {"rope_scaling": {"type": "longrope", "original_max_position_embeddings": 9, "short_factor": ["x"]}},
        {"rms_norm_eps": -1e-6},
        {"head_dim": 0},
        {"head_dim": 7},
        {"num_key_value_heads": 3},
        {"draft_vocab_size": 151_937},
        {"dflash_config": {"target_layer_ids": [1, "9"], "mask_token_id": 5}},
        {"intermediate_size": None},
        {"sliding_window": 2**31},
        {"dflash_config": {"mask_token_id": 5}, "num_target_layers": None},
        {"dflash_config": {"target_layer_ids": [1], "mask_token_id": 151_936}},
        {"dflash_config": {"target_layer_ids": [1]}},
        {"vocab_size": None},
        {"speculators_model_type": "dflash", "aux_hidden_state_layer_ids": [0, 5]},
        {"target_hidden_size": 4096},
        {"rope_is_neox_style": "false"},
    ],
)
def test_a_config_that_makes_no_sense_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(FileError):
        drafter_config({**Z_LAB, **changes})


@pytest.mark.parametrize("wide", [{"global_head_dim": 2**31}, {"per_layer_config": {"0": {"head_dim": 2**31}}}])
def test_sizes_of_full_layers_have_the_limits_of_the_others(wide: dict[str, Any]) -> None:
    with pytest.raises(FileError, match="head_dim"):
        drafter_config(GEMMA4 | wide)


@pytest.mark.parametrize(
    ("config", "need"),
    [
        (GEMMA4 | {"hidden_size_per_layer_input": 256}, "hidden_size_per_layer_input"),
        (GEMMA4 | {"enable_moe_block": True}, "enable_moe_block"),
        (GEMMA4 | {"layer_types": ["sliding_attention"] * 4 + ["full_attention"]}, "layer_types"),
        (GEMMA4 | {"rope_parameters": {"rope_theta": 10_000.0}}, "rope_parameters.full_attention"),
        (GEMMA4 | {"per_layer_config": {"0": {"head_dim": 512}, "1": {"head_dim": 256}}}, "per_layer_config"),
        (GEMMA4 | {"architectures": ["DSparkModel"]}, "attention_k_eq_v"),
        (DEEPSPEC | {"global_head_dim": 512}, "global_head_dim"),
        (DEEPSPEC | {"rope_parameters": GEMMA4["rope_parameters"]}, "rope_parameters.full_attention"),
        (Z_LAB | {"hidden_act": "gelu"}, "hidden_act gelu"),
        (Z_LAB | {"layer_types": ["chunked_attention"] * 5}, "layer_types chunked_attention"),
        (EAGLE | {"hidden_activation": "gelu_pytorch_tanh"}, "hidden_activation gelu_pytorch_tanh"),
        (DEEPSPEC | {"markov_head_type": "rnn"}, "markov_head_type rnn"),
        (DFLY | {"hidden_correction_type": "gru"}, "hidden_correction_type gru"),
        (Z_LAB | {"fusion_type": "gated_sum"}, "fusion_type gated_sum"),
        (SPECULATORS | {"speculators_model_type": "medusa"}, "speculators_model_type medusa"),
        (EAGLE | {"speculators_model_type": ["eagle3"]}, "speculators_model_type ['eagle3']"),
        ({"speculators_model_type": "latent_scan"}, "speculators_model_type latent_scan"),
        *(
            (ASSISTANT | {"text_config": ASSISTANT["text_config"] | {key: 1}}, key)
            for key in ("hidden_size_per_layer_input", "enable_moe_block", "use_double_wide_mlp")
        ),
    ],
)
def test_layers_that_are_not_computed_here_are_refused_by_name(config: dict[str, Any], need: str) -> None:
    """By the config alone, before anything is fetched."""
    with pytest.raises(DrafterUnsupported) as refused:
        check_config("/models/d", config)
    assert (refused.value.folder, refused.value.need) == ("/models/d", need)


def test_deepspecs_eagle_counts_layers_by_their_output() -> None:
    config = drafter_config({"architectures": ["Qwen3Eagle3Model"], "target_layer_ids": [1, 9, 17, 25, 33], **SIZES})
    assert isinstance(config, EagleConfig)
    assert config.info.layers == (1, 9, 17, 25, 33)


def test_gemma_4s_layers_have_the_sizes_of_its_full_ones() -> None:
    backbone = block(GEMMA4).backbone
    assert (backbone.is_gemma, backbone.values_are_keys) == (True, True)
    assert (backbone.head_width, backbone.kv_heads, backbone.heads) == (512, 1, 32)
    assert (backbone.rope_theta, backbone.rope_scaling) == (
        1_000_000.0,
        {"rope_type": "proportional", "partial_rotary_factor": 0.25},
    )
    untold = block({key: value for key, value in GEMMA4.items() if key != "rope_parameters"}).backbone
    assert (untold.rope_theta, untold.rope_scaling) == (backbone.rope_theta, backbone.rope_scaling)
    layers = {str(layer): {"head_dim": 512, "num_key_value_heads": 1} for layer in range(5)}
    newer = {key: value for key, value in GEMMA4.items() if "global" not in key} | {"per_layer_config": layers}
    assert block(newer).backbone == backbone
    check_config("", newer)
    own = block(GEMMA4, attention_k_eq_v=False).backbone
    assert (own.values_are_keys, own.kv_heads) == (False, 8)
    assert not block(DEEPSPEC).backbone.is_gemma


def model(**changes: Any) -> ModelInfo:
    sizes: dict[str, Any] = {"width": 2560, "layers": 36, "vocabulary_rows": 151_936} | changes
    return ModelInfo(
        "/models/main", "Main", "qwen3", 4_000_000_000, 2_000_000_000, 4.0, 151_669, "digest", 40_960, **sizes
    )


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({}, ""),
        *(({size: 0}, "") for size in ("width", "layers", "vocabulary_rows")),
        ({"layers": 28}, "layers"),
        ({"width": 2048}, "width"),
        ({"vocabulary_rows": 152_064}, "vocabulary"),
    ],
)
def test_it_fits_the_main_model_that_it_was_made_for(changes: dict[str, int], what: str) -> None:
    """What a model does not say is no misfit: with eyes it names few sizes of its text part; loading looks at those."""
    drafter = ModelInfo("/models/drafter", "D", "qwen3", 1, 1, None, 151_936, "", 40_960, drafter=block(Z_LAB).info)
    problem = draft_problem(model(**changes), drafter)
    if not what:
        assert problem is None
        return
    assert isinstance(problem, DrafterDoesNotFit)
    assert problem.what == what


def test_a_null_says_nothing() -> None:
    said = block(Z_LAB | {"rope_is_neox_style": None, "is_causal": None})
    assert said == block(Z_LAB)
    parts = Z_LAB["dflash_config"] | {"block_size": None, "is_causal": None}
    assert block(Z_LAB | {"dflash_config": parts}) == block(Z_LAB)


@pytest.mark.parametrize("name", ["midlayer.hidden_norm.weight", "layers.0.hidden_norm.weight"])
@pytest.mark.parametrize("prefix", ["", "model."])
def test_an_eagle_head_with_its_main_models_class_is_known_by_its_norm(prefix: str, name: str) -> None:
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "draft_vocab_size": 32_000} | SIZES
    assert drafter_kind(config) is None
    assert drafter_kind(config, {prefix + name}) == "eagle3"


def test_layers_beyond_the_main_model_do_not_fit_even_where_no_count_is_told() -> None:
    info = DrafterInfo("eagle3", 0, 0, 0, (1, 17, 40))
    drafter = ModelInfo("/models/drafter", "D", "llama", 1, 1, None, 1, "", 1, drafter=info)
    problem = draft_problem(model(), drafter)
    assert isinstance(problem, DrafterDoesNotFit)
    assert (problem.what, problem.expected, problem.actual) == ("layers", 41, 36)
    assert isinstance(draft_problem(model(), model()), DraftIsMain)
