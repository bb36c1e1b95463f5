"""Settings → Advanced: measuring which way to draft is fastest for the loaded pair, on this machine."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFileDialog, QSizePolicy, QWidget

from app.controllers.tuning import TuningController
from app.portable.problems import NotExported, why_not_written
from app.theme import FOOTER_PX, Theme
from app.view_models.tuning import AUTO, PLAIN, Content, TuningState, TuningView, Way, gains, mean_gains, ways_shown
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Card, Row
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.progress_line import ProgressLine
from app.views.widgets.translated import Translated
from app.words.downloads import time_left
from app.words.formats import count, exact_times, fill, labelled, listed, number, sentences, times
from app.words.notices_for_errors import notice_for
from app.words.portable import not_exported
from app.words.replies import SEPARATOR

_HEIGHT = 190
_SHAPES = {Content.CODE: "square", Content.PROSE: "circle", Content.LANGUAGE: "triangle"}


class TuneCard(Translated, Card):
    def __init__(self, theme: Theme, tuning: TuningController) -> None:
        super().__init__(theme)
        self._tuning = tuning
        self.sentence = TextLabel(theme, TextStyle.SECONDARY)
        self.bar = ProgressLine(theme)
        self.chart = TuneChart(theme)
        self.go_button = PillButton(theme, Emphasis.PLAIN, "gauge")
        self.row = Row(theme, self.go_button)
        self.export_button = PillButton(theme, Emphasis.PLAIN, "download")
        self._arrange()
        self.go_button.clicked.connect(self._on_go)
        self.export_button.clicked.connect(self._export)
        tuning.changed.connect(self._show)
        self._retranslate()

    def _arrange(self) -> None:
        for widget in (self.row, self.sentence, self.bar, self.chart):
            self.column.addWidget(widget)
        self.column.addWidget(self.export_button, 0, Qt.AlignmentFlag.AlignLeft)

    def _show(self) -> None:
        view = self._tuning.view
        under_way = view.state in (TuningState.RUNNING, TuningState.WAITING)
        self.sentence.setText(tuning_sentence(view) or ("" if view.can_start else self.tr("Load a pair first.")))
        self.sentence.setVisible(bool(self.sentence.text()))
        self.bar.setVisible(under_way)
        self.bar.set_share(view.done_steps / view.steps if view.steps else 0.0, view.state is TuningState.RUNNING)
        self.bar.setAccessibleName(self.sentence.text())
        self.chart.setVisible(bool(view.readings))
        self.chart.set_view(view)
        self.go_button.setText(self._go_text(under_way, done=view.state is TuningState.DONE))
        self.go_button.setEnabled(under_way or view.can_start)
        self.export_button.setVisible(view.state is TuningState.DONE)

    def _go_text(self, under_way: bool, *, done: bool) -> str:
        if under_way:
            return self.tr("Stop measuring")
        return self.tr("Measure again") if done else self.tr("Measure")

    def _on_go(self) -> None:
        under_way = self._tuning.view.state in (TuningState.RUNNING, TuningState.WAITING)
        (self._tuning.cancel if under_way else self._tuning.start)()

    def _export(self) -> None:
        dialog = QFileDialog(self, self.tr("Export measurements"), "hunch-pair.json", "JSON (*.json)")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.export_to)
        dialog.open()

    def export_to(self, file: str) -> None:
        def refused(error: Exception) -> None:
            if not isinstance(error, OSError):
                raise error  # our own mistake, shown as any other
            notice = not_exported(NotExported(why_not_written(error), str(Path(file).parent)))
            self.sentence.setText(sentences(notice.sentence, notice.hint))

        self._tuning.export(Path(file), refused)

    def _retranslate(self) -> None:
        self.row.set_words(
            self.tr("Tune this pair"),
            self.tr("Teaches Auto in a few minutes."),
        )
        self.export_button.setText(self.tr("Export…"))
        self._show()


def way_text(way: Way) -> str:
    """Short enough to fit under a column of the chart."""
    if way == PLAIN:
        return QCoreApplication.translate("Tuning", "Plain")
    return QCoreApplication.translate("Tuning", "Auto") if way == AUTO else count(way.tokens)


def content_text(content: Content) -> str:
    return {
        Content.CODE: QCoreApplication.translate("Tuning", "Code"),
        Content.PROSE: QCoreApplication.translate("Tuning", "English prose"),
        Content.LANGUAGE: QCoreApplication.translate("Tuning", "Story"),
    }[content]


def tuning_sentence(view: TuningView) -> str:
    if view.state is TuningState.WAITING:
        return _why_it_waits(view)
    if view.state is TuningState.RUNNING:
        words = QCoreApplication.translate("Tuning", "Measuring %1 of %2…")
        done = fill(words, count(view.done_steps + 1), count(view.steps))
        return done if view.seconds_left is None else f"{done}{SEPARATOR}{time_left(view.seconds_left)}"
    result = _result(view) if view.state is TuningState.DONE else ""
    if view.is_loading:
        loading = QCoreApplication.translate("Tuning", "Loading this pair…")
        return sentences(loading, result)
    if trouble := _trouble(view):
        return sentences(trouble, result)
    return result


def _why_it_waits(view: TuningView) -> str:
    if view.spares:
        return QCoreApplication.translate("Tuning", "Waiting: this Mac is hot or saves energy.")
    return QCoreApplication.translate("Tuning", "Waiting for a reply to finish.")


def _trouble(view: TuningView) -> str:
    """Why nothing can be measured, or the last attempt brought nothing; "" where it did."""
    if view.refused is not None:
        return notice_for(view.refused).sentence
    if view.error is not None:
        notice = notice_for(view.error)
        stopped = QCoreApplication.translate("Tuning", "Stopped: a reply failed.")
        return sentences(stopped, notice.sentence, notice.hint)
    if view.too_short:
        return QCoreApplication.translate("Tuning", "Replies were too short to measure.")
    return ""


def _result(view: TuningView) -> str:
    if view.best is None:
        words = QCoreApplication.translate("Tuning", "Drafting does not pay here: %1 at best. Auto pauses it.")
        return fill(words, times(view.gain))
    if view.best == AUTO:
        words = QCoreApplication.translate("Tuning", "Auto is best: %1 plain speed.")
        return fill(words, times(view.gain))
    words = QCoreApplication.translate("Tuning", "Fastest: %1 ahead, %2 plain speed. Auto has learned this.")
    return fill(words, count(view.best.tokens), times(view.gain))


def chart_sentence(view: TuningView) -> str:
    """All of the chart, for those who do not see it."""
    return listed(*(labelled(way_text(way), exact_times(gain)) for way, gain in mean_gains(view.readings).items()))


class TuneChart(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
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
        """A shape for each kind of text, so that colour is not the only difference."""
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
