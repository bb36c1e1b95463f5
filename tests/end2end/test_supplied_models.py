"""A model's files from the paired machine that asked for help with it: they are what the hub has, or the hub's own.

Real sockets, TLS, processes' parts and disk; the hub, the machine that lends and the main one are on loopback.
"""

from __future__ import annotations

import shutil
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from engine import (
    ChecksumMismatch,
    DownloadFailed,
    DownloadFinished,
    DownloadProgress,
    DownloadStopped,
    Helping,
    HubAccess,
    HubSource,
    HubUnreachable,
    MachineRefusal,
    MachineUnavailable,
    ModelSupply,
    SuppliedModel,
    pair_machines,
)
from engine.cluster import lend_child, supplied
from engine.cluster.identity import Identity
from engine.cluster.lend_child import LoopbackHub
from engine.cluster.lender import Lender
from engine.cluster.lent import machine_offer, supply_line
from engine.cluster.operations import Fetch, Inventory, Piece, Pong, Stock
from engine.cluster.supplied import SupplyEnded, SupplyLine
from engine.cluster.wire import WireBroken, WireEnded
from engine.hub import supply as supply_module
from engine.hub.repository import choose_files
from engine.hub.staging import write_manifest
from engine.hub.supply import files_here
from tests.end2end.conftest import REPO
from tests.end2end.test_downloads import assert_installed, install
from tests.helpers.event_recorder import EventRecorder, QuickStore, SlowStore
from tests.helpers.lent import GB, Lent
from tests.helpers.model_folders import write_folder
from tests.helpers.tinyhub import Fault, TinyHub, _entry

S = TypeVar("S", bound=ModelSupply)
PIECE = 1 << 18  # an eighth of the weights
PIECES_OF_A_PROCESS = supplied.PIECE_BYTES  # which knows nothing of what a test puts in place of it
WEIGHTS = "model.safetensors"


class Macs:
    """The main one, which has the model, and the one that lends and lacks it."""

    def __init__(self, folder: Path, hub: TinyHub) -> None:
        self.source = HubSource(REPO, hub.commit(REPO))
        files = hub.files_at(REPO, "main")
        assert files is not None
        self.model = write_folder(folder / "main" / "tiny", files)
        listed = choose_files(REPO, [_entry(name, data) for name, data in files.items()])
        write_manifest(self.model, REPO, self.source.revision, listed)
        self.models: dict[Path, HubSource] = {}
        self.identity = Identity(folder / "lends", "Studio")
        self.lender = Lender(self.identity, lambda: self.models, memory_bytes=1, fetches=True)
        address = f"127.0.0.1:{self.lender.start('127.0.0.1', 0)}"
        self.main = folder / "identity"
        self.helping = Helping(pair_machines(self.main, address, self.lender.invite()), str(self.main))
        self.hub = LoopbackHub(lambda: self.lender.supplies.line)
        self.supplied = SuppliedModel(*(self.source.repository, self.source.revision), self.hub.endpoint)
        self.supplies: list[ModelSupply] = []
        self.used: list[bool] = []

    def ask(self) -> MachineRefusal:
        with pytest.raises(MachineUnavailable) as refused:
            machine_offer(self.helping, self.model, self.source)
        return refused.value.why

    def supply(self) -> ModelSupply:
        return self.supply_by(ModelSupply)

    def supply_by(self, kind: type[S]) -> S:
        assert self.ask() is MachineRefusal.NO_MODEL
        supply = kind(self.helping, self.model, self.source, self.used.append)
        self.supplies.append(supply)
        supply.start()
        wait_until(lambda: self.lender.supplies.line is not None)
        return supply

    @property
    def line(self) -> SupplyLine:
        line = self.lender.supplies.line
        assert line is not None
        return line

    def close(self) -> None:
        for supply in self.supplies:
            supply.end(30)
            assert supply.is_over
        self.hub.stop()
        self.lender.stop()


