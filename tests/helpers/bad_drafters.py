"""A child process that loads one tiny drafter again and again, each time with something absurd, and drafts with it.

python -m tests.helpers.bad_drafters KIND FOLDER SHARE: with a limit on its memory; SHARE of the damages, "1" for all.
Prints one JSON list a damage: place, damage, outcome, seconds of processor time, whether the text is plain decoding's.
"""

from __future__ import annotations

import json
import math
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mlx.core as mx

from engine import Engine, ModelFailed, Request, Sampling, Speculation
from tests.helpers import tiny_assistants as assistants
from tests.helpers import tiny_drafters as tiny
from tests.helpers import tiny_heads as heads
from tests.helpers.engine_client import EngineClient
from tests.helpers.number_bombs import MORE_BYTES, changed, places
from tests.helpers.tiny_models import make_pair, qwen3_config, save

ASKED = Request(
    tokens=tuple(40 + (7 * n) % 90 for n in range(30)),
    sampling=Sampling(temperature=0, logit_bias=((257, -100.0),)),
    max_tokens=24,
    speculation=Speculation.fixed(4),
)
VALUES: dict[str, Any] = {
    "-1": -1,
    "0": 0,
    "10**6": 10**6,
    "2**31": 2**31,
    "2**40": 2**40,
    "1e308": 1e308,
    "nan": math.nan,
    "text": "9" * 5000,
    "twice the same": [1, 1],
    "negative layers": [-1, -2],
    "a long list": [1] * 10**5,
    "lists of lists": [[[8] * 30] * 30] * 30,
    "nothing": None,
    "true": True,
    "objects": {"rope_type": "yarn", "factor": 1e308, "original_max_position_embeddings": 0},
}
HEADS = {"a head of glm": "glm4_moe_lite", "a head of mimo": "mimo", "a head of qwen": "qwen3_5"}
ASSISTANT = "an assistant"
DAMAGES: dict[str, Callable[[mx.array], mx.array]] = {
    "one number": lambda weight: weight.reshape(-1)[0],
    "a rank more": lambda weight: weight[None],
    "flat": lambda weight: weight.reshape(-1),
    "turned round": lambda weight: weight.T,
    "nothing": lambda weight: weight[:0],
    "not a number": lambda weight: weight * math.nan,
    "without end": lambda weight: weight * math.inf,
    "very large": lambda weight: weight * 1e30,
    "zeros": mx.zeros_like,
    "whole numbers": lambda weight: (1000 * weight).astype(mx.int32),
    "bytes": lambda weight: (1000 * weight).astype(mx.uint8),
    "truths": lambda weight: weight > 0,
    "complex": lambda weight: weight.astype(mx.complex64),
    "half": lambda weight: weight.astype(mx.float16),
    "far away": lambda weight: weight + 2**30 if weight.dtype == mx.int64 else weight + 1,
}


def main(kind: str, folder: Path, share: float) -> None:
    config, weights = made(kind, folder / "main")
    engine = Engine()
    client = EngineClient(engine)
    client.load(folder / "main")
    plain = client.run(ASKED).tokens
    size_bytes = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size_bytes + MORE_BYTES,) * 2)
    dice = random.Random(kind)
    for place, name, bad_config, bad_weights in damaged(config, weights):
        if dice.random() < share:
            tiny.save_drafter(folder / "bad", bad_config, bad_weights)
            started_s = time.process_time()
            outcome, tokens = attempt(client, folder / "bad")
            seconds = round(time.process_time() - started_s, 2)
            sys.stdout.write(json.dumps([place, name, outcome, seconds, tokens in (None, plain)]) + "\n")
            sys.stdout.flush()
    assert engine.close()


def made(kind: str, main_folder: Path) -> tuple[dict[str, Any], dict[str, mx.array]]:
    """A sound drafter, and its main model on disk."""
    if kind in HEADS:
        family = HEADS[kind]
        save(heads.build_main(family), heads.MAINS[family], main_folder)
        return heads.head_config(family), heads.head_weights(family)
    if kind == ASSISTANT:
        assistants.save_main("gemma4", main_folder)
        config = assistants.assistant_config()
        return config, assistants.assistant_weights(config)
    make_pair(main_folder.parent)
    sound = tiny.save_kind(kind, main_folder.with_name("sound"), qwen3_config())
    config = json.loads((sound / "config.json").read_text())
    return config, tiny.KINDS[kind][1](config)


def damaged(
    config: dict[str, Any], weights: dict[str, mx.array]
) -> Iterator[tuple[str, str, dict[str, Any], dict[str, mx.array]]]:
    for place in places(config, "others"):
        for name, value in VALUES.items():
            yield ".".join(map(str, place)), name, changed(config, place, value), weights
    for tensor, weight in weights.items():
        for name, damage in DAMAGES.items():
            yield tensor, name, config, weights | {tensor: damage(weight)}


def attempt(client: EngineClient, folder: Path) -> tuple[str, tuple[int, ...] | None]:
    """What became of the load, and what was written with it."""
    result = client.set_draft(folder)
    if isinstance(result, ModelFailed):
        return f"{type(result.error).__name__}: {result.error}"[:160], None
    end = client.run(ASKED)
    client.set_draft(None)
    return f"drafted {end.stats.drafted}", end.tokens


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]))
