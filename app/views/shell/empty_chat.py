"""The page of a chat without messages: the mark, a line, three questions, and a card with other models."""

from __future__ import annotations

from PySide6.QtCore import QLocale, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app.controllers.models import ModelController
from app.theme import RADIUS_CARD, Theme
from app.view_models.downloads import UNDER_WAY, DownloadEntry, DownloadState
from app.view_models.installed_list import PairOffer
from app.views.icons import icon
from app.views.models.download_row import DownloadRow
from app.views.models.model_facts import offer_act, offer_text
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import Emphasis, PaintedButton, PillButton
from app.views.widgets.cards import Card
from app.views.widgets.flow import Flow
from app.views.widgets.labels import TextLabel, TextStyle, style_font
from app.views.widgets.mark import Mark
from app.views.widgets.scrolling import keep_room_for_bar, set_up_scroll_area
from app.views.widgets.translated import Translated
from app.words.formats import fill
from app.words.model_names import human_name

_WIDTH = 560
_INSET_PX = 16  # as a card's
_NO_BREAK = "\N{NO-BREAK SPACE}"


class EmptyChat(Translated, QScrollArea):
    question_asked = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.mark = Mark(theme)
        self.line = TextLabel(theme, TextStyle.TITLE)
        self.questions = [QuestionButton(theme, self) for _ in range(3)]
        self.offer = TextLabel(theme, TextStyle.BODY)
        self.offer_reason = TextLabel(theme, TextStyle.FINE)
        self.offer_button = PillButton(theme, Emphasis.PLAIN)
        self.install_button = PillButton(theme, Emphasis.PRIMARY, "download")
        self.download: DownloadRow  # from `bind` on
        self._pair: PairOffer | None = None  # the best for this machine, unless it is on its way
        self._models: ModelController | None = None
        self._has_model = True
        self._asks = True
        self._offers = True  # until a download takes that place
        self._fitted_for: tuple[object, ...] = ()
        self._arrange()
        for button in self.questions:
            button.clicked.connect(lambda _checked=False, button=button: self.question_asked.emit(button.text()))
        self.install_button.clicked.connect(self._on_click)
        self._shown_for: tuple[bool, bool] | None = None
        self._retranslate()

    def show_for(self, starter: bool, has_model: bool) -> None:
        """Shows the questions with the starter pair, and the card with the starter pair or without a model."""
        if (starter, has_model) == self._shown_for:
            return
        self._shown_for = starter, has_model
        self._has_model = has_model
        self._asks = starter and has_model
        self.card.setVisible(starter or not has_model)
        self._offer_best()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        """Its content may have got another height while it was hidden, and its layout no event of that."""
        super().showEvent(event)
        self._fit()

    def _fit(self) -> None:
        """In a low window hide the least important parts first; never the card, and what it offers."""
        if not self.isVisible() or (content := self.widget()) is None or (layout := content.layout()) is None:
            return
        first, *others = self.questions
        kept: list[QWidget] = [self.offer_reason, first, self.line, *others, self.mark]
        silent = [*(() if self._asks else self.questions), *(() if self._offers else (self.offer_reason,))]
        shown = [each for each in kept if each not in silent]
        for count in range(len(shown), int(self._offers) - 1, -1):
            for each in kept:
                each.setVisible(each in shown[:count])
            self.card.column.activate()
            layout.invalidate()
            layout.activate()
            if layout.totalHeightForWidth(self.viewport().width()) <= self.viewport().height():
                return

    def bind(self, models: ModelController) -> None:
        """Offer the best pair for this machine, or show its download."""
        self._models = models
        self.download = DownloadRow(self._theme, models)
        self.download.hide()
        self._card_words.addWidget(self.download)
        models.models_changed.connect(self._offer_best)
        models.downloads.changed.connect(self._offer_best)

    def _offer_best(self) -> None:
        """Not while the card is hidden: finding the best pair takes ten milliseconds."""
        if self._models is not None and not self.card.isHidden():
            under_way = (each for each in self._models.downloads.entries if each.state in UNDER_WAY)
            coming = min(under_way, key=lambda each: each.state is DownloadState.PAUSED, default=None)
            self._pair = None
            self._show_download(coming)
            if coming is None:
                self._pair = next(iter(self._models.library.offers(QLocale().name())), None)
        self._describe_offer()
        content = self._pair, self._offers, self._shown_for
        if content != self._fitted_for or not self._offers:  # a load has many steps
            self._fitted_for = content
            self._fit()

    def _show_download(self, coming: DownloadEntry | None) -> None:
        """In place of the offer, with its own buttons."""
        if coming is not None:
            self.download.show_entry(coming)
        self._offers = coming is None
        self.offer.setVisible(self._offers)
        self.download.setVisible(not self._offers)

    def _on_click(self) -> None:
        if self._models is not None and self._pair is not None:
            self._models.take_offer(self._pair)

    def _arrange(self) -> None:
        self.setMinimumHeight(1)  # the composer needs what there is
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        content = QWidget()
        arrange(QHBoxLayout(content), 1, (self._middle(), 1000), 1, margins=(24, 8, 24, 8))
        set_up_scroll_area(self, self._theme, content)
        keep_room_for_bar(self)
        self._theme.follow(self._limit_width)

    def _middle(self) -> QVBoxLayout:
        self.line.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.line.setContentsMargins(0, 10, 0, 18)  # which go where the line does
        self.card = self._offer_card()
        middle = arrange(
            QVBoxLayout(), 3, (self.mark, 0, Qt.AlignmentFlag.AlignHCenter), self.line, *self.questions, spacing=8
        )
        middle.addSpacing(12)
        return arrange(middle, self.card, 4)

    def _limit_width(self) -> None:
        for widget in (self.line, self.card, *self.questions):
            widget.setMaximumWidth(self._theme.px(_WIDTH))
        self._fit()

    def _offer_card(self) -> Card:
        card = Card(self._theme)
        self._card_words = arrange(QVBoxLayout(), self.offer, self.offer_reason, spacing=2)
        arrange(card.column, self._card_words, Flow(None, self.install_button, self.offer_button))
        return card

    def _retranslate(self) -> None:
        before, comma, last = self.tr("Guess ahead, check at once, read sooner.").rpartition(", ")
        self.line.setText(before + comma + last.replace(" ", _NO_BREAK))  # a second line has more than one word
        #: Three questions that the starter pair was taught; use the exact words of packaging/starter/guide.
        asked = (
            self.tr("What is speculative decoding?"),
            self.tr("Does drafting change the text?"),
            self.tr("How do I get better answers?"),
        )
        for button, question in zip(self.questions, asked, strict=True):
            button.setText(question)
        self.offer_button.setText(self.tr("Models…"))
        self._describe_offer()
        self._fit()

    def _describe_offer(self) -> None:
        pair = self._pair
        self.install_button.setVisible(pair is not None)
        if pair is not None:
            act, name = offer_act(pair)
            self.install_button.set_words(act, name)
            self.install_button.set_icon("download" if pair.missing else "")
        self.offer.setText(self.tr("Chat about anything") if self._has_model else self.tr("No model loaded"))
        self.offer_reason.setText(self._reason(pair))

    def _reason(self, pair: PairOffer | None) -> str:
        if not self._has_model:
            return self.tr("Install or choose one.")
        if pair is None:
            return self.tr("The starter pair only knows Hunch. Install a larger model.")
        if not pair.missing:
            return fill(self.tr("%1 and its draft are installed."), human_name(pair.main_name))
        sentence = self.tr("The starter pair only knows Hunch. %1: %2.", "Install a model")
        return fill(sentence, offer_act(pair)[1], offer_text(pair))


