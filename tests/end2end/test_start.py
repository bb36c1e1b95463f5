"""The app as a process: what is imported when its window is first painted, second starts, missing libraries."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.project import ROOT
from tests.end2end.process import PATIENCE_S, finished, running, said

_FIRST_PAINT = """
import inspect, json, sys
from app.system.qt_imports import read_no_sources
told, sources = read_no_sources(), []
inspect.getsource = lambda module: sources.append(module) or ""
from app.application import Application
from app.system.qt_application import qt_application
from app.system.paths import Paths
from pathlib import Path
qt = qt_application()
application = Application(Paths.for_user(Path(sys.argv[1])))
def tell():
    sys.stdout.write(json.dumps([told, len(sources), sorted(sys.modules)]))
    sys.stdout.flush()
    application.window.painted_first.disconnect()
    qt.quit()
application.window.painted_first.connect(tell)
application.show()
qt.exec()
"""

_OPENED = """
import json, os, sys, threading
from pathlib import Path
from app.application import Application
from app.system.paths import Paths
from app.system.qt_application import qt_application
qt = qt_application()
application = Application(Paths.for_user(Path(sys.argv[1])), starter=Path(sys.argv[1]) / "none")
def children():
    owners = [each.read_text().rpartition(")")[2].split()[1] for each in Path("/proc").glob("[0-9]*/stat")]
    return owners.count(str(os.getpid()))
def tell():
    threads = [each.name for each in threading.enumerate()]
    print(json.dumps(["open", sorted(sys.modules), threads, children()]), flush=True)
    application.window.close()
application.opened.connect(tell)
application.ended.connect(qt.quit)
application.show()
qt.exec()
"""

_ICON = """
from app.system.qt_application import qt_application
print(qt_application().windowIcon().pixmap(64, 64).toImage().pixelColor(32, 10).blue(), flush=True)
"""

_FIRST_INSTANCE = """
import sys
from pathlib import Path
from app.application import Application
from app.system.qt_application import qt_application
from app.system.only_instance import OnlyInstance
from app.system.paths import Paths
qt = qt_application()
paths = Paths.for_user(Path(sys.argv[1]))
instance = OnlyInstance(paths.lock)
assert instance.take()
application = Application(paths, starter=Path(sys.argv[1]) / "none")
def on_called():
    application.come_to_front()
    print("called", application.window.isVisible(), flush=True)
    application.window.close()
instance.called.connect(on_called)
application.opened.connect(lambda: print("open", flush=True))
application.ended.connect(qt.quit)
application.show()
qt.exec()
instance.release()
"""


_RUN = """
import sys
from pathlib import Path
from app import application
class Telling(application.Application):
    def __init__(self, *parts):
        super().__init__(*parts)
        self.opened.connect(lambda: print("open", flush=True))
application.Application = Telling
%s
sys.exit(application.run(Path(sys.argv[1]), len(sys.argv) > 2))
"""
# It ends when Quick Ask is shown.
_QUICK_ASK = (
    _RUN
    % """
from PySide6.QtCore import QTimer
class Watching(Telling):
    def __init__(self, *parts):
        super().__init__(*parts)
        self.watch = QTimer(self, interval=20, timeout=self.look)
        self.watch.start()
    def look(self):
        if self.is_open and self.window.tools.desktop.quick_ask.edit.hasFocus():
            self.watch.stop()
            print("quick ask", self.window.tools.desktop.quick_ask.isVisible(), flush=True)
            self.window.close_at_once()
