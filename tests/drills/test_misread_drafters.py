"""Every convention of the starter's drafters that the load check tells when it is misread, and what it lets pass."""

from __future__ import annotations

from collections.abc import Callable

import mlx.core as mx
import pytest
from mlx.utils import tree_map

from engine import DrafterExamined
from engine.drafting.drafters import loading_any_draft
from engine.drafting.examination import examination
from engine.models.loading import LoadedModel
from tests.architecture.project import ROOT
from tests.helpers.loading import at_once, load_model
from tests.helpers.samples import fair

STARTER = ROOT / "resources" / "starter"
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
        draft.network._reads = tuple(layer + by for layer in draft.network.reads)
        return draft

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


BROKEN: dict[str, tuple[str, Break]] = {
    "dflash, layers one too low": ("dflash", miscounted(-1)),
    "dflash, layers one too high": ("dflash", miscounted(1)),
    "dflash, rotation": ("dflash", otherwise("rotation")),
    "dflash, first row": ("dflash", otherwise("first row")),
    "eagle3, rotation": ("eagle3", otherwise("rotation")),
    "eagle3, residual": ("eagle3", otherwise("residual")),
    "mtp, order of the join": ("mtp", otherwise("order of the join")),
    "mtp, norms lack 1": ("mtp", otherwise("norms have 1 too much")),
}
HONEST: dict[str, tuple[str, Break]] = {
    f"{name}, noise {share}": (name, noised(share))
    for name, shares in {"dflash": (0.0, 0.2, 0.4), "eagle3": (0.0, 0.05, 0.1), "mtp": (0.0, 0.05, 0.1)}.items()
    for share in shares
}
MISREAD = "dflash, layers one too low", "eagle3, residual", "mtp, order of the join"


@pytest.fixture(scope="module")
def main() -> LoadedModel:
    return load_model(STARTER / "main")


@pytest.mark.parametrize("case", fair(BROKEN, *MISREAD, rest=pytest.mark.drill))
def test_a_convention_that_is_misread_is_told(main: LoadedModel, case: str) -> None:
    assert judged(main, *BROKEN[case]).poor


@pytest.mark.parametrize("case", fair(HONEST, "dflash, noise 0.0", rest=pytest.mark.drill))
def test_a_drafter_that_is_only_worse_is_not(main: LoadedModel, case: str) -> None:
    examined = judged(main, *HONEST[case])
    assert not examined.misread
    assert examined.poor is (examined.per_pass < 1.2)
