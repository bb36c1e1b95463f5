"""The whole app with the real engine and a tiny real pair, as a process: asking, being killed, coming back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end2end.process import PATIENCE_S, finished, running, said
from tests.helpers.tiny_models import make_pair

_SMOKE = """
import sys, time
from pathlib import Path
from app.smoke import smoke
sys.exit(smoke(Path(sys.argv[2]), time.perf_counter(), Path(sys.argv[1])))
"""

# As by Ctrl-C, while a signal of Qt's is handled.
_INTERRUPTED = """
import os, signal, sys, time
from pathlib import Path
from app import smoke
signal.signal(signal.SIGINT, signal.default_int_handler)
smoke.SmokeTest._type = lambda _test, _text: os.kill(os.getpid(), signal.SIGINT)
sys.exit(smoke.smoke(Path(sys.argv[2]), time.perf_counter(), Path(sys.argv[1])))
"""

# Says on its standard output when a part of a reply has reached the disk, and asks on until it is killed: a random
# model may end a reply at any token.
_ASK = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from app.application import Application
from app.system.qt_application import qt_application
from app.system.paths import Paths
qt = qt_application()
application = Application(Paths.for_user(Path(sys.argv[2])), starter=Path(sys.argv[1]))
def look():
    reply = application.chats.transcript.messages[-1]
    if reply.status == "streaming" and application.storage.read.messages.message(reply.id).text:
        print("saved", flush=True)
def ask():
    application.window.composer.send_requested.emit("Tell me everything")
def begin():
    application.chats.transcript.message_changed.connect(lambda _row: look())
    application.chats.generating_changed.connect(lambda on: on or QTimer.singleShot(0, ask))
    ask()
application.opened.connect(begin)
application.show()
qt.exec()
"""

_LOOK = """
import json, sys
from pathlib import Path
from app.application import Application
from app.system.qt_application import qt_application
from app.system.paths import Paths
qt = qt_application()
application = Application(Paths.for_user(Path(sys.argv[2])), starter=Path(sys.argv[1]))
def look():
    application.chats.open_chat(1)
    rows = application.chats.transcript.messages
    said = [[row.from_user, row.status, row.can_continue, len(row.text)] for row in rows]
    print(json.dumps({"rows": said, "banner": application.window.banner.sentence.text()}), flush=True)
    application.window.close()
application.opened.connect(look)
application.ended.connect(qt.quit)
application.show()
sys.exit(qt.exec())
"""


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("starter")
    make_pair(folder, max_position_embeddings=512)
    return folder


@pytest.mark.slow
def test_the_app_asks_itself_one_question(starter: Path, tmp_path: Path) -> None:
    picture = tmp_path / "made" / "smoke.png"
    done = finished(_SMOKE, starter, picture)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["reply"].strip()
    assert 0 < result["tokens"] <= result["accepted"] + result["rounds"]
    # How much is drafted depends on what this machine measured.
    assert result["accepted"] <= result["drafted"]
    assert 0 < result["seconds_to_window"] < PATIENCE_S
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_without_a_pair_the_smoke_run_fails_and_says_why(tmp_path: Path) -> None:
    done = finished(_SMOKE, tmp_path / "none", tmp_path / "smoke.png")
    assert done.returncode == 1
    assert "starter pair" in done.stderr
    assert done.stdout == ""


@pytest.mark.slow
def test_ctrl_c_ends_the_smoke_run_and_leaves_no_profile(
    starter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = finished(_INTERRUPTED, starter, tmp_path / "smoke.png")
    assert (done.returncode, done.stderr) == (1, "smoke: the window was closed before the reply came\n")
    assert not list(tmp_path.glob("hunch-smoke-*"))


@pytest.mark.slow
def test_a_damaged_pair_fails_the_smoke_run(tmp_path: Path) -> None:
    main, _ = make_pair(tmp_path / "starter")
    (main / "model.safetensors").write_bytes(b"x" * 100)
    done = finished(_SMOKE, tmp_path / "starter", tmp_path / "smoke.png")
    assert done.returncode == 1
    assert "smoke: Model damaged" in done.stderr


@pytest.mark.slow
def test_a_reply_survives_kill_9_and_can_be_continued(tmp_path: Path) -> None:
    starter = tmp_path / "starter"
    make_pair(starter, max_position_embeddings=16384)
    with running(_ASK, starter, tmp_path) as process:
        assert said(process) == "saved\n"
    done = finished(_LOOK, starter, tmp_path)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    user, reply = seen["rows"][-2:]
    assert user[:2] == [True, "done"]
    assert reply[:3] == [False, "interrupted", True]
    assert reply[3] > 0
    assert "quit unexpectedly" in seen["banner"]
