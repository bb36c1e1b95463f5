"""Two engines in one process, each with its own thread and model: neither notices the other."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

from engine import Engine, ModelReady, Request, Sampling, Speculation
from tests.helpers.engine_client import EngineClient, Outcome
from tests.helpers.tiny_families import FAMILIES, save_family
from tests.helpers.tiny_models import VOCABULARY

LAYERS = 24  # so many that two forwards are under way at the same time
CHATS = [tuple([*range(40, 52), *range(60 + salt, 68 + salt)] * 3) for salt in (0, 20)]
REPLIES = 2
WORDS = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of so few words that lookup finds something to draft all the time, right or wrong."""
    folder = tmp_path_factory.mktemp("deep")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(FAMILIES, "deep", FAMILIES["hybrid"] | {"num_hidden_layers": LAYERS})
        save_family("deep", folder)
    weights: Any = mx.load(str(folder / "model.safetensors"))
    weights["lm_head.weight"] *= (mx.arange(VOCABULARY) < WORDS)[:, None]
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "mlx"})
    return folder


def write(folder: Path, chat: tuple[int, ...], tokens: int, together: threading.Barrier, told: list[Outcome]) -> None:
    engine = Engine()
    client = EngineClient(engine)
    assert isinstance(client.load(folder), ModelReady)
    together.wait(60)
    asked = Request(tokens=chat, sampling=Sampling(temperature=0), max_tokens=tokens, speculation=Speculation.fixed(6))
    told.extend(client.run(asked) for _ in range(REPLIES if together.parties > 1 else 1))
    assert engine.close()


def replies(folder: Path, tokens: int, *chats: tuple[int, ...]) -> list[list[Outcome]]:
    """Of one engine a chat, all at the same time."""
    together = threading.Barrier(len(chats))
    told: list[list[Outcome]] = [[] for _ in chats]
    threads = [
        threading.Thread(target=write, args=(folder, chat, tokens, together, outcomes))
        for chat, outcomes in zip(chats, told, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


@pytest.mark.slow
@pytest.mark.parametrize("tokens", [40, pytest.param(100, marks=pytest.mark.drill)])
def test_two_engines_write_what_each_writes_alone(folder: Path, tokens: int) -> None:
    """Both roll back a deep hybrid all the time."""
    alone = [replies(folder, tokens, chat)[0] for chat in CHATS]
    both = replies(folder, tokens, *CHATS)
    for mine, other in zip(alone, both, strict=True):
        assert [outcome.tokens for outcome in other] == [mine[0].tokens] * REPLIES
        assert any(0 < outcome.stats.accepted < outcome.stats.drafted for outcome in other)
