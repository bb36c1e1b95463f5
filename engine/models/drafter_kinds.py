"""The kinds of drafters, a row each: how a folder of the kind is recognised and read, and what it is called. No MLX.

All else about a kind is in the file of its network, which `Kind.network` names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

from engine.api.types import DrafterKind
from engine.models.drafters import (
    ASSISTANTS,
    MTP,
    MUSE,
    DrafterConfig,
    Published,
    assistant_need,
    block_config,
    eagle_config,
    layer_need,
    mtp_config,
    parallel_eagle_config,
)
from engine.models.model_files import FileError, JsonObject
from engine.models.numbers import check_numbers

_NETWORKS = "engine.drafting.proposers"
_EAGLE_MARKS = ("midlayer.hidden_norm.weight", "layers.0.hidden_norm.weight")
_EAGLE_TENSORS = r"(?:layers\.0\.hidden_norm|input_norm|fc_norm\.\d+)\.weight"
_FOLDER = re.compile(r"(?:mtp[-_]?)?draft(?:er)?(?:[-_]model)?|assistant|speculator")


@dataclass(frozen=True, slots=True)
class Kind:
    name: str  # for users
    network: str  # "module:class"; imported only where drafters are loaded
    is_marked: Callable[[Published], bool]  # by its config, or by a tensor of this kind alone
    in_names: tuple[str, ...]  # parts of repositories' names, lower case
    searched: str = ""  # the word for a hub's search; "": another kind's word finds it, too
    tensors: str = ""  # regular expression of tensors of this kind alone
    read: Callable[[DrafterKind, Published], DrafterConfig] = block_config
    unmet_need: Callable[[JsonObject], str] = layer_need  # the name of a part that is not computed here; "": none
    in_one_forward: bool = True  # it drafts all tokens at once


KINDS: dict[DrafterKind, Kind] = {  # the first marked kind counts, else the first whose name matches
    "dfly": Kind(
        name="DFly",
        network=f"{_NETWORKS}.dfly:DFlyDrafter",
        is_marked=lambda said: said.is_called("dfly"),
        in_names=("-dfly",),
        searched="DFly",
        tensors=r"layer_fusion_weights|hidden_correction\.\w+\.weight",
        read=partial(block_config, short_texts=False),
    ),
    "domino": Kind(
        name="Domino",
        network=f"{_NETWORKS}.domino:DominoDrafter",
        is_marked=lambda said: said.is_called("domino"),
        in_names=("-domino",),
        searched="Domino",
        tensors=r"prefix_gru\.weight_[ih]h_l0|embed_proj\.[02]\.weight",
        read=partial(block_config, first_row="shift_label"),
    ),
    "dflash2": Kind(
        name="DFlash2",
        network=f"{_NETWORKS}.dflash2:DFlash2Drafter",
        is_marked=lambda said: said.is_called("dflash2") or "selector_rank" in said.block,
        in_names=("dflash2",),
        tensors=r"candidate_selector\.\w+\.weight|layers\.\d+\.(?:attention|mlp)_conv\.(?:base_kernel|\w+\.weight)",
        read=partial(block_config, short_texts=False),
    ),
    "dspark": Kind(
        name="DSpark",
        network=f"{_NETWORKS}.dspark:DSparkDrafter",
        is_marked=lambda said: said.is_called("dspark") or said.has_size("markov_rank"),
        in_names=("dspark",),
        searched="DSpark",
        tensors=r"markov_head\.markov_w[12]\.weight|(?:markov_head\.gate_proj|confidence_head\.proj)\.(?:weight|bias)",
        read=partial(block_config, first_row_drafts=True),
    ),
    "dflare": Kind(
        name="DFlare",
        network=f"{_NETWORKS}.dflare:DFlareDrafter",
        is_marked=lambda said: said.is_called("dflare"),
        in_names=("dflare",),
        searched="DFlare",
        tensors=r"layer_fusion_weights|layers\.\d+\.self_attn\.[kv]_proj_target\.(?:weight|bias)",
    ),
    "dflash": Kind(
        name="DFlash",
        network=f"{_NETWORKS}.dflash:BlockDrafter",
        is_marked=lambda said: said.is_called("dflash") or bool(said.block) or said.model_type == MUSE,
        in_names=("dflash", "muse-glimmer-30b-assistant"),
        searched="DFlash",
    ),
    "peagle": Kind(
        name="P-EAGLE",
        network=f"{_NETWORKS}.peagle:PEagleDrafter",
        is_marked=lambda said: said.is_called("peagle") or "mask_hidden" in said.held or "ptd_token_id" in said.config,
        in_names=("p-eagle", "peagle"),
        tensors=f"mask_hidden|{_EAGLE_TENSORS}",
        read=parallel_eagle_config,
    ),
    "eagle3": Kind(
        name="EAGLE-3",
        network=f"{_NETWORKS}.eagle3:EagleDrafter",
        is_marked=lambda said: (
            said.is_called("eagle3") or "eagle_config" in said.config or not said.held.isdisjoint(_EAGLE_MARKS)
        ),
        in_names=("eagle3", "eagle-3"),
        searched="EAGLE",
        tensors=_EAGLE_TENSORS,
        read=eagle_config,
        in_one_forward=False,
    ),
    MTP: Kind(
        name="MTP",
        network=f"{_NETWORKS}.mtp:mtp_network",
        is_marked=lambda said: said.model_type.endswith("_mtp") or said.model_type in ASSISTANTS,
        in_names=(),  # a main model with such a head has the same name
        searched="MTP",
        read=mtp_config,
        unmet_need=assistant_need,
        in_one_forward=False,
    ),
}


def drafter_kind(config: JsonObject, tensors: Collection[str] = ()) -> DrafterKind | None:
    """By the config's own type, or by a part of this kind alone. Never raises."""
    return _kind_of(Published(config, tensors))


