"""Starts where nothing can be kept: the window opens, says what is set aside, and one can chat.

Each is the real app with its real engine, as a process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from app.storage import Database, NotOpened, Stores
from app.views.shell.start_notices import not_kept
from tests.helpers.faulty_disk import mounted
from tests.helpers.reply_words import title_of
from tests.helpers.tiny_models import make_pair

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 180

# Opens the app in the folders of the environment; where that is refused it goes on without saving; asks, and closes.
_CHAT = """
import json, sys
from pathlib import Path
from PySide6.QtCore import QTimer
from app import application
class Told(application.Application):
    def __init__(self, paths):
        super().__init__(paths, starter=Path(sys.argv[1]))
        self.told = {"titles": [], "reply": "", "windows": 0}
        self.window.painted_first.connect(lambda: self.told.update(windows=1))
        self.window.banner.appeared.connect(self.look)
        self.opened.connect(lambda: QTimer.singleShot(0, self.ask))
        self.errors.unexpected.connect(lambda words: self.told.update(error=words))
    def look(self):
        banner = self.window.banner
        title = banner.title.text()
        if title and title not in (*self.told["titles"], "Opening your chats…"):  # where the machine is busy
            self.told["titles"].append(title)
        if banner.other_button.isVisibleTo(banner):
            QTimer.singleShot(0, banner.other_button.click)
    def ask(self):
        self.chats.generating_changed.connect(lambda on: on or QTimer.singleShot(0, self.end))
        self.window.composer.send("Hello?")
    def end(self):
        messages = self.chats.transcript.messages
        self.told["reply"] = [message.status for message in messages if not message.from_user]
        sys.stdout.write(json.dumps(self.told) + "\\n")
        self.window.close_at_once()
application.Application = Told
code = application.run(Path(sys.argv[2]) if len(sys.argv) > 2 else None)
sys.exit(code)
"""


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pair")
    make_pair(folder, max_position_embeddings=192)  # where the reply ends, because a random model does not end it
    return folder


def chat(starter: Path, profile: Path | None, **environment: str | None) -> dict[str, Any]:
    variables: Mapping[str, str | None] = os.environ | environment
    command = [sys.executable, "-c", _CHAT, str(starter), *([str(profile)] if profile else [])]
    env = {name: value for name, value in variables.items() if value is not None}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert told["windows"] == 1
    assert "error" not in told
    assert told["reply"] in (["done"], ["length"], ["context"])
    return told


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "disk", "size=1m,nr_inodes=64") as folder:
        yield folder


def fill_up(disk: Path) -> None:
    """Not a byte more, and not a file more."""
    with suppress(OSError), (disk / "filler").open("ab", buffering=0) as file:
        while file.write(b"\0" * 4096):
            pass
    with suppress(OSError):
        for number in range(64):
            (disk / f"empty {number}").touch()


@pytest.mark.slow
@pytest.mark.parametrize("had_chats", [True, pytest.param(False, marks=pytest.mark.drill)])
def test_a_disk_that_is_full(small_disk: Path, starter: Path, had_chats: bool) -> None:
    """Whether the app was used there before or is new: it says what is missing, and one can chat."""
    file = small_disk / "data" / "chats.db"
    if had_chats:
        with closing(Database(file)) as database:
            stores = Stores(database)
            stores.messages.add_user(stores.chats.create("kept"), None, "kept words")
    fill_up(small_disk)
    told = chat(starter, small_disk)
    assert told["titles"][:2] == [title_of(NotOpened), not_kept().title]
    if had_chats:
        for each in small_disk.iterdir():
            if each.is_file():
                each.unlink()
        with closing(Database(file)) as database:
            assert [row["text"] for row in database.rows("SELECT text FROM messages")] == ["kept words"]


_FOLDERS = [f"XDG_{name}_HOME" for name in ("CONFIG", "DATA", "CACHE", "STATE")]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_home_that_cannot_be_written(starter: Path) -> None:
    told = chat(starter, None, HOME="/proc/1", **dict.fromkeys(_FOLDERS))
    assert told["titles"][:2] == [title_of(NotOpened), not_kept().title]


@pytest.mark.slow
def test_no_home_at_all(tmp_path: Path, starter: Path) -> None:
    """The system knows one; it is not used here, because it is somebody's."""
    folders = {name: str(tmp_path / name) for name in _FOLDERS}
    told = chat(starter, None, HOME=None, **folders)
    assert told["titles"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "place",
    [
        "~no-such-user-here/x",
        pytest.param("/proc/1/x", marks=pytest.mark.drill),
        pytest.param("~nobody/x", marks=pytest.mark.drill),
        pytest.param("", marks=pytest.mark.drill),
    ],
)
def test_a_home_of_the_hub_that_makes_no_sense(tmp_path: Path, starter: Path, place: str) -> None:
    told = chat(starter, tmp_path, HF_HOME=place)
    assert told["titles"] == []
