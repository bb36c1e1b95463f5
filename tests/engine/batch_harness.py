"""A scheduler on the test's own thread, stepped by hand, over tiny models of every cache kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mlx.core as mx
from mlx.utils import tree_map

from engine import Event, Failed, Finished, Request, RequestId, Sampling, Speculation, TextDelta
from engine.caches.eight_bits import CodedCache
from engine.caches.making import CacheMaker
from engine.drafting.controller import History
from engine.models.loading import LoadedModel
from engine.prefix.memory import PrefixStore
from engine.runtime.queued import QueuedReply
from engine.runtime.reply import Reply
from engine.runtime.scheduler import Scheduler
from tests.families import harness as families
from tests.families.configs import VOCABULARY, config
from tests.helpers.engine_client import Ended
from tests.helpers.loading import load_model
from tests.helpers.tiny_models import make_pair

GREEDY = Sampling(temperature=0)
SAMPLED = Sampling(
    temperature=0.9, seed=5, top_p=0.95, repetition_penalty=1.2, presence_penalty=0.3, frequency_penalty=0.1
)

AT_8_BITS = "qwen3 at 8 bits"  # computing with codes, as on a GPU
# By cache kind: plain, sliding windows (of 16 tokens), gated delta, short convolution, a list of two kinds; and chunks,
# which cannot be merged.
MERGING_FAMILIES = ["qwen3", AT_8_BITS, "gemma3_text", "qwen3_5", "lfm2", "falcon_h1"]
UNMERGED_FAMILY = "llama4"


# Two layers, of each kind one, show what rows and caches do to each other; tests/families has more.
_TWO: dict[str, Any] = {"num_hidden_layers": 2}
_SHALLOW: dict[str, dict[str, Any]] = {
    "qwen3": _TWO,
    AT_8_BITS: _TWO | {"head_dim": 32},
    "gemma3_text": _TWO,
    "falcon_h1": _TWO,
    "lfm2": _TWO | {"layer_types": ["conv", "full_attention"]},
    "qwen3_5": {"text_config": config("qwen3_5")["text_config"] | _TWO},
}


@cache
def model(family: str) -> LoadedModel:
    network = families.build(family.partition(" ")[0], **_SHALLOW.get(family, {}))
    return _loaded(network, CacheMaker(network, CodedCache if family == AT_8_BITS else None))


@cache
def draft(family: str = "qwen3") -> LoadedModel:
    """The main model of that family, stirred a little, so that it is often right about that one."""
    network = families.build(family.partition(" ")[0], **_SHALLOW.get(family, {}))
    mx.random.seed(3)
    network.update(tree_map(_stirred, network.parameters()))
    return _loaded(network, CacheMaker(network))


def _loaded(network: families.Network, make_caches: CacheMaker) -> LoadedModel:
    return replace(_template(), network=network, logit_width=VOCABULARY, make_caches=make_caches, eight_bits=None)


def prompt(length: int, salt: int = 0) -> tuple[int, ...]:
    return tuple((n * n + 7 * n + 13 * salt + 3) % (VOCABULARY - 7) + 1 for n in range(length))


def asking(
    tokens: Sequence[int], length: int, sampling: Sampling = GREEDY, speculation: Speculation | None = None
) -> Request:
    return Request(
        tokens=tuple(tokens), sampling=sampling, max_tokens=length, speculation=speculation or Speculation.fixed(3)
    )


class Queued(QueuedReply):
    """Remembers the reply that it became."""

    reply: Reply | None = None

    def start(self, model: LoadedModel, store: PrefixStore, history: History, *, may_copy: bool = False) -> Reply:
        self.reply = super().start(model, store, history, may_copy=may_copy)
        return self.reply


@dataclass(eq=False)
class Recorder(Ended):
    """One request and the events of it."""

    queued: Queued
    events: list[Event] = field(default_factory=list)

    @property
    def reply(self) -> Reply:
        assert self.queued.reply is not None, "it has not started"
        return self.queued.reply

    @property
    def terminal(self) -> list[Finished | Failed]:
        return [event for event in self.events if isinstance(event, Finished | Failed)]

    @property
    def ended(self) -> bool:
        return bool(self.events) and isinstance(self.events[-1], (Finished, Failed))

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))

    @property
    def written(self) -> int:
        return 0 if self.queued.reply is None else len(self.queued.reply.output.tokens)


class Harness:
    def __init__(self, main: LoadedModel, drafts: LoadedModel | None = None) -> None:
        self.scheduler = Scheduler()
        self.scheduler.set_main(main)
        self.scheduler.set_draft(drafts)
        self._ids = 0

    def submit(self, request: Request) -> Recorder:
        self._ids += 1
        events: list[Event] = []
        queued = Queued(RequestId(self._ids), request, events.append)
        self.scheduler.add(queued)
        return Recorder(queued, events)

    def until_written(self, recorder: Recorder, tokens: int) -> None:
        while recorder.written < tokens and not recorder.ended:
            self.scheduler.step()

    def run_dry(self) -> None:
        while self.scheduler.busy:
            self.scheduler.step()

    @property
    def batched(self) -> int:
        return len(self.scheduler.writing.batch.replies)


def written(models: Mapping[str, LoadedModel], draft: str, *requests: Request) -> list[Recorder]:
    """Together from their first rounds on, by the model "main" with the one named `draft`, if there is one."""
    harness = Harness(models["main"], models.get(draft))
    recorders = [harness.submit(request) for request in requests]
    for recorder in recorders:
        while not recorder.queued.is_ready(models["main"], patience_s=1.0):
            pass
    harness.run_dry()
    return recorders


@cache
def alone(family: str, request: Request) -> Recorder:
    """What the reply is when nobody else runs and nothing is drafted."""
    harness = Harness(model(family))
    recorder = harness.submit(replace(request, speculation=Speculation.off()))
    harness.run_dry()
    return recorder


@cache
def _template() -> LoadedModel:
    with TemporaryDirectory() as folder:
        main, _ = make_pair(Path(folder))
        return load_model(main)


def _stirred(weight: mx.array) -> mx.array:
    if weight.ndim < 2 or not mx.issubdtype(weight.dtype, mx.floating):
        return weight
    return weight + 0.05 * mx.std(weight) * mx.random.normal(weight.shape)
