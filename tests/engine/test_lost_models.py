"""A main model that has lost some of its layers comes back by itself, later each time; by a clock of the test's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import (
    EngineError,
    EngineState,
    Event,
    Failed,
    Finished,
    MachineRefusal,
    MachineUnavailable,
    ModelFailed,
    ModelLoading,
    ModelReady,
    ModelRole,
    RankEnd,
    RankLost,
    Request,
    RequestId,
    Sink,
)
from engine.models.first_use import FirstUse
from engine.models.loading import LoadedModel, Slices
from engine.runtime.commands import Load, SetDraft, Submit, Unload
from engine.runtime.scheduler import Scheduler
from engine.runtime.state import state_after
from engine.runtime.worker import LOOK_S, EngineThread
from engine.server.problems import rank_lost
from tests.engine.conftest import RestingTuner
from tests.helpers.engine_client import EngineClient
from tests.helpers.fake_engine import MAIN, FakeEngine, Script
from tests.helpers.served import chat_body, serving

LOST = RankLost(1, RankEnd.ENDED, "", "Studio")
AWAY = MachineUnavailable("10.0.0.9:7791", MachineRefusal.UNREACHABLE)


class Ranks:
    """An engine thread's work, step by step, with a model of two ranks that are lost when the test says so."""

    def __init__(self, model: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.events: list[Event] = []
        self.state = EngineState()
        self.lost: EngineError | None = None
        self.refusal: EngineError | None = None  # of the next loads
        self._model = replace(model, ranks=2, lost=lambda: self.lost)
        monkeypatch.setattr("engine.runtime.pair_loader.monotonic", lambda: self.now)
        monkeypatch.setattr("engine.runtime.pair_loader._slices_of", self._slices)
        monkeypatch.setattr("engine.runtime.pair_loader.loading_any_draft", self._slices)
        self.thread = EngineThread(Scheduler(RestingTuner()), self._post, lambda _in_use: False, FirstUse(None))
        self._ids = iter(range(1, 100))

    def load(self, draft: str | None = None) -> None:
        self.do(Load("main", lambda _event: None, draft))

    def do(self, command: Any) -> None:
        self.thread.handle(command)
        self.run()

    def run(self) -> None:
        self.thread.step()
        while self.thread.has_work or (draft := self.thread.loader.take_next_draft()) is not None:
            if not self.thread.has_work:
                assert draft is not None
                self.thread.handle(draft)
            self.thread.step()

    def lose(self) -> None:
        self.lost = LOST
        self.run()

    def ask(self) -> Event:
        self.do(Submit(RequestId(next(self._ids)), Request(tokens=(1, 2, 3), max_tokens=1), self._take))
        return self.events[-1]

    def waits_s(self) -> float:
        """Of the last failure, which the state says as well."""
        failed = next(event for event in reversed(self.events) if isinstance(event, ModelFailed))
        assert failed.again_at == self.state.again_at
        assert failed.again_at is not None
        assert self.thread.look_s == LOOK_S
        return failed.again_at - self.now

    def pass_s(self, seconds: float) -> None:
        self.now += seconds
        self.run()

    def is_loaded(self) -> bool:
        return self.state.main is not None and self.state.again_at is None

    def loads(self, role: ModelRole = ModelRole.MAIN) -> int:
        return sum(isinstance(event, ModelLoading) and event.role is role for event in self.events)

    def _take(self, event: Event) -> None:
        if isinstance(event, Finished | Failed):
            self.events.append(event)

    def _post(self, sink: Sink | None, event: Event) -> None:
        self.state = state_after(self.state, event)
        if isinstance(event, ModelLoading | ModelReady | ModelFailed):
            self.events.append(event)
        if sink is not None:
            sink(event)

    def _slices(self, *_: Any, **__: Any) -> Slices:
        yield
        if self.refusal is not None:
            raise self.refusal
        self.lost = None
        return self._model


@pytest.fixture
def ranks(dense: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> Ranks:
    made = Ranks(dense, monkeypatch)
    made.load()
    assert made.is_loaded()
    return made


@pytest.mark.expect_log("not whole any more")
def test_it_is_loaded_again_each_time_and_later_each_time(ranks: Ranks) -> None:
    ranks.lose()
    assert ranks.is_loaded()
    assert isinstance(ranks.ask(), Finished)
    for wait_s in (10, 20, 40, 80, 160, 320, 600, 600):
        ranks.lose()
        assert ranks.waits_s() == wait_s
        failed = ranks.ask()
        assert isinstance(failed, Failed)
        assert failed.error is LOST
        ranks.pass_s(wait_s - 1)
        assert not ranks.is_loaded()
        ranks.pass_s(1)
        assert ranks.is_loaded()
        assert isinstance(ranks.ask(), Finished)
    ranks.pass_s(599)
    ranks.lose()
    assert ranks.waits_s() == 600
    ranks.pass_s(600)
    ranks.pass_s(600)
    ranks.lose()
    assert ranks.is_loaded(), "it has held for ten minutes"


@pytest.mark.expect_log("not whole any more", "could not load")
def test_a_machine_that_is_away_is_asked_again_until_it_is_back(ranks: Ranks) -> None:
    ranks.refusal = AWAY
    ranks.lose()
    for wait_s in (10, 20, 40):
        assert ranks.waits_s() == wait_s
        last = next(event for event in reversed(ranks.events) if isinstance(event, ModelFailed))
        assert last.error is AWAY
        ranks.pass_s(wait_s)
    ranks.refusal = None
    ranks.pass_s(80)
    assert ranks.is_loaded()
    assert ranks.thread.look_s == LOOK_S


@pytest.mark.expect_log("not whole any more", "could not load")
@pytest.mark.parametrize("command", [Unload, lambda sink: Load("other", sink)])
def test_who_loads_or_unloads_ends_that(ranks: Ranks, command: Callable[[Sink], Any]) -> None:
    ranks.refusal = AWAY
    ranks.lose()
    before = ranks.loads()
    ranks.do(command(lambda _event: None))
    wanted = ranks.loads()
    ranks.pass_s(10_000)
    assert ranks.loads() == wanted <= before + 1
    assert ranks.thread.look_s is None
    assert ranks.state.again_at is None


@pytest.mark.expect_log("not whole any more", "could not load")
def test_the_draft_that_is_chosen_meanwhile_comes_with_it(ranks: Ranks) -> None:
    ranks.load("first")
    ranks.refusal = AWAY
    ranks.lose()
    ranks.do(SetDraft("second", lambda _event: None))
    ranks.refusal = None
    ranks.pass_s(10)
    loading = [event.folder for event in ranks.events if isinstance(event, ModelLoading)]
    assert loading[-2:] == ["main", "second"]


def test_clients_of_the_server_are_told_when(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever model they name; nothing else is known of it meanwhile."""
    monkeypatch.setattr("engine.server.problems.monotonic", lambda: 100.0)
    engine = FakeEngine()
    EngineClient(engine).load(Path(MAIN.folder))
    state = replace(EngineState(), again_at=139.5)
    monkeypatch.setattr(engine, "state", lambda: state)
    with serving(engine) as served:
        for name in ("default", "starter"):
            answer = served.post("/v1/chat/completions", chat_body("x") | {"model": name})
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "40")
            assert answer.json()["error"]["code"] == "rank_lost"
            assert "about 40 s" in answer.json()["error"]["message"]
            assert "x-should-retry" not in answer.headers
        health = served.http.get("/health")
        assert (health.status_code, "about 40 s" in health.json()["error"]["message"]) == (503, True)
        state = replace(state, main=MAIN)
        for error in (LOST, AWAY):
            engine.scripts.append(Script(error=error))
            answer = served.post("/v1/chat/completions", chat_body("x"))
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "40")
    engine.close()
    assert rank_lost().headers == {"retry-after": "1"}
