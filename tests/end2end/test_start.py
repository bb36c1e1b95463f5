"""The app as a process: what is imported when its window is first painted, second starts, missing libraries."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120

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
sys.exit(application.run(Path(sys.argv[1])))
"""


def start(code: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True, env=os.environ.copy()
    )


def test_nothing_heavy_is_imported_when_the_window_is_first_painted(tmp_path: Path) -> None:
    """And this version of Qt reads no source of what is."""
    process = start(_FIRST_PAINT, tmp_path)
    told, sources, loaded = json.loads(process.communicate(timeout=PATIENCE_S)[0])
    heavy = {"mlx", "mlx_lm", "transformers", "tokenizers", "huggingface_hub", "numpy"}
    of_the_server = {"starlette", "uvicorn", "prometheus_client"}
    of_replies = {"pygments", "markdown_it", "ziamath"}
    assert not set(loaded) & (heavy | of_the_server | of_replies)
    assert "PySide6.QtWidgets" in loaded
    assert (told, sources) == (True, 0)


def test_a_second_start_calls_the_first_and_ends(tmp_path: Path) -> None:
    first = start(_FIRST_INSTANCE, tmp_path)
    assert first.stdout is not None
    assert first.stdout.readline() == "open\n"
    second = subprocess.run(
        [sys.executable, "-m", "app", "--profile-dir", str(tmp_path)], cwd=ROOT, timeout=PATIENCE_S, check=False
    )
    assert second.returncode == 0
    assert first.stdout.readline() == "called True\n"
    assert first.wait(PATIENCE_S) == 0
    first.stdout.close()


@pytest.mark.slow
def test_a_lock_left_by_a_crash_is_not_in_the_way(tmp_path: Path) -> None:
    crashed = start(_FIRST_INSTANCE, tmp_path)
    assert crashed.stdout is not None
    assert crashed.stdout.readline() == "open\n"
    crashed.kill()
    crashed.wait(PATIENCE_S)
    crashed.stdout.close()
    (tmp_path / "data" / "hunch.lock").write_bytes(b"1\nHunch\nanother-mac\n")
    again = start(_FIRST_INSTANCE, tmp_path)
    assert again.stdout is not None
    assert again.stdout.readline() == "open\n"
    again.kill()
    again.wait(PATIENCE_S)
    again.stdout.close()


@pytest.mark.slow
def test_a_start_beside_one_that_hangs_opens_once_that_is_gone(tmp_path: Path) -> None:
    first = start(_FIRST_INSTANCE, tmp_path)
    assert first.stdout is not None
    assert first.stdout.readline() == "open\n"
    first.send_signal(signal.SIGSTOP)
    shown = "from app.views.shell import waiting_start as w; show = w.WaitingStart._show\n"
    shown += "w.WaitingStart._show = lambda self: (show(self), print('waits', self.dialog.isVisible(), flush=True))\n"
    second = start(shown + _RUN, tmp_path)
    assert second.stdout is not None
    assert second.stdout.readline() == "waits True\n"
    first.kill()
    first.wait(PATIENCE_S)
    first.stdout.close()
    assert second.stdout.readline() == "open\n"
    second.send_signal(signal.SIGTERM)
    assert second.wait(PATIENCE_S) == 0
    second.stdout.close()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_as_closing_the_window_does(tmp_path: Path, number: signal.Signals) -> None:
    process = start(_RUN, tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    running = tmp_path / "data" / "running"
    assert running.exists()
    process.send_signal(number)
    assert process.wait(PATIENCE_S) == 0
    process.stdout.close()
    assert not running.exists()


def test_help_needs_no_qt(tmp_path: Path) -> None:
    code = "import sys; sys.modules['PySide6'] = None; from app.__main__ import main; main(['--help'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "--profile-dir" in done.stdout


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
