"""The links of a text in a card, by keyboard: Tab goes from one to the next, Return and Space ask to open it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QScrollArea, QTextBrowser, QWidget

from app.markup.links import Link, places_of
from app.theme import Theme
from app.views.widgets.link_ring import LinkRing


class CardLink(LinkRing):
    """One button for all links of a text, on the words of the one that it has come to."""

    chosen = Signal(str)  # an address

    def __init__(self, theme: Theme, text: QTextBrowser, links: Sequence[Link], card: QWidget) -> None:
        super().__init__(theme, card)
        self._text, self._card = text, card
        self._links = links
        self._number = 0
        self.name_after(links[0])
        text.installEventFilter(self)
        self.clicked.connect(lambda: self.chosen.emit(self._links[self._number].address))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() is Qt.FocusReason.TabFocusReason:
            self._go_to(0)
        elif event.reason() is Qt.FocusReason.BacktabFocusReason:
            self._go_to(len(self._links) - 1)

    def focusNextPrevChild(self, forward: bool) -> bool:
        number = self._number + (1 if forward else -1)
        if not 0 <= number < len(self._links):
            return super().focusNextPrevChild(forward)
        self._go_to(number)
        self.have_heard()
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        """Where its words are now."""
        corner = self._text.viewport().mapTo(self._card, QPoint(0, 0))
        places = places_of(self._links[self._number], self._text.document())
        self.surround(place.translated(corner) for place in places)

    def _go_to(self, number: int) -> None:
        self._number = number
        self.name_after(self._links[number])
        self._place()
        around = self.parentWidget()
        while around is not None and not isinstance(around, QScrollArea):
            around = around.parentWidget()
        if around is not None:
            around.ensureWidgetVisible(self)
