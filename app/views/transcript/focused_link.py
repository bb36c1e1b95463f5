"""The link that has the keyboard's focus: a button over its words, which draws the ring around them.

Here: what it says to screen readers, its ring, Return and Space. Not here: which link is next (`link_walk.py`).
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QPoint, QRect, QRectF, Qt, QUrl
from PySide6.QtGui import QAccessible, QAccessibleEvent, QFocusEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.markup.links import Link, is_in_message, marked, noted, places_of
from app.theme import Theme
from app.views.transcript.link_walk import Spot
from app.views.transcript.text_parts import ReadOnlyText
from app.views.widgets.buttons import PaintedButton
from app.words.formats import fill

_AROUND_PX = 3
_RADIUS = 4


class FocusedLink(PaintedButton):
    """It belongs to a spot as long as it has the focus."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.spot: Spot | None = None
        self._lines: list[QRectF] = []
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Tab comes to it by way of the transcript
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.clicked.connect(self._open)
        self.hide()

    def take(self, spot: Spot) -> None:
        self.spot = spot
        self.setAccessibleName(_name(spot.link))
        self.setAccessibleDescription("" if is_in_message(spot.link.address) else spot.link.address)
        self.place()
        self.show()
        self.setFocus(Qt.FocusReason.TabFocusReason)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Focus))

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        # A menu, a dialog or another window give it back.
        if event.reason() not in (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason):
            self.spot = None
            self.hide()

    @property
    def _text(self) -> ReadOnlyText | None:
        widget: object = None if self.spot is None else self.spot.part.widget
        return widget if isinstance(widget, ReadOnlyText) else None

    def place(self) -> None:
        """Where its words are now; out of sight it keeps the focus."""
        text = self._text
        if self.spot is None or text is None:
            self.move(QPoint(0, -10_000))
            return
        shift = text.pos() - QPoint(text.horizontalScrollBar().value(), 0)
        around = (-_AROUND_PX, -_AROUND_PX, _AROUND_PX, _AROUND_PX)
        lines = [place.translated(shift).adjusted(*around) for place in places_of(self.spot.link, text.document())]
        area = QRect()
        for line in lines:
            area = area.united(line.toAlignedRect())
        self._lines = [line.translated(-area.topLeft()) for line in lines]
        self.setGeometry(area)
        self.raise_()
        self.update()

    def show_sideways(self) -> None:
        """In a table that is wider than the column."""
        text = self._text
        if text is None or self.spot is None:
            return
        bar, places = text.horizontalScrollBar(), places_of(self.spot.link, text.document())
        if places and not bar.value() <= places[0].left() <= places[0].right() <= bar.value() + text.width():
            bar.setValue(round(places[0].left()) - _AROUND_PX)
        self.place()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.theme.palette.ink, 2))
        for line in self._lines:
            painter.drawRoundedRect(line.adjusted(1, 1, -1, -1), _RADIUS, _RADIUS)
        painter.end()

    def _open(self) -> None:
        """As a click on the words does."""
        if self._text is not None and self.spot is not None:
            self._text.follow(QUrl(self.spot.link.address))


def _name(link: Link) -> str:
    if label := noted(link.address):
        return fill(QCoreApplication.translate("TranscriptView", "Footnote %1"), label)
    if label := marked(link.address):
        return fill(QCoreApplication.translate("TranscriptView", "Back from footnote %1"), label)
    return fill(QCoreApplication.translate("TranscriptView", "Link: %1"), link.words)
