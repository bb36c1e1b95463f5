"""A hub on this machine with one model, and a store that installs from it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.event_recorder import EventRecorder, QuickStore
from tests.helpers.model_folders import model_files, safetensors
from tests.helpers.tinyhub import TinyHub

REPO = "org/tiny-4bit"
LARGE = {"a.weight": ("F32", (512, 1024))}  # 2 MiB: a few reads of the socket


@pytest.fixture
def hub() -> Iterator[TinyHub]:
    hub = TinyHub()
    hub.add(REPO, model_files() | {"model.safetensors": safetensors(LARGE)})
    yield hub
    hub.close()


@pytest.fixture
def recorder() -> EventRecorder:
    return EventRecorder()


@pytest.fixture
def store(tmp_path: Path, hub: TinyHub, recorder: EventRecorder) -> Iterator[QuickStore]:
    store = QuickStore(tmp_path / "models", sink=recorder, hub_cache=tmp_path / "no-cache", endpoint=hub.endpoint)
    yield store
    assert store.close()
