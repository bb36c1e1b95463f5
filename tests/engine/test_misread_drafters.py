"""The load check on the starter's drafters: told when a convention is misread, quiet when it is only not very good.

A sample; every convention in tests/drills/test_misread_drafters.py.
"""

from __future__ import annotations

import pytest

from engine.models.loading import LoadedModel, load_model
from tests.helpers.misread_drafters import Break, judged, miscounted, noised, otherwise
from tests.helpers.starter_drafters import DRAFTERS, MAIN

BROKEN = [("dflash", miscounted(-1)), ("eagle3", otherwise("residual")), ("mtp", otherwise("order of the join"))]


@pytest.fixture(scope="module")
def main() -> LoadedModel:
    return load_model(MAIN)


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAFTERS)
def test_a_drafter_as_it_is_published_is_not_poor(main: LoadedModel, name: str) -> None:
    examined = judged(main, name)
    assert not examined.poor
    assert examined.per_pass > 3


@pytest.mark.slow
@pytest.mark.parametrize(("name", "broken"), BROKEN, ids=[name for name, _ in BROKEN])
def test_one_that_is_misread_is_poor(main: LoadedModel, name: str, broken: Break) -> None:
    assert judged(main, name, broken).poor


@pytest.mark.slow
def test_one_that_was_trained_less_well_is_not(main: LoadedModel) -> None:
    examined = judged(main, "dflash", noised(0.3))
    assert not examined.poor
    assert examined.per_pass < 5
