"""What the dialogs of export and import have in common: a title, words, a thin bar, buttons at the foot."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from app.theme import Theme
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.progress_line import ProgressLine
from app.views.widgets.translated import Translated

_WIDTH_PX = 460


class FileDialog(Translated, QDialog):
    """Subclasses put their widgets into `body`, and set their words in `_retranslate`."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.title = TextLabel(theme, TextStyle.TITLE, self)
        self.words = TextLabel(theme, TextStyle.SECONDARY, self)
        self.bar = ProgressLine(theme, self)
        self.cancel_button = PillButton(theme, Emphasis.PLAIN, parent=self)
        self.go_button = PillButton(theme, Emphasis.PRIMARY, parent=self)
        self.body = QVBoxLayout()
        self.body.setSpacing(10)
        self.feet = QHBoxLayout()
        self.feet.setSpacing(8)
        self.feet.addStretch(1)
        self.feet.addWidget(self.cancel_button)
        self.feet.addWidget(self.go_button)
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(22, 18, 22, 16)
        column.setSpacing(12)
        for widget in (self.title, self.words):
            column.addWidget(widget)
        column.addLayout(self.body)
        column.addWidget(self.bar)
        column.addStretch(1)
        column.addLayout(self.feet)
        self.bar.hide()
        self.cancel_button.clicked.connect(self.reject)
        theme.changed.connect(self._restyle)
        self._restyle()

    def _restyle(self) -> None:
        palette = QPalette(self.palette())
        palette.setColor(QPalette.ColorRole.Window, self._theme.palette.window)
        self.setPalette(palette)
        self.setFixedWidth(self._theme.px(_WIDTH_PX))
        self.fit()

    def fit(self) -> None:
        """As high as its words need at its width."""
        self._column.activate()
        height = self._column.totalHeightForWidth(self.width())
        if height > 0:
            self.resize(self.width(), height)

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self.fit()
        return handled
