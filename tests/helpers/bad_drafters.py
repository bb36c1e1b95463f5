"""A child process that loads one tiny drafter again and again, each time with something absurd, and drafts with it.

python -m tests.helpers.bad_drafters KIND FOLDER SHARE: with a limit on its memory; SHARE of the damages, "1" for all.
Prints one JSON list a damage: place, damage, outcome, seconds of processor time, whether the text is plain decoding's,
MiB that the most memory grew by.
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
from tests.helpers.number_bombs import MORE_BYTES, Place, changed, places
from tests.helpers.tiny_models import make_pair, qwen3_config, save

ASKED = Request(
    tokens=tuple(40 + (7 * n) % 90 for n in range(30)),
    sampling=Sampling(temperature=0, logit_bias=((257, -100.0),)),
    max_tokens=24,
    speculation=Speculation.fixed(4),
)
VALUES: dict[str, Any] = {
    "-1": -1,
    "-2**40": -(2**40),
    "0": 0,
    "0.5": 0.5,
    "8, a text": "8",
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
Weights = dict[str, mx.array]
_PACKED = ("weight", "scales", "biases")
_OTHERS = (  # tensors that some drafters have
    *("fc.weight", "embed_tokens.weight", "lm_head.weight", "d2t", "t2d", "mask_hidden", "layer_fusion_weights"),
    *("layers.0.self_attn.gate_proj.weight", "layers.99.mlp.up_proj.weight", "layers.0.self_attn.attention_sink_bias"),
    *("hidden_correction.gate_proj.weight", "markov_head.markov_w1.weight", "norm.scales", "norm.bias", "", "x" * 5000),
)
# Others than those of `tiny.KINDS`.
DIALECTS: dict[str, Callable[[], tuple[dict[str, Any], Weights]]] = {
    "dflash of speculators": lambda: _sound(tiny.speculators_block_config("dflash"), tiny.block_weights),
    "dspark of speculators": lambda: _sound(
        tiny.speculators_block_config("dspark", markov_head_type="gated"), tiny.block_weights
    ),
    "eagle3 of speculators": lambda: _sound(tiny.eagle_config(fc_norm=True), tiny.eagle_weights),
    "peagle of speculators": lambda: _sound(tiny.peagle_config(norm_before_fc=True), tiny.peagle_weights),
    "dspark of nvidia": lambda: _sound(tiny.nemotron_block_config(), tiny.block_weights),
    "dflash of meta": lambda: _sound(tiny.muse_config(), tiny.block_weights),
    "dspark for gemma": lambda: _sound(tiny.gemma_block_config(), tiny.block_weights),
    "eagle3 for gemma": lambda: _sound(
        tiny.gemma_eagle_config(), lambda config: tiny.eagle_weights(config, head_norms=True)
    ),
    "dflash in 4 bits": lambda: _sound(tiny.dflash_config(rope_scaling=tiny.YARN), _packed),
}
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
    "narrower": lambda weight: weight[..., :-1],
    "wider": lambda weight: mx.concatenate([weight, weight], axis=-1),
    "far back": lambda weight: weight - 2**30 if weight.dtype == mx.int64 else weight,
    "huge numbers": lambda weight: mx.full(weight.shape, 2**63 - 1, mx.int64),
    "far away": lambda weight: weight + 2**30 if weight.dtype == mx.int64 else weight + 1,
}

Damage = tuple[str, str, Callable[[Path], object]]  # place, name, writes it to a folder


def main(kind: str, folder: Path, share: float) -> None:
    config, weights = made(kind, folder / "main")
    engine = Engine()
    client = EngineClient(engine)
    client.load(folder / "main")
    plain = client.run(ASKED).tokens
    tiny.save_drafter(folder / "bad", config, weights)
    outcome, tokens = attempt(client, folder / "bad")
    assert tokens == plain, outcome
    size_bytes = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size_bytes + MORE_BYTES,) * 2)
    dice = random.Random(kind)
    for place, name, write in damaged(config, weights):
        if dice.random() < share:
            write(folder / "bad")
            started_s, before_mib = time.process_time(), _peak_mib()
            outcome, tokens = attempt(client, folder / "bad")
            seconds, more_mib = round(time.process_time() - started_s, 2), _peak_mib() - before_mib
            sys.stdout.write(json.dumps([place, name, outcome, seconds, tokens in (None, plain), more_mib]) + "\n")
            sys.stdout.flush()
    assert engine.close()


def made(kind: str, main_folder: Path) -> tuple[dict[str, Any], Weights]:
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
    if kind in DIALECTS:
        return DIALECTS[kind]()
    sound = tiny.save_kind(kind, main_folder.with_name("sound"), qwen3_config())
    config = json.loads((sound / "config.json").read_text())
    return config, tiny.KINDS[kind][1](config)


def _sound(config: dict[str, Any], weights_of: Callable[[dict[str, Any]], Weights]) -> tuple[dict[str, Any], Weights]:
    return config, weights_of(config)


def _packed(config: dict[str, Any]) -> Weights:
    packed: Weights = {}
    for name, weight in tiny.block_weights(config).items():
        if not name.endswith("_proj.weight"):
            packed[name] = weight
            continue
        parts = mx.quantize(weight, group_size=32, bits=4)
        packed |= {name.replace("weight", part): array for part, array in zip(_PACKED, parts, strict=True)}
    return packed


def damaged(config: dict[str, Any], weights: Weights) -> Iterator[Damage]:
    yield from _damaged_configs(config, weights)
    for tensor, weight in weights.items():
        for name, damage in DAMAGES.items():
            yield tensor, name, _saving(config, weights | {tensor: damage(weight)})
        yield tensor, "missing", _saving(config, {key: kept for key, kept in weights.items() if key != tensor})
        yield tensor, "twice", _saving(config, weights | {f"model.{tensor}": 2 * weight.astype(mx.float32)})
    for tensor in (*_OTHERS, *(f"{name}.bias" for name in list(weights)[:2])):
        if tensor not in weights:
            for shape in ((64,), (288, 64), (1, 1, 1)):
                yield tensor, f"more, {shape}", _saving(config, weights | {tensor: mx.ones(shape)})


def _damaged_configs(config: dict[str, Any], weights: Weights) -> Iterator[Damage]:
    for place in places(config):
        for name, value in VALUES.items():
            yield _called(place), name, _saving(changed(config, place, value), weights)
        without = changed(config, place, None)
        inner: Any = without
        for key in place[:-1]:
            inner = inner[key]
        del inner[place[-1]]
        yield _called(place), "missing", _saving(without, weights)


def _saving(config: dict[str, Any], weights: Weights) -> Callable[[Path], object]:
    return lambda folder: tiny.save_drafter(folder, config, weights)


def _called(place: Place) -> str:
    return ".".join(map(str, place))


def _peak_mib() -> int:
    """Of memory since the last call."""
    status = Path("/proc/self/status").read_text()
    Path("/proc/self/clear_refs").write_text("5")
    return int(status.split("VmHWM:")[1].split()[0]) >> 10


def attempt(client: EngineClient, folder: Path) -> tuple[str, tuple[int, ...] | None]:
    """What became of the load, and what was written with it."""
    result = client.set_draft(folder)
    if isinstance(result, ModelFailed):
        return f"{type(result.error).__name__}: {result.error}"[:300], None
    end = client.run(ASKED)
    client.set_draft(None)
    return f"drafted {end.stats.drafted}", end.tokens


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]))
