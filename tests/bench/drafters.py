"""Rows about drafters trained for the starter's main model: beside the draft model, plain decoding and themselves."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten

from engine import Engine, Message, MessageRole, ModelReady, Request, RequestStats, Sampling, Speculation
from engine.drafting.drafters import loading_any_draft
from tests.bench import pairs
from tests.bench.opponents import Ours, Run, interleaved
from tests.bench.rows import GREEDY, LENGTH, SAMPLED, Measure, Row, total_rate
from tests.bench.setup import LANGUAGES, BenchSetup
from tests.helpers.engine_client import EngineClient
from tests.helpers.loading import at_once, load_model

Rates = dict[str, list[dict[str, float]]]  # tokens a second by sampling, side and content

_SAMPLINGS = {"greedy": GREEDY, "at 0.8": SAMPLED}
_BLOCK = 7  # tokens that a block of eight rows drafts
_NORMS_OF_HEADS = ("q_norm", "k_norm")
_GIVES_STATES = ("fc", "input_proj", "o_proj", "down_proj")  # rows as wide as the main model


Side = tuple[Ours, Speculation]


def dflash_vs_draft(setup: BenchSetup, runs: int) -> Row:
    """On the main model of 113 M: the drafter widened with it, and the draft model as it is."""
    block = _with_drafter(setup, "dflash")
    rates = _compared(setup, runs, (block, Speculation.auto()), (setup.ours, Speculation.auto()))
    block.close()
    return Row("engine.dflash.vs_draft", _ratio(rates, "greedy"), "ratio", "≥ 1.0", _told(rates))


def eagle3_vs_plain(setup: BenchSetup, runs: int) -> Row:
    return _vs_plain(setup, runs, "eagle3")


def mtp_vs_plain(setup: BenchSetup, runs: int) -> Row:
    return _vs_plain(setup, runs, "mtp")


def _vs_plain(setup: BenchSetup, runs: int, kind: str) -> Row:
    """On the main model of 113 M, the head widened with it, under auto."""
    if not (setup.starter / kind).is_dir():  # a starter of one's own (--starter) need not have every kind
        return Row(f"engine.{kind}.vs_plain", math.nan, "ratio", "≥ 2.0", f"no {kind} in {setup.starter}")
    engine = _with_drafter(setup, kind)
    rates = _compared(setup, runs, (engine, Speculation.auto()), (engine, Speculation.off()))
    engine.close()
    return Row(f"engine.{kind}.vs_plain", _ratio(rates, "greedy"), "ratio", "≥ 2.0", _told(rates))


def _with_drafter(setup: BenchSetup, kind: str) -> Ours:
    return Ours(setup.main, inflate_drafter(setup.starter / kind, setup.folder / kind))


def _compared(setup: BenchSetup, runs: int, *sides: Side) -> Rates:
    """Interleaved, two questions of each language: medians."""
    return {
        how: [
            {content: statistics.median(rates) for content, rates in side.items()}
            for side in _rounds(setup, runs, sampling, sides)
        ]
        for how, sampling in _SAMPLINGS.items()
    }


def _rounds(setup: BenchSetup, runs: int, sampling: Sampling, sides: Sequence[Side]) -> list[dict[str, list[float]]]:
    """Of each side and content the rate in each round."""

    def asked(engine: Ours, speculation: Speculation) -> list[Run]:
        return [engine.run(prompt, LENGTH, speculation, sampling) for prompt in setup.guide[: 2 * len(LANGUAGES)]]

    kept: list[dict[str, list[float]]] = [{content: [] for content in ("all", *LANGUAGES)} for _ in sides]
    for results in interleaved(runs, *(partial(asked, *side) for side in sides)):
        for rates, told in zip(kept, results, strict=True):
            rates["all"].append(total_rate(told))
            for at, language in enumerate(LANGUAGES):
                rates[language].append(total_rate(told[at :: len(LANGUAGES)]))
    return kept


def _ratio(rates: Rates, how: str, content: str = "all") -> float:
    ours, theirs = rates[how]
    return ours[content] / theirs[content]


def _told(rates: Rates) -> str:
    return "; ".join(
        f"{how} {ours['all']:.1f} / {theirs['all']:.1f} tok/s ("
        + " ".join(f"{language} {_ratio(rates, how, language):.2f}" for language in LANGUAGES)
        + ")"
        for how, (ours, theirs) in rates.items()
    )


def drafter_four_bit(setup: BenchSetup, runs: int) -> Row:
    """Tokens a pass of the starter's block, which is published in 16 bits, as a GPU would load it."""
    source, light = setup.starter / "dflash", setup.folder / "dflash-light"
    network = at_once(loading_any_draft(source, load_model(setup.starter / "main"), light=True)).network
    light.mkdir(parents=True, exist_ok=True)
    mx.save_safetensors(str(light / "model.safetensors"), dict(tree_flatten(network.parameters())))
    (light / "config.json").write_bytes((source / "config.json").read_bytes())
    told = []
    for drafter in (source, light):
        with _loaded(setup, drafter) as client:
            told.append(_per_pass([_asked(client, question) for question, _ in setup.questions(20)]))
    detail = f"{told[0]:.2f} as published, {told[1]:.2f} with layers of 4 bits; {20 * len(LANGUAGES)} questions"
    return Row("engine.drafter.four_bit", told[1] / told[0], "ratio", "≥ 0.97", detail)


