"""A program for a test to kill: streams a long reply into a database and prints when each piece of it came.

python -m tests.helpers.crash_child FOLDER
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from app.bridge import EngineBridge
from app.controllers.chat import ChatController
from app.controllers.models import ModelController, StarterPair
from app.settings import Settings
from app.storage import Database
from app.system.paths import Paths
from engine import Event, TextDelta
from tests.helpers.fake_engine import DRAFT, MAIN, FakeEngine, Script
from tests.helpers.fake_shelf import FakeShelf

PIECE_INTERVAL_S = 0.02


class TellingBridge(EngineBridge):
    def post(self, event: Event) -> None:
        if isinstance(event, TextDelta):
            print(time.monotonic(), event.text, flush=True)  # noqa: T201  the test reads it
        super().post(event)


def main(folder: Path) -> None:
    qt = QCoreApplication([])
    paths = Paths.for_user(folder)
    settings = Settings(paths.settings, paths.hub_token)
    settings.main_folder, settings.draft_folder = MAIN.folder, DRAFT.folder
    bridge, engine, database = TellingBridge(), FakeEngine(), Database(paths.database)
    models = ModelController(engine, FakeShelf(bridge.post), bridge, settings, StarterPair(folder, folder))
    chat = ChatController(engine, bridge, database, settings, models)
    models.start()
    engine.scripts.append(Script(pieces=tuple(f"{number} " for number in range(100_000))))
    engine.gate.hold()
    chat.send("Count")
    threading.Thread(target=_pace, args=(engine,), daemon=True).start()
    qt.exec()


def _pace(engine: FakeEngine) -> None:
    never = threading.Event()
    while not never.wait(PIECE_INTERVAL_S):
        engine.gate.let_through(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
