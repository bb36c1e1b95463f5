"""200,000 messages: what the GUI thread does for a start, a search, a chat and a question, in its own CPU time.

What other threads keep it waiting for, the interpreter's lock above all, shows only by the clock, which a busy machine
lengthens: the drill allows for that.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer
from pytestqt.qtbot import QtBot

from app.storage import Database
from app.system.paths import Paths
from app.view_models.race import RaceState
from app.views.transcript import TranscriptView
from tests.helpers.app_harness import AppHarness, open_app

_LIMIT_S = 0.15
_STALL_LIMIT_S = 1.0
_BUSY_LIMIT_S = 0.3  # in the ordinary tests: processor time is up to twice as long where others are at work
_LOOK_MS = 20  # what is waited for may come true without an event
_TEXT = "lorem ipsum dolor sit amet " * 30


def fill(path: Path, chats: int, messages: int) -> None:
    """`messages` in each chat, a chain of questions and replies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(Database(path)) as database, database.transaction():
        database.connection.executemany(
            "INSERT INTO chats (id, title, created_at, updated_at, leaf_id) VALUES (?, ?, 1, ?, ?)",
            ((chat, f"chat {chat}", 1e9 + chat, chat * messages) for chat in range(1, chats + 1)),
        )
        database.connection.executemany(
            "INSERT INTO messages (id, chat_id, parent_id, role, text, created_at) VALUES (?, ?, ?, ?, ?, ?)",
            (
                (
                    number + 1,
                    number // messages + 1,
                    number if number % messages else None,
                    "assistant" if number % 2 else "user",
                    f"message {number} {_TEXT}",
                    float(number + 1),
                )
                for number in range(chats * messages)
            ),
        )


class Stopwatch:
    """The longest that the GUI thread was busy at one go, in CPU time, while it waited for something.

    `stalled_s` is the longest in all acts between two beats of a timer, by the clock.
    """

    longest_s = stalled_s = 0.0

    def act(self, act: Callable[[], object], until: Callable[[], bool]) -> float:
        """Between events it sleeps: a loop that asks without end takes the index half of the processor."""
        self.longest_s = 0.0
        self._beat_at = time.monotonic()
        self._count(act)
        self._count(QCoreApplication.processEvents)  # it may be done, and is to be painted
        wake = QTimer()
        wake.timeout.connect(self._beat)
        wake.start(_LOOK_MS)
        deadline = time.monotonic() + 900  # the index of 200,000 messages takes more than a minute of a core
        while not until():
            assert time.monotonic() < deadline
            self._count(lambda: QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents))
        self._beat()
        return self.longest_s

    def _count(self, act: Callable[[], object]) -> None:
        began = time.thread_time()
        act()
        self.longest_s = max(self.longest_s, time.thread_time() - began)

    def _beat(self) -> None:
        now = time.monotonic()
        self.stalled_s = max(self.stalled_s, now - self._beat_at)
        self._beat_at = now


def _ignore(_outcome: object) -> None:
    """What is asked for is looked at where it should show."""


