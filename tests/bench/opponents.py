"""The two sides: our engine through its public interface, and mlx-lm's pipelined loops, both timed from outside.

A rate is all tokens of a reply over the time from asking to the last one; from the first token on would flatter whoever
drafts before it. Caches of earlier replies are of no use here: prompts take turns, and only the newest is kept.
"""

from __future__ import annotations

import gc
import importlib
import queue
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx_lm import sample_utils
from mlx_lm import utils as mlx_utils

from engine import (
    Constraint,
    Engine,
    Event,
    Failed,
    Finished,
    Message,
    MessageRole,
    ModelFailed,
    ModelReady,
    Request,
    RequestStats,
    Sampling,
    Speculation,
    TextDelta,
)
from engine.api.ranks import RankPlan
from engine.models.loading import LoadedModel

mlx_generate = importlib.import_module("mlx_lm.generate")


@dataclass(frozen=True)
class Run:
    tokens: tuple[int, ...]
    first_s: float  # from asking to the first token
    rest_s: float  # from the first token to the last
    stats: RequestStats | None = None
    forced: int = 0  # tokens that a grammar left no choice about

    @property
    def seconds(self) -> float:
        return self.first_s + self.rest_s

    @property
    def rate(self) -> float:
        return len(self.tokens) / self.seconds


class Ours:
    """Our engine, with a pair loaded."""

    def __init__(
        self,
        main: Path,
        draft: Path | None = None,
        *,
        rests: bool = True,
        plan: RankPlan | None = None,
        kept: Path | None = None,
        accepted: float = 0.0,
    ) -> None:
        """`kept`: the folder of calibrations and accept rates; None: neither is known. `accepted`: published rate."""
        self.engine = Engine(kept, cache_memory_share=0.0, published=lambda *_: accepted)
        self._main, self._draft = main, draft
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.engine.load(main, self._events.put, draft, plan=plan)
        for _ in range(1 if draft is None else 2):
            self._await_model()
        if rests:
            self.rest()

    def rest(self) -> None:
        """Let the engine calibrate the pair, as it does once on every machine before anybody asks."""
        busy = True
        while busy:
            before = time.process_time()
            time.sleep(0.3)
            busy = time.process_time() - before > 0.1

    def forget(self) -> None:
        """Load the same pair anew, so that no cache is kept."""
        self.engine.load(self._main, self._events.put, self._draft)
        for _ in range(1 if self._draft is None else 2):
            self._await_model()

    def set_draft(self, draft: Path | None) -> None:
        self.engine.set_draft(draft, self._events.put)
        if draft is not None:
            self._await_model()
        self.rest()

    def run(
        self,
        prompt: Sequence[int],
        length: int,
        speculation: Speculation,
        sampling: Sampling | None = None,
        constraint: Constraint | None = None,
    ) -> Run:
        request = Request(
            tokens=tuple(prompt),
            sampling=sampling or Sampling(temperature=0),
            max_tokens=length,
            speculation=speculation,
            constraint=constraint,
            trace=constraint is not None,
        )
        events: queue.SimpleQueue[tuple[float, Event]] = queue.SimpleQueue()
        asked = time.perf_counter()
        self.engine.submit(request, lambda event: events.put((time.perf_counter(), event)))
        first: float | None = None
        while True:
            at, event = events.get(timeout=600)
            if isinstance(event, Failed):
                raise event.error
            if isinstance(event, TextDelta) and first is None:
                first = at
            if isinstance(event, Finished):
                first = first or at
                forced = sum(each.accepted for each in event.rounds if each.source == "forced")
                return Run(event.tokens, first - asked, at - first, event.stats, forced)

    def run_together(
        self, prompts: Sequence[Sequence[int] | str], length: int, speculation: Speculation | None = None
    ) -> float:
        """Tokens per second over all prompts, submitted at once, from asking to the last end. Texts are messages."""
        how = speculation or Speculation.auto()
        ends: queue.SimpleQueue[Event] = queue.SimpleQueue()
        asked = time.perf_counter()
        for prompt in prompts:
            greedy = Sampling(temperature=0)
            messages = (Message(MessageRole.USER, prompt),) if isinstance(prompt, str) else ()
            tokens = () if isinstance(prompt, str) else tuple(prompt)
            request = Request(messages, tokens=tokens, sampling=greedy, max_tokens=length, speculation=how)
            self.engine.submit(request, lambda event: ends.put(event) if isinstance(event, Finished | Failed) else None)
        done = [ends.get(timeout=600) for _ in prompts]
        seconds = time.perf_counter() - asked
        return sum(len(end.tokens) for end in done if isinstance(end, Finished)) / seconds

    def close(self) -> None:
        assert self.engine.close()

    def _await_model(self) -> None:
        while not isinstance(event := self._events.get(timeout=600), ModelReady):
            assert not isinstance(event, ModelFailed), event


