"""Drill: requests at random, good, borderline and hostile, several at once, with cancels, changes of models and closes.

Each is answered as mlx-lm answers it in another process, ends in exactly one event, and leaves the engine alive.
"""

from __future__ import annotations

import math
import random
import shutil
import threading
import time
from asyncio import CancelledError
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

from engine import (
    MAX_DRAFT_TOKENS,
    Acceptance,
    Engine,
    EngineClosed,
    EngineError,
    Event,
    Failed,
    Finished,
    FinishReason,
    Message,
    MessageRole,
    ModelFailed,
    ModelReady,
    ModelUnloaded,
    NoModelLoaded,
    Queued,
    Request,
    RequestError,
    RequestId,
    Sampling,
    Speculation,
    SpeculationMode,
    TextDelta,
)
from tests.drills.oracle import CONTEXT_TOKENS, Answer, Oracle, Question
from tests.helpers import tiny_assistants
from tests.helpers.round_check import check_rounds
from tests.helpers.tiny_drafters import KINDS, save_drafter, save_kind
from tests.helpers.tiny_families import FAMILIES, save_family
from tests.helpers.tiny_heads import MAINS, build_main, head_config, head_weights
from tests.helpers.tiny_models import VOCABULARY, save

PATIENCE_S = 120.0
DRILL_S = 600.0
SAMPLE = range(20)
HEADED = ("qwen3", "qwen3_next")  # families that have a head to draft with, one of them of recurrent layers
GEMMAS = tuple(tiny_assistants.MAINS)
WORDS = 250  # of the vocabulary, in prompts; beyond are the specials
FAULTS: tuple[type[BaseException], ...] = (ValueError, CancelledError, SystemExit, KeyboardInterrupt)


@dataclass(frozen=True)
class Zoo:
    mains: dict[str, Path]
    drafts: dict[str, Path]  # models of their own
    drafters: dict[str, list[Path]]  # of each main model, which read its states


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    folder = tmp_path_factory.mktemp("zoo")
    mains = {kind: save_family(kind, folder / kind) for kind in FAMILIES}
    drafts = {f"{kind} {noise}": stirred(mains[kind], noise) for kind in mains for noise in (0.02, 0.5)}
    drafters = {
        main: [save_kind(kind, folder / f"{main} {kind}", config) for kind in sorted(KINDS)]
        for main, config in FAMILIES.items()
    }
    for family in HEADED:
        mains[family] = save(build_main(family), MAINS[family], folder / family)
        drafters[family] = [save_drafter(folder / f"{family} head", head_config(family), head_weights(family))]
    for family in GEMMAS:
        mains[family] = tiny_assistants.save_main(family, folder / family)
        drafters[family] = [
            tiny_assistants.save_assistant(family, folder / f"{family} assistant"),
            tiny_assistants.save_block(family, folder / f"{family} block"),
        ]
    return Zoo(mains, drafts, drafters)


def stirred(main: Path, noise: float) -> Path:
    """A draft that is often right, or hardly ever."""
    folder = main.with_name(f"{main.name} {noise}")
    shutil.copytree(main, folder)
    weights: Any = mx.load(str(folder / "model.safetensors"))
    mx.random.seed(1)
    for name, weight in weights.items():
        weights[name] = weight + noise * mx.std(weight) * mx.random.normal(weight.shape) if weight.ndim > 1 else weight
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "mlx"})
    return folder


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    oracle = Oracle()
    yield oracle
    oracle.close()


# Requests.


def draw_sampling(rnd: random.Random) -> Sampling:
    seed = rnd.choice([0, 2**64 - 1, rnd.randrange(2**64)])
    if rnd.random() < 0.4:
        return Sampling(temperature=0, seed=seed)
    changes: dict[str, Any] = {
        "temperature": rnd.choice([0, 0.001, 0.3, 0.8, 1.5, 10]),
        "top_p": rnd.choice([1.0, 0.0, 1e-6, 0.5, 0.95]),
        "top_k": rnd.choice([0, 1, 5, VOCABULARY, 10**30]),
        "min_p": rnd.choice([0.0, 0.05, 1.0]),
        "repetition_penalty": rnd.choice([1.0, 0.01, 1.2, 10]),
        "presence_penalty": rnd.choice([0.0, -10, 0.5, 10.0]),
        "frequency_penalty": rnd.choice([0.0, -1.0, 0.1, 10]),
        "logit_bias": rnd.choice([(), ((rnd.randrange(WORDS), 100.0),), ((0, -100), (VOCABULARY - 1, 3.5))]),
        "xtc_probability": rnd.choice([0.0, 0.5, 1.0]),
        "xtc_threshold": rnd.choice([0.0, 0.1, 0.5]),
    }
    chosen = rnd.sample(sorted(changes), rnd.randint(1, 4))
    return replace(Sampling(temperature=0.8, seed=seed), **{name: changes[name] for name in chosen})


