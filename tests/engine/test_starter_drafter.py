"""The drafters that were trained for the starter's main model: that each drafts well, in a second turn too.

In every company: tests/drills/test_starter_drafters.py. Scores by language: evaluate.py. The same of every kind of
drafter, with random weights: test_drafters.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from engine import inspect_model
from engine.drafting.proposers.features import Context
from tests.helpers.engine_client import EngineClient
from tests.helpers.starter_drafters import (
    DRAFTERS,
    LEAST_PER_PASS,
    QUESTIONS,
    SAME,
    STARTER,
    Chat,
    asked,
    load,
    opened,
    per_pass,
    tell,
)

MOST_BYTES = 1_500_000


@pytest.fixture(scope="module")
def client() -> Iterator[EngineClient]:
    client = opened("dflash")
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
    chat = (QUESTIONS[0], first.text, QUESTIONS[2])
    second = tell(client, chat)
    assert second.end.stats.cached_tokens >= first.end.stats.context_tokens - 1
    assert [first.end.tokens, second.end.tokens] == [plain(client, each) for each in (QUESTIONS[:1], chat)]
    assert {told.end.stats.proposer for told in (first, second)} == {name}
    assert per_pass(first, second) >= LEAST_PER_PASS
    other = (*chat[:2], QUESTIONS[2][:-1] + "。")
    edited = tell(client, other)
    assert edited.end.stats.cached_tokens
    load(client, name)
    assert per_pass(second) >= SAME * per_pass(tell(client, chat))
    assert per_pass(edited) >= SAME * per_pass(tell(client, other))


@cache
def plain(client: EngineClient, chat: Chat) -> tuple[int, ...]:
    return client.run(asked(chat, drafts=False)).tokens
