"""What the forwards of a pair take on this machine: measured in slices while the engine rests, and kept on disk.

A slice is one forward, so a request that comes in meanwhile waits no longer than for a round. Measured anew when the
machine, the models or the versions of MLX change.
"""

from __future__ import annotations

import hashlib
import json
import logging
import platform
import time
from collections.abc import Generator
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import mlx.core as mx

from engine.drafting.controller import Calibration, RoundCosts

if TYPE_CHECKING:
    from engine.caches.base import CacheSet
    from engine.models.loading import LoadedModel

_log = logging.getLogger(__name__)

WIDTHS = (1, 2, 3, 4, 5, 6, 8, 12, 17, 33)
_REPEATS = 3
_CONTEXT_TOKENS = 64

Slices = Generator[None, None, Calibration]


class Tuner:
    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._slices: Slices | None = None
        self._costs = RoundCosts()
        self._path: Path | None = None

    @property
    def pending(self) -> bool:
        return self._slices is not None

    def begin(self, main: LoadedModel, draft: LoadedModel | None, costs: RoundCosts) -> None:
        """Make `costs` know this pair: at once from disk, or by and by with `step`."""
        self._slices, self._costs = None, costs
        self._path = self._folder / f"{pair_key(main, draft)}.json" if self._folder is not None else None
        known = _read(self._path)
        if known is not None:
            costs.calibration = known
        else:
            self._slices = measure(main, draft)

    def stop(self) -> None:
        self._slices = None

    def step(self) -> None:
        """Measure one forward; after the last one the pair is known."""
        assert self._slices is not None
        try:
            next(self._slices)
        except StopIteration as done:
            self._slices = None
            self._costs.calibration = done.value
            _write(self._path, done.value)
        except Exception:
            self._slices = None
            raise


def measure(main: LoadedModel, draft: LoadedModel | None) -> Slices:
    """One forward a slice; the result is the calibration."""
    verify_s = yield from _forward_times(main, WIDTHS)
    draft_s = {} if draft is None else {"draft": (yield from _forward_times(draft, (1,)))[1]}
    return Calibration(verify_s, draft_s)


def _forward_times(model: LoadedModel, widths: tuple[int, ...]) -> Generator[None, None, dict[int, float]]:
    caches = model.make_caches()
    _forward_s(model, caches, _CONTEXT_TOKENS, kept=_CONTEXT_TOKENS)
    times: dict[int, list[float]] = {width: [] for width in widths}
    for repeat in range(_REPEATS + 1):
        for width in widths:
            yield
            seconds = _forward_s(model, caches, width, kept=0)
            if repeat:  # the first one warms kernels and memory up
                times[width].append(seconds)
    return {width: median(seen) for width, seen in times.items()}


def _forward_s(model: LoadedModel, caches: CacheSet, width: int, kept: int) -> float:
    tokens = mx.array([[1 + token % 7 for token in range(width)]])
    started = time.perf_counter()
    logits = caches.forward(width, lambda: model.network(tokens, cache=caches.layers))
    mx.eval(mx.argmax(logits[0], axis=-1))
    seconds = time.perf_counter() - started
    caches.commit(kept)
    return seconds


def pair_key(main: LoadedModel, draft: LoadedModel | None) -> str:
    """Changes with whatever changes the times."""
    models = [
        (model.info.folder, model.info.model_type, model.info.weight_bytes, model.info.bits)
        for model in (main, draft)
        if model is not None
    ]
    device = mx.device_info()
    machine = (platform.machine(), str(mx.default_device()), device.get("device_name"), device.get("architecture"))
    text = json.dumps([machine, version("mlx"), version("mlx-lm"), models])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _read(path: Path | None) -> Calibration | None:
    """What was measured before; a file that is missing, damaged or foreign is none."""
    if path is None:
        return None
    try:
        kept = json.loads(path.read_text())
        verify_s = {int(width): float(seconds) for width, seconds in kept["verify_s"].items()}
        draft_s = {str(source): float(seconds) for source, seconds in kept["draft_s"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    sound = set(WIDTHS) <= set(verify_s) and all(seconds > 0 for seconds in (*verify_s.values(), *draft_s.values()))
    return Calibration(verify_s, draft_s) if sound else None


def _write(path: Path | None, calibration: Calibration) -> None:
    if path is None:
        return
    text = json.dumps({"verify_s": dict(calibration.verify_s), "draft_s": dict(calibration.draft_s)})
    part = path.with_suffix(".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text)
        part.replace(path)
    except OSError as error:  # the next start measures again
        _log.warning("could not keep the calibration: %s", error)
