"""Seconds of a pair's forwards on this machine: measured in slices while the engine is idle, and kept on disk.

First a rough calibration, of few widths once or twice each; then every width as often as its noise needs, the
rounding, what a drafter's tokens are worth, and what a long context adds. Only the whole of it is kept. A slice is
one forward, so a request that arrives meanwhile waits no longer than for a round. Measured again when the machine,
the models or the versions of MLX change.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from functools import partial
from itertools import accumulate, takewhile
from pathlib import Path
from statistics import median, median_low
from typing import Any

import mlx.core as mx
import mlx_lm

from engine.api.pairs import Published, nothing_published
from engine.api.types import ForwardTimes
from engine.caches.base import CacheSet
from engine.caches.checkpoints import append_rows, make_checkpoint, needs_checkpoints, rows_between
from engine.decoding.sampling import normalised
from engine.drafting.costs import MAX_WIDTH, Calibration, RoundCosts
from engine.drafting.examination import Examined, examination
from engine.drafting.kept_rates import KeptRates
from engine.models import mlx_build
from engine.models.kept_files import read_kept, write_kept
from engine.models.loading import LoadedModel
from engine.models.memory import lacks
from engine.models.openblas import is_in_front

_log = logging.getLogger(__name__)

# Costs rise in steps that differ from device to device, so every width of an ordinary round is measured; wider ones
# where tiles of 4 and 8 end.
WIDTHS = (*range(1, 18), 20, 24, 28, 32, MAX_WIDTH)
# Widths timed after a long context. On Metal another attention kernel is used where rows times the query heads for each
# key head exceed 32: costs step up after 4, 5, 6 or 8 rows.
_DEEP_WIDTHS = (1, 2, 4, 5, 6, 7, 8, 9, 16, MAX_WIDTH)
# length of the context; less where memory is short
_DEEP_TOKENS = 4096
_DEEP_BYTES = 3 << 28
_FEWEST_DEEP_TOKENS = 512  # after fewer tokens the cost of each is noise, which a long context would multiply
# Enough for a first reply's prices. It takes about 60 plain forwards, even where costs grow with the width and a
# drafted token costs a quarter of a plain one.
_ROUGH_WIDTHS = (2, 4, 8, 16)
# Of a small model further rough comparisons take no time that a user notices, and on a busy machine some are off by a
# factor.
_ROUGH_AGAIN = 2
_ROUGH_PASS_S = 0.1
_ROUGH_ERROR = 0.1  # a relative error, until enough comparisons are made
LEAST_COMPARISONS = 3
MOST_COMPARISONS = 7
_SETTLED = 0.02  # a relative error that is small enough
# Forwards that take seconds are hardly disturbed by what else runs. MEASURED: without a limit 1.5 B parameters took
# more than 20 minutes where MLX computes by its own matrix products on one core, again after each start.
_ENOUGH_S = 60.0
_MEDIAN_ERROR = 1.86  # 1.2533 / 0.6745: standard error of a normal median = this * MAD / sqrt(count)
_HOPELESS = 0.8
_LEAST_S = 1e-9
_CHAIN_TOKENS = 4  # length of the draft that is timed
# In one forward: a wider one would keep a request waiting longer than a round.
_CONTEXT_TOKENS = 8
_ROLLBACK_WIDTH = 4
_ROUNDING_CONTEXT = 64
_ROUNDING_WIDTHS = (1, 2, 4, 8, 16)
_ROUNDING_TOKENS = 16
_LIMIT_BYTES = 1 << 16  # largest file
_WORTH_KEEPING = 4  # passes between two writes of the pass ratios: a short reply has as many
_KEPT_S = 30 * 86_400  # older pass ratios are not used
# Version of the method, and what it measures: files of another one are ignored.
_METHOD = [4, *(each.name for each in fields(Calibration))]

Timed = int | str  # a forward of this width, or the name of a draft or rollback
_ROLLBACK = "rollback"
_DRAFT = "a short draft"
_LONG_DRAFT = "a long draft"
_ROUGH_TWICE = (2, _DRAFT, _LONG_DRAFT)
Slices = Generator[Calibration | None, None, Calibration]


class Tuner:
    def __init__(self, folder: Path | None = None, published: Published = nothing_published) -> None:
        self._folder = folder
        self.rates = KeptRates(None if folder is None else folder / "rates", published)
        self._slices: Slices | None = None
        self._begun = False  # the caches of a measurement exist
        self._pair: tuple[LoadedModel, LoadedModel | None] | None = None  # being measured
        self._costs = RoundCosts()
        self._about: dict[str, Any] = {}
        self._path: Path | None = None
        self._written = 0  # number of passes in the pass ratios on disk

    @property
    def pending(self) -> bool:
        return self._slices is not None or self._has_news

    @property
    def refines(self) -> bool:
        """Whether the next measurements only refine prices that are known."""
        return self._slices is not None and self._costs.calibrated

    @property
    def _has_news(self) -> bool:
        """Whether enough passes came since the pass ratios were written."""
        passes = self._costs.ratios.passes if self._path is not None and self._costs.calibrated else 0
        return passes >= self._written + _WORTH_KEEPING

    def begin(self, main: LoadedModel, draft: LoadedModel | None, costs: RoundCosts) -> None:
        """Load this pair's calibration from disk into `costs`. Without one, `step` measures it."""
        self.stop()
        if self._has_news:  # of the previous pair
            self._write_down()
        self._costs = costs
        self._about = _about(main)
        self._path = None if self._folder is None else self._folder / f"{pair_key(main, draft)}.json"
        content = _content(self._path)
        known = _calibration(content)
        if known is None:
            self._slices = measure(main, draft)
            self._pair = (main, draft)
        costs.calibrate(known or Calibration())
        self._written = 0
        if known is not None and -86_400 < time.time() - content["baselines_at"] < _KEPT_S:
            costs.ratios.recall(content["baselines"])

    def stop(self) -> None:
        self._slices = self._pair = None
        self._begun = False

    def let_go(self) -> bool:
        """Free the caches of an unfinished measurement, which starts again later; False if there are none."""
        if self._slices is None or self._pair is None or not self._begun:
            return False
        self._slices.close()
        self._slices = measure(*self._pair)
        self._begun = False
        return True

    def measured(self, main: LoadedModel) -> tuple[ForwardTimes, ...]:
        """Forward times of `main`, if it was measured, then those of other models on disk."""
        files = sorted(self._folder.glob("*.json")) if self._folder is not None else []
        found = [times for path in files if (times := _times(_content(path))) is not None]
        by_model = {(times.weight_bytes, times.sparse): times for times in found}
        by_model.pop((main.info.weight_bytes, main.info.sparse), None)
        own = tuple(sorted(self._costs.calibration.verify_s.items()))
        return ForwardTimes(main.info.weight_bytes, main.info.sparse, own), *by_model.values()

    def step(self) -> None:
        """Measure one forward; `costs` gets the rough calibration, then the whole one. Else write down the pass ratios.

        If the draft fails, the main model is measured without it, and `RoundCosts.refuses` its drafts.
        """
        if self._slices is None and self._has_news:
            self._write_down()
            return
        if self._slices is None or self._pair is None:
            raise RuntimeError("there is nothing to measure")
        main, draft = self._pair
        self._begun = True
        try:
            rough = next(self._slices)
        except StopIteration as done:
            self.stop()
            self._costs.calibrate(done.value)
            self._write_down()
        except Exception:
            self.stop()
            if draft is None:
                raise
            _log.warning("%s cannot be measured, so it is not drafted with", draft.source, exc_info=True)
            self.begin(main, None, self._costs)
        else:
            if rough is not None:
                self._costs.calibrate(rough)

    def _write_down(self) -> None:
        """The calibration, and the pass ratios that were measured beside it."""
        ratios = self._costs.ratios
        kept = {"baselines": ratios.kept(), "baselines_at": time.time()}
        self._written = ratios.passes
        _write(self._path, asdict(self._costs.calibration) | self._about | kept)


