"""The race's window: the figure, a bar each way, and the text once. Closing it cancels the race."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QCoreApplication, QObject, QRectF, QSize, Qt
from PySide6.QtGui import (
    QAccessible,
    QCloseEvent,
    QColor,
    QFont,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QTextCursor,
)
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.controllers.race import Race, RaceRequest, RequestOf
from app.theme import UI_PX, Theme
from app.view_models.race import RaceState, RaceView, Verdict
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.fields import Segments
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.long_text import LongText
from app.views.widgets.painting import paint_surface
from app.views.widgets.plain_words import set_window_title
from app.views.widgets.scrolling import ThinScrollBars
from app.views.widgets.side_window import SideWindow
from app.views.widgets.tooltips import set_tooltip
from app.views.widgets.translated import Translated
from app.words import formats
from app.words.model_names import pair_name
from app.words.notices_for_errors import notice_for
from app.words.replies import Tone, factor_text, factor_tone, why_undrafted

_SIDE_PX = 24
_APART_PX = 8
_FIGURE_PX = 30
_BAR_PX = 18
_TEXT_PX = 48
_LEAST_PX = 460
_GROWS_PX = 200  # at 200 %
_UNDER_WAY = (RaceState.RUNNING, RaceState.WAITING)
_FINE_BELOW_S = 10.0  # shorter times are shown with hundredths
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def figure_text(view: RaceView) -> str:
    """What the race found, in two or three words."""
    factor = view.times.factor
    if view.state in _UNDER_WAY:
        return QCoreApplication.translate("Race", "Measuring…")
    if view.state is RaceState.FAILED:
        return QCoreApplication.translate("Race", "The race could not run")
    if view.state is not RaceState.DONE:
        return QCoreApplication.translate("Race", "Not measured")
    if view.verdict is Verdict.KNOWN and factor is not None:
        return factor_text(factor)
    return {
        Verdict.TOO_SHORT: QCoreApplication.translate("Race", "Too short to measure"),
        Verdict.NOTHING_DRAFTED: QCoreApplication.translate("Race", "Nothing was drafted"),
    }.get(view.verdict, QCoreApplication.translate("Race", "Not measured"))


def race_sentence(view: RaceView) -> str:
    return {
        RaceState.IDLE: QCoreApplication.translate("Race", "Same prompt and seed, with and without the draft."),
        RaceState.RUNNING: _under_way(view),
        RaceState.WAITING: QCoreApplication.translate("Race", "Continues after the current reply."),
        RaceState.CANCELLED: QCoreApplication.translate("Race", "Race stopped."),
        RaceState.FAILED: notice_for(view.error).sentence if view.error else "",
        RaceState.DONE: _found(view),
    }[view.state]


def _under_way(view: RaceView) -> str:
    if view.times.is_busy:
        return QCoreApplication.translate("Race", "The laps differ, so it takes longer.")
    return QCoreApplication.translate("Race", "Both ways in turns, until the figure is certain.")


def _found(view: RaceView) -> str:
    match view.verdict:
        case Verdict.TOO_SHORT:
            return QCoreApplication.translate("Race", "Try a prompt with a longer reply.")
        case Verdict.NOTHING_DRAFTED:
            return why_undrafted(view.drafted)
        case Verdict.KNOWN:
            return formats.sentences(_laps(view), _words(view), _auto(view))
        case _:
            return QCoreApplication.translate("Race", "The laps differed too much. Race again when this Mac is idle.")


def _laps(view: RaceView) -> str:
    if view.times.was_busy:
        return QCoreApplication.translate("Race", "This Mac was busy at times; only its quiet laps count.")
    return _RaceCounts().pairs(view.times.pairs)


def _words(view: RaceView) -> str:
    if view.differs_at is None:
        return _RaceCounts().identical(view.tokens)
    differ = QCoreApplication.translate("Race", "The texts differ from token %1 on, by rounding.")
    if view.may_differ:
        differ = QCoreApplication.translate("Race", "The texts differ from token %1 on, by “Fastest drafting”.")
    return formats.fill(differ, formats.count(view.differs_at))


def _auto(view: RaceView) -> str:
    """That auto does not do what was measured; nothing where it now will."""
    lost = view.is_auto_plain and factor_tone(view.times.factor or 1.0) is not Tone.GAIN
    return QCoreApplication.translate("Race", "So Auto drafts nothing here.") if lost else ""


class _RaceCounts(QObject):
    """Plural forms are only read from the source where an object says them."""

    def identical(self, number: int) -> str:
        return self.tr("Same text: %Ln token(s).", "", number)

    def pairs(self, number: int) -> str:
        return self.tr("Median of %Ln pair(s) of laps.", "", number)


class RaceBars(Translated, QWidget):
    """A bar each way: the seconds that the figure is the ratio of."""

    accessible_role = QAccessible.Role.StaticText

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._view = RaceView()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.follow(self._restyle)
        self._retranslate()

    def show_race(self, view: RaceView) -> None:
        if view != self._view:
            self._view = view
            self._retranslate()

    @property
    def names(self) -> tuple[str, str]:
        return self.tr("Without the draft"), self.tr("With the draft")

    @property
    def figures(self) -> tuple[str, str]:
        """ "0.71 s · 69 tok/s"; nothing while, or where, too little is known."""
        view = self._view
        unknown = view.state is RaceState.DONE and view.verdict is not Verdict.KNOWN
        if unknown or view.times.seconds is None:
            return "", ""
        plain_s, drafted_s = view.times.seconds
        return self._figure(plain_s), self._figure(drafted_s)

    def _figure(self, token_s: float) -> str:
        rate = 1 / token_s
        return formats.fill(
            self.tr("%1 s · %2 tok/s"),
            formats.number(token_s * (self._view.tokens - 1), 2 if max(self._seconds) < _FINE_BELOW_S else 1),
            formats.number(rate, 0 if rate >= 10 else 1),
        )

    @property
    def _seconds(self) -> tuple[float, float]:
        """The lengths of both bars."""
        view = self._view
        times = view.times
        tokens = view.tokens - 1
        if times.seconds is not None:
            plain_s, drafted_s = times.seconds
            return plain_s * tokens, drafted_s * tokens
        return (times.plain_s[0] * tokens, 0.0) if times.plain_s else (0.0, 0.0)

    def _retranslate(self) -> None:
        said = [formats.labelled(*each) if each[1] else each[0] for each in zip(self.names, self.figures, strict=True)]
        self.setAccessibleName(formats.listed(*said))
        self.update()

    def _restyle(self) -> None:
        self._font = self._theme.ui_font(UI_PX)
        self._figures_font = self._theme.ui_font(UI_PX, QFont.Weight.DemiBold, tabular=True)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        row_px = QFontMetrics(self._font).height() + self._theme.px(4) + self._theme.px(_BAR_PX)
        return QSize(320, 2 * row_px + self._theme.px(14))

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = self._theme
        colors = theme.palette
        seconds = self._seconds
        longest = max(seconds) or 1.0
        line_px = QFontMetrics(self._font).height()
        is_open = self._view.verdict in (Verdict.OPEN, Verdict.KNOWN)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            inks = colors.faint, colors.draft
            top = 0.0
            for name, figure, length, ink in zip(self.names, self.figures, seconds, inks, strict=True):
                line = QRectF(0, top, self.width(), line_px)
                painter.setFont(self._figures_font)
                painter.setPen(colors.text)
                painter.drawText(line, _RIGHT, figure)
                taken = painter.fontMetrics().horizontalAdvance(figure) + theme.px(_APART_PX)
                painter.setFont(self._font)
                painter.setPen(colors.secondary)
                room = self.width() - taken
                painter.drawText(line, _LEFT, painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, room))
                track = QRectF(0, line.bottom() + theme.px(4), self.width(), theme.px(_BAR_PX))
                _paint_bar(painter, track, colors.hover)
                if length and is_open:
                    _paint_bar(painter, track.adjusted(0, 0, track.width() * (length / longest - 1), 0), ink)
                top = track.bottom() + theme.px(14)


def _paint_bar(painter: QPainter, place: QRectF, color: QColor) -> None:
    radius = min(place.width() / 2, place.height() / 4)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawRoundedRect(place, radius, radius)


class RaceWindow(Translated, SideWindow):
    def __init__(self, theme: Theme, race: Race, request_of: RequestOf, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._race = race
        self._request_of = request_of
        self._message_id = 0
        self._asked = 0  # counts requests: one for another reply, or of a window that was closed, is not begun
        self._is_there = False  # the reply whose prompt is raced with
        self._shown = ("", "", "")  # words
        self.figure = TextLabel(theme, TextStyle.TITLE)
        self.sentence = TextLabel(theme, TextStyle.SECONDARY)
        self.bars = RaceBars(theme)
        self.text = RaceText(theme)
        self.sampling = Segments(theme)
        self.sampling.set_value("chat")
        self.go_button = PillButton(theme, Emphasis.PRIMARY)
        self.close_button = PillButton(theme)
        self._foot = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._arrange()
        self.go_button.clicked.connect(self._on_go)
        self.close_button.clicked.connect(self.close)
        race.changed.connect(self._show)
        self._retranslate()
        theme.follow(self._restyle)

    def _arrange(self) -> None:
        self.begin_with(560, 480)
        buttons = arrange(QHBoxLayout(), 1, self.close_button, self.go_button, spacing=_APART_PX)
        sampling = (self.sampling, 0, Qt.AlignmentFlag.AlignLeft)
        arrange(self._foot, sampling, (buttons, 1), spacing=_APART_PX)
        words = arrange(QVBoxLayout(), self.figure, self.sentence, spacing=2)
        margins = (_SIDE_PX, 18, _SIDE_PX, 18)
        arrange(QVBoxLayout(self), words, self.bars, (self.text, 1), self._foot, spacing=18, margins=margins)

    def _restyle(self) -> None:
        self._color_figure()
        self._fold()

    def _color_figure(self) -> None:
        """In the colour of a gain or loss, once it is known."""
        colors = self._theme.palette
        view = self._race.view
        is_known = view.state is RaceState.DONE and view.verdict is Verdict.KNOWN
        tone = factor_tone(view.times.factor or 1.0) if is_known else Tone.NONE
        palette = self.figure.palette()
        ink = {Tone.GAIN: colors.gain, Tone.COST: colors.cost, Tone.NONE: colors.secondary}.get(tone, colors.text)
        palette.setColor(QPalette.ColorRole.WindowText, ink)
        self.figure.setPalette(palette)
        self.figure.setFont(self._theme.ui_font(_FIGURE_PX, QFont.Weight.DemiBold, tabular=True))

    def _fold(self) -> None:
        """Move the buttons below the choice if there is no room beside it."""
        choice_px = self.sampling.sizeHint().width()
        buttons_px = self.close_button.sizeHint().width() + _APART_PX + self.go_button.sizeHint().width()
        narrow = self.width() < choice_px + _APART_PX + buttons_px + 2 * _SIDE_PX
        direction = QBoxLayout.Direction
        self._foot.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)
        width_px = max(
            round(_LEAST_PX + _GROWS_PX * (self._theme.scale - 1)), max(choice_px, buttons_px) + 2 * _SIDE_PX
        )
        layout = self.layout()
        assert layout is not None
        layout.activate()  # it knows the height of a sentence that has become longer
        self.setMinimumSize(width_px, layout.totalMinimumHeightForWidth(max(self.width(), width_px)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()

    def open_for(self, message_id: int) -> None:
        """Open and start a race with that reply's prompt, in place of another reply's."""
        if message_id != self._message_id:
            self._race.cancel()
        self._message_id = message_id
        self.come_to_front()
        if not self._race.under_way:
            self._start()

    def _on_go(self) -> None:
        if self._race.under_way:
            self._race.cancel()
        else:
            self._start()

    def _start(self) -> None:
        """Start once the prompt is read, which takes a moment for a very long chat."""
        self._asked += 1
        self._is_there = False
        self._show()
        self._request_of(self._message_id, partial(self._begin, self._asked))

    def _begin(self, asked: int, request: RaceRequest) -> None:
        if asked != self._asked:
            return
        self._is_there = request is not None
        if request is not None and self._race.can_start:
            self._race.start(request, greedy=self.sampling.value == "greedy")
        self._show()

    def _show(self) -> None:
        view = self._race.view
        set_window_title(self, self._title())
        self.bars.show_race(view)
        self.text.show_text(view.text)
        under_way = view.state in _UNDER_WAY
        another = self._race.can_start and self._is_there and not self._race.is_refused
        self.go_button.setEnabled(under_way or another)
        self.sampling.setEnabled(not under_way)
        words = (self._figure(view), self._words(view), self._go_text(under_way))
        if words != self._shown:  # between laps the layout stays
            self._shown = words
            self.figure.setText(words[0])
            self.sentence.setText(words[1])
            self.go_button.setText(words[2])
            self._color_figure()
            self._fold()

    def _title(self) -> str:
        pair = self._race.pair
        names = pair_name(pair.main_name, pair.draft_name) if pair.draft_name else ""
        return formats.labelled(self.tr("Race"), names) if names else self.tr("Race")

    def _figure(self, view: RaceView) -> str:
        return self.tr("Race") if view.state is RaceState.IDLE else figure_text(view)

    def _words(self, view: RaceView) -> str:
        if view.state not in _UNDER_WAY and not self._race.can_start:
            return self.tr("Load a pair first.")
        return race_sentence(view)

    def _go_text(self, under_way: bool) -> str:
        if under_way:
            return self.tr("Stop")
        return self.tr("Race") if self._race.view.state is RaceState.IDLE else self.tr("Race again")

    def _retranslate(self) -> None:
        self.close_button.setText(self.tr("Close"))
        self.sampling.set_choices((("chat", self.tr("As in this chat")), ("greedy", self.tr("Greedy"))))
        self.sampling.setAccessibleName(self.tr("Sampling"))
        set_tooltip(self.sampling, self.tr("Always the likeliest token."))
        self.text.text.setAccessibleName(self.tr("Reply"))
        self._show()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._asked += 1
        self._race.cancel()
        super().closeEvent(event)


class RaceText(QWidget):
    """The text of the first lap, as it comes."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shown = ""
        self._follows = True
        self.text = LongText()
        self.text.setReadOnly(True)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)  # lines wrap
        self.text.document().setDocumentMargin(0)
        self.text.viewport().setAutoFillBackground(False)
        ThinScrollBars(self.text, theme)
        bar = self.text.verticalScrollBar()
        bar.valueChanged.connect(self._on_scrolled)
        bar.rangeChanged.connect(self._on_range)
        arrange(QVBoxLayout(self), self.text, margins=(14, 12, 14, 12))
        theme.follow(self._restyle)

    def show_text(self, text: str) -> None:
        """New text is followed to its end, unless the reader has scrolled up."""
        shown = self._shown
        follows = self._follows
        if text == shown:
            return
        if shown and text.startswith(shown):
            self.text.append(text[len(shown) :])
        else:
            self.text.set_text(text)
            self.text.moveCursor(QTextCursor.MoveOperation.Start)  # a line's end shows 3 px of the right margin
        self._shown = text
        self._follows = follows
        self._on_range()

    def _on_scrolled(self, value: int) -> None:
        self._follows = value == self.text.verticalScrollBar().maximum()

    def _on_range(self) -> None:
        """Lines that wrap, and a field that has become lower, move the end."""
        if self._follows:
            self.text.verticalScrollBar().setValue(self.text.verticalScrollBar().maximum())

    def _restyle(self) -> None:
        self.text.setFont(self._theme.reply_font())
        self.text.setMinimumHeight(self._theme.px(_TEXT_PX))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_surface(self, self._theme.palette)
