"""Whether a model runs over ranks in tensor mode or as a pipeline: by its files, by what the machines are, by speed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from engine.api.modes import LEAST_GAIN, ModeChoice, ModeReason, RankMode
from engine.machines.computers import Computer
from engine.models.inspect import read_config, text_tensors
from engine.models.model_files import JsonObject, Tensor, object_at, whole

# Families whose layers mlx-lm divides; a test compares this with its code.
SHARDED = frozenset(
    (
        *("deepseek_v2", "deepseek_v3", "deepseek_v32", "deepseek_v41", "exaone_moe", "glm4_moe", "glm4_moe_lite"),
        *("glm_moe_dsa", "gpt_oss", "iquestloopcoder", "kimi_k25", "kimi_k3", "llama", "longcat_flash"),
        *("longcat_flash_ngram", "minimax", "minimax_m3_vl", "ministral3", "mistral4", "prism_hadamard_qwen35"),
        *("qwen2", "qwen3", "qwen3_5", "qwen3_5_moe", "qwen3_moe", "solar_open", "step3p5"),
    )
)
# Of these, families that have been tried over three: each has a test.
BY_THREE = frozenset({"gpt_oss", "llama", "qwen2", "qwen3", "qwen3_moe"})
_HEADS = "num_attention_heads", "num_key_value_heads"
_SUMMED = "o_proj", "out_proj", "down_proj", "o_b_proj"  # matrices that are divided within their rows
_EXPERTS = "num_experts", "n_routed_experts", "num_local_experts"
_CHOSEN = "num_experts_per_tok", "num_experts_per_token", "moe_topk"
_SUMS_A_LAYER = 2


def family_problem(family: str, ranks: int, config: JsonObject, tensors: Mapping[str, Tensor]) -> ModeReason | None:
    """What in the model's files, or in the number of ranks, excludes tensor mode."""
    if family not in SHARDED:
        return ModeReason.FAMILY
    if ranks != 2 and (ranks != 3 or family not in BY_THREE):
        return ModeReason.RANKS
    text = _text(config)
    rows = (tensor.shape[-1] for name, tensor in tensors.items() if _is_summed(name) and tensor.shape)
    divided = (*(whole(text, name, ranks) for name in _HEADS), *rows)
    return ModeReason.DIVISION if any(number % ranks for number in divided) else None


def link_problem(ranks: int, computers: Sequence[Computer]) -> ModeReason | None:
    """What in the machines excludes it."""
    if ranks != 2:
        return ModeReason.RANKS
    if len(computers) != 2 or not all(each.rdma for each in computers):
        return ModeReason.LINK
    here, there = computers
    if here.chip != there.chip:
        return ModeReason.CHIPS
    return ModeReason.SYSTEMS if here.system != there.system else None


def measured(choice: ModeChoice, folder: str, layers: int, sum_s: float, bytes_s: int) -> ModeChoice:
    """The choice once ranks have joined; what was asked for stays, whatever it takes."""
    forward_s = _forward_bytes(Path(folder)) / max(1, bytes_s)
    sums_s = _SUMS_A_LAYER * layers * sum_s
    if choice.reason is not ModeReason.ASKED and forward_s < LEAST_GAIN * sums_s:
        return ModeChoice(RankMode.PIPELINE, ModeReason.SUMS, forward_s, sums_s)
    return replace(choice, forward_s=forward_s, sums_s=sums_s)


def _is_summed(name: str) -> bool:
    parts = ["", *name.split(".")]
    return parts[-2] in _SUMMED and parts[-1] in {"weight", "scales"}


def _forward_bytes(folder: Path) -> int:
    """Of weights that a forward of one token reads: of experts only those that a token goes to."""
    text = _text(read_config(folder))
    experts = max((whole(text, name, 0) for name in _EXPERTS), default=0)
    chosen = max((whole(text, name, 0) for name in _CHOSEN), default=0)
    share = chosen / experts if 0 < chosen < experts else 1.0
    read = (
        (tensor.end - tensor.begin) * (share if {"experts", "switch_mlp"} & {*name.split(".")} else 1.0)
        for name, tensor in text_tensors(folder).items()
    )
    return int(sum(read))


def _text(config: JsonObject) -> JsonObject:
    return {**config, **object_at(config, "text_config")}
