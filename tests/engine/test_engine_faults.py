"""The engine where its surroundings fail: every call ends once, and what can still serve does."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine import (
    ContextTooLong,
    DraftingState,
    Engine,
    Event,
    Failed,
    Finished,
    InternalError,
    ModelFailed,
    ModelReady,
    ModelUnloaded,
    TextDelta,
    TokenizerBroken,
)
from engine.models import loading, networks
from engine.runtime.scheduler import Scheduler
from tests.engine.conftest import Zoo
from tests.engine.test_engine_thread import GOOD, fail_to_begin
from tests.helpers.engine_client import PATIENCE_S, Recorder


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 5000, "file", "gone/link", "file/below"], ids=ascii)
@pytest.mark.expect_log("caches are not kept on disk", "was not written", "measured")
def test_a_cache_folder_that_cannot_be_costs_the_caches_only(zoo: Zoo, tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    engine, load, reply = Engine(tmp_path / name), Recorder(), Recorder()
    engine.load(zoo.main, load)
    engine.submit(GOOD, reply)

    assert load.until(ModelReady)
    assert reply.until(Finished)
    assert engine.close()


_WITHOUT_MLX = """
import queue, sys
sys.modules["mlx"] = sys.modules["mlx.core"] = None
from engine import Engine, Failed, ModelFailed, Request
engine, events = Engine(), queue.SimpleQueue()
engine.load("model", events.put)
engine.submit(Request(tokens=(1,)), events.put)
last = []
while len(last) < 2:
    event = events.get(timeout=60)
    last += [event] if isinstance(event, ModelFailed | Failed) else []
