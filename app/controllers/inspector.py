"""What the inspector shows: the reply in focus, or the latest one, ten times a second while it is written."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from app.controllers.replies import Replies
from app.settings import STARTER_NAME
from app.view_models.transcript import RequestStats, TranscriptMessage, TranscriptModel

LIVE_INTERVAL_MS = 100


class Inspector(QObject):
    """Counts nothing and asks nothing while it is not watched."""

    changed = Signal()

    def __init__(self, transcript: TranscriptModel, replies: Replies, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._replies = replies
        self._focused: int | None = None  # a message
        self._watched = False
        self.stats: RequestStats | None = None
        self.message_id = 0  # of the reply that they are of
        self.running = False
        self.of_starter = False
        self._timer = QTimer(self, interval=LIVE_INTERVAL_MS)
        self._timer.timeout.connect(self._update)
        for signal in (
            transcript.was_reset,
            transcript.message_inserted,
            transcript.message_changed,
            transcript.messages_removed,
        ):
            signal.connect(self._update)

    def watch(self, watched: bool) -> None:
        self._watched = watched
        self._update()

    def focus(self, message_id: int | None) -> None:
        """None, or a message that is no reply: the latest reply."""
        if message_id != self._focused:
            self._focused = message_id
            self._update()

    def _update(self) -> None:
        if not self._watched:
            self._timer.stop()
            return
        message = self._message()
        self.message_id = 0 if message is None else message.id
        running = message is not None and message.under_way
        self.of_starter = message is not None and message.model == STARTER_NAME
        stats = None if message is None else self._replies.stats_of(message.id) or message.stats
        if running != self._timer.isActive():
            (self._timer.start if running else self._timer.stop)()
        if (stats, running) != (self.stats, self.running):
            self.stats, self.running = stats, running
            self.changed.emit()

    def _message(self) -> TranscriptMessage | None:
        focused = None if self._focused is None else self._transcript.message(self._focused)
        if focused is not None and not focused.from_user:
            return focused
        return next((each for each in reversed(self._transcript.messages) if not each.from_user), None)
