"""The drafter that was trained for the starter's main model: that it drafts well, in every turn and every company.

Its score by language: evaluate.py. The same of every kind of drafter, with random weights: test_drafters.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine import Engine, Finished, Message, MessageRole, ModelFailed, ModelReady, Request, Sampling, Speculation
from engine.api.errors import DrafterDoesNotFit
from engine.api.types import DrafterKind
from engine.drafting.proposers.features import Context
from engine.models.inspect import inspect_model
from tests.helpers.engine_client import EngineClient
from tests.helpers.tiny_families import save_family

STARTER = Path(__file__).parents[2] / "resources" / "starter"
MAIN, DRAFTER = STARTER / "main", STARTER / "dflash"
MOST_BYTES = 1_500_000
DRAFTED = 7
GREEDY = Sampling(temperature=0)
WARM = Sampling(temperature=0.8, seed=7)
QUESTIONS = (
    "What is speculative decoding?",
    "추측 디코딩이 뭐야?",
    "返事を途中で止めるには？",
    "什么是接受率？",
)
LEAST_PER_PASS = 3.0
SAME = 0.98

Chat = tuple[str, ...]  # questions and replies by turns


def test_it_is_small_and_a_drafter() -> None:
    assert sum(file.stat().st_size for file in DRAFTER.iterdir()) <= MOST_BYTES
    drafter = inspect_model(DRAFTER).drafter
    assert drafter is not None
    assert drafter.kind is DrafterKind.DFLASH


def opened(kept: Path | None = None) -> EngineClient:
    client = EngineClient(Engine(kept))
    assert isinstance(client.load(MAIN, DRAFTER), ModelReady)
    return client


@pytest.fixture(scope="module")
def shared() -> Iterator[tuple[EngineClient, EngineClient]]:
    clients = opened(), opened()
    yield clients
    assert all(client.engine.close() for client in clients)


@pytest.fixture
def client(shared: tuple[EngineClient, EngineClient]) -> EngineClient:
    """Without any cache."""
    shared[0].load(MAIN, DRAFTER)
    return shared[0]


@pytest.fixture
def other(shared: tuple[EngineClient, EngineClient]) -> EngineClient:
    return shared[1]


@pytest.fixture
def nothing_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No state has to be made again."""
    monkeypatch.setattr(Context, "read_again", lambda *_: pytest.fail("states were missing"))


def asked(chat: Chat, sampling: Sampling = GREEDY, *, drafts: bool = True) -> Request:
    roles = (MessageRole.USER, MessageRole.ASSISTANT)
    messages = tuple(Message(roles[turn % 2], text) for turn, text in enumerate(chat))
    speculation = Speculation.fixed(DRAFTED) if drafts else Speculation.off()
    return Request(messages=messages, sampling=sampling, speculation=speculation, max_tokens=120)


@dataclass(frozen=True)
class Told:
    text: str
    end: Finished


def tell(client: EngineClient, chat: Chat, sampling: Sampling = GREEDY) -> Told:
    outcome = client.run(asked(chat, sampling))
    return Told(outcome.text(), outcome.finished)


def per_pass(*told: Told) -> float:
    """Over the rounds that can draft: the first of a reply cannot."""
    stats = [each.end.stats for each in told]
    return sum(each.generated_tokens - 1 for each in stats) / sum(each.rounds - 1 for each in stats)


def check(client: EngineClient, other: EngineClient, chat: Chat, sampling: Sampling = GREEDY) -> Told:
    """The same reply as from an engine that has read nothing before, and drafted as well."""
    other.load(MAIN, DRAFTER)
    told, fresh = tell(client, chat, sampling), tell(other, chat, sampling)
    assert not fresh.end.stats.cached_tokens
    assert told.end.tokens == fresh.end.tokens
    assert per_pass(told) >= SAME * per_pass(fresh)
    return told


@pytest.mark.parametrize("sampling", [GREEDY, pytest.param(WARM, marks=pytest.mark.drill)], ids=["greedy", "0.8"])
def test_no_token_depends_on_it_and_most_of_its_own_stand(client: EngineClient, sampling: Sampling) -> None:
    drafted = [tell(client, (question,), sampling) for question in QUESTIONS]
    plain = [client.run(asked((question,), sampling, drafts=False)).tokens for question in QUESTIONS]
    assert [told.end.tokens for told in drafted] == plain
    assert {told.end.stats.proposer for told in drafted} == {"dflash"}
    assert per_pass(*drafted) >= LEAST_PER_PASS


@pytest.mark.usefixtures("nothing_is_missing")
def test_a_second_turn_drafts_as_well_as_the_first(client: EngineClient, other: EngineClient) -> None:
    firsts, seconds = [], []
    for at, question in enumerate(QUESTIONS[:2]):
        firsts.append(tell(client, (question,)))
        seconds.append(check(client, other, (question, firsts[-1].text, QUESTIONS[at - 1])))
    for first, second in zip(firsts, seconds, strict=True):
        assert second.end.stats.cached_tokens >= first.end.stats.context_tokens - 1
    assert per_pass(*seconds) >= SAME * per_pass(*firsts)


@pytest.mark.usefixtures("nothing_is_missing")
def test_so_it_does_behind_a_restart(other: EngineClient, tmp_path: Path) -> None:
    before = opened(tmp_path)
    first = tell(before, QUESTIONS[:1])
    assert before.engine.close()
    after = opened(tmp_path)
    second = check(after, other, (QUESTIONS[0], first.text, QUESTIONS[1]))
    assert after.engine.close()
    assert second.end.stats.cached_tokens >= first.end.stats.context_tokens - 1


@pytest.mark.usefixtures("nothing_is_missing")
def test_an_edited_and_a_regenerated_reply_draft_as_well(client: EngineClient, other: EngineClient) -> None:
    question = "Please tell me in a few plain words: what is speculative decoding, and what is it good for?"
    check(client, other, (question,))
    check(client, other, (question,), WARM)
    check(client, other, (question[:-1] + " here?",))


@pytest.mark.usefixtures("nothing_is_missing")
def test_after_two_replies_at_once_both_chats_draft_as_well(client: EngineClient, other: EngineClient) -> None:
    firsts = client.run_all([asked((question,)) for question in QUESTIONS[:2]])
    assert any(end.stats.shared_rounds for end in firsts)
    for question, end in zip(QUESTIONS[:2], firsts, strict=True):
        text = tell(other, (question,)).text
        second = check(client, other, (question, text, QUESTIONS[2]))
        assert second.end.stats.cached_tokens >= end.stats.context_tokens - 1


@pytest.mark.expect_log("could not load")
def test_another_main_model_refuses_it(tmp_path: Path) -> None:
    save_family("dense", tmp_path / "main")
    client = EngineClient(Engine())
    result = client.load(tmp_path / "main", DRAFTER)
    assert isinstance(result, ModelFailed)
    assert isinstance(result.error, DrafterDoesNotFit)
    assert client.engine.close()
