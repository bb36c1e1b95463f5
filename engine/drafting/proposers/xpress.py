"""XPress: a block as DFlash's, and a refiner that adds to each row's logits what the tokens before it make likely.

    a(k) = W [D h(k); G mean(h); e(token before row k)]
    x(k) = a(k) + sum of L(k, j) * a(j) over the rows j up to k
    logits(k) = head(h(k)) + R (x(k) + MLP(x(k)))

vLLM refines the whole block some times in parallel, each time after the tokens of the time before. A row sees no later
one, so that ends at what one row after another gives at once. Row 0, where it drafts nothing, is one of those rows: the
token before it is the one before the newest, or at the beginning of a text the newest itself.
"""

from __future__ import annotations

import mlx.core as mx
import mlx.nn as nn

from engine.caches.base import CacheSet
from engine.drafting.proposers.dflash import BlockDrafter, Walk
from engine.models.access import ModelAccess
from engine.models.drafters import BlockConfig


class RefinerHead(nn.Module):
    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        assert config.refiner is not None
        rank, inner, width = config.refiner.rank, config.refiner.mlp_width, config.backbone.width
        rows = config.info.vocabulary_rows
        self.token_embed = nn.Embedding(rows, rank)
        self.down_h, self.down_g = nn.Linear(width, rank, bias=False), nn.Linear(width, rank, bias=False)
        self.in_proj = nn.Linear(3 * rank, rank, bias=False)
        self.mix_l = mx.zeros((rank, config.block_rows, config.block_rows))
        self.mlp_gate, self.mlp_up = nn.Linear(rank, inner, bias=False), nn.Linear(rank, inner, bias=False)
        self.mlp_down = nn.Linear(inner, rank, bias=False)
        self.readout = nn.Linear(rank, config.draft_vocabulary or rows, bias=False)

    def summaries(self, states: mx.array) -> mx.array:
        """Of each row and of the block (rows, 2 * rank), from the `states` (rows, width) of all its rows."""
        block = mx.broadcast_to(self.down_g(states.mean(axis=0, keepdims=True)), (states.shape[0], self.mix_l.shape[0]))
        return mx.concatenate([self.down_h(states), block], axis=-1)

    def read(self, summary: mx.array, before: mx.array) -> mx.array:
        """a(k) (1, rank) of a row with that summary (1, 2 * rank), given the token `before` (1,)."""
        return self.in_proj(mx.concatenate([summary, self.token_embed(before).astype(summary.dtype)], axis=-1))

    def added(self, read: mx.array) -> mx.array:
        """What is added to the logits (1, drafted) of the last of the rows read so far (k, rank)."""
        count = read.shape[0]
        mixed = read[-1:] + (self.mix_l[:, count - 1, :count].T * read).sum(axis=0, keepdims=True)
        return self.readout(mixed + self.mlp_down(nn.silu(self.mlp_gate(mixed)) * self.mlp_up(mixed)))


class XPressDrafter(BlockDrafter):
    def __init__(self, config: BlockConfig, main: ModelAccess) -> None:
        super().__init__(config, main)
        self.refiner_head = RefinerHead(config)

    def block(self, newest: mx.array, caches: CacheSet) -> mx.array:
        """The states of all rows, the first one's too if it drafts nothing."""
        return self.all_rows(newest, caches)

    def walk(
        self, states: mx.array, length: int, last: mx.array | None = None, earlier: mx.array | None = None
    ) -> Walk:
        head, first = self.refiner_head, 0 if self._config.anchor_first else 1
        base, summaries, read = (
            self.base_logits(states[first : first + length]),
            head.summaries(states),
            list[mx.array](),
        )

        def logits(row: int, before: mx.array) -> mx.array:
            if first and not row:
                read.append(head.read(summaries[:1], before if earlier is None else earlier))
            read.append(head.read(summaries[row + first : row + first + 1], before))
            return self._in_main_vocabulary(base[row : row + 1] + head.added(mx.concatenate(read)))

        return logits
