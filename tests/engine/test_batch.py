"""Several replies at once: each says what it would have said alone, whoever joins, leaves, is cancelled or fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import mlx.core as mx
import pytest

from engine import (
    DraftingState,
    InternalError,
    OutOfMemory,
    PromptProgress,
    Request,
    Sampling,
    Speculation,
    TextDelta,
)
from engine.api.stats import StatsRecorder
from engine.caches.kinds import leaves
from engine.caches.merging import MergedCaches
from engine.decoding.sequence import Sequence
from engine.drafting.controller import History
from engine.drafting.costs import MAX_WIDTH, RoundCosts
from engine.models.loading import LoadedModel
from engine.prefix.memory import PrefixStore
from engine.runtime.batch import Batch, Batching
from engine.runtime.sharing import BatchWay, Sharing
from tests.engine.batch_harness import (
    GREEDY,
    MERGING_FAMILIES,
    SAMPLED,
    UNMERGED_FAMILY,
    Harness,
    Recorder,
    alone,
    asking,
    draft,
    model,
    prompt,
)
from tests.helpers.samples import fair, sampled

SAMPLINGS = {"greedy": GREEDY, "sampled": Sampling(temperature=0.9, top_p=0.95), "penalised": SAMPLED}
EVERY_FAMILY = [*MERGING_FAMILIES, UNMERGED_FAMILY]


def to_even(_costs: RoundCosts, width: int) -> int:
    """As on a device with tiles of two."""
    return width + width % 2 if width <= MAX_WIDTH else width


def requests(sampling: Sampling, speculation: Speculation | None = None) -> list[Request]:
    """Of different lengths, before and behind the point where a window wraps; one has a single token."""
    shapes = [(20, 24), (5, 28), (1, 14), (40, 26)]
    return [
        asking(prompt(length, salt), tokens, replace(sampling, seed=salt), speculation)
        for salt, (length, tokens) in enumerate(shapes)
    ]


def steer(harness: Harness, replies: list[Recorder], speculation: Speculation) -> None:
    for reply in replies:
        harness.scheduler.set_speculation(reply.queued.id, speculation)


@pytest.mark.parametrize("family", fair(EVERY_FAMILY, "gemma3_text"))
@pytest.mark.parametrize("sampling", fair(SAMPLINGS, "penalised"))
def test_tokens_are_those_written_alone(family: str, sampling: str) -> None:
    """Joining one after another, leaving one after another, speculating before and after."""
    harness = Harness(model(family), draft())
    heard: list[Recorder] = []
    for asked in requests(SAMPLINGS[sampling]):
        heard.append(harness.submit(asked))
        harness.until_written(heard[0], 4 * len(heard))
    by_turns = harness.batched == 0
    steer(harness, heard, Speculation.off())
    harness.until_written(heard[0], heard[0].written + 3)
    together = harness.batched
    steer(harness, heard, Speculation.fixed(3))
    harness.run_dry()

    assert by_turns is (family == UNMERGED_FAMILY)
    assert together >= 3 if family in MERGING_FAMILIES else together == 0
    for reply, asked in zip(heard, requests(SAMPLINGS[sampling]), strict=True):
        assert reply.tokens == alone(family, asked).tokens
        assert reply.text == alone(family, asked).text
        assert len(set(reply.tokens)) > 8


@pytest.mark.slow
@pytest.mark.parametrize("family", MERGING_FAMILIES)
def test_a_row_more_where_that_is_faster_changes_no_token(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replies join, wrap their windows and leave, with an odd number of rows padded to an even one."""
    monkeypatch.setattr(RoundCosts, "padded", to_even)
    widths: set[tuple[int, int]] = set()
    step = Batch.step

    def recorded(batch: Batch, history: History, *, look_ahead: bool, drafts: bool = False) -> None:
        before = len(batch.replies)
        step(batch, history, look_ahead=look_ahead, drafts=drafts)
        leaf = list(leaves(batch._caches.layers))[-1] if batch.replies else None
        if leaf is not None and len(batch.replies) == before:
            rows = leaf.cache[0] if hasattr(leaf, "cache") else leaf.keys
            widths.add((before, rows.shape[0]))

    monkeypatch.setattr(Batch, "step", recorded)
    harness = Harness(model(family))
    heard: list[Recorder] = []
    for asked in requests(Sampling(temperature=0.9, top_p=0.95), Speculation.auto()):
        heard.append(harness.submit(asked))
        harness.until_written(heard[0], 5 * len(heard))
    harness.run_dry()

    assert {(2, 2), (3, 4), (4, 4)} <= widths <= {(2, 2), (3, 4), (4, 4)}
    for reply, asked in zip(heard, requests(Sampling(temperature=0.9, top_p=0.95)), strict=True):
        assert reply.tokens == alone(family, asked).tokens