def measure(main: LoadedModel, draft: LoadedModel | None) -> Slices:
    """Measure in slices: yields None after each forward, and a rough calibration once; returns the full one."""
    caches = after_a_context(main)
    yield None
    timed: dict[Timed, Callable[[], float]] = {width: partial(_step_s, main, caches, width) for width in WIDTHS[1:]}
    if caches.can_roll_back:
        timed[_ROLLBACK] = partial(_rollback_s, main, caches)
    if draft is not None:
        timed |= _timed_drafts(draft)
        yield None
    if builds_kernels():  # for many rows others than for few, and of rough times this one is taken once
        _step_s(main, caches, max(_ROUGH_WIDTHS))
        yield None
    forwards = Comparisons(partial(_step_s, main, caches, 1), timed)
    rough = [key for key in timed if key in _ROUGH_WIDTHS or not isinstance(key, int)]
    yield from forwards.compare(rough)
    yield from forwards.compare([key for key in rough if key in _ROUGH_TWICE])
    yield _calibration_of(forwards.least_seconds, _ROUGH_ERROR, draft)
    for _ in range(_ROUGH_AGAIN):
        if forwards.shortest_s * len(rough) < _ROUGH_PASS_S:
            yield from forwards.compare(rough)
            yield _calibration_of(forwards.least_seconds, min(_ROUGH_ERROR, forwards.error), draft)
    for _ in range(MOST_COMPARISONS):
        yield from forwards.compare(forwards.unsettled)
    known = _calibration_of(forwards.seconds, forwards.error, draft)
    rounding = (yield from _rounding(main)) if caches.can_roll_back and caches.others is None else 0.0
    found = (yield from _examined(main, draft)) if draft is not None else None
    per_pass, misread = (found.per_pass, found.misread) if found is not None else (None, "")
    known = replace(known, rounding=rounding, per_pass=per_pass, misread=misread)
    return (yield from _with_depth(known, main, draft, partial(_step_s, main, caches, 1)))


