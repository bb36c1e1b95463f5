"""Pairs that go well with this machine and this person's language, each installed with one click."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from app.theme import Theme
from app.view_models.installed_list import PairOffer
from app.views.settings.model_facts import offer_text
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Card
from app.views.widgets.labels import NameLabel, TextLabel, TextStyle
from app.words.formats import fill


class RecommendedCard(Card):
    install_requested = Signal(object)  # PairOffer

    def show_offers(self, offers: Sequence[PairOffer], coming: Sequence[str]) -> None:
        """`coming`: main models that are being downloaded."""
        rows = [OfferRow(self.theme, offer, is_coming=offer.main in coming) for offer in offers]
        for row in rows:
            row.install_requested.connect(self.install_requested)
        self.set_rows(rows)


class OfferRow(QWidget):
    install_requested = Signal(object)

    def __init__(self, theme: Theme, offer: PairOffer, *, is_coming: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.offer = offer
        self.install_button = PillButton(theme, Emphasis.PLAIN, "download")
        self.install_button.setText(self._state(is_coming) or self.tr("Install both"))
        self.install_button.setEnabled(not self._state(is_coming))
        self.install_button.setAccessibleName(fill(self.tr("Install %1 and its draft"), offer.main_name))
        self.install_button.clicked.connect(lambda: self.install_requested.emit(offer))
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

    def _state(self, is_coming: bool) -> str:
        if self.offer.installed:
            return self.tr("Installed")
        return self.tr("On its way") if is_coming else ""
