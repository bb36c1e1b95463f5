"""Checks once a day for a newer Hunch, if this build has an address for it and the user allows it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from app.settings import Settings
from app.system.build import own_version
from app.system.updates import Channel, NotANotice, UpdateNotice, is_newer, read_answer
from app.system.worker import Deliver, ask_once
from engine import DownloadError, HubAccess, JsonQuestion

_DAY_S = 24 * 3600
_LOOK_MS = 30 * 60 * 1000  # interval in which the date is checked

_log = logging.getLogger(__name__)


class Updates(QObject):
    """`found` is emitted once for each newer version."""

    found = Signal(object)  # a Notice

    def __init__(
        self,
        channel: Channel | None,
        settings: Settings,
        deliver: Deliver,
        now: Callable[[], float] = time.time,
        own: str = own_version(),
        parent: QObject | None = None,
    ) -> None:
        """Has a parent: otherwise the worker thread might be the last to release it and its timer."""
        super().__init__(parent)
        self._channel = channel
        self._settings = settings
        self._deliver = deliver
        self._now = now
        self._own = own
        self._question: JsonQuestion | None = None
        self._timer = QTimer(self, interval=_LOOK_MS)
        self._timer.timeout.connect(self.look)

    def start(self) -> None:
        if self._channel is not None:
            self._timer.start()
            self.look()

    def look(self) -> None:
        """Check if it is due. A clock that was set back causes no wait."""
        settings = self._settings
        now = self._now()
        if self._channel is None or self._question is not None:
            return
        if not settings.tells_updates or settings.hub_offline or 0 <= now - settings.updates_asked_at < _DAY_S:
            return
        settings.updates_asked_at = max(0.0, now)
        key = self._channel.public_key
        question = self._question = JsonQuestion(self._channel.address, HubAccess(proxy=settings.hub_proxy))
        ask_once("updates", self._deliver, lambda: _read(question.ask(), key), self._on_notice, self._on_failure)

    def close(self) -> None:
        self._timer.stop()
        if self._question is not None:
            self._question.stop()

    def _on_notice(self, notice: UpdateNotice | None) -> None:
        self._question = None
        wanted = self._settings.tells_updates  # it may have been turned off meanwhile
        if notice is None or not wanted or not is_newer(notice.version, self._own):
            return
        shown = self._settings.update_told
        if notice.version == shown or is_newer(shown, notice.version):  # an old notice may be sent again
            return
        self._settings.update_told = notice.version
        self.found.emit(notice)

    def _on_failure(self, error: Exception) -> None:
        """Not reported; the check is repeated tomorrow."""
        self._question = None
        if not isinstance(error, (DownloadError, NotANotice)):
            raise error
        _log.info("no notice of updates: %s", error if isinstance(error, NotANotice) else type(error).__name__)


def _read(answer: object, public_key: bytes) -> UpdateNotice | None:
    return None if answer is None else read_answer(answer, public_key)