def _calibration_of(seconds: Mapping[Timed, float], error: float, draft: LoadedModel | None) -> Calibration:
    verify_s = {key: seconds[key] for key in sorted(key for key in seconds if isinstance(key, int))}
    rollback_s = seconds.get(_ROLLBACK, 0.0)
    if draft is None:
        return Calibration(verify_s, {}, rollback_s, error=error)
    token_s, round_s = _split(seconds, draft)
    return Calibration(verify_s, {draft.source: token_s}, rollback_s, {draft.source: round_s}, error=error)


def _with_depth(
    known: Calibration, main: LoadedModel, draft: LoadedModel | None, one_token_s: Callable[[], float]
) -> Generator[None, None, Calibration]:
    """`known` with the cost of each token of context; unchanged if that cannot be measured."""
    widths = [width for width in _DEEP_WIDTHS if width in known.verify_s]
    timed = dict[Timed, Callable[[], float]]()
    shallow_s = dict[Timed, float]()
    rows = dict[Timed, int]()
    try:
        if draft is not None and draft.info.drafter is None and (caches := (yield from after_many_tokens(draft))):
            timed[_LONG_DRAFT] = partial(_chain_s, draft, caches, _CHAIN_TOKENS)
            shallow_s[_LONG_DRAFT] = known.round_s[draft.source] + _CHAIN_TOKENS * known.draft_s[draft.source]
            rows[_LONG_DRAFT] = _CHAIN_TOKENS * caches.position
        if caches := (yield from after_many_tokens(main)):
            timed |= {f"{width}": partial(_step_s, main, caches, width) for width in widths}
            shallow_s |= {f"{width}": known.verify_s[width] for width in widths}
            rows |= dict.fromkeys(map(str, widths), caches.position)
        forwards = Comparisons(one_token_s, timed)
        for _ in range(MOST_COMPARISONS):
            yield from forwards.compare(takewhile(lambda _: not forwards.is_over, forwards.unsettled))
    except Exception:  # noqa: BLE001  memory may be short, and a third-party network may raise anything
        _log.warning("%s could not be measured after a long context", main.info.name, exc_info=True)
        return known
    shares = forwards.shares
    added = {key: max(0.0, share * known.verify_s[1] - shallow_s[key]) / rows[key] for key, share in shares.items()}
    token_s = added.pop(_LONG_DRAFT, None)
    draft_deep_s = {draft.source: token_s} if draft is not None and token_s is not None else {}
    rising = accumulate(added.values(), max)  # a wider forward attends to no less: what falls is noise
    return replace(known, deep_s=dict(zip(map(int, added), rising, strict=True)), draft_deep_s=draft_deep_s)


