"""Two programs on one models folder, programs that are killed, and folders where something else lies than we left."""

from __future__ import annotations

import errno
import queue
import subprocess
import sys
from pathlib import Path

import pytest

from engine import DownloadFinished, DownloadStopped, LibraryScanned, StorageFailed
from engine.hub.staging import alone_with
from tests.end2end.conftest import LARGE, REPO
from tests.end2end.test_downloads import (
    CHILD,
    assert_installed,
    held,
    install,
    installed,
    refusal,
)
from tests.helpers.event_recorder import EventRecorder, QuickStore, tree
from tests.helpers.model_folders import model_files, safetensors, write_folder
from tests.helpers.samples import fair
from tests.helpers.tinyhub import TinyHub


def test_a_second_program_that_starts_leaves_the_first_ones_downloads_alone(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    """Its tidying up once took away what the first one was writing to."""
    first = held(hub, store, recorder)
    later = EventRecorder()
    other = QuickStore(tmp_path / "models", sink=later, hub_cache=tmp_path / "no-cache", endpoint=hub.endpoint)
    other.scan()
    later.wait_for(LibraryScanned)
    assert not [event for event in later.events if isinstance(event, DownloadStopped)]
    assert other.close()
    hub.closing.set()  # the line is cut, and the next try gets the rest
    assert isinstance(recorder.end_of(first), DownloadFinished)
    assert_installed(tmp_path, hub)


@pytest.mark.parametrize("ends", fair(range(4), 1, 2))
def test_a_failed_or_killed_update_leaves_a_model_that_works(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, ends: int
) -> None:
    """The rename number `ends` of publishing fails, or is never reached because the program is killed."""
    install(store, recorder)
    before = installed(tmp_path)
    hub.add(REPO, model_files() | {"model.safetensors": safetensors(LARGE, b"\2")})
    code = KILLED.replace("ENDS", str(ends))
    child = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "models"), hub.endpoint, REPO], check=False, timeout=120
    )
    assert child.returncode == 9
    other = QuickStore(tmp_path / "models", sink=EventRecorder(), hub_cache=tmp_path / "none", endpoint=hub.endpoint)
    other.scan()
    assert other.close()
    assert installed(tmp_path) in (before, hub.repositories[REPO])
    install(store, recorder)
    assert_installed(tmp_path, hub)


KILLED = (
    """
import os
from pathlib import Path
from engine.hub import staging
CALLS = [0]
rename = Path.rename
def killed(self, target):
    if ".downloads" in str(self) or ".downloads" in str(target):
        CALLS[0] += 1
        if CALLS[0] > ENDS // 2:
            if ENDS % 2:
                rename(self, target)
            os._exit(9)
    return rename(self, target)
Path.rename = killed
"""
    + CHILD
)


def test_an_update_that_cannot_be_put_in_place_gives_the_former_model_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    install(store, recorder)
    before = installed(tmp_path)
    hub.add(REPO, model_files() | {"model.safetensors": safetensors(LARGE, b"\2")})
    rename = Path.rename

    def fails(path: Path, target: Path) -> Path:
        if path.name == "files":
            raise OSError(errno.EIO, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fails)
    assert isinstance(refusal(store, recorder), StorageFailed)
    assert installed(tmp_path) == before
    monkeypatch.undo()
    install(store, recorder)
    assert_installed(tmp_path, hub)


@pytest.mark.costly
@pytest.mark.parametrize(
    "name",
    [
        "",
        "files",
        "files/config.json",
        "files/model.safetensors",
        "files/hunch.json",
        "download.json",
        "former",
        ".lock",
    ],
)
@pytest.mark.parametrize("kind", ["folder", "link to a folder", "link to a file", "dangling link"])
def test_a_staging_entry_that_is_something_else_neither_blocks_nor_is_followed(
    tmp_path: Path, hub: TinyHub, recorder: EventRecorder, name: str, kind: str
) -> None:
    outside = write_folder(tmp_path / "outside", {"config.json": b"mine", "deep/file": b"mine"})
    staging = tmp_path / "models" / ".downloads" / "org--tiny-4bit"
    place = staging.with_name(staging.name + name) if name == ".lock" else staging / name
    place.parent.mkdir(parents=True)
    if staging.is_dir() and name != "download.json":
        (staging / "download.json").write_text(f'{{"repository": "{REPO}", "revision": "main"}}')
    targets = {"link to a folder": outside, "link to a file": outside / "config.json", "dangling link": outside / "no"}
    if kind == "folder":
        write_folder(place, {"inner/file": b"x"})
    else:
        place.symlink_to(targets[kind])
    store = QuickStore(tmp_path / "models", sink=recorder, hub_cache=tmp_path / "none", endpoint=hub.endpoint)
    store.scan()
    install(store, recorder)
    assert installed(tmp_path) == hub.repositories[REPO]
    assert tree(outside) == {"config.json": b"mine", "deep/file": b"mine"}
    assert store.close()


def test_a_lock_is_waited_for_a_little(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    """Who scans the folder holds it for a moment."""
    with alone_with(tmp_path / "models", REPO):
        download = store.install(REPO)
        with pytest.raises(queue.Empty):
            recorder._queue.get(timeout=0.3)
    assert isinstance(recorder.end_of(download), DownloadFinished)
