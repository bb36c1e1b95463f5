"""Two machines that are paired, or not: real sockets and TLS, no MLX and no model."""

from __future__ import annotations

import errno
import math
import os
import queue
import shutil
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import (
    Helping,
    HubSource,
    InvalidRequest,
    LendingPhase,
    LendingProcess,
    LendingState,
    Machine,
    MachineRefusal,
    MachineUnavailable,
    write_atomically,
)
from engine.__main__ import main
from engine.cluster.operations import Reply
from engine.cluster.plan import plan_with
from engine.machines import command, identity, lender, lent, pairing
from engine.machines import lending as lending_process
from engine.machines import relay as relaying
from engine.machines.callers import Caller, Callers, host_of
from engine.machines.command import _Spoken
from engine.machines.identity import Identity, fingerprint_of, shown_name
from engine.machines.lend_child import _Child
from engine.machines.lender import MOST_CONNECTIONS, Lender, WantedModel
from engine.machines.lent import DEFAULT_PORT, _connected_to, host_and_port, machine_offer, pair_machines, ways
from engine.machines.messages import (
    PROTOCOL,
    Approach,
    Ask,
    Ping,
    Pong,
    Proof,
    RankRefused,
    Response,
    Share,
    Start,
    encoded,
)
from engine.machines.pairing import Declined, Invitation
from engine.machines.relay import BEAT_S, SILENT_S, relay, relayed
from engine.machines.versions import difference, versions_here
from engine.machines.wire import Wire, WireBroken, WireEnded
from engine.models import fit, inspect
from engine.models.inspect import content_digest
from engine.station.connection import DraftOrder, lent_station
from tests.helpers.ranks import Line

GB = 10**9
STARTER_MAIN, STARTER_DRAFT = (Path(__file__).parents[2] / "resources" / "starter" / name for name in ("main", "draft"))


class Lending:
    """A machine that lends, and the folder of another one's identity."""

    def __init__(self, folder: Path) -> None:
        self.identity = Identity(folder / "lends", "Studio")
        self.main = folder / "main"
        self.models = {STARTER_DRAFT: HubSource(), STARTER_MAIN: HubSource()}
        self.lender = Lender(self.identity, lambda: self.models, memory_bytes=3 * GB)
        self.address = f"127.0.0.1:{self.lender.start('127.0.0.1', 0)}"

    def paired(self) -> Helping:
        return Helping(pair_machines(self.main, self.address, self.lender.invite()), str(self.main))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lending]:
    made = Lending(tmp_path_factory.mktemp("machines"))
    yield made
    made.lender.stop()


@pytest.fixture
def lending(shared: Lending) -> Lending:
    """With nothing paired."""
    for machine in shared.identity.machines():
        shared.identity.remove(machine.fingerprint)
    shared.lender.invitation = None
    return shared


def refusal(ask: Callable[[], object]) -> MachineRefusal:
    with pytest.raises(MachineUnavailable) as refused:
        ask()
    return refused.value.why


def received(connected: socket.socket, size: int) -> bytes:
    """Up to the end, at most `size`."""
    data = bytearray()
    while len(data) < size and (more := connected.recv(1 << 16)):
        data += more
    return bytes(data)


def connection(lending: Lending) -> socket.socket:
    host, port = lending.address.split(":")
    return socket.create_connection((host, int(port)), 10)


def wait_until(holds: Callable[[], bool]) -> None:
    while not holds():
        threading.Event().wait(0.01)


def test_machines_are_paired_by_the_digits_that_one_shows(lending: Lending) -> None:
    code = lending.lender.invite()

    machine = pair_machines(lending.main, lending.address, f"{code[:4]} {code[4:]}\n")

    assert machine == Machine("Studio", lending.identity.fingerprint, lending.address)
    assert Identity(lending.main).machines() == (machine,)
    assert [known.fingerprint for known in lending.identity.machines()] == [Identity(lending.main).fingerprint]
    assert refusal(lambda: pair_machines(lending.main, lending.address, code)) is MachineRefusal.NOT_INVITING


def test_two_machines_may_each_be_paired_with_the_other(lending: Lending) -> None:
    there = lending.paired().machine
    own = Lender(Identity(lending.main), dict, memory_bytes=1)
    address = f"127.0.0.1:{own.start('127.0.0.1', 0)}"
    here = pair_machines(lending.identity.folder, address, own.invite())
    own.stop()
    (kept,) = Identity(lending.main).machines()
    assert (kept.fingerprint, kept.address) == (there.fingerprint, there.address)
    assert lending.identity.machines() == (here,)


def test_each_of_several_that_are_paired_is_known(lending: Lending, tmp_path: Path) -> None:
    """Their certificates have the same subject, so nothing but the keys tells them apart."""
    paired = [
        Helping(pair_machines(tmp_path / name, lending.address, lending.lender.invite()), str(tmp_path / name))
        for name in ("first", "second", "third")
    ]

    for helping in paired:
        assert machine_offer(helping, STARTER_MAIN).memory_bytes == 3 * GB