def after_many_tokens(model: LoadedModel) -> Generator[None, None, CacheSet | None]:
    """Caches with thousands of rows, made by repeating their keys and values; None if that is not possible.

    Windows and recurrent states are not changed: their cost does not grow with the context.
    """
    caches = after_a_context(model)
    yield
    if caches.others is not None or not any(rows_between(caches, 0, caches.position)):
        return None
    longest = min(_DEEP_TOKENS, model.info.context_tokens - MAX_WIDTH)  # learned positions end where the context does
    while 2 * caches.position <= longest and 2 * caches.nbytes <= _DEEP_BYTES and not lacks(2 * caches.nbytes):
        checkpoint = make_checkpoint(caches) if needs_checkpoints(caches) else None
        append_rows(caches, [rows_between(caches, 0, caches.position)], 2 * caches.position, checkpoint)
        yield
    return caches if caches.position >= _FEWEST_DEEP_TOKENS else None


def _examined(main: LoadedModel, draft: LoadedModel) -> Generator[None, None, Examined | None]:
    """How many of a drafter's tokens are accepted; None if it cannot draft."""
    try:
        return (yield from examination(main, draft))
    except Exception:  # noqa: BLE001  a third-party drafter may raise anything
        _log.warning("%s could not be examined", draft.source, exc_info=True)
        return None


def _rounding(main: LoadedModel) -> Generator[None, None, float]:
    """Largest |difference| of log-probabilities, in nats, between tokens read one by one and the same read at once."""
    end = _ROUNDING_CONTEXT + _ROUNDING_TOKENS
    tokens = mx.array([3 + 7 * token % 89 for token in range(end)])
    caches = main.make_caches()
    for at in range(0, _ROUNDING_CONTEXT, _CONTEXT_TOKENS):
        _logprobs(main, caches, tokens[at : at + _CONTEXT_TOKENS])
        yield
    alone: mx.array | None = None
    largest = 0.0
    for width in _ROUNDING_WIDTHS:
        caches.keep_rollback_points()
        rows = list[mx.array]()
        for at in range(_ROUNDING_CONTEXT, end, width):
            rows.append(_logprobs(main, caches, tokens[at : at + width]))
            yield
        caches.roll_back(_ROUNDING_CONTEXT)
        together = mx.concatenate(rows)
        alone = together if alone is None else alone
        difference: float = mx.abs(together - alone).max().item()  # type: ignore[assignment]
        largest = max(largest, difference)
    return largest if math.isfinite(largest) else 0.0


def _logprobs(model: LoadedModel, caches: CacheSet, tokens: mx.array) -> mx.array:
    """(tokens, vocabulary), by one forward over `tokens`, which are committed."""
    logits = caches.forward(tokens.size, lambda: model.network(tokens[None], cache=caches.layers))
    caches.commit(tokens.size)
    logprobs = normalised(logits[0].astype(mx.float32))
    mx.eval(logprobs)
    return logprobs


