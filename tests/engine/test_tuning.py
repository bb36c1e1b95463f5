"""Calibration: real forwards of a tiny pair, kept on disk, measured again when it cannot be trusted."""

from __future__ import annotations

import itertools
import math
import shutil
import time
import weakref
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mlx.core as mx
import pytest
from mlx_lm.models.cache import KVCache

from engine import Finished, FinishReason, ModelMeasured, Request, RequestId, Speculation
from engine.caches.base import CacheSet
from engine.caches.kinds import leaves
from engine.caches.making import CacheMaker
from engine.drafting import calibration
from engine.drafting.calibration import Tuner
from engine.drafting.controller import AutoController, FixedController, History
from engine.drafting.costs import RoundCosts
from engine.drafting.drafters import loading_any_draft
from engine.drafting.pass_ratio import tokens_at
from engine.models import mlx_build
from engine.models.kept_files import read_kept, write_kept
from engine.models.loading import LoadedModel
from engine.runtime.queued import QueuedReply
from engine.runtime.scheduler import Scheduler
from tests.engine import batch_harness as batches
from tests.engine.conftest import Zoo
from tests.families import harness as families
from tests.helpers import tiny_drafters
from tests.helpers.loading import at_once, load_draft, load_model
from tests.helpers.samples import fair


@pytest.fixture(scope="module")
def draft(zoo: Zoo, main: LoadedModel) -> LoadedModel:
    return load_draft(zoo.drafts["other"], main)