@pytest.mark.parametrize("family", fair(EVERY_FAMILY, "gemma3_text"))
def test_speculation_resumes_on_the_last_one(family: str) -> None:
    """It drafts alone, pauses in company that shares forwards, and drafts again when the company has left."""
    harness = Harness(model(family), draft())
    long = harness.submit(asking(prompt(20), 50))
    harness.until_written(long, 10)
    before = long.reply.stats.draft_rounds
    steer(harness, [long], Speculation.auto())
    other = harness.submit(asking(prompt(9, 1), 12, speculation=Speculation.off()))
    harness.until_written(other, 1)
    between = long.reply.stats.draft_rounds
    while not other.ended:
        harness.scheduler.step()
    after = long.reply.stats.draft_rounds
    steer(harness, [long], Speculation.fixed(3))
    harness.run_dry()

    stats = long.finished.stats
    assert before > 0
    assert stats.draft_rounds > after
    assert long.tokens == alone(family, asking(prompt(20), 50)).tokens
    if family in MERGING_FAMILIES:
        assert between == after
        assert stats.shared_rounds >= 11
    assert stats.drafting is DraftingState.ACTIVE


@pytest.mark.usefixtures("short_chunks")
def test_a_long_prompt_starves_nobody() -> None:
    """A reply under way gets a step for each chunk, and a short prompt does not wait for the end of a long one."""
    harness = Harness(model("qwen3"))
    running = harness.submit(asking(prompt(5), 20, speculation=Speculation.off()))
    harness.until_written(running, 3)
    long = harness.submit(asking(prompt(200, 1), 4, speculation=Speculation.off()))
    short = harness.submit(asking(prompt(6, 2), 4, speculation=Speculation.off()))
    written: list[int] = []
    while not any(isinstance(event, TextDelta) for event in long.events):
        chunks = progress(long)
        harness.scheduler.step()
        if progress(long) > chunks > 0:
            written.append(running.written)
    assert short.ended
    harness.run_dry()

    assert len(written) == 4  # three whole chunks and the rest
    assert all(later > earlier for earlier, later in pairwise(written))
    assert running.tokens == alone("qwen3", asking(prompt(5), 20)).tokens
    assert long.tokens == alone("qwen3", asking(prompt(200, 1), 4)).tokens


def test_replies_that_cannot_be_merged_take_turns() -> None:
    harness = Harness(model(UNMERGED_FAMILY))
    heard = [harness.submit(asking(prompt(6, salt), 40, speculation=Speculation.off())) for salt in range(3)]
    while not all(reply.written for reply in heard):
        harness.scheduler.step()
    before = [reply.written for reply in heard]
    for _ in range(30):
        harness.scheduler.step()

    assert [reply.written - earlier for reply, earlier in zip(heard, before, strict=True)] == [10, 10, 10]
    assert harness.batched == 0


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.costly
@pytest.mark.parametrize(
    ("family", "part"), sampled(["qwen3", "gemma3_text", "qwen3_5"], ["sampler", "text", "finish"])
)
@pytest.mark.expect_log("a reply failed")
def test_an_error_of_one_row_is_its_own(family: str, part: str) -> None:
    """What breaks in one reply's sampler or text fails that reply, even without words; the others end as alone."""
    harness = Harness(model(family))
    asked = [asking(prompt(6 + salt, salt), 16, replace(SAMPLED, seed=salt)) for salt in range(3)]
    heard = [harness.submit(one) for one in asked]
    harness.until_written(heard[2], 5)
    broken = heard[1].reply
    place, name = {
        "sampler": (broken.sampler, "draw"),
        "text": (broken.output.text, "push"),
        "finish": (broken.output.text, "finish"),
    }[part]
    setattr(place, name, raising(Unprintable()))
    harness.run_dry()

    assert isinstance(heard[1].failed.error, InternalError)
    for salt in (0, 2):
        assert heard[salt].tokens == alone(family, asked[salt]).tokens


