"""Every convention of the starter's drafters that the load check tells when it is misread, and what it lets pass."""

from __future__ import annotations

import pytest

from engine.models.loading import LoadedModel, load_model
from tests.helpers.misread_drafters import Break, judged, miscounted, noised, otherwise
from tests.helpers.starter_drafters import MAIN

pytestmark = pytest.mark.drill

BROKEN: dict[str, tuple[str, Break]] = {
    "dflash, layers one too low": ("dflash", miscounted(-1)),
    "dflash, layers one too high": ("dflash", miscounted(1)),
    "dflash, rotation": ("dflash", otherwise("rotation")),
    "dflash, first row": ("dflash", otherwise("first row")),
    "eagle3, layers one too high": ("eagle3", miscounted(1)),
    "eagle3, rotation": ("eagle3", otherwise("rotation")),
    "eagle3, residual": ("eagle3", otherwise("residual")),
    "mtp, order of the join": ("mtp", otherwise("order of the join")),
    "mtp, norms lack 1": ("mtp", otherwise("norms have 1 too much")),
}
HONEST: dict[str, tuple[str, Break]] = {
    f"{name}, noise {share}": (name, noised(share))
    for name, shares in {"dflash": (0.2, 0.4), "eagle3": (0.05, 0.1), "mtp": (0.05, 0.1)}.items()
    for share in shares
}


@pytest.fixture(scope="module")
def main() -> LoadedModel:
    return load_model(MAIN)


@pytest.mark.parametrize("case", BROKEN)
def test_a_convention_that_is_misread_is_told(main: LoadedModel, case: str) -> None:
    assert judged(main, *BROKEN[case]).poor


@pytest.mark.parametrize("case", HONEST)
def test_a_drafter_that_is_only_worse_is_not(main: LoadedModel, case: str) -> None:
    examined = judged(main, *HONEST[case])
    assert not examined.misread
    assert examined.poor is (examined.per_pass < 1.2)
