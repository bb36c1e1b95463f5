"""A program for a test to kill: streams a long reply into a database and prints how many pieces each save has stored.

python -m tests.helpers.crash_child FOLDER
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from app.bridge import EngineBridge, GuiCalls
from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.controllers.pair_loading import StarterPair
from app.settings import Settings
from app.storage import MessageStore, Opened, ReplyText, Storage, storage
from app.storage.pair_records import PairRecords
from app.system.paths import Paths
from tests.helpers.fake_engine import DRAFT, MAIN, FakeEngine, Script
from tests.helpers.fake_model_store import FakeModelStore

PIECE_INTERVAL_S = 0.02


class PrintingStore(MessageStore):
    def save_texts(self, replies: Iterable[ReplyText]) -> None:
        kept = list(replies)
        super().save_texts(kept)
        print(len(kept[0].text.split()), flush=True)  # noqa: T201  the test reads it


def main(folder: Path) -> None:
    qt = QCoreApplication([])
    paths = Paths.for_user(folder)
    settings = Settings(paths.settings, paths.hub_token)
    settings.main_folder, settings.draft_folder = MAIN.folder, DRAFT.folder
    storage.MessageStore = PrintingStore  # type: ignore[attr-defined]
    bridge, engine, calls = EngineBridge(), FakeEngine(), GuiCalls()
    starter, records = StarterPair(folder, folder), PairRecords(paths.pairs, "here")
    models = ModelController(engine, FakeModelStore(bridge.post), bridge, settings, starter, records)
    chats = Storage(paths.database, calls.post)

    def begin(_opened: Opened) -> None:
        chat = ChatController(engine, bridge, chats, settings, models, calls)
        models.start()
        chat.send("Count")

    engine.scripts.append(Script(pieces=tuple(f"{number} " for number in range(100_000))))
    engine.gate.hold()
    chats.open(begin, lambda error: None)
    threading.Thread(target=_pace, args=(engine,), daemon=True).start()
    qt.exec()


def _pace(engine: FakeEngine) -> None:
    never = threading.Event()
    while not never.wait(PIECE_INTERVAL_S):
        engine.gate.let_through(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
