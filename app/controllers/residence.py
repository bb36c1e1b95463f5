"""When the loaded pair leaves memory: after a time without replies, and not while replies are written.

What `wait_to` was given is done as soon as no reply is written that somebody waits for.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from app.settings import Settings
from engine import ChatEngine, Event, Failed, Finished, ModelReady, Queued


class Residence(QObject):
    idle = Signal()  # nobody has asked for anything for as long as the settings say
    free = Signal()  # the replies that something waits for have ended
    wait_ended = Signal()  # what waited is done or forgotten

    def __init__(self, engine: ChatEngine, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: Callable[[], None] | None = None
        self._awaited = ""
        self._engine = engine
        self._settings = settings
        self.timer = QTimer(self, singleShot=True)
        self.timer.timeout.connect(self._on_timeout)
        settings.changed.connect(self._on_setting)

    @property
    def busy(self) -> bool:
        """Whether a reply that somebody waits for is queued or written."""
        return bool(self._engine.state().foreground)

    def note(self, event: Event) -> None:
        if isinstance(event, Queued):
            self.timer.stop()
        elif isinstance(event, Finished | Failed | ModelReady) and not self.busy:
            self._start()
            if self._waiting is not None:
                self.free.emit()

    def wait_to(self, act: Callable[[], None], folder: str) -> None:
        """`folder`: of the main model that is loaded then; "": none."""
        self._waiting, self._awaited = act, folder

    def waits_for(self, folder: str) -> bool:
        return self._waiting is not None and self._awaited == folder

    def forget_wait(self) -> None:
        if self._waiting is not None:
            self._waiting = None
            self.wait_ended.emit()

    def act_now(self) -> None:
        """Do what waits for replies, whether they have ended or not."""
        act = self._waiting
        self.forget_wait()
        if act is not None:
            act()

    def _start(self) -> None:
        if minutes := self._settings.unload_after_min:
            self.timer.start(minutes * 60_000)
        else:
            self.timer.stop()

    def _on_timeout(self) -> None:
        if not self.busy:
            self.idle.emit()

    def _on_setting(self, name: str) -> None:
        if name == "unload_after_min":
            self._start()
