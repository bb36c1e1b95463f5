"""The inspector's charts, painted from palette tokens: each with its name, its figure and the same as text.

Every figure has a place of its own, so that none moves sideways as it changes.
"""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import FOOTER_PX, Theme
from app.view_models.transcript import RequestStats
from app.views.widgets.sparkline import paint_sparkline, paint_time, time_colors
from app.views.widgets.translated import Translated
from app.words import formats, speculation

_BAR_PX = 6
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class Chart(Translated, QWidget):
    """A name at the left, a figure at the right, and below them what the subclass paints."""

    body_px = 40

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.stats = RequestStats()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        theme.changed.connect(self._restyle)
        self._restyle()
        self._retranslate()

    def _restyle(self) -> None:
        # Kept, because to make a font takes a search through the system's families.
        self.fine = self.theme.ui_font(FOOTER_PX, tabular=True)
        self._bold = self.theme.ui_font(FOOTER_PX, QFont.Weight.DemiBold, tabular=True)
        self.line_px = QFontMetrics(self.fine).height() + 2
        self.updateGeometry()
        self.update()

    def show_stats(self, stats: RequestStats) -> None:
        """Paints again only where something of it would look different."""
        seen, self.stats = self._seen, stats
        if self._look() != seen:
            self._retranslate()

    def _look(self) -> object:
        return self.figure(), self.words(), len(self.stats.emitted_by_stretch)

    def name(self) -> str:
        raise NotImplementedError

    def figure(self) -> str:
        return ""

    def words(self) -> str:
        """What a screen reader says in place of the picture."""
        raise NotImplementedError

    def paint_body(self, painter: QPainter, place: QRectF) -> None:
        raise NotImplementedError

    def body_height(self) -> int:
        return self.theme.px(self.body_px)

    def _retranslate(self) -> None:
        self._seen = self._look()
        self.setAccessibleName(self.name())
        self.setAccessibleDescription(self.words())
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, self._head_px() + self.body_height())

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    def _head_px(self) -> int:
        return self.line_px + self.theme.px(3)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self.theme.palette.sidebar)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        head = QRectF(0, 0, self.width(), self.line_px)
        figure = self.figure()
        painter.setFont(self._bold)
        painter.setPen(self.theme.palette.text)
        painter.drawText(head, _RIGHT, figure)
        taken = painter.fontMetrics().horizontalAdvance(figure) + self.theme.px(8) if figure else 0
        painter.setFont(self.fine)
        painter.setPen(self.theme.palette.secondary)
        name = painter.fontMetrics().elidedText(self.name(), Qt.TextElideMode.ElideRight, self.width() - taken)
        painter.drawText(head, _LEFT, name)
        self.paint_body(painter, QRectF(0, self._head_px(), self.width(), self.body_height()))
        painter.end()

    def bar(self, painter: QPainter, place: QRectF, color: QColor) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        radius = min(place.width(), place.height(), self.theme.px(4)) / 2
        painter.drawRoundedRect(place, radius, radius)


class PositionBars(Chart):
    """How often the token at each place of a draft was kept."""

    least_rows = 4

    def name(self) -> str:
        return speculation.positions_name()

    def figure(self) -> str:
        return "" if self.stats.accept_rate is None else formats.percent(self.stats.accept_rate)

    def words(self) -> str:
        return speculation.positions_words(self.stats)

    def _rates(self) -> tuple[float, ...]:
        return self.stats.accept_rate_by_position[: speculation.MOST_POSITIONS]

    def body_height(self) -> int:
        return max(self.least_rows, len(self._rates())) * self.line_px

    def show_stats(self, stats: RequestStats) -> None:
        rows = len(self._rates())
        super().show_stats(stats)
        if len(self._rates()) != rows:
            self.updateGeometry()

    def paint_body(self, painter: QPainter, place: QRectF) -> None:
        colors, row_px, high = self.theme.palette, self.line_px, self.theme.px(_BAR_PX)
        rates = self._rates()
        number_px, figure_px = self.theme.px(16), self.theme.px(44)
        for row in range(max(self.least_rows, len(rates))):
            line = QRectF(place.left(), place.top() + row * row_px, place.width(), row_px)
            rate = rates[row] if row < len(rates) else None
            painter.setPen(colors.faint)
            painter.drawText(line, _LEFT, formats.count(row + 1))
            track = QRectF(number_px, line.center().y() - high / 2, place.width() - number_px - figure_px, high)
            self.bar(painter, track, colors.hover)
            if rate is not None:
                self.bar(
                    painter,
                    QRectF(track.topLeft(), track.size()).adjusted(0, 0, -track.width() * (1 - rate), 0),
                    colors.draft,
                )
                painter.setPen(colors.text)
                painter.drawText(line, _RIGHT, formats.percent(rate))


