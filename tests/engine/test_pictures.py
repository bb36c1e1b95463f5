"""Pictures in prompts: with any draft, in any company and from any kept cache, the text is plain decoding's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

from engine import (
    CannotSee,
    Engine,
    Message,
    MessageRole,
    ModelReady,
    Picture,
    Request,
    Sampling,
    SightRefusal,
    Speculation,
    inspect_model,
)
from engine.caches.hooks import hooked
from engine.decoding import sequence as sequences
from engine.decoding.text import prompt_tokens
from engine.models.loading import load_model
from engine.vision.seeing import View
from engine.vision.values import FIRST_NAME, without_names
from tests.helpers import tiny_drafters
from tests.helpers.engine_client import EngineClient, Outcome
from tests.helpers.tiny_eyes import (
    CONFIGS,
    PLACEHOLDER,
    as_picture,
    asked,
    picture,
    save_seeing,
    save_text_draft,
)

GREEDY = Sampling(temperature=0, logit_bias=((257, -100.0),))
HOT = Sampling(temperature=3.0, seed=5, logit_bias=((257, -100.0),))
SMALL, WIDE = picture(40, 30), picture(90, 20, seed=1)
SHORT = (asked("What is it?", SMALL),)
CHAT = (
    asked("Compare these, one by one, and say what is to be seen on each of them.", SMALL, WIDE),
    Message(MessageRole.ASSISTANT, "Two of them."),
    asked("", WIDE),
)
PLAIN = Speculation.off()


def asking(
    messages: tuple[Message, ...], speculation: Speculation = PLAIN, sampling: Sampling = GREEDY, tokens: int = 20
) -> Request:
    return Request(messages=messages, sampling=sampling, max_tokens=tokens, speculation=speculation, trace=True)


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("eyes")
    return {kind: save_seeing(kind, folder / kind) for kind in CONFIGS}


@pytest.fixture(scope="module", params=CONFIGS)
def main(seeing: dict[str, Path], request: pytest.FixtureRequest) -> Path:
    return seeing[request.param]


@pytest.fixture(scope="module")
def client(main: Path) -> Iterator[EngineClient]:
    engine = Engine()
    client = EngineClient(engine)
    assert isinstance(client.load(main), ModelReady)
    yield client
    assert engine.close()


@pytest.fixture(scope="module")
def plain(client: EngineClient) -> dict[tuple[str, str], Outcome]:
    """By chat and sampling; of a cache of their own, as `transient` has it."""
    return {
        (chat, name): client.run(replace(asking(messages, sampling=sampling), transient=True))
        for chat, messages in {"short": SHORT, "long": CHAT}.items()
        for name, sampling in {"greedy": GREEDY, "hot": HOT}.items()
    }


def test_what_is_seen_counts(client: EngineClient, plain: dict[tuple[str, str], Outcome]) -> None:
    others = [client.run(replace(asking((asked("What is it?", picture(40, 30, seed)),)), transient=True)) for seed in (2, 3)]
    assert len({plain["short", "greedy"].tokens, *(each.tokens for each in others)}) == 3


DRAFTS = ["draft", "dflash", "eagle3", "lookup"]


@pytest.mark.parametrize("drafted", [1, 4])
@pytest.mark.parametrize("kind", DRAFTS)
def test_no_text_depends_on_what_drafts(
    main: Path, client: EngineClient, plain: dict[tuple[str, str], Outcome], kind: str, drafted: int, tmp_path: Path
) -> None:
    draft = None
    if kind == "draft":
        draft = save_text_draft(main, tmp_path / "draft")
    elif kind != "lookup":
        draft = tiny_drafters.save(kind, tmp_path / kind)
    client.set_draft(draft)
    for (chat, sampling), expected in plain.items():
        messages = SHORT if chat == "short" else CHAT
        asked_for = asking(messages, Speculation.fixed(drafted), GREEDY if sampling == "greedy" else HOT)
        outcome = client.run(asked_for)
        assert outcome.tokens == expected.tokens, (chat, sampling)
        if kind != "lookup":
            assert outcome.stats.drafted
    client.set_draft(None)