@pytest.fixture(scope="module")
def measured(main: LoadedModel, draft: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each of the two that were measured."""
    folders = {name: tmp_path_factory.mktemp("measured") for name in ("alone", "pair")}
    tuned(Tuner(folders["alone"]), main, None)
    tuned(Tuner(folders["pair"]), main, draft)
    return folders


@pytest.fixture
def alone(measured: dict[str, Path], tmp_path: Path) -> Path:
    """A folder in which the main model was measured."""
    return Path(shutil.copytree(measured["alone"], tmp_path, dirs_exist_ok=True))


@pytest.fixture
def pair(measured: dict[str, Path], tmp_path: Path) -> Path:
    """A folder in which the main model was measured with the draft."""
    return Path(shutil.copytree(measured["pair"], tmp_path, dirs_exist_ok=True))


EVERY_WIDTH, MOST_COMPARISONS = calibration.WIDTHS, calibration.MOST_COMPARISONS
WIDTHS = (1, 2, 4, 8, 16, 33)
DEEP_WIDTHS = (1, 4, 33)


@pytest.fixture(scope="module", autouse=True)
def compares_little() -> Iterator[None]:
    """Forwards of tiny networks take so little that their times never agree."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calibration, "WIDTHS", WIDTHS)
        patch.setattr(calibration, "_DEEP_WIDTHS", DEEP_WIDTHS)
        patch.setattr(calibration, "MOST_COMPARISONS", calibration.LEAST_COMPARISONS)
        patch.setattr(calibration, "_ENOUGH_S", math.inf)
        yield


class Clock:
    """Goes on only by what is evaluated: each forward is work of known seconds, which waits until then."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = self._waiting = 0.0
        self._evaluate = mx.eval
        monkeypatch.setattr(calibration, "time", SimpleNamespace(perf_counter=lambda: self.now, time=time.time))
        monkeypatch.setattr(mx, "eval", self._eval)

    def put_off(self, seconds: float) -> None:
        self._waiting += seconds

    def timed(self, model: LoadedModel, seconds: Callable[[int, int], float]) -> LoadedModel:
        """Whose forwards take so long, by their width and the tokens before them."""

        def network(tokens: mx.array, cache: Any) -> mx.array:
            self.put_off(seconds(tokens.shape[1], cache[0].offset))
            return model.network(tokens, cache=cache)  # type: ignore[no-any-return]

        return replace(model, network=network)

    def _eval(self, *arrays: Any) -> None:
        self._evaluate(*arrays)
        self.now, self._waiting = self.now + self._waiting, 0.0


def tuned(tuner: Tuner, main: LoadedModel, draft: LoadedModel | None) -> tuple[RoundCosts, int]:
    costs, slices = RoundCosts(), 0
    tuner.begin(main, draft, costs)
    while tuner.pending:
        tuner.step()
        slices += 1
    return costs, slices


def be_idle(scheduler: Scheduler) -> None:
    while scheduler.has_idle_work:
        scheduler.idle_step()


def reply_of(costs: RoundCosts, passes: int = 20) -> None:
    """Every other pass is plain, and drafted ones take a third more than the calibration says of such a context."""
    now_s, costs.context_tokens = 0.0, tokens_at(0)
    for number in range(passes):
        length = 4 * (number % 2)
        seconds = costs.price_s("draft", length) * (4 / 3 if length else 1)
        costs.observe_pass(("draft" if length else "", length, 0), now_s, now_s + seconds)
        now_s += seconds


def excess_of(costs: RoundCosts) -> float:
    return math.exp(costs.ratios.of("draft", 0).excess)


@pytest.mark.slow
def test_base_lines_outlive_a_run(main: LoadedModel, draft: LoadedModel, pair: Path) -> None:
    tuner = Tuner(pair)
    first, _ = tuned(tuner, main, draft)
    pending = [tuner.pending]
    reply_of(first, passes=3)
    pending.append(tuner.pending)  # a few passes are not worth a write
    reply_of(first)
    pending.append(tuner.pending)
    tuner.step()
    pending.append(tuner.pending)
    assert pending == [False, False, True, False]

    again, slices = tuned(Tuner(pair), main, draft)
    assert slices == 0
    assert again.calibration == first.calibration
    assert excess_of(again) == pytest.approx(excess_of(first)) == pytest.approx(4 / 3, rel=0.1)
    assert again.ratios.of("draft", 0).error > first.ratios.of("draft", 0).error

    other, _ = tuned(Tuner(pair), draft, None)
    assert excess_of(other) == 1, "they are of another pair"


def test_base_lines_are_written_before_another_pair_is_loaded(
    main: LoadedModel, draft: LoadedModel, pair: Path
) -> None:
    tuner = Tuner(pair)
    first, _ = tuned(tuner, main, draft)
    reply_of(first)
    tuner.begin(main, None, RoundCosts())
    again, _ = tuned(Tuner(pair), main, draft)
    assert excess_of(again) == pytest.approx(excess_of(first))


@pytest.mark.parametrize(
    "damage",
    [
        {"baselines_at": 1e9},
        {"baselines_at": 1e12},
        {"baselines": [{"source": "draft", "depth": 0, "excess": 0.3, "variance": math.nan, "plain": 9}]},
    ],
)
def test_base_lines_that_are_old_or_make_no_sense_are_left_out(
    main: LoadedModel, draft: LoadedModel, pair: Path, damage: dict[str, Any]
) -> None:
    tuner = Tuner(pair)
    first, _ = tuned(tuner, main, draft)
    reply_of(first)
    tuner.step()
    for path in pair.glob("*.json"):
        write_kept(path, read_kept(path, 1 << 16) | damage, 1 << 20)
    again, slices = tuned(Tuner(pair), main, draft)
    assert (excess_of(again), slices) == (1, 0)
    assert again.calibration == first.calibration


def test_the_first_reply_after_a_start_knows_what_was_measured_before(
    main: LoadedModel, draft: LoadedModel, alone: Path, pair: Path
) -> None:
    """Also one that was asked for while the models were loaded, so that nothing was idle before it."""
    assert alone == pair
    tuner = Tuner(pair)
    scheduler = Scheduler(tuner)
    assert not scheduler.has_idle_work
    scheduler.set_main(main)
    assert not tuner.pending
    scheduler.set_draft(draft)
    assert not tuner.pending
    scheduler.set_draft(None)
    scheduler.set_main(None)
    assert not scheduler.has_idle_work


def test_the_first_reply_after_a_start_knows_how_much_was_accepted_before(
    main: LoadedModel, draft: LoadedModel, pair: Path
) -> None:
    for again in (False, True):
        scheduler = Scheduler(Tuner(pair))
        scheduler.set_main(main)
        scheduler.set_draft(draft)
        history = scheduler.pair.history
        assert bool(history.rates) is again
        if again:
            break
        request = Request(tokens=(5, 6, 7), max_tokens=40, speculation=Speculation.fixed(3))
        scheduler.add(QueuedReply(RequestId(1), request, lambda _: None))
        while scheduler.busy:
            scheduler.step()
        learnt = history.rates[draft.source, 0].by_position(hopeful=True)
        be_idle(scheduler)
    recalled = history.rates[draft.source, 0].by_position(hopeful=True)
    assert recalled[:3] == pytest.approx(learnt[:3], abs=0.1)
    assert "rates" in {path.name for path in pair.iterdir()}


def test_what_was_measured_of_other_models_is_told_too(
    main: LoadedModel, zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each model once, with a draft or without; not what another machine, or another version of MLX, took."""
    small = load_model(zoo.drafts["other"])
    for model in (small, main):
        tuned(Tuner(tmp_path), model, None)
    again = Tuner(tmp_path)
    tuned(again, small, None)
    own, *others = again.measured(small)
    assert (own.weight_bytes, own.sparse) == (small.info.weight_bytes, False)
    assert {width for width, _ in own.by_width} == set(WIDTHS)
    assert [times.weight_bytes for times in others] == [main.info.weight_bytes]
    for name in ("wheel", "system_name"):
        with monkeypatch.context() as patch:
            patch.setattr(mlx_build, name, lambda: "another")
            assert len(again.measured(small)) == 1


def test_a_machine_that_spares_measures_nothing_until_it_is_over(main: LoadedModel) -> None:
    scheduler = Scheduler(Tuner())
    scheduler.pair.spares = True
    scheduler.set_main(main)
    assert (scheduler.has_idle_work, scheduler.pair.news()) == (False, [])
    scheduler.pair.spares = False
    be_idle(scheduler)
    (measured,) = scheduler.pair.news()
    assert isinstance(measured, ModelMeasured)
    assert measured.folder == main.info.folder
    assert scheduler.pair.news() == []


def test_on_battery_a_pair_has_prices_and_the_rest_is_measured_on_mains(main: LoadedModel, tmp_path: Path) -> None:
    tuner = Tuner(tmp_path)
    scheduler = Scheduler(tuner)
    scheduler.pair.on_battery = True
    scheduler.set_main(main)
    begun = tuner.refines
    be_idle(scheduler)
    assert (begun, tuner.refines) == (False, True)
    assert not list(tmp_path.iterdir())
    scheduler.pair.on_battery = False
    be_idle(scheduler)
    assert list(tmp_path.iterdir())


def test_files_that_were_replaced_are_measured_anew(main: LoadedModel, draft: LoadedModel, pair: Path) -> None:
    """An update has the same folder, name and size, and other weights: how they round, and agree, is not known."""
    for models in ((replace(main, identity="new"), draft), (main, replace(draft, identity="new"))):
        tuner = Tuner(pair)
        tuner.begin(*models, RoundCosts())
        assert tuner.pending


@pytest.mark.expect_log("could not be examined")
def test_a_drafter_that_cannot_be_examined_is_measured_all_the_same(
    main: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of some families nobody gets the hidden states: gemma3n has several rows a token."""
    for name, value in (("WIDTHS", (1, 33)), ("MOST_COMPARISONS", 1), ("_ROUNDING_WIDTHS", (1,))):
        monkeypatch.setattr(calibration, name, value)
    config = tiny_drafters.eagle_config()
    folder = tiny_drafters.save_drafter(tmp_path, config, tiny_drafters.eagle_weights(config))
    drafter = at_once(loading_any_draft(folder, main))
    assert tuned(Tuner(), main, drafter)[0].calibration.per_pass is not None
    network = families.build("gemma3n")
    looping = replace(main, network=network, make_caches=CacheMaker(network))
    costs, _ = tuned(Tuner(), looping, drafter)
    assert costs.calibration.draft_s["eagle3"] > 0
    assert costs.calibration.per_pass is None


@pytest.mark.parametrize("package", ["mlx.core", "mlx_lm"])
def test_another_version_of_mlx_is_measured_anew(
    main: LoadedModel, alone: Path, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its kernels may take other times."""
    monkeypatch.setattr(f"{package}.__version__", "99.0")
    tuner = Tuner(alone)
    tuner.begin(main, None, RoundCosts())

    assert tuner.pending


@pytest.mark.parametrize("content", ["", "[]"])
def test_a_damaged_file_is_measured_again(main: LoadedModel, alone: Path, content: str) -> None:
    (path,) = alone.iterdir()
    path.write_text(content)
    tuner, costs = Tuner(alone), RoundCosts()
    tuner.begin(main, None, costs)

    assert tuner.pending
    assert not costs.calibrated


def test_what_a_forward_takes_is_told_as_it_is(
    main: LoadedModel, draft: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    started = clock.now = 1000.0

    def evaluate(_caches: CacheSet) -> None:
        clock.now += 0.375

    monkeypatch.setattr(CacheSet, "evaluate", evaluate)
    costs, slices = tuned(
        Tuner(),
        clock.timed(main, lambda width, _: 10 + width / 16),
        clock.timed(draft, lambda width, _: 0.5 + width / 16),
    )
    assert slices >= len(WIDTHS), "a forward a slice"
    assert clock.now > started
    assert costs.calibration.verify_s == pytest.approx({width: 10 + width / 16 for width in WIDTHS})
    assert costs.calibration.rollback_s == pytest.approx(0.375)
    assert costs.calibration.draft_s == pytest.approx({"draft": 0.5625})
    assert costs.calibration.round_s == pytest.approx({"draft": 0.0}, abs=1e-6)


def test_what_each_token_of_context_adds_is_measured_after_many(
    main: LoadedModel, draft: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the main model a millionth of a second each and row, and twice that beyond four rows; of the draft three."""
    clock, rows_seen = Clock(monkeypatch), set[int]()

    def slow(model: LoadedModel, fixed_s: float, row_s: float) -> LoadedModel:
        def seconds(width: int, context: int) -> float:
            rows_seen.add(context)
            return fixed_s + width / 16 + row_s * context * width * (2 if width > 4 else 1)

        return clock.timed(model, seconds)

    costs, _ = tuned(Tuner(), slow(main, 10.0, 1e-6), slow(draft, 0.5, 3e-6))
    most = min(model.info.context_tokens for model in (main, draft))
    assert max(rows_seen) >= min(4096, most // 2)
    assert max(rows_seen) <= most
    assert costs.calibration.deep_s == pytest.approx({1: 1e-6, 4: 4e-6, 33: 66e-6}, rel=0.03)
    assert costs.calibration.draft_deep_s == pytest.approx({"draft": 3e-6}, rel=0.03)
    costs.context_tokens = 1000
    assert costs.price_s("draft", 3) == pytest.approx(10 + 4 / 16 + 0.004 + 3 * (0.5625 + 0.003), rel=1e-4)


def test_a_token_of_context_adds_no_less_to_a_wider_forward(main: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was measured so had noise, which would grow with the context."""
    slow = Clock(monkeypatch).timed(main, lambda width, context: 10 + {1: 2e-6, 4: 1e-6}.get(width, 3e-6) * context)
    costs, _ = tuned(Tuner(), slow, None)
    assert costs.calibration.deep_s == pytest.approx({1: 2e-6, 4: 2e-6, 33: 3e-6}, rel=0.03)


@pytest.mark.parametrize("family", ["qwen3", "gemma3_text", "qwen3_next", "deepseek_v3", "mamba", "gpt2"])
def test_rows_are_repeated_where_a_cache_grows_and_nowhere_else(family: str) -> None:
    """Steps behind them are undone as any."""
    model = families.loaded(families.build(family))
    short, long = calibration.after_a_context(model), at_end(calibration.after_many_tokens(model))
    if family == "mamba":
        assert long is None
        return
    assert long is not None
    assert long.position == 2048
    for before, after in zip(leaves(short.layers), leaves(long.layers), strict=True):
        if isinstance(after, KVCache):
            assert after.offset == 2048
            keys: Any = after.keys
            assert mx.array_equal(keys[..., :8, :], keys[..., 2040:2048, :])
            assert mx.array_equal(before.keys[..., :8, :], keys[..., :8, :])
        else:
            assert after.nbytes <= before.nbytes
    assert calibration._step_s(model, long, 5) > 0
    assert (long.position, long.width) == (2048, 0)


def test_rows_are_not_repeated_into_memory_that_is_short(main: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[int]()

    def lacks(size: int) -> bool:
        asked.append(size)
        return len(asked) > 3

    monkeypatch.setattr(calibration, "lacks", lacks)
    assert at_end(calibration.after_many_tokens(main)) is None
    assert len(asked) == 4
    assert asked == sorted(asked)


def test_what_is_held_for_measuring_goes_before_a_reply_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is measured again when the engine rests."""
    held, make = list[weakref.ref[CacheSet]](), calibration.after_a_context

    def noted(model: LoadedModel) -> CacheSet:
        caches = make(model)
        held.append(weakref.ref(caches))
        return caches

    def is_short() -> bool:
        return any(caches() is not None for caches in held)

    monkeypatch.setattr(calibration, "after_a_context", noted)
    monkeypatch.setattr("engine.runtime.pair.is_short", is_short)
    harness = batches.Harness(batches.model("qwen3"))
    for _ in range(5):
        harness.scheduler.idle_step()
    assert is_short()
    recorder = harness.submit(batches.asking(batches.prompt(9), 4))
    harness.run_dry()
    assert [event.reason for event in recorder.terminal if isinstance(event, Finished)] == [FinishReason.LENGTH]
    assert not is_short()
    while harness.scheduler.has_idle_work:
        harness.scheduler.idle_step()
    assert harness.scheduler.pair.history.costs.calibrated


def test_a_width_that_saves_hardly_anything_is_compared_twice() -> None:
    forwards = calibration.Comparisons(lambda: 1.0, {8: lambda: 7.0, 4: lambda: 2.0})
    for _ in range(2):
        list(forwards.compare((8, 4)))
    assert forwards.unsettled == [4]


def test_forwards_that_take_seconds_are_measured_once(main: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many tokens of context only as many widths as there is time for: the others follow from these."""
    monkeypatch.setattr(calibration, "MOST_COMPARISONS", 7)
    monkeypatch.setattr(calibration, "_ENOUGH_S", 60.0)
    monkeypatch.setattr(calibration, "_DEEP_WIDTHS", (1, 2, 4, 8, 16, 33))
    clock, widest = Clock(monkeypatch), 0

    def seconds(width: int, context: int) -> float:
        nonlocal widest
        if context >= 500:
            widest = max(widest, width)
        return 0.75 * width + context * width / 200

    costs, _ = tuned(Tuner(), clock.timed(main, seconds), None)
    assert tuple(costs.calibration.verify_s) == WIDTHS
    assert clock.now < 600
    assert 1 < widest <= 16
    deep_s = costs.calibration.deep_s
    assert max(deep_s) == widest
    assert deep_s == pytest.approx({width: width / 200 for width in deep_s}, rel=0.1)


def at_end(steps: Generator[None, None, CacheSet | None]) -> CacheSet | None:
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]


@pytest.mark.expect_log("could not be measured after a long context")
def test_without_memory_for_a_long_context_the_rest_is_known(
    main: LoadedModel, draft: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("memory")

    monkeypatch.setattr(calibration, "append_rows", refuse)
    costs, _ = tuned(Tuner(), main, draft)
    assert set(costs.calibration.draft_s) == {"draft"}
    assert (costs.calibration.deep_s, costs.calibration.draft_deep_s) == ({}, {})


def test_a_first_reply_has_prices_soon(
    main: LoadedModel, draft: LoadedModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also where nothing is won by width, as in large models on a processor. They are not kept for the next start."""
    clock, costs, tuner = Clock(monkeypatch), RoundCosts(), Tuner(tmp_path)

    tuner.begin(clock.timed(main, lambda width, _: width), clock.timed(draft, lambda width, _: 0.25 * width), costs)
    while not costs.calibrated:
        before = clock.now
        tuner.step()
        assert clock.now - before <= 16, "a reply that starts waits for one forward, here over 16 tokens at most"
    assert clock.now <= 60, "in plain forwards"
    assert [costs.price_s("", 0), costs.price_s("draft", 3), costs.price_s("draft", 7)] == pytest.approx(
        [1, 4.75, 9.75]
    )
    assert tuner.pending
    assert not list(tmp_path.iterdir())


def test_what_the_first_token_of_a_draft_takes_beside_the_others_is_a_price_of_each_draft(
    main: LoadedModel, draft: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind a forward of the main model its weights have gone from the processor's cache."""
    clock, cold = Clock(monkeypatch), [True]

    def of_main(_width: int, _context: int) -> float:
        cold[0] = True
        return 10.0

    def of_draft(_width: int, _context: int) -> float:
        was_cold, cold[0] = cold[0], False
        return 0.5 + 0.25 * was_cold

    costs, _ = tuned(Tuner(), clock.timed(main, of_main), clock.timed(draft, of_draft))
    assert costs.calibration.draft_s == pytest.approx({"draft": 0.5})
    assert costs.calibration.round_s == pytest.approx({"draft": 0.25})


@pytest.mark.parametrize(
    ("longest", "costs_s", "told_s"),
    [
        (5, (2.0, 0.25), (2.0, 0.25)),
        (2, (2.0, 0.25), (2.0, 0.25)),
        (1, (2.0, 0.25), (2.25, 1e-9)),
        (5, (0.0, 0.25), (1e-9, 0.25)),
        (5, (2.0, -0.25), (1.75, 1e-9)),
    ],
)
def test_what_a_drafter_takes_is_split_into_its_round_and_its_tokens(
    main: LoadedModel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    longest: int,
    costs_s: tuple[float, float],
    told_s: tuple[float, float],
) -> None:
    """By the median of several, whatever the second took. A price is more than nothing, whatever is free."""
    for name, value in (("WIDTHS", (1, 33)), ("_ROUNDING_WIDTHS", (1,)), ("_examined", lambda *_: iter(()))):
        monkeypatch.setattr(calibration, name, value)
    config = tiny_drafters.eagle_config()
    folder = tiny_drafters.save_drafter(tmp_path, config, tiny_drafters.eagle_weights(config))
    drafter = at_once(loading_any_draft(folder, main))
    clock, passes = Clock(monkeypatch), Counter[int]()

    def rehearse(_network: object, length: int, _caches: CacheSet) -> mx.array:
        passes[length] += 1
        clock.put_off(costs_s[0] + costs_s[1] * length + 9 * (passes[length] == 2))
        return mx.array(length)

    monkeypatch.setattr(type(drafter.network), "rehearse", rehearse)
    monkeypatch.setattr(drafter.network, "tokens", longest)
    calibrated = tuned(Tuner(), main, drafter)[0].calibration
    assert (calibrated.round_s["eagle3"], calibrated.draft_s["eagle3"]) == pytest.approx(told_s, rel=1e-8)


@pytest.mark.parametrize("wrong", [math.nan, -math.inf])
def test_logits_that_are_no_numbers_leave_the_rounding_unknown(
    main: LoadedModel, wrong: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of wide forwards alone: their distance from those of single tokens is no number, or not finite."""
    monkeypatch.setattr(calibration, "WIDTHS", (1, 33))

    def network(tokens: mx.array, cache: Any) -> mx.array:
        logits = main.network(tokens, cache=cache)
        if tokens.shape[1] > 1:
            logits[..., 0] = wrong
        return logits  # type: ignore[no-any-return]

    assert tuned(Tuner(), replace(main, network=network), None)[0].calibration.rounding == 0


def test_a_forward_that_fails_ends_the_measuring(main: LoadedModel) -> None:
    """The error goes to who stepped; a second step would measure with caches in doubt."""

    class Fault(Exception):
        pass

    def broken(tokens: mx.array, cache: object) -> mx.array:
        raise Fault

    tuner = Tuner()
    tuner.begin(replace(main, network=broken), None, RoundCosts())
    with pytest.raises(Fault):
        tuner.step()
    assert not tuner.pending


@pytest.mark.parametrize("answers", fair([0, 2], 2))
@pytest.mark.expect_log("cannot be measured")
def test_beside_a_draft_that_breaks_the_main_model_is_measured_all_the_same(
    main: LoadedModel, draft: LoadedModel, tmp_path: Path, answers: int
) -> None:
    """At its first forward or later. Its drafts have no price then, so none is made; nothing of it is written down."""
    left = [None] * (answers + 1)  # of forwards; one reads a context

    def broken(tokens: mx.array, cache: Any) -> mx.array:
        left.pop()
        return draft.network(tokens, cache=cache)  # type: ignore[no-any-return]

    costs, _ = tuned(Tuner(tmp_path), main, replace(draft, network=broken))

    assert set(costs.calibration.verify_s) == set(calibration.WIDTHS)
    assert costs.refuses("draft")
    controller = AutoController(History(costs))
    assert not controller.wants("draft")
    assert FixedController(3, History(costs)).wants("draft")
    assert [path.name for path in tmp_path.iterdir()] == [f"{calibration.pair_key(main, None)}.json"]
    assert not tuned(Tuner(tmp_path), main, draft)[0].refuses("draft")


def test_a_model_that_cannot_roll_back_has_no_price_for_it(main: LoadedModel) -> None:
    def without_rollback() -> CacheSet:
        caches = main.make_caches()
        caches.can_roll_back = False
        return caches

    calibrated = tuned(Tuner(), replace(main, make_caches=without_rollback), None)[0].calibration
    assert calibrated.rollback_s == calibrated.rounding == 0


ROUGH_FORWARDS = 29
HITS = [(range(at, at + 1), 10.0) for at in range(ROUGH_FORWARDS)] + [(range(4, 7), 10.0)]
SPELLS = [(range(1, 9), 1.5), (range(2, ROUGH_FORWARDS), 1.5), (range(19), 1.5), (range(12, 20), 1.5)]


@pytest.mark.parametrize(("slow", "times"), [*HITS, *SPELLS], ids=str)
def test_forwards_that_meet_with_something_else_do_not_make_a_good_draft_look_useless(
    main: LoadedModel, draft: LoadedModel, monkeypatch: pytest.MonkeyPatch, slow: range, times: float
) -> None:
    """Of the rough prices, which hold until all is measured; of a draft of one token and of three."""
    clock, costs, tuner, numbers = Clock(monkeypatch), RoundCosts(), Tuner(), itertools.count()

    def network_of(model: LoadedModel, fixed_s: float) -> LoadedModel:
        return clock.timed(model, lambda width, _: (fixed_s + width / 16) * (times if next(numbers) in slow else 1))

    tuner.begin(network_of(main, 1.0), network_of(draft, 0.1), costs)
    while not costs.calibrated:
        tuner.step()
    assert next(numbers) == ROUGH_FORWARDS
    plain = costs.price_s("", 0) / (17 / 16)
    assert plain in (pytest.approx(1), pytest.approx(times))
    assert costs.price_s("draft", 1) == pytest.approx(1.2875 * plain, rel=0.25)
    assert costs.price_s("draft", 3) == pytest.approx(1.7375 * plain, rel=0.25)


def test_short_forwards_are_compared_more_often_for_the_first_prices(
    main: LoadedModel, draft: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each draft takes ten times as long in the comparisons before; a large model's are not repeated."""
    for plain_s, share in ((0.001, 0.1), (1.0, 1.0)):
        clock, costs, tuner, drafts = Clock(monkeypatch), RoundCosts(), Tuner(), itertools.count()
        slow_s, fast_s = plain_s, plain_s / 10
        timed = clock.timed(draft, lambda _width, _: slow_s if next(drafts) < 18 else fast_s)  # noqa: B023
        tuner.begin(clock.timed(main, lambda _width, _: plain_s), timed, costs)  # noqa: B023
        prices = []
        for _ in range(100):
            tuner.step()
            if costs.calibrated:
                prices.append(costs.calibration.draft_s[draft.source] / plain_s)
        assert prices[0] == pytest.approx(1.0, rel=0.1)
        assert prices[-1] == pytest.approx(share, rel=0.1)


def test_kernels_that_a_gpu_builds_are_in_no_price(main: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, costs, tuner, wide = Clock(monkeypatch), RoundCosts(), Tuner(), itertools.count()
    monkeypatch.setattr(calibration, "builds_kernels", lambda: True)
    first_s = 2.0
    timed = clock.timed(main, lambda width, _: 1.0 + (first_s if width == 16 and next(wide) == 0 else 0.0))
    tuner.begin(timed, None, costs)
    while not costs.calibrated:
        tuner.step()
    assert costs.calibration.verify_s[16] == pytest.approx(1.0)


@pytest.mark.parametrize("slow", [range(30, 75), range(60), range(100, 1000)])
def test_a_spell_in_which_all_is_slower_changes_nothing(
    main: LoadedModel, monkeypatch: pytest.MonkeyPatch, slow: range
) -> None:
    """What else the machine does lasts longer than a forward, and hits the ones beside it alike; a hitch hits one."""
    true: dict[int, float] = {width: 2.0 + width / 8 for width in EVERY_WIDTH}
    forwards = itertools.count()

    def forward_s(model: LoadedModel, caches: CacheSet, width: int) -> float:
        caches.width = width
        number = next(forwards)
        slower = (1.7 if number in slow else 1.0) * (40.0 if number % 31 == 0 else 1.0)
        return slower * true.get(width, 9.0)

    monkeypatch.setattr(calibration, "WIDTHS", EVERY_WIDTH)
    monkeypatch.setattr(calibration, "MOST_COMPARISONS", MOST_COMPARISONS)
    monkeypatch.setattr(calibration, "_forward_s", forward_s)
    monkeypatch.setattr(CacheSet, "commit", lambda caches, kept: setattr(caches, "width", 0))
    monkeypatch.setattr(calibration, "_ROUNDING_WIDTHS", ())
    told = tuned(Tuner(), main, None)[0].calibration
    assert told.verify_s == pytest.approx(true)
    assert told.error < 1e-9


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        (lambda told: told.update(rollback_s=0.0), True),  # of caches that cannot be rolled back
        (lambda told: told.update(per_pass=1.9), True),
        (lambda told: told["verify_s"].pop("8"), False),
        (lambda told: told["verify_s"].update({"50": 3.0}), True),
        (lambda told: told.update(deep_s={}, draft_deep_s={}), True),
    ],
)
def test_only_whole_times_are_read_back(
    main: LoadedModel, draft: LoadedModel, pair: Path, change: Callable[[dict[str, Any]], object], kept: bool
) -> None:
    (path,) = pair.iterdir()
    told: dict[str, Any] = read_kept(path, 1 << 16)
    change(told)
    write_kept(path, told, 1 << 20)

    costs = RoundCosts()
    tuner = Tuner(pair)
    tuner.begin(main, draft, costs)
    assert tuner.pending != kept
    if kept:
        by_width = {name: {int(width): s for width, s in told[name].items()} for name in ("verify_s", "deep_s")}
        assert told | asdict(costs.calibration) == told | by_width
