"""What malicious tool servers cost the app: lateness of a timer of its main thread, memory, and work of the window.

Lateness and memory are of a process of its own with an event loop, a 5 ms timer and the tool host, as the window has
them. Work is what a turn of the real window's event loop computes, whatever else the machine does.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QAbstractEventDispatcher
from pytestqt.qtbot import QtBot

from app.tools.definitions import Answer, Tool
from app.tools.wire import Patience
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.malicious_server import modes
from tests.helpers.stillness import still
from tests.helpers.tool_calls import MODELS, call, calls, says
from tests.helpers.tool_hosts import MALICIOUS, alive

_LATE_MS = 16.0  # beyond idle
_GROWN_KIB = 5 << 10
_GIB_IN_MIB = "1024"
_PLAIN = "plain"  # a server that does nothing wrong

_APP = """
import json, os, sys, time
from pathlib import Path
from PySide6.QtCore import QCoreApplication, Qt, QTimer
from app.tools.wire import Patience
from tests.helpers.tool_hosts import HostUnderTest

folder, modes = Path(sys.argv[1]), sys.argv[2].split(",")
app = QCoreApplication([])
host = HostUnderTest(folder, Patience(connect=10, fetching=10, call=5, longest_call=5))
host.environment["LONG_LINE_MIB"] = sys.argv[3]
late, last, found = [], [time.perf_counter()], {}

def tick():
    now = time.perf_counter()
    late.append((now - last[0]) * 1000 - 5)
    last[0] = now

def memory(name):
    return int(Path("/proc/self/status").read_text().split(name + ":")[1].split()[0])

timer = QTimer(timerType=Qt.TimerType.PreciseTimer, interval=5)
timer.timeout.connect(tick)
timer.start()

def turn(done, seconds=120):
    until = time.monotonic() + seconds
    while not done() and time.monotonic() < until:
        app.processEvents()
        time.sleep(0.0005)

def measured(name, run):
    late.clear()
    last[0] = time.perf_counter()
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    run()
    now = {"late": max(late), "grown": memory("VmHWM") - before}
    found[name] = {each: min(value, found.get(name, now)[each]) for each, value in now.items()}

def idle():
    began = time.monotonic()
    turn(lambda: time.monotonic() - began > 15, 60)

def attack(mode):
    answers = []
    server, noted = host.malicious(mode)
    host.host.list_tools(server, answers.append)
    turn(lambda: len(answers) == 1)
    if host.state(mode).phase.value == "ready":
        host.host.call(mode, "act", "{}", answers.append)
        turn(lambda: len(answers) == 2)
    host.host.stop(mode)

host.malicious("changes")
measured("idle", idle)
attack("changes")
for mode in modes:
    measured(mode, lambda: attack(mode))
measured("idle again", idle)
most = max(found[each]["late"] for each in ("idle", "idle again")) + float(sys.argv[4])
for mode in modes * 3:
    if found[mode]["late"] > most:  # something else may have been the reason
        measured(mode, lambda: attack(mode))
host.host.close()
print(json.dumps(found))
"""


@pytest.mark.drill
def test_the_main_thread_is_not_held_and_memory_stays(tmp_path: Path) -> None:
    wanted = list(modes())
    command = [sys.executable, "-c", _APP, str(tmp_path), ",".join(wanted), _GIB_IN_MIB, str(_LATE_MS)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=1200)
    found = json.loads(done.stdout)
    idle = max(found[name]["late"] for name in ("idle", "idle again"))
    lines = [
        f"{name:20} late {each['late']:6.1f} ms, grown {each['grown'] / 1024:5.1f} MiB" for name, each in found.items()
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    late = {name: each["late"] for name, each in found.items() if each["late"] > idle + _LATE_MS}
    grown = {name: each["grown"] for name, each in found.items() if each["grown"] > _GROWN_KIB}
    assert (late, grown) == ({}, {})
    assert [each for each in tmp_path.glob("processes-*") if alive(each)] == []


@pytest.mark.drill
def test_the_window_works_little_in_any_turn_of_its_loop(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond a server that does nothing wrong, while they are listed and called in a chat, with their page open."""
    monkeypatch.setenv("HOME", str(tmp_path))
    found: dict[str, float] = {}
    with open_app(tmp_path / "profile", qtbot, models=MODELS) as app:
        app.show_settings("tools")
        app.application.tool_servers._host._patience = Patience(connect=10, fetching=10, call=5, longest_call=5)
        turns = Turns()
        for mode in (_PLAIN, *modes()):
            (tmp_path / mode).mkdir()
            attack = Attack(app, qtbot, f"{sys.executable} {MALICIOUS} {mode} {tmp_path / mode}")
            turns.begin()
            attack.run()
            found[mode] = turns.longest_ms
            attack.end()
    sys.stdout.write("\n".join(f"{mode:20} {most:5.1f} ms" for mode, most in found.items()) + "\n")
    assert {mode: most for mode, most in found.items() if most > found[_PLAIN] + _LATE_MS} == {}


class Turns:
    """Of this thread's event loop: what it computes between two waits."""

    def __init__(self) -> None:
        self._began = time.thread_time()
        self.longest_ms = 0.0
        dispatcher = QAbstractEventDispatcher.instance()
        dispatcher.awake.connect(self._on_awake)
        dispatcher.aboutToBlock.connect(self._on_end)

    def begin(self) -> None:
        self.longest_ms = 0.0
        self._on_awake()

    def _on_awake(self) -> None:
        self._began = time.thread_time()

    def _on_end(self) -> None:
        self.longest_ms = max(self.longest_ms, (time.thread_time() - self._began) * 1000)


class Attack:
    """A server that was added and switched on; its first tool is called in a new chat."""

    def __init__(self, app: AppHarness, qtbot: QtBot, command: str) -> None:
        self._app = app
        self._qtbot = qtbot
        self._servers = app.application.tool_servers
        self._servers.add_text(command)
        self._row = self._servers.rows()[-1]
        assert self._servers.confirm(self._row.id, self._row.place)
        still()

    def run(self) -> None:
        listed: list[tuple[Tool, ...]] = []
        self._servers.listed(self._row.id, listed.append)
        self._wait(lambda: bool(listed))
        if not listed[0]:
            return
        tool = listed[0][0]
        chats = self._app.chats
        chats.new_chat()
        chats.tools.set_on([tool.id], True)
        self._app.engine.scripts.clear()
        self._app.engine.scripts.extend((calls(call(tool.flat_name)), says("Done.")))
        assert chats.send("Act")
        self._wait(self._rests)
        reply = chats.transcript.messages[-1]
        if reply.consent is not None:
            chats.exchanges.answer(reply.id, Answer.ONCE, reply.consent)
            self._wait(self._rests)

    def _rests(self) -> bool:
        """Whether the reply has ended, or asks."""
        messages = self._app.chats.transcript.messages
        return bool(messages) and (not messages[-1].under_way or messages[-1].consent is not None)

    def _wait(self, done: Callable[[], bool]) -> None:
        self._qtbot.waitUntil(done, timeout=120_000)

    def end(self) -> None:
        self._app.chats.stop()
        self._servers.remove(self._row.id)
        self._servers.forget_removed()
        still()
