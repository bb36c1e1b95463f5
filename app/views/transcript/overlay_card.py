"""The card over a correction: what the draft wanted, what the main model wrote, where in the draft, in which pass."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QGridLayout, QWidget

from app.theme import RADIUS_CARD, Theme
from app.views.widgets.labels import TextLabel, TextStyle
from app.words.overlay import CardWords

_GAP_PX = 6


class OverlayCard(QWidget):
    """Over the transcript; never under the pointer, and moves nothing."""

    left = Signal()  # by a key, where a key has brought it

    def __init__(self, theme: Theme, area: QWidget) -> None:
        super().__init__(area)
        self._area = area
        self._theme = theme
        self.words = CardWords("", "", "", "", "")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._labels = [TextLabel(theme, style, self) for style in _STYLES]
        for label in self._labels:
            label.setWordWrap(False)
        grid = QGridLayout(self)
        grid.setContentsMargins(12, 9, 12, 9)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(3)
        for number, label in enumerate(self._labels[:4]):
            grid.addWidget(label, number // 2, number % 2)
        grid.addWidget(self._labels[4], 2, 0, 1, 2)
        grid.setColumnStretch(1, 1)
        theme.changed.connect(self.hide)
        self.hide()

    def show_words(self, words: CardWords) -> None:
        self.words = words
        texts = (words.wanted_label, words.wanted, words.chosen_label, words.chosen, words.place)
        for label, text in zip(self._labels, texts, strict=True):
            label.setText(text)
        self.setAccessibleName(words.sentence)

    def close_by_key(self) -> None:
        """From now on Escape closes it, wherever the focus is, and so does whatever is typed."""
        application = QApplication.instance()
        assert application is not None
        application.installEventFilter(self)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        application = QApplication.instance()
        assert application is not None
        application.removeEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() == QEvent.Type.KeyRelease:
            return False
        is_escape = event.key() == Qt.Key.Key_Escape
        if event.type() == QEvent.Type.ShortcutOverride:
            if is_escape:
                event.accept()  # no shortcut of the window's
            return is_escape
        if is_escape or event.text():
            self.left.emit()
        return is_escape

    def place_at(self, below: QPoint, height_px: int) -> None:
        """Under the words that it is about, or above them where there is no room."""
        self.adjustSize()
        area = self._area.rect()
        x = max(4, min(below.x(), area.right() - self.width() - 4))
        y = below.y() + _GAP_PX
        if y + self.height() > area.bottom():
            y = below.y() - height_px - _GAP_PX - self.height()
        self.move(x, max(4, y))
        self.show()
        self.raise_()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(self._theme.palette.surface)
        painter.setPen(QPen(self._theme.palette.hairline, 1))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_CARD, RADIUS_CARD)
        painter.end()


_STYLES = (TextStyle.FINE, TextStyle.BODY, TextStyle.FINE, TextStyle.HEADING, TextStyle.FINE)
