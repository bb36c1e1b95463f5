"""`python -m app --smoke PNG`: the real app asks itself one question, and prints the result.

Waits for signals only: the end of the reply, or the first failure. Uses a temporary profile.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

from app.application import END_S, STARTER, Application
from app.system.logs import open_log
from app.system.paths import Paths
from app.system.qt_application import qt_application
from app.system.unix_signals import Interrupts
from app.view_models.model_list import PairState
from app.words.notices_for_errors import Problem, notice_for
from app.words.replies import footer_line
from engine import Event, Failed, Finished, ModelFailed, RequestStats

QUESTION = "What is speculative decoding?"
SEED = 1  # the same reply each time


class SmokeTest(QObject):
    """Types the question into the composer once the models load; emits `over` after the reply or the first failure."""

    over = Signal()

    def __init__(self, application: Application, screenshot: Path | None, started_at: float) -> None:
        super().__init__()
        self._application = application
        self._screenshot = screenshot
        self._started_at = started_at
        self._window_s = 0.0
        self.failure = ""
        self.result: dict[str, object] = {}
        application.window.painted_first.connect(self._on_painted)
        application.opened.connect(self._on_opened)
        application.errors.unexpected.connect(self._fail)

    def _on_painted(self) -> None:
        self._window_s = time.perf_counter() - self._started_at

    def _on_opened(self) -> None:
        application = self._application
        application.settings.seed = SEED
        application.bridge.event_arrived.connect(self._on_event)
        for controller in (application.chats, application.models):
            controller.problem_raised.connect(self._on_problem)
        if application.models.pair.state == PairState.NO_MODEL:
            self._fail("the starter pair is missing")
        else:
            self._type(QUESTION)

    def _type(self, text: str) -> None:
        """Types into the composer key by key and presses Return; the model may still be loading."""
        edit = self._application.window.composer.edit
        for letter in text:
            _press(edit, Qt.Key.Key_unknown, letter)
        _press(edit, Qt.Key.Key_Return, "\r")

    def _on_event(self, event: Event) -> None:
        match event:
            case Failed(error=error) | ModelFailed(error=error):
                self._fail(str(error))
            case Finished(stats=stats):
                # After the controllers and the transcript have handled the event too.
                QTimer.singleShot(0, lambda: self._finish(stats))

    def _on_problem(self, problem: Problem) -> None:
        notice = notice_for(problem)
        self._fail(f"{notice.title}: {notice.sentence}")

    def _finish(self, stats: RequestStats) -> None:
        reply = self._application.chats.transcript.messages[-1]
        if reply.from_user or not reply.text.strip():
            self._fail("the reply is empty")
            return
        self.result = {
            "question": QUESTION,
            "reply": reply.text,
            "seconds_to_window": round(self._window_s, 3),
            "seconds_to_first_token": round(stats.first_token_s, 3),
            "tokens_per_second": round(stats.tokens_per_second or 0.0, 1),
            "tokens": stats.generated_tokens,
            "rounds": stats.rounds,
            "drafted": stats.drafted,
            "accepted": stats.accepted,
            "footer": footer_line(stats).text,
        }
        self._save_screenshot()
        self.over.emit()

    def _save_screenshot(self) -> None:
        if self._screenshot is None:
            return
        self._screenshot.parent.mkdir(parents=True, exist_ok=True)
        if not self._application.window.grab().save(str(self._screenshot)):
            self.failure = f"{self._screenshot} cannot be written"

    def _fail(self, why: str) -> None:
        self.failure = self.failure or why
        self.over.emit()


def smoke(screenshot: Path | None, started_at: float, starter: Path = STARTER) -> int:
    qt = qt_application()
    with tempfile.TemporaryDirectory(prefix="hunch-smoke-", ignore_cleanup_errors=True) as profile:
        paths = Paths.for_user(Path(profile))
        open_log(paths.logs)
        application = Application(paths, starter=starter)
        application.errors.install()
        test = SmokeTest(application, screenshot, started_at)
        test.over.connect(application.window.close, Qt.ConnectionType.QueuedConnection)
        Interrupts(END_S).install(application.window.close_at_once)
        application.ended.connect(qt.quit)
        application.show()
        qt.exec()
    if test.failure or not test.result:
        sys.stderr.write(f"smoke: {test.failure or 'the window was closed before the reply came'}\n")
        return 1
    sys.stdout.write(json.dumps(test.result, ensure_ascii=False) + "\n")
    return 0


def _press(widget: QObject, key: Qt.Key, text: str) -> None:
    for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
        QApplication.sendEvent(widget, QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier, text))
