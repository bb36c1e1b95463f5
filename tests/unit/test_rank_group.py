"""Rank 0 beside ranks that answer, fall silent, stall, lie or go: scripted peers over a real socket, no MLX."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import RankEnd, RankLost
from engine.cluster import rank_group, worker
from engine.cluster.operations import (
    CanTruncate,
    Commit,
    Drop,
    Forward,
    Gather,
    Gathered,
    Join,
    Joined,
    Loaded,
    LoadPart,
    Operation,
    RankProgress,
    Reply,
    Stepped,
    digest_of_states,
)
from engine.cluster.rank_group import RankGroup
from engine.machines.messages import PROTOCOL, Hello, NotAValue, Ping, Pong, RankAnswer, RankBroken, decoded, encoded
from engine.machines.versions import hello_here, versions_here
from engine.machines.wire import Wire, WireBroken, WireEnded
from engine.server.problems import problem_of
from tests.helpers.loading import at_once

Script = Callable[[Wire, socket.socket], None]
STATES = b"12345678"


class Peer:
    """A rank whose words are a script, on a thread."""

    def __init__(self, script: Script) -> None:
        ours, theirs = socket.socketpair()
        self.wire, self.ended = Wire(ours, Reply, frame_s=0.2), False
        self._theirs = theirs
        self._thread = threading.Thread(target=self._run, args=(script,))
        self._thread.start()

    def _run(self, script: Script) -> None:
        with suppress(WireEnded, WireBroken, OSError):
            script(Wire(self._theirs, Operation), self._theirs)
        self._theirs.close()

    machine = "Studio"
    silent_s: float | None = None

    def end(self, patience_s: float = 0.0) -> None:
        self.wire.close()
        with suppress(OSError):  # the script's thread may have closed it
            self._theirs.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self.ended = True


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is measured: what must be waited for comes, and what never comes is not waited for long."""
    monkeypatch.setattr(rank_group, "BEAT_S", 0.02)
    monkeypatch.setattr(rank_group, "MISSED", 10_000)  # only who falls silent is to be taken for it
    monkeypatch.setattr(rank_group, "MOST_PONGS", 200)


def joined(wire: Wire, digest: str = "files") -> None:
    wire.send(hello_here())
    value, _ = received(wire)
    assert isinstance(value, LoadPart)
    wire.send(RankProgress(1, 2))
    wire.send(Loaded(digest, False))


def received(wire: Wire) -> tuple[object, bytearray]:
    """The next operation; pings are answered."""
    while True:
        value, data = wire.receive()
        if not isinstance(value, Ping):
            return value, data
        wire.send(Pong())


def good(wire: Wire, _: socket.socket) -> None:
    joined(wire)
    while True:
        value, data = received(wire)
        if isinstance(value, Forward):
            wire.send(Stepped("float32"), bytes(data) + STATES[len(data) :])
        if isinstance(value, CanTruncate):
            wire.send(RankAnswer(value.position > 3))


def after_joining(script: Script) -> Script:
    def run(wire: Wire, raw: socket.socket) -> None:
        joined(wire)
        received(wire)
        script(wire, raw)

    return run


def never_again(_wire: Wire, raw: socket.socket) -> None:
    while raw.recv(1 << 16):
        pass


def of_other_files(wire: Wire, raw: socket.socket) -> None:
    joined(wire, "others")
    never_again(wire, raw)


def only_pongs(wire: Wire, _: socket.socket) -> None:
    received(wire)


def pongs_without_end(wire: Wire, _: socket.socket) -> None:
    while True:
        wire.send(Pong())


def drip(_wire: Wire, raw: socket.socket) -> None:
    frame = struct.pack(">II", 20, 0) + b"x" * 20
    for byte in frame:
        raw.send(bytes([byte]))
        time.sleep(0.03)


