"""A model's files from the paired machine that asked for help with it: they are what the hub has, or the hub's own.

Real sockets, TLS, processes' parts and disk; the hub, the machine that lends and the main one are on loopback.
"""

from __future__ import annotations

import shutil
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import httpx2
import pytest

from engine import (
    AccessDenied,
    ChecksumMismatch,
    DownloadFailed,
    DownloadFinished,
    DownloadProgress,
    DownloadStopped,
    Helping,
    HubAccess,
    HubSource,
    HubUnreachable,
    Machine,
    MachineRefusal,
    MachineUnavailable,
    ModelFileServer,
    PeerModel,
    pair_machines,
)
from engine.hub import file_server
from engine.hub.file_server import files_here
from engine.hub.http import Hub, HubHttp
from engine.hub.repository import choose_files
from engine.hub.staging import write_manifest
from engine.hub.stop import HubPatience, StopSignal
from engine.machines.identity import Identity
from engine.machines.lender import Lender
from engine.machines.lent import machine_offer, offer_files
from tests.end2end.conftest import REPO
from tests.end2end.test_downloads import assert_installed, install
from tests.helpers.event_recorder import EventRecorder, QuickStore, SlowStore
from tests.helpers.lent import GB, Lent
from tests.helpers.model_folders import write_folder
from tests.helpers.tinyhub import Fault, TinyHub, _entry

S = TypeVar("S", bound=ModelFileServer)
PIECE = 1 << 18  # an eighth of the weights
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
        self.lender = Lender(self.identity, lambda: self.models, memory_bytes=1)
        address = f"127.0.0.1:{self.lender.start('127.0.0.1', 0)}"
        self.main = folder / "identity"
        self.helping = Helping(pair_machines(self.main, address, self.lender.invite()), str(self.main))
        self.supplies: list[ModelFileServer] = []
        self.used: list[bool] = []

    def ask(self) -> MachineRefusal:
        with pytest.raises(MachineUnavailable) as refused:
            machine_offer(self.helping, self.model, self.source)
        return refused.value.why

    def supply(self) -> ModelFileServer:
        return self.supply_by(ModelFileServer)

    def supply_by(self, kind: type[S]) -> S:
        assert self.ask() is MachineRefusal.NO_MODEL
        supply = kind(self.helping, self.model, self.source, self.used.append)
        self.supplies.append(supply)
        supply.start()
        wait_until(lambda: self.lender.offered_files is not None)
        return supply

    @property
    def supplied(self) -> PeerModel:
        files = self.lender.offered_files
        assert files is not None
        own = files.wanted.machine.fingerprint, str(self.identity.folder)
        return PeerModel(self.source.repository, self.source.revision, files.endpoint, *own)

    def status(self, path: str, identity: Path | None = None) -> int | None:
        """Of what is asked by the machine that lends, or another; None: nothing is answered."""
        supplied = self.supplied
        known = Identity(identity or self.identity.folder)
        if identity is not None:
            known.pair_with(self.identity.machines()[0], Identity(self.main).certificate)
            supplied = PeerModel(REPO, "", supplied.endpoint, supplied.fingerprint, str(identity))
        http = HubHttp(Hub(supplied.endpoint, peer=supplied), "test", StopSignal(), HubPatience())
        try:
            return int(http._http.get(http.url(path)).status_code)
        except httpx2.TransportError:
            return None
        finally:
            http.close()

    def close(self) -> None:
        for supply in self.supplies:
            supply.end(30)
            assert supply.is_over
        self.lender.stop()


@pytest.fixture
def macs(tmp_path: Path, hub: TinyHub, monkeypatch: pytest.MonkeyPatch) -> Iterator[Macs]:
    monkeypatch.setattr(file_server, "_PIECE_BYTES", PIECE)
    monkeypatch.setattr(file_server, "_OFFER_EVERY_S", 0.05)
    made = Macs(tmp_path, hub)
    yield made
    made.close()