class Theirs:
    """mlx-lm, as its own command line runs it."""

    def __init__(self, main: Path, draft: Path | None = None) -> None:
        self.network = _network(main)
        self.draft = None if draft is None else _network(draft)
        self.tokenizer = mlx_utils.load_tokenizer(main)
        self.ends = frozenset(self.tokenizer.eos_token_ids)

    def plain(self, prompt: Sequence[int], length: int, sampling: Sampling | None = None) -> Run:
        sampler = _sampler(sampling)
        steps = mlx_generate.generate_step(mx.array(list(prompt)), self.network, max_tokens=length, sampler=sampler)
        return self._time((token for token, _ in steps), length)

    def speculative(self, prompt: Sequence[int], length: int, drafts: int, sampling: Sampling | None = None) -> Run:
        steps = mlx_generate.speculative_generate_step(
            mx.array(list(prompt)),
            self.network,
            self.draft,
            num_draft_tokens=drafts,
            max_tokens=length,
            sampler=_sampler(sampling),
        )
        return self._time((token for token, *_ in steps), length)

    def together(self, prompts: Sequence[Sequence[int]], length: int) -> float:
        """The same by mlx-lm's batch generator."""
        asked, tokens = time.perf_counter(), 0
        generator = mlx_generate.BatchGenerator(self.network, stop_tokens=[[end] for end in self.ends])
        generator.insert([list(prompt) for prompt in prompts], [length] * len(prompts))
        running = len(prompts)
        while running:
            _, responses = generator.next()
            tokens += len(responses)
            running -= sum(response.finish_reason is not None for response in responses)
        generator.close()
        return tokens / (time.perf_counter() - asked)

    def _time(self, tokens: Iterable[int], length: int) -> Run:
        heard: list[int] = []
        stamps: list[float] = []
        asked = time.perf_counter()
        for token in islice(tokens, length):
            heard.append(int(token))
            stamps.append(time.perf_counter())
            if heard[-1] in self.ends:
                break
        return Run(tuple(heard), stamps[0] - asked, stamps[-1] - stamps[0])


def _network(folder: Path) -> Any:
    """With the very arrays that our engine has loaded, if it has.

    MEASURED: on a CPU two copies of the same weights differ by up to a tenth in speed, by where in memory they lie.
    """
    network = widened(mlx_utils.load_model(folder)[0])
    loaded = loaded_network(folder)
    if loaded is not None:
        network.update(loaded.parameters())
    return network


def loaded_network(folder: Path) -> Any | None:
    """The network that our engine has loaded from there."""
    return next((model.network for model in gc.get_objects() if _is_loaded(model, folder)), None)


def _is_loaded(candidate: object, folder: Path) -> bool:
    return type(candidate) is LoadedModel and candidate.info.folder == str(folder.absolute())


def widened(network: Any) -> Any:
    """Half precision is as slow for them on a CPU as it would be for us."""
    if mx.default_device() == mx.cpu:
        network.set_dtype(mx.float32)
        mx.eval(network.parameters())
    return network


def _sampler(sampling: Sampling | None) -> Any:
    if sampling is None or sampling.temperature == 0:
        return None
    mx.random.seed(sampling.seed or 0)
    return sample_utils.make_sampler(sampling.temperature, sampling.top_p, sampling.min_p, top_k=sampling.top_k)


def interleaved(runs: int, *sides: Any) -> Iterator[tuple[Any, ...]]:
    """Each side in turn, `runs` times, after one round that does not count: the machine's drift hits all alike."""
    for number in range(runs + 1):
        results = tuple(side() for side in sides)
        if number:
            yield results
