"""How much a model may think before it answers: as it decides, not at all, briefly, or up to a number of tokens."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.option_checks import LONGEST_THINKING
from app.theme import Theme
from app.views.widgets.buttons import ChoiceButton
from app.views.widgets.fields import WholeField
from app.views.widgets.translated import Translated
from app.words.formats import count, fill

_LIMIT = "limit"
_USUAL_LIMIT = 1024
_TOKENS_PX = 76


class ThinkingField(Translated, QWidget):
    chosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._limits = True
        self.choice = ChoiceButton(theme, self)
        self.tokens = WholeField(theme, 1, LONGEST_THINKING, _TOKENS_PX)
        self.tokens.setValue(_USUAL_LIMIT)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.choice)
        row.addWidget(self.tokens)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusProxy(self.choice)
        self.choice.chosen.connect(self._on_chosen)
        self.tokens.valueChanged.connect(lambda tokens: self.chosen.emit(tokens))  # noqa: PLW0108  another signature
        self._retranslate()

    def offer_limit(self, offered: bool) -> None:
        """Where the model cannot be held to one, only if it is set all the same."""
        if offered != self._limits:
            self._limits = offered
            self._retranslate()

    def set_value(self, value: object) -> None:
        limit = value if isinstance(value, int) else None
        self.choice.set_value(value if limit is None else _LIMIT)
        if limit is not None:
            self.tokens.blockSignals(True)
            self.tokens.setValue(limit)
            self.tokens.blockSignals(False)
        self.tokens.setVisible(limit is not None)
        self._retranslate()

    def setAccessibleName(self, name: str) -> None:  # noqa: N802 - Qt's name
        self.choice.setAccessibleName(name)

    def setAccessibleDescription(self, words: str) -> None:  # noqa: N802 - Qt's name
        self.choice.setAccessibleDescription(words)

    def _on_chosen(self, value: object) -> None:
        self.chosen.emit(self.tokens.value() if value == _LIMIT else value)

    def _retranslate(self) -> None:
        limit = [(_LIMIT, self.tr("Up to a limit"))] if self._limits or self.choice.value == _LIMIT else []
        self.choice.set_choices([*((each, thinking_words(each)) for each in ("free", "off", "short")), *limit])
        self.tokens.setAccessibleName(self.tr("Tokens of thinking"))


def thinking_words(value: object) -> str:
    if isinstance(value, int):
        return fill(QCoreApplication.translate("ThinkingField", "Up to %1 tokens"), count(value))
    return {
        "free": QCoreApplication.translate("ThinkingField", "As the model decides"),
        "short": QCoreApplication.translate("ThinkingField", "Briefly"),
    }.get(str(value), QCoreApplication.translate("ThinkingField", "No"))