def draw_speculation(rnd: random.Random) -> Speculation:
    mode = rnd.choice(list(SpeculationMode))
    acceptance = Acceptance.REJECTION if rnd.random() < 0.1 else Acceptance.COUPLED
    return Speculation(mode, rnd.choice([1, 2, 4, 9, MAX_DRAFT_TOKENS]), acceptance)


def draw_tokens(rnd: random.Random, said: list[tuple[int, ...]]) -> tuple[int, ...]:
    """A new chat, or one that goes on, goes back or branches off."""
    fresh = tuple(rnd.randrange(WORDS) for _ in range(rnd.choice([1, 2, 5, 20, 60, 70, 200, 600])))
    if not said or rnd.random() < 0.4:
        return fresh
    before = rnd.choice(said)[: rnd.choice([3, 40, 130, CONTEXT_TOKENS])]
    return (*before, *fresh[: rnd.choice([1, 3, 50])])[: CONTEXT_TOKENS - 1]


def draw_request(rnd: random.Random, said: list[tuple[int, ...]]) -> Request:
    sampling, speculation = draw_sampling(rnd), draw_speculation(rnd)
    length = rnd.choice([1, 2, 3, 10, 24, 60])
    stop = rnd.choice([(), (), ("e",), ("\n", "th"), ("", "never said"), ("\ud800",)])
    asked = Request(sampling=sampling, speculation=speculation, max_tokens=length, stop=stop, trace=True)
    if rnd.random() < 0.2:
        words = "".join(rnd.choice("abc d\u00e9\uac00\n<|im_end|>\0") for _ in range(rnd.randrange(60)))
        return replace(asked, messages=(Message(MessageRole.USER, words),), thinking=rnd.random() < 0.5)
    tokens = draw_tokens(rnd, said)
    if rnd.random() < 0.05:  # so long that the context ends the reply
        tokens = (*tokens, *(rnd.randrange(WORDS) for _ in range(CONTEXT_TOKENS)))[: CONTEXT_TOKENS - 12]
        return replace(asked, tokens=tokens, max_tokens=rnd.choice([None, 10**30]))
    return replace(asked, tokens=tokens)


ODD: tuple[Any, ...] = (None, True, -1, math.nan, math.inf, 10**400, "1", b"1", [1], (None,), {}, 1j, Request)
FITTING = {"max_tokens": (None, 10**400), "thinking": (True,), "top_k": (10**400,)}  # of the odd ones


def spoiled(rnd: random.Random, value: Any, names: list[str]) -> Any:
    """`value` with one field of another type, or out of range."""
    name = rnd.choice(names)
    odd = [each for each in ODD if not any(each is fits for fits in FITTING.get(name, ()))]
    return replace(value, **{name: rnd.choice(odd)})


def draw_hostile(rnd: random.Random) -> Any:
    """Something that is refused when it is submitted or when its turn comes."""
    good: Any = Request(tokens=(65, 66), max_tokens=4)
    seed: Any = rnd.choice([-1, 2**64, 1.5, True, "1"])
    temperature = rnd.choice([1e-38, -0.0001, 10.5])
    parts = ["temperature", "top_p", "top_k", "min_p", "repetition_penalty", "logit_bias", "xtc_probability"]
    fields = ["tokens", "messages", "stop", "max_tokens", "thinking", "sampling", "speculation"]
    choices: list[Any] = [
        spoiled(rnd, good, fields),
        replace(good, sampling=spoiled(rnd, good.sampling, parts)),
        replace(good, speculation=spoiled(rnd, good.speculation, ["mode", "tokens", "acceptance"])),
        rnd.choice(ODD),
        replace(good, tokens=(65, rnd.choice([-1, VOCABULARY, 2**32, 2**70]))),
        replace(good, tokens=(65,) * (CONTEXT_TOKENS + rnd.randrange(2))),
        replace(good, sampling=Sampling(logit_bias=((VOCABULARY, 1.0),))),
        replace(good, sampling=Sampling(seed=seed)),
        replace(good, sampling=Sampling(temperature=temperature)),
        replace(good, speculation=Speculation.fixed(rnd.choice([0, -1, MAX_DRAFT_TOKENS + 1]))),
        Request(messages=(Message(MessageRole.USER, "half \ud800"),)),
        Request(messages=(Message(MessageRole.SYSTEM, "alone"),)),
    ]
    return rnd.choice(choices)


