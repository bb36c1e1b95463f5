"""Pairs on their way as one row, what a row tells of its halves, and what becomes of them when the app starts again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.bridge import EngineBridge
from app.controllers.downloads import DownloadController
from app.view_models.downloads import DownloadEntry, DownloadState
from engine import (
    PUBLIC_HUB,
    AccessDenied,
    DownloadFailed,
    DownloadFinished,
    DownloadId,
    DownloadProgress,
    DownloadStopped,
    Event,
    FileProgress,
    HubOffline,
    HubUnreachable,
    LibraryScanned,
    ModelDeleted,
    ModelNotFound,
    ModelSource,
    Retry,
)
from tests.helpers.controller_harness import ControllerHarness, open_harness
from tests.helpers.fake_engine import model_info
from tests.helpers.fake_model_store import installed

MAIN, DRAFT, OTHER = "org/Big-8B", "org/Small-1B", "org/Other-8B"
FIRST, SECOND = DownloadId(1), DownloadId(2)


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[ControllerHarness]:
    with open_harness(tmp_path, qtbot) as harness:
        harness.store.gate.hold()
        yield harness
        harness.store.gate.open()


@pytest.fixture
def downloads(harness: ControllerHarness) -> DownloadController:
    return harness.models.downloads


def tell(harness: ControllerHarness, *events: Event) -> DownloadEntry:
    for event in events:
        harness.bridge.event_arrived.emit(event)
    (entry,) = harness.models.downloads.entries
    return entry


def progress(
    download: DownloadId, name: str, done: int, total: int, left: float | None = None, retry: Retry | None = None
) -> DownloadProgress:
    files = (FileProgress("model.safetensors", done, total, 10.0, left),)
    return DownloadProgress(download, name, done, total, 10.0, left, retry, files)


def test_both_halves_of_a_pair_are_asked_for_at_once_and_are_one_row(harness: ControllerHarness) -> None:
    row = harness.models.install_pair(MAIN, DRAFT)
    assert sorted(harness.store.asked) == [MAIN, DRAFT]
    entry = tell(harness, progress(FIRST, MAIN, 30, 100, 7.0))
    assert (entry.id, entry.repositories, entry.state) == (row, (MAIN, DRAFT), DownloadState.RUNNING)
    assert entry.total_bytes == 0  # of one half nobody knows it yet, so there is no share
    entry = tell(harness, progress(SECOND, DRAFT, 5, 20, 1.5))
    assert (entry.done_bytes, entry.total_bytes, entry.bytes_per_second) == (35, 120, 20.0)
    assert entry.seconds_left == 7.0  # they come at the same time
    assert [file.name for file in entry.files] == ["Big-8B/model.safetensors", "Small-1B/model.safetensors"]


def test_a_row_waits_while_both_halves_wait(harness: ControllerHarness, downloads: DownloadController) -> None:
    harness.models.install_pair(MAIN, DRAFT)
    retry = Retry(8.0, hub_is_busy=False)
    entry = tell(harness, progress(FIRST, MAIN, 3, 10, retry=retry), progress(SECOND, DRAFT, 3, 10))
    assert (entry.retry, entry.waiting) == (retry, "Big-8B")
    entry = tell(harness, progress(SECOND, DRAFT, 3, 10, retry=retry))
    assert (entry.retry, entry.waiting) == (retry, "")
    downloads.try_now(entry.id)
    assert sorted(harness.store.tried_now) == [FIRST, SECOND]
    downloads.cancel(entry.id)
    assert (downloads.entries, harness.settings.pair_downloads) == ([], ())
    harness.bridge.event_arrived.emit(DownloadStopped(FIRST, MAIN, 0))
    harness.bridge.event_arrived.emit(progress(SECOND, DRAFT, 1, 2))
    assert downloads.entries == []


def test_a_half_that_failed_is_told_and_tried_again(harness: ControllerHarness, downloads: DownloadController) -> None:
    """Say the draft is gated: nobody waits for gigabytes of the main model to hear of it."""
    row = harness.models.install_pair(MAIN, DRAFT)
    error = HubUnreachable(DRAFT, "https://hub.test", "timed out")
    entry = tell(harness, progress(FIRST, MAIN, 30, 100), DownloadFailed(SECOND, DRAFT, error, 0, 0))
    assert (entry.state, entry.error) == (DownloadState.RUNNING, error)
    assert (entry.done_bytes, entry.total_bytes) == (30, 100)  # of what is on its way
    harness.store.asked.clear()
    downloads.resume(row)
    assert harness.store.asked == [DRAFT]
    assert tell(harness).error is None
    tell(harness, DownloadFailed(SECOND, DRAFT, error, 0, 0))
    entry = tell(harness, DownloadFinished(FIRST, MAIN, "/models/Big-8B"))
    assert (entry.state, entry.error) == (DownloadState.FAILED, error)
    assert downloads.folders(row) == ()
    harness.store.asked.clear()
    downloads.resume(row)
    assert harness.store.asked == [DRAFT]


def test_a_finished_pair_is_used_with_one_click(harness: ControllerHarness, downloads: DownloadController) -> None:
    row = harness.models.install_pair("org/Main-4B", "org/Draft-1B")
    assert list(harness.settings.pair_downloads) == ["org/Main-4B org/Draft-1B"]
    wanted: list[None] = []
    harness.models.chat_wanted.connect(lambda: wanted.append(None))
    harness.models.use_downloaded(row)  # nothing is there yet
    assert not wanted
    entry = tell(
        harness,
        DownloadFinished(FIRST, "org/Main-4B", "/models/Main-4B"),
        DownloadFinished(SECOND, "org/Draft-1B", "/models/Draft-1B"),
    )
    assert entry.state is DownloadState.FINISHED
    assert not harness.settings.pair_downloads
    harness.models.use_downloaded(row)
    assert not wanted  # what they are, the scan under way will tell
    pair = tuple(installed(model_info(folder)) for folder in ("/models/Main-4B", "/models/Draft-1B"))
    harness.bridge.event_arrived.emit(LibraryScanned(pair))
    assert (harness.models.pair.main_folder, harness.models.pair.draft_folder) == (
        "/models/Main-4B",
        "/models/Draft-1B",
    )
    assert (len(wanted), downloads.entries) == (1, [])


def test_a_draft_is_used_with_its_main_model(harness: ControllerHarness, downloads: DownloadController) -> None:
    """Which need not be the loaded one."""
    harness.load_pair()
    models = tuple(installed(model_info(f"/models/{name}")) for name in ("Other-9B", "Other-1B"))
    row = downloads.install("org/Other-1B", draft_for="/models/Other-9B")
    tell(harness, DownloadFinished(FIRST, "org/Other-1B", "/models/Other-1B"), LibraryScanned(models))
    harness.models.use_downloaded(row)
    pair = harness.models.pair
    assert (pair.main_folder, pair.draft_folder) == ("/models/Other-9B", "/models/Other-1B")


def test_a_finished_model_that_is_gone_is_told(harness: ControllerHarness, downloads: DownloadController) -> None:
    harness.load_pair()
    row = harness.models.install(MAIN)
    tell(harness, DownloadFinished(FIRST, MAIN, "/models/Big-8B"))
    harness.models.use_downloaded(row)
    assert not harness.problems  # a scan has to tell first
    harness.bridge.event_arrived.emit(LibraryScanned(()))
    assert [type(problem) for problem in harness.problems] == [ModelNotFound]
    assert downloads.entries == []
    assert harness.models.pair.main_name == "Main-8B"


def test_a_pause_is_at_once_and_a_resume_is_new(harness: ControllerHarness, downloads: DownloadController) -> None:
    """The first one may hear of it later, say when a connection has been made; what it tells is not shown any more."""
    row = harness.models.install(MAIN)
    tell(harness, progress(FIRST, MAIN, 30, 100))
    downloads.pause(row)
    assert [entry.state for entry in downloads.entries] == [DownloadState.PAUSED]
    entry = tell(harness, progress(FIRST, MAIN, 31, 100))
    assert (entry.state, entry.done_bytes, entry.bytes_per_second) == (DownloadState.PAUSED, 30, 0)
    downloads.resume(row)
    assert [entry.state for entry in downloads.entries] == [DownloadState.WAITING]
    entry = tell(harness, progress(FIRST, MAIN, 32, 100), DownloadStopped(FIRST, MAIN, 32, 100))
    assert (entry.id, entry.state) == (row, DownloadState.WAITING)
    assert tell(harness, progress(SECOND, MAIN, 40, 100)).state is DownloadState.RUNNING


def test_a_pause_that_comes_too_late(harness: ControllerHarness, downloads: DownloadController) -> None:
    row = harness.models.install(MAIN)
    downloads.pause(row)
    entry = tell(harness, DownloadFinished(FIRST, MAIN, "/models/Big-8B"))
    assert entry.state is DownloadState.FINISHED


def test_a_row_leads_to_the_terms_of_a_gated_model(harness: ControllerHarness) -> None:
    harness.models.install(MAIN)
    assert tell(harness, DownloadFailed(FIRST, MAIN, AccessDenied(MAIN, gated=True), 0)).page == f"{PUBLIC_HUB}/{MAIN}"
    harness.settings.hub_endpoint = "https://hub.test/"
    assert tell(harness).page == f"https://hub.test/{MAIN}"
    assert tell(harness, DownloadFailed(FIRST, MAIN, AccessDenied(MAIN, gated=False), 0)).page == ""


def test_deleting_a_half_leaves_the_other(harness: ControllerHarness, downloads: DownloadController) -> None:
    row = harness.models.install_pair(MAIN, DRAFT)
    tell(harness, DownloadFinished(SECOND, DRAFT, "/models/Small-1B"), progress(FIRST, MAIN, 20, 40))
    downloads.pause(row)
    tell(harness, DownloadStopped(FIRST, MAIN, 20, 40))
    entry = tell(harness, ModelDeleted("/models/Small-1B"))
    assert (entry.id, entry.repositories, entry.state) == (row, (MAIN,), DownloadState.PAUSED)
    assert (entry.done_bytes, entry.total_bytes, harness.settings.pair_downloads) == (20, 40, ())
    downloads.resume(row)
    harness.bridge.event_arrived.emit(DownloadFinished(DownloadId(3), MAIN, "/models/Big-8B"))
    assert downloads.folders(row) == ("/models/Big-8B",)


def test_a_finished_pair_goes_with_either_half(harness: ControllerHarness, downloads: DownloadController) -> None:
    harness.models.install_pair(MAIN, DRAFT)
    finished = DownloadFinished(FIRST, MAIN, "/models/Big-8B"), DownloadFinished(SECOND, DRAFT, "/models/Small-1B")
    tell(harness, *finished)
    harness.bridge.event_arrived.emit(ModelDeleted("/models/Small-1B"))
    assert downloads.entries == []
    row = harness.models.install(OTHER)
    tell(harness, DownloadFinished(DownloadId(3), OTHER, "/models/Other-8B"))
    assert harness.models.install(OTHER) == row
    entry = tell(harness, ModelDeleted("/models/Other-8B"))
    assert (entry.id, entry.state) == (row, DownloadState.WAITING)


def test_a_half_joins_its_pair_later(harness: ControllerHarness, downloads: DownloadController) -> None:
    harness.models.install(DRAFT)
    tell(harness, progress(FIRST, DRAFT, 5, 20))
    row = harness.models.install_pair(MAIN, DRAFT)
    assert [entry.id for entry in downloads.entries] == [row]
    assert harness.store.asked == [DRAFT, MAIN]


def test_two_pairs_with_one_draft_both_hear_of_it(harness: ControllerHarness, downloads: DownloadController) -> None:
    """Also where it has been paused for one of them, and goes on for both."""
    first, second = harness.models.install_pair(MAIN, DRAFT), harness.models.install_pair(OTHER, DRAFT)
    assert sorted(harness.store.asked) == [MAIN, OTHER, DRAFT, DRAFT]
    downloads.pause(first)
    downloads.resume(first)
    main, again, third = DownloadId(4), DownloadId(5), DownloadId(3)
    for event in (
        DownloadStopped(SECOND, DRAFT, 5, 20),
        DownloadFinished(third, OTHER, "/models/Other-8B"),
        DownloadFinished(again, DRAFT, "/models/Small-1B"),
    ):
        harness.bridge.event_arrived.emit(event)
    states = {entry.id: entry.state for entry in downloads.entries}
    assert states == {first: DownloadState.WAITING, second: DownloadState.FINISHED}
    harness.bridge.event_arrived.emit(DownloadFinished(main, MAIN, "/models/Big-8B"))
    assert [entry.state for entry in downloads.entries] == [DownloadState.FINISHED] * 2
    assert downloads.folders(first) == ("/models/Big-8B", "/models/Small-1B")
    assert downloads.folders(second) == ("/models/Other-8B", "/models/Small-1B")


def test_cancelling_a_pair_leaves_a_shared_draft(harness: ControllerHarness, downloads: DownloadController) -> None:
    first, second = harness.models.install_pair(MAIN, DRAFT), harness.models.install_pair(OTHER, DRAFT)
    downloads.cancel(first)
    entry = tell(harness, progress(SECOND, DRAFT, 5, 20))
    assert (entry.id, entry.done_bytes, entry.state) == (second, 5, DownloadState.RUNNING)
    downloads.cancel(second)
    harness.bridge.event_arrived.emit(progress(SECOND, DRAFT, 6, 20))
    assert downloads.entries == []


def test_of_a_pair_only_what_is_missing_is_fetched(harness: ControllerHarness, downloads: DownloadController) -> None:
    """Wherever the other half is: another program's model can be used as it is."""
    here = installed(model_info("/elsewhere/Big-8B"), ModelSource.LM_STUDIO)
    harness.bridge.event_arrived.emit(LibraryScanned((here,)))
    row = harness.models.install_pair(MAIN, DRAFT)
    assert harness.store.asked == [DRAFT]
    entry = tell(harness, progress(FIRST, DRAFT, 5, 20))
    assert (entry.done_bytes, entry.total_bytes, entry.state) == (5, 20, DownloadState.RUNNING)
    assert tell(harness, DownloadFinished(FIRST, DRAFT, "/models/Small-1B")).state is DownloadState.FINISHED
    assert downloads.folders(row) == ("/elsewhere/Big-8B", "/models/Small-1B")
    harness.store.asked.clear()
    harness.models.install(MAIN)  # by itself it is what was asked for
    assert harness.store.asked == [MAIN]


