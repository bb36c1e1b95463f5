"""How far a drafter is right, and whether it is misread: by a scripted one whose guesses are known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import mlx.core as mx
import pytest
from mlx_lm.models.cache import make_prompt_cache

from engine import DrafterExamined, Message, MessageRole, Request
from engine.decoding.accept import Draft
from engine.decoding.prompt import prompt_tokens
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence as TokenSequence
from engine.drafting import examination as examined
from engine.drafting.drafters import proposer_of
from engine.drafting.examination import Examined, Reading
from engine.drafting.plans import Offer, Plan
from engine.drafting.proposers.base import Proposer
from engine.drafting.proposers.layers import Changes, OwnLayers
from engine.models.drafter_kinds import drafter_config
from engine.models.drafters import EagleConfig
from engine.models.loading import LoadedModel
from engine.models.templates import ChatTemplate
from tests.helpers.samples import fair
from tests.helpers.tiny_drafters import eagle_config

WRITTEN, LONGEST, STRIDE = 24, examined.LONGEST, examined.STRIDE
PLACES = len(range(0, WRITTEN - LONGEST + 1, STRIDE))


@pytest.fixture(scope="module", autouse=True)
def short() -> Iterator[None]:
    """Few questions and short replies say as much where every guess is known."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examined, "_TOKENS", WRITTEN)
        patch.setattr(examined, "QUESTIONS", examined.QUESTIONS[:2])
        yield


def questions(main: LoadedModel) -> list[list[int]]:
    messages = [Message(MessageRole.USER, question) for question in examined.QUESTIONS]
    return [prompt_tokens(Request(messages=(message,)), main) for message in messages]


def greedy(main: LoadedModel, prompt: Sequence[int], count: int = WRITTEN) -> list[int]:
    """With caches of mlx-lm's own, token by token."""
    tokens, caches = list(prompt), make_prompt_cache(main.network)
    new = tokens
    for _ in range(count):
        new = [int(mx.argmax(main.network(mx.array([new]), cache=caches)[0, -1]).item())]  # type: ignore[arg-type]
        tokens += new
    return tokens


@pytest.fixture(scope="module")
def chats(main: LoadedModel) -> list[list[int]]:
    """The main model's replies, behind their prompts."""
    found = [greedy(main, prompt) for prompt in questions(main)]
    assert main.ends.isdisjoint(token for chat in found for token in chat[-WRITTEN:])
    return found


class Scripted(Proposer):
    """Drafts the first `right` tokens of what the main model says, and then another."""

    name = "scripted"
    layers = (0, 1)

    def __init__(self, chats: list[list[int]], right: int) -> None:
        self.chats, self.right = chats, right
        self.rows = self.asked = 0
        self.seen: list[int] = []

    def begin(self) -> Scripted:
        self.rows, self.seen = 0, []
        return self

    def receive_states(self, position: int, states: mx.array) -> None:
        assert position == self.rows
        assert states.shape[1] == 2 * 64
        self.rows += states.shape[0]

    def offer(self, tokens: Sequence[int]) -> Offer:
        assert self.rows == len(tokens) - 1  # of all tokens but the newest
        return Offer(self.name, 32)

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Draft:
        assert plan == Plan(self.name, LONGEST)
        assert not self.seen or list(tokens) == self.seen
        self.asked += 1
        self.seen = list(tokens)
        (chat,) = (chat for chat in self.chats if chat[: len(tokens)] == self.seen)
        ahead = chat[len(tokens) : len(tokens) + LONGEST]
        return Draft(mx.array([token + (at >= self.right) for at, token in enumerate(ahead)]))

    def commit(self, emitted: Sequence[int]) -> None:
        self.seen += emitted


