"""What the figures of speculation mean, opened in place; the words are those of `words/speculation.py`."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.theme import Theme
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.roles import tell_shows_more
from app.views.widgets.translated import Translated
from app.words import speculation


class _Question(PillButton):
    def shows_more(self) -> bool:
        return self.isChecked()


class Meanings(Translated, QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.button = _Question(theme, Emphasis.PLAIN, "info")
        self.button.setCheckable(True)
        self.button.toggled.connect(lambda _on: tell_shows_more(self.button))
        self._labels = [
            (TextLabel(theme, TextStyle.HEADING), TextLabel(theme, TextStyle.FINE)) for _ in speculation.meanings()
        ]
        self._text = QWidget()
        column = arrange(QVBoxLayout(self._text), spacing=2, margins=(0, 0, 0, 0))
        for labels in self._labels:
            column.addSpacing(6)
            arrange(column, *labels)
        arrange(QVBoxLayout(self), (self.button, 0, Qt.AlignmentFlag.AlignLeft), self._text, margins=(0, 0, 0, 0))
        self._text.hide()
        self.button.toggled.connect(self._text.setVisible)
        self._retranslate()

    def _retranslate(self) -> None:
        self.button.setText(speculation.question())
        for (name, meaning), words in zip(self._labels, speculation.meanings(), strict=True):
            name.setText(words[0])
            meaning.setText(words[1])
