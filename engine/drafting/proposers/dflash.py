"""DFlash: a block of tokens in one forward, from the main model's hidden states. Its successors change parts of it.

The network is fed the main model's states of all tokens but the newest: keys and values are projections of them, so
rows never change. A block is the newest token and masks after it; its rows attend to the whole context and to one
another. Each row of the block drafts its own token.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Sequence as Tokens
from dataclasses import replace
from itertools import accumulate
from typing import Any

import mlx.core as mx
import mlx.nn as nn

from engine.caches.base import CacheSet
from engine.decoding.accept import NO_DRAFT, Draft
from engine.decoding.sampling import Sampler
from engine.drafting.acceptance import Sharpness
from engine.drafting.plans import Plan
from engine.drafting.proposers.base import Wanted, joined, shortened
from engine.drafting.proposers.in_rows import InRows
from engine.drafting.proposers.layers import (
    OwnLayers,
    Projections,
    Readings,
    Residuals,
    normed_layers,
    rotated_otherwise,
)
from engine.drafting.proposers.rows import HeadRows, RowHead
from engine.models.access import ModelAccess
from engine.models.drafters import Backbone, BlockConfig

# (row number, token before it (1,)) -> that row's logits (1, vocabulary); called for each row in order
Walk = Callable[[int, mx.array], mx.array]

_REHEARSAL_TOKENS = 64


class Attention(Projections):
    """Queries of the block; keys and values of the context, from the cache, and of the block."""

    def __init__(self, sizes: Backbone, window: int, *, causal: bool, sinks: bool = False, gates: bool = False) -> None:
        super().__init__(sizes, sizes.width, norms=True)
        self._window = window
        self._causal = causal
        if sinks:
            self.attention_sink_bias = mx.zeros((sizes.heads,))
        if gates:
            self.g_proj = nn.Linear(sizes.width, sizes.heads, bias=False)

    def read(self, context: mx.array, rope: Any, cache: Any) -> None:
        keys, values = self._keys_values(context, rope, cache.offset)
        cache.update_and_fetch(keys, values)

    def __call__(self, block: mx.array, rope: Any, cache: Any) -> mx.array:
        """`cache`: a KVCache, or that of a batch's texts; it does not change."""
        queries = self._queries(block, rope, cache.offset)
        keys, values = self._keys_values(block, rope, cache.offset)
        lengths = getattr(cache, "lengths", [cache.offset])
        end = max(lengths)
        first = max(0, min(lengths) - self._window + 1) if self._window else 0
        if first < end:
            keys = mx.concatenate([cache.keys[..., first:end, :], keys], axis=2)
            values = mx.concatenate([cache.values[..., first:end, :], values], axis=2)
        sinks = self.attention_sink_bias.astype(queries.dtype) if "attention_sink_bias" in self else None
        gates = nn.softplus(self.g_proj(block).astype(mx.float32)).astype(block.dtype) if "g_proj" in self else None
        return self._mixed(queries, keys, values, self._mask(block.shape[1], lengths, first), sinks, gates)

    def other_order(self) -> tuple[Any, str, Any]:
        """The change that makes the block's attention causal, or not."""
        return self, "_causal", not self._causal

    def _mask(self, rows: int, lengths: list[int], first: int) -> mx.array | None:
        """Which keys each row of a block attends to (texts, 1, rows, keys): within the window those of its text, from
        position `first` on, and in its block all, or if causal those before.
        """
        end = max(lengths)
        if not self._causal and min(lengths) == end and (not self._window or end - first + rows <= self._window):
            return None
        held = mx.array(lengths)[:, None]
        of_block = held + mx.arange(rows)
        of_text = mx.broadcast_to(mx.arange(first, end), (len(lengths), end - first))
        keys = mx.concatenate([of_text, of_block], axis=1)[:, None, None]
        queries = of_block[:, None, :, None]
        there = mx.concatenate([of_text < held, of_block >= held], axis=1)[:, None, None]
        mask = there & (keys <= (queries if self._causal else queries[:, :, -1:]))
        return mask & (keys > queries - self._window) if self._window else mask


