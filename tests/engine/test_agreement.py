"""How often a drafter is right, by a scripted one whose right and wrong guesses are counted beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import mlx.core as mx
import pytest

from engine import Message, MessageRole, Request
from engine.decoding.accept import Draft
from engine.decoding.sampling import Sampler
from engine.decoding.text import prompt_tokens
from engine.drafting import agreement as examined
from engine.drafting.plans import Offer, Plan
from engine.models.loading import LoadedModel, load_model
from engine.models.templates import ChatTemplate
from tests.engine.conftest import Zoo

WRITTEN = 48
Asked = tuple[list[int], list[int]]


@pytest.fixture(scope="module")
def main(zoo: Zoo) -> LoadedModel:
    return load_model(zoo.main)


def question(main: LoadedModel) -> list[int]:
    message = Message(MessageRole.USER, examined._QUESTION)
    return prompt_tokens(Request(messages=(message,)), main)


def greedy(main: LoadedModel, prompt: Sequence[int], count: int) -> list[int]:
    """As plain as can be: all is read again for each token."""
    tokens = list(prompt)
    for _ in range(count):
        tokens.append(int(mx.argmax(main.network(mx.array([tokens]))[0, -1]).item()))  # type: ignore[arg-type]
    return tokens[len(prompt) :]


@pytest.fixture(scope="module")
def asked(main: LoadedModel) -> Asked:
    """The prompt, and the main model's reply to it."""
    prompt = question(main)
    reply = greedy(main, prompt, WRITTEN)
    assert main.ends.isdisjoint(reply)
    assert len(set(reply)) > 8
    return prompt, reply


@dataclass
class Scripted:
    """Says the reply's next token, or another where `wrong` holds its place in the reply."""

    prompt: list[int]
    reply: list[int]
    wrong: set[int]
    silent: set[int] = field(default_factory=set)
    drafts: int = 1
    name = "scripted"
    layers = (0, 1)
    committed: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)

    def receive_states(self, position: int, states: mx.array) -> None:
        assert states.shape[1] == 2 * 64
        self.rows += range(position, position + states.shape[0])

    def offer(self, tokens: Sequence[int]) -> Offer:
        assert list(tokens) == self.prompt + self.reply[: len(self.committed)]
        assert self.rows == list(range(len(tokens) - 1))  # of all tokens but the newest
        return Offer(self.name, 0 if len(self.committed) in self.silent else 1)

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Draft:
        assert plan == Plan(self.name, 1)
        place = len(self.committed)
        return Draft(mx.array([self.reply[place] + (place in self.wrong)] + [7] * (self.drafts - 1)))

    def commit(self, emitted: Sequence[int]) -> None:
        self.committed += emitted

    def close(self) -> None:
        pass


def run(main: LoadedModel, proposer: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[float | None, int]:
    """The share, and in how many slices it was found."""
    monkeypatch.setattr(examined, "proposer_of", lambda *_: proposer)
    slices, work = 0, examined.agreement(main, main)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value, slices
        slices += 1


@pytest.mark.parametrize(
    ("wrong", "share"), [(set(), 1.0), (set(range(WRITTEN)), 0.0), (set(range(0, WRITTEN, 3)), 32 / 48)]
)
def test_it_is_the_share_of_the_main_models_own_next_tokens(
    main: LoadedModel, asked: Asked, wrong: set[int], share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a greedy reply of 48 tokens, in slices of a forward each: the prompt, then two a token."""
    proposer = Scripted(*asked, wrong)
    found, slices = run(main, proposer, monkeypatch)
    assert found == pytest.approx(share)
    assert slices == 1 + 2 * WRITTEN
    assert proposer.committed == asked[1]


def test_only_the_first_token_of_a_draft_counts(
    main: LoadedModel, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposer = Scripted(*asked, {4}, drafts=3)
    assert run(main, proposer, monkeypatch)[0] == pytest.approx(47 / 48)


@pytest.mark.parametrize(("said", "share"), [(16, 0.75), (15, None)])
def test_fewer_than_sixteen_tokens_say_too_little(
    main: LoadedModel, asked: Asked, said: int, share: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A drafter may begin late, and the reply may end early: behind its end nothing is guessed."""
    prompt, reply = asked
    at = next(place for place in range(20, WRITTEN) if reply[place] not in reply[:place])
    ending = replace(main, tokenizer=SimpleNamespace(**vars(main.tokenizer), eos_token_ids={reply[at]}))
    monkeypatch.setattr(examined, "prompt_tokens", lambda *_: prompt)
    last = set(range(at + 1 - said, at + 1 - said + 4))
    proposer = Scripted(prompt, reply, last, silent=set(range(at + 1 - said)))
    assert run(ending, proposer, monkeypatch)[0] == share
    assert proposer.committed == reply[: at + 1]


@pytest.mark.parametrize(("room", "told"), [(0, True), (-1, False)])
def test_question_and_reply_must_fit_the_context(
    main: LoadedModel, asked: Asked, room: int, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow = replace(main, info=replace(main.info, context_tokens=len(asked[0]) + WRITTEN + room))
    share, slices = run(narrow, Scripted(*asked, set()), monkeypatch)
    assert (share is not None, slices > 0) == (told, told)


def test_where_the_template_fails_the_bare_question_is_asked(
    main: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = replace(main, template=ChatTemplate("{{ raise_exception('none') }}", {}))
    prompt = main.tokenizer.encode(examined._QUESTION)
    assert prompt != question(main)
    assert run(plain, Scripted(prompt, greedy(main, prompt, WRITTEN), set()), monkeypatch)[0] == 1


@pytest.mark.parametrize("tokens", [[], [65]])
def test_a_question_of_one_token_tells_nothing(
    main: LoadedModel, tokens: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examined, "prompt_tokens", lambda *_: tokens)
    assert run(main, Scripted(tokens, [], set()), monkeypatch) == (None, 0)


def test_two_tokens_are_enough(main: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    prompt = [65, 66]
    monkeypatch.setattr(examined, "prompt_tokens", lambda *_: prompt)
    assert run(main, Scripted(prompt, greedy(main, prompt, WRITTEN), set()), monkeypatch) == (1, 1 + 2 * WRITTEN)


def test_a_drafter_that_reads_no_states_is_not_examined(main: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    class Blind:
        name = "blind"

    assert run(main, Blind(), monkeypatch) == (None, 0)
