"""Rows about drafters: the one that was trained for the starter's main model, beside the draft model and by itself."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import mlx.core as mx

from engine import Engine, Message, MessageRole, ModelReady, Request, RequestStats, Speculation
from tests.bench import pairs
from tests.bench.opponents import Ours
from tests.bench.rows import GREEDY, LENGTH, SAMPLED, Measure, Row, compare, ours
from tests.bench.stage import Stage
from tests.helpers.engine_client import EngineClient

_BLOCK = 7  # tokens that a block of eight rows drafts


def dflash_vs_draft(stage: Stage, runs: int) -> Row:
    """On the main model of 113 M: the drafter widened with it, and the draft model as it is."""
    drafter = inflate_drafter(stage.starter / "dflash", stage.folder / "dflash")
    block = Ours(stage.main, drafter)
    rates = [
        compare(stage, runs, stage.guide, *(ours(side, Speculation.auto(), sampling) for side in (block, stage.ours)))
        for sampling in (GREEDY, SAMPLED)
    ]
    block.close()
    detail = "; ".join(
        f"{how} {a:.1f} / {b:.1f} tok/s" for how, (a, b) in zip(("greedy", "at 0.8"), rates, strict=True)
    )
    return Row("engine.dflash.vs_draft", rates[0][0] / rates[0][1], "ratio", "≥ 1.0", detail)


def block_second_turn(stage: Stage, runs: int) -> Row:
    """The same questions first, and behind the answer to another: what was read in turn 1 is kept, or is on disk."""
    questions = [question for question, _ in stage._questions(5)]

    def turn_1(client: EngineClient) -> list[tuple[str, RequestStats]]:
        return [_asked(client, (question,)) for question in questions]

    with tempfile.TemporaryDirectory() as folder:
        with _loaded(stage, Path(folder)) as client:
            firsts = turn_1(client)
        texts = [text for text, _ in firsts]
        chats = [(questions[at], texts[at], questions[at - 4]) for at in range(len(questions))]
        with _loaded(stage, Path(folder)) as client:
            on_disk = [_asked(client, chat) for chat in chats]
    with _loaded(stage) as client:
        turn_1(client)
        kept = [_asked(client, chat) for chat in chats]
    with _loaded(stage) as client:
        anew = [_asked(client, chat) for chat in chats]
    told = (firsts, kept, on_disk, anew)
    first, second, restarted, cold = (_per_pass([stats for _, stats in replies]) for replies in told)
    detail = f"turn 1 {first:.2f}, turn 2 {second:.2f}, behind a restart {restarted:.2f}, all read anew {cold:.2f}"
    return Row("engine.block.second_turn", min(second, restarted) / first, "ratio", "≥ 0.98", detail)


def inflate_drafter(source: Path, folder: Path) -> Path:
    """The same function of the states of the main model that `pairs.inflate` makes, as wide as that one.

    What the main model's blocks behind its own last one add is nothing, so the same layers are read.
    """
    config = json.loads((source / "config.json").read_text())
    narrow = config["hidden_size"]
    share = narrow / pairs.HIDDEN
    weights = {name: value.astype(mx.float32) for name, value in pairs._load(source).items()}
    wide = {name: _widened(name, value, narrow, share) for name, value in weights.items()}
    grown = config | {
        "hidden_size": pairs.HIDDEN,
        "num_target_layers": pairs.LAYERS,
        "rms_norm_eps": config["rms_norm_eps"] * share,
        "torch_dtype": "float32",
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(grown))
    mx.save_safetensors(str(folder / "model.safetensors"), wide, {"format": "pt"})
    return folder


def _widened(name: str, value: mx.array, narrow: int, share: float) -> mx.array:
    """With zeros in each dimension that is as wide as the main model; the norms make up for a mean over more."""
    if "q_norm" in name or "k_norm" in name:
        return value
    more = pairs.HIDDEN - narrow
    if value.ndim == 1:
        return mx.multiply(mx.pad(value, (0, more)), share**0.5)
    if name == "fc.weight":  # the states of each layer that is read side by side
        parts = value.reshape(narrow, -1, narrow)
        return mx.pad(parts, [(0, more), (0, 0), (0, more)]).reshape(pairs.HIDDEN, -1)
    inwards = "o_proj" in name or "down_proj" in name
    return mx.pad(value, [(0, more), (0, 0)] if inwards else [(0, 0), (0, more)])


@contextmanager
def _loaded(stage: Stage, kept: Path | None = None) -> Iterator[EngineClient]:
    engine = Engine(kept)
    client = EngineClient(engine)
    assert isinstance(client.load(stage.starter / "main", stage.starter / "dflash"), ModelReady)
    yield client
    assert engine.close()


def _asked(client: EngineClient, chat: tuple[str, ...]) -> tuple[str, RequestStats]:
    roles = (MessageRole.USER, MessageRole.ASSISTANT)
    messages = tuple(Message(roles[turn % 2], text) for turn, text in enumerate(chat))
    request = Request(messages=messages, sampling=GREEDY, speculation=Speculation.fixed(_BLOCK), max_tokens=LENGTH)
    outcome = client.run(request)
    return outcome.text(), outcome.stats


def _per_pass(replies: list[RequestStats]) -> float:
    """Over the rounds that can draft: the first of a reply cannot."""
    return sum(stats.generated_tokens - 1 for stats in replies) / sum(stats.rounds - 1 for stats in replies)


DRAFTERS: tuple[Measure, ...] = (dflash_vs_draft, block_second_turn)
