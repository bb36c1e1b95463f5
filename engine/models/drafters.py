"""The config of a drafter: what it needs of its main model, its sizes. Read without MLX. Its kind: drafter_kinds.py.

A drafter is a small network that drafts from a main model's hidden states. It is published in several dialects, which
differ in what they call a layer, and in whether the first row of a block is the token before it:

- z-lab: layer i is the output of i; a block of n rows drafts n - 1 tokens, row 0 is the token before them.
- DeepSpec: layer i is the output of i; a block of n rows drafts n tokens.
- speculators: layer i is the input of i; the block is as `sample_from_anchor` or the tokens say.
- Meta: as z-lab, but a window counts how far a row sees back, in a block of its own also forward.
- SpecForge, NVIDIA: as z-lab; of Domino `shift_label` says whether a block of n rows drafts n tokens.
- Poolside: as z-lab, with a gate for each head and a norm for each layer that is read.
- AngelSpec: as z-lab, but `num_target_layers` is how many layers are read, and three tensors have other names.

A wrong reading shows only in a lower accept rate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.api.types import DrafterInfo, DrafterKind
from engine.models.model_files import FileError, JsonObject, Tensor, entries, flag, object_at, positive, real, whole
from engine.models.mtp_families import FAMILIES, family_of, own_name
from engine.models.numbers import check_numbers

MTP: DrafterKind = "mtp"
_RAW_HEADS = ("mtp.", "mtp_layers.")
_PARALLEL_MASKS = ("mask_token_id", "ptd_token_id", "pard_token")  # speculators', vLLM's and PARD's name
_DEPTHS = 8  # depths that P-EAGLE was trained for, if the config does not say
_MTP_INPUTS = ("join", "token_norm", "state_norm")
_FULL_LAYER = "full_attention"
_SLIDING_LAYER = "sliding_attention"
BODY = -1  # in place of a layer: the input of the main model's head
_DEFAULT_THETA = 10_000.0
_MOST_BLOCK = 64
_MOST_READ = 32
_MOST_LAYERS = 512
SEEN_ROWS = 4096
ASSISTANTS = ("gemma4_assistant", "gemma4_unified_assistant")
ASSISTANT_LACKS = ("hidden_size_per_layer_input", "enable_moe_block", "use_double_wide_mlp")
_MARKOV_HEADS = ("vanilla", "gated")
_PARTS = ("transformer_layer_config", "text_config", "dflash_config")
_GEMMA = "gemma4"
MUSE = "muse_glimmer_assistant"
_LAGUNA = "laguna"
_ACTIVATION_KEYS = ("hidden_act", "hidden_activation")
_ACTIVATIONS = ("silu", "swish")
_GEMMA_ACTIVATIONS = ("gelu_pytorch_tanh",)
_LAYER_KEYS = ("attention_k_eq_v", "global_head_dim")  # entries that only Gemma 4 has
_GEMMA_ROPE = {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1_000_000.0}  # by default
_ROPE_NEEDS = {
    **dict.fromkeys(("linear", "dynamic", "llama3", "yarn", "deepseek_yarn", "telechat3-yarn"), ("factor",)),
    "longrope": ("original_max_position_embeddings", "short_factor", "long_factor"),
}
_ROPE_FACTORS = (
    "factor",
    "original_max_position_embeddings",
    "beta_fast",
    "beta_slow",
    "low_freq_factor",
    "high_freq_factor",
    "partial_rotary_factor",
)
_NOWHERE_KEYS = ("hidden_size_per_layer_input", "enable_moe_block")
_ONLY = {"hidden_correction_type": "swiglu", "fusion_type": "concat_fc"}
_MOST_OF_A_PART = 65_536


@dataclass(frozen=True, slots=True)
class Backbone:
    """Sizes of a drafter's transformer layers."""

    width: int
    layers: int
    heads: int
    kv_heads: int
    head_width: int
    mlp_width: int
    norm_eps: float
    rope_theta: float
    rope_scaling: dict[str, Any] | None
    rope_interleaved: bool
    context_tokens: int
    attention_bias: bool
    is_gemma: bool = False  # Gemma 4's layers
    values_are_keys: bool = False


