"""LiliCorr: a block as DFlash's, and a small transformer that sees the likeliest candidates of all its rows at once.

Of each candidate it makes an outgoing and an incoming vector. A row's candidates are scored by the
cosines (times a constant) of their incoming vectors with the outgoing one of the token before; before the first row
comes the vector of the last token that was read. The block's own log-probabilities are input features only:

    x = P e(token) + Q h(row) + F [log p, p, log p - best, rank, is first] + slot + rank
    f = silu(W [x', a, x' * a]) with x' the transformer's x and a = norm(C c), c the last token's context
    out, in = A f, B f, each of length 1; score(u -> v) = scale * out(u) . in(v)
"""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import mlx.nn as nn

from engine.drafting.proposers.dflash import BlockDrafter, Walk
from engine.models.access import ModelAccess
from engine.models.drafters import BlockConfig, Lattice

_FEATURES = 5


class _MLP(nn.Module):
    def __init__(self, read: int, width: int, made: int) -> None:
        super().__init__()
        self.up_proj, self.down_proj = nn.Linear(read, width), nn.Linear(width, made)

    def __call__(self, rows: mx.array) -> mx.array:
        return self.down_proj(nn.silu(self.up_proj(rows)))


class _Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self._heads = heads
        self.in_proj_weight, self.in_proj_bias = mx.zeros((3 * width, width)), mx.zeros((3 * width,))
        self.out_proj = nn.Linear(width, width)

    def __call__(self, rows: mx.array, bias: mx.array) -> mx.array:
        count, width = rows.shape
        projected = mx.addmm(self.in_proj_bias, rows, self.in_proj_weight.T)
        parts = [part.reshape(1, count, self._heads, -1).swapaxes(1, 2) for part in mx.split(projected, 3, axis=-1)]
        scale = (width // self._heads) ** -0.5
        mixed = mx.fast.scaled_dot_product_attention(*parts, scale=scale, mask=bias)
        return self.out_proj(mixed.swapaxes(1, 2).reshape(count, width))


class _Layer(nn.Module):
    def __init__(self, lattice: Lattice, eps: float) -> None:
        super().__init__()
        self.attn_norm = nn.RMSNorm(lattice.width, eps=eps)
        self.attn = _Attention(lattice.width, lattice.heads)
        self.mlp_norm = nn.RMSNorm(lattice.width, eps=eps)
        self.mlp = _MLP(lattice.width, lattice.mlp_width, lattice.width)

    def __call__(self, rows: mx.array, bias: mx.array) -> mx.array:
        rows = rows + self.attn(self.attn_norm(rows), bias)
        return rows + self.mlp(self.mlp_norm(rows))


class Correlator(nn.Module):
    """Scores of all steps from a candidate of one row to a candidate of the next."""

    def __init__(self, lattice: Lattice, width: int, slots: int, eps: float) -> None:
        super().__init__()
        self._lattice, own = lattice, lattice.width
        if own != width:
            self.token_proj = nn.Linear(width, own)
        self.pass_hidden_proj, self.context_proj = nn.Linear(width, own), nn.Linear(width, own)
        self.feature_norm, self.feature_mlp = nn.LayerNorm(_FEATURES), _MLP(_FEATURES, own, own)
        self.slot_embedding = mx.zeros((1, 1, slots, 1, own))
        self.rank_embedding = mx.zeros((1, 1, 1, lattice.candidates, own))
        self.relative_slot_bias = mx.zeros((lattice.heads, 2 * slots + 1))
        self.same_slot_bias = mx.zeros((lattice.heads,))
        self.layers = [_Layer(lattice, eps) for _ in range(lattice.layers)]
        self.output_norm, self.anchor_norm = nn.RMSNorm(own, eps=eps), nn.RMSNorm(own, eps=eps)
        self.factor_input_proj = nn.Linear(3 * own, own)
        self.out_head, self.in_head = nn.Linear(own, lattice.factor_width), nn.Linear(own, lattice.factor_width)
        self.anchor_out_head = nn.Linear(own, lattice.factor_width)

    def __call__(
        self, embedded: mx.array, log_probabilities: mx.array, states: mx.array, last: mx.array | None
    ) -> tuple[mx.array, mx.array]:
        """Scores (candidates) of the first row's, and (rows - 1, candidates, candidates) of each later row's given the
        one before.

        `embedded` (rows, candidates, width), `log_probabilities` (rows, candidates), `states` (rows, width); `last`
        (1, width): the context of the last token that was read, if it is known.
        """
        rows, candidates = log_probabilities.shape
        made = self._inputs(embedded, log_probabilities, states).reshape(rows * candidates, -1)
        bias = self._bias(rows, candidates).astype(made.dtype)
        for layer in self.layers:
            made = layer(made, bias)
        made = self.output_norm(made)
        anchor = mx.zeros((1, made.shape[-1]), made.dtype) if last is None else self.context_proj(last)
        anchor = self.anchor_norm(anchor)
        beside = mx.broadcast_to(anchor, made.shape)
        factors = nn.silu(self.factor_input_proj(mx.concatenate([made, beside, made * beside], axis=-1)))
        leaving, entering = (
            self._unit(head(factors)).reshape(rows, candidates, -1) for head in (self.out_head, self.in_head)
        )
        scale = self._lattice.scale
        first = self._unit(self.anchor_out_head(anchor)) @ entering[0].T
        return first[0] * scale, leaving[:-1] @ entering[1:].swapaxes(-1, -2) * scale

    def _inputs(self, embedded: mx.array, log_probabilities: mx.array, states: mx.array) -> mx.array:
        count, own = log_probabilities.shape[1], self.slot_embedding.dtype
        ranks = mx.arange(count)
        features = [
            log_probabilities,
            mx.exp(log_probabilities),
            log_probabilities - log_probabilities[:, :1],
            mx.broadcast_to(ranks / max(1, count - 1), log_probabilities.shape),
            mx.broadcast_to((ranks == 0).astype(mx.float32), log_probabilities.shape),
        ]
        tokens = embedded.astype(own)
        made = self.token_proj(tokens) if "token_proj" in self else tokens
        made = made + self.pass_hidden_proj(states)[:, None]
        made = made + self.feature_mlp(self.feature_norm(mx.stack(features, axis=-1).astype(own)))
        return made + self.slot_embedding[0, 0] + self.rank_embedding[0, 0]

    def _bias(self, rows: int, candidates: int) -> mx.array:
        slots = mx.repeat(mx.arange(rows), candidates)
        apart = slots[:, None] - slots[None]
        middle = self.relative_slot_bias.shape[1] // 2
        return self.relative_slot_bias[:, apart + middle] + self.same_slot_bias[:, None, None] * (apart == 0)

    def _unit(self, vectors: mx.array) -> mx.array:
        vectors = vectors.astype(mx.float32)
        return vectors / mx.maximum(mx.linalg.norm(vectors, axis=-1, keepdims=True), self._lattice.vector_eps)


class LiliCorrDrafter(BlockDrafter):
    needs_last_row = True

    def __init__(self, config: BlockConfig, main: ModelAccess) -> None:
        super().__init__(config, main)
        assert config.lattice is not None
        self._candidates = config.lattice.candidates
        self.lilicorr = Correlator(config.lattice, config.backbone.width, config.tokens, config.backbone.norm_eps)

    def walk(
        self, states: mx.array, length: int, last: mx.array | None = None, earlier: mx.array | None = None
    ) -> Walk:
        base = self.base_logits(states)
        tokens = mx.argpartition(-base, kth=self._candidates - 1, axis=-1)[:, : self._candidates]
        likely = mx.take_along_axis(base, tokens, axis=-1).astype(mx.float32)
        order = mx.argsort(-likely, axis=-1)
        tokens, likely = mx.take_along_axis(tokens, order, axis=-1), mx.take_along_axis(likely, order, axis=-1)
        likely = likely - mx.logsumexp(base.astype(mx.float32), axis=-1, keepdims=True)
        first, pairs = self.lilicorr(self._main.embed(tokens), likely, states, last)

        def logits(row: int, before: mx.array) -> mx.array:
            scores = first if row == 0 else pairs[row - 1, mx.argmax(tokens[row - 1] == before)]
            wide = mx.full((1, base.shape[-1]), -mx.inf, mx.float32)
            return mx.put_along_axis(wide, tokens[row : row + 1], scores[None].astype(mx.float32), axis=-1)

        return logits

    def other_readings(self) -> dict[str, tuple[tuple[Any, str, Any], ...]]:
        """Not the first row: there are as many slots as rows after it."""
        return {name: changes for name, changes in super().other_readings().items() if name != "first row"}
