"""Stations that are killed, stall, lie and end at random: no word of a reply depends on it, and none waits for it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from engine import Engine, ModelReady, Request, Sampling, Speculation, StationPlace
from tests.engine.conftest import Zoo, zoo
from tests.engine.test_exactness import PROMPTS
from tests.helpers.engine_client import EngineClient
from tests.helpers.stations import start_faulty

__all__ = ["zoo"]

_SAMPLINGS = (
    Sampling(temperature=0),
    Sampling(temperature=0.8, seed=3),
    Sampling(temperature=1.0, seed=4, top_k=20, repetition_penalty=1.2),
)
_SPECULATIONS = (Speculation.auto(), Speculation.fixed(1), Speculation.fixed(4), Speculation.fixed(9))
REPLIES = 2000
_TEXTS = 12  # different replies, each asked for again and again


@pytest.fixture
def client(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineClient]:
    start_faulty(monkeypatch, random.Random(11), longest_s=2.0, share=0.02)
    engine = Engine()
    made = EngineClient(engine)
    assert isinstance(made.load(zoo.main, zoo.drafts["close"]), ModelReady)
    yield made
    assert engine.close()


@pytest.mark.drill
@pytest.mark.expect_log("the station")
def test_no_reply_depends_on_a_station_that_fails(client: EngineClient, zoo: Zoo) -> None:

    chance = random.Random(1)
    asked = [
        Request(
            tokens=(*chance.choice(PROMPTS), number),
            sampling=chance.choice(_SAMPLINGS),
            speculation=Speculation.off(),
            max_tokens=chance.randrange(8, 40),
        )
        for number in range(_TEXTS)
    ]
    plain = [client.run(request).tokens for request in asked]
    client.engine.set_station(StationPlace())
    wrong = 0
    drafted = 0
    for number in range(REPLIES):
        if number % 97 == 0:  # an edit of the pair in the middle of it all
            client.set_draft(zoo.drafts[chance.choice(["close", "poor", "itself"])])
        at = chance.randrange(_TEXTS)
        outcome = client.run(replace(asked[at], speculation=chance.choice(_SPECULATIONS)))
        wrong += outcome.tokens != plain[at]
        drafted += outcome.stats.proposer == "station"
    assert wrong == 0
    assert drafted > REPLIES / 20