@dataclass(frozen=True, slots=True)
class BlockConfig:
    """DFlash and its successors."""

    info: DrafterInfo
    backbone: Backbone
    block_rows: int
    anchor_first: bool  # whether row 0, the token before the block, also drafts
    mask_token: int
    windows: tuple[int, ...]  # of each layer; 0: all of the context
    causal: tuple[bool, ...]
    draft_vocabulary: int  # 0: the main model's
    softcap: float
    output_scale: float
    embedding_scale: float
    sinks: bool = False  # learnt attention sinks of the heads
    is_laguna: bool = False  # a gate for each head, and a norm for each of the main model's layers that it reads
    said: Mapping[str, Any] = field(default_factory=dict, compare=False)  # config entries, for the network's own parts
    held: frozenset[str] = field(default=frozenset(), compare=False)  # names of the folder's tensors, if known

    @property
    def tokens(self) -> int:
        """The most tokens that a block drafts."""
        return self.block_rows if self.anchor_first else self.block_rows - 1

    def size(self, entry: str, least: int = 1) -> int:
        """A size in the config; 0 if there is no entry. Raises FileError for an impossible size."""
        size = whole(self.said, entry)
        if not least <= size <= _MOST_OF_A_PART:
            raise FileError(f"config.json: {entry} {size}")
        return size

    def has(self, tensor: str, entry: str, *, unsaid: bool) -> bool:
        """Whether the folder holds `tensor`; if its tensors are not known, whether the config has `entry`."""
        return tensor in self.held if self.held else flag(self.said, entry, default=unsaid)


@dataclass(frozen=True, slots=True)
class EagleConfig:
    info: DrafterInfo
    backbone: Backbone
    draft_vocabulary: int  # 0: the main model's
    windows: tuple[int, ...]  # of each layer, 0: all of the context
    norm_before_residual: bool = False
    norm_before_fc: bool = False
    norms_of_layers: bool = False  # a norm for each layer of the main model that it reads
    feeds_back_normed: bool = False
    norms_of_heads: bool = False  # of queries and keys
    own_embedding: bool = False  # if its width is not the main model's
    own_head: bool = True
    softcap: float = 0.0  # of its own head
    mask_token: int = 0  # P-EAGLE's, in place of tokens that are not known yet
    tokens: int = 0  # the most that it drafts in one forward; 0: one at a time


@dataclass(frozen=True, slots=True)
class MtpConfig:
    """A head that a main model was trained with; its layers are of the main model's kind."""

    info: DrafterInfo
    family: str  # of the main model; unknown ones are refused at loading
    text_config: Mapping[str, Any] = field(default_factory=dict)  # of the main model
    in_main: bool = False  # it is in the main model's own folder
    raw_norms: bool = False  # their weights are stored minus 1
    own_embedding: bool = False
    own_head: bool = False


@dataclass(frozen=True, slots=True)
class AssistantConfig:
    """A Gemma 4 assistant: layers without keys and values, which attend to the main model's."""

    info: DrafterInfo
    text_config: Mapping[str, Any]  # of its layers
    layer_types: tuple[str, ...]
    clusters: int = 0  # of its vocabulary; logits only for the likeliest ones; 0: for all tokens
    likeliest_clusters: int = 0
    own_head: bool = False  # else its embedding


DrafterConfig = BlockConfig | EagleConfig | MtpConfig | AssistantConfig


class Published:
    """The files of a drafter's folder: the config, and the names of its tensors if known."""

    def __init__(self, config: JsonObject, tensors: Collection[str] = ()) -> None:
        self.config = config
        self.said = flattened(config)
        self.block = object_at(config, "dflash_config")
        self.model_type = str(config.get("model_type", ""))
        self.tensors = tensors
        self.held = frozenset(name.removeprefix("model.") for name in tensors)
        self._classes = " ".join(map(str, entries(config, "architectures"))).lower()

    def is_called(self, kind: str) -> bool:
        return kind in self._classes or kind in (self.config.get("model_arch"), self.block.get("projector_type"))

    def has_size(self, entry: str) -> bool:
        size = self.said.get(entry)
        return type(size) is int and size > 0


