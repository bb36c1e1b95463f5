"""The heads for multi-token prediction that main models were trained with: a row a family. Names only, no MLX.

A head combines the embedding of a token with the main model's state before it, and feeds that to an ordinary layer of
the family. Its tensors are in the main model's own repository, where mlx-lm skips them, or in a folder of their own.

Not supported:
- deepseek_v41, kimi_k3, kimi_linear, bailing_moe_linear, longcat_flash_ngram, minimax_m3_vl: no folder with a head, or
  no layout of it, was available to check; a wrong one shows only in a lower accept rate
- minimax: configs mention heads, but no published folder has their tensors
- prism_hadamard_qwen35: its weights are packed, and no packed head was available
- deepseek_v4, glm5_next, hy_v4, inkling, qwen4_exp: mlx-lm 0.32.2 has no such main model

gemma4 and gemma4_text have assistants instead (`AssistantConfig`); kimi_k25 is handled by its text part, deepseek_v3.
All other main models of mlx-lm 0.32.2 are published without a head; the tests have their names.

Of families with several heads, one a depth (step3p5, mimo_v2_flash), the first drafts at every depth.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from engine.models.families import SAME_AS

_SPECULATORS = {  # their name for the head of any main model, in a folder of its own
    "input_proj": "join",
    "token_layernorm": "token_norm",
    "hidden_layernorm": "state_norm",
    "final_layernorm": "norm",
}


@dataclass(frozen=True, slots=True)
class MtpFamily:
    """Where a head's tensors are, and their names.

    "#" is the head's number: after "layers." it continues the main model's layers, else it begins at 0.
    """

    prefixes: tuple[str, ...]  # in the main model's repository
    own_prefixes: tuple[str, ...]  # in a folder of its own; "": none
    names: Mapping[str, str]  # of tensors outside ordinary layers, with their names here
    layers: tuple[str, ...] = ("layers.0.",)  # what precedes an ordinary layer's names; "": nothing
    changes: Callable[[Mapping[str, Any]], dict[str, Any]] = dict  # to the main model's config, for the head
    state_first: bool = False  # it concatenates the state, then the embedding
    zero_centred: bool = False  # norms of raw shards are stored minus 1; raw shards have untransposed convolutions
    mask_array: bool = False  # its attention adds the mask
    before_norm: bool = False  # its input and output states are not normalized
    main_norm: bool = False  # it uses the main model's last norm
    raw_mark: str = ""  # occurs only in tensor names of raw shards, where norms are stored minus 1
    window: Callable[[Mapping[str, Any]], int] = lambda config: 0  # of its layer's attention, in tokens; 0: none
    left_out: bool = True  # mlx-lm drops the head's tensors from the main model
    factors: Callable[[Mapping[str, Any]], dict[str, float]] = dict  # of its layer's weights, by ends of names


_QWEN = MtpFamily(
    prefixes=("mtp.", "language_model.mtp."),
    own_prefixes=("mtp_layers.#.", "mtp.", ""),
    names={
        "fc": "join",
        "pre_fc_norm_embedding": "token_norm",
        "pre_fc_norm_hidden": "state_norm",
        "norm": "norm",
        "embed_tokens": "embed_tokens",
        "lm_head": "lm_head",
        **_SPECULATORS,
    },
    layers=("layers.0.", ""),
    changes=lambda config: {"num_hidden_layers": 1, "full_attention_interval": 1},
    zero_centred=True,
)
_DEEPSEEK = MtpFamily(
    prefixes=("layers.#.",),
    own_prefixes=("layers.#.", "mtp.", ""),
    names={
        "eh_proj": "join",
        "enorm": "token_norm",
        "hnorm": "state_norm",
        "shared_head.norm": "norm",
        "shared_head_norm": "norm",
        "shared_head.head": "lm_head",
        "lm_head": "lm_head",
        "embed_tokens": "embed_tokens",
    },
    layers=("mtp_block.", ""),
    changes=lambda config: {"num_hidden_layers": 1, "first_k_dense_replace": 0},
    mask_array=True,
)
_QWEN3 = MtpFamily(
    prefixes=("mtp_layers.#.",),
    own_prefixes=("mtp_layers.#.", ""),
    names=_SPECULATORS,
    layers=("",),
    changes=lambda config: {"num_hidden_layers": 1},
)
_MIMO = replace(_QWEN3, state_first=True)


def _nemotron_layers(config: Mapping[str, Any]) -> dict[str, Any]:
    """An attention and an expert layer, in the config's order."""
    said = config.get("mtp_hybrid_override_pattern") or config.get("mtp_layers_block_type") or "*E"
    marks = {"attention": "*", "full_attention": "*", "moe": "E"}
    pattern = [marks.get(str(part), str(part)) for part in said]
    if sorted(pattern) != ["*", "E"]:
        raise ValueError(f"config.json: mtp_hybrid_override_pattern {str(said)[:40]}")
    return {"num_hidden_layers": 2, "hybrid_override_pattern": pattern, "layers_block_type": None, "layer_types": None}


