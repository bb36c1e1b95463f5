"""One forward of the draft model for all replies of a batch: each is drafted what it would be alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import mlx.core as mx
import pytest

from engine import DraftingState, Sampling, Speculation
from engine.caches.kinds import CacheMisuse
from engine.caches.merging import MergedCaches
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence
from engine.drafting.plans import PLAIN, Plan
from engine.drafting.proposers.base import Guarded, draft_together
from engine.drafting.proposers.draft_model import DraftModelProposer
from engine.drafting.proposers.rows import DraftRows
from engine.models.loading import LoadedModel
from engine.prefix.memory import PrefixStore
from engine.runtime.sharing import BatchWay, Sharing
from tests.engine.batch_harness import (
    MERGING_FAMILIES,
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

NEAR = 1e-3  # of logits, as widths round differently
LENGTHS = (2, 6, 4, 3)


class Text:
    """A text that is now a row, now alone; some of its newest tokens are not cached."""

    def __init__(self, drafts: LoadedModel, chance: Random) -> None:
        self.chance = chance
        self.sequence = Sequence(drafts, [chance.randrange(1, 60) for _ in range(chance.randrange(3, 40))])
        while self.sequence.uncached > 1:
            self.sequence.prefill_chunk()
        self.write(chance.randrange(3))

    def write(self, tokens: int) -> None:
        self.sequence.tokens += [self.chance.randrange(1, 60) for _ in range(tokens)]

    def logits(self, drafted: list[int]) -> mx.array:
        """After `drafted` and all before, read at once."""
        tokens = [*self.sequence.tokens, *drafted]
        return Sequence(self.sequence.model, tokens).feed(mx.array(tokens))[-1]

    def check_alone(self) -> None:
        """What it got back goes on from where it was."""
        uncached = self.sequence.tokens[self.sequence.caches.position :]
        assert near(self.sequence.feed(mx.array(uncached))[-1], self.logits([]))
        self.sequence.caches.commit(self.chance.randrange(len(uncached)))


def near(one: mx.array, other: mx.array) -> bool:
    return bool((mx.abs(one - other).max() <= NEAR * (other.max() - other.min())).item())


@pytest.mark.slow
@pytest.mark.parametrize(("family", "seed"), sampled(MERGING_FAMILIES, range(3)))
def test_rows_come_go_and_drop_what_was_rejected(family: str, seed: int) -> None:
    """Each takes part in a draft or waits, and keeps any number of its drafted tokens."""
    drafts, chance = draft(family), Random(seed)
    rows, texts = DraftRows(drafts), [Text(drafts, chance) for _ in range(4)]
    for _ in range(7):
        held = chance.sample(texts, chance.randrange(1, 5))
        if chance.random() < 0.6:
            held.sort(key=texts.index)
        rows.hold([text.sequence for text in held])
        wanted = [bool(place == 0 or chance.randrange(4)) for place in range(len(held))]
        steps = chance.randrange(6)
        drafted = [[chance.randrange(1, 60) for _ in range(steps)] for _ in held]
        read = [rows.read(wanted), *(rows.step(mx.array([each[at] for each in drafted])) for at in range(steps))]
        drafting = [text for row, text in enumerate(held) if wanted[row]]
        for text in drafting:
            text.sequence.caches.position += steps
        for row, text in enumerate(held):
            if text in drafting:
                assert all(near(after[row], text.logits(drafted[row][:at])) for at, after in enumerate(read))
                kept = chance.randrange(steps + 1)
                text.sequence.caches.position += kept - steps
                text.sequence.tokens += drafted[row][:kept]
            text.write(1 + chance.randrange(2))
            if chance.random() < 0.2:
                rows.release(text.sequence)
                text.check_alone()


def test_a_text_that_nobody_goes_on_with_is_no_row_any_more() -> None:
    chance = Random(1)
    rows, texts = DraftRows(draft()), [Text(draft(), chance) for _ in range(3)]
    rows.hold([text.sequence for text in texts])
    stays = texts[2].sequence
    texts[:2] = []
    rows.hold([stays])
    assert rows.read([True]).shape[0] == 1


def test_no_row_goes_back_further_than_to_where_the_drafting_began() -> None:
    merged, text = MergedCaches(), Text(draft(), Random(1))
    merged.append([text.sequence.caches])
    merged.keep_rollback_points(1)
    with pytest.raises(CacheMisuse):
        merged.roll_back([1])


class Seen:
    """The network of a draft, and the shapes of its forwards; `fails` makes it raise in a forward over rows."""

    def __init__(self, drafts: LoadedModel, *, fails: bool = False) -> None:
        self.shapes = Counter[tuple[int, ...]]()
        self._network = drafts.network
        self._fails = fails
        self.model = replace(drafts, network=self)

    def __call__(self, tokens: mx.array, cache: list[object]) -> mx.array:
        self.shapes[tuple(tokens.shape)] += 1
        if self._fails and tokens.shape[0] > 2:
            raise RuntimeError("broken on purpose")
        logits: mx.array = self._network(tokens, cache=cache)
        return logits

    def __getattr__(self, name: str) -> object:
        return getattr(self._network, name)


def traced(family: str, drafts: LoadedModel, count: int = 4) -> list[Recorder]:
    asked = [
        replace(asking(prompt(4 + 9 * salt, salt), 40, speculation=Speculation.fixed(LENGTHS[salt])), trace=True)
        for salt in range(count)
    ]
    harness = Harness(model(family), drafts)
    heard = [harness.submit(one) for one in asked]
    harness.run_dry()
    for reply, one in zip(heard, asked, strict=True):
        assert reply.tokens == alone(family, replace(one, trace=False)).tokens
    return heard


@pytest.mark.parametrize("family", fair(MERGING_FAMILIES, "qwen3", "gemma3_text", "qwen3_5"))
def test_replies_are_drafted_in_company_what_they_are_alone(family: str) -> None:
    """By a forward for each place in a draft, not for each reply and place."""
    seen = Seen(draft(family))
    heard = traced(family, seen.model)
    assert seen.shapes[4, 1] > 20
    assert seen.shapes[1, 1] < seen.shapes[4, 1]
    for salt, reply in enumerate(heard):
        one = replace(asking(prompt(4 + 9 * salt, salt), 40, speculation=Speculation.fixed(LENGTHS[salt])), trace=True)
        harness = Harness(model(family), draft(family))
        by_itself = harness.submit(one)
        harness.run_dry()
        assert reply.finished.rounds == by_itself.finished.rounds
        assert reply.finished.stats.shared_rounds > 5


def test_a_draft_whose_rows_are_not_what_its_texts_are_alone_drafts_for_one_after_the_other() -> None:
    seen = Seen(draft(UNMERGED_FAMILY))
    traced("qwen3", seen.model)
    assert {rows for rows, _ in seen.shapes} == {1}


@pytest.mark.expect_log("the proposer draft failed")
def test_a_forward_for_all_that_fails_costs_all_their_drafts_and_no_token() -> None:
    heard = traced("qwen3", Seen(draft(), fails=True).model)
    states = [reply.finished.stats.drafting for reply in heard]
    assert states.count(DraftingState.FAILED) >= 3


def test_replies_draft_in_rows_and_in_turns_as_they_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The draft's caches go there and back, and to the next turn."""
    ways = iter([BatchWay.DRAFTED] * 5 + [BatchWay.TURNS] * 6 + [BatchWay.SHARED] * 3 + [BatchWay.DRAFTED] * 99)
    monkeypatch.setattr(Sharing, "choose", lambda *_: next(ways))
    harness = Harness(model("qwen3"), draft())
    auto = Speculation.auto()
    asked = [asking(prompt(24 + 5 * salt, salt), 40 + 20 * salt, speculation=auto) for salt in range(3)]
    heard = [harness.submit(one) for one in asked]
    harness.run_dry()
    for reply, one in zip(heard, asked, strict=True):
        assert reply.tokens == alone("qwen3", one).tokens
        kept = kept_of(harness.scheduler.pair.store, (*one.tokens, *reply.tokens))
        text = mx.array(kept.tokens)
        uncached = text[kept.caches.position :]
        assert uncached.size < 33
        assert near(kept.feed(uncached)[-1], Sequence(kept.model, kept.tokens).feed(text)[-1])