def block_config(
    kind: DrafterKind,
    published: Published,
    *,
    short_texts: bool = True,
    first_row: str = "sample_from_anchor",
    first_row_drafts: bool = False,
) -> BlockConfig:
    """`short_texts`: trained on such. `first_row`: entry that says if row 0 drafts; `first_row_drafts`: default."""
    flat = published.said
    backbone = _backbone(flat)
    main_layers = _main_layers(flat)
    named = _layers(flat, of_inputs="speculators_model_type" in flat)
    layers = named or default_block_layers(main_layers, whole(flat, "num_hidden_layers"))
    if not layers:
        raise FileError("config.json: it says neither which layers it reads nor how many there are")
    rows = whole(flat, "block_size")
    if not 1 < rows <= _MOST_BLOCK:
        raise FileError(f"config.json: block_size {rows}")
    windows = _windows(flat, backbone.layers)
    info = _info(kind, flat, backbone, layers)
    if info.main_width != backbone.width:  # its rows are the main model's embeddings
        raise FileError(f"config.json: hidden_size {backbone.width} of a main model's {info.main_width}")
    return BlockConfig(
        info=info,
        backbone=backbone,
        block_rows=rows,
        anchor_first=_first_row_drafts(flat, rows, first_row, unsaid=first_row_drafts),
        mask_token=_mask_token(whole(flat, "mask_token_id", -1), info.vocabulary_rows),
        windows=_at_most_seen(windows) if short_texts else windows,
        causal=tuple(_causal(flat, slides=window > 0) for window in windows),
        draft_vocabulary=_reduced_vocabulary(flat),
        softcap=real(flat, "final_logit_softcapping", 0.0),
        output_scale=real(flat, "output_multiplier", 1.0),
        embedding_scale=real(flat, "input_embedding_scale", 1.0),
        sinks=flag(flat, "attention_sink_bias"),
        is_laguna=published.model_type == _LAGUNA,
        said=flat,
        held=published.held,
    )


def _mask_token(mask: int, vocabulary: int) -> int:
    if not 0 <= mask < vocabulary:
        said = f"mask_token_id {mask} of {vocabulary} tokens" if mask >= 0 else "no mask_token_id"
        raise FileError(f"config.json: {said}")
    return mask


def _first_row_drafts(flat: dict[str, Any], rows: int, entry: str, *, unsaid: bool) -> bool:
    """By the config; speculators' first DSpark has no entry, and is known by its number of proposed tokens."""
    if flat.get(entry) is not None:
        return flag(flat, entry)
    if unsaid and (proposed := _proposed(flat)):
        return proposed != rows - 1
    return unsaid or any("DSpark" in str(name) for name in entries(flat, "architectures"))


def eagle_config(kind: DrafterKind, published: Published) -> EagleConfig:
    flat = published.said
    held = published.held
    backbone = _backbone(flat)
    named = {**object_at(published.config, "eagle_config"), **flat}
    info = _info(kind, flat, backbone, _layers(named, of_inputs="speculators_model_type" in flat))
    reduced = _reduced_vocabulary(flat)
    types = entries(flat, "layer_types")
    windows = _windows(flat, backbone.layers) if len(types) == backbone.layers else (0,) * backbone.layers
    widths_differ = info.main_width != backbone.width
    if widths_differ and held and "embed_tokens.weight" not in held:
        raise FileError("embed_tokens.weight is missing")
    if reduced and held and "lm_head.weight" not in held:
        raise FileError("lm_head.weight is missing")
    return EagleConfig(
        info=info,
        backbone=backbone,
        draft_vocabulary=reduced,
        norm_before_residual=flag(flat, "norm_before_residual"),
        norm_before_fc=flag(flat, "norm_before_fc"),
        norms_of_layers=flag(flat, "fc_norm"),
        feeds_back_normed=flag(flat, "norm_output"),
        norms_of_heads=any(name.endswith("self_attn.q_norm.weight") for name in held),
        own_embedding=widths_differ,
        own_head=not held or "lm_head.weight" in held,
        windows=_at_most_seen(windows),
        softcap=real(flat, "final_logit_softcapping", 0.0),
    )