LOST: dict[str, tuple[Script, RankEnd]] = {
    "goes before its first word": (lambda _wire, _raw: None, RankEnd.ENDED),
    "has another protocol": (lambda wire, _: wire.send(Hello(1, versions_here())), RankEnd.DIFFERS),
    "has another Hunch": (lambda wire, _: wire.send(Hello(PROTOCOL, ("0", *versions_here()[1:]))), RankEnd.DIFFERS),
    "has other files": (of_other_files, RankEnd.DIFFERS),
    "goes in a step": (after_joining(lambda _wire, _raw: None), RankEnd.ENDED),
    "falls silent": (after_joining(never_again), RankEnd.SILENT),
    "stalls": (after_joining(only_pongs), RankEnd.STALLED),
    "sends pongs without end": (after_joining(pongs_without_end), RankEnd.STALLED),
    "fails": (after_joining(lambda wire, _: wire.send(RankBroken("ValueError", "x"))), RankEnd.FAILED),
    "lacks memory": (after_joining(lambda wire, _: wire.send(RankBroken("ModelTooLarge", "x"))), RankEnd.MEMORY),
    "answers another question": (after_joining(lambda wire, _: wire.send(RankAnswer(True))), RankEnd.MISBEHAVED),
    "sends fewer states": (after_joining(lambda wire, _: wire.send(Stepped("float32"), b"1")), RankEnd.MISBEHAVED),
    "sends states of no type": (
        after_joining(lambda wire, _: wire.send(Stepped("str"), STATES)),
        RankEnd.MISBEHAVED,
    ),
    "sends no states of no type": (after_joining(lambda wire, _: wire.send(Stepped("str"))), RankEnd.MISBEHAVED),
    "sends junk": (after_joining(lambda _, raw: raw.sendall(b"\xff" * 64)), RankEnd.MISBEHAVED),
    "stops in a frame": (after_joining(lambda _, raw: raw.sendall(b"\0\0\0\x20\0\0\0\0{")), RankEnd.ENDED),
    "drips": (after_joining(drip), RankEnd.MISBEHAVED),
}


@pytest.fixture
def peers() -> Iterator[list[Peer]]:
    made: list[Peer] = []
    yield made
    for peer in made:
        peer.end()


def started(peers: list[Peer], *scripts: Script) -> RankGroup:
    def start(script: Script) -> Peer:
        peers.append(Peer(script))
        return peers[-1]

    return RankGroup(partial(start, script) for script in scripts)


def run(group: RankGroup) -> bytes:
    list(group.greet())
    group.load("folder", (1, 1, 1))
    list(group.loaded("files"))
    return bytes(group.forward(1, 0, [1, 2], 2)[0])


def test_a_step_goes_through_all_ranks_the_first_layers_first(peers: list[Peer]) -> None:
    group = started(peers, good, good)

    assert run(group) == STATES
    assert not group.is_short()
    group.send(Commit(1, 2))
    assert [group.can_truncate(1, 2), group.can_truncate(1, 5)] == [False, True]


@pytest.mark.parametrize(("script", "why"), LOST.values(), ids=LOST)
def test_a_rank_that_is_lost_ends_all_with_the_reason(
    script: Script, why: RankEnd, peers: list[Peer], monkeypatch: pytest.MonkeyPatch
) -> None:
    if why is RankEnd.SILENT:
        monkeypatch.setattr(rank_group, "MISSED", 3)
    if why is RankEnd.STALLED:
        for patience in ("LEAST_STEP_S", "FIRST_STEP_S"):
            monkeypatch.setattr(rank_group, patience, 0.2)
    group = started(peers, good, script)

    with pytest.raises(RankLost) as lost:
        run(group)
    with pytest.raises(RankLost) as again:
        group.send(Commit(1, 1))

    assert (lost.value.rank, lost.value.why, lost.value.machine) == (2, why, "Studio")
    assert str(again.value) == str(lost.value)
    assert group.lost is not None
    assert group.lost.__traceback__ is None
    assert all(peer.ended for peer in peers)


