"""Loading a drafter's folder into the network of its kind, and the proposer that drafts with it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten

from engine.api.errors import DrafterDoesNotFit, DrafterUnsupported, ModelDamaged, ModelUnsupported
from engine.caches.making import CacheMaker
from engine.decoding.hidden_states import HiddenStates, NoHiddenStates
from engine.decoding.sequence import Sequence as TokenSequence
from engine.drafting.proposers.base import Proposer
from engine.drafting.proposers.draft_model import DraftModelProposer
from engine.drafting.proposers.features import MOST_WAITING_BYTES, Context
from engine.models.access import ModelAccess, NoAccess
from engine.models.compatibility import draft_problem
from engine.models.drafter_kinds import KINDS
from engine.models.drafter_tensors import is_unused, usual
from engine.models.drafters import AssistantConfig, BlockConfig, DrafterConfig, EagleConfig, MtpConfig
from engine.models.fit import LEAST_CONTEXT_TOKENS
from engine.models.inspect import WEIGHTS, inspect_drafter, inspect_model
from engine.models.loading import LoadedModel, Slices, loading_draft, require_unchanged
from engine.models.memory import MemoryNeed
from engine.models.mtp_families import FAMILIES
from engine.models.networks import check_memory, guarded, handfuls, model_identity, packing_of, widens
from engine.models.watch import Question, never
from engine.prefix.memory import PrefixStore

# What is quantized in a drafter of 16 bits: its layers, and the parts beside them
_LIGHT_BITS = 4
_BESIDE_BITS = 8
_GROUP = 32


def network_class(config: DrafterConfig) -> Callable[[DrafterConfig, ModelAccess], Any]:
    """Makes the drafter's network, without weights. Raises NoAccess if the main model lacks a part that it reads."""
    found: Callable[[DrafterConfig, ModelAccess], Any] = resolve_name(KINDS[config.info.kind].network)
    return found


def loading_any_draft(
    folder: Path | str, main: LoadedModel, aborted: Question = never, *, light: bool = False
) -> Slices:
    """Load what is in `folder`: a draft model whose tokens can be mapped, or a drafter made for `main`.

    `light`: a block or an EAGLE-3 head that is published in 16 bits is quantized, its layers to 4 bits.
    """
    path = Path(folder).absolute()
    info = inspect_model(path)
    own = path.resolve() == Path(main.info.folder).resolve()
    config = inspect_drafter(path) if info.drafter is not None or own else None
    if own:
        require_unchanged(main.info.folder, main.identity)
    yield
    if config is None:
        return (yield from loading_draft(path, main, aborted))
    return (yield from _loading_drafter(path, config, main, aborted, light=light))


def proposer_of(
    draft: LoadedModel,
    main: LoadedModel,
    store: PrefixStore,
    turn_end: int,
    tokens: Sequence[int] = (),
    chat: TokenSequence | None = None,
) -> Proposer:
    """The proposer of `draft` for one reply of `main`; `tokens` is the reply's list, now and later.

    `chat`: the main model's sequence; with its cache less need be prefilled again.
    """
    if draft.info.drafter is None:
        return DraftModelProposer(draft, store, turn_end, chat)
    proposer: Proposer = draft.network.proposer(Context(draft, main, store, turn_end, tokens, chat))
    return proposer


def _loading_drafter(path: Path, config: DrafterConfig, main: LoadedModel, aborted: Question, *, light: bool) -> Slices:
    info = inspect_model(path)
    elsewhere = main.ranks > 1 and isinstance(config, AssistantConfig)  # layers with which it computes keys itself
    if elsewhere or not (main.has_states or isinstance(config, MtpConfig)):
        raise DrafterDoesNotFit(str(path), "states", 0, 0)
    if problem := draft_problem(main.info, info):
        raise problem
    info = replace(info, drafter=config.info)
    if isinstance(config, MtpConfig) and config.family not in FAMILIES:
        raise ModelUnsupported(str(path), config.family)
    build = partial(guarded, str(path), ModelDamaged, aborted)
    yield
    try:
        with main.alone():
            access = ModelAccess(main.network)
    except NoAccess as error:
        raise DrafterDoesNotFit(str(path), "states", 0, 0) from error
    try:
        made = network_class(config)  # imported first, so that the time limit of building does not include it
        network = build(lambda: made(config, access), builds=path)
    except NoAccess as error:
        raise DrafterDoesNotFit(str(path), "keys", 0, 0) from error
    _check_states(main, network.reads, path)
    files = model_identity(path, info)
    build(lambda: _fill(network, path))
    lighter = light and isinstance(config, BlockConfig | EagleConfig) and build(lambda: _lighten(network))
    need = build(lambda: _memory_need(network, access))
    check_memory(info, need, main.held_bytes)
    for weights, progress in handfuls(network):
        yield progress
        build(partial(mx.eval, weights))
    yield
    require_unchanged(str(path), files)
    rows_of = f"{files}{' light' if lighter else ''} {main.identity}"  # they depend on this main model's states, too
    return LoadedModel(
        info=info,
        network=network,
        tokenizer=main.tokenizer,
        logit_width=main.logit_width,
        make_caches=CacheMaker(network),
        need=need,
        identity=hashlib.blake2b(rows_of.encode(), digest_size=16).hexdigest(),
    )


