"""The panel on the right about one reply's speculation: verdict, charts, one sentence, meanings of the figures.

`controllers/statistics.py` chooses the reply.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.controllers.statistics import Inspector
from app.settings import Settings
from app.theme import FOOTER_PX, TITLE_PX, Theme
from app.view_models.transcript import RequestStats
from app.views.shell.shell_window import ShellWindow
from app.views.widgets.arrange import arrange
from app.views.widgets.banner import BannerText
from app.views.widgets.buttons import Emphasis, IconButton, PillButton
from app.views.widgets.focus import chain
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.meanings import Meanings
from app.views.widgets.scrolling import ScrolledText, set_up_scroll_area
from app.views.widgets.sparkline import paint_sparkline, paint_time, time_colors
from app.views.widgets.tooltips import set_tooltip
from app.views.widgets.translated import Translated
from app.words import formats, speculation
from app.words.notices import QT_TRANSLATE_NOOP, translated
from app.words.pairs import PairGain
from app.words.replies import Tone, tone_of

if TYPE_CHECKING:
    from app.views.transcript import TranscriptView

WIDTH_PX = 300
_SIDE_PX = 16
_READING_UPDATES = 10  # words stand for a second while a reply is written, so that they can be read
SHORTCUT = "Ctrl+Alt+I"
_CHAT_NEEDS_PX = 400
_BAR_PX = 6
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class InspectorPanel(Translated, QWidget):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._stats: RequestStats | None = None
        self._running = False
        self._of_starter = False
        self._pair_gain: PairGain | None = None
        self._updates = 0  # since this reply has been running
        self.title = TextLabel(theme, TextStyle.HEADING)
        self.headline = TextLabel(theme, TextStyle.TITLE)
        self.against = TextLabel(theme, TextStyle.FINE)
        self.sentence = TextLabel(theme, TextStyle.SECONDARY)
        self.starter = TextLabel(theme, TextStyle.FINE)
        self.charts: tuple[Chart, ...] = tuple(
            chart(theme) for chart in (PositionBars, PassColumns, PassMeter, TimeSplit, Sparkline)
        )
        self.turn_off = PillButton(theme, Emphasis.PLAIN)
        self.race = PillButton(theme, Emphasis.PLAIN)
        self.meanings = Meanings(theme)
        self._arrange()
        theme.follow(self._restyle)
        self._retranslate()

    def _arrange(self) -> None:
        content = QWidget()
        said = (self.title, self.headline, self.against, self._arranged_charts(), self.sentence, self.starter)
        column = arrange(QVBoxLayout(content), *said, spacing=6, margins=(_SIDE_PX, 14, _SIDE_PX, 16))
        buttons = ((button, 0, Qt.AlignmentFlag.AlignLeft) for button in (self.turn_off, self.race))
        arrange(column, *buttons, self.meanings, 1)
        self.area = ScrolledText(self._theme, self)
        set_up_scroll_area(self.area, self._theme, content)
        arrange(QVBoxLayout(self), self.area, margins=(1, 0, 0, 0))

    def _arranged_charts(self) -> QWidget:
        self.pictures = QWidget()
        arrange(QVBoxLayout(self.pictures), *self.charts, spacing=14, margins=(0, 8, 0, 8))
        return self.pictures

    def show_reply(
        self,
        stats: RequestStats | None,
        *,
        running: bool,
        of_starter: bool = False,
        pair_gain: PairGain | None = None,
    ) -> None:
        goes_on = running and self._running
        self._updates = self._updates + 1 if goes_on else 0
        self._stats = stats
        self._running = running
        self._of_starter = of_starter and stats is not None and stats.drafted > 0
        self._pair_gain = pair_gain
        for chart in self.charts:
            chart.show_stats(stats or RequestStats())
        self._show_words()

    def _show_words(self) -> None:
        stats = self._stats
        has_charts = stats is not None and speculation.has_charts(stats)
        self.pictures.setVisible(has_charts)
        if self._updates % _READING_UPDATES == 0:
            _set(self.headline, speculation.headline(stats, running=self._running))
            _set(self.against, speculation.measured_against(stats, self._pair_gain))
            _set(self.sentence, speculation.plain_sentence(stats))
            self._color_headline()
        known = self.tr("The starter pair knows its text; others gain less.")
        _set(self.starter, known if self._of_starter else "")
        for label in (self.against, self.sentence, self.starter):
            label.setVisible(bool(label.text()))
        self.turn_off.setVisible(stats is not None and tone_of(stats) is Tone.COST)
        self.race.setVisible(stats is not None and not self._running)

    def _color_headline(self) -> None:
        colors = self._theme.palette
        tone = Tone.NONE if self._stats is None else tone_of(self._stats)
        color = {Tone.GAIN: colors.gain, Tone.COST: colors.cost}.get(tone, colors.text)
        _set_color(self.headline, color)

    def _retranslate(self) -> None:
        for widget in (self, self.area):
            widget.setAccessibleName(self.tr("Inspector"))
        self.title.setText(self.tr("Drafting"))
        self.turn_off.setText(self.tr("Turn off for this pair"))
        self.race.setText(self.tr("Race…"))
        self._updates = 0
        set_tooltip(self.race, self.tr("With and without the draft"))
        self._show_words()

    def _restyle(self) -> None:
        # Wider with larger text, but not in proportion: the chat needs room too.
        self.setFixedWidth(round(WIDTH_PX * (1 + (self._theme.scale - 1) * 0.5)))
        self.headline.setFont(self._theme.ui_font(TITLE_PX, self.headline.font().weight(), tabular=True))
        self._color_headline()
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.palette.sidebar)
            painter.fillRect(0, 0, 1, self.height(), self._theme.palette.hairline)


def _set(label: TextLabel, words: str) -> None:
    """Set a label's text if it differs: setting one lays out the whole panel."""
    if label.text() != words:
        label.setText(words)


