"""A `TokenMap` for arrays: a draft's logits over the main model's vocabulary, and drafted tokens as the draft's.

A token of the main model that the draft does not have gets -inf. So every drafted token is one of the main model's,
drawn with the noise of the main model's position.
"""

from __future__ import annotations

import mlx.core as mx

from engine.models.token_map import TokenMap


class Translation:
    def __init__(self, tokens: TokenMap, main_rows: int) -> None:
        self.tokens = tokens
        single = tokens.single
        self._source = mx.array([single.get(token, 0) for token in range(main_rows)], dtype=mx.uint32)
        self._shared = mx.array([token in single for token in range(main_rows)])
        mx.eval(self._source, self._shared)

    def logits(self, logits: mx.array) -> mx.array:
        """`logits` (n, draft rows) of the draft as those of the main model's tokens (n, main rows)."""
        return mx.where(self._shared, mx.take(logits, self._source, axis=-1), mx.array(-mx.inf, logits.dtype))

    def drafted(self, tokens: mx.array) -> mx.array:
        """Drafted `tokens` (n,), of the main model, as the draft's."""
        return self._source[tokens]
