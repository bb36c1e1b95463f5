"""What the app's window takes: from the start to the first frame, for each update, to open, to scroll.

Each figure comes from a process of its own (`app_child.py`, `first_frame.py`): the real app, offscreen, on a profile
with real chats.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.bench.app_chats import LONG_CHAT, MESSAGES, SHORT_CHAT, fill
from tests.bench.rows import Measure, Row
from tests.bench.setup import BenchSetup

_LIMIT_S = 300


def child(what: str, profile: Path, *more: str, limit_s: float = _LIMIT_S) -> Any:
    return _told(["tests.bench.app_child", what, str(profile), *more], profile, limit_s)


def _told(program: Sequence[str], profile: Path, limit_s: float = _LIMIT_S) -> Any:
    environment = os.environ | {
        "HOME": str(profile),
        "LANG": "C.UTF-8",
        "PYTHONPYCACHEPREFIX": str(profile / "compiled"),
    }
    environment.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # or each start would compile all of the app, which a second never does
    ended = subprocess.run(
        [sys.executable, "-m", *program], capture_output=True, text=True, env=environment, timeout=limit_s, check=True
    )
    return json.loads(ended.stdout)


@cache
def _chat_figures(runs: int) -> dict[str, list[float]]:
    """Of several processes, so that no figure is one process's luck; opening and scrolling share them."""
    figures: dict[str, list[float]] = {"open_ms": [], "scroll_ms": []}
    for _ in range(max(1, runs // 3)):
        with tempfile.TemporaryDirectory() as folder:
            fill(Path(folder))
            found = child("chat", Path(folder))
        figures["open_ms"] += found["open_ms"]
        figures["scroll_ms"] += found["scroll_ms"]
    return figures


@cache
def _stream_figures() -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        fill(Path(folder))
        return list(child("stream", Path(folder))["update_ms"])


def app_window_ms(setup: BenchSetup, runs: int) -> Row:
    """CPU time of the process until the first frame, as a person's next start has it: two before warm the caches."""
    cpu, wall = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(runs + 2):
            found = _told(["tests.bench.first_frame", folder, str(time.monotonic())], Path(folder))
            cpu.append(found["cpu_ms"])
            wall.append(found["wall_ms"])
    detail = f"CPU time of {runs} starts; by the clock {statistics.median(wall[2:]):.0f} ms"
    return Row("app.window_ms", statistics.median(cpu[2:]), "ms", "≤ 700", detail)


def app_stream_update_ms_p99(setup: BenchSetup, runs: int) -> Row:
    updates = _stream_figures()
    detail = f"{len(updates)} updates of 3 tokens into a chat of {MESSAGES[SHORT_CHAT]} messages, GUI thread; "
    detail += f"mean {statistics.fmean(updates):.2f}, longest {max(updates):.1f} ms"
    return Row("app.stream.update_ms_p99", _percentile(updates, 99), "ms", "≤ 8", detail)


def app_stream_decode_share(setup: BenchSetup, runs: int) -> Row:
    """By the clock, in turns: on a machine with other work the medians of few runs differ by several percent."""
    with tempfile.TemporaryDirectory() as folder:
        found = child("share", Path(folder), str(runs), str(setup.main), str(setup.draft))
    shares = [window / alone for window, alone in zip(found["window"], found["alone"], strict=True)]
    detail = f"{statistics.median(found['window']):.1f} / {statistics.median(found['alone']):.1f} tok/s, in turns"
    return Row("app.stream.decode_share", statistics.median(shares), "ratio", "≥ 0.97", detail)


def app_open_chat_ms(setup: BenchSetup, runs: int) -> Row:
    figures = _chat_figures(runs)["open_ms"]
    detail = f"{MESSAGES[LONG_CHAT]} messages, GUI thread; longest of {len(figures)}: {max(figures):.0f}"
    return Row("app.open_chat_ms", statistics.median(figures), "ms", "≤ 60", detail)


def app_scroll_ms_p99(setup: BenchSetup, runs: int) -> Row:
    figures = _chat_figures(runs)["scroll_ms"]
    detail = f"{len(figures)} steps, GUI thread; median {statistics.median(figures):.1f}, longest {max(figures):.1f}"
    return Row("app.scroll_ms_p99", _percentile(figures, 99), "ms", "≤ 8", detail)


def _races(setup: BenchSetup, runs: int) -> list[dict[str, Any]]:
    """Of the starter pair, as it comes with the app: so many questions in each of four languages."""
    return _races_of(setup.starter.resolve(), tuple(question for question, _ in setup.questions(runs)))


@cache
def _races_of(starter: Path, questions: tuple[str, ...]) -> list[dict[str, Any]]:
    pair = (str(starter / "main"), str(starter / "draft"))
    with tempfile.TemporaryDirectory() as folder:
        return list(child("races", Path(folder), *pair, *questions, limit_s=60.0 * len(questions)))


def app_race_busy(setup: BenchSetup, runs: int) -> Row:
    races = _races(setup, runs)
    busy = [each for each in races if each["factor"] is None]
    pairs = statistics.median(len(each["plain"]) for each in races)
    seconds = statistics.median(each["spent_s"] for each in races)
    detail = f"of {len(races)} races {len(busy)} told no figure; median {pairs:.0f} pairs of laps, {seconds:.0f} s"
    return Row("app.race.busy", len(busy) / len(races), "share", "≤ 0.05", detail)


def app_race_footer(setup: BenchSetup, runs: int) -> Row:
    """The footer of the same question after the race, beside the race; and that of the reply before it."""
    told = [each for each in _races(setup, runs) if each["factor"] is not None]

    def ratios(side: str) -> list[float]:
        return [each[side]["speed_up"] / each["factor"] for each in told if each[side]["speed_up"] is not None]

    def near(side: str) -> float:
        found = ratios(side)
        return sum(1 / 1.1 <= each <= 1.1 for each in found) / max(1, len(found))

    other = sum(
        (each[side]["speed_up"] - 1) * (each["factor"] - 1) < 0
        for each in told
        for side in ("before", "after")
        if each[side]["speed_up"] is not None
    )
    detail = f"{len(told)} races; before them {near('before'):.2f}; {other} footers on the other side of 1"
    return Row("app.race.footer", near("after"), "share", "≥ 0.9", detail, ratios("after"))


def _percentile(figures: Sequence[float], percent: int) -> float:
    return statistics.quantiles(figures, n=100)[percent - 1]


WINDOW: tuple[Measure, ...] = (
    app_window_ms,
    app_stream_update_ms_p99,
    app_stream_decode_share,
    app_open_chat_ms,
    app_scroll_ms_p99,
    app_race_busy,
    app_race_footer,
)
