"""A drafter in a folder of its own within its main model's repository: installed by a name of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.words.notices_for_errors import notice_for
from engine import (
    DownloadFailed,
    DownloadProgress,
    DownloadStopped,
    InstalledModel,
    LibraryScanned,
    ModelDeleted,
    ModelVerified,
    NothingToInstall,
    PageRead,
    UpdateChecked,
    is_made_for,
)
from tests.end2end.conftest import REPO
from tests.end2end.test_downloads import install
from tests.helpers.event_recorder import EventRecorder, QuickStore, tree
from tests.helpers.model_folders import model_files
from tests.helpers.tinyhub import Fault, TinyHub

INSIDE = f"{REPO}/mtp"
HEAD = model_files({"model_type": "qwen3_5_mtp"})


@pytest.fixture
def hub(hub: TinyHub) -> TinyHub:
    hub.add(REPO, hub.repositories[REPO] | {f"mtp/{name}": data for name, data in HEAD.items()})
    return hub


def scan(store: QuickStore, recorder: EventRecorder) -> dict[str, InstalledModel]:
    store.scan()
    return {model.repository: model for model in recorder.wait_for(LibraryScanned).models}


def test_it_is_a_drafter_of_its_own_for_the_model_that_it_lies_in(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    main, head = install(store, recorder, REPO), install(store, recorder, INSIDE)
    assert {name: data for name, data in tree(Path(head.folder)).items() if name != "hunch.json"} == HEAD
    assert not (Path(main.folder) / "mtp").exists()
    models = scan(store, recorder)
    assert models.keys() == {REPO, INSIDE}
    assert models[INSIDE].name == "tiny-4bit-mtp"
    of_main, of_head = models[REPO].info, models[INSIDE].info
    assert of_main is not None
    assert of_head is not None
    assert of_head.drafter is not None
    assert is_made_for(of_main, of_head)
    assert not list((tmp_path / "models" / ".downloads").iterdir())


def test_it_goes_on_after_a_break_and_is_verified_updated_and_deleted_by_itself(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    main = install(store, recorder, REPO)
    hub.faults[f"{REPO}/mtp/model.safetensors"] = Fault(times=1, hold_after=100)
    download = store.install(INSIDE)
    small = sum(len(data) for name, data in HEAD.items() if name != "model.safetensors")
    while recorder.wait_for(DownloadProgress, download).done_bytes < small + 100:
        pass
    store.pause(download)
    assert isinstance(recorder.end_of(download), DownloadStopped)
    head = install(store, recorder, INSIDE)
    assert [seen.headers["Range"] for seen in hub.requests_for("mtp/model.safetensors")[1:]] == ["bytes=100-"]
    store.verify(head.folder)
    assert recorder.wait_for(ModelVerified) == ModelVerified(head.folder, True, (), hub.commit(REPO))
    hub.repositories[REPO]["mtp/config.json"] = HEAD["config.json"] + b" "
    store.check_for_update(head.folder)
    assert recorder.wait_for(UpdateChecked) == UpdateChecked(head.folder, INSIDE, True)
    install(store, recorder, REPO)  # another version of the main model
    assert Path(head.folder).is_dir()
    store.delete(head.folder)
    recorder.wait_for(ModelDeleted)
    assert scan(store, recorder).keys() == {REPO}
    assert Path(main.folder).is_dir()


def test_a_repository_with_nothing_else_says_by_which_name_it_can_be_installed(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    hub.add(REPO, {f"mtp/{name}": data for name, data in HEAD.items()} | {"original/config.json": b"{}"})
    event = recorder.end_of(store.install(REPO))
    assert isinstance(event, DownloadFailed)
    assert isinstance(event.error, NothingToInstall)
    assert event.error.drafters == (INSIDE,)
    assert INSIDE in notice_for(event.error).sentence


@pytest.mark.parametrize("name", [f"{REPO}/original", f"{REPO}/", f"{REPO}/mtp/", f"{REPO}/mtp/mtp", f"{REPO}/../mtp"])
def test_no_other_folder_is_anything_to_install(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, name: str
) -> None:
    assert isinstance(recorder.end_of(store.install(name)), DownloadFailed)
    assert tree(tmp_path) == {}
    assert hub.seen == []


def test_the_page_of_a_model_tells_which_drafters_lie_in_it(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    hub.repositories[REPO] |= {"original/config.json": b"{}"}
    store.read_page(REPO)
    assert recorder.wait_for(PageRead).page.drafters == (INSIDE,)
