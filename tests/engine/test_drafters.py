"""Drafters of every kind, on every kind of main model: no text depends on them, and what they know of a chat is whole.

A new kind is added to `tiny_drafters.KINDS`; nothing here has to change. A fair part runs in `make test`: a block or a
chain, on a hybrid where most can go wrong, and a head of each sort. `make slow` has the other of the two, the other
kinds, and one of them on every family. All of them are a drill.
"""

from __future__ import annotations

import queue
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from engine import (
    DrafterDoesNotFit,
    DraftingState,
    Engine,
    Failed,
    Finished,
    FinishReason,
    ModelDamaged,
    ModelFailed,
    ModelOnlyDrafts,
    ModelReady,
    PromptProgress,
    Request,
    Sampling,
    Speculation,
    TextDelta,
)
from engine.decoding.accept import Draft, integers
from engine.decoding.sampling import Sampler
from engine.drafting.drafters import loading_any_draft, proposer_of
from engine.drafting.planner import Drafting
from engine.drafting.plans import Plan
from engine.drafting.proposers.features import Context
from engine.models.drafter_kinds import KINDS
from engine.models.loading import LoadedModel
from engine.prefix.memory import PrefixStore
from engine.runtime.batch import try_batching
from tests.helpers import tiny_assistants, tiny_drafters, tiny_heads
from tests.helpers.engine_client import PATIENCE_S, EngineClient
from tests.helpers.lazy_faults import FAULTS
from tests.helpers.loading import at_once, load_model
from tests.helpers.round_check import check_rounds
from tests.helpers.samples import fair, sampled
from tests.helpers.tiny_families import FAMILIES, STATE_SPACE, save_family

FIRST = tuple(40 + (7 * n) % 90 for n in range(70))
QUESTION = tuple(60 + (5 * n) % 80 for n in range(11))
GREEDY = Sampling(temperature=0, logit_bias=((257, -100.0),))  # no reply ends by itself
# So hot that the noise, which draft and main model share, decides: a random drafter is often right.
HOT = Sampling(temperature=3.0, seed=5)
PENALISED = Sampling(temperature=2.0, seed=6, repetition_penalty=1.2, top_k=60, logit_bias=((65, 1.0),))
SAMPLINGS = {"greedy": GREEDY, "hot": HOT, "penalised": PENALISED}
DRAFTED = 3


@dataclass(frozen=True)
class Pair:
    main: Path
    drafter: Path
    kind: str


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("drafters")


OWN_HEAD = "mtp"  # in the main model's own folder
ASSISTANT = "assistant"  # of main models of its own family alone
GEMMA_BLOCK = "dspark of gemma"  # with that family's layers


_GEMMAS = tuple(tiny_assistants.MAINS)
MAINS = FAMILIES | STATE_SPACE
_FAMILIES_OF = {OWN_HEAD: ("qwen3_5", "glm4_moe", "nemotron_h"), ASSISTANT: _GEMMAS, GEMMA_BLOCK: _GEMMAS[1:]}


def _pairs(quick: Collection[str], slow: Collection[str] = ()) -> Iterator[Any]:
    """Every one; those that are neither `quick` nor `slow` are drills."""
    for kind in (*tiny_drafters.KINDS, *_FAMILIES_OF):
        for family in _FAMILIES_OF.get(kind, tuple(MAINS)):
            name = f"{kind}-{family}"
            mark = pytest.mark.slow if name in slow else pytest.mark.drill
            yield pytest.param((kind, family), id=name, marks=[] if name in quick else [mark])


_EVERY_KIND = [*(f"{kind}-hybrid" for kind in tiny_drafters.KINDS), *(f"dflash-{family}" for family in MAINS)]
of_every_kind = list(
    _pairs(["dflash-hybrid", "eagle3-hybrid", f"{OWN_HEAD}-qwen3_5", f"{ASSISTANT}-gemma4"], slow=_EVERY_KIND)
)


def of_pairs(*quick: str, slow: Collection[str] = ()) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("pair", list(_pairs(quick, slow)), indirect=True, scope="module")


of_a_block = of_pairs("dflash-hybrid", slow=["eagle3-hybrid"])
of_a_chain = of_pairs("eagle3-hybrid", slow=["dflash-hybrid"])
# On a dense main model, whose batches check drafts, as well.
in_company = of_pairs("dflash-dense", "eagle3-dense", slow=["dflash-hybrid"])
a_block_in_company = of_pairs("dflash-dense", slow=["eagle3-dense", "dflash-hybrid"])
a_chain_in_company = of_pairs("eagle3-dense", slow=["dflash-dense", "dflash-hybrid"])


