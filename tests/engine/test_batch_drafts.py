"""Drafts in a batch: one forward checks every row's, each row keeps its own count, and no token is another."""

from __future__ import annotations

from collections.abc import Sequence as Tokens
from dataclasses import replace

import mlx.core as mx
import pytest

from engine import DraftingState, FinishReason, Sampling, Speculation
from engine.decoding.accept import Draft
from engine.decoding.sampling import Sampler
from engine.drafting.costs import Calibration
from engine.drafting.plans import Plan
from engine.drafting.proposers.draft_model import DraftModelProposer
from engine.runtime.batch import Batch, Batching
from engine.runtime.pair import LoadedPair
from engine.runtime.sharing import BatchWay, Sharing
from tests.engine.batch_harness import (
    GREEDY,
    MERGING_FAMILIES,
    SAMPLED,
    Harness,
    Recorder,
    alone,
    asking,
    draft,
    model,
    prompt,
)
from tests.helpers.lazy_faults import FAULTS
from tests.helpers.samples import fair, sampled

pytestmark = pytest.mark.usefixtures("short_chunks")
SAMPLINGS = {
    "greedy": GREEDY,
    "sampled": Sampling(temperature=0.9, top_p=0.95),
    "penalised": SAMPLED,
    "xtc": Sampling(temperature=1.1, xtc_probability=0.5, xtc_threshold=0.05, logit_bias=((7, 2.0),)),
}


def wide_steps(monkeypatch: pytest.MonkeyPatch) -> list[set[int]]:
    """How many tokens the rows of each step with drafts emitted."""
    seen: list[set[int]] = []
    commit = Batch._commit

    def watched(batch: Batch, width: int, rounds: list[object]) -> None:
        seen.append({len(done.emitted) for done in rounds if done is not None})  # type: ignore[attr-defined]
        commit(batch, width, rounds)  # type: ignore[arg-type]

    monkeypatch.setattr(Batch, "_commit", watched)
    return seen


