"""How long and how fast one part of the starter learns. No torch."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """How long and how fast one model learns."""

    steps: int
    rate: float
    seed: int
    short: tuple[int, int] = (16, 256)  # rows, tokens in a row
    long: tuple[int, int] = (2, 2048)  # the last part of the steps: long chats must stay sane
    long_share: float = 0.12
    warm_up: int = 100
    decay: float = 0.1
    compiled: bool = True  # minutes of compiling, then steps a few times as fast
    half: bool = True  # most of it in bf16, where the processor has that: elsewhere it takes fifty times as long
    average: float = 0.998  # weights kept are a moving average: smoother than the last step's

    def shape_at(self, step: int) -> tuple[int, int]:
        return self.long if step >= self.steps * (1 - self.long_share) else self.short

    def rate_at(self, step: int) -> float:
        warm_up = min(self.warm_up, self.steps // 10)
        if step < warm_up:
            return self.rate * (step + 1) / warm_up
        done = (step - warm_up) / max(1, self.steps - warm_up)
        return self.rate * (0.03 + 0.97 * 0.5 * (1 + math.cos(math.pi * done)))
