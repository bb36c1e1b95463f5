"""The starter pair, served; and an engine with a script where the order of events matters."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine import Engine, ModelReady
from tests.architecture.project import ROOT
from tests.engine.conftest import plain_engine as plain_engine  # noqa: PLC0414  a fixture
from tests.helpers.engine_client import EngineClient
from tests.helpers.fake_engine import DRAFT, MAIN, FakeEngine
from tests.helpers.served import Served, serving

STARTER = ROOT / "resources" / "starter"


@pytest.fixture(scope="session")
def starter() -> Iterator[Engine]:
    engine = Engine()
    assert isinstance(EngineClient(engine).load(STARTER / "main", STARTER / "draft"), ModelReady)
    yield engine
    assert engine.close()


@pytest.fixture(scope="module")
def house(starter: Engine) -> Iterator[Served]:
    """Served to clients of this machine, without a key."""
    with serving(starter) as served:
        yield served


@pytest.fixture
def scripted() -> Iterator[FakeEngine]:
    engine = FakeEngine()
    EngineClient(engine).load(type(ROOT)(MAIN.folder), type(ROOT)(DRAFT.folder))
    yield engine
    engine.gate.open()
    engine.close()


@pytest.fixture
def served(scripted: FakeEngine) -> Iterator[Served]:
    with serving(scripted) as house:
        yield house
