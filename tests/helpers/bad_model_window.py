"""The real app in its window, with models whose templates and tokenizers are bad: it stays alive, stops and closes.

python -m tests.helpers.bad_model_window FOLDER TRIAL NAME…: for each name a folder of it is made, chosen in the app,
asked and stopped; TRIAL is 1 where a new model is first tried in another process, as usual, and 0 where it gets into
this one. Prints JSON lines: name, the longest gap between two turns of the event loop (in processor time of the GUI
thread, so that no other program or thread counts), that in seconds, the seconds until Stop had ended the reply, the
outcome; then the same of the window's end; last the calls that had the GUI thread wait until that end.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from app.application import Application
from app.system.paths import Paths
from app.system.qt_application import qt_application
from app.view_models.model_list import PairState
from engine.models.first_use import FirstUse
from tests.helpers.bad_tokenizers import spoiled
from tests.helpers.event_loop import after, until
from tests.helpers.gui_waits import gui_waits
from tests.helpers.tiny_models import make_pair

QUESTION = "a" * 2000 + "ꙮ"


class Heartbeat(QObject):
    """Turns of the event loop, every 5 ms if it can; `gap` is the longest time between two."""

    def __init__(self) -> None:
        super().__init__()
        self._timer = QTimer(self, interval=5)
        self._timer.timeout.connect(self._beat)
        self._timer.start()
        self.begin()

    def begin(self) -> None:
        self.gap_cpu_s = self.gap_s = 0.0
        self._last = time.thread_time(), time.monotonic()

    def _beat(self) -> None:
        now = time.thread_time(), time.monotonic()
        self.gap_cpu_s = max(self.gap_cpu_s, now[0] - self._last[0])
        self.gap_s = max(self.gap_s, now[1] - self._last[1])
        self._last = now


class Trial:
    def __init__(self, application: Application, folder: Path, sound: Path) -> None:
        self._application = application
        self._folder = folder
        self._sound = sound
        self._heart = Heartbeat()

    def run(self, names: list[str]) -> None:
        for name in names:
            told = [
                name,
                *self._one(spoiled(shutil.copytree(self._sound, self._folder / name.replace(" ", "-")), name)),
            ]
            sys.stdout.write(json.dumps(told) + "\n")
            sys.stdout.flush()

    def _one(self, folder: Path) -> tuple[float, float, float, str]:
        chats, models = self._application.chats, self._application.models
        self._heart.begin()
        models.choose_main(str(folder))
        until(lambda: models.pair.state is not PairState.LOADING)
        chats.new_chat()
        if models.pair.state is not PairState.READY:
            return self._heart.gap_cpu_s, self._heart.gap_s, 0.0, type(models.pair.error).__name__
        self._application.window.composer.send(QUESTION)
        until(lambda: any(not message.from_user for message in chats.transcript.messages))
        after(100)
        stopped_s = time.monotonic()
        if chats.generating:
            chats.stop()
        until(lambda: not chats.generating)
        status = chats.transcript.messages[-1].status
        return self._heart.gap_cpu_s, self._heart.gap_s, time.monotonic() - stopped_s, str(status)

    def close(self, name: str) -> None:
        """While a reply to a bad model is under way."""
        self._application.models.choose_main(str(self._folder / name.replace(" ", "-")))
        self._application.chats.new_chat()
        self._application.window.composer.send(QUESTION)
        after(100)
        self._heart.begin()
        self._application.window.close_at_once()


def main(folder: Path, with_trial: bool, names: list[str]) -> int:
    if not with_trial:
        FirstUse.check = lambda self, path, on_try=None: iter(())  # type: ignore[assignment, method-assign, return-value]
    make_pair(folder / "starter")
    qt = qt_application()
    application = Application(Paths.for_user(folder / "profile"), starter=folder / "starter")
    trial = Trial(application, folder, folder / "starter" / "main")

    def begin() -> None:
        with gui_waits() as met:
            trial.run(names)
        waits.extend(met)
        closing_s.append(time.monotonic())
        trial.close(names[0])

    closing_s: list[float] = []
    waits: list[str] = []
    application.opened.connect(lambda: QTimer.singleShot(0, begin))
    application.ended.connect(qt.quit)
    application.show()
    code = qt.exec()
    sys.stdout.write(json.dumps(["", 0.0, 0.0, time.monotonic() - closing_s[0] - 0.1, "closed"]) + "\n")
    sys.stdout.write(json.dumps(waits) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2] == "1", sys.argv[3:]))
