"""Cancelling a reply at every point of its life: it ends within one step, and nobody else notices."""

from __future__ import annotations

import pytest

from engine import FinishReason, PromptProgress, Request, Speculation
from tests.engine.batch_harness import GREEDY, Harness, Recorder, alone, asking, draft, model, prompt
from tests.helpers.samples import sampled

FAMILIES = ["qwen3", "qwen3_5", "llama4"]  # rows, states, and one that runs in turns
LENGTH = 7
CHUNK = 64


def cancelled_after(
    harness: Harness, requests: list[Request], cancelled: int, steps: int
) -> tuple[list[Recorder], bool]:
    """All of them submitted, and one cancelled after so many steps; whether it was still under way then."""
    heard = [harness.submit(request) for request in requests]
    for _ in range(steps):
        harness.scheduler.step()
    under_way = not heard[cancelled].ended
    harness.scheduler.cancel(heard[cancelled].queued.id)
    harness.scheduler.step()
    assert heard[cancelled].ended
    return heard, under_way


def check_part(family: str, part: Recorder, request: Request, *, under_way: bool) -> None:
    whole = alone(family, request)
    assert len(part.terminal) == 1
    assert part.tokens == whole.tokens[: len(part.tokens)]
    assert whole.text.startswith(part.text)
    assert part.finished.reason is (FinishReason.CANCELLED if under_way else whole.finished.reason)


@pytest.mark.costly
@pytest.mark.usefixtures("short_chunks")
@pytest.mark.parametrize(
    ("family", "speculation"), sampled(FAMILIES, {"off": Speculation.off(), "fixed": Speculation.fixed(3)})
)
def test_a_reply_by_itself_ends_within_one_step(family: str, speculation: Speculation) -> None:
    """Waiting, reading, before its first round, between rounds, with a step in flight; then the chat goes on."""
    request = asking(prompt(CHUNK + 40), LENGTH, GREEDY, speculation)
    harness, steps, under_way = Harness(model(family), draft()), 0, True
    while under_way:
        (heard,), under_way = cancelled_after(harness, [request], 0, steps)
        check_part(family, heard, request, under_way=under_way)
        further = asking([*request.tokens, *heard.tokens, 5], 4, GREEDY, speculation)
        again = harness.submit(further)
        harness.run_dry()
        assert again.tokens == alone(family, further).tokens
        steps += 1
    assert steps > 4


@pytest.mark.usefixtures("short_chunks")
def test_what_was_read_of_a_prompt_is_kept_however_often_it_is_cancelled() -> None:
    request, reached = asking(prompt(4 * CHUNK), 3), 0
    harness = Harness(model("qwen3"))
    for _ in range(2):
        heard = harness.submit(request)
        while progress(heard, after=reached) is None:
            harness.scheduler.step()
        harness.scheduler.cancel(heard.queued.id)
        harness.run_dry()
        reached = progress(heard, after=reached) or 0
    again = harness.submit(request)
    harness.run_dry()
    assert again.finished.stats.cached_tokens >= reached >= 2 * CHUNK
    assert again.tokens == alone("qwen3", request).tokens


def progress(heard: Recorder, after: int) -> int | None:
    """How far its prompt is read, once that is further."""
    done = [event.done_tokens for event in heard.events if isinstance(event, PromptProgress)]
    return done[-1] if done and done[-1] > after else None
