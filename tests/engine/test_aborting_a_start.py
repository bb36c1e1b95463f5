"""A reply that nobody wants any more ends while its prompt is still laid out or encoded, however long that takes."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tokenizers import Tokenizer, processors

from engine import (
    CountId,
    Engine,
    Event,
    Failed,
    Finished,
    FinishReason,
    Message,
    MessageRole,
    ModelReady,
    Request,
    RequestId,
    Sampling,
    TextDelta,
    TokensCounted,
)
from engine.models import encoding
from engine.models.encoding import _calls_the_library, apart, encode
from engine.models.templates import ChatTemplate
from engine.models.watch import Aborted, watched
from engine.prefix.memory import PrefixStore
from engine.runtime.queued import QueuedReply
from engine.runtime.scheduler import Scheduler
from tests.engine.conftest import Zoo
from tests.helpers.engine_client import Recorder
from tests.helpers.loading import load_model

PATIENCE_S = 60.0
HELLO = Request(messages=(Message(MessageRole.USER, "hello"),), sampling=Sampling(temperature=0), max_tokens=3)


class Endless:
    """One step on the way to the prompt's tokens does not end, until `end` or the deadline of this test."""

    def __init__(self) -> None:
        self.begun, self.end = threading.Event(), threading.Event()

    def python(self, *_: object, **__: object) -> str:
        """As a template's loop: nothing but Python."""
        self.begun.set()
        while not self.end.is_set():
            pass
        return "never"

    def library(self, *_: object, **__: object) -> list[int]:
        """As a library's call: no Python meanwhile."""
        self.begun.set()
        self.end.wait(PATIENCE_S)
        return [1]


@pytest.fixture(params=["python", "library"])
def endless(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endless]:
    step = Endless()
    if request.param == "python":
        monkeypatch.setattr("engine.models.templates.ChatTemplate._render", step.python)
        monkeypatch.setattr("engine.models.templates.watched", lambda _, aborted: watched(PATIENCE_S, aborted))
    else:
        monkeypatch.setattr("engine.models.encoding._encode", step.library)
    yield step
    step.end.set()


@pytest.fixture
def engine(zoo: Zoo) -> Iterator[Engine]:
    engine, events = Engine(), Recorder()
    engine.load(zoo.main, events)
    events.until(ModelReady)
    yield engine
    engine.close()


def test_cancelling_ends_it(engine: Engine, endless: Endless, monkeypatch: pytest.MonkeyPatch) -> None:
    events = Recorder()
    request = engine.submit(HELLO, events)
    assert endless.begun.wait(PATIENCE_S)
    engine.cancel(request)
    assert events.finished().reason is FinishReason.CANCELLED
    monkeypatch.undo()
    engine.submit(HELLO, events)
    events.finished()


def test_cancelling_another_does_not(engine: Engine, endless: Endless) -> None:
    first, second = Recorder(), Recorder()
    wanted = engine.submit(HELLO, first)
    assert endless.begun.wait(PATIENCE_S)
    engine.cancel(engine.submit(HELLO, second))
    engine.cancel(wanted)
    first.finished()
    second.finished()


def test_closing_ends_it(engine: Engine, endless: Endless) -> None:
    events = Recorder()
    engine.submit(HELLO, events)
    assert endless.begun.wait(PATIENCE_S)
    assert engine.close()
    assert events.finished().reason is FinishReason.CANCELLED