def test_a_pair_that_is_here_already_can_be_used_at_once(harness: ControllerHarness) -> None:
    here = [installed(model_info(f"/elsewhere/{name.partition('/')[2]}")) for name in (MAIN, DRAFT)]
    harness.bridge.event_arrived.emit(LibraryScanned(tuple(here)))
    harness.models.install_pair(MAIN, DRAFT)
    (entry,) = harness.models.downloads.entries
    assert (entry.state, harness.store.asked, harness.settings.pair_downloads) == (DownloadState.FINISHED, [], ())


def test_a_download_that_was_cancelled_too_late_is_listed(harness: ControllerHarness, qtbot: QtBot) -> None:
    row = harness.models.install(MAIN)
    harness.models.downloads.cancel(row)
    with qtbot.waitSignal(harness.models.downloads.installed):
        harness.bridge.event_arrived.emit(DownloadFinished(FIRST, MAIN, "/models/Big-8B"))
    assert harness.models.downloads.entries == []


def states(downloads: DownloadController) -> list[tuple[DownloadState, bool]]:
    return [(entry.state, entry.offline) for entry in downloads.entries]


def test_offline_mode_pauses_and_goes_on(harness: ControllerHarness, downloads: DownloadController) -> None:
    """And what it has refused; what a person paused stays so."""
    harness.models.install_pair(MAIN, DRAFT)
    by_hand = downloads.install("org/Paused")
    downloads.pause(by_hand)
    harness.settings.hub_offline = True
    paused = (DownloadState.PAUSED, True)
    harness.qtbot.waitUntil(lambda: states(downloads) == [paused, (DownloadState.PAUSED, False)])
    refused = downloads.install("org/Refused")
    harness.qtbot.waitUntil(lambda: states(downloads)[-1] == (DownloadState.FAILED, False))
    assert isinstance(downloads.entries[-1].error, HubOffline)
    harness.store.asked.clear()
    harness.settings.hub_offline = False
    assert sorted(harness.store.asked) == [MAIN, "org/Refused", DRAFT]
    waiting = (DownloadState.WAITING, False)
    assert states(downloads) == [waiting, (DownloadState.PAUSED, False), waiting]
    assert downloads.entries[-1].id == refused


