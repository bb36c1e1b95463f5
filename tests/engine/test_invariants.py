"""The promises of engine/ARCHITECTURE.md, each with a test of its name, on the round itself."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace

import mlx.core as mx
import pytest

from engine import (
    DraftingState,
    Event,
    Failed,
    Finished,
    FinishReason,
    ModelRole,
    Request,
    RequestId,
    Sampling,
    Speculation,
    TextDelta,
)
from engine.decoding.accept import Draft
from engine.decoding.round import speculative_round
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence
from engine.drafting.controller import History, make_controller
from engine.drafting.planner import Drafting
from engine.drafting.plans import Plan
from engine.drafting.proposers.base import Proposer
from engine.drafting.proposers.draft_model import DraftModelProposer
from engine.models.loading import LoadedModel, loading_draft
from engine.prefix.memory import PrefixStore
from engine.runtime.background_load import BackgroundLoad
from engine.runtime.queued import QueuedReply
from engine.runtime.reply import Reply
from engine.runtime.scheduler import Scheduler
from tests.engine.conftest import Zoo
from tests.helpers.engine_client import EngineClient
from tests.helpers.loading import load_draft, load_model
from tests.helpers.samples import sampled

PROMPT = list(range(40, 80))
GREEDY = Sampling(temperature=0)
_ROUNDING = 1e-5  # of float32, as a share of the logits' range. MEASURED on a GPU: 3e-7


def same_logits(one: mx.array, other: mx.array) -> bool:
    """To the bit on a CPU; on a GPU how wide a forward is changes how it rounds."""
    if mx.default_device() == mx.cpu:
        return bool(mx.array_equal(one, other))
    return bool((mx.abs(one - other).max() <= _ROUNDING * (other.max() - other.min())).item())


@dataclass
class Bench:
    """A pair outside of the engine thread, to look inside between rounds."""

    main: LoadedModel
    draft: LoadedModel

    def reply(self, request: Request, heard: list[Event], store: PrefixStore | None = None) -> Reply:
        reply = QueuedReply(RequestId(1), request, heard.append).start(self.main, store or PrefixStore(), History())
        reply.draft_with(drafting(request, DraftModelProposer(self.draft, PrefixStore())), History())
        return reply


def drafting(request: Request, *proposers: Proposer) -> Drafting:
    return Drafting(proposers, make_controller(request.speculation, History()))


@pytest.fixture(scope="module")
def bench(zoo: Zoo) -> Iterator[Bench]:
    main = load_model(zoo.main)
    yield Bench(main, load_draft(zoo.drafts["close"], main))
    mx.clear_cache()


def request(length: int = 32, speculation: Speculation | None = None, stop: tuple[str, ...] = ()) -> Request:
    return Request(
        tokens=tuple(PROMPT),
        sampling=GREEDY,
        max_tokens=length,
        stop=stop,
        speculation=speculation or Speculation.fixed(4),
    )


def next_logits(sequence: Sequence) -> mx.array:
    """What the model says after the sequence, and forget that it was asked."""
    logits = sequence.feed(mx.array(sequence.tokens[sequence.caches.position :]))
    mx.eval(logits)
    sequence.caches.commit(0)
    return logits[-1]


def assert_cache_matches_tokens(sequence: Sequence) -> None:
    fresh = Sequence(sequence.model, list(sequence.tokens))
    assert same_logits(next_logits(sequence), next_logits(fresh))


def test_cache_holds_committed_tokens_but_one_between_rounds(bench: Bench) -> None:
    """INVARIANT: after every round, and for every outcome of it, only the last token is not in the cache."""
    sequence = Sequence(bench.main, list(PROMPT))
    sampler = Sampler(GREEDY, 0, bench.main.logit_width, PROMPT)
    proposer = DraftModelProposer(bench.draft, PrefixStore())
    sequence.prefill_chunk()
    plan = Plan("draft", 3)
    outcomes = set()
    for _ in range(24):
        if proposer.offer(sequence.tokens).behind:
            proposer.read_on()
        done = speculative_round(sequence, sampler, lambda: proposer.propose(sequence.tokens, plan, sampler), len)
        proposer.commit(done.emitted)
        outcomes.add(done.accepted)
        assert sequence.caches.position == len(sequence.tokens) - 1
        assert_cache_matches_tokens(sequence)

    assert {0, 3} <= outcomes  # rejected at once and accepted whole: both ends were seen


@pytest.mark.costly
@pytest.mark.parametrize(("width", "kept"), [(width, kept) for width in range(1, 6) for kept in range(width + 1)])
def test_rollback_equals_a_fresh_prefill(bench: Bench, width: int, kept: int) -> None:
    """For every count of tokens kept, twice in a row, forgetting the rest leaves no trace."""
    sequence = Sequence(bench.main, list(PROMPT))
    sequence.prefill_chunk()
    for guess in (17, 230):
        tokens = [sequence.tokens[-1], *range(guess, guess + width - 1)]
        mx.eval(sequence.feed(mx.array(tokens)))
        sequence.caches.commit(kept)
        sequence.tokens[-1:] = [*tokens[:kept], 99]
        assert_cache_matches_tokens(sequence)


def test_a_round_emits_at_least_one_token(bench: Bench) -> None:
    """INVARIANT: however wrong the draft, every round moves on by the main model's own token."""
    sequence = Sequence(bench.main, list(PROMPT))
    sequence.prefill_chunk()
    sampler = Sampler(GREEDY, 0, bench.main.logit_width, PROMPT)
    rounds = [speculative_round(sequence, sampler, lambda: Draft(mx.array([5] * 4)), len) for _ in range(10)]

    assert all(len(done.emitted) == done.accepted + 1 for done in rounds)
    assert sum(done.accepted for done in rounds) < 10