def test_it_waits_for_the_next_model(
    engine: Engine, zoo: Zoo, endless: Endless, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As every reply does that has not begun when another model is loaded."""
    events, loading = Recorder(), Recorder()
    engine.submit(HELLO, events)
    assert endless.begun.wait(PATIENCE_S)
    monkeypatch.undo()
    engine.load(zoo.drafts["poor"], loading)
    loading.until(ModelReady)
    assert len(events.finished().tokens) == 3


class Held(Endless):
    """The same for texts in which "hold" stands; others go their way."""

    def __init__(self, go_on: Callable[..., Any]) -> None:
        super().__init__()
        self._go_on = go_on

    def python(self, *arguments: Any, **named: Any) -> Any:
        held = "hold" in str(named)
        return super().python() if held else self._go_on(*arguments, **named)

    def library(self, *arguments: Any, **named: Any) -> Any:
        held = "hold" in str(arguments[1])
        return super().library() if held else self._go_on(*arguments, **named)


def hold_renderings(monkeypatch: pytest.MonkeyPatch, step: Held) -> None:
    def render(template: ChatTemplate, **named: Any) -> Any:
        return step.python(template, **named)

    monkeypatch.setattr(ChatTemplate, "_render", render)
    monkeypatch.setattr("engine.models.templates.watched", lambda _, aborted: watched(PATIENCE_S, aborted))


@pytest.fixture(params=["python", "library"])
def held(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    if request.param == "python":
        hold_renderings(monkeypatch, step := Held(ChatTemplate._render))
    else:
        step = Held(encoding._encode)
        monkeypatch.setattr(encoding, "_encode", step.library)
    yield step
    step.end.set()


def saying(text: str) -> Request:
    return replace(HELLO, messages=(Message(MessageRole.USER, text),))


@pytest.mark.expect_log("a reply failed")
def test_a_start_that_fails_gives_back_the_caches_that_it_took(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    model, store, events = load_model(zoo.main), PrefixStore(), list[Event]()

    def written() -> Event:
        scheduler.add(QueuedReply(RequestId(1), HELLO, events.append))
        while scheduler.busy:
            scheduler.step()
        return events[-1]

    scheduler = Scheduler(store=store)
    scheduler.set_main(model)
    written()
    with monkeypatch.context() as broken:
        broken.setattr("engine.runtime.reply.Sampler", tokenizer_panics)
        assert isinstance(written(), Failed)
    again = written()
    assert isinstance(again, Finished)
    assert again.stats.cached_tokens == again.stats.prompt_tokens - 1


def tokenizer_panics(*_: object) -> NoReturn:
    raise BaseException("a panic")


def test_others_are_written_and_begun_while_a_prompt_is_made(engine: Engine, held: Held) -> None:
    """Whether they began before it or come after it; and it is written once it is made."""
    before, long, after = (Recorder() for _ in range(3))
    engine.submit(replace(saying("hello"), max_tokens=20), before)
    before.until(TextDelta)
    engine.submit(saying("hold"), long)
    assert held.begun.wait(PATIENCE_S)
    engine.submit(saying("hello"), after)
    after.finished()
    before.finished()
    assert engine.state().queued
    held.end.set()
    long.finished()


def test_replies_are_written_while_a_text_is_counted(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    step = Held(encoding._encode)
    monkeypatch.setattr(encoding, "_encode", step.library)
    counts, replies = Recorder(), Recorder()
    engine.count_tokens("hold", counts)
    assert step.begun.wait(PATIENCE_S)
    engine.submit(HELLO, replies)
    try:
        replies.finished()
        assert counts.events.empty()
    finally:
        step.end.set()
    assert counts.until(TokensCounted) == TokensCounted(CountId(1), 1, None)


TEXTS = ("", "hello world", "안녕 <|im_end|>\n x" * 50, "\x00 ❤️ \r\n", "a" * 5000)


@pytest.mark.parametrize("special", [True, False])
def test_encoding_is_what_transformers_makes_of_it(zoo: Zoo, tmp_path: Path, special: bool) -> None:
    """Also where the file cuts, pads or adds something of its own, which transformers does not or does."""
    folder = shutil.copytree(zoo.main, tmp_path / "m")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(6)
    tokenizer.enable_padding(length=9)
    tokenizer.post_processor = processors.TemplateProcessing("<|im_start|> $A", None, [("<|im_start|>", 256)])
    tokenizer.save(str(folder / "tokenizer.json"))
    model = load_model(folder)
    assert _calls_the_library(type(model.tokenizer._tokenizer))
    for text in TEXTS:
        expected = model.tokenizer.encode(text, add_special_tokens=special)
        assert encode(model.tokenizer, [text], special=special) == expected
        assert len(expected) >= len(text) // 2  # neither cut nor padded


def test_what_nobody_waits_for_does_not_pile_up_whoever_left_it() -> None:
    """Ten threads ask at one moment."""
    end, begun, together = threading.Event(), list[int](), threading.Barrier(10)

    def work() -> None:
        begun.append(1)
        end.wait(PATIENCE_S)

    def leave() -> None:
        with pytest.raises(Aborted):
            apart(work, lambda: together.wait(PATIENCE_S) >= 0)

    threads = [threading.Thread(target=leave) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    end.set()
    assert len(begun) <= 4
    assert [apart(lambda: 7, lambda: False) for _ in range(9)] == [7] * 9


def test_what_a_library_raises_is_heard() -> None:
    def work() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        apart(work, lambda: False)


_ENDS_WHILE_ENCODING = """
import threading
from tokenizers import Tokenizer, models, pre_tokenizers
from engine.models.encoding import apart
from engine.models.watch import Aborted
tokenizer = Tokenizer(models.BPE(vocab={letter: at for at, letter in enumerate("ab ")}, merges=[]))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
for work in (lambda: tokenizer.encode_batch_fast(["ab ba " * 100_000]), threading.Event().wait):
    try:
        apart(work, lambda: True)
    except Aborted:
        print("aborted")


class Slow:
    def __del__(self, sleep=__import__("time").sleep):
        sleep(1)


slow = Slow()  # the interpreter is taken down for that long
"""


@pytest.mark.slow
def test_a_process_that_ends_meanwhile_ends_in_order() -> None:
    """One call comes back to an interpreter that is being taken down, another never."""
    command, root = [sys.executable, "-c", _ENDS_WHILE_ENCODING], Path(__file__).resolve().parents[2]
    done = subprocess.run(command, check=False, cwd=root, capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout, done.stderr) == (0, 2 * "aborted\n", "")
