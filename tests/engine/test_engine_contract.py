"""What the app counts on, checked over every ChatEngine: the scripted one that its tests use, and the real one."""

from __future__ import annotations

import itertools
import queue
from asyncio import CancelledError
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from engine import (
    ChatEngine,
    DraftingState,
    EmptyConversation,
    Engine,
    EngineClosed,
    EngineState,
    Event,
    Failed,
    Finished,
    FinishReason,
    InvalidRequest,
    LoadAborted,
    Message,
    MessageRole,
    ModelChecking,
    ModelFailed,
    ModelLoading,
    ModelLoadProgress,
    ModelNotFound,
    ModelReady,
    ModelRole,
    ModelUnloaded,
    NoModelLoaded,
    PromptFits,
    PromptProgress,
    Queued,
    RepliesUnderWay,
    Request,
    RequestId,
    Sampling,
    Speculation,
    TextDelta,
    TokensCounted,
)
from tests.helpers.engine_client import EngineClient, Recorder
from tests.helpers.fake_engine import DRAFT, MAIN, FakeEngine, Script
from tests.helpers.tiny_models import make_pair

PATIENCE_S = 120.0
LONG_TOKENS = 400
QUESTION = Request(messages=(Message(MessageRole.USER, "How does drafting work?"),), max_tokens=12)
GONE = [ModelUnloaded(ModelRole.DRAFT), ModelUnloaded(ModelRole.MAIN)]
LONG = replace(QUESTION, max_tokens=LONG_TOKENS, sampling=Sampling(logit_bias=((257, -100.0),)))  # without its end
DRAFTED = replace(QUESTION, speculation=Speculation.fixed(2))


@dataclass
class Harness:
    engine: ChatEngine
    main: str
    draft: str

    def load(self, draft: bool = True) -> None:
        """The main model, then the draft; each is said to be loading and then to be ready."""
        recorder = Recorder()
        self.engine.load(self.main, recorder, self.draft if draft else None)
        roles = [ModelRole.MAIN, ModelRole.DRAFT][: 1 + draft]
        for _ in roles:
            recorder.until(ModelReady, ModelFailed)
        told = [each for each in kinds(recorder) if each[0] is not ModelUnloaded]
        assert told == [(kind, role) for role in roles for kind in (ModelLoading, ModelReady)]

    def hold(self) -> None:
        """The scripted engine would be done before anything is asked of it."""
        if isinstance(self.engine, FakeEngine):
            self.engine.gate.hold()

    def go_on(self) -> None:
        if isinstance(self.engine, FakeEngine):
            self.engine.gate.open()

    def begin(self, request: Request = LONG) -> tuple[RequestId, Recorder]:
        """A reply that has begun."""
        self.load()
        self.hold()
        recorder = Recorder()
        number = self.engine.submit(request, recorder)
        recorder.until(PromptProgress)
        return number, recorder

    def ask(self, request: Request = QUESTION) -> Recorder:
        recorder = Recorder()
        self.engine.submit(request, recorder)
        return recorder


@pytest.fixture(scope="module")
def tiny_pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    main, draft = make_pair(tmp_path_factory.mktemp("contract"))
    return main, draft


@pytest.fixture(params=["fake", "real"])
def harness(request: pytest.FixtureRequest, tiny_pair: tuple[Path, Path]) -> Iterator[Harness]:
    if request.param == "fake":
        fake = FakeEngine()
        fake.scripts.extend(Script(pieces=tuple("x" * LONG_TOKENS)) for _ in range(20))
        built = Harness(fake, MAIN.folder, DRAFT.folder)
    else:
        built = Harness(Engine(), *(str(folder) for folder in tiny_pair))
    yield built
    assert built.engine.close()


def kinds(recorder: Recorder) -> list[tuple[type, object]]:
    """Without what comes only for models that are new to the machine, and without how far a load is."""
    heard = [event for event in recorder.heard if not isinstance(event, ModelChecking | ModelLoadProgress)]
    return [(type(event), getattr(event, "role", None)) for event in heard]


