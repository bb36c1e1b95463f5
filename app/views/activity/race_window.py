"""The race's window: two lanes side by side, then the verdict. Closing it cancels the race."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QCoreApplication, QObject, Qt
from PySide6.QtGui import QCloseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.controllers.race import Race, RaceRequest, RequestOf
from app.theme import RADIUS_CARD, Theme
from app.view_models.race import Lap, LapState, RaceState, RaceView
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.fields import Segments
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.long_text import LongText
from app.views.widgets.painting import paint_card
from app.views.widgets.scrolling import ThinScrollBars
from app.views.widgets.side_window import SideWindow
from app.views.widgets.tooltips import set_tooltip
from app.views.widgets.translated import Translated
from app.words import formats
from app.words.notices_for_errors import notice_for
from app.words.replies import Tone, gain_text, tone_of, why_undrafted

_SIDE_PX = 20
_APART_PX = 8
_LINE_PX = 22
_LEAST_PX = (520, 360)
_GROWS_PX = (200, 120)  # at 100 %, and more at 200 %
_UNDER_WAY = (RaceState.RUNNING, RaceState.WAITING)

_FINE_BELOW_S = 10.0  # shorter times are shown with hundredths


def lane_name(number: int) -> str:
    return (
        QCoreApplication.translate("Race", "Without the draft"),
        QCoreApplication.translate("Race", "With the draft"),
    )[number]


def lap_text(lap: Lap) -> str:
    if lap.state is LapState.WAITING:
        return QCoreApplication.translate("Race", "waiting for its turn")
    if lap.state is LapState.LEFT_OUT:
        return QCoreApplication.translate("Race", "not written")
    figures = QCoreApplication.translate("Race", "%1 · %2 s · %3 tok/s")
    rate = lap.stats.tokens_per_second
    return formats.fill(
        figures,
        _RaceCounts().tokens(lap.stats.generated_tokens),
        formats.number(lap.stats.decode_s, _decimals(lap)),
        formats.number(rate, 0 if rate >= 10 else 1) if rate is not None else "–",
    )


def _decimals(*laps: Lap) -> int:
    return 2 if max(lap.stats.decode_s for lap in laps) < _FINE_BELOW_S else 1


def _apart(view: RaceView) -> str:
    """Seconds between the ends of the two laps, by the times shown above."""
    decimals = _decimals(*view.laps)
    one, other = (round(lap.stats.decode_s, decimals) for lap in view.laps)
    return formats.number(abs(one - other), decimals)


def race_sentence(view: RaceView) -> str:
    return {
        RaceState.IDLE: QCoreApplication.translate(
            "Race",
            "Same prompt and seed, with and without the draft.",
        ),
        RaceState.RUNNING: QCoreApplication.translate("Race", "Running one after the other."),
        RaceState.WAITING: QCoreApplication.translate("Race", "Continues after the current reply."),
        RaceState.CANCELLED: QCoreApplication.translate("Race", "Race stopped."),
        RaceState.FAILED: _failure(view),
        RaceState.DONE: "",
    }[view.state] or verdict(view)


def _failure(view: RaceView) -> str:
    could_not = QCoreApplication.translate("Race", "The race could not run.")
    return formats.sentences(could_not, notice_for(view.error).sentence if view.error else "")


def verdict(view: RaceView) -> str:
    return formats.sentences(_words(view), _time(view))


def _words(view: RaceView) -> str:
    if view.identical:
        return _RaceCounts().identical(len(view.laps[0].tokens))
    differ = QCoreApplication.translate(
        "Race",
        "The texts differ from token %1 on, by rounding.",
    )
    if view.may_differ:
        differ = QCoreApplication.translate(
            "Race",
            "The texts differ from token %1 on, by “Fastest drafting”.",
        )
    pairs = zip(*(lap.tokens for lap in view.laps), strict=False)
    first = next((at for at, (one, other) in enumerate(pairs, start=1) if one != other), None)
    return formats.fill(differ, formats.count(first or min(len(lap.tokens) for lap in view.laps) + 1))


class _RaceCounts(QObject):
    """Plural forms are only read from the source where an object says them."""

    def tokens(self, number: int) -> str:
        return self.tr("%Ln token(s)", "written", number)

    def identical(self, number: int) -> str:
        return self.tr("Same text: %Ln token(s).", "", number)


def _time(view: RaceView) -> str:
    plain, drafted = (lap.stats for lap in view.laps)
    if plain.tokens_per_second is None or drafted.tokens_per_second is None:
        return QCoreApplication.translate("Race", "Too short to measure.")
    if not drafted.drafted:
        nothing = QCoreApplication.translate("Race", "Nothing was drafted.")
        return formats.sentences(nothing, why_undrafted(drafted))
    if view.factor is None or tone_of(drafted) is Tone.NONE:
        too_short = QCoreApplication.translate("Race", "Too short to be sure. Try a longer prompt.")
        return too_short if view.is_apart else QCoreApplication.translate("Race", "Too close to call.")
    if view.is_disturbed:
        busy = QCoreApplication.translate("Race", "This Mac was busy; times are rough.")
        gains = drafted.tokens_per_second > plain.tokens_per_second and tone_of(drafted) is Tone.GAIN
        if not gains:  # a loss may be due to another program
            return busy
        undisturbed = QCoreApplication.translate("Race", "Undisturbed: %1.", "such as 2.1× faster")
        return formats.sentences(busy, formats.fill(undisturbed, gain_text(drafted)))
    return _saved(view)


def _saved(view: RaceView) -> str:
    drafted = view.laps[1].stats
    seconds = _apart(view)
    tone = tone_of(drafted)
    if tone is Tone.PAR or seconds == formats.number(0, _decimals(*view.laps)):
        return QCoreApplication.translate("Race", "Both took the same time.")
    words = (
        QCoreApplication.translate("Race", "The draft saved %1 s: %2.", "%2: such as 2.1× faster")
        if tone is Tone.GAIN
        else QCoreApplication.translate("Race", "The draft cost %1 s: %2.", "%2: such as 12% slower")
    )
    return formats.fill(words, seconds, gain_text(drafted))


class RaceWindow(Translated, SideWindow):
    def __init__(self, theme: Theme, race: Race, request_of: RequestOf, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._race = race
        self._request_of = request_of
        self._message_id = 0
        self._asked = (
            0  # counts the requests that were asked for: one for another reply, or a closed window, is not begun
        )
        self._is_there = False  # the reply whose prompt is raced with
        self.sentence = TextLabel(theme, TextStyle.HEADING)
        self.lanes = tuple(Lane(theme, number) for number in range(2))
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
        theme.changed.connect(self._fold)

    def _arrange(self) -> None:
        self.begin_with(860, 560)
        lanes = QHBoxLayout()
        lanes.setSpacing(16)
        for lane in self.lanes:
            lanes.addWidget(lane, 1)
        self._foot.setSpacing(_APART_PX)
        self._foot.addWidget(self.sampling, 0, Qt.AlignmentFlag.AlignLeft)
        buttons = arrange(QHBoxLayout(), 1, self.close_button, self.go_button, spacing=_APART_PX)
        self._foot.addLayout(buttons, 1)
        arrange(
            QVBoxLayout(self), self.sentence, (lanes, 1), self._foot, spacing=14, margins=(_SIDE_PX, 18, _SIDE_PX, 18)
        )

    def _fold(self) -> None:
        """Move the buttons below the choice if there is no room beside it."""
        choice_px = self.sampling.sizeHint().width()
        buttons_px = self.close_button.sizeHint().width() + _APART_PX + self.go_button.sizeHint().width()
        narrow = self.width() < choice_px + _APART_PX + buttons_px + 2 * _SIDE_PX
        direction = QBoxLayout.Direction
        self._foot.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)
        more = self._theme.scale - 1
        width, height = (round(least + grows * more) for least, grows in zip(_LEAST_PX, _GROWS_PX, strict=True))
        self.setMinimumSize(max(width, choice_px + 2 * _SIDE_PX, buttons_px + 2 * _SIDE_PX), height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()

    def open_for(self, message_id: int) -> None:
        """Open and start a race with that reply's prompt."""
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
        for lane, lap in zip(self.lanes, view.laps or (Lap(), Lap()), strict=True):
            lane.show_lap(lap)
        if self.sentence.text() != (words := self._words(view)):
            self.sentence.setText(words)
        under_way = view.state in _UNDER_WAY
        self.go_button.setText(self._go_text(under_way))
        another = self._race.can_start and self._is_there and not self._race.is_refused
        self.go_button.setEnabled(under_way or another)
        self._fold()
        self.sampling.setEnabled(not under_way)

    def _words(self, view: RaceView) -> str:
        if view.state not in _UNDER_WAY and not self._race.can_start:
            return self.tr("Load a pair first.")
        return race_sentence(view)

    def _go_text(self, under_way: bool) -> str:
        if under_way:
            return self.tr("Stop")
        return self.tr("Race again") if self._race.view.laps else self.tr("Race")

    def _retranslate(self) -> None:
        self.setWindowTitle(self.tr("Race"))
        self.close_button.setText(self.tr("Close"))
        self.sampling.set_choices((("chat", self.tr("As in this chat")), ("greedy", self.tr("Greedy"))))
        self.sampling.setAccessibleName(self.tr("Sampling"))
        set_tooltip(self.sampling, self.tr("Always the likeliest token."))
        for lane in self.lanes:
            lane.name_it()
        self._show()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._asked += 1
        self._race.cancel()
        super().closeEvent(event)


