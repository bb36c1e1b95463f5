"""The drafters that were trained for the starter's main model, and chats to ask it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine import Engine, Finished, Message, MessageRole, ModelReady, Request, Sampling, Speculation
from tests.helpers.engine_client import EngineClient

STARTER = Path(__file__).parents[2] / "resources" / "starter"
MAIN = STARTER / "main"
DRAFTERS = ("dflash", "eagle3", "mtp")  # their folders, too
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


@dataclass(frozen=True)
class Told:
    text: str
    end: Finished


def opened(drafter: str, kept: Path | None = None) -> EngineClient:
    client = EngineClient(Engine(kept))
    load(client, drafter)
    return client


def load(client: EngineClient, drafter: str) -> None:
    """Anew, without any cache in memory."""
    assert isinstance(client.load(MAIN, STARTER / drafter), ModelReady)


def asked(chat: Chat, sampling: Sampling = GREEDY, *, drafts: bool = True) -> Request:
    roles = (MessageRole.USER, MessageRole.ASSISTANT)
    messages = tuple(Message(roles[turn % 2], text) for turn, text in enumerate(chat))
    speculation = Speculation.fixed(DRAFTED) if drafts else Speculation.off()
    return Request(messages=messages, sampling=sampling, speculation=speculation, max_tokens=120)


def tell(client: EngineClient, chat: Chat, sampling: Sampling = GREEDY) -> Told:
    outcome = client.run(asked(chat, sampling))
    return Told(outcome.text(), outcome.finished)


def per_pass(*told: Told) -> float:
    """Over the rounds that can draft: the first of a reply cannot."""
    stats = [each.end.stats for each in told]
    return sum(each.generated_tokens - 1 for each in stats) / sum(each.rounds - 1 for each in stats)
