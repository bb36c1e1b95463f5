"""The real app in its window, which never rests: it loads, reads long prompts, drafts, keeps caches and loads again.

python -m tests.helpers.busy_window FOLDER SEED: says what it does next, a line each, until a signal ends it. FOLDER has
two pairs of models in `small` and `large`.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from PySide6.QtCore import QTimer

from app import application
from app.system.paths import Paths
from app.view_models.model_list import PairState

_LOOK_MS = 5
_LATEST_MS = 400  # then the next thing is done, whatever is under way


class BusyApplication(application.Application):
    """Does something else each time that nothing is under way, and now and then before."""

    folder: Path
    dice: random.Random

    def __init__(self, paths: Paths) -> None:
        super().__init__(paths, starter=self.folder / "small")
        self._waited_ms = 0
        self._looks = QTimer(self, interval=_LOOK_MS)
        self._looks.timeout.connect(self._look)
        self.opened.connect(self._looks.start)
        self.opened.connect(lambda: _tell("opened"))
        self.ending.connect(self._looks.stop)

    def _look(self) -> None:
        self._waited_ms += _LOOK_MS
        if self.models.pair.state is PairState.READY:
            rests = not self.chats.generating and not self.storage.pending
            if rests or self._waited_ms > self.dice.randrange(_LATEST_MS):
                self._waited_ms = 0
                self._act()

    def _act(self) -> None:
        act = self.dice.choice(("ask", "ask", "ask long", "again", "new", "load", "search", "delete", "settings"))
        _tell(act)
        chats = self.chats
        if act.startswith("ask"):
            chats.new_chat() if self.dice.random() < 0.3 else None
            self.window.composer.send("question " * (400 if act == "ask long" else 5))
        elif act == "again" and chats.transcript.messages:
            chats.asking.regenerate(chats.transcript.messages[-1].id)
        elif act == "new":
            chats.new_chat()
        elif act == "load":
            pair = self.folder / self.dice.choice(("small", "large"))
            self.models.choose_pair(str(pair / "main"), str(pair / "draft"))
        elif act == "search":
            chats.conversations.set_query(self.dice.choice(("question", "a", "")))
        elif act == "delete" and chats.chat_id:
            chats.delete_chats([chats.chat_id])
        elif act == "settings":
            self.show_models("yours")


def _tell(what: str) -> None:
    sys.stdout.write(what + "\n")
    sys.stdout.flush()


def main(folder: Path, seed: int) -> int:
    BusyApplication.folder, BusyApplication.dice = folder, random.Random(seed)
    application.Application = BusyApplication  # type: ignore[misc, assignment]
    return application.run(folder / "profile")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