class Layer(Residuals):
    def __init__(self, config: BlockConfig, index: int) -> None:
        super().__init__(config.backbone)
        self.self_attn = Attention(
            config.backbone,
            config.windows[index],
            causal=config.causal[index],
            sinks=config.sinks,
            gates=config.is_laguna,
        )

    def __call__(self, block: mx.array, rope: Any, cache: Any) -> mx.array:
        return self._fed(self._attended(block, self.self_attn(self.input_layernorm(block), rope, cache)))


def draft_rows(walk: Walk, newest: mx.array, position: int, plan: Plan, sampler: Sampler) -> Draft:
    """Draft `plan.length` tokens from `position` on, each sampled from its row's logits."""
    drafts = list[Draft]()
    before = newest
    for row in range(plan.length):
        ahead = mx.concatenate([draft.tokens for draft in drafts]) if drafts else None
        drafts.append(sampler.draft(walk(row, before), position + row, ahead, Sharpness.LEVELS, plan.sharpness))
        before = drafts[-1].tokens
    return joined(drafts, with_probabilities=plan.stop is not None)


class BlockProposer(InRows):
    @property
    def _longest(self) -> int:
        return int(self._network.tokens)

    def propose(self, tokens: Tokens[int], plan: Plan, sampler: Sampler) -> Draft:
        """Computes a whole block, as in training, and samples `plan.length` tokens of it."""
        drafted = self.drafted_in_rows()
        if drafted is not None:
            return drafted
        self.context.follow(tokens)
        self.context.read()
        newest = mx.array(list(tokens[-1:]), dtype=mx.uint32)
        states = self._network.block(newest, self.context.caches)[: plan.length]
        return self._sampled(states, self._network.base_logits(states), newest, len(tokens), plan, sampler)

    def propose_together(self, rows: HeadRows, states: mx.array, wanted: Tokens[Wanted]) -> Tokens[Draft]:
        newest = mx.array([each.tokens[-1] for each in wanted], dtype=mx.uint32)
        blocks = self._network.ahead(newest, states, rows.layers)
        parts = [block[: each.plan.length] for block, each in zip(blocks, wanted, strict=True)]
        ends = list(accumulate(each.plan.length for each in wanted))
        logits = mx.split(self._network.base_logits(mx.concatenate(parts)), ends[:-1])
        return [
            self._sampled(part, base, newest[row : row + 1], len(each.tokens), each.plan, each.sampler)
            if each.plan.length
            else NO_DRAFT
            for row, (part, base, each) in enumerate(zip(parts, logits, wanted, strict=True))
        ]

    def _sampled(
        self, states: mx.array, logits: mx.array, newest: mx.array, position: int, plan: Plan, sampler: Sampler
    ) -> Draft:
        """A draft after `newest` (1,) by a block's `states` (plan.length, width) and their own `logits`."""
        draft = draft_rows(self._network.walk(states, logits), newest, position, plan, sampler)
        sure = self._network.confidence(states, mx.concatenate([newest, draft.tokens[:-1]]))
        if sure is not None and plan.stop is not None:
            draft = replace(draft, probabilities=sure)
        return shortened(draft, plan)