class Comparisons:
    """Forward times, each measured between two forwards of width 1.

    share = seconds / mean of the width-1 forwards right before and after it. A key's seconds = median of its shares *
    shortest width-1 forward. MEASURED: a machine may be slower by a half for longer than a forward lasts; the shortest
    of four forwards each was off by 10 %, this by 4 %.
    """

    def __init__(self, one_token_s: Callable[[], float], timed: Mapping[Timed, Callable[[], float]]) -> None:
        self._one_token_s = one_token_s
        self._timed = timed
        self._shares = {key: list[float]() for key in timed}
        self._least = dict.fromkeys(timed, math.inf)  # of each, against the shorter neighbour
        self._before = self.shortest_s = math.inf  # seconds of forwards of width 1
        self._spent_s = 0.0

    def compare(self, keys: Iterable[Timed]) -> Generator[None, None, None]:
        """Time each of `keys` once more. Yields after each forward."""
        if self._before == math.inf:
            self._before = self.shortest_s = max(self._one_token_s(), _LEAST_S)
            yield
        for key in keys:
            took = self._timed[key]()
            yield
            after = max(self._one_token_s(), _LEAST_S)
            self._shares[key].append(2 * took / (self._before + after))
            self._least[key] = min(self._least[key], max(took, _LEAST_S) / min(self._before, after))
            self.shortest_s = min(self.shortest_s, after)
            self._before = after
            self._spent_s += took + after
            yield

    @property
    def is_over(self) -> bool:
        """Whether enough time was spent for what is compared once to be enough."""
        return self._spent_s > _ENOUGH_S

    @property
    def unsettled(self) -> list[Timed]:
        if self.is_over:
            return [key for key, shares in self._shares.items() if not shares]
        return [key for key, shares in self._shares.items() if not _is_settled(key, shares)]

    @property
    def shares(self) -> dict[Timed, float]:
        """Median share of each compared key."""
        return {key: median_low(shares) for key, shares in self._shares.items() if shares}

    @property
    def seconds(self) -> dict[Timed, float]:
        """Seconds of width 1 and of each compared key."""
        return {1: self.shortest_s} | {key: self.shortest_s * share for key, share in self.shares.items()}

    @property
    def least_seconds(self) -> dict[Timed, float]:
        """Seconds from few comparisons: the least share of each key, and never more than a wider or longer one.

        MEASURED: while a window fills its cache, some of a small model's forwards take ten times as long. One such
        share made a draft that gains a half look useless until the calibration was complete.
        """
        known = {key: self.shortest_s * share for key, share in self._least.items() if share < math.inf}
        known[1] = self.shortest_s
        widths = sorted((key for key in known if isinstance(key, int)), reverse=True)
        drafts = [key for key in (_LONG_DRAFT, _DRAFT) if key in known]
        for keys in (widths, drafts):
            known |= dict(zip(keys, accumulate((known[key] for key in keys), min), strict=True))
        return known

    @property
    def error(self) -> float:
        """Relative standard error of a key's seconds."""
        often = [key for key, shares in self._shares.items() if len(shares) >= LEAST_COMPARISONS and key != _ROLLBACK]
        return median(_error(self._shares[key]) for key in often) if often else _ROUGH_ERROR


def _is_settled(key: Timed, shares: Sequence[float]) -> bool:
    """Whether a key needs no more measurements.

    A width with almost no saving over as many width-1 forwards is never drafted. Its first forward does not count: a
    GPU may compile in it. A rollback is short and noisy, and little depends on it.
    """
    if len(shares) >= MOST_COMPARISONS:
        return True
    if isinstance(key, int) and len(shares) > 1 and min(shares) > _HOPELESS * key:
        return True
    return len(shares) >= LEAST_COMPARISONS and (key == _ROLLBACK or _error(shares) < _SETTLED)


def _error(values: Sequence[float]) -> float:
    """Relative standard error of the median of three or more values, by their median absolute deviation (MAD).

    1.2533 * MAD / 0.6745 / (median * sqrt(n)) * n / (n - 1.7)

    The first factors hold for normal values and large n. For few values the MAD is too small: in a simulation with
    normal values the result without the last factor is 0.73 (n = 3) to 0.96 (n = 8) of the true error on average; with
    it 1.7 to 1.2, so rather too large.
    """
    middle = median(values)
    count = len(values)
    deviation = median(abs(value - middle) for value in values)
    if not middle:
        return 0.0
    return _MEDIAN_ERROR * deviation / (middle * math.sqrt(count)) * count / (count - 1.7)


def _timed_drafts(draft: LoadedModel) -> dict[Timed, Callable[[], float]]:
    caches = after_a_context(draft) if draft.info.drafter is None else draft.make_caches()
    time_of, longest = (_chain_s, _CHAIN_TOKENS) if draft.info.drafter is None else (_rehearsal_s, draft.network.tokens)
    lengths = {_DRAFT: 1} | ({_LONG_DRAFT: longest} if longest > 1 else {})
    return {key: partial(time_of, draft, caches, length) for key, length in lengths.items()}


def _split(seconds: Mapping[Timed, float], draft: LoadedModel) -> tuple[float, float]:
    """(seconds of each drafted token, seconds of a draft besides). The latter are those of its first forward, which
    loads the weights into the processor's cache and cannot overlap with another one.
    """
    longest = _CHAIN_TOKENS if draft.info.drafter is None else draft.network.tokens
    longer_s = seconds.get(_LONG_DRAFT, seconds[_DRAFT]) - seconds[_DRAFT]
    token_s = max(0.0, longer_s) / max(1, longest - 1)
    return max(token_s, _LEAST_S), max(seconds[_DRAFT] - token_s, _LEAST_S)


