"""What the model library takes: no MLX, no network."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from engine.hub import library
from engine.hub.library import Inspected, Places
from tests.bench.rows import Measure, Row
from tests.bench.setup import BenchSetup
from tests.helpers.model_folders import model_files, write_folder

MODELS = 200


def library_scan_ms(setup: BenchSetup, runs: int) -> Row:
    """A scan as every start makes it: what is known of the folders is read, none has changed."""
    with tempfile.TemporaryDirectory() as folder:
        own, memory = Path(folder) / "models", Path(folder) / "known.json"
        for number in range(MODELS):
            write_folder(own / "org" / f"model-{number}", model_files())
        places, first = Places(own, None, own / "none"), Inspected()
        cold_ms = _scan_ms(places, first)
        first.save(memory, {str(each) for each in (own / "org").iterdir()})
        taken = []
        for _ in range(runs):
            started, known = time.perf_counter(), Inspected()
            known.load(memory)
            library.scan(places, known)
            taken.append(1000 * (time.perf_counter() - started))
    detail = f"{MODELS} models; {cold_ms:.0f} ms when none is known"
    return Row("models.scan_ms", statistics.median(taken), "ms", "≤ 300", detail)


def _scan_ms(places: Places, known: Inspected) -> float:
    started = time.perf_counter()
    library.scan(places, known)
    return 1000 * (time.perf_counter() - started)


LIBRARY: tuple[Measure, ...] = (library_scan_ms,)
