"""Rows about models on their way here: a download beside curl, a long list filtered."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from engine import (
    DownloadFinished,
    HubKind,
    HubQuery,
)
from engine.hub.searches import hub_models, is_wanted
from tests.bench.opponents import interleaved
from tests.bench.rows import Measure, Row
from tests.bench.setup import BenchSetup
from tests.helpers.event_recorder import EventRecorder, QuickStore
from tests.helpers.model_folders import model_files, safetensors
from tests.helpers.tinyhub import TinyHub

_REPO = "org/large"
_ROWS, _COLUMNS = 50_000, 1024  # 205 MB of weights


def download_mb_s(_setup: BenchSetup, runs: int) -> Row:
    """One file of weights from a hub in another process, hashed and written, beside curl, which only writes it."""
    processes = multiprocessing.get_context("spawn")
    here, there = processes.Pipe()
    child = processes.Process(target=_serve, args=(there,))
    child.start()
    try:
        endpoint, url, megabytes = here.recv()
        pairs = list(interleaved(runs, lambda: _install(endpoint), lambda: _curl(url)))
    finally:
        here.send(None)
        child.join()
    ours, theirs = (megabytes / statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    return Row("models.download_mb_s", ours / theirs, "ratio", "≥ 0.8", f"{ours:.0f} / {theirs:.0f} MB/s, curl")


def _serve(pipe: Connection) -> None:
    hub = TinyHub()
    hub.add(_REPO, model_files() | {"model.safetensors": safetensors({"a.weight": ("F32", (_ROWS, _COLUMNS))})})
    url = f"{hub.endpoint}/{_REPO}/resolve/{hub.commit(_REPO)}/model.safetensors"
    pipe.send((hub.endpoint, url, len(hub.repositories[_REPO]["model.safetensors"]) / 1e6))
    pipe.recv()
    hub.close()


def _install(endpoint: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        recorder = EventRecorder()
        store = QuickStore(Path(folder) / "m", sink=recorder, hub_cache=Path(folder) / "none", endpoint=endpoint)
        started = time.perf_counter()
        assert isinstance(recorder.end_of(store.install(_REPO)), DownloadFinished)
        seconds = time.perf_counter() - started
        assert store.close()
        return seconds


def _curl(url: str) -> float:
    curl = shutil.which("curl")
    assert curl is not None, "curl is not installed"
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        command = [curl, "--silent", "--noproxy", "*", "--output", f"{folder}/model.safetensors", url]
        subprocess.run(command, check=True, env={"PATH": os.environ["PATH"]})
        return time.perf_counter() - started


def search_ms(_setup: BenchSetup, runs: int) -> Row:
    """5,000 models of a hub's answers, filtered by everything that a person can ask for. CPU time."""
    entries = [_entry(number) for number in range(5000)]
    models = hub_models(entries)
    query = HubQuery(author="org", family="Qwen3", bits=4, most_bytes=10**10, kind=HubKind.CHAT)

    def filtered() -> float:
        started = time.process_time()
        wanted = [model for model in models if is_wanted(model, query)]
        assert len(wanted) == 2500
        return (time.process_time() - started) * 1000

    started = time.process_time()
    hub_models(entries)
    checking_ms = (time.process_time() - started) * 1000
    value = statistics.median(filtered() for _ in range(max(3, runs)))
    return Row("models.search_ms", value, "ms", "≤ 50", f"and {checking_ms:.0f} to check what the hub has said")


def _entry(number: int) -> dict[str, Any]:
    bits = 4 if number % 2 else 8
    return {
        "id": f"org/Qwen3-8B-{number}-{bits}bit",
        "downloads": number,
        "lastModified": "2026-04-28T17:00:00.000Z",
        "tags": ["mlx", "safetensors", "qwen3", "license:apache-2.0", "base_model:Qwen/Qwen3-8B", f"{bits}-bit"],
        "config": {"model_type": "qwen3", "quantization_config": {"bits": bits}},
        "safetensors": {"parameters": {"BF16": 256_000_000, "U32": 1_023_000_000}, "total": 1_279_000_000},
    }


MODELS: list[Measure] = [download_mb_s, search_ms]