@pytest.mark.usefixtures("short_chunks")
@pytest.mark.expect_log("a reply failed")
def test_an_error_of_the_forward_fails_the_batch_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Typed, for every reply in the batch; one that still reads its prompt and all that come later are untouched."""
    main = breakable(model("qwen3"))
    harness = Harness(main)
    batch = [harness.submit(asking(prompt(5, salt), 16)) for salt in range(3)]
    harness.until_written(batch[2], 4)
    assert harness.batched == 3
    reading = harness.submit(asking(prompt(150, 4), 6))
    harness.scheduler.step()
    with monkeypatch.context() as broken:
        broken.setattr(main.network, "broken", True)
        while not batch[0].ended:
            harness.scheduler.step()
    harness.run_dry()

    assert all(isinstance(reply.failed.error, OutOfMemory) for reply in batch)
    assert reading.tokens == alone("qwen3", asking(prompt(150, 4), 6)).tokens
    again = harness.submit(asking(prompt(5, 0), 16))
    harness.run_dry()
    assert again.finished.stats.cached_tokens == 0
    assert again.tokens == alone("qwen3", asking(prompt(5, 0), 16)).tokens


def progress(heard: Recorder) -> int:
    return sum(isinstance(event, PromptProgress) for event in heard.events)


def raising(error: Exception) -> Callable[..., object]:
    def act(*arguments: object) -> object:
        raise error

    return act


def breakable(main: LoadedModel) -> LoadedModel:
    """The same model, whose forwards of several rows fail while its network is `broken`."""

    class Network:
        broken = False

        def __call__(self, tokens: mx.array, cache: object) -> object:
            if self.broken and tokens.shape[0] > 1:
                raise MemoryError("no room for the batch")
            return main.network(tokens, cache=cache)

    return replace(main, network=Network())


@pytest.mark.slow
@pytest.mark.parametrize("drafts", fair([False, True], True))
def test_between_steps_every_row_matches_its_tokens(drafts: bool) -> None:
    """INVARIANT: pulled out of the batch at any step, a row's cache holds all committed tokens but the last."""
    speculation = Speculation.fixed(5) if drafts else Speculation.off()
    for family in MERGING_FAMILIES:
        harness = Harness(model(family), draft())
        heard = [harness.submit(asking(prompt(3 + 12 * salt, salt), 200, GREEDY, speculation)) for salt in range(3)]
        harness.until_written(heard[2], 3)
        for _ in range(10):
            while harness.batched < 3:
                assert harness.scheduler.busy
                harness.scheduler.step()
            harness.scheduler.step()
            harness.scheduler.writing.release([heard[1].reply].__contains__)
            sequence = heard[1].reply.sequence
            assert sequence.uncached == 1
            assert_matches_a_fresh_prefill(sequence)
        assert drafts is (heard[1].reply.stats.draft_rounds > 5)


def assert_matches_a_fresh_prefill(sequence: Sequence) -> None:
    fresh = Sequence(sequence.model, list(sequence.tokens))
    ours = sequence.feed(mx.array(sequence.tokens[-1:]))[-1]
    theirs = fresh.feed(mx.array(fresh.tokens))[-1]
    assert mx.allclose(ours, theirs, rtol=1e-3, atol=1e-3 * float(mx.std(theirs).item()))  # type: ignore[arg-type]
    sequence.caches.commit(0)


@pytest.mark.parametrize(("family", "way"), [("qwen3", BatchWay.SHARED), (UNMERGED_FAMILY, BatchWay.TURNS)])
def test_a_step_of_several_is_measured_by_its_tokens_and_seconds(
    monkeypatch: pytest.MonkeyPatch, family: str, way: BatchWay
) -> None:
    """By a clock of the test, on which a second goes by in each step."""
    seen, seconds = list[tuple[object, ...]](), iter(range(1000))
    monkeypatch.setattr(Sharing, "observe", lambda _, *step: seen.append(step))
    monkeypatch.setattr("engine.runtime.scheduler.time", SimpleNamespace(perf_counter=lambda: next(seconds)))
    harness = Harness(model(family))
    for salt in range(3):
        harness.submit(asking(prompt(6, salt), 9, speculation=Speculation.off()))
    harness.run_dry()

    assert len(seen) > 6
    assert set(seen) <= {(way, replies, replies if way is BatchWay.SHARED else 1, 1) for replies in (2, 3)}


