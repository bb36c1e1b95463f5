"""The engine's side of a station, beside scripted ones over a real socket: what it holds, loses and starts again."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from engine import MachineRefusal, Sampling, StationEnd, StationPhase, StationState
from engine.api.errors import MachineUnavailable
from engine.machines.messages import PROTOCOL, Hello, RankBroken, Value
from engine.machines.versions import hello_here, versions_here
from engine.machines.wire import Wire, WireEnded, socket_pair
from engine.station import connection
from engine.station.connection import CONVERSATIONS, DraftOrder, StationConnection
from engine.station.messages import Answer, Begin, CaughtUp, DraftLoaded, End, LoadDraft, Order, Propose, Proposed

PATIENCE_S = 60
LAW: Any = SimpleNamespace(sampling=Sampling(), seed=1, spared=())
ONE, OTHER = (DraftOrder(folder, 300, (), 1) for folder in ("one", "other"))


class Far:
    """A station's process, whose end is held by the test."""

    machine = ""
    silent_s: float | None = None

    def __init__(self, draft: DraftOrder) -> None:
        ours, theirs = socket_pair()
        self.draft = draft
        self.wire = Wire(ours, Answer)
        self.far = Wire(theirs, Order)

    def end(self, patience_s: float) -> None:
        self.wire.close()
        self.far.close()

    def order(self) -> Value:
        """The next one."""
        return self.far.receive()[0]


class Stations:
    def __init__(self) -> None:
        self.started: queue.SimpleQueue[Far] = queue.SimpleQueue()
        self.states: queue.SimpleQueue[StationState] = queue.SimpleQueue()
        self.connection = StationConnection(self._start, self.states.put, "Studio")

    def _start(self, draft: DraftOrder) -> Far:
        made = Far(draft)
        self.started.put(made)
        return made

    def next(self) -> Far:
        """The next that is started."""
        return self.started.get(timeout=PATIENCE_S)

    def error(self) -> MachineUnavailable:
        """Why the latest has ended."""
        while not isinstance(error := self.states.get(timeout=PATIENCE_S).error, MachineUnavailable):
            pass
        return error

    def ready(self) -> Far:
        made = self.next()
        made.far.send(hello_here())
        assert isinstance(made.order(), LoadDraft)
        made.far.send(DraftLoaded(4096))
        while self.states.get(timeout=PATIENCE_S).phase is not StationPhase.READY:
            pass
        return made


@pytest.fixture
def stations(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stations]:
    monkeypatch.setattr(connection, "FIRST_WAIT_S", 0.01)
    made = Stations()
    yield made
    made.connection.close()


def test_a_process_elsewhere_may_take_its_time_to_begin(stations: Stations, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python and MLX are imported, from a slow disk perhaps; from its first word on it answers beats."""
    monkeypatch.setattr(Far, "silent_s", 0.0)
    heard, take = list[Value](), StationConnection._take

    def note(of: StationConnection, value: Value) -> None:
        heard.append(value)
        take(of, value)

    monkeypatch.setattr(StationConnection, "_take", note)
    stations.connection.use(ONE)
    with suppress(WireEnded):
        stations.next().far.send(hello_here())
    while stations.states.get(timeout=PATIENCE_S).end is not StationEnd.SILENT:
        pass
    assert heard == [hello_here()]


def test_of_more_conversations_than_a_station_holds_the_oldest_ends(stations: Stations) -> None:
    """Else replies that failed, which end nothing, would leave no room for others. What it says of them is nothing."""
    stations.connection.use(ONE)
    station = stations.ready()
    numbers = [stations.connection.begin([1, 2], LAW) for _ in range(CONVERSATIONS + 1)]
    orders = [station.order() for _ in range(CONVERSATIONS + 2)]
    assert orders == [*(Begin(number, 2) for number in numbers[:-1]), End(numbers[0]), Begin(numbers[-1], 2)]
    stations.connection.end(numbers[1])
    assert station.order() == End(numbers[1])
    last = stations.connection.begin([1, 2], LAW)
    assert station.order() == Begin(last, 2)

    answer = Proposed(stations.connection.new_number(), (), (), (), hit=False, worked_us=0)
    stations.connection.propose(Propose(last, answer.number, 1, 0, 1, 1, (), ()))
    for number in (*numbers, last):
        station.far.send(CaughtUp(number))
    station.far.send(answer)
    assert stations.connection.answer(answer.number, PATIENCE_S) == answer
    caught_up = [number for number in (*numbers, last) if stations.connection.is_caught_up(number)]
    assert caught_up == [*numbers[2:], last]


@pytest.mark.parametrize("late", [False, True])
def test_an_answer_to_a_reply_that_has_ended_is_not_kept(stations: Stations, late: bool) -> None:
    stations.connection.use(ONE)
    station = stations.ready()
    for _ in range(3):
        answer = Proposed(stations.connection.new_number(), (), (), (), hit=False, worked_us=0)
        stations.connection.propose(Propose(1, answer.number, 1, 0, 1, 1, (), ()))
        station.order()
        if late:
            stations.connection.drop_answer(answer.number)
        station.far.send(answer)
    last = Proposed(stations.connection.new_number(), (), (), (), hit=False, worked_us=0)
    stations.connection.propose(Propose(1, last.number, 1, 0, 1, 1, (), ()))
    station.far.send(last)
    assert stations.connection.answer(last.number, PATIENCE_S) == last
    if not late:
        for number in list(stations.connection._answers):
            stations.connection.drop_answer(number)
    assert not stations.connection._answers
    assert not stations.connection._unwanted


@pytest.mark.expect_log("the station failed")
def test_another_draft_is_loaded_however_late_the_former_was_refused(
    stations: Stations, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes between the look whether there is another and the wait for one."""
    wait = StationConnection._next_draft

    def late(of: StationConnection, *arguments: Any) -> Any:
        if stations.connection.state.end is StationEnd.REFUSED:
            of.use(OTHER)
        return wait(of, *arguments)

    monkeypatch.setattr(StationConnection, "_next_draft", late)
    stations.connection.use(ONE)
    stations.next().far.send(RankBroken("ValueError", "no draft"))
    assert stations.next().draft is OTHER


@pytest.mark.expect_log("the station failed")
def test_one_that_lacks_memory_is_started_again(stations: Stations) -> None:
    """It may have some later."""
    stations.connection.use(ONE)
    stations.next().far.send(RankBroken("ModelTooLarge", "/a/path"))
    assert stations.next().draft is ONE
    assert stations.error().why is MachineRefusal.MEMORY


def test_one_that_says_twice_that_it_has_loaded_is_started_again(stations: Stations) -> None:
    stations.connection.use(ONE)
    station = stations.ready()
    station.far.send(DraftLoaded(4096))
    assert stations.next().draft is ONE
    with pytest.raises(WireEnded):
        station.order()


def test_one_with_another_mlx_says_which_of_the_two_is_older(stations: Stations) -> None:
    """And is started again: it may have been brought up to date."""
    stations.connection.use(ONE)
    hunch, _, mlx_lm = versions_here()
    stations.next().far.send(Hello(PROTOCOL, (hunch, "999.0", mlx_lm)))
    assert stations.next().draft is ONE
    error = stations.error()
    assert error.why is MachineRefusal.OLDER
    assert versions_here()[1] in error.detail
