"""What pasting and sending a megabyte takes of the GUI thread: the real window offscreen, the real engine, a process
of its own."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.rows import Measure, Row
from tests.bench.setup import BenchSetup

ROOT = Path(__file__).resolve().parents[2]
BYTES = 1_000_000
TEXTS = {
    "prose": "A draft guesses, the main model checks, and you read sooner.\n",
    "one line": "A draft guesses, the main model checks, and you read sooner. ",
    "Korean": "초안 모델이 미리 추측하고 메인 모델이 확인해요.\n",
}
_PATIENCE_S = 120


def app_paste_1mb_ms(setup: BenchSetup, runs: int) -> Row:
    """The longest stretch between two rests of the GUI thread, in its CPU time; of three kinds of text the worst."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.bench.paste", folder, str(runs)]
        environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "HUNCH_OPENBLAS": "0"}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    taken: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    medians = {kind: statistics.median(each) for kind, each in taken.items()}
    detail = ", ".join(f"{kind} {value:.0f}" for kind, value in medians.items())
    return Row("app.paste_1mb_ms", max(medians.values()), "ms", "≤ 100", detail)


PASTE: tuple[Measure, ...] = (app_paste_1mb_ms,)


def main(folder: Path, runs: int) -> None:
    """In the process of its own."""
    from PySide6.QtCore import QAbstractEventDispatcher, QEventLoop, QMimeData, QTimer

    from app.application import Application
    from app.system.paths import Paths
    from app.system.qt_application import qt_application
    from app.view_models.model_list import PairState

    _qt = qt_application()
    app = Application(Paths.for_user(folder))
    longest, began = [0.0], [time.thread_time()]

    def rest() -> None:
        """CPU time stands still while the thread rests."""
        now = time.thread_time()
        longest[0], began[0] = max(longest[0], now - began[0]), now

    QAbstractEventDispatcher.instance().aboutToBlock.connect(rest)

    def wait(until: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while not until():
            assert time.monotonic() < deadline, "the app did not get there"
            loop = QEventLoop()
            QTimer.singleShot(5, loop.quit)
            loop.exec()

    def paste(text: str) -> None:
        data = QMimeData()
        data.setText(text)
        app.window.composer.edit.insertFromMimeData(data)

    app.show()
    wait(lambda: app.is_open and app.models.pair.state is PairState.READY)
    model = app.file_wiring.attachments.model
    taken: dict[str, list[float]] = {kind: [] for kind in TEXTS}
    for _ in range(runs):
        for kind, piece in TEXTS.items():
            text = piece * (BYTES // len(piece.encode()))
            app.chats.new_chat()
            wait(lambda: not app.storage.pending)
            rest()
            longest[0] = 0.0
            QTimer.singleShot(0, lambda text=text: paste(text))
            wait(lambda: bool(model.rows) and model.rows[0].tokens is not None and not app.storage.pending)
            QTimer.singleShot(0, lambda: app.window.composer.send("What is it about?"))
            wait(lambda: len(app.chats.transcript.messages) == 2 and not app.chats.generating)
            wait(lambda: not app.storage.pending)
            taken[kind].append(1000 * longest[0])
    app.window.close_at_once()
    sys.stdout.write(json.dumps(taken) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
