"""Base of the export and import dialogs: they stay open with a progress bar while something is running."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.progress_line import ProgressLine

_WIDTH_PX = 460


class ProgressDialog(Dialog):
    """Subclasses put widgets into `content`, above the bar, set their words in `words`, and call `begin`."""

    _is_made = False

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, lambda: self.words() if self._is_made else DialogText(""), width_px=_WIDTH_PX)
        self.act_button.clicked.disconnect(self.accept)
        self.content.setSpacing(10)
        self.bar = ProgressLine(theme, self)
        self.bar.hide()

    def words(self) -> DialogText:
        raise NotImplementedError

    def begin(self) -> None:
        self.content.addWidget(self.bar)
        self._is_made = True
        self._retranslate()

    def _retranslate(self) -> None:
        super()._retranslate()
        if self._is_made:
            self.bar.setAccessibleName(self.sentence.text())

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return handled
