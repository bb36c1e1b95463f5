"""A model over this machine and others that lend their memory: which layers would be where."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.api.ranks import Helping, HubSource, RankPlan
from engine.cluster.lent import machine_offer
from engine.cluster.plan import plan_ranks
from engine.models.fit import model_memory_bytes

_NOWHERE = HubSource()


def plan_with(folder: Path | str, helping: Sequence[Helping], source: HubSource = _NOWHERE) -> RankPlan:
    """Asks each machine, which takes a while. Nothing is loaded. Raises ModelError or MachineUnavailable.

    A machine without the model learns its `source`, and shows that to its user.
    """
    offered = [machine_offer(each, folder, source).memory_bytes for each in helping]
    return plan_ranks(folder, (model_memory_bytes(), *offered), helping)
