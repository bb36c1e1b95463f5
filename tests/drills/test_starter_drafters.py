"""Each drafter of the starter in every company: sampled, edited, regenerated, restarted, beside another reply.

Everywhere the reply is that of an engine that has read nothing before, and is drafted as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import Sampling
from engine.drafting.proposers.features import Context
from tests.helpers.engine_client import EngineClient
from tests.helpers.starter_drafters import (
    DRAFTERS,
    GREEDY,
    LEAST_PER_PASS,
    QUESTIONS,
    SAME,
    WARM,
    Chat,
    Told,
    asked,
    load,
    opened,
    per_pass,
    tell,
)

WORN = 0.9  # of the tokens per pass in first turns: a longer chat is harder
pytestmark = pytest.mark.drill


@pytest.fixture(scope="module", params=DRAFTERS)
def shared(request: pytest.FixtureRequest) -> Iterator[tuple[str, EngineClient, EngineClient]]:
    name: str = request.param
    clients = opened(name), opened(name)
    yield name, *clients
    assert all(client.engine.close() for client in clients)


@pytest.fixture
def name(shared: tuple[str, EngineClient, EngineClient]) -> str:
    return shared[0]


@pytest.fixture
def client(shared: tuple[str, EngineClient, EngineClient]) -> EngineClient:
    load(shared[1], shared[0])
    return shared[1]


@pytest.fixture
def other(shared: tuple[str, EngineClient, EngineClient]) -> EngineClient:
    return shared[2]


@pytest.fixture
def nothing_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No state has to be made again."""
    monkeypatch.setattr(Context, "read_again", lambda *_: pytest.fail("states were missing"))


def check(name: str, client: EngineClient, other: EngineClient, chat: Chat, sampling: Sampling = GREEDY) -> Told:
    """The same reply as from an engine that has read nothing before, and drafted as well."""
    load(other, name)
    told, fresh = tell(client, chat, sampling), tell(other, chat, sampling)
    assert not fresh.end.stats.cached_tokens
    assert told.end.tokens == fresh.end.tokens
    assert per_pass(told) >= SAME * per_pass(fresh)
    return told


@pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "0.8"])
def test_no_token_depends_on_it_and_most_of_its_own_stand(name: str, client: EngineClient, sampling: Sampling) -> None:
    drafted = [tell(client, (question,), sampling) for question in QUESTIONS]
    plain = [client.run(asked((question,), sampling, drafts=False)).tokens for question in QUESTIONS]
    assert [told.end.tokens for told in drafted] == plain
    assert {told.end.stats.proposer for told in drafted} == {name}
    assert per_pass(*drafted) >= LEAST_PER_PASS


@pytest.mark.usefixtures("nothing_is_missing")
def test_a_second_turn_drafts_as_well_as_the_first(name: str, client: EngineClient, other: EngineClient) -> None:
    firsts, seconds = [], []
    for at, question in enumerate(QUESTIONS):
        firsts.append(tell(client, (question,)))
        seconds.append(check(name, client, other, (question, firsts[-1].text, QUESTIONS[at - 1])))
    for first, second in zip(firsts, seconds, strict=True):
        assert second.end.stats.cached_tokens >= first.end.stats.context_tokens - 1
    assert per_pass(*seconds) >= WORN * per_pass(*firsts)


@pytest.mark.usefixtures("nothing_is_missing")
def test_so_it_does_behind_a_restart(name: str, other: EngineClient, tmp_path: Path) -> None:
    before = opened(name, tmp_path)
    first = tell(before, QUESTIONS[:1])
    assert before.engine.close()
    after = opened(name, tmp_path)
    second = check(name, after, other, (QUESTIONS[0], first.text, QUESTIONS[1]))
    assert after.engine.close()
    assert second.end.stats.cached_tokens >= first.end.stats.context_tokens - 1


@pytest.mark.usefixtures("nothing_is_missing")
def test_an_edited_and_a_regenerated_reply_draft_as_well(name: str, client: EngineClient, other: EngineClient) -> None:
    question = "Please tell me in a few plain words: what is speculative decoding, and what is it good for?"
    check(name, client, other, (question,))
    check(name, client, other, (question,), WARM)
    check(name, client, other, (question[:-1] + " here?",))
    check(name, client, other, ("Hello! " + question,))


@pytest.mark.usefixtures("nothing_is_missing")
def test_after_two_replies_at_once_both_chats_draft_as_well(
    name: str, client: EngineClient, other: EngineClient
) -> None:
    firsts = client.run_all([asked((question,)) for question in QUESTIONS[:2]])
    assert any(end.stats.shared_rounds for end in firsts)
    for question, end in zip(QUESTIONS[:2], firsts, strict=True):
        text = tell(other, (question,)).text
        second = check(name, client, other, (question, text, QUESTIONS[2]))
        assert second.end.stats.cached_tokens >= end.stats.context_tokens - 1
