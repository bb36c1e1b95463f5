"""A chat that no longer fits: its first token after a cut, beside a cold prompt as long as half of the context."""

from __future__ import annotations

import statistics
from dataclasses import replace

from engine import Message, MessageRole, PromptTruncated, Request, Sampling, Speculation, Truncation
from tests.bench.rows import Measure, Row
from tests.bench.setup import BenchSetup
from tests.helpers.engine_client import EngineClient

LIMIT = 1024


def first_token_after_cut(setup: BenchSetup, runs: int) -> Row:
    """The beginning differs in each run, so that nothing is cached."""
    client = EngineClient(setup.ours.engine)
    rounds = [_round(client, setup, number) for number in range(runs + 1)][1:]
    cut, cold = (statistics.median(seconds) for seconds in zip(*rounds, strict=True))
    detail = f"{1e3 * cut:.0f} / {1e3 * cold:.0f} ms to the first token"
    return Row("engine.first_token_after_cut", cut / cold, "ratio", "≤ 1.5", detail, [a / b for a, b in rounds])


def _round(client: EngineClient, setup: BenchSetup, number: int) -> tuple[float, float]:
    chat = [Message(MessageRole.SYSTEM, f"{number} times.")]
    for question, answer in setup.questions(33):
        chat += [Message(MessageRole.USER, question), Message(MessageRole.ASSISTANT, answer)]
    whole = Request(
        messages=(*chat, chat[1]),
        sampling=Sampling(temperature=0),
        speculation=Speculation.off(),
        max_tokens=1,
        context_tokens=LIMIT,
        truncation=Truncation.OLDEST,
    )
    cut = client.run(whole)
    first = next(event.first for event in cut.events if isinstance(event, PromptTruncated))
    other = Message(MessageRole.SYSTEM, f"Now {number} times.")
    cold = client.run(replace(whole, messages=(other, *whole.messages[first:])))
    return cut.stats.first_token_s, cold.stats.first_token_s


LONG_CHATS: tuple[Measure, ...] = (first_token_after_cut,)
