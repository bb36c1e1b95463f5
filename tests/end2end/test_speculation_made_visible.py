"""The whole app with the real engine and the starter pair, as processes: marks, statistics and races, and a restart."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from tests.end2end.process import finished

pytestmark = pytest.mark.slow

# Asks two questions, races the last reply greedily and sampled, and says what the window knows of it.
_RUN = """
import json, os, sys, traceback
from pathlib import Path
sys.excepthook = lambda *error: (traceback.print_exception(*error), os._exit(3))
from PySide6.QtCore import QTimer
from app.application import Application
from app.system.qt_application import qt_application
from app.system.paths import Paths
from app.settings import Settings
from app.view_models.race import RaceState
from app.controllers.statistics import Grouping
qt = qt_application()
paths = Paths.for_user(Path(sys.argv[1]))
settings = Settings(paths.settings, paths.hub_token)
settings.temperature, settings.language, settings.max_tokens = 0.9, "en", 40
settings.speculation_mode, settings.speculation_tokens = "fixed", 4
settings.inspector_visible, settings.overlay = True, "accepted"
settings.save()
application = Application(paths)
questions = ["What is a draft model?", "추측 디코딩이 뭔가요?"]
said = {"marks": [], "races": [], "texts": []}
def ask():
    if questions:
        assert application.chats.send(questions.pop(0))
        return
    for message in application.chats.transcript.messages:
        if not message.from_user:
            said["texts"].append(message.text)
            said["marks"].append([[m.start, m.end, m.wanted] for m in message.drafted.marks(thinking=False)])
    said["headline"] = application.window.inspector.panel.headline.text()
    said["layers"] = len(application.window.overlay.overlay._layers)
    begin_race()
def begin_race():
    greedy = not said["races"]
    reply = application.chats.transcript.messages[-1].id
    race = application.speculation.race
    application.speculation.request_of(reply, lambda request: race.start(request, greedy=greedy))
def on_race():
    view = application.speculation.race.view
    if view.state is not RaceState.DONE:
        return
    drafted = view.laps[1].stats
    said["races"].append([view.identical, len(view.laps[0].tokens), drafted.drafted, view.laps[0].stats.drafted])
    if len(said["races"]) < 2:
        QTimer.singleShot(0, begin_race)
        return
    application.speculation.statistics.totals_changed.connect(end)
    application.speculation.statistics.watch(True)
def end():
    totals = application.speculation.statistics.totals
    said["languages"] = {total.key[1]: total.requests for total in totals[Grouping.LANGUAGE]}
    application.window.close_at_once()
def begin():
    application.chats.replies.stored.connect(lambda: QTimer.singleShot(0, ask))
    application.speculation.race.changed.connect(on_race)
    application.models.pair_changed.connect(first)
    first()
def first():
    if application.models.pair.draft_state == "active" and len(questions) == 2:
        ask()
application.opened.connect(begin)
application.ended.connect(qt.quit)
application.show()
qt.exec()
print(json.dumps(said))
"""

_LOOK = """
import json, os, sys, traceback
from pathlib import Path
sys.excepthook = lambda *error: (traceback.print_exception(*error), os._exit(3))
from app.application import Application
from app.system.qt_application import qt_application
from app.system.paths import Paths
qt = qt_application()
application = Application(Paths.for_user(Path(sys.argv[1])))
said = {}
def look():
    rows = application.chats.requests.rows
    said["rows"] = [[row.chat, row.stats.drafted, row.status] for row in rows]
    application.chats.open_at(rows[0].chat_id, rows[0].message_id)
    replies = [row for row in application.chats.transcript.messages if not row.from_user]
    said["marks"] = [[[m.start, m.end, m.wanted] for m in row.drafted.marks(thinking=False)] for row in replies]
    application.window.close_at_once()
application.opened.connect(lambda: application.chats.requests.rowsInserted.connect(lambda *_: look()))
application.ended.connect(qt.quit)
application.show()
qt.exec()
print(json.dumps(said))
"""


def run(script: str, folder: Path) -> dict[str, Any]:
    done = finished(script, folder)
    assert done.returncode == 0, done.stderr[-2000:]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    folder = tmp_path_factory.mktemp("person")
    return run(_RUN, folder), run(_LOOK, folder)


@pytest.mark.slow
def test_real_replies_are_marked_inside_of_their_text(runs: tuple[dict[str, Any], dict[str, Any]]) -> None:
    first, _ = runs
    assert len(first["marks"]) == 2
    assert any(first["marks"])
    for text, marks in zip(first["texts"], first["marks"], strict=True):
        assert all(0 <= start < end <= len(text) for start, end, _ in marks)
        assert all(one[1] <= other[0] for one, other in itertools.pairwise(marks))
        assert all(wanted is None or text[start:end] != wanted for start, end, wanted in marks)
    assert first["layers"] > 0
    assert first["headline"] not in ("", "No reply yet", "No draft")


def test_races_write_identical_tokens_greedily_and_sampled(runs: tuple[dict[str, Any], dict[str, Any]]) -> None:
    first, _ = runs
    assert [identical for identical, *_ in first["races"]] == [True, True]
    for _, tokens, drafted, plainly_drafted in first["races"]:
        assert tokens > 5
        assert drafted > 0
        assert plainly_drafted == 0


def test_statistics_count_real_replies_by_language(runs: tuple[dict[str, Any], dict[str, Any]]) -> None:
    first, _ = runs
    assert sum(first["languages"].values()) == 2
    assert "en" in first["languages"]


def test_a_restart_finds_rows_and_marks_again(runs: tuple[dict[str, Any], dict[str, Any]]) -> None:
    first, second = runs
    assert len(second["rows"]) == 2
    assert second["marks"] == first["marks"]