def test_draft_for_no_main_model_fails(harness: Harness) -> None:
    recorder = Recorder()
    harness.engine.set_draft(harness.draft, recorder)
    failed = recorder.until(ModelFailed)
    assert isinstance(failed, ModelFailed)
    assert (failed.role, type(failed.error)) == (ModelRole.DRAFT, NoModelLoaded)


def test_events_of_a_request_come_in_order_and_its_statistics_only_grow(harness: Harness) -> None:
    """Queued first, one terminal event last, progress before text; between the first two perhaps PromptFits."""
    harness.load()
    recorder = harness.ask(replace(LONG, max_tokens=40))
    end = recorder.finished()
    assert end.reason is FinishReason.LENGTH
    kinds = [type(event) for event in recorder.heard]
    assert kinds[0] is Queued
    assert kinds.count(Finished) == 1
    kinds = [kind for kind in kinds if kind is not PromptFits]
    assert [kind for kind, _ in itertools.groupby(kinds[1:])] in (
        [PromptProgress, TextDelta, Finished],
        [PromptProgress, Finished],  # a reply whose bytes never make a character
    )
    last = end.stats
    stats = [event.stats for event in recorder.heard if isinstance(event, TextDelta | Finished)]
    assert [s.generated_tokens for s in stats] == sorted(s.generated_tokens for s in stats)
    assert last.accepted <= last.drafted
    assert sum(last.accepted_by_position) == last.accepted
    assert sum(last.drafted_by_position) == last.drafted
    assert last.context_limit_tokens > last.context_tokens > 0


def test_unfinished_reply_of_the_assistant_is_continued(harness: Harness) -> None:
    harness.load()
    begun = (*QUESTION.messages, Message(MessageRole.ASSISTANT, "A draft guesses"))
    assert harness.ask(replace(QUESTION, messages=begun)).finished().stats.generated_tokens > 0


def test_cancel_ends_running_reply_once(harness: Harness) -> None:
    number, recorder = harness.begin()
    harness.engine.cancel(number)
    assert recorder.finished().reason is FinishReason.CANCELLED
    harness.go_on()
    harness.engine.cancel(number)
    harness.ask().until(Finished, Failed)
    assert [type(event) for event in recorder.heard].count(Finished) == 1


def test_cancel_of_queued_request_ends_it_without_text(harness: Harness) -> None:
    harness.load()
    harness.hold()
    first, second = Recorder(), Recorder()
    number = harness.engine.submit(LONG, first)
    waiting = harness.engine.submit(LONG, second)
    harness.engine.cancel(waiting)
    harness.engine.cancel(number)
    first.until(Finished, Failed)
    assert second.finished().reason is FinishReason.CANCELLED
    assert not any(isinstance(event, TextDelta) for event in second.heard)


def test_cancel_by_who_hears_that_it_is_queued_ends_it(harness: Harness) -> None:
    harness.load()
    recorder = Recorder()

    def sink(event: Event) -> None:
        if isinstance(event, Queued):
            harness.engine.cancel(event.request)
        recorder(event)

    harness.engine.submit(LONG, sink)
    assert recorder.finished().reason is FinishReason.CANCELLED
    assert harness.ask().finished().reason is not FinishReason.CANCELLED


def test_drafts_are_set_by_who_hears_that_it_is_queued(client: EngineClient) -> None:
    """The fake one only notes how it is told to draft."""

    recorder = Recorder()

    def sink(event: Event) -> None:
        if isinstance(event, Queued):
            client.engine.set_speculation(event.request, Speculation.off())
        recorder(event)

    client.engine.submit(DRAFTED, sink)
    stats = recorder.finished().stats
    assert (stats.drafted, stats.drafting) == (0, DraftingState.OFF)


