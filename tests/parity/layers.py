"""MTP heads whose layer transformers has: its layer, or its own class for such heads, wired by hand where it has none.

transformers is given no cache: what ours keeps between rounds is compared with what follows from the whole text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mlx.core as mx
import torch
import transformers
from transformers.modeling_layers import MtpLayer
from transformers.models.longcat_flash import modeling_longcat_flash

from engine.drafting.proposers.mtp import MtpDrafter
from engine.models.access import ModelAccess
from engine.models.mtp_families import FAMILIES
from tests.helpers import tiny_heads as heads
from tests.parity.authors import chain, to_torch

_DEPTH = 5
configs: Any = transformers  # its classes take more than their signatures say
longcat: Any = modeling_longcat_flash
_MIMO = {"num_key_value_heads": 1, "swa_num_key_value_heads": 2, "attention_value_scale": 0.7}
_CALLED = {
    "attention_sink_bias": "sinks",
    "attention.": "self_attn.",
    ".dense.": ".o_proj.",
    "expert_bias": "e_score_correction_bias",
}
_PARTS = {"join": "eh_proj", "token_norm": "enorm", "state_norm": "hnorm", "norm": "post_norm"}


def layer_cases() -> Iterator[tuple[str, int, int, float]]:
    torch.set_grad_enabled(False)
    cases: dict[str, dict[str, Any]] = {
        "mimo_v2_flash": _MIMO,
        "bailing_moe_v3": {"q_lora_rank": None, "rms_norm_eps": 1e-6},
    }
    for family in ("mellum", "glm4_moe", "longcat_flash", *cases):
        changes = cases.get(family, {})
        yield f"transformers MTP, {family}", *_compared(family, changes)


def _compared(family: str, changes: dict[str, Any]) -> tuple[int, int, float]:
    main, weights = heads.build_main(family, **changes), heads.head_weights(family, **changes)
    ours = MtpDrafter(heads.parsed_head(family, weights, **changes), ModelAccess(main))
    ours.load_weights(list(ours.sanitize(weights).items()), strict=True)
    config, kind = _config(family, heads.text_of(heads.with_changes(family, **changes)))
    theirs = configs.AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
    body = theirs.get_decoder()
    layer = MtpLayer(config, _LongcatLayer if family == "longcat_flash" else type(body.layers[0]), type(body.norm), 0)
    layer.load_state_dict({name: to_torch(w) for name, w in _theirs(family, weights)}, strict=True)
    layer.eval()
    embedding, head = (to_torch(part) for part in (_embedding(main), main.lm_head.weight))
    window = FAMILIES[family].window(heads.text_of(heads.with_changes(family, **changes)))

    def logits(tokens: list[int], states: mx.array, at: int, steps: int) -> list[mx.array]:
        """What it drafts for each of the tokens behind row `at`, each from the row before it."""
        known, drafted = to_torch(states)[None], []
        for step in range(steps):
            rows = at + 1 + step
            positions = torch.arange(rows)[None]
            back = positions[0][:, None] - positions
            unseen = (back < 0) | (back >= (window or rows))
            made = layer(
                embedding[torch.tensor([tokens[:rows]])],
                known[:, :rows],
                position_embeddings=body.rotary_emb(known, positions, **kind),
                attention_mask=torch.zeros(rows, rows).masked_fill(unseen, -torch.inf)[None, None],
                position_ids=positions,
                past_key_values=None,
            )
            drafted.append(mx.array((made[0, -1:] @ head.T).numpy()))
            known = torch.cat([known[:, :rows], made[:, -1:]], dim=1)
        return drafted

    return chain(ours, logits, _DEPTH)


def _embedding(main: Any) -> mx.array:
    """Of its embedding."""
    body = main.model
    table: mx.array = (body.word_embeddings if hasattr(body, "word_embeddings") else body.embed_tokens).weight
    return table


def _config(family: str, text: dict[str, Any]) -> tuple[Any, dict[str, str]]:
    """Theirs of a main model of one layer, as the head's is, and which of several rotations it has."""
    said = {name: value for name, value in text.items() if name not in ("model_type", "layer_types", "rope_scaling")}
    said |= {"num_hidden_layers": 1}
    sliding = {"layer_types": ["sliding_attention"], "mlp_layer_types": ["dense"]}
    rope = {"rope_type": "default", "rope_theta": text["rope_theta"]}
    if family == "mellum":
        both = {"full_attention": rope, "sliding_attention": rope}
        return configs.MellumConfig(**said | sliding | {"mlp_layer_types": ["sparse"], "rope_parameters": both}), {
            "layer_type": "sliding_attention"
        }
    if family == "mimo_v2_flash":
        part = rope | {"partial_rotary_factor": text["partial_rotary_factor"]}
        known = {name: said[name] for name in ("hidden_size", "intermediate_size", "vocab_size", "num_attention_heads")}
        known |= {
            name: said[name] for name in ("num_key_value_heads", "head_dim", "v_head_dim", "attention_value_scale")
        }
        return configs.MiMoV2FlashConfig(
            **known,
            **sliding,
            num_hidden_layers=1,
            rms_norm_eps=text["layernorm_epsilon"],
            sliding_window=text["sliding_window_size"],
            rope_parameters={"full_attention": part, "sliding_attention": part},
        ), {"layer_type": "sliding_attention"}
    if family == "bailing_moe_v3":
        known = said | {"layer_types": ["full_attention"], "mlp_layer_types": ["sparse"], "rope_parameters": rope}
        return configs.BailingHybridConfig(
            **known | {"pad_token_id": None, "eos_token_id": None, "num_local_experts": said["num_experts"]}
        ), {}
    if family == "longcat_flash":
        return configs.LongcatFlashConfig(
            **said | {"num_key_value_heads": text["num_attention_heads"], "num_layers": 1}
        ), {}
    part = rope | {"partial_rotary_factor": text["partial_rotary_factor"]}
    return configs.Glm4MoeConfig(**said | {"first_k_dense_replace": 0, "rope_parameters": part}), {}


