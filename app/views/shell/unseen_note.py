"""The line under the message field that says that the chosen model cannot see, and offers one that does."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.theme import Theme
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.translated import Translated
from app.words.formats import fill
from app.words.model_names import human_name


class UnseenNote(Translated, QWidget):
    use_requested = Signal(str)  # the folder of an installed model that sees
    find_requested = Signal()  # where none is installed

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._names = ("", "")  # of the chosen model, and of the one that is offered
        self._folder = ""
        self.words = TextLabel(theme, TextStyle.FINE, self)
        self.offer = PillButton(theme, Emphasis.PLAIN, parent=self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 4, 0, 0)
        row.addWidget(self.words, 1)
        row.addWidget(self.offer)
        self.offer.clicked.connect(self._take)
        self._retranslate()
        self.hide()

    def set_models(self, chosen: str, offered: str, folder: str) -> None:
        """`offered` is empty where no installed one sees."""
        self._names, self._folder = (chosen, offered), folder
        self._retranslate()

    def sentence(self) -> str:
        return fill(self.tr("%1 cannot see pictures."), human_name(self._names[0]))

    def _take(self) -> None:
        if self._folder:
            self.use_requested.emit(self._folder)
        else:
            self.find_requested.emit()

    def _retranslate(self) -> None:
        self.words.setText(self.sentence())
        offered = human_name(self._names[1])
        self.offer.setText(fill(self.tr("Use %1"), offered) if self._folder else self.tr("Find One That Can"))