def test_a_race_is_noted_where_nothing_is_loaded_and_of_what_never_drafted(harness: Harness) -> None:
    harness.engine.note_race("draft", 1.1)
    harness.load()
    harness.engine.note_race("nobody", 1.1)
    assert harness.ask().finished().reason is not FinishReason.CANCELLED


def test_answer_now_where_nothing_thinks_changes_nothing(harness: Harness) -> None:
    harness.load()
    recorder = Recorder()

    def sink(event: Event) -> None:
        harness.engine.answer_now(RequestId(999))
        if isinstance(event, Queued | TextDelta):
            harness.engine.answer_now(event.request)
        recorder(event)

    seeded = replace(QUESTION, sampling=Sampling(seed=7))
    harness.engine.submit(seeded, sink)
    left_alone = Recorder()
    harness.engine.submit(seeded, left_alone)
    assert recorder.finished().tokens == left_alone.finished().tokens


def test_a_background_request_is_paused_for_others_and_goes_on(harness: Harness) -> None:
    """Nothing is heard of it between the other one's start and its end."""
    harness.load()
    heard: list[Event] = []
    ends: queue.SimpleQueue[Event] = queue.SimpleQueue()
    others: list[RequestId] = []

    def sink(event: Event) -> None:
        heard.append(event)
        if isinstance(event, TextDelta) and not others:
            others.append(harness.engine.submit(QUESTION, sink))
        if isinstance(event, Finished | Failed):
            ends.put(event)

    background = harness.engine.submit(replace(LONG, max_tokens=40, background=True), sink)
    assert Queued(background, background=True) in heard
    ended = [ends.get(timeout=PATIENCE_S) for _ in range(2)]
    assert [getattr(event, "request", None) for event in ended] == [*others, background]
    requests = [getattr(event, "request", None) for event in heard]
    first, last = requests.index(others[0]), len(requests) - requests[::-1].index(others[0])
    assert set(requests[first:last]) == set(others)
    assert {background} == set(requests[:first]) == set(requests[last:])


def test_a_background_request_that_is_paused_can_be_cancelled(harness: Harness) -> None:
    harness.load()
    ends: queue.SimpleQueue[Event] = queue.SimpleQueue()
    background: list[RequestId] = []

    def other(event: Event) -> None:
        if isinstance(event, TextDelta):
            harness.engine.cancel(background[0])
        if isinstance(event, Finished | Failed):
            ends.put(event)

    def sink(event: Event) -> None:
        if isinstance(event, Queued):
            background.append(event.request)
        if isinstance(event, PromptProgress):
            harness.engine.submit(QUESTION, other)
        if isinstance(event, Finished | Failed):
            ends.put(event)

    harness.engine.submit(replace(LONG, background=True), sink)
    ended = {getattr(event, "request", None): event for event in (ends.get(timeout=PATIENCE_S) for _ in range(2))}
    assert getattr(ended.pop(background[0]), "reason", None) is FinishReason.CANCELLED
    assert [getattr(event, "reason", None) for event in ended.values()] != [FinishReason.CANCELLED]


def test_a_background_request_keeps_no_model_from_being_replaced(harness: Harness) -> None:
    harness.load()
    background, models = Recorder(), Recorder()

    def sink(event: Event) -> None:
        background(event)
        if isinstance(event, PromptProgress):
            harness.engine.load(harness.main, models)

    harness.engine.submit(replace(LONG, background=True), sink)
    assert background.finished().reason is FinishReason.MODEL_CHANGED
    assert isinstance(models.until(ModelReady, ModelFailed), ModelReady)


def test_the_state_tells_which_requests_give_way(harness: Harness) -> None:
    harness.load()
    harness.hold()
    recorder = Recorder()
    number = harness.engine.submit(replace(LONG, background=True), recorder)
    state = harness.engine.state()
    assert (state.background, state.foreground) == ((number,), ())
    recorder.until(PromptProgress)
    assert harness.engine.state().foreground == ()
    harness.engine.cancel(number)
    recorder.until(Finished, Failed)
    assert harness.engine.state().background == ()


