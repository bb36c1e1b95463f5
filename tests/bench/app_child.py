"""One measurement of the app in a process of its own, offscreen: `python -m tests.bench.app_child WHAT FOLDER …`.

Prints its figures as JSON. The clock of the GUI thread's own CPU time says what the app takes from decoding, and is the
same on a busy machine; only `share` measures the real engine, by the clock on the wall.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtCore import QCoreApplication, QEventLoop, QPoint, QTimer
from PySide6.QtTest import QTest

from app import bridge
from app.application import Application
from app.settings import Settings
from app.system.paths import Paths
from app.system.qt_application import qt_application
from app.view_models.model_list import PairState
from app.words.replies import drafted_enough
from engine import ChatEngine, Event, Failed, Finished, ModelMeasured, Request, RequestStats
from tests.bench.app_chats import LONG_CHAT, SHORT_CHAT, reply_text
from tests.helpers.event_loop import after
from tests.helpers.fake_engine import FakeEngine, Script, model_info

_TOKENS = 20_000
_CHARS_PER_UPDATE = 12  # three tokens: 90 a second at 30 updates a second
_OPENINGS = 9
_WHEEL_STEPS = 300
_NOTCH = 120
_HEARTBEAT_MS = 100


class Open:
    """The app on a profile; `engine` None is the real one."""

    def __init__(self, folder: Path, engine: FakeEngine | None) -> None:
        self.qt = qt_application()
        make = {} if engine is None else {"make_engine": lambda _cache, **_: engine}
        self.application = Application(Paths.for_user(folder), **make)  # type: ignore[arg-type]
        self.is_open = False
        self._heartbeat = QTimer(interval=_HEARTBEAT_MS)  # not everything that is waited for wakes the event loop
        self._heartbeat.start()
        self.application.opened.connect(self._on_opened)

    def _on_opened(self) -> None:
        self.is_open = True

    def wait(self) -> None:
        self.application.show()
        self.until(lambda: self.is_open and self.application.models.pair.state is PairState.READY)
        self.settle()

    def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)

    def settle(self) -> None:
        """Until everything is stored, and a moment longer for what waits for an idle one."""
        self.until(lambda: not self.application.storage.pending)
        after(300)

    def cost_ms(self, act: Callable[[], object]) -> float:
        """Of the GUI thread, its painting included."""
        began = time.thread_time()
        act()
        QCoreApplication.processEvents()
        QCoreApplication.processEvents()  # what the first round has queued
        return 1000 * (time.thread_time() - began)


def _scripted(folder: Path) -> tuple[Open, FakeEngine]:
    """The real app over a scripted engine: what is measured is the window's part."""
    starter = Path("resources/starter").resolve()
    sizes = {str(starter / "main"): 6_000_000, str(starter / "draft"): 1_000_000}
    engine = FakeEngine({folder: model_info(folder, parameters) for folder, parameters in sizes.items()})
    opened = Open(folder, engine)
    opened.application.settings.max_tokens = 10 * _TOKENS
    opened.wait()
    return opened, engine


def chat(folder: Path) -> dict[str, object]:
    """Opens the chat of 2,000 messages in turn with a short one, then scrolls through it by the wheel."""
    opened, _ = _scripted(folder)
    chats, view = opened.application.chats, opened.application.window.transcript
    assert view is not None
    opening = []
    for _ in range(_OPENINGS):
        opened.cost_ms(lambda: chats.open_chat(SHORT_CHAT))
        opening.append(opened.cost_ms(lambda: chats.open_chat(LONG_CHAT)))
    opened.settle()
    handle, middle = opened.application.window.windowHandle(), view.mapTo(view.window(), view.rect().center())
    steps = []
    for number in range(_WHEEL_STEPS):
        delta = QPoint(0, _NOTCH if number < 250 else -_NOTCH)
        steps.append(opened.cost_ms(partial(QTest.wheelEvent, handle, middle, delta)))
    _end(opened)
    return {"open_ms": opening, "scroll_ms": steps}


def stream(folder: Path) -> dict[str, object]:
    """A reply of 20,000 tokens into a chat of 500 messages; each update is what 33 ms bring."""
    bridge.DRAIN_INTERVAL_MS = 0  # the same updates without the waiting between them
    opened, engine = _scripted(folder)
    text = reply_text(4 * _TOKENS)
    pieces = tuple(text[at : at + _CHARS_PER_UPDATE] for at in range(0, len(text), _CHARS_PER_UPDATE))
    engine.scripts.append(Script(pieces=pieces))
    engine.gate.hold()
    chats = opened.application.chats
    chats.open_chat(SHORT_CHAT)
    chats.send("Tell me everything")
    opened.until(lambda: bool(engine.requests))
    opened.settle()
    updates, length = [], 0
    for piece in pieces:
        began, length = time.thread_time(), length + len(piece)
        engine.gate.let_through(1)
        opened.until(lambda: len(chats.transcript.messages[-1].text) >= length)  # noqa: B023
        QCoreApplication.processEvents()
        updates.append(1000 * (time.thread_time() - began))
    engine.gate.open()
    opened.until(lambda: not chats.generating)
    _end(opened)
    return {"update_ms": updates}


