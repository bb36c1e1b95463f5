"""Folders of a main model and its draft that are exchanged, cut, removed and put back at random under a running engine:
each reply is the one of the files that its model was loaded from, and each refusal is typed."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from engine import (
    Engine,
    InternalError,
    Message,
    MessageRole,
    ModelFailed,
    ModelReady,
    Request,
    Sampling,
    Speculation,
)
from tests.helpers.engine_client import EngineClient
from tests.helpers.samples import drilled
from tests.helpers.tiny_models import build, noised, qwen3_config, save

_ROUNDS = int(os.environ.get("DRILL_ROUNDS", "60"))
_ASKED = [Message(MessageRole.USER, text) for text in ("What is a byte?", "And a bit?", "Write a line.")]
_CONFIG = qwen3_config()


def asking(turns: int, drafted: int) -> Request:
    messages = [each for asked in _ASKED[:turns] for each in (asked, Message(MessageRole.ASSISTANT, "So."))]
    return Request(
        messages=tuple(messages[:-1]),
        conversation="chat",
        sampling=Sampling(temperature=0.9, seed=turns, logit_bias=((257, -100.0),)),
        speculation=Speculation.fixed(drafted) if drafted else Speculation.off(),
        max_tokens=16,
    )


class Folders:
    """Of models in two versions; `version`: which one is in `main` now, None: none that can be loaded."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.main = root / "main"
        self.draft = root / "draft"
        self.version: int | None = None
        self.texts: dict[tuple[int, int], tuple[int, ...]] = {}
        for version in (0, 1):
            network = build(_CONFIG, seed=version)
            save(network, _CONFIG, root / f"main {version}")
            save(noised(network, _CONFIG, 0.05), _CONFIG, root / f"draft {version}")
            self._write_plain(version)

    def _write_plain(self, version: int) -> None:
        engine = Engine(cache_disk_bytes=0)
        client = EngineClient(engine)
        for turns in (1, 2, 3):
            assert isinstance(client.load(self._root / f"main {version}"), ModelReady)
            self.texts[version, turns] = client.run(asking(turns, 0)).tokens
        assert engine.close()

    def put(self, role: str, version: int) -> None:
        """New files beside the others, as a download does, or in the same folder."""
        folder = self._root / role
        if folder.is_dir():
            for file in (self._root / f"{role} {version}").iterdir():
                shutil.copyfile(file, folder / "new")
                (folder / "new").replace(folder / file.name)
        else:
            shutil.copytree(self._root / f"{role} {version}", folder)
        self.version = version if role == "main" else self.version

    def cut(self, role: str, chance: random.Random) -> None:
        file = self._root / role / "model.safetensors"
        if file.exists():
            os.truncate(file, chance.randrange(file.stat().st_size))
            self.version = None if role == "main" else self.version

    def remove(self, role: str) -> None:
        shutil.rmtree(self._root / role, ignore_errors=True)
        self.version = None if role == "main" else self.version


@pytest.fixture
def client(tmp_path: Path) -> Iterator[EngineClient]:
    engine = Engine(cache_folder=tmp_path / "caches")
    yield EngineClient(engine)
    assert engine.close()


def attacked(client: EngineClient, root: Path, seed: int, rounds: int) -> int:
    """The number of replies."""
    chance = random.Random(seed)
    folders = Folders(root)
    folders.put("main", 0)
    folders.put("draft", 0)
    loaded: int | None = None
    replies = 0
    for _ in range(rounds):
        role = chance.choice(["main", "main", "draft"])
        match chance.randrange(8):
            case 0 | 1:
                folders.put(role, chance.randrange(2))
            case 2:
                folders.cut(role, chance)
            case 3:
                folders.remove(role)
            case 4 | 5:
                result = client.load(folders.main)
                assert isinstance(result, ModelReady) == (folders.version is not None)
                refused_by_type(result)
                loaded = folders.version if isinstance(result, ModelReady) else loaded
            case 6:
                fitted = client.set_draft(folders.draft)
                assert fitted is not None
                refused_by_type(fitted)
            case _:
                client.unload()
                loaded = None
        assert (client.engine.state().main is None) == (loaded is None)
        if loaded is not None:
            turns = chance.randint(1, 3)
            assert client.run(asking(turns, chance.choice([0, 3]))).tokens == folders.texts[loaded, turns]
            replies += 1
    return replies


def refused_by_type(result: ModelReady | ModelFailed) -> None:
    assert isinstance(result, ModelReady) or not isinstance(result.error, InternalError), result


@pytest.mark.expect_log("could not load")
@pytest.mark.parametrize(("seed", "rounds"), [*drilled(product(range(8), [5 * _ROUNDS])), (1, _ROUNDS)])
def test_files_that_change_at_random_change_no_reply(
    seed: int, rounds: int, client: EngineClient, tmp_path: Path
) -> None:
    assert attacked(client, tmp_path, seed, rounds)
