"""What malicious tool servers cost the app: lateness of a timer of its main thread, and memory.

The app is a process of its own with an event loop, a 5 ms timer and the tool host, as the window has them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.malicious_server import modes
from tests.helpers.tool_hosts import alive

_LATE_MS = 16.0  # beyond idle
_GROWN_KIB = 5 << 10
_GIB_IN_MIB = "1024"

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
