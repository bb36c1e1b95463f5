"""What the app counts on, checked over every ChatEngine: the scripted one that its tests use, and the real one."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from engine import (
    ChatEngine,
    EmptyConversation,
    Engine,
    EngineClosed,
    Event,
    Failed,
    Finished,
    FinishReason,
    InvalidRequest,
    Message,
    MessageRole,
    ModelFailed,
    ModelLoading,
    ModelNotFound,
    ModelReady,
    ModelRole,
    ModelUnloaded,
    NoModelLoaded,
    PromptProgress,
    Queued,
    Request,
    Sampling,
    Speculation,
    TextDelta,
)
from tests.helpers.fake_engine import DRAFT, MAIN, FakeEngine, Script
from tests.helpers.tiny_models import make_pair

PATIENCE_S = 120.0
LONG_TOKENS = 400
QUESTION = Request(messages=(Message(MessageRole.USER, "How does drafting work?"),), max_tokens=12)
LONG = replace(QUESTION, max_tokens=LONG_TOKENS)


class Ear:
    """A sink that waits."""

    def __init__(self) -> None:
        self.heard: list[Event] = []
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def __call__(self, event: Event) -> None:
        self._events.put(event)

    def until(self, *kinds: type[Event]) -> Event:
        while True:
            event = self._events.get(timeout=PATIENCE_S)
            self.heard.append(event)
            if isinstance(event, kinds):
                return event

    def end(self) -> Finished | Failed:
        event = self.until(Finished, Failed)
        assert isinstance(event, Finished | Failed)
        return event

    def finished(self) -> Finished:
        event = self.end()
        assert isinstance(event, Finished), event
        return event

    def failed(self) -> Failed:
        event = self.end()
        assert isinstance(event, Failed), event
        return event


@dataclass
class House:
    engine: ChatEngine
    main: str
    draft: str

    def load(self, draft: bool = True) -> None:
        ear = Ear()
        self.engine.load(self.main, ear, self.draft if draft else None)
        ready = ear.until(ModelReady, ModelFailed)
        assert isinstance(ready, ModelReady), ready
        if draft:
            assert isinstance(ear.until(ModelReady, ModelFailed), ModelReady)

    def ask(self, request: Request = QUESTION) -> Ear:
        ear = Ear()
        self.engine.submit(request, ear)
        return ear


@pytest.fixture(scope="module")
def tiny_pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    main, draft = make_pair(tmp_path_factory.mktemp("contract"))
    return main, draft


@pytest.fixture(params=["fake", "real"])
def house(request: pytest.FixtureRequest, tiny_pair: tuple[Path, Path]) -> Iterator[House]:
    if request.param == "fake":
        fake = FakeEngine()
        fake.scripts.extend(Script(pieces=tuple("x" * LONG_TOKENS)) for _ in range(20))
        built = House(fake, MAIN.folder, DRAFT.folder)
    else:
        built = House(Engine(), *(str(folder) for folder in tiny_pair))
    yield built
    assert built.engine.close()


def test_load_tells_of_main_then_of_draft(house: House) -> None:
    ear = Ear()
    house.engine.load(house.main, ear, house.draft)
    ear.until(ModelReady)
    ear.until(ModelReady)
    kinds = [(type(event), getattr(event, "role", None)) for event in ear.heard]
    assert kinds == [
        (ModelLoading, ModelRole.MAIN),
        (ModelReady, ModelRole.MAIN),
        (ModelLoading, ModelRole.DRAFT),
        (ModelReady, ModelRole.DRAFT),
    ]


def test_load_of_missing_folder_fails_and_engine_goes_on(house: House) -> None:
    ear = Ear()
    house.engine.load("/nowhere/at-all", ear)
    failed = ear.until(ModelFailed)
    assert isinstance(failed, ModelFailed)
    assert isinstance(failed.error, ModelNotFound)
    house.load()
    assert house.ask().finished().stats.generated_tokens > 0


def test_draft_for_no_main_model_fails(house: House) -> None:
    ear = Ear()
    house.engine.set_draft(house.draft, ear)
    failed = ear.until(ModelFailed)
    assert isinstance(failed, ModelFailed)
    assert (failed.role, type(failed.error)) == (ModelRole.DRAFT, NoModelLoaded)


def test_events_of_a_request_come_in_order(house: House) -> None:
    """Queued first, one terminal event last, progress before text."""
    house.load()
    ear = house.ask()
    ear.finished()
    kinds = [type(event) for event in ear.heard]
    assert kinds[0] is Queued
    assert kinds.count(Finished) == 1
    assert [kind for kind, _ in itertools.groupby(kinds[1:])] in (
        [PromptProgress, TextDelta, Finished],
        [PromptProgress, Finished],  # a reply whose bytes never make a character
    )


def test_statistics_only_grow_and_add_up(house: House) -> None:
    house.load()
    ear = house.ask(replace(LONG, max_tokens=40))
    last = ear.finished().stats
    stats = [event.stats for event in ear.heard if isinstance(event, TextDelta | Finished)]
    assert [s.generated_tokens for s in stats] == sorted(s.generated_tokens for s in stats)
    assert last.accepted <= last.drafted
    assert sum(last.accepted_by_position) == last.accepted
    assert sum(last.drafted_by_position) == last.drafted
    assert last.context_limit_tokens > last.context_tokens > 0


def test_limit_of_tokens_ends_a_reply_with_its_reason(house: House) -> None:
    house.load()
    assert house.ask(replace(LONG, max_tokens=3)).finished().reason is FinishReason.LENGTH


def test_speculation_off_drafts_nothing(house: House) -> None:
    house.load()
    assert house.ask(replace(QUESTION, speculation=Speculation.off())).finished().stats.drafted == 0


def test_unfinished_reply_of_the_assistant_is_continued(house: House) -> None:
    house.load()
    begun = (*QUESTION.messages, Message(MessageRole.ASSISTANT, "A draft guesses"))
    assert house.ask(replace(QUESTION, messages=begun)).finished().stats.generated_tokens > 0


def test_cancel_ends_running_reply_once(house: House) -> None:
    house.load()
    if isinstance(house.engine, FakeEngine):
        house.engine.gate.hold()
    ear = Ear()
    number = house.engine.submit(LONG, ear)
    ear.until(PromptProgress)
    house.engine.cancel(number)
    assert ear.finished().reason is FinishReason.CANCELLED
    if isinstance(house.engine, FakeEngine):
        house.engine.gate.open()
    house.engine.cancel(number)
    house.ask().end()
    assert [type(event) for event in ear.heard].count(Finished) == 1


def test_cancel_of_queued_request_ends_it_without_text(house: House) -> None:
    house.load()
    if isinstance(house.engine, FakeEngine):
        house.engine.gate.hold()
    first, second = Ear(), Ear()
    number = house.engine.submit(LONG, first)
    waiting = house.engine.submit(LONG, second)
    house.engine.cancel(waiting)
    house.engine.cancel(number)
    first.end()
    assert second.finished().reason is FinishReason.CANCELLED
    assert not any(isinstance(event, TextDelta) for event in second.heard)


def test_requests_of_several_chats_all_end(house: House) -> None:
    house.load()
    ears = [house.ask() for _ in range(3)]
    assert len({ear.finished().request for ear in ears}) == 3


def test_request_without_model_fails(house: House) -> None:
    assert isinstance(house.ask().failed().error, NoModelLoaded)


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (Request(), EmptyConversation),
        (Request(messages=(Message(MessageRole.SYSTEM, "Be kind."),)), EmptyConversation),
        (replace(QUESTION, sampling=Sampling(temperature=-1)), InvalidRequest),
    ],
)
def test_bad_request_fails_and_engine_goes_on(house: House, bad: Request, error: type[Exception]) -> None:
    house.load(draft=False)
    assert isinstance(house.ask(bad).failed().error, error)
    assert house.ask().finished().stats.generated_tokens > 0


def test_draft_changes_while_a_reply_runs(house: House) -> None:
    house.load()
    if isinstance(house.engine, FakeEngine):
        house.engine.gate.hold()
    reply, models = Ear(), Ear()
    house.engine.submit(replace(LONG, max_tokens=60), reply)
    reply.until(PromptProgress)
    house.engine.set_draft(None, models)
    house.engine.set_draft(house.draft, models)
    if isinstance(house.engine, FakeEngine):
        house.engine.gate.open()
    unloaded = models.until(ModelUnloaded)
    assert isinstance(unloaded, ModelUnloaded)
    assert unloaded.role is ModelRole.DRAFT
    models.until(ModelReady)
    assert reply.finished().reason is not FinishReason.CANCELLED


def test_unload_leaves_no_model(house: House) -> None:
    house.load()
    ear = Ear()
    house.engine.unload(ear)
    unloaded = ear.until(ModelUnloaded)
    assert isinstance(unloaded, ModelUnloaded)
    assert unloaded.role is ModelRole.MAIN
    assert isinstance(house.ask().failed().error, NoModelLoaded)


def test_sink_that_raises_ends_nothing(house: House) -> None:
    house.load(draft=False)

    def faulty(event: Event) -> None:
        if isinstance(event, TextDelta | PromptProgress):
            raise RuntimeError("the caller's fault")

    house.engine.submit(QUESTION, faulty)
    assert house.ask().finished().stats.generated_tokens > 0


def test_calls_come_from_any_thread(house: House) -> None:
    house.load(draft=False)
    ears: list[Ear] = []
    caller = threading.Thread(target=lambda: ears.append(house.ask()))
    caller.start()
    caller.join()
    ears[0].finished()


def test_close_cancels_what_runs_and_refuses_more(house: House) -> None:
    house.load()
    if isinstance(house.engine, FakeEngine):
        house.engine.gate.hold()
    running, waiting = Ear(), Ear()
    house.engine.submit(LONG, running)
    house.engine.submit(LONG, waiting)
    running.until(PromptProgress)
    assert house.engine.close()
    assert running.finished().reason is FinishReason.CANCELLED
    assert waiting.finished().reason is FinishReason.CANCELLED
    assert isinstance(house.ask().failed().error, EngineClosed)
