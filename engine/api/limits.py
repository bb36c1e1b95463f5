"""Ranges of a request's numbers: one definition for checks and for what the app offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from engine.api.types import MAX_SEED


@dataclass(frozen=True, slots=True)
class Limits:
    low: float
    high: float = inf
    or_zero: bool = False  # 0 is allowed below `low`: off
    whole: bool = False

    def allow(self, value: float) -> bool:
        """False for NaN and infinity."""
        return value < inf and (self.low <= value <= self.high or (self.or_zero and value == 0))

    def nearest(self, value: float) -> float:
        """`value` if allowed; below `low` 0, if that is allowed; else the nearer limit."""
        if self.allow(value):
            return value
        return 0.0 if self.or_zero and value < self.low else min(max(value, self.low), self.high)

    def __str__(self) -> str:
        high = "" if self.high == inf else _shown(self.high)
        return f"{'0 | ' if self.or_zero else ''}{_shown(self.low)}..{high}"


# By the fields of `Sampling`. Lower limits above 0 keep quotients and logarithms within float32.
SAMPLING_LIMITS: Mapping[str, Limits] = {
    "temperature": Limits(0.001, 10, or_zero=True),
    "top_p": Limits(1e-6, 1, or_zero=True),
    "top_k": Limits(0, whole=True),
    "min_p": Limits(0, 1),
    "repetition_penalty": Limits(0.01, 10),
    "presence_penalty": Limits(-10, 10),
    "frequency_penalty": Limits(-10, 10),
    "xtc_probability": Limits(0, 1),
    "xtc_threshold": Limits(0, 0.5),
    "seed": Limits(0, MAX_SEED, whole=True),
}


def _shown(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:.6f}".rstrip("0").rstrip(".")
