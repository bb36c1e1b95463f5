"""Memory of a chat in a model, by its config alone: nothing is loaded, and no MLX is needed.

Configs are not trusted: odd values count as 0, and no computation grows with them. `memory.py` measures the same on a
loaded network; a test compares the two for every family.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from engine.api.types import CacheSizes
from engine.models.families import Caches, family_for
from engine.models.model_files import JsonObject, object_at
from engine.models.newer_configs import add_older_entries

_ITEM_BYTES = 2  # half precision
_WIDE_BYTES = 4  # states that mlx-lm keeps in full precision, and everything on a CPU
_CODED_GROUP = 64  # numbers at 8 bits with one scale and one offset
_AS_THEY_ARE = frozenset({Caches.LATENT_INDEXED, Caches.KEYS_INDEXED, Caches.COMPRESSED})  # caches of no 8 bits
_MOST = 2**31
_MOST_LAYERS = 512
_FULL = frozenset({"full_attention", "attention", "*", "global_attention"})
_WINDOW = frozenset({"sliding_attention", "chunked_attention", "L"})
_STATE = frozenset({"mamba", "linear_attention", "conv", "conv_mixer", "recurrent", "M", "kda"})


def cache_sizes(config: JsonObject, *, widened: bool = False) -> CacheSizes:
    """`widened`: half precision is computed in float32, as the engine does on a CPU."""
    fields = _Fields.of(config)
    item_bytes = _WIDE_BYTES if widened else _ITEM_BYTES
    layers = _LAYERS_OF[fields.caches](fields)
    token_bytes = sum(layer.row for layer in layers) * item_bytes
    fixed = sum(layer.window * layer.window_row + layer.state for layer in layers)
    fixed_bytes = fixed * item_bytes + sum(layer.wide_state for layer in layers) * _WIDE_BYTES
    coded = 0 if fields.caches in _AS_THEY_ARE else at_eight_bits(token_bytes, item_bytes)
    return CacheSizes(token_bytes, fixed_bytes, coded)


def at_eight_bits(token_bytes: int, item_bytes: int = _ITEM_BYTES) -> int:
    """Bytes for each token with keys and values at 8 bits, of heads that groups divide, which nearly all are."""
    numbers = token_bytes // item_bytes
    return numbers + 2 * item_bytes * numbers // _CODED_GROUP


@dataclass(frozen=True, slots=True)
class _Layer:
    """A layer's cache, in numbers rather than bytes."""

    row: int = 0  # numbers for each token
    window: int = 0  # tokens
    window_row: int = 0
    state: int = 0
    wide_state: int = 0


