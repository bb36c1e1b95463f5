"""What a reply's life looks like from outside: text, stop strings, cancelling, the next turn, changes of draft."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from engine import (
    ContextTooLong,
    Event,
    Failed,
    FinishReason,
    PromptFits,
    PromptProgress,
    Request,
    Sampling,
    Speculation,
)
from tests.engine.conftest import Zoo
from tests.helpers.engine_client import EngineClient
from tests.helpers.samples import sampled
from tests.helpers.tiny_models import rewrite

GREEDY = Sampling(temperature=0)
PROMPT = tuple(range(40, 80))


def request(length: int = 48, stop: tuple[str, ...] = (), speculation: Speculation | None = None) -> Request:
    return Request(
        tokens=PROMPT, sampling=GREEDY, max_tokens=length, stop=stop, speculation=speculation or Speculation.fixed(4)
    )


@pytest.mark.costly
@pytest.mark.parametrize(
    ("width", "speculation"),
    sampled([1, 2, 3, 5], {"off": Speculation.off(), "1": Speculation.fixed(1), "6": Speculation.fixed(6)}),
)
def test_stop_string_ends_the_text_right_before_it(client: EngineClient, width: int, speculation: Speculation) -> None:
    """Wherever a stop string falls in a round, accepted or not, nothing of it and nothing after it comes out."""
    whole = client.run(request(speculation=Speculation.off())).text()
    for start in range(2, 30, 9):
        stop = whole[start : start + width]
        outcome = client.run(request(stop=("never appears", stop), speculation=speculation))
        assert outcome.text() == whole[: whole.index(stop)]
        assert outcome.reason is FinishReason.STOP


def test_an_end_token_ends_the_reply_and_is_not_text(client: EngineClient, zoo: Zoo, tmp_path: Path) -> None:
    tokens = client.run(request(speculation=Speculation.off())).tokens
    end = tokens[10]
    folder = tmp_path / "ends"
    shutil.copytree(zoo.main, folder)
    rewrite(folder / "config.json", eos_token_id=[257, end])
    client.load(folder, zoo.drafts["itself"])

    outcome = client.run(request(speculation=Speculation.fixed(8)))

    assert outcome.reason is FinishReason.STOP
    assert outcome.tokens == tokens[: tokens.index(end) + 1]
    assert outcome.stats.generated_tokens == len(outcome.tokens)


def test_length_is_exact_whatever_the_draft(client: EngineClient, zoo: Zoo) -> None:
    client.set_draft(zoo.drafts["itself"])
    for length in (1, 2, 5, 6, 7, 11):
        outcome = client.run(request(length=length, speculation=Speculation.fixed(5)))
        assert len(outcome.tokens) == length
        assert outcome.reason is FinishReason.LENGTH


def test_prompt_progress_grows_to_the_whole_prompt(client: EngineClient) -> None:
    prompt = tuple(34 + n % 160 for n in range(800))
    events = client.run(Request(tokens=prompt, sampling=GREEDY, max_tokens=1)).events
    done = [event.done_tokens for event in events if isinstance(event, PromptProgress)]

    assert done == sorted(done)
    assert done[-1] == 799  # the last token is read by the first round
    assert max(later - earlier for earlier, later in pairwise(done)) <= 512


@pytest.mark.parametrize(("room", "begun"), [(197, [PromptFits, PromptProgress]), (196, [PromptProgress]), (180, [])])
def test_a_prompt_with_fewer_bytes_than_there_is_room_is_told_to_fit(
    client: EngineClient, room: int, begun: list[type[Event]]
) -> None:
    """By a margin: it may have a few tokens more than bytes. Here it has as many."""
    asked = Request(text="a draft model, 1/3 " * 9 + "and so on", context_tokens=room, max_tokens=1)
    kinds = [type(event) for event in client.run(asked).events]
    assert list(dict.fromkeys(kind for kind in kinds if kind in (PromptFits, PromptProgress))) == begun


def test_a_chat_has_no_more_context_than_it_was_given(client: EngineClient) -> None:
    """As if the model held no more; and never more than it holds."""
    asked = replace(request(), max_tokens=None, context_tokens=len(PROMPT) + 12)
    ended = client.run(asked)
    assert ended.reason is FinishReason.CONTEXT
    assert len(ended.tokens) == 12
    assert ended.stats.context_limit_tokens == len(PROMPT) + 12
    assert client.run(replace(request(length=3), context_tokens=10**9)).stats.context_limit_tokens == 2048
    failed = client.run(replace(request(length=3), context_tokens=len(PROMPT))).events[-1]
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, ContextTooLong)
    assert failed.error.limit_tokens == len(PROMPT)
