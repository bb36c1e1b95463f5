"""The engine thread under faults: it cannot begin, a load is overtaken, and what commands tell a log."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path

import pytest

from engine import (
    Engine,
    EngineClosed,
    EngineError,
    Event,
    Failed,
    Finished,
    InternalError,
    LoadAborted,
    Message,
    MessageRole,
    ModelFailed,
    ModelLoading,
    ModelReady,
    ModelRole,
    ModelUnloaded,
    Request,
    RequestId,
    TextDelta,
)
from engine.models.loading import LoadedModel
from engine.models.loading import loading as really_loading
from engine.runtime.commands import Load, SetDraft, Submit
from engine.runtime.scheduler import Scheduler
from tests.engine.conftest import Zoo
from tests.helpers.engine_client import PATIENCE_S

GOOD = Request(tokens=(65, 66, 67), max_tokens=2)


class Recorder:
    def __init__(self) -> None:
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def __call__(self, event: Event) -> None:
        self.events.put(event)

    def until(self, kind: type[Event]) -> Event:
        while not isinstance(event := self.events.get(timeout=PATIENCE_S), kind):
            pass
        return event

    def error(self, kind: type[ModelFailed] | type[Failed]) -> EngineError:
        event = self.until(kind)
        assert isinstance(event, ModelFailed | Failed)
        return event.error


def fail_to_begin(*arguments: object) -> None:
    raise ImportError("libmlx.so cannot be loaded")


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.expect_log("the engine cannot work")
def test_an_engine_that_cannot_begin_answers_every_call(monkeypatch: pytest.MonkeyPatch, closed: bool) -> None:
    """As if MLX could not be imported: each call ends in its one event, before and after close()."""
    monkeypatch.setattr("engine.runtime.service._make_worker", fail_to_begin)
    engine = Engine()
    recorders = [Recorder() for _ in range(5)]
    load, draft, drop, unload, reply = recorders
    engine.set_draft(None, drop)
    drop.until(ModelUnloaded)
    if closed:
        assert engine.close()
    engine.load("main", load, "draft")
    engine.set_draft("draft", draft)
    engine.unload(unload)
    engine.submit(GOOD, reply)

    expected = EngineClosed if closed else InternalError
    errors = [load.error(ModelFailed), load.error(ModelFailed), draft.error(ModelFailed), reply.error(Failed)]
    assert [type(error) for error in errors] == [expected] * 4
    assert unload.until(ModelUnloaded) == ModelUnloaded(ModelRole.MAIN)
    assert engine.close()
    assert all(recorder.events.empty() for recorder in recorders)
    assert engine.state().queued == ()


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 5000, "file", "gone/link", "file/below"], ids=ascii)
@pytest.mark.expect_log("caches are not kept on disk", "was not written", "measured")
def test_a_cache_folder_that_cannot_be_costs_the_caches_only(zoo: Zoo, tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    engine, load, reply = Engine(f"{tmp_path}/{name}"), Recorder(), Recorder()
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

    assert done.stdout.strip() == "['InternalError', 'InternalError'] True True"


@pytest.mark.parametrize("part", ["_check_memory", "_end_interrupted"])
@pytest.mark.expect_log("the engine thread caught an error", "a reply failed")
def test_a_fault_of_the_scheduler_itself_ends_every_reply(zoo: Zoo, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    """At every step, so that none could go on: written, read and waiting ones are told, and the engine serves again."""
    engine, load = Engine(), Recorder()
    engine.load(zoo.main, load)
    load.until(ModelReady)
    replies = [Recorder() for _ in range(4)]
    for reply in replies[:2]:
        engine.submit(replace(GOOD, max_tokens=1000), reply)
        reply.until(TextDelta)
    with monkeypatch.context() as broken:
        broken.setattr(Scheduler, part, fail_to_begin)
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


class SlowLoad:
    """Loads of a main model stop before their last slice until `goes_on` is set; `begun` says that one has come there.

    It yields between looks, so the engine thread looks at its commands meanwhile.
    """

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.goes_on = threading.Event()
        self.closed = threading.Event()

    def __call__(self, folder: str, given_up: Callable[[], bool]) -> Generator[None, None, LoadedModel]:
        slices = really_loading(folder)
        try:
            yield next(slices)
            self.begun.set()
            while not self.goes_on.wait(0.001):
                yield
            return (yield from slices)
        finally:
            self.closed.set()


@pytest.fixture
def slow_load(monkeypatch: pytest.MonkeyPatch) -> SlowLoad:
    slow = SlowLoad()
    monkeypatch.setattr("engine.runtime.worker.loading", slow)
    return slow


def test_close_aborts_a_load(zoo: Zoo, slow_load: SlowLoad) -> None:
    engine, recorder, reply = Engine(), Recorder(), Recorder()
    engine.load(zoo.main, recorder, zoo.drafts["close"])
    engine.submit(GOOD, reply)
    assert slow_load.begun.wait(PATIENCE_S)
    assert engine.close()

    failed = [recorder.until(ModelFailed) for _ in range(2)]
    assert [(event.role, type(event.error)) for event in failed if isinstance(event, ModelFailed)] == [
        (ModelRole.MAIN, EngineClosed),
        (ModelRole.DRAFT, EngineClosed),
    ]
    assert isinstance(reply.until(Finished), Finished)
    assert slow_load.closed.is_set()


def test_a_second_load_and_its_draft_replace_the_first(zoo: Zoo, slow_load: SlowLoad) -> None:
    """What waits for a model waits for the second one."""
    engine, first, second, reply = Engine(), Recorder(), Recorder(), Recorder()
    engine.load(zoo.main, first, zoo.drafts["close"])
    assert slow_load.begun.wait(PATIENCE_S)
    engine.submit(GOOD, reply)
    engine.load(zoo.drafts["poor"], second, zoo.drafts["other"])
    assert [type(first.error(ModelFailed)) for _ in range(2)] == [LoadAborted] * 2
    assert engine.state().main is None
    slow_load.goes_on.set()

    ready = [second.until(ModelReady) for _ in range(2)]
    assert [Path(event.info.folder).name for event in ready if isinstance(event, ModelReady)] == ["poor", "other"]
    assert isinstance(reply.until(Finished), Finished)
    assert engine.close()


def test_unload_aborts_a_load(zoo: Zoo, slow_load: SlowLoad) -> None:
    engine, recorder, unload = Engine(), Recorder(), Recorder()
    engine.load(zoo.main, recorder)
    assert slow_load.begun.wait(PATIENCE_S)
    assert engine.state().loading_main == str(zoo.main)
    engine.unload(unload)
    assert unload.until(ModelUnloaded) == ModelUnloaded(ModelRole.MAIN)
    assert isinstance(recorder.error(ModelFailed), LoadAborted)
    assert engine.state().loading_main is None
    assert engine.close()


def test_a_waiting_request_is_cancelled_while_a_model_loads(zoo: Zoo, slow_load: SlowLoad) -> None:
    engine, recorder, reply = Engine(), Recorder(), Recorder()
    engine.load(zoo.main, recorder)
    assert slow_load.begun.wait(PATIENCE_S)
    engine.cancel(engine.submit(GOOD, reply))
    reply.until(Finished)
    assert recorder.until(ModelLoading)
    assert recorder.events.empty()
    assert engine.close()


def test_the_repr_of_a_command_keeps_chats_to_itself() -> None:
    secret = Request(messages=(Message(MessageRole.USER, "my diary"),))
    sink = Recorder()
    assert repr(Submit(RequestId(7), secret, sink)) == "Submit(id=7)"
    assert [repr(Load("models/a", sink)), repr(SetDraft(None, sink))] == [
        "Load(folder='models/a')",
        "SetDraft(folder=None)",
    ]


def test_a_sink_may_close_the_engine() -> None:
    engine, answers = Engine(), Recorder()
    done: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def close(event: Event) -> None:
        answers(event)
        done.put(engine.close())

    engine.unload(close)
    answers.until(ModelUnloaded)
    assert done.get(timeout=PATIENCE_S) is False  # it cannot wait for the thread that it runs on
    assert engine.close()
