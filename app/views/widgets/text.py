"""Words on a page: labels that follow the theme, and one that shortens itself instead of widening the window."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.theme import FOOTER_PX, TITLE_PX, UI_PX, Palette, Theme


class Voice(StrEnum):
    TITLE = "title"
    HEADING = "heading"
    BODY = "body"
    SECONDARY = "secondary"
    FINE = "fine"
    FAULT = "fault"


def voice_font(theme: Theme, voice: Voice) -> QFont:
    if voice == Voice.TITLE:
        return theme.ui_font(TITLE_PX, QFont.Weight.DemiBold)
    if voice == Voice.HEADING:
        return theme.ui_font(UI_PX, QFont.Weight.DemiBold)
    return theme.ui_font(FOOTER_PX if voice in (Voice.FINE, Voice.FAULT) else UI_PX, tabular=voice == Voice.FINE)


def voice_color(colors: Palette, voice: Voice) -> QColor:
    return {
        Voice.SECONDARY: colors.secondary,
        Voice.FINE: colors.secondary,
        Voice.FAULT: colors.fault,
    }.get(voice, colors.text)


class Words(QLabel):
    """Wrapping plain text; never rich text, because some of it comes from models and hubs."""

    def __init__(self, theme: Theme, voice: Voice = Voice.BODY, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._voice = voice
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        theme.changed.connect(self._restyle)
        self._restyle()

    def set_voice(self, voice: Voice) -> None:
        self._voice = voice
        self._restyle()

    def _restyle(self) -> None:
        self.setFont(voice_font(self._theme, self._voice))
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.WindowText, voice_color(self._theme.palette, self._voice))
        self.setPalette(palette)


class ElidedWords(QWidget):
    """One line that ends in an ellipsis where there is no room; the whole is in the tooltip."""

    def __init__(
        self,
        theme: Theme,
        voice: Voice = Voice.BODY,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._voice = voice
        self._mode = mode
        self._text = ""
        self.alignment = Qt.AlignmentFlag.AlignLeft
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def text(self) -> str:
        return self._text

    def setText(self, text: str) -> None:  # noqa: N802 - like every other widget with a text
        self._text = text
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    def _metrics(self) -> QFontMetrics:
        return QFontMetrics(voice_font(self._theme, self._voice))

    def sizeHint(self) -> QSize:
        return QSize(self._metrics().horizontalAdvance(self._text) + 2, self._metrics().height() + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(40), self._metrics().height() + 2)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(voice_font(self._theme, self._voice))
        painter.setPen(voice_color(self._theme.palette, self._voice))
        shown = self._metrics().elidedText(self._text, self._mode, self.width())
        self.setToolTip(self._text if shown != self._text else "")
        painter.drawText(self.rect(), self.alignment | Qt.AlignmentFlag.AlignVCenter, shown)
        painter.end()
