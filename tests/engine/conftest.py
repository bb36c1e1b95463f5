"""Tiny models on disk, made once a run, and an engine that has one of the pairs loaded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine import Engine, ModelReady
from tests.helpers.engine_client import EngineClient
from tests.helpers.tiny_models import build, make_pair, noised, qwen3_config, save


@dataclass(frozen=True)
class Zoo:
    """One main model and drafts from perfect to useless."""

    main: Path
    drafts: dict[str, Path]


@pytest.fixture(scope="session")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    folder = tmp_path_factory.mktemp("zoo")
    main, close = make_pair(folder)
    config = qwen3_config()
    small = qwen3_config(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1, vocab_size=320
    )
    drafts = {
        "itself": main,
        "close": close,
        "poor": save(noised(build(config), config, noise=0.6), config, folder / "poor"),
        "other": save(build(small, seed=9), small, folder / "other"),
    }
    return Zoo(main, drafts)


@pytest.fixture(scope="module")
def shared_engine(zoo: Zoo) -> Iterator[EngineClient]:
    engine = Engine()
    client = EngineClient(engine)
    assert isinstance(client.load(zoo.main, zoo.drafts["close"]), ModelReady)
    yield client
    assert engine.close()


@pytest.fixture
def client(shared_engine: EngineClient, zoo: Zoo) -> EngineClient:
    """The shared engine with the `close` pair, whatever the last test loaded."""
    assert isinstance(shared_engine.load(zoo.main, zoo.drafts["close"]), ModelReady)
    return shared_engine
