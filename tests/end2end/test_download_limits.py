"""What a hub may cost: waiting, memory, and the token, which goes nowhere unencrypted without a yes."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine import (
    DiskFull,
    DownloadFailed,
    DownloadFinished,
    DownloadId,
    DownloadProgress,
    DownloadStopped,
    Event,
    HubAccess,
    HubMisbehaved,
    HubOffline,
    HubUnreachable,
    LibraryScanned,
    TokenInClear,
)
from engine.hub import http
from engine.hub.stop import StopSignal, seconds_asked
from tests.end2end.conftest import REPO
from tests.end2end.test_downloads import WEIGHTS, held, install, refusal
from tests.helpers.event_recorder import EventRecorder, QuickStore, SlowStore
from tests.helpers.model_folders import model_files
from tests.helpers.tinyhub import Fault, TinyHub

OTHER = "org/other-4bit"


@pytest.mark.parametrize("address", ["http://hub.invalid", "http://10.0.0.1:8080"])
def test_a_token_does_not_go_to_another_machine_unencrypted(
    store: QuickStore, recorder: EventRecorder, address: str
) -> None:
    """The refusal comes before any connection; the tests' audit hook would tell of one."""
    store.set_hub(HubAccess(address, "hf_canary"))
    error = refusal(store, recorder)
    assert isinstance(error, TokenInClear)
    assert error.endpoint == address
    assert "hf_canary" not in str(error)


def test_a_person_may_allow_it_and_without_a_token_nobody_is_asked(store: QuickStore, recorder: EventRecorder) -> None:
    for token, allowed in (("hf_canary", True), ("", False)):
        store.set_hub(
            HubAccess("http://127.1.2.3:1", token, allowed)
        )  # on this machine, but not by one of its usual names
        assert isinstance(refusal(store, recorder), HubUnreachable)
    store.set_hub(HubAccess("http://127.1.2.3:1", "hf_canary"))
    assert isinstance(refusal(store, recorder), TokenInClear)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120),
        ("0", 0),
        ("9" * 40, 999_999_999),
        ("Fri, 20 Nov 2026 12:00:30 GMT", 30),
        ("Fri, 20 Nov 2026 11:00:00 GMT", 0),
        ("", 0),
        ("soon", 0),
        ("-5", 0),
        ("1e9", 0),
        ("nan", 0),
        ("٣", 0),
    ],
)
def test_what_retry_after_asks_for(header: str, seconds: float) -> None:
    noon = 1_795_176_000.0
    assert seconds_asked({"Retry-After": header}, noon) == seconds
    by_the_hub = {"Retry-After": header, "Date": "Fri, 20 Nov 2026 12:00:00 GMT"}
    assert seconds_asked(by_the_hub, noon - 86_400) == seconds


@pytest.mark.parametrize(("header", "seconds"), [('"api";r=0;t=55', 55), ('"api";r=3;t=55', 0), ("t", 0)])
def test_what_a_limit_of_requests_asks_for(header: str, seconds: float) -> None:
    """As the public hub says it, in place of Retry-After."""
    assert seconds_asked({"RateLimit": header}, 0.0) == seconds