@pytest.mark.parametrize("family", fair(MERGING_FAMILIES, "qwen3", "gemma3_text", "qwen3_5"))
@pytest.mark.parametrize("sampling", fair(SAMPLINGS, "sampled"))
def test_rows_draft_and_keep_different_numbers_of_tokens(
    family: str, sampling: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seeds, lengths of drafts and prompts all differ; one row drafts nothing at all, and one stops at a string."""
    steps = wide_steps(monkeypatch)
    ways = [Speculation.fixed(2), Speculation.fixed(6), Speculation.off(), Speculation.auto()]
    asked = [
        asking(prompt(4 + 9 * salt, salt), 34 + 5 * salt, replace(SAMPLINGS[sampling], seed=salt), ways[salt])
        for salt in range(4)
    ]
    text = alone(family, asked[0]).text
    asked[0] = replace(asked[0], stop=(text[len(text) // 2 :][:4],))
    harness = Harness(model(family), draft(family))
    heard = [harness.submit(one) for one in asked]
    harness.run_dry()

    assert sum(len(kept) > 1 for kept in steps) > 5
    assert heard[0].finished.reason is FinishReason.STOP
    for reply, one in zip(heard, asked, strict=True):
        assert reply.tokens == alone(family, one).tokens
        assert reply.text == alone(family, one).text
    shared = heard[1].finished.stats
    assert shared.shared_rounds > 5
    assert shared.shared_gained > 5
    assert heard[2].finished.stats.drafted == 0


@pytest.mark.parametrize("ending", fair(["cancel", "length"], "length"))
def test_who_leaves_keeps_a_cache_that_goes_on(ending: str) -> None:
    """After rows were moved and trimmed, a next turn starts from what was kept."""
    harness = Harness(model("qwen3"), draft())
    stays = harness.submit(asking(prompt(26, 2), 60))
    leaves = harness.submit(asking(prompt(21, 1), 20 if ending == "length" else 50))
    harness.until_written(leaves, 12)
    if ending == "cancel":
        harness.scheduler.cancel(leaves.queued.id)
    harness.run_dry()

    so_far = (*prompt(21, 1), *leaves.tokens)
    turn = asking((*so_far, 11, 12), 12)
    second = harness.submit(turn)
    harness.run_dry()
    assert second.finished.stats.cached_tokens == len(so_far) - 1
    assert second.tokens == alone("qwen3", turn).tokens
    assert stays.tokens == alone("qwen3", asking(prompt(26, 2), 60)).tokens


def test_no_row_goes_beyond_the_context() -> None:
    """A row near its end makes the drafts of all shorter."""
    main, ends = model("qwen3"), set[int]()

    class Network:
        def __call__(self, tokens: mx.array, cache: list[object]) -> object:
            read: list[int] = mx.array(cache[0].offset).reshape(-1).tolist()  # type: ignore[attr-defined, assignment]
            ends.add(max(read) + tokens.shape[1])
            return main.network(tokens, cache=cache)

    harness = Harness(replace(main, network=Network(), info=replace(main.info, context_tokens=70)), draft())
    asked = [asking(prompt(length, length), 100, speculation=Speculation.fixed(8)) for length in (50, 10)]
    heard = [harness.submit(one) for one in asked]
    harness.run_dry()

    assert [reply.finished.reason for reply in heard] == [FinishReason.CONTEXT] * 2
    assert max(ends) <= 70


def test_a_step_of_many_rows_is_no_wider_than_memory_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.runtime.batch._MOST_TOKENS", 12)
    harness = Harness(model("qwen3"), draft())
    heard = [harness.submit(asking(prompt(6 + salt, salt), 16, speculation=Speculation.fixed(8))) for salt in range(4)]
    harness.until_written(heard[3], 12)
    drafted = [len(reply.reply.stats.drafted_by_position) for reply in heard[1:]]
    harness.run_dry()

    assert drafted == [2] * 3
    for salt, reply in enumerate(heard):
        assert reply.tokens == alone("qwen3", asking(prompt(6 + salt, salt), 16)).tokens


# The device was waited for with the first draft of several anyway.
@pytest.mark.parametrize(
    ("broken", "fault", "drafts_before"), sampled(range(3), list(FAULTS), [0, 1], rest=pytest.mark.slow)
)
@pytest.mark.expect_log("the proposer draft failed")
def test_a_draft_that_fails_on_the_device_is_told_to_its_own_reply_alone(
    monkeypatch: pytest.MonkeyPatch, broken: int, fault: str, drafts_before: int
) -> None:
    requests = [asking(prompt(10 + salt, salt), 12) for salt in range(3)]
    propose, seen = DraftModelProposer.propose, [0]

    def failing(self: DraftModelProposer, tokens: Tokens[int], plan: Plan, sampler: Sampler) -> Draft:
        drafted = propose(self, tokens, plan, sampler)
        if tuple(tokens[: len(requests[broken].tokens)]) != requests[broken].tokens:
            return drafted
        seen[0] += 1
        return Draft(FAULTS[fault]()) if seen[0] > drafts_before else drafted

    monkeypatch.setattr(DraftModelProposer, "propose", failing)
    harness = Harness(model("qwen3"), draft())
    heard = [harness.submit(request) for request in requests]
    harness.run_dry()
    assert [each.tokens for each in heard] == [alone("qwen3", request).tokens for request in requests]
    states = [each.finished.stats.drafting for each in heard]
    assert states == [DraftingState.FAILED if row == broken else DraftingState.ACTIVE for row in range(3)]
    assert all(each.finished.stats.draft_rounds > 1 for row, each in enumerate(heard) if row != broken)
    assert seen == [drafts_before + 1]


@pytest.mark.costly
@pytest.mark.parametrize("source", ["draft", "lookup"])
@pytest.mark.parametrize("stops", [False, True])
def test_a_trace_says_what_was_drafted_in_company(source: str, stops: bool) -> None:
    """Position, draft, source and what stood of it, round by round; penalised, up to a stop string."""
    phrase = prompt(5)
    asked = [
        replace(asking((*phrase * 3, 5 + salt), 40, replace(SAMPLED, seed=salt, logit_bias=biased(phrase))), trace=True)
        for salt in range(2)
    ]
    if stops:
        text = alone("qwen3", asked[0]).text
        asked[0] = replace(asked[0], stop=(text[len(text) // 2 :][:4],))
    harness = Harness(model("qwen3"), draft() if source == "draft" else None)
    heard = [harness.submit(one) for one in asked]
    harness.run_dry()

    shared = 0
    for reply, one in zip(heard, asked, strict=True):
        assert reply.tokens == alone("qwen3", one).tokens
        chat, position = (*one.tokens, *reply.tokens), len(one.tokens)
        for done in reply.finished.rounds:
            assert done.position == position
            assert chat[position : position + done.accepted] == done.drafted[: done.accepted]
            assert done.source == (source if done.drafted else "")
            position += done.accepted + 1
        assert position >= len(chat)
        assert sum(len(done.drafted) for done in reply.finished.rounds) == reply.finished.stats.drafted
        shared += reply.finished.stats.shared_gained
    assert shared >= (4 if source == "draft" else 1)


def biased(tokens: tuple[int, ...]) -> tuple[tuple[int, float], ...]:
    """So that a reply says again what was said."""
    return tuple((token, 11.0) for token in sorted(set(tokens)))


def forced(monkeypatch: pytest.MonkeyPatch, way: BatchWay) -> None:
    monkeypatch.setattr(Sharing, "choose", lambda *_: way)


def written(harness: Harness, calibration: Calibration) -> Recorder:
    harness.scheduler.pair.history.costs.calibrate(calibration)
    asked = [asking(prompt(9 + salt, salt), 120, speculation=Speculation.auto()) for salt in range(2)]
    heard = [harness.submit(one) for one in asked]
    harness.run_dry()
    assert [reply.tokens for reply in heard] == [alone("qwen3", one).tokens for one in asked]
    return heard[0]


@pytest.mark.slow
def test_left_to_itself_a_reply_drafts_in_company_what_pays_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wide forwards cost nothing, then so much that nothing is drafted after a few tries."""
    forced(monkeypatch, BatchWay.DRAFTED)
    free = written(Harness(model("qwen3"), draft()), Calibration({1: 1.0, 33: 1.1}, {"draft": 1e-6}))
    assert free.finished.stats.drafted > 40
    assert free.finished.stats.drafting is DraftingState.ACTIVE
    dear = written(Harness(model("qwen3"), draft()), Calibration({1: 1.0, 2: 1.0, 3: 9.0, 33: 99.0}, {"draft": 1e-6}))
    assert dear.finished.stats.draft_rounds <= 1


@pytest.mark.parametrize(
    ("modes", "ways"),
    [
        ([Speculation.auto()] * 2, {BatchWay.SHARED, BatchWay.TURNS, BatchWay.DRAFTED}),
        ([Speculation.auto(), Speculation.off()], {BatchWay.SHARED}),
        ([Speculation.fixed(2), Speculation.off()], None),
    ],
)
def test_what_was_asked_is_done_and_the_rest_is_chosen(
    modes: list[Speculation], ways: set[BatchWay] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered, contexts = list[set[BatchWay]](), list[int]()

    def choose(_: Sharing, __: int, among: list[BatchWay], context_tokens: int) -> BatchWay:
        offered.append(set(among))
        contexts.append(context_tokens)
        return BatchWay.SHARED

    monkeypatch.setattr(Sharing, "choose", choose)
    harness = Harness(model("qwen3"), draft())
    heard = [harness.submit(asking(prompt(5, salt), 9, speculation=mode)) for salt, mode in enumerate(modes)]
    harness.until_written(heard[1], 3)
    way = harness.scheduler.writing.way([reply.reply for reply in heard])

    assert way is (BatchWay.SHARED if ways else BatchWay.DRAFTED)
    assert not ways or contexts[-1] == sum(5 + reply.written for reply in heard) // 2
    assert {frozenset(seen) for seen in offered} == ({frozenset(ways)} if ways else set())


@pytest.mark.slow
def test_a_number_that_was_asked_for_is_drafted_from_the_first_round_on_in_company_too() -> None:
    """What a draft has to read of a long chat it reads before that round, and meanwhile others are written on."""
    asked = [replace(asking(prompt(length, salt), 60), trace=True) for salt, length in enumerate((20, 150))]
    harness = Harness(model("qwen3"), draft())
    other, long = heard = [harness.submit(one) for one in asked]
    harness.until_written(long, 1)
    before = other.written
    while long.reply.draft_lags:
        harness.scheduler.step()
    assert long.written == 1
    assert other.written > before
    harness.run_dry()
    for reply, one in zip(heard, asked, strict=True):
        assert reply.tokens == alone("qwen3", one).tokens
        assert [len(done.drafted) for done in reply.finished.rounds][:3] == [0, 3, 3]
    assert long.finished.stats.shared_rounds > 3


@pytest.fixture
def batches_without_drafts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with networks whose states cannot be replayed by rows."""
    monkeypatch.setattr(LoadedPair, "batching", Batching(shares=True))


@pytest.mark.usefixtures("batches_without_drafts")
def test_a_number_that_was_asked_for_is_drafted_by_turns_where_a_batch_cannot_check_drafts() -> None:
    """Whatever the others asked for; once that reply has ended they share forwards."""
    family = "qwen3"
    modes = (Speculation.fixed(3), Speculation.off(), Speculation.auto())
    asked = [
        replace(asking(prompt(9 + salt, salt), 12 + 12 * salt, speculation=mode), trace=True)
        for salt, mode in enumerate(modes)
    ]
    harness = Harness(model(family), draft())
    fixed, *others = heard = [harness.submit(one) for one in asked]
    harness.until_written(fixed, 8)
    assert harness.batched == 0
    harness.run_dry()
    for reply, one in zip(heard, asked, strict=True):
        assert reply.tokens == alone(family, replace(one, trace=False)).tokens
    assert [len(done.drafted) for done in fixed.finished.rounds][:4] == [0, 3, 3, 3]
    assert fixed.finished.stats.shared_rounds == 0
    assert all(other.finished.stats.shared_rounds > 3 for other in others)


@pytest.mark.usefixtures("batches_without_drafts")
@pytest.mark.parametrize("why", ["no draft is loaded", "it has failed"])
@pytest.mark.expect_log("the proposer draft failed")
def test_for_lookups_alone_no_reply_leaves_a_batch_that_cannot_check_them(
    why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why == "it has failed":
        monkeypatch.setattr(DraftModelProposer, "offer", lambda *_: 1 // 0)
    harness = Harness(model("qwen3"), draft() if why == "it has failed" else None)
    heard = [harness.submit(asking(prompt(9, salt), 30)) for salt in range(2)]
    harness.run_dry()
    assert all(reply.finished.stats.shared_rounds > 3 for reply in heard)


@pytest.mark.parametrize("meddling", fair(["cancel", "another draft", "no draft", "off"], "another draft", "off"))
def test_a_reply_whose_draft_lags_can_be_meddled_with(meddling: str) -> None:
    asked = [asking(prompt(length, salt), 30) for salt, length in enumerate((20, 150))]
    harness = Harness(model("qwen3"), draft())
    other, long = heard = [harness.submit(one) for one in asked]
    harness.until_written(long, 1)
    harness.scheduler.step()
    assert long.reply.draft_lags
    if meddling == "cancel":
        harness.scheduler.cancel(long.queued.id)
    elif meddling == "off":
        harness.scheduler.set_speculation(long.queued.id, Speculation.off())
    else:
        harness.scheduler.set_draft(replace(draft(), identity="other") if meddling == "another draft" else None)
    harness.run_dry()
    for reply, one in zip(heard, asked, strict=True):
        whole = alone("qwen3", one).tokens
        assert reply.tokens == (whole[:1] if meddling == "cancel" and reply is long else whole)
    assert other.finished.reason is FinishReason.LENGTH


def test_the_time_of_steps_that_drafted_in_company_is_split_as_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else all of it would be neither the draft's nor the main model's. A row without a draft has none of it."""
    forced(monkeypatch, BatchWay.DRAFTED)
    harness = Harness(model("qwen3"), draft())
    modes = (Speculation.fixed(3), Speculation.fixed(3), Speculation.off())
    heard = [harness.submit(asking(prompt(9, salt), 30, speculation=mode)) for salt, mode in enumerate(modes)]
    while not any(reply.ended for reply in heard):
        harness.scheduler.step()
    for reply, drafts in zip(heard, (True, True, False), strict=True):
        stats = reply.reply.stats.freeze()
        assert stats.shared_rounds == stats.rounds - 1
        assert (stats.draft_s > 0) is drafts
        assert 0 < stats.verify_s <= stats.decode_s - stats.draft_s


def test_a_batch_learns_its_own_prices_and_drafts_though_nothing_is_calibrated() -> None:
    """Where a reply joins, or nothing is drafted yet, a step is not measured."""
    harness = Harness(model("qwen3"), draft())
    history, batch = harness.scheduler.pair.history, harness.scheduler.writing.batch
    recorders = [harness.submit(asking(prompt(9, salt), 30, speculation=Speculation.auto())) for salt in range(4)]
    seen = []
    while harness.scheduler.busy:
        harness.scheduler.step()
        seen.append((batch.typical, bool(history.shared_by(4).costs.plain_s)))
    assert not history.costs.calibrated
    assert seen[0] == (False, False)
    assert (True, True) in seen
    assert any(recorder.terminal[0].stats.drafted for recorder in recorders)
