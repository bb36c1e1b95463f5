"""Chats that begin alike, as those of a project do: the second takes that from what the first has left."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import Engine, Message, MessageRole, ModelReady, Request, Sampling, Speculation
from tests.helpers.engine_client import EngineClient, Outcome
from tests.helpers.samples import fair
from tests.helpers.tiny_families import FAMILIES, STATE_SPACE, WINDOW, save_family

SHARED = " ".join(f"Of {number} teas number {number * 7 % 31} is the one we sell." for number in range(20))
LEAST_SHARE = 0.95
REPLY_TOKENS = 3 * WINDOW  # more than a window forgets by trimming
LONG = "Tell me all of it. " * 55  # longer than what is shared: the first chat keeps its cache


@pytest.fixture(scope="module", params=fair(FAMILIES | STATE_SPACE, "window", "hybrid"))
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_family(request.param, tmp_path_factory.mktemp(request.param))


def asked(question: str, own: str = "") -> Request:
    """A chat of the project, with a system prompt of its own after what is shared."""
    system = Message(MessageRole.SYSTEM, "\n\n".join(filter(None, (SHARED, own))))
    return Request(
        messages=(system, Message(MessageRole.USER, question)),
        shared_characters=len(SHARED),
        sampling=Sampling(temperature=0),
        speculation=Speculation.fixed(3),
        max_tokens=REPLY_TOKENS,
    )


def told(folder: Path, caches: Path | None, *requests: Request, draft: Path | None = None) -> list[Outcome]:
    """One after the other in one run of an engine."""
    engine = Engine(caches)
    client = EngineClient(engine)
    assert isinstance(client.load(folder, draft), ModelReady)
    outcomes = [client.run(request) for request in requests]
    assert engine.close()
    return outcomes


def assert_shared(warm: Outcome, cold: Outcome) -> None:
    assert cold.stats.cached_tokens == 0
    assert warm.stats.cached_tokens >= LEAST_SHARE * len(SHARED.encode())
    assert warm.tokens == cold.tokens
    assert len(set(warm.tokens)) > 2, "a text that repeats one token proves nothing"


@pytest.mark.costly
@pytest.mark.parametrize("first", ["How?", LONG], ids=["short", "long"])
@pytest.mark.parametrize("own", ["", "Answer in verse."], ids=["shared", "own"])
def test_the_second_chat_reads_the_beginning_from_the_first(folder: Path, first: str, own: str) -> None:
    """Whether the first chat gives its cache up or keeps it; twice, so that the second leaves it to a third."""
    second, third = asked("And why?", own), asked("Since when?")
    (cold,) = told(folder, None, second)
    (cold_third,) = told(folder, None, third)

    _, warm, warm_third = told(folder, None, asked(first), second, third)

    assert_shared(warm, cold)
    assert_shared(warm_third, cold_third)


def test_it_outlasts_a_restart(folder: Path, tmp_path: Path) -> None:
    second = asked("And why?", "Answer in verse.")
    (cold,) = told(folder, None, second)
    told(folder, tmp_path, asked("How?"))

    (warm,) = told(folder, tmp_path, second)

    assert_shared(warm, cold)


def test_a_draft_changes_no_token_of_it(folder: Path) -> None:
    second = asked("And why?")
    (cold,) = told(folder, None, second)

    _, warm = told(folder, None, asked(LONG), second, draft=folder)

    assert_shared(warm, cold)


def test_the_first_chat_goes_on_as_if_there_were_no_other(folder: Path) -> None:
    first = asked(LONG)
    begun, _, again = told(folder, None, first, asked("And why?"), first)
    assert again.tokens == begun.tokens
    assert again.stats.cached_tokens >= again.stats.prompt_tokens - len("<|im_start|>assistant\n")