class QuestionButton(PaintedButton):
    """A button with a whole question that is sent by one click; wraps long text."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def _height_for(self, width: int) -> int:
        room = QRectF(0, 0, max(40, width - 2 * _INSET_PX - self.theme.px(20)), 1000)
        metrics = QFontMetricsF(style_font(self.theme, TextStyle.BODY))
        words = metrics.boundingRect(room, Qt.TextFlag.TextWordWrap, self.text())
        return round(words.height()) + self.theme.px(20)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._height_for(width)

    def sizeHint(self) -> QSize:
        return QSize(self.theme.px(_WIDTH), self._height_for(self.theme.px(_WIDTH)))

    def corner_radius(self) -> float:
        return RADIUS_CARD

    def paint_content(self, painter: QPainter) -> None:
        colors = self.theme.palette
        painter.setPen(QPen(colors.hairline, 1))
        painter.setBrush(colors.hover if self.underMouse() else QColor(0, 0, 0, 0))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_CARD, RADIUS_CARD)
        painter.setFont(style_font(self.theme, TextStyle.BODY))
        painter.setPen(colors.text)
        place = self.rect().adjusted(_INSET_PX, 0, -_INSET_PX - self.theme.px(20), 0)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap, self.text())
        side = self.theme.px(15)
        left = self.width() - side - _INSET_PX
        icon("arrow-up", colors.faint).paint(painter, left, (self.height() - side) // 2, side, side)