def next_start(harness: ControllerHarness, *left: Event) -> DownloadController:
    """What another run of the app does with what this one has kept."""
    harness.store.asked.clear()
    bridge = EngineBridge()
    later = DownloadController(harness.store, bridge, harness.settings)
    for event in (*left, LibraryScanned(())):
        bridge.event_arrived.emit(event)
    return later


def test_what_ran_goes_on_at_the_next_start(harness: ControllerHarness, downloads: DownloadController) -> None:
    downloads.install_pair(MAIN, DRAFT)
    downloads.install("org/Tagged", "v2")
    downloads.pause(downloads.install("org/Paused"))
    left = [DownloadStopped(DownloadId(90 + at), name, 30, 100) for at, name in enumerate((MAIN, "org/Paused"))]
    later = next_start(harness, *left)
    assert sorted(harness.store.asked) == [MAIN, DRAFT, "org/Tagged"]  # also what had not begun to arrive
    by_name = {entry.repositories: entry for entry in later.entries}
    assert by_name[MAIN, DRAFT].state is DownloadState.WAITING
    assert by_name[MAIN, DRAFT].done_bytes == 30  # as before, until the store counts anew
    assert by_name["org/Paused",].state is DownloadState.PAUSED
    assert set(harness.settings.going_downloads) == {f"{MAIN} main", f"{DRAFT} main", "org/Tagged v2"}


