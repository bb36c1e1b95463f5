"""Tensor mode, whose ranks wait for each other in every layer: two hundred faults over the ring, none of which hangs.

A rank is killed, stopped, asked to end, late, lies, fails or is of another version, before a step, a commit or a load
or while a group is joined. The reply keeps its words, the model comes back by itself, and the same request writes the
same text in the same process.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine import (
    Engine,
    Failed,
    Finished,
    ModelFailed,
    ModelReady,
    RankEnd,
    RankLost,
    RankMode,
    RankPlan,
    Request,
    Sampling,
    Speculation,
    plan_ranks,
)
from engine.runtime import pair_loader
from tests.helpers.engine_client import EngineClient, Outcome
from tests.helpers.odd_rank import odd_ranks
from tests.helpers.ranks import Witness, open_sockets, processes_below, rank_folder
from tests.helpers.tiny_models import VOCABULARY

GB = 10**9
FAULTS = 200
REQUEST = Request(
    tokens=tuple(range(40, 240)) * 3,  # two chunks
    sampling=Sampling(temperature=0.8, seed=3, logit_bias=((257, -100.0),)),
    speculation=Speculation.fixed(4),
    max_tokens=24,
)
SIGNALS = {
    "killed": (signal.SIGKILL, RankEnd.ENDED),
    "ended": (signal.SIGTERM, RankEnd.ENDED),
    "stopped": (signal.SIGSTOP, RankEnd.SILENT),
}
ODD: dict[str, RankEnd | None] = {
    "lies": RankEnd.MISBEHAVED,
    "fails": RankEnd.FAILED,
    "late": None,
    "differs": RankEnd.DIFFERS,
}


@dataclass
class Pair:
    client: EngineClient
    main: Path
    draft: Path
    plan: RankPlan

    def load(self) -> ModelReady | ModelFailed:
        return self.client.load(self.main, self.draft, plan=self.plan)


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    monkeypatch.setattr(pair_loader, "MOST_WAIT_S", 0.0)
    main, draft = rank_folder("qwen3", tmp_path, vocab_size=VOCABULARY)
    engine = Engine(cache_disk_bytes=0)
    yield Pair(EngineClient(engine), main, draft, plan_ranks(main, [GB, GB], mode=RankMode.TENSOR))
    assert engine.close(60)
    assert processes_below(os.getpid()) == []


def send(number: signal.Signals) -> Callable[[int], None]:
    return lambda pid: os.kill(pid, number)


@pytest.mark.parametrize("faults", [pytest.param(8, id="8"), pytest.param(FAULTS, marks=pytest.mark.drill, id="all")])
@pytest.mark.expect_log("RankLost", "could not load")
def test_after_any_fault_the_same_text_comes_again(faults: int, pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(faults)
    witness = Witness(monkeypatch)
    assert isinstance(pair.load(), ModelReady)
    whole = pair.client.run(REQUEST)
    sockets = open_sockets()
    for number in range(faults):
        kind = [*SIGNALS, *ODD][number % (len(SIGNALS) + len(ODD))]
        why = SIGNALS[kind][1] if kind in SIGNALS else ODD[kind]
        if kind in SIGNALS:
            witness.act, witness.victim = send(SIGNALS[kind][0]), chance.choice((-1, -2))
            witness.act_before(*chance.choice([("forward", chance.randint(1, 8)), ("commit", chance.randint(1, 7))]))
            broken = pair.client.run(REQUEST)
            while witness.waits:  # for an operation that this reply did not need
                broken = pair.client.run(REQUEST)
        else:
            with monkeypatch.context() as patched:
                odd_ranks(patched, kind, chance.randint(2, 6), chance.randint(0, 1))
                loaded = pair.load()
            broken = pair.client.run(REQUEST)
            assert isinstance(loaded, ModelFailed) is (why is RankEnd.DIFFERS)
            if isinstance(loaded, ModelFailed):
                pair.load()
        check(broken, whole, why)
        again = pair.client.run(REQUEST)
        if isinstance(broken.events[-1], Finished) and isinstance(again.events[-1], Failed):
            check(again, whole, why)  # the fault came after the last step of the reply
            again = pair.client.run(REQUEST)
        assert again.tokens == whole.tokens, (number, kind)
    assert open_sockets() == sockets
    assert len(processes_below(os.getpid())) == 2


def check(broken: Outcome, whole: Outcome, why: RankEnd | None) -> None:
    """A rank that is lost while no reply needs it is loaded again before the reply begins, which then is whole."""
    last = broken.events[-1]
    if isinstance(last, Failed):
        assert isinstance(last.error, RankLost)
        assert last.error.why is why
        assert whole.text().startswith(broken.text())
    else:
        assert broken.tokens == whole.tokens
