"""Formulas on the screen, and what they cost."""

from __future__ import annotations

import time

from pytestqt.qtbot import QtBot

from app.markup.formula import LONGEST_SIDE_PX, MOST_PX, MOST_S, FormulaKey, draw
from app.views.transcript.parts import PartKind
from tests.helpers.stillness import still
from tests.helpers.transcript_harness import TranscriptHarness, reply


class FormulaSetup:
    def __init__(self, qtbot: QtBot) -> None:
        self._qtbot = qtbot
        self.harness = TranscriptHarness([])
        qtbot.addWidget(self.harness.view)

    def draw(self, tex: str) -> None:
        """Within the budget, or not at all."""
        started_s = time.thread_time()
        drawing = draw(FormulaKey(tex, 17.4, "#000000", display=True))
        # One call into C may go on beyond the budget, and a busy machine counts its caches to us.
        assert time.thread_time() - started_s < 2 * MOST_S, tex
        if drawing is not None:
            assert 0 < drawing.width_px <= LONGEST_SIDE_PX, tex
            assert 0 < drawing.height_px <= LONGEST_SIDE_PX, tex
            assert drawing.width_px * drawing.height_px <= MOST_PX, tex

    def show(self, formulas: list[str]) -> None:
        """Shows them in display and inline; an exception in a paint fails the test."""
        display = "\n\n".join("$$\n" + tex.replace("\n", " ") + "\n$$" for tex in formulas)
        inline = "\n\n".join(f"so ${tex}$ it is" for tex in formulas)
        self.harness.view.resize(700, 600)
        self.harness.model.set_messages([reply(1, f"{display}\n\n{inline}")])
        for value in range(0, self.harness.bottom + 600, 500):
            self.harness.scroll_to(value)
            self._qtbot.waitUntil(lambda: not self._pending())
            self.harness.view.grab()
        self.harness.view.selectAll()
        self.harness.view.copy()
        self.harness.view.selection.clear()
        still()

    def _pending(self) -> bool:
        return any(getattr(part.widget, "pending", None) for part, _ in self.harness.view.visible_parts.shown())

    def source_of(self, tex: str) -> str | None:
        """What a formula is shown as that could not be drawn."""
        self.harness.model.set_messages([reply(1, f"$$\n{tex}\n$$")])
        self._qtbot.waitUntil(lambda: not self._pending())
        (part,) = self.harness.parts(PartKind.FORMULA)
        return part.document.toPlainText() if part.document is not None else None