# One life of an engine.


@dataclass(eq=False)
class Call:
    """A request and what its sink heard; the sink may cancel it, or raise, at a certain event."""

    request: Any
    hostile: bool
    mains: list[str]  # that may have written it
    cancel_at: int = -1
    raise_at: int = -1
    fault: type[BaseException] = ValueError
    may_be_cancelled: bool = False
    engine: Engine | None = None
    id: RequestId | None = None
    events: list[Event] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        assert isinstance(event, Queued | Finished | Failed) or hasattr(event, "request")
        if len(self.events) == self.cancel_at and self.engine is not None and isinstance(event, TextDelta):
            self.may_be_cancelled = True
            self.engine.cancel(event.request)
        if isinstance(event, Finished | Failed):
            self.done.set()
        if len(self.events) == self.raise_at:
            raise self.fault("a sink")

    @property
    def end(self) -> Finished | Failed:
        last = self.events[-1]
        assert isinstance(last, Finished | Failed)
        return last

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))


class Life:
    def __init__(self, seed: int, zoo: Zoo, oracle: Oracle, folder: Path) -> None:
        self.rnd = random.Random(seed)
        self._zoo, self._oracle = zoo, oracle
        share = self.rnd.choice([0.125, 1e-5])  # of the memory: caches wait there, or hardly do
        disk_bytes = self.rnd.choice([8 << 30, 300_000])  # caches stay there, or push each other out
        cache_folder = folder if self.rnd.random() < 0.7 else None
        self._engine = Engine(cache_folder, cache_memory_share=share, cache_disk_bytes=disk_bytes)
        self._main = ""
        self._calls: list[Call] = []
        self._said: list[tuple[int, ...]] = []
        self.compared = 0  # tokens
        self.found = 0  # tokens of prompts, in what was kept
        self.drafted = 0

    def live(self, actions: int) -> None:
        self._load_main(wait=True)
        for _ in range(actions):
            self._act()
        closes = self.rnd.random() < 0.3
        if closes:
            for call in self._calls:
                call.may_be_cancelled = True
            assert self._engine.close(PATIENCE_S)
        self._wait()
        if not closes:
            self._is_alive()
            assert self._engine.close(PATIENCE_S)
        late = Call(draw_request(self.rnd, []), hostile=False, mains=[])
        self._engine.submit(late.request, late)
        assert isinstance(late.end, Failed)
        assert isinstance(late.end.error, EngineClosed)
        for call in self._calls:
            self._check(call)

    def _act(self) -> None:
        acts: dict[Callable[[], object], float] = {  # and how often
            self._submit: 8,
            self._submit_several: 4,
            self._submit_alone: 4,
            self._submit_again: 3,
            self._submit_hostile: 3,
            self._cancel: 3,
            self._set_draft: 3,
            self._wait: 4,
            self._load_main: 0.7,
            self._unload: 0.3,
        }
        self.rnd.choices(list(acts), list(acts.values()))[0]()

    def _submit(self) -> None:
        self._send(draw_request(self.rnd, self._said), hostile=False)

    def _send(self, request: Any, *, hostile: bool) -> Call:
        call = Call(request, hostile, [self._main])
        if self.rnd.random() < 0.15:
            call.cancel_at, call.engine = self.rnd.randint(2, 12), self._engine
        if self.rnd.random() < 0.15:
            call.raise_at, call.fault = self.rnd.randint(1, 8), self.rnd.choice(FAULTS)
        self._calls.append(call)
        try:
            call.id = self._engine.submit(call.request, call)
        except KeyboardInterrupt:  # here it may be the person's, and ends the request
            assert call.fault is KeyboardInterrupt
            call.may_be_cancelled = True
        else:
            assert (call.raise_at, call.fault) != (1, KeyboardInterrupt)
        return call

    def _submit_several(self) -> None:
        """Each of its own kind, or of one kind, which a batch draws in one go."""
        alike = Sampling(temperature=0.8, min_p=self.rnd.choice([0.0, 0.05])) if self.rnd.random() < 0.5 else None
        for seed in range(self.rnd.randint(2, 5)):
            request = draw_request(self.rnd, self._said)
            if alike is not None:
                tokens = draw_tokens(self.rnd, self._said)[-70:]
                request = Request(tokens=tokens, sampling=replace(alike, seed=seed), max_tokens=30, trace=True)
            self._send(request, hostile=False)

    def _submit_alone(self) -> None:
        """With nobody beside it, so that it drafts whatever that costs."""
        self._wait()
        drafting = Speculation.fixed(self.rnd.choice([1, 2, 4, 9]))
        asked = draw_request(self.rnd, self._said)
        self._send(replace(asked, speculation=drafting, max_tokens=self.rnd.choice([10, 24, 60])), hostile=False)
        self._wait()

    def _submit_again(self) -> None:
        """Something that was answered, with a stop string out of the answer."""
        answered = [call for call in self._calls if call.done.is_set() and not call.hostile and len(call.text) > 3]
        if answered:
            before = self.rnd.choice(answered)
            start = self.rnd.randrange(len(before.text) - 2)
            stop = before.text[start : start + self.rnd.randint(1, 4)]
            self._send(replace(before.request, stop=(stop,), speculation=draw_speculation(self.rnd)), hostile=False)

    def _submit_hostile(self) -> None:
        self._send(draw_hostile(self.rnd), hostile=True)

    def _cancel(self) -> None:
        if self._calls:
            call = self.rnd.choice(self._calls)
            call.may_be_cancelled = True
            self._engine.cancel(call.id or RequestId(0))
        self._engine.cancel(RequestId(10**9))

    def _set_draft(self) -> None:
        """One of another main model is refused."""
        drafters = self.rnd.choice(list(self._zoo.drafters.values()))
        self._engine.set_draft(self.rnd.choice([None, *self._zoo.drafts.values(), *drafters]), lambda event: None)

    def _load_main(self, *, wait: bool = False) -> None:
        self._main = self.rnd.choice(sorted(self._zoo.mains))
        for call in self._calls:
            call.mains.append(self._main)
        ended = threading.Event()
        draft = self.rnd.choice([None, *self._zoo.drafts.values(), *self._zoo.drafters[self._main]])
        wanted = 1 if draft is None else 2
        heard: list[Event] = []

        def sink(event: Event) -> None:
            heard.extend([event] if isinstance(event, ModelReady | ModelFailed) else [])
            if len(heard) == wanted:
                ended.set()

        self._engine.load(self._zoo.mains[self._main], sink, draft, end_replies=True)
        if wait:
            assert ended.wait(PATIENCE_S)
            assert all(isinstance(event, ModelReady) for event in heard)

    def _unload(self) -> None:
        """And another one, so that what waits is written after all."""
        gone = threading.Event()
        self._engine.unload(lambda event: gone.set() if isinstance(event, ModelUnloaded) else None)
        assert gone.wait(PATIENCE_S)
        for call in self._calls:
            call.mains.append("")
        self._load_main()

    def _wait(self) -> None:
        for call in self._calls:
            assert call.done.wait(PATIENCE_S), f"{call.request} has not ended: {call.events[-1:]}"
            if isinstance(call.end, Finished) and not call.hostile:
                self._said.append((*call.request.tokens, *call.end.tokens))

    def _is_alive(self) -> None:
        call = self._send(Request(tokens=(65, 66), sampling=Sampling(0, seed=1), max_tokens=6), hostile=False)
        assert call.done.wait(PATIENCE_S)

    # What came of it

    def _check(self, call: Call) -> None:
        assert sum(isinstance(event, Finished | Failed) for event in call.events) == 1
        assert isinstance(call.events[0], Queued)
        if isinstance(call.end, Failed):
            self._check_failure(call, call.end)
            return
        if call.hostile:  # it was cancelled while it waited
            assert call.may_be_cancelled, (call.request, call.end)
            assert not call.end.tokens, (call.request, call.end)
            return
        self.drafted += call.end.stats.drafted
        self.found += call.end.stats.cached_tokens
        if call.request.trace:
            check_rounds(call.end)
        if call.request.speculation.acceptance is Acceptance.COUPLED and call.end.tokens:
            mains = [main for main in dict.fromkeys(call.mains) if main]
            problems = [self._problem(call, call.end, main) for main in mains]
            assert None in problems, (call.request, call.end.reason, call.end.tokens, problems)
            self.compared += len(call.end.tokens)

    def _check_failure(self, call: Call, end: Failed) -> None:
        expected: tuple[type[EngineError], ...] = (RequestError,) if call.hostile else ()
        expected += (NoModelLoaded,) if "" in call.mains else ()
        assert isinstance(end.error, expected), (call.request, end.error)

    def _problem(self, call: Call, end: Finished, main: str) -> str | None:
        """Why this can be no answer of that model."""
        expected = self._oracle.ask(Question(self._zoo.mains[main], call.request))
        if end.tokens != expected.tokens[: len(end.tokens)]:
            return f"{main} says {expected.tokens}"
        texts = [expected.text]
        if call.request.tokens:  # mlx-lm drops the space of a first word
            texts.append(f" {expected.text}")
        if not any(text.startswith(call.text.rstrip("\ufffd")) for text in texts):
            return f"{main} writes {expected.text!r}, not {call.text!r}"
        if any(stop and stop in call.text for stop in call.request.stop):
            return "a stop string was told"
        if not any(ended_rightly(call, end, replace(expected, text=text)) for text in texts):
            return f"it ended otherwise: {end.reason}, {expected.text!r}"
        return None


