"""The smallest useful configuration of every model type: what all share, and what each needs besides.

mlx-lm drops the keys that a family does not know, so one set of common keys serves most of them. Windows and chunks are
shorter than the prompts of the suite, so that they have wrapped before the first round.
"""

from __future__ import annotations

from typing import Any

Config = dict[str, Any]

VOCABULARY = 96
WINDOW = 16
_ROPE = {"rope_theta": 10000.0, "rope_type": "default", "partial_rotary_factor": 1.0}
_YARN = {
    "type": "yarn",
    "rope_type": "yarn",
    "factor": 4.0,
    "mscale": 1.0,
    "mscale_all_dim": 1.0,
    "original_max_position_embeddings": 32,
}
_SU = {"short_factor": [1.0] * 4, "long_factor": [1.5] * 4, "original_max_position_embeddings": 32}
_ROPE_BY_KIND = {"full_attention": _ROPE, "sliding_attention": _ROPE}
_FULL_AND_SLIDING = ["sliding_attention", "full_attention"] * 2
_LINEAR_AND_FULL = ["linear_attention", "full_attention"] * 2
_ALLEYS = {"attention": {"n_heads_in_group": 2}, "ffn": {"ffn_mult": 1.0}}

_COMMON: Config = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": False,
    "rms_norm_eps": 1e-5,
    "layer_norm_eps": 1e-5,
    "layer_norm_epsilon": 1e-5,
    "layernorm_epsilon": 1e-5,
    "norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "rope_scaling": None,
    "partial_rotary_factor": 0.5,
    "attention_bias": False,
    "mlp_bias": False,
    "use_bias": False,
    "use_qkv_bias": False,
    "use_qk_norm": True,
    "sliding_window": WINDOW,
    # Mixtures of experts
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "num_experts_per_token": 2,
    "n_shared_experts": 1,
    "num_shared_experts": 1,
    "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 32,
    "shared_intermediate_size": 32,
    "norm_topk_prob": True,
    "first_k_dense_replace": 1,
    "routed_scaling_factor": 1.0,
    "n_group": 1,
    "topk_group": 1,
    "moe_layer_freq": 1,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [0],
    # Latent attention
    "kv_lora_rank": 16,
    "q_lora_rank": 16,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8,
    "v_head_dim": 8,
    "topk_method": "noaux_tc",
    "scoring_func": "sigmoid",
    # Indexers pick few of many keys
    "index_n_heads": 2,
    "index_head_dim": 16,
    "index_topk": 8,
    # Recurrent layers
    "linear_num_value_heads": 4,
    "linear_num_key_heads": 2,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_conv_kernel_dim": 4,
    "full_attention_interval": 2,
    "conv_kernel": 4,
    "conv_L_cache": 3,
    "n_groups": 1,
    "use_conv_bias": True,
    "time_step_limit": (0.001, 10.0),
}