def _set_color(label: TextLabel, color: QColor) -> None:
    if label.palette().color(QPalette.ColorRole.WindowText) != color:
        palette = label.palette()
        palette.setColor(QPalette.ColorRole.WindowText, color)
        label.setPalette(palette)


class InspectorButton(Translated, IconButton):
    """The header's button for the panel, like the View menu and its key.

    INVARIANT: the panel is visible if the user wants it and the chat keeps enough room. It is created at first use.
    """

    turn_off_requested = Signal()
    race_requested = Signal(int)  # the reply that is shown

    def __init__(self, window: ShellWindow, theme: Theme, settings: Settings) -> None:
        super().__init__(theme, "panel-right", parent=window.header)
        self._window = window
        self._settings = settings
        self._inspector: Inspector | None = None
        self._has_room_of_sidebar = False
        self.action = window.menu.add("view", SHORTCUT, checkable=True)
        self.setCheckable(True)
        window.header.add_button(self)
        window.header.let_give_way(self)
        self.clicked.connect(self.set_wanted)
        self.action.triggered.connect(self.set_wanted)
        theme.changed.connect(self._fit)
        window.resized.connect(self._fit)
        window.sidebar.installEventFilter(self)
        window.place_changed.connect(self._fit)
        self._fit()
        self._retranslate()

    @cached_property
    def panel(self) -> InspectorPanel:
        panel = InspectorPanel(self.theme, self._window)
        layout = self._window.layout()
        assert layout is not None
        panel.hide()
        layout.addWidget(panel)
        panel.lower()  # below what opens over the chat
        stops = [part for part in panel.findChildren(QWidget) if part.focusPolicy() & Qt.FocusPolicy.TabFocus]
        chain([self, *stops])
        panel.turn_off.clicked.connect(self.turn_off_requested.emit)
        panel.race.clicked.connect(self._race)
        return panel

    @property
    def _is_shown(self) -> bool:
        return "panel" in vars(self) and self.panel.isVisibleTo(self._window)

    def bind(self, chats: ChatController, models: ModelController, view: TranscriptView) -> None:
        inspector = self._inspector = Inspector(chats.transcript, chats.replies, self)
        inspector.changed.connect(lambda: self._show(inspector, models))
        highlights = view.message_keys.highlights
        highlights.changed.connect(lambda: inspector.focus(highlights.focused_message()))
        self._watch()

    def _show(self, inspector: Inspector, models: ModelController) -> None:
        pair = models.pair
        is_loaded = bool(pair.draft_folder) and pair.main_name == inspector.model
        gain = models.library.gain_of(pair.main_folder, pair.draft_folder) if is_loaded else None
        self.panel.show_reply(
            inspector.stats, running=inspector.running, of_starter=inspector.of_starter, pair_gain=gain
        )

    @property
    def message_id(self) -> int:
        """Of the reply that is shown; 0: none."""
        return 0 if self._inspector is None else self._inspector.message_id

    def inspect(self, message_id: int) -> None:
        """Shows the panel with that reply, until another is in focus."""
        self.set_wanted(True)
        if self._inspector is not None:
            self._inspector.focus(message_id)

    def set_wanted(self, wanted: bool) -> None:
        self._settings.inspector_visible = wanted
        if wanted and self._window.sidebar.isVisibleTo(self._window) and not self._fits():
            self._has_room_of_sidebar = True
            self._window.set_sidebar_visible(False)
        self._fit()
        if wanted and not self._is_shown:
            self._settings.inspector_visible = False
            self._give_room_back()
            self._window.banner.show_info(self._too_narrow)
        if not wanted:
            self._give_room_back()

    def _give_room_back(self) -> None:
        if self._has_room_of_sidebar:
            self._has_room_of_sidebar = False
            self._window.set_sidebar_visible(self._settings.sidebar_visible)

    def _too_narrow(self) -> BannerText:
        return BannerText(self.tr("Widen the window to show the inspector."))

    def _fits_both(self) -> bool:
        window = self._window
        widths = window.width() - self._window.sidebar.maximumWidth() - self.panel.width()
        return widths >= self.theme.px(_CHAT_NEEDS_PX)

    def _fits(self) -> bool:
        """Whether the chat keeps its usual width beside the sidebar; without sidebar, its minimum."""
        sidebar = self._window.sidebar
        window = self._window
        usual_px = self.theme.px(_CHAT_NEEDS_PX)
        if sidebar.isVisibleTo(window):
            return self._fits_both()
        least_px = max(part.minimumSizeHint().width() for part in (self._window.header, self._window.composer))
        return window.width() - self.panel.width() >= min(usual_px, least_px)

    def _fit(self) -> None:
        shown = bool(self._settings.inspector_visible) and self._fits() and self._window.header.of_chat
        if shown != self._is_shown:
            self.panel.setVisible(shown)
        if shown:
            self._window.banner.withdraw(self._too_narrow)
        for toggle in (self, self.action):
            toggle.setChecked(shown)
        self._name()
        self._watch()
        if shown and self._fits_both():
            self._give_room_back()

    def _watch(self) -> None:
        if self._inspector is not None:
            self._inspector.watch(self._is_shown)

    def _race(self) -> None:
        if self.message_id:
            self.race_requested.emit(self.message_id)

    def _retranslate(self) -> None:
        self._name()
        self.action.setText(self.tr("Inspector"))

    def _name(self) -> None:
        self.set_name(self.tr("Hide inspector") if self.isChecked() else self.tr("Show inspector"))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide):
            self._fit()
        return super().eventFilter(watched, event)