class BlockDrafter(OwnLayers, RowHead):
    """The network of a folder; it uses the main model's embedding and head."""

    reads_next_token = False
    proposer = BlockProposer
    _config: BlockConfig

    def __init__(self, config: BlockConfig, main: ModelAccess) -> None:
        super().__init__(config, main, config.info.layers)
        sizes = config.backbone
        self.fc = nn.Linear(self.reads_width, sizes.width, bias=False)
        self.hidden_norm = nn.RMSNorm(sizes.width, eps=sizes.norm_eps)
        if config.is_laguna:
            self.aux_hidden_norms = [nn.RMSNorm(sizes.width, eps=sizes.norm_eps) for _ in config.info.layers]
        self.layers = [Layer(config, index) for index in range(sizes.layers)]
        if config.draft_vocabulary:
            self.lm_head = nn.Linear(sizes.width, config.draft_vocabulary, bias=False)

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Queries, keys and values may be one product in the folder."""
        weights = super().sanitize(weights)
        sizes = self._config.backbone
        ends = [sizes.heads * sizes.head_width, (sizes.heads + sizes.kv_heads) * sizes.head_width]
        for name in [name for name in weights if ".qkv_proj." in name]:
            for part, rows in zip("qkv", mx.split(weights.pop(name), ends), strict=True):
                weights[name.replace("qkv", part)] = rows
        return weights

    @property
    def tokens(self) -> int:
        """The most tokens that a block drafts."""
        return self._config.tokens

    def rows(self, tokens: mx.array, states: mx.array, layers: Sequence[Any]) -> mx.array:
        contexts = self._contexts(states)
        for layer, cache, context in zip(self.layers, layers, contexts, strict=True):
            layer.self_attn.read(context, self._rope, cache)
        return contexts[0]

    def _contexts(self, states: mx.array) -> Sequence[mx.array]:
        """The context rows that each layer reads, (texts, n, width)."""
        if "aux_hidden_norms" in self:
            states = normed_layers(self.aux_hidden_norms, states)
        return [self.hidden_norm(self.fc(states))] * len(self.layers)

    def block(self, newest: mx.array, caches: CacheSet) -> mx.array:
        """The states (tokens, width) that draft what follows `newest` (1,). The caches do not change."""
        return self.ahead(newest, newest, caches.layers)[0]

    def ahead(self, tokens: mx.array, states: mx.array, layers: Sequence[Any]) -> mx.array:
        """The caches do not change; a block depends on no `states` but those that were read."""
        config = self._config
        masks = mx.full((tokens.size, config.block_rows - 1), config.mask_token, dtype=mx.uint32)
        rows = self._main.embed(mx.concatenate([tokens[:, None].astype(mx.uint32), masks], axis=1))
        if config.embedding_scale != 1:
            rows = rows * mx.array(config.embedding_scale, rows.dtype)
        for layer, cache in zip(self.layers, layers, strict=True):
            rows = layer(rows, self._rope, cache)
        return self.norm(rows)[:, 0 if config.anchor_first else 1 :]

    def base_logits(self, states: mx.array) -> mx.array:
        """Each row's own logits, scaled and capped by the drafter's config, not the main model's."""
        config = self._config
        logits = self.lm_head(states) if config.draft_vocabulary else self._main.projected(states)
        if config.output_scale != 1:
            logits = logits * config.output_scale
        return mx.tanh(logits / config.softcap) * config.softcap if config.softcap else logits

    def walk(self, states: mx.array, base: mx.array) -> Walk:
        """The logits of a block's rows, from the states that `block` returned and their `base_logits`."""
        return lambda row, before: self.step_logits(base[row : row + 1], before, states[row : row + 1])

    def step_logits(self, base: mx.array, before: mx.array, state: mx.array) -> mx.array:
        """Logits (1, vocabulary) of a row with `state` (1, width), given the token `before` (1,)."""
        return self._in_main_vocabulary(base)

    def confidence(self, states: mx.array, before: mx.array) -> mx.array | None:
        """The drafter's confidence in each token (n,), if it has such a head; `before` (n,): the tokens before."""
        return None

    def other_readings(self) -> Readings:
        config = self._config
        return {
            "rotation": rotated_otherwise(self._rope),
            "first row": ((self, "_config", replace(config, anchor_first=not config.anchor_first)),),
            "order in a block": tuple(layer.self_attn.other_order() for layer in self.layers),
            **self._other_layers(),
        }

    def rehearse(self, length: int, caches: CacheSet) -> mx.array:
        """Run a draft of `length` tokens to time it."""
        if not caches.position:
            states = mx.zeros((_REHEARSAL_TOKENS, self.reads_width), self._main.precision)
            self.read(mx.zeros((_REHEARSAL_TOKENS,), mx.uint32), states, caches)
        before = mx.zeros((1,), dtype=mx.uint32)
        states = self.block(before, caches)[:length]
        walk = self.walk(states, self.base_logits(states))
        return mx.concatenate([mx.argmax(walk(row, before), axis=-1) for row in range(length)])
