"""What malicious tool servers cost the app with its window open: work and lateness of the window's thread, and memory.

Work is what a turn of the window's event loop computes, whatever else the machine does; lateness is that of a timer of
the same thread, compared with what it is when nothing is done, and where it is more, with that of an honest server at
the same time: a busy machine makes both late; memory is the most that the app's process has had. A server that does
nothing wrong is measured, too: a new chat and its question have a price.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from PySide6.QtCore import QAbstractEventDispatcher, Qt, QTimer
from pytestqt.qtbot import QtBot

from app.storage.search_index import pieces_of
from app.system.qt_application import SWITCH_S
from app.tools.definitions import Answer, Tool
from app.tools.wire import Patience
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.malicious_server import modes
from tests.helpers.stillness import still
from tests.helpers.tool_calls import MODELS, call, calls, says
from tests.helpers.tool_hosts import MALICIOUS, alive, wait_until

_MOST_MS = 16.0  # of lateness beyond idle, and of work beyond the most of some servers that do nothing wrong
_GROWN_KIB = 5 << 10
_GIB_IN_MIB = 1024
_TICK_MS = 5
_PAINT_MS = 100  # for what a step has changed on the screen
_IDLE_MS = 15_000
_WARM_UP = 10  # attacks; what the app loads and keeps for later is there then
_TRIES = 4  # the least counts: something else may have been the reason
_PLAIN = "plain"  # a server that does nothing wrong


@dataclass(frozen=True, slots=True)
class Cost:
    worked_ms: float = 0.0  # the longest turn of the event loop, also of those of a new chat and its question
    late_ms: float = 0.0  # of the timer, while the server lists its tools and is called
    grown_kib: int = 0

    def with_least_time(self, other: Cost) -> Cost:
        """Memory is what the first attack takes: a later one finds it there."""
        return replace(self, worked_ms=min(self.worked_ms, other.worked_ms), late_ms=min(self.late_ms, other.late_ms))

    def __str__(self) -> str:
        return f"work {self.worked_ms:6.1f} ms, late {self.late_ms:6.1f} ms, grown {self.grown_kib / 1024:5.1f} MiB"


@pytest.mark.drill
def test_the_window_is_not_held_and_the_app_does_not_grow(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While they are listed and called in a chat, with their page open."""
    monkeypatch.setenv("HOME", str(tmp_path))
    sys.setswitchinterval(SWITCH_S)  # as in the app
    found: dict[str, Cost] = {}
    with open_app(tmp_path / "profile", qtbot, models=MODELS) as app:
        app.application.settings.overlay_explained = True  # which happens once
        app.show_settings("tools")
        app.application.tool_servers._host._patience = Patience(connect=10, fetching=10, call=5, longest_call=5)
        watch = Watch()

        def idle() -> float:
            watch.begin()
            qtbot.wait(_IDLE_MS)
            return watch.end().late_ms

        def attack(mode: str) -> Cost:
            folder = tmp_path / "servers" / mode
            folder.mkdir(parents=True, exist_ok=True)
            server = Attack(app, qtbot, f"LONG_LINE_MIB={_GIB_IN_MIB} {sys.executable} {MALICIOUS} {mode} {folder}")
            cost = server.cost(watch)
            server.end()
            return cost

        pieces_of(" ".join(map(str, range(10**5, 11 * 10**4))))  # any long chat fills what the index remembers
        honest = [attack(_PLAIN).worked_ms for _ in range(_WARM_UP)][_WARM_UP // 2 :]
        most_work = max(honest) + _MOST_MS
        most_late = idle() + _MOST_MS
        for mode in (_PLAIN, *modes()):
            found[mode] = attack(mode)
        most_late = max(most_late, idle() + _MOST_MS)

        def is_too_much(cost: Cost) -> bool:
            return cost.worked_ms > most_work or cost.late_ms > most_late or cost.grown_kib > _GROWN_KIB

        for mode in [*found] * (_TRIES - 1):
            if is_too_much(found[mode]):
                most_late = max(most_late, attack(_PLAIN).late_ms)
                found[mode] = found[mode].with_least_time(attack(mode))
        lines = [f"{mode:20} {cost}" for mode, cost in found.items()]
        usual = f"idle: late {most_late - _MOST_MS:.1f} ms; honest: work {max(honest):.1f} ms"
        sys.stdout.write("\n".join([usual, *lines]) + "\n")
    assert {mode: str(cost) for mode, cost in found.items() if is_too_much(cost)} == {}
    wait_until(lambda: not any(map(alive, (tmp_path / "servers").iterdir())), "a process of a server is left")


class Watch:
    """Of this thread's event loop between `begin` and `end`."""

    def __init__(self) -> None:
        self._turn_began = time.thread_time()
        self._ticked = 0.0
        self._worked_ms = 0.0
        self._late_ms = 0.0
        self._timer = QTimer(timerType=Qt.TimerType.PreciseTimer, interval=_TICK_MS)
        self._timer.timeout.connect(self._on_tick)
        dispatcher = QAbstractEventDispatcher.instance()
        dispatcher.awake.connect(self._on_awake)
        dispatcher.aboutToBlock.connect(self._on_end_of_turn)

    def begin(self) -> None:
        self._turn_began = time.thread_time()
        self._worked_ms = self._late_ms = 0.0
        self._ticked = time.perf_counter()
        self._timer.start()

    def end(self) -> Cost:
        self._timer.stop()
        self._on_tick()
        self._on_end_of_turn()
        return Cost(self._worked_ms, self._late_ms)

    def _on_tick(self) -> None:
        now = time.perf_counter()
        self._late_ms = max(self._late_ms, (now - self._ticked) * 1000 - _TICK_MS)
        self._ticked = now

    def _on_awake(self) -> None:
        self._on_end_of_turn()  # a loop that is left does not block
        self._turn_began = time.thread_time()

    def _on_end_of_turn(self) -> None:
        self._worked_ms = max(self._worked_ms, (time.thread_time() - self._turn_began) * 1000)


def _memory_kib(name: str) -> int:
    return int(Path("/proc/self/status").read_text().split(f"{name}:")[1].split()[0])


class Attack:
    """A server that was added and switched on; its first tool is called in a new chat."""

    def __init__(self, app: AppHarness, qtbot: QtBot, command: str) -> None:
        self._app = app
        self._qtbot = qtbot
        self._servers = app.application.tool_servers
        self._servers.add_text(command)
        self._row = self._servers.rows()[-1]
        assert self._servers.confirm(self._row.id, self._row.place)
        self._tools: tuple[Tool, ...] = ()
        still()

    def cost(self, watch: Watch) -> Cost:
        Path("/proc/self/clear_refs").write_text("5")  # the most memory is counted from here on
        before_kib = _memory_kib("VmRSS")
        costs: list[Cost] = []
        for step in (self._list, self._ask, self._call):
            watch.begin()
            step()
            self._qtbot.wait(_PAINT_MS)
            costs.append(watch.end())
        listing, asking, calling = costs
        return Cost(
            max(each.worked_ms for each in (listing, asking, calling)),
            max(listing.late_ms, calling.late_ms),
            _memory_kib("VmHWM") - before_kib,
        )

    def _list(self) -> None:
        listed: list[tuple[Tool, ...]] = []
        self._servers.listed(self._row.id, listed.append)
        self._wait(lambda: bool(listed))
        self._tools = listed[0]

    def _ask(self) -> None:
        """In a new chat the model calls the first tool, and the user is asked."""
        chats = self._app.chats
        chats.new_chat()
        if self._tools:
            chats.tools.set_on([self._tools[0].id], True)
            self._app.engine.scripts.clear()
            self._app.engine.scripts.extend((calls(call(self._tools[0].flat_name)), says("Done.")))
            assert chats.send("Act")
            self._wait(self._rests)

    def _call(self) -> None:
        messages = self._app.chats.transcript.messages
        if messages and messages[-1].consent is not None:
            self._app.chats.exchanges.answer(messages[-1].id, Answer.ONCE, messages[-1].consent)
            self._wait(self._rests)

    def _rests(self) -> bool:
        """Whether the reply has ended, or asks."""
        messages = self._app.chats.transcript.messages
        return bool(messages) and (not messages[-1].under_way or messages[-1].consent is not None)

    def _wait(self, done: Callable[[], bool]) -> None:
        self._qtbot.waitUntil(done)

    def end(self) -> None:
        self._app.chats.stop()
        self._servers.remove(self._row.id)
        self._servers.forget_removed()
        still()