def parallel_eagle_config(kind: DrafterKind, published: Published) -> EagleConfig:
    config = eagle_config(kind, published)
    flat = published.said
    mask = next((whole(flat, key) for key in _PARALLEL_MASKS if flat.get(key) is not None), -1)
    return replace(
        config,
        own_embedding=config.own_embedding or "embed_tokens.weight" in published.held,  # it is trained with the rest
        mask_token=_mask_token(mask, config.info.vocabulary_rows),
        tokens=min(_proposed(flat) or _DEPTHS, _MOST_BLOCK),
    )


def _proposed(flat: dict[str, Any]) -> int:
    """How many tokens speculators' configs say are drafted; 0: not said."""
    methods = entries(object_at(flat, "speculators_config"), "proposal_methods")
    return max(0, whole(methods[0], "speculative_tokens")) if methods and isinstance(methods[0], dict) else 0


def own_drafter_config(config: JsonObject, tensors: Mapping[str, Tensor]) -> MtpConfig | None:
    """Of the head in a main model's own folder; None if there is none that can be used."""
    if family_of(str(config.get("model_type", "")), object_at(config, "text_config") or config) not in FAMILIES:
        return None
    mtp = _mtp(Published(config, tensors), in_main=True)
    if mtp.family not in FAMILIES:
        return None
    names = {_head_tensor(mtp, name) for name in tensors}
    own_norm = () if FAMILIES[mtp.family].main_norm else ("norm",)
    if not {f"{part}.weight" for part in (*_MTP_INPUTS, *own_norm)} <= names:
        return None
    convolutions = [tensor for name, tensor in tensors.items() if name.endswith("conv1d.weight")]
    mark = FAMILIES[mtp.family].raw_mark
    raw = any(tensor.shape[-1:] != (1,) for tensor in convolutions)
    return replace(mtp, raw_norms=raw or (mark != "" and any(mark in name for name in tensors)))


def mtp_config(_: DrafterKind, published: Published) -> MtpConfig | AssistantConfig:
    return _assistant(published.config) if published.model_type in ASSISTANTS else _mtp(published)


def _mtp(published: Published, *, in_main: bool = False) -> MtpConfig:
    config = published.config
    inner = object_at(config, "transformer_layer_config") or object_at(config, "text_config")
    text = dict(inner) or dict(config)
    width, layers, rows = (whole(text, key) for key in ("hidden_size", "num_hidden_layers", "vocab_size"))
    family = family_of(published.model_type, text)
    before_norm = family in FAMILIES and FAMILIES[family].before_norm
    reads = positive(text, "num_hidden_layers") - 1 if before_norm else BODY
    mtp = MtpConfig(DrafterInfo(MTP, width, layers, rows, (reads,)), family, text, in_main)
    names = {_head_tensor(mtp, name) for name in published.tensors} if family in FAMILIES else set()
    return replace(
        mtp,
        raw_norms=not in_main and any(name.startswith(_RAW_HEADS) for name in published.tensors),
        own_embedding="embed_tokens.weight" in names,
        own_head="lm_head.weight" in names,
    )


