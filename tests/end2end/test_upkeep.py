"""Installed models are looked after: damage is found and mended, and what the hub has newer is told first."""

from __future__ import annotations

import errno
import itertools
import json
import threading
from pathlib import Path
from typing import IO, Self

import pytest

from engine import (
    DownloadFailed,
    DownloadFinished,
    DownloadId,
    DownloadProgress,
    DownloadStopped,
    Event,
    HubUnreachable,
    InternalError,
    LibraryScanned,
    ModelVerified,
    UpdateChecked,
    VerifyProgress,
)
from engine.api.files import open_plain
from engine.hub import download, writer
from engine.hub.repository import RemoteFile
from engine.hub.stop import StopSignal
from engine.hub.writer import is_right
from engine.models.model_files import JsonObject
from tests.end2end.conftest import LARGE, REPO
from tests.helpers.event_recorder import EventRecorder, QuickStore, tree
from tests.helpers.model_folders import model_files, safetensors, write_folder
from tests.helpers.tinyhub import Fault, TinyHub

WEIGHTS = "model.safetensors"


def install(store: QuickStore, recorder: EventRecorder) -> Path:
    event = recorder.end_of(store.install(REPO))
    assert isinstance(event, DownloadFinished), event
    return Path(event.folder)


def verified(store: QuickStore, recorder: EventRecorder, folder: Path) -> ModelVerified:
    store.verify(folder)
    return recorder.wait_for(ModelVerified)


def checked(store: QuickStore, recorder: EventRecorder, folder: Path) -> UpdateChecked:
    store.check_for_update(folder)
    return recorder.wait_for(UpdateChecked)


