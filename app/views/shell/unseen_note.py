"""The line under the message field that says what the chosen model cannot answer, and offers one that can."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QWidget

from app.theme import Theme
from app.view_models.installed_list import ModelOffer
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.tooltips import set_tooltip
from app.views.widgets.translated import Translated
from app.words.formats import fill, sentences, size
from app.words.hub import install_text
from app.words.model_names import human_name

_WORDS_NEED_PX = 180  # beside the buttons
_Shown = tuple[str, tuple[str, str], ModelOffer | None, str, bool]


class UnseenNote(Translated, QWidget):
    use_requested = Signal(str)  # the folder of an installed model that can
    install_requested = Signal(str)  # the repository of one that is not installed
    find_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: _Shown = ("", ("", ""), None, "", False)
        self.words = TextLabel(theme, TextStyle.FINE, self)
        self.use_button, self.install_button = (PillButton(theme, Emphasis.PLAIN, parent=self) for _ in range(2))
        self.find_button = PillButton(theme, Emphasis.QUIET, parent=self)
        self._buttons = QWidget(self)
        buttons = QHBoxLayout(self._buttons)
        buttons.setContentsMargins(0, 0, 0, 0)
        for button in (self.use_button, self.install_button, self.find_button):
            buttons.addWidget(button)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 4, 0, 0)
        self._row.addWidget(self.words, 1)
        self._row.addWidget(self._buttons)
        self.use_button.clicked.connect(self._use)
        self.install_button.clicked.connect(self._install)
        self.find_button.clicked.connect(self.find_requested)
        self._retranslate()
        self.hide()

    def set_models(
        self,
        chosen: str,
        installed: tuple[str, str],
        offer: ModelOffer | None = None,
        coming: str = "",
        *,
        only_sees: bool = False,
    ) -> None:
        """`installed`: a name and folder; `offer` may be installed, and `coming` says how far that is.

        `only_sees`: what `chosen` lacks is not sight, but all else.
        """
        if (shown := (chosen, installed, offer, coming, only_sees)) != self._shown:
            self._shown = shown
            self._retranslate()

    def sentence(self) -> str:
        chosen, _installed, offer, _coming, only_sees = self._shown
        if only_sees:
            return fill(self.tr("%1 only answers about pictures."), human_name(chosen))
        words = fill(self.tr("%1 cannot see pictures."), human_name(chosen))
        if offer is None:
            return words
        return sentences(words, fill(self.tr("%1 can, about %2."), human_name(offer.name), size(offer.download_bytes)))

    def minimumSizeHint(self) -> QSize:
        """The width that the narrow layout needs, with the buttons below the words."""
        return QSize(self._buttons.minimumSizeHint().width(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_buttons()

    def _place_buttons(self) -> None:
        beside = self.width() >= self._theme.px(_WORDS_NEED_PX) + self._buttons.sizeHint().width()
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        self._row.setAlignment(self._buttons, Qt.AlignmentFlag.AlignVCenter if beside else Qt.AlignmentFlag.AlignLeft)
        self.setMinimumHeight(self._row.heightForWidth(self.width()))  # the composer asks no height for a width

    def _use(self) -> None:
        self.use_requested.emit(self._shown[1][1])

    def _install(self) -> None:
        if (offer := self._shown[2]) is not None:
            self.install_requested.emit(offer.repository)

    def _retranslate(self) -> None:
        _chosen, (name, folder), offer, coming, only_sees = self._shown
        self.words.setText(self.sentence())
        self.use_button.setText(fill(self.tr("Use %1"), human_name(name)))
        self.use_button.setVisible(bool(folder))
        self.install_button.setText(coming or install_text())
        self.install_button.setEnabled(not coming)
        self.install_button.setVisible(offer is not None)
        if offer is not None:
            self.install_button.setAccessibleName(coming or fill(self.tr("Install %1"), human_name(offer.name)))
            set_tooltip(self.install_button, offer.repository)
        self.find_button.setText(self.tr("Find One That Can"))
        self.find_button.setVisible(not folder and not only_sees)
        self._place_buttons()
