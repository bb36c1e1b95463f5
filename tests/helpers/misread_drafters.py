"""The starter's drafters, read wrongly on purpose, and made worse without being misread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import mlx.core as mx
from mlx.utils import tree_map

from engine import DrafterExamined
from engine.drafting.agreement import examination
from engine.drafting.drafters import loading_any_draft
from engine.models.loading import LoadedModel, at_once
from tests.helpers.starter_drafters import STARTER

Break = Callable[[LoadedModel], LoadedModel]


def judged(main: LoadedModel, name: str, broken: Break | None = None) -> DrafterExamined:
    """What the load check says of a drafter of the starter."""
    draft = at_once(loading_any_draft(STARTER / name, main))
    work = examination(main, broken(draft) if broken is not None else draft)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return DrafterExamined(str(STARTER / name), end.value.per_pass, end.value.misread)


def miscounted(by: int) -> Break:
    def change(draft: LoadedModel) -> LoadedModel:
        info = draft.info.drafter
        assert info is not None
        layers = tuple(layer + by for layer in info.layers)
        if hasattr(draft.network, "_reads"):
            draft.network._reads = layers
        return replace(draft, info=replace(draft.info, drafter=replace(info, layers=layers)))

    return change


def otherwise(convention: str) -> Break:
    """The other way round."""

    def change(draft: LoadedModel) -> LoadedModel:
        for part, name, value in draft.network.other_readings()[convention]:
            setattr(part, name, value)
        return draft

    return change


def noised(share: float) -> Break:
    """Its weights as if it had been trained less well: each matrix with noise of that share of its spread."""

    def noise(weight: mx.array) -> mx.array:
        if weight.ndim < 2 or not mx.issubdtype(weight.dtype, mx.floating):
            return weight
        return weight + share * mx.std(weight) * mx.random.normal(weight.shape).astype(weight.dtype)

    def change(draft: LoadedModel) -> LoadedModel:
        mx.random.seed(1)
        draft.network.update(tree_map(noise, draft.network.parameters()))
        return draft

    return change
