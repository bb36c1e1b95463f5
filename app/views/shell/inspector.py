"""The panel at the right that explains one reply's speculation: verdict, charts, one sentence, and what figures mean.

Here: the panel, and when it is shown. Not here: which reply (`controllers/inspector.py`).
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.controllers.chat import ChatController
from app.controllers.inspector import Inspector
from app.settings import Settings
from app.theme import TITLE_PX, Theme
from app.view_models.transcript import RequestStats
from app.views.shell.inspector_charts import Chart, PassColumns, PassMeter, PositionBars, Sparkline, TimeSplit
from app.views.shell.window_parts import WindowParts
from app.views.widgets.banner import BannerText
from app.views.widgets.buttons import Emphasis, IconButton, PillButton
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.meanings import Meanings
from app.views.widgets.scrolled_text import ScrolledText
from app.views.widgets.scrolling import ThinScrollBars
from app.views.widgets.tooltips import set_tooltip
from app.views.widgets.translated import Translated
from app.words import speculation
from app.words.replies import Tone, tone_of

if TYPE_CHECKING:
    from app.views.transcript import TranscriptView


WIDTH_PX = 300
_SIDE_PX = 16
_READING_UPDATES = 10  # words stand for a second while a reply is written, so that they can be read


class InspectorPanel(Translated, QWidget):
    turn_off_requested = Signal()
    race_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._stats: RequestStats | None = None
        self._running = False
        self._of_starter = False
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
        self.turn_off.clicked.connect(self.turn_off_requested)
        self.race.clicked.connect(self.race_requested)
        theme.changed.connect(self._restyle)
        self._restyle()
        self._retranslate()

    def _arrange(self) -> None:
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(_SIDE_PX, 14, _SIDE_PX, 16)
        column.setSpacing(6)
        for widget in (self.title, self.headline, self.against):
            column.addWidget(widget)
        column.addWidget(self._arranged_charts())
        column.addWidget(self.sentence)
        column.addWidget(self.starter)
        for button in (self.turn_off, self.race):
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.meanings)
        column.addStretch(1)
        self.area = ScrolledText(self._theme, self)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(content)
        self.area.viewport().setAutoFillBackground(False)
        content.setAutoFillBackground(False)
        ThinScrollBars(self.area, self._theme)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(1, 0, 0, 0)
        outer.addWidget(self.area)

    def _arranged_charts(self) -> QWidget:
        self.pictures = QWidget()
        column = QVBoxLayout(self.pictures)
        column.setContentsMargins(0, 8, 0, 8)
        column.setSpacing(14)
        for chart in self.charts:
            column.addWidget(chart)
        return self.pictures

    def show_reply(self, stats: RequestStats | None, *, running: bool, of_starter: bool = False) -> None:
        goes_on = running and self._running
        self._updates = self._updates + 1 if goes_on else 0
        self._stats, self._running = stats, running
        self._of_starter = of_starter and stats is not None and stats.drafted > 0
        for chart in self.charts:
            chart.show_stats(stats or RequestStats())
        self._show_words()

    def _show_words(self) -> None:
        stats = self._stats
        has_charts = stats is not None and speculation.has_charts(stats)
        self.pictures.setVisible(has_charts)
        if self._updates % _READING_UPDATES == 0:
            _set(self.headline, speculation.headline(stats, running=self._running))
            _set(self.against, speculation.measured_against(stats))
            _set(self.sentence, speculation.plain_sentence(stats))
            self._color_headline()
        _set(self.starter, speculation.starter_sentence() if self._of_starter else "")
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
            widget.setAccessibleName(self.tr("Speculation inspector"))
        self.title.setText(self.tr("Speculation"))
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
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.palette.sidebar)
        painter.fillRect(0, 0, 1, self.height(), self._theme.palette.hairline)
        painter.end()


def _set(label: TextLabel, words: str) -> None:
    """Only where they differ: setting a text lays out the whole panel."""
    if label.text() != words:
        label.setText(words)


def _set_color(label: TextLabel, color: QColor) -> None:
    if label.palette().color(QPalette.ColorRole.WindowText) != color:
        palette = label.palette()
        palette.setColor(QPalette.ColorRole.WindowText, color)
        label.setPalette(palette)


# When the inspector is shown: by a button in the header, an entry of the View menu and its key; where there is room.
#
# Here: showing and hiding it, and giving it the reply in focus. Not here: what it shows (`inspector.py`).


SHORTCUT = "Ctrl+Alt+I"
_CHAT_NEEDS_PX = 400


class InspectorWiring(QObject):
    """INVARIANT: the panel is seen if the user wants it and the chat keeps the room that it needs.

    It is made when it is first asked for.
    """

    turn_off_requested = Signal()
    race_requested = Signal(int)  # the reply that is shown

    def __init__(self, parts: WindowParts, theme: Theme, settings: Settings) -> None:
        super().__init__(parts.window)
        self._window, self._parts = parts.window, parts
        self._theme = theme
        self._settings = settings
        self._inspector: Inspector | None = None
        self._has_room_of_sidebar = False
        self.button = IconButton(theme, "panel-right", parent=parts.header)
        self.action = parts.menu.add("view", SHORTCUT)
        self.action.setCheckable(True)
        self.button.setCheckable(True)
        header = parts.header.layout()
        assert header is not None
        header.addWidget(self.button)
        parts.header.let_give_way(self.button)
        self.button.clicked.connect(self.set_wanted)
        self.action.triggered.connect(self.set_wanted)
        theme.changed.connect(self._fit)
        parts.window.resized.connect(self._fit)
        parts.window.language_changed.connect(self._retranslate)
        parts.sidebar.installEventFilter(self)
        parts.window.place_changed.connect(self._fit)
        self._fit()
        self._retranslate()

    @cached_property
    def panel(self) -> InspectorPanel:
        panel, layout = InspectorPanel(self._theme, self._window), self._window.layout()
        assert layout is not None
        panel.hide()
        layout.addWidget(panel)
        panel.lower()  # below what opens over the chat
        stops = [part for part in panel.findChildren(QWidget) if part.focusPolicy() & Qt.FocusPolicy.TabFocus]
        for before, after in pairwise([self.button, *stops]):
            QWidget.setTabOrder(before, after)
        panel.turn_off_requested.connect(self.turn_off_requested)
        panel.race_requested.connect(self._race)
        return panel

    @property
    def _is_shown(self) -> bool:
        return "panel" in vars(self) and self.panel.isVisibleTo(self._window)

    def bind(self, chats: ChatController, view: TranscriptView) -> None:
        inspector = self._inspector = Inspector(chats.transcript, chats.replies, self)
        inspector.changed.connect(lambda: self._show(inspector))
        highlights = view.message_keys.highlights

        def follow() -> None:
            row = highlights.focused
            messages = chats.transcript.messages
            inspector.focus(messages[row].id if row is not None and row < len(messages) else None)

        highlights.changed.connect(follow)
        self._watch()

    def _show(self, inspector: Inspector) -> None:
        self.panel.show_reply(inspector.stats, running=inspector.running, of_starter=inspector.of_starter)

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
        if wanted and self._parts.sidebar.isVisibleTo(self._window) and not self._fits():
            self._has_room_of_sidebar = True
            self._parts.set_sidebar_visible(False)
        self._fit()
        if wanted and not self._is_shown:
            self._settings.inspector_visible = False
            self._give_room_back()
            self._parts.banner.show_info(self._too_narrow)
        if not wanted:
            self._give_room_back()

    def _give_room_back(self) -> None:
        if self._has_room_of_sidebar:
            self._has_room_of_sidebar = False
            self._parts.set_sidebar_visible(self._settings.sidebar_visible)

    def _too_narrow(self) -> BannerText:
        return BannerText(self.tr("Widen the window to show the inspector."))

    def _fits_both(self) -> bool:
        window = self._window
        widths = window.width() - self._parts.sidebar.width() - self.panel.width()
        return widths >= self._theme.px(_CHAT_NEEDS_PX)

    def _fits(self) -> bool:
        """Beside the sidebar the chat keeps its usual room; without it, what its own parts need."""
        sidebar, window, usual_px = self._parts.sidebar, self._window, self._theme.px(_CHAT_NEEDS_PX)
        if sidebar.isVisibleTo(window):
            return self._fits_both()
        least_px = max(part.minimumSizeHint().width() for part in (self._parts.header, self._parts.composer))
        return window.width() - self.panel.width() >= min(usual_px, least_px)

    def _fit(self) -> None:
        shown = bool(self._settings.inspector_visible) and self._fits() and self._parts.header.of_chat
        if shown != self._is_shown:
            self.panel.setVisible(shown)
        for toggle in (self.button, self.action):
            toggle.setChecked(shown)
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
        self.button.set_name(self.tr("Toggle inspector"))
        self.action.setText(self.tr("Inspector"))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide):
            self._fit()
        return super().eventFilter(watched, event)
