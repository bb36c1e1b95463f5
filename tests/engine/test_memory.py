"""What a pair held is given back when it is unloaded, without the collector: the app keeps that off this thread."""

from __future__ import annotations

import gc
import queue

import mlx.core as mx

from engine import Engine, Event, ModelReady, ModelUnloaded, Request, Sampling
from tests.engine.conftest import Zoo
from tests.helpers.engine_client import PATIENCE_S, EngineClient


def test_unloading_frees_a_pair_and_its_caches_without_the_collector(zoo: Zoo) -> None:
    assert not gc.isenabled()
    engine = Engine()
    client = EngineClient(engine)
    before_bytes = mx.get_active_memory()
    assert isinstance(client.load(zoo.main, zoo.drafts["close"]), ModelReady)
    loaded_bytes = mx.get_active_memory()
    client.run(Request(tokens=tuple(range(40, 80)), sampling=Sampling(temperature=0), max_tokens=24))
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    engine.unload(events.put)
    assert isinstance(events.get(timeout=PATIENCE_S), ModelUnloaded)
    assert loaded_bytes - before_bytes > 100_000
    assert mx.get_active_memory() - before_bytes < 10_000
    assert engine.close()