@pytest.mark.parametrize(
    ("ending", "speculation"),
    sampled(
        ["length", "stop", "cancel"],
        {"off": Speculation.off(), "1": Speculation.fixed(1), "7": Speculation.fixed(7)},
        rest=pytest.mark.slow,
    ),
)
def test_after_any_exit_the_conversation_can_go_on(bench: Bench, ending: str, speculation: Speculation) -> None:
    """INVARIANT: however a reply ends, its kept cache equals a fresh prefill, and the next turn uses it."""
    plain: list[Event] = []
    drive(bench.reply(request(speculation=Speculation.off()), plain))
    text = "".join(event.text for event in plain if isinstance(event, TextDelta))
    stop = (text[8:11],) if ending == "stop" else ()
    store = PrefixStore()
    heard: list[Event] = []
    reply = bench.reply(request(speculation=speculation, stop=stop), heard, store)
    drive(reply, until=(lambda: len(heard) > 6) if ending == "cancel" else None)

    last = heard[-1]
    assert isinstance(last, Finished)
    assert last.reason.value == {"length": "length", "stop": "stop", "cancel": "cancelled"}[ending]
    tokens = [*PROMPT, *last.tokens]
    sequence = store.take(bench.main, [*tokens, 65, 66])
    assert sequence.caches.position == len(tokens) - 1
    sequence.tokens = tokens
    assert_cache_matches_tokens(sequence)


def drive(reply: Reply, until: Callable[[], bool] | None = None) -> None:
    while not reply.step():
        if until is not None and until():
            reply.interrupt(FinishReason.CANCELLED)


@pytest.mark.usefixtures("short_chunks")
def test_first_token_never_waits_for_the_draft(bench: Bench) -> None:
    """The draft reads nothing before the first token is out, then catches up chunk by chunk while the reply goes on."""
    prompt = [40 + n % 200 for n in range(150)]
    heard: list[Event] = []
    long = Request(tokens=tuple(prompt), sampling=GREEDY, max_tokens=24, speculation=Speculation.fixed(4))
    reply = bench.reply(long, heard)
    states: list[DraftingState] = []
    while not reply.step():
        if reply.stats.generated_tokens:
            states.append(reply.stats.drafting)

    catching_up = states.count(DraftingState.CATCHING_UP)
    assert 3 <= catching_up <= 4  # the first token, then 150 tokens in chunks of 64, the last of which drafts at once
    assert states[:catching_up] == [DraftingState.CATCHING_UP] * catching_up
    assert set(states[catching_up:]) == {DraftingState.ACTIVE}