def _assistant(config: JsonObject) -> AssistantConfig:
    text = object_at(config, "text_config")
    types = tuple(map(str, entries(text, "layer_types")))
    if not types or len(types) != whole(text, "num_hidden_layers") or not set(types) <= {_FULL_LAYER, _SLIDING_LAYER}:
        raise FileError(f"config.json: layer_types {str(types)[:80]}")
    rows = positive(text, "vocab_size")
    clusters = 0
    likeliest = 0
    if config.get("use_ordered_embeddings"):
        clusters = positive(config, "num_centroids")
        likeliest = positive(config, "centroid_intermediate_top_k")
        if rows % clusters or likeliest > clusters:
            raise FileError(f"config.json: {likeliest} of {clusters} clusters of {rows} tokens")
        if config.get("tie_word_embeddings") is False:
            raise FileError("config.json: clusters with a head of their own")
    if lacking := unsupported_rope(text, types):
        raise FileError(f"config.json: {lacking}")
    return AssistantConfig(
        DrafterInfo(MTP, positive(config, "backbone_hidden_size"), 0, rows, ()),
        {**text, **dict.fromkeys(ASSISTANT_LACKS, 0), "num_kv_shared_layers": len(types)},
        types,
        clusters,
        likeliest,
        own_head=not clusters and not config.get("tie_word_embeddings", True),
    )


def _head_tensor(mtp: MtpConfig, name: str) -> str | None:
    return own_name(FAMILIES[mtp.family], name, mtp.info.main_layers, in_main=mtp.in_main)


def _info(kind: DrafterKind, flat: dict[str, Any], backbone: Backbone, layers: tuple[int, ...]) -> DrafterInfo:
    width = whole(flat, "target_hidden_size") or backbone.width
    return DrafterInfo(kind, width, _main_layers(flat), whole(flat, "vocab_size"), layers)


def _main_layers(flat: dict[str, Any]) -> int:
    """0: not said. AngelSpec has another name for it, and uses the usual one for how many layers are read."""
    said = whole(flat, "num_target_layers")
    of_read = said == len(entries(flat, "target_layer_ids"))
    return whole(flat, "target_num_hidden_layers") or (0 if of_read else said)


