"""Tiny models on disk, made once a run, and an engine that has one of the pairs loaded.

Engines here do without three things that they do by themselves, but in tests that use `whole_engine`: tokenizers and
templates whose content was tried before are not tried again, nothing is measured at rest, and no time limit is kept
while a model is loaded, which takes half of the load.
"""

from __future__ import annotations

import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine import Engine, ModelReady
from engine.drafting.calibration import Tuner
from engine.drafting.costs import RoundCosts
from engine.models import first_use
from engine.models.loading import LoadedModel
from engine.models.watch import watched
from tests.helpers.engine_client import EngineClient
from tests.helpers.loading import load_model
from tests.helpers.tiny_families import FAMILIES, save_family
from tests.helpers.tiny_models import build, make_pair, noised, qwen3_config, save, save_small

WIDTH = 384  # of the thinkers' output layer, in which most of the rows are padding


class RestingTuner(Tuner):
    """Knows what was measured before, and measures nothing."""

    def begin(self, main: LoadedModel, draft: LoadedModel | None, costs: RoundCosts) -> None:
        super().begin(main, draft, costs)
        self.stop()


_try = first_use._try
_statuses: dict[tuple[bytes, ...], int | None] = {}


def tried_once(folder: Path) -> Generator[None, None, int | None]:
    """As it was for the first folder of the same content."""
    files = [folder / name for name in first_use._FILES]
    content = tuple(file.read_bytes() if file.exists() else b"" for file in files)
    if content not in _statuses:
        _statuses[content] = yield from _try(folder)
    return _statuses[content]


@contextmanager
def unwatched(*_: object) -> Iterator[None]:
    yield


@pytest.fixture(scope="package", autouse=True)
def plain_engine() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.models.first_use._try", tried_once)
        patch.setattr("engine.runtime.worker.Tuner", RestingTuner)
        patch.setattr("engine.models.networks.watched", unwatched)
        yield


@pytest.fixture
def whole_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what is about the three."""
    monkeypatch.setattr("engine.models.networks.watched", watched)
    monkeypatch.setattr("engine.models.first_use._try", _try)
    monkeypatch.setattr("engine.runtime.worker.Tuner", Tuner)


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


@pytest.fixture(scope="session")
def main(zoo: Zoo) -> LoadedModel:
    return load_model(zoo.main)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Of a model of each kind of cache; nobody changes them."""
    folder = tmp_path_factory.mktemp("families")
    return {kind: save_family(kind, folder / kind) for kind in FAMILIES}


@pytest.fixture(scope="session")
def models(folders: dict[str, Path]) -> dict[str, LoadedModel]:
    return {kind: load_model(folder) for kind, folder in folders.items()}


@pytest.fixture(scope="session")
def dense(models: dict[str, LoadedModel]) -> LoadedModel:
    return models["dense"]


@pytest.fixture(scope="session")
def thinkers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoadedModel]:
    """A main model that marks its thinking, and a draft that is close to it."""
    return close_pair(tmp_path_factory.mktemp("thinkers"), "<think>", "</think>")


def close_pair(folder: Path, *words: str, **options: Any) -> dict[str, LoadedModel]:
    """Both have these words; one layer will do for grammars."""
    noises = {"main": 0.0, "close": 0.05}
    options |= {"vocab_size": WIDTH}
    return {name: load_model(save_small(folder / name, *words, noise=each, **options)) for name, each in noises.items()}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """Of one layer."""
    return load_model(save_small(tmp_path_factory.mktemp("base")))


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
    state = shared_engine.engine.state()
    if [each and each.folder for each in (state.main, state.draft)] != [str(zoo.main), str(zoo.drafts["close"])]:
        assert isinstance(shared_engine.load(zoo.main, zoo.drafts["close"]), ModelReady)
    return shared_engine


@pytest.fixture
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prompts are read 64 tokens at a time, so that a few hundred make a long one."""
    for module in ("decoding.sequence", "runtime.scheduler"):
        monkeypatch.setattr(f"engine.{module}.PREFILL_CHUNK_TOKENS", 64)


@pytest.fixture
def interrupts_raise() -> Iterator[None]:
    """A process that a shell starts in the background ignores them, and so does what it starts."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)