def test_a_start_in_offline_mode_waits(harness: ControllerHarness, downloads: DownloadController) -> None:
    downloads.install(MAIN)
    harness.settings.hub_offline = True
    later = next_start(harness, DownloadStopped(DownloadId(90), MAIN, 30, 100))
    assert harness.store.asked == []
    assert states(later) == [(DownloadState.PAUSED, True)]
    assert harness.settings.going_downloads == (f"{MAIN} main",)
    later.go_on()
    assert harness.store.asked == [MAIN]


def test_what_has_ended_is_not_gone_on_with(harness: ControllerHarness, downloads: DownloadController) -> None:
    downloads.install(MAIN)
    tell(harness, DownloadFinished(FIRST, MAIN, "/models/Big-8B"))
    downloads.cancel(downloads.install("org/Other"))
    assert harness.settings.going_downloads == ()


def test_a_resume_shows_what_is_on_the_disk(harness: ControllerHarness, downloads: DownloadController) -> None:
    entry = tell(harness, DownloadStopped(FIRST, MAIN, 60, 100))
    downloads.resume(entry.id)
    seen = [
        tell(harness, progress(FIRST, MAIN, done, total)) for done, total in ((0, 0), (0, 100), (40, 100), (70, 100))
    ]
    assert [(each.done_bytes, each.total_bytes) for each in seen] == [(60, 100)] * 3 + [(70, 100)]


