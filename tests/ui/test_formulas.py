"""Formulas have a budget of time and pixels; what exceeds it is its source.

A sample of `tests/drills/test_formulas.py`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.tex import formula
from tests.ui.formula_setup import FormulaSetup

HOSTILE = (
    r"\rule{9999em}{9999em}",
    r"\rule{1e400em}{1em}",
    r"\hspace{1e308em}x",
    r"\kern-9999em x",
    r"\rule{99999em}{0pt}",
    r"\frac{}{}",
    r"\\",
    r"{}",
    "x+" * 1900,
    r"\frac{a}{" * 100 + "b" + "}" * 100,
    "{" * 1500 + "}" * 1500,
    r"\int" * 800,
    r"\begin{matrix}" + r"\\" * 1000 + r"\end{matrix}",
)


@pytest.fixture
def setup(qtbot: QtBot) -> FormulaSetup:
    return FormulaSetup(qtbot)


@pytest.mark.costly
@pytest.mark.parametrize("tex", HOSTILE, ids=lambda tex: tex[:16])
def test_a_hostile_formula_keeps_to_the_budget(setup: FormulaSetup, tex: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.markup.formula.MOST_S", 0.2)  # the drill spends all of it on each
    setup.draw(tex)
    source = setup.source_of(tex)
    assert source is None or source == tex
    setup.harness.view.grab()


def test_a_harmless_formula_is_drawn(setup: FormulaSetup) -> None:
    assert setup.source_of(r"\text{수락률} = \frac{1}{2}") is None


def test_a_random_formula_breaks_nothing(setup: FormulaSetup) -> None:
    formulas = [formula(seed) for seed in range(15)]
    for tex in formulas:
        setup.draw(tex)
    setup.show(formulas)


PROGRAM = """
import sys
from PySide6.QtWidgets import QApplication
app = QApplication([])
from app.view_models.transcript import TranscriptModel
from app.theme import Theme
from app.views.transcript import TranscriptView
from tests.helpers.stillness import one_turn
from tests.helpers.transcript_harness import reply
from tests.ui.test_formulas import HOSTILE
model = TranscriptModel()
model.set_messages([reply(1, "\\n\\n".join(f"$$\\n{tex}\\n$$\\n\\n${tex}$" for tex in HOSTILE))])
view = TranscriptView(Theme(), model)
view.show()
for _ in range(5):
    one_turn()
    view.grab()
sys.exit(0)
"""


def test_the_program_ends_cleanly_while_formulas_are_drawn() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False)
    assert ended.returncode == 0