def test_pairing_that_is_cancelled_pairs_neither(lending: Lending, tmp_path: Path) -> None:
    code = lending.lender.invite()
    with pytest.raises(MachineUnavailable):
        pair_machines(tmp_path, lending.address, code, lambda: True)

    assert lending.identity.machines() == Identity(tmp_path).machines() == ()


def test_digits_may_be_wide(lending: Lending) -> None:
    code = lending.lender.invite().translate({ord(each): chr(ord(each) + 0xFEE0) for each in "0123456789"})

    assert pair_machines(lending.main, lending.address, code).name == "Studio"


def test_an_invitation_is_used_once_though_two_try_at_once() -> None:
    invitation = Invitation()
    assert invitation.take_try() == invitation.take_try()
    invitation.close()

    for use in (invitation.close, invitation.take_try):
        with pytest.raises(Declined):
            use()


def test_after_five_wrong_tries_the_right_digits_no_longer_hold(lending: Lending) -> None:
    code = lending.lender.invite()
    wrong = f"{(int(code) + 1) % 10**8:08}"

    tries = [refusal(lambda: pair_machines(lending.main, lending.address, wrong)) for _ in range(5)]

    assert set(tries) == {MachineRefusal.CODE}
    assert refusal(lambda: pair_machines(lending.main, lending.address, code)) is MachineRefusal.NOT_INVITING
    assert lending.identity.machines() == ()


def test_digits_hold_for_two_minutes(lending: Lending, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing, "INVITED_S", -1.0)

    assert refusal(lending.paired) is MachineRefusal.NOT_INVITING


def test_digits_do_not_outlast_a_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    invitation, now = Invitation(), time.time
    assert invitation.take_try() == invitation.code
    monkeypatch.setattr(time, "time", lambda: now() + 600)
    assert invitation.left_s == 0
    with pytest.raises(Declined):
        invitation.take_try()


def test_a_man_in_the_middle_is_paired_with_neither(lending: Lending, tmp_path: Path) -> None:
    """He knows no digits, but passes on every word in both directions."""
    code, between = lending.lender.invite(), Identity(tmp_path / "between")
    listening = socket.create_server(("127.0.0.1", 0))

    def pass_on() -> None:
        with suppress(OSError, WireEnded, WireBroken), ExitStack() as opened:
            secure = between.server_context().wrap_socket(listening.accept()[0], server_side=True)
            secure.send(bytes([PROTOCOL]))
            main = Wire(opened.enter_context(relayed(secure)[0]), Approach)
            onward = between.client_context(None).wrap_socket(connection(lending))
            onward.recv(1)
            helper = Wire(opened.enter_context(relayed(onward)[0]), Response)
            helper.send(main.receive()[0])
            answer = helper.receive()[0]
            assert isinstance(answer, Share)
            main.send(Share(answer.name, between.certificate, answer.share))
            main.send(helper.receive()[0])
            helper.send(main.receive()[0])

    thread = threading.Thread(target=pass_on)
    thread.start()
    address = f"127.0.0.1:{listening.getsockname()[1]}"

    assert refusal(lambda: pair_machines(lending.main, address, code)) is MachineRefusal.CODE
    thread.join()
    listening.close()
    assert lending.identity.machines() == ()


def test_a_paired_machine_learns_what_is_offered_to_a_model(lending: Lending, tmp_path: Path) -> None:
    helping = lending.paired()

    offer = machine_offer(helping, STARTER_MAIN)

    assert offer.memory_bytes == 3 * GB
    changed = tmp_path / "changed"
    changed.mkdir()
    for file in STARTER_DRAFT.iterdir():
        (changed / file.name).write_bytes(file.read_bytes())
    with (changed / "model.safetensors").open("r+b") as weights:
        weights.seek(-1, os.SEEK_END)
        last = weights.read(1)
        weights.seek(-1, os.SEEK_END)
        weights.write(bytes([last[0] ^ 1]))
    assert refusal(lambda: machine_offer(helping, changed)) is MachineRefusal.NO_MODEL


def test_files_that_have_not_changed_are_read_once_however_often_is_asked(tmp_path: Path) -> None:
    shutil.copytree(STARTER_DRAFT, tmp_path / "model")
    first = content_digest(tmp_path / "model")
    read = inspect._digest_of_files.cache_info().misses

    assert content_digest(tmp_path / "model") == first
    assert inspect._digest_of_files.cache_info().misses == read
    config = tmp_path / "model" / "config.json"
    config.write_text(config.read_text() + " ")
    assert content_digest(tmp_path / "model") != first


def test_of_models_of_other_sizes_nothing_is_read(lending: Lending) -> None:
    """There may be dozens, on a slow disk, and an answer is waited for only so long."""
    helping = lending.paired()
    inspect._digest_of_files.cache_clear()
    machine_offer(helping, STARTER_MAIN)
    assert next(iter(lending.models)) == STARTER_DRAFT
    assert inspect._digest_of_files.cache_info().misses == 1