def test_a_sound_model_is_sound(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    folder = install(store, recorder)
    assert verified(store, recorder, folder) == ModelVerified(str(folder), known=True, revision=hub.commit(REPO))
    progress = [event for event in recorder.events if isinstance(event, VerifyProgress)]
    assert progress[0].done_bytes == 0
    assert progress[-1].done_bytes == progress[-1].total_bytes == sum(map(len, hub.repositories[REPO].values()))


def test_reading_a_large_file_is_told_by_bytes_and_can_be_stopped(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most models are one file of gigabytes."""
    monkeypatch.setattr(writer, "MIB", 10_000)  # what is read at one go
    folder = install(store, recorder)
    size = (folder / WEIGHTS).stat().st_size
    verified(store, recorder, folder)
    told = [event for event in recorder.events if isinstance(event, VerifyProgress)]
    steps = [later.done_bytes - event.done_bytes for event, later in itertools.pairwise(told)]
    assert 50 <= len(told) <= 110
    assert 0 <= min(steps) <= max(steps) < size // 50

    recorder.events.clear()
    stopping = threading.Event()

    def stop(event: Event) -> None:
        recorder(event)
        if isinstance(event, VerifyProgress) and event.done_bytes:
            store.stop_verifying(folder)
            stopping.set()

    monkeypatch.setattr(store, "_sink", stop)
    store.verify(folder)
    assert stopping.wait(60)
    for thread in (each for each in threading.enumerate() if each.name == "models-upkeep"):
        thread.join(60)
    assert {type(event) for event in recorder.events} == {VerifyProgress}
    assert max(event.done_bytes for event in recorder.events if isinstance(event, VerifyProgress)) < size // 10


def test_a_turned_bit_is_found_and_mended_by_a_download(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    folder = install(store, recorder)
    data = bytearray((folder / WEIGHTS).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / WEIGHTS).write_bytes(data)
    (folder / "tokenizer_config.json").unlink()
    found = verified(store, recorder, folder)
    assert found.damaged == ("tokenizer_config.json", WEIGHTS)

    hub.repositories[REPO] |= {"merges.txt": b"of a newer commit"}
    assert isinstance(recorder.end_of(store.install(REPO, found.revision)), DownloadFinished)
    assert not (folder / "merges.txt").exists()
    assert verified(store, recorder, folder) == ModelVerified(str(folder), known=True, revision=found.revision)


class _BadDisk:
    """A file whose second piece the disk does not give."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._pieces = file, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, count: int) -> bytes:
        self._pieces += 1
        if self._pieces == 2:
            raise OSError(errno.EIO, "Input/output error")
        return self._file.read(count)


@pytest.mark.expect_log("cannot be read")
def test_a_file_that_the_disk_does_not_give_is_damaged_and_can_be_mended(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = install(store, recorder)
    bad = folder / WEIGHTS

    def open_it(path: Path) -> object:
        return _BadDisk(open_plain(path)) if path == bad else open_plain(path)

    with monkeypatch.context() as disk:
        disk.setattr(writer, "open_plain", open_it)
        found = verified(store, recorder, folder)
        assert found.damaged == (WEIGHTS,)
        assert isinstance(recorder.end_of(store.install(REPO, found.revision)), DownloadFinished)
    assert verified(store, recorder, folder) == ModelVerified(str(folder), known=True, revision=found.revision)


@pytest.mark.expect_log("A look at a model failed")
def test_whatever_goes_wrong_with_a_look_is_told(
    store: QuickStore, recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(_folder: Path) -> JsonObject:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("engine.hub.store.read_manifest", fail)
    monkeypatch.setattr("engine.hub.store.repository_of", fail)
    for found in (verified(store, recorder, tmp_path), checked(store, recorder, tmp_path)):
        assert found.folder == str(tmp_path)
        assert isinstance(found.error, InternalError)


def test_what_nobody_wrote_down_cannot_be_verified(tmp_path: Path, store: QuickStore, recorder: EventRecorder) -> None:
    folder = write_folder(tmp_path / "models" / "org" / "mine", model_files())
    assert verified(store, recorder, folder) == ModelVerified(str(folder), known=False)
    assert checked(store, recorder, folder) == UpdateChecked(str(folder), "")


def test_a_manifest_cannot_lead_out_of_its_folder(tmp_path: Path, store: QuickStore, recorder: EventRecorder) -> None:
    folder = write_folder(tmp_path / "models" / "org" / "mine", model_files())
    told = {"size_bytes": 1, "checksum": "0" * 64}
    files = dict.fromkeys(("../secret", "..", "a/b", ""), told)
    (folder / "hunch.json").write_text(json.dumps({"files": files}))
    assert verified(store, recorder, folder) == ModelVerified(str(folder), known=False)


def test_a_newer_commit_is_told_and_fetched_only_when_asked(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    folder = install(store, recorder)
    assert checked(store, recorder, folder) == UpdateChecked(str(folder), REPO)
    before = tree(folder)
    hub.repositories[REPO] |= {WEIGHTS: safetensors(LARGE, b"\2")}
    assert checked(store, recorder, folder) == UpdateChecked(str(folder), REPO, has_update=True)
    assert tree(folder) == before

    install(store, recorder)
    assert checked(store, recorder, folder) == UpdateChecked(str(folder), REPO)
    assert (folder / WEIGHTS).read_bytes() == hub.repositories[REPO][WEIGHTS]


def test_what_was_installed_from_a_branch_is_compared_with_that(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    hub.branches[REPO, "8bit"] = hub.repositories[REPO] | {WEIGHTS: safetensors(LARGE, b"\2")}
    end = recorder.end_of(store.install(REPO, "8bit"))
    assert isinstance(end, DownloadFinished)
    folder = Path(end.folder)
    assert checked(store, recorder, folder) == UpdateChecked(end.folder, REPO, revision="8bit")
    commit = verified(store, recorder, folder).revision
    (folder / WEIGHTS).write_bytes(b"")
    assert isinstance(recorder.end_of(store.install(REPO, commit)), DownloadFinished)  # repaired
    hub.branches[REPO, "8bit"] = hub.repositories[REPO] | {WEIGHTS: safetensors(LARGE, b"\3")}
    assert checked(store, recorder, folder) == UpdateChecked(end.folder, REPO, has_update=True, revision="8bit")


def test_a_name_in_other_letters_is_written_down_as_the_hubs(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    """By it the catalog and the hub's lists know the model."""
    typed = REPO.upper()
    hub.renamed[typed] = REPO
    assert isinstance(recorder.end_of(store.install(typed)), DownloadFinished)
    store.scan()
    assert [model.repository for model in recorder.wait_for(LibraryScanned).models] == [REPO]


def test_an_update_looks_at_what_stays_once(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gigabytes of weights take seconds to read, and a bar that goes back looks like a fault."""
    folder = install(store, recorder)
    hub.repositories[REPO] |= {"README.md": b"# new"}
    hub.seen.clear()
    looked: list[str] = []

    def counted(path: Path, file: RemoteFile, stop: StopSignal) -> bool:
        looked.append(file.name)
        return is_right(path, file, stop)

    monkeypatch.setattr(download, "is_right", counted)
    recorder.events.clear()
    assert install(store, recorder) == folder
    assert looked.count(WEIGHTS) == 1
    assert not hub.requests_for(WEIGHTS)
    done = [event.done_bytes for event in recorder.events if isinstance(event, DownloadProgress)]
    assert done == sorted(done)


def test_an_update_that_has_to_copy_what_stays_can_be_left_meanwhile(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On a file system without hard links."""
    folder = install(store, recorder)
    before = tree(folder)
    hub.repositories[REPO] |= {"README.md": b"# new", "merges.txt": b"new"}
    number = threading.Event()
    downloads: list[DownloadId] = []

    def refuse(path: Path, target: Path) -> None:
        if target.name == WEIGHTS:
            assert number.wait(60)
            store.pause(downloads[0])
        raise OSError(errno.EPERM, "said by the system", str(path), None, str(target))

    with monkeypatch.context() as refusing:
        refusing.setattr(Path, "hardlink_to", refuse)
        downloads.append(store.install(REPO))
        number.set()
        assert isinstance(recorder.end_of(downloads[0]), DownloadStopped)
        (copy,) = (tmp_path / "models" / ".downloads").glob(f"*/files/{WEIGHTS}")
        assert copy.stat().st_size == 0
        assert tree(folder) == before
        monkeypatch.setattr(store, "pause", lambda _download: None)
        install(store, recorder)
    assert (folder / "merges.txt").read_bytes() == b"new"
    assert (folder / WEIGHTS).read_bytes() == before[WEIGHTS]


def test_a_failed_update_leaves_the_working_model(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    folder = install(store, recorder)
    before, commit = tree(folder), hub.commit(REPO)
    hub.repositories[REPO] |= {WEIGHTS: safetensors(LARGE, b"\2")}
    hub.faults[f"{REPO}/{WEIGHTS}"] = Fault(corrupt=True)
    assert isinstance(recorder.end_of(store.install(REPO)), DownloadFailed)
    assert tree(folder) == before
    assert verified(store, recorder, folder) == ModelVerified(str(folder), known=True, revision=commit)


def test_a_hub_that_is_away_is_told(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    folder = install(store, recorder)
    hub.close()
    found = checked(store, recorder, folder)
    assert isinstance(found.error, HubUnreachable)
    assert not found.has_update
