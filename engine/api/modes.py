"""How a model runs over several ranks, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RankMode(StrEnum):
    """How a model runs over several ranks."""

    PIPELINE = "pipeline"  # each holds some of the layers, and a token goes through one after the other: makes room
    TENSOR = "tensor"  # each holds a part of every layer, and all compute at once: faster, too


class ModeReason(StrEnum):
    """Why a model runs over ranks in the mode that it does. Those of a pipeline say what tensor mode lacks."""

    ASKED = "asked"  # the caller named the mode
    FASTER = "faster"  # tensor: a forward on one machine takes at least `LEAST_GAIN` times as long as all sums in it
    FAMILY = "family"  # mlx-lm's code for this family does not divide its layers
    DIVISION = "division"  # its heads or quantization groups are no multiple of the number of ranks
    RANKS = "ranks"  # more than two; three where that is asked for, in families in which it has been tried
    CHIPS = "chips"  # the machines have different chips, which may round differently
    SYSTEMS = "systems"  # they have different builds of macOS
    LINK = "link"  # no RDMA between them: a Thunderbolt 5 cable, macOS 26.2, and `rdma_ctl enable` in Recovery on both
    MEMORY = "memory"  # an equal part does not fit the machine with the least memory
    SUMS = "sums"  # measured at the start: the sums in a forward take too long for this model


LEAST_GAIN = 3.0


@dataclass(frozen=True, slots=True)
class ModeChoice:
    """The mode of a model over several ranks, and why.

    `forward_s`: of one token on one machine, estimated from the speed of its memory; `sums_s`: of all sums that such a
    forward takes in tensor mode. Both are measured once the ranks have started; 0: they were not.
    """

    mode: RankMode = RankMode.PIPELINE
    reason: ModeReason = ModeReason.ASKED
    forward_s: float = 0.0
    sums_s: float = 0.0


PIPELINE = ModeChoice()