def shares_drafts(pair: Pair) -> bool:
    """Whether replies that draft a fixed number share forwards; where no batch can check drafts they take turns."""
    return at_once(try_batching(load_model(pair.main))).drafts


@pytest.fixture(scope="module", params=of_every_kind)
def pair(request: pytest.FixtureRequest, folder: Path) -> Pair:
    kind, family = request.param
    main = folder / family
    if kind == OWN_HEAD:
        tiny_heads.save_main_with_head(family, main, tiny_heads.head_weights(family))
        return Pair(main, main, kind)
    if family in _GEMMAS:
        tiny_assistants.save_main(family, main)
        if kind == ASSISTANT:
            return Pair(main, tiny_assistants.save_assistant(family, folder / f"{kind}-{family}"), "mtp")
        drafter = tiny_assistants.save_block(family, folder / f"{kind}-{family}")
        return Pair(main, drafter, "dspark")
    if not main.exists():
        save_family(family, main)
    drafter = tiny_drafters.save_kind(kind, folder / f"{kind}-{family}", MAINS[family])
    return Pair(main, drafter, kind)


@dataclass
class Drafts:
    """What was drafted after which tokens, greedily."""

    seen: list[tuple[tuple[int, ...], list[int]]] = field(default_factory=list)


@pytest.fixture
def drafts(monkeypatch: pytest.MonkeyPatch) -> Drafts:
    recorded = Drafts()
    propose = Drafting.propose

    def recording(self: Drafting, plan: Plan, tokens: Sequence[int], sampler: Sampler, **how: bool) -> Any:
        draft = propose(self, plan, tokens, sampler, **how)
        if plan.source != "lookup":
            recorded.seen.append((tuple(tokens), integers(draft.tokens)))
        return draft

    monkeypatch.setattr(Drafting, "propose", recording)
    return recorded


@pytest.fixture
def kept(folder: Path) -> Path:
    """Where engines keep what they know of these folders and of this machine; no chats."""
    shutil.rmtree(folder / "kept" / "prefixes", ignore_errors=True)
    return folder / "kept"


@pytest.fixture
def client(pair: Pair, kept: Path) -> Iterator[EngineClient]:
    engine = Engine(kept)
    client = EngineClient(engine)
    assert isinstance(client.load(pair.main, pair.drafter), ModelReady)
    yield client
    assert engine.close()


def asked(prompt: Sequence[int], sampling: Sampling, tokens: int = 14, *, drafts: bool = True) -> Request:
    speculation = Speculation.fixed(DRAFTED) if drafts else Speculation.off()
    return Request(tokens=tuple(prompt), sampling=sampling, max_tokens=tokens, speculation=speculation, trace=True)


def check(client: EngineClient, prompt: Sequence[int], sampling: Sampling, kv_bits: int | None = None) -> Finished:
    """Asks with and without drafts: the same tokens. Returns the drafted reply."""
    drafted = client.run(replace(asked(prompt, sampling), kv_bits=kv_bits)).finished
    plain = client.run(replace(asked(prompt, sampling, drafts=False), kv_bits=kv_bits)).finished
    assert drafted.tokens == plain.tokens
    assert drafted.stats.draft_rounds > 0
    check_rounds(drafted)
    check_rounds(plain)
    return drafted


@dataclass(frozen=True)
class Fresh:
    """Main model and drafter by themselves, to draft after tokens that nobody has read."""

    main: LoadedModel
    draft: LoadedModel

    @classmethod
    def load(cls, pair: Pair) -> Fresh:
        main = load_model(pair.main)
        return cls(main, at_once(loading_any_draft(pair.drafter, main)))

    def drafted(self, tokens: Sequence[int], count: int) -> list[int]:
        proposer = proposer_of(self.draft, self.main, PrefixStore(), 0)
        while proposer.offer(tokens).behind:
            proposer.read_on()
        sampler = Sampler(GREEDY, 0, self.main.logit_width, tokens)
        return integers(proposer.propose(list(tokens), Plan(proposer.name, count), sampler).tokens)