def part(
    digest: str | None = None, states: tuple[bytes, bytes] = (STATES, b""), dtype: str = "float32", most: int = 1
) -> Script:
    """A rank of tensor mode, whose one step has these results, by its place."""

    def run(wire: Wire, raw: socket.socket) -> None:
        wire.send(hello_here())
        asked = received(wire)[0]
        assert isinstance(asked, Join)
        assert asked.links == (f"to {asked.place}",)
        wire.send(Gather(), bytes([asked.place]) * most)
        assert received(wire) == (Gathered(), bytearray([0, 1]))
        wire.send(Joined(5 + asked.place, 9))
        assert received(wire)[0] == LoadPart("folder", 1 + asked.place, ())
        wire.send(Loaded("files", False))
        assert received(wire)[0] == Forward(1, 0, (1, 2), layers=(3,))
        wire.send(Stepped(dtype, digest=digest_of_states(STATES) if digest is None else digest), states[asked.place])
        never_again(wire, raw)

    return run


def step_of(group: RankGroup) -> tuple[tuple[float, int], bytes]:
    def joined() -> Generator[None, None, tuple[float, int]]:
        yield from group.greet()
        return (yield from group.join("ring", lambda place: (f"to {place}",)))

    speeds = at_once(joined())
    group.load("folder", ())
    list(group.loaded("files"))
    return speeds, bytes(group.forward(1, 0, [1, 2], 2, (3,))[0])


def test_in_tensor_mode_one_hands_over_what_both_have(peers: list[Peer]) -> None:
    assert step_of(started(peers, part(), part())) == ((6e-9, 9), STATES)


def instead_of_joining(script: Script) -> Script:
    def run(wire: Wire, raw: socket.socket) -> None:
        wire.send(hello_here())
        received(wire)
        script(wire, raw)

    return run


def instead_of_a_step(script: Script) -> Script:
    """After joining, beside one that waits for it in a sum."""

    def run(wire: Wire, raw: socket.socket) -> None:
        wire.send(hello_here())
        place = getattr(received(wire)[0], "place", 0)
        wire.send(Gather(), bytes([place]))
        received(wire)
        wire.send(Joined(5, 9))
        received(wire)
        wire.send(Loaded("files", False))
        received(wire)
        script(wire, raw)

    return run


def waiting(wire: Wire, _: socket.socket) -> None:
    while True:
        received(wire)


def talks_without_end(wire: Wire, _: socket.socket) -> None:
    for _number in range(5000):
        wire.send(Pong())
        time.sleep(0.001)


def goes(_wire: Wire, _raw: socket.socket) -> None:
    pass


def fails(wire: Wire, _: socket.socket) -> None:
    wire.send(RankBroken("RuntimeError", "a sum"))


WAITS = instead_of_a_step(waiting)
APART: dict[str, tuple[Script, Script, int, RankEnd]] = {
    "the second has other states": (part(), part("other"), 2, RankEnd.MISBEHAVED),
    "the first has others than it sends": (part("other"), part(), 1, RankEnd.MISBEHAVED),
    "the second has another type": (part(), part(dtype="float16"), 2, RankEnd.MISBEHAVED),
    "both send states": (part(), part(states=(STATES, STATES)), 2, RankEnd.MISBEHAVED),
    "the first sends none": (part(states=(b"", b"")), part(), 1, RankEnd.MISBEHAVED),
    "one goes, for which the other waits": (WAITS, instead_of_a_step(goes), 2, RankEnd.ENDED),
    "one goes, and the other's sum fails": (instead_of_a_step(fails), instead_of_a_step(goes), 2, RankEnd.ENDED),
    "one fails": (instead_of_a_step(fails), WAITS, 1, RankEnd.FAILED),
    "one fails, and the other talks without end": (
        instead_of_a_step(fails),
        instead_of_a_step(talks_without_end),
        1,
        RankEnd.FAILED,
    ),
    "one goes while it joins": (instead_of_joining(waiting), instead_of_joining(goes), 2, RankEnd.ENDED),
    "one joins no group": (instead_of_joining(waiting), instead_of_joining(waiting), 1, RankEnd.STALLED),
    "one gathers too much": (part(), part(most=rank_group.MOST_GATHERED + 1), 2, RankEnd.MISBEHAVED),
    "one has joined by itself": (
        part(),
        instead_of_joining(lambda wire, _: wire.send(Joined(1, 1))),
        2,
        RankEnd.MISBEHAVED,
    ),
}