class Chart(Translated, QWidget):
    """A name at the left, a figure at the right, and below them what the subclass paints."""

    name: str
    body_px = 40
    accessible_role = QAccessible.Role.StaticText

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.stats = RequestStats()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        theme.follow(self._restyle)
        self._retranslate()

    def _restyle(self) -> None:
        # Kept, because to make a font takes a search through the system's families.
        self.fine = self.theme.ui_font(FOOTER_PX, tabular=True)
        self._bold = self.theme.ui_font(FOOTER_PX, QFont.Weight.DemiBold, tabular=True)
        self.line_px = QFontMetrics(self.fine).height() + 2
        self.updateGeometry()
        self.update()

    def show_stats(self, stats: RequestStats) -> None:
        """Repaint only if something visible changes."""
        seen = self._seen
        self.stats = stats
        if self._look() != seen:
            self._retranslate()

    def _look(self) -> object:
        return self.figure(), self.words(), len(self.stats.emitted_by_stretch)

    def figure(self) -> str:
        return ""

    def words(self) -> str:
        """The chart as text, for screen readers."""
        raise NotImplementedError

    def paint_body(self, painter: QPainter, place: QRectF) -> None:
        raise NotImplementedError

    def body_height(self) -> int:
        return self.theme.px(self.body_px)

    def _retranslate(self) -> None:
        self._seen = self._look()
        self.setAccessibleName(translated(self.name, "Inspector"))
        self.setAccessibleDescription(self.words())
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, self._head_px() + self.body_height())

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    def _head_px(self) -> int:
        return self.line_px + self.theme.px(3)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
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
            room = self.width() - taken
            name = painter.fontMetrics().elidedText(self.accessibleName(), Qt.TextElideMode.ElideRight, room)
            painter.drawText(head, _LEFT, name)
            self.paint_body(painter, QRectF(0, self._head_px(), self.width(), self.body_height()))

    def bar(self, painter: QPainter, place: QRectF, color: QColor) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        radius = min(place.width(), place.height(), self.theme.px(4)) / 2
        painter.drawRoundedRect(place, radius, radius)


