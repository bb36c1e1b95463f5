"""Twice the text takes at most three times the time, whatever the text: 150 patterns and more through every stage."""

from __future__ import annotations

from functools import partial

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.growth import CODE, LANGUAGES, LINES, MARKDOWN, TABLE_HEAD, growth
from tests.ui.growth_setups import GrowthSetup

pytestmark = pytest.mark.drill
MOST = 3.0


@pytest.fixture
def setup(qtbot: QtBot) -> GrowthSetup:
    return GrowthSetup(qtbot)


@pytest.mark.parametrize("name", MARKDOWN)
def test_markdown(setup: GrowthSetup, name: str) -> None:
    unit = MARKDOWN[name]
    head = TABLE_HEAD if name.startswith("tables") else ""
    assert growth(setup.stream, unit, 8_000, head) < MOST
    assert growth(setup.open, unit, 8_000, head) < MOST
    assert growth(setup.open, unit, 500_000, head) < MOST


@pytest.mark.parametrize("language", LANGUAGES)
def test_code(setup: GrowthSetup, language: str) -> None:
    for unit in CODE:
        for chars in (8_000, 60_000):
            assert growth(partial(setup.color, language), unit, chars) < MOST, (unit, chars)


@pytest.mark.parametrize("unit", LINES)
def test_one_line(setup: GrowthSetup, unit: str) -> None:
    for show in (setup.paste, setup.prompt, setup.ask, setup.open):
        for chars in (10_000, 200_000):
            assert growth(show, unit, chars) < MOST, show.__name__
    assert growth(setup.stream, unit, 8_000) < MOST
    assert growth(setup.race, unit, 20_000) < MOST
    assert growth(partial(setup.color, "python"), unit, 10_000) < MOST
