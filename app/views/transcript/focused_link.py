"""The link of the transcript that has the keyboard's focus: Return and Space open it.

Not here: which link is next (`link_walk.py`).
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QWidget

from app.markup.links import places_of
from app.theme import Theme
from app.views.transcript.link_walk import Spot
from app.views.transcript.text_parts import ReadOnlyText
from app.views.widgets.link_ring import AROUND_PX, LinkRing


class FocusedLink(LinkRing):
    """It belongs to a spot as long as it has the focus."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.spot: Spot | None = None
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Tab comes to it by way of the transcript
        self.clicked.connect(self._open)
        self.hide()

    def take(self, spot: Spot) -> None:
        self.spot = spot
        self.name_after(spot.link)
        self.place()
        self.show()
        self.setFocus(Qt.FocusReason.TabFocusReason)
        self.have_heard()

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
        self.surround(place.translated(shift) for place in places_of(self.spot.link, text.document()))

    def show_sideways(self) -> None:
        """In a table that is wider than the column."""
        text = self._text
        if text is None or self.spot is None:
            return
        bar, places = text.horizontalScrollBar(), places_of(self.spot.link, text.document())
        if places and not bar.value() <= places[0].left() <= places[0].right() <= bar.value() + text.width():
            bar.setValue(round(places[0].left()) - AROUND_PX)
        self.place()

    def _open(self) -> None:
        """As a click on the words does."""
        if self._text is not None and self.spot is not None:
            self._text.follow(QUrl(self.spot.link.address))
