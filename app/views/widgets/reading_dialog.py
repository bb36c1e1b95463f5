"""A window that shows a long text, to read and to copy from. Nothing in it opens or runs anything."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QPalette, QTextOption
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.theme import CODE_PX, Theme
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.long_text import LongText
from app.views.widgets.plain_words import set_window_title
from app.views.widgets.scrolling import ThinScrollBars
from app.views.widgets.translated import Translated

_STEP_CHARACTERS = 100_000  # laid out at one go


class ReadingDialog(Translated, QDialog):
    """Who derives from it puts buttons into `buttons`, left of the one that closes, and names it in `_retranslate`."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._theme = theme
        self._left = ""  # of the text, not shown yet
        self.facts = TextLabel(theme, TextStyle.SECONDARY, self)
        self.text = LongText(self)
        self.buttons = QHBoxLayout()
        self.close_button = PillButton(theme, Emphasis.PRIMARY, parent=self)
        self._more = QTimer(self, interval=0)
        self._more.timeout.connect(self._show_more)
        self._arrange()
        self.close_button.clicked.connect(self.accept)
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_text(self, text: str) -> None:
        """A long one comes in steps, so that nothing freezes; the first is there at once."""
        self._left = text
        self._show_more()
        self._more.start()

    def read_on(self, *, is_whole: bool) -> None:
        """More of the text is there."""

    def add_button(self) -> PillButton:
        button = PillButton(self._theme, Emphasis.PLAIN, parent=self)
        self.buttons.insertWidget(self.buttons.count() - 2, button)
        return button

    def _arrange(self) -> None:
        self.resize(self._theme.px(720), self._theme.px(560))
        self.text.setReadOnly(True)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setUndoRedoEnabled(False)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        ThinScrollBars(self.text, self._theme)
        self.buttons.addStretch(1)
        self.buttons.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 14, 18, 14)
        column.setSpacing(10)
        column.addWidget(self.facts)
        column.addWidget(self.text, 1)
        column.addLayout(self.buttons)

    def _show_more(self) -> None:
        self.text.append(self._left[:_STEP_CHARACTERS])
        self._left = self._left[_STEP_CHARACTERS:]
        if not self._left:
            self._more.stop()
        self.read_on(is_whole=not self._left)

    def name(self, title: str, facts: str) -> None:
        set_window_title(self, title)
        self.text.setAccessibleName(title)
        self.facts.setText(facts)
        self.close_button.setText(self.tr("Close"))

    def _restyle(self) -> None:
        colors = self._theme.palette
        palette = QPalette(self.palette())
        palette.setColor(QPalette.ColorRole.Window, colors.window)
        self.setPalette(palette)
        inner = QPalette(self.text.palette())
        inner.setColor(QPalette.ColorRole.Base, colors.surface)
        inner.setColor(QPalette.ColorRole.Text, colors.text)
        self.text.setPalette(inner)
        self.text.setFont(self._theme.mono_font(CODE_PX))
