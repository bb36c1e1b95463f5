"""Ctrl-C and `kill` at any moment of loading, reading, drafting and keeping caches: the app ends, and says nothing."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from app.storage import Database
from app.system.paths import Paths
from tests.helpers.samples import fair
from tests.helpers.tiny_models import make_pair

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 300
_OFFSCREEN = "This plugin does not support"  # what Qt's platform for tests cannot do

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs a platform without a display")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One profile for all runs: each begins with what the one before has left."""
    folder = tmp_path_factory.mktemp("busy")
    make_pair(folder / "small")
    sizes = {"hidden_size": 512, "num_hidden_layers": 8, "intermediate_size": 1536, "num_attention_heads": 8}
    make_pair(folder / "large", **sizes, head_dim=64)
    return folder


def loads_qt(process: subprocess.Popen[str]) -> bool:
    """So it is no longer Python's own start, in which Ctrl-C is told as Python tells it."""
    return "libQt6" in Path(f"/proc/{process.pid}/maps").read_text()


@pytest.mark.parametrize("seed", fair([*range(60), 100], 100, rest=pytest.mark.drill))
def test_the_app_is_ended_at_any_moment(folder: Path, seed: int) -> None:
    dice = random.Random(seed)
    number = dice.choice((signal.SIGINT, signal.SIGTERM))
    acts = dice.choice((0, 1, 1, 2, 5, 10, 20))  # 0: before the window is open
    busy = ["tests.helpers.busy_window", str(folder), str(seed)]
    command = [sys.executable, "-m", *(busy if acts else ["app", "--profile-dir", str(folder / "profile")])]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(acts):
            assert process.stdout.readline()
        while not acts and not loads_qt(process):
            time.sleep(0.01)
        time.sleep(dice.random() * (1.0 if acts else 3.0))
        process.send_signal(number)
        told, complaints = process.communicate(timeout=PATIENCE_S)
    at = f"seed {seed}, {number.name}, then {told.split()}"
    assert [line for line in complaints.splitlines() if _OFFSCREEN not in line] == [], at
    assert process.returncode == 0 or (acts == 0 and process.returncode == -number), at
    if acts:
        paths = Paths.for_user(folder / "profile")
        assert paths.database.exists()
        assert not (paths.data / "running").exists(), at  # the next start does not speak of a crash
        with closing(Database(paths.database)) as database:
            assert database.rescued is None, at
