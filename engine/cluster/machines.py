"""A model over this machine and others that lend their memory: which layers would be where."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.api.ranks import Helping, RankPlan
from engine.cluster.lent import machine_offer
from engine.cluster.plan import plan_ranks
from engine.models.fit import model_memory_bytes


def plan_with(folder: Path | str, helping: Sequence[Helping]) -> RankPlan:
    """Asks each machine, which takes a while. Nothing is loaded. Raises ModelError or MachineUnavailable."""
    offered = [machine_offer(each, folder).memory_bytes for each in helping]
    return plan_ranks(folder, (model_memory_bytes(), *offered), helping)
