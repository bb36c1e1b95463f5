"""When the inspector is shown: by a button in the header, an entry of the View menu and its key; where there is room.

Here: showing and hiding it, and telling it which reply is in focus. Not here: what it shows (`inspector.py`).
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from app.controllers.chat import ChatController
from app.controllers.inspector import Inspector
from app.settings import Settings
from app.theme import Theme
from app.views.shell.inspector import InspectorPanel
from app.views.widgets.buttons import IconButton

if TYPE_CHECKING:
    from app.views.shell.main_window import MainWindow
    from app.views.transcript import TranscriptView

SHORTCUT = "Ctrl+Alt+I"
_CHAT_NEEDS_PX = 400


class InspectorWiring(QObject):
    """INVARIANT: the panel is seen if the person wants it and the chat keeps the room that it needs.

    It is made when it is first asked for.
    """

    turn_off_requested = Signal()
    race_requested = Signal(int)  # the reply that is shown

    def __init__(self, window: MainWindow, theme: Theme, settings: Settings) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._settings = settings
        self._inspector: Inspector | None = None
        self._has_room_of_sidebar = False
        self.button = IconButton(theme, "panel-right", parent=window.header)
        self.action = window.menu.add("view", SHORTCUT)
        self.action.setCheckable(True)
        self.button.setCheckable(True)
        header = window.header.layout()
        assert header is not None
        header.addWidget(self.button)
        window.header.let_give_way(self.button)
        self.button.clicked.connect(self.set_wanted)
        self.action.triggered.connect(self.set_wanted)
        theme.changed.connect(self._fit)
        window.resized.connect(self._fit)
        window.language_changed.connect(self._retranslate)
        window.sidebar.installEventFilter(self)
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
        inspector.changed.connect(lambda: self.panel.show_reply(inspector.stats, running=inspector.running))
        highlights = view.message_keys.highlights

        def follow() -> None:
            row = highlights.focused
            messages = chats.transcript.messages
            inspector.focus(messages[row].id if row is not None and row < len(messages) else None)

        highlights.changed.connect(follow)
        self._watch()

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
            self._window.show_sidebar(False)
        self._fit()
        if not wanted and self._has_room_of_sidebar:
            self._give_room_back()

    def _give_room_back(self) -> None:
        self._has_room_of_sidebar = False
        self._window.show_sidebar(True)

    def _fits_both(self) -> bool:
        window = self._window
        widths = window.width() - window.sidebar.width() - self.panel.width()
        return widths >= self._theme.px(_CHAT_NEEDS_PX)

    def _fits(self) -> bool:
        """Beside the sidebar the chat keeps its usual room; without it, what its own parts need."""
        sidebar, window, usual_px = self._window.sidebar, self._window, self._theme.px(_CHAT_NEEDS_PX)
        if sidebar.isVisibleTo(window):
            return self._fits_both()
        least_px = max(part.minimumSizeHint().width() for part in (window.header, window.composer))
        return window.width() - self.panel.width() >= min(usual_px, least_px)

    def _fit(self) -> None:
        shown = bool(self._settings.inspector_visible) and self._fits()
        if shown != self._is_shown:
            self.panel.setVisible(shown)
        for toggle in (self.button, self.action):
            toggle.setChecked(shown)
        self._watch()
        if shown and self._has_room_of_sidebar and self._fits_both():
            self._give_room_back()

    def _watch(self) -> None:
        if self._inspector is not None:
            self._inspector.watch(self._is_shown)

    def _race(self) -> None:
        if self.message_id:
            self.race_requested.emit(self.message_id)

    def _retranslate(self) -> None:
        self.button.set_name(self.tr("Show or hide the inspector"))
        self.action.setText(self.tr("Inspector"))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide):
            self._fit()
        return super().eventFilter(watched, event)