def ended_rightly(call: Call, end: Finished, expected: Answer) -> bool:
    """Whether it ended where it had to, if its tokens are right."""
    match end.reason:
        case FinishReason.LENGTH:
            return bool(len(end.tokens) == call.request.max_tokens)
        case FinishReason.CONTEXT:
            return len(end.tokens) + len(expected.prompt) == CONTEXT_TOKENS
        case FinishReason.STOP:
            return any(stopped_rightly(call, end, expected, stop) for stop in call.request.stop or ("",))
        case FinishReason.CANCELLED:
            return call.may_be_cancelled
        case FinishReason.MODEL_CHANGED:
            return len(call.mains) > 1
    return False


def stopped_rightly(call: Call, end: Finished, expected: Answer, stop: str) -> bool:
    """By an end token, or right before that stop string."""
    if stop and stop in expected.text and call.text == expected.text[: expected.text.index(stop)]:
        return True
    return bool(end.tokens == expected.tokens and call.text == expected.text)


@pytest.mark.parametrize("seed", SAMPLE)
@pytest.mark.expect_log("a sink raised", "could not load")
def test_requests_at_random_are_answered_as_by_mlx_lm(seed: int, zoo: Zoo, oracle: Oracle, tmp_path: Path) -> None:
    life = Life(seed, zoo, oracle, tmp_path)
    life.live(actions=16)
    assert life.compared


