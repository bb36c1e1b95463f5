"""Gemma 4 assistants: a few layers that attend to the main model's keys and values, and draft a token at a time.

They have no keys and values of their own. Each layer attends to those of the main model's last layer of its type. They
are computed a second time, from that layer's input: a main model's cache is accessible only during a forward, while
these rows are kept, rolled back and stored like any drafter's.

A step is fed the embedding of the newest token and the state before it: the main model's at first, then its own. All
steps of a draft use one position, that of the main model's newest state: drafting adds no row.
"""

from __future__ import annotations

import inspect
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.cache import KVCache, RotatingKVCache
from mlx_lm.models.gemma4_text import DecoderLayer, ModelArgs

from engine.caches.base import CacheSet
from engine.drafting.proposers.chain import ChainProposer, Head
from engine.drafting.proposers.layers import Readings
from engine.models.access import ModelAccess, NoAccess
from engine.models.drafters import BODY, AssistantConfig
from engine.models.numbers import check_read_numbers

_FULL = "full_attention"
_SLIDING = "sliding_attention"
_CACHES = {_FULL: KVCache, _SLIDING: RotatingKVCache}


class AssistantDrafter(nn.Module, Head):
    """The network of a folder; it uses the main model's embedding, head and projections."""

    proposer = ChainProposer

    def __init__(self, config: AssistantConfig, main: ModelAccess) -> None:
        """Raises NoAccess where the main model has no layers whose keys and values fit."""
        super().__init__()
        self._config = config
        self._main = main
        self._types = tuple(sorted(set(config.layer_types)))
        self._sources = tuple(_last_layer(main, kind) for kind in self._types)
        self._ahead = 0  # tokens from the newest state to the draft's position
        self._state_first = False
        check_read_numbers(dict(config.text_config), inspect.signature(ModelArgs).parameters)
        sizes = ModelArgs.from_dict(dict(config.text_config))
        width = sizes.hidden_size
        main_width = config.info.main_width
        self.layers = [DecoderLayer(sizes, index) for index in range(len(config.layer_types))]
        self.embed_tokens = nn.Embedding(sizes.vocab_size, width)
        self.norm = nn.RMSNorm(width, eps=sizes.rms_norm_eps)
        self.pre_projection = nn.Linear(2 * main_width, width, bias=False)
        self.post_projection = nn.Linear(width, main_width, bias=False)
        if config.own_head:
            self.lm_head = nn.Linear(width, sizes.vocab_size, bias=False)
        if config.clusters:
            self.masked_embedding = _Clusters(width, sizes.vocab_size, config.clusters, config.likeliest_clusters)
        self._check_heads()

    @property
    def reads(self) -> tuple[int, ...]:
        """The main model's layers whose outputs are the inputs of those two."""
        return *(layer - 1 for layer in self._sources), BODY

    @property
    def row_bytes(self) -> int:
        """Bytes of the keys and values of one token, outside windows."""
        return sum(_bytes(rows) for kind, rows in self._one_row().items() if kind == _FULL)

    @property
    def window_bytes(self) -> int:
        """Bytes of the keys and values of a full window."""
        window: int = max(getattr(cache, "max_size", 0) for cache in self.make_cache())
        return window * sum(_bytes(rows) for kind, rows in self._one_row().items() if kind == _SLIDING)

    def make_cache(self) -> list[Any]:
        made = self._main.make_caches()
        return [made[layer] for layer in self._sources]

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Renames tensors. Raises ValueError if a drafted token would be outside the main model's vocabulary."""
        if self._config.clusters and "masked_embedding.token_ordering" in weights:
            self.masked_embedding.check(weights["masked_embedding.token_ordering"])
        return weights

    def read(self, tokens: mx.array, states: mx.array, caches: CacheSet) -> mx.array:
        """Returns its state (1, width) at the last of `tokens`."""
        *inputs, newest = mx.split(states, len(self.reads), axis=-1)

        def run() -> mx.array:
            for layer, rows, cache in zip(self._sources, inputs, caches.layers, strict=True):
                self._main.keep_rows(layer, rows, cache)
            return newest

        caches.forward(tokens.size, run)
        caches.commit(tokens.size)
        return self._forward(tokens[-1:], newest[-1:], caches)

    def step(self, token: mx.array, state: mx.array, caches: CacheSet) -> mx.array:
        return self._forward(token, self.post_projection(state), caches)

    def logits(self, state: mx.array) -> mx.array:
        if self._config.clusters:
            return self.masked_embedding(state, self.embed_tokens)
        return self.lm_head(state) if self._config.own_head else self.embed_tokens.as_linear(state)

    def other_readings(self) -> Readings:
        return {
            "position": ((self, "_ahead", 1 - self._ahead),),
            "order of the join": ((self, "_state_first", not self._state_first),),
        }

    def _forward(self, token: mx.array, state: mx.array, caches: CacheSet) -> mx.array:
        parts = [self._main.embed(token), state]
        rows = self.pre_projection(mx.concatenate(parts[::-1] if self._state_first else parts, axis=-1))[None]
        position = caches.position - 1 + self._ahead
        kept = dict(zip(self._types, map(_keys_and_values, caches.layers), strict=True))
        for kind, layer in zip(self._config.layer_types, self.layers, strict=True):
            rows, _, _ = layer(rows, shared_kv=kept[kind], offset=position)
        return self.norm(rows)[0]

    def _one_row(self) -> dict[str, tuple[mx.array, mx.array]]:
        """Keys and values of one token, by type of layer; for their shapes, never computed."""
        caches = self.make_cache()
        states = self._main.embed(mx.array([0]))
        for layer, cache in zip(self._sources, caches, strict=True):
            self._main.keep_rows(layer, states, cache)
        kept = (cache.keys_and_values() for cache in caches)
        return dict(zip(self._types, ((keys[..., :1, :], values[..., :1, :]) for keys, values in kept), strict=True))

    def _check_heads(self) -> None:
        """Raises NoAccess if sizes of heads differ: layers of another family may have the same width."""
        rows = self._one_row()
        for kind, layer in zip(self._config.layer_types, self.layers, strict=True):
            keys, _ = rows[kind]
            attention = layer.self_attn
            if keys.shape[-1] != attention.head_dim or attention.n_heads % keys.shape[1]:
                raise NoAccess(f"the main model has keys of {keys.shape[1]} × {keys.shape[-1]} numbers")


