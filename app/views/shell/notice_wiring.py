"""Notices of the controllers, over the chat and in it: what their buttons lead to."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.views.shell.models_wiring import ModelsWiring
from app.views.shell.picker import PickerWiring
from app.views.shell.window_parts import WindowParts
from app.views.widgets.banner import problem_text
from app.words.notices import NoticeAction
from app.words.notices_for_errors import Problem, notice_for


class NoticeWiring(QObject):
    def __init__(
        self,
        parts: WindowParts,
        picker: PickerWiring,
        models_view: ModelsWiring,
        chats: ChatController,
        models: ModelController,
    ) -> None:
        super().__init__(parts.window)
        self._parts, self._picker, self._models_view = parts, picker, models_view
        self._chats, self._models = chats, models
        chats.problem_raised.connect(self.show_problem)
        models.problem_raised.connect(self.show_problem)

    def show_problem(self, problem: Problem) -> None:
        self._parts.banner.show_warning(lambda: problem_text(problem), lambda: self.follow(notice_for(problem).action))

    def follow(self, action: NoticeAction | None) -> None:
        if action in (NoticeAction.CHOOSE_MODEL, NoticeAction.CHOOSE_DRAFT):
            self._picker.open()
        elif action == NoticeAction.OPEN_MODELS:
            self._models_view.show()
        elif action == NoticeAction.INSTALL_MODEL:
            self._models_view.find()
        elif action == NoticeAction.OPEN_SETTINGS:
            self._parts.window.settings_requested.emit("chat")
        elif action == NoticeAction.OPEN_HUB:
            self._parts.window.settings_requested.emit("advanced")
        elif action == NoticeAction.NEW_CHAT:
            self._parts.menu.new_chat.trigger()
        elif action == NoticeAction.RETRY:
            self._models.try_again()

    def follow_in_chat(self, message_id: int, action: NoticeAction) -> None:
        """Of the notice in place of a reply, or below it."""
        if action == NoticeAction.RETRY:
            self._chats.exchanges.regenerate(message_id)
        elif action == NoticeAction.CONTINUE:
            self._chats.exchanges.continue_reply(message_id)
        else:
            self.follow(action)