@pytest.mark.drill
@pytest.mark.expect_log("a sink raised", "could not load")
def test_ten_minutes_of_requests_at_random(zoo: Zoo, oracle: Oracle, tmp_path: Path) -> None:
    """Each life goes on with the cache folder of those before, until one in ten finds it new."""
    ends, compared, drafted, seed = time.monotonic() + DRILL_S, 0, 0, len(SAMPLE)
    while time.monotonic() < ends:
        life = Life(seed, zoo, oracle, tmp_path / str(seed // 10))
        try:
            life.live(actions=30)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, 30 actions") from error
        compared, drafted, seed = compared + life.compared, drafted + life.drafted, seed + 1
    print(f"{compared} tokens, {drafted} drafted, in {seed - len(SAMPLE)} lives")  # noqa: T201
    assert min(compared, drafted) > 1000


@pytest.mark.drill
@pytest.mark.expect_log("a sink raised", "could not load", "dropping a kept cache")
def test_ten_minutes_of_two_engines_on_one_folder(zoo: Zoo, oracle: Oracle, tmp_path: Path) -> None:
    """In one process, at the same time: each deletes what the other keeps, and neither can tell."""
    ends, compared, found, seed = time.monotonic() + DRILL_S, 0, 0, 10**6
    with ThreadPoolExecutor(2) as threads:
        while time.monotonic() < ends:
            lives = [Life(seed + n, zoo, oracle, tmp_path / str(seed // 20)) for n in range(2)]
            for done in [threads.submit(life.live, actions=30) for life in lives]:
                assert done.exception() is None, f"seeds {seed} and {seed + 1}, 30 actions: {done.exception()}"
            compared, seed = compared + sum(life.compared for life in lives), seed + 2
            found += sum(life.found for life in lives)
    print(f"{compared} tokens, {found} found, in {seed - 10**6} lives")  # noqa: T201
    assert compared > 1000
    assert found > 100