@pytest.mark.expect_log("could not load")
def test_a_request_without_a_model_fails_with_the_reason_why_there_is_none(harness: Harness, tmp_path: Path) -> None:
    """Say it was deleted in the Finder. Afterwards all is as before."""
    assert isinstance(harness.ask().failed().error, NoModelLoaded)
    missing = str(tmp_path / "missing")
    heard = Recorder()
    harness.engine.load(missing, heard)
    error = harness.ask().failed().error
    assert isinstance(error, ModelNotFound)
    assert error.folder == missing
    assert isinstance(heard.error(ModelFailed), ModelNotFound)
    harness.load()
    assert harness.ask().finished().stats.generated_tokens > 0
    harness.engine.unload(heard)
    assert [heard.until(ModelUnloaded) for _ in range(2)] == GONE
    assert isinstance(harness.ask().failed().error, NoModelLoaded)


def test_bad_requests_fail_and_the_engine_goes_on(harness: Harness) -> None:
    harness.load(draft=False)
    for bad, error in (
        (Request(), EmptyConversation),
        (Request(messages=(Message(MessageRole.SYSTEM, "Be kind."),)), EmptyConversation),
        (replace(QUESTION, sampling=Sampling(temperature=-1)), InvalidRequest),
    ):
        assert isinstance(harness.ask(bad).failed().error, error)
    assert harness.ask().finished().stats.generated_tokens > 0


def test_draft_changes_while_a_reply_runs(harness: Harness) -> None:
    _, reply = harness.begin(replace(LONG, max_tokens=60))
    models = Recorder()
    harness.engine.set_draft(None, models)
    harness.engine.set_draft(harness.draft, models)
    harness.go_on()
    unloaded = models.until(ModelUnloaded)
    assert isinstance(unloaded, ModelUnloaded)
    assert unloaded.role is ModelRole.DRAFT
    models.until(ModelReady)
    assert reply.finished().reason is not FinishReason.CANCELLED


