"""Rows about chats with pictures."""

from __future__ import annotations

import importlib
import importlib.util
import math
import statistics
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count, islice
from pathlib import Path

import mlx.core as mx
import numpy as np

from engine import Message, MessageRole, Request, Speculation
from engine.decoding.text import prompt_tokens
from engine.vision.pixels import patches_of
from engine.vision.values import readable, spans_in
from tests.bench import pairs
from tests.bench.opponents import Ours, Run, interleaved
from tests.bench.pairs import HEADS, HIDDEN, INTERMEDIATE, LAYERS
from tests.bench.rows import GREEDY, Measure, Row
from tests.bench.setup import BenchSetup
from tests.helpers.loading import load_model
from tests.helpers.tiny_eyes import asked, picture, save_seeing

_SIDE, _PICTURES = 256, 2  # pixels; a thousand tokens each
_ANSWER = 64  # tokens
_TEXT = {
    "hidden_size": HIDDEN,
    "intermediate_size": INTERMEDIATE,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": HEADS,
    "head_dim": HIDDEN // HEADS,
    "max_position_embeddings": 8192,
}
_VISION = {"depth": 8, "hidden_size": 256, "intermediate_size": 1024, "num_heads": 4, "out_hidden_size": HIDDEN}
_LIMITS = {"max_pixels": _SIDE**2}
_KIND = "qwen3_vl"


def vision_second_turn(setup: BenchSetup, runs: int) -> Row:
    """Neither the tower nor the network looks at a picture again."""
    engine = Ours(_wide(setup.folder / "seer"))
    ratios = []
    for number in range(runs):
        engine.forget()
        seen = [picture(_SIDE, _SIDE, seed=_PICTURES * number + at) for at in range(_PICTURES)]
        chat = (asked("What is to be seen in these?", *seen),)
        cold = engine.run((), 1, Speculation.off(), GREEDY, messages=chat)
        again = (*chat, Message(MessageRole.ASSISTANT, "Patches in all colours."), asked("Which is the brightest?"))
        ratios.append(engine.run((), 1, Speculation.off(), GREEDY, messages=again).first_s / cold.first_s)
    engine.close()
    detail = f"turn 2 behind {_PICTURES} pictures of 1,024 tokens, to the first token"
    return Row("vision.second_turn", statistics.median(ratios), "ratio", "≤ 0.05", detail, ratios)


def _wide(folder: Path) -> Path:
    """A random model of 100 M parameters, and a tower."""
    return save_seeing(_KIND, folder, text=_TEXT, vision=_VISION, pictures=_LIMITS)


def vision_spec_vs_plain(setup: BenchSetup, runs: int) -> Row:
    """What a draft that reads text only brings after a picture, of what it brings in a chat without one.

    The picture's rows are zeros, so both sides write of what they have learnt, and the draft could know it. From the
    first token on: before it, drafted or not, the picture is looked at. The main model answers some questions otherwise
    behind such a picture. MEASURED: of 20 questions a draft is rejected in 4 behind a picture and in 2 without, at 14.2
    and 14.1 tokens a round; of the first 4, with 9 rounds in all, one rejection is a fifth of the gain.
    """
    folder = save_seeing(_KIND, setup.folder / "looks", vision=_VISION | {"deepstack_visual_indexes": []})
    engine = Ours(*pairs.seeing_pair(setup.main, setup.draft, folder, setup.folder / "sees"))
    questions = [question for question, _ in setup._questions(5)]
    chats = [(asked(question, picture(32, 32, seed=at)),) for at, question in enumerate(questions)]
    gains, told = list[list[float]](), []
    for kind in (chats, [(asked(question),) for question in questions]):
        sides = [partial(_all, engine, how, kind) for how in (Speculation.auto(), Speculation.off())]
        rounds = list(interleaved(runs, *sides))
        gains.append([_decoded(auto) / _decoded(off) for auto, off in rounds])
        told.append(f"{statistics.median(gains[-1]):.2f} times plain decoding, {_counted(rounds[-1][0])}")
    engine.close()
    each = [after / without for after, without in zip(*gains, strict=True)]
    detail = "after a picture of 16 tokens {}; without one {}; {} questions".format(*told, len(questions))
    return Row("vision.spec.vs_plain", statistics.median(each), "ratio", "≥ 0.9", detail, each)


