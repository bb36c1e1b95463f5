"""A prompt that is cancelled while it is read: a client's next try goes on from there, however often it gives up."""

from __future__ import annotations

from dataclasses import replace

from engine import Event, FinishReason, PromptProgress, RequestId
from tests.engine.test_background import LONG_PROMPT, asking
from tests.helpers.engine_client import EngineClient


def test_what_was_read_is_kept(client: EngineClient) -> None:
    request = replace(asking(LONG_PROMPT, length=3), background=False)
    reached = 0
    for _ in range(2):

        def cancel(number: RequestId, event: Event) -> None:
            if isinstance(event, PromptProgress) and event.done_tokens > reached:  # noqa: B023  called within the loop
                client.engine.cancel(number)

        outcome = client.run(request, cancel)
        assert outcome.reason is FinishReason.CANCELLED
        read = [event.done_tokens for event in outcome.events if isinstance(event, PromptProgress)]
        assert read[0] == reached
        reached = read[-1]
    outcome = client.run(request)
    assert outcome.stats.cached_tokens >= reached >= 1024
    assert outcome.tokens == client.run(replace(request, transient=True)).tokens
