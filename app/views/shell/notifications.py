"""Notifications of replies that end while no window of ours is active. A click opens the chat.

No word of the chat is in them unless somebody turned that on: they are seen on locked screens, and by whoever is near.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication, QWindow
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from app.controllers.asides import Asides
from app.settings import Settings
from app.view_models.transcript import ReplyStatus
from app.words.replies import end_sentence

_MOST_CHARACTERS = 140


class Notifications(QObject):
    chat_wanted = Signal(int)

    def __init__(self, settings: Settings, asides: Asides, icon: QSystemTrayIcon, window: QWidget) -> None:
        super().__init__(window)
        self._settings = settings
        self._asides = asides
        self._icon = icon
        self._window = window
        self._chat_id = 0
        self.is_away: Callable[[], bool] = _nobody_looks
        icon.messageClicked.connect(self._on_clicked)
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.focusWindowChanged.connect(self._on_looked)

    def tell(self, chat_id: int, message_id: int, status: ReplyStatus) -> None:
        """A reply ended, and not by the person."""
        if not self._settings.notifications or not self.is_away() or status is ReplyStatus.STOPPED:
            return
        self._chat_id = chat_id
        QApplication.alert(self._window)
        if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            self._icon.show()  # without an icon there is no message
            self._icon.showMessage(*self.words(chat_id, message_id, status), self._icon.icon())

    def words(self, chat_id: int, message_id: int, status: ReplyStatus) -> tuple[str, str]:
        """Title and text."""
        ended = end_sentence(status)
        if not self._settings.notification_words:
            return "Hunch", ended
        title, reply = self._asides.words_of(chat_id, message_id)
        if status is ReplyStatus.FAILED:
            return title or "Hunch", ended
        begins = " ".join(reply[: 4 * _MOST_CHARACTERS].split())
        cut = begins[: _MOST_CHARACTERS - 1] + "…" if len(begins) > _MOST_CHARACTERS else begins
        return title or "Hunch", _without_tags(cut) or ended

    def _on_looked(self, window: QWindow | None) -> None:
        """Whoever is back needs no icon that only brought a message."""
        if window is not None and self._icon.isVisible() and not self._settings.tray_icon:
            self._icon.hide()

    def _on_clicked(self) -> None:
        self._icon.setVisible(self._settings.tray_icon)
        self.chat_wanted.emit(self._chat_id)


def _without_tags(text: str) -> str:
    """Linux desktops read the text of a notification as markup, images included."""
    return text.replace("<", "‹") if sys.platform.startswith("linux") else text


def _nobody_looks() -> bool:
    return QGuiApplication.focusWindow() is None
