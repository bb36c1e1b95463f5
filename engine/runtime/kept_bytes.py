"""Where and how much the engine keeps from run to run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class KeptBytes:
    folder: Path | None  # of caches, calibrations and accept rates; None: nothing is kept
    caches_share: float  # most memory for kept caches, as a share of all
    caches_on_disk: int  # most bytes