@pytest.fixture
def macs(tmp_path: Path, hub: TinyHub, monkeypatch: pytest.MonkeyPatch) -> Iterator[Macs]:
    for module in (lend_child, supplied, supply_module):
        monkeypatch.setattr(module, "PIECE_BYTES", PIECE)
    monkeypatch.setattr(supplied, "BEAT_S", 0.02)
    monkeypatch.setattr(supply_module, "_AGAIN_S", 0.05)
    made = Macs(tmp_path, hub)
    yield made
    made.close()


@pytest.fixture
def made_once(macs: Macs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that was cut is not made again."""
    monkeypatch.setattr(supply_module, "_AGAIN_S", 1000.0)


def wait_until(holds: Callable[[], bool]) -> None:
    while not holds():
        threading.Event().wait(0.005)


def damage(file: Path) -> None:
    """One byte in the middle."""
    data = bytearray(file.read_bytes())
    data[100_000] ^= 1
    file.write_bytes(data)


def download(store: QuickStore, recorder: EventRecorder, macs: Macs) -> DownloadFinished | DownloadFailed | object:
    store.set_supplied(macs.supplied)
    return recorder.end_of(store.install(REPO, macs.source.revision))


class PatientStore(QuickStore):
    tuning = replace(QuickStore.tuning, patience=replace(QuickStore.tuning.patience, last_tries=10_000))


class PulledOut(ModelSupply):
    """Once, in the middle of the weights."""

    pieces = 0

    def _piece(self, name: str, start: int, size: int) -> bytes | None:
        self.pieces += name == WEIGHTS
        if self.pieces == 4:
            assert self._wire is not None
            self._wire.shut()
        return super()._piece(name, start, size)


def test_the_files_come_from_the_other_machine_and_the_hub_is_asked_for_their_checksums_alone(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, macs: Macs
) -> None:
    macs.supply()
    hub.commits[macs.source.revision] |= {"LICENSE": b"MIT"}  # which only the hub has
    hub.repositories[REPO] |= {"LICENSE": b"MIT"}
    assert isinstance(download(store, recorder, macs), DownloadFinished)

    assert_installed(tmp_path, hub)
    (asked,) = [seen.path for seen in hub.seen if "/resolve/" in seen.path]
    assert asked.endswith("/LICENSE")
    macs.models[tmp_path / "models" / REPO] = macs.source
    wait_until(lambda: macs.supplies[0].is_over)  # it is here by now
    assert macs.used == [True, False]


def test_where_no_hub_is_reached_the_list_is_the_other_machines(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, macs: Macs
) -> None:
    macs.supply()
    store.set_hub(HubAccess("http://127.0.0.1:1"))
    assert isinstance(download(store, recorder, macs), DownloadFinished)
    assert_installed(tmp_path, hub)
    assert hub.seen == []


@pytest.mark.usefixtures("made_once")
def test_what_a_line_that_was_cut_has_brought_is_gone_on_with_from_the_hub(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, macs: Macs
) -> None:
    macs.supply_by(PulledOut)
    assert isinstance(download(store, recorder, macs), DownloadFinished)

    assert_installed(tmp_path, hub)
    (asked,) = hub.requests_for(WEIGHTS)
    assert asked.headers["Range"] == f"bytes={3 * PIECE}-"
    told = [event for event in recorder.events if isinstance(event, DownloadProgress)]
    assert max(event.done_bytes for event in told) == told[-1].total_bytes  # nothing was counted twice


def test_without_a_hub_a_line_that_was_cut_is_waited_for(
    tmp_path: Path, hub: TinyHub, recorder: EventRecorder, macs: Macs
) -> None:
    """The main machine makes it again by itself, and all that has arrived stays."""
    supply = macs.supply_by(PulledOut)
    store = PatientStore(tmp_path / "models", sink=recorder, hub_cache=tmp_path / "none", endpoint="http://127.0.0.1:1")
    assert isinstance(download(store, recorder, macs), DownloadFinished)
    assert store.close()
    assert_installed(tmp_path, hub)
    assert supply.pieces == 10  # nine, and the one that did not arrive


def test_a_download_that_waits_for_the_hub_goes_on_from_a_machine_that_comes(
    tmp_path: Path, hub: TinyHub, recorder: EventRecorder, macs: Macs
) -> None:
    store = SlowStore(tmp_path / "models", sink=recorder, hub_cache=tmp_path / "none", endpoint=hub.endpoint)
    hub.faults[f"{REPO}/{WEIGHTS}"] = Fault(status=503)
    number = store.install(REPO, macs.source.revision)
    while recorder.wait_for(DownloadProgress).retry is None:
        pass
    macs.supply()
    store.set_supplied(macs.supplied)
    assert isinstance(recorder.end_of(number), DownloadFinished)
    assert_installed(tmp_path, hub)
    assert store.close()


def test_a_download_from_there_is_paused_and_goes_on(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, macs: Macs
) -> None:
    came, on = threading.Event(), threading.Event()

    class Waits(ModelSupply):
        pieces = 0

        def _piece(self, name: str, start: int, size: int) -> bytes | None:
            self.pieces += name == WEIGHTS
            if self.pieces == 4:
                came.set()
                on.wait(30)
            return super()._piece(name, start, size)

    supply = macs.supply_by(Waits)
    store.set_supplied(macs.supplied)
    number = store.install(REPO, macs.source.revision)
    assert came.wait(30)
    store.pause(number)
    stopped = recorder.end_of(number)
    assert isinstance(stopped, DownloadStopped)
    assert stopped.kept_bytes > 0
    on.set()

    assert isinstance(download(store, recorder, macs), DownloadFinished)
    assert_installed(tmp_path, hub)
    assert hub.requests_for(WEIGHTS) == []
    assert supply.pieces < 16


@pytest.mark.parametrize("reached", [True, False])
def test_bytes_that_are_not_the_hubs_are_thrown_away(
    reached: bool, tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, macs: Macs
) -> None:
    damage(macs.model / WEIGHTS)
    macs.supply()
    if not reached:
        store.set_hub(HubAccess("http://127.0.0.1:1"))
    ended = download(store, recorder, macs)

    if reached:
        assert isinstance(ended, DownloadFinished)
        assert_installed(tmp_path, hub)
        (asked,) = hub.requests_for(WEIGHTS)
        assert "Range" not in asked.headers
    else:
        assert isinstance(ended, DownloadFailed)
        assert isinstance(ended.error, ChecksumMismatch)
        assert not (tmp_path / "models" / REPO).exists()


@pytest.mark.usefixtures("made_once")
def test_wrong_bytes_before_a_line_was_cut_do_not_stay(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, macs: Macs
) -> None:
    """The hub goes on behind them, and has to begin again."""
    damage(macs.model / WEIGHTS)
    macs.supply_by(PulledOut)
    assert isinstance(download(store, recorder, macs), DownloadFinished)
    assert_installed(tmp_path, hub)


def test_a_file_that_is_shorter_by_now_is_the_hubs(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, macs: Macs
) -> None:
    macs.supply()
    (macs.model / WEIGHTS).write_bytes(b"short")
    assert isinstance(download(store, recorder, macs), DownloadFinished)
    assert_installed(tmp_path, hub)


NOT_TO_BE_HAD = [
    ("../secret", 0, 6),
    ("..", 0, 1),
    ("/etc/hostname", 0, 1),
    ("hunch.json", 0, 1),
    ("config.json/../../secret", 0, 6),
    ("other.json", 0, 1),
    ("", 0, 1),
    ("merges.txt", 0, 6),  # a link
    ("vocab.json", 0, 6),  # a folder
    (WEIGHTS, 1 << 40, 1),
    (WEIGHTS, 2_097_150, PIECE),
    (WEIGHTS, 0, PIECE + 1),
]


def test_nothing_else_can_be_read_whatever_the_other_machine_asks(macs: Macs) -> None:
    secret = macs.model.parent / "secret"
    secret.write_bytes(b"secret")
    (macs.model / "other.json").write_bytes(b"x")
    for made in ("merges.txt", "vocab.json"):  # a hub's list had them, and they were files then
        (macs.model / made).write_bytes(b"secret")
    listed = choose_files(REPO, [_entry(each.name, each.read_bytes()) for each in macs.model.iterdir()])
    write_manifest(macs.model, REPO, macs.source.revision, [file for file in listed if file.name != "other.json"])
    (macs.model / "merges.txt").unlink()
    (macs.model / "merges.txt").symlink_to(secret)
    (macs.model / "vocab.json").unlink()
    (macs.model / "vocab.json").mkdir()
    supply = macs.supply()

    assert [each for each in NOT_TO_BE_HAD if supply._piece(*each) is not None] == []
    line = macs.line
    with pytest.raises(SupplyEnded):
        line.read(*NOT_TO_BE_HAD[0])
    wait_until(lambda: macs.lender.supplies.line not in (None, line))
    assert macs.line.read("config.json", 0, 2) == (macs.model / "config.json").read_bytes()[:2]


def test_of_a_hubs_cache_the_files_are_read_and_no_link_is_followed(tmp_path: Path, hub: TinyHub, macs: Macs) -> None:
    cache = tmp_path / "models--org--tiny-4bit"
    snapshot = write_folder(cache / "snapshots" / macs.source.revision, {})
    snapshot.mkdir(parents=True, exist_ok=True)
    (cache / "blobs").mkdir()
    for name, data in hub.repositories[REPO].items():
        entry = _entry(name, data)
        large = entry.get("lfs")
        checksum = str((large if isinstance(large, dict) else entry)["oid"])
        (cache / "blobs" / checksum).write_bytes(data)
        (snapshot / name).symlink_to(Path("../../blobs") / checksum)
    outside = tmp_path / ("a" * 40)
    outside.write_bytes(b"outside")
    (snapshot / "merges.txt").symlink_to(outside)
    (snapshot / "vocab.json").symlink_to(Path("../../blobs") / ("b" * 40))
    (cache / "blobs" / ("b" * 40)).symlink_to(outside)
    supply = ModelSupply(macs.helping, snapshot, macs.source)
    supply._files = files_here(snapshot, macs.source)

    assert {name for name in supply._files if supply._piece(name, 0, 2)} == hub.repositories[REPO].keys()
    assert files_here(snapshot, HubSource(REPO, "d" * 40)) == {}
    assert files_here(macs.model, HubSource(REPO, "d" * 40)) == {}


@pytest.mark.parametrize("removed_by", ["main", "helper"])
def test_a_line_ends_once_one_has_removed_the_other(removed_by: str, macs: Macs) -> None:
    supply, line = macs.supply(), macs.line
    here = macs.identity if removed_by == "helper" else Identity(macs.main)
    here.remove(here.machines()[0].fingerprint)

    wait_until(lambda: macs.lender.supplies.line is None and supply.is_over)
    with pytest.raises(SupplyEnded):
        line.read(WEIGHTS, 0, 1)


def test_what_was_not_asked_for_last_is_not_taken(macs: Macs) -> None:
    for source in (macs.source, HubSource("org/other", macs.source.revision)):
        with pytest.raises(MachineUnavailable) as refused:
            supply_line(macs.helping, source)
        assert refused.value.why is MachineRefusal.MISBEHAVED
        assert macs.ask() is MachineRefusal.NO_MODEL
    macs.lender._fetches = False
    with pytest.raises(MachineUnavailable):
        supply_line(macs.helping, macs.source)
    macs.models[macs.model.parent / "elsewhere"] = macs.source
    assert macs.ask() is MachineRefusal.DIFFERS
    assert macs.lender.wanted is None


@pytest.mark.costly
@pytest.mark.parametrize("lie", ["short", "long", "columns", "other", "nothing"])
def test_a_machine_that_answers_otherwise_is_given_up(
    lie: str, tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, macs: Macs
) -> None:
    macs.ask()
    wire = supply_line(macs.helping, macs.source)
    files = choose_files(REPO, [_entry(name, data) for name, data in hub.repositories[REPO].items()])
    names, sizes = tuple(file.name for file in files), tuple(file.size_bytes for file in files)

    def answer() -> None:
        with suppress(WireEnded, WireBroken):
            while wire.arrives(30):
                match wire.receive()[0]:
                    case Inventory():
                        columns = sizes[lie == "columns" :]
                        wire.send(Stock(names, columns, tuple(file.checksum for file in files)))
                    case Fetch(size=size):
                        data = {"short": size - 1, "long": size + 1, "nothing": 0}.get(lie, size)
                        wire.send(*((Pong(),) if lie == "other" else (Piece(), bytes(data))))
                    case _:
                        wire.send(Pong())
        wire.close()

    thread = threading.Thread(target=answer)
    thread.start()
    assert isinstance(download(store, recorder, macs), DownloadFinished)
    assert_installed(tmp_path, hub)
    thread.join()


def test_the_address_on_this_machine_answers_only_who_knows_it(macs: Macs) -> None:
    def status(path: str) -> int:
        try:
            with urllib.request.urlopen(f"{base}/{path}", timeout=30) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    base, secret = macs.supplied.endpoint.rsplit("/", 1)
    revision = macs.source.revision
    assert status(f"{secret}/api/models/{REPO}/tree/{revision}") == 503
    macs.supply()
    assert status(f"{secret}/{REPO}/resolve/{revision}/config.json") == 200
    others = [
        f"{'0' * 32}/{REPO}/resolve/{revision}/config.json",
        f"{REPO}/resolve/{revision}/config.json",
        f"%ff/{REPO}/resolve/{revision}/config.json",
        f"{secret}/{REPO}/resolve/{'d' * 40}/config.json",
        f"{secret}/org/other/resolve/{revision}/config.json",
        f"{secret}/{REPO}/resolve/{revision}/..%2f..%2fsecret",
        f"{secret}/{REPO}/resolve/{revision}/hunch.json",
    ]
    assert {status(path) for path in others} == {404}


def test_a_machine_that_ends_nowhere_costs_the_hubs_download_nothing(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, macs: Macs
) -> None:
    """The address of one that has gone, as after a restart of what lends."""
    gone = SuppliedModel(REPO, macs.source.revision, "http://127.0.0.1:1/secret")
    store.set_supplied(gone)
    install(store, recorder)
    assert_installed(tmp_path, hub)
    shutil.rmtree(tmp_path / "models" / REPO)
    store.set_hub(HubAccess("http://127.0.0.1:1"))
    failed = recorder.end_of(store.install(REPO, macs.source.revision))
    assert isinstance(failed, DownloadFailed)
    assert isinstance(failed.error, HubUnreachable)
    assert "secret" not in repr(failed.error) + repr(gone)


@pytest.mark.slow
def test_a_process_that_lends_passes_the_files_on(
    tmp_path: Path,
    hub: TinyHub,
    store: QuickStore,
    recorder: EventRecorder,
    macs: Macs,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in the app, which hears of it by a state."""
    monkeypatch.setattr(supply_module, "PIECE_BYTES", PIECES_OF_A_PROCESS)
    lent = Lent(tmp_path / "process")
    lent.offer()
    helping = lent.paired(tmp_path / "here")
    with pytest.raises(MachineUnavailable):
        machine_offer(helping, macs.model, macs.source)
    supply = ModelSupply(helping, macs.model, macs.source)
    supply.start()
    supplied = lent.until(lambda state: state.supplied).supplied
    assert supplied is not None
    store.set_supplied(supplied)
    assert isinstance(recorder.end_of(store.install(REPO, macs.source.revision)), DownloadFinished)

    assert_installed(tmp_path, hub)
    assert [seen.path for seen in hub.seen if "/resolve/" in seen.path] == []
    lent.process.offer({str(tmp_path / "models" / REPO): macs.source}, GB)
    lent.until(lambda state: not state.supplied)
    assert machine_offer(helping, macs.model, macs.source).memory_bytes == GB
    supply.end(30)
    assert lent.process.stop(30)
