"""Pairs that go well with this machine and this user's language, each installed with one click."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QLocale, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from app.controllers.models import ModelController
from app.theme import Theme
from app.view_models.downloads import DownloadState
from app.view_models.installed_list import PairOffer
from app.views.models.model_facts import coming_text, offer_text
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Card
from app.views.widgets.labels import NameLabel, TextLabel, TextStyle
from app.views.widgets.tooltips import set_tooltip
from app.views.widgets.translated import Translated
from app.words.formats import fill
from app.words.model_names import human_name


class Recommended(Translated, QWidget):
    """Heading, what it means, and the pairs; hidden where the catalog has none for this machine."""

    installing = Signal()

    def __init__(self, theme: Theme, models: ModelController, parent: QWidget) -> None:
        super().__init__(parent)  # which it shows itself in, not as a window of its own
        self._models = models
        self._shown: tuple[list[PairOffer], dict[str, DownloadState], PairOffer | None] | None = None
        self._heading = TextLabel(theme, TextStyle.HEADING)
        self.card = RecommendedCard(theme)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for widget in (self._heading, self.card):
            column.addWidget(widget)
        models.models_changed.connect(self._show_offers)
        models.downloads.changed.connect(self._show_offers)
        self.card.install_requested.connect(self._install)
        self.card.use_requested.connect(models.use_offer)
        self._wanted = True
        self._retranslate()

    def set_wanted(self, wanted: bool) -> None:
        """Not while the user searches."""
        self._wanted = wanted
        self._show_offers()

    def _show_offers(self) -> None:
        offers = self._models.library.offers(QLocale().name())
        coming = self._models.downloads.coming
        used = next((offer for offer in offers if self._models.uses(offer.main, offer.draft)), None)
        if (offers, coming, used) != self._shown:
            self._shown = offers, coming, used
            self.card.show_offers(offers, coming, used)
        self.setVisible(self._wanted and bool(offers))

    def _install(self, offer: PairOffer) -> None:
        self._models.install_pair(offer.main, offer.draft)
        self.installing.emit()

    def _retranslate(self) -> None:
        self._heading.setText(self.tr("Recommended for this Mac"))
        self._shown = None
        self._show_offers()


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
    ) -> None:
        super().__init__()
        self.offer = offer
        self.install_button = PillButton(theme, Emphasis.PLAIN, "" if offer.installed else "download")
        self._name_button(coming, is_used=is_used)
        self.install_button.clicked.connect(self._on_click)
        name = NameLabel(theme, TextStyle.HEADING)
        name.setText(human_name(offer.main_name))
        set_tooltip(name, offer.main)
        draft = NameLabel(theme, TextStyle.FINE)
        draft.setText(fill(self.tr("draft: %1"), human_name(offer.draft_name)))
        set_tooltip(draft, offer.draft)
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
        """The width that the narrow layout needs, where the button is below the words."""
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
        state = self.tr("In use") if is_used else "" if here else coming_text(coming)
        self.install_button.setText(state or (self.tr("Use both") if here else self.tr("Install both")))
        self.install_button.setEnabled(not state)
        name = self.tr("Use %1 and its draft") if here else self.tr("Install %1 and its draft")
        self.install_button.setAccessibleName(fill(name, human_name(self.offer.main_name)))

    def _on_click(self) -> None:
        (self.use_requested if self.offer.installed else self.install_requested).emit(self.offer)