@pytest.mark.expect_log("a reply failed")
def test_of_replies_that_fail_together_none_is_left() -> None:
    """In the batch, beside it, or in prefill; the next request is written as if they had never been."""
    harness = Harness(model("qwen3"))
    requests = [asking(prompt(6 + salt, salt), 16) for salt in range(3)]
    heard = [harness.submit(request) for request in requests]
    harness.until_written(heard[2], 3)
    assert harness.batched == 3
    heard.append(harness.submit(asking(prompt(600), 16)))
    while heard[3].queued.reply is None:
        harness.scheduler.step()
    harness.scheduler.fail_started(RuntimeError("the device is gone"))

    assert (harness.batched, harness.scheduler.busy) == (0, False)
    assert [len(recorder.terminal) for recorder in heard] == [1, 1, 1, 1]
    assert all(isinstance(recorder.failed.error, InternalError) for recorder in heard)
    again = harness.submit(requests[0])
    harness.run_dry()
    assert again.tokens == alone("qwen3", requests[0]).tokens


@pytest.mark.expect_log("a reply failed")
def test_statistics_that_fail_at_the_end_do_not_swallow_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last event holds them; without them it is still told."""
    harness = Harness(model("qwen3"))
    heard = harness.submit(asking(prompt(6), 12))
    harness.until_written(heard, 3)
    monkeypatch.setattr(StatsRecorder, "freeze", raising(ZeroDivisionError()))
    harness.run_dry()

    assert isinstance(heard.failed.error, InternalError)


@pytest.mark.parametrize("part", ["append", "keep", "extract"])
@pytest.mark.expect_log("a reply failed")
def test_merged_caches_that_stay_broken_end_every_reply_in_them(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    """Nobody is lost between the lines, and none is stepped for ever."""
    harness = Harness(model("qwen3"))
    assert harness.scheduler.pair.batching.shares
    assert harness.scheduler.pair.batching.drafts
    monkeypatch.setattr(MergedCaches, part, raising(RuntimeError("[METAL] the device is gone")))
    heard = [harness.submit(asking(prompt(6 + salt, salt), 6 + salt)) for salt in range(3)]
    for _ in range(200):
        harness.scheduler.step()

    assert not harness.scheduler.busy
    assert [len(recorder.terminal) for recorder in heard] == [1, 1, 1]


def test_a_draft_that_paused_goes_on_from_its_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = Harness(model("qwen3"), draft())
    recorder = harness.submit(asking(prompt(9), 60, speculation=Speculation.fixed(4)))
    harness.until_written(recorder, 20)
    harness.scheduler.set_speculation(recorder.queued.id, Speculation.off())
    harness.until_written(recorder, recorder.written + 3)
    cached: list[int] = []
    take = PrefixStore.take

    def taken(*arguments: Any, **options: Any) -> Sequence:
        sequence = take(*arguments, **options)
        cached.append(sequence.caches.position)
        return sequence

    monkeypatch.setattr(PrefixStore, "take", taken)
    harness.scheduler.set_speculation(recorder.queued.id, Speculation.fixed(4))
    harness.run_dry()
    assert len(cached) == 1
    assert cached[0] > 9 + 20 - 6  # all but the latest tokens of prompt and reply


def test_batches_are_tried_while_the_engine_is_idle_not_when_the_first_replies_share_a_forward() -> None:
    """In slices of a few short forwards, so that a request that comes meanwhile waits no longer than for a round."""
    calls: list[int] = []
    drafted: list[int] = []

    def counted(of: LoadedModel, into: list[int]) -> LoadedModel:
        def network(tokens: mx.array, cache: Any) -> Any:
            into.append(tokens.shape[1])
            return of.network(tokens, cache=cache)

        return replace(of, network=network)

    pair = Harness(counted(model("qwen3"), calls), counted(draft(), drafted)).scheduler.pair
    slices = []
    while pair.has_idle_work:
        before = len(calls)
        pair.idle_step()
        slices.append(len(calls) - before)
    assert max(slices) <= 3
    calls.clear()
    drafted.clear()
    assert pair.batching == Batching(shares=True, drafts=True)
    assert pair.history.in_rows == {draft().source}
    assert not calls
    assert not drafted


def test_trials_that_are_interrupted_are_over() -> None:
    def interrupted(_tokens: mx.array, cache: Any) -> Any:
        assert cache
        raise KeyboardInterrupt

    of_main = Harness(replace(model("qwen3"), network=interrupted), None).scheduler.pair
    of_draft = Harness(model("qwen3"), replace(draft(), network=interrupted)).scheduler.pair
    for pair in (of_main, of_draft):
        with pytest.raises(KeyboardInterrupt):
            _ = pair.batching
    assert of_main.batching == Batching()
    assert of_draft.batching == Batching(shares=True, drafts=True)
    assert not of_draft.history.in_rows
