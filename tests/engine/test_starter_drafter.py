"""The drafters that were trained for the starter's main model: that each drafts well, in a second turn too.

Scores by language: evaluate.py. The same of every kind of drafter, with random weights: test_drafters.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from engine import (
    Engine,
    Finished,
    Message,
    MessageRole,
    ModelReady,
    Request,
    Sampling,
    Speculation,
    inspect_model,
)
from engine.drafting.proposers.features import Context
from tests.helpers.engine_client import EngineClient

MOST_BYTES = 1_500_000
STARTER = Path(__file__).parents[2] / "resources" / "starter"
DRAFTERS = ("dflash", "eagle3", "mtp")  # their folders, too
DRAFTED = 7
QUESTIONS = ("What is speculative decoding?", "返事を途中で止めるには？")
COMPANY = (
    *QUESTIONS,
    "How do I stop a reply?",
    "초안 모델이 뭐예요?",
    "Where are my chats stored?",
)
LEAST_PER_PASS = 3.0
SAME = 0.98

Chat = tuple[str, ...]  # questions and replies by turns


@dataclass(frozen=True)
class Told:
    text: str
    end: Finished


def load(client: EngineClient, drafter: str) -> None:
    """Anew, without any cache in memory."""
    assert isinstance(client.load(STARTER / "main", STARTER / drafter), ModelReady)


def asked(chat: Chat, *, drafts: bool = True) -> Request:
    roles = (MessageRole.USER, MessageRole.ASSISTANT)
    messages = tuple(Message(roles[turn % 2], text) for turn, text in enumerate(chat))
    speculation = Speculation.fixed(DRAFTED) if drafts else Speculation.off()
    return Request(messages=messages, sampling=Sampling(temperature=0), speculation=speculation, max_tokens=120)


def tell(client: EngineClient, chat: Chat) -> Told:
    outcome = client.run(asked(chat))
    return Told(outcome.text(), outcome.finished)


def per_pass(*told: Told) -> float:
    """Over the rounds that can draft: the first of a reply cannot."""
    stats = [each.end.stats for each in told]
    return sum(each.generated_tokens - 1 for each in stats) / sum(each.rounds - 1 for each in stats)


@pytest.fixture(scope="module")
def client() -> Iterator[EngineClient]:
    client = EngineClient(Engine())
    yield client
    assert client.engine.close()


@pytest.mark.parametrize("name", DRAFTERS)
def test_it_is_small_and_a_drafter(name: str) -> None:
    assert sum(file.stat().st_size for file in (STARTER / name).iterdir()) <= MOST_BYTES
    drafter = inspect_model(STARTER / name).drafter
    assert drafter is not None
    assert drafter.kind == name


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAFTERS)
def test_it_drafts_well_in_both_turns_and_behind_an_edit_and_no_token_depends_on_it(
    client: EngineClient, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(Context, "read_again", lambda *_: pytest.fail("states were missing"))
    load(client, name)
    first = tell(client, QUESTIONS[:1])
    chat = (QUESTIONS[0], first.text, QUESTIONS[1])
    second = tell(client, chat)
    assert second.end.stats.cached_tokens >= first.end.stats.context_tokens - 1
    assert [first.end.tokens, second.end.tokens] == [plain(client, each) for each in (QUESTIONS[:1], chat)]
    assert {told.end.stats.proposer for told in (first, second)} == {name}
    assert per_pass(first, second) >= LEAST_PER_PASS
    other = (*chat[:2], QUESTIONS[1][:-1] + "。")
    edited = tell(client, other)
    assert edited.end.stats.cached_tokens
    load(client, name)
    assert per_pass(second) >= SAME * per_pass(tell(client, chat))
    assert per_pass(edited) >= SAME * per_pass(tell(client, other))


@cache
def plain(client: EngineClient, chat: Chat) -> tuple[int, ...]:
    return client.run(asked(chat, drafts=False)).tokens


@pytest.mark.parametrize("name", DRAFTERS)
def test_it_drafts_well_in_company(client: EngineClient, name: str) -> None:
    """Replies of several lengths, of which some end while others go on; no token depends on the draft."""
    load(client, name)
    requests = [
        replace(asked((question,)), sampling=Sampling(temperature=temperature, seed=3), max_tokens=tokens)
        for question, temperature, tokens in zip(COMPANY, (0, 0.7, 0, 0.7, 0), (90, 60, 120, 90, 30), strict=True)
    ]
    together = client.run_all(requests)
    without = [client.run(replace(request, speculation=Speculation.off())) for request in requests]
    assert [each.tokens for each in together] == [each.tokens for each in without]
    assert {each.stats.proposer for each in together} == {name}
    assert per_pass(*(Told(each.text(), each.finished) for each in together)) >= LEAST_PER_PASS
