"""What the engine tells of models while and after they are loaded: how far it is, and what forwards take here."""

from __future__ import annotations

import queue
from pathlib import Path

import pytest

from engine import Engine, Event, ModelLoading, ModelLoadProgress, ModelMeasured, ModelReady
from engine.models import loading
from tests.engine.conftest import Zoo
from tests.helpers.engine_client import EngineClient


def test_a_load_tells_how_many_bytes_are_in_memory(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, between its first event and its last, and never more than all of them."""
    monkeypatch.setattr(loading, "_HANDFUL_BYTES", 40_000)
    events: list[Event] = []
    engine = Engine()
    engine.subscribe(events.append)
    try:
        assert isinstance(EngineClient(engine).load(zoo.main), ModelReady)
    finally:
        assert engine.close()
    told = [event for event in events if isinstance(event, ModelLoadProgress)]
    done = [event.done_bytes for event in told]
    assert len(told) > 2
    assert done == sorted(set(done))
    assert 0 < done[-1] <= told[0].total_bytes
    assert {event.total_bytes for event in told} == {told[0].total_bytes}
    kinds = [type(event) for event in events]
    assert kinds.index(ModelLoading) < kinds.index(ModelLoadProgress) < kinds.index(ModelReady)


@pytest.mark.usefixtures("whole_engine")
def test_what_forwards_take_is_told_once_it_is_measured(zoo: Zoo, tmp_path: Path) -> None:
    """And at once where it was measured before, but once for each time that the model is loaded."""
    for _ in range(2):
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        engine = Engine(tmp_path)
        engine.subscribe(events.put)
        EngineClient(engine).load(zoo.main)
        while not isinstance(measured := events.get(timeout=60), ModelMeasured):
            pass
        assert engine.close()
        assert measured.folder == str(zoo.main)
        assert dict(measured.times.by_width)[1] > 0
        assert len(measured.times.by_width) > 3
        assert measured.others == ()
        rest = [events.get() for _ in range(events.qsize())]
        assert not any(isinstance(event, ModelMeasured) for event in rest)