def _backbone(flat: dict[str, Any]) -> Backbone:
    gemma = is_gemma(flat)
    if gemma:
        flat = of_full_layers(flat)
        check_numbers(flat)
    rope = {**object_at(flat, "rope_parameters"), **object_at(flat, "rope_scaling")}
    heads = positive(flat, "num_attention_heads")
    width = positive(flat, "hidden_size")
    sizes = Backbone(
        width=width,
        layers=whole(flat, "num_hidden_layers", 1),
        heads=heads,
        kv_heads=whole(flat, "num_key_value_heads", heads),
        head_width=whole(flat, "head_dim", width // heads),
        mlp_width=positive(flat, "intermediate_size"),
        norm_eps=real(flat, "rms_norm_eps", 1e-6),
        rope_theta=real(rope, "rope_theta", real(flat, "rope_theta", _DEFAULT_THETA)),
        rope_scaling=_rope_scaling(rope),
        rope_interleaved=not flag(flat, "rope_is_neox_style", flag(flat, "is_neox_style", default=True)),
        context_tokens=whole(flat, "max_position_embeddings", 32_768),
        attention_bias=flag(flat, "attention_bias"),
        is_gemma=gemma,
        values_are_keys=gemma and flag(flat, "attention_k_eq_v"),
    )
    if sizes.kv_heads < 1 or heads % sizes.kv_heads or sizes.head_width < 2 or sizes.head_width % 2:
        raise FileError(f"config.json: {heads} heads of {sizes.head_width}, {sizes.kv_heads} of keys and values")
    if sizes.norm_eps <= 0 or sizes.rope_theta <= 0 or sizes.context_tokens < 1:
        sizes_text = f"rms_norm_eps {sizes.norm_eps}, rope_theta {sizes.rope_theta}"
        raise FileError(f"config.json: {sizes_text}, max_position_embeddings {sizes.context_tokens}")
    return sizes


def _rope_scaling(rope: JsonObject) -> dict[str, Any] | None:
    """The scaling of the rotation; None if it has none. Raises FileError for invalid numbers."""
    kind = str(rope.get("rope_type") or rope.get("type") or "default")
    if kind == "default":
        return None
    said = {key: value for key, value in rope.items() if key != "rope_theta" and value is not None}
    lacking = next((key for key in _ROPE_NEEDS.get(kind, ()) if key not in said), "")
    factors = [each for key in ("short_factor", "long_factor") for each in entries(said, key)]
    if lacking or not all(type(each) in (int, float) for each in factors):
        raise FileError(f"config.json: {lacking or 'factors'} of a rotation of {kind[:20]}")
    for key in _ROPE_FACTORS:
        if real(said, key, 1.0) <= 0 or (key == "partial_rotary_factor" and real(said, key, 1.0) > 1):
            raise FileError(f"config.json: {key} {said[key]}")
    return said


def _layers(flat: dict[str, Any], *, of_inputs: bool) -> tuple[int, ...]:
    """The layers whose outputs are read. The input of a layer is the output of the one before it."""
    inputs = entries(flat, "eagle_aux_hidden_state_layer_ids") or entries(flat, "aux_hidden_state_layer_ids")
    named = inputs or entries(flat, "target_layer_ids") or entries(flat, "dspark_target_layer_ids")
    if not all(type(layer) is int for layer in named):
        raise FileError("config.json: layers that are no numbers")
    layers = tuple(layer - 1 if inputs or of_inputs else layer for layer in named)
    if len(layers) > _MOST_READ or not all(0 <= layer < _MOST_LAYERS for layer in layers):
        raise FileError(f"config.json: layers {str(named)[:80]}")
    return layers


def default_eagle_layers(main_layers: int) -> tuple[int, ...]:
    """Layers if the config has none: the inputs of layers 2, the middle one and the last but two."""
    if main_layers < 5:
        raise ValueError(f"the layers to read are not named, and {main_layers} are too few to guess them")
    return 1, main_layers // 2 - 1, main_layers - 4


def default_block_layers(main_layers: int, drafter_layers: int) -> tuple[int, ...]:
    """Layers if the config has none: spread evenly from the second to the last but three."""
    if main_layers < 4 or drafter_layers < 1:
        return ()
    if drafter_layers == 1:
        return (main_layers // 2,)
    span = (main_layers - 3) - 1
    return tuple(round(1 + at * span / (drafter_layers - 1)) for at in range(drafter_layers))


def _windows(flat: dict[str, Any], layers: int) -> tuple[int, ...]:
    """Rows that each layer attends to; 0: all. One flag may apply to all layers."""
    types = entries(flat, "layer_types") or [_SLIDING_LAYER if flag(flat, "use_swa") else _FULL_LAYER] * layers
    if len(types) != layers:
        raise FileError(f"config.json: {len(types)} layer_types for {layers} layers")
    window = whole(flat, "swa_window_size") or whole(flat, "sliding_window")
    if _SLIDING_LAYER in types and window < 1:
        raise FileError("config.json: no sliding_window")
    reach = window + (flat.get("model_type") == MUSE)
    return tuple(reach if kind == _SLIDING_LAYER else 0 for kind in types)


def _at_most_seen(windows: tuple[int, ...]) -> tuple[int, ...]:
    """A window of the training length for all layers, where no layer has a window."""
    return windows if any(windows) else (SEEN_ROWS,) * len(windows)


def _causal(flat: dict[str, Any], *, slides: bool) -> bool:
    """Whether each layer is causal: by the first entry that exists; by default sliding layers are."""
    if flag(flat, "sliding_window_non_causal") or flat.get("model_type") == MUSE:
        return False
    said = [flag(flat, key) for key in ("is_causal", "causal", "dflash_query_causal") if flat.get(key) is not None]
    return said[0] if said else slides


def _reduced_vocabulary(flat: dict[str, Any]) -> int:
    rows = whole(flat, "draft_vocab_size")
    all_rows = whole(flat, "vocab_size")
    if not 0 <= rows <= all_rows:
        raise FileError(f"config.json: draft_vocab_size {rows} of {all_rows} tokens")
    return rows if rows != all_rows else 0


# Parts of a drafter that are not implemented here, by its config alone. Drafters are published with layers of several
# families. One read as another family's would still draft, but badly. So anything unknown is reported, and the drafter
# refused.


def layer_need(config: JsonObject) -> str:
    """The name of an unimplemented part, as in the config; "" if there is none.

    Only for drafters with layers of their own kind: a main model's head has that model's layers.
    """
    said = flattened(config)
    gemma = is_gemma(config)
    for key in _NOWHERE_KEYS if gemma else (*_NOWHERE_KEYS, *_LAYER_KEYS):
        if said.get(key):
            return key
    if odd := _odd_part(said):
        return odd
    for key in _ACTIVATION_KEYS:
        if (named := said.get(key)) is None:
            continue
        if str(named).lower() not in (_GEMMA_ACTIVATIONS if gemma else _ACTIVATIONS):
            return f"{key} {named}"[:100]
    if odd := _odd_layer(said, gemma=gemma):
        return odd
    if gemma:
        layers = object_at(said, "per_layer_config").values()
        return unsupported_rope(said, [_FULL_LAYER]) or (
            "" if len({str(layer) for layer in layers}) < 2 else "per_layer_config"
        )
    rope = object_at(said, "rope_parameters")
    return next((f"rope_parameters.{key}"[:100] for key, value in rope.items() if isinstance(value, dict)), "")


def _odd_part(said: JsonObject) -> str:
    """The same for parts around the layers."""
    if odd := next((key for key, known in _ONLY.items() if said.get(key) not in (None, known)), ""):
        return f"{odd} {said[odd]}"[:100]
    if said.get("model_type") == _LAGUNA and said.get("gating") != "per-head":
        return f"gating {said.get('gating')}"[:100]
    head = str(said.get("markov_head_type") or _MARKOV_HEADS[0])
    return f"markov_head_type {head}"[:100] if said.get("markov_rank") and head not in _MARKOV_HEADS else ""


def _odd_layer(said: JsonObject, *, gemma: bool) -> str:
    types = set(map(str, entries(said, "layer_types")))
    if gemma:
        return "layer_types" if types - {_FULL_LAYER} else ""  # sliding layers have sizes of their own
    return next((f"layer_types {each}"[:100] for each in sorted(types - {_FULL_LAYER, _SLIDING_LAYER})), "")


def assistant_need(config: JsonObject) -> str:
    """The same for a Gemma 4 assistant; "" for any other head."""
    text = object_at(config, "text_config") if config.get("model_type") in ASSISTANTS else {}
    return next((key for key in ASSISTANT_LACKS if text.get(key)), "")


def unsupported_rope(said: JsonObject, types: Iterable[str]) -> str:
    """A rotation that is not implemented: Gemma 4 may have one for each type of layer."""
    rope = object_at(said, "rope_parameters")
    lacking = next((kind for kind in types if not isinstance(rope.get(kind), dict)), "") if rope else ""
    return f"rope_parameters.{lacking}"[:100] if lacking else ""


def is_gemma(config: JsonObject) -> bool:
    """Whether a drafter has Gemma 4's layers; drafters of such a main model may also have others."""
    return any(str(name).lower().startswith(_GEMMA) for name in entries(config, "architectures"))


def of_full_layers(flat: dict[str, Any]) -> dict[str, Any]:
    """Gemma 4 has two kinds of layers with different sizes and rotations; drafters have the full kind.

    Newer versions of transformers write its sizes for each layer.
    """
    given = object_at(object_at(flat, "per_layer_config"), "0")
    shared = flat.get("attention_k_eq_v") and flat.get("num_global_key_value_heads")
    return flat | {
        "head_dim": given.get("head_dim") or flat.get("global_head_dim") or flat.get("head_dim"),
        "num_key_value_heads": given.get("num_key_value_heads") or shared or flat.get("num_key_value_heads"),
        "rope_parameters": object_at(flat, "rope_parameters").get(_FULL_LAYER) or _GEMMA_ROPE,
    }


def flattened(config: JsonObject) -> dict[str, Any]:
    """The top-level entries and those of parts like `dflash_config` in one object; nulls in parts are ignored."""
    parts = (object_at(config, part).items() for part in _PARTS)
    return {**config, **{key: value for part in parts for key, value in part if value is not None}}