@pytest.mark.costly
@pytest.mark.parametrize(("prompt_tokens", "chunks"), [(9, 0), (20, 1), (79, 1), (80, 2), (150, 3)])
@pytest.mark.usefixtures("short_chunks")
def test_drafts_that_were_asked_for_begin_with_the_second_round(bench: Bench, prompt_tokens: int, chunks: int) -> None:
    """However long the chat: the draft reads it after the first token, a chunk a step."""
    prompt = tuple(40 + n * n % 200 for n in range(prompt_tokens))
    heard: list[Event] = []
    asked = Request(tokens=prompt, sampling=GREEDY, max_tokens=12, speculation=Speculation.fixed(2), trace=True)
    reply = bench.reply(asked, heard)
    told = []
    while not reply.step():
        told.append(len(reply.output.tokens))
    finished = heard[-1]
    assert isinstance(finished, Finished)
    first, *others, _ = [bool(each.drafted) for each in finished.rounds]  # the last may have room for no draft
    assert not first
    assert all(others)
    assert told.count(1) == 1 + chunks
    plain: list[Event] = []
    drive(bench.reply(replace(asked, speculation=Speculation.off()), plain))
    assert isinstance(plain[-1], Finished)
    assert finished.tokens == plain[-1].tokens


def test_one_terminal_event_per_request(client: EngineClient) -> None:
    """INVARIANT: finished, cancelled or failed, a request ends exactly once, and nothing comes after."""
    requests = [
        request(),
        Request(),
        Request(tokens=(99999,)),
        Request(tokens=tuple(range(3000))),
        request(length=1),
    ]
    for asked in requests:
        events = client.run(asked).events
        assert sum(isinstance(event, (Finished, Failed)) for event in events) == 1


def test_counters_agree_with_each_other(bench: Bench) -> None:
    """N = A + P; what the positions say adds up; every rate is within its range."""
    heard: list[Event] = []
    drive(bench.reply(request(length=60), heard))
    last = heard[-1]
    assert isinstance(last, Finished)
    stats = last.stats

    assert stats.generated_tokens == len(last.tokens) == 60
    assert stats.generated_tokens <= stats.accepted + stats.rounds <= stats.generated_tokens + 4
    assert sum(stats.drafted_by_position) == stats.drafted
    assert sum(stats.accepted_by_position) == stats.accepted
    assert sum(stats.rounds_by_accepted) == stats.draft_rounds
    assert sum(number * rounds for number, rounds in enumerate(stats.rounds_by_accepted)) == stats.accepted
    assert sum(stats.share_by_accepted) == pytest.approx(1.0)
    assert list(stats.accepted_by_position) == sorted(stats.accepted_by_position, reverse=True)
    assert stats.draft_s + stats.verify_s <= stats.decode_s * 1.2
    assert stats.context_tokens == len(PROMPT) + 60


def run_dry(scheduler: Scheduler) -> None:
    while scheduler.busy:
        scheduler.step()


def test_a_draft_is_read_while_the_main_model_writes(bench: Bench, zoo: Zoo) -> None:
    """Loading takes slices between rounds; the reply goes on plainly, then drafts, and no token changes."""
    plain: list[Event] = []
    drive(bench.reply(request(length=40, speculation=Speculation.off()), plain))
    scheduler = Scheduler()
    scheduler.set_main(bench.main)
    heard: list[Event] = []
    scheduler.add(QueuedReply(RequestId(1), request(length=40), heard.append))
    for _ in range(4):
        scheduler.step()
    failures: list[BaseException] = []
    scheduler.load_in_background(draft_load(slowly(zoo, bench.main), scheduler, failures))
    written_meanwhile = 0
    while scheduler.draft is None:
        before = len(heard)
        scheduler.step()
        written_meanwhile += len(heard) > before
    run_dry(scheduler)

    finished, whole = heard[-1], plain[-1]
    assert isinstance(finished, Finished)
    assert isinstance(whole, Finished)
    assert not failures
    assert written_meanwhile >= 5
    assert finished.tokens == whole.tokens
    assert finished.stats.proposer == "draft"


def draft_load(
    slices: Generator[None, None, LoadedModel], scheduler: Scheduler, failures: list[BaseException]
) -> BackgroundLoad:
    return BackgroundLoad(ModelRole.DRAFT, "draft", slices, scheduler.set_draft, failures.append)


def slowly(zoo: Zoo, main: LoadedModel) -> Generator[None, None, LoadedModel]:
    for _ in range(5):
        yield
    return (yield from loading_draft(zoo.drafts["close"], main))