def _kind_of(published: Published) -> DrafterKind | None:
    named = str(published.config.get("speculators_model_type", "")).lower()
    marked = (kind for kind, row in KINDS.items() if row.is_marked(published))
    return named if named in KINDS else next(marked, None)


def drafter_config(config: JsonObject, tensors: Collection[str] = ()) -> DrafterConfig | None:
    """None for the config of a model that is not a drafter. Raises FileError for one that cannot be read."""
    published = Published(config, tensors)
    kind = _kind_of(published)
    if kind is None:
        return None
    check_numbers(published.said)
    try:
        return KINDS[kind].read(kind, published)
    except (TypeError, ValueError, OverflowError) as error:
        raise FileError(f"config.json: {error}") from error


def unmet_need(config: JsonObject) -> str:
    """The name in the config of a drafter's part that is not computed here; "" if there is none.

    A kind without a network here counts as such a part.
    """
    named = config.get("speculators_model_type")
    if named is not None and str(named).lower() not in KINDS:
        return f"speculators_model_type {named}"[:100]
    kind = drafter_kind(config)
    return KINDS[kind].unmet_need(config) if kind is not None else ""


def known_kind(name: str) -> DrafterKind:
    """The kind of that name. Raises ValueError for a kind of another version."""
    if name not in KINDS:
        raise ValueError(f"no kind of drafter: {name[:100]}")
    return name


def drafter_names() -> dict[DrafterKind, str]:
    """Names of all kinds, for users."""
    return {kind: row.name for kind, row in KINDS.items()}


def kind_in_name(repository: str) -> DrafterKind | None:
    """The kind by a repository's name alone, for lists of a hub."""
    name = repository.casefold()
    return next((kind for kind, row in KINDS.items() if any(part in name for part in row.in_names)), None)


def searched_words() -> list[str]:
    return [row.searched for row in KINDS.values() if row.searched]


def is_drafter_folder(name: str) -> bool:
    """Whether a folder within a main model's has a name that is used for its drafters."""
    plain = name.casefold()
    return plain in KINDS or plain in {row.name.casefold() for row in KINDS.values()} or bool(_FOLDER.fullmatch(plain))
