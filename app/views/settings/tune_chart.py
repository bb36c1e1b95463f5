"""The curve of a tuned pair: how fast each way to draft is, beside plain decoding, for each kind of text."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import FOOTER_PX, Theme
from app.view_models.tuning import Content, TuningView, Way, gains, mean_gains, ways_shown
from app.views.settings.tune_words import chart_sentence, content_text, way_text
from app.words.formats import number

_HEIGHT = 190
_SHAPES = {Content.CODE: "square", Content.PROSE: "circle", Content.LANGUAGE: "triangle"}


class TuneChart(QWidget):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._view = TuningView()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def set_view(self, view: TuningView) -> None:
        self._view = view
        self.setAccessibleName(chart_sentence(view))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, self._theme.px(_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self._theme.px(_HEIGHT))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._theme.ui_font(FOOTER_PX, tabular=True))
        line = QFontMetrics(painter.font()).height()
        plot = QRectF(self.rect()).adjusted(self._theme.px(38), line * 1.6, -self._theme.px(8), -line * 1.5)
        top = self._top()
        self._paint_legend(painter, plot, line)
        self._paint_grid(painter, plot, top, line)
        self._paint_means(painter, plot, top)
        for content in Content:
            for way, gain in gains(self._view.readings, content).items():
                self._paint_mark(painter, self._place(plot, top, way, gain), content)
        painter.end()

    def _top(self) -> float:
        """Of the scale: the next half above the highest mark."""
        all_gains = [gain for content in Content for gain in gains(self._view.readings, content).values()]
        return max(1.5, int(2 * max(all_gains, default=1.0) + 1) / 2)

    def _place(self, plot: QRectF, top: float, way: Way, gain: float) -> QPointF:
        ways = ways_shown(self._view.readings)
        column = plot.width() / len(ways)
        return QPointF(plot.left() + (ways.index(way) + 0.5) * column, plot.bottom() - plot.height() * gain / top)

    def _paint_grid(self, painter: QPainter, plot: QRectF, top: float, line: int) -> None:
        colors, step = self._theme.palette, 0.5 if top <= 3 else 1.0
        level = 0.0
        while level <= top + 1e-9:
            y = plot.bottom() - plot.height() * level / top
            painter.setPen(QPen(colors.secondary if level == 1 else colors.hairline, 1))
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            painter.setPen(colors.secondary)
            place = QRectF(0, y - line / 2, plot.left() - 6, line)
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{number(level, 1)}×")
            level += step
        for way in ways_shown(self._view.readings):
            x = self._place(plot, top, way, 0).x()
            place = QRectF(x - plot.width() / 2, plot.bottom() + 4, plot.width(), line)
            best = way == self._view.best
            painter.setPen(colors.draft if best else colors.secondary)
            painter.drawText(place, Qt.AlignmentFlag.AlignHCenter, way_text(way))

    def _paint_means(self, painter: QPainter, plot: QRectF, top: float) -> None:
        """The curve goes through the mean of all kinds of text."""
        points = [self._place(plot, top, way, gain) for way, gain in mean_gains(self._view.readings).items()]
        painter.setPen(QPen(self._theme.palette.draft, 2))
        for left, right in pairwise(points):
            painter.drawLine(left, right)

    def _paint_legend(self, painter: QPainter, plot: QRectF, line: int) -> None:
        left = plot.left()
        for content in Content:
            text = content_text(content)
            mark_px = self._theme.px(13)
            self._paint_mark(painter, QPointF(left + self._theme.px(4), line / 2), content)
            painter.setPen(self._theme.palette.secondary)
            width = QFontMetrics(painter.font()).horizontalAdvance(text)
            painter.drawText(QRectF(left + mark_px, 0, width + 2, line), Qt.AlignmentFlag.AlignVCenter, text)
            left += width + mark_px + self._theme.px(14)

    def _paint_mark(self, painter: QPainter, at: QPointF, content: Content) -> None:
        """A shape for each kind of text, so that none is told by its colour alone."""
        side = self._theme.px(3.5)
        painter.setPen(QPen(QColor(self._theme.palette.draft), 1.3))
        painter.setBrush(self._theme.palette.surface)
        box = QRectF(at.x() - side, at.y() - side, 2 * side, 2 * side)
        if _SHAPES[content] == "square":
            painter.drawRect(box)
        elif _SHAPES[content] == "circle":
            painter.drawEllipse(box)
        else:
            painter.drawPolygon([QPointF(at.x(), box.top()), box.bottomLeft(), box.bottomRight()])
