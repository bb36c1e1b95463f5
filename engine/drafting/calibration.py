"""What the forwards of a pair take on this machine: measured in slices while the engine rests, and kept on disk.

A slice is one forward, so a request that comes in meanwhile waits no longer than for a round. Measured anew when the
machine, the models or the versions of MLX change.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import platform
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import median, median_low
from typing import TYPE_CHECKING, Any

import mlx.core as mx
import mlx_lm

from engine.api.files import write_atomically
from engine.api.types import ForwardTimes
from engine.decoding.sampling import normalised
from engine.drafting.agreement import Examined, examination
from engine.drafting.costs import MAX_WIDTH, Calibration, RoundCosts
from engine.models.model_files import FileError, read_object
from engine.models.openblas import is_in_front

if TYPE_CHECKING:
    from engine.caches.base import CacheSet
    from engine.models.loading import LoadedModel

_log = logging.getLogger(__name__)

# Costs rise in steps that differ from device to device, so every width of an ordinary round is measured; wider ones
# where tiles of 4 and 8 end.
WIDTHS = (*range(1, 18), 20, 24, 28, 32, MAX_WIDTH)
_LEAST_COMPARISONS, _MOST_COMPARISONS = 3, 7
_SETTLED = 0.02  # an error that is small enough
_MEDIAN_ERROR = 1.86  # a median's standard error, in median deviations over the root of the count
_HOPELESS = 0.8
_LEAST_S = 1e-9
_CHAIN_TOKENS = 4  # of a draft that is timed
_CONTEXT_TOKENS = 64
_CONTEXT_STEP = 16  # of it at a time: one forward over all would keep a request waiting for longer than a round
_ROLLBACK_WIDTH = 4
_ROUNDING_WIDTHS = (1, 2, 4, 8, 16)
_ROUNDING_TOKENS = 16
_LIMIT_BYTES = 1 << 16  # of a file
_METHOD = 2  # what was measured in another way is measured anew

Timed = int | str  # a forward over so many tokens, or one of these
_ROLLBACK, _DRAFT, _LONG_DRAFT = "rollback", "a short draft", "a long draft"
Slices = Generator[None, None, Calibration]


class Tuner:
    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._slices: Slices | None = None
        self._pair: tuple[LoadedModel, LoadedModel | None] | None = None  # while it is measured
        self._costs = RoundCosts()
        self._about: dict[str, Any] = {}
        self._path: Path | None = None

    @property
    def pending(self) -> bool:
        return self._slices is not None

    def begin(self, main: LoadedModel, draft: LoadedModel | None, costs: RoundCosts) -> None:
        """Make `costs` know this pair: at once from disk, or by and by with `step`."""
        self.stop()
        self._costs, self._about = costs, _about(main)
        self._path = self._file(main, draft)
        known = _calibration(_content(self._path))
        if known is None:
            self._slices, self._pair = measure(main, draft), (main, draft)
        costs.calibration = known or Calibration()

    def _file(self, main: LoadedModel, draft: LoadedModel | None) -> Path | None:
        return self._folder / f"{pair_key(main, draft)}.json" if self._folder is not None else None

    def stop(self) -> None:
        self._slices = self._pair = None

    def measured(self, main: LoadedModel) -> tuple[ForwardTimes, ...]:
        """What forwards take here: of `main`, which has been measured, then of others that were measured before."""
        files = sorted(self._folder.glob("*.json")) if self._folder is not None else []
        found = [times for path in files if (times := _times(_content(path))) is not None]
        by_model = {(times.weight_bytes, times.sparse): times for times in found}
        by_model.pop((main.info.weight_bytes, main.info.sparse), None)
        own = tuple(sorted(self._costs.calibration.verify_s.items()))
        return ForwardTimes(main.info.weight_bytes, main.info.sparse, own), *by_model.values()

    def step(self) -> None:
        """Measure one forward; after the last one the pair is known.

        A draft that breaks has the main model measured without it: `RoundCosts.refuses` its drafts from then on.
        """
        if self._slices is None or self._pair is None:
            raise RuntimeError("there is nothing to measure")
        main, draft = self._pair
        try:
            next(self._slices)
        except StopIteration as done:
            self.stop()
            self._costs.calibration = done.value
            _write(self._path, asdict(done.value) | self._about)
        except Exception:
            self.stop()
            if draft is None:
                raise
            _log.warning("%s cannot be measured, so it is not drafted with", draft.source, exc_info=True)
            self.begin(main, None, self._costs)


def measure(main: LoadedModel, draft: LoadedModel | None) -> Slices:
    """One forward a slice; the result is the calibration."""
    caches = yield from _after_a_context(main)
    rounding = (yield from _rounding(main)) if caches.can_roll_back else 0.0
    timed: dict[Timed, Callable[[], float]] = {width: partial(_step_s, main, caches, width) for width in WIDTHS[1:]}
    if caches.can_roll_back:
        timed[_ROLLBACK] = partial(_rollback_s, main, caches)
    if draft is not None:
        yield
        timed |= yield from _timed_drafts(draft)
    seconds, error = yield from _compared(partial(_step_s, main, caches, 1), timed)
    verify_s, rollback_s = {width: seconds[width] for width in WIDTHS}, seconds.get(_ROLLBACK, 0.0)
    if draft is None:
        return Calibration(verify_s, {}, rollback_s, rounding=rounding, error=error)
    token_s, round_s = _split(seconds, draft)
    found = yield from _examined(main, draft)
    per_pass, misread = (found.per_pass, found.misread) if found is not None else (None, "")
    draft_s, rounds_s = {draft.source: token_s}, {draft.source: round_s}
    return Calibration(verify_s, draft_s, rollback_s, rounds_s, rounding, per_pass, misread, error)


def _examined(main: LoadedModel, draft: LoadedModel) -> Generator[None, None, Examined | None]:
    """How far it is right, if it is a drafter; one that cannot draft at all costs no more than that figure."""
    try:
        return (yield from examination(main, draft))
    except Exception:  # noqa: BLE001  of a stranger's drafter
        _log.warning("%s could not be examined", draft.source, exc_info=True)
        return None


def _rounding(main: LoadedModel) -> Generator[None, None, float]:
    """The largest difference between log-probabilities of tokens read one by one, and of the same read together."""
    end = _CONTEXT_TOKENS + _ROUNDING_TOKENS
    tokens = mx.array([3 + 7 * token % 89 for token in range(end)])
    alone: mx.array | None = None
    largest = 0.0
    for width in _ROUNDING_WIDTHS:
        caches, rows = main.make_caches(), list[mx.array]()
        for at in range(0, _CONTEXT_TOKENS, _CONTEXT_STEP):
            yield
            _logprobs(main, caches, tokens[at : at + _CONTEXT_STEP])
        for at in range(_CONTEXT_TOKENS, end, width):
            yield
            rows.append(_logprobs(main, caches, tokens[at : at + width]))
        together = mx.concatenate(rows)
        alone = together if alone is None else alone
        difference: float = mx.abs(together - alone).max().item()  # type: ignore[assignment]
        largest = max(largest, difference)
    return largest if math.isfinite(largest) else 0.0


def _logprobs(model: LoadedModel, caches: CacheSet, tokens: mx.array) -> mx.array:
    """Of one forward over `tokens`, which then stand."""
    logits = caches.forward(tokens.size, lambda: model.network(tokens[None], cache=caches.layers))
    caches.commit(tokens.size)
    logprobs = normalised(logits[0].astype(mx.float32))
    mx.eval(logprobs)
    return logprobs


def _compared(
    one_token_s: Callable[[], float], timed: Mapping[Timed, Callable[[], float]]
) -> Generator[None, None, tuple[dict[Timed, float], float]]:
    """Seconds of each and of a forward over one token, and by how much one beside another may be off, as a share.

    Each is compared with the forwards over one token right before and after it; the median of several counts, and the
    shortest of the latter. MEASURED: a machine is slower for longer than a forward, and by a half: the shortest of four
    each was off by 10 %, these by 4 %.
    """
    shares = {key: list[float]() for key in timed}
    yield
    shortest = before = max(one_token_s(), _LEAST_S)
    for _ in range(_MOST_COMPARISONS):
        for key, seconds in timed.items():
            if _is_settled(key, shares[key]):
                continue
            yield
            took = seconds()
            yield
            after = max(one_token_s(), _LEAST_S)
            shares[key].append(2 * took / (before + after))
            shortest, before = min(shortest, after), after
    compared = [values for key, values in shares.items() if key != _ROLLBACK and len(values) >= _LEAST_COMPARISONS]
    error = median(map(_error, compared)) if compared else 0.0
    return {1: shortest} | {key: shortest * median_low(shares[key]) for key in timed}, error


def _is_settled(key: Timed, shares: Sequence[float]) -> bool:
    """A width that saves next to nothing over as many forwards of one token will not be drafted.

    Its very first forward says little: on a GPU it may have compiled what it needs. A rollback is short, and its time
    the least certain of all; little depends on it.
    """
    if isinstance(key, int) and len(shares) > 1 and min(shares) > _HOPELESS * key:
        return True
    return len(shares) >= _LEAST_COMPARISONS and (key == _ROLLBACK or _error(shares) < _SETTLED)


def _error(values: Sequence[float]) -> float:
    """The standard error of the median of three or more as a share of it, by their median deviation.

    Outliers do not touch that. Of few values it is too small: hence the last factor, found by simulation.
    """
    middle, count = median(values), len(values)
    deviation = median(abs(value - middle) for value in values)
    if not middle:
        return 0.0
    return _MEDIAN_ERROR * deviation / (middle * math.sqrt(count)) * count / (count - 1.7)


def _timed_drafts(draft: LoadedModel) -> Generator[None, None, dict[Timed, Callable[[], float]]]:
    caches = (yield from _after_a_context(draft)) if draft.info.drafter is None else draft.make_caches()
    time_of, longest = (_chain_s, _CHAIN_TOKENS) if draft.info.drafter is None else (_rehearsal_s, draft.network.tokens)
    lengths = {_DRAFT: 1} | ({_LONG_DRAFT: longest} if longest > 1 else {})
    return {key: partial(time_of, draft, caches, length) for key, length in lengths.items()}


def _split(seconds: Mapping[Timed, float], draft: LoadedModel) -> tuple[float, float]:
    """What a token of a draft takes, and a draft however short it is: its first forward finds its weights gone from the
    processor's cache, and waits for nothing that is under way.
    """
    longest = _CHAIN_TOKENS if draft.info.drafter is None else draft.network.tokens
    longer_s = seconds.get(_LONG_DRAFT, seconds[_DRAFT]) - seconds[_DRAFT]
    token_s = max(0.0, longer_s) / max(1, longest - 1)
    return max(token_s, _LEAST_S), max(seconds[_DRAFT] - token_s, _LEAST_S)


def _chain_s(model: LoadedModel, caches: CacheSet, length: int) -> float:
    """Of a draft of so many tokens, each started before the one before it is there; it is forgotten again."""
    position, token = caches.position, mx.array([1])
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
    """What forgetting all but the first token of a forward takes beyond keeping it."""
    _forward_s(model, caches, _ROLLBACK_WIDTH)
    started = time.perf_counter()
    caches.commit(1)
    caches.evaluate()
    return time.perf_counter() - started


def _after_a_context(model: LoadedModel) -> Generator[None, None, CacheSet]:
    caches = model.make_caches()
    for at in range(0, _CONTEXT_TOKENS, _CONTEXT_STEP):
        if at:
            yield
        _forward_s(model, caches, _CONTEXT_STEP)
        caches.commit(_CONTEXT_STEP)
    return caches


def _step_s(model: LoadedModel, caches: CacheSet, width: int) -> float:
    """Of a forward, which is forgotten again."""
    seconds = _forward_s(model, caches, width)
    caches.commit(0)
    return seconds


def _forward_s(model: LoadedModel, caches: CacheSet, width: int) -> float:
    """Opens a step of `caches` for the caller to commit."""
    tokens = mx.array([[1 + token % 7 for token in range(width)]])
    started = time.perf_counter()
    logits = caches.forward(width, lambda: model.network(tokens, cache=caches.layers))
    mx.eval(mx.argmax(logits[0], axis=-1))
    return time.perf_counter() - started


def pair_key(main: LoadedModel, draft: LoadedModel | None) -> str:
    """Changes with whatever changes the times, and with the files: rounding and acceptance are of these weights."""
    models = [model.identity for model in (main, draft) if model is not None]
    return hashlib.sha256(json.dumps([_METHOD, _machine(), models]).encode()).hexdigest()[:32]


def _machine() -> list[str]:
    device = mx.device_info()
    told = (platform.machine(), mx.default_device(), device.get("device_name"), device.get("architecture"))
    return [*map(str, told), str(is_in_front()), mx.__version__, mlx_lm.__version__]  # type: ignore[attr-defined]


def _about(main: LoadedModel) -> dict[str, Any]:
    """What is written down beside a calibration."""
    return {"machine": _machine(), "main_bytes": main.info.weight_bytes, "sparse": main.info.sparse}


def _times(kept: dict[str, Any]) -> ForwardTimes | None:
    """None where it was measured on another machine, or makes no sense."""
    known = _calibration(kept)
    if known is None or kept.get("machine") != _machine() or type(kept.get("main_bytes")) is not int:
        return None
    return ForwardTimes(kept["main_bytes"], kept.get("sparse") is True, tuple(sorted(known.verify_s.items())))


def _content(path: Path | None) -> dict[str, Any]:
    """Of a file that was written before; nothing where it is missing or damaged."""
    if path is None:
        return {}
    try:
        return read_object(path, _LIMIT_BYTES)
    except FileError:
        return {}


def _calibration(kept: dict[str, Any]) -> Calibration | None:
    try:
        verify_s = {int(width): float(seconds) for width, seconds in kept["verify_s"].items()}
        draft_s = {str(source): float(seconds) for source, seconds in kept["draft_s"].items()}
        round_s = {str(source): float(seconds) for source, seconds in kept["round_s"].items()}
        rollback_s = float(kept["rollback_s"])
        rounding = float(kept["rounding"])
        per_pass = None if kept["per_pass"] is None else float(kept["per_pass"])
        misread = str(kept["misread"])
        error = float(kept["error"])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None
    measured = all(0 < seconds < math.inf for seconds in (*verify_s.values(), *draft_s.values()))
    others = all(0 <= value < math.inf for value in (*round_s.values(), rollback_s, rounding, error))
    if not measured or not others or not set(WIDTHS) <= set(verify_s):
        return None
    return Calibration(verify_s, draft_s, rollback_s, round_s, rounding, per_pass, misread, error)


def _write(path: Path | None, kept: dict[str, Any]) -> None:
    if path is None:
        return
    try:
        write_atomically(path, json.dumps(kept))
    except (OSError, ValueError) as error:  # the next start measures again
        _log.warning("could not keep the calibration: %s", error)
