"""The hub's settings change while it is being asked, or what it has. Offline mode ends that; all else holds from the
next try."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine import (
    DownloadFinished,
    DownloadProgress,
    DownloadStopped,
    HubAccess,
    HubOffline,
    HubQuery,
    PageFailed,
    PageRead,
    SearchFailed,
    SearchResults,
    UpdateChecked,
)
from tests.end2end.conftest import LARGE, REPO
from tests.end2end.test_downloads import WEIGHTS, assert_installed, held, install
from tests.helpers.event_recorder import EventRecorder, QuickStore, SlowStore
from tests.helpers.model_folders import safetensors
from tests.helpers.tinyhub import Fault, TinyHub


@pytest.fixture
def slow_store(tmp_path: Path, hub: TinyHub, recorder: EventRecorder) -> Iterator[SlowStore]:
    store = SlowStore(tmp_path / "models", sink=recorder, hub_cache=tmp_path / "none", endpoint=hub.endpoint)
    yield store
    assert store.close()


def wait_for_retry(recorder: EventRecorder) -> None:
    while recorder.wait_for(DownloadProgress).retry is None:
        pass


def test_offline_mode_pauses_a_download_at_once(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    download = held(hub, store, recorder, 700_000)
    store.set_hub(HubAccess(hub.endpoint, offline=True))
    stopped = recorder.end_of(download)
    assert isinstance(stopped, DownloadStopped)
    assert (stopped.offline, stopped.kept_bytes >= 700_000) == (True, True)
    asked = len(hub.seen)
    store.set_hub(HubAccess(hub.endpoint))
    assert len(hub.seen) == asked
    install(store, recorder)
    assert "Range" in hub.requests_for("model.safetensors")[-1].headers


def test_what_a_person_paused_is_not_of_offline_mode(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    hub.faults[WEIGHTS] = Fault(hold_after=700_000, times=1)
    download = store.install(REPO)
    assert hub.holding.wait(60)
    store.pause(download)
    store.set_hub(HubAccess(hub.endpoint, offline=True))
    stopped = recorder.end_of(download)
    assert isinstance(stopped, DownloadStopped)
    assert not stopped.offline


def test_offline_mode_ends_a_search_which_goes_on_later(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    hub.faults["search"] = Fault(times=1, hold_after=1)
    search = store.search(HubQuery("tiny"))
    assert hub.holding.wait(60)
    store.set_hub(HubAccess(hub.endpoint, offline=True))
    assert isinstance(recorder.wait_for(SearchFailed).error, HubOffline)
    asked = len(hub.seen)
    store.more(search)
    assert isinstance(recorder.wait_for(SearchFailed).error, HubOffline)
    assert len(hub.seen) == asked
    store.set_hub(HubAccess(hub.endpoint))
    store.more(search)
    assert [model.repository for model in recorder.wait_for(SearchResults).models] == [REPO]


def test_offline_mode_ends_the_card_of_a_page(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    """What has come stays."""
    hub.faults[f"{REPO}/README.md"] = Fault(times=1, hold_after=1)
    hub.add(REPO, {**hub.repositories[REPO], "README.md": b"# Tiny"})
    store.read_page(REPO)
    assert hub.holding.wait(60)
    assert recorder.wait_for(PageRead).page.card == ""
    store.set_hub(HubAccess(hub.endpoint, offline=True))
    store.set_hub(HubAccess(hub.endpoint))
    store.read_page(REPO)
    assert recorder.wait_for(PageRead).page.card == ""
    assert recorder.wait_for(PageRead).page.card == "# Tiny"
    assert not [event for event in recorder.events if isinstance(event, PageFailed)]


def test_offline_mode_ends_a_look_for_updates(
    tmp_path: Path, hub: TinyHub, slow_store: SlowStore, recorder: EventRecorder
) -> None:
    install(slow_store, recorder)
    hub.faults[REPO] = Fault(status=503)
    asked = len(hub.seen)
    slow_store.check_for_update(tmp_path / "models" / REPO)
    while len(hub.seen) == asked:
        pass
    slow_store.set_hub(HubAccess(hub.endpoint, offline=True))
    assert isinstance(recorder.wait_for(UpdateChecked).error, HubOffline)


CHANGES: dict[str, Callable[[HubAccess], HubAccess]] = {
    "token": lambda access: replace(access, token="hf_canary"),
    "mirror": lambda access: replace(access, mirrors=("http://127.0.0.1:1",)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_download_that_waits_asks_anew_when_the_hub_is_changed(
    hub: TinyHub, slow_store: SlowStore, recorder: EventRecorder, change: str
) -> None:
    hub.faults[WEIGHTS] = Fault(times=1, cut_after=700_000)
    download = slow_store.install(REPO)
    wait_for_retry(recorder)
    slow_store.set_hub(CHANGES[change](HubAccess(hub.endpoint)))
    assert isinstance(recorder.end_of(download), DownloadFinished)
    last = hub.requests_for("model.safetensors")[-1].headers
    assert ("Range" in last, "Authorization" in last) == (True, change == "token")


def test_another_proxy_is_asked_by_the_next_try(hub: TinyHub, slow_store: SlowStore, recorder: EventRecorder) -> None:
    slow_store.set_hub(HubAccess("http://hub.invalid", proxy="http://127.0.0.1:1"))
    download = slow_store.install(REPO)
    wait_for_retry(recorder)
    slow_store.set_hub(HubAccess("http://hub.invalid", proxy=hub.endpoint))
    assert isinstance(recorder.end_of(download), DownloadFinished)


def test_a_download_that_goes_well_is_left_alone(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    store.set_limit(4_000_000)
    download = store.install(REPO)
    while not hub.requests_for("model.safetensors"):
        pass
    store.set_hub(HubAccess(hub.endpoint, "hf_canary"))
    assert isinstance(recorder.end_of(download), DownloadFinished)
    assert [("Authorization" in seen.headers) for seen in hub.requests_for("model.safetensors")] == [False]


def test_what_came_of_a_commit_that_is_gone_goes_before_another_is_fetched(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, tmp_path: Path
) -> None:
    hub.repositories[REPO]["merges.txt"] = b"of the first commit"
    first = held(hub, store, recorder, 1_900_000)
    store.pause(first)
    kept = recorder.end_of(first)
    assert isinstance(kept, DownloadStopped)
    files = tmp_path / "models" / ".downloads" / "org--tiny-4bit" / "files"
    assert (files / "merges.txt").is_file()

    hub.repositories[REPO]["model.safetensors"] = safetensors(LARGE, b"\2")
    del hub.repositories[REPO]["merges.txt"]
    hub.commits.clear()
    second = held(hub, store, recorder, 700_000)
    store.pause(second)
    kept = recorder.end_of(second)
    assert isinstance(kept, DownloadStopped)
    assert 0 < kept.kept_bytes < kept.total_bytes - 1_000_000
    assert not (files / "merges.txt").exists()
    install(store, recorder)
    assert_installed(tmp_path, hub)
