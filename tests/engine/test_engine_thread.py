"""The engine thread under faults: it cannot begin, a load is overtaken, and what commands tell a log."""

from __future__ import annotations

import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

from engine import (
    Constraint,
    ConstraintKind,
    EmptyConversation,
    Engine,
    EngineClosed,
    Event,
    Failed,
    Finished,
    FinishReason,
    LoadAborted,
    Message,
    MessageRole,
    MlxUnusable,
    ModelFailed,
    ModelLoading,
    ModelReady,
    ModelRole,
    ModelUnloaded,
    RepliesUnderWay,
    Request,
    RequestId,
    Sampling,
    Speculation,
    TextDelta,
)
from engine.models.loading import LoadedModel
from engine.models.loading import loading as really_loading
from engine.models.watch import Question
from engine.runtime.commands import Load, SetDraft, Submit
from tests.engine.conftest import Zoo
from tests.helpers.engine_client import PATIENCE_S, EngineClient, Outcome, Recorder
from tests.helpers.loading import load_draft
from tests.helpers.tiny_eyes import asked, picture, save_seeing, save_text_draft
from tests.helpers.tiny_families import FAMILIES, save_family
from tests.helpers.tiny_models import VOCABULARY

GOOD = Request(tokens=(65, 66, 67), max_tokens=2)


def fail_to_begin(*arguments: object) -> None:
    raise ImportError("libmlx.so cannot be loaded")


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.expect_log("the engine cannot work")
def test_an_engine_that_cannot_begin_answers_every_call(monkeypatch: pytest.MonkeyPatch, closed: bool) -> None:
    """As if MLX could not be imported: each call ends in its one event, before and after close()."""
    monkeypatch.setattr("engine.runtime.service.put_in_front", fail_to_begin)
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

    expected = EngineClosed if closed else MlxUnusable
    errors = [load.error(ModelFailed), load.error(ModelFailed), draft.error(ModelFailed), reply.error(Failed)]
    assert [type(error) for error in errors] == [expected] * 4
    if isinstance(error := errors[0], MlxUnusable):
        assert error.system
        assert ("macosx" if sys.platform == "darwin" else "linux") in error.wheel
    assert unload.until(ModelUnloaded) == ModelUnloaded(ModelRole.MAIN)
    assert engine.close()
    assert all(recorder.events.empty() for recorder in recorders)
    assert engine.state().queued == ()


class SlowLoad:
    """Loads of a main model stop before their last slice until `goes_on` is set; `begun` says that one has come there.

    It yields between looks, so the engine thread looks at its commands meanwhile.
    """

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.goes_on = threading.Event()
        self.closed = threading.Event()

    def __call__(self, folder: str, **_: object) -> Generator[None, None, LoadedModel]:
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
    monkeypatch.setattr("engine.runtime.pair_loader.loading", slow)
    return slow


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


def test_a_refused_load_leaves_what_is_being_loaded(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it names the same draft, and whoever keeps an account of the events."""
    goes_on, begun = threading.Event(), threading.Event()

    def slowly(folder: str, main: LoadedModel, _: Question, **__: object) -> Generator[None, None, LoadedModel]:
        begun.set()
        while not goes_on.wait(0.001):
            yield
        return load_draft(folder, main)

    monkeypatch.setattr("engine.runtime.pair_loader.loading_any_draft", slowly)
    engine, load, draft, reply, refused = Engine(), Recorder(), Recorder(), Recorder(), Recorder()
    engine.load(zoo.main, load)
    load.until(ModelReady)
    engine.submit(Request(tokens=(65, 66), max_tokens=400), reply)
    reply.until(TextDelta)
    engine.set_draft(zoo.drafts["close"], draft)
    assert begun.wait(PATIENCE_S)
    engine.load(zoo.drafts["poor"], refused, zoo.drafts["close"])
    ends = [refused.until(ModelFailed) for _ in range(2)]
    state = engine.state()
    goes_on.set()
    draft.until(ModelReady)
    loaded = engine.state()
    assert engine.close()
    assert (state.loading_main, state.loading_draft) == (None, str(zoo.drafts["close"]))
    assert loaded.loading_draft is None
    assert [(type(end.error), end.began) for end in ends if isinstance(end, ModelFailed)] == [
        (RepliesUnderWay, False)
    ] * 2


def test_a_waiting_request_is_cancelled_while_a_model_loads(zoo: Zoo, slow_load: SlowLoad) -> None:
    engine, recorder, reply = Engine(), Recorder(), Recorder()
    engine.load(zoo.main, recorder)
    assert slow_load.begun.wait(PATIENCE_S)
    engine.cancel(engine.submit(GOOD, reply))
    reply.until(Finished)
    assert recorder.until(ModelLoading)
    assert recorder.events.empty()
    assert engine.close()


class Interrupted(Recorder):
    """The person ends the program while a sink is called on the main thread."""

    def __call__(self, event: Event) -> None:
        super().__call__(event)
        if threading.current_thread() is threading.main_thread():
            signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("interrupts_raise")
def test_an_interrupt_reaches_whoever_submits_and_the_request_ends(zoo: Zoo) -> None:
    engine, load, reply, refused = Engine(), Recorder(), Interrupted(), Interrupted()
    engine.load(zoo.main, load)
    load.until(ModelReady)
    with pytest.raises(KeyboardInterrupt):
        engine.submit(Request(tokens=(65, 66), max_tokens=400), reply)
    with pytest.raises(KeyboardInterrupt):
        engine.submit(Request(), refused)
    end, error, after = reply.until(Finished), refused.error(Failed), Recorder()
    engine.submit(GOOD, after)
    assert after.until(Finished)
    assert engine.state().queued == engine.state().running == ()
    assert engine.close()
    assert isinstance(end, Finished)
    assert end.reason is FinishReason.CANCELLED
    assert isinstance(error, EmptyConversation)
    assert reply.events.empty()
    assert refused.events.empty()


def test_the_repr_of_a_command_keeps_chats_to_itself() -> None:
    secret = Request(messages=(Message(MessageRole.USER, "my diary"),))
    sink = Recorder()
    assert repr(Submit(RequestId(7), secret, sink)) == "Submit(id=7)"
    assert [repr(Load("models/a", sink)), repr(SetDraft(None, sink))] == [
        "Load(folder='models/a', draft=None, end_replies=False, mode=None)",
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


# Two engines in one process, each with its own thread and model: neither notices the other.


LAYERS = 24  # so many that two forwards are under way at the same time
CHATS = [tuple([*range(40, 52), *range(60 + salt, 68 + salt)] * 3) for salt in (0, 20)]
REPLIES = 2
WORDS = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of so few words that lookup finds something to draft all the time, right or wrong."""
    folder = tmp_path_factory.mktemp("deep")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(FAMILIES, "deep", FAMILIES["hybrid"] | {"num_hidden_layers": LAYERS})
        save_family("deep", folder)
    weights: Any = mx.load(str(folder / "model.safetensors"))
    weights["lm_head.weight"] *= (mx.arange(VOCABULARY) < WORDS)[:, None]
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "mlx"})
    return folder


