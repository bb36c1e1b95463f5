"""Folders of drafters for a tiny main model: random weights under the names in which each dialect publishes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten

from engine.drafting.drafters import network_class
from engine.models.drafter_kinds import drafter_config
from engine.models.drafters import BlockConfig

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512}
WIDTH, MAIN_LAYERS, VOCABULARY = 64, 2, 288
_ANGELSPEC = {"fc": "context_proj", "hidden_norm": "context_norm", "norm": "final_norm"}
_MUSE = {"fc": "fc", "hidden_norm": "output_norm_enc"}
REDUCED = 96  # rows of a reduced vocabulary
SIZES: dict[str, Any] = {
    "hidden_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "intermediate_size": 96,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": 2048,
}


def dflash_config(**changes: Any) -> dict[str, Any]:
    """As z-lab publishes them."""
    block = {"mask_token_id": 260, "target_layer_ids": [0, 1]}
    return {
        "architectures": ["DFlashDraftModel"],
        "model_type": "qwen3",
        "block_size": 6,
        "num_target_layers": MAIN_LAYERS,
        "dflash_config": block,
        **SIZES,
        **changes,
    }


def muse_config(**changes: Any) -> dict[str, Any]:
    """As Meta publishes one for Muse Glimmer."""
    sliding = {"layer_types": ["sliding_attention"] * SIZES["num_hidden_layers"], "sliding_window": 9}
    rope = {"rope_parameters": {"rope_theta": 500_000.0, "rope_type": "default"}}
    classes = {"architectures": ["MuseGlimmerAssistantModel"], "model_type": "muse_glimmer_assistant"}
    return dflash_config(**classes, **sliding, **rope, **changes)


def laguna_config(**changes: Any) -> dict[str, Any]:
    """As Poolside publishes one for Laguna: which layers it reads is said twice, by their outputs and by inputs."""
    sliding = {"layer_types": ["sliding_attention"] * SIZES["num_hidden_layers"], "sliding_window": 9}
    read = {"target_layer_ids": [0, 1], "num_target_layers": MAIN_LAYERS, "causal": True}
    said = {"model_type": "laguna", "gating": "per-head", "eagle_aux_hidden_state_layer_ids": [1, 2]}
    block = {"block_size": 6, "mask_token_id": 260, **read}
    return dflash_config(**{**said, **sliding, "draft_vocab_size": VOCABULARY, "dflash_config": block, **changes})


def in_one_product(weights: dict[str, mx.array]) -> dict[str, mx.array]:
    """With each layer's queries, keys and values in one."""
    joined = {}
    for name in [name for name in weights if ".q_proj." in name]:
        parts = [weights.pop(name.replace(".q_proj.", f".{part}_proj.")) for part in "qkv"]
        joined[name.replace(".q_proj.", ".qkv_proj.")] = mx.concatenate(parts)
    return weights | joined


def dspark_config(**changes: Any) -> dict[str, Any]:
    """As DeepSpec publishes them: all in one object, and the first row of a block drafts."""
    return {
        "architectures": ["Qwen3DSparkModel"],
        "model_type": "qwen3",
        "block_size": 5,
        "mask_token_id": 260,
        "target_layer_ids": [0, 1],
        "markov_rank": 8,
        "markov_head_type": "vanilla",
        "enable_confidence_head": True,
        "confidence_head_with_markov": True,
        **SIZES,
        **changes,
    }


def nemotron_block_config(**changes: Any) -> dict[str, Any]:
    """As NVIDIA publishes them: one flag makes all layers slide, and each head of theirs has a sink."""
    block: dict[str, Any] = {"use_swa": True, "swa_window_size": 9, "causal": True, "mask_token_id": 260}
    block |= {"target_layer_ids": [0, 1], "attention_sink_bias": True, "sample_from_anchor": False}
    noise = {"attention_sink_bias": True, "dspark_bonus_anchor": True, "enable_confidence_head": False}
    return dspark_config(**{"block_size": 6, "sample_from_anchor": False, "dflash_config": block, **noise, **changes})


def dflash2_config(**changes: Any) -> dict[str, Any]:
    block = {
        "block_size": 6,
        "mask_token_id": 260,
        "target_layer_ids": [0, 1],
        "conv_kernel_size": 2,
        "conv_group_size": 16,
        "selector_rank": 8,
        "selector_top_k": 128,
        "final_logit_softcapping": 20.0,
        "output_multiplier": 1.5,
    }
    return {
        "architectures": ["DFlash2DraftModel"],
        "model_type": "qwen3",
        "num_target_layers": MAIN_LAYERS,
        "is_causal": False,
        "layer_types": ["sliding_attention"] * 2,
        "sliding_window": 16,
        "dflash_config": block,
        **SIZES,
        **changes,
    }