_GRANITE: Config = {
    "logits_scaling": 1.0,
    "attention_multiplier": 0.35,
    "embedding_multiplier": 1.0,
    "residual_multiplier": 1.0,
}
_LFM2: Config = {
    "conv_bias": False,
    "block_dim": 32,
    "block_ff_dim": 64,
    "block_multiple_of": 4,
    "block_ffn_dim_multiplier": 1.0,
    "block_auto_adjust_ff_dim": True,
    "layer_types": ["conv", "full_attention"] * 2,
}
_GPT2: Config = {"n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 2048, "n_ctx": 2048}
_LONGCAT: Config = {
    "attention_method": "MLA",
    "zero_expert_type": "identity",
    "ffn_hidden_size": 64,
    "moe_topk": 2,
    "expert_ffn_hidden_size": 32,
    "zero_expert_num": 2,
    "num_layers": 3,
    "mla_scale_q_lora": True,
    "mla_scale_kv_lora": True,
}
_MUSE: Config = {
    "post_norm_eps": 1e-8,
    "output_multiplier": 1.0,
    "final_logit_softcapping": 20.0,
    "layer_types": _FULL_AND_SLIDING,
    "layer_rope_theta": [10000.0, 0, 10000.0, 0],
    "rope_parameters": _ROPE,
}
_KDA: Config = {
    "linear_attn_config": {
        "kda_layers": [1, 3],
        "full_attn_layers": [2, 4],
        "num_heads": 4,
        "head_dim": 8,
        "short_conv_kernel_size": 4,
    },
    "mla_use_nope": True,
    "num_key_value_heads": 4,
}
_BAILING_LINEAR: Config = {"layer_group_size": 2, "group_norm_size": 1, "num_key_value_heads": 4}
_GEMMA4: Config = {
    "num_hidden_layers": 6,
    "num_kv_shared_layers": 2,
    "global_head_dim": 16,
    "num_key_value_heads": 1,
    "hidden_size_per_layer_input": 8,
    "vocab_size_per_layer_input": VOCABULARY,
    "layer_types": ["sliding_attention", "sliding_attention", "full_attention"] * 2,
    "rope_parameters": _ROPE_BY_KIND,
}

# What each model type needs besides the common keys. "text_config" stands for a wrapper around a text model.
_CHANGES: dict[str, Config] = {
    "Klear": {"num_key_value_heads": 4},
    "afm7": {"hidden_dim": 32, "num_layers": 4, "num_kv_reuse_layers": 2, "num_heads": 4, "num_kv_heads": 2},
    "afmoe": {"layer_types": _FULL_AND_SLIDING, "num_dense_layers": 1},
    "apertus": {"mlp_bias": True, "post_norm": True, "qk_norm": True},
    "baichuan_m1": {"sliding_window_layers": [0, 2], "conv_window": 2},
    "bailing_hybrid": {**_BAILING_LINEAR, "qk_rope_head_dim": 4},
    "bailing_moe": {},
    "bailing_moe_linear": _BAILING_LINEAR,
    "bailing_moe_v3": {**_BAILING_LINEAR, "moe_shared_expert_intermediate_size": 32},
    "cohere": {},
    "cohere2": {"sliding_window_pattern": 2},
    "dbrx": {
        "d_model": 32,
        "n_layers": 3,
        "n_heads": 4,
        "attn_config": {"kv_n_heads": 2, "clip_qkv": 8, "rope_theta": 10000.0},
        "ffn_config": {"ffn_hidden_size": 64, "moe_num_experts": 4, "moe_top_k": 2},
    },
    "deepseek": {},
    "deepseek_v2": {"topk_method": "greedy", "rope_scaling": _YARN},
    "deepseek_v3": {},
    "deepseek_v32": {},
    "deepseek_v41": {
        "o_groups": 2,
        "o_lora_rank": 8,
        "head_dim": 16,
        "compress_ratios": (0, 4, 0, 4),
        "kv_source_layer_ids": (1, 3),
        "index_source_layer_ids": (1, 3),
    },
    "dots1": {},
    "ernie4_5": {},
    "ernie4_5_moe": {"moe_num_experts": 4, "moe_k": 2, "moe_layer_start_index": 1},
    "exaone": {"num_layers": 3},
    "exaone4": {"sliding_window_pattern": "LG"},
    "exaone_moe": {"layer_types": _FULL_AND_SLIDING, "is_moe_layer": [False, True, True, True]},
    "falcon_h1": {"mamba_d_ssm": 32, "mamba_n_heads": 4, "mamba_d_head": 8, "mamba_d_state": 8},
    "falcon_mamba": {"state_size": 8, "time_step_rank": 4, "use_bcdt_rms": True},
    "gear": {
        "layer_types": ["conv_mixer", "sliding_attention", "conv_mixer", "full_attention"],
        "query_pre_attn_scalar": 8,
    },
    "gemma": {},
    "gemma2": {"query_pre_attn_scalar": 8},
    "gemma3": {"text_config": {"sliding_window_pattern": 2, "query_pre_attn_scalar": 8}},
    "gemma3_text": {"sliding_window_pattern": 2, "query_pre_attn_scalar": 8},
    "gemma3n": {
        "text_config": {
            "num_kv_shared_layers": 2,
            "vocab_size_per_layer_input": VOCABULARY,
            "rope_local_base_freq": 10000.0,
            "final_logit_softcapping": 30.0,
            "layer_types": _FULL_AND_SLIDING,
            "activation_sparsity_pattern": [0.5] * 4,
            "hidden_size_per_layer_input": 8,
            "altup_num_inputs": 2,
            "altup_coef_clip": 1.0,
            "altup_correct_scale": True,
            "altup_active_idx": 0,
            "laurel_rank": 4,
        }
    },
    "gemma4": {"text_config": _GEMMA4},
    "gemma4_text": _GEMMA4,
    "glm": {},
    "glm4": {},
    "glm4_moe": {},
    "glm4_moe_lite": {"num_key_value_heads": 4},
    "glm_moe_dsa": {"rope_parameters": _ROPE},
    "gpt2": _GPT2,
    "gpt_bigcode": {**_GPT2, "n_inner": 64},
    "gpt_neox": {"rotary_emb_base": 10000, "rotary_pct": 0.5},
    "gpt_oss": {"layer_types": _FULL_AND_SLIDING},
    "gptj": {**_GPT2, "rotary_dim": 4},
    "granite": _GRANITE,
    "granitemoe": _GRANITE,
    "granitemoehybrid": {
        **_GRANITE,
        "layer_types": ["mamba", "attention"] * 2,
        "mamba_n_heads": 4,
        "mamba_d_head": 16,
        "mamba_proj_bias": False,
        "mamba_d_state": 8,
        "mamba_d_conv": 4,
        "mamba_n_groups": 1,
        "mamba_conv_bias": True,
    },
    "helium": {},
    "hunyuan": {
        "moe_topk": 2,
        "num_shared_expert": 1,
        "use_mixed_mlp_moe": True,
        "use_cla": True,
        "cla_share_factor": 2,
        "rope_scaling": {"type": "dynamic", "alpha": 1000.0, "factor": 1.0},
    },
    "hunyuan_v1_dense": {"rope_scaling": {"type": "dynamic", "alpha": 1000.0, "factor": 1.0}},
    "internlm2": {"bias": False},
    "internlm3": {},
    "iquestloopcoder": {"loop_num": 2, "loop_window_size": WINDOW},
    "jamba": {
        "attn_layer_offset": 1,
        "attn_layer_period": 2,
        "expert_layer_offset": 1,
        "expert_layer_period": 2,
        "mamba_d_conv": 4,
        "mamba_d_state": 8,
        "mamba_expand": 2,
    },
    "kimi_k25": {"text_config": {}},
    "kimi_k3": {"text_config": {**_KDA, "attn_res_block_size": 2, "activation_situ_beta": 1.0}},
    "kimi_linear": {**_KDA, "model_max_length": 2048},
    "kimi_vl": {"text_config": {}},
    "laguna": {
        "layer_types": ["full_attention", "sliding_attention"] * 2,
        "mlp_layer_types": ["dense", "sparse", "sparse", "sparse"],
        "num_attention_heads_per_layer": [4, 4, 4, 4],
        "rope_parameters": _ROPE_BY_KIND,
    },
    "lfm2": _LFM2,
    "lfm2-vl": {"text_config": _LFM2},
    "lfm2_moe": {**_LFM2, "use_expert_bias": True, "num_dense_layers": 1},
    "lille-130m": {"block_size": 2048, "n_embd": 96, "n_head": 4, "n_kv_heads": 2, "n_layer": 3},
    "llama": {},
    "llama4": {
        "text_config": {
            "attention_chunk_size": WINDOW,
            "interleave_moe_layer_step": 2,
            "intermediate_size_mlp": 64,
            "num_experts_per_tok": 1,
        }
    },
    "llama4_text": {"intermediate_size_mlp": 64, "no_rope_layers": [1, 1, 1, 0]},
    "longcat_flash": _LONGCAT,
    "longcat_flash_ngram": {**_LONGCAT, "ngram_vocab_size_ratio": 5},
    "mamba": {"state_size": 8, "time_step_rank": 4},
    "mamba2": {"num_heads": 4, "head_dim": 16, "state_size": 8, "time_step_rank": "auto"},
    "mellum": {"layer_types": _FULL_AND_SLIDING, "rope_parameters": _ROPE_BY_KIND},
    "mimo": {},
    "mimo_v2_flash": {
        "hybrid_layer_pattern": [0, 1, 1, 0],
        "moe_layer_freq": [0, 1, 1, 1],
        "add_swa_attention_sink_bias": True,
        "add_full_attention_sink_bias": False,
        "sliding_window_size": WINDOW,
        "swa_rope_theta": 10000.0,
        "swa_num_attention_heads": 4,
        "swa_num_key_value_heads": 2,
        "swa_head_dim": 8,
        "swa_v_head_dim": 8,
    },
    "minicpm": {"dim_model_base": 32, "scale_depth": 1.4, "scale_emb": 1.0},
    "minicpm3": {"dim_model_base": 32, "scale_depth": 1.4, "scale_emb": 1.0, "rope_scaling": _SU},
    "minimax": {"rotary_dim": 4},
    "minimax_m3_vl": {
        "text_config": {
            "dense_intermediate_size": 64,
            "moe_layer_freq": [0, 1, 1, 1],
            "index_block_size": 8,
            "index_topk_blocks": 2,
        }
    },
    "ministral3": {
        "layer_types": _FULL_AND_SLIDING,
        "rope_parameters": {
            **_ROPE,
            "llama_4_scaling_beta": 0.1,
            "original_max_position_embeddings": 32,
        },
    },
    "mistral": {"layer_types": _FULL_AND_SLIDING},
    "mistral3": {"text_config": {"model_type": "llama"}},
    "mistral4": {"rope_parameters": {**_YARN, "rope_theta": 10000.0, "llama_4_scaling_beta": 0.1}},
    "mixtral": {},
    "muse_glimmer": _MUSE,
    "nanbeige": {"num_loops": 2},
    "nanochat": {},
    "nemotron": {"hidden_act": "relu2"},
    "nemotron-nas": {"block_configs": [_ALLEYS, {**_ALLEYS, "attention": {"no_op": True}}, _ALLEYS, _ALLEYS]},
    "nemotron_h": {
        "hybrid_override_pattern": ["M", "*", "M", "-"],
        "mamba_num_heads": 4,
        "mamba_head_dim": 16,
        "mamba_proj_bias": False,
        "ssm_state_size": 8,
    },
    "olmo2": {},
    "olmo3": {"layer_types": _FULL_AND_SLIDING},
    "olmo_hybrid": {"layer_types": _LINEAR_AND_FULL, "linear_allow_neg_eigval": True},
    "olmoe": {},
    "openelm": {
        "num_transformer_layers": 3,
        "model_dim": 32,
        "ffn_dim_divisor": 8,
        "num_query_heads": [4, 4, 4],
        "num_kv_heads": [2, 2, 2],
        "ffn_multipliers": [1.0, 1.5, 2.0],
        "share_input_output_layers": False,
    },
    "phi": {},
    "phi3": {},
    "phi3small": {
        "vocab_size": 100352,  # it masks fixed ids
        "dense_attention_every_n_layers": 2,
        "ff_intermediate_size": 64,
        "gegelu_limit": 20.0,
        "blocksparse_block_size": 32,
        "blocksparse_num_local_blocks": 1,
        "blocksparse_vert_stride": 2,
    },
    "phimoe": {"rope_scaling": {**_SU, "short_mscale": 1.0, "long_mscale": 1.0}},
    "phixtral": {"num_vocab": VOCABULARY, "model_dim": 32, "num_heads": 4, "num_layers": 3, "rotary_dim": 4},
    "pixtral": {"text_config": {"model_type": "llama"}},
    "plamo": {"n_shared_head": 2},
    "plamo2": {
        "hidden_size_per_head": 8,
        "full_attention_idx": [1, 3],
        "mamba_num_heads": 4,
        "mamba_d_state": 8,
        "attention_window_size": WINDOW,
    },
    "plamo3": {"window_size": WINDOW, "sliding_window_pattern": 2},
    "prism_hadamard_qwen35": {
        "schema_version": 1,
        "tensor_namespace": "mlx-lm-text",
        "quantization": {"bits": 2, "group_size": 128, "mode": "affine"},
        "modules": [{"path": "model.layers.0.mlp.down_proj", "embedding": False, "dtype": "float16", "block": 0}],
        "text_config": {"num_experts": 0, "intermediate_size": 128},
    },
    "qwen": {"kv_channels": 8},
    "qwen2": {},
    "qwen2_moe": {},
    "qwen2_vl": {"text_config": {}},
    "qwen3": {},
    "qwen3_5": {"text_config": {"num_experts": 0}},
    "qwen3_5_moe": {"text_config": {}},
    "qwen3_moe": {"num_experts": 16, "num_experts_per_tok": 8},  # enough to be sorted in a wide step
    "qwen3_next": {},
    "qwen3_vl": {"text_config": {"model_type": "qwen3"}},
    "qwen3_vl_moe": {"text_config": {"model_type": "qwen3_moe"}},
    "recurrent_gemma": {
        "conv1d_width": 4,
        "logits_soft_cap": 30.0,
        "attention_window_size": WINDOW,
        "block_types": ["recurrent", "attention"],
    },
    "rwkv7": {
        "a_low_rank_dim": 8,
        "v_low_rank_dim": 8,
        "gate_low_rank_dim": 8,
        "decay_low_rank_dim": 8,
    },
    "seed_oss": {},
    "smollm3": {"layer_types": _FULL_AND_SLIDING},
    "solar_open": {},
    "spark2_5": {"layer_types": _FULL_AND_SLIDING, "rope_parameters": _ROPE_BY_KIND},
    "stablelm": {},
    "starcoder2": {},
    "step3p5": {
        "num_attention_groups": 2,
        "layer_types": _FULL_AND_SLIDING,
        "attention_other_setting": {"num_attention_heads": 4, "num_attention_groups": 2},
        "moe_num_experts": 4,
        "moe_top_k": 2,
        "share_expert_dim": 32,
        "moe_layers_enum": "1,2,3",
    },
    "talkie": {},
    "telechat3": {},
    "youtu_llm": {},
}

# Weights whose reply varies, where the usual ones happen to stutter.
SEEDS = {"cohere": 5, "gpt_neox": 4, "nanochat": 2, "olmo2": 2, "openelm": 1, "starcoder2": 7}

# Families that this machine cannot build at all, and why.
UNBUILDABLE = {
    "bitnet": "its ternary layers are Metal kernels",
    "muse_spark": "its norms are Metal kernels",
    "olmo": "needs a package of its own, and leaves the process when it is missing",
}

# Families that mlx-lm reads by another formula in a long chunk than token by token; each way by itself is kept to.
READS_OTHERWISE = {"plamo3": "a chunk sees a window of one token more than a single token does"}

# Files beside the models that are no model.
NOT_FAMILIES = {
    "activations",
    "base",
    "bitlinear_layers",
    "cache",
    "gated_delta",
    "mla",
    "pipeline",
    "rope_utils",
    "ssm",
    "switch_layers",
}

FAMILIES = tuple(_CHANGES)

# One of each kind of cache, and of each way to roll it back.
FAIR_PART = (
    "qwen3",  # plain key-value caches
    "mixtral",  # … and experts
    "gemma3_text",  # windows
    "gemma3n",  # windows that other layers look into
    "llama4",  # chunks
    "deepseek_v32",  # bundles of two key-value caches
    "iquestloopcoder",  # more caches than layers
    "qwen3_5",  # gated delta
    "kimi_linear",  # gated delta, three convolutions
    "mamba2",  # state space, alone
    "falcon_h1",  # state space, bundled
    "lfm2",  # short convolutions only
    "baichuan_m1",  # convolutions bundled with windows
    "recurrent_gemma",  # linear recurrent units and windows
    "rwkv7",  # token shifts
    "longcat_flash_ngram",  # a cache of tokens
)


def config(family: str) -> Config:
    """A fresh configuration of `family`, as its config.json would have it."""
    changes = _CHANGES[family]
    if "text_config" not in changes:
        return {**_COMMON, **changes, "model_type": family}
    text = {"model_type": family, **_COMMON, **changes["text_config"]}
    return {**_COMMON, **changes, "model_type": family, "text_config": text}