def test_a_date_that_a_hub_asks_for_is_by_its_own_clock(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine whose clock is a day behind, a second was a day too long to wait."""
    monkeypatch.setattr(http, "time", SimpleNamespace(time=lambda: time.time() - 86_400))
    hub.faults[WEIGHTS] = Fault(times=1, status=429, headers={"Retry-After": formatdate(time.time() + 1, usegmt=True)})
    install(store, recorder)


@pytest.mark.parametrize("name", [REPO, WEIGHTS])
def test_a_busy_hub_is_left_alone_as_long_as_it_asks(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, name: str
) -> None:
    hub.faults[name] = Fault(times=1, status=429, headers={"Retry-After": "1"})
    started_s = time.monotonic()
    install(store, recorder)
    assert time.monotonic() - started_s >= 1.0


def test_who_waits_for_a_busy_hub_can_stop_waiting(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    hub.faults[WEIGHTS] = Fault(status=503, headers={"Retry-After": "200"})
    download = store.install(REPO)
    while not hub.requests_for("model.safetensors"):
        recorder.wait_for(DownloadProgress)
    store.cancel(download)
    assert isinstance(recorder.end_of(download), DownloadStopped)


def test_a_hub_that_asks_for_too_much_is_not_waited_for(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    hub.faults[REPO] = Fault(status=503, headers={"Retry-After": "100000"})
    assert isinstance(refusal(store, recorder), HubUnreachable)
    assert len(hub.seen) == 1


def test_a_file_of_another_length_than_its_list_says_is_not_fetched_again_and_again(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    """A mirror that lists wrong sizes would send gigabytes at every try."""
    hub.faults[WEIGHTS] = Fault(truncate=5)
    assert isinstance(refusal(store, recorder), HubMisbehaved)
    assert len(hub.requests_for("model.safetensors")) == 1


def test_a_page_in_place_of_a_file_takes_nothing_of_what_has_come(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    """The network of a hotel answers everything with its own page, and heeds no range."""
    download = held(hub, store, recorder, 700_000)
    store.pause(download)
    stopped = recorder.end_of(download)
    hub.faults[WEIGHTS] = Fault(truncate=2_000_000, ignore_range=True)
    event = recorder.end_of(store.install(REPO))
    assert isinstance(event, DownloadFailed)
    assert isinstance(stopped, DownloadStopped)
    assert event.kept_bytes == stopped.kept_bytes
    hub.faults.clear()
    install(store, recorder)
    assert "Range" in hub.requests_for("model.safetensors")[-1].headers


def test_a_list_without_end_or_measure_is_misbehaviour(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    hub.add(REPO, model_files())
    hub.page_size = 1
    hub.extra_entries = [{"path": f"{n}.md", "size": 1, "oid": "0" * 40} for n in range(200)]
    assert isinstance(refusal(store, recorder), HubMisbehaved)
    hub.page_size = 10_000
    hub.extra_entries = [{"path": f"{n}.json", "size": 1, "oid": "0" * 40} for n in range(3000)]
    assert isinstance(refusal(store, recorder), HubMisbehaved)
    hub.extra_entries = [{"path": "x" * (5 << 20) + ".md", "size": 1, "oid": "0" * 40}]
    assert isinstance(refusal(store, recorder), HubMisbehaved)


def test_a_lost_line_is_shown_and_need_not_be_waited_for(tmp_path: Path, hub: TinyHub, recorder: EventRecorder) -> None:
    store = SlowStore(tmp_path / "models", sink=recorder, hub_cache=tmp_path / "none", endpoint=hub.endpoint)
    hub.faults[WEIGHTS] = Fault(times=1, cut_after=700_000)
    download = store.install(REPO)
    while (waiting := recorder.wait_for(DownloadProgress)).retry is None:
        pass
    assert waiting.retry.in_s > 900
    assert not waiting.retry.hub_is_busy
    assert waiting.done_bytes >= 700_000
    store.try_now(download)
    assert isinstance(recorder.end_of(download), DownloadFinished)
    assert store.close()


@pytest.mark.parametrize("with_mirror", [False, True])
def test_where_nobody_else_can_be_asked_a_lost_hub_is_waited_for_longer(
    tmp_path: Path, hub: TinyHub, recorder: EventRecorder, with_mirror: bool
) -> None:
    """Nobody may be there at night to try again."""

    class StubbornStore(QuickStore):
        tuning = replace(QuickStore.tuning, patience=replace(QuickStore.tuning.patience, file_tries=2, last_tries=9))

    mirror = TinyHub()
    mirror.add(REPO, hub.repositories[REPO])
    store = StubbornStore(tmp_path / "models", sink=recorder, hub_cache=tmp_path / "none")
    store.set_hub(HubAccess(hub.endpoint, mirrors=(mirror.endpoint,) if with_mirror else ()))
    hub.faults[WEIGHTS] = Fault(times=7, status=503)
    install(store, recorder)
    asked = len(hub.requests_for("model.safetensors")), len(mirror.requests_for("model.safetensors"))
    assert asked == ((2, 1) if with_mirror else (8, 0))
    assert store.close()
    mirror.close()


def test_a_download_that_waits_leaves_its_line_to_others(tmp_path: Path, hub: TinyHub, recorder: EventRecorder) -> None:
    store = SlowStore(tmp_path / "models", sink=recorder, hub_cache=tmp_path / "none", endpoint=hub.endpoint)
    store._downloads.shares = replace(store._downloads.shares, slots=threading.Semaphore(1))
    hub.add("org/second", hub.repositories[REPO])
    hub.faults[WEIGHTS] = Fault(status=503)
    store.install(REPO)
    while recorder.wait_for(DownloadProgress).retry is None:
        pass
    assert isinstance(recorder.end_of(store.install("org/second")), DownloadFinished)
    assert store.close()


def test_downloads_share_a_limit(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    """By the bytes that came, against the time that passed on the store's own clock: a busy machine is only slower."""
    hub.add("org/second", hub.repositories[REPO])
    limit = 8_000_000
    store.set_limit(limit)
    started = time.monotonic()
    ends = [recorder.end_of(store.install(name)) for name in (REPO, "org/second")]
    assert all(isinstance(end, DownloadFinished) for end in ends)
    sent_bytes = 2 * sum(map(len, hub.repositories[REPO].values()))
    assert sent_bytes <= limit * (time.monotonic() - started) + (1 << 18)  # what is taken is paid for afterwards


def test_what_came_is_told_once_it_is_within_the_limit(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    """What each line had read ahead was told at once, as a speed of more than the limit."""
    store.set_limit(1)
    started = time.monotonic()
    download = store.install(REPO)
    told = []

    def wait() -> DownloadProgress:
        progress = recorder.wait_for(DownloadProgress, download)
        told.append((progress.done_bytes, time.monotonic() - started))
        return progress

    while wait().total_bytes == 0 or len(hub.seen) < 4:  # files are on their way
        pass
    wait()  # a second later
    store.pause(download)
    assert isinstance(recorder.end_of(download), DownloadStopped)
    assert all(done_bytes <= seconds + 1 for done_bytes, seconds in told)


def test_an_absent_hub_is_answered_for_by_a_mirror_which_is_not_told_the_token(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    store.set_hub(HubAccess("http://127.0.0.1:1", "hf_canary", mirrors=(hub.endpoint,)))
    install(store, recorder)
    assert not any("Authorization" in seen.headers for seen in hub.seen)
    assert hub.commit(REPO) in (tmp_path / "models" / REPO / "hunch.json").read_text()


def test_a_proxy_is_used_for_other_machines_only(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    """The hub plays the proxy: it is asked for addresses of another machine, which it answers itself."""
    store.set_hub(HubAccess("http://hub.invalid", proxy=hub.endpoint))
    install(store, recorder)
    assert all(seen.path.startswith("http://hub.invalid/") for seen in hub.seen)
    store.set_hub(HubAccess(hub.endpoint, proxy="http://127.0.0.1:1"))
    assert isinstance(recorder.end_of(store.install(REPO)), DownloadFinished)


def test_a_proxy_never_sees_a_token_in_clear(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    store.set_hub(HubAccess("http://hub.invalid", "hf_canary", proxy=hub.endpoint))
    assert isinstance(refusal(store, recorder), TokenInClear)
    assert not hub.seen


def test_offline_nobody_is_asked(hub: TinyHub, store: QuickStore, recorder: EventRecorder) -> None:
    store.set_hub(HubAccess(hub.endpoint, offline=True))
    assert isinstance(refusal(store, recorder), HubOffline)
    assert not hub.seen


def test_what_was_asked_for_is_not_forgotten_where_nothing_has_come_yet(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder
) -> None:
    def told_by_a_later_run() -> list[Event]:
        later = EventRecorder()
        other = QuickStore(tmp_path / "models", sink=later, hub_cache=tmp_path / "none", endpoint=hub.endpoint)
        other.scan()
        later.wait_for(LibraryScanned)
        assert other.close()
        return [event for event in later.events if isinstance(event, DownloadStopped)]

    with socket.create_server(("127.0.0.1", 0)) as silent:
        store.set_hub(HubAccess(f"http://127.0.0.1:{silent.getsockname()[1]}"))
        download = store.install(REPO)
        connection, _ = silent.accept()
        connection.recv(100)  # the question is there; nobody will answer it
        store.pause(download)
        assert recorder.wait_for(DownloadStopped).kept_bytes == 0
        connection.close()
    assert told_by_a_later_run() == [DownloadStopped(DownloadId(1), REPO, 0)]
    store.set_hub(HubAccess(hub.endpoint))
    install(store, recorder)
    assert told_by_a_later_run() == []


def test_what_was_cancelled_or_refused_before_anything_came_is_forgotten(
    tmp_path: Path, store: QuickStore, recorder: EventRecorder
) -> None:
    refusal(store, recorder, "org/absent")
    download = store.install(REPO)
    store.cancel(download)
    recorder.end_of(download)
    assert not list((tmp_path / "models").glob(".downloads/*/*"))


@pytest.fixture
def scarce(tmp_path: Path, hub: TinyHub, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], object]:
    """A disk that has room for either of two models, as it tells how much is free."""
    hub.add(OTHER, hub.repositories[REPO])
    models, usage = tmp_path / "models", shutil.disk_usage(tmp_path)

    def free(_folder: Path) -> object:
        used = sum(path.stat().st_size for path in models.rglob("*") if path.is_file())
        return usage._replace(free=3_200_000 - used)

    monkeypatch.setattr("engine.hub.disk_space.shutil.disk_usage", free)
    return free


@pytest.fixture
def other_recorder() -> EventRecorder:
    return EventRecorder()


@pytest.fixture
def other_program(tmp_path: Path, hub: TinyHub, other_recorder: EventRecorder) -> Iterator[QuickStore]:
    """On the same folder."""
    other = QuickStore(tmp_path / "models", sink=other_recorder, hub_cache=tmp_path / "none", endpoint=hub.endpoint)
    yield other
    assert other.close()


@pytest.mark.usefixtures("scarce")
@pytest.mark.parametrize("by_another_program", [False, True])
def test_room_on_the_disk_is_promised_to_one_download_only(
    hub: TinyHub,
    store: QuickStore,
    recorder: EventRecorder,
    other_program: QuickStore,
    other_recorder: EventRecorder,
    by_another_program: bool,
) -> None:
    """The second is refused before it is fetched in vain."""
    first_store, heard = (other_program, other_recorder) if by_another_program else (store, recorder)
    first = held(hub, first_store, heard, 700_000)
    error = refusal(store, recorder, OTHER)
    assert isinstance(error, DiskFull)
    assert error.available_bytes > error.needed_bytes  # but for the other one
    assert error.available_bytes < error.needed_bytes + error.promised_bytes
    assert not hub.requests_for(f"{OTHER}/resolve/{hub.commit(OTHER)}/model.safetensors")
    first_store.cancel(first)
    heard.end_of(first)
    install(store, recorder, OTHER)


def test_of_two_programs_that_look_at_the_disk_at_once_one_gets_the_room(
    hub: TinyHub,
    store: QuickStore,
    recorder: EventRecorder,
    other_program: QuickStore,
    other_recorder: EventRecorder,
    scarce: Callable[[Path], object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first_looks, second_is_there = threading.Event(), threading.Event()
    wait = StopSignal.wait

    def free(folder: Path) -> object:
        if first_looks.is_set():
            second_is_there.set()
        else:
            first_looks.set()
            assert second_is_there.wait(60)  # it looks, too, or waits until the first has looked
        return scarce(folder)

    def noted_wait(stop: StopSignal, seconds: float) -> None:
        second_is_there.set()
        wait(stop, seconds)

    monkeypatch.setattr("engine.hub.disk_space.shutil.disk_usage", free)
    first = other_program.install(REPO)
    assert first_looks.wait(60)
    monkeypatch.setattr(StopSignal, "wait", noted_wait)
    assert isinstance(refusal(store, recorder, OTHER), DiskFull)
    assert isinstance(other_recorder.end_of(first), DownloadFinished)
