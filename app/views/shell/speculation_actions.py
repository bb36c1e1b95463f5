"""Drafting actions of the window: the pair's mode, races, activity, and opening a chat from a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.controllers.speculation import SpeculationParts
from app.theme import Theme
from app.view_models.chat_options import Scope
from app.views.shell.inspector import InspectorButton
from app.views.shell.shell_window import ShellWindow
from app.views.transcript.message_footer import INSPECT, RACE
from app.views.transcript.view import TranscriptView
from app.views.widgets.banner import BannerText
from app.views.widgets.side_window import bring_to_front
from app.words.notices import NoticeAction

if TYPE_CHECKING:
    from app.views.activity.race_window import RaceWindow
    from app.views.activity.window import ActivityWindow

RACE_KEY = "Ctrl+Shift+R"


class SpeculationActions(QObject):
    def __init__(
        self,
        window: ShellWindow,
        inspector: InspectorButton,
        speculation: SpeculationParts,
        chats: ChatController,
        models: ModelController,
        view: TranscriptView,
        theme: Theme,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._banner = window.banner
        self._inspector = inspector
        self._speculation = speculation
        self._chats = chats
        self._models = models
        self._view = view
        self._theme = theme
        self.race_window: RaceWindow | None = None
        self.activity: ActivityWindow | None = None
        inspector.turn_off_requested.connect(self.turn_off)
        inspector.race_requested.connect(self.open_race)
        speculation.opened.connect(self._open_reply)
        models.fixed_chosen.connect(self._tell_fixed)
        view.context.notice_action_requested.connect(self._follow)
        view.context.act_requested.connect(self._act)
        self.race = window.menu.add("chat", RACE_KEY)
        self.race.triggered.connect(lambda: self.open_race(self._shown_reply()))
        menu = window.menu.menus["chat"]
        menu.aboutToShow.connect(lambda: self.race.setEnabled(bool(self._shown_reply())))
        menu.aboutToHide.connect(lambda: self.race.setEnabled(True))  # a key asks when it is pressed
        window.menu.activity.triggered.connect(self.open_activity)
        window.language_changed.connect(self._retranslate)
        self._retranslate()

    def choose(self, mode: str, tokens: int) -> None:
        """Set drafting from the picker: for the open chat if it has its own option, else for all."""
        chats = self._chats
        models = self._models
        if chats.options.has_own_speculation:
            chats.options.put(Scope.CHAT, "speculation_mode", mode)
            chats.options.put(Scope.CHAT, "speculation_tokens", tokens)
            models.note_chosen(mode)
        else:
            models.choose_speculation(mode, tokens)

    def turn_off(self) -> None:
        pair = self._models.pair
        if not pair.off_for_pair:
            self._models.set_off_for_pair(True)
            self._banner.show_info(
                lambda: BannerText(self.tr("Drafting is off for this pair. Auto turns it on."), button=self.tr("Undo")),
                lambda: self._models.set_off_for_pair(False, pair),
            )

    def _tell_fixed(self, undo: Callable[[], None]) -> None:
        def text() -> BannerText:
            return BannerText(self.tr("Draft length is now fixed."), button=self.tr("Undo"))

        self._banner.show_info(text, undo)

    def _follow(self, _message_id: int, action: NoticeAction) -> None:
        if action is NoticeAction.TURN_OFF_PAIR:
            self.turn_off()

    def _act(self, message_id: int, act: str) -> None:
        if act == RACE:
            self.open_race(message_id)
        elif act == INSPECT:
            self._inspector.inspect(message_id)

    def open_race(self, message_id: int) -> None:
        if not message_id:
            return
        if self.race_window is None:
            from app.views.activity.race_window import RaceWindow

            self.race_window = RaceWindow(
                self._theme, self._speculation.race, self._speculation.request_of, self._window
            )
            self._window.closed.connect(self.race_window.close)
        self.race_window.open_for(message_id)

    def open_activity(self) -> None:
        if self.activity is None:
            from app.views.activity.window import ActivityWindow

            self.activity = ActivityWindow(self._theme, self._chats.requests, self._speculation)
            self._window.closed.connect(self.activity.close)
        self.activity.come_to_front()

    def _shown_reply(self) -> int:
        """The reply in focus, or the latest."""
        chats = self._chats
        view = self._view
        messages = chats.transcript.messages
        row = view.focused_row()
        if row is not None and not messages[row].from_user:
            return messages[row].id
        return next((each.id for each in reversed(messages) if not each.from_user), 0)

    def _open_reply(self, chat_id: int, message_id: int) -> None:
        chats = self._chats
        view = self._view
        chats.open_at(chat_id, message_id)
        bring_to_front(self._window)
        if chats.chat_id != chat_id:
            self._window.sidebar.show_trash()
            return
        row = chats.transcript.row_of(message_id)
        if row is not None:
            # After the chat that was just opened has been laid out at its end.
            QTimer.singleShot(0, view, lambda: view.message_keys.show(row))

    def _retranslate(self) -> None:
        self.race.setText(self.tr("Race…"))