class _Clusters(nn.Module):
    """A head that computes logits for the tokens of the likeliest clusters only; all others are -inf."""

    def __init__(self, width: int, vocabulary: int, clusters: int, likeliest: int) -> None:
        super().__init__()
        self._clusters = clusters
        self._likeliest = likeliest
        self._vocabulary = vocabulary
        self.centroids = nn.Linear(width, clusters, bias=False)
        self.token_ordering = mx.zeros((vocabulary,), dtype=mx.int32)  # (vocabulary,), cluster by cluster

    def check(self, ordering: mx.array) -> None:
        """Raises ValueError: the device would read out of bounds."""
        whole = ordering.size == self._vocabulary and mx.issubdtype(ordering.dtype, mx.integer)
        if not whole or not mx.all((ordering >= 0) & (ordering < self._vocabulary)).item():
            raise ValueError("token_ordering does not name tokens")

    def __call__(self, states: mx.array, embedding: Any) -> mx.array:
        scores = self.centroids(states)
        chosen = mx.argpartition(scores, kth=-self._likeliest, axis=-1)[..., -self._likeliest :]
        tokens = self.token_ordering.reshape(self._clusters, -1)[chosen].reshape(states.shape[0], -1)
        found = (embedding(tokens) @ states[..., None])[..., 0]
        whole = mx.full((states.shape[0], self._vocabulary), -mx.inf, dtype=states.dtype)
        return mx.put_along_axis(whole, tokens, found.astype(states.dtype), axis=-1)


def _last_layer(main: ModelAccess, kind: str) -> int:
    """The last layer of the main model whose cache has rows of that kind."""
    caches = main.make_caches()
    found = [layer for layer, cache in enumerate(caches) if type(cache) is _CACHES[kind]]
    if not found or found[-1] == 0:
        raise NoAccess(f"the main model has no layer of {kind} behind its first")
    return found[-1]


def _bytes(rows: tuple[mx.array, mx.array]) -> int:
    return sum(part.nbytes for part in rows)


def _keys_and_values(cache: Any) -> tuple[mx.array, mx.array]:
    """What the newest token attends to; a step of several tokens returns more of a window."""
    keys, values = cache.keys_and_values()
    most = getattr(cache, "max_size", keys.shape[2])
    return keys[..., -most:, :], values[..., -most:, :]