def kept_of(store: PrefixStore, tokens: tuple[int, ...]) -> Sequence:
    """The draft's sequence of a chat that has ended."""
    (kept,) = [
        each.sequence
        for each in store.kept
        if each.sequence.model.identity == draft().identity
        and each.sequence.model.network is draft().network
        and tuple(each.sequence.tokens) == tokens[: len(each.sequence.tokens)]
    ]
    return kept


def test_who_waits_in_a_row_drafts_on_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply that drafts nothing for some steps, the draft's caches stay in the batch meanwhile."""
    releases = list[Sequence]()
    release = DraftRows.release

    def watched(rows: DraftRows, sequence: Sequence) -> None:
        releases.append(sequence)
        release(rows, sequence)

    monkeypatch.setattr(DraftRows, "release", watched)
    seen = Seen(draft())
    harness = Harness(model("qwen3"), seen.model)
    asked = [asking(prompt(24 + 5 * salt, salt), 40) for salt in range(3)]
    heard = [harness.submit(one) for one in asked]
    harness.until_written(heard[2], 8)
    waits = heard[0].reply.rounds.drafting
    monkeypatch.setattr(waits, "plan", lambda *_: PLAIN)
    before = heard[0].written
    for _ in range(3):
        harness.scheduler.step()
    assert heard[0].written == before + 3
    assert not releases
    monkeypatch.undo()
    harness.run_dry()
    for reply, one in zip(heard, asked, strict=True):
        assert reply.tokens == alone("qwen3", one).tokens


def test_short_prompts_that_join_beside_rows_that_wait_are_drafted_alone() -> None:
    """Of texts with nothing in their caches no rows are made, and then no row has anything to read."""
    texts = [prompt(40, 1), prompt(44, 2), prompt(5, 3), prompt(6, 4)]
    guarded = [Guarded(DraftModelProposer(draft(), PrefixStore())) for _ in texts]

    def step(plans: list[Plan]) -> list[int]:
        wanted = []
        for each, text, plan in zip(guarded, texts, plans, strict=False):
            while each.offer(text).behind:
                each.read_on()
            sampler = Sampler(Sampling(temperature=0), 0, draft().logit_width, text)
            if (wants := each.wanted(text, plan, sampler)) is not None:
                wanted.append(wants)
        draft_together(wanted)
        planned = [each for each in wanted if each.plan.length]
        return [each.guarded.propose(each.tokens, each.plan, each.sampler).tokens.size for each in planned]

    two = Plan("draft", 2)
    assert step([two, two]) == [2, 2]
    assert step([PLAIN, PLAIN, two, two]) == [2, 2]
    assert not any(each.failed for each in guarded)