def busy(path: Path, qtbot: QtBot, chats: int, messages: int) -> tuple[dict[str, float], float]:
    """The CPU time of each act, and the longest that any took by the clock."""
    with AppHarness(path) as harness:
        fill(harness.paths.database, chats, messages)
        watch, application = Stopwatch(), harness.application
        is_open: list[bool] = []
        application.opened.connect(lambda: is_open.append(True))
        application.show()
        taken = {"start": watch.act(lambda: None, lambda: bool(is_open))}
        qtbot.waitUntil(harness.is_settled)

        def until_answered() -> bool:
            return not application.storage.pending

        taken["index"] = watch.act(lambda: None, until_answered)  # by another thread, a few messages at a time
        controller, newest = harness.chats, chats * messages - 7
        taken["search"] = watch.act(lambda: controller.conversations.set_query(f"message {newest}"), until_answered)
        assert controller.conversations.rows
        taken["search ended"] = watch.act(lambda: controller.conversations.set_query(""), until_answered)
        taken["open"] = watch.act(lambda: controller.open_chat(3), lambda: True)
        taken["send"] = watch.act(lambda: controller.send("And?"), until_answered)
        harness.wait_until_quiet(qtbot)
        taken["delete"] = watch.act(lambda: controller.delete_chats([5]), until_answered)
        taken["undo"] = watch.act(controller.deletions.undo, until_answered)
        application.storage.write(lambda stores: stores.trash.put_chats(range(10, 10 + chats // 2)), _ignore, _ignore)
        watch.act(lambda: None, until_answered)
        taken["empty the trash"] = watch.act(controller.deletions.empty, until_answered)
        assert controller.deletions.latest() == []
    print({name: round(each, 4) for name, each in taken.items()}, watch.stalled_s)  # noqa: T201  shown with -s
    return taken, watch.stalled_s


@pytest.mark.drill
@pytest.mark.parametrize(("chats", "messages"), [(20_000, 10), (1000, 200)])
def test_nothing_takes_the_window_long_among_200_000_messages(
    tmp_path: Path, qtbot: QtBot, chats: int, messages: int
) -> None:
    taken, stalled_s = busy(tmp_path, qtbot, chats, messages)
    assert {name: each for name, each in taken.items() if each > _LIMIT_S} == {}, taken
    assert stalled_s < _STALL_LIMIT_S


def test_nothing_takes_the_window_long_among_4000_messages(tmp_path: Path, qtbot: QtBot) -> None:
    taken, _ = busy(tmp_path, qtbot, 400, 10)
    assert {name: each for name, each in taken.items() if each > _BUSY_LIMIT_S} == {}, taken


def looks(harness: AppHarness, view: TranscriptView) -> dict[str, Callable[[], object]]:
    """What changes how all of a chat is shown."""
    settings, window = harness.application.settings, harness.window
    return {
        "select all": view.selectAll,
        "resize": lambda: window.resize(window.width() - 200, window.height()),
        "colours": lambda: setattr(settings, "appearance", "dark"),
        "text size": lambda: setattr(settings, "text_scale", 1.5),
        "language": lambda: setattr(settings, "language", "ko"),
    }


@pytest.mark.drill
def test_a_chat_of_150_000_messages_does_not_take_the_window_long(tmp_path: Path, qtbot: QtBot) -> None:
    """As an import brings it: its end is there at once, and what stands before it comes by and by."""
    fill(Paths.for_user(tmp_path).database, 1, 150_000)
    with open_app(tmp_path, qtbot) as harness:
        watch, controller = Stopwatch(), harness.chats

        def is_filled() -> bool:
            return not (controller.transcript.has_earlier or harness.application.storage.pending)

        taken = {"open": watch.act(lambda: controller.open_chat(1), is_filled)}
        assert len(controller.transcript.messages) == 150_000
        taken["send"] = watch.act(lambda: controller.send("And?"), lambda: is_filled() and not controller.generating)
        reply = controller.transcript.messages[-1].id
        taken["regenerate"] = watch.act(
            lambda: controller.asking.regenerate(reply), lambda: is_filled() and not controller.generating
        )
        race, view = harness.application.speculation.race, harness.window.transcript
        assert view is not None
        taken["race"] = watch.act(
            lambda: harness.window.speculation.open_race(reply), lambda: race.view.state is RaceState.DONE
        )
        taken |= {name: watch.act(look, is_filled) for name, look in looks(harness, view).items()}
        view.finder.find("lorem")
        taken["find"] = watch.act(lambda: None, lambda: view.finder.count > 3000)
        taken["find above"] = watch.act(lambda: view.finder.step(-1), lambda: view.finder.count > 6000)
        taken["find no more"] = watch.act(view.finder.close, lambda: True)
        taken["delete"] = watch.act(lambda: controller.edits.delete(100, following=False), is_filled)
        taken["leave"] = watch.act(controller.new_chat, is_filled)
    print({name: round(each, 4) for name, each in taken.items()}, watch.stalled_s)  # noqa: T201  shown with -s
    assert {name: each for name, each in taken.items() if each > _LIMIT_S} == {}, taken
