"""Hubs that send a byte now and then: no timeout ends that, and whoever waits for it waits for years."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine import (
    DownloadFailed,
    DownloadFinished,
    HubAccess,
    HubMisbehaved,
    HubQuery,
    HubSilence,
    HubUnreachable,
    PageFailed,
    PageRead,
    SearchFailed,
)
from engine.hub.stop import HubPatience
from tests.end2end.conftest import REPO
from tests.end2end.test_downloads import WEIGHTS
from tests.helpers.event_recorder import EventRecorder, QuickStore
from tests.helpers.samples import fair
from tests.helpers.tinyhub import Fault, TinyHub


class DrySoon(QuickStore):
    tuning = replace(QuickStore.tuning, patience=replace(QuickStore.tuning.patience, read_s=1.0, file_tries=7))


@pytest.fixture
def store(tmp_path: Path, hub: TinyHub, recorder: EventRecorder) -> Iterator[DrySoon]:
    store = DrySoon(tmp_path / "models", sink=recorder, hub_cache=tmp_path / "none", endpoint=hub.endpoint)
    yield store
    assert store.close()


def drip(times: int = 10**9, after: int = 1) -> Fault:
    """Ten times as often as a timeout, and too little for anything."""
    return Fault(times=times, drip_after=after, drip_s=0.1)


def test_a_file_that_drips_is_asked_for_on_another_line(hub: TinyHub, store: DrySoon, recorder: EventRecorder) -> None:
    hub.faults[WEIGHTS] = drip(times=1, after=1_000_000)
    assert isinstance(recorder.end_of(store.install(REPO)), DownloadFinished)
    ranges = [seen.headers.get("Range") for seen in hub.requests_for("model.safetensors")]
    assert len(ranges) == 2
    assert int(str(ranges[1]).removeprefix("bytes=").rstrip("-")) >= 1_000_000


def test_where_two_lines_in_a_row_drip_a_mirror_is_asked(hub: TinyHub, store: DrySoon, recorder: EventRecorder) -> None:
    """What a few bytes were is no progress. Seven such tries, as of a line that is refused at once, took minutes."""
    dripping = TinyHub()
    dripping.add(REPO, hub.repositories[REPO])
    dripping.faults[WEIGHTS] = drip()
    try:
        store.set_hub(HubAccess(dripping.endpoint, mirrors=(hub.endpoint,)))
        assert isinstance(recorder.end_of(store.install(REPO)), DownloadFinished)
        assert len(dripping.requests_for("model.safetensors")) == 2
    finally:
        dripping.close()


ANNOUNCED = b"HTTP/1.1 102 Processing\r\nX-Filler: " + b"x" * 1000 + b"\r\n\r\n"
REDIRECTED = b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nTransfer-Encoding: chunked\r\n\r\n"
ENDLESS = {
    "announcements": Fault(soon=ANNOUNCED, soon_s=0.05),
    "announcements as fast as it can": Fault(soon=ANNOUNCED * 50),
    "what a redirect says": Fault(before=REDIRECTED, soon=b"10000\r\n" + b"x" * 0x10000 + b"\r\n"),
}


@pytest.mark.parametrize("kind", fair(ENDLESS, "announcements as fast as it can", "what a redirect says"))
def test_a_hub_that_never_comes_to_its_answer_ends_as_a_silent_one(
    kind: str, hub: TinyHub, store: DrySoon, recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More bytes than a timeout asks for, and no progress in them."""
    monkeypatch.setattr(store, "tuning", replace(store.tuning, patience=replace(store.tuning.patience, read_s=0.2)))
    hub.faults["search"] = replace(ENDLESS[kind])
    store.search(HubQuery())
    assert isinstance(recorder.wait_for(SearchFailed).error, HubUnreachable | HubMisbehaved)
    hub.faults[WEIGHTS] = replace(ENDLESS[kind])
    assert isinstance(recorder.end_of(store.install(REPO)), DownloadFailed)


def test_a_hub_that_announces_its_answer_is_heard(hub: TinyHub, store: DrySoon, recorder: EventRecorder) -> None:
    hub.faults[WEIGHTS] = Fault(before=ANNOUNCED * 3)
    assert isinstance(recorder.end_of(store.install(REPO)), DownloadFinished)


def test_a_search_that_drips_ends_and_a_page_does_not_wait_for_its_card(
    hub: TinyHub, store: DrySoon, recorder: EventRecorder
) -> None:
    hub.faults["search"] = drip()
    store.search(HubQuery())
    error = recorder.wait_for(SearchFailed).error
    assert isinstance(error, HubUnreachable)
    assert error.reason is HubSilence.TIMED_OUT
    hub.repositories[REPO]["README.md"] = b"x" * 10_000
    hub.faults[f"{REPO}/README.md"] = drip()
    store.read_page(REPO)
    page = recorder.wait_for((PageRead, PageFailed))
    assert isinstance(page, PageRead)
    assert page.page.card == ""
    assert page.page.download_bytes > 10_000


def test_a_gateway_that_looks_through_a_file_before_it_hands_on_any_is_waited_for(
    hub: TinyHub, store: DrySoon, recorder: EventRecorder
) -> None:
    """In each try anew, for longer than a line may be silent in the middle; what comes then comes in small pieces."""
    hub.faults[WEIGHTS] = Fault(late_s=1.4, drip_after=1000, drip_s=0.0001)
    hub.repositories[REPO]["model.safetensors"] = hub.repositories[REPO]["model.safetensors"][:2000]
    assert isinstance(recorder.end_of(store.install(REPO)), DownloadFinished)


def test_a_wait_for_half_a_minute_is_allowed_to_a_gateway_and_no_minute_to_lines_that_drip() -> None:
    patience = HubPatience()
    assert patience.first_byte_s > 30
    assert patience.silent_tries * patience.read_s + patience.delay_s(1) < 60
