"""Drill: thousands of short replies in chats that are left again. Memory and disk come to a height and stay there."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import mlx.core as mx
import pytest

from engine import Engine, ModelReady, Request, Sampling, Speculation
from engine.prefix.disk import CONVERSATIONS
from engine.prefix.memory import SEQUENCES
from tests.engine.conftest import Zoo, zoo  # noqa: F401  a fixture
from tests.helpers.engine_client import EngineClient

PAGE_BYTES = 4096
SPECULATIONS = (Speculation.auto(), Speculation.off(), Speculation.fixed(4))


@dataclass(frozen=True)
class Held:
    """What the process holds, each in its own unit. All but the resident pages are exact counts."""

    device_bytes: int
    python_blocks: int
    conversations_on_disk: int
    resident_bytes: int


def held(folder: Path) -> Held:
    gc.collect()
    mx.clear_cache()
    return Held(
        mx.get_active_memory(),
        sys.getallocatedblocks(),
        len(set(written(folder))),
        int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES,
    )


def written(folder: Path) -> Iterator[float]:
    """When; the engine may forget a file that was just found."""
    for path in folder.rglob("*.safetensors"):
        with suppress(FileNotFoundError):
            yield path.stat().st_mtime


def short_reply(number: int) -> Request:
    """Each begins a chat of its own, of a length that comes again and again."""
    length = 8 + number % 50
    tokens = tuple(3 + (number * 31 + at * (number % 17 + 1)) % 250 for at in range(length))
    sampling = Sampling(temperature=0.7 * (number % 2), seed=number)
    return Request(tokens=tokens, sampling=sampling, max_tokens=2, speculation=SPECULATIONS[number % 3])


def soak(zoo: Zoo, folder: Path, replies: int) -> tuple[Held, Held]:  # noqa: F811
    """When all that is kept has come to its limits, and so many replies later."""
    with closing(Engine(folder)) as engine:
        client = EngineClient(engine)
        assert isinstance(client.load(zoo.main, zoo.drafts["close"]), ModelReady)
        full = 2 * SEQUENCES
        for number in range(full):
            client.run(short_reply(number))
        before = held(folder)
        for number in range(full, full + replies):
            client.run(short_reply(number))
        return before, held(folder)


def check(before: Held, after: Held) -> None:
    told = f"{before}, then {after}"
    assert after.device_bytes < 1.1 * before.device_bytes, told
    assert after.python_blocks < 1.02 * before.python_blocks, told
    assert after.conversations_on_disk <= CONVERSATIONS + 1, told  # one of them not whole yet


@pytest.mark.drill
def test_short_replies_pile_nothing_up(zoo: Zoo, tmp_path: Path) -> None:  # noqa: F811
    check(*soak(zoo, tmp_path, replies=100))


@pytest.mark.drill
def test_thousands_of_short_replies_pile_nothing_up(zoo: Zoo, tmp_path: Path) -> None:  # noqa: F811
    before, after = soak(zoo, tmp_path, replies=6000)
    check(before, after)
    assert after.resident_bytes < 1.1 * before.resident_bytes, f"{before}, then {after}"