def whole(pair: Pair, drafts: Drafts) -> None:
    """Each draft was the one that a drafter makes that has read all states of the chat anew."""
    fresh = Fresh.load(pair)
    assert drafts.seen
    for tokens, drafted in drafts.seen[:: max(1, len(drafts.seen) // 6)]:
        assert drafted == fresh.drafted(tokens, len(drafted))


@pytest.mark.costly
@pytest.mark.parametrize("kv_bits", [None, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("sampling", fair(SAMPLINGS, "hot", "penalised"))
def test_no_token_depends_on_the_drafter(client: EngineClient, sampling: str, kv_bits: int | None) -> None:
    """Greedy replies are what the other tests here compare."""
    drafted = check(client, FIRST, SAMPLINGS[sampling], kv_bits)
    assert sampling != "hot" or drafted.stats.accepted > 0


@pytest.mark.slow
@of_a_block
def test_a_next_turn_an_edit_and_a_branch_go_on_from_what_was_read(
    client: EngineClient, pair: Pair, drafts: Drafts
) -> None:
    first = check(client, FIRST, GREEDY)
    turn = (*FIRST, *first.tokens, *QUESTION)
    second = check(client, turn, GREEDY)
    assert second.stats.cached_tokens > len(FIRST)
    check(client, (*turn[:-4], 51, 52, 53), GREEDY)
    check(client, (*FIRST[:50], *QUESTION), GREEDY)
    check(client, turn, GREEDY)
    whole(pair, drafts)


@in_company
def test_a_next_turn_finds_the_state_of_every_token(
    client: EngineClient, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the last round too, and those of a reply that was cut, that never drafted or that shared its steps."""
    monkeypatch.setattr(Context, "read_again", lambda *_: pytest.fail("states were missing"))
    first = check(client, FIRST, GREEDY)
    second = (*FIRST, *first.tokens, *QUESTION)
    check(client, second, GREEDY)
    short = client.run(asked((*second, 51), GREEDY, 1)).tokens
    together = client.run_all([asked((*second, 51, *short, *QUESTION), GREEDY, 6), asked(QUESTION, GREEDY, 6)])
    assert bool(together[0].stats.shared_rounds) == shares_drafts(pair)
    check(client, (*second, 51, *short, *QUESTION, *together[0].tokens, *QUESTION), GREEDY)


@pytest.mark.slow
@of_a_chain
def test_what_was_read_outlives_the_process(pair: Pair, kept: Path, drafts: Drafts) -> None:
    prompt = list(FIRST)
    for _ in range(2):
        engine = Engine(kept)
        client = EngineClient(engine)
        assert isinstance(client.load(pair.main, pair.drafter), ModelReady)
        reply = check(client, prompt, GREEDY)
        prompt += [*reply.tokens, *QUESTION]
        assert engine.close()
    assert reply.stats.cached_tokens > 0
    whole(pair, drafts)


def meddled(client: EngineClient, request: Request, meddle: Callable[[Any], None]) -> Finished:
    """The end of a reply; `meddle` hears its events on the engine's thread, so its commands come right after them."""
    ended: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def sink(event: Any) -> None:
        meddle(event)
        if isinstance(event, Finished | Failed):
            ended.put(event)

    client.engine.submit(request, sink)
    end = ended.get(timeout=PATIENCE_S)
    assert isinstance(end, Finished), end
    return end


@pytest.mark.slow
@a_block_in_company
def test_asked_in_mid_reply_to_draft_otherwise_it_goes_on_from_what_it_has_read(
    client: EngineClient, pair: Pair, drafts: Drafts, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = 0

    def meddle(event: Any) -> None:
        nonlocal told
        told += isinstance(event, TextDelta)
        if isinstance(event, TextDelta) and told in (2, 4, 6):
            client.engine.set_speculation(event.request, Speculation.fixed(told // 2))

    with monkeypatch.context() as patch:
        patch.setattr(Context, "read_again", lambda *_: pytest.fail("states were missing"))
        reply = meddled(client, asked(FIRST, GREEDY, 40), meddle)
    assert reply.tokens == client.run(asked(FIRST, GREEDY, 40, drafts=False)).tokens
    assert {len(each.drafted) for each in reply.rounds} >= {1, 2, 3}
    whole(pair, drafts)


@pytest.mark.slow
@a_chain_in_company
def test_of_a_prompt_that_was_cancelled_what_was_read_is_known(
    client: EngineClient, pair: Pair, drafts: Drafts, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = tuple(40 + (7 * n + n * n) % 90 for n in range(600))

    def cancel(event: Any) -> None:
        if isinstance(event, PromptProgress) and event.done_tokens:
            client.engine.cancel(event.request)

    with monkeypatch.context() as patch:
        patch.setattr(Context, "read_again", lambda *_: pytest.fail("states were missing"))
        assert meddled(client, asked(prompt, GREEDY), cancel).reason is FinishReason.CANCELLED
        assert check(client, prompt, GREEDY).stats.cached_tokens >= 512
    whole(pair, drafts)


@pytest.mark.slow
@a_block_in_company
def test_a_chat_read_at_the_same_time_takes_nothing_from_another(
    client: EngineClient, pair: Pair, drafts: Drafts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its beginning is the other's, which has ended before it drafts; but the main model has read it from its start."""
    other = (*FIRST[:60], *QUESTION)
    ended, _ = client.run_all([asked(FIRST, GREEDY, 1), asked(other, GREEDY, 12)])
    with monkeypatch.context() as patch:
        patch.setattr(Context, "read_again", lambda *_: pytest.fail("states were missing"))
        check(client, (*FIRST, *ended.tokens, *QUESTION), GREEDY)
    whole(pair, drafts)


@pytest.mark.slow
@pytest.mark.parametrize("pair", [pytest.param((ASSISTANT, "gemma4"), id="assistant")], indirect=True, scope="module")
def test_a_reply_longer_than_a_window_is_written_anew_from_what_was_read(
    client: EngineClient, pair: Pair, drafts: Drafts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that a window has forgotten come back with what was remembered at the turn's end."""
    monkeypatch.setattr("engine.caches.window._GROWTH_TOKENS", 8)
    first = client.run(asked(FIRST, GREEDY, 48)).finished
    with monkeypatch.context() as patch:
        patch.setattr(Context, "read_again", lambda *_: pytest.fail("states were missing"))
        assert client.run(asked(FIRST, GREEDY, 48)).tokens == first.tokens
    whole(pair, drafts)


@a_chain_in_company
def test_several_replies_at_once_and_back(client: EngineClient, pair: Pair, drafts: Drafts) -> None:
    prompts = [FIRST, (*FIRST[:30], *QUESTION), FIRST[20:]]
    plain = [client.run(asked(prompt, GREEDY, 16, drafts=False)).finished.tokens for prompt in prompts]
    lengths = (6, 10, 16)
    replies = client.run_all([asked(prompt, GREEDY, most) for prompt, most in zip(prompts, lengths, strict=True)])
    assert [reply.tokens for reply in replies] == [tokens[:most] for tokens, most in zip(plain, lengths, strict=True)]
    whole(pair, drafts)


@of_a_block
def test_swapped_cleared_and_cancelled_in_mid_reply(client: EngineClient, pair: Pair) -> None:
    plain = client.run(asked(FIRST, GREEDY, 28, drafts=False)).finished.tokens
    told = 0

    def meddle(request: Any, event: object) -> None:
        nonlocal told
        told += isinstance(event, TextDelta)
        if told in (2, 6):
            client.engine.set_draft(None if told == 2 else pair.drafter, lambda event: None)

    assert client.run(asked(FIRST, GREEDY, 28), meddle).tokens == plain

    def cancel(request: Any, event: object) -> None:
        if isinstance(event, TextDelta):
            client.engine.cancel(request)

    cut = client.run(asked(FIRST, GREEDY, 28), cancel).tokens
    assert cut == plain[: len(cut)]
    assert client.run(asked(FIRST, GREEDY, 28)).tokens == plain


@a_block_in_company
def test_chosen_again_in_mid_reply_it_has_what_it_missed_read_again_once(
    client: EngineClient, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step that was in flight is taken back: without its states there would be a gap once more."""
    varied = replace(GREEDY, temperature=3.0, seed=5)  # lookup drafts text that repeats itself
    told, readings = 0, list[int]()
    begun_again = Context._begun_again

    def counted(context: Context) -> Any:
        again = begun_again(context)
        readings.append(again[0].caches.position)
        return again

    def meddle(event: Any) -> None:
        nonlocal told
        told += isinstance(event, TextDelta)
        if isinstance(event, TextDelta) and told in (2, 6):
            client.engine.set_draft(None if told == 2 else pair.drafter, lambda event: None)

    monkeypatch.setattr(Context, "_begun_again", counted)
    reply = meddled(client, asked(FIRST, varied, 80), meddle)
    assert len(readings) == 1
    assert readings[0] >= len(FIRST) - 1
    assert reply.rounds[-3].drafted
    assert reply.tokens == client.run(asked(FIRST, varied, 80, drafts=False)).finished.tokens


@pytest.mark.costly
@of_a_chain
@pytest.mark.parametrize("place", ["receive_states", "offer", "propose", "commit"])
@pytest.mark.expect_log("failed; the reply goes on plainly")
def test_a_drafter_that_raises_costs_nothing_but_its_drafts(
    client: EngineClient, pair: Pair, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = client.run(asked(FIRST, GREEDY, drafts=False)).finished.tokens
    fresh = Fresh.load(pair)
    kind = type(proposer_of(fresh.draft, fresh.main, PrefixStore(), 0))

    def broken(*arguments: object) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(kind, place, broken)
    reply = client.run(asked(FIRST, GREEDY)).finished
    assert reply.tokens == plain
    assert reply.stats.drafting is DraftingState.FAILED


@a_block_in_company
@pytest.mark.parametrize(("fault", "replies", "drafts_before"), sampled(list(FAULTS), (1, 2), (0, 1)))
@pytest.mark.expect_log("failed; the reply goes on plainly")
def test_a_draft_that_fails_only_on_the_device_costs_nothing_but_drafts(
    client: EngineClient, pair: Pair, fault: str, replies: int, drafts_before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its tokens are in the caches of the reply, or of the whole batch, when that shows: they go again.

    The device is waited for with the first draft of several, and then only with the verdicts.
    """
    prompts = (FIRST, (*FIRST[:30], *QUESTION))[:replies]
    plain = [client.run(asked(prompt, GREEDY, drafts=False)).finished.tokens for prompt in prompts]
    fresh = Fresh.load(pair)
    kind = type(proposer_of(fresh.draft, fresh.main, PrefixStore(), 0))
    propose, left = kind.propose, [None] * drafts_before * replies

    def failing(self: Any, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Draft:
        draft = propose(self, tokens, plan, sampler)
        return left.pop() or draft if left else Draft(FAULTS[fault]())

    with monkeypatch.context() as patch:
        patch.setattr(kind, "propose", failing)
        written = client.run_all([asked(prompt, GREEDY) for prompt in prompts])
    assert [reply.tokens for reply in written] == plain
    drafted = (
        replies == 1 or at_once(try_batching(fresh.main)).drafts
    )  # else replies are written without drafts, but for who is left
    states = {reply.stats.drafting for reply in written}
    assert states <= ({DraftingState.FAILED} if drafted else {DraftingState.FAILED, DraftingState.BATCHED})
    check(client, (*FIRST, *plain[0], *QUESTION), GREEDY)


@pytest.mark.expect_log("could not load")
def test_it_is_no_chat_model_and_fits_no_other_main_model(pair: Pair, folder: Path, kept: Path) -> None:
    if pair.drafter == pair.main:
        pytest.skip("a main model with a head of its own can chat")
    engine = Engine(kept)
    client = EngineClient(engine)
    refused = client.load(pair.drafter)
    assert isinstance(refused, ModelFailed)
    assert isinstance(refused.error, ModelOnlyDrafts)
    other = folder / ("dense" if pair.main.name != "dense" else "window")  # of another width and depth
    if not other.exists():
        save_family(other.name, other)
    assert isinstance(client.load(other), ModelReady)
    misfit = client.set_draft(pair.drafter)
    assert isinstance(misfit, ModelFailed)
    assert isinstance(misfit.error, DrafterDoesNotFit)
    assert engine.close()


def test_a_missing_tensor_is_a_damaged_folder(pair: Pair, tmp_path: Path) -> None:
    if pair.drafter == pair.main:
        pytest.skip("without its head it is a main model")
    main = load_model(pair.main)
    for name in tiny_drafters.some_tensors(pair.drafter):
        damaged = tiny_drafters.without(pair.drafter, name, tmp_path / name)
        with pytest.raises(ModelDamaged, match=name.split(".")[0]):
            at_once(loading_any_draft(damaged, main))


def test_every_kind_that_can_be_loaded_is_examined_here() -> None:
    assert {*tiny_drafters.KINDS, OWN_HEAD} >= set(KINDS)