class Lane(QWidget):
    """One lap: its name, streaming text and figures."""

    def __init__(self, theme: Theme, number: int) -> None:
        super().__init__()
        self._theme = theme
        self._number = number
        self._shown = ""
        self.name = TextLabel(theme, TextStyle.SECONDARY)
        self.text = LongText()
        self.text.setReadOnly(True)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)  # lines wrap
        self.text.document().setDocumentMargin(0)  # its words begin where the name and the figures do
        self.text.viewport().setAutoFillBackground(False)
        self.figures = TextLabel(theme, TextStyle.FINE)
        ThinScrollBars(self.text, theme)
        arrange(QVBoxLayout(self), self.name, (self.text, 1), self.figures, spacing=8, margins=(14, 12, 14, 10))
        theme.changed.connect(self._restyle)
        self._restyle()

    def name_it(self) -> None:
        self.name.setText(lane_name(self._number))
        self.text.setAccessibleName(lane_name(self._number))

    def show_lap(self, lap: Lap) -> None:
        shown = self._shown
        bar = self.text.verticalScrollBar()
        grows = bool(shown) and lap.text.startswith(shown)
        follows = lap.state is not LapState.DONE or (grows and bar.value() == bar.maximum())
        if grows:
            self.text.append(lap.text[len(shown) :])
        elif lap.text != shown:
            self.text.set_text(lap.text)
        self._shown = lap.text
        self.figures.setText(lap_text(lap))
        if follows:
            bar.setValue(bar.maximum())

    def _restyle(self) -> None:
        self.text.setFont(self._theme.reply_font())
        self.text.setMinimumHeight(self._theme.px(_LINE_PX))  # less than Qt wants, so that the figures are whole
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            paint_card(painter, self.rect(), RADIUS_CARD, self._theme.palette.surface, self._theme.palette.hairline)
