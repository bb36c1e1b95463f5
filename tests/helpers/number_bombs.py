"""A child process that loads one tiny model again and again, each time with another value of its config.json absurd.

python -m tests.helpers.number_bombs FAMILY FOLDER SHARE: with a limit on its memory; SHARE of the integers, "1" for
all. Prints one JSON list a load: field, bomb, outcome, seconds of processor time.
"""

from __future__ import annotations

import copy
import json
import random
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import mlx.core as mx

from engine import EngineError, TokenizerBroken
from tests.families.configs import config
from tests.families.harness import build
from tests.helpers.loading import load_model
from tests.helpers.tiny_models import save

MORE_BYTES = 3 << 30  # than the process has when it begins

BOMBS = (10**6, 2**40)

Place = tuple[str | int, ...]


def main(family: str, folder: Path, share: float) -> None:
    sound = config(family)
    save(build(family), sound, folder)
    sound = json.loads((folder / "config.json").read_text())
    with suppress(TokenizerBroken):  # transformers reads some families otherwise, after the network was built
        load(folder)  # with its numbers as they are
    size_bytes = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size_bytes + MORE_BYTES,) * 2)
    dice = random.Random(family)
    for place in places(sound, integers=True):
        for bomb in BOMBS:
            if dice.random() < share:
                (folder / "config.json").write_text(json.dumps(changed(sound, place, bomb)))
                started_s = time.process_time()
                outcome = attempt(folder)
                told = [".".join(map(str, place)), bomb, outcome, round(time.process_time() - started_s, 2)]
                sys.stdout.write(json.dumps(told) + "\n")
                sys.stdout.flush()


def attempt(folder: Path) -> str:
    try:
        load(folder)
    except EngineError as error:
        return str(error)[:160]
    return "loaded"


def load(folder: Path) -> None:
    model = load_model(folder)
    tokens = mx.array([list(range(1, 9))])
    try:
        mx.eval(model.network(tokens, cache=model.make_caches().layers))
    except RuntimeError as error:
        raise AssertionError("loaded, but cannot read") from error


def places(value: Any, place: Place = (), *, integers: bool = False) -> Iterator[Place]:
    """Where there is anything, or an integer."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from places(part, (*place, key), integers=integers)
    if type(value) is int or (place and not integers):
        yield place


def changed(value: Any, place: Place, bomb: Any) -> Any:
    result = copy.deepcopy(value)
    inner = result
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = bomb
    return result


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]))
