"""What models and chats take of the memory: told before loading, minded while writing, and survived when it is full."""

from __future__ import annotations

import gc
import threading
import weakref
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

from engine import (
    Engine,
    Event,
    Failed,
    Finished,
    FinishReason,
    ModelFailed,
    ModelLoading,
    ModelLoadProgress,
    ModelReady,
    ModelTooLarge,
    ModelUnloaded,
    OutOfMemory,
    Request,
    RequestId,
    Sampling,
    Speculation,
    TextDelta,
    set_aside,
)
from engine.decoding.sequence import Sequence
from engine.models import fit, loading, memory, networks
from engine.models.loading import LoadedModel
from engine.models.memory import MemoryNeed
from engine.runtime import pair_loader
from engine.runtime.queued import QueuedReply
from engine.runtime.scheduler import Scheduler
from tests.engine import batch_harness as batches
from tests.engine.conftest import Zoo
from tests.helpers.engine_client import PATIENCE_S, EngineClient
from tests.helpers.loading import load_draft, load_model

PROMPT = tuple(40 + (7 * n) % 90 for n in range(64))
GIB = 1 << 30


def test_a_model_that_does_not_fit_is_refused_with_figures_before_it_is_read(
    folders: dict[str, Path], models: dict[str, LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    need = models["dense"].with_eight_bits().need
    available = need.at(2048) - 1  # the model's whole context is 2048
    monkeypatch.setattr(networks, "available_bytes", lambda: available)
    monkeypatch.setattr(loading, "_load_tokenizer", lambda *_: pytest.fail("went on"))
    with pytest.raises(ModelTooLarge) as refusal:
        load_model(folders["dense"])

    error = refusal.value
    assert (error.needed_bytes, error.available_bytes, error.context_tokens) == (available + 1, available, 2048)


def test_what_other_programs_hold_is_not_available(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """And what was held by models and chats already is."""
    monkeypatch.setattr(memory, "most_bytes", lambda: 12 * GIB)
    monkeypatch.setattr(mx, "get_active_memory", lambda: 3 * GIB)
    monkeypatch.setattr(mx, "get_cache_memory", lambda: GIB)
    found = []
    for free in (None, 100 * GIB, 2 * GIB, 0):
        monkeypatch.setattr(memory, "free_bytes", lambda free=free: free)
        found.append((memory.available_bytes() // GIB, memory.is_short()))
    assert found == [(12, False), (12, False), (6, False), (4, False)]
    monkeypatch.setattr(mx, "get_cache_memory", lambda: 0)
    assert memory.is_short()


def test_a_model_that_other_programs_leave_no_room_for_is_refused_with_what_they_hold(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    mx.clear_cache()
    monkeypatch.setattr(memory, "free_bytes", lambda: 0)
    monkeypatch.setattr(mx, "get_active_memory", lambda: 1000)
    with pytest.raises(ModelTooLarge) as refusal:
        load_model(folders["dense"])
    error = refusal.value
    assert error.available_bytes < error.needed_bytes <= error.available_bytes + error.others_bytes
    assert error.available_bytes + error.others_bytes == memory.most_bytes()


def test_a_draft_has_to_fit_beside_its_main_model(
    folders: dict[str, Path], models: dict[str, LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    main = models["dense"]
    least = main.with_eight_bits().need.at(2048)
    monkeypatch.setattr(networks, "available_bytes", lambda: 2 * least)
    assert load_draft(folders["dense"], main).need == main.need
    monkeypatch.setattr(networks, "available_bytes", lambda: 2 * least - 1)
    with pytest.raises(ModelTooLarge):
        load_draft(folders["dense"], main)


class Handful(list[mx.array]):
    """Weights that are to be read."""


@pytest.mark.parametrize("there_is_room", [True, False])
def test_a_draft_makes_room_for_the_next_where_both_would_be_too_much(
    zoo: Zoo, monkeypatch: pytest.MonkeyPatch, there_is_room: bool
) -> None:
    """It goes before weights are read, in the middle of a reply, whose text is the same."""
    client, draft = EngineClient(Engine()), zoo.drafts["close"]
    client.load(zoo.main, draft)
    asked = Request(tokens=PROMPT, max_tokens=40, sampling=Sampling(temperature=0), speculation=Speculation.off())
    plain = client.run(asked).tokens
    main = load_model(zoo.main)
    both = sum(model.with_eight_bits().need.at(2048) for model in (main, load_draft(draft, main)))
    told: list[type] = []
    ready = threading.Event()
    handfuls, evaluate = networks.handfuls, mx.eval

    def noted(*arrays: Any) -> None:
        if isinstance(arrays[0], Handful):
            told.append(Handful)
        evaluate(*arrays)

    def sink(event: Event) -> None:
        told.append(type(event))
        if isinstance(event, ModelReady | ModelFailed):
            ready.set()

    def swap(_request: RequestId, event: Event) -> None:
        if isinstance(event, TextDelta) and not told:
            told.append(TextDelta)
            client.engine.set_draft(draft, sink)

    for module in (networks, pair_loader):
        monkeypatch.setattr(module, "available_bytes", lambda: both + there_is_room * main.need.weight_bytes)
    monkeypatch.setattr(networks, "handfuls", lambda network: ((Handful(w), told) for w, told in handfuls(network)))
    monkeypatch.setattr(mx, "eval", noted)
    assert client.run(replace(asked, speculation=Speculation.fixed(4)), swap).tokens == plain
    assert ready.wait(PATIENCE_S)
    assert client.engine.close()
    gone = [Handful, ModelUnloaded] if there_is_room else [ModelUnloaded, Handful]
    said = [kind for kind in told if kind is not ModelLoadProgress]
    assert [kind for kind, _ in groupby(said)] == [TextDelta, ModelLoading, *gone, ModelReady]


def test_a_mac_gets_limits_for_what_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never the whole size that the system recommends, and none when nothing is loaded."""
    told: dict[str, int] = {}
    for name in ("set_memory_limit", "set_cache_limit", "set_wired_limit"):
        monkeypatch.setattr(mx, name, lambda value, name=name: told.__setitem__(name, value))
    monkeypatch.setattr(mx.metal, "is_available", lambda: True)
    monkeypatch.setattr(memory, "_recommended_bytes", lambda: 12 * GIB)
    monkeypatch.setattr(memory, "most_bytes", lambda: 12 * GIB)
    wired = []
    for weights in (GIB, 40 * GIB):
        memory.set_limits(MemoryNeed(weights, 150_000, 0))
        wired.append(told["set_wired_limit"])
    assert GIB < wired[0] < wired[1] < 12 * GIB == told["set_memory_limit"]
    memory.set_limits()
    assert told["set_wired_limit"] == 0


def run(scheduler: Scheduler, *prompts: tuple[int, ...], on_event: Any = None) -> list[Event]:
    heard: list[Event] = []

    def sink(event: Event) -> None:
        heard.append(event)
        if on_event is not None:
            on_event(event)

    for number, prompt in enumerate(prompts, start=1):
        asked = Request(tokens=prompt, sampling=Sampling(temperature=0), max_tokens=30, speculation=Speculation.off())
        scheduler.add(QueuedReply(RequestId(number), asked, sink))
    while scheduler.busy:
        scheduler.step()
    return [event for event in heard if isinstance(event, (Finished, Failed))]


@pytest.fixture
def scheduler(models: dict[str, LoadedModel]) -> Scheduler:
    scheduler = Scheduler()
    scheduler.set_main(models["dense"])
    return scheduler


def test_full_memory_ends_the_reply_and_says_so(scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = iter(range(1000))
    monkeypatch.setattr("engine.runtime.pair.is_short", lambda: next(asked) > 20)
    (end,) = run(scheduler, PROMPT)

    assert isinstance(end, Finished)
    assert end.reason is FinishReason.MEMORY
    assert 0 < len(end.tokens) < 30


def test_a_long_reply_is_not_ended_for_the_room_that_short_ones_take_beside_it(
    models: dict[str, LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All rows of a batch are as long as the longest: with three more it would take four times its memory."""
    harness = batches.Harness(models["dense"])
    long = harness.submit(batches.asking(batches.prompt(1500), 40, speculation=Speculation.off()))
    harness.until_written(long, 2)
    row = long.reply.sequence.caches.nbytes
    limit = int((mx.get_active_memory() + 2 * row) / 0.97)
    monkeypatch.setattr(memory, "free_bytes", lambda: None)
    monkeypatch.setattr(memory, "most_bytes", lambda: limit)
    short = [
        harness.submit(batches.asking(batches.prompt(6, salt), 8, speculation=Speculation.off())) for salt in range(3)
    ]
    harness.run_dry()
    assert [each.finished.reason for each in (long, *short)] == [FinishReason.LENGTH] * 4


def test_kept_caches_go_before_replies_take_turns(
    models: dict[str, LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = batches.Harness(models["dense"])
    for salt in range(4):
        harness.submit(batches.asking(batches.prompt(1500, salt), 2, speculation=Speculation.off()))
        harness.run_dry()
    store = harness.scheduler.pair.store
    kept = store.nbytes
    assert kept > 0
    limit = int(mx.get_active_memory() / 0.97)
    monkeypatch.setattr(memory, "free_bytes", lambda: None)
    monkeypatch.setattr(memory, "most_bytes", lambda: limit)
    monkeypatch.setattr("engine.runtime.pair.is_short", lambda: False)
    replies = [
        harness.submit(batches.asking(batches.prompt(150, 7 + salt), 40, speculation=Speculation.off()))
        for salt in range(2)
    ]
    for each in replies:
        harness.until_written(each, 4)
    assert harness.batched == 2
    assert 0 < store.nbytes < kept


@pytest.mark.parametrize("runs", [False, True])
def test_kept_caches_go_before_a_reply_does(scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch, runs: bool) -> None:
    """To the last one, and before one that runs, too."""
    run(scheduler, PROMPT)
    store = scheduler.pair.store
    assert store.nbytes > 0
    begun: list[Event] = []
    monkeypatch.setattr("engine.runtime.pair.is_short", lambda: (bool(begun) or not runs) and store.nbytes > 0)
    (end,) = run(scheduler, tuple(reversed(PROMPT)), on_event=begun.append)

    assert isinstance(end, Finished)
    assert end.reason is FinishReason.LENGTH


def test_no_more_caches_are_dropped_than_needed(scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch) -> None:
    store = scheduler.pair.store
    run(scheduler, PROMPT)
    one = store.nbytes
    run(scheduler, tuple(reversed(PROMPT)))
    assert store.nbytes > one > 0
    monkeypatch.setattr("engine.runtime.pair.is_short", lambda: store.nbytes > one)
    assert scheduler.pair.make_room(0) == (False, False)
    assert 0 < store.nbytes <= one


def test_other_machines_memory_counts_as_this_ones(models: dict[str, LoadedModel]) -> None:
    """What frees it there, by the caches that are dropped with those here, is known with the next step only."""
    scheduler = Scheduler()
    store = scheduler.pair.store
    scheduler.set_main(replace(models["dense"], short=lambda: store.nbytes > 0))
    run(scheduler, PROMPT)
    assert store.nbytes > 0
    (longest,) = run(scheduler, tuple(reversed(PROMPT)))
    scheduler.set_main(replace(models["dense"], short=lambda: True))
    (ended,) = run(scheduler, PROMPT)

    assert isinstance(longest, Finished)
    assert isinstance(ended, Finished)
    assert (longest.reason, ended.reason) == (FinishReason.LENGTH, FinishReason.MEMORY)


def test_what_is_promised_to_another_machine_is_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before its process has taken any of it, too."""
    monkeypatch.setattr(memory, "most_bytes", lambda: 12 * GIB)
    monkeypatch.setattr(memory, "free_bytes", lambda: 10 * GIB)
    monkeypatch.setattr(fit, "_aside", [0])
    for aside, available in ((0, 10), (5 * GIB, 7), (0, 10)):
        set_aside(aside)
        assert memory.available_bytes() // GIB == available
        monkeypatch.setattr(mx, "get_active_memory", lambda: 9 * GIB)
        assert not memory.is_short()
        monkeypatch.setattr(mx, "get_active_memory", lambda: 0)


def test_of_several_replies_the_longest_ends(scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = iter([False] * 6 + [True])
    monkeypatch.setattr("engine.runtime.pair.is_short", lambda: next(calls, False))
    ends = run(scheduler, PROMPT, tuple(reversed(PROMPT)) * 4)

    by_id = {int(end.request): end.reason for end in ends if isinstance(end, Finished)}
    assert by_id == {1: FinishReason.LENGTH, 2: FinishReason.MEMORY}


@pytest.mark.costly
@pytest.mark.parametrize(
    "fault",
    [MemoryError("no more"), RuntimeError("[METAL] Command buffer execution failed"), RuntimeError("[metal::malloc]")],
    ids=str,
)
@pytest.mark.expect_log("a reply failed")
def test_out_of_memory_drops_the_request_and_its_caches_only(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    run(scheduler, tuple(reversed(PROMPT)))
    with monkeypatch.context() as broken:
        fed = iter(range(1000))
        whole = Sequence.feed

        def feed(sequence: Sequence, tokens: mx.array) -> mx.array:
            if next(fed) == 5:
                raise fault
            return whole(sequence, tokens)

        broken.setattr(Sequence, "feed", feed)
        (end,) = run(scheduler, PROMPT)
    assert isinstance(end, Failed)
    assert isinstance(end.error, OutOfMemory)

    again, other = (run(scheduler, prompt)[0] for prompt in (PROMPT, tuple(reversed(PROMPT))))
    assert isinstance(again, Finished)
    assert isinstance(other, Finished)
    assert (again.stats.cached_tokens, other.stats.cached_tokens) == (0, len(PROMPT) - 1)
    assert again.tokens == run(fresh(scheduler), PROMPT)[0].tokens  # type: ignore[union-attr]


def fresh(scheduler: Scheduler) -> Scheduler:
    other = Scheduler()
    other.set_main(scheduler.main)
    return other


def test_nothing_is_kept_of_a_draft_that_was_replaced() -> None:
    """Its caches, too, are of no use to another one, and would hold its weights."""
    former = batches.draft.__wrapped__()  # other tests keep the shared one
    left = weakref.ref(former.network)
    harness = batches.Harness(batches.model("qwen3"), former)
    harness.submit(batches.asking(batches.prompt(9), 20, speculation=Speculation.fixed(4)))
    harness.run_dry()
    del former
    harness.scheduler.set_draft(None)
    gc.collect()
    assert left() is None
