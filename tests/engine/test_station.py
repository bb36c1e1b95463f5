"""Stations end to end, in a process of this machine: kept beginnings, their ends, and what they report."""

from __future__ import annotations

import os
import queue
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine import (
    Engine,
    Event,
    ModelReady,
    Request,
    Sampling,
    Speculation,
    StationChanged,
    StationEnd,
    StationPhase,
    StationPlace,
    StationState,
)
from engine.machines.lent import LentProcess
from engine.machines.relay import BEAT_S
from engine.runtime import pair
from engine.station import connection
from engine.station.connection import DraftOrder, StationConnection, StationProcess
from tests.engine.conftest import Zoo
from tests.engine.test_exactness import PROMPTS
from tests.helpers.engine_client import PATIENCE_S, EngineClient
from tests.helpers.lent import Lent
from tests.helpers.ranks import runs
from tests.helpers.stations import await_stations

REQUEST = Request(
    tokens=PROMPTS[0], sampling=Sampling(temperature=0.8, seed=5), speculation=Speculation.fixed(4), max_tokens=30
)


@dataclass
class Stationed:
    client: EngineClient
    states: queue.SimpleQueue[StationState]
    started: list[StationProcess]

    def until(self, holds: Callable[[StationState], object]) -> StationState:
        while not holds(state := self.states.get(timeout=PATIENCE_S)):
            pass
        return state

    def draft(self) -> None:
        """Short replies until one is drafted there: on a busy machine the first ones may be drafted here."""
        request = Request(tokens=PROMPTS[0], speculation=Speculation.fixed(4), max_tokens=9)
        assert any(self.client.run(request).stats.proposer == "station" for _ in range(50))


@pytest.fixture
def lent(tmp_path: Path) -> Iterator[Lent]:
    made = Lent(tmp_path)
    yield made
    assert made.process.stop(PATIENCE_S)


@pytest.fixture
def stationed(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stationed]:
    await_stations(monkeypatch)
    monkeypatch.setattr(connection, "FIRST_WAIT_S", 0.01)
    states: queue.SimpleQueue[StationState] = queue.SimpleQueue()
    started: list[StationProcess] = []

    def start(draft: DraftOrder) -> StationProcess:
        started.append(StationProcess(draft))
        return started[-1]

    def note(event: Event) -> None:
        if isinstance(event, StationChanged):
            states.put(event.station)

    monkeypatch.setattr(pair, "StationProcess", start)
    engine = Engine()
    engine.subscribe(note)
    engine.set_station(StationPlace())
    client = EngineClient(engine)
    assert isinstance(client.load(zoo.main, zoo.drafts["close"]), ModelReady)
    yield Stationed(client, states, started)
    assert engine.close()
    until = time.monotonic() + PATIENCE_S
    while any(runs(each.pid) for each in started) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(runs(each.pid) for each in started)


def test_a_station_drafts_reports_and_comes_back_after_its_end(stationed: Stationed) -> None:
    """The same text before, without it, and after; once it is switched off nothing of it is left."""
    stationed.until(lambda state: state.phase is StationPhase.READY)
    first = stationed.client.run(REQUEST)
    told = stationed.until(lambda state: state.drafts)
    os.kill(stationed.started[0].pid, signal.SIGKILL)
    stationed.until(lambda state: state.phase is StationPhase.STARTING)
    again = stationed.client.run(REQUEST)  # waits for the next one
    stationed.client.engine.set_station(None)
    stationed.until(lambda state: state.phase is StationPhase.OFF)
    without = stationed.client.run(REQUEST)

    assert [each.stats.proposer for each in (first, again, without)] == ["station", "station", "draft"]
    assert first.tokens == again.tokens == without.tokens
    assert 0 <= told.hits <= told.drafts == first.stats.draft_rounds
    assert told.worked_s > 0 < told.memory_bytes
    assert len(stationed.started) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_station_reads_no_text_and_imports_no_tokenizers(stationed: Stationed) -> None:
    stationed.until(lambda state: state.phase is StationPhase.READY)
    stationed.draft()
    assert "tokenizers" not in Path(f"/proc/{stationed.started[0].pid}/maps").read_text()


def test_a_station_learns_that_a_chat_was_deleted(stationed: Stationed, monkeypatch: pytest.MonkeyPatch) -> None:
    stationed.until(lambda state: state.phase is StationPhase.READY)
    forgot = threading.Event()
    monkeypatch.setattr(connection.StationConnection, "forget", lambda _: forgot.set())
    stationed.client.engine.keep_only([])
    assert forgot.wait(PATIENCE_S)


def test_one_that_no_longer_answers_is_started_again(stationed: Stationed) -> None:
    """As a machine that sleeps: its connection stays open. Until then it answers beats, as those of lent ones."""
    ready = stationed.until(lambda state: state.phase is StationPhase.READY)
    beating = SimpleNamespace(wire=stationed.started[0].wire, _ended=threading.Event())
    threading.Thread(target=LentProcess._beat, args=(beating,), daemon=True).start()
    stationed.started[0].silent_s = 4 * BEAT_S  # from its next answer on, which a busy machine may miss
    stationed.draft()
    os.kill(stationed.started[0].pid, signal.SIGSTOP)
    lost = stationed.until(lambda state: state.end)
    again = stationed.until(lambda state: state.phase is StationPhase.READY)

    assert (lost.phase, lost.end) == (StationPhase.STARTING, StationEnd.SILENT)
    assert (ready.end, again.end) == (None, None)


@pytest.mark.slow
def test_a_paired_machine_drafts_until_it_is_taken_back(
    stationed: Stationed, lent: Lent, zoo: Zoo, tmp_path: Path
) -> None:
    """Over TLS between two homes; its copy of the draft lies elsewhere. What it lends shows who has it draft."""
    shutil.copytree(zoo.drafts["close"], elsewhere := tmp_path / "elsewhere")
    lent.offer(elsewhere)
    helping = lent.paired(tmp_path / "here")
    here = stationed.client.run(REQUEST)
    stationed.client.engine.set_station(StationPlace(helping))
    stationed.until(lambda state: state.phase is StationPhase.READY and state.machine == helping.machine.name)
    there = stationed.client.run(REQUEST)
    used = lent.until(lambda state: state.user and state.used_bytes)
    lent.process.take_back()
    assert lent.until(lambda state: not state.user).drafts is False
    stationed.until(lambda state: state.phase is StationPhase.STARTING)
    stationed.client.engine.set_station(None)
    without = stationed.client.run(REQUEST)

    assert (used.drafts, used.folder) == (True, str(elsewhere))
    assert [each.stats.proposer for each in (here, there, without)] == ["station", "station", "draft"]
    assert here.tokens == there.tokens == without.tokens
    assert len(stationed.started) == 1, "no process of this machine"


@pytest.mark.expect_log("the station failed")
def test_a_draft_that_cannot_be_taken_back_is_refused_once(
    stationed: Stationed, folders: dict[str, Path], zoo: Zoo
) -> None:
    """The draft here goes on drafting; another draft is tried again."""
    stationed.until(lambda state: state.phase is StationPhase.READY)
    other = StationConnection(StationProcess, stationed.states.put)
    other.use(DraftOrder(str(folders["window"]), 320, (), 1))
    assert stationed.until(lambda state: state.end).end is StationEnd.REFUSED
    other.use(DraftOrder(str(zoo.drafts["close"]), 320, (), 1))
    stationed.until(lambda state: state.phase is StationPhase.READY)
    other.close()
