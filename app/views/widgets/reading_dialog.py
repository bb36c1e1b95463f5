"""A window with a long text, to read and copy. Nothing in it opens or runs anything."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from app.theme import Theme
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.long_text import ShownText
from app.views.widgets.plain_words import set_window_title
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
        self.text = ShownText(theme, self)
        self.buttons = QHBoxLayout()
        self.close_button = PillButton(theme, Emphasis.PRIMARY, parent=self)
        self._more = QTimer(self, interval=0)
        self._more.timeout.connect(self._show_more)
        self._arrange()
        self.close_button.clicked.connect(self.accept)
        theme.follow(self._restyle)

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
        arrange(self.buttons, 1, self.close_button)
        arrange(QVBoxLayout(self), self.facts, (self.text, 1), self.buttons, spacing=10, margins=(18, 14, 18, 14))

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
        palette = QPalette(self.palette())
        palette.setColor(QPalette.ColorRole.Window, self._theme.palette.window)
        self.setPalette(palette)
