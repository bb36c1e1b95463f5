"""Rows about first replies: of the app after a start, and of a real pair beside mlx-lm at its best for each prompt."""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from engine import Sampling, Speculation
from tests.bench.opponents import Ours, Theirs
from tests.bench.rows import GREEDY, LENGTH, THEIR_DRAFTS, Measure, Row
from tests.bench.setup import LANGUAGES, BenchSetup
from tests.bench.window import child

REAL_PAIR = Path("build/real-pair")  # with the folders "main" and "draft"
_HELP = Path("resources/help")
_HELP_LANGUAGES = {"prose": "en", "korean": "ko", "japanese": "ja", "chinese": "zh_CN"}
_CODE = ("accept.py", "sampling.py", "round.py", "scores.py", "sequence.py", "hidden_states.py")  # of engine/decoding
_REAL_PROMPTS = len(_CODE)  # of each kind
_REAL_SAMPLINGS = (GREEDY, Sampling(temperature=0.8, seed=7))
_PROBE = 32  # tokens
_GAIN = 1.3
_BUSY = "while True: pass"


def app_first_reply(setup: BenchSetup, runs: int) -> Row:
    """The first reply after a start: empty and used profile, machine idle and one core busy, in four languages.

    With 10 runs 40 starts with each profile. The pair is asked as soon as it is ready, before it is calibrated.
    """
    pair = [str(setup.starter.resolve() / name) for name in ("main", "draft")]
    questions = [question for question, _ in setup.questions(runs)][: max(len(LANGUAGES), 2 * runs)]
    shares, details = [], []
    with tempfile.TemporaryDirectory() as used:
        child("used", Path(used), *pair, questions[-1])
        for busy in (False, True):
            for is_used in (False, True):
                found = [_first(question, used if is_used else "", pair, busy) for question in questions]
                shares.append(statistics.fmean(each["drafted"] for each in found))
                gains = [each["speed_up"] for each in found if each["speed_up"] is not None]
                enough = sum(gain >= _GAIN for gain in gains)
                profile, load = "used" if is_used else "empty", "a core busy" if busy else "idle"
                details.append(f"{profile}, {load}: {shares[-1]:.2f} drafted, {enough} of {len(found)} show {_GAIN}")
    return Row("app.first_reply", min(shares), "share", "≥ 0.95", f"{'; '.join(details)}", shares)


def _first(question: str, profile: str, pair: list[str], busy: bool) -> Any:
    with tempfile.TemporaryDirectory() as empty, _load(busy):
        return child("first", Path(profile or empty), *pair, question)


@contextmanager
def _load(busy: bool) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-c", _BUSY]) if busy else None
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.wait()


def real_pair(setup: BenchSetup, runs: int) -> Row:
    return _real_row("engine.real_pair", "≥ 1.10", statistics.median, setup.cell)


def real_pair_worst_tenth(setup: BenchSetup, runs: int) -> Row:
    return _real_row(
        "engine.real_pair.worst_tenth", "≥ 1.00", lambda ratios: sorted(ratios)[len(ratios) // 10], setup.cell
    )


def _real_row(name: str, target: str, of: Any, wanted: str) -> Row:
    if not (REAL_PAIR / "main").is_dir() or not (REAL_PAIR / "draft").is_dir():
        return Row(name, math.nan, "ratio", target, f"not measured: no main and draft in {REAL_PAIR}")
    ratios = _real_ratios(wanted)
    every = [ratio for each in ratios.values() for ratio in each]
    kinds = ", ".join(f"{kind} {statistics.median(each):.2f}" for kind, each in ratios.items())
    return Row(name, of(every), "ratio", target, f"{len(every)} replies of {LENGTH} tokens; {kinds}", every)


def _real_questions() -> Iterator[tuple[str, str]]:
    """Prompts of five kinds: modules to write by their first line, and the titles of help pages in four languages."""
    for name in _CODE:
        first = (Path("engine/decoding") / name).read_text("utf-8").splitlines()[0]
        yield "code", f"Write a Python module: {first.strip(chr(34))}"
    for kind, language in _HELP_LANGUAGES.items():
        for page in sorted((_HELP / language).glob("*.md"))[:_REAL_PROMPTS]:
            yield kind, page.read_text("utf-8").splitlines()[0].removeprefix("# ")


@cache
def _real_ratios(wanted: str) -> dict[str, list[float]]:
    """Auto over mlx-lm's speculative decoding, by kind of text. Of its lengths the two that were best for the beginning
    of this reply are measured to the end, and the faster one counts.
    """
    ours = Ours(REAL_PAIR / "main", REAL_PAIR / "draft")
    theirs = Theirs(REAL_PAIR / "main", REAL_PAIR / "draft")
    ratios: dict[str, list[float]] = {}
    for kind, question in _real_questions():
        if wanted not in kind:
            continue
        asked = [{"role": "user", "content": question}]
        prompt = list(theirs.tokenizer.apply_chat_template(asked, add_generation_prompt=True))
        for sampling in _REAL_SAMPLINGS:
            began = {n: theirs.speculative(prompt, _PROBE, n, sampling).rate for n in THEIR_DRAFTS[:6]}
            rates = {
                n: theirs.speculative(prompt, LENGTH, n, sampling).rate
                for n in sorted(began, key=lambda n: began[n])[-2:]
            }
            mine = ours.run(prompt, LENGTH, Speculation.auto(), sampling).rate
            best = max(rates, key=lambda n: rates[n])
            ratios.setdefault(kind, []).append(mine / rates[best])
            print(f"  {kind}, {sampling.temperature}: {mine:.2f} · {rates[best]:.2f} (n = {best})", flush=True)  # noqa: T201
    ours.close()
    return ratios


FIRST: tuple[Measure, ...] = (app_first_reply, real_pair, real_pair_worst_tenth)
