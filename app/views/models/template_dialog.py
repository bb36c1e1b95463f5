"""How a model is told of a chat: its chat template, to read only. Nothing in it is rendered."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette, QTextOption
from PySide6.QtWidgets import QFrame, QWidget

from app.theme import CODE_PX, Theme
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.long_text import LongText
from app.views.widgets.scrolling import ThinScrollBars
from app.words.formats import fill

_WIDTH_PX = 720
_HEIGHT_PX = 420


class TemplateDialog(Dialog):
    def __init__(self, theme: Theme, parent: QWidget, model: str, template: str) -> None:
        super().__init__(theme, parent, lambda: self._words(model, template), width_px=_WIDTH_PX)
        self.text = LongText(self)
        self.text.setReadOnly(True)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setUndoRedoEnabled(False)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.text.setMinimumHeight(theme.px(_HEIGHT_PX))
        self.text.setAccessibleName(self.title.text())
        self.text.setVisible(bool(template))
        ThinScrollBars(self.text, theme)
        self.text.set_text(template)
        self.content.addWidget(self.text)
        theme.changed.connect(self._restyle)
        self._restyle()
        self._fit()

    def _words(self, model: str, template: str) -> DialogText:
        title = fill(self.tr("Chat template of %1"), model)
        told = self.tr("How chats are formatted for the model.")
        none = self.tr("No readable chat template found.")
        return DialogText(title, told if template else none, act=self.tr("Close"))

    def _restyle(self) -> None:
        inner = QPalette(self.text.palette())
        inner.setColor(QPalette.ColorRole.Base, self.theme.palette.surface)
        inner.setColor(QPalette.ColorRole.Text, self.theme.palette.text)
        self.text.setPalette(inner)
        self.text.setFont(self.theme.mono_font(CODE_PX))