def _chain_s(model: LoadedModel, caches: CacheSet, length: int) -> float:
    """Seconds of a draft of `length` tokens, each queued before the last one is computed; rolled back afterwards."""
    position = caches.position
    token = mx.array([1])
    caches.keep_rollback_points()
    started = time.perf_counter()
    for _ in range(length):
        logits = caches.forward(1, partial(model.network, token[None], cache=caches.layers))
        caches.commit(1)
        token = mx.argmax(logits[0], axis=-1)
        mx.async_eval(token)
    mx.eval(token)
    seconds = time.perf_counter() - started
    caches.roll_back(position)
    return seconds


def _rehearsal_s(draft: LoadedModel, caches: CacheSet, length: int) -> float:
    started = time.perf_counter()
    mx.eval(draft.network.rehearse(length, caches))
    return time.perf_counter() - started


def _rollback_s(model: LoadedModel, caches: CacheSet) -> float:
    """Seconds of committing only the first token of a wide forward."""
    _forward_s(model, caches, _ROLLBACK_WIDTH)
    started = time.perf_counter()
    caches.commit(1)
    caches.evaluate()
    return time.perf_counter() - started


def after_a_context(model: LoadedModel) -> CacheSet:
    caches = model.make_caches()
    _forward_s(model, caches, _CONTEXT_TOKENS)
    caches.commit(_CONTEXT_TOKENS)
    return caches


def builds_kernels() -> bool:
    """Whether the first forward of its kind takes longer."""
    return mx.default_device() == mx.gpu


def _step_s(model: LoadedModel, caches: CacheSet, width: int) -> float:
    """Seconds of a forward, which is rolled back."""
    seconds = _forward_s(model, caches, width)
    caches.commit(0)
    return seconds


def _forward_s(model: LoadedModel, caches: CacheSet, width: int) -> float:
    """Seconds of a forward whose step stays open: the caller commits it."""
    tokens = mx.array([[1 + token % 7 for token in range(width)]])
    started = time.perf_counter()
    logits = caches.forward(width, lambda: model.network(tokens, cache=caches.layers))
    mx.eval(mx.argmax(logits[0], axis=-1))
    return time.perf_counter() - started


def pair_key(main: LoadedModel, draft: LoadedModel | None) -> str:
    """Changes with all that the times depend on, and with the weights: rounding and accept rates depend on them."""
    models = [model.identity for model in (main, draft) if model is not None]
    return hashlib.sha256(json.dumps([_METHOD, _machine(), models]).encode()).hexdigest()[:32]


def _machine() -> list[str]:
    device = mx.device_info()
    where = (mlx_build.system_name(), mx.default_device(), device.get("device_name"), device.get("architecture"))
    versions = (mlx_build.wheel(), mx.__version__, mlx_lm.__version__)  # type: ignore[attr-defined]
    return [*map(str, where), str(is_in_front()), *versions]


def _about(main: LoadedModel) -> dict[str, Any]:
    """The model's name, size and kind, written beside its calibration."""
    return {"machine": _machine(), "method": _METHOD, "main_bytes": main.info.weight_bytes, "sparse": main.info.sparse}


def _times(kept: dict[str, Any]) -> ForwardTimes | None:
    """The times in a file; None if they are from another machine, or the file is damaged."""
    is_ours = kept.get("machine") == _machine() and kept.get("method") == _METHOD
    known = _calibration(kept) if is_ours else None
    if known is None:
        return None
    return ForwardTimes(kept["main_bytes"], kept["sparse"], tuple(sorted(known.verify_s.items())))


def _content(path: Path | None) -> dict[str, Any]:
    """The object in a calibration file; {} if the file is missing or damaged."""
    return {} if path is None else read_kept(path, _LIMIT_BYTES)


def _calibration(kept: dict[str, Any]) -> Calibration | None:
    """None if it was not measured to the end. What else could be wrong has a wrong checksum, or another file's name."""
    if not kept:
        return None
    by_width = {name: {int(width): each for width, each in kept[name].items()} for name in ("verify_s", "deep_s")}
    known = Calibration(**{each.name: kept[each.name] for each in fields(Calibration)} | by_width)
    return known if set(WIDTHS) <= set(known.verify_s) else None


def _write(path: Path | None, kept: dict[str, Any]) -> None:
    if path is None:
        return
    try:
        write_kept(path, kept, _LIMIT_BYTES)
    except (OSError, ValueError) as error:  # the next start measures again
        _log.warning("could not keep the calibration: %s", error)