def _check_states(main: LoadedModel, layers: Sequence[int], path: Path) -> None:
    """Raises DrafterDoesNotFit if the main model has no such layers, or does not return their states."""
    deepest = max(layers, default=-1) + 1
    there = main.first_layer + len(main.network.layers)
    if deepest > there:
        raise DrafterDoesNotFit(str(path), "layers", deepest, there)
    try:
        with main.alone():
            HiddenStates(main.network, layers, main.first_layer).check(main.network)
    except NoHiddenStates as error:
        raise DrafterDoesNotFit(str(path), "states", 0, 0) from error


def _fill(network: nn.Module, path: Path) -> None:
    """Load the folder's weights into `network`; copies of the main model's tensors are not read.

    Raises DrafterUnsupported for any other unknown tensor, before weights are read.
    """
    weights = {}
    for file in sorted(path.glob(WEIGHTS)):
        weights.update({usual(name): weight for name, weight in mx.load(str(file)).items()})  # type: ignore[union-attr]
    weights = network.sanitize(weights)
    _quantize_like(network, weights)
    wanted = dict(tree_flatten(network.parameters()))
    missing = sorted(wanted.keys() - weights.keys())
    if missing:
        raise ValueError(f"{missing[0]} is missing, and {len(missing) - 1} more")
    if left := sorted(name for name in weights.keys() - wanted.keys() if not is_unused(name)):
        raise DrafterUnsupported(str(path), left[0][:100])
    for name, place in wanted.items():
        floats = mx.issubdtype(place.dtype, mx.floating)
        if not mx.issubdtype(weights[name].dtype, mx.floating if floats else mx.integer):
            raise ValueError(f"{name} holds {weights[name].dtype}")
        if not floats:  # MLX promotes uint64 beside another integer to a float
            weights[name] = weights[name].astype(place.dtype)
    network.load_weights([(name, weights[name]) for name in wanted], strict=True)
    if widens():
        network.set_dtype(mx.float32)
    network.eval()


def _quantize_like(network: nn.Module, weights: dict[str, mx.array]) -> None:
    """Raises ValueError as `packing_of`."""

    def chosen(name: str, module: Any) -> bool | dict[str, Any]:
        weight, scales, biases = (weights.get(f"{name}.{part}") for part in ("weight", "scales", "biases"))
        if scales is None or weight is None or not hasattr(module, "to_quantized"):
            return False
        return packing_of(name, module.weight.shape[-1], weight, scales, biases)

    nn.quantize(network, class_predicate=chosen)


def _lighten(network: nn.Module) -> bool:
    """Quantize what is in 16 bits: layers to 4 bits, tables, projections and heads to 8; norms stay.

    Returns whether anything was quantized.
    """
    changed = list[str]()

    def chosen(name: str, module: Any) -> bool | dict[str, Any]:
        if not hasattr(module, "to_quantized") or module.weight.shape[-1] % _GROUP:
            return False
        changed.append(name)
        return {"group_size": _GROUP, "bits": _LIGHT_BITS if name.startswith("layers.") else _BESIDE_BITS}

    nn.quantize(network, class_predicate=chosen)
    return bool(changed)


def _memory_need(network: nn.Module, main: ModelAccess) -> MemoryNeed:
    """Bytes of a token's keys and values in its layers, and of main model states that wait to be read."""
    weights: list[tuple[str, mx.array]] = tree_flatten(network.parameters())  # type: ignore[assignment]
    windows: int = getattr(network, "window_bytes", 0)
    state_bytes = network.reads_width * main.precision.size
    waiting = min(MOST_WAITING_BYTES, LEAST_CONTEXT_TOKENS * state_bytes)
    return MemoryNeed(sum(weight.nbytes for _, weight in weights), network.row_bytes, windows + waiting)