@pytest.mark.costly
@pytest.mark.parametrize(
    "error",
    [RuntimeError(), CancelledError(), SystemExit(), KeyboardInterrupt()],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.expect_log("a sink raised")
def test_sink_that_raises_ends_nothing(harness: Harness, error: BaseException) -> None:
    harness.load(draft=False)

    recorder = Recorder()

    def faulty(event: Event) -> None:
        recorder(event)
        raise error

    with suppress(KeyboardInterrupt):  # on the caller's thread it may be the person's, who ends the program
        harness.engine.submit(QUESTION, faulty)
    harness.engine.subscribe(faulty)
    assert harness.ask().finished().stats.generated_tokens > 0
    harness.engine.unload(Recorder())
    assert recorder.until(ModelUnloaded) == ModelUnloaded(ModelRole.MAIN)
    assert [type(event) for event in recorder.heard].count(Finished) == 1


def test_close_cancels_what_runs_and_refuses_more(harness: Harness) -> None:
    harness.load()
    harness.hold()
    running, waiting = Recorder(), Recorder()
    harness.engine.submit(LONG, running)
    harness.engine.submit(LONG, waiting)
    running.until(PromptProgress)
    assert harness.engine.close()
    assert running.finished().reason is FinishReason.CANCELLED
    assert waiting.finished().reason is FinishReason.CANCELLED
    assert isinstance(harness.ask().failed().error, EngineClosed)


def test_every_call_is_answered_after_close(harness: Harness) -> None:
    assert harness.engine.close()
    load, draft, drop, unload = (Recorder() for _ in range(4))
    harness.engine.load(harness.main, load, harness.draft)
    harness.engine.set_draft(harness.draft, draft)
    harness.engine.set_draft(None, drop)
    harness.engine.unload(unload)

    failed = [load.until(ModelFailed), load.until(ModelFailed), draft.until(ModelFailed)]
    assert [(event.role, type(event.error)) for event in failed if isinstance(event, ModelFailed)] == [
        (ModelRole.MAIN, EngineClosed),
        (ModelRole.DRAFT, EngineClosed),
        (ModelRole.DRAFT, EngineClosed),
    ]
    assert drop.until(ModelUnloaded) == ModelUnloaded(ModelRole.DRAFT)
    assert unload.until(ModelUnloaded) == ModelUnloaded(ModelRole.MAIN)
    assert isinstance(counted(harness, "one").error, EngineClosed)


def test_subscribers_hear_of_every_model_that_comes_and_goes(harness: Harness) -> None:
    """Loaded, replaced, dropped and unloaded by whomever, and at close; not after they have ended it."""
    everything, nothing = Recorder(), Recorder()
    harness.engine.subscribe(everything)
    end = harness.engine.subscribe(nothing)
    end()
    end()
    harness.load()
    harness.load(draft=False)
    harness.engine.set_draft(harness.draft, everything)  # which hears it once all the same
    everything.until(ModelUnloaded)
    everything.until(ModelUnloaded)
    everything.until(ModelReady)
    everything.until(ModelReady)
    assert harness.engine.close()
    assert [everything.until(ModelUnloaded) for _ in range(2)] == GONE
    both = [(ModelLoading, ModelRole.DRAFT), (ModelReady, ModelRole.DRAFT)]
    assert kinds(everything) == [
        (ModelLoading, ModelRole.MAIN),
        (ModelReady, ModelRole.MAIN),
        *both,
        (ModelLoading, ModelRole.MAIN),
        (ModelUnloaded, ModelRole.DRAFT),
        (ModelUnloaded, ModelRole.MAIN),
        (ModelReady, ModelRole.MAIN),
        *both,
        (ModelUnloaded, ModelRole.DRAFT),
        (ModelUnloaded, ModelRole.MAIN),
    ]
    assert nothing.events.empty()


def test_a_draft_that_is_replaced_is_said_to_go(harness: Harness) -> None:
    harness.load()
    recorder = Recorder()
    harness.engine.set_draft(harness.draft, recorder)
    recorder.until(ModelReady)
    assert [kind for kind, _ in kinds(recorder)] == [ModelLoading, ModelUnloaded, ModelReady]


def test_state_tells_what_the_events_have_told(harness: Harness) -> None:
    assert harness.engine.state() == EngineState()
    harness.load()
    state = harness.engine.state()
    assert state.main is not None
    assert state.draft is not None
    assert (state.main.folder, state.draft.folder) == (harness.main, harness.draft)
    seen: list[EngineState] = []
    recorder = Recorder()

    def look(event: Event) -> None:
        seen.append(harness.engine.state())
        recorder(event)

    number = harness.engine.submit(QUESTION, look)
    recorder.finished()
    assert (seen[0].queued, seen[0].running) == ((number,), ())
    began = [
        state for state, event in zip(seen, recorder.heard, strict=True) if not isinstance(event, Queued | PromptFits)
    ]
    assert all((state.queued, state.running) == ((), (number,)) for state in began[:-1])
    assert (seen[-1].queued, seen[-1].running) == ((), ())
    assert harness.engine.close()
    assert (harness.engine.state().main, harness.engine.state().draft) == (None, None)


def test_another_main_model_is_refused_while_a_reply_is_written(harness: Harness) -> None:
    """Until somebody says that the reply may end; what was refused changes nothing."""
    _, reply = harness.begin(replace(LONG, max_tokens=60))
    models, before = Recorder(), harness.engine.state()
    harness.engine.load(harness.draft, models, harness.main)
    refused = [models.until(ModelFailed) for _ in range(2)]
    assert [(event.role, event.folder) for event in refused if isinstance(event, ModelFailed)] == [
        (ModelRole.MAIN, str(harness.draft)),
        (ModelRole.DRAFT, str(harness.main)),
    ]
    assert all(isinstance(event.error, RepliesUnderWay) for event in refused if isinstance(event, ModelFailed))
    assert models.events.empty()
    harness.go_on()
    assert reply.finished().reason in (FinishReason.LENGTH, FinishReason.STOP)  # its own end
    after = harness.engine.state()
    assert (after.main, after.draft, after.loading_main) == (before.main, before.draft, None)
    harness.engine.load(harness.main, models)
    models.until(ModelReady)


@pytest.mark.expect_log("could not load")
def test_a_main_model_that_cannot_be_loaded_costs_neither_the_pair_nor_a_reply(harness: Harness) -> None:
    """Say its folder was deleted in the Finder, or it is too large: that is known before anything is let go of."""
    _, reply = harness.begin(replace(LONG, max_tokens=60))
    models, before = Recorder(), harness.engine.state()
    harness.engine.load("/nowhere/at-all", models, harness.main, end_replies=True)
    harness.go_on()
    failed = [models.until(ModelFailed) for _ in range(2)]
    assert [(event.role, type(event.error)) for event in failed if isinstance(event, ModelFailed)] == [
        (ModelRole.MAIN, ModelNotFound),
        (ModelRole.DRAFT, LoadAborted),
    ]
    assert not any(isinstance(event, ModelUnloaded) for event in models.heard)
    assert reply.finished().reason in (FinishReason.LENGTH, FinishReason.STOP)  # its own end
    after = harness.engine.state()
    assert (after.main, after.draft, after.loading_main) == (before.main, before.draft, None)
    assert harness.ask(DRAFTED).finished().stats.drafted > 0  # left to itself a reply may find that drafts do not pay


@pytest.mark.parametrize("how", ["load", "unload"])
def test_a_reply_whose_main_model_goes_says_so(harness: Harness, how: str) -> None:
    _, reply = harness.begin()
    models = Recorder()
    if how == "load":
        harness.engine.load(harness.main, models, end_replies=True)
    else:
        harness.engine.unload(models)
    assert reply.finished().reason is FinishReason.MODEL_CHANGED
    harness.go_on()


def test_a_reply_is_the_models_that_it_is_for_or_ends(harness: Harness) -> None:
    harness.load(draft=False)
    main = harness.engine.state().main
    assert main is not None
    harness.go_on()
    assert harness.ask(replace(QUESTION, model="/another")).finished().reason is FinishReason.MODEL_CHANGED
    assert harness.ask(replace(QUESTION, model=main.folder)).finished().reason is not FinishReason.MODEL_CHANGED


def counted(harness: Harness, text: str) -> TokensCounted:
    recorder = Recorder()
    number = harness.engine.count_tokens(text, recorder)
    answer = recorder.until(TokensCounted)
    assert isinstance(answer, TokensCounted)
    assert answer.count == number
    assert recorder.events.empty()
    return answer


def test_tokens_of_a_text_are_counted(harness: Harness) -> None:
    harness.load(draft=False)
    few, many = counted(harness, "How does drafting work?"), counted(harness, "How does drafting work? " * 9000)
    assert few.error is None
    assert few.tokens >= 4
    assert 0.9 < many.tokens / (few.tokens * 9000) < 1.5
    assert counted(harness, "").tokens == 0


def test_tokens_are_counted_while_a_reply_is_written(harness: Harness) -> None:
    harness.load(draft=False)
    heard = Recorder()
    if isinstance(harness.engine, FakeEngine):
        harness.engine.gate.let_through(1)
    harness.engine.submit(replace(LONG, max_tokens=150), heard)
    heard.until(TextDelta)
    harness.engine.count_tokens("one two three", heard)
    harness.go_on()
    assert isinstance(heard.until(TokensCounted, Finished), TokensCounted)
    heard.finished()


@pytest.mark.parametrize(("text", "error"), [("one", NoModelLoaded), ("one \ud800", InvalidRequest)])
def test_a_count_that_cannot_be_made_says_why(harness: Harness, text: str, error: type[Exception]) -> None:
    assert isinstance(counted(harness, text).error, error)
