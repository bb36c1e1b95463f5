"""Which tensors of a drafter's folder its network uses, by their names alone. Read without MLX.

A tensor without a place is a missing part: a learnt mask, a norm, an attention sink. The drafter would still draft, but
badly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from engine.api.types import DrafterKind
from engine.models.drafters import AssistantConfig, Backbone, BlockConfig, DrafterConfig, EagleConfig
from engine.models.model_files import Tensor

# Copies of the main model's tensors, and tables that others need: which tokens a reduced vocabulary has, and angles.
_UNUSED = re.compile(
    r"(?:(?:verifier_)?(?:embed_tokens|lm_head)|verifier_norm)\.(?:weight|scales|biases)"
    r"|[td]2[dt]|(?:[\w.]+\.)?rotary_emb\.inv_freq"
)
_ANGELSPEC = {"context_proj": "fc", "context_norm": "hidden_norm", "final_norm": "norm"}
_MUSE = {"encoder.fc": "fc", "encoder.output_norm_enc": "hidden_norm"}
_CORRECTION = ("hidden_norm", "embed_norm", "gate_proj", "up_proj", "down_proj")
_LONGEST_NAME = 100  # characters, in an error
_PACKED = (".scales", ".biases")
_PROJECTIONS = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj")
_CONTEXT_PROJECTIONS = ("self_attn.k_proj_target", "self_attn.v_proj_target")
_MLP = ("mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")
_NORMS = ("input_layernorm", "post_attention_layernorm")
_GEMMA_NORMS = ("pre_feedforward_layernorm", "post_feedforward_layernorm")
_ASSISTANT_NORMS = (*_NORMS, *_GEMMA_NORMS, "self_attn.q_norm")
_HEAD_NORMS = ("self_attn.q_norm", "self_attn.k_norm")


def is_unused(name: str) -> bool:
    """Whether a network without a place for it loses nothing."""
    return _UNUSED.fullmatch(name.removeprefix("model.")) is not None


def unplaced(config: DrafterConfig, tensors: Iterable[str]) -> str:
    """The first tensor without a place; "" if there is none.

    Names of an MTP head are known only by the main model's family: they are checked when it is loaded.
    """
    left = sorted(name for name in tensors if not is_unused(name))
    if isinstance(config, BlockConfig):
        places = set(_block_places(config))
    elif isinstance(config, EagleConfig):
        places = set(_eagle_places(config))
    elif isinstance(config, AssistantConfig):
        places = set(_assistant_places(config))
    else:
        return ""
    return next((name[:_LONGEST_NAME] for name in left if _plain(name) not in places), "")


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
    name = usual(name).replace("midlayer.", "layers.0.")
    return next((name.removesuffix(end) + ".weight" for end in _PACKED if name.endswith(end)), name)


def _block_places(config: BlockConfig) -> Iterator[str]:
    mixes = config.info.kind in (DrafterKind.DFLARE, DrafterKind.DFLY)
    apart = config.info.kind is DrafterKind.DFLARE  # of the context
    yield from ("hidden_norm.weight", "norm.weight")
    yield from ("fc.weight",) if not apart else ()
    yield from ("layer_fusion_weights",) if mixes else ()
    for layer in range(config.backbone.layers):
        projections = (*_PROJECTIONS, *(_CONTEXT_PROJECTIONS if apart else ()))
        yield from _layer_places(f"layers.{layer}", (*_NORMS, *_HEAD_NORMS), config.backbone, projections)
        if config.sinks:
            yield f"layers.{layer}.self_attn.attention_sink_bias"
        for part in ("attention_conv", "mlp_conv") if config.convolution is not None else ():
            yield from (f"layers.{layer}.{part}.{array}" for array in ("base_kernel", "kernel_projection.weight"))
    yield from _head_places(config)


def _head_places(config: BlockConfig) -> Iterator[str]:
    """Of what makes tokens of a block's states."""
    if config.markov is not None:
        yield from (f"markov_head.{array}.weight" for array in ("markov_w1", "markov_w2"))
        if config.markov.gated:
            yield from ("markov_head.gate_proj.weight", "markov_head.gate_proj.bias")
    if config.confidence:
        yield from ("confidence_head.proj.weight", "confidence_head.proj.bias")
    if config.prefix is not None:
        yield from (f"prefix_gru.weight_{part}_l0" for part in ("ih", "hh"))
        yield from ("embed_proj.0.weight", "embed_proj.2.weight")
    elif config.correction_width:
        yield from (f"hidden_correction.{part}.weight" for part in _CORRECTION)
    if config.selector is not None:
        parts = ("hidden_projection", "predecessor_codebook", "successor_codebook")
        yield from (f"candidate_selector.{part}.weight" for part in parts)


def _eagle_places(config: EagleConfig) -> Iterator[str]:
    yield from ("fc.weight", "norm.weight", "layers.0.hidden_norm.weight")
    norms = (*_NORMS, *_HEAD_NORMS) if config.norms_of_heads else _NORMS
    for layer in range(config.backbone.layers):
        yield from _layer_places(f"layers.{layer}", norms, config.backbone)
    if config.norm_before_fc:
        yield "input_norm.weight"
    if config.info.kind is DrafterKind.PEAGLE:
        yield "mask_hidden"
    if config.norms_of_layers:
        yield from (f"fc_norm.{layer}.weight" for layer in range(len(config.info.layers) or 3))


def _assistant_places(config: AssistantConfig) -> Iterator[str]:
    yield from ("embed_tokens.weight", "norm.weight", "pre_projection.weight", "post_projection.weight")
    parts = (*_ASSISTANT_NORMS, "self_attn.q_proj", "self_attn.o_proj", *_MLP)
    for layer in range(len(config.layer_types)):
        yield f"layers.{layer}.layer_scalar"
        yield from (f"layers.{layer}.{part}.weight" for part in parts)
    if config.clusters:
        yield from ("masked_embedding.centroids.weight", "masked_embedding.token_ordering")
    if config.own_head:
        yield "lm_head.weight"


def _layer_places(
    at: str, norms: tuple[str, ...], sizes: Backbone, projected: tuple[str, ...] = _PROJECTIONS
) -> Iterator[str]:
    projections = [part for part in projected if not (sizes.values_are_keys and part == "self_attn.v_proj")]
    if sizes.is_gemma:
        norms = (*norms, *_GEMMA_NORMS)
        yield f"{at}.layer_scalar"
    yield from (f"{at}.{part}.weight" for part in (*norms, *projections, *_MLP))
    yield from (f"{at}.{part}.bias" for part in projections if sizes.attention_bias)