def dfly_config(**changes: Any) -> dict[str, Any]:
    """As AngelSpec publishes them."""
    return {
        "architectures": ["Qwen3DFlyModel"],
        "model_type": "qwen3",
        "block_size": 6,
        "mask_token_id": 260,
        "num_target_layers": 2,
        "target_num_hidden_layers": MAIN_LAYERS,
        "target_hidden_size": WIDTH,
        "target_layer_ids": [0, 1],
        "enable_hidden_correction": True,
        "hidden_correction_intermediate_size": None,
        **SIZES,
        **changes,
    }


def dflare_config(**changes: Any) -> dict[str, Any]:
    """As AngelSpec publishes them."""
    said = dfly_config(architectures=["DFlashDraftModel"], model_arch="dflare")
    return {key: value for key, value in said.items() if "correction" not in key} | changes


def domino_config(**changes: Any) -> dict[str, Any]:
    """As SpecForge publishes them."""
    said = {"projector_type": "domino", "emb_dim": 24, "gru_hidden_dim": 40, "pure_draft_prefix_len": 1}
    return _with_head("DominoDraftModel", {**said, "shift_label": True}, changes)


def _with_head(name: str, said: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A DFlash of that class; its head's entries in `dflash_config` as `changes` has them."""
    block = dflash_config()["dflash_config"] | {key: changes.pop(key, value) for key, value in said.items()}
    return dflash_config(architectures=[name], dflash_config=block, **changes)


GEMMA_LAYERS: dict[str, Any] = {  # as DeepSpec has them: the main model's config, of which the full layers count
    "model_type": "gemma4_text",
    "global_head_dim": 32,
    "num_global_key_value_heads": 1,
    "attention_k_eq_v": True,
    "hidden_activation": "gelu_pytorch_tanh",
    "final_logit_softcapping": 30.0,
    "rope_parameters": {
        "full_attention": {"partial_rotary_factor": 0.25, "rope_theta": 1_000_000.0, "rope_type": "proportional"},
        "sliding_attention": {"rope_theta": 10_000.0, "rope_type": "default"},
    },
}


def gemma_block_config(**changes: Any) -> dict[str, Any]:
    layers = GEMMA_LAYERS | {"layer_types": ["full_attention"] * SIZES["num_hidden_layers"]}
    return dspark_config(**{"architectures": ["Gemma4DSparkModel"], **layers, **changes})


def gemma_eagle_config(**changes: Any) -> dict[str, Any]:
    return {
        "architectures": ["Gemma4Eagle3Model"],
        **SIZES,
        **GEMMA_LAYERS,
        "num_hidden_layers": 1,
        "layer_types": ["full_attention"],
        "target_layer_ids": [0, 1, 1],
        "draft_vocab_size": VOCABULARY,
        **changes,
    }


def _of_gemma(flat: dict[str, Any]) -> dict[str, Any]:
    """With the sizes of the layers that a drafter has."""
    if "global_head_dim" not in flat:
        return flat
    heads = flat["num_global_key_value_heads" if flat["attention_k_eq_v"] else "num_key_value_heads"]
    return flat | {"head_dim": flat["global_head_dim"], "num_key_value_heads": heads}


def _gemma_shapes(at: str, flat: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Of a layer, from those of an ordinary one."""
    if "global_head_dim" not in flat:
        return shapes
    width = (flat["hidden_size"],)
    norms = {f"{at}.{part}_feedforward_layernorm.weight": width for part in ("pre", "post")}
    left = {name: shape for name, shape in shapes.items() if not (flat["attention_k_eq_v"] and "v_proj" in name)}
    return left | norms | {f"{at}.layer_scalar": (1,)}


def speculators_block_config(kind: str, **changes: Any) -> dict[str, Any]:
    """As speculators publishes them, with a reduced vocabulary."""
    heads = (
        {"markov_rank": 8, "markov_head_type": "vanilla", "enable_confidence_head": True} if kind == "dspark" else {}
    )
    return {
        "architectures": ["DSparkSpeculator" if kind == "dspark" else "DFlashSpeculator"],
        "speculators_model_type": kind,
        "draft_vocab_size": REDUCED,
        "block_size": 6,
        "mask_token_id": 260,
        "aux_hidden_state_layer_ids": [1, 2],
        "transformer_layer_config": {**SIZES, "model_type": "qwen3"},
        **heads,
        **changes,
    }


def block_weights(config: dict[str, Any], seed: int = 5) -> dict[str, mx.array]:
    """Random ones under the names that its publishers use; shapes are those of the network."""
    parsed = drafter_config(config)
    assert isinstance(parsed, BlockConfig)
    no_main: Any = None  # only its forwards use one
    parts: list[tuple[str, Any]] = tree_flatten(network_class(parsed)(parsed, no_main).parameters())  # type: ignore[assignment]
    shapes = {name: part.shape for name, part in parts}
    reduced = shapes.pop("d2t", None)
    mx.random.seed(seed)
    weights = {_published(name, config): random_weight(name, shape) for name, shape in shapes.items()}
    return weights | (_reduction(*reduced) if reduced is not None else {})


def _published(name: str, config: dict[str, Any]) -> str:
    if name.endswith("_codebook.weight"):
        return name.removesuffix(".weight")
    part, dot, rest = name.partition(".")
    if config.get("model_type") == "muse_glimmer_assistant":
        return f"encoder.{_MUSE[part]}{dot}{rest}" if part in _MUSE else name
    return f"{_ANGELSPEC.get(part, part)}{dot}{rest}" if "target_num_hidden_layers" in config else name


def eagle_config(**changes: Any) -> dict[str, Any]:
    """As speculators publishes them, with a reduced vocabulary."""
    layer = {**SIZES, "num_hidden_layers": 1, "model_type": "llama"}
    return {
        "architectures": ["Eagle3Speculator"],
        "speculators_model_type": "eagle3",
        "draft_vocab_size": REDUCED,
        "eagle_aux_hidden_state_layer_ids": [1, 2, 2],
        "transformer_layer_config": {**layer, **changes.pop("layer", {})},
        **changes,
    }


def eagle_author_config(**changes: Any) -> dict[str, Any]:
    """As SafeAILab and AngelSlim publish them."""
    return {
        "architectures": ["LlamaForCausalLMEagle3"],
        "model_type": "llama",
        "draft_vocab_size": REDUCED,
        "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 2, 2]},
        **SIZES,
        "num_hidden_layers": 1,
        **changes,
    }


def peagle_config(**changes: Any) -> dict[str, Any]:
    """As speculators publishes them, with an embedding of their own."""
    methods = [{"proposal_type": "greedy", "speculative_tokens": 5}]
    said = {"speculators_model_type": "peagle", "architectures": ["PEagleSpeculator"], "mask_token_id": 260}
    said |= {"speculators_config": {"algorithm": "peagle", "proposal_methods": methods}}
    return eagle_config(layer={"num_hidden_layers": 2, **changes.pop("layer", {})}, **said, **changes)


def peagle_served_config(**changes: Any) -> dict[str, Any]:
    """As vLLM serves them: all in one object, and the mask by another name."""
    return eagle_author_config(**{"ptd_token_id": 260, "num_hidden_layers": 2, **changes})


def peagle_weights(config: dict[str, Any], seed: int = 5, *, head_norms: bool = False) -> dict[str, mx.array]:
    weights, flat = eagle_weights(config, seed, head_norms=head_norms), config.get("transformer_layer_config", config)
    weights["embed_tokens.weight"] = random_weight("embed_tokens", (flat["vocab_size"], flat["hidden_size"]))
    weights["mask_hidden"] = mx.random.normal((1, 1, weights["fc.weight"].shape[1]))
    return weights


def eagle_weights(config: dict[str, Any], seed: int = 5, *, head_norms: bool = False) -> dict[str, mx.array]:
    mx.random.seed(seed)
    flat = _of_gemma({**config, **config.get("transformer_layer_config", {})})
    width, read = flat["hidden_size"], flat.get("target_hidden_size", WIDTH)
    drafted = flat["draft_vocab_size"]
    first = "midlayer" if config["architectures"] == ["LlamaForCausalLMEagle3"] else "layers.0"
    shapes: dict[str, tuple[int, ...]] = {
        "fc.weight": (width, 3 * read),
        "norm.weight": (width,),
        "lm_head.weight": (drafted, width),
        f"{first}.hidden_norm.weight": (width,),
    }
    for layer in range(flat["num_hidden_layers"]):
        at, fed = (first, 2 * width) if layer == 0 else (f"layers.{layer}", width)
        shapes |= _gemma_shapes(at, flat, _layer_shapes(at, flat, fed, head_norms=head_norms))
    if flat.get("norm_before_fc"):
        shapes["input_norm.weight"] = (3 * read,)
    if flat.get("fc_norm"):
        shapes |= {f"fc_norm.{part}.weight": (read,) for part in range(3)}
    if width != read:
        shapes["embed_tokens.weight"] = (flat["vocab_size"], width)
    weights = {name: random_weight(name, shape) for name, shape in shapes.items()}
    weights["lm_head.weight"] = 3 * weights["lm_head.weight"]
    return weights | (_reduction(drafted, flat["vocab_size"]) if drafted != flat["vocab_size"] else {})


def _reduction(drafted: int, vocabulary: int = VOCABULARY) -> dict[str, mx.array]:
    """Which tokens the rows of a reduced vocabulary are."""
    kept: list[int] = mx.sort(mx.random.permutation(vocabulary)[:drafted]).tolist()  # type: ignore[assignment]
    return {
        "d2t": mx.array(kept, dtype=mx.int64) - mx.arange(drafted),
        "t2d": mx.array([token in kept for token in range(vocabulary)]),
    }


def _layer_shapes(at: str, flat: dict[str, Any], fed: int, *, head_norms: bool) -> dict[str, tuple[int, ...]]:
    width, head, mlp = flat["hidden_size"], flat["head_dim"], flat["intermediate_size"]
    queries, keys = flat["num_attention_heads"] * head, flat["num_key_value_heads"] * head
    shapes: dict[str, tuple[int, ...]] = {
        f"{at}.input_layernorm.weight": (width,),
        f"{at}.post_attention_layernorm.weight": (width,),
        f"{at}.self_attn.q_proj.weight": (queries, fed),
        f"{at}.self_attn.k_proj.weight": (keys, fed),
        f"{at}.self_attn.v_proj.weight": (keys, fed),
        f"{at}.self_attn.o_proj.weight": (width, queries),
        f"{at}.mlp.gate_proj.weight": (mlp, width),
        f"{at}.mlp.up_proj.weight": (mlp, width),
        f"{at}.mlp.down_proj.weight": (width, mlp),
    }
    if head_norms:
        shapes |= {f"{at}.self_attn.{part}_norm.weight": (head,) for part in ("q", "k")}
    return shapes


def random_weight(name: str, shape: tuple[int, ...]) -> mx.array:
    values = mx.random.normal(shape)
    if "norm" in name or "scalar" in name:
        return 1 + 0.3 * values
    return mx.array(1.5 / shape[-1] ** 0.5) * values


def save_drafter(folder: Path, config: dict[str, Any], weights: dict[str, mx.array]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def _fitting(config: dict[str, Any], main: dict[str, Any]) -> dict[str, Any]:
    """`config` for a main model with that config."""
    sizes = {"hidden_size": main["hidden_size"], "target_hidden_size": main["hidden_size"]}
    sizes["vocab_size"] = main.get("vocab_size", VOCABULARY)
    own = "target_num_hidden_layers" if "target_num_hidden_layers" in config else "num_target_layers"
    return config | sizes | {own: main["num_hidden_layers"]}


KINDS: dict[str, tuple[Any, Any]] = {
    "dflash": (dflash_config, block_weights),
    "dspark": (dspark_config, block_weights),
    "dflash2": (dflash2_config, block_weights),
    "dfly": (dfly_config, block_weights),
    "dflare": (dflare_config, block_weights),
    "domino": (domino_config, block_weights),
    "eagle3": (eagle_author_config, eagle_weights),
    "peagle": (peagle_served_config, peagle_weights),
}


def save_kind(kind: str, folder: Path, main: dict[str, Any]) -> Path:
    """A drafter of that kind, with random weights, for a main model with the config `main`."""
    config_of, weights_of = KINDS[kind]
    config = _fitting(config_of(), main)
    return save_drafter(folder, config, weights_of(config))


def some_tensors(folder: Path) -> list[str]:
    """Every seventh by name, of those that nothing else could stand in for."""
    names = {str(name) for name in mx.load(str(folder / "model.safetensors"))}
    return sorted(names - {"t2d", "embed_tokens.weight"})[::7]


def without(folder: Path, name: str, copy: Path) -> Path:
    """A copy that lacks a tensor."""
    weights = mx.load(str(folder / "model.safetensors"))
    assert isinstance(weights, dict)
    del weights[name]
    return save_drafter(copy, json.loads((folder / "config.json").read_text()), weights)
