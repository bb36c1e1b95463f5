"""A load is given up as soon as nobody wants it, whatever it is at; and what a config says cannot keep it busy."""

from __future__ import annotations

import queue
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from engine import (
    Engine,
    EngineClosed,
    Event,
    LoadAborted,
    ModelDamaged,
    ModelFailed,
    ModelReady,
    ModelUnloaded,
)
from engine.models.loading import at_once, load_model, loading
from tests.engine.conftest import Zoo
from tests.engine.test_bad_input import edit_config

PATIENCE_S = 60.0
STAGES = ("_build_network", "CacheMaker", "memory_need", "_logit_width", "_load_tokenizer")


@pytest.fixture(params=STAGES)
def endless(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """One stage of loading never ends; the event says that it has begun."""
    begun = threading.Event()

    def go_on(*_: Any) -> None:
        begun.set()
        turns = 0
        while True:
            turns += 1

    monkeypatch.setattr(f"engine.models.loading.{request.param}", go_on)
    return begun


def failure(events: queue.SimpleQueue[Event]) -> object:
    while not isinstance(event := events.get(timeout=PATIENCE_S), ModelFailed):
        pass
    return event.error


def test_closing_ends_a_load_at_any_stage(zoo: Zoo, endless: threading.Event) -> None:
    engine, events = Engine(), queue.SimpleQueue[Event]()
    engine.load(zoo.main, events.put)
    assert endless.wait(PATIENCE_S)
    assert engine.close()
    assert isinstance(failure(events), EngineClosed)


def test_another_model_ends_a_load_at_any_stage(
    zoo: Zoo, endless: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, first, second = Engine(), queue.SimpleQueue[Event](), queue.SimpleQueue[Event]()
    engine.load(zoo.main, first.put)
    assert endless.wait(PATIENCE_S)
    monkeypatch.undo()
    engine.load(zoo.drafts["poor"], second.put)
    assert isinstance(failure(first), LoadAborted)
    while not isinstance(event := second.get(timeout=PATIENCE_S), ModelReady):
        assert not isinstance(event, ModelFailed)
    assert engine.close()


def test_unloading_ends_a_load_at_any_stage(zoo: Zoo, endless: threading.Event) -> None:
    engine, loading, unloading = Engine(), queue.SimpleQueue[Event](), queue.SimpleQueue[Event]()
    engine.load(zoo.main, loading.put)
    assert endless.wait(PATIENCE_S)
    engine.unload(unloading.put)
    assert isinstance(unloading.get(timeout=PATIENCE_S), ModelUnloaded)
    assert isinstance(failure(loading), LoadAborted)
    assert engine.close()


def copied(zoo: Zoo, folder: Path, **changes: object) -> Path:
    shutil.copytree(zoo.main, folder)
    edit_config(folder, **changes)
    return folder


def test_no_network_has_many_more_parts_than_there_are_weights(zoo: Zoo, tmp_path: Path) -> None:
    with pytest.raises(ModelDamaged, match="too many parts"):
        load_model(copied(zoo, tmp_path / "m", num_hidden_layers=512))


@pytest.mark.parametrize("told", [-1, 10**6, 2**70, None, [257, -1, 10**6]])
def test_ends_that_are_no_tokens_are_not_believed(zoo: Zoo, tmp_path: Path, told: object) -> None:
    model = load_model(copied(zoo, tmp_path / "m", eos_token_id=told))
    assert model.ends == {257}  # the tokenizer's own


def test_files_that_change_while_they_are_read_make_no_model(zoo: Zoo, tmp_path: Path) -> None:
    """Neither the old files nor the new: caches kept for either would not fit."""
    folder = Path(shutil.copytree(zoo.main, tmp_path / "model"))
    slices = loading(folder)
    for _ in range(3):
        next(slices)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes())

    with pytest.raises(ModelDamaged, match="changed while"):
        at_once(slices)