_NEMOTRON = MtpFamily(
    prefixes=("mtp.",),
    own_prefixes=("mtp.", ""),
    names={
        "layers.0.eh_proj": "join",
        "layers.0.enorm": "token_norm",
        "layers.0.hnorm": "state_norm",
        "layers.1.final_layernorm": "norm",
    },
    changes=_nemotron_layers,
)


def _exaone_layer(config: Mapping[str, Any]) -> dict[str, Any]:
    """A layer without experts. A full one beside sliding layers has no rotations, so the list has the main model's."""
    kind = next(iter(config.get("mtp_layer_types") or ()), "full_attention")
    if kind != "full_attention":
        raise ValueError(f"config.json: mtp_layer_types {str(kind)[:40]}")
    return {"num_hidden_layers": 1, "layer_types": [kind, *config["layer_types"]], "is_moe_layer": [False]}


_EXAONE = replace(_QWEN, prefixes=("mtp.",), changes=_exaone_layer, zero_centred=False)
# As its authors train it. vLLM feeds it normed states, and has no norm before the head.
_ERNIE = MtpFamily(
    prefixes=("mtp_",),
    own_prefixes=("mtp_", ""),
    names={"linear_proj.0": "join", "emb_norm.0": "token_norm", "hidden_norm.0": "state_norm"},
    layers=("block.0.",),
    changes=lambda config: {"num_hidden_layers": 1, "moe_layer_start_index": 1},  # without experts
    before_norm=True,
    main_norm=True,
)


def _mellum_kind(config: Mapping[str, Any]) -> str:
    return str(next(iter(config.get("mtp_layer_types") or ()), "sliding_attention"))


_MELLUM = replace(
    _EXAONE,
    # The list has the other kind because the family looks for a layer with full attention.
    changes=lambda config: {"num_hidden_layers": 1, "layer_types": [_mellum_kind(config), "full_attention"]},
    window=lambda config: int(config["sliding_window"]) if _mellum_kind(config) == "sliding_attention" else 0,
    left_out=False,
)
_LING = MtpFamily(
    prefixes=("layers.#.",),
    own_prefixes=("layers.#.", "mtp.", ""),
    names={"eh_proj": "join", "enorm": "token_norm", "hnorm": "state_norm", "final_layernorm": "norm"},
    layers=("",),
    changes=lambda config: {"num_hidden_layers": 1, "first_k_dense_replace": 0, "norm_head": False},
)
_LING_HYBRID = replace(
    _LING,
    changes=lambda config: {"num_hidden_layers": 1, "first_k_dense_replace": 0, "layer_group_size": 1},
    mask_array=True,
)
_MIMO_V2 = MtpFamily(
    prefixes=("mtp.layers.#.",),
    own_prefixes=("mtp.layers.#.", ""),
    names={**_LING.names, "pre_mlp_layernorm": "layers.0.post_attention_layernorm"},
    layers=("",),
    # A sliding layer without experts; the pattern has the other kind because the family looks for one of each.
    changes=lambda config: {"num_hidden_layers": 1, "hybrid_layer_pattern": [1, 0], "moe_layer_freq": [0]},
    window=lambda config: int(config["sliding_window_size"]),
)


def _longcat_layer(config: Mapping[str, Any]) -> dict[str, Any]:
    """A DeepSeek layer, unlike those of its own family, which have two attentions and experts."""
    return {
        "model_type": "deepseek_v3",
        "num_hidden_layers": 1,
        "n_routed_experts": None,
        "intermediate_size": config["ffn_hidden_size"],
    }


def _longcat_factors(config: Mapping[str, Any]) -> dict[str, float]:
    """Factors of the queries and the latent rows in its family, which are linear in these norms' weights."""
    parts = (
        ("q_a_layernorm", "mla_scale_q_lora", "q_lora_rank"),
        ("kv_a_layernorm", "mla_scale_kv_lora", "kv_lora_rank"),
    )
    return {
        f"{norm}.weight": float(config["hidden_size"] / config[rank]) ** 0.5
        for norm, scaled, rank in parts
        if config.get(scaled) and config.get(rank)
    }


_LONGCAT = MtpFamily(
    prefixes=("mtp.layers.#.", "mtp."),
    own_prefixes=("mtp.layers.#.", "mtp.", ""),
    names={
        "eh_proj": "join",
        "enorm.m": "token_norm",
        "hnorm.m": "state_norm",
        "norm": "norm",
        "embed_tokens": "embed_tokens",
    },
    layers=("transformer_layer.", ""),
    changes=_longcat_layer,
    mask_array=True,
    factors=_longcat_factors,
)


