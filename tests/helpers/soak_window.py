"""The real app in its window with its real engine, used for long: asks, leaves chats, deletes, searches, renames.

python -m tests.helpers.soak_window FOLDER TURNS: prints a JSON line at each tenth of the turns with what the process
holds, all in exact counts but the resident pages. With `--keep N` the last of each N chats is not deleted. Each chat
has five turns, or `--chat-turns`. After each fifth turn a hub of this machine is searched, and a model is
installed from it and deleted. Before each turn it rests for `--pause` seconds: 1440 turns of 20 are eight hours.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.application import Application
from app.markup.formula import FormulaKey, draw
from app.storage import search_index
from app.system.paths import Paths
from app.system.qt_application import qt_application
from app.view_models.hub import DiscoverFilter, DiscoverState
from app.view_models.model_list import PairState
from tests.helpers.event_loop import after, until
from tests.helpers.model_folders import model_files, safetensors
from tests.helpers.stillness import still
from tests.helpers.tiny_models import make_pair
from tests.helpers.tinyhub import TinyHub

PAGE_BYTES = 4096
CHAT_TURNS = 5  # then it goes on in another chat, which the last four act on
ANSWER_TOKENS = 24
REPO = "org/tiny-4bit"


class Soak(QObject):
    def __init__(
        self, application: Application, hub: TinyHub, turns: int, keep: int, chat_turns: int, pause: int
    ) -> None:
        """`keep`: of so many chats one stays; 0: none."""
        super().__init__()
        self._application = application
        self._hub = hub
        self._turns = turns
        self._keep = keep
        self._chat_turns = chat_turns
        self._pause = pause

    def run(self) -> None:
        app = self._application
        until(lambda: app.models.pair.state is PairState.READY and app.models.pair.draft_state != "loading")
        draw(FormulaKey("x", 16, "#000000", display=False))  # some reply has one: its library has 170,000 blocks
        for turn in range(self._turns):
            after(1000 * self._pause)
            self._turn(turn)
            if turn % (self._turns // 10) == self._turns // 10 - 1:
                self._tell(turn + 1)
        app.window.close_at_once()

    def _tell(self, turns: int) -> None:
        sys.stdout.write(json.dumps(self._held(turns)) + "\n")
        sys.stdout.flush()

    def _turn(self, turn: int) -> None:
        app, chats = self._application, self._application.chats
        if turn % self._chat_turns == 0:
            chats.new_chat()
        app.window.composer.send(f"{turn} " + "question " * (turn % 7))
        until(lambda: not chats.generating and not app.storage.pending)
        acts: dict[int, Callable[[], object]] = {
            1: lambda: chats.asking.regenerate(chats.transcript.messages[-1].id),
            2: lambda: chats.conversations.set_query(f"{turn % 9}"),
            3: lambda: chats.rename(chats.chat_id, f"chat {turn}"),
            4: lambda: None if self._stays(turn // self._chat_turns) else chats.delete_chats([chats.chat_id]),
        }
        acts.get(turn % self._chat_turns - self._chat_turns + CHAT_TURNS, lambda: None)()
        until(lambda: not chats.generating and not app.storage.pending)
        chats.conversations.set_query("")
        if turn % 5 == 0:
            self._use_hub()
        if turn % 20 == 0:
            app.show_settings("chat")
            app.settings.text_scale = 1.0 + 0.5 * (turn // 20 % 2)
            app.settings.appearance = ("light", "dark")[turn // 20 % 2]

    def _use_hub(self) -> None:
        models = self._application.models
        models.discover.search(DiscoverFilter("tiny"))
        until(lambda: models.discover.state is DiscoverState.RESTING and models.discover.from_hub)
        models.discover.read_page(REPO)
        until(lambda: models.discover.page is not None)
        models.discover.close_page()
        row = models.downloads.install(REPO)
        until(lambda: self._folder() != "")
        models.downloads.dismiss(row)
        models.delete(self._folder())
        until(lambda: self._folder() == "")
        self._hub.seen.clear()

    def _folder(self) -> str:
        """Of what was installed; "" once it is deleted."""
        installed = self._application.models.library.installed
        return next((each.folder for each in installed if each.repository == REPO), "")

    def _stays(self, chat: int) -> bool:
        return bool(self._keep) and chat % self._keep == self._keep - 1

    def _held(self, turns: int) -> dict[str, int]:
        still()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        search_index._kept_pieces.cache_clear()  # has a limit, which no run comes to
        gc.collect()
        folder = self._application.paths.cache
        return {
            "turns": turns,
            "python_blocks": sys.getallocatedblocks(),
            "widgets": len(QApplication.allWidgets()),
            "qt_objects": len(self._application.window.findChildren(QObject)),
            "resident_bytes": int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES,
            "threads": len(list(Path("/proc/self/task").iterdir())),
            "descriptors": len(list(Path("/proc/self/fd").iterdir())),
            "cache_bytes": sum(file.stat().st_size for file in folder.rglob("*.safetensors")),
            "chats": len(self._application.storage.read.chats.ids()),
        }


def main(folder: Path, turns: int, keep: int, chat_turns: int, pause: int) -> int:
    make_pair(folder / "starter")
    hub = TinyHub()
    hub.add(REPO, model_files() | {"model.safetensors": safetensors({"a.weight": ("F32", (512, 512))})})
    qt = qt_application()
    application = Application(Paths.for_user(folder / "profile"), starter=folder / "starter")
    application.settings.max_tokens = ANSWER_TOKENS
    application.settings.hub_endpoint = hub.endpoint
    soak = Soak(application, hub, turns, keep, chat_turns, pause)
    application.opened.connect(lambda: QTimer.singleShot(0, soak.run))
    application.ended.connect(qt.quit)
    application.show()
    return qt.exec()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("turns", type=int)
    parser.add_argument("--keep", type=int, default=0)
    parser.add_argument("--chat-turns", type=int, default=CHAT_TURNS)
    parser.add_argument("--pause", type=int, default=0)
    sys.exit(main(**vars(parser.parse_args())))