def wait_until(holds: Callable[[], bool]) -> None:
    while not holds():
        threading.Event().wait(0.005)


def damage(file: Path) -> None:
    """One byte in the middle."""
    data = bytearray(file.read_bytes())
    data[100_000] ^= 1
    file.write_bytes(data)


def download(store: QuickStore, recorder: EventRecorder, macs: Macs) -> DownloadFinished | DownloadFailed | object:
    store.set_peer_model(macs.supplied)
    return recorder.end_of(store.install(REPO, macs.source.revision))


class PulledOut(ModelFileServer):
    """Once, in the middle of the weights."""

    left = 4

    def pieces(self, file: BinaryIO, size: int) -> Iterator[bytes]:
        for piece in super().pieces(file, size):
            if size > PIECE:
                self.left -= 1
            if self.left == 0:
                self.end()
                return
            yield piece


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


@pytest.mark.parametrize("offline", [False, True])
def test_where_no_hub_is_reached_the_list_is_the_other_machines(
    offline: bool, tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, macs: Macs
) -> None:
    """Nor in offline mode, which is about the internet."""
    macs.supply()
    store.set_hub(HubAccess("http://127.0.0.1:1", mirrors=("http://127.0.0.1:2",), offline=offline))
    assert isinstance(download(store, recorder, macs), DownloadFinished)
    assert_installed(tmp_path, hub)
    assert hub.seen == []


@pytest.mark.parametrize("refused", [Fault(status=403, code="GatedRepo"), Fault(status=401, code="RepoNotFound")])
@pytest.mark.parametrize("mirrored", [False, True])
def test_where_the_hub_gives_it_to_the_other_machine_alone_the_list_is_that_ones(
    mirrored: bool, refused: Fault, tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, macs: Macs
) -> None:
    """A private model, one whose terms only the other one's user has accepted, or one that was withdrawn."""
    hub.faults[REPO] = refused
    if mirrored:
        store.set_hub(HubAccess(hub.endpoint, mirrors=("http://127.0.0.1:2",)))
    macs.supply()
    assert isinstance(download(store, recorder, macs), DownloadFinished)
    assert_installed(tmp_path, hub)


def test_wrong_bytes_are_not_taken_by_the_list_of_who_sent_them(
    hub: TinyHub, store: QuickStore, recorder: EventRecorder, macs: Macs
) -> None:
    hub.faults[f"{REPO}/{WEIGHTS}"] = Fault(status=403, code="GatedRepo")
    damage(macs.model / WEIGHTS)
    macs.supply()
    ended = download(store, recorder, macs)
    assert isinstance(ended, DownloadFailed)
    assert isinstance(ended.error, AccessDenied)


def test_what_a_machine_has_sent_before_it_ended_is_gone_on_with_from_the_hub(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, macs: Macs
) -> None:
    macs.supply_by(PulledOut)
    assert isinstance(download(store, recorder, macs), DownloadFinished)

    assert_installed(tmp_path, hub)
    (asked,) = hub.requests_for(WEIGHTS)
    assert asked.headers["Range"] == f"bytes={3 * PIECE}-"
    told = [event for event in recorder.events if isinstance(event, DownloadProgress)]
    assert max(event.done_bytes for event in told) == told[-1].total_bytes  # nothing was counted twice


def test_a_download_that_waits_for_the_hub_goes_on_from_a_machine_that_comes(
    tmp_path: Path, hub: TinyHub, recorder: EventRecorder, macs: Macs
) -> None:
    store = SlowStore(tmp_path / "models", sink=recorder, hub_cache=tmp_path / "none", endpoint=hub.endpoint)
    hub.faults[f"{REPO}/{WEIGHTS}"] = Fault(status=503)
    number = store.install(REPO, macs.source.revision)
    while recorder.wait_for(DownloadProgress).retry is None:
        pass
    macs.supply()
    store.set_peer_model(macs.supplied)
    assert isinstance(recorder.end_of(number), DownloadFinished)
    assert_installed(tmp_path, hub)
    assert store.close()


