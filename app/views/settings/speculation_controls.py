"""How many tokens are drafted: none, or auto; where it is offered, or in force, a fixed number of tokens."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.settings import Settings
from app.theme import Theme
from app.views.widgets.arrange import arrange
from app.views.widgets.fields import Segments, WholeField
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.translated import Translated
from app.words.formats import sentences

_MOST_TOKENS = Settings.options()["speculation_tokens"].check(10**6)


class SpeculationControls(Translated, QWidget):
    chosen = Signal(str, int)

    explained = Signal(str)

    def __init__(self, theme: Theme, *, offers_fixed: bool = False) -> None:
        super().__init__()
        self._offers_fixed = self._has_fixed = offers_fixed
        self._only_here = False
        self.modes = Segments(theme, self)
        self.tokens = WholeField(theme, 1, _MOST_TOKENS, width_px=56)
        self.explanation = TextLabel(theme, TextStyle.FINE, self)
        row = arrange(QHBoxLayout(), self.modes, self.tokens, 1, spacing=8)
        arrange(QVBoxLayout(self), row, self.explanation, spacing=6, margins=(0, 0, 0, 0))
        self.modes.chosen.connect(self._emit_chosen)
        self.tokens.chosen.connect(self._emit_chosen)
        self._retranslate()

    def set_value(self, mode: str, tokens: int, *, only_here: bool = False) -> None:
        """`only_here`: what is chosen counts for the open chat alone."""
        self._only_here = only_here
        if (self._offers_fixed or mode == "fixed") != self._has_fixed:
            self._has_fixed = not self._has_fixed
            self._retranslate()
        self.modes.set_value(mode)
        self.tokens.set_value(tokens)
        self._explain()

    def _emit_chosen(self) -> None:
        self._explain()
        self.chosen.emit(str(self.modes.value), self.tokens.value())

    def _explain(self) -> None:
        self.tokens.setVisible(self.modes.value == "fixed")
        explanation = {
            "off": self.tr("Main model only."),
            "fixed": self.tr("Pauses while that is slower."),
        }.get(str(self.modes.value), self.tr("Drafts only while that is faster."))
        self.explanation.setText(sentences(explanation, self.tr("This chat only.") if self._only_here else ""))
        self.explained.emit(explanation)

    def _retranslate(self) -> None:
        fixed = [("fixed", self.tr("Fixed"))] if self._has_fixed else []
        self.modes.set_choices([("off", self.tr("Off")), *fixed, ("auto", self.tr("Auto"))])
        self.modes.setAccessibleName(self.tr("Drafting"))
        self.tokens.setAccessibleName(self.tr("Tokens to draft"))
        self._explain()
