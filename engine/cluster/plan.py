"""Which rank holds which layers, by the files, and by what other machines offer. Nothing is loaded, and no process is
started. No MLX is needed.

`models/memory.py` checks again in every rank, with the network itself, and decides.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType

from engine.api.connections import is_loopback
from engine.api.errors import InvalidRequest, ModelDamaged, ModelNotSplittable
from engine.api.modes import PIPELINE, ModeChoice, ModeReason, RankMode
from engine.api.ranks import (
    MOST_RANKS,
    Helping,
    HubSource,
    RankPlan,
    RankShare,
    SplitRefusal,
)
from engine.api.types import CacheSizes, ModelInfo
from engine.cluster.modes import SHARDED, family_problem, link_problem
from engine.machines.computers import Computer
from engine.machines.lent import NOWHERE, machine_offer
from engine.models.families import SAME_AS
from engine.models.fit import LEAST_CONTEXT_TOKENS, OVERHEAD, aside_bytes, model_memory_bytes
from engine.models.inspect import inspect_model, read_config, text_tensors
from engine.models.model_files import FileError, Tensor, whole

# Families that mlx-lm runs as a pipeline of any division; a test compares this with its code.
PIPELINES = frozenset(
    (
        *("bailing_hybrid", "deepseek_v2", "deepseek_v3", "deepseek_v32", "glm4_moe", "glm4_moe_lite", "glm_moe_dsa"),
        *("kimi_k25", "minimax_m3_vl", "ministral3", "mistral4", "prism_hadamard_qwen35", "qwen2", "qwen3_5"),
        *("qwen3_5_moe", "qwen3_moe", "qwen3_next", "solar_open"),
    )
)
# Families without one that are one layer after another with the same mask: `stage.py` cuts them.
STACKS = frozenset(
    (
        *("apertus", "cohere", "ernie4_5", "gemma", "gemma2", "glm", "glm4", "granite", "helium", "hunyuan_v1_dense"),
        *("internlm2", "internlm3", "llama", "mimo", "minicpm", "minicpm3", "mixtral", "nemotron"),
        *("olmo2", "olmoe", "phi3", "phimoe", "qwen2_moe", "qwen3", "seed_oss", "starcoder2", "telechat3"),
        "youtu_llm",
    )
)
SPLITTABLE = PIPELINES | STACKS
REFUSED: Mapping[str, SplitRefusal] = MappingProxyType(
    {
        "deepseek_v41": SplitRefusal.ROLLBACK,
        "kimi_k3": SplitRefusal.SPLIT,
        "muse_spark": SplitRefusal.UNTRIED,
    }
)
_REFUSALS = MappingProxyType({ModeReason.DIVISION: SplitRefusal.SPLIT, ModeReason.RANKS: SplitRefusal.UNTRIED})
_GROUP = "layer_group_size"  # bailing_hybrid: every rank needs the layer at the end of a group of so many
_LAYER = re.compile(r"(?:^|\.)layers\.(\d+)\.")
_HALF = frozenset({"F16", "BF16"})


def plan_ranks(
    folder: Path | str,
    available_bytes: Sequence[int],
    machines: Sequence[Helping] = (),
    *,
    mode: RankMode | None = None,
    computers: Sequence[Computer] = (),
    widened: bool = sys.platform != "darwin",
) -> RankPlan:
    """Divide a model's layers so that of every rank's memory, given by rank, the same part is used; or each layer into
    equal parts, in tensor mode.

    `machines`: where the ranks from 1 on run; those beyond run here. `mode`: None chooses, by `computers`. Tensor mode
    that these machines cannot have becomes a pipeline, with the reason.

    Raises ModelNotSplittable with the reason, or another ModelError. A plan that does not fit is a plan, too.
    `widened`: half precision is computed in float32, as the engine does on a CPU.
    """
    if not 2 <= len(available_bytes) <= MOST_RANKS:
        raise InvalidRequest("ranks", str(len(available_bytes)), f"2..{MOST_RANKS}")
    path = Path(folder).absolute()
    info = inspect_model(path)
    try:
        config = read_config(path)
        tensors = text_tensors(path)
        problem = family_problem(_family(info), len(available_bytes), config, tensors)
        together = max(1, whole(config, _GROUP, 1)) if _family(info) == "bailing_hybrid" else 1
    except (FileError, OSError) as error:
        raise ModelDamaged(str(path), str(error)) from error
    sizes = _sizes(info, tensors, widened)
    context = min(info.context_tokens, LEAST_CONTEXT_TOKENS)
    shares = tuple(sizes.part(place, available_bytes, context) for place in range(len(available_bytes)))
    if mode is RankMode.TENSOR and problem is not None:
        raise ModelNotSplittable(str(path), info.model_type, _REFUSALS.get(problem, SplitRefusal.LAYERS))
    is_one_machine = all(is_loopback(each.machine.address.rpartition(":")[0].strip("[]")) for each in machines)
    link = link_problem(len(shares), computers)
    wanted_link = None if is_one_machine else link  # there MLX's ring sums
    memory = None if all(share.fits for share in shares) else ModeReason.MEMORY
    lacking = problem or wanted_link or memory
    choice = _choice(mode, wanted_link) if mode is not None else _choice(mode, problem or link or memory)
    if choice.mode is RankMode.PIPELINE:
        if refused := _pipeline_problem(info):
            raise refused
        if len(sizes.layers) < len(available_bytes) * together:
            raise ModelNotSplittable(str(path), info.model_type, SplitRefusal.FEW_LAYERS)
        shares = divided(sizes, available_bytes, context, together)
    places = zip_longest(
        shares, (None, *machines[: len(shares) - 1]), (each.rdma for each in computers), fillvalue=None
    )
    held = (replace(share, helping=where, rdma=rdma or "") for share, where, rdma in places if share is not None)
    return RankPlan(str(path), context, tuple(held), choice, lacking, _pipeline_problem(info) is None)


def plan_with(
    folder: Path | str, helping: Sequence[Helping], source: HubSource = NOWHERE, mode: RankMode | None = None
) -> RankPlan:
    """Which layers would be where, with what these machines offer. Nothing is loaded. `mode`: as for `plan_ranks`.

    Asks each machine, which takes a while. Raises ModelError or MachineUnavailable. A machine without the model learns
    its `source`, and shows that to its user.
    """
    if len({each.machine.fingerprint for each in helping}) < len(helping):
        raise InvalidRequest("machines", ", ".join(each.machine.name for each in helping), "each machine once")
    offers = [machine_offer(each, folder, source) for each in helping]
    sizes = model_memory_bytes() - aside_bytes(), *(offer.memory_bytes for offer in offers)
    return plan_ranks(folder, sizes, helping, mode=mode, computers=offers[0].computers if len(offers) == 1 else ())


def _choice(mode: RankMode | None, lacking: ModeReason | None) -> ModeChoice:
    if mode is RankMode.PIPELINE:
        return PIPELINE
    if lacking is not None:
        return ModeChoice(RankMode.PIPELINE, lacking)
    return ModeChoice(RankMode.TENSOR, ModeReason.FASTER if mode is None else ModeReason.ASKED)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of a model's parts in memory."""

    layers: tuple[int, ...]
    first: int  # what the rank with the first layers needs besides: the embedding
    last: int  # what rank 0 needs besides: norm and head
    caches: CacheSizes  # of all layers

    def share(self, first: int, end: int, available_bytes: int, context_tokens: int) -> RankShare:
        weights = sum(self.layers[first:end])
        weights += self.first * (first == 0) + self.last * (end == len(self.layers))
        part = (end - first) / len(self.layers)
        chat = part * (self.caches.fixed_bytes + context_tokens * self.caches.token_bytes)
        return RankShare(first, end, weights, int(weights * OVERHEAD + chat), available_bytes)

    def part(self, place: int, available_bytes: Sequence[int], context_tokens: int) -> RankShare:
        """In tensor mode: of all layers, with the whole embedding; the head at place 0."""
        ranks = len(available_bytes)
        weights = sum(self.layers) // ranks + self.first + (self.last if place == 0 else 0)
        chat = (self.caches.fixed_bytes + context_tokens * self.caches.token_bytes) / ranks
        return RankShare(0, len(self.layers), weights, int(weights * OVERHEAD + chat), available_bytes[place])


