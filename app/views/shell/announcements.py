"""What screen readers are told without being asked: once, that a reply ended. Never a word while it streams."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

from app.controllers.chat import ChatController
from app.view_models.transcript import ReplyStatus
from app.words.replies import end_sentence, end_sentence_elsewhere


class Announcements(QObject):
    def __init__(self, chats: ChatController, window: QWidget) -> None:
        super().__init__(window)
        self._chats = chats
        self._window = window
        chats.reply_ended.connect(self._on_ended)

    def _on_ended(self, chat_id: int, _message_id: int, status: ReplyStatus) -> None:
        """Of the chat that is read, here or in Quick Ask, or of another one. Whoever stopped a reply knows."""
        if status is ReplyStatus.STOPPED:
            return
        here = chat_id in (self._chats.chat_id, self._chats.asides.shown_id)
        words = end_sentence(status) if here else end_sentence_elsewhere(status)
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._window, words))
