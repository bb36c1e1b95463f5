"""A load is aborted as soon as nobody wants it, whatever it is at; and what a config says cannot keep it busy."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from engine import (
    Engine,
    EngineClosed,
    LoadAborted,
    ModelDamaged,
    ModelFailed,
    ModelReady,
    ModelUnloaded,
    Request,
)
from engine.models.watch import watched
from tests.engine.conftest import Zoo
from tests.engine.test_bad_input import edit_config
from tests.helpers.engine_client import Recorder
from tests.helpers.loading import load_model

PATIENCE_S = 60.0
STAGES = (
    "networks._build_network",
    "networks.CacheMaker",
    "networks.memory_need",
    "loading._logit_width",
    "loading._load_tokenizer",
)


@pytest.fixture(autouse=True)
def watched_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.models.networks.watched", watched)


@pytest.fixture(params=STAGES)
def endless(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """One stage of loading never ends; the event says that it has begun."""
    begun = threading.Event()

    def go_on(*_: Any) -> None:
        begun.set()
        turns = 0
        while True:
            turns += 1

    monkeypatch.setattr(f"engine.models.{request.param}", go_on)
    return begun


def test_closing_ends_a_load_at_any_stage(zoo: Zoo, endless: threading.Event) -> None:
    engine, events, reply = Engine(), Recorder(), Recorder()
    engine.load(zoo.main, events, zoo.drafts["close"])
    engine.submit(Request(tokens=(65, 66, 67)), reply)
    assert endless.wait(PATIENCE_S)
    assert engine.close()
    assert [type(events.error(ModelFailed)) for _ in range(2)] == [EngineClosed] * 2
    reply.finished()


@pytest.mark.parametrize("endless", STAGES[:1], indirect=True)
def test_another_model_ends_a_load(zoo: Zoo, endless: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, first, second = Engine(), Recorder(), Recorder()
    engine.load(zoo.main, first)
    assert endless.wait(PATIENCE_S)
    monkeypatch.undo()
    engine.load(zoo.drafts["poor"], second)
    assert isinstance(first.error(ModelFailed), LoadAborted)
    second.until(ModelReady)
    assert engine.close()


@pytest.mark.parametrize("endless", STAGES[:1], indirect=True)
def test_unloading_ends_a_load(zoo: Zoo, endless: threading.Event) -> None:
    engine, loading, unloading = Engine(), Recorder(), Recorder()
    engine.load(zoo.main, loading)
    assert endless.wait(PATIENCE_S)
    assert engine.state().loading_main == str(zoo.main)
    engine.unload(unloading)
    unloading.until(ModelUnloaded)
    assert isinstance(loading.error(ModelFailed), LoadAborted)
    assert engine.state().loading_main is None
    assert engine.close()


def copied(zoo: Zoo, folder: Path, **changes: object) -> Path:
    shutil.copytree(zoo.main, folder)
    edit_config(folder, **changes)
    return folder


def test_no_network_has_many_more_parts_than_there_are_weights(zoo: Zoo, tmp_path: Path) -> None:
    with pytest.raises(ModelDamaged, match="too many parts"):
        load_model(copied(zoo, tmp_path / "m", num_hidden_layers=512))


@pytest.mark.parametrize("told", [-1, 2**70, None, [257, -1, 10**6], [None], ["<|im_end|>"], {"a": 1}, "2"], ids=repr)
def test_ends_that_are_no_tokens_are_not_believed(zoo: Zoo, tmp_path: Path, told: object) -> None:
    """In config.json and in generation_config.json, which mlx-lm reads without checks."""
    folder = copied(zoo, tmp_path / "m", eos_token_id=told)
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": told}))
    assert load_model(folder).ends == {257}  # the tokenizer's own