class PassColumns(Chart):
    """How many passes accepted none, one, two … tokens."""

    body_px = 62

    def name(self) -> str:
        return speculation.passes_name()

    def words(self) -> str:
        return speculation.passes_words(self.stats)

    def paint_body(self, painter: QPainter, place: QRectF) -> None:
        shares = self.stats.share_by_accepted
        columns = max(5, len(shares))
        width, line = place.width() / columns, self.line_px
        highest = max(shares, default=1.0) or 1.0
        colors = self.theme.palette
        for number in range(columns):
            share = shares[number] if number < len(shares) else 0.0
            column = QRectF(place.left() + number * width, place.top(), width, place.height() - line)
            high = max(self.theme.px(2), share / highest * column.height())
            bar = QRectF(column.left() + width * 0.18, column.bottom() - high, width * 0.64, high)
            self.bar(painter, bar, colors.draft if share else colors.hover)
            if number % self._named_every(width) == 0:
                named = formats.count(number)
                room = painter.fontMetrics().horizontalAdvance(named) + 1
                left = min(max(column.center().x() - room / 2, place.left()), place.right() - room)
                painter.setPen(colors.faint)
                painter.drawText(QRectF(left, column.bottom(), room, line), Qt.AlignmentFlag.AlignCenter, named)

    def _named_every(self, width: float) -> int:
        """Not every column has room for its number."""
        return max(1, math.ceil(self.theme.px(20) / width))


class PassMeter(Chart):
    """Tokens per pass against what it takes to pay."""

    def name(self) -> str:
        return speculation.per_pass_name()

    def figure(self) -> str:
        return speculation.per_pass_figure(self.stats)

    def words(self) -> str:
        return " · ".join(part for part in (self.figure(), speculation.break_even_words(self.stats)) if part)

    def paint_body(self, painter: QPainter, place: QRectF) -> None:
        colors, stats, high = self.theme.palette, self.stats, self.theme.px(_BAR_PX + 4)
        each, needed = stats.tokens_per_pass or 0.0, stats.break_even
        scale = place.width() / max(4.0, each * 1.15, (needed or 0.0) * 1.15)
        track = QRectF(place.left(), place.top() + self.theme.px(3), place.width(), high)
        self.bar(painter, track, colors.hover)
        if each:
            self.bar(painter, QRectF(track.left(), track.top(), each * scale, high), colors.draft)
        if needed is None:
            return
        at = track.left() + needed * scale
        painter.fillRect(QRectF(at - 1, track.top() - self.theme.px(3), 2, high + self.theme.px(6)), colors.text)
        painter.setPen(colors.secondary)
        line = QRectF(place.left(), track.bottom() + self.theme.px(3), place.width(), self.line_px)
        painter.drawText(line, _LEFT, speculation.break_even_words(stats))


class TimeSplit(Chart):
    """Where the time went: one bar, and a name and share for each of its parts."""

    body_px = 48

    def name(self) -> str:
        return speculation.time_name()

    def words(self) -> str:
        return speculation.time_words(self.stats)

    def paint_body(self, painter: QPainter, place: QRectF) -> None:
        theme, stats, line = self.theme, self.stats, self.line_px
        parts = speculation.time_parts(stats)
        high = theme.px(_BAR_PX + 2)
        paint_time(painter, QRectF(place.left(), place.top() + 2, place.width(), high), stats, theme)
        needed = [painter.fontMetrics().horizontalAdvance(name) + self._beside_px() for name, _ in parts]
        spare = (place.width() - sum(needed)) / len(parts)  # the longest name keeps its words
        left = place.left()
        names, shares = [name for name, _ in parts], speculation.time_shares(stats)
        for name, share, color, words in zip(names, shares, time_colors(theme), needed, strict=True):
            column = QRectF(left, place.top() + high + 4, words + spare, line)
            self._paint_part(painter, column, name, share, color)
            left += column.width()

    def _beside_px(self) -> int:
        """What a column needs beside its words."""
        return self.theme.px(6) + self.theme.px(4) + 3

    def _paint_part(self, painter: QPainter, place: QRectF, name: str, share: str, color: QColor) -> None:
        dot = self.theme.px(6)
        self.bar(painter, QRectF(place.left(), place.center().y() - dot / 2, dot, dot), color)
        painter.setPen(self.theme.palette.secondary)
        words = place.adjusted(dot + self.theme.px(4), 0, -2, 0)
        painter.drawText(
            words, _LEFT, painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, int(words.width()))
        )
        painter.setPen(self.theme.palette.text)
        painter.drawText(words.translated(0, place.height()), _LEFT, share)


class Sparkline(Chart):
    """Tokens per pass from the reply's start to its end, with a line where it begins to pay."""

    body_px = 44

    def name(self) -> str:
        return speculation.over_time_name()

    def words(self) -> str:
        return speculation.over_time_words(self.stats)

    def paint_body(self, painter: QPainter, place: QRectF) -> None:
        paint_sparkline(painter, place.adjusted(0, 2, 0, -2), self.stats, self.theme)