def inflate_drafter(source: Path, folder: Path) -> Path:
    """The same function of the states of the main model that `pairs.inflate` makes, as wide as that one.

    What the main model's blocks behind its own last one add is nothing, so the same layers are read.
    """
    config = json.loads((source / "config.json").read_text())
    sizes = config.get("text_config", config)
    narrow = sizes["hidden_size"]
    share = narrow / pairs.HIDDEN
    shape = sizes | {"hidden_size": pairs.HIDDEN, "rms_norm_eps": sizes["rms_norm_eps"] * share}
    weights = {name: value.astype(mx.float32) for name, value in _whole(pairs.weights_of(source), config).items()}
    wide = {name: _widened(name, value, narrow) for name, value in weights.items()}
    if "text_config" in config:  # an MTP head is of its family's layer, whose heads' width follows from the model's
        shape |= {name: sizes[name] * pairs.HIDDEN // narrow for name in ("num_attention_heads", "num_key_value_heads")}
        wide = {name: _with_more_heads(name, value, narrow) for name, value in wide.items()}
        grown = config | {"text_config": shape | {"num_hidden_layers": pairs.LAYERS}}
    else:
        grown = config | shape | {"num_target_layers": pairs.LAYERS}
    return _saved(folder, grown, wide)


def unpacked_drafter(source: Path, folder: Path) -> Path:
    config = json.loads((source / "config.json").read_text())
    weights = _whole(pairs.weights_of(source), config)
    return _saved(folder, config, {name: value.astype(mx.float32) for name, value in weights.items()})


def _saved(folder: Path, config: dict[str, Any], weights: pairs.Weights) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    whole = {name: said for name, said in config.items() if name != "quantization"} | {"torch_dtype": "float32"}
    (folder / "config.json").write_text(json.dumps(whole))
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "pt"})
    return folder


def _whole(weights: pairs.Weights, config: dict[str, Any]) -> pairs.Weights:
    """Packed matrices as plain ones."""
    stems = {name.removesuffix(".scales") for name in weights if name.endswith(".scales")}
    parts = [f"{stem}.{part}" for stem in sorted(stems) for part in ("weight", "scales", "biases")]
    plain = {name: value for name, value in weights.items() if name not in parts}
    for weight, scales, biases in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        plain[weight] = mx.dequantize(weights[weight], weights[scales], weights[biases], **config["quantization"])
    return plain


def _widened(name: str, value: mx.array, narrow: int) -> mx.array:
    """With zeros in each dimension that is as wide as the main model; the norms make up for a mean over more."""
    more = pairs.HIDDEN - narrow
    part = name.split(".")[-2]
    if part in _NORMS_OF_HEADS or name.endswith("bias"):
        return value
    if value.ndim == 1:
        return mx.multiply(mx.pad(value, (0, more)), (narrow / pairs.HIDDEN) ** 0.5)
    if part not in ("o_proj", "down_proj"):  # reads one vector of this width or several side by side
        parts = value.reshape(value.shape[0], -1, narrow)
        value = mx.pad(parts, [(0, 0), (0, 0), (0, more)]).reshape(value.shape[0], -1)
    return mx.pad(value, [(0, more), (0, 0)]) if part in _GIVES_STATES else value


def _with_more_heads(name: str, value: mx.array, narrow: int) -> mx.array:
    """Heads that add nothing."""
    part, more = name.split(".")[-2], pairs.HIDDEN // narrow - 1
    if part == "o_proj":
        return mx.pad(value, [(0, 0), (0, more * value.shape[1])])
    if part not in ("q_proj", "k_proj", "v_proj"):
        return value
    return mx.pad(value, [(0, more * value.shape[0])] + [(0, 0)] * (value.ndim - 1))


@contextmanager
def _loaded(setup: BenchSetup, drafter: Path) -> Iterator[EngineClient]:
    engine = Engine()
    client = EngineClient(engine)
    assert isinstance(client.load(setup.starter / "main", drafter), ModelReady)
    yield client
    assert engine.close()


def _asked(client: EngineClient, question: str) -> RequestStats:
    messages = (Message(MessageRole.USER, question),)
    speculation = Speculation.fixed(_BLOCK)
    return client.run(Request(messages=messages, sampling=GREEDY, speculation=speculation, max_tokens=LENGTH)).stats


def _per_pass(replies: list[RequestStats]) -> float:
    """Over the rounds that can draft: the first of a reply cannot."""
    return sum(stats.generated_tokens - 1 for stats in replies) / sum(stats.rounds - 1 for stats in replies)


DRAFTERS: tuple[Measure, ...] = (
    dflash_vs_draft,
    eagle3_vs_plain,
    mtp_vs_plain,
    drafter_four_bit,
)
