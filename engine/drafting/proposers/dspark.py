"""DSpark: a block as DFlash's; a low-rank table adds logits by the token before, and a head gives its confidence."""

from __future__ import annotations

import mlx.core as mx
import mlx.nn as nn

from engine.drafting.proposers.dflash import BlockDrafter
from engine.models.access import ModelAccess
from engine.models.drafters import BlockConfig
from engine.models.model_files import flag


class MarkovHead(nn.Module):
    """Logits by the token before, as a low-rank table."""

    def __init__(self, config: BlockConfig, rank: int) -> None:
        super().__init__()
        rows = config.info.vocabulary_rows
        self.markov_w1 = nn.Embedding(rows, rank)
        self.markov_w2 = nn.Linear(rank, config.draft_vocabulary or rows, bias=False)
        if config.said.get("markov_head_type") == "gated":
            self.gate_proj = nn.Linear(config.backbone.width + rank, rank)

    def __call__(self, before: mx.array, state: mx.array) -> mx.array:
        likely = self.markov_w1(before)
        if "gate_proj" in self:
            likely = likely * mx.sigmoid(self.gate_proj(mx.concatenate([state, likely], axis=-1)))
        return self.markov_w2(likely)


class ConfidenceHead(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.proj = nn.Linear(width, 1)

    def __call__(self, rows: mx.array) -> mx.array:
        return mx.sigmoid(self.proj(rows)[:, 0].astype(mx.float32))


class DSparkDrafter(BlockDrafter):
    def __init__(self, config: BlockConfig, main: ModelAccess) -> None:
        super().__init__(config, main)
        rank = config.size("markov_rank", least=0)  # DeepSpec's DFlash is a DSpark without a table
        if rank:
            self.markov_head = MarkovHead(config, rank)
        known = rank if flag(config.said, "confidence_head_with_markov", default=True) else 0
        self._confides_with_markov = bool(known)
        if config.has("confidence_head.proj.weight", "enable_confidence_head", unsaid=False):
            self.confidence_head = ConfidenceHead(config.backbone.width + known)

    def step_logits(self, base: mx.array, before: mx.array, state: mx.array) -> mx.array:
        if "markov_head" in self:
            base = base + self.markov_head(before, state)
        return super().step_logits(base, before, state)

    def confidence(self, states: mx.array, before: mx.array) -> mx.array | None:
        if "confidence_head" not in self:
            return None
        parts = [states, self.markov_head.markov_w1(before)] if self._confides_with_markov else [states]
        return self.confidence_head(mx.concatenate(parts, axis=-1))