def test_a_draft_of_two_pairs_goes_on_for_both_at_the_next_start(harness: ControllerHarness) -> None:
    pairs = "org/Big-8B org/A-draft", "org/Other-8B org/A-draft"
    harness.settings.pair_downloads = pairs
    harness.settings.going_downloads = ("org/A-draft main", "org/Big-8B main", "org/Other-8B main")
    downloads = DownloadController(harness.store, harness.bridge, harness.settings, harness.models)
    harness.bridge.event_arrived.emit(LibraryScanned(()))
    harness.bridge.event_arrived.emit(DownloadFinished(DownloadId(3), OTHER, "/models/Other-8B"))
    states = {entry.repositories[0]: entry.state for entry in downloads.entries}
    assert states == {MAIN: DownloadState.WAITING, OTHER: DownloadState.WAITING}


@pytest.mark.parametrize("paused", [True, False])
def test_a_draft_goes_with_each_main_model_that_it_was_chosen_for(
    harness: ControllerHarness, downloads: DownloadController, paused: bool
) -> None:
    """Also where it is asked for once more, from another place."""
    paired: list[tuple[str, str]] = []
    downloads.paired.connect(lambda main, draft: paired.append((main, draft)))
    row = downloads.install(DRAFT, draft_for="/models/Big-8B")
    if paused:
        downloads.pause(row)
    downloads.install(DRAFT, draft_for="/models/Other-8B")
    downloads.install(DRAFT)
    harness.bridge.event_arrived.emit(DownloadFinished(SECOND if paused else FIRST, DRAFT, "/models/Small-1B"))
    assert paired == [("/models/Big-8B", "/models/Small-1B"), ("/models/Other-8B", "/models/Small-1B")]
    assert downloads.main_for(row) == "/models/Other-8B"