application.Application = Watching
"""
)


def test_nothing_heavy_is_imported_when_the_window_is_first_painted(tmp_path: Path) -> None:
    """And this version of Qt reads no source of what is."""
    told, sources, loaded = json.loads(finished(_FIRST_PAINT, tmp_path).stdout)
    heavy = {"mlx", "mlx_lm", "transformers", "tokenizers", "huggingface_hub", "numpy"}
    of_the_server = {"starlette", "uvicorn", "prometheus_client"}
    of_replies = {"pygments", "markdown_it", "ziamath"}
    of_other_macs = {"zeroconf", "ifaddr"}
    assert not set(loaded) & (heavy | of_the_server | of_replies | of_other_macs)
    assert "PySide6.QtWidgets" in loaded
    assert (told, sources) == (True, 0)


def test_without_an_app_around_it_it_has_its_icon(tmp_path: Path) -> None:
    """In the Dock; else that of Python."""
    assert int(finished(_ICON, tmp_path).stdout) > 200


def test_without_a_tool_in_use_nothing_of_them_is_there_when_the_chats_are_open(tmp_path: Path) -> None:
    """Neither what speaks with servers nor a built-in one, no thread and no process."""
    told, loaded, threads, children = json.loads(finished(_OPENED, tmp_path).stdout)
    assert told == "open"
    assert not {each.partition(".")[0] for each in loaded} & {"mcp", "mcp_types", "httpx2", "pydantic", "anyio"}
    of_tools = {each.removeprefix("app.tools.") for each in loaded if each.startswith("app.tools.")}
    assert {each for each in of_tools if each.startswith("host")} == {"host_process"}
    assert {each for each in of_tools if each.startswith("builtin.")} == {"builtin.tool"}
    assert ("tool host" in threads, children) == (False, 0)


@pytest.mark.parametrize(
    ("program", "options", "told"),
    [
        (_FIRST_INSTANCE, [], "called True\n"),
        pytest.param(_QUICK_ASK, ["--quick-ask"], "quick ask True\n", marks=pytest.mark.slow),
    ],
    ids=["the window", "Quick Ask"],
)
def test_a_second_start_calls_the_first_and_ends(tmp_path: Path, program: str, options: list[str], told: str) -> None:
    with running(program, tmp_path) as first:
        assert said(first) == "open\n"
        second = [sys.executable, "-m", "app", "--profile-dir", str(tmp_path), *options]
        assert subprocess.run(second, cwd=ROOT, timeout=PATIENCE_S, check=False).returncode == 0
        assert said(first) == told
        assert first.wait(PATIENCE_S) == 0


@pytest.mark.slow
def test_a_first_start_opens_quick_ask_too(tmp_path: Path) -> None:
    with running(_QUICK_ASK, tmp_path, "--quick-ask") as only:
        assert [said(only), said(only)] == ["open\n", "quick ask True\n"]
        assert only.wait(PATIENCE_S) == 0


@pytest.mark.slow
def test_a_lock_left_by_a_crash_is_not_in_the_way(tmp_path: Path) -> None:
    with running(_FIRST_INSTANCE, tmp_path) as crashed:
        assert said(crashed) == "open\n"
    (tmp_path / "data" / "hunch.lock").write_bytes(b"1\nHunch\nanother-mac\n")
    with running(_FIRST_INSTANCE, tmp_path) as again:
        assert said(again) == "open\n"


@pytest.mark.slow
def test_a_start_beside_one_that_hangs_opens_once_that_is_gone(tmp_path: Path) -> None:
    shown = "from app.views.shell import start_notices as w; show = w.WaitingStart._show\n"
    shown += "w.WaitingStart._show = lambda self: (show(self), print('waits', self.dialog.isVisible(), flush=True))\n"
    with running(_FIRST_INSTANCE, tmp_path) as first:
        assert said(first) == "open\n"
        first.send_signal(signal.SIGSTOP)
        with running(shown + _RUN % "", tmp_path) as second:
            assert said(second) == "waits True\n"
            first.kill()
            assert said(second) == "open\n"
            second.send_signal(signal.SIGTERM)
            assert second.wait(PATIENCE_S) == 0


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_as_closing_the_window_does(tmp_path: Path, number: signal.Signals) -> None:
    mark = tmp_path / "data" / "running"
    with running(_RUN % "", tmp_path) as process:
        assert said(process) == "open\n"
        assert mark.exists()
        process.send_signal(number)
        assert process.wait(PATIENCE_S) == 0
    assert not mark.exists()


def test_help_needs_no_qt(tmp_path: Path) -> None:
    code = "import sys; sys.modules['PySide6'] = None; from app.__main__ import main; main(['--help'])"
    done = finished(code)
    assert done.returncode == 0
    assert "--profile-dir" in done.stdout


def test_it_may_open_more_files_than_the_finder_lets_an_app() -> None:
    lines = [
        "import resource as of, app.__main__ as start",
        "hard = of.getrlimit(of.RLIMIT_NOFILE)[1]",
        "of.setrlimit(of.RLIMIT_NOFILE, (256, hard))",
        "start.main(['--version'])",
        "print(of.getrlimit(of.RLIMIT_NOFILE)[0])",
    ]
    said = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert int(said.stdout.split()[-1]) > 256


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a display")
def test_without_a_display_one_line_says_what_happens(tmp_path: Path) -> None:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY")
    }
    command = [sys.executable, "-m", "app"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        process.kill()  # what comes next is the smoke run, which is tested by itself
    assert said.startswith("There is no display here")