def share(folder: Path, runs: str, main: str, draft: str) -> dict[str, object]:
    """The real engine's rate with the window's updates, beside the same request whose events go nowhere; in turns."""
    opened = _real(folder, main, draft)
    chats, engine = opened.application.chats, opened.application.engine
    rates: dict[str, list[float]] = {"window": [], "alone": []}
    for _ in range(int(runs) + 1):
        rates["window"].append(_with_window(opened))
        asked: list[Request | None] = []
        chats.asking.request_of(chats.transcript.messages[-1].id, asked.append)
        assert asked[0] is not None
        rates["alone"].append(_alone(opened, engine, asked[0]))
    _end(opened)
    return {side: figures[1:] for side, figures in rates.items()}


def _real(folder: Path, main: str, draft: str) -> Open:
    paths = Paths.for_user(folder)
    settings = Settings(paths.settings, paths.hub_token)
    settings.main_folder = main
    settings.draft_folder = draft
    settings.seed = 1
    settings.automatic_titles = False  # a request of its own, which would write beside the measured ones
    settings.save()
    opened = Open(folder, None)
    opened.wait()
    return opened


def _with_window(opened: Open) -> float:
    return _stats(opened, "What is speculative decoding?").tokens_per_second or 0.0


def _stats(opened: Open, question: str) -> RequestStats:
    finished: list[Finished] = []

    def take(event: Event) -> None:
        assert not isinstance(event, Failed), event
        if isinstance(event, Finished):
            finished.append(event)

    opened.application.bridge.event_arrived.connect(take)
    opened.application.chats.new_chat()
    opened.application.chats.send(question)
    opened.until(lambda: bool(finished))
    opened.application.bridge.event_arrived.disconnect(take)
    opened.settle()
    return finished[0].stats


def _alone(opened: Open, engine: ChatEngine, request: Request) -> float:
    finished: list[Finished] = []
    engine.submit(request, lambda event: finished.append(event) if isinstance(event, Finished) else None)
    while not finished:
        time.sleep(0.02)  # the event loop stands still: the window takes nothing
    opened.settle()
    return finished[0].stats.tokens_per_second or 0.0


def races(folder: Path, main: str, draft: str, *questions: str) -> list[dict[str, object]]:
    """Each question is asked, raced, and asked once more: what the footers say, and what the race found."""
    opened = _real(folder, main, draft)
    race = opened.application.speculation.race
    chats = opened.application.chats
    found: list[dict[str, object]] = []
    for question in questions:
        before = _stats(opened, question)
        asked: list[Request | None] = []
        chats.asking.request_of(chats.transcript.messages[-1].id, asked.append)
        assert asked[0] is not None
        race.start(asked[0], greedy=False)
        opened.until(lambda: not race.under_way)
        view = race.view
        told = {"factor": view.times.factor if view.times.is_sure else None, "verdict": view.verdict.value}
        laps = {"plain": view.times.plain_s, "drafted": view.times.drafted_s, "spent_s": view.times.spent_s}
        after = _stats(opened, question)
        found.append({"before": _footer(before), "after": _footer(after), "forced": view.is_auto_plain, **told, **laps})
    _end(opened)
    return found


def first(folder: Path, main: str, draft: str, question: str) -> dict[str, object]:
    """The first reply after a start."""
    opened = _real(folder, main, draft)
    stats = _stats(opened, question)
    _end(opened)
    return {"drafted": drafted_enough(stats), **_footer(stats)}


def used(folder: Path, main: str, draft: str, question: str) -> None:
    """A profile whose pair has been measured, and has then replied."""
    opened = _real(folder, main, draft)
    measured: list[Event] = []
    opened.application.bridge.event_arrived.connect(
        lambda event: measured.append(event) if isinstance(event, ModelMeasured) else None
    )
    opened.until(lambda: bool(measured))
    _stats(opened, question)
    _end(opened)


def _footer(stats: RequestStats) -> dict[str, object]:
    judged = drafted_enough(stats)
    return {
        "speed_up": stats.speed_up if judged else None,
        "interval": stats.speed_up_interval if judged else None,
        "certain": stats.is_speed_up_certain,
        "tokens": stats.generated_tokens,
        "state": stats.drafting.value,
    }


def _end(opened: Open) -> None:
    ended: list[bool] = []
    opened.application.ended.connect(lambda: ended.append(True))
    opened.application.window.close_at_once()
    opened.until(lambda: bool(ended))


if __name__ == "__main__":
    what, where, *more = sys.argv[1:]
    measures: tuple[Callable[..., object], ...] = (chat, stream, share, races, first, used)
    chosen = next(measure for measure in measures if measure.__name__ == what)
    sys.stdout.write(json.dumps(chosen(Path(where), *more)))
