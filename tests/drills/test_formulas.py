"""Thousands of random formulas: the budget holds, no exception in any paint, little memory, a clean end."""

from __future__ import annotations

import resource

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.tex import formula
from tests.ui.formula_setup import FormulaSetup

pytestmark = pytest.mark.drill
_BATCH = 50
_MOST_GROWTH_KIB = 600 * 1024


@pytest.mark.parametrize("first", range(0, 1500, _BATCH))
def test_random_formulas(qtbot: QtBot, first: int) -> None:
    setup = FormulaSetup(qtbot)
    formulas = [formula(seed) for seed in range(first, first + _BATCH)]
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for tex in formulas:
        setup.draw(tex)
    setup.show(formulas)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < _MOST_GROWTH_KIB