def _step_layer(config: Mapping[str, Any]) -> dict[str, Any]:
    """A layer without experts; its lists continue after the main model's layers."""
    at = int(config["num_hidden_layers"])
    lists = ("layer_types", "rope_theta", "partial_rotary_factors", "swiglu_limits", "swiglu_limits_shared")
    found = {name: config[name] for name in lists if isinstance(config.get(name), list)}
    return {
        "num_hidden_layers": 1,
        "moe_layers_enum": "",
        **{name: each[at : at + 1] or each[-1:] for name, each in found.items()},
    }


def _step_window(config: Mapping[str, Any]) -> int:
    kinds = _step_layer(config).get("layer_types", ["sliding_attention"])
    return int(config.get("sliding_window", 512)) if kinds == ["sliding_attention"] else 0


_STEP = MtpFamily(
    prefixes=("layers.#.",),
    own_prefixes=("layers.#.", "mtp.", ""),
    names={
        "eh_proj": "join",
        "enorm": "token_norm",
        "hnorm": "state_norm",
        "transformer.shared_head.norm": "norm",
        "shared_head.norm": "norm",
        "transformer.shared_head.output": "lm_head",
        "shared_head.output": "lm_head",
        "shared_head.head": "lm_head",
    },
    layers=("transformer.", "mtp_block.", ""),
    changes=_step_layer,
    zero_centred=True,
    before_norm=True,
    raw_mark=".moe.",
    window=_step_window,
)
FAMILIES: dict[str, MtpFamily] = {
    "qwen3": _QWEN3,
    "qwen3_next": replace(_QWEN, left_out=False),  # those of a converted folder are not
    "qwen3_5": _QWEN,
    "qwen3_5_moe": _QWEN,
    "deepseek_v3": replace(_DEEPSEEK, left_out=False),  # layer 61 alone is
    "glm4_moe": _DEEPSEEK,
    "glm4_moe_lite": _DEEPSEEK,
    "deepseek_v32": _DEEPSEEK,
    "glm_moe_dsa": _DEEPSEEK,
    "mimo": _MIMO,
    "nemotron_h": _NEMOTRON,
    "ernie4_5_moe": _ERNIE,
    "exaone_moe": _EXAONE,
    "mellum": _MELLUM,
    "bailing_moe": replace(_LING, left_out=False),
    "bailing_hybrid": _LING_HYBRID,
    "bailing_moe_v3": _LING_HYBRID,
    "mimo_v2_flash": _MIMO_V2,
    "longcat_flash": _LONGCAT,
    "step3p5": _STEP,
}


def family_of(model_type: str, config: Mapping[str, Any]) -> str:
    """The name of the family of a main model's text part, known here or not."""
    inner = _family_name(str(config.get("model_type") or model_type))
    name = inner if inner in FAMILIES else _family_name(model_type)
    return "qwen3_5_moe" if name == "qwen3_5" and config.get("num_experts") else name


def _family_name(model_type: str) -> str:
    name = model_type.removesuffix("_mtp").removesuffix("_text")
    return name if name in FAMILIES else SAME_AS.get(name, name)


def head_to_leave_out(config: Mapping[str, Any]) -> Callable[[str], bool] | None:
    """The tensors of a main model's folder that mlx-lm would load although they are a head's; None if it drops them."""
    family = FAMILIES.get(family_of(str(config.get("model_type", "")), config))
    layers = config.get("num_hidden_layers")
    if family is None or family.left_out or type(layers) is not int:
        return None
    return lambda name: _head_and_name(family, name, layers, in_main=True) is not None


def own_name(family: MtpFamily, name: str, layers: int, *, in_main: bool) -> str | None:
    """The name here of tensor `name` of a folder; None if it is not the first head's.

    `layers`: number of the main model's layers.
    """
    found = _head_and_name(family, name, layers, in_main=in_main)
    return _renamed(family, found[1]) if found is not None and found[0] == 0 else None


def _head_and_name(family: MtpFamily, name: str, layers: int, *, in_main: bool) -> tuple[int, str] | None:
    """The number of the head that a tensor belongs to, and its name in that head."""
    name = name.removeprefix("model.")
    for prefix in family.prefixes if in_main else family.own_prefixes:
        before, numbered, _ = prefix.partition("#.")
        if not numbered and name.startswith(prefix):
            return 0, name.removeprefix(prefix)
        if numbered and (match := re.fullmatch(rf"{re.escape(before)}(\d{{1,6}})\.(.+)", name)):
            number = int(match[1]) - (layers if before == "layers." else 0)
            if number >= 0:
                return number, match[2]
    return None


def _renamed(family: MtpFamily, name: str) -> str:
    part, _, kind = name.rpartition(".")
    if part in family.names:
        return f"{family.names[part]}.{kind}"
    for before in family.layers:
        if name.startswith(before):
            return f"layers.0.{name.removeprefix(before)}"
    return name
