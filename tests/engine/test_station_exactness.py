"""The exactness suite of proposers, untouched, over an engine whose drafts are made by a station."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine import Engine, ModelReady, Request, Sampling, Speculation, StationPlace
from tests.engine.conftest import Zoo
from tests.engine.test_exactness import (
    PROMPTS,
    target,
    test_all_penalties_and_bias_equal_mlx_lms,
    test_different_seeds_give_different_texts,
    test_drafting_really_happens,
    test_no_seed_reports_one_that_repeats_the_text,
    test_penalty_sees_the_whole_prefix,
    test_plain_greedy_equals_mlx_lm,
    test_rejection_is_repeatable_and_accepts_a_perfect_draft_whole,
    test_text_never_depends_on_the_proposer,
    test_text_never_depends_on_when_drafting_is_set_otherwise,
    test_xtc_is_the_same_with_any_draft,
)
from tests.helpers.engine_client import EngineClient
from tests.helpers.stations import await_stations

__all__ = [
    "target",
    "test_all_penalties_and_bias_equal_mlx_lms",
    "test_different_seeds_give_different_texts",
    "test_drafting_really_happens",
    "test_no_seed_reports_one_that_repeats_the_text",
    "test_penalty_sees_the_whole_prefix",
    "test_plain_greedy_equals_mlx_lm",
    "test_rejection_is_repeatable_and_accepts_a_perfect_draft_whole",
    "test_text_never_depends_on_the_proposer",
    "test_text_never_depends_on_when_drafting_is_set_otherwise",
    "test_xtc_is_the_same_with_any_draft",
]

pytestmark = pytest.mark.slow  # a station is started for each draft


@pytest.fixture(scope="module")
def shared_engine(zoo: Zoo) -> Iterator[EngineClient]:
    with pytest.MonkeyPatch.context() as patch:
        await_stations(patch)
        engine = Engine()
        engine.set_station(StationPlace())
        client = EngineClient(engine)
        assert isinstance(client.load(zoo.main, zoo.drafts["close"]), ModelReady)
        yield client
        assert engine.close()


@pytest.fixture
def alone(zoo: Zoo) -> Iterator[EngineClient]:
    engine = Engine()
    client = EngineClient(engine)
    assert isinstance(client.load(zoo.main, zoo.drafts["close"]), ModelReady)
    yield client
    assert engine.close()


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_the_station_drafts_what_the_draft_would(client: EngineClient, alone: EngineClient, temperature: float) -> None:
    """Token by token: the same noise, the same level, so the same rounds."""
    request = Request(
        tokens=PROMPTS[0],
        sampling=Sampling(temperature=temperature, seed=5),
        speculation=Speculation.fixed(4),
        max_tokens=30,
        trace=True,
    )
    by_station, here = client.run(request), alone.run(request)

    assert by_station.stats.proposer == "station"
    assert here.stats.proposer == "draft"
    assert by_station.tokens == here.tokens
    assert [each.drafted for each in by_station.finished.rounds] == [each.drafted for each in here.finished.rounds]


def test_several_replies_take_turns(client: EngineClient) -> None:
    requests = [
        Request(
            tokens=(*PROMPTS[0], seed),
            sampling=Sampling(temperature=0.8, seed=seed),
            speculation=Speculation.fixed(3),
            max_tokens=20,
        )
        for seed in range(4)
    ]
    alone = [client.run(request).tokens for request in requests]

    assert [outcome.tokens for outcome in client.run_all(requests)] == alone
