"""What screen readers are told without being asked: once, that a reply is done. Never a word while it streams."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

from app.controllers.chat import ChatController


class Announcements(QObject):
    def __init__(self, chats: ChatController, window: QWidget) -> None:
        super().__init__(window)
        self._chats = chats
        self._window = window
        chats.reply_ended.connect(self._on_ended)

    def _on_ended(self, chat_id: int, _message_id: int) -> None:
        """Of the chat that is read, here or in Quick Ask, or of another one."""
        here = chat_id == self._chats.chat_id or self._chats.asides.is_shown(chat_id)
        words = self.tr("The reply is done.") if here else self.tr("A reply in another chat is done.")
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._window, words))
