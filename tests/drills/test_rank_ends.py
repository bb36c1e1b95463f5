"""Ranks that are killed, stopped, ended or slowed in every phase: the reply keeps its words, or is exact.

Nothing is left of the ranks, whatever ended them; the model is loaded again by itself, and the same request writes the
same.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine import (
    Engine,
    EngineError,
    Failed,
    ModelFailed,
    ModelReady,
    RankEnd,
    RankLost,
    Request,
    Sampling,
    Speculation,
    plan_ranks,
)
from engine.runtime import pair_loader
from tests.helpers.engine_client import EngineClient, Outcome
from tests.helpers.ranks import Witness, open_sockets, processes_below, rank_folder
from tests.helpers.samples import sampled
from tests.helpers.tiny_models import VOCABULARY

GB = 10**9
PROMPT = tuple(range(40, 240)) * 4  # two chunks
NO_END = ((257, -100.0),)
REQUEST = Request(
    tokens=PROMPT,
    sampling=Sampling(temperature=0.8, seed=3, logit_bias=NO_END),
    speculation=Speculation.fixed(4),
    max_tokens=40,
)
PHASES = {  # the operation before which something happens, and which one of these
    "load": ("loaded", 1),
    "first forward": ("forward", 1),
    "prefill": ("forward", 3),
    "check": ("forward", 8),
    "commit": ("commit", 9),
}


def send(number: signal.Signals) -> Callable[[int], None]:
    return lambda pid: os.kill(pid, number)


def slowed(pid: int) -> None:
    """Stopped for shorter than it takes to be lost."""
    os.kill(pid, signal.SIGSTOP)
    threading.Timer(1.0, os.kill, (pid, signal.SIGCONT)).start()


ENDS: dict[str, tuple[Callable[[int], None], RankEnd]] = {
    "killed": (send(signal.SIGKILL), RankEnd.ENDED),
    "ended": (send(signal.SIGTERM), RankEnd.ENDED),
    "stopped": (send(signal.SIGSTOP), RankEnd.SILENT),
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return rank_folder("qwen3_next", tmp_path_factory.mktemp("ranks"), vocab_size=VOCABULARY)


@pytest.fixture
def client() -> Iterator[EngineClient]:
    engine = Engine(cache_disk_bytes=0)
    yield EngineClient(engine)
    assert engine.close(60)
    assert processes_below(os.getpid()) == []


def lost_in(outcome: Outcome) -> EngineError | None:
    """None: it was lost in a forward that measures, before the reply began, which then waited and is whole."""
    last = outcome.events[-1]
    return last.error if isinstance(last, Failed) else None


@pytest.mark.parametrize(("phase", "end"), sampled(PHASES, ENDS))
@pytest.mark.expect_log("could not load", "RankLost")
def test_a_rank_that_is_lost_costs_no_word_and_leaves_nothing(
    phase: tuple[str, int],
    end: tuple[Callable[[int], None], RankEnd],
    client: EngineClient,
    pair: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    main, draft = pair
    witness, plan, (act, why) = Witness(monkeypatch), plan_ranks(main, [GB, GB]), end
    sockets = open_sockets()
    witness.act = act
    if phase[0] == "loaded":
        witness.act_before(*phase)
        ready = client.load(main, draft, plan=plan)
        assert isinstance(ready, ModelFailed)
        error: EngineError | None = ready.error
    else:
        assert isinstance(client.load(main, draft, plan=plan), ModelReady)
        witness.act_before(*phase)
        outcome = client.run(REQUEST)
        error = lost_in(outcome)
        assert bool(outcome.text()) == (error is None or phase[1] > 3)
        assert client.run(REQUEST).text().startswith(outcome.text())
        client.unload()

    assert not witness.waits
    if error is not None:
        assert isinstance(error, RankLost)
        assert error.why is why
    assert processes_below(os.getpid()) == []
    assert open_sockets() == sockets


@pytest.mark.drill
@pytest.mark.parametrize("phase", PHASES.values(), ids=PHASES)
def test_a_rank_that_is_slow_changes_nothing(
    phase: tuple[str, int], client: EngineClient, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    main, draft = pair
    client.load(main, draft)
    alone = client.run(REQUEST).tokens
    witness = Witness(monkeypatch)
    witness.act = slowed
    witness.act_before(*(phase if phase[0] == "loaded" else ("", 0)))
    assert isinstance(client.load(main, draft, plan=plan_ranks(main, [GB, GB])), ModelReady)
    if phase[0] != "loaded":
        witness.act_before(*phase)

    assert client.run(REQUEST).tokens == alone


@pytest.mark.drill
@pytest.mark.expect_log("RankLost")
def test_ten_losses_leave_nothing(
    client: EngineClient, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_loader, "MOST_WAIT_S", 0.0)
    witness, plan = Witness(monkeypatch), plan_ranks(pair[0], [GB, GB, GB])
    client.load(pair[0], plan=plan)
    sockets = open_sockets()
    for number in range(10):
        witness.act_before("forward", 2 + number)
        assert isinstance(client.run(REQUEST).failed.error, RankLost)
    assert len(client.run(REQUEST).tokens) == REQUEST.max_tokens

    assert len(processes_below(os.getpid())) == 2
    assert open_sockets() == sockets
