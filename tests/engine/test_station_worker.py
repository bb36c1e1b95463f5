"""A station's process, driven by hand: what it holds in memory, what waits there, and orders that make no sense."""

from __future__ import annotations

import json
import struct
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from engine import Sampling
from engine.machines.messages import Value
from engine.machines.wire import Wire, WireEnded
from engine.models.loading import LoadedModel
from engine.station import worker
from engine.station.connection import DraftOrder, StationProcess
from engine.station.conversation import StationDraft
from engine.station.messages import Begin, CaughtUp, Commit, End, Forget, LoadDraft, Order, Propose, Proposed
from engine.station.worker import Received, Station
from tests.engine.conftest import Zoo

PROMPT = list(range(40, 70))
WARM = Sampling(temperature=0.8)


def law(tokens: list[int]) -> bytes:
    known = {"sampling": asdict(WARM), "seed": 3, "spared": ()}
    return struct.pack(f">{len(tokens)}I", *tokens) + json.dumps(known).encode()


def said(wire: Wire) -> Value:
    assert wire.arrives(60)
    return wire.receive()[0]


class Driven(Station):
    def __init__(self, model: LoadedModel) -> None:
        self.said: list[Value] = []
        super().__init__(self.said.append)
        self._draft = StationDraft(model.network, model.make_caches, model.logit_width, 4096, frozenset())
        self._vocabulary = model.logit_width

    def hear(self, order: Order, data: bytes = b"") -> None:
        self.receive(Received(order, bytearray(data), time.perf_counter()))

    def begin(self, number: int, tokens: list[int]) -> None:
        self.hear(Begin(number, len(tokens)), law(tokens))
        self.work()


@pytest.fixture
def station(dense: LoadedModel) -> Driven:
    return Driven(dense)


def test_nothing_is_prepared_beyond_the_memory_that_is_lent(station: Driven) -> None:
    """What has ended makes room; an order is answered by what there is."""
    station.begin(1, PROMPT)
    while station._prepare():
        pass
    station.hear(End(1))
    station.work()
    station.begin(2, [5, 6, 7])
    assert list(station._conversations) == [1, 2]
    station._memory_bytes = 1
    assert not station._prepare()
    assert list(station._conversations) == [2]
    station.hear(Propose(2, 9, 4, 0, 10**6, 10**6, (), ()))
    station.work()
    nothing = station.said[-1]
    assert isinstance(nothing, Proposed)
    assert (nothing.number, nothing.tokens) == (9, ())
    station._memory_bytes = 1 << 40
    station.hear(Propose(2, 10, 4, 0, 10**6, 10**6, (), ()))
    station.work()
    answer = station.said[-1]
    assert isinstance(answer, Proposed)
    assert len(answer.tokens) == 4


def test_nothing_is_kept_of_conversations_that_end_once_a_chat_was_deleted(station: Driven) -> None:
    for number in (1, 2):
        station.begin(number, [*PROMPT, number])
    for order, left in ((End(1), [1, 2]), (Forget(), [2]), (End(2), [])):
        station.hear(order)
        station.work()
        assert list(station._conversations) == left
    station.begin(3, PROMPT)
    assert station._conversations[3].caches.position == 0


def takes_more(station: Station) -> bool:
    return station.may_receive


def test_as_many_bytes_wait_as_an_engine_sends(station: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    data = law(PROMPT)
    monkeypatch.setattr(worker, "_MOST_WAITING_BYTES", 2 * len(data))
    for number in range(2):
        station.hear(Begin(number, len(PROMPT)), data)
    assert takes_more(station)
    station.hear(Begin(2, len(PROMPT)), data)
    assert not takes_more(station)
    station.work()
    assert takes_more(station)
    monkeypatch.setattr(worker, "_MOST_WAITING", 2)
    assert not takes_more(station)


def test_it_ends_with_an_order_that_makes_no_sense(zoo: Zoo) -> None:
    """Whatever goes wrong there: else it would hear nothing any more, and be waited for."""
    process = StationProcess(DraftOrder("", 0, (), 0))
    try:
        wire = process.wire
        wire.send(LoadDraft(str(Path(zoo.drafts["close"])), 320, ()))
        wire.send(Begin(1, len(PROMPT)), law(PROMPT))
        while not isinstance(said(wire), CaughtUp):
            pass
        wire.send(Propose(1, 5, 4, 99, 10**6, 10**6, (), ()))
        with pytest.raises(WireEnded):
            said(wire)
    finally:
        process.end(1.0)


def test_an_order_about_a_conversation_that_is_not_there_is_answered_with_nothing(station: Driven) -> None:
    station.hear(Commit(7, 0, (1,)))
    station.work()
    station.hear(Propose(7, 1, 4, 0, 1, 1, (), ()))
    station.work()
    (nothing,) = station.said
    assert isinstance(nothing, Proposed)
    assert (nothing.number, nothing.tokens) == (1, ())