def write(folder: Path, chat: tuple[int, ...], tokens: int, together: threading.Barrier, told: list[Outcome]) -> None:
    engine = Engine()
    client = EngineClient(engine)
    assert isinstance(client.load(folder), ModelReady)
    together.wait(60)
    asked = Request(tokens=chat, sampling=Sampling(temperature=0), max_tokens=tokens, speculation=Speculation.fixed(6))
    told.extend(client.run(asked) for _ in range(REPLIES if together.parties > 1 else 1))
    assert engine.close()


def replies(folder: Path, tokens: int, *chats: tuple[int, ...]) -> list[list[Outcome]]:
    """Of one engine a chat, all at the same time."""
    together = threading.Barrier(len(chats))
    told: list[list[Outcome]] = [[] for _ in chats]
    threads = [
        threading.Thread(target=write, args=(folder, chat, tokens, together, outcomes))
        for chat, outcomes in zip(chats, told, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


@pytest.mark.slow
@pytest.mark.parametrize("tokens", [40, pytest.param(100, marks=pytest.mark.drill)])
def test_two_engines_write_what_each_writes_alone(folder: Path, tokens: int) -> None:
    """Both roll back a deep hybrid all the time."""
    alone = [replies(folder, tokens, chat)[0] for chat in CHATS]
    both = replies(folder, tokens, *CHATS)
    for mine, other in zip(alone, both, strict=True):
        assert [outcome.tokens for outcome in other] == [mine[0].tokens] * REPLIES
        assert any(0 < outcome.stats.accepted < outcome.stats.drafted for outcome in other)


# A process that ends while its engine works, as after Ctrl-C: the engine ends first, or MLX aborts the process.


ROOT = Path(__file__).resolve().parents[2]
_RUN = """
import sys, threading
from pathlib import Path
from engine import Engine, Request, Sampling, TextDelta
from tests.helpers.engine_client import EngineClient
engine, writes = Engine(), threading.Event()
EngineClient(engine).load(Path(sys.argv[1]))
def sink(event):
    writes.set() if isinstance(event, TextDelta) else print(type(event).__name__, flush=True)
endless = Sampling(temperature=0.7, logit_bias=((257, -100.0),))
engine.submit(Request(tokens=(5, 6, 7), sampling=endless, max_tokens=1900), sink)
writes.wait(60)
raise KeyboardInterrupt
"""


def test_a_process_that_ends_ends_its_engine(zoo: Zoo) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _RUN, str(zoo.main)], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout.split()[-1] == "Finished"
    assert done.stderr.splitlines()[-1] == "KeyboardInterrupt"
    assert done.returncode in (1, 130, -2)  # as Python ends after one


def test_only_the_engine_thread_calls_mlx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a draft, a picture, a schema, a cancelled reply, another draft: MLX binds streams to the thread."""
    main, draft = save_seeing("qwen3_5", tmp_path / "main"), save_text_draft(tmp_path / "draft")
    seen, schema = asked("What is it?", picture(40, 30)), Constraint(ConstraintKind.JSON, '{"type": "boolean"}')
    requests = [
        Request(messages=(seen,), max_tokens=8, speculation=Speculation.fixed(3)),
        Request(messages=(seen,), max_tokens=8, constraint=schema),
    ]
    callers: set[str] = set()
    for name, value in [*vars(mx).items()]:
        if callable(value) and not isinstance(value, type):
            monkeypatch.setattr(mx, name, recorded(value, callers))
    engine = Engine()
    client = EngineClient(engine)
    assert isinstance(client.load(main, draft), ModelReady)
    for each in requests:
        assert client.run(each).tokens
    reply = Recorder()
    engine.cancel(engine.submit(requests[0], reply))
    reply.finished()
    client.set_draft(None)
    assert isinstance(client.set_draft(draft), ModelReady)
    assert engine.close()
    assert callers == {"engine"}


def recorded(function: Callable[..., Any], callers: set[str]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        callers.add(threading.current_thread().name)
        return function(*arguments, **options)

    return call
