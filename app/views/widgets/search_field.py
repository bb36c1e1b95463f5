"""A line to search in: of the sidebar, of the settings, of the command palette."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QInputMethodEvent, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.theme import RADIUS_ROW, Theme
from app.views.icons import icon
from app.views.widgets.buttons import IconButton
from app.views.widgets.composing import Composing
from app.views.widgets.held_keys import is_held_return
from app.views.widgets.translated import Translated

_SYLLABLES = re.compile("[가-힣]+")
_CLEAR_PX = 24


class SearchField(Translated, Composing, QLineEdit):
    """A search line; Escape clears and leaves it, Down goes to the results. `clears`: with a clear button.

    Composed Korean is searched at once, since its last syllable is committed only by the next key; Japanese and Chinese
    only after the commit.
    """

    words_changed = Signal(str)
    left = Signal()
    down_pressed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, clears: bool = True) -> None:
        super().__init__(parent)
        self._theme = theme
        self._clears = clears
        self.clear_button = IconButton(theme, "x", _CLEAR_PX, self)
        self.clear_button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Escape does it by key
        self.clear_button.setCursor(Qt.CursorShape.ArrowCursor)
        self.clear_button.hide()
        self.setFrame(False)
        self.setAttribute(Qt.WidgetAttribute.WA_MacShowFocusRect, False)
        self.clear_button.clicked.connect(self._clear)
        self.textChanged.connect(lambda text: self.clear_button.setVisible(clears and bool(text)))
        self.textChanged.connect(self._tell_words)
        theme.follow(self._restyle)
        self._retranslate()

    def words(self) -> str:
        return self.text_with_composed() if _SYLLABLES.fullmatch(self.composed) else self.text()

    def text_with_composed(self) -> str:
        """As if it were committed now."""
        place = self.cursorPosition()
        return self.text()[:place] + self.composed + self.text()[place:]

    def _clear(self) -> None:
        self.drop_composed()
        self.clear()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _tell_words(self) -> None:
        self.words_changed.emit(self.words())

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        super().inputMethodEvent(event)
        self._tell_words()

    def _restyle(self) -> None:
        colors = self._theme.palette
        self.setFont(self._theme.ui_font())
        # All colours are in the style sheet: beside one, Qt keeps the palette of the first theme.
        self.setStyleSheet(
            f"QLineEdit {{ background: transparent; border: none; color: {colors.text.name()};"
            f" placeholder-text-color: {colors.faint.name()};"
            f" selection-background-color: {colors.ink.name()}; selection-color: {colors.on_ink.name()}; }}"
        )
        self.setFixedHeight(self._theme.px(30))
        self.setTextMargins(self._theme.px(30), 0, self._theme.px(_CLEAR_PX + 4) if self._clears else 4, 0)
        self._place_button()

    def _place_button(self) -> None:
        side = self._theme.px(_CLEAR_PX)
        gap = (self.height() - side) // 2
        self.clear_button.setGeometry(self.width() - side - gap, gap, side, side)

    def _retranslate(self) -> None:
        self.clear_button.set_name(self.tr("Clear"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_button()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if is_held_return(event) or self.ends_composition(event):
            event.accept()
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        elif key == Qt.Key.Key_Down:
            self.down_pressed.emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        colors = self._theme.palette
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(colors.ink, 1.5) if self.hasFocus() else QPen(colors.hairline, 1))
            painter.setBrush(colors.hover)
            painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), RADIUS_ROW + 2, RADIUS_ROW + 2)
            side = self._theme.px(15)
            left = self._theme.px(10)
            icon("search", colors.faint).paint(painter, left, (self.height() - side) // 2, side, side)
        super().paintEvent(event)
