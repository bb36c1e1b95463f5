"""A pair is installed, used, changed and deleted on a screen, with the pointer of an X server that has no other use."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.project import ROOT

PATIENCE_S = 400

pytestmark = pytest.mark.drill


@pytest.fixture
def display() -> Iterator[str]:
    if shutil.which("Xvfb") is None or shutil.which("xdotool") is None:
        pytest.skip("needs Xvfb and xdotool")
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1600x1200x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    with os.fdopen(reading) as told:
        number = told.readline().strip()
    yield f":{number}"
    server.terminate()
    server.wait(PATIENCE_S)


def test_a_pair_is_installed_used_changed_and_deleted_with_the_screens_pointer(display: str, tmp_path: Path) -> None:
    environment = os.environ | {"QT_QPA_PLATFORM": "xcb", "DISPLAY": display, "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.end2end.models_scenario", str(tmp_path / "person")],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == "done with the pointer of xcb"
