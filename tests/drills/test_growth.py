"""Twice the text takes at most three times the time, whatever the text: 150 patterns and more through every stage."""

from __future__ import annotations

from functools import partial

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.growth import CODE, LANGUAGES, LINES, MARKDOWN, TABLE_HEAD, growth
from tests.ui.growth_stages import Stages

pytestmark = pytest.mark.drill
MOST = 3.0


@pytest.fixture
def stages(qtbot: QtBot) -> Stages:
    return Stages(qtbot)


@pytest.mark.parametrize("name", MARKDOWN)
def test_markdown(stages: Stages, name: str) -> None:
    unit = MARKDOWN[name]
    head = TABLE_HEAD if name.startswith("tables") else ""
    assert growth(stages.stream, unit, 8_000, head) < MOST
    assert growth(stages.open, unit, 8_000, head) < MOST
    assert growth(stages.open, unit, 500_000, head) < MOST


@pytest.mark.parametrize("language", LANGUAGES)
def test_code(stages: Stages, language: str) -> None:
    for unit in CODE:
        assert growth(partial(stages.color, language), unit, 8_000) < MOST, unit


@pytest.mark.parametrize("unit", LINES)
def test_one_line(stages: Stages, unit: str) -> None:
    for stage in (stages.paste, stages.ask, stages.open):
        for chars in (10_000, 200_000):
            assert growth(stage, unit, chars) < MOST, stage.__name__
    assert growth(stages.stream, unit, 8_000) < MOST
    assert growth(partial(stages.color, "python"), unit, 10_000) < MOST
