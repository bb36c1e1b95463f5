"""The ring around the words of a link that the keyboard has reached: a button that lies over them.

Here: where it is, how it looks, what it is called. Not here: which link is next, and what opening it does.
"""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QCoreApplication, QRect, QRectF, Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.markup.links import Link, leads_out, marked, noted
from app.theme import Theme
from app.views.widgets.buttons import PaintedButton
from app.words.formats import fill

AROUND_PX = 3
_RADIUS = 4


class LinkRing(PaintedButton):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._lines: list[QRectF] = []
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def name_after(self, link: Link) -> None:
        self.setAccessibleName(_name(link))
        self.setAccessibleDescription(link.address if leads_out(link.address) else "")

    def have_heard(self) -> None:
        """That the focus is on another link, though it is the same button."""
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Focus))

    def surround(self, places: Iterable[QRectF]) -> None:
        """The lines of a link, in the parent's coordinates."""
        lines = [place.adjusted(-AROUND_PX, -AROUND_PX, AROUND_PX, AROUND_PX) for place in places]
        area = QRect()
        for line in lines:
            area = area.united(line.toAlignedRect())
        self._lines = [line.translated(-area.topLeft()) for line in lines]
        self.setGeometry(area)
        self.raise_()
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self.hasFocus():
            return
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(self.theme.palette.ink, 2))
            for line in self._lines:
                painter.drawRoundedRect(line.adjusted(1, 1, -1, -1), _RADIUS, _RADIUS)


def _name(link: Link) -> str:
    if label := noted(link.address):
        return fill(QCoreApplication.translate("TranscriptView", "Footnote %1"), label)
    if label := marked(link.address):
        return fill(QCoreApplication.translate("TranscriptView", "Back from footnote %1"), label)
    return fill(QCoreApplication.translate("TranscriptView", "Link: %1"), link.words)
