"""What the engine tells of models while and after they are loaded: how far it is, and what forwards take here."""

from __future__ import annotations

import itertools
import queue
from pathlib import Path

import pytest

from engine import (
    DrafterExamined,
    Engine,
    Event,
    Finished,
    ModelLoading,
    ModelLoadProgress,
    ModelMeasured,
    ModelReady,
    Request,
    Sampling,
)
from engine.drafting import calibration
from engine.drafting.calibration import Tuner
from engine.models import networks
from tests.engine.conftest import Zoo
from tests.helpers import tiny_drafters
from tests.helpers.engine_client import PATIENCE_S, EngineClient

WIDTHS = (1, 2, 4, 8, 16, 33)


def test_a_load_tells_how_many_bytes_are_in_memory(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, between its first event and its last, and never more than all of them."""
    monkeypatch.setattr(networks, "_HANDFUL_BYTES", 40_000)
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


@pytest.mark.slow
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


@pytest.mark.usefixtures("whole_engine")
@pytest.mark.parametrize("drafts_from_states", [True, False])
def test_how_far_a_drafter_is_right_is_told_once_and_of_no_other_draft(
    drafts_from_states: bool, zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("WIDTHS", (1, 33)), ("MOST_COMPARISONS", 1), ("_ROUNDING_WIDTHS", (1,))):
        monkeypatch.setattr(calibration, name, value)
    config = tiny_drafters.eagle_config()
    drafter = tiny_drafters.save_drafter(tmp_path, config, tiny_drafters.eagle_weights(config))
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    engine = Engine()
    engine.subscribe(events.put)
    ready = EngineClient(engine).load(zoo.main, drafter if drafts_from_states else zoo.drafts["close"])
    assert isinstance(ready, ModelReady)
    told = [events.get(timeout=PATIENCE_S)]
    while not isinstance(told[-1], ModelMeasured):
        told.append(events.get(timeout=PATIENCE_S))
    assert engine.close()
    told += [events.get() for _ in range(events.qsize())]
    examined = [event for event in told if isinstance(event, DrafterExamined)]
    assert [event.folder for event in examined] == ([str(drafter)] if drafts_from_states else [])


@pytest.mark.usefixtures("whole_engine")
def test_measuring_gives_way_to_a_request_and_to_another_draft(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both come between two of its forwards; then what is loaded now is measured from the beginning."""
    monkeypatch.setattr(calibration, "WIDTHS", WIDTHS)
    monkeypatch.setattr(calibration, "MOST_COMPARISONS", calibration.LEAST_COMPARISONS)
    engine, events = Engine(), queue.SimpleQueue[Event]()
    engine.subscribe(events.put)
    asked = Request(tokens=tuple(range(40, 60)), sampling=Sampling(temperature=0), max_tokens=12)
    step, steps = Tuner.step, itertools.count(1)

    def watched(tuner: Tuner) -> None:
        done = next(steps)
        if done == 5:
            engine.submit(asked, events.put)
        elif done == 15:
            engine.set_draft(zoo.drafts["poor"], lambda event: None)
        step(tuner)

    monkeypatch.setattr(Tuner, "step", watched)
    EngineClient(engine).load(zoo.main, zoo.drafts["close"])
    heard: list[Event] = []
    while not heard or not isinstance(heard[-1], ModelMeasured):
        heard.append(events.get(timeout=PATIENCE_S))
    assert engine.close()
    ends = [event for event in heard if isinstance(event, (Finished, ModelReady, ModelMeasured))]
    assert [type(event) for event in ends] == [ModelReady, ModelReady, Finished, ModelReady, ModelMeasured]
    assert next(steps) > 15 + len(WIDTHS)