print([type(event.error).__name__ for event in last], engine.close(), events.empty())
"""


def test_without_mlx_every_call_is_answered() -> None:
    command = [sys.executable, "-c", _WITHOUT_MLX]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)

    assert done.stdout.strip() == "['MlxUnusable', 'MlxUnusable'] True True"


@pytest.mark.parametrize("part", ["_check_memory", "_end_interrupted"])
@pytest.mark.expect_log("the engine thread caught an error", "a reply failed")
def test_a_fault_of_the_scheduler_itself_ends_every_reply(zoo: Zoo, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    """At every step, so that none could go on: written, read and waiting ones are told, and the engine serves again."""
    engine, load = Engine(), Recorder()
    engine.load(zoo.main, load)
    load.until(ModelReady)
    replies = [Recorder() for _ in range(4)]
    with monkeypatch.context() as broken:

        def begins(event: Event) -> None:
            if isinstance(event, TextDelta):  # on the engine's thread, so that no reply has ended by then
                broken.setattr(Scheduler, part, fail_to_begin)
            replies[1](event)

        for sink in (replies[0], begins):
            engine.submit(replace(GOOD, max_tokens=1000), sink)
        replies[1].until(TextDelta)
        for reply in replies[2:]:
            engine.submit(GOOD, reply)
        assert [type(reply.error(Failed)) for reply in replies] == [InternalError] * 4
    again = Recorder()
    engine.submit(GOOD, again)
    assert again.until(Finished)
    assert engine.close()
    assert all(reply.events.empty() for reply in replies)


def test_calls_from_many_threads_while_it_closes_end_once_each(zoo: Zoo) -> None:
    engine, load = Engine(), Recorder()
    engine.load(zoo.main, load)
    load.until(ModelReady)
    heard: list[list[Event]] = []
    begun = threading.Barrier(5)

    def call(salt: int) -> None:
        begun.wait(PATIENCE_S)
        for number in range(12):
            events: list[Event] = []
            heard.append(events)
            request = engine.submit(replace(GOOD, tokens=(65, 70 + salt), max_tokens=1 + number), events.append)
            if number % 3 == 0:
                engine.cancel(request)

    callers = [threading.Thread(target=call, args=(salt,)) for salt in range(4)]
    for caller in callers:
        caller.start()
    begun.wait(PATIENCE_S)
    while not any(isinstance(event, TextDelta) for events in list(heard) for event in list(events)):
        threading.Event().wait(0.001)
    assert engine.close(PATIENCE_S)
    for caller in callers:
        caller.join(PATIENCE_S)

    assert len(heard) == 48
    assert all(isinstance(events[-1], Finished | Failed) for events in heard)
    assert all(sum(isinstance(event, Finished | Failed) for event in events) == 1 for events in heard)
    assert engine.state().queued == engine.state().running == ()


@pytest.mark.parametrize("part", ["importlib.metadata.Distribution.from_name", "engine.runtime.worker.Tuner.begin"])
@pytest.mark.expect_log("cannot be measured")
def test_what_cannot_be_measured_is_loaded_all_the_same(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """Nor where nothing tells the versions of packages, as in an app that was made one file."""

    def unknown(*_: object) -> None:
        raise importlib.metadata.PackageNotFoundError

    monkeypatch.setattr(part, unknown)
    engine, load, reply = Engine(tmp_path), Recorder(), Recorder()
    engine.load(zoo.main, load, zoo.drafts["close"])
    ends = [load.until(ModelReady, ModelFailed) for _ in range(2)]
    engine.submit(GOOD, reply)
    assert reply.until(Finished)
    assert engine.close()
    assert [type(end) for end in ends] == [ModelReady] * 2


@pytest.mark.parametrize("draft", [False, True])
@pytest.mark.expect_log("could not load")
def test_a_model_that_is_told_as_failed_is_not_there(zoo: Zoo, monkeypatch: pytest.MonkeyPatch, draft: bool) -> None:
    """Say the device refuses the limits that go with it, once all of it is read."""
    engine, load, reply = Engine(), Recorder(), Recorder()
    if draft:
        engine.load(zoo.main, load)
        assert load.until(ModelReady)
    refusals = iter([OSError("the device refuses")])
    monkeypatch.setattr("engine.runtime.pair.set_limits", lambda *needs: refuse(needs, 1 + draft, refusals))
    if draft:
        engine.set_draft(zoo.drafts["close"], load)
    else:
        engine.load(zoo.main, load)
    error, state = load.error(ModelFailed), engine.state()
    engine.submit(GOOD, reply)
    end = reply.until(Finished, Failed)
    assert engine.close()
    assert isinstance(error, InternalError)
    assert (state.main is None, state.draft, state.loading_draft) == (not draft, None, None)
    if isinstance(end, Failed):
        assert (draft, type(end.error)) == (False, InternalError)  # why there is no main model
    elif isinstance(end, Finished):
        assert (draft, end.stats.drafting) == (True, DraftingState.NO_DRAFT)


def refuse(needs: tuple[object, ...], models: int, refusals: Iterator[Exception]) -> None:
    if len(needs) == models and (refusal := next(refusals, None)) is not None:
        raise refusal


@pytest.mark.expect_log("could not load")
def test_an_error_that_is_kept_keeps_no_model(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message shows its error for as long as it is on the screen: of a reply, and of a load that failed late."""
    built: list[weakref.ref[object]] = []
    build = networks._build_network

    def watched(folder: Path) -> object:
        network = build(folder)
        built.append(weakref.ref(network))
        return network

    def broken(*_: object) -> None:
        raise ValueError("no tokenizer")

    monkeypatch.setattr(networks, "_build_network", watched)
    engine, load, reply, unload = Engine(), Recorder(), Recorder(), Recorder()
    engine.load(zoo.main, load)
    assert load.until(ModelReady)
    engine.submit(replace(GOOD, context_tokens=1), reply)
    too_long = reply.error(Failed)
    monkeypatch.setattr(loading, "_load_tokenizer", broken)
    engine.load(zoo.drafts["poor"], load)
    not_loaded = load.error(ModelFailed)
    engine.unload(unload)
    assert unload.until(ModelUnloaded)

    assert isinstance(too_long, ContextTooLong)
    assert isinstance(not_loaded, TokenizerBroken)
    assert [network() is None for network in built] == [True, True]
    assert engine.close()