class _LongcatLayer(torch.nn.Module):  # type: ignore[misc]
    """One half of a layer of theirs, without the experts."""

    def __init__(self, config: Any, layer_idx: int) -> None:
        super().__init__()
        self.self_attn = longcat.LongcatFlashMLA(config, layer_idx)
        self.mlp = longcat.LongcatFlashMLP(config)
        self.input_layernorm = longcat.LongcatFlashRMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.post_attention_layernorm = longcat.LongcatFlashRMSNorm(config.hidden_size, eps=config.rms_norm_eps)

    def forward(self, rows: torch.Tensor, **given: Any) -> torch.Tensor:
        rows = rows + self.self_attn(hidden_states=self.input_layernorm(rows), **given)[0]
        made: torch.Tensor = rows + self.mlp(self.post_attention_layernorm(rows))
        return made


def _theirs(family: str, weights: heads.Weights) -> Iterator[tuple[str, mx.array]]:
    """The head's tensors by their names."""
    ours = FAMILIES[family].names
    named = dict(weights)
    for at in [name.removesuffix(".embed_q.weight") for name in named if name.endswith(".embed_q.weight")]:
        keys, values = named.pop(f"{at}.embed_q.weight"), named.pop(f"{at}.unembed_out.weight")
        together = mx.concatenate([keys.swapaxes(-1, -2), values], axis=1)
        named[f"{at}.kv_b_proj.weight"] = together.reshape(-1, together.shape[-1])
    for at in {name.split(".switch_mlp.")[0] for name in named if ".switch_mlp." in name}:
        gate, up, down = (named.pop(f"{at}.switch_mlp.{part}_proj.weight") for part in ("gate", "up", "down"))
        named |= {f"{at}.experts.gate_up_proj": mx.concatenate([gate, up], axis=1), f"{at}.experts.down_proj": down}
    for name, weight in named.items():
        part, _, kind = name.rpartition(".")
        place = ours.get(part, part)
        if place in _PARTS:
            yield f"{_PARTS[place]}.{kind}", weight
        else:
            own = f"{place.removeprefix('layers.0.')}.{kind}"
            for here, there in _CALLED.items():
                own = own.replace(here, there)
            yield f"mtp_block.{own}", weight