@dataclass(frozen=True, slots=True)
class _Fields:
    """A config, with mlx-lm's defaults where it has no value."""

    config: Mapping[str, Any]
    caches: Caches

    @classmethod
    def of(cls, config: JsonObject) -> _Fields:
        text = {**object_at(config, "text_config")}
        config = {**config, "text_config": text}
        add_older_entries(config)
        outer, inner = (family_for(str(part.get("model_type") or "")) for part in (config, text))
        known = inner if inner.name and inner.name != text.get("model_type") else outer
        return cls({**inner.defaults, **outer.defaults, **config, **text}, known.caches)

    def number(self, *names: str, default: int = 0) -> int:
        """The first of these entries that exists."""
        for name in names:
            if _is_size(value := self.config.get(name)):
                return int(value)
        return default

    def listed(self, *names: str) -> list[Any]:
        for name in names:
            value = self.config.get(name)
            if isinstance(value, list | tuple | str) and value:
                return list(value)[:_MOST_LAYERS]
        return []

    @property
    def width(self) -> int:
        return self.number("n_embd", "d_model", "model_dim", "hidden_dim", "hidden_size")

    @property
    def heads(self) -> int:
        return self.number("n_head", "n_heads", "num_attention_heads", "num_heads")

    @property
    def layers(self) -> int:
        names = ("n_layer", "n_layers", "num_layers", "num_transformer_layers", "num_hidden_layers")
        reused = self.number("num_kv_reuse_layers", "num_kv_shared_layers")
        return max(0, min(self.number(*names), _MOST_LAYERS) - reused) * max(1, self.number("num_loops"))

    @property
    def head(self) -> int:
        default = self.width // self.heads if self.heads else 0
        return self.number("head_dim", "hidden_size_per_head", "kv_channels", default=default)

    @property
    def kv_heads(self) -> int:
        inner = object_at(dict(self.config), "attn_config").get("kv_n_heads")
        if _is_size(inner):
            return inner
        shared = self.number("n_shared_head")
        default = -(-self.heads // shared) if shared else self.heads
        return self.number("num_key_value_heads", "num_kv_heads", "n_kv_heads", "num_attention_groups", default=default)

    @property
    def row(self) -> int:
        return 2 * self.kv_heads * self.head

    @property
    def full_row(self) -> int:
        """Numbers in a row of layers without a window, if they differ from those with one."""
        if "swa_head_dim" in self.config:
            return self.kv_heads * (self.head + self.number("v_head_dim", default=self.head))
        heads = self.number("num_global_key_value_heads") if self.config.get("attention_k_eq_v") is True else 0
        return 2 * (heads or self.kv_heads) * (self.number("global_head_dim") or self.head)

    @property
    def window_row(self) -> int:
        other = object_at(dict(self.config), "attention_other_setting")
        groups = other.get("num_attention_groups")
        if _is_size(groups):
            return 2 * groups * self.head
        heads = self.number("swa_num_key_value_heads", default=self.kv_heads)
        keys = self.number("swa_head_dim", default=self.head)
        return heads * (keys + self.number("swa_v_head_dim", default=keys))

    @property
    def window(self) -> int:
        return self.number("attention_chunk_size", "sliding_window_size", "sliding_window", "window_size")

    @property
    def latent_row(self) -> int:
        return self.number("kv_lora_rank") + self.number("qk_rope_head_dim")

    def kinds(self) -> list[str]:
        """Kind of each layer: "full", "window", "state" or "none"."""
        named = self.listed("hybrid_override_pattern", "layers_block_type", "layer_types")
        if named:
            return [_kind(str(name)) for name in named[: self.layers or None]]
        return [self._kind_at(layer) for layer in range(self.layers)]

    def _kind_at(self, layer: int) -> str:
        """By the rules of families whose configs do not name their layers."""
        rules = (self._by_list, self._by_pattern, self._by_interval)
        return next((kind for rule in rules if (kind := rule(layer))), "full")

    def _by_list(self, layer: int) -> str:
        sliding = self.listed("sliding_window_layers")
        linear = object_at(dict(self.config), "linear_attn_config")
        hybrid = self.listed("hybrid_layer_pattern")
        full = self.listed("full_attention_idx")
        cycle = self.listed("block_types", "_block_types")
        deltas = linear.get("kda_layers")
        if isinstance(deltas, list):
            return "state" if layer + 1 in deltas[:_MOST_LAYERS] else "full"
        if sliding:
            return "window" if layer in sliding else "full"
        if hybrid:
            return "window" if hybrid[layer % len(hybrid)] == 1 else "full"
        if full:
            return "full" if layer in full else "state"
        if cycle:
            return "window" if cycle[layer % len(cycle)] == "attention" else "state"
        return ""

    def _by_pattern(self, layer: int) -> str:
        letters = self.config.get("sliding_window_pattern")
        if isinstance(letters, str) and letters:
            return "window" if letters[layer % len(letters)] == "L" else "full"
        every = self.number("sliding_window_pattern") or (4 if self.number("attention_chunk_size") else 0)
        if every:
            return "full" if (layer + 1) % every == 0 else "window"
        return ""

    def _by_interval(self, layer: int) -> str:
        every = self.number("full_attention_interval")
        group = self.number("layer_group_size")
        period = self.number("attn_layer_period")
        if every:
            return "full" if (layer + 1) % every == 0 else "state"
        if group:
            return "full" if (layer + 1) % group == 0 or layer >= self.layers // group * group else "state"
        if period:
            return "full" if layer % period == self.number("attn_layer_offset") else "state"
        return ""


def _is_size(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value <= _MOST


def _kind(name: str) -> str:
    if name in _FULL:
        return "full"
    if name in _WINDOW:
        return "window"
    return "state" if name in _STATE else "none"


def _mixed(fields: _Fields, full: _Layer, state: _Layer) -> list[_Layer]:
    """One `_Layer` for each kind."""
    window = _Layer(window=fields.window, window_row=fields.window_row)
    layers = {"full": full, "window": window, "state": state, "none": _Layer()}
    return [layers[kind] for kind in fields.kinds()]


def _keys(fields: _Fields) -> list[_Layer]:
    heads = fields.listed("num_kv_heads")
    if heads:
        return [_Layer(2 * number * fields.head) for number in heads if _is_size(number)]
    blocks = fields.listed("block_configs")
    if blocks:
        return [_Layer(_row_of_block(fields, block)) for block in blocks]
    return [_Layer(fields.row)] * fields.layers


def _row_of_block(fields: _Fields, block: object) -> int:
    """Of a layer from architecture search: how many heads share a key; or it has no attention."""
    attention = object_at(block, "attention") if isinstance(block, dict) else {}
    shared = attention.get("n_heads_in_group")
    attends = not (attention.get("no_op") or attention.get("replace_with_linear"))
    return 2 * fields.heads // shared * fields.head if attends and type(shared) is int and shared > 0 else 0


def _latent(fields: _Fields) -> list[_Layer]:
    return [_Layer(fields.latent_row)] * fields.layers


def _latent_wide(fields: _Fields) -> list[_Layer]:
    head = (
        fields.number("qk_nope_head_dim")
        + fields.number("qk_rope_head_dim")
        + fields.number("v_head_dim", default=fields.head)
    )
    return [_Layer(fields.heads * head)] * fields.layers


def _keys_indexed(fields: _Fields) -> list[_Layer]:
    index = object_at(dict(fields.config), "sparse_attention_config").get("sparse_index_dim")
    width = index if _is_size(index) else fields.number("index_head_dim")
    return [_Layer(fields.row + width)] * fields.layers


def _compressed(fields: _Fields) -> list[_Layer]:
    """A row for each group of tokens, and for its index."""
    head = fields.number("head_dim")
    index = fields.number("index_head_dim", default=128)
    ratios = [ratio if type(ratio) is int else 0 for ratio in fields.listed("compress_ratios")] or [0] * fields.layers
    return [_Layer((head + index) // ratio if ratio > 0 else 0, fields.window, head) for ratio in ratios]


def _delta(fields: _Fields) -> list[_Layer]:
    keys = fields.number("linear_num_key_heads") * fields.number("linear_key_head_dim")
    heads = fields.number("linear_num_value_heads")
    value = fields.number("linear_value_head_dim")
    past = max(0, fields.number("linear_conv_kernel_dim") - 1) * (2 * keys + heads * value)
    state = _Layer(state=past, wide_state=heads * value * fields.number("linear_key_head_dim"))
    return _mixed(fields, _Layer(fields.row), state)


def _delta_keyed(fields: _Fields) -> list[_Layer]:
    linear = {**fields.config, **object_at(dict(fields.config), "linear_attn_config")}
    of_linear = _Fields(linear, fields.caches)
    heads = of_linear.number("num_heads", default=fields.heads)
    head = of_linear.head
    past = max(0, of_linear.number("short_conv_kernel_size", default=4) - 1) * 3 * heads * head
    return _mixed(fields, _Layer(fields.latent_row), _Layer(state=past, wide_state=heads * head * head))


def _linear(fields: _Fields) -> list[_Layer]:
    full = fields.latent_row or fields.row
    return _mixed(fields, _Layer(full), _Layer(wide_state=fields.heads * fields.head * fields.head))


def _state_space(fields: _Fields) -> list[_Layer]:
    inner = fields.number("mamba_expand") * fields.width or fields.number("intermediate_size")
    kernel = fields.number("mamba_d_conv", "conv_kernel")
    size = fields.number("mamba_d_state", "state_size")
    state = _Layer(state=inner * (max(0, kernel - 1) + size))
    if fields.number("attn_layer_period") or fields.listed("layers_block_type"):
        return _mixed(fields, _Layer(fields.row), state)
    return [state] * fields.layers


def _state_space_heads(fields: _Fields) -> list[_Layer]:
    heads = fields.number("mamba_num_heads", "mamba_n_heads", "num_heads")
    head = fields.number("mamba_head_dim", "mamba_d_head", "hidden_size_per_head", "head_dim")
    size = fields.number("mamba_d_state", "ssm_state_size", "state_size")
    groups = fields.number("mamba_n_groups", "n_groups", default=1)
    past = max(0, fields.number("mamba_d_conv", "conv_kernel") - 1) * (heads * head + 2 * groups * size)
    state = _Layer(state=past + heads * head * size)
    if fields.number("mamba_d_ssm"):  # both in every layer
        return [_Layer(fields.row, state=state.state)] * fields.layers
    hybrid = ("hybrid_override_pattern", "layers_block_type", "layer_types", "full_attention_idx")
    return _mixed(fields, _Layer(fields.row), state) if fields.listed(*hybrid) else [state] * fields.layers


def _short_convolutions(fields: _Fields) -> list[_Layer]:
    past = max(0, fields.number("conv_L_cache") - 1) * fields.width
    if fields.listed("layer_types"):
        return _mixed(fields, _Layer(fields.row), _Layer(state=past))
    attends = fields.listed("full_attn_idxs")
    return [_Layer(fields.row) if layer in attends else _Layer(state=past) for layer in range(fields.layers)]


def _convolved_windows(fields: _Fields) -> list[_Layer]:
    heads = fields.number("num_swa_key_value_heads", default=fields.kv_heads)
    window = _Layer(0, fields.window, 2 * heads * fields.head, fields.row)
    return [window if kind == "window" else _Layer(fields.row, state=fields.row) for kind in fields.kinds()]


def _recurrent_units(fields: _Fields) -> list[_Layer]:
    width = fields.number("lru_width", default=fields.width)
    state = _Layer(state=max(0, fields.number("conv1d_width") - 1) * width, wide_state=width)
    window = _Layer(window=fields.number("attention_window_size"), window_row=2 * fields.head)
    return [window if kind == "window" else state for kind in fields.kinds()]


_LAYERS_OF: Mapping[Caches, Callable[[_Fields], list[_Layer]]] = {
    Caches.KEYS: _keys,
    Caches.WINDOWS: lambda fields: _mixed(fields, _Layer(fields.full_row), _Layer()),
    Caches.LOOPS: lambda fields: [_Layer(fields.row, fields.number("loop_window_size"), fields.row)] * fields.layers,
    Caches.LATENT: _latent,
    Caches.LATENT_WIDE: _latent_wide,
    Caches.LATENT_TWICE: lambda fields: _latent(fields) * 2,
    Caches.LATENT_INDEXED: lambda fields: (
        [_Layer(fields.latent_row + 2 * fields.number("index_head_dim"))] * fields.layers
    ),
    Caches.KEYS_INDEXED: _keys_indexed,
    Caches.COMPRESSED: _compressed,
    Caches.DELTA: _delta,
    Caches.DELTA_KEYED: _delta_keyed,
    Caches.LINEAR: _linear,
    Caches.STATE_SPACE: _state_space,
    Caches.STATE_SPACE_HEADS: _state_space_heads,
    Caches.SHORT_CONVOLUTIONS: _short_convolutions,
    Caches.CONVOLVED_WINDOWS: _convolved_windows,
    Caches.RECURRENT_UNITS: _recurrent_units,
    Caches.TOKEN_SHIFTS: lambda fields: (
        [_Layer(state=2 * fields.width, wide_state=fields.width * fields.head)] * fields.layers
    ),
}