def test_a_download_from_there_is_paused_and_goes_on(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, macs: Macs
) -> None:
    on = threading.Event()

    class Waits(ModelFileServer):
        """After three pieces of the weights."""

        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            self.asked: list[int] = []  # bytes

        def pieces(self, file: BinaryIO, size: int) -> Iterator[bytes]:
            if size > PIECE:
                self.asked.append(size)
            for number, piece in enumerate(super().pieces(file, size)):
                if number == 3:
                    on.wait(60)
                yield piece

    supply = macs.supply_by(Waits)
    store.set_peer_model(macs.supplied)
    number = store.install(REPO, macs.source.revision)
    while recorder.wait_for(DownloadProgress).done_bytes < PIECE:
        pass
    store.pause(number)
    stopped = recorder.end_of(number)
    assert isinstance(stopped, DownloadStopped)
    assert stopped.kept_bytes > 0
    on.set()

    assert isinstance(download(store, recorder, macs), DownloadFinished)
    assert_installed(tmp_path, hub)
    assert hub.requests_for(WEIGHTS) == []
    first, again = supply.asked
    assert again < first


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


def test_wrong_bytes_of_a_machine_that_ended_do_not_stay(
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
    macs.supply()

    files = f"{REPO}/resolve/{macs.source.revision}"
    assert macs.status(f"{files}/config.json") == 200
    others = [
        *("..%2fsecret", "..", "%2fetc%2fhostname", "hunch.json", "config.json/../../secret", "other.json", ""),
        *("merges.txt", "vocab.json", "..%2f..%2fsecret", "%ff"),
    ]
    assert {name: macs.status(f"{files}/{name}") for name in others} == dict.fromkeys(others, 404)
    elsewhere = [f"{REPO}/resolve/{'d' * 40}/config.json", f"org/other/resolve/{macs.source.revision}/config.json"]
    assert [macs.status(path) for path in elsewhere] == [404, 404]


def test_none_but_the_machine_that_was_asked_is_answered(macs: Macs, tmp_path: Path) -> None:
    """Neither one without a certificate, nor another one that is paired as well."""
    macs.supply()
    path = f"{REPO}/resolve/{macs.source.revision}/config.json"
    other = Identity(tmp_path / "other")
    Identity(macs.main).pair_with(other_machine(other), other.certificate)
    assert macs.status(path, tmp_path / "other") is None
    assert macs.status(path) == 200

    assert answered_to_a_stranger(macs.supplied.endpoint, path) == b""


def test_strangers_who_keep_quiet_keep_the_other_machine_out_of_nothing(macs: Macs) -> None:
    macs.supply()
    host, port = macs.supplied.endpoint.removeprefix("https://").split(":")
    with ExitStack() as opened:
        for _ in range(2 * file_server._MOST_CONNECTIONS):
            opened.enter_context(socket.create_connection((host, int(port))))
        assert macs.status(f"{REPO}/resolve/{macs.source.revision}/config.json") == 200


def answered_to_a_stranger(endpoint: str, path: str) -> bytes:
    host, port = endpoint.removeprefix("https://").split(":")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with context.wrap_socket(socket.create_connection((host, int(port)))) as secure:
            secure.sendall(f"GET /{path} HTTP/1.1\r\n\r\n".encode())
            return secure.recv(1)
    except OSError:
        return b""


def other_machine(identity: Identity) -> Machine:
    return Machine("Other", identity.fingerprint, "")


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
    read = set()
    for name, here in files_here(snapshot, macs.source).items():
        with suppress(OSError):
            here.open().close()
            read.add(name)
    assert read == hub.repositories[REPO].keys()
    assert files_here(snapshot, HubSource(REPO, "d" * 40)) == {}
    assert files_here(macs.model, HubSource(REPO, "d" * 40)) == {}


@pytest.mark.parametrize("removed_by", ["main", "helper"])
def test_it_ends_once_one_has_removed_the_other(removed_by: str, macs: Macs) -> None:
    supply = macs.supply()
    here = macs.identity if removed_by == "helper" else Identity(macs.main)
    here.remove(here.machines()[0].fingerprint)

    wait_until(lambda: supply.is_over)
    assert removed_by == "main" or macs.lender.offered_files is None


def test_a_machine_that_was_started_again_or_asked_for_another_model_is_asked_again(macs: Macs) -> None:
    supply = macs.supply()
    macs.lender.wanted = macs.lender._files = None
    wait_until(lambda: macs.lender.offered_files is not None)
    assert not supply.is_over


def test_what_was_not_asked_for_last_is_not_taken(macs: Macs) -> None:
    other = HubSource("org/other", macs.source.revision)
    for source, why in ((macs.source, MachineRefusal.NO_MODEL), (other, MachineRefusal.MISBEHAVED)):
        with pytest.raises(MachineUnavailable) as refused:
            offer_files(macs.helping, source, 9)
        assert refused.value.why is why
        assert macs.ask() is MachineRefusal.NO_MODEL
    macs.models[macs.model.parent / "elsewhere"] = macs.source
    assert macs.ask() is MachineRefusal.DIFFERS
    assert macs.lender.wanted is None


@pytest.mark.costly
@pytest.mark.parametrize("lie", ["short", "long", "nothing"])
def test_a_machine_that_sends_otherwise_is_given_up(
    lie: str, tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, macs: Macs
) -> None:
    class Lies(ModelFileServer):
        def pieces(self, file: BinaryIO, size: int) -> Iterator[bytes]:
            sent = b"".join(super().pieces(file, size))
            yield {"short": sent[:-1], "long": sent + b"x", "nothing": b""}[lie]

    macs.supply_by(Lies)
    assert isinstance(download(store, recorder, macs), DownloadFinished)
    assert_installed(tmp_path, hub)


def test_a_machine_that_ends_nowhere_costs_the_hubs_download_nothing(
    tmp_path: Path, hub: TinyHub, store: QuickStore, recorder: EventRecorder, macs: Macs
) -> None:
    """The address of one that has gone, as after a restart of what lends."""
    gone = PeerModel(REPO, macs.source.revision, "https://127.0.0.1:1", "f" * 64, str(macs.identity.folder))
    store.set_peer_model(gone)
    install(store, recorder)
    assert_installed(tmp_path, hub)
    shutil.rmtree(tmp_path / "models" / REPO)
    store.set_hub(HubAccess("http://127.0.0.1:1"))
    failed = recorder.end_of(store.install(REPO, macs.source.revision))
    assert isinstance(failed, DownloadFailed)
    assert isinstance(failed.error, HubUnreachable)


@pytest.mark.slow
def test_a_process_that_lends_passes_the_files_on(
    tmp_path: Path,
    hub: TinyHub,
    store: QuickStore,
    recorder: EventRecorder,
    macs: Macs,
) -> None:
    """As in the app, which hears of it by a state."""
    lent = Lent(tmp_path / "process")
    lent.offer()
    helping = lent.paired(tmp_path / "here")
    with pytest.raises(MachineUnavailable):
        machine_offer(helping, macs.model, macs.source)
    supply = ModelFileServer(helping, macs.model, macs.source)
    supply.start()
    identity = str(tmp_path / "process" / "lends")
    supplied = lent.until(lambda state: state.peer_model(identity)).peer_model(identity)
    assert supplied is not None
    store.set_peer_model(supplied)
    assert isinstance(recorder.end_of(store.install(REPO, macs.source.revision)), DownloadFinished)

    assert_installed(tmp_path, hub)
    assert [seen.path for seen in hub.seen if "/resolve/" in seen.path] == []
    lent.process.offer({str(tmp_path / "models" / REPO): macs.source}, GB)
    lent.until(lambda state: not state.peer_model(identity))
    assert machine_offer(helping, macs.model, macs.source).memory_bytes == GB
    supply.end(30)
    assert lent.process.stop(30)
