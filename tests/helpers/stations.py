"""Stations that tests wait for, and ones with faults put into what they say."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from engine.drafting.plans import Offer
from engine.machines.messages import Value
from engine.machines.wire import WireEnded
from engine.runtime import pair
from engine.station import connection, proposer
from engine.station.connection import DraftOrder, StationProcess
from engine.station.messages import Proposed
from engine.station.proposer import StationProposer
from tests.helpers.engine_client import PATIENCE_S

_LOOK_S = 0.001


class AwaitedProposer(StationProposer):
    """Waits until the station is there and has read the conversation, so that every reply is drafted by it."""

    def offer(self, tokens: Sequence[int]) -> Offer:
        until = time.monotonic() + PATIENCE_S
        while not (offer := super().offer(tokens)).most and time.monotonic() < until:
            time.sleep(_LOOK_S)
        return offer


def await_stations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposer, "LEAST_PATIENCE_S", PATIENCE_S)
    monkeypatch.setattr(pair, "StationProposer", AwaitedProposer)


Fault = Callable[["FaultyStation", Value], Value]


class FaultyStation(StationProcess):
    """Some of what it says is changed, late, or its last word."""

    def __init__(self, chance: random.Random, faults: Sequence[Fault], share: float, draft: DraftOrder) -> None:
        super().__init__(draft)
        wire: Any = self.wire
        receive = wire.receive

        def faulty() -> tuple[Value, bytearray]:
            value, data = receive()
            if isinstance(value, Proposed) and chance.random() < share:
                value = chance.choice(faults)(self, value)
            return value, data

        wire.receive = faulty


def lies(about: str, change: Callable[[Proposed], object]) -> Fault:
    def fault(_: FaultyStation, value: Value) -> Value:
        assert isinstance(value, Proposed)
        return replace(value, **{about: change(value)})  # type: ignore[arg-type]

    return fault


def killed(station: FaultyStation, value: Value) -> Value:
    os.kill(station.pid, signal.SIGKILL)
    return value


def ended(_: FaultyStation, __: Value) -> Value:
    raise WireEnded("on purpose")


def stalled(longest_s: float, chance: random.Random) -> Fault:
    def fault(_: FaultyStation, value: Value) -> Value:
        time.sleep(chance.uniform(0.0, longest_s))
        return value

    return fault


def faults(longest_s: float, chance: random.Random) -> list[Fault]:
    return [
        killed,
        ended,
        stalled(longest_s, chance),
        stalled(0.01, chance),
        lies("tokens", lambda value: tuple(chance.randrange(320) for _ in value.tokens)),
        lies("tokens", lambda value: tuple(chance.randrange(1 << 33) for _ in value.tokens)),
        lies("tokens", lambda value: value.tokens * 50),
        lies("tokens", lambda value: ()),
        lies("probabilities", lambda value: tuple(chance.uniform(-1, 2) for _ in value.probabilities)),
        lies("probabilities", lambda value: tuple(1.0 - each for each in value.probabilities)),
        lies("guesses", lambda value: value.guesses[1:]),
        lies("guesses", lambda value: tuple(chance.randrange(320) for _ in value.guesses)),
        lies("number", lambda value: value.number + chance.randrange(1, 3)),
        lies("hit", lambda value: not value.hit),
    ]


def start_faulty(monkeypatch: pytest.MonkeyPatch, chance: random.Random, longest_s: float, share: float) -> None:
    monkeypatch.setattr(connection, "FIRST_WAIT_S", 0.01)
    monkeypatch.setattr(connection, "MOST_WAIT_S", 0.05)
    monkeypatch.setattr(proposer, "LEAST_PATIENCE_S", 0.05)
    chosen = faults(longest_s, chance)
    monkeypatch.setattr(pair, "StationProcess", lambda draft: FaultyStation(chance, chosen, share, draft))