def _all(engine: Ours, how: Speculation, chats: Sequence[tuple[Message, ...]]) -> list[Run]:
    return [engine.run((), _ANSWER, how, GREEDY, messages=chat) for chat in chats]


def _decoded(runs: Sequence[Run]) -> float:
    return sum(len(run.tokens) - 1 for run in runs) / sum(run.rest_s for run in runs)


def _counted(runs: Sequence[Run]) -> str:
    stats = [run.stats for run in runs if run.stats is not None]
    accepted = sum(each.accepted for each in stats) / max(1, sum(each.drafted for each in stats))
    tokens = sum(each.generated_tokens for each in stats) / max(1, sum(each.rounds for each in stats))
    return f"{accepted:.0%} accepted, {tokens:.1f} tokens a round"


def vision_prefill_tiny(setup: BenchSetup, runs: int) -> Row:
    return _prefill(save_seeing(_KIND, setup.folder / "tiny", pictures=_LIMITS), runs, "tiny")


def vision_prefill_wide(setup: BenchSetup, runs: int) -> Row:
    return _prefill(_wide(setup.folder / "wide"), runs, "100M")


def _prefill(folder: Path, runs: int, size: str) -> Row:
    """From a picture's pixels to the first token, by turns with mlx-vlm's own networks on the same weights."""
    name, target = f"vision.prefill_tokens_s.{size}", "≥ 0.95"
    if importlib.util.find_spec("mlx_vlm") is None:
        detail = "no mlx-vlm here: after make parity it is in build/parity, which may go on PYTHONPATH"
        return Row(name, math.nan, "ratio", target, detail)
    engine, theirs = Ours(folder), _Theirs(folder)

    def times() -> Iterator[tuple[float, float]]:
        for seed in count():
            chat = (asked("What is it?", picture(_SIDE, _SIDE, seed=seed)),)
            yield engine.run((), 1, Speculation.off(), GREEDY, messages=chat).first_s, theirs.run(chat)

    counted = list(islice(times(), 1, runs + 1))
    engine.close()
    ours, others = (theirs.tokens / statistics.median(side) for side in zip(*counted, strict=True))
    each = [other_s / our_s for our_s, other_s in counted]
    detail = f"{ours:.0f} / {others:.0f} tok/s of prompt, a picture of {theirs.tokens} tokens and a question"
    return Row(name, statistics.median(each), "ratio", target, detail, each)


class _Theirs:
    """mlx-vlm's tower and text network, which read the whole prompt at once; the pictures are cut by our code."""

    def __init__(self, folder: Path) -> None:
        self._model = load_model(folder)
        self._network = importlib.import_module("tests.parity.pictures").their_network(_KIND, folder)
        self._caches = importlib.import_module("mlx_vlm.models.cache")
        self.tokens = 0  # of the latest prompt

    def run(self, chat: tuple[Message, ...]) -> float:
        request, sight = Request(messages=chat), self._model.sight
        assert sight is not None
        began = time.perf_counter()
        tokens = prompt_tokens(request, self._model)
        (span,) = spans_in(tokens, chat[0].pictures, sight, request.picture_detail)
        grid = mx.array([[1, span.rows * sight.merge, span.columns * sight.merge]])
        ids, patches = mx.array([readable(tokens, sight)]), mx.array(np.asarray(patches_of(span, sight)))
        given = self._network.get_input_embeddings(ids, patches, image_grid_thw=grid).to_dict()
        cache = self._caches.make_prompt_cache(self._network.language_model)
        named = {name: value for name, value in given.items() if value is not None}
        mx.eval(mx.argmax(self._network.language_model(ids, cache=cache, **named).logits[0, -1]))
        self.tokens = len(tokens)
        return time.perf_counter() - began


VISION: tuple[Measure, ...] = (vision_second_turn, vision_spec_vs_plain, vision_prefill_tiny, vision_prefill_wide)
