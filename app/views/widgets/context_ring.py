"""A thin ring that shows how full the context of a chat is; it adds words from 80 % on.

How much a chat may have, it says where that is less than the model holds: as the user set, or as memory allows.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QAccessible, QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.theme import FOOTER_PX, Theme
from app.views.widgets.tooltips import set_tooltip
from app.views.widgets.translated import Translated
from app.words.formats import count, fill, percent, spoken

_LEAST_SHARE = 1 / 16  # less is a speck, and no arc
SPEAKS_UP_AT = 0.8


class ContextRing(Translated, QWidget):
    accessible_role = QAccessible.Role.ProgressBar

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.used_tokens = 0
        self._limit_tokens = 0
        self._model_tokens = self._memory_tokens = 0  # 0: not known
        theme.changed.connect(self.updateGeometry)
        self._retranslate()

    @property
    def share(self) -> float:
        return min(1.0, self.used_tokens / self.effective_tokens) if self._limit_tokens else 0.0

    @property
    def effective_tokens(self) -> int:
        """What a chat may come to: what it was given, or what memory has room for."""
        return min(self._limit_tokens, self._memory_tokens or self._limit_tokens)

    @property
    def _beyond(self) -> int:
        """Tokens that a chat may not come to."""
        return max(0, self.used_tokens - self._limit_tokens) if self._limit_tokens else 0

    def accessible_value(self) -> str:
        return percent(self.share)

    def set_usage(self, used_tokens: int, limit_tokens: int) -> None:
        if (used_tokens, limit_tokens) == (self.used_tokens, self._limit_tokens):
            return
        before = self._shown()
        self.used_tokens = used_tokens
        self._limit_tokens = limit_tokens
        if self._shown() != before:
            self._retranslate()
        set_tooltip(self, "\n".join(self._lines()))

    def _shown(self) -> tuple[int, int]:
        """What can be seen of the figures, which change with every few words of a reply."""
        return round(self.share * 360) + self._beyond if self.used_tokens else -1, self._limit_tokens

    def set_room(self, model_tokens: int, memory_tokens: int) -> None:
        """What the main model holds, and what there is room for in memory, about."""
        if (model_tokens, memory_tokens) != (self._model_tokens, self._memory_tokens):
            self._model_tokens = model_tokens
            self._memory_tokens = memory_tokens
            self._retranslate()

    def _retranslate(self) -> None:
        self.setVisible(self._limit_tokens > 0 and self.used_tokens > 0)
        words = self._lines()
        set_tooltip(self, "\n".join(words))
        self.setAccessibleName(spoken(*words))
        self.updateGeometry()
        self.update()

    def _lines(self) -> list[str]:
        sentence = self.tr("Context: %1 of %2 tokens")
        return [fill(sentence, count(self.used_tokens), count(self.effective_tokens)), *self._reasons()]

    def _reasons(self) -> list[str]:
        """Why it is less than the model holds."""
        reasons = []
        if self._limit_tokens < self._model_tokens:
            asked = self.tr("Limited to %1 tokens in Settings (model: %2)")
            reasons.append(fill(asked, count(self._limit_tokens), count(self._model_tokens)))
        if self.effective_tokens < self._limit_tokens:
            room = self.tr("Memory holds about %1 tokens (model: %2)")
            reasons.append(fill(room, count(self._memory_tokens), count(self._model_tokens)))
        return reasons

    def _speaks_up(self) -> bool:
        return self.share >= SPEAKS_UP_AT

    def _words(self) -> str:
        """What does not fit is said before it is sent."""
        if self._beyond:
            return fill(self.tr("%1 tokens too many"), count(self._beyond))
        return fill(self.tr("%1 full", "the context"), percent(self.share))

    def _face(self) -> QFont:
        return self._theme.ui_font(FOOTER_PX, tabular=True)

    def sizeHint(self) -> QSize:
        side = self._theme.px(18)
        if not self._speaks_up():
            return QSize(side, self._theme.px(32))
        words = QFontMetrics(self._face()).horizontalAdvance(self._words())
        return QSize(side + self._theme.px(8) + words, self._theme.px(32))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        colors = self._theme.palette
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            side = self._theme.px(16)
            ring = QRectF(self.width() - side - 1, (self.height() - side) / 2, side, side)
            painter.setPen(QPen(colors.hairline, 2))
            painter.drawEllipse(ring)
            color = colors.cost if self._speaks_up() else colors.secondary
            painter.setPen(QPen(color, 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawArc(ring, 90 * 16, -round(max(self.share, _LEAST_SHARE) * 360 * 16))
            if self._speaks_up():
                painter.setFont(self._face())
                painter.drawText(self.rect(), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self._words())