def propose_with(draft: Any, begin: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """That draft alone: an engine of another test may examine its own meanwhile."""
    monkeypatch.setattr(
        examined, "proposer_of", lambda given, *rest: begin() if given is draft else proposer_of(given, *rest)
    )


def run(
    main: LoadedModel, proposer: Any, monkeypatch: pytest.MonkeyPatch, others: dict[str, Changes] | None = None
) -> Examined | None:
    network = SimpleNamespace(other_readings=lambda: others or {})
    draft: Any = SimpleNamespace(network=network, source="scripted")
    propose_with(draft, getattr(proposer, "begin", lambda: proposer), monkeypatch)
    before, work = getattr(proposer, "right", 0), examined.examination(main, draft)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        assert getattr(proposer, "right", 0) == before  # replies in between see nothing of other readings


@pytest.mark.parametrize("right", fair([0, 2, 6, LONGEST + 1], 2))
def test_whole_drafts_count_from_places_all_over_the_replies(
    main: LoadedModel, chats: list[list[int]], right: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposer = Scripted(chats, right)
    assert run(main, proposer, monkeypatch) == Examined(1 + min(right, LONGEST))
    assert proposer.asked == len(chats) * PLACES


@pytest.mark.costly
@pytest.mark.parametrize(("right", "other", "told"), [(2, 4, True), (0, 1, True), (4, 4, False), (6, 0, False)])
def test_a_reading_that_is_right_further_is_named(
    main: LoadedModel,
    chats: list[list[int]],
    right: int,
    other: int,
    told: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    proposer = Scripted(chats, right)
    others: dict[str, Changes] = {"worse": ((proposer, "right", 0),), "rotation": ((proposer, "right", other),)}
    found = run(main, proposer, monkeypatch, others)
    assert found is not None
    assert (found.per_pass, found.misread) == (1 + right, "rotation" if told else "")
    assert DrafterExamined("/d", found.per_pass, found.misread).poor is (told or right == 0)


def test_a_slice_is_one_forward_or_one_draft(
    main: LoadedModel, chats: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message that is sent meanwhile waits for no more than that."""
    work: list[str] = []
    for owner, name in ((TokenSequence, "prefill_chunk"), (examined, "plain_round"), (Scripted, "propose")):
        noted = noting(getattr(owner, name), work)
        monkeypatch.setattr(owner, name, noted)
    draft: Any = SimpleNamespace(network=SimpleNamespace(other_readings=dict), source="scripted")
    propose_with(draft, lambda: Scripted(chats, 3), monkeypatch)
    done = [len(work) for _ in examined.examination(main, draft)]
    assert done[0] == 0
    assert max(after - before for before, after in pairwise(done)) == 1
    assert {"prefill_chunk", "plain_round", "propose"} <= set(work)


def noting(function: Any, work: list[str]) -> Any:
    def noted(*args: Any) -> Any:
        work.append(function.__name__)
        return function(*args)

    return noted


@pytest.mark.parametrize(("layers", "shifted"), [((1, 3), [(0, 2), (2, 4)]), ((0, 2), [(1, 3)])])
def test_layers_are_read_one_off_where_there_are_such(layers: tuple[int, ...], shifted: list[tuple[int, ...]]) -> None:
    parsed = drafter_config(eagle_config())
    assert isinstance(parsed, EagleConfig)
    no_main: Any = None
    network = OwnLayers(parsed, no_main, layers)
    for changes, expected in zip(network._other_layers().values(), shifted, strict=True):
        with Reading("", changes).applied():
            assert network.reads == expected
            assert network.reads_width == len(layers) * parsed.info.main_width
    assert network.reads == layers


def test_layers_that_the_main_model_does_not_have_are_not_read(
    main: LoadedModel, chats: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    proposer = Scripted(chats, 2)
    deepest = len(main.network.layers) - 1
    others: dict[str, Changes] = {"too deep": ((proposer, "layers", (deepest, deepest + 1)), (proposer, "right", 6))}
    assert run(main, proposer, monkeypatch, others) == Examined(3)


@pytest.mark.parametrize("best", ["first", "second"])
def test_of_several_better_readings_the_best_is_named(
    main: LoadedModel, chats: list[list[int]], best: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposer = Scripted(chats, 2)
    others: dict[str, Changes] = {
        name: ((proposer, "right", 6 if name == best else 4),) for name in ("first", "second")
    }
    assert run(main, proposer, monkeypatch, others) == Examined(3, best)


def test_a_reading_that_falls_behind_is_aborted(
    main: LoadedModel, chats: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    proposer = Scripted(chats, 6)
    others: dict[str, Changes] = {"worse": ((proposer, "right", 1),), "alike": ((proposer, "right", 5),)}
    assert run(main, proposer, monkeypatch, others) == Examined(7)
    assert proposer.asked == (2 * len(chats) + 1) * PLACES


def test_what_may_be_chance_is_no_better_reading() -> None:
    own = [0, 3, 1, 4, 2, 0, 5, 1, 2, 3, 0, 4] * 4
    assert examined.gain_of([each + 1 for each in own], own) == pytest.approx(1)
    assert examined.gain_of([each + (at % 24 == 0) for at, each in enumerate(own)], own) == 0  # one in 24
    assert (
        examined.gain_of([each + (4 if at % 2 else -3) for at, each in enumerate(own)], own) == 0
    )  # now more, now less


@pytest.mark.parametrize(("room", "told"), [(0, True), (-1, False)])
def test_question_and_reply_must_fit_the_context(
    main: LoadedModel, chats: list[list[int]], room: int, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    shortest = min(map(len, chats))
    narrow = replace(main, info=replace(main.info, context_tokens=shortest + room))
    assert (run(narrow, Scripted(chats, 3), monkeypatch) is not None) is told


def test_where_the_template_fails_the_bare_question_is_asked(
    main: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = replace(main, template=ChatTemplate("{{ raise_exception('none') }}", {}))
    bare = [greedy(main, main.tokenizer.encode(question)) for question in examined.QUESTIONS]
    assert run(plain, Scripted(bare, 2), monkeypatch) == Examined(3)


def test_a_drafter_that_reads_no_states_is_not_examined(main: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    class Blind(Proposer):
        name = "blind"

    assert run(main, Blind(), monkeypatch) is None