@pytest.mark.parametrize(("first", "second", "lost", "why"), APART.values(), ids=APART)
def test_a_rank_that_is_lost_in_tensor_mode_is_named(
    first: Script, second: Script, lost: int, why: RankEnd, peers: list[Peer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the other one waits for."""
    if why is RankEnd.STALLED:
        monkeypatch.setattr(rank_group, "JOIN_S", 0.5)
    if why is RankEnd.ENDED:  # which comes, however busy the machine is
        monkeypatch.setattr(rank_group, "NOTICED_S", 60.0)
    group = started(peers, first, second)
    with pytest.raises(RankLost) as error:
        step_of(group)

    assert (error.value.rank, error.value.why) == (lost, why)
    assert all(peer.ended for peer in peers)


def test_after_a_frame_that_nobody_read_nothing_is_sent() -> None:
    """A part of it is under way: what came after would be read as the rest of it."""
    ours, theirs = socket.socketpair()
    wire = Wire(ours, Reply, frame_s=0.05)
    with pytest.raises(WireBroken):
        wire.send(Ping(), bytes(1 << 24))
    with pytest.raises(WireEnded):
        wire.send(Ping())
    wire.close()
    theirs.close()


def test_a_rank_whose_memory_is_short_is_heard_of_once(peers: list[Peer]) -> None:
    group = started(peers, after_joining(lambda wire, _: wire.send(Stepped("float32", True), STATES)), good)
    run(group)

    assert [group.is_short(), group.is_short()] == [True, False]


AT_REST: dict[str, tuple[Script, RankEnd]] = {
    "goes": (lambda _wire, _raw: None, RankEnd.ENDED),
    "falls silent": (never_again, RankEnd.SILENT),
    "sends pongs without end": (pongs_without_end, RankEnd.STALLED),
    "fails": (lambda wire, _: wire.send(RankBroken("ValueError", "x")), RankEnd.FAILED),
    "says what nobody asked": (lambda wire, _: wire.send(RankAnswer(True)), RankEnd.MISBEHAVED),
    "sends junk": (lambda _, raw: raw.sendall(b"\xff" * 64), RankEnd.MISBEHAVED),
}


@pytest.mark.parametrize(("script", "why"), AT_REST.values(), ids=AT_REST)
def test_a_rank_that_is_lost_at_rest_is_noticed(
    script: Script, why: RankEnd, peers: list[Peer], monkeypatch: pytest.MonkeyPatch
) -> None:
    if why is RankEnd.SILENT:
        monkeypatch.setattr(rank_group, "MISSED", 3)
        monkeypatch.setattr(rank_group, "IDLE_BEAT_S", 0.01)

    def until_asked(wire: Wire, raw: socket.socket) -> None:
        joined(wire)
        received(wire)
        wire.send(Stepped("float32"), STATES)
        script(wire, raw)

    group = started(peers, good, until_asked)
    run(group)
    until = time.monotonic() + 60
    while group.look() is None and time.monotonic() < until:
        time.sleep(0.001)

    assert group.lost is not None
    assert (group.lost.rank, group.lost.why) == (2, why)
    assert all(peer.ended for peer in peers)


def test_ranks_that_answer_stay_however_often_one_looks(peers: list[Peer], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_group, "IDLE_BEAT_S", 0.0)
    group = started(peers, good, good)
    run(group)
    for _ in range(5):
        assert group.look() is None
        assert group._helpers[0].wire.arrives(60)
        assert group._helpers[1].wire.arrives(60)
    for _ in range(5):  # whose answers the next step reads
        assert group.look() is None
        assert bytes(group.forward(1, 2, [1, 2], 2)[0]) == STATES


def test_a_client_of_the_server_learns_that_the_model_has_to_be_loaded_again() -> None:
    problem = problem_of(RankLost(1, RankEnd.FAILED, "/a/path: of this machine"))

    assert (problem.status, problem.code) == (503, "rank_lost")
    assert "/a/path" not in problem.message


def test_a_rank_that_cannot_be_started_leaves_none(peers: list[Peer]) -> None:
    def start() -> Peer:
        if peers:
            raise OSError("no more processes")
        peers.append(Peer(good))
        return peers[-1]

    with pytest.raises(OSError, match="no more"):
        RankGroup([start, start])

    assert peers[0].ended


def test_what_is_forgotten_on_any_thread_goes_with_the_next_operation_or_look(peers: list[Peer]) -> None:
    heard: list[object] = []

    def listen(wire: Wire, _: socket.socket) -> None:
        joined(wire)
        while True:
            heard.append(received(wire)[0])
            if isinstance(heard[-1], Forward):
                wire.send(Stepped("float32"), STATES)

    group = started(peers, listen)
    run(group)
    group.forget(1)
    group.forget(2)
    group.forward(3, 0, [1], 2)

    assert [type(value).__name__ for value in heard] == ["Forward", "Drop", "Forward"]
    assert heard[1] == Drop((1, 2))
    group.forget(3)  # at rest, too: the memory is another machine's
    assert group.look() is None
    group.forget(4)
    group.forward(5, 0, [1], 2)
    assert heard[3:] == [Drop((3,)), Drop((4,)), Forward(5, 0, (1,))]


def test_what_waits_in_a_rank_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process ends then: whoever is paired is not to fill a machine's memory."""
    monkeypatch.setattr(worker, "MOST_BYTES", 10)
    inbox = worker.Inbox()
    for _ in range(worker.MOST_WAITING):
        inbox.put(Commit(1, 0), bytearray())
    with pytest.raises(WireBroken):
        inbox.put(Commit(1, 0), bytearray())

    inbox = worker.Inbox()
    for _ in range(3):
        inbox.put(Forward(1, 0, (1,)), bytearray(10))
        inbox.get()
    inbox.put(Forward(1, 0, (1,)), bytearray(10))
    with pytest.raises(WireBroken):
        inbox.put(Forward(1, 0, (1,)), bytearray(1))


VALUES = [
    LoadPart("a\udcff", 1, (2, 3)),
    Forward(1, 0, (1, 2)),
    Commit(1, 0),
    Drop((1,)),
    RankAnswer(True),
    Ping(),
    hello_here(),
]
WRONG: dict[Any, list[Any]] = {
    int: [-1, 1 << 53, 1.5, True, None, "1", [1]],
    str: [1, None, "x" * 4097, ["x"]],
    bool: [0, 1, None, "true"],
    tuple[int, ...]: [1, None, "x", [-1], [True], ["x"], [[0]], [0] * 65537, {}],
    tuple[str, ...]: [None, "x", [1], [None]],
}


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_anything_else_is_no_value(value: Operation | Reply) -> None:
    """Every field has its type and range, or it is refused; so are a value without one, and one with another."""
    content, types = json.loads(encoded(value)), get_type_hints(type(value))
    wrong = [content | {name: each} for name, wanted in types.items() for each in WRONG[wanted]]
    wrong += [{name: content[name] for name in content if name != left_out} for left_out in content]
    for each in (*wrong, content | {"more": 1}, content | {"is": "Other"}, [content]):
        with pytest.raises(NotAValue):
            decoded(json.dumps(each).encode(), Operation | Reply)


@given(st.binary(max_size=40))
def test_bytes_at_random_are_no_value(data: bytes) -> None:
    with pytest.raises(NotAValue):
        decoded(data, Operation)