class PositionBars(Chart):
    """Accept rate by position in the draft."""

    name = QT_TRANSLATE_NOOP("Inspector", "Accepted by position")
    least_rows = 4

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
        colors = self.theme.palette
        row_px = self.line_px
        high = self.theme.px(_BAR_PX)
        rates = self._rates()
        number_px = self.theme.px(16)
        figure_px = self.theme.px(44)
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
    """Number of passes by accepted tokens."""

    name = QT_TRANSLATE_NOOP("Inspector", "Accepted per pass")
    body_px = 62

    def words(self) -> str:
        return speculation.passes_words(self.stats)

    def paint_body(self, painter: QPainter, place: QRectF) -> None:
        shares = self.stats.share_by_accepted
        columns = max(5, len(shares))
        width = place.width() / columns
        named_every = max(1, math.ceil(self.theme.px(20) / width))  # not every column has room for its number
        line = self.line_px
        highest = max(shares, default=1.0) or 1.0
        colors = self.theme.palette
        for number in range(columns):
            share = shares[number] if number < len(shares) else 0.0
            column = QRectF(place.left() + number * width, place.top(), width, place.height() - line)
            high = max(self.theme.px(2), share / highest * column.height())
            bar = QRectF(column.left() + width * 0.18, column.bottom() - high, width * 0.64, high)
            self.bar(painter, bar, colors.draft if share else colors.hover)
            if number % named_every == 0:
                named = formats.count(number)
                room = painter.fontMetrics().horizontalAdvance(named) + 1
                left = min(max(column.center().x() - room / 2, place.left()), place.right() - room)
                painter.setPen(colors.faint)
                painter.drawText(QRectF(left, column.bottom(), room, line), Qt.AlignmentFlag.AlignCenter, named)


class PassMeter(Chart):
    """Tokens per pass against the break-even."""

    name = QT_TRANSLATE_NOOP("Inspector", "Tokens per pass")

    def figure(self) -> str:
        each = self.stats.tokens_per_pass
        return speculation.NOT_KNOWN if each is None else formats.number(each, 1)

    def words(self) -> str:
        return " · ".join(part for part in (self.figure(), speculation.break_even_words(self.stats)) if part)

    def paint_body(self, painter: QPainter, place: QRectF) -> None:
        colors = self.theme.palette
        stats = self.stats
        high = self.theme.px(_BAR_PX + 4)
        each = stats.tokens_per_pass or 0.0
        needed = stats.break_even
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
    """Decoding time by part: a bar with names and shares."""

    name = QT_TRANSLATE_NOOP("Inspector", "Time spent")
    body_px = 48

    def words(self) -> str:
        return speculation.time_words(self.stats)

    def paint_body(self, painter: QPainter, place: QRectF) -> None:
        theme = self.theme
        stats = self.stats
        line = self.line_px
        parts = speculation.time_parts(stats)
        high = theme.px(_BAR_PX + 2)
        paint_time(painter, QRectF(place.left(), place.top() + 2, place.width(), high), stats, theme)
        beside_px = theme.px(6) + theme.px(4) + 3  # what a column needs beside its words
        needed = [painter.fontMetrics().horizontalAdvance(name) + beside_px for name, _ in parts]
        spare = (place.width() - sum(needed)) / len(parts)  # the longest name keeps its words
        left = place.left()
        names = [name for name, _ in parts]
        shares = speculation.time_shares(stats)
        for name, share, color, words in zip(names, shares, time_colors(theme), needed, strict=True):
            column = QRectF(left, place.top() + high + 4, words + spare, line)
            self._paint_part(painter, column, name, share, color)
            left += column.width()

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
    """Tokens per pass over the reply, with the break-even as a line."""

    name = QT_TRANSLATE_NOOP("Inspector", "Tokens per pass over time")
    body_px = 44

    def words(self) -> str:
        return speculation.over_time_words(self.stats)

    def paint_body(self, painter: QPainter, place: QRectF) -> None:
        paint_sparkline(painter, place.adjusted(0, 2, 0, -2), self.stats, self.theme)