def divided(
    sizes: Sizes, available_bytes: Sequence[int], context_tokens: int, together: int = 1
) -> tuple[RankShare, ...]:
    """The division whose fullest rank is the least full; of equal ones that with the fewest layers in high ranks."""
    layers = len(sizes.layers)

    @cache
    def best(rank: int, first: int) -> tuple[float, tuple[RankShare, ...]]:
        """Of the layers from `first` on, over ranks `rank` to 0."""
        if rank == 0:
            return _with((), sizes.share(first, layers, available_bytes[0], context_tokens), 0.0)
        ends = range(first + together, layers - rank * together + 1, together)
        held = ((sizes.share(first, end, available_bytes[rank], context_tokens), best(rank - 1, end)) for end in ends)
        return min((_with(rest, share, fullest) for share, (fullest, rest) in held), key=lambda found: found[0])

    return best(len(available_bytes) - 1, 0)[1]


def _with(rest: tuple[RankShare, ...], share: RankShare, fullest: float) -> tuple[float, tuple[RankShare, ...]]:
    return max(fullest, share.needed_bytes / max(1, share.available_bytes)), (*rest, share)


def split_problem(info: ModelInfo) -> ModelNotSplittable | None:
    """Why it cannot run over several machines, by its family alone; None: it may."""
    if info.drafter is None and _family(info) in SHARDED:
        return None
    return _pipeline_problem(info)


def _pipeline_problem(info: ModelInfo) -> ModelNotSplittable | None:
    family = _family(info)
    if info.drafter is None and family in SPLITTABLE:
        return None
    why = SplitRefusal.TENSOR_ONLY if family in SHARDED else SplitRefusal.LAYERS
    return ModelNotSplittable(info.folder, info.model_type, REFUSED.get(family, why))


def _family(info: ModelInfo) -> str:
    return info.model_type if info.model_type in SPLITTABLE else SAME_AS.get(info.model_type, info.model_type)


def _sizes(info: ModelInfo, tensors: Mapping[str, Tensor], widened: bool) -> Sizes:
    """By the names of tensors. Layers beyond the model's last are heads that draft: they are not loaded."""
    layers = [0] * info.layers
    first = 0
    last = 0
    for name, tensor in tensors.items():
        found = _LAYER.search(name)
        nbytes = _bytes(tensor, widened)
        if found is not None:
            if (layer := int(found[1])) < info.layers and "mtp" not in name:
                layers[layer] += nbytes
        elif "embed" in name:
            first += nbytes
        else:
            last += nbytes
    if not any("head" in name for name in tensors):  # the embedding is the head, too
        last += first
    return Sizes(tuple(layers), first, last, info.caches or CacheSizes(0, 0))


def _bytes(tensor: Tensor, widened: bool) -> int:
    return (tensor.end - tensor.begin) * (2 if widened and tensor.dtype in _HALF else 1)
