"""Pairs that go well with this machine and this person's language, each installed with one click."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from app.theme import Theme
from app.view_models.downloads import DownloadState
from app.view_models.installed_list import PairOffer
from app.views.settings.model_facts import offer_text
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Card
from app.views.widgets.labels import NameLabel, TextLabel, TextStyle
from app.words.formats import fill


class RecommendedCard(Card):
    install_requested = Signal(object)  # PairOffer
    use_requested = Signal(object)

    def show_offers(
        self, offers: Sequence[PairOffer], coming: Mapping[str, DownloadState], used: PairOffer | None
    ) -> None:
        """`coming`: main models that are being downloaded. `used`: what is loaded."""
        rows = [OfferRow(self.theme, each, coming.get(each.main), is_used=each == used) for each in offers]
        for row in rows:
            row.install_requested.connect(self.install_requested)
            row.use_requested.connect(self.use_requested)
        self.set_rows(rows)


class OfferRow(QWidget):
    install_requested = Signal(object)
    use_requested = Signal(object)

    def __init__(
        self,
        theme: Theme,
        offer: PairOffer,
        coming: DownloadState | None,
        *,
        is_used: bool,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.offer = offer
        self.install_button = PillButton(theme, Emphasis.PLAIN, "" if offer.installed else "download")
        self._name_button(coming, is_used=is_used)
        self.install_button.clicked.connect(self._on_click)
        name = NameLabel(theme)
        name.setText(offer.main_name)
        draft = NameLabel(theme, TextStyle.FINE)
        draft.setText(fill(self.tr("with the draft %1"), offer.draft_name))
        self.details = TextLabel(theme, TextStyle.FINE)
        self.details.setText(offer_text(offer))
        words = QVBoxLayout()
        words.setSpacing(2)
        for label in (name, draft, self.details):
            words.addWidget(label)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(12)
        self._row.addLayout(words, 1)
        self._row.addWidget(self.install_button, 0, Qt.AlignmentFlag.AlignVCenter)

    def minimumSizeHint(self) -> QSize:
        """The width that the narrow layout needs, where the button stands below the words."""
        return QSize(self.install_button.sizeHint().width(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = event.size().width() >= 3 * self.install_button.sizeHint().width()
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        below = Qt.AlignmentFlag.AlignVCenter if beside else Qt.AlignmentFlag.AlignLeft
        self._row.setAlignment(self.install_button, below)

    def _name_button(self, coming: DownloadState | None, *, is_used: bool) -> None:
        """One button takes the pair as far as it goes: to this Mac, and then into memory."""
        here = self.offer.installed
        state = self.tr("In use") if is_used else "" if here else self._state_of(coming)
        self.install_button.setText(state or (self.tr("Use both") if here else self.tr("Install both")))
        self.install_button.setEnabled(not state)
        name = self.tr("Use %1 and its draft") if here else self.tr("Install %1 and its draft")
        self.install_button.setAccessibleName(fill(name, self.offer.main_name))

    def _state_of(self, coming: DownloadState | None) -> str:
        if coming is DownloadState.PAUSED:
            return self.tr("Paused")
        return self.tr("Downloading") if coming is not None else ""

    def _on_click(self) -> None:
        (self.use_requested if self.offer.installed else self.install_requested).emit(self.offer)