def test_a_model_that_is_not_there_is_known_there_until_it_is(
    lending: Lending, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    helping = lending.paired()
    shutil.copytree(STARTER_MAIN, changed := tmp_path / "changed")
    (changed / "config.json").write_text((changed / "config.json").read_text() + " ")
    odd = [HubSource(), HubSource("owner/model", "main"), HubSource("../model", "c" * 40), HubSource("a/b\n", "c" * 40)]
    odd += [HubSource("owner/a--b", "c" * 40), HubSource("owner/model.", "c" * 40)]  # of which no folder can be made
    known = HubSource("owner/model", "c" * 40)
    for source in (*odd, known):
        assert lending.lender.wanted is None
        assert refusal(partial(machine_offer, helping, changed, source)) is MachineRefusal.NO_MODEL
    wanted = WantedModel(lending.identity.machines()[0], known)
    assert lending.lender.wanted == wanted
    models, meanwhile = lending.lender.models, list[WantedModel | None]()

    def looked_through() -> Mapping[Path, HubSource]:
        meanwhile.append(lending.lender.wanted)
        return models()

    monkeypatch.setattr(lending.lender, "models", looked_through)
    assert refusal(partial(machine_offer, helping, changed, known)) is MachineRefusal.NO_MODEL
    assert set(meanwhile) == {wanted}
    machine_offer(helping, STARTER_MAIN)
    assert lending.lender.wanted is None


def test_what_a_machine_wants_is_forgotten_with_it(tmp_path: Path) -> None:
    child, air = _Child(tmp_path / "helper"), Identity(tmp_path / "main")
    machine = Machine("Air", air.fingerprint, "")
    child.lender.wanted = WantedModel(machine, HubSource("owner/model", "c" * 40))
    child.identity.pair_with(machine, air.certificate)
    assert child.state().wanted_by == "Air"
    child.identity.remove(machine.fingerprint)
    assert child.state().wanted_by == ""


@pytest.mark.parametrize("removed_by", ["main", "helper"])
def test_a_machine_that_was_removed_is_a_stranger(removed_by: str, lending: Lending) -> None:
    helping = lending.paired()
    here = lending.identity if removed_by == "helper" else Identity(lending.main)

    assert here.remove(here.machines()[-1].fingerprint)

    assert refusal(lambda: machine_offer(helping, STARTER_MAIN)) is MachineRefusal.STRANGER


def test_a_machine_that_was_removed_is_a_stranger_on_an_open_connection_too(lending: Lending) -> None:
    helping = lending.paired()
    with _connected_to(helping) as connected:
        wire = Wire(connected, Response)
        wire.send(Ping())
        wire.receive()
        assert Identity(lending.identity.folder).remove(Identity(lending.main).fingerprint)

        wire.send(Ask(versions_here(), content_digest(STARTER_MAIN)))

        assert wire.receive()[0] == RankRefused(MachineRefusal.STRANGER.value, "")


def test_strangers_who_keep_quiet_keep_out_none_that_is_paired(lending: Lending) -> None:
    helping = lending.paired()
    with ExitStack() as opened:
        for _ in range(MOST_CONNECTIONS + 1):
            opened.enter_context(connection(lending))

        assert machine_offer(helping, STARTER_MAIN).memory_bytes == 3 * GB


def test_a_machine_on_a_cable_is_known_by_the_interface_as_well() -> None:
    """Python's `accept` leaves it out of the address, which without it leads nowhere."""
    interface = socket.if_nameindex()[0]
    assert host_of(("fe80::1", 7791, 0, interface[0])) == f"fe80::1%{interface[1]}"
    assert host_of(("2001:db8::7", 7791, 0, 0)) == "2001:db8::7"
    assert host_of(("::ffff:192.0.2.1", 7791, 0, 0)) == host_of(("192.0.2.1", 7791)) == "192.0.2.1"


def test_a_crowd_from_one_machine_keeps_out_no_other_and_none_that_is_known() -> None:
    with ExitStack() as opened:
        callers = Callers(4)
        ends: dict[Caller, socket.socket] = {}

        def call(host: str, machine: Machine | None = None) -> tuple[Caller, bool]:
            near, far = socket.socketpair()
            opened.enter_context(near)
            opened.enter_context(far)
            caller = Caller(near, host, machine)
            ends[caller] = far
            return caller, callers.add(caller)

        known, _ = call("10.0.0.2", Machine("Known", "", ""))
        other, _ = call("10.0.0.3")
        crowd = [call("10.0.0.4")[0] for _ in range(20)]
        assert len(callers) == 4
        assert all(ends[each].recv(1) == b"" for each in crowd[:-2])  # they were ended
        for each in (known, other, *crowd[-2:]):
            each.machine = Machine("Known", "", "")
        assert not call("10.0.0.5")[1]
        callers.remove(other)
        assert call("10.0.0.5")[1]


@pytest.mark.expect_log("a connection to another machine failed")
def test_a_connection_that_fails_makes_room_for_others(lending: Lending, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lending.lender.callers, "most", 2)
    helping = lending.paired()
    with monkeypatch.context() as patched:
        patched.setattr(lending.lender, "models", [].pop)
        for _ in range(3):
            assert refusal(lambda: machine_offer(helping, STARTER_MAIN)) is MachineRefusal.UNREACHABLE
            wait_until(lambda: not lending.lender.callers)

    assert machine_offer(helping, STARTER_MAIN).memory_bytes == 3 * GB


@pytest.mark.parametrize("after", [0, 3, 200, 1000, 1400, 1700])
def test_a_line_that_is_cut_anywhere_is_no_answer_and_costs_nothing(after: int, lending: Lending) -> None:
    """In the handshake, after it, and in the middle of a frame."""
    helping = lending.paired()
    with closing(Line(int(lending.address.rpartition(":")[2]))) as line:
        line.cut_after = after
        cut = Helping(replace(helping.machine, address=line.address), helping.identity)

        assert refusal(lambda: machine_offer(cut, STARTER_MAIN)) is MachineRefusal.UNREACHABLE
    assert machine_offer(helping, STARTER_MAIN).memory_bytes == 3 * GB


def test_a_line_that_drips_only_takes_longer(lending: Lending) -> None:
    helping = lending.paired()
    with closing(Line(int(lending.address.rpartition(":")[2]))) as line:
        line.most = 64
        slow = Helping(replace(helping.machine, address=line.address), helping.identity)

        assert machine_offer(slow, STARTER_MAIN).memory_bytes == 3 * GB


@pytest.mark.parametrize(
    ("protocol", "why"),
    [(PROTOCOL - 1, MachineRefusal.OLDER), (PROTOCOL + 1, MachineRefusal.NEWER), (ord("2"), MachineRefusal.MISBEHAVED)],
)
def test_a_machine_with_another_protocol_is_refused(
    protocol: int, why: MachineRefusal, lending: Lending, tmp_path: Path
) -> None:
    other = Identity(tmp_path / "other")
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            with other.server_context().wrap_socket(listening.accept()[0], server_side=True) as secure:
                secure.send(bytes([protocol]))
                secure.recv(1)

        thread = threading.Thread(target=answer)
        thread.start()
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        assert refusal(lambda: pair_machines(lending.main, address, "12345678")) is why
        thread.join()


@pytest.mark.parametrize(
    ("place", "asking", "why"),
    [
        (0, "0.0.9", MachineRefusal.NEWER),
        (0, "1000.1", MachineRefusal.OLDER),
        (1, "0.9.0", MachineRefusal.NEWER),
        (1, "0.100.0", MachineRefusal.OLDER),  # not as texts are ordered
        (2, "0.100.0", MachineRefusal.OLDER),
        (2, "", MachineRefusal.NEWER),
    ],
)
def test_a_machine_with_another_version_of_what_computes_is_refused_before_any_model_is_looked_for(
    place: int, asking: str, why: MachineRefusal, lending: Lending, monkeypatch: pytest.MonkeyPatch
) -> None:
    helping, here, name = lending.paired(), versions_here(), ("Hunch", "mlx", "mlx-lm")[place]
    monkeypatch.setattr(lent, "versions_here", lambda: (*here[:place], asking, *here[place + 1 :]))
    monkeypatch.setattr(lending.lender, "_look_for", lambda *_: pytest.fail("a model is looked for"))

    with pytest.raises(MachineUnavailable) as refused:
        machine_offer(helping, STARTER_MAIN)

    assert (refused.value.why, refused.value.detail) == (why, f"{name} {here[place]}")


@pytest.mark.parametrize("theirs", [(), ("1",), (*versions_here()[:2], "0.32.2rc1"), (*versions_here(), "more")])
def test_versions_are_the_same_or_not(theirs: tuple[str, ...]) -> None:
    assert (difference(theirs) is None) is (theirs[:3] == versions_here())


def test_a_machine_that_takes_too_long_is_out_of_reach_and_not_another_version(
    lending: Lending, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may read the files of all its models first."""
    helping, asked = lending.paired(), threading.Event()
    monkeypatch.setattr(pairing, "ANSWER_S", 0.5)
    monkeypatch.setattr(lending.lender, "_look_for", lambda *_: asked.wait(60))

    assert refusal(lambda: machine_offer(helping, STARTER_MAIN)) is MachineRefusal.UNREACHABLE
    asked.set()


def test_no_bytes_are_held_of_a_machine_that_is_to_be_paired(lending: Lending, tmp_path: Path) -> None:
    other, answered = Identity(tmp_path / "other"), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            secure = other.server_context().wrap_socket(listening.accept()[0], server_side=True)
            with secure, suppress(OSError):
                secure.send(bytes([PROTOCOL]))
                content = encoded(Pong())
                secure.sendall(struct.pack(">II", len(content), 1 << 20) + content)
                answered.wait(60)

        thread = threading.Thread(target=answer)
        thread.start()
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(MachineUnavailable) as refused:
            pair_machines(lending.main, address, "12345678")
        answered.set()
        thread.join()
    assert refused.value.why is MachineRefusal.MISBEHAVED
    assert "bytes" in refused.value.detail


def test_another_machine_at_the_same_address_is_a_stranger(lending: Lending, tmp_path: Path) -> None:
    helping, other = lending.paired(), Lending(tmp_path)
    moved = Helping(Machine("Studio", helping.machine.fingerprint, other.address), helping.identity)

    assert refusal(lambda: machine_offer(moved, STARTER_MAIN)) is MachineRefusal.STRANGER
    other.lender.stop()


def test_one_that_is_not_paired_may_ask_for_nothing_but_to_be(lending: Lending) -> None:
    secure = Identity(lending.main).client_context(None).wrap_socket(connection(lending))
    secure.recv(1)
    with relayed(secure)[0] as plain:
        wire = Wire(plain, Response)
        wire.send(Start(content_digest(STARTER_MAIN), "", 0))

        assert "stranger" in str(wire.receive()[0])
    assert lending.lender.lending is None


def lent_rank(helping: Helping, digest: str, memory_bytes: int, process: str = lent.THIS_PROCESS) -> lent.LentProcess:
    return lent.LentProcess(helping, Start(digest, process, memory_bytes), Reply)


def until_it_ends(rank: lent.LentProcess) -> None:
    with suppress(WireEnded, WireBroken):
        while rank.wire.arrives(60):
            rank.wire.receive()
        raise AssertionError


def test_only_one_machine_is_helped_at_a_time_and_only_as_long_as_it_is_paired(lending: Lending) -> None:
    """Whoever asks again has lost its rank, which makes room."""
    helping, digest = lending.paired(), content_digest(STARTER_MAIN)
    lost = lent_rank(helping, digest, GB)
    with pytest.raises(MachineUnavailable) as refused:
        lent_rank(helping, digest, GB, process="another process")
    assert refused.value.why is MachineRefusal.BUSY
    assert refused.value.detail == lending.identity.machines()[0].name

    again = lent_rank(helping, digest, GB)
    until_it_ends(lost)
    assert lending.lender.lending is not None

    lending.identity.remove(lending.identity.machines()[0].fingerprint)
    wait_until(lambda: lending.lender.lending is None)
    for rank in (lost, again):
        rank.end(0)


def test_a_model_over_two_machines_takes_the_place_of_a_draft_there_and_not_the_other_way_round(
    lending: Lending,
) -> None:
    helping, digest = lending.paired(), content_digest(STARTER_MAIN)
    order = DraftOrder(str(STARTER_DRAFT), 1, (), GB)
    station = lent_station(helping, order)
    rank = lent_rank(helping, digest, GB)
    until_it_ends(station)
    assert refusal(lambda: lent_station(helping, order)) is MachineRefusal.BUSY
    assert lending.lender.lending is not None
    assert not lending.lender.lending.drafts

    for process in (station, rank):
        process.end(0)
    wait_until(lambda: lending.lender.lending is None)


def test_a_machine_of_which_nothing_is_heard_has_vanished(lending: Lending, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped, asleep or unplugged: its sockets end nowhere. What it says while all is well it says by itself."""
    for module, name, value in ((lent, "BEAT_S", 0.01), (relaying, "_LOOK_S", 0.01), (lender, "SILENT_S", 0.5)):
        monkeypatch.setattr(module, name, value)
    rank = lent_rank(lending.paired(), content_digest(STARTER_MAIN), GB)
    assert isinstance(rank.wire.receive()[0], Pong)
    assert lending.lender.lending is not None

    rank._ended.set()

    wait_until(lambda: lending.lender.lending is None)
    rank.end(0)


def test_of_several_addresses_each_is_tried_and_only_the_same_machine_counts(lending: Lending, tmp_path: Path) -> None:
    paired, other = lending.paired().machine, Lending(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = f"127.0.0.1:{closed.getsockname()[1]}"
    tried = ways(lending.main, paired, addresses := [nobody, other.address, paired.address, "mac:x"])
    anyone = ways(lending.main, None, [other.address, paired.address])
    others = ways(lending.identity.folder, None, [other.address, lending.address])
    other.lender.stop()

    assert [way.address for way in tried] == addresses
    assert [way.trip_s < math.inf for way in tried] == [False, False, True, False]
    reasons = [way.error.why for way in tried if isinstance(way.error, MachineUnavailable)]
    assert reasons == [MachineRefusal.UNREACHABLE, MachineRefusal.STRANGER]
    assert isinstance(tried[-1].error, InvalidRequest)
    assert [way.error for way in anyone] == [None, None]
    assert [way.error is None for way in others] == [True, False], "a bridge to virtual machines has one address on all"


def test_an_address_that_says_nothing_keeps_those_that_answer_waiting_for_a_moment(
    lending: Lending, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lent, "_LATER_S", 0.0)
    paired = lending.paired().machine
    with socket.create_server(("127.0.0.1", 0)) as silent:
        tried = ways(lending.main, paired, [f"127.0.0.1:{silent.getsockname()[1]}", paired.address])
        with silent.accept()[0] as connection:
            connection.recv(1)  # one that ends before its first byte is never closed by Python's own

    assert [way.error is None for way in tried] == [False, True]


def test_a_machine_that_has_moved_is_paired_at_its_new_address(lending: Lending) -> None:
    paired, own = lending.paired().machine, Identity(lending.main)
    own.move(paired.fingerprint, "10.0.0.9:7791")
    own.move("0" * 64, "10.0.0.8:7791")
    assert own.machines() == (replace(paired, address="10.0.0.9:7791"),)


def test_no_more_is_promised_than_is_lent_by_then(lending: Lending) -> None:
    helping, digest = lending.paired(), content_digest(STARTER_MAIN)

    assert refusal(lambda: lent_rank(helping, digest, 3 * GB + 1)) is MachineRefusal.MEMORY
    assert refusal(lambda: lent_rank(helping, digest, 0)) is MachineRefusal.MISBEHAVED
    assert lending.lender.lending is None


def test_what_is_lent_can_be_taken_back(lending: Lending) -> None:
    rank = lent_rank(lending.paired(), content_digest(STARTER_MAIN), GB)
    lending.lender.take_back()
    until_it_ends(rank)
    rank.end(0)
    wait_until(lambda: lending.lender.lending is None)


def test_nothing_that_listens_is_out_of_reach(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"127.0.0.1:{closed.getsockname()[1]}"
    assert refusal(lambda: pair_machines(tmp_path, address, "1")) is MachineRefusal.UNREACHABLE


@pytest.mark.parametrize("number", [errno.EHOSTUNREACH, errno.ENETUNREACH])
def test_where_the_system_has_no_way_that_is_told_apart(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first also where a Mac's user has not let the program into the local network; the second without any."""

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(socket, "create_connection", refuse)
    assert refusal(lambda: pair_machines(tmp_path, "10.0.0.7", "1")) is MachineRefusal.NO_ROUTE


@given(sent=st.lists(st.binary(max_size=200), max_size=3), encrypted=st.booleans())
@settings(max_examples=25, deadline=None)
def test_no_bytes_of_a_stranger_end_the_lender(sent: list[bytes], encrypted: bool, shared: Lending) -> None:
    connected = connection(shared)
    with suppress(OSError):
        if encrypted:
            connected = Identity(shared.main).client_context(None).wrap_socket(connected)
        for data in sent:
            connected.sendall(data)
    connected.close()

    assert pair_machines(shared.main, shared.address, shared.lender.invite()).name == "Studio"


@pytest.mark.parametrize("value", [Share("x", "no certificate", "00"), Share("x", "", "zz"), Proof("")])
def test_what_is_no_exchange_is_refused(value: Share | Proof, lending: Lending) -> None:
    lending.lender.invite()
    secure = Identity(lending.main).client_context(None).wrap_socket(connection(lending))
    secure.recv(1)
    with relayed(secure)[0] as plain:
        wire = Wire(plain, Response)
        wire.send(value)

        assert "Refused" in type(wire.receive()[0]).__name__


TEXT = st.text(max_size=20) | st.sampled_from(["00" * 33, "41" + "00" * 32, "-----BEGIN CERTIFICATE-----"])
APPROACHES = st.one_of(
    st.just(Ping()),
    st.builds(Share, TEXT, TEXT, TEXT),
    st.builds(Proof, TEXT),
    st.builds(Ask, TEXT),
    st.builds(Start, TEXT, TEXT, st.integers(0, 1 << 52)),
)


@given(said=st.lists(APPROACHES, max_size=4), own=st.booleans())
@settings(max_examples=25, deadline=None)
def test_no_words_of_a_stranger_pair_it_or_have_anything_lent(said: list[Approach], own: bool, shared: Lending) -> None:
    """`own`: its first word is the beginning of an exchange with its own certificate, so the next may be a proof."""
    shared.lender.invite()
    before, stranger = shared.identity.machines(), Identity(shared.main.with_name("stranger"))
    secure = stranger.client_context(None).wrap_socket(connection(shared))
    secure.recv(1)
    with relayed(secure)[0] as plain, suppress(WireEnded, WireBroken):
        wire, ids = Wire(plain, Response), (bytes.fromhex(each.fingerprint) for each in (stranger, shared.identity))
        exchange = pairing._exchange("SPAKE2_A", "0" * 8, *ids).start().hex()
        for value in [*[Share("x", stranger.certificate, exchange)] * own, *said]:
            wire.send(value)
            while not isinstance(wire.receive()[0], Pong | Share | RankRefused):
                pass

    assert shared.identity.machines() == before
    assert shared.lender.lending is None


def test_names_from_elsewhere_fit_on_one_line() -> None:
    assert [shown_name(name) for name in ("A\nB\x1b[31m", "", "x" * 500)] == ["AB[31m", "?", "x" * 64]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("mac", ("mac", 7791)),
        ("1.2.3.4:9", ("1.2.3.4", 9)),
        ("[::1]:9", ("::1", 9)),
        ("fe80::1%en0", ("fe80::1%en0", 7791)),
    ],
)
def test_addresses(address: str, expected: tuple[str, int]) -> None:
    assert host_and_port(address) == expected


@pytest.mark.parametrize("address", ["", ":9", "mac:0", "mac:99999", "mac:x", "192.168..5", "m" * 64])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidRequest):
        host_and_port(address)


def test_a_relay_carries_everything_both_ways_and_ends_with_either_side() -> None:
    (near, near_end), (far, far_end) = socket.socketpair(), socket.socketpair()
    thread = threading.Thread(target=relay, args=(near_end, far_end))
    thread.start()
    there, back = os.urandom(3_000_000), os.urandom(3_000_000)  # more than it holds
    senders = [threading.Thread(target=side.sendall, args=(data,)) for side, data in ((near, there), (far, back))]
    for sender in senders:
        sender.start()

    assert received(far, len(there)) == there
    assert received(near, len(back)) == back
    for sender in senders:
        sender.join()
    near.sendall(b"last words")
    near.close()
    assert received(far, 100) == b"last words"
    thread.join()
    far.close()


class Beats:
    """The time of a relay, in which one side says something at these moments; each look takes `late_s` too long."""

    def __init__(self, at_s: list[float], late_s: float) -> None:
        self.now_s = 0.0
        self._at_s, self._late_s = at_s, late_s
        self._main, main_end = socket.socketpair()
        self._rank, rank_end = socket.socketpair()
        with self._main, self._rank:
            relay(main_end, rank_end, SILENT_S, lambda: self.now_s, self._wait)

    def _wait(self, _one: object, _other: object, within_s: float) -> None:
        due_s = self._at_s[0] if self._at_s else math.inf
        self.now_s = max(self.now_s, min(self.now_s + within_s, due_s) + self._late_s)
        if self.now_s >= due_s:
            self._at_s.pop(0)
            self._main.send(b"beat")


@pytest.mark.parametrize("late_s", [0.0, 0.05, 0.25])
def test_a_main_that_is_stopped_is_gone_from_a_lending_machine_in_ten_seconds(late_s: float) -> None:
    beats_s = [BEAT_S * number for number in range(1, 101)]
    gone_s = Beats(beats_s.copy(), late_s).now_s + lender.END_S - beats_s[-1]

    assert SILENT_S <= gone_s < 10


@pytest.mark.parametrize("pause_s", [BEAT_S, 3.0, SILENT_S - BEAT_S - 0.5])
def test_a_main_that_pauses_keeps_what_it_is_lent(pause_s: float) -> None:
    beats_s = [number * (BEAT_S + pause_s) for number in range(1, 101)]

    assert Beats(beats_s.copy(), 0.05).now_s > beats_s[-1]


def test_a_lending_machine_that_was_stopped_itself_gives_the_main_time_to_say_something() -> None:
    assert Beats([60.0], 30.0).now_s > 60  # it looked twice in that minute


def test_a_relay_does_not_wait_for_one_that_never_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relaying, "LAST_WORDS_S", 0.01)
    (near, near_end), (far, far_end) = socket.socketpair(), socket.socketpair()
    thread = threading.Thread(target=relay, args=(near_end, far_end), daemon=True)
    thread.start()
    near.sendall(bytes(1_000_000))
    near.close()

    thread.join(60)
    assert not thread.is_alive()
    far.close()


@pytest.mark.parametrize("damaged", ["key.pem", "certificate.pem"])
def test_a_damaged_identity_is_refused(damaged: str, tmp_path: Path) -> None:
    Identity(tmp_path)
    (tmp_path / damaged).write_bytes(b"\xff")

    with pytest.raises(InvalidRequest):
        Identity(tmp_path)


def test_two_starts_at_once_make_one_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []
    make, both = identity._make_certificate, threading.Barrier(2)

    def make_together(folder: Path) -> None:
        made.append(folder)
        with suppress(threading.BrokenBarrierError):
            both.wait(0.1)
        make(folder)

    monkeypatch.setattr(identity, "_make_certificate", make_together)
    threads = [threading.Thread(target=Identity, args=(tmp_path,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(made) == 1


def test_what_is_no_certificate_keeps_out_no_other(lending: Lending) -> None:
    helping = lending.paired()
    none = "-----BEGIN CERTIFICATE-----\nMAAA\n-----END CERTIFICATE-----\n"
    lending.identity.pair_with(Machine("None", fingerprint_of(none), ""), none)

    assert machine_offer(helping, STARTER_MAIN).memory_bytes == 3 * GB


def test_a_proof_of_other_letters_is_a_wrong_one() -> None:
    with pytest.raises(Declined):
        pairing._check(Proof("é\ud800"), b"", b"")


def test_where_another_listens_lend_says_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        options = ["--models", str(tmp_path), "--identity", str(tmp_path), "--listen", f"127.0.0.1:{port}"]
        assert main(["lend", *options]) == 1

    assert "AddressInUse" in capfd.readouterr().err


def test_what_is_lent_is_said_when_it_changes() -> None:
    said: list[str] = []
    spoken = _Spoken(said.append, "lends", lambda: said.append("ends"))
    ready = LendingState(LendingPhase.READY)
    wanted = replace(ready, wanted_by="Air", wanted_repository="owner/model")
    coded = replace(ready, code="12345678", user="Air", folder="/m")
    for state in (LendingState(), ready, ready, wanted, wanted, coded, LendingState(LendingPhase.FAILED, "busy")):
        spoken.on_state(state)

    assert said == [
        "lends",
        "nobody uses this machine",
        "Air would use owner/model, which is not here",
        "Digits for the other machine: 1234 5678, for two minutes",
        "Air uses this machine: /m",
        '{"error": "busy"}',
        "ends",
    ]


@pytest.mark.parametrize(
    ("program", "phases"),
    [
        ("print('{\"pha', end='')", [LendingPhase.STARTING, LendingPhase.FAILED]),  # it was killed while it wrote
        (
            """print('a warning\\n[1]\\n{"phase": "lost"}\\n{"phase": "ready"}')""",
            [LendingPhase.STARTING, LendingPhase.READY, LendingPhase.FAILED],
        ),
    ],
)
def test_what_else_the_process_prints_is_no_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, phases: list[LendingPhase]
) -> None:
    monkeypatch.setattr(lending_process, "command", lambda *_: [sys.executable, "-c", program])
    states: queue.SimpleQueue[LendingState] = queue.SimpleQueue()
    process = LendingProcess(tmp_path, "127.0.0.1:1", states.put)
    process.start()

    assert [states.get(timeout=60).phase for _ in phases] == phases
    assert process.stop(60)


def test_a_key_is_this_users_alone(tmp_path: Path) -> None:
    identity = Identity(tmp_path / "new")

    assert [(tmp_path / "new" / name).stat().st_mode & 0o77 for name in ("", "key.pem", "certificate.pem")] == [0, 0, 0]
    assert Identity(tmp_path / "new").fingerprint == identity.fingerprint
    (tmp_path / "new" / "machines.json").write_text('{"machines": [{"name": 1}, 2, {"name": "", "address": ""}]}')
    assert identity.machines() == ()


def test_what_cannot_be_the_digits_costs_no_try(lending: Lending) -> None:
    code = lending.lender.invite()
    for _ in range(6):
        assert refusal(lambda: pair_machines(lending.main, lending.address, "\n")) is MachineRefusal.CODE

    assert pair_machines(lending.main, lending.address, code).name == "Studio"


def test_pairings_that_cannot_be_read_stay_beside_the_new_ones(tmp_path: Path) -> None:
    identity = Identity(tmp_path / "one")
    (tmp_path / "one" / "machines.json").write_text('{"machines": [')

    identity.pair_with(Machine("Studio", "", "studio:1"), Identity(tmp_path / "other").certificate)

    assert [machine.name for machine in identity.machines()] == ["Studio"]
    assert (tmp_path / "one" / "machines.damaged").read_text() == '{"machines": ['


def test_a_disk_that_takes_no_pairing_is_no_machine_out_of_reach(
    lending: Lending, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Identity(tmp_path / "main")

    def full(path: Path, data: str, **options: int) -> None:
        if path.is_relative_to(tmp_path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_atomically(path, data, most_bytes=options["most_bytes"])

    monkeypatch.setattr(identity, "write_atomically", full)
    with pytest.raises(InvalidRequest, match="main"):
        pair_machines(tmp_path / "main", lending.address, lending.lender.invite())


def test_a_name_that_a_machine_chose_stands_for_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    identity, folder = Identity(tmp_path / "here"), str(tmp_path / "here")
    for number, name in enumerate(("Mini:1", "studio:1", "twin", "twin")):
        known = Identity(tmp_path / name / str(number))
        identity.pair_with(Machine(name, "", f"studio:{number}"), known.certificate)

    assert main(["machines", "--identity", folder, "--remove", "studio:1"]) == 0
    assert main(["machines", "--identity", folder, "--remove", "twin"]) == 1
    assert [machine.address for machine in identity.machines()] == ["studio:0", "studio:2", "studio:3"]
    assert main(["machines", "--identity", folder, "--remove", identity.machines()[1].fingerprint[:16]]) == 0
    assert [machine.address for machine in identity.machines()] == ["studio:0", "studio:3"]
    assert "stranger" in capsys.readouterr().err


def test_the_machines_are_listed_where_a_pipe_reads_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    identity = Identity(tmp_path / "here")
    there = Identity(tmp_path / "there")
    identity.pair_with(Machine("Mini", "", "mini.local"), there.certificate)
    assert main(["machines", "--identity", str(tmp_path / "here")]) == 0
    assert capsys.readouterr().out == f"Mini\tmini.local\t{there.fingerprint[:16]}\n"


def test_a_machine_is_known_with_and_without_the_usual_port(tmp_path: Path) -> None:
    identity = Identity(tmp_path / "here")
    machine = Machine("Mac: office", "", "studio.local")
    identity.pair_with(machine, Identity(tmp_path / "there").certificate)
    for wanted in ("studio.local", f"studio.local:{DEFAULT_PORT}", machine.name):
        assert command.helping(tmp_path / "here", wanted).machine.name == machine.name


def test_a_plan_leaves_what_is_promised_to_another_machine(lending: Lending, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "_aside", [GB])
    plan = plan_with(STARTER_MAIN, [lending.paired()])
    assert [share.available_bytes for share in plan.shares] == [fit.model_memory_bytes() - GB, 3 * GB]


def test_a_machine_helps_once(tmp_path: Path) -> None:
    twice = [Helping(Machine("Studio", "f" * 64, "10.0.0.7"), str(tmp_path))] * 2
    with pytest.raises(InvalidRequest, match="machines"):
        plan_with(STARTER_MAIN, twice)


def test_a_connection_that_is_over_before_it_is_accepted_keeps_out_no_other(
    lending: Lending, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a Mac it has no address."""
    addresses: list[Any] = [None]

    monkeypatch.setattr(lender, "host_of", lambda address: host_of(addresses.pop() if addresses else address))
    over = connection(lending)
    assert received(over, 1) == b""
    over.close()
    assert lending.paired().machine.name == "Studio"
