"""Which tensors of a drafter's folder have a place in its network, by their names alone. Read without MLX.

One without a place is a missing part: a learnt mask, a norm, an attention sink. Without it the drafter would draft, but
badly. Names of an MTP head are known only by the main model's family: they are checked when it is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from engine.models.drafter_kinds import KINDS
from engine.models.drafters import AssistantConfig, BlockConfig, DrafterConfig, EagleConfig
from engine.models.model_files import Tensor

# Copies of the main model's tensors, and tables that others need: which tokens a reduced vocabulary has, and angles.
_UNUSED = re.compile(
    r"(?:(?:verifier_)?(?:embed_tokens|lm_head)|verifier_norm)\.(?:weight|scales|biases)"
    r"|[td]2[dt]|(?:[\w.]+\.)?rotary_emb\.inv_freq"
)
_ANGELSPEC = {"context_proj": "fc", "context_norm": "hidden_norm", "final_norm": "norm"}
_MUSE = {"encoder.fc": "fc", "encoder.output_norm_enc": "hidden_norm"}
_LONGEST_NAME = 100  # characters, in an error
_PACKED = re.compile(r"\.(?:scales|biases)$")
_LAYER = re.compile(r"layers\.(\d{1,4})\.(.+)")
_AROUND_LAYERS = re.compile(r"(?:fc|norm|hidden_norm)\.weight")
_AROUND_LAGUNA = re.compile(rf"{_AROUND_LAYERS.pattern}|aux_hidden_norms\.\d+\.weight")
_IN_LAYERS = (
    r"(?:(?:input|post_attention)_layernorm|self_attn\.(?:[qkvo]_proj|[qk]_norm)|mlp\.(?:gate|up|down)_proj)\.weight"
)
_OF_GEMMA = r"layer_scalar|(?:pre|post)_feedforward_layernorm\.weight"
_BIASES = r"self_attn\.[qkvo]_proj\.bias"
_SINKS = r"self_attn\.attention_sink_bias"
_OF_LAGUNA = r"self_attn\.(?:g|qkv)_proj\.weight"
_AROUND_ASSISTANT = re.compile(
    r"(?:embed_tokens|norm|(?:pre|post)_projection|masked_embedding\.centroids|lm_head)\.weight"
    r"|masked_embedding\.token_ordering"
)
_IN_ASSISTANT = f"(?!self_attn\\.(?:[kv]_proj|k_norm))(?:{_IN_LAYERS}|{_OF_GEMMA})"


def is_unused(name: str) -> bool:
    """Whether a network that has no place for it loses nothing."""
    return _UNUSED.fullmatch(name.removeprefix("model.")) is not None


def unplaced(config: DrafterConfig, tensors: Iterable[str]) -> str:
    """The first tensor without a place in drafters of the kind and with such layers; "" if there is none.

    Tensors of drafters with other sizes are found when it is loaded.
    """
    left = sorted(name for name in tensors if not is_unused(name))
    return next((name[:_LONGEST_NAME] for name in left if not _has_place(config, _plain(name))), "")


def _has_place(config: DrafterConfig, name: str) -> bool:
    if isinstance(config, BlockConfig | EagleConfig):
        own = re.compile(KINDS[config.info.kind].tensors)
        around = _AROUND_LAGUNA if isinstance(config, BlockConfig) and config.is_laguna else _AROUND_LAYERS
        layers = config.backbone.layers
        in_layers = "|".join((_IN_LAYERS, *_further_parts(config)))
    elif isinstance(config, AssistantConfig):
        own = around = _AROUND_ASSISTANT
        layers = len(config.layer_types)
        in_layers = _IN_ASSISTANT
    else:
        return True
    layer = _LAYER.fullmatch(name)
    if layer is not None and int(layer[1]) >= layers:
        return False
    in_layer = layer is not None and re.fullmatch(in_layers, layer[2]) is not None
    return in_layer or own.fullmatch(name) is not None or around.fullmatch(name) is not None


def _further_parts(config: BlockConfig | EagleConfig) -> Iterable[str]:
    if config.backbone.is_gemma:
        yield _OF_GEMMA
    if config.backbone.attention_bias:
        yield _BIASES
    if isinstance(config, BlockConfig) and config.sinks:
        yield _SINKS
    if isinstance(config, BlockConfig) and config.is_laguna:
        yield _OF_LAGUNA


def gated(config: DrafterConfig, tensors: Mapping[str, Tensor]) -> str:
    """The first query projection that includes a gate, as in Qwen3.5's layers; "" if there is none.

    By its number of rows: configs copied from a main model mention gates that the drafter does not have.
    """
    if not isinstance(config, BlockConfig | EagleConfig):
        return ""
    rows = config.backbone.heads * config.backbone.head_width
    queries = (name for name in sorted(tensors) if name.endswith("self_attn.q_proj.weight"))
    found = next((name for name in queries if tensors[name].shape[:1] == (2 * rows,)), "")
    return f"{found[:_LONGEST_NAME]} with a gate" if found else ""


def usual(name: str) -> str:
    """A tensor's name in most dialects; codebooks are plain arrays in some folders."""
    name = name.removeprefix("model.").removeprefix("logit_head.")  # of SpecForge's first ones
    part, dot, rest = name.partition(".")
    name = f"{_ANGELSPEC.get(part, part)}{dot}{rest}"
    part, dot, rest = name.rpartition(".")
    name = f"{_MUSE.get(part, part)}{dot}{rest}"
    return f"{name}.weight" if name.endswith("_codebook") else name


def _plain(name: str) -> str:
    """The usual name without packed weights."""
    return _PACKED.sub(".weight", usual(name).replace("midlayer.", "layers.0."))
