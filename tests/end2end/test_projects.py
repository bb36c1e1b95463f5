"""A project in the whole app, with the real engine: what its chats share is read once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end2end.process import finished
from tests.helpers.tiny_families import save_family

_ASK = """
import json, sys
from pathlib import Path
from PySide6.QtCore import QTimer
from app.application import Application
from app.system.qt_application import qt_application
from app.system.paths import Paths
qt = qt_application()
application = Application(Paths.for_user(Path(sys.argv[2])), starter=Path(sys.argv[1]))
questions = ["How do you brew it?", "Why is it green?"]
figures = []
def made(folder_id):
    application.chats.projects.put_instructions(folder_id, "We sell tea. " * 40)
    application.settings.max_tokens = 8
    application.settings.automatic_titles = False
    application.chats.replies.ended.connect(lambda *_: QTimer.singleShot(0, lambda: ask(folder_id)))
    ask(folder_id)
def ask(folder_id):
    rows = application.chats.transcript.messages
    if rows:
        stats = rows[-1].stats
        figures.append([stats.prompt_tokens, stats.cached_tokens])
    if not questions:
        print(json.dumps(figures), flush=True)
        application.window.close()
        return
    application.chats.new_chat_in(folder_id)
    application.window.composer.send(questions.pop(0))
def begin():
    application.chats.folders.made.connect(made)
    application.chats.folders.make()
application.opened.connect(begin)
application.ended.connect(qt.quit)
application.show()
sys.exit(qt.exec())
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dense", "window", "hybrid"])
def test_the_second_chat_reads_what_it_shares_from_the_cache(kind: str, tmp_path: Path) -> None:
    starter = tmp_path / "starter"
    for half in ("main", "draft"):
        save_family(kind, starter / half)

    done = finished(_ASK, starter, tmp_path / "profile")

    assert done.returncode == 0, done.stderr
    (_, cold), (_, cached) = json.loads(done.stdout)
    assert cold == 0
    assert cached >= 0.95 * len("We sell tea. " * 40)
