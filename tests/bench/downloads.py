"""A file from a hub on this machine, checked: our download beside curl and sha256sum, one after the other."""

from __future__ import annotations

import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from engine.hub.client import HubClient
from engine.hub.http import Hub
from engine.hub.stop import HubPatience, Retries, StopSignal
from engine.hub.writer import fetch_file
from tests.bench.opponents import interleaved
from tests.bench.rows import Measure, Row
from tests.bench.setup import BenchSetup

_BYTES = 300 << 20
_NAME = "model.safetensors"
_SERVER = f"""
import os, sys
from tests.helpers.tinyhub import TinyHub
hub = TinyHub()
hub.add("a/b", {{"config.json": b"{{}}", "{_NAME}": os.urandom(1 << 20) * {_BYTES >> 20}}})
print(hub.endpoint, flush=True)
sys.stdin.read()
"""


def download_vs_curl(setup: BenchSetup, runs: int) -> Row:
    name, target = "engine.download.vs_curl", "≥ 0.8"
    if not all(map(shutil.which, ("curl", "sha256sum"))):
        return Row(name, math.nan, "ratio", target, "not measured: no curl or sha256sum")
    stop = StopSignal()
    with _served() as endpoint, tempfile.TemporaryDirectory() as folder:
        client = HubClient(Hub(endpoint), "a/b", stop, HubPatience(), Retries(stop, lambda: None))
        commit, files = client.list_files("main")
        file = max(files, key=lambda each: each.size_bytes)
        place = Path(folder)

        def ours() -> None:
            fetch_file(client, commit, file, place, stop, lambda _bytes, _fresh: None, nullcontext)

        def theirs() -> None:
            path = place / _NAME
            subprocess.run(["curl", "-s", "-o", path, f"{endpoint}/a/b/resolve/{commit}/{_NAME}"], check=True)
            subprocess.run(["sha256sum", path], check=True, stdout=subprocess.DEVNULL)

        def taken_s(fetch: Callable[[], None]) -> float:
            (place / _NAME).unlink(missing_ok=True)
            began = time.perf_counter()
            fetch()
            return time.perf_counter() - began

        each = [their_s / our_s for our_s, their_s in interleaved(runs, lambda: taken_s(ours), lambda: taken_s(theirs))]
        client.close()
    return Row(name, statistics.median(each), "ratio", target, f"{_BYTES >> 20} MiB over loopback", each)


@contextmanager
def _served() -> Iterator[str]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", _SERVER], **pipes) as server:  # type: ignore[call-overload]
        try:
            yield server.stdout.readline().strip()
        finally:
            server.stdin.close()


DOWNLOADS: tuple[Measure, ...] = (download_vs_curl,)
